// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-LABEL: @gated
// CHECK: moeq.activate input(%{{.*}} : tensor<?x128xbf16>) outs(%{{.*}} : tensor<?x64xbf16>) function(swiglu) -> tensor<?x64xbf16>
// CHECK: moeq.activate {{.*}} function(geglu) gate_layout(up_first)
// CHECK: moeq.activate {{.*}} function(reglu) gate_layout(interleaved) exp(approx)
func.func @gated(%x: tensor<?x128xbf16>, %init: tensor<?x64xbf16>) {
  %0 = moeq.activate input(%x : tensor<?x128xbf16>) outs(%init : tensor<?x64xbf16>) function(swiglu)
      gate_layout(gate_first) exp(ieee) -> tensor<?x64xbf16>
  %1 = moeq.activate input(%x : tensor<?x128xbf16>) outs(%init : tensor<?x64xbf16>) function(geglu)
      gate_layout(up_first) -> tensor<?x64xbf16>
  %2 = moeq.activate input(%x : tensor<?x128xbf16>) outs(%init : tensor<?x64xbf16>) function(reglu)
      gate_layout(interleaved) exp(approx) -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: @clamped
// CHECK: moeq.activate input(%{{.*}} : tensor<4x?xf32>) row_weight(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<4x?xf16>) function(clamped_swiglu) limit(7.000000e+00) alpha(1.702000e+00)
func.func @clamped(%x: tensor<4x?xf32>, %w: tensor<4xf32>, %init: tensor<4x?xf16>) {
  %0 = moeq.activate input(%x : tensor<4x?xf32>) row_weight(%w : tensor<4xf32>) outs(%init : tensor<4x?xf16>)
      function(clamped_swiglu) limit(7.0) alpha(1.702) -> tensor<4x?xf16>
  return
}

// CHECK-LABEL: @plain
// CHECK: function(identity)
// CHECK: function(relu)
// CHECK: function(srelu)
// CHECK: function(silu)
// CHECK: function(gelu)
// CHECK: function(gelu_tanh)
func.func @plain(%x: memref<4x64xf32>, %y: memref<4x64xf32>) {
  moeq.activate input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(identity)
  moeq.activate input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(relu)
  moeq.activate input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(srelu)
  moeq.activate input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(silu)
  moeq.activate input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(gelu)
  moeq.activate input(%x : memref<4x64xf32>) outs(%y : memref<4x64xf32>) function(gelu_tanh)
  return
}
