// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @element(%x: tensor<4x8xf32>, %r: tensor<6xi32>, %o: tensor<6x8xbf16>) {
  // expected-error @below {{'moeq.gather' op expects 'input' and 'outs' of one element type, got 'f32' and 'bf16'}}
  %0 = moeq.gather input(%x : tensor<4x8xf32>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x8xbf16>) -> tensor<6x8xbf16>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @scaled_element(%x: tensor<4x256x!a>, %r: tensor<6xi32>, %o: tensor<6x256xf8E4M3FN>) {
  // expected-error @below {{'moeq.gather' op expects 'input' and 'outs' of one element type, got '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>' and 'f8E4M3FN'}}
  %0 = moeq.gather input(%x : tensor<4x256x!a>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x256xf8E4M3FN>) -> tensor<6x256xf8E4M3FN>
  return
}

// -----

func.func @input_rank(%x: tensor<8xf32>, %r: tensor<6xi32>, %o: tensor<6x8xf32>) {
  // expected-error @below {{'moeq.gather' op expects 'input' of rank 2, got rank 1}}
  %0 = moeq.gather input(%x : tensor<8xf32>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @outs_rank(%x: tensor<4x8xf32>, %r: tensor<6xi32>, %o: tensor<6x1x8xf32>) {
  // expected-error @below {{'moeq.gather' op expects 'outs' of rank 2, got rank 3}}
  %0 = moeq.gather input(%x : tensor<4x8xf32>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x1x8xf32>) -> tensor<6x1x8xf32>
  return
}

// -----

func.func @rows_rank(%x: tensor<4x8xf32>, %r: tensor<3x2xi32>, %o: tensor<6x8xf32>) {
  // expected-error @below {{'moeq.gather' op expects 'rows' of rank 1, got rank 2}}
  %0 = moeq.gather input(%x : tensor<4x8xf32>) rows(%r : tensor<3x2xi32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @rows(%x: tensor<4x8xf32>, %r: tensor<5xi32>, %o: tensor<6x8xf32>) {
  // expected-error @below {{'moeq.gather' op expects the number of 'rows' and the rows of 'outs' to be equal, got 5 and 6}}
  %0 = moeq.gather input(%x : tensor<4x8xf32>) rows(%r : tensor<5xi32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @columns(%x: tensor<4x8xf32>, %r: tensor<6xi32>, %o: tensor<6x9xf32>) {
  // expected-error @below {{'moeq.gather' op expects the columns of 'input' and those of 'outs' to be equal, got 8 and 9}}
  %0 = moeq.gather input(%x : tensor<4x8xf32>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x9xf32>) -> tensor<6x9xf32>
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @block(%x: tensor<4x256x!b>, %r: tensor<6xi32>, %o: tensor<6x256x!b>) {
  // expected-error @below {{'moeq.gather' op expects blocks inside a row, got '!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>'}}
  %0 = moeq.gather input(%x : tensor<4x256x!b>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x256x!b>) -> tensor<6x256x!b>
  return
}

// -----

func.func @plain_element(%x: memref<4x8xvector<4xf32>>, %r: memref<6xi32>, %o: memref<6x8xvector<4xf32>>) {
  // expected-error @below {{'moeq.gather' op expects an 'input' of integers or floats of 8 to 64 bits, got 'vector<4xf32>'}}
  moeq.gather input(%x : memref<4x8xvector<4xf32>>) rows(%r : memref<6xi32>) outs(%o : memref<6x8xvector<4xf32>>)
  return
}

// -----

func.func @bits(%x: memref<4x8xi4>, %r: memref<6xi32>, %o: memref<6x8xi4>) {
  // expected-error @below {{'moeq.gather' op expects an 'input' of integers or floats of 8 to 64 bits, got 'i4'}}
  moeq.gather input(%x : memref<4x8xi4>) rows(%r : memref<6xi32>) outs(%o : memref<6x8xi4>)
  return
}

// -----

func.func @mixed(%x: tensor<4x8xf32>, %r: tensor<6xi32>, %o: memref<6x8xf32>) {
  // expected-error @below {{'moeq.gather' op expects all operands to be tensors or all to be memrefs}}
  moeq.gather input(%x : tensor<4x8xf32>) rows(%r : tensor<6xi32>) outs(%o : memref<6x8xf32>)
  return
}

// -----

func.func @unranked(%x: memref<*xf32>, %r: memref<6xi32>, %o: memref<6x8xf32>) {
  // expected-error @below {{'moeq.gather' op operand #0 must be variadic of ranked tensor or memref, but got 'memref<*xf32>'}}
  moeq.gather input(%x : memref<*xf32>) rows(%r : memref<6xi32>) outs(%o : memref<6x8xf32>)
  return
}

// -----

func.func @encoding(%x: tensor<4x8xf32, 1>, %r: tensor<6xi32>, %o: tensor<6x8xf32>) {
  // expected-error @below {{'moeq.gather' op operand #0 must be variadic of ranked tensor or memref, but got 'tensor<4x8xf32, 1 : i64>'}}
  %0 = moeq.gather input(%x : tensor<4x8xf32, 1>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

!q = !moeq.scaled<f8E4M3FN, block = [32], scale = f32, layout = mn_major>
func.func @layout(%x: tensor<4x64x!q>, %r: tensor<6xi32>, %o: tensor<6x64x!q>) {
  // expected-error @below {{'moeq.gather' op expects row-major scales, got '!moeq.scaled<f8E4M3FN, block = [32], scale = f32, layout = mn_major>'}}
  %0 = moeq.gather input(%x : tensor<4x64x!q>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x64x!q>) -> tensor<6x64x!q>
  return
}
