// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse | FileCheck %s

// Rows of whole blocks: a thread has four loads of 8 values in flight.
// CHECK-LABEL: llvm.func @rows_dequantize(
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<8xi8>
// CHECK-COUNT-4: llvm.store {{.*}} : vector<8xbf16>
// CHECK-NOT:     llvm.store
// CHECK:         llvm.return
!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
func.func @rows(%q: memref<?x64xf8E4M3FN>, %s: memref<?x2xf8E8M0FNU>, %y: memref<?x64xbf16>) {
  moeq.dequantize input(%q, %s : memref<?x64xf8E4M3FN>, memref<?x2xf8E8M0FNU> as !mx) outs(%y : memref<?x64xbf16>)
  return
}

// Blocks of several rows: a warp a row.
// CHECK-LABEL: llvm.func @tiles_dequantize(
// CHECK:         llvm.load {{.*}} -> vector<8xi8>
// CHECK-NOT:     llvm.load {{.*}} -> vector<8xi8>
// CHECK:         llvm.return
!tiles = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @tiles(%q: memref<256x256xf8E4M3FN>, %s: memref<2x2xf32>, %y: memref<256x256xbf16>) {
  moeq.dequantize input(%q, %s : memref<256x256xf8E4M3FN>, memref<2x2xf32> as !tiles) outs(%y : memref<256x256xbf16>)
  return
}
