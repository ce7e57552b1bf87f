// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: @mixtral
// CHECK: moeq.experts hidden(%{{.*}} : tensor<?x64xbf16>) logits(%{{.*}} : tensor<?x8xf32>) w13(%{{.*}} : tensor<8x256x64x!{{.*}}>) w2(%{{.*}} : tensor<8x64x128x!{{.*}}>) outs(%{{.*}} : tensor<?x64xbf16>) top_k(2) renormalize function(swiglu) quantize(<vllm_token> to !{{.*}}) -> tensor<?x64xbf16>
func.func @mixtral(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!a>, %w2: tensor<8x64x128x!a>, %init: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!a>)
      w2(%w2 : tensor<8x64x128x!a>) outs(%init : tensor<?x64xbf16>) top_k(2) renormalize function(swiglu)
      quantize(<vllm_token> to !a) -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// CHECK-LABEL: @all
// CHECK: moeq.experts {{.*}} router_bias(%{{.*}} : tensor<16xf32>) bias13(%{{.*}} : tensor<8x256xf32>) bias2(%{{.*}} : tensor<8x64xf32>) expert_map(%{{.*}} : tensor<16xi32>) outs(%{{.*}} : tensor<?x64xbf16>) top_k(4) score(sigmoid) renormalize scale(2.500000e+00) n_group(4) topk_group(2) group_score(top2_sum) function(clamped_swiglu) gate_layout(interleaved) exp(approx) limit(7.000000e+00) alpha(1.702000e+00) intermediate_round(none) quantize(<vllm_token> to !{{.*}}) accumulate(<promote<128>>) weight_on_input -> tensor<?x64xbf16>
func.func @all(%x: tensor<?x64xbf16>, %l: tensor<?x16xf32>, %w13: tensor<8x256x64x!a>, %w2: tensor<8x64x128x!a>, %rb: tensor<16xf32>,
               %b13: tensor<8x256xf32>, %b2: tensor<8x64xf32>, %map: tensor<16xi32>, %init: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x16xf32>) w13(%w13 : tensor<8x256x64x!a>)
      w2(%w2 : tensor<8x64x128x!a>) router_bias(%rb : tensor<16xf32>) bias13(%b13 : tensor<8x256xf32>) bias2(%b2 : tensor<8x64xf32>)
      expert_map(%map : tensor<16xi32>) outs(%init : tensor<?x64xbf16>) top_k(4) score(sigmoid) renormalize scale(2.5) n_group(4)
      topk_group(2) group_score(top2_sum) function(clamped_swiglu) gate_layout(interleaved) exp(approx) limit(7.0) alpha(1.702)
      intermediate_round(none) quantize(<vllm_token> to !a) accumulate(<promote<128>>) weight_on_input -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// One shared expert, plain operands, a plain activation.
// CHECK-LABEL: @shared
// CHECK: function(silu) shared_experts(1)
func.func @shared(%x: tensor<?x64xf16>, %l: tensor<?x7xf32>, %w13: tensor<8x128x64xf16>, %w2: tensor<8x64x128xf16>, %init: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %0 = moeq.experts hidden(%x : tensor<?x64xf16>) logits(%l : tensor<?x7xf32>) w13(%w13 : tensor<8x128x64xf16>)
      w2(%w2 : tensor<8x64x128xf16>) outs(%init : tensor<?x64xf16>) top_k(2) function(silu) shared_experts(1) -> tensor<?x64xf16>
  return %0 : tensor<?x64xf16>
}

// CHECK-LABEL: @components
// CHECK: moeq.experts {{.*}} w13(%{{.*}}, %{{.*}} : memref<8x256x64xf8E4M3FN>, memref<8x256x1xf32> as !{{.*}}) w2(%{{.*}}, %{{.*}} : memref<8x64x128xf8E4M3FN>, memref<8x64x1xf32> as !{{.*}})
func.func @components(%x: memref<?x64xbf16>, %l: memref<?x8xf32>, %w13: memref<8x256x64xf8E4M3FN>, %s13: memref<8x256x1xf32>,
                      %w2: memref<8x64x128xf8E4M3FN>, %s2: memref<8x64x1xf32>, %y: memref<?x64xbf16>) {
  moeq.experts hidden(%x : memref<?x64xbf16>) logits(%l : memref<?x8xf32>)
      w13(%w13, %s13 : memref<8x256x64xf8E4M3FN>, memref<8x256x1xf32> as !a)
      w2(%w2, %s2 : memref<8x64x128xf8E4M3FN>, memref<8x64x1xf32> as !a) outs(%y : memref<?x64xbf16>) top_k(2) function(swiglu)
  return
}
