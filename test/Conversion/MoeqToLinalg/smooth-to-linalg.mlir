// RUN: moeq-opt %s --moeq-to-linalg --canonicalize | FileCheck %s

// One expert's maxima of a channel, over the rows of its weight.
// CHECK-LABEL: func @smooth
// CHECK-SAME:    (%[[A:.*]]: memref<8x64xf32>, %[[W:.*]]: memref<8x96x64xbf16>, %[[S:.*]]: memref<8x64xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[S]]
// CHECK:           %[[E:.*]] = linalg.index 0
// CHECK:           %[[K:.*]] = linalg.index 1
// CHECK:           %[[END:.*]] = arith.addi %[[E]], %c1
// CHECK:           scf.for %[[I:.*]] = %[[E]] to %[[END]]
// CHECK:             %[[ROW:.*]] = arith.minui %[[I]], %c7
// CHECK:             memref.load %[[A]][%[[ROW]], %[[K]]]
// CHECK:             scf.for %[[N:.*]] = %c0 to %c96
// CHECK:               memref.load %[[W]][%[[I]], %[[N]], %[[K]]]
// CHECK:               arith.maxui
func.func @smooth(%a: memref<8x64xf32>, %w: memref<8x96x64xbf16>, %s: memref<8x64xf32>) {
  moeq.smooth amax(%a : memref<8x64xf32>) weight(%w : memref<8x96x64xbf16>) outs(%s : memref<8x64xf32>)
  return
}

// Those of all experts.
// CHECK-LABEL: func @shared
// CHECK:         linalg.generic
// CHECK:           scf.for %{{.*}} = %c0 to %c8
func.func @shared(%a: memref<1x64xf32>, %w: memref<8x96x64xf32>, %s: memref<1x64xf32>) {
  moeq.smooth amax(%a : memref<1x64xf32>) weight(%w : memref<8x96x64xf32>) outs(%s : memref<1x64xf32>) power_of_two
  return
}
