// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// A chip without wgmma: no tensor maps, no ring and no producer. As many stages
// as its shared memory has room for.

// CHECK-LABEL: llvm.func @gathered_grouped_matmul
// CHECK-SAME:    (%[[C:[^:]*]]: !llvm.ptr<1> {llvm.noalias}, %[[OFFSETS:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[A:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[B:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[ROWS:[^:]*]]: !llvm.ptr<1>
// CHECK-NOT:     moeq_gpu.tensor_map
// CHECK-NOT:     moeq_gpu.ring
// CHECK:         %[[AS:.*]] = moeq_gpu.alloc : !moeq_gpu.tile<512x64xbf16>
// CHECK:         %[[BS:.*]] = moeq_gpu.alloc : !moeq_gpu.tile<512x64xbf16>
// CHECK:         moeq_gpu.schedule offsets(%[[OFFSETS]])
// CHECK:         moeq_gpu.roles consumers(2, 240)
// CHECK:           scf.for
// CHECK:             %[[GROUP:.*]], %[[ROW:.*]], %[[END:.*]], %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK:             %[[OWN:.*]] = arith.addi %[[ROW]],
// All consumers copy all rows of the tile.
// CHECK:             %[[AR:.*]]:4 = moeq_gpu.locate_rows %[[ROW]] end(%[[END]]) pitch(%c1024_i32) indices(%[[ROWS]])
// CHECK:             %[[BR:.*]]:4 = moeq_gpu.locate_rows %{{.*}} end(%{{.*}}) pitch(%c1024_i32) :
// Three stages ahead.
// CHECK:             moeq_gpu.copy %[[A]][%c0_i32] columns(%c1024_i32) rows(%[[AR]]#0, %[[AR]]#1, %[[AR]]#2, %[[AR]]#3)
// CHECK:             moeq_gpu.copy %[[B]][%c0_i32] columns(%c1024_i32) rows(%[[BR]]#0, %[[BR]]#1, %[[BR]]#2, %[[BR]]#3)
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             moeq_gpu.copy %[[A]][%c64_i32]
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             moeq_gpu.copy %[[A]][%c128_i32]
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             %[[LOOP:.*]]:3 = scf.for %[[K:.*]] = %c0_i32 to %c16_i32 step %c1_i32 iter_args(%[[ACC:.*]] = %{{.*}}, %[[SLOT:.*]] = %c0_i32, %[[LAST:.*]] = %c3_i32)
// CHECK:               nvvm.cp.async.wait.group 2
// CHECK:               nvvm.barrier0
// CHECK:               arith.muli %[[LAST]], %c128_i32
// CHECK:               moeq_gpu.copy %[[A]]
// CHECK:               moeq_gpu.copy %[[B]]
// CHECK:               nvvm.cp.async.commit.group
// CHECK:               moeq_gpu.mma_sync %{{.*}}, %{{.*}}, %[[ACC]] : !moeq_gpu.tile<64x64xbf16>, <128x64xbf16> -> <64x128xf32>
// CHECK:               scf.yield %{{.*}}, %{{.*}}, %[[SLOT]]
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK:             nvvm.barrier0
// CHECK:             moeq_gpu.slice %[[LOOP]]#0[0, 0] : <64x128xf32> -> <64x64xf32>
// CHECK:             moeq_gpu.store %{{.*}}, %{{.*}}, %[[C]][%[[OWN]], %[[COLUMN]]] pitch(%{{.*}}) row_end(%[[END]]) : <64x64xbf16>, <64x64xbf16>
// CHECK:             moeq_gpu.store
// CHECK-NOT:         moeq_gpu.store_wait
// CHECK-LABEL: func.func @gathered
// CHECK:         gpu.launch_func @gathered_kernels::@gathered_grouped_matmul {{.*}} threads in (%c256, %c1, %c1) dynamic_shared_memory_size %c147456_i32
module attributes {moeq.target = #moeq.target<chip = "sm_80">} {
  func.func @gathered(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xbf16>, %o: memref<9xi32>,
                      %r: memref<?xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>) rhs(%w : memref<8x1536x1024xbf16>)
      offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Each stage starts sums of its own where they are promoted.
// CHECK-LABEL: llvm.func @blocks_grouped_matmul
// CHECK:         moeq_gpu.alloc : !moeq_gpu.tile<256x128xf8E4M3FN>
// CHECK:         %[[ZERO:.*]] = moeq_gpu.zero : <64x128xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]],
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           %[[SA:.*]] = moeq_gpu.load {{.*}} : <64x1xf32>
// CHECK:           llvm.load
// CHECK:           %[[P:.*]] = moeq_gpu.mma_sync %{{.*}}, %{{.*}}, %[[ZERO]] :
// CHECK:           moeq_gpu.map(%[[P]], %[[ACC]], %[[SA]] :
// CHECK:             math.fma
module attributes {moeq.target = #moeq.target<chip = "sm_89">} {
  func.func @blocks(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x32xf32>,
                    %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x112x32xf32>,
                    %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
    moeq.grouped_matmul
      lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !act)
      rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x112x32xf32> as !weight)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>)
    return
  }
}

