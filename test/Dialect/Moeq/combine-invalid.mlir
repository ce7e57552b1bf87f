// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @input_rank(%x: tensor<16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.combine' op expects 'input' of rank 2, got rank 1}}
  %0 = moeq.combine input(%x : tensor<16xf32>) slots(%s : tensor<4x2xi32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @slots_rank(%x: tensor<8x16xf32>, %s: tensor<8xi32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.combine' op expects 'slots' of rank 2, got rank 1}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<8xi32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @outs_rank(%x: tensor<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x16x1xf32>) {
  // expected-error @below {{'moeq.combine' op expects 'outs' of rank 2, got rank 3}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<4x2xi32>) outs(%o : tensor<4x16x1xf32>) -> tensor<4x16x1xf32>
  return
}

// -----

func.func @tokens(%x: tensor<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<5x16xf32>) {
  // expected-error @below {{'moeq.combine' op expects the tokens of 'slots' and those of 'outs' to be equal, got 4 and 5}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<4x2xi32>) outs(%o : tensor<5x16xf32>) -> tensor<5x16xf32>
  return
}

// -----

func.func @columns(%x: tensor<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x17xf32>) {
  // expected-error @below {{'moeq.combine' op expects the columns of 'input' and those of 'outs' to be equal, got 16 and 17}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<4x2xi32>) outs(%o : tensor<4x17xf32>) -> tensor<4x17xf32>
  return
}

// -----

func.func @weights_rank(%x: tensor<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x16xf32>, %w: tensor<8xf32>) {
  // expected-error @below {{'moeq.combine' op expects 'weights' of rank 2, got rank 1}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<4x2xi32>) weights(%w : tensor<8xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @weights_tokens(%x: tensor<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x16xf32>, %w: tensor<3x2xf32>) {
  // expected-error @below {{'moeq.combine' op expects the tokens of 'weights' and those of 'slots' to be equal, got 3 and 4}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<4x2xi32>) weights(%w : tensor<3x2xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @weights_top_k(%x: tensor<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x16xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{'moeq.combine' op expects top_k of 'weights' and that of 'slots' to be equal, got 3 and 2}}
  %0 = moeq.combine input(%x : tensor<8x16xf32>) slots(%s : tensor<4x2xi32>) weights(%w : tensor<4x3xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @input_type(%x: tensor<8x16xi8>, %s: tensor<4x2xi32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.combine' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<8x16xi8>'}}
  %0 = moeq.combine input(%x : tensor<8x16xi8>) slots(%s : tensor<4x2xi32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @mixed(%x: memref<8x16xf32>, %s: tensor<4x2xi32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.combine' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.combine input(%x : memref<8x16xf32>) slots(%s : tensor<4x2xi32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}
