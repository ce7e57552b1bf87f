// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(convert-moeq-gpu-to-nvgpu))' --split-input-file --verify-diagnostics

gpu.module @kernels {
  llvm.func @two_roles() {
    moeq_gpu.roles producer(40) {
    } consumers(2, 232) {
    ^bb0(%w: i32):
    }
    // expected-error @+1 {{'moeq_gpu.roles' op expects to be the only one of its kernel}}
    moeq_gpu.roles producer(40) {
    } consumers(2, 232) {
    ^bb0(%w: i32):
    }
    llvm.return
  }
}
