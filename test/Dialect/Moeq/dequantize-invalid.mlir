// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @plain(%x: tensor<4x8xi8>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects a scaled 'input', got 'tensor<4x8xi8>'}}
  %0 = moeq.dequantize input(%x : tensor<4x8xi8>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rank(%x: tensor<4x256x!a>, %o: tensor<256xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects 'outs' of rank 2, got rank 1}}
  %0 = moeq.dequantize input(%x : tensor<4x256x!a>) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @extent(%x: tensor<4x256x!a>, %o: tensor<3x256xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects extent 0 of 'input' and that of 'outs' to be equal, got 4 and 3}}
  %0 = moeq.dequantize input(%x : tensor<4x256x!a>) outs(%o : tensor<3x256xf32>) -> tensor<3x256xf32>
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @packed_extent(%v: memref<4x32xi8>, %s: memref<4x2xf32>, %o: memref<4x65xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects extent 1 of 'input' and that of 'outs' to be equal, got 64 and 65}}
  moeq.dequantize input(%v, %s : memref<4x32xi8>, memref<4x2xf32> as !i4) outs(%o : memref<4x65xf32>)
  return
}

// -----

!z = !moeq.scaled<i8, block = [*], scale = f32, zero = i8>
func.func @component(%v: memref<4x8xi8>, %s: memref<4x1xf32>, %o: memref<4x8xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects 3 components of 'input' for '!moeq.scaled<i8, block = [*], scale = f32, zero = i8>', got 2}}
  moeq.dequantize input(%v, %s : memref<4x8xi8>, memref<4x1xf32> as !z) outs(%o : memref<4x8xf32>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @mixed(%x: tensor<4x256x!a>, %o: memref<4x256xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects all operands to be tensors or all to be memrefs}}
  moeq.dequantize input(%x : tensor<4x256x!a>) outs(%o : memref<4x256xf32>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @result_type(%x: tensor<4x256x!a>, %o: tensor<4x256xi32>) {
  // expected-error @below {{'moeq.dequantize' op operand #1 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<4x256xi32>'}}
  %0 = moeq.dequantize input(%x : tensor<4x256x!a>) outs(%o : tensor<4x256xi32>) -> tensor<4x256xi32>
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @huge(%v: memref<9223372036854775807xi8>, %s: memref<1xf32>, %o: memref<1xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects component 1 of 'input' of shape [288230376151711744], got 'memref<1xf32>'}}
  moeq.dequantize input(%v, %s : memref<9223372036854775807xi8>, memref<1xf32> as !i4) outs(%o : memref<1xf32>)
  return
}
