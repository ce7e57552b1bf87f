// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

!map = !moeq_gpu.tensor_map<64x128xi8>
!map_b = !moeq_gpu.tensor_map<128x128xi8>
!ring = !moeq_gpu.ring<3x[64x128xi8, 128x128xi8]>
!cursor = !moeq_gpu.cursor
!a = !moeq_gpu.tile<64x128xi8>
!b = !moeq_gpu.tile<128x128xi8>

gpu.module @kernels {
  // CHECK: llvm.mlir.global external @moeq_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: llvm.func @ring
  // CHECK-SAME:    %[[PA:[^:]*]]: !llvm.ptr, %[[PB:[^:]*]]: !llvm.ptr
  llvm.func @ring(%pa: !llvm.ptr, %pb: !llvm.ptr, %row: i32, %column: i32) {
    // CHECK: nvvm.prefetch tensormap, %[[PA]]
    %ta = moeq_gpu.tensor_map %pa : !map
    // CHECK: nvvm.prefetch tensormap, %[[PB]]
    %tb = moeq_gpu.tensor_map %pb : !map_b
    // Three full barriers for the producer, three empty ones for four warps.
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c4_i32
    // CHECK: nvvm.fence.mbarrier.init
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    // CHECK: nvvm.barrier0
    // CHECK: nvvm.shfl.sync idx
    // CHECK: scf.if
    // CHECK: nvvm.setmaxregister decrease 40
    // CHECK: scf.if
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !cursor
      // The stage before the first one counts as empty: parity 1.
      // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %c1_i32
      moeq_gpu.ring.acquire %ring[%cursor] : !ring
      // CHECK: scf.if
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c24576_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[PA]], %{{.*}}, box[%{{.*}}, %{{.*}}]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[PB]], %{{.*}}, box[%{{.*}}, %{{.*}}]
      moeq_gpu.ring.fill %ring[%cursor] from(%ta, %tb at %row, %column, %row, %column) : !ring, !map, !map_b
    // CHECK: } else {
    // CHECK: nvvm.setmaxregister decrease 208
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %c0_i32
      %a, %b = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !a, !b
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 128, k = 32>, D[<s32>, <zero>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>]
      // CHECK-COUNT-3: nvvm.wgmma.mma_async {{.*}}D[<s32>, <one>]
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      %d = moeq_gpu.mma %a, %b : !a, !b -> !moeq_gpu.fragment<64x128xi32>
      // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
      %f = moeq_gpu.mma_wait pending 0(%d : !moeq_gpu.fragment<64x128xi32>)
      // From zero in registers that were used.
      // CHECK: nvvm.wgmma.mma_async {{.*}}D[<s32>, <zero>]
      // CHECK-COUNT-3: nvvm.wgmma.mma_async {{.*}}D[<s32>, <one>]
      %g = moeq_gpu.mma %a, %b, %f overwrite : !a, !b -> !moeq_gpu.fragment<64x128xi32>
      // One lane a warp releases the stage.
      // CHECK: %[[LEADER:.*]] = arith.cmpi eq
      // CHECK: nvvm.inline_ptx "mbarrier.arrive.shared::cta.b64 _, [$0];" ro(%{{.*}} : i32), predicate = %[[LEADER]]
      moeq_gpu.ring.release %ring[%cursor] : !ring
    }
    llvm.return
  }
}

// -----

// The group of a tile: a ballot over the tile prefixes of the lanes.
!schedule = !moeq_gpu.schedule<128x256, raster = 16, groups_per_lane = 1>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @schedule
  llvm.func @schedule(%offsets: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
    %groups = arith.constant 8 : i32
    %n = arith.constant 14336 : i32
    // CHECK-COUNT-2: llvm.load %{{.*}}
    // CHECK-COUNT-5: nvvm.shfl.sync up
    // CHECK: nvvm.shfl.sync idx
    %s = moeq_gpu.schedule offsets(%offsets) groups(%groups) columns(%n) : !schedule
    moeq_gpu.roles producer(40) {
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      // CHECK: nvvm.vote.sync ballot
      // CHECK: llvm.intr.cttz
      // CHECK: nvvm.shfl.sync idx
      // CHECK: llvm.load %{{.*}}
      %group, %row, %end, %column = moeq_gpu.schedule.tile %s[%i] : !schedule
      llvm.store %row, %out : i32, !llvm.ptr<1>
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
    }
    llvm.return
  }
}

// -----

