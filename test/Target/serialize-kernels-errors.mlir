// RUN: moeq-opt %s --split-input-file --verify-diagnostics --moeq-serialize-kernels
// RUN: not moeq-opt %s --split-input-file --moeq-serialize-kernels=format=fatbin 2>&1 | FileCheck %s --check-prefix=FORMAT

// FORMAT: error: expects a format of 'isa' or 'bin', got 'fatbin'

module attributes {gpu.container_module} {
  // expected-error @below {{expects one target, a #nvvm.target}}
  gpu.module @untargeted {
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expects a chip out of sm_80, sm_89, sm_90a, sm_100a, sm_120a, got 'sm_50'}}
  gpu.module @old [#nvvm.target] {
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expects features of the form '+ptx80', got ''}}
  gpu.module @features [#nvvm.target<chip = "sm_90a">] {
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{sm_90a expects a PTX version of at least 80, got 60}}
  gpu.module @version [#nvvm.target<chip = "sm_90a", features = "+ptx60">] {
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @left [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @kernel(%value: i8) attributes {nvvm.kernel, gpu.kernel} {
      %0 = builtin.unrealized_conversion_cast %value : i8 to f8E4M3FN
      // expected-error @below {{'arith.extf' op is left in a kernel that is to become PTX, where only operations of the LLVM dialect are expected}}
      %1 = arith.extf %0 : f8E4M3FN to f32
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @cast [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @kernel(%value: i8) attributes {nvvm.kernel, gpu.kernel} {
      // expected-error @below {{'builtin.unrealized_conversion_cast' op is left in a kernel that is to become PTX: no conversion from 'i8' to 'f8E4M3FN'}}
      %0 = builtin.unrealized_conversion_cast %value : i8 to f8E4M3FN
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @undefined [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @elsewhere()
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      // expected-error @below {{function 'elsewhere' is called and not defined}}
      llvm.call @elsewhere() : () -> ()
      llvm.return
    }
  }
}

// -----

// An instruction that this PTX version does not have: an error, not the end of
// the process.

module attributes {gpu.container_module} {
  // expected-error @below {{LLVM cannot emit this module for sm_90a with +ptx80: Cannot select: intrinsic}}
  gpu.module @select [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel, gpu.kernel} {
      %size = llvm.mlir.constant(128 : i32) : i32
      nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %map, %size
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @spills [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    // expected-error @below {{'llvm.func' op expects 'moeq.max_spill_stores' of 0 to 24 bytes, got 32}}
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel, moeq.max_spill_stores = 32 : i64} {
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{does not translate to valid LLVM IR: immarg value 65536 out of range [128, 129)}}
  gpu.module @invalid_llvm [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel, gpu.kernel} {
      %size = llvm.mlir.constant(65536 : i32) : i32
      nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %map, %size
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @element_type [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @kernel(%data: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      // expected-error @below {{'llvm.getelementptr' op expects a type of the LLVM dialect as 'elem_type', got 'memref<4xf32>'}}
      %0 = llvm.getelementptr %data[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, memref<4xf32>
      llvm.return
    }
  }
}
