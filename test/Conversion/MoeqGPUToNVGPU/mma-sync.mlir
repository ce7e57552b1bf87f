// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu))' --split-input-file | FileCheck %s

// 64 rows, 24 columns and 128 bytes of K: 4 steps, each with an instruction for
// 8 columns and 32 bytes. The last 8 columns are loaded by themselves.

!a = !moeq_gpu.tile<64x128xi8>
!b = !moeq_gpu.tile<24x128xi8>
!acc = !moeq_gpu.fragment<64x24xi32>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @integers
  llvm.func @integers(%x: !llvm.ptr<1>) {
    %a = moeq_gpu.alloc : !a
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles consumers(1, 128) {
    ^bb0(%warpgroup: i32):
      %zero = moeq_gpu.zero : !acc
      // CHECK:         nvvm.ldmatrix {{.*}} num = 4
      // CHECK:         nvvm.ldmatrix {{.*}} num = 4
      // CHECK-COUNT-2: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}multiplicandAPtxType = #nvvm.mma_type<s8>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
      // CHECK:         nvvm.ldmatrix {{.*}} num = 2
      // CHECK-COUNT-10: nvvm.mma.sync
      // CHECK-NOT:     nvvm.mma.sync
      %d = moeq_gpu.mma_sync %a, %b, %zero : !a, !b -> !acc
    }
    llvm.return
  }
}

// -----

// 8-bit floats, by instructions of the chip.

!a = !moeq_gpu.tile<64x128xf8E4M3FN>
!b = !moeq_gpu.tile<8x128xf8E5M2>
!acc = !moeq_gpu.fragment<64x8xf32>
gpu.module @kernels [#nvvm.target<chip = "sm_89", features = "+ptx84">] {
  // CHECK-LABEL: llvm.func @float8
  llvm.func @float8(%x: !llvm.ptr<1>) {
    %a = moeq_gpu.alloc : !a
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles consumers(1, 128) {
    ^bb0(%warpgroup: i32):
      %zero = moeq_gpu.zero : !acc
      // CHECK-COUNT-4: llvm.inline_asm has_side_effects asm_dialect = att "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
      // CHECK-NOT:     llvm.inline_asm
      %d = moeq_gpu.mma_sync %a, %b, %zero : !a, !b -> !acc
    }
    llvm.return
  }
}

// -----

// Widened: two instructions for 32 elements. Those of e5m2 are f16 as soon as
// each is the upper byte.

!a = !moeq_gpu.tile<64x128xf8E4M3FN>
!b = !moeq_gpu.tile<8x128xf8E5M2>
!acc = !moeq_gpu.fragment<64x8xf32>
gpu.module @kernels [#nvvm.target<chip = "sm_80", features = "+ptx80">] {
  // CHECK-LABEL: llvm.func @widened
  llvm.func @widened(%x: !llvm.ptr<1>) {
    %a = moeq_gpu.alloc : !a
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles consumers(1, 128) {
    ^bb0(%warpgroup: i32):
      %zero = moeq_gpu.zero : !acc
      // CHECK:     %[[A:.*]] = llvm.extractvalue %{{.*}}[0] : !llvm.struct<(i32, i32, i32, i32)>
      // CHECK:     nvvm.prmt
      // CHECK:     arith.mulf %{{.*}} : vector<2xf16>
      // CHECK:     nvvm.ldmatrix {{.*}} num = 2
      // CHECK:     %[[B:.*]] = nvvm.prmt
      // CHECK:     %[[WIDE:.*]] = llvm.bitcast %[[B]] : i32 to vector<2xf16>
      // CHECK:     nvvm.mma.sync A[{{.*}}] B[%[[WIDE]], %{{[^]]*}}] {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
      // CHECK-COUNT-7: nvvm.mma.sync
      // CHECK-NOT: nvvm.mma.sync
      // CHECK-NOT: llvm.inline_asm
      %d = moeq_gpu.mma_sync %a, %b, %zero : !a, !b -> !acc
    }
    llvm.return
  }
}

// -----

// An older PTX does not have them.

!a = !moeq_gpu.tile<64x128xf8E4M3FN>
!b = !moeq_gpu.tile<8x128xf8E4M3FN>
!acc = !moeq_gpu.fragment<64x8xf32>
gpu.module @kernels [#nvvm.target<chip = "sm_89", features = "+ptx83">] {
  // CHECK-LABEL: llvm.func @older
  llvm.func @older(%x: !llvm.ptr<1>) {
    %a = moeq_gpu.alloc : !a
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles consumers(1, 128) {
    ^bb0(%warpgroup: i32):
      %zero = moeq_gpu.zero : !acc
      // CHECK-COUNT-8: nvvm.mma.sync
      // CHECK-NOT: llvm.inline_asm
      %d = moeq_gpu.mma_sync %a, %b, %zero : !a, !b -> !acc
    }
    llvm.return
  }
}

// -----

// A in registers: 64 rows of weights, whose four registers a step come as they
// are. Only B is loaded, 16 columns at a time: 4 steps of 2 instructions.

!b = !moeq_gpu.tile<16x64xbf16>
!acc = !moeq_gpu.fragment<64x16xf32>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @registers
  llvm.func @registers(%x: !llvm.ptr<1>) {
    %w = moeq_gpu.alloc : !moeq_gpu.vector<4096xi8>
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles consumers(1, 128) {
    ^bb0(%warpgroup: i32):
      %zero = moeq_gpu.zero : !acc
      %a = moeq_gpu.dequant %w as i8 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
      // CHECK-NOT:     nvvm.ldmatrix
      // CHECK:         nvvm.ldmatrix {{.*}} num = 4
      // CHECK:         nvvm.mma.sync A[%[[A:[0-9]+, %[0-9]+, %[0-9]+, %[0-9]+]]] {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
      // CHECK:         nvvm.mma.sync A[%[[A]]]
      // CHECK-NOT:     nvvm.mma.sync A[%[[A]]]
      // CHECK:         nvvm.ldmatrix {{.*}} num = 4
      // CHECK-COUNT-6: nvvm.mma.sync
      // CHECK-NOT:     nvvm.mma.sync
      %d = moeq_gpu.mma_sync %a, %b, %zero : !moeq_gpu.operand<64x64xbf16>, !b -> !acc
    }
    llvm.return
  }
}

// -----

// The second half of the columns: 2 steps of 2 instructions, with as many of
// the registers, from the chunk of B that they start with.

!b = !moeq_gpu.tile<16x64xbf16>
!acc = !moeq_gpu.fragment<64x16xf32>
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @part
  llvm.func @part(%x: !llvm.ptr<1>) {
    %w = moeq_gpu.alloc : !moeq_gpu.vector<4096xi8>
    %b = moeq_gpu.alloc : !b
    moeq_gpu.roles consumers(1, 128) {
    ^bb0(%warpgroup: i32):
      %zero = moeq_gpu.zero : !acc
      %a = moeq_gpu.dequant %w as i8 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
      // CHECK:         arith.addi %{{.*}}, %c4_i32
      // CHECK:         nvvm.ldmatrix {{.*}} num = 4
      // CHECK-COUNT-2: nvvm.mma.sync
      // CHECK:         arith.addi %{{.*}}, %c6_i32
      // CHECK:         nvvm.ldmatrix {{.*}} num = 4
      // CHECK-COUNT-2: nvvm.mma.sync
      // CHECK-NOT:     nvvm.mma.sync
      %d = moeq_gpu.mma_sync %a, %b, %zero part 1 of 2 : !moeq_gpu.operand<64x64xbf16>, !b -> !acc
    }
    llvm.return
  }
}
