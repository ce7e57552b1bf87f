// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Each assembles with no spill; a serialized wgmma is an error of the pass.

!f8 = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!f8_tensor = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>
!s8 = !moeq.scaled<i8, block = [*], scale = f32>

// CHECK: gpu.binary @f8_kernels
// CHECK-SAME: spill_stores = 0
func.func @f8(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
              %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x1xf32>,
              %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !f8)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x1xf32> as !f8)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>) accumulate(<fast>)
  return
}

// CHECK: gpu.binary @f8_tensor_kernels
// CHECK-SAME: spill_stores = 0
func.func @f8_tensor(%a: memref<?x?xf8E4M3FN>, %sa: memref<1x1xf32>,
                     %w: memref<?x?x?xf8E4M3FN>, %sw: memref<?x1x1xf32>,
                     %o: memref<?xi32>, %c: memref<?x?xf32>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x?xf8E4M3FN>, memref<1x1xf32> as !f8_tensor)
    rhs(%w, %sw : memref<?x?x?xf8E4M3FN>, memref<?x1x1xf32> as !f8_tensor)
    offsets(%o : memref<?xi32>) outs(%c : memref<?x?xf32>) accumulate(<fast>)
  return
}

// CHECK: gpu.binary @bf16_kernels
// CHECK-SAME: spill_stores = 0
func.func @bf16(%a: memref<?x4096xbf16>, %w: memref<8x14336x4096xbf16>, %o: memref<9xi32>,
                %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x4096xbf16>) rhs(%w : memref<8x14336x4096xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
  return
}

// CHECK: gpu.binary @s8_kernels
// CHECK-SAME: spill_stores = 0
func.func @s8(%a: memref<?x512xi8>, %sa: memref<?x1xf32>, %w: memref<256x520x512xi8>,
              %sw: memref<256x520x1xf32>, %o: memref<257xi32>, %c: memref<?x520xf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xi8>, memref<?x1xf32> as !s8)
    rhs(%w, %sw : memref<256x520x512xi8>, memref<256x520x1xf32> as !s8)
    offsets(%o : memref<257xi32>) outs(%c : memref<?x520xf16>)
  return
}

// CHECK: gpu.binary @epilogue_kernels
// CHECK-SAME: spill_stores = 0
func.func @epilogue(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
                    %w: memref<8x776x4096xf8E4M3FN>, %sw: memref<8x776x1xf32>,
                    %o: memref<9xi32>, %bias: memref<8x776xf32>, %weight: memref<?xf32>,
                    %rest: memref<?x776xbf16>, %c: memref<?x776xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !f8)
    rhs(%w, %sw : memref<8x776x4096xf8E4M3FN>, memref<8x776x1xf32> as !f8)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x776xbf16>) accumulate(<fast>)
    epilogue(%bias, %weight, %rest : memref<8x776xf32>, memref<?xf32>, memref<?x776xbf16>)
    maps [column, row, row_column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32, %s: f32, %r: bf16):
      %x = arith.addf %acc, %b : f32
      %y = arith.mulf %x, %s : f32
      %e = arith.extf %r : bf16 to f32
      %z = arith.addf %y, %e : f32
      %t = arith.truncf %z : f32 to bf16
      moeq.yield %t : bf16
  }
  return
}

// CHECK: gpu.binary @dynamic_kernels
// CHECK-SAME: spill_stores = 0
func.func @dynamic(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
                   %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x1xf32>,
                   %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !f8)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x1xf32> as !f8)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>) accumulate(<fast>)
    config(<tile = [128, 256], schedule = dynamic>)
  return
}
