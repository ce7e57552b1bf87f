// RUN: moeq-opt %s --moeq-to-linalg --canonicalize | FileCheck %s

// The rank of each group gives its row; then the sums, and the width of the
// first tile that is left over, give row 0.
// CHECK-LABEL: func @plan
// CHECK-SAME:    (%[[O:.*]]: memref<?xi32>, %[[N:.*]]: index, %[[T:.*]]: memref<?x4xi32>)
// CHECK:         scf.for %[[E:.*]] = %c0
// CHECK:           memref.load %[[O]][%[[E]]]
// CHECK:           %[[RANK:.*]] = scf.for {{.*}} -> (index)
// CHECK:             arith.select
// CHECK-COUNT-4:   memref.store %{{.*}}, %[[T]][%[[RANK]], %
// CHECK:         %[[SUMS:.*]]:2 = scf.for {{.*}} -> (i32, i32)
// CHECK:         arith.remui %[[SUMS]]#0, %c132_i32
// CHECK:         scf.for {{.*}} -> (i32, i32)
// CHECK:         memref.store %{{.*}}, %[[T]][%c0, %c0]
// CHECK:         memref.store %[[SUMS]]#1, %[[T]][%c0, %c3]
func.func @plan(%o: memref<?xi32>, %n: index, %t: memref<?x4xi32>) {
  moeq.plan offsets(%o : memref<?xi32>) columns(%n) outs(%t : memref<?x4xi32>)
      tile_columns(256) max_width(160) ctas(132)
  return
}
