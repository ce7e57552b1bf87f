// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=isa | FileCheck %s --check-prefix=PTX

// INT8 by INT8: sums in i32 for all of K, converted once, scaled by a * (x * y).

!vector = !moeq.scaled<i8, block = [*], scale = f32>
!tensor = !moeq.scaled<i8, block = [*, *], scale = f32>

// CHECK: gpu.binary @vectors_kernels
// CHECK-SAME: spill_stores = 0
// PTX:     gpu.binary @vectors_kernels
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8
// PTX-SAME: cvt.rn.f32.s32
// PTX-SAME: mul.rn.f32
// PTX-SAME: cvt.rn.bf16x2.f32
func.func @vectors(%a: memref<?x4096xi8>, %sa: memref<?x1xf32>,
                   %w: memref<8x14336x4096xi8>, %sw: memref<8x14336x1xf32>,
                   %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xi8>, memref<?x1xf32> as !vector)
    rhs(%w, %sw : memref<8x14336x4096xi8>, memref<8x14336x1xf32> as !vector)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [128, 256], schedule = dynamic, raster = 8>)
  return
}

// CHECK: gpu.binary @tensors_kernels
// CHECK-SAME: spill_stores = 0
// PTX:     gpu.binary @tensors_kernels
// PTX-SAME: .s32.s8.s8
// PTX-SAME: cvt.rn.f32.s32
func.func @tensors(%a: memref<?x?xi8>, %sa: memref<1x1xf32>,
                   %w: memref<?x?x?xi8>, %sw: memref<?x1x1xf32>,
                   %o: memref<?xi32>, %c: memref<?x?xf32>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x?xi8>, memref<1x1xf32> as !tensor)
    rhs(%w, %sw : memref<?x?x?xi8>, memref<?x1x1xf32> as !tensor)
    offsets(%o : memref<?xi32>) outs(%c : memref<?x?xf32>)
  return
}

// A scale a token by one of an expert's weight, as FP16.
// CHECK: gpu.binary @mixed_kernels
// CHECK-SAME: spill_stores = 0
// PTX:     gpu.binary @mixed_kernels
// PTX-SAME: .s32.s8.s8
// PTX-SAME: cvt.rn.f16x2.f32
func.func @mixed(%a: memref<?x512xi8>, %sa: memref<?x1xf32>,
                 %w: memref<60x2816x512xi8>, %sw: memref<60x1x1xf32>,
                 %o: memref<61xi32>, %c: memref<?x2816xf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xi8>, memref<?x1xf32> as !vector)
    rhs(%w, %sw : memref<60x2816x512xi8>, memref<60x1x1xf32> as !tensor)
    offsets(%o : memref<61xi32>) outs(%c : memref<?x2816xf16>)
  return
}

// Integers without scales.
// CHECK: gpu.binary @plain_kernels
// CHECK-SAME: spill_stores = 0
// PTX:     gpu.binary @plain_kernels
// PTX-SAME: .s32.s8.s8
// PTX-SAME: cvt.rn.f32.s32
func.func @plain(%a: memref<?x512xi8>, %w: memref<1024x512xi8>, %c: memref<?x1024xf32>) {
  moeq.matmul lhs(%a : memref<?x512xi8>) rhs(%w : memref<1024x512xi8>)
    outs(%c : memref<?x1024xf32>)
  return
}
