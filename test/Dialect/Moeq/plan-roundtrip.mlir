// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-LABEL: @tensors
// CHECK: moeq.plan offsets(%{{.*}} : tensor<9xi32>) columns(%{{.*}}) outs(%{{.*}} : tensor<9x4xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<9x4xi32>
func.func @tensors(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) -> tensor<9x4xi32> {
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>)
      tile_columns(256) max_width(160) ctas(132) overhead(24) -> tensor<9x4xi32>
  return %0 : tensor<9x4xi32>
}

// CHECK-LABEL: @memrefs
// CHECK: moeq.plan offsets(%{{.*}} : memref<?xi32>) columns(%{{.*}}) outs(%{{.*}} : memref<?x4xi32>) tile_columns(128) max_width(64) ctas(264) width_step(16) overhead(32){{$}}
func.func @memrefs(%o: memref<?xi32>, %n: index, %p: memref<?x4xi32>) {
  moeq.plan offsets(%o : memref<?xi32>) columns(%n) outs(%p : memref<?x4xi32>)
      tile_columns(128) max_width(64) ctas(264) width_step(16) overhead(32)
  return
}
