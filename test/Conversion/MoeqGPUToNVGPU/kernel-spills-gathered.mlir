// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Kernels of gathered rows, of each scheme. Each assembles with no spill; a
// serialized wgmma is an error of the pass.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!act_mn = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!vector = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!integer = !moeq.scaled<i8, block = [*], scale = f32>

// CHECK: gpu.binary @blocks_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [128, 256], schedule = dynamic, raster = 8>)
  return
}

// CHECK: gpu.binary @blocks_mn_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks_mn(%a: memref<?x2048xf8E4M3FN>, %sa: memref<16x?xf32>,
                  %w: memref<256x7168x2048xf8E4M3FN>, %sw: memref<256x56x16xf32>,
                  %o: memref<257xi32>, %r: memref<?xi32>, %c: memref<?x7168xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x2048xf8E4M3FN>, memref<16x?xf32> as !act_mn)
    rhs(%w, %sw : memref<256x7168x2048xf8E4M3FN>, memref<256x56x16xf32> as !weight)
    offsets(%o : memref<257xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x7168xbf16>)
    config(<tile = [128, 128], stages = 5, schedule = dynamic>)
  return
}

// CHECK: gpu.binary @vectors_kernels
// CHECK-SAME: spill_stores = 0
func.func @vectors(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
                   %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x1xf32>,
                   %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !vector)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x1xf32> as !vector)
    offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [128, 256], schedule = dynamic, raster = 8>)
  return
}

// CHECK: gpu.binary @integers_kernels
// CHECK-SAME: spill_stores = 0
func.func @integers(%a: memref<?x4096xi8>, %sa: memref<?x1xf32>,
                    %w: memref<8x14336x4096xi8>, %sw: memref<8x14336x1xf32>,
                    %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xi8>, memref<?x1xf32> as !integer)
    rhs(%w, %sw : memref<8x14336x4096xi8>, memref<8x14336x1xf32> as !integer)
    offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x14336xbf16>)
  return
}

// CHECK: gpu.binary @plain_kernels
// CHECK-SAME: spill_stores = 0
func.func @plain(%a: memref<?x?xbf16>, %w: memref<?x?x?xbf16>,
                 %o: memref<?xi32>, %r: memref<?xi32>, %c: memref<?x?xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x?xbf16>) rhs(%w : memref<?x?x?xbf16>)
    offsets(%o : memref<?xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x?xbf16>)
  return
}

// The weights as the first operand.
// CHECK: gpu.binary @swapped_kernels
// CHECK-SAME: spill_stores = 0
func.func @swapped(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
                   %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x1xf32>,
                   %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !vector)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x1xf32> as !vector)
    offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [64, 256], swap_ab = true, schedule = dynamic>)
  return
}
