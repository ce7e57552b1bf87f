// RUN: moeq-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @same
// CHECK-SAME:  %[[W:[^:]*]]: tensor<8x128x4xf32>
// CHECK-NEXT:  return %[[W]]
func.func @same(%w: tensor<8x128x4xf32>, %p: tensor<8x128x4xf32>) -> tensor<8x128x4xf32> {
  %0 = moeq.prepack input(%w : tensor<8x128x4xf32>) outs(%p : tensor<8x128x4xf32>) from(up_first) to(up_first) -> tensor<8x128x4xf32>
  return %0 : tensor<8x128x4xf32>
}

// There and back again.
// CHECK-LABEL: @inverse
// CHECK-SAME:  %[[W:[^:]*]]: tensor<8x128x4xf32>
// CHECK-NEXT:  return %[[W]]
func.func @inverse(%w: tensor<8x128x4xf32>, %p: tensor<8x128x4xf32>) -> tensor<8x128x4xf32> {
  %0 = moeq.prepack input(%w : tensor<8x128x4xf32>) outs(%p : tensor<8x128x4xf32>) from(gate_first) to(interleaved_64) -> tensor<8x128x4xf32>
  %1 = moeq.prepack input(%0 : tensor<8x128x4xf32>) outs(%p : tensor<8x128x4xf32>) from(interleaved_64) to(gate_first) -> tensor<8x128x4xf32>
  return %1 : tensor<8x128x4xf32>
}

// CHECK-LABEL: @bias
// CHECK-NEXT:  %[[C:.*]] = arith.constant dense<{{\[\[}}1, 4, 2, 5, 3, 6], [7, 10, 8, 11, 9, 12]]> : tensor<2x6xi8>
// CHECK-NEXT:  return %[[C]]
func.func @bias(%p: tensor<2x6xi8>) -> tensor<2x6xi8> {
  %b = arith.constant dense<[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]> : tensor<2x6xi8>
  %0 = moeq.prepack input(%b : tensor<2x6xi8>) outs(%p : tensor<2x6xi8>) from(gate_first) to(interleaved) -> tensor<2x6xi8>
  return %0 : tensor<2x6xi8>
}

// Values move, and the scales of columns; a scale of all columns does not.
!c = !moeq.scaled<i8, block = [*], scale = f32>
!t = !moeq.scaled<i8, block = [*, *], scale = f32>

// CHECK-LABEL: @packed
// CHECK-DAG:   %[[V:.*]] = arith.constant dense<{{\[\[\[}}1, 2], [5, 6], [3, 4], [7, 8]]]> : tensor<1x4x2xi8>
// CHECK-DAG:   %[[S:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00], [3.000000e+00], [2.000000e+00], [4.000000e+00]]]> : tensor<1x4x1xf32>
// CHECK-DAG:   %[[ONE:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1x1xf32>
// CHECK:       %[[P:.*]] = moeq.pack %[[V]], %[[S]]
// CHECK:       %[[Q:.*]] = moeq.pack %[[V]], %[[ONE]]
// CHECK:       return %[[P]], %[[Q]]
func.func @packed(%p: tensor<1x4x2x!c>, %q: tensor<1x4x2x!t>) -> (tensor<1x4x2x!c>, tensor<1x4x2x!t>) {
  %v = arith.constant dense<[[[1, 2], [3, 4], [5, 6], [7, 8]]]> : tensor<1x4x2xi8>
  %s = arith.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %one = arith.constant dense<2.0> : tensor<1x1x1xf32>
  %c = moeq.pack %v, %s : tensor<1x4x2xi8>, tensor<1x4x1xf32> -> tensor<1x4x2x!c>
  %t = moeq.pack %v, %one : tensor<1x4x2xi8>, tensor<1x1x1xf32> -> tensor<1x4x2x!t>
  %0 = moeq.prepack input(%c : tensor<1x4x2x!c>) outs(%p : tensor<1x4x2x!c>) from(gate_first) to(interleaved) -> tensor<1x4x2x!c>
  %1 = moeq.prepack input(%t : tensor<1x4x2x!t>) outs(%q : tensor<1x4x2x!t>) from(gate_first) to(interleaved) -> tensor<1x4x2x!t>
  return %0, %1 : tensor<1x4x2x!c>, tensor<1x4x2x!t>
}
