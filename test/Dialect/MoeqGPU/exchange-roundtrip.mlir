// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!acc = !moeq_gpu.fragment<64x32xf32>
!exchange = !moeq_gpu.exchange<2x4096xf32, cluster = 2>
!schedule = !moeq_gpu.schedule<128x128, raster = 8, groups_per_lane = 0>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @kernel
  llvm.func @kernel(%counter: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %zero = arith.constant 0 : i32
    %s = moeq_gpu.schedule rows(%n) columns(%n) : !schedule
    // CHECK: moeq_gpu.exchange.create : <2x4096xf32, cluster = 2>
    %x = moeq_gpu.exchange.create : !exchange
    moeq_gpu.roles producer(40) {
      // CHECK: moeq_gpu.schedule.take %{{.*}} from %{{.*}} cluster 2 same : <128x128, raster = 8, groups_per_lane = 0>
      %taken = moeq_gpu.schedule.take %s from %counter cluster 2 same : !schedule
    } consumers(1, 232) {
    ^bb0(%warpgroup: i32):
      %a = moeq_gpu.zero : !acc
      // CHECK: moeq_gpu.exchange.swap %{{.*}}[%{{.*}}] own(%{{.*}}) parts(%{{.*}}, %{{.*}} : !moeq_gpu.fragment<64x32xf32>, !moeq_gpu.fragment<64x32xf32>) : <2x4096xf32, cluster = 2>
      moeq_gpu.exchange.swap %x[%zero] own(%warpgroup) parts(%a, %a : !acc, !acc) : !exchange
      // CHECK: %{{.*}} = moeq_gpu.exchange.sum %{{.*}} part 1(%{{.*}} : !moeq_gpu.fragment<64x32xf32>) : <2x4096xf32, cluster = 2>
      %b = moeq_gpu.exchange.sum %x part 1 (%a : !acc) : !exchange
      // CHECK: moeq_gpu.exchange.release %{{.*}} : <2x4096xf32, cluster = 2>
      moeq_gpu.exchange.release %x : !exchange
      // CHECK: moeq_gpu.exchange.swap {{.*}} pieces 2 : <2x4096xf32, cluster = 2>
      moeq_gpu.exchange.swap %x[%zero] own(%warpgroup) parts(%a, %b : !acc, !acc) pieces 2 : !exchange
      // CHECK: %{{.*}}:2 = moeq_gpu.exchange.sum
      %c:2 = moeq_gpu.exchange.sum %x part 0 (%a, %b : !acc, !acc) : !exchange
    }
    llvm.return
  }
}
