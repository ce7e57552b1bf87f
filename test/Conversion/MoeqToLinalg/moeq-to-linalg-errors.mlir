// RUN: moeq-opt %s --split-input-file --moeq-to-linalg --verify-diagnostics

func.func @tensors(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{expects memrefs, got 'tensor<4x8xf32>': scaled tensors are unpacked and tensors bufferized before}}
  %0 = moeq.activate input(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) function(silu) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @layer(%x: memref<4x8xf32>, %l: memref<4x2xf32>, %w13: memref<2x32x8xf32>,
                 %w2: memref<2x8x16xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{expects a layer to be decomposed before it is lowered to loops, got 'moeq.experts'}}
  moeq.experts hidden(%x : memref<4x8xf32>) logits(%l : memref<4x2xf32>) w13(%w13 : memref<2x32x8xf32>)
      w2(%w2 : memref<2x8x16xf32>) outs(%y : memref<4x8xf32>) top_k(1) function(swiglu)
  return
}

// -----

!q = !moeq.scaled<i4, block = [3], scale = f32>
func.func @odd_block(%x: memref<4x6xf32>, %q: memref<4x3xi8>, %s: memref<4x2xf32>) {
  // expected-error @+1 {{expects an even block along the last dimension of 4-bit values, got '!moeq.scaled<i4, block = [3], scale = f32>'}}
  moeq.quantize input(%x : memref<4x6xf32>) outs(%q, %s : memref<4x3xi8>, memref<4x2xf32> as !q)
      recipe(<int4_sym>)
  return
}
