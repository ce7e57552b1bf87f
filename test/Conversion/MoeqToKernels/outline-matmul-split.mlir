// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// The CTAs of a cluster have the same tile and half of K each, 5 and 4 stages
// of 9.
// CHECK-LABEL: llvm.func @halves_grouped_matmul(
// CHECK-SAME:      nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK:         %[[RING:.*]] = moeq_gpu.ring.create consumers 2 : <4x[64x64xbf16, 128x64xbf16]>
// CHECK:         moeq_gpu.ring.create consumers 0 : <4x[vector<4xi32>], cluster = 2>
// CHECK:         %[[EXCHANGE:.*]] = moeq_gpu.exchange.create : <1x2048xf32, cluster = 2>
// CHECK:         %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK:         moeq_gpu.roles producer
// CHECK:             moeq_gpu.schedule.tile
// CHECK-NOT:         arith.select
// CHECK:           } do {
// CHECK:             %[[FIRST:.*]] = arith.muli %[[RANK]], %c5_i32
// CHECK:             %[[LEFT:.*]] = arith.subi %c9_i32, %[[FIRST]]
// CHECK:             %[[STAGES:.*]] = arith.minui %[[LEFT]], %c5_i32
// CHECK:             scf.for %[[K:.*]] = %c0_i32
// CHECK:               %[[STAGE:.*]] = arith.addi %[[FIRST]], %[[K]]
// CHECK:               %[[AT:.*]] = arith.muli %[[STAGE]], %c64_i32
// CHECK:               moeq_gpu.ring.fill %[[RING]]
// CHECK:             moeq_gpu.schedule.take {{.*}} cluster 2 same
// CHECK:         } consumers(2, {{[0-9]+}}) {
// CHECK:         ^bb0(%[[CONSUMER:.*]]: i32):
// CHECK:             %[[TURN:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK:             scf.index_switch
// CHECK:             case 1 {
// CHECK:               %[[OWN:.*]] = arith.andi %{{.*}}, %c1_i32
// CHECK:               moeq_gpu.exchange.swap %[[EXCHANGE]][%{{.*}}] own(%[[OWN]]) parts(%[[PART:.*]] : !moeq_gpu.fragment<64x8xf32>)
// CHECK:               %[[IS_OWN:.*]] = arith.cmpi eq, %[[OWN]], %c0_i32
// CHECK-NEXT:          scf.if %[[IS_OWN]] {
// CHECK-NEXT:            %[[SUM:.*]] = moeq_gpu.exchange.sum %[[EXCHANGE]] part 0(%[[PART]]
// CHECK:                 moeq_gpu.map(%[[SUM]]
// CHECK:                 moeq_gpu.store_transposed
// CHECK:               moeq_gpu.exchange.release %[[EXCHANGE]]
// CHECK:             case 8 {
// CHECK:               moeq_gpu.exchange.swap {{.*}} parts(%{{.*}}, %{{.*}} :
// A tile without rows is no exchange.
// CHECK:             default {
// CHECK-NOT:           moeq_gpu.exchange
// CHECK:             arith.addi %{{.*}}, %[[TURN]]
// CHECK-LABEL: func.func @halves(
// CHECK:         %[[CTAS:.*]] = arith.muli %{{.*}}, %c4
// CHECK:         arith.minui %[[CTAS]], %c132
func.func @halves(%a: memref<?x576xbf16>, %w: memref<8x256x576xbf16>, %o: memref<9xi32>,
                  %c: memref<?x256xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x576xbf16>) rhs(%w : memref<8x256x576xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>)
    config(<tile = [64, 128], schedule = dynamic, swap_ab = true, split_k = 2>)
  return
}

// -----

// Four parts of integers; clusters of four do not fill what they run on. The
// scales of a promoted stage are those of its place in all of K.
// CHECK-LABEL: llvm.func @quarters_matmul(
// CHECK-SAME:      nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK:         moeq_gpu.exchange.create : <1x4096xi32, cluster = 4>
// CHECK:         %[[FIRST:.*]] = nvvm.read.ptx.sreg.clusterid.x
// CHECK:         %[[STEP:.*]] = nvvm.read.ptx.sreg.nclusterid.x
// CHECK:         consumers(2
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]] iter_args(%{{.*}}, %{{.*}} = %c0_i32)
// CHECK:             moeq_gpu.store
// CHECK-LABEL: func.func @quarters(
// CHECK:         arith.minui %{{.*}}, %c128
func.func @quarters(%a: memref<?x1024xi8>, %w: memref<512x1024xi8>, %c: memref<?x512xbf16>) {
  moeq.matmul lhs(%a : memref<?x1024xi8>) rhs(%w : memref<512x1024xi8>) outs(%c : memref<?x512xbf16>)
      config(<tile = [128, 256], stages = 2, split_k = 4>)
  return
}

// -----

!lhs = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!rhs = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
// CHECK-LABEL: llvm.func @blocks_grouped_matmul(
// CHECK:         consumers(2
// CHECK:           %[[FIRST:.*]] = arith.muli %{{.*}}, %c2_i32
// CHECK:           scf.for %[[K:.*]] = %c0_i32 {{.*}} iter_args
// CHECK:             %[[STAGE:.*]] = arith.addi %[[FIRST]], %[[K]]
// CHECK:             arith.addi %{{.*}}, %[[STAGE]]
// CHECK:             llvm.load
// CHECK:           moeq_gpu.exchange.swap
func.func @blocks(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x4xf32>, %w: memref<8x256x512xf8E4M3FN>,
                  %sw: memref<8x2x4xf32>, %o: memref<9xi32>, %c: memref<?x256xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x4xf32> as !lhs)
    rhs(%w, %sw : memref<8x256x512xf8E4M3FN>, memref<8x2x4xf32> as !rhs)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>)
    accumulate(<promote<128>>) config(<tile = [128, 128], schedule = dynamic, split_k = 2>)
  return
}

// -----

// Gate and up of a part are two pieces of it.
// CHECK-LABEL: llvm.func @gated_grouped_matmul(
// CHECK:         moeq_gpu.exchange.swap {{.*}} pieces 2
// CHECK:         %[[SUMS:.*]]:2 = moeq_gpu.exchange.sum
// CHECK:         moeq_gpu.map(%[[SUMS]]#0, %[[SUMS]]#1
func.func @gated(%a: memref<?x512xbf16>, %w: memref<8x256x512xbf16>, %o: memref<9xi32>,
                 %c: memref<?x128xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<8x256x512xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x128xbf16>)
    config(<tile = [128, 256], stages = 2, schedule = dynamic, split_k = 2>) epilogue gated {
  ^bb0(%gate: f32, %up: f32, %i: index, %j: index):
    %x = arith.mulf %gate, %up : f32
    %t = arith.truncf %x : f32 to bf16
    moeq.yield %t : bf16
  }
  return
}