// A mailbox: barriers as those of a ring, then its words. Full when the producer
// has arrived, whose arrival releases the store.
!schedule = !moeq_gpu.schedule<128x256, raster = 16, groups_per_lane = 0>
!mailbox = !moeq_gpu.ring<2x[vector<4xi32>]>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @mailbox
  // CHECK-SAME:    %[[COUNTER:[^:]*]]: !llvm.ptr<1>, %{{.*}}: i32
  llvm.func @mailbox(%counter: !llvm.ptr<1>, %rows: i32, %out: !llvm.ptr<1>) {
    %n = arith.constant 14336 : i32
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c4_i32
    %mailbox = moeq_gpu.ring.create consumers 1 : !mailbox
    %s = moeq_gpu.schedule rows(%rows) columns(%n) : !schedule
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // One lane counts up to the number of tiles, then from 0 again.
      // CHECK: %[[TILES:.*]] = arith.muli
      // CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %c1_i32
      // CHECK: scf.if
      // CHECK: llvm.atomicrmw uinc_wrap %[[COUNTER]], %[[LAST]] syncscope("device") monotonic
      // CHECK-NOT: nvvm.shfl.sync
      // CHECK: nvvm.read.ptx.sreg.nctaid.x
      %i = moeq_gpu.schedule.take %s from %counter : !schedule
      // CHECK: scf.if
      // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      // CHECK: nvvm.mbarrier.arrive
      %mail = vector.broadcast %i : i32 to vector<4xi32>
      moeq_gpu.ring.send %mail to %mailbox[%cursor] : !mailbox
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %c0_i32
      // CHECK: llvm.load volatile %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
      // CHECK-COUNT-4: nvvm.shfl.sync idx
      %mail = moeq_gpu.ring.receive %mailbox[%cursor] : !mailbox
      llvm.store %mail, %out : vector<4xi32>, !llvm.ptr<1>
    }
    llvm.return
  }
}

// -----

!cursor = !moeq_gpu.cursor
!tile = !moeq_gpu.tile<64x128xi8>
!ring = !moeq_gpu.ring<3x[64x128xi8]>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @turns
  // CHECK-SAME:    %[[SKIPPED:[^:]*]]: i32
  llvm.func @turns(%skipped: i32, %out: !llvm.ptr<1>) {
    // A stage is empty when the 4 warps of one consumer have arrived.
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c4_i32
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    moeq_gpu.roles producer(40) {
    } consumers(2, 232) {
    ^bb0(%consumer: i32):
      // The barriers 1 and 2 are those of the warpgroups, which count from 1.
      // CHECK: %[[OWN:.*]] = arith.addi %[[WARPGROUP:.*]], %c2_i32
      // CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %c256_i32
      moeq_gpu.turn.wait %consumer
      // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[WARPGROUP]], %c2_i32
      // CHECK: %[[NEXT:.*]] = arith.select %[[WRAPS]], %c0_i32, %[[WARPGROUP]]
      // CHECK: %[[OTHER:.*]] = arith.addi %[[NEXT]], %c3_i32
      // CHECK: nvvm.barrier.arrive id = %[[OTHER]] number_of_threads = %c256_i32
      moeq_gpu.turn.pass %consumer
      %start = moeq_gpu.ring.start : !cursor
      // The phase changes with each whole round.
      // CHECK: %[[SLOT:.*]] = arith.remui %[[SKIPPED]], %c3_i32
      // CHECK: %[[ROUNDS:.*]] = arith.divui %[[SKIPPED]], %c3_i32
      // CHECK: %[[PHASE:.*]] = arith.trunci %[[ROUNDS]] : i32 to i1
      %next = moeq_gpu.ring.advance %ring[%start] by %skipped : !ring
      // Both come from lane 0.
      // CHECK: %[[WORD:.*]] = arith.extui %[[PHASE]]
      // CHECK: %[[OF_WARP:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[WORD]], %c0_i32
      // CHECK: %[[SAME:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[SLOT]], %c0_i32
      // CHECK: %[[PARITY:.*]] = arith.trunci %[[OF_WARP]] : i32 to i1
      // CHECK: arith.muli %[[SAME]], %c8_i32
      // CHECK: arith.extui %[[PARITY]]
      // CHECK: nvvm.mbarrier.try_wait.parity
      %cursor = moeq_gpu.ring.uniform %next : !cursor
      %tile = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !tile
    }
    llvm.return
  }
}
