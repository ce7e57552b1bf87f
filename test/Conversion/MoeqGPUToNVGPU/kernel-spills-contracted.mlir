// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Each assembles with no spill; a serialized wgmma is an error of the pass.

// CHECK: gpu.binary @rows_kernels
// CHECK-SAME: spill_stores = 0
func.func @rows(%dy: memref<?x7168xbf16>, %x: memref<?x4096xbf16>, %o: memref<9xi32>, %dw: memref<8x7168x4096xbf16>) {
  moeq.grouped_matmul lhs(%dy : memref<?x7168xbf16>) rhs(%x : memref<?x4096xbf16>) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x7168x4096xbf16>) contract(rows) config(<tile = [128, 256], schedule = dynamic>)
  return
}

// CHECK: gpu.binary @added_kernels
// CHECK-SAME: spill_stores = 0
func.func @added(%dy: memref<?x?xf16>, %x: memref<?x?xf16>, %o: memref<?xi32>, %dw: memref<?x?x?xf32>) {
  moeq.grouped_matmul lhs(%dy : memref<?x?xf16>) rhs(%x : memref<?x?xf16>) offsets(%o : memref<?xi32>)
    outs(%dw : memref<?x?x?xf32>) contract(rows) add_to_outs config(<tile = [128, 256], schedule = dynamic>)
  return
}

// CHECK: gpu.binary @transposed_kernels
// CHECK-SAME: spill_stores = 0
func.func @transposed(%dy: memref<?x1000xbf16>, %w: memref<8x1000x2048xbf16>, %o: memref<9xi32>, %dx: memref<?x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy : memref<?x1000xbf16>) rhs(%w : memref<8x1000x2048xbf16>) offsets(%o : memref<9xi32>)
    outs(%dx : memref<?x2048xbf16>) transpose_rhs config(<tile = [128, 256], schedule = dynamic>)
  return
}

!block = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>

// CHECK: gpu.binary @blocks_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks(%dy: memref<7168x?xf8E4M3FN>, %sy: memref<?x7168xf32>, %x: memref<2048x?xf8E4M3FN>, %sx: memref<?x2048xf32>,
                  %o: memref<9xi32>, %dw: memref<8x7168x2048xbf16>) {
  moeq.grouped_matmul lhs(%dy, %sy : memref<7168x?xf8E4M3FN>, memref<?x7168xf32> as !block)
    rhs(%x, %sx : memref<2048x?xf8E4M3FN>, memref<?x2048xf32> as !block) offsets(%o : memref<9xi32>)
    outs(%dw : memref<8x7168x2048xbf16>) contract(rows) config(<tile = [128, 128], schedule = dynamic>)
  return
}
