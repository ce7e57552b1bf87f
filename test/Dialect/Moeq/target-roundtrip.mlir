// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK: module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = 132>}
module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = 132>} {
  // CHECK: @chip() attributes {t = #moeq.target<chip = "sm_90a">}
  func.func private @chip() attributes {t = #moeq.target<chip = "sm_90a", sms = 0>}
  // CHECK: @all() attributes {t = #moeq.target<chip = "sm_89", sms = 128, shared_memory = 101376>}
  func.func private @all() attributes {t = #moeq.target<chip = "sm_89", shared_memory = 101376, sms = 128>}
}
