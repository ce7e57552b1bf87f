// Conversions of fp8 are expanded in kernels too; no chip has all of them.

// RUN: moeq-opt %s --moeq-to-ptx | FileCheck %s

// CHECK: .entry quantize(
// CHECK-SAME: st.global.b8
module {
  gpu.module @kernels {
    llvm.func @quantize(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      %value = llvm.load %from : !llvm.ptr<1> -> f32
      %rounded = arith.truncf %value : f32 to f8E4M3FN
      %bits = arith.bitcast %rounded : f8E4M3FN to i8
      llvm.store %bits, %to : i8, !llvm.ptr<1>
      llvm.return
    }
  }
}
