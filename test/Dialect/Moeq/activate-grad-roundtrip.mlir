// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s

// CHECK-LABEL: @gated
// CHECK: moeq.activate_grad grad(%{{.*}} : tensor<?x64xbf16>) input(%{{.*}} : tensor<?x128xbf16>) outs(%{{.*}} : tensor<?x128xf32>) function(swiglu) -> tensor<?x128xf32>
// CHECK: moeq.activate_grad {{.*}} row_weight(%{{.*}} : tensor<?xf32>) {{.*}} function(clamped_swiglu) gate_layout(interleaved) exp(approx) limit(7.000000e+00) alpha(1.702000e+00)
func.func @gated(%d: tensor<?x64xbf16>, %x: tensor<?x128xbf16>, %w: tensor<?xf32>, %init: tensor<?x128xf32>) {
  %0 = moeq.activate_grad grad(%d : tensor<?x64xbf16>) input(%x : tensor<?x128xbf16>) outs(%init : tensor<?x128xf32>)
      function(swiglu) gate_layout(gate_first) exp(ieee) -> tensor<?x128xf32>
  %1 = moeq.activate_grad grad(%d : tensor<?x64xbf16>) input(%x : tensor<?x128xbf16>) row_weight(%w : tensor<?xf32>)
      outs(%init : tensor<?x128xf32>) function(clamped_swiglu) gate_layout(interleaved) exp(approx) limit(7.0) alpha(1.702)
      -> tensor<?x128xf32>
  return
}

// CHECK-LABEL: @plain
// CHECK: moeq.activate_grad grad(%{{.*}} : memref<4x64xf16>) input(%{{.*}} : memref<4x64xf32>) outs(%{{.*}} : memref<4x64xf32>) function(srelu)
func.func @plain(%d: memref<4x64xf16>, %x: memref<4x64xf32>, %y: memref<4x64xf32>) {
  moeq.activate_grad grad(%d : memref<4x64xf16>) input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(srelu)
  return
}
