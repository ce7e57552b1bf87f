// SwiGLU, GeGLU with erf, and the exponential of a softmax: what needs libdevice
// finds it, or says so.

// REQUIRES: libdevice
// RUN: moeq-opt %s --moeq-to-ptx | FileCheck %s
// RUN: mkdir -p %t.empty
// RUN: not moeq-opt %s --moeq-to-ptx=toolkit=%t.empty 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: .entry activations(
// CHECK-NOT: .extern .func
// CHECK-NOT: __nv_
// CHECK-SAME: ex2.approx

// MISSING: to-ptx-libdevice.mlir:[[@LINE+16]]:{{[0-9]+}}: error: '__nv_{{[a-z]+}}' needs libdevice, which was found neither in CUDA_HOME nor beside the ptxas on PATH nor among the Python packages
// MISSING-NOT: gpu.binary
module {
  gpu.module @kernels {
    llvm.func @activations(%data: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      %one = arith.constant 1.0 : f32
      %half = arith.constant 0.5 : f32
      %rsqrt2 = arith.constant 0.70710677 : f32
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %address = llvm.getelementptr %data[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %gate_address = llvm.getelementptr %address[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %x = llvm.load %address : !llvm.ptr<1> -> f32
      %gate = llvm.load %gate_address : !llvm.ptr<1> -> f32

      // silu(gate) * x
      %negated = arith.negf %gate : f32
      %exp = math.exp %negated : f32
      %denominator = arith.addf %exp, %one : f32
      %silu = arith.divf %gate, %denominator : f32
      %swiglu = arith.mulf %silu, %x : f32

      // gelu(gate) * x
      %scaled = arith.mulf %gate, %rsqrt2 : f32
      %erf = math.erf %scaled : f32
      %shifted = arith.addf %erf, %one : f32
      %halved = arith.mulf %shifted, %half : f32
      %gelu = arith.mulf %halved, %gate : f32
      %geglu = arith.mulf %gelu, %x : f32

      %tanh = math.tanh %geglu : f32
      %sum = arith.addf %swiglu, %tanh : f32
      %softmax = math.exp %sum : f32
      llvm.store %softmax, %address : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
