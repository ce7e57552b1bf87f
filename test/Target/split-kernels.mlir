// RUN: moeq-opt %s --moeq-split-kernels | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @entry
  // CHECK: gpu.launch_func @kernels_first::@first
  // CHECK: gpu.launch_func @kernels_second::@second
  // CHECK: gpu.launch_func @alone::@only
  func.func @entry(%arg: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%arg : memref<?xf32>)
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%arg : memref<?xf32>)
    gpu.launch_func @alone::@only blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%arg : memref<?xf32>)
    return
  }

  // CHECK: gpu.module @kernels_first {
  // CHECK-NOT: @unused
  // CHECK: memref.global "private" @table
  // CHECK: func.func private @helper
  // CHECK: llvm.func @first
  // CHECK-NOT: @second
  // CHECK: gpu.module @kernels_second {
  // CHECK-NOT: @table
  // CHECK-NOT: @helper
  // CHECK: llvm.func @second
  gpu.module @kernels {
    memref.global "private" @table : memref<4xf32, 3>
    memref.global "private" @unused : memref<4xf32, 3>
    func.func private @helper() {
      %0 = memref.get_global @table : memref<4xf32, 3>
      return
    }
    llvm.func @first(%arg: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      func.call @helper() : () -> ()
      llvm.return
    }
    llvm.func @second(%arg: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }

  // CHECK: gpu.module @alone {
  gpu.module @alone {
    llvm.func @only(%arg: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}
