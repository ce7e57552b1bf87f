// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK: moeq.route logits(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x2xi32>, tensor<?x2xf32>) renormalize -> tensor<?x2xi32>, tensor<?x2xf32>
func.func @softmax(%l: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %0:2 = moeq.route logits(%l : tensor<?x8xf32>) outs(%i, %w : tensor<?x2xi32>, tensor<?x2xf32>)
      score(softmax) renormalize -> tensor<?x2xi32>, tensor<?x2xf32>
  return %0#0, %0#1 : tensor<?x2xi32>, tensor<?x2xf32>
}

// CHECK-LABEL: @grouped
// CHECK: moeq.route logits(%{{.*}} : memref<?x256xbf16>) bias(%{{.*}} : memref<256xf32>) outs(%{{.*}}, %{{.*}} : memref<?x8xi32>, memref<?x8xf32>) score(sigmoid) renormalize scale(2.500000e+00) n_group(8) topk_group(4) group_score(top2_sum)
func.func @grouped(%l: memref<?x256xbf16>, %b: memref<256xf32>, %i: memref<?x8xi32>, %w: memref<?x8xf32>) {
  moeq.route logits(%l : memref<?x256xbf16>) bias(%b : memref<256xf32>)
      outs(%i, %w : memref<?x8xi32>, memref<?x8xf32>) score(sigmoid) renormalize scale(2.5)
      n_group(8) topk_group(4) group_score(top2_sum)
  return
}

// The number of experts may be dynamic, top_k known from either result.
// CHECK-LABEL: @dynamic
// CHECK: moeq.route logits(%{{.*}} : tensor<?x?xf16>) outs(%{{.*}}, %{{.*}} : tensor<?x?xi32>, tensor<?x4xf32>) ->
func.func @dynamic(%l: tensor<?x?xf16>, %i: tensor<?x?xi32>, %w: tensor<?x4xf32>) {
  %0:2 = moeq.route logits(%l : tensor<?x?xf16>) outs(%i, %w : tensor<?x?xi32>, tensor<?x4xf32>) group_score(max)
      -> tensor<?x?xi32>, tensor<?x4xf32>
  return
}
