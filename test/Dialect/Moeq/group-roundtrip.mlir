// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-LABEL: @plain
// CHECK: moeq.group ids(%{{.*}} : tensor<?x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>) -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
func.func @plain(%ids: tensor<?x2xi32>, %r: tensor<?xi32>, %s: tensor<?x2xi32>, %o: tensor<9xi32>) -> tensor<9xi32> {
  %0:3 = moeq.group ids(%ids : tensor<?x2xi32>) outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
  return %0#2 : tensor<9xi32>
}

// CHECK-LABEL: @all
// CHECK: moeq.group ids(%{{.*}} : memref<5x2xi32>) expert_map(%{{.*}} : memref<16xi32>) weights(%{{.*}} : memref<5x2xf32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<10xi32>, memref<5x2xi32>, memref<9xi32>) padded_offsets(%{{.*}} : memref<9xi32>) sorted_weights(%{{.*}} : memref<10xf32>)
func.func @all(%ids: memref<5x2xi32>, %m: memref<16xi32>, %w: memref<5x2xf32>, %r: memref<10xi32>,
               %s: memref<5x2xi32>, %o: memref<9xi32>, %p: memref<9xi32>, %sw: memref<10xf32>) {
  moeq.group ids(%ids : memref<5x2xi32>) expert_map(%m : memref<16xi32>) weights(%w : memref<5x2xf32>)
      outs(%r, %s, %o : memref<10xi32>, memref<5x2xi32>, memref<9xi32>)
      padded_offsets(%p : memref<9xi32>) sorted_weights(%sw : memref<10xf32>)
  return
}

// CHECK-LABEL: @padded
// CHECK: moeq.group {{.*}} padded_offsets(%{{.*}} : tensor<?xi32>) ->
func.func @padded(%ids: tensor<?x?xi32>, %r: tensor<?xi32>, %s: tensor<?x?xi32>, %o: tensor<?xi32>) {
  %0:4 = moeq.group ids(%ids : tensor<?x?xi32>) outs(%r, %s, %o : tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>)
      padded_offsets(%o : tensor<?xi32>) -> tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>
  return
}
