// RUN: moeq-opt %s -moeq-to-linalg | FileCheck %s

// CHECK-LABEL: func @strided(
// CHECK-SAME: %[[X:[^:]*]]: memref<4x8xf8E4M3FN>, %[[Y:[^:]*]]: memref<4x8xf8E4M3FN, strided<[16, 1]>>
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[Y]] : {{.*}})
func.func @strided(%x: memref<4x8xf8E4M3FN>, %y: memref<4x8xf8E4M3FN, strided<[16, 1]>>) {
  memref.copy %x, %y : memref<4x8xf8E4M3FN> to memref<4x8xf8E4M3FN, strided<[16, 1]>>
  return
}

// A dense copy is one of bytes.
// CHECK-LABEL: func @dense(
// CHECK: memref.copy
func.func @dense(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32>
  return
}
