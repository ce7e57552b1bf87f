// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!t = !moeq.scaled<f8E5M2, block = [*, *], scale = f32>
!i4 = !moeq.scaled<i4, block = [3], scale = f32>

// CHECK-LABEL: @tensor
// CHECK: moeq.act_quant input(%{{.*}} : tensor<?x128xbf16>) outs(%{{.*}} : tensor<?x64x!{{.*}}>) function(swiglu) intermediate_round(bf16) recipe(<vllm_token>) -> tensor<?x64x!{{.*}}>
func.func @tensor(%x: tensor<?x128xbf16>, %init: tensor<?x64x!a>) -> tensor<?x64x!a> {
  %0 = moeq.act_quant input(%x : tensor<?x128xbf16>) outs(%init : tensor<?x64x!a>) function(swiglu)
      intermediate_round(bf16) recipe(<vllm_token>) -> tensor<?x64x!a>
  return %0 : tensor<?x64x!a>
}

// CHECK-LABEL: @components
// CHECK: moeq.act_quant input(%{{.*}} : memref<4x128xf32>) row_weight(%{{.*}} : memref<4xf32>) outs(%{{.*}}, %{{.*}} : memref<4x64xf8E5M2>, memref<1x1xf32> as !{{.*}}) function(clamped_swiglu) gate_layout(interleaved) exp(approx) limit(7.000000e+00) alpha(1.702000e+00) intermediate_round(f16) recipe(<te>)
func.func @components(%x: memref<4x128xf32>, %w: memref<4xf32>, %v: memref<4x64xf8E5M2>, %s: memref<1x1xf32>) {
  moeq.act_quant input(%x : memref<4x128xf32>) row_weight(%w : memref<4xf32>)
      outs(%v, %s : memref<4x64xf8E5M2>, memref<1x1xf32> as !t) function(clamped_swiglu) gate_layout(interleaved)
      exp(approx) limit(7.0) alpha(1.702) intermediate_round(f16) recipe(<te>)
  return
}

// CHECK-LABEL: @odd
// CHECK: moeq.act_quant input(%{{.*}} : tensor<2x6xf32>) outs(%{{.*}}, %{{.*}} : tensor<2x2xi8>, tensor<2x1xf32> as !{{.*}}) function(reglu) recipe(<int4_sym>)
func.func @odd(%x: tensor<2x6xf32>, %v: tensor<2x2xi8>, %s: tensor<2x1xf32>) {
  %0:2 = moeq.act_quant input(%x : tensor<2x6xf32>) outs(%v, %s : tensor<2x2xi8>, tensor<2x1xf32> as !i4)
      function(reglu) intermediate_round(none) recipe(<int4_sym>) -> tensor<2x2xi8>, tensor<2x1xf32>
  return
}