// -----

!uint4 = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8, packing = fragments>

// Packed weights: their bytes, scales and zeros as they are, of 64 rows each,
// beside two tiles of tokens, so that a stage is a group. Code for each half of
// the rows of a tile; past the end of K nothing is copied.
// CHECK-LABEL: llvm.func @packed_grouped_matmul
// CHECK-SAME:    (%[[C:[^:]*]]: !llvm.ptr<1> {llvm.noalias}, %[[OFFSETS:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[A:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[B:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[S:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[Z:[^:]*]]: !llvm.ptr<1>
// CHECK-NOT:     moeq_gpu.ring
// CHECK-DAG:     moeq_gpu.alloc : !moeq_gpu.tile<384x64xbf16>
// CHECK-DAG:     moeq_gpu.alloc : !moeq_gpu.vector<24576xi8>
// CHECK-DAG:     moeq_gpu.alloc : !moeq_gpu.vector<384xbf16>
// CHECK-DAG:     moeq_gpu.alloc : !moeq_gpu.vector<384xi8>
// CHECK:         moeq_gpu.roles consumers(2, 240)
// CHECK:           scf.index_switch
// CHECK:           case 1 {
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             scf.for
// CHECK:               nvvm.cp.async.wait.group 1
// CHECK:               nvvm.barrier0
// CHECK-COUNT-2:       moeq_gpu.copy %[[A]]
// CHECK:               %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %c32_i32 : i32
// CHECK-COUNT-2:       moeq_gpu.copy_vector %{{.*}} if %[[EXISTS]] to %{{.*}} : !moeq_gpu.vector<4096xi8>
// CHECK-COUNT-2:       moeq_gpu.copy_vector %{{.*}} if %[[EXISTS]] to %{{.*}} : !moeq_gpu.vector<64xbf16>
// CHECK-COUNT-2:       moeq_gpu.copy_vector %{{.*}} if %[[EXISTS]] to %{{.*}} : !moeq_gpu.vector<64xi8>
// CHECK:               nvvm.cp.async.commit.group
// CHECK:               %[[SCALES:.*]] = moeq_gpu.spread
// CHECK:               %[[W0:.*]] = moeq_gpu.dequant %{{.*}} as ui4 zeros(
// CHECK:               %[[W1:.*]] = moeq_gpu.dequant %{{.*}} as ui4 zeros(
// CHECK:               %[[P:.*]] = moeq_gpu.mma_sync %[[W0]], %{{.*}}, %{{.*}} : !moeq_gpu.operand<64x64xbf16>, <8x64xbf16> -> <64x8xf32>
// CHECK:               %[[Q:.*]] = moeq_gpu.mma_sync %[[W1]], %{{.*}}, %[[P]]
// CHECK:               moeq_gpu.map(%[[Q]], %{{.*}}, %[[SCALES]] :
// CHECK:             moeq_gpu.store_transposed
// CHECK:           case 2 {
// CHECK:           case 4 {
// CHECK:           case 8 {
// CHECK:             -> <64x64xf32>
// CHECK:           default {
module attributes {moeq.target = #moeq.target<chip = "sm_89">} {
  func.func @packed(%a: memref<?x4096xbf16>, %w: memref<8x1536x2048xi8>, %sw: memref<8x1536x32xbf16>,
                    %zw: memref<8x1536x32xi8>, %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x4096xbf16>)
      rhs(%w, %sw, %zw : memref<8x1536x2048xi8>, memref<8x1536x32xbf16>, memref<8x1536x32xi8> as !uint4)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }
}
