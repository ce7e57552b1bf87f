// RUN: moeq-opt %s --moeq-to-ptx | FileCheck %s
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_100a ptx-version=88 opt-level=2' | FileCheck %s --check-prefix=CHIP

// Operations of arith, memref, scf and gpu become PTX with line tables and
// without the `debug` target; a map by value keeps its place and alignment.

// CHECK: gpu.binary @kernels
// CHECK-SAME: .version 8.0\0A.target sm_90a\0A
// CHECK-SAME: .visible .entry scale(
// CHECK-SAME: .param .align 64 .b8 scale_param_0[128]
// CHECK-SAME: .loc
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: .file
// CHECK-SAME: to-ptx.mlir

// CHIP: #nvvm.target<chip = "sm_100a", features = "+ptx88">
// CHIP-SAME: .version 8.8\0A.target sm_100a\0A
module {
  gpu.module @kernels {
    llvm.func @scale(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i32},
                     %pointer: !llvm.ptr<1>, %size: i64) attributes {nvvm.kernel, gpu.kernel} {
      %three = arith.constant 3.0 : f32
      %stop = arith.index_cast %size : i64 to index
      %thread = gpu.thread_id x
      %step = gpu.block_dim x
      scf.for %i = %thread to %stop step %step {
        %index = arith.index_cast %i : index to i64
        %address = llvm.getelementptr %pointer[%index] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %value = llvm.load %address : !llvm.ptr<1> -> f32
        %scaled = arith.mulf %value, %three : f32
        llvm.store %scaled, %address : f32, !llvm.ptr<1>
      }
      llvm.return
    }
  }
}
