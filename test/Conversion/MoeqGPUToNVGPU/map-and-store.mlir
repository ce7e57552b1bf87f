// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

!map = !moeq_gpu.tensor_map<64x64xbf16>
!staging = !moeq_gpu.tile<64x64xbf16>
!acc = !moeq_gpu.fragment<64x64xf32>
!rows = !moeq_gpu.fragment<64x1xf32>
!columns = !moeq_gpu.fragment<1x64xf32>
!out = !moeq_gpu.fragment<64x64xbf16>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @pairs
  llvm.func @pairs(%pc: !llvm.ptr, %c: !llvm.ptr<1>, %scale: !llvm.ptr<1>, %row: i32,
                   %column: i32, %end: i32, %n: i32, %pitch: i64) {
    %map = moeq_gpu.tensor_map %pc : !map
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    moeq_gpu.roles producer(40) {
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !staging
      %acc = moeq_gpu.zero : !acc
      // Two rows a thread, not beyond the last one.
      // CHECK: arith.minui
      // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      // CHECK: arith.minui
      // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %sa = moeq_gpu.load %scale[%row, %zero] pitch(%one) row_end(%end) : !rows
      // Pairs of columns.
      // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
      %sb = moeq_gpu.load %scale[%zero, %column] pitch(%pitch) aligned : !columns
      // The body runs on pairs of columns.
      // CHECK: arith.mulf %{{.*}} : vector<2xf32>
      // CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
      %v = moeq_gpu.map(%acc, %sa, %sb : !acc, !rows, !columns) at(%row, %column) {
      ^bb0(%x: f32, %p: f32, %q: f32, %i: index, %j: index):
        %s = arith.mulf %p, %q : f32
        %y = arith.addf %x, %s : f32
        %t = arith.truncf %y : f32 to bf16
        moeq_gpu.yield %t : bf16
      } -> !out
      // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
      // CHECK: nvvm.barrier id =
      // CHECK-COUNT-4: nvvm.stmatrix
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK: nvvm.barrier id =
      // Where all rows exist, by TMA.
      // CHECK: scf.if
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
      // CHECK: nvvm.cp.async.bulk.commit.group
      // CHECK: } else {
      // CHECK: scf.for
      // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
      // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      moeq_gpu.store %v, %staging, %c[%row, %column] pitch(%pitch) row_end(%end) column_end(%n) map(%map : !map) : !out, !staging
      // CHECK: nvvm.cp.async.bulk.wait_group 0
      moeq_gpu.store_wait
    }
    llvm.return
  }
}

// -----

// A body with an op that has no vector form runs on each element (here on each
// column, as rows do not matter); captured
// scalars are shared.
!map = !moeq_gpu.tensor_map<64x32xf32>
!staging = !moeq_gpu.tile<64x32xf32>
!acc = !moeq_gpu.fragment<64x32xf32>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @scalars
  llvm.func @scalars(%pc: !llvm.ptr, %c: !llvm.ptr<1>, %alpha: f32, %row: i32, %pitch: i64) {
    %map = moeq_gpu.tensor_map %pc : !map
    moeq_gpu.roles producer(40) {
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !staging
      %acc = moeq_gpu.zero : !acc
      // CHECK-COUNT-8: scf.if %{{.*}} -> (f32)
      %v = moeq_gpu.map(%acc : !acc) at(%row, %row) {
      ^bb0(%x: f32, %i: index, %j: index):
        %p = arith.cmpf olt, %x, %alpha : f32
        %y = scf.if %p -> f32 {
          %k = arith.index_cast %j : index to i32
          %f = arith.sitofp %k : i32 to f32
          scf.yield %f : f32
        } else {
          scf.yield %x : f32
        }
        moeq_gpu.yield %y : f32
      } -> !acc
      // CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
      moeq_gpu.store %v, %staging, %c[%row, %row] pitch(%pitch) map(%map : !map) : !acc, !staging
    }
    llvm.return
  }
}
