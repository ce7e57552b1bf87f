// RUN: moeq-opt %s --moeq-check-lowered --verify-diagnostics

llvm.func @left(%x: i8) -> i32 {
  // The op is named, not the cast that keeps its type.
  %0 = builtin.unrealized_conversion_cast %x : i8 to f8E4M3FN
  // expected-error @+1 {{expects nothing but the LLVM dialect, got 'arith.fptosi'}}
  %1 = arith.fptosi %0 : f8E4M3FN to i32
  llvm.return %1 : i32
}
