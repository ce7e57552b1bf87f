// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Two CTAs have neighbouring tiles of a plan. The first producer takes their
// number; both find their tile, and what it has in common with the other.
// CHECK-LABEL: llvm.func @pairs_grouped_matmul(
// CHECK-SAME:      nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK:         %[[MAPS:.*]] = moeq_gpu.tensor_map %{{.*}} : <16x64xbf16, step = 8>
// CHECK:         %[[MAP:.*]] = moeq_gpu.tensor_map %{{.*}} : <64x64xbf16>
// CHECK:         %[[RING:.*]] = moeq_gpu.ring.create consumers 2 : <4x[16x64xbf16, 128x64xbf16], cluster = 2>
// CHECK:         %[[MAILBOX:.*]] = moeq_gpu.ring.create consumers 2 : <4x[vector<4xi32>]>
// CHECK:         %[[NUMBERS:.*]] = moeq_gpu.ring.create consumers 0 : <4x[vector<4xi32>], cluster = 2>
// CHECK:         %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK:         nvvm.read.ptx.sreg.clusterid.x
// CHECK:         %[[TILES:.*]] = moeq_gpu.schedule.size
// CHECK:         %[[UP:.*]] = arith.addi %[[TILES]], %c1_i32
// CHECK:         %[[COUNT:.*]] = arith.divui %[[UP]], %c2_i32
// CHECK:         moeq_gpu.roles producer
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK:           scf.if %[[IS_FIRST]] {
// CHECK-NEXT:        moeq_gpu.ring.acquire %[[NUMBERS]]
// CHECK:             moeq_gpu.ring.send %{{.*}} to %[[NUMBERS]]
// CHECK:           %[[MAIL:.*]] = moeq_gpu.ring.receive %[[NUMBERS]]
// CHECK-NEXT:      moeq_gpu.ring.release %[[NUMBERS]]
// CHECK-NEXT:      %[[NUMBER:.*]] = vector.extract %[[MAIL]][0]
// CHECK-NEXT:      %[[EXISTS:.*]] = arith.cmpi ult, %[[NUMBER]], %[[COUNT]]
// CHECK:           scf.if %[[EXISTS]]
// CHECK:             %[[FIRST:.*]] = arith.muli %[[NUMBER]], %c2_i32
// CHECK:             %[[OWN:.*]] = arith.addi %[[FIRST]], %[[RANK]]
// A tile past the last one has no rows.
// CHECK:             %[[IS_TILE:.*]] = arith.cmpi ule, %[[OWN]], %[[LAST:.*]] :
// CHECK:             %[[INDEX:.*]] = arith.select %[[IS_TILE]], %[[OWN]], %[[LAST]]
// CHECK:             %{{.*}}, %[[ROW:.*]], %[[END:.*]], %{{.*}} = moeq_gpu.schedule.tile %{{.*}}[%[[INDEX]]]
// CHECK:             arith.select %[[IS_TILE]], %[[ROW]], %[[END]]
// CHECK:           moeq_gpu.ring.send %{{.*}} to %[[MAILBOX]]
// CHECK:           } do {
// CHECK:           %[[OTHER:.*]] = arith.subi %c1_i32, %[[RANK]]
// CHECK:           %[[GROUP:.*]], %[[ROW:.*]], %[[END:.*]], %[[COLUMN:.*]] = moeq_gpu.schedule.tile
// CHECK-DAG:       %[[SAME_GROUP:.*]] = arith.cmpi eq, %{{.*}}, %[[GROUP]]
// CHECK-DAG:       %[[SAME_COLUMN:.*]] = arith.cmpi eq, %{{.*}}, %[[COLUMN]]
// CHECK:           %[[COLUMNS:.*]] = arith.andi %[[SAME_GROUP]], %[[SAME_COLUMN]]
// CHECK:             moeq_gpu.ring.fill %[[RING]][%{{.*}}] from(%[[MAPS]], %[[MAP]] at {{.*}}) shared(%{{.*}}, %[[COLUMNS]]) rows(
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK:           scf.if %[[IS_FIRST]]
// CHECK-NEXT:        moeq_gpu.schedule.take {{.*}} cluster 2
// A consumer without rows hands the stages back, for which the other CTA waits.
// CHECK:         } consumers(2, {{[0-9]+}}) {
// CHECK:           default {
// CHECK-NEXT:        scf.for
// CHECK-NEXT:          moeq_gpu.ring.wait %[[RING]]
// CHECK-NEXT:          moeq_gpu.ring.release %[[RING]]
// CHECK-LABEL: func.func @pairs(
// CHECK:         gpu.launch_func @pairs_kernels::@pairs_grouped_matmul blocks in (%c132, %c1, %c1)
func.func @pairs(%a: memref<?x512xbf16>, %w: memref<8x256x512xbf16>, %o: memref<9xi32>,
                 %plan: memref<9x4xi32>, %c: memref<?x256xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<8x256x512xbf16>)
    offsets(%o : memref<9xi32>) plan(%plan : memref<9x4xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [16, 128], schedule = dynamic, swap_ab = true, cluster = 2>)
  return
}

// -----

// Round robin, over whole clusters: both roles find the tile of a number.
// CHECK-LABEL: llvm.func @rows_matmul(
// CHECK:         moeq_gpu.tensor_map %{{.*}} : <64x128xi8>
// CHECK:         moeq_gpu.tensor_map %{{.*}} : <128x128xi8>
// CHECK:         %[[FIRST:.*]] = nvvm.read.ptx.sreg.clusterid.x
// CHECK:         %[[STEP:.*]] = nvvm.read.ptx.sreg.nclusterid.x
// CHECK:         moeq_gpu.roles producer
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK:             moeq_gpu.ring.fill {{.*}} shared(
// CHECK:         consumers(2
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK-LABEL: func.func @rows(
// CHECK:         %[[TILES:.*]] = arith.muli
// CHECK:         %[[PAIRS:.*]] = arith.ceildivui %[[TILES]], %c2
// CHECK:         %[[CTAS:.*]] = arith.muli %[[PAIRS]], %c2
// CHECK:         arith.minui %[[CTAS]], %c132
func.func @rows(%a: memref<?x256xi8>, %w: memref<512x256xi8>, %c: memref<?x512xf32>) {
  moeq.matmul lhs(%a : memref<?x256xi8>) rhs(%w : memref<512x256xi8>) outs(%c : memref<?x512xf32>)
      config(<tile = [128, 256], cluster = 2>)
  return
}

// -----

// Gathered rows are each CTA's own.
// CHECK-LABEL: llvm.func @gathered_grouped_matmul(
// CHECK:         moeq_gpu.ring.fill %{{.*}} from(%{{.*}} at %{{.*}}, %{{.*}}) shared(%{{[^,)]*}}) rows(
// CHECK:         moeq_gpu.ring.gather
func.func @gathered(%a: memref<?x512xbf16>, %w: memref<8x256x512xbf16>, %o: memref<9xi32>,
                    %rows: memref<?xi32>, %c: memref<?x256xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<8x256x512xbf16>)
    offsets(%o : memref<9xi32>) rows(%rows : memref<?xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [16, 128], schedule = ping_pong, swap_ab = true, cluster = 2>)
  return
}
