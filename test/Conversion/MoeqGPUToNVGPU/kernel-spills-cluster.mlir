// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Clusters, whose producer has the most to keep, over as many stages as the ring
// has: no spill either. A serialized wgmma is an error of the pass.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!vector = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK: gpu.binary @blocks_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x4xf32>, %w: memref<8x1024x512xf8E4M3FN>,
                  %sw: memref<8x8x4xf32>, %o: memref<9xi32>, %c: memref<?x1024xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x4xf32> as !act)
    rhs(%w, %sw : memref<8x1024x512xf8E4M3FN>, memref<8x8x4xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x1024xbf16>)
    config(<tile = [128, 256], stages = 4, schedule = dynamic, cluster = 2>)
  return
}

// CHECK: gpu.binary @swapped_kernels
// CHECK-SAME: spill_stores = 0
func.func @swapped(%a: memref<8x?x512xf8E4M3FN>, %sa: memref<8x?x1xf32>,
                   %w: memref<8x1024x512xf8E4M3FN>, %sw: memref<8x1024x1xf32>,
                   %n: memref<8xi32>, %c: memref<8x?x1024xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<8x?x512xf8E4M3FN>, memref<8x?x1xf32> as !vector)
    rhs(%w, %sw : memref<8x1024x512xf8E4M3FN>, memref<8x1024x1xf32> as !vector)
    counts(%n : memref<8xi32>) outs(%c : memref<8x?x1024xbf16>)
    config(<tile = [160, 256], stages = 4, swap_ab = true, schedule = dynamic, cluster = 2>)
  return
}
