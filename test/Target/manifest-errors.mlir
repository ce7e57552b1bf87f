// RUN: moeq-opt %s --split-input-file --verify-diagnostics --moeq-print-manifest

// expected-error @below {{expects 'moeq.target' on the module}}
module {
}

// -----

// expected-error @below {{expects a chip out of sm_80, sm_89, sm_90a, sm_100a, sm_120a, got 'sm_1'}}
module attributes {moeq.target = #moeq.target<chip = "sm_1">} {
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  // expected-error @below {{expects one block for a manifest, got 2}}
  func.func @blocks() {
    cf.br ^bb1
  ^bb1:
    return
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  // expected-error @below {{expects memrefs as arguments and results for a manifest, got 'tensor<4xf32>'}}
  func.func @tensor(%x: tensor<4xf32>) {
    return
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  // expected-error @below {{has no form in a manifest: expects contiguous buffers of integers or floats}}
  func.func @strided(%x: memref<4x4xf32, strided<[8, 1]>>) {
    return
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  // expected-error @below {{expects buffers of different names, got 'x' twice}}
  func.func @names(%x: memref<4xf32> {moeq.name = "x"}, %y: memref<4xf32> {moeq.name = "x"}) {
    return
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @view(%x: memref<4xf32>) -> memref<2xf32> {
    %0 = memref.subview %x[0] [2] [1] : memref<4xf32> to memref<2xf32>
    // expected-error @below {{expects result 0 to be an allocation or an argument of the function}}
    return %0 : memref<2xf32>
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @twice() -> (memref<4xf32>, memref<4xf32>) {
    %0 = memref.alloc() : memref<4xf32>
    // expected-error @below {{expects each buffer once, got it again as result 1}}
    return %0, %0 : memref<4xf32>, memref<4xf32>
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @work(%x: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'memref.load' op has no form in a manifest: expects launches of kernels and arithmetic of sizes}}
    %0 = memref.load %x[%c0] : memref<4xf32>
    return
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @loop(%x: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op has no form in a manifest: expects launches of kernels and arithmetic of sizes}}
    scf.for %i = %c0 to %c1 step %c1 {
      func.call @work() : () -> ()
    }
    return
  }
  func.func private @work()
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @size(%x: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %rows = memref.dim %x, %c0 : memref<?xf32>
    // expected-error @below {{'arith.xori' op has no form in a manifest: expects arithmetic of sizes}}
    %odd = arith.xori %rows, %c1 : index
    gpu.launch_func @kernels::@kernel blocks in (%odd, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @buffer(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %z, %c0 : memref<?xf32>
    %first = arith.cmpi eq, %rows, %c0 : index
    // expected-error @below {{'arith.select' op has no form in a manifest: expects views of arguments and of allocations}}
    %0 = arith.select %first, %x, %y : memref<4xf32>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%0 : memref<4xf32>)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel(%x: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @dimension(%x: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'memref.dim' op has no form in a manifest: expects a constant dimension within the rank}}
    %rows = memref.dim %x, %c1 : memref<?xf32>
    gpu.launch_func @kernels::@kernel blocks in (%rows, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @count(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects as many operands as the kernel has parameters, 2, got 1}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @type(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %n = arith.constant 1 : i64
    // expected-error @below {{expects an operand of the kernel's type, 'i32', got 'i64'}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i64)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel(%n: i32) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @float(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    %n = arith.constant 1.0 : f32
    // expected-error @below {{has no form in a manifest: expects tensor maps, memrefs, i32, i64 and index as operands, got 'f32'}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : f32)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel(%n: f32) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @async() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects launches in order, got an asynchronous one}}
    %token = gpu.launch_func async @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  gpu.module @first {
    // expected-note @below {{the first is here}}
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
  gpu.module @second {
    // expected-error @below {{expects kernels of different names, got 'kernel' twice}}
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

// What is used twice is written twice: sizes that would grow without end.

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @exponential(%x: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'memref.dim' op has no form in a manifest: expects sizes of fewer operations}}
    %0 = memref.dim %x, %c0 : memref<?xf32>
    %1 = arith.addi %0, %0 : index
    %2 = arith.addi %1, %1 : index
    %3 = arith.addi %2, %2 : index
    %4 = arith.addi %3, %3 : index
    %5 = arith.addi %4, %4 : index
    %6 = arith.addi %5, %5 : index
    %7 = arith.addi %6, %6 : index
    %8 = arith.addi %7, %7 : index
    %9 = arith.addi %8, %8 : index
    %10 = arith.addi %9, %9 : index
    %11 = arith.addi %10, %10 : index
    %12 = arith.addi %11, %11 : index
    %13 = arith.addi %12, %12 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %14 : index
    %16 = arith.addi %15, %15 : index
    %17 = arith.addi %16, %16 : index
    %18 = arith.addi %17, %17 : index
    %19 = arith.addi %18, %18 : index
    %20 = arith.addi %19, %19 : index
    gpu.launch_func @kernels::@kernel blocks in (%20, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @no_return() {
    // expected-error @below {{expects a return here}}
    llvm.unreachable
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @asynchronous(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{has no form in a manifest: expects launches in order, got an asynchronous one}}
    %token = gpu.launch_func async @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel(%x: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @no_kernel(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects a kernel, got @kernels::@kernel}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, "PTX">]
}

// -----

module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  func.func @selected_map(%x: memref<64x128xi8>) {
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %a = moeq_gpu.encode_tensor_map %x : memref<64x128xi8> -> !moeq_gpu.tensor_map<64x128xi8>
    %b = arith.select %true, %a, %a : !moeq_gpu.tensor_map<64x128xi8>
    // expected-error @below {{expects tensor maps that moeq_gpu.encode_tensor_map makes in the function}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : !moeq_gpu.tensor_map<64x128xi8>)
    return
  }
  gpu.module @kernels {
    llvm.func @kernel(%map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}
