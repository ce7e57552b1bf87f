// RUN: moeq-opt %s -moeq-select-config | FileCheck %s
// RUN: moeq-opt %s -moeq-select-config=expected-rows=8 | FileCheck %s --check-prefix=FEW

// Packed weights are the first operand.
// CHECK-LABEL: func @int8(
// CHECK:       moeq.grouped_matmul {{.*}} config(<tile = [256, 128], {{.*}} consumers = 2, schedule = dynamic, swap_ab = true
// FEW-LABEL:   func @int8(
// FEW:         config(<tile = [{{32|64}}, {{.*}} swap_ab = true
!w = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @int8(%a: tensor<?x4096xbf16>, %w: tensor<8x14336x4096x!w>, %offsets: tensor<9xi32>,
                %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%w : tensor<8x14336x4096x!w>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// Beside their sums there are promoted ones, for which wide tiles leave no registers.
// CHECK-LABEL: func @int4(
// CHECK:       config(<tile = [128, 128]
!g = !moeq.scaled<i4, block = [128], scale = bf16, packing = fragments>
func.func @int4(%a: tensor<?x4096xbf16>, %w: tensor<8x14336x4096x!g>, %offsets: tensor<9xi32>,
                %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%w : tensor<8x14336x4096x!g>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// Rows with E8M0 scales are widened, also where there is a config.
// CHECK-LABEL: func @mxfp8(
// CHECK-SAME:    %[[A:[^:]*]]:
// CHECK:       %[[INIT:.*]] = tensor.empty(%{{.*}}) : tensor<?x4096xbf16>
// CHECK:       %[[WIDE:.*]] = moeq.dequantize input(%[[A]] : {{.*}}) outs(%[[INIT]] : tensor<?x4096xbf16>)
// CHECK:       moeq.grouped_matmul lhs(%[[WIDE]] : tensor<?x4096xbf16>) {{.*}} config(<tile = [128, 128]
!x = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!m = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, packing = fragments>
func.func @mxfp8(%a: tensor<?x4096x!x>, %w: tensor<8x14336x4096x!m>, %offsets: tensor<9xi32>,
                 %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!x>) rhs(%w : tensor<8x14336x4096x!m>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>)
      config(<tile = [128, 128], stages = 6, schedule = dynamic, swap_ab = true>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}
