// RUN: moeq-opt %s --split-input-file --moeq-attach-target | FileCheck %s
// RUN: moeq-opt %s --split-input-file --moeq-attach-target='ptx-version=86 opt-level=1' | FileCheck %s --check-prefix=OPTIONS

// CHECK: module attributes {moeq.target = #moeq.target<chip = "sm_90a">}
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// OPTIONS: gpu.module @kernels [#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx86">]
module {
  gpu.module @kernels {
  }
}

// -----

// The module's own chip is kept, with what it says of it.

// CHECK: module attributes {moeq.target = #moeq.target<chip = "sm_89", sms = 58>}
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_89", features = "+ptx84">]
module attributes {moeq.target = #moeq.target<chip = "sm_89", sms = 58>} {
  gpu.module @kernels [#nvvm.target<chip = "sm_50">] {
  }
}
