// RUN: moeq-opt %s -split-input-file -verify-diagnostics -moeq-decompose
// RUN: not moeq-opt %s -split-input-file -moeq-decompose=unroll-limit=-1 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not moeq-opt %s -split-input-file -moeq-decompose=form=loop 2>&1 | FileCheck %s --check-prefix=FORM

// LIMIT: error: expects a non-negative unroll-limit, got -1
// FORM: Cannot find option named 'loop'

func.func @on_memrefs(%x: memref<5x64xbf16>, %logits: memref<5x8xf32>, %w13: memref<8x128x64xbf16>,
                      %w2: memref<8x64x128xbf16>, %out: memref<5x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects to be decomposed on tensors, got 'memref<5x64xbf16>'}}
  moeq.experts hidden(%x : memref<5x64xbf16>) logits(%logits : memref<5x8xf32>)
      w13(%w13 : memref<8x128x64xbf16>) w2(%w2 : memref<8x64x128xbf16>)
      outs(%out : memref<5x64xbf16>) top_k(2) function(silu)
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>

func.func @components(%x: tensor<5x64xbf16>, %logits: tensor<5x8xf32>,
                      %w13: tensor<8x128x64xi8>, %s13: tensor<8x128x1xf32>,
                      %w2: tensor<8x64x128x!w>, %out: tensor<5x64xbf16>) -> tensor<5x64xbf16> {
  // expected-error @below {{'moeq.experts' op expects scaled weights to be decomposed, got components}}
  %y = moeq.experts hidden(%x : tensor<5x64xbf16>) logits(%logits : tensor<5x8xf32>)
      w13(%w13, %s13 : tensor<8x128x64xi8>, tensor<8x128x1xf32> as !w)
      w2(%w2 : tensor<8x64x128x!w>) outs(%out : tensor<5x64xbf16>) top_k(2) function(silu)
      -> tensor<5x64xbf16>
  return %y : tensor<5x64xbf16>
}
