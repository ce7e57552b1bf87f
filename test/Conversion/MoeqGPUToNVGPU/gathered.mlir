// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' | FileCheck %s

// Rows that the producer gathers: each of its lanes arrives when its copies have.
!ring = !moeq_gpu.ring<3x[gathered 40x128xf8E4M3FN, 128x128xf8E4M3FN]>
!map = !moeq_gpu.tensor_map<128x128xf8E4M3FN>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @gather
  // CHECK-SAME:    %{{[^:]*}}: !llvm.ptr, %[[A:[^:]*]]: !llvm.ptr<1>, %[[INDEX:[^:]*]]: !llvm.ptr<1>, %[[ROW:[^:]*]]: i32, %[[END:[^:]*]]: i32, %[[COLUMN:[^:]*]]: i32, %[[PITCH:[^:]*]]: i32, %[[ROWS:[^:]*]]: i32
  llvm.func @gather(%p: !llvm.ptr, %a: !llvm.ptr<1>, %index: !llvm.ptr<1>, %row: i32, %end: i32, %column: i32, %pitch: i32, %rows: i32) {
    %map = moeq_gpu.tensor_map %p : !map
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c33_i32
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c4_i32
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // A lane has the index of a row, -1 where that does not exist.
      // CHECK: %[[I:.*]] = llvm.load {{.*}} {alignment = 4 : i64}
      // CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %[[END]]
      // CHECK: %[[I0:.*]] = arith.select %[[EXISTS]], %[[I]], %c-1_i32
      // CHECK: %[[I1:.*]] = arith.select %{{.*}}, %{{.*}}, %c-1_i32
      %i:2 = moeq_gpu.load_indices %index[%row] end(%end) : i32, i32
      // The bytes of the other tile, which lies behind the gathered one.
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      moeq_gpu.ring.fill %ring[%cursor] from(%map at %row, %column) : !ring, !map
      // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[PITCH]]
      // Four rows at a time; eight times those of a register, twice the last
      // ones, where there are so many.
      // CHECK: %[[J:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[I0]], %{{.*}}
      // CHECK: %[[IS:.*]] = arith.cmpi sge, %[[J]], %c0_i32
      // CHECK: %[[BOTH:.*]] = arith.andi %[[IS]], %[[INSIDE]]
      // CHECK: %[[SIZE:.*]] = arith.select %[[BOTH]], %c16_i32, %c0_i32
      // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
      // CHECK-COUNT-7: nvvm.cp.async.shared.global
      // CHECK: %[[MORE:.*]] = arith.cmpi ugt, %[[ROWS]], %c32_i32
      // CHECK: scf.if %[[MORE]]
      // CHECK: nvvm.shfl.sync idx %{{.*}}, %[[I1]], %{{.*}}
      // CHECK-COUNT-2: nvvm.cp.async.shared.global
      // CHECK-NOT: nvvm.cp.async.shared.global
      // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
      moeq_gpu.ring.gather %ring[%cursor] from(%a, %column) pitch(%pitch) indices(%i#0, %i#1) rows(%rows) : !ring
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // CHECK: nvvm.mbarrier.try_wait.parity
      // CHECK-NEXT: nvvm.fence.proxy
      %tokens, %w = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !moeq_gpu.tile<40x128xf8E4M3FN>, !moeq_gpu.tile<128x128xf8E4M3FN>
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
      %z = moeq_gpu.map(%s, %t : !moeq_gpu.fragment<64x1xf32>, !moeq_gpu.fragment<1x8xf32>) at(%row, %column) {
      ^bb0(%x: f32, %y: f32, %i: index, %j: index):
        %q = arith.mulf %x, %y : f32
        %r = arith.truncf %q : f32 to bf16
        moeq_gpu.yield %r : bf16
      } -> !moeq_gpu.fragment<64x8xbf16>
      moeq_gpu.store_transposed %z, %staging, %a[%row, %column] pitch(%long) row_end(%end) : !moeq_gpu.fragment<64x8xbf16>, !moeq_gpu.tile<32x64xbf16>
    }
    llvm.return
  }
}
