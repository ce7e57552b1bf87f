// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Kernels that promote partial sums. Each assembles with no spill; a serialized
// wgmma is an error of the pass.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!act_mn = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!vector = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK: gpu.binary @blocks_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [128, 256], schedule = dynamic, raster = 8>)
  return
}

// CHECK: gpu.binary @blocks_dynamic_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks_dynamic(%a: memref<?x?xf8E4M3FN>, %sa: memref<?x?xf32>,
                  %w: memref<?x?x?xf8E4M3FN>, %sw: memref<?x?x?xf32>,
                  %o: memref<?xi32>, %c: memref<?x?xf32>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x?xf8E4M3FN>, memref<?x?xf32> as !act)
    rhs(%w, %sw : memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32> as !weight)
    offsets(%o : memref<?xi32>) outs(%c : memref<?x?xf32>)
  return
}

// CHECK: gpu.binary @narrow_kernels
// CHECK-SAME: spill_stores = 0
func.func @narrow(%a: memref<?x1040xf8E4M3FN>, %sa: memref<9x?xf32>,
                  %w: memref<256x1032x1040xf8E4M3FN>, %sw: memref<256x9x9xf32>,
                  %o: memref<257xi32>, %c: memref<?x1032xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x1040xf8E4M3FN>, memref<9x?xf32> as !act_mn)
    rhs(%w, %sw : memref<256x1032x1040xf8E4M3FN>, memref<256x9x9xf32> as !weight)
    offsets(%o : memref<257xi32>) outs(%c : memref<?x1032xbf16>)
    config(<tile = [128, 128], stages = 5, schedule = dynamic>)
  return
}

// CHECK: gpu.binary @vectors_kernels
// CHECK-SAME: spill_stores = 0
func.func @vectors(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                   %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x32xf32>,
                   %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x32xf32> as !act)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
  return
}

// CHECK: gpu.binary @vectors_mn_kernels
// CHECK-SAME: spill_stores = 0
func.func @vectors_mn(%a: memref<?x4096xf8E4M3FN>, %sa: memref<32x?xf32>,
                      %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x32x14336xf32>,
                      %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<32x?xf32> as !act_mn)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x32x14336xf32> as !act_mn)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
  return
}

// CHECK: gpu.binary @promoted_kernels
// CHECK-SAME: spill_stores = 0
func.func @promoted(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
                    %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x1xf32>,
                    %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !vector)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x1xf32> as !vector)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>) accumulate(<promote<128>>)
  return
}

// CHECK: gpu.binary @within_kernels
// CHECK-SAME: spill_stores = 0
func.func @within(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [128, 192], schedule = dynamic, raster = 8>)
  return
}
