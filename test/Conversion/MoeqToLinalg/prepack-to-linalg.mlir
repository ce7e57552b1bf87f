// RUN: moeq-opt %s --moeq-to-linalg --canonicalize | FileCheck %s

// Each column is taken from where it lies in the other layout; a scale of all
// columns stays where it is.
// CHECK-LABEL: func @prepack
// CHECK-SAME:    (%[[V:.*]]: memref<2x128x4xi8>, %[[S:.*]]: memref<2x1x1xf32>, %[[PV:.*]]: memref<2x128x4xi8>, %[[PS:.*]]: memref<2x1x1xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[PV]]
// CHECK:           arith.remui %{{.*}}, %c64
// CHECK:           %[[COLUMN:.*]] = arith.select
// CHECK:           memref.load %[[V]][%{{.*}}, %[[COLUMN]], %{{.*}}]
// CHECK:         linalg.generic {{.*}} outs(%[[PS]]
// CHECK:           memref.load %[[S]][%{{.*}}, %c0, %{{.*}}]
!a = !moeq.scaled<i8, block = [*, *], scale = f32>
func.func @prepack(%v: memref<2x128x4xi8>, %s: memref<2x1x1xf32>, %pv: memref<2x128x4xi8>, %ps: memref<2x1x1xf32>) {
  moeq.prepack input(%v, %s : memref<2x128x4xi8>, memref<2x1x1xf32> as !a)
      outs(%pv, %ps : memref<2x128x4xi8>, memref<2x1x1xf32> as !a) from(gate_first) to(interleaved_64)
  return
}

// A byte of packed weights has nibbles of two rows, eight apart.
// CHECK-LABEL: func @packed
// CHECK-SAME:    (%[[V:.*]]: memref<64x64xi8>, %[[S:.*]]: memref<64x2xf32>,
// CHECK:         linalg.generic
// CHECK-COUNT-2:   memref.load %[[V]][
// CHECK:           %[[HIGH:.*]] = arith.shli %{{.*}}, %c4
// CHECK:           arith.ori %{{.*}}, %[[HIGH]] : i8
// CHECK:         linalg.generic
// CHECK:           memref.load %[[S]][
!u = !moeq.scaled<ui4, block = [64], scale = f32>
!p = !moeq.scaled<ui4, block = [64], scale = f32, packing = fragments>
func.func @packed(%v: memref<64x64xi8>, %s: memref<64x2xf32>, %pv: memref<64x64xi8>, %ps: memref<64x2xf32>) {
  moeq.prepack input(%v, %s : memref<64x64xi8>, memref<64x2xf32> as !u)
      outs(%pv, %ps : memref<64x64xi8>, memref<64x2xf32> as !p)
  return
}
