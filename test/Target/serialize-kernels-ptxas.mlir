// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-serialize-kernels=format=bin | FileCheck %s

// CHECK: gpu.binary @kernels
// CHECK-SAME: #gpu.kernel_metadata<"double"
// CHECK-SAME: metadata = {registers = {{[0-9]+}} : i64, shared_memory = 512 : i64, spill_stores = 0 : i64}
// CHECK-SAME: bin = "\7FELF
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    llvm.mlir.global internal @buffer() {addr_space = 3 : i32} : !llvm.array<128 x f32>
    llvm.func @double(%data: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      %buffer = llvm.mlir.addressof @buffer : !llvm.ptr<3>
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %buffer[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %element = llvm.getelementptr %data[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %value = llvm.load %element : !llvm.ptr<1> -> f32
      llvm.store volatile %value, %slot : f32, !llvm.ptr<3>
      nvvm.barrier0
      %other = llvm.load volatile %slot : !llvm.ptr<3> -> f32
      llvm.store %other, %element : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
