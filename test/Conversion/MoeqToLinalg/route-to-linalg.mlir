// RUN: moeq-opt %s --moeq-to-linalg | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK-SAME:    (%[[L:.*]]: memref<?x8xf32>, %[[IDS:.*]]: memref<?x2xi32>, %[[W:.*]]: memref<?x2xf32>)
// CHECK:         %[[SCORES:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK:         %[[KEYS:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:         scf.for
// The largest logit, 32 partial sums, a tree of five steps, the quotient.
// CHECK:           arith.maxnumf
// CHECK:           scf.for {{.*}} to %c32
// CHECK:             scf.for {{.*}} step %c32
// CHECK:           scf.for {{.*}} to %c16
// CHECK:           scf.for {{.*}} to %c8
// CHECK:           scf.for {{.*}} to %c4
// CHECK:           scf.for {{.*}} to %c2
// CHECK:           scf.for {{.*}} to %c1
// CHECK:             arith.divf
// The best key wins, an equal one later does not.
// CHECK:             arith.cmpi sgt
// CHECK:             memref.store %{{.*}}, %[[IDS]]
// CHECK:             memref.store %{{.*}}, %[[W]]
// CHECK:         memref.dealloc %[[SCORES]]
// CHECK:         memref.dealloc %[[KEYS]]
func.func @softmax(%l: memref<?x8xf32>, %ids: memref<?x2xi32>, %w: memref<?x2xf32>) {
  moeq.route logits(%l : memref<?x8xf32>) outs(%ids, %w : memref<?x2xi32>, memref<?x2xf32>)
  return
}

// The bias chooses and does not weigh; groups; a zero sum gives zeros.
// CHECK-LABEL: func @sigmoid
// CHECK-SAME:    (%[[L:.*]]: memref<?x64xbf16>, %[[B:.*]]: memref<64xf32>, %[[IDS:.*]]: memref<?x4xi32>, %[[W:.*]]: memref<?x4xf32>)
// CHECK:         memref.load %[[B]]
// CHECK:         scf.for {{.*}} -> (f32, f32)
// CHECK:         arith.divui
// CHECK:         memref.store %{{.*}}, %[[IDS]]
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (f32)
// CHECK:         arith.cmpf oeq, %[[SUM]]
// CHECK:         arith.divf %{{.*}}, %[[SUM]]
// CHECK:         arith.mulf
func.func @sigmoid(%l: memref<?x64xbf16>, %b: memref<64xf32>, %ids: memref<?x4xi32>, %w: memref<?x4xf32>) {
  moeq.route logits(%l : memref<?x64xbf16>) bias(%b : memref<64xf32>)
      outs(%ids, %w : memref<?x4xi32>, memref<?x4xf32>) score(sigmoid) renormalize scale(2.5)
      n_group(8) topk_group(3) group_score(top2_sum)
  return
}
