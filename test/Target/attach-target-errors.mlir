// RUN: not moeq-opt %s --moeq-attach-target='chip=sm_999' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not moeq-opt %s --moeq-attach-target='chip=sm_89' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not moeq-opt %s --moeq-attach-target='ptx-version=78' 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not moeq-opt %s --moeq-attach-target='ptx-version=999' 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: not moeq-opt %s --moeq-attach-target='opt-level=4' 2>&1 | FileCheck %s --check-prefix=LEVEL

// CHIP: attach-target-errors.mlir:[[@LINE+5]]:1: error: expects a chip out of sm_80, sm_89, sm_90a, sm_100a, sm_120a, got 'sm_999'
// OTHER: [[@LINE+4]]:1: error: expects the chip that the module names, "sm_90a", got 'sm_89'
// OLD: [[@LINE+3]]:1: error: sm_90a expects a PTX version of at least 80, got 78
// NEW: [[@LINE+2]]:1: error: expects a PTX version out of 70, 71, {{.*}} 88, 90, got 999
// LEVEL: [[@LINE+1]]:1: error: expects an optimization level of 0 to 3, got 4
module attributes {moeq.target = #moeq.target<chip = "sm_90a">} {
}
