// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' | FileCheck %s

!acc = !moeq_gpu.fragment<64x8xf32>
!exchange = !moeq_gpu.exchange<1x512xf32, cluster = 4>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @exchange
  // CHECK-SAME:    %[[TURN:[^:]*]]: i32, %[[OWN:[^:]*]]: i32
  llvm.func @exchange(%turn: i32, %own: i32)
      attributes {nvvm.cluster_dim = array<i32: 4, 1, 1>} {
    // Two barriers a consumer, where four warps of each of three CTAs arrive.
    // CHECK-COUNT-4: nvvm.mbarrier.init %{{.*}}, %c12_i32
    // CHECK-NOT: nvvm.mbarrier.init
    // CHECK: nvvm.fence.mbarrier.init
    %x = moeq_gpu.exchange.create : !exchange
    moeq_gpu.roles producer(40) {
    } consumers(2, 208) {
    ^bb0(%warpgroup: i32):
      %a = moeq_gpu.zero : !acc
      %b = moeq_gpu.zero : !acc
      // What was sent before has been read.
      // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
      // CHECK: %[[PARITY:.*]] = arith.remui %[[TURN]], %c2_i32
      // CHECK: %[[BEFORE:.*]] = arith.xori %[[PARITY]], %c1_i32
      // CHECK: nvvm.inline_ptx "{{.*}}mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64{{.*}}" ro(%{{.*}}, %[[BEFORE]] : i32, i32)
      // A part that is not the CTA's own goes where it is.
      // CHECK: %[[IS_OTHER:.*]] = arith.cmpi ne, %[[OWN]], %c0_i32
      // CHECK: scf.if %[[IS_OTHER]] {
      // CHECK:   %[[TARGET:.*]] = arith.xori %[[RANK]], %[[OWN]]
      // CHECK:   %[[PLACE:.*]] = nvvm.mapa %{{.*}}, %[[TARGET]]
      // CHECK:   llvm.store %{{.*}}, %[[PLACE]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<7>
      // CHECK: %[[DISTANCE:.*]] = arith.xori %[[OWN]], %c1_i32
      // CHECK: scf.if
      // CHECK:   arith.xori %[[RANK]], %[[DISTANCE]]
      // CHECK:   llvm.store
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.inline_ptx "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];"
      // CHECK: nvvm.inline_ptx "{{.*}}mbarrier.try_wait.parity.acquire.cluster{{.*}}" ro(%{{.*}}, %[[PARITY]] : i32, i32)
      moeq_gpu.exchange.swap %x[%turn] own(%own) parts(%a, %b : !acc, !acc) : !exchange
      // (own + 1) + (2 + 3), by distance.
      // CHECK: %[[ONE:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK: %[[ONE0:.*]] = vector.extract %[[ONE]][0]
      // CHECK: %[[TWO:.*]] = llvm.load
      // CHECK: %[[TWO0:.*]] = vector.extract %[[TWO]][0]
      // CHECK: %[[THREE:.*]] = llvm.load
      // CHECK: %[[THREE0:.*]] = vector.extract %[[THREE]][0]
      // CHECK: %[[LEFT:.*]] = arith.addf %[[ONE0]], %{{.*}} : f32
      // CHECK: %[[RIGHT:.*]] = arith.addf %[[TWO0]], %[[THREE0]]
      // CHECK: arith.addf %[[LEFT]], %[[RIGHT]]
      %s = moeq_gpu.exchange.sum %x part 1 (%b : !acc) : !exchange
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.inline_ptx "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];"
      moeq_gpu.exchange.release %x : !exchange
      // CHECK: llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<7>
      moeq_gpu.exchange.swap %x[%turn] own(%own) parts(%s : !acc) : !exchange
    }
    llvm.return
  }
}
