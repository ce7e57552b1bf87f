// RUN: moeq-opt %s --moeq-check-lowered | FileCheck %s

// CHECK: llvm.func @nothing_else
llvm.func @nothing_else(%x: i32) -> i32 {
  %0 = llvm.add %x, %x : i32
  llvm.return %0 : i32
}
