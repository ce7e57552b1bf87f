// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

!maps = !moeq_gpu.tensor_map<40x128xf8E4M3FN, step = 8>
!map = !moeq_gpu.tensor_map<128x128xf8E4M3FN>
!weights = !moeq_gpu.tile<128x128xf8E4M3FN>
!tokens = !moeq_gpu.tile<40x128xf8E4M3FN>
!ring = !moeq_gpu.ring<4x[40x128xf8E4M3FN, 128x128xf8E4M3FN]>
!acc = !moeq_gpu.fragment<128x40xf32>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @fill
  // CHECK-SAME:    %[[MAPS:[^:]*]]: !llvm.ptr, %[[MAP:[^:]*]]: !llvm.ptr, %[[ROWS:[^:]*]]: i32
  llvm.func @fill(%params: !llvm.ptr, %param: !llvm.ptr, %rows: i32) {
    %zero = arith.constant 0 : i32
    // A thread prefetches each of the five descriptors, 128 bytes apart.
    // CHECK: arith.cmpi ult, %[[THREAD:.*]], %c5_i32
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[THREAD]], %c128_i32
    // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr %[[MAPS]][%[[OFFSET]]]
    // CHECK: nvvm.prefetch tensormap, %[[ADDRESS]]
    %maps = moeq_gpu.tensor_map %params : !maps
    // CHECK: nvvm.prefetch tensormap, %[[MAP]]
    %map = moeq_gpu.tensor_map %param : !map
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // The bytes of the weights and those of as many rows.
      // CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %c128_i32
      // CHECK: %[[ALL:.*]] = arith.addi %[[BYTES]], %c16384_i32
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[ALL]]
      // CHECK: %[[STEPS:.*]] = arith.divui %[[ROWS]], %c8_i32
      // CHECK: %[[INDEX:.*]] = arith.subi %[[STEPS]], %c1_i32
      // CHECK: %[[OFFSET:.*]] = arith.muli %[[INDEX]], %c128_i32
      // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr %[[MAPS]][%[[OFFSET]]]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]]
      moeq_gpu.ring.fill %ring[%cursor] from(%maps, %map at %zero, %zero, %zero, %zero) rows(%rows) : !ring, !maps, !map
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      %b, %a = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !tokens, !weights
      // For each step of K the two halves of the rows, each with its struct.
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK: %[[UP:.*]] = nvvm.wgmma.mma_async {{.*}} <m = 64, n = 40, k = 32>, D[<f32>, <zero>]
      // CHECK: arith.addi %{{.*}}, %c512_i64
      // CHECK: %[[DOWN:.*]] = nvvm.wgmma.mma_async {{.*}} D[<f32>, <zero>]
      // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %[[UP]], {{.*}} D[<f32>, <one>]
      // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %[[DOWN]], {{.*}} D[<f32>, <one>]
      // CHECK-COUNT-4: nvvm.wgmma.mma_async
      // CHECK-NOT: nvvm.wgmma.mma_async
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      %d = moeq_gpu.mma %a, %b : !weights, !tokens -> !acc
      %e = moeq_gpu.mma_wait pending 0(%d : !acc)
    }
    llvm.return
  }
}

// -----

