// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

!stages = !moeq_gpu.tile<128x64xbf16>
!tile = !moeq_gpu.tile<64x64xbf16>
!staging = !moeq_gpu.tile<64x64xbf16>
!acc = !moeq_gpu.fragment<64x64xf32>
!out = !moeq_gpu.fragment<64x64xbf16>

gpu.module @kernels {
  // Two consumers and no producer: 32 rows at a time, of 8 threads each.
  // CHECK-LABEL: llvm.func @bf16
  // CHECK-NOT:     nvvm.setmaxregister
  llvm.func @bf16(%a: !llvm.ptr<1>, %indices: !llvm.ptr<1>, %c: !llvm.ptr<1>, %row: i32, %end: i32,
                  %k: i32, %depth: i32, %pitch: i64) {
    %stages = moeq_gpu.alloc : !stages
    moeq_gpu.roles consumers(2, 240) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !staging
      // CHECK:     %[[OWN:.*]] = arith.divui %{{.*}}, %c8_i32 : i32
      // CHECK:     %[[ROW0:.*]] = arith.addi %{{.*}}, %[[OWN]] : i32
      // CHECK:     %[[IN0:.*]] = arith.cmpi ult, %[[ROW0]], %{{.*}} : i32
      // CHECK:     arith.minui %[[ROW0]]
      // CHECK:     %[[INDEX:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i32
      // CHECK:     %[[EXISTS:.*]] = arith.cmpi sge, %[[INDEX]]
      // CHECK:     %[[FOUND:.*]] = arith.select %[[EXISTS]], %[[INDEX]], %c0_i32
      // CHECK:     %[[BOTH:.*]] = arith.andi %[[IN0]], %[[EXISTS]] : i1
      // CHECK:     %[[WIDE:.*]] = arith.extui %[[FOUND]] : i32 to i64
      // CHECK:     %[[OFFSET:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
      // CHECK:     %[[OFFSET0:.*]] = arith.select %[[BOTH]], %[[OFFSET]], %c-1_i64
      // CHECK:     llvm.load %{{.*}} : !llvm.ptr<1> -> i32
      %r:2 = moeq_gpu.locate_rows %row end(%end) pitch(%depth) indices(%indices) : i64, i64
      // What does not exist is not read.
      // CHECK:     %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
      // CHECK:     %[[THERE:.*]] = arith.cmpi sge, %[[OFFSET0]], %c0_i64
      // CHECK:     %[[READ:.*]] = arith.andi %[[THERE]], %[[INSIDE]]
      // CHECK:     %[[BYTES:.*]] = arith.select %[[READ]], %c16_i32, %c0_i32
      // CHECK:     nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]]
      // The rows 32 further down, whose swizzle is the same.
      // CHECK:     %[[NEXT:.*]] = llvm.getelementptr %{{.*}}[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      // CHECK:     nvvm.cp.async.shared.global %[[NEXT]]
      // CHECK-NOT: nvvm.cp.async.shared
      %one = arith.constant 64 : i32
      %tile = moeq_gpu.subtile %stages[%one] : !stages -> !tile
      moeq_gpu.copy %a[%k] columns(%depth) rows(%r#0, %r#1) to %tile : !tile
      %zero = moeq_gpu.zero : !acc
      // Four steps of 16 elements; rows of A once, 16 columns of B at a time.
      // CHECK:       nvvm.ldmatrix {{.*}} num = 4 : i32
      // CHECK-COUNT-4: nvvm.ldmatrix {{.*}} num = 4 : i32
      // CHECK:       nvvm.mma.sync A[%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}] B[%{{[^,]*}}, %{{[^,]*}}] C[%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}]
      // CHECK-SAME:  multiplicandAPtxType = #nvvm.mma_type<bf16>
      // CHECK-SAME:  shape = #nvvm.shape<m = 16, n = 8, k = 16>
      %d = moeq_gpu.mma_sync %tile, %tile, %zero : !tile, !tile -> !acc
      %v = moeq_gpu.map(%d : !acc) at(%row, %row) {
      ^bb0(%x: f32, %i: index, %j: index):
        %t = arith.truncf %x : f32 to bf16
        moeq_gpu.yield %t : bf16
      } -> !out
      // By instructions that every chip has. The barrier of consumer 0 is not
      // that of the CTA.
      // CHECK:       %[[ID:.*]] = arith.addi %{{.*}}, %c1_i32 : i32
      // CHECK:       nvvm.barrier id = %[[ID]]
      // CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<3>
      // CHECK-NOT:   nvvm.stmatrix
      // CHECK-NOT:   nvvm.fence.proxy
      // CHECK:       nvvm.barrier id = %[[ID]]
      // CHECK:       scf.for
      // CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      // CHECK-NOT:   nvvm.cp.async.bulk
      moeq_gpu.store %v, %staging, %c[%row, %row] pitch(%pitch) row_end(%end) : !out, !staging
    }
    llvm.return
  }
}

// -----

// Pieces of 16 bytes: all threads copy one of 4096 bytes, and 128 of 256 one of
// the next 2048.

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @vector
  llvm.func @vector(%a: !llvm.ptr<1>, %exists: i1) {
    %v = moeq_gpu.alloc : !moeq_gpu.vector<6144xi8>
    moeq_gpu.roles consumers(2, 240) {
    ^bb0(%warpgroup: i32):
      // CHECK:     %[[OWN:.*]] = arith.muli %{{.*}}, %c16_i32 : i32
      // CHECK:     %[[FROM:.*]] = llvm.getelementptr %{{.*}}[%[[OWN]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      // CHECK:     scf.if %{{.*}} {
      // CHECK:       nvvm.cp.async.shared.global %[[TO:.*]], %[[FROM]], 16, cache = cg :
      // CHECK:     %[[HAS:.*]] = arith.cmpi ult, %[[OWN]], %c2048_i32 : i32
      // CHECK:     %[[BOTH:.*]] = arith.andi %{{.*}}, %[[HAS]] : i1
      // CHECK:     scf.if %[[BOTH]] {
      // CHECK:       %[[NEXT:.*]] = llvm.getelementptr %[[TO]][4096]
      // CHECK:       nvvm.cp.async.shared.global %[[NEXT]]
      // CHECK-NOT: nvvm.cp.async.shared
      moeq_gpu.copy_vector %a if %exists to %v : !moeq_gpu.vector<6144xi8>
    }
    llvm.return
  }
}

// -----

// The transpose by single elements, not by stmatrix.

!transposed = !moeq_gpu.tile<32x64xbf16>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @transposed
  llvm.func @transposed(%c: !llvm.ptr<1>, %row: i32, %pitch: i64) {
    moeq_gpu.roles consumers(1, 240) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !transposed
      %v = moeq_gpu.zero : !moeq_gpu.fragment<64x16xbf16>
      // CHECK-NOT:      nvvm.stmatrix
      // CHECK-COUNT-8:  llvm.store %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<3>
      // CHECK:          nvvm.barrier id
      // CHECK:          llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      moeq_gpu.store_transposed %v, %staging, %c[%row, %row] pitch(%pitch) : !moeq_gpu.fragment<64x16xbf16>, !transposed
    }
    llvm.return
  }
}
