// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-LABEL: @weights
// CHECK: moeq.combine input(%{{.*}} : tensor<?x64xbf16>) slots(%{{.*}} : tensor<?x2xi32>) weights(%{{.*}} : tensor<?x2xf32>) outs(%{{.*}} : tensor<?x64xf16>) -> tensor<?x64xf16>
func.func @weights(%x: tensor<?x64xbf16>, %slots: tensor<?x2xi32>, %w: tensor<?x2xf32>, %init: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %0 = moeq.combine input(%x : tensor<?x64xbf16>) slots(%slots : tensor<?x2xi32>) weights(%w : tensor<?x2xf32>)
      outs(%init : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %0 : tensor<?x64xf16>
}

// CHECK-LABEL: @plain
// CHECK: moeq.combine input(%{{.*}} : memref<8x64xf32>) slots(%{{.*}} : memref<4x2xi32>) outs(%{{.*}} : memref<4x64xf32>)
func.func @plain(%x: memref<8x64xf32>, %slots: memref<4x2xi32>, %y: memref<4x64xf32>) {
  moeq.combine input(%x : memref<8x64xf32>) slots(%slots : memref<4x2xi32>) outs(%y : memref<4x64xf32>)
  return
}
