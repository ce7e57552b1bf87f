// RUN: moeq-opt %s --moeq-to-linalg --canonicalize | FileCheck %s

// Each column is taken from where it lies in the other layout; a scale of all
// columns is the first and last of its dimension.
// CHECK-LABEL: func @prepack
// CHECK-SAME:    (%[[V:.*]]: memref<2x128x4xi8>, %[[S:.*]]: memref<2x1x1xf32>, %[[PV:.*]]: memref<2x128x4xi8>, %[[PS:.*]]: memref<2x1x1xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[PV]]
// CHECK:           arith.remui %{{.*}}, %c64
// CHECK:           %[[COLUMN:.*]] = arith.select
// CHECK:           %[[AT:.*]] = arith.minui %[[COLUMN]], %c127
// CHECK:           memref.load %[[V]][%{{.*}}, %[[AT]], %{{.*}}]
// CHECK:         linalg.generic {{.*}} outs(%[[PS]]
// CHECK:           memref.load %[[S]][
!a = !moeq.scaled<i8, block = [*, *], scale = f32>
func.func @prepack(%v: memref<2x128x4xi8>, %s: memref<2x1x1xf32>, %pv: memref<2x128x4xi8>, %ps: memref<2x1x1xf32>) {
  moeq.prepack input(%v, %s : memref<2x128x4xi8>, memref<2x1x1xf32> as !a)
      outs(%pv, %ps : memref<2x128x4xi8>, memref<2x1x1xf32> as !a) from(gate_first) to(interleaved_64)
  return
}
