// RUN: moeq-opt %s --moeq-to-linalg | FileCheck %s

// CHECK-LABEL: func @gate_first
// CHECK-SAME:    (%[[X:.*]]: memref<?x?xbf16>, %[[W:.*]]: memref<?xf32>
// CHECK:         linalg.generic
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK:           %[[UP:.*]] = arith.addi %[[COLUMN]], %{{.*}} : index
// CHECK:           memref.load %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK:           memref.load %[[X]][%[[ROW]], %[[UP]]]
// CHECK-NOT:       math.exp
// CHECK:           memref.load %[[W]][%[[ROW]]]
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
func.func @gate_first(%x: memref<?x?xbf16>, %w: memref<?xf32>, %y: memref<?x?xbf16>) {
  moeq.activate input(%x : memref<?x?xbf16>) row_weight(%w : memref<?xf32>)
      outs(%y : memref<?x?xbf16>) function(swiglu)
  return
}

// CHECK-LABEL: func @interleaved
// CHECK:           %[[GATE:.*]] = arith.muli %{{.*}}, %c2
// CHECK:           %[[UP:.*]] = arith.addi %[[GATE]], %c1
// CHECK:           memref.load %{{.*}}[%{{.*}}, %[[GATE]]]
// CHECK:           memref.load %{{.*}}[%{{.*}}, %[[UP]]]
func.func @interleaved(%x: memref<?x16xf32>, %y: memref<?x8xf32>) {
  moeq.activate input(%x : memref<?x16xf32>) outs(%y : memref<?x8xf32>)
      function(clamped_swiglu) gate_layout(interleaved)
  return
}

// CHECK-LABEL: func @approx
// CHECK:           math.exp2 %{{.*}} fastmath<afn>
// CHECK:           arith.divf %{{.*}} fastmath<arcp,afn>
func.func @approx(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  moeq.activate input(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) function(silu) exp(approx)
  return
}
