// Upstream's ops take scaled tensors as they are.
// RUN: moeq-opt %s --canonicalize | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt --canonicalize | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt --canonicalize | FileCheck %s

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// CHECK-LABEL: @expert
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 256, 512] [1, 1, 1] : tensor<8x256x512x!scaled> to tensor<256x512x!scaled>
func.func @expert(%w: tensor<8x256x512x!w>, %e: index) -> tensor<256x512x!w> {
  %0 = tensor.extract_slice %w[%e, 0, 0] [1, 256, 512] [1, 1, 1] : tensor<8x256x512x!w> to tensor<256x512x!w>
  return %0 : tensor<256x512x!w>
}

// CHECK-LABEL: @loop
// CHECK: scf.for
// CHECK: tensor.insert_slice
func.func @loop(%w: tensor<?x512x!w>, %n: index) -> tensor<?x512x!w> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %empty = tensor.empty(%n) : tensor<?x512x!w>
  %0 = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %empty) -> tensor<?x512x!w> {
    %1 = tensor.extract_slice %w[%i, 0] [128, 512] [1, 1] : tensor<?x512x!w> to tensor<128x512x!w>
    %2 = tensor.insert_slice %1 into %acc[%i, 0] [128, 512] [1, 1] : tensor<128x512x!w> into tensor<?x512x!w>
    scf.yield %2 : tensor<?x512x!w>
  }
  return %0 : tensor<?x512x!w>
}

// CHECK-LABEL: @select
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x512x!scaled>
func.func @select(%c: i1, %a: tensor<4x512x!w>, %b: tensor<4x512x!w>) -> tensor<4x512x!w> {
  %0 = scf.if %c -> tensor<4x512x!w> {
    scf.yield %a : tensor<4x512x!w>
  } else {
    scf.yield %b : tensor<4x512x!w>
  }
  return %0 : tensor<4x512x!w>
}
