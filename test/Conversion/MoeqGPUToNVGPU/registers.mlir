// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu,canonicalize,cse))' --split-input-file | FileCheck %s

!w = !moeq_gpu.vector<4096xi8>
!a = !moeq_gpu.operand<64x64xbf16>
!b = !moeq_gpu.tile<16x64xbf16>
!acc = !moeq_gpu.fragment<64x16xf32>
gpu.module @kernels {
  // The second half of the columns: the last 8 of 16 registers, and the
  // descriptor 64 bytes further.
  // CHECK-LABEL: llvm.func @part
  llvm.func @part(%x: !llvm.ptr<1>) {
    %w = moeq_gpu.alloc : !w
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles producer(40) {
    } consumers(1, 232) {
    ^bb0(%warpgroup: i32):
      %a = moeq_gpu.dequant %w as i8 : !w -> !a
      // CHECK:      %[[HALF:.*]] = arith.addi %{{.*}}, %c4_i64 : i64
      // CHECK:      llvm.inline_asm has_side_effects {{.*}}setp.ne.b32 accumulates, 0, 0; wgmma.fence.sync.aligned; add.s64 b, $16, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0,$1,$2,$3,$4,$5,$6,$7}, {$8,$9,$10,$11}, b, accumulates, 1, 1, 0; add.s64 b, $16, 2; setp.eq.b32 accumulates, 0, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0,$1,$2,$3,$4,$5,$6,$7}, {$12,$13,$14,$15}, b, accumulates, 1, 1, 0; wgmma.commit_group.sync.aligned; }"
      // CHECK-SAME: %[[HALF]] :
      // CHECK:      "wgmma.wait_group.sync.aligned 0;"
      %d = moeq_gpu.mma_rs %a, %b part 1 of 2 : !a, !b -> !acc
      %e = moeq_gpu.mma_wait pending 0(%d : !acc) reading(%a : !a)
    }
    llvm.return
  }
}
