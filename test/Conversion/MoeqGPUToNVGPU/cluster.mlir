// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

!maps = !moeq_gpu.tensor_map<32x128xi8, step = 16>
!map = !moeq_gpu.tensor_map<64x128xi8>
!ring = !moeq_gpu.ring<3x[32x128xi8, 128x128xi8], cluster = 2>
!cursor = !moeq_gpu.cursor
!a = !moeq_gpu.tile<32x128xi8>
!b = !moeq_gpu.tile<128x128xi8>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @ring
  // CHECK-SAME:    %[[PA:[^:]*]]: !llvm.ptr, %[[PB:[^:]*]]: !llvm.ptr
  // CHECK-SAME:    %[[ROWS_SHARED:[^:]*]]: i1, %[[COLUMNS_SHARED:[^:]*]]: i1
  llvm.func @ring(%pa: !llvm.ptr, %pb: !llvm.ptr, %row: i32, %column: i32, %rows: i32,
                  %x: i1, %y: i1) attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %ta = moeq_gpu.tensor_map %pa : !maps
    %tb = moeq_gpu.tensor_map %pb : !map
    // Empty when four warps of each CTA have arrived.
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c8_i32
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    // CHECK-NOT: nvvm.barrier0
    // CHECK: nvvm.cluster.arrive
    // CHECK: nvvm.cluster.wait
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !cursor
      moeq_gpu.ring.acquire %ring[%cursor] : !ring
      // All bytes of the tiles arrive here, wherever they were asked for.
      // CHECK: nvvm.mbarrier.arrive.expect_tx
      // Of 1 or 2 steps of rows the first CTA copies one.
      // CHECK: scf.if %[[ROWS_SHARED]] {
      // CHECK:   nvvm.read.ptx.sreg.cluster.ctarank
      // CHECK:   scf.if
      // CHECK:     nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %c3_i16
      // CHECK: scf.if
      // CHECK:   scf.if
      // CHECK-NOT: multicast_mask
      // CHECK:     nvvm.cp.async.bulk.tensor.shared.cluster.global
      // Half of the columns is one box.
      // CHECK: scf.if %[[COLUMNS_SHARED]] {
      // CHECK:   %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
      // CHECK:   %[[HALF:.*]] = arith.muli %[[RANK]], %c64_i32
      // CHECK:   arith.addi %{{.*}}, %[[HALF]]
      // CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %c3_i16
      // CHECK-NOT: nvvm.cp.async
      // CHECK: }
      // CHECK: scf.if
      // CHECK-NOT: multicast_mask
      // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
      moeq_gpu.ring.fill %ring[%cursor] from(%ta, %tb at %row, %column, %row, %column)
          shared(%x, %y) rows(%rows) : !ring, !maps, !map
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !cursor
      %a, %b = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !a, !b
      // A lane for each CTA.
      // CHECK: %[[BARRIER:.*]] = nvvm.mapa
      // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[BARRIER]] : !llvm.ptr<7> to i32
      // CHECK: %[[ACTIVE:.*]] = arith.cmpi ult, %{{.*}}, %c2_i32
      // CHECK: nvvm.inline_ptx "mbarrier.arrive.shared::cluster.b64 _, [$0];" ro(%[[ADDRESS]] : i32), predicate = %[[ACTIVE]]
      moeq_gpu.ring.release %ring[%cursor] : !ring
    }
    // No CTA ends while the other may write to it.
    // CHECK: nvvm.cluster.arrive
    // CHECK-NEXT: nvvm.cluster.wait
    // CHECK-NEXT: llvm.return
    llvm.return
  }
}

// -----

!schedule = !moeq_gpu.schedule<128x256, raster = 16, groups_per_lane = 0>
!mailbox = !moeq_gpu.ring<2x[vector<4xi32>], cluster = 2>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @numbers
  // CHECK-SAME:    %[[COUNTER:[^:]*]]: !llvm.ptr<1>, %{{.*}}: i32
  llvm.func @numbers(%counter: !llvm.ptr<1>, %rows: i32, %out: !llvm.ptr<1>)
      attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %n = arith.constant 14336 : i32
    // Empty when both producers have read it.
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c2_i32
    %mailbox = moeq_gpu.ring.create consumers 0 : !mailbox
    %s = moeq_gpu.schedule rows(%rows) columns(%n) : !schedule
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // Pairs of tiles, the last of which may be half a one.
      // CHECK: %[[TILES:.*]] = arith.muli
      // CHECK: %[[UP:.*]] = arith.addi %[[TILES]], %c1_i32
      // CHECK: %[[PAIRS:.*]] = arith.divui %[[UP]], %c2_i32
      // CHECK: %[[LAST:.*]] = arith.subi %[[PAIRS]], %c1_i32
      // CHECK: llvm.atomicrmw uinc_wrap %[[COUNTER]], %[[LAST]]
      // CHECK: nvvm.read.ptx.sreg.nclusterid.x
      %i = moeq_gpu.schedule.take %s from %counter cluster 2 : !schedule
      // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
      // CHECK: %[[FULL:.*]] = nvvm.mapa %{{.*}}, %c1_i32
      // CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c16_i32 : !llvm.ptr<7>
      // CHECK: nvvm.cp.async.bulk.shared.cluster.shared.cta
      // CHECK: nvvm.mbarrier.arrive
      %mail = vector.broadcast %i : i32 to vector<4xi32>
      moeq_gpu.ring.send %mail to %mailbox[%cursor] : !mailbox
      // CHECK: nvvm.mbarrier.try_wait.parity
      // CHECK: llvm.load volatile
      %received = moeq_gpu.ring.receive %mailbox[%cursor] : !mailbox
      // CHECK: nvvm.inline_ptx "mbarrier.arrive.shared::cluster.b64 _, [$0];"
      moeq_gpu.ring.release %mailbox[%cursor] : !mailbox
      llvm.store %received, %out : vector<4xi32>, !llvm.ptr<1>
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
    }
    llvm.return
  }
}
