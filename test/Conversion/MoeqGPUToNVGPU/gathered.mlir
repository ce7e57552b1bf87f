// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

// Rows and elements that all threads of the producer's warpgroup copy: each
// arrives when its copies have.
!ring = !moeq_gpu.ring<3x[gathered 40x128xf8E4M3FN, 128x128xf8E4M3FN, gathered 160xf32]>
!map = !moeq_gpu.tensor_map<128x128xf8E4M3FN>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @gather
  // CHECK-SAME:    %{{[^:]*}}: !llvm.ptr, %[[A:[^:]*]]: !llvm.ptr<1>, %[[INDEX:[^:]*]]: !llvm.ptr<1>, %[[ROW:[^:]*]]: i32, %[[END:[^:]*]]: i32, %[[COLUMN:[^:]*]]: i32, %[[PITCH:[^:]*]]: i32
  llvm.func @gather(%p: !llvm.ptr, %a: !llvm.ptr<1>, %index: !llvm.ptr<1>, %row: i32, %end: i32, %column: i32, %pitch: i32) {
    %map = moeq_gpu.tensor_map %p : !map
    %wide = arith.extui %pitch : i32 to i64
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c129_i32
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c4_i32
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    // A mailbox that three warps read, too.
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c7_i32
    %mailbox = moeq_gpu.ring.create consumers 1 warps 3 : !moeq_gpu.ring<2x[vector<4xi32>]>
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // A lane has the index of a 16th row, -1 where that does not exist.
      // CHECK: %[[PIECE:.*]] = arith.remui %{{.*}}, %c8_i32
      // CHECK: %[[FIRST:.*]] = arith.muli %[[PIECE]], %c16_i32
      // CHECK: %[[EIGHTH:.*]] = arith.divui %{{.*}}, %c8_i32
      // CHECK: %[[OWN:.*]] = arith.addi %[[FIRST]], %[[EIGHTH]]
      // CHECK: arith.addi %[[ROW]], %[[OWN]]
      // CHECK: %[[I:.*]] = llvm.load {{.*}} {alignment = 4 : i64}
      // CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %[[END]]
      // CHECK: %[[I0:.*]] = arith.select %[[EXISTS]], %[[I]], %c-1_i32
      %i = moeq_gpu.load_indices %index[%row] end(%end) : i32
      // The bytes of the other tile, which lies behind the gathered one.
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      moeq_gpu.ring.fill %ring[%cursor] from(%map at %row, %column) : !ring, !map
      // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[PITCH]]
      // 16 rows at a time, by the indices of the first two lanes of eight.
      // CHECK-COUNT-2: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
      // The last 8 are beyond those of the tile.
      // CHECK: %[[LANE:.*]] = arith.addi %{{.*}}, %c2_i32
      // CHECK: %[[J:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[I0]], %[[LANE]]
      // CHECK: scf.if
      // CHECK: %[[IS:.*]] = arith.cmpi sge, %[[J]], %c0_i32
      // CHECK: %[[BOTH:.*]] = arith.andi %[[IS]], %[[INSIDE]]
      // CHECK: arith.maxsi %[[J]], %c0_i32
      // CHECK: %[[SIZE:.*]] = arith.select %[[BOTH]], %c16_i32, %c0_i32
      // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
      // CHECK-NOT: nvvm.cp.async.shared.global
      // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
      moeq_gpu.ring.gather %ring[%cursor] from(%a, %column) pitch(%pitch) indices(%i) : !ring
      moeq_gpu.ring.gathered %ring[%cursor] : !ring
    // The helpers are the other warps.
    // CHECK: } else {
    } helpers {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // Without a base the index of a row is its number.
      // CHECK-NOT: llvm.load
      // CHECK: %[[I0:.*]] = arith.select %{{.*}}, %{{.*}}, %c-1_i32
      // CHECK: %[[I1:.*]] = arith.select %{{.*}}, %{{.*}}, %c-1_i32
      %i:2 = moeq_gpu.load_indices [%row] end(%end) : i32, i32
      // CHECK: %[[IS:.*]] = arith.cmpi sge, %[[I0]], %c0_i32
      // CHECK: %[[SIZE:.*]] = arith.select %[[IS]], %c4_i32, %c0_i32
      // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %[[SIZE]]
      // The second element of a thread, where the vector has one.
      // CHECK: arith.cmpi sge, %[[I1]], %c0_i32
      // CHECK: scf.if
      // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
      // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
      moeq_gpu.ring.gather_vector %ring[%cursor] number 0 from(%a, %wide) pitch(%wide) indices(%i#0, %i#1) : !ring
      moeq_gpu.ring.gathered %ring[%cursor] : !ring
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // CHECK: nvvm.mbarrier.try_wait.parity
      // CHECK-NEXT: nvvm.fence.proxy
      %tokens, %w, %scales = moeq_gpu.ring.wait %ring[%cursor]
          : !ring -> !moeq_gpu.tile<40x128xf8E4M3FN>, !moeq_gpu.tile<128x128xf8E4M3FN>, !moeq_gpu.vector<160xf32>
      // Rows of a column: two a thread; elements of a row from a place that may
      // be no multiple of two.
      // CHECK-COUNT-2: llvm.load volatile %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
      %ofRows = moeq_gpu.spread %scales[64] : !moeq_gpu.vector<160xf32> -> !moeq_gpu.fragment<64x1xf32>
      // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
      %ofColumns = moeq_gpu.spread %scales[8] from(%row) : !moeq_gpu.vector<160xf32> -> !moeq_gpu.fragment<1x8xf32>
      // All lanes of a warp have read the vectors before one releases them.
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.inline_ptx "mbarrier.arrive
      moeq_gpu.ring.release %ring[%cursor] : !ring
      %staging = moeq_gpu.alloc : !moeq_gpu.tile<32x64xbf16>
      %vector = moeq_gpu.alloc : !moeq_gpu.vector<40xf32>
      %long = arith.extui %pitch : i32 to i64
      // Elements of vectors by their indices.
      // CHECK: %[[I:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      // CHECK: %[[EXISTS:.*]] = arith.cmpi sge, %[[I]], %c0_i32
      // CHECK: %[[PLACE:.*]] = arith.select %[[EXISTS]], %[[I]], %c0_i32
      // CHECK: %[[LONG:.*]] = arith.extui %[[PLACE]]
      // CHECK: arith.muli %[[LONG]], %{{.*}} : i64
      // CHECK: %[[V:.*]] = llvm.load {{.*}} -> f32
      // CHECK: arith.select %[[EXISTS]], %[[V]], %cst
      %s = moeq_gpu.load %a[%row, %column] pitch(%long) row_end(%end) indices(%index) : !moeq_gpu.fragment<64x1xf32>
      // CHECK: %[[I:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      // CHECK: %[[EXISTS:.*]] = arith.cmpi sge, %[[I]], %c0_i32
      // CHECK: %[[V:.*]] = llvm.load {{.*}} -> f32
      // CHECK: arith.select %[[EXISTS]], %[[V]], %cst
      %t = moeq_gpu.load %a[%column, %row] pitch(%long) column_end(%end) indices(%index) transposed : !moeq_gpu.fragment<1x8xf32>
      // CHECK: %[[I:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      // CHECK: %[[EXISTS:.*]] = arith.cmpi sge, %[[I]], %c0_i32
      // CHECK: %[[V:.*]] = llvm.load {{.*}} -> f32
      // CHECK: arith.select %[[EXISTS]], %[[V]], %cst
      %u = moeq_gpu.load_striped %a[%row] end(%end) indices(%index) : !moeq_gpu.striped<40xf32>
      moeq_gpu.store_striped %u, %vector : !moeq_gpu.striped<40xf32>, !moeq_gpu.vector<40xf32>
      %z = moeq_gpu.map(%s, %t, %ofRows, %ofColumns : !moeq_gpu.fragment<64x1xf32>, !moeq_gpu.fragment<1x8xf32>, !moeq_gpu.fragment<64x1xf32>, !moeq_gpu.fragment<1x8xf32>) at(%row, %column) {
      ^bb0(%x: f32, %y: f32, %u0: f32, %v: f32, %i: index, %j: index):
        %p0 = arith.mulf %x, %y : f32
        %q = math.fma %u0, %v, %p0 : f32
        %r = arith.truncf %q : f32 to bf16
        moeq_gpu.yield %r : bf16
      } -> !moeq_gpu.fragment<64x8xbf16>
      moeq_gpu.store_transposed %z, %staging, %a[%row, %column] pitch(%long) row_end(%end) : !moeq_gpu.fragment<64x8xbf16>, !moeq_gpu.tile<32x64xbf16>
    }
    llvm.return
  }
}

// -----

// Elements of two bytes are stored by their threads, and copies of rows waited
// for: then the thread arrives.
!halves = !moeq_gpu.ring<2x[gathered 64x128xf8E4M3FN, 128x128xf8E4M3FN, gathered 64xbf16]>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @halves
  llvm.func @halves(%a: !llvm.ptr<1>, %row: i32, %end: i32, %pitch: i64) {
    %ring = moeq_gpu.ring.create consumers 1 : !halves
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      %i = moeq_gpu.load_indices [%row] end(%end) : i32
      // CHECK: llvm.load {{.*}} -> bf16
      // CHECK: llvm.store {{.*}} : bf16, !llvm.ptr<3>
      moeq_gpu.ring.gather_vector %ring[%cursor] number 0 from(%a, %pitch) pitch(%pitch) indices(%i) : !halves
      // CHECK: nvvm.cp.async.wait.group 0
      // CHECK: nvvm.mbarrier.arrive %{{.*}} -> i64
      moeq_gpu.ring.gathered %ring[%cursor] : !halves
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
    }
    llvm.return
  }
}