// 40 columns of bf16: two stmatrix of four matrices, one of two; the rows of the
// tile are tokens, stored in three rounds of 16.
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @store
  llvm.func @store(%c: !llvm.ptr<1>, %row: i32, %column: i32, %end: i32, %n: i32, %pitch: i64) {
    moeq_gpu.roles producer(40) {
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !moeq_gpu.tile<40x64xbf16>
      %f = moeq_gpu.zero : !moeq_gpu.fragment<64x40xbf16>
      // CHECK: nvvm.barrier id =
      moeq_gpu.barrier
      // CHECK-COUNT-2: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>
      // CHECK: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>
      // CHECK: nvvm.barrier id =
      // A thread has one address, and constant distances in rows from it.
      // CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
      // CHECK: llvm.store %{{.*}}, %[[FIRST]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %c16_i64
      // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[FIRST]][%[[ROWS]]]
      // CHECK: arith.cmpi sgt, %{{.*}}, %c16_i32
      // CHECK: llvm.store %{{.*}}, %[[NEXT]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK-NOT: llvm.store
      moeq_gpu.store_transposed %f, %staging, %c[%row, %column] pitch(%pitch) row_end(%end) column_end(%n) : !moeq_gpu.fragment<64x40xbf16>, !moeq_gpu.tile<40x64xbf16>
    }
    llvm.return
  }

  // Two panels of f32, an element a store.
  // CHECK-LABEL: llvm.func @store_f32
  llvm.func @store_f32(%c: !llvm.ptr<1>, %row: i32, %column: i32, %pitch: i64) {
    moeq_gpu.roles producer(40) {
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !moeq_gpu.tile<16x64xf32>
      %f = moeq_gpu.zero : !moeq_gpu.fragment<64x16xf32>
      // CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
      // CHECK: nvvm.barrier id =
      // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK-NOT: llvm.store
      moeq_gpu.store_transposed %f, %staging, %c[%row, %column] pitch(%pitch) : !moeq_gpu.fragment<64x16xf32>, !moeq_gpu.tile<16x64xf32>
    }
    llvm.return
  }
}

// -----

// A vector goes through shared memory, one element a thread, to pairs of columns.
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @spread
  llvm.func @spread(%p: !llvm.ptr<1>, %row: i32, %end: i32, %pitch: i64) {
    moeq_gpu.roles producer(40) {
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %v = moeq_gpu.load_striped %p[%row] end(%end) : !moeq_gpu.striped<160xf32>
      %s = moeq_gpu.alloc : !moeq_gpu.vector<160xf32>
      // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
      // CHECK: scf.if
      // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
      moeq_gpu.store_striped %v, %s : !moeq_gpu.striped<160xf32>, !moeq_gpu.vector<160xf32>
      // CHECK: nvvm.barrier
      moeq_gpu.barrier
      // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
      %f = moeq_gpu.spread %s[32] : !moeq_gpu.vector<160xf32> -> !moeq_gpu.fragment<1x16xf32>
      // Elements of the transpose, one by one.
      // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %g = moeq_gpu.load %p[%row, %row] pitch(%pitch) row_end(%end) transposed : !moeq_gpu.fragment<64x16xf32>
      %t = moeq_gpu.alloc : !moeq_gpu.tile<16x64xf32>
      %h = moeq_gpu.map(%f, %g : !moeq_gpu.fragment<1x16xf32>, !moeq_gpu.fragment<64x16xf32>) at(%row, %row) {
      ^bb0(%x: f32, %y: f32, %i: index, %j: index):
        %z = arith.addf %x, %y : f32
        moeq_gpu.yield %z : f32
      } -> !moeq_gpu.fragment<64x16xf32>
      moeq_gpu.store_transposed %h, %t, %p[%row, %row] pitch(%pitch) : !moeq_gpu.fragment<64x16xf32>, !moeq_gpu.tile<16x64xf32>
    }
    llvm.return
  }
}

// -----

// Tiles in groups: the rows of a group are shared out evenly.
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @schedule
  llvm.func @schedule(%offsets: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
    %groups = arith.constant 8 : i32
    %n = arith.constant 14336 : i32
    %s = moeq_gpu.schedule offsets(%offsets) groups(%groups) columns(%n) : !moeq_gpu.schedule<160x256, step = 8, groups_per_lane = 1>
    moeq_gpu.roles producer(40) {
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      // CHECK: nvvm.vote.sync ballot
      // CHECK: %[[BEGIN:.*]] = llvm.load %{{.*}}
      // CHECK: %[[END:.*]] = llvm.load %{{.*}}
      // CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[BEGIN]]
      // CHECK: %[[UP:.*]] = arith.addi %[[COUNT]], %c159_i32
      // CHECK: %[[TILES:.*]] = arith.divui %[[UP]], %c160_i32
      // CHECK: %[[COLUMN:.*]] = arith.divui %{{.*}}, %[[TILES]]
      // CHECK: %[[STEPS:.*]] = arith.muli %[[TILES]], %c8_i32
      // CHECK: %[[PER_TILE:.*]] = arith.divui %{{.*}}, %[[STEPS]]
      // CHECK: %[[ROWS:.*]] = arith.muli %[[PER_TILE]], %c8_i32
      // CHECK: arith.minui %{{.*}}, %[[END]]
      %group, %row, %end, %column = moeq_gpu.schedule.tile %s[%i] : !moeq_gpu.schedule<160x256, step = 8, groups_per_lane = 1>
      %sum = arith.addi %row, %end : i32
      %sum2 = arith.addi %sum, %column : i32
      llvm.store %sum2, %out : i32, !llvm.ptr<1>
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
    }
    llvm.return
  }
}

