// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-LABEL: @tensors
// CHECK: moeq.smooth amax(%{{.*}} : tensor<8x64xf32>) weight(%{{.*}} : tensor<8x96x64xbf16>) outs(%{{.*}} : tensor<8x64xf32>) -> tensor<8x64xf32>
func.func @tensors(%a: tensor<8x64xf32>, %w: tensor<8x96x64xbf16>, %s: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = moeq.smooth amax(%a : tensor<8x64xf32>) weight(%w : tensor<8x96x64xbf16>)
      outs(%s : tensor<8x64xf32>) alpha(5.0e-01) floor(1.0e-05) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// A calibration, and factors, of all experts.
// CHECK-LABEL: @memrefs
// CHECK: moeq.smooth amax(%{{.*}} : memref<1x?xf32>) weight(%{{.*}} : memref<?x?x?xf32>) outs(%{{.*}} : memref<1x?xf32>) alpha(7.500000e-01) floor(1.000000e-03) power_of_two{{$}}
func.func @memrefs(%a: memref<1x?xf32>, %w: memref<?x?x?xf32>, %s: memref<1x?xf32>) {
  moeq.smooth amax(%a : memref<1x?xf32>) weight(%w : memref<?x?x?xf32>) outs(%s : memref<1x?xf32>)
      alpha(0.75) floor(1.0e-03) power_of_two
  return
}
