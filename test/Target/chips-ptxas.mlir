// A kernel for each chip of the table goes through ptxas.

// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_80 format=bin' | FileCheck %s -DCHIP=sm_80 -DPTX=80
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_89 format=bin' | FileCheck %s -DCHIP=sm_89 -DPTX=84
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_90a format=bin' | FileCheck %s -DCHIP=sm_90a -DPTX=80
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_100a format=bin' | FileCheck %s -DCHIP=sm_100a -DPTX=86
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_120a format=bin' | FileCheck %s -DCHIP=sm_120a -DPTX=87
// RUN: moeq-opt %s --moeq-to-ptx='chip=sm_90a ptx-version=90 format=bin' | FileCheck %s -DCHIP=sm_90a -DPTX=90

// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[PTX]]">
// CHECK-SAME: bin = "\7FELF
module {
  gpu.module @kernels {
    llvm.func @reduce(%data: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      %all = arith.constant -1 : i32
      %clamp = arith.constant 31 : i32
      %lane = arith.constant 16 : i32
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %address = llvm.getelementptr %data[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %value = llvm.load %address : !llvm.ptr<1> -> f32
      %other = nvvm.shfl.sync bfly %all, %value, %lane, %clamp : f32 -> f32
      %max = arith.maximumf %value, %other : f32
      llvm.store %max, %address : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
