// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Kernels that promote partial sums, with the weights as the first operand and
// code for each width of a tile. Each assembles with no spill; a serialized
// wgmma is an error of the pass.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!act_mn = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Two sums in flight.
// CHECK: gpu.binary @blocks_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [96, 128], stages = 6, swap_ab = true, schedule = dynamic>)
  return
}

// Widths of one sum in flight too; the last stage of K is a partial one.
// CHECK: gpu.binary @blocks_mn_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks_mn(%a: memref<8x?x1040xf8E4M3FN>, %sa: memref<8x9x?xf32>,
                     %w: memref<8x1032x1040xf8E4M3FN>, %sw: memref<8x9x9xf32>,
                     %n: memref<8xi32>, %c: memref<8x?x1032xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<8x?x1040xf8E4M3FN>, memref<8x9x?xf32> as !act_mn)
    rhs(%w, %sw : memref<8x1032x1040xf8E4M3FN>, memref<8x9x9xf32> as !weight)
    counts(%n : memref<8xi32>) outs(%c : memref<8x?x1032xbf16>)
    config(<tile = [128, 128], stages = 6, swap_ab = true, schedule = dynamic>)
  return
}

// CHECK: gpu.binary @vectors_kernels
// CHECK-SAME: spill_stores = 0
func.func @vectors(%a: memref<?x?xf8E4M3FN>, %sa: memref<?x?xf32>,
                   %w: memref<?x?x?xf8E4M3FN>, %sw: memref<?x?x?xf32>,
                   %o: memref<?xi32>, %c: memref<?x?xf32>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x?xf8E4M3FN>, memref<?x?xf32> as !act)
    rhs(%w, %sw : memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32> as !act_mn)
    offsets(%o : memref<?xi32>) outs(%c : memref<?x?xf32>)
    config(<tile = [64, 128], stages = 6, swap_ab = true>)
  return
}
