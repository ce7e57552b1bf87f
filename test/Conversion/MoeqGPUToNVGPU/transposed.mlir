// RUN: moeq-opt %s | FileCheck %s --check-prefix=ROUNDTRIP
// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' | FileCheck %s

// Operands with K outside: panels of 64 columns, which wgmma transposes.
!ring = !moeq_gpu.ring<3x[64x128xbf16, 64x192xbf16]>
!map = !moeq_gpu.tensor_map<64x64xbf16>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @transposed
  // CHECK-SAME:    %[[MAP:[^:]*]]: !llvm.ptr, %[[K:[^:]*]]: i32, %[[COLUMN:[^:]*]]: i32, %[[LEFT:[^:]*]]: i32
  llvm.func @transposed(%p: !llvm.ptr, %k: i32, %column: i32, %left: i32) {
    %map = moeq_gpu.tensor_map %p : !map
    %ring = moeq_gpu.ring.create consumers 1 : !ring
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      // A copy for each panel of both tiles.
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c40960_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[COLUMN]], %[[K]]]
      // CHECK: %[[SECOND:.*]] = arith.addi %[[COLUMN]], %c64_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[SECOND]], %[[K]]]
      // CHECK: box[%[[COLUMN]], %[[K]]]
      // CHECK: box[%[[SECOND]], %[[K]]]
      // CHECK: %[[THIRD:.*]] = arith.addi %[[COLUMN]], %c128_i32
      // CHECK: box[%[[THIRD]], %[[K]]]
      // CHECK-NOT: nvvm.cp.async.bulk.tensor
      moeq_gpu.ring.fill %ring[%cursor] from(%map, %map at %k, %column, %k, %column) : !ring, !map, !map
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !moeq_gpu.cursor
      %a, %b = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !moeq_gpu.tile<64x128xbf16>, !moeq_gpu.tile<64x192xbf16>
      // The panel from column 64 on lies 64 rows of 128 bytes further.
      // CHECK: %[[PANEL:.*]] = arith.muli %{{.*}}, %c8192_i32
      // CHECK: arith.addi %{{.*}}, %[[PANEL]]
      %c64 = arith.constant 64 : i32
      %at = arith.muli %warpgroup, %c64 : i32
      // ROUNDTRIP: moeq_gpu.subtile %{{.*}}[%{{.*}}] : <64x128xbf16> -> <64x64xbf16>
      %part = moeq_gpu.subtile %a[%at] : !moeq_gpu.tile<64x128xbf16> -> !moeq_gpu.tile<64x64xbf16>
      // Sixteen rows a round, in each panel; the tensor core sees them after a fence.
      // ROUNDTRIP: moeq_gpu.clear_rows %{{.*}}, %{{.*}} from %{{.*}} : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x192xbf16>
      // CHECK: %[[FIRST:.*]] = arith.addi %[[LEFT]], %{{.*}}
      // CHECK: scf.for %{{.*}} = %[[FIRST]] to %c64_i32 step %c16_i32
      // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      // CHECK-NOT: llvm.store
      // CHECK: scf.for %{{.*}} = %[[FIRST]] to %c64_i32 step %c16_i32
      // CHECK-COUNT-3: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      // CHECK: nvvm.fence.proxy
      // CHECK: nvvm.barrier
      moeq_gpu.clear_rows %part, %b from %left : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x192xbf16>
      // The stride between panels, 8192 bytes, from bit 16 on, that of 8 rows from bit 32.
      // CHECK: arith.ori %{{.*}}, %c4611686293338849280_i64 : i64
      // ROUNDTRIP: moeq_gpu.mma %{{.*}}, %{{.*}} transpose_a transpose_b : <64x64xbf16>, <64x192xbf16> -> !moeq_gpu.fragment<64x192xf32>
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK: nvvm.wgmma.mma_async %[[DA:.*]], %[[DB:.*]], %{{.*}}, <m = 64, n = 192, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <col>], B[<bf16>, <one>, <row>]
      // Sixteen rows of K are 2048 bytes.
      // CHECK: %[[NA:.*]] = arith.addi %[[DA]], %c128_i64
      // CHECK: nvvm.wgmma.mma_async %[[NA]]
      %d = moeq_gpu.mma %part, %b transpose_a transpose_b
          : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x192xbf16> -> !moeq_gpu.fragment<64x192xf32>
      %r = moeq_gpu.mma_wait pending 0(%d : !moeq_gpu.fragment<64x192xf32>)
    }
    llvm.return
  }
}
