// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-DAG: = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
// CHECK-DAG: = !moeq.scaled<f8E5M2, block = [*, *], scale = bf16>
// CHECK-DAG: = !moeq.scaled<i8, block = [128], scale = f16>
// CHECK-DAG: = !moeq.scaled<i4, block = [32], scale = f32>
// CHECK-DAG: = !moeq.scaled<ui4, block = [64], scale = bf16>
// CHECK-DAG: = !moeq.scaled<f4E2M1FN, block = [16], scale = f8E4M3FN>
func.func private @values() attributes {t = [
  !moeq.scaled<f8E4M3FN, block = [*], scale = f32>,
  !moeq.scaled<f8E5M2, block = [*, *], scale = bf16>,
  !moeq.scaled<i8, block = [128], scale = f16>,
  !moeq.scaled<i4, block = [32], scale = f32>,
  !moeq.scaled<ui4, block = [64], scale = bf16>,
  !moeq.scaled<f4E2M1FN, block = [16], scale = f8E4M3FN>]}

// Leading ones of a block say nothing; parameters come in any order.
// CHECK-DAG: ![[BLOCK:.*]] = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
// CHECK-DAG: = !moeq.scaled<f8E4M3FN, block = [*, 1], scale = f32>
// CHECK-DAG: = !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f8E8M0FNU>
func.func private @block() attributes {t = [
  !moeq.scaled<f8E4M3FN, block = [1, 128, 128], scale = f32>,
  !moeq.scaled<f8E4M3FN, scale = f32, block = [128, 128]>,
  !moeq.scaled<f8E4M3FN, block = [*, 1], scale = f32>,
  !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f8E8M0FNU>]}

// CHECK-DAG: = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8>
// CHECK-DAG: = !moeq.scaled<i8, block = [*], scale = f32, zero = f32>
func.func private @zero() attributes {t = [
  !moeq.scaled<ui4, block = [128], zero = i8, scale = bf16>,
  !moeq.scaled<i8, block = [*], scale = f32, zero = f32>]}

// CHECK-DAG: ![[ROW_MAJOR:.*]] = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
// CHECK-DAG: ![[MN_MAJOR:.*]] = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
// CHECK-DAG: ![[PADDED:.*]] = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = padded<128x4>>
// CHECK-DAG: ![[SWIZZLED:.*]] = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>
func.func private @layout() attributes {t = [
  !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = row_major>,
  !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>,
  !moeq.scaled<f8E4M3FN, layout = padded<128x4>, block = [32], scale = f8E8M0FNU>,
  !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>]}

// CHECK: @block() attributes {t = [![[BLOCK]], ![[BLOCK]], !
// CHECK: @layout() attributes {t = [![[ROW_MAJOR]], ![[MN_MAJOR]], ![[PADDED]], ![[SWIZZLED]]]}