// -----

// Tiles of a plan: the group's row of the table says its rows and their width,
// row 0 which tiles are split.
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @planned
  // CHECK-SAME:    %[[PLAN:[^:]*]]: !llvm.ptr<1>
  llvm.func @planned(%plan: !llvm.ptr<1>, %out: !llvm.ptr<1>) {
    %groups = arith.constant 8 : i32
    %n = arith.constant 14336 : i32
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    // CHECK-COUNT-5: nvvm.shfl.sync up
    // CHECK: %[[SIZES:.*]] = llvm.load %[[PLAN]]
    // CHECK: %[[SIZE:.*]] = llvm.extractelement %[[SIZES]][%c0_i32
    %s = moeq_gpu.schedule plan(%plan) groups(%groups) columns(%n) : !moeq_gpu.schedule<160x256, planned step = 8, groups_per_lane = 1>
    // CHECK: llvm.store %[[SIZE]]
    %size = moeq_gpu.schedule.size %s : !moeq_gpu.schedule<160x256, planned step = 8, groups_per_lane = 1>
    llvm.store %size, %out : i32, !llvm.ptr<1>
    moeq_gpu.roles producer(40) {
      // CHECK: %[[I:.*]] = nvvm.read.ptx.sreg.ctaid.x
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      // CHECK: %[[FIRST:.*]] = llvm.extractelement %{{.*}}[%c1_i32
      // CHECK: %[[SPLIT:.*]] = llvm.extractelement %{{.*}}[%c2_i32
      // CHECK: %[[WHOLE:.*]] = arith.minui %[[I]], %[[FIRST]]
      // CHECK: %[[IS_WHOLE:.*]] = arith.cmpi ult, %[[I]], %[[FIRST]]
      // CHECK: %[[PIECES:.*]] = arith.select %[[IS_WHOLE]], %c1_i32, %[[SPLIT]]
      // CHECK: %[[REST:.*]] = arith.subi %[[I]], %[[WHOLE]]
      // CHECK: arith.divui %[[REST]], %[[PIECES]]
      // CHECK: nvvm.vote.sync ballot
      // CHECK: %[[GROUP:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      // CHECK: %[[ROW:.*]] = llvm.extractelement %[[GROUP]][%c0_i32
      // CHECK: %[[END:.*]] = llvm.extractelement %[[GROUP]][%c1_i32
      // CHECK: %[[EXPERT:.*]] = llvm.extractelement %[[GROUP]][%c2_i32
      // CHECK: %[[WIDTH:.*]] = llvm.extractelement %[[GROUP]][%c3_i32
      // CHECK: llvm.store %[[EXPERT]]
      %group, %row, %end, %column = moeq_gpu.schedule.tile %s[%i] : !moeq_gpu.schedule<160x256, planned step = 8, groups_per_lane = 1>
      llvm.store %group, %out : i32, !llvm.ptr<1>
      llvm.store %row, %out : i32, !llvm.ptr<1>
      llvm.store %end, %out : i32, !llvm.ptr<1>
      llvm.store %column, %out : i32, !llvm.ptr<1>
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
    }
    llvm.return
  }
}
