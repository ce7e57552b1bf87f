// RUN: moeq-opt %s --moeq-serialize-kernels | FileCheck %s

// CHECK-NOT: gpu.module
// CHECK: gpu.binary @kernels
// CHECK-SAME: #gpu.object<#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">, properties = {O = 3 : i32}
// CHECK-SAME: kernels = <[#gpu.kernel_metadata<"double", !llvm.func<void (ptr<1>)>
// CHECK-SAME: assembly = "
// CHECK-SAME: .version 8.0
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .visible .entry double(
// CHECK-SAME: .maxntid 128
// CHECK-SAME: add.rn.f32
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    llvm.func @double(%data: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel, nvvm.maxntid = array<i32: 128>} {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %element = llvm.getelementptr %data[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %value = llvm.load %element : !llvm.ptr<1> -> f32
      %sum = llvm.fadd %value, %value : f32
      llvm.store %sum, %element : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
