// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file -verify-diagnostics | FileCheck %s

// Gathered rows: the kernel takes A and the indices in place of A's tensor map,
// and finds the scales of the rows by the same indices.

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// CHECK-LABEL: llvm.func @blocks_grouped_matmul
// CHECK-SAME:      %{{[^:]*}}: !llvm.ptr {{{[^}]*}}}, %{{[^:]*}}: !llvm.ptr {{{[^}]*}}}, %{{[^:]*}}: !llvm.ptr<1> {llvm.noalias}, %{{[^:]*}}: !llvm.ptr<1> {{{[^}]*}}}, %[[A:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[INDEX:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[SCALE:[^:]*]]: !llvm.ptr<1>
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[gathered 128x128xf8E4M3FN, 256x128xf8E4M3FN, gathered 128xf32]>
// CHECK:         moeq_gpu.roles producer(40)
// CHECK:           %{{.*}}, %[[ROW:.*]], %[[END:.*]], %{{.*}} = moeq_gpu.schedule.tile
// CHECK:           %[[I:.*]] = moeq_gpu.load_indices %[[INDEX]][%[[ROW]]] end(%[[END]]) : i32
// CHECK:           scf.for %[[K:[^ ]*]] =
// CHECK:             %[[COLUMN:.*]] = arith.muli %[[K]], %c128_i32
// CHECK:             moeq_gpu.ring.fill {{.*}} from(%{{[^ ]*}} at %{{.*}}, %[[COLUMN]])
// CHECK:             %[[AT:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mov.b32 $0, $1;", "=r,r" %[[COLUMN]]
// CHECK:             moeq_gpu.ring.gather {{.*}} from(%[[A]], %[[AT]]) pitch(%c4096_i32) indices(%[[I]])
// CHECK:             moeq_gpu.ring.gather_vector {{.*}} number 0 from(%[[SCALE]], %{{.*}}) pitch(%c32_i64) indices(%[[I]])
// CHECK:             moeq_gpu.ring.gathered
// The other warps of the producer's warpgroup have the same tiles.
// CHECK:         } helpers {
// CHECK:           moeq_gpu.schedule.tile
// CHECK-NOT:       moeq_gpu.ring.fill
// CHECK:             moeq_gpu.ring.acquire
// CHECK-NOT:         moeq_gpu.ring.fill
// CHECK:             moeq_gpu.ring.gather
// CHECK:             moeq_gpu.ring.gather_vector
// CHECK:             moeq_gpu.ring.gathered
// CHECK:         consumers(2, 232)
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:      %[[A:[^:]*]]: memref<?x4096xf8E4M3FN>
// CHECK-SAME:      %[[R:[^:]*]]: memref<?xi32>, %[[C:[^:]*]]: memref<?x14336xbf16>
// The tiles are those of the rows of C.
// CHECK:         memref.dim %[[C]], %c0
// CHECK:         gpu.launch_func
// CHECK-SAME:      %[[A]] : memref<?x4096xf8E4M3FN>, %[[R]] : memref<?xi32>
func.func @blocks(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                  %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                  %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
    offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x14336xbf16>)
  return
}

// -----

!vector = !moeq.scaled<i8, block = [*], scale = f32>

// The weights as the first operand: the rows of a tile, and their scales.
// CHECK-LABEL: llvm.func @swapped_grouped_matmul
// Each of the three warps hands back its mail.
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[gathered 16x128xi8, 256x128xi8]>
// CHECK:         moeq_gpu.ring.create consumers 2 warps 3 : <4x[vector<4xi32>]>
// CHECK:         moeq_gpu.ring.gather %
// CHECK:         helpers {
// CHECK:           moeq_gpu.ring.receive
// CHECK:           moeq_gpu.ring.release
// CHECK:         moeq_gpu.load_striped {{.*}} indices(%{{.*}}) : <16xf32>
func.func @swapped(%a: memref<?x4096xi8>, %sa: memref<?x1xf32>,
                   %w: memref<8x14336x4096xi8>, %sw: memref<8x14336x1xf32>,
                   %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xi8>, memref<?x1xf32> as !vector)
    rhs(%w, %sw : memref<8x14336x4096xi8>, memref<8x14336x1xf32> as !vector)
    offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x14336xbf16>)
    config(<tile = [16, 256], swap_ab = true, schedule = dynamic>)
  return
}
