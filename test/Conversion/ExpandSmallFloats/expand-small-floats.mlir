// RUN: moeq-opt %s --moeq-expand-small-floats | FileCheck %s
// RUN: moeq-opt %s --moeq-expand-small-floats=expand-bf16=true | FileCheck %s --check-prefix=BF16

// The numbers are tested exhaustively in unittests/Numerics.

// CHECK-LABEL: func @decode
// CHECK-SAME:    %[[X:.*]]: f8E4M3FN
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f8E4M3FN to i8
// CHECK:         arith.extui %[[BITS]] : i8 to i32
// CHECK-NOT:     arith.extf
// CHECK:         return %{{.*}} : f32
func.func @decode(%x: f8E4M3FN) -> f32 {
  %0 = arith.extf %x : f8E4M3FN to f32
  return %0 : f32
}

// CHECK-LABEL: func @encode
// CHECK-NOT:     arith.truncf
// CHECK:         %[[CODE:.*]] = arith.trunci %{{.*}} : vector<4xi32> to vector<4xi8>
// CHECK:         %[[R:.*]] = arith.bitcast %[[CODE]] : vector<4xi8> to vector<4xf8E5M2>
// CHECK:         return %[[R]]
func.func @encode(%x: vector<4xf32>) -> vector<4xf8E5M2> {
  %0 = arith.truncf %x : vector<4xf32> to vector<4xf8E5M2>
  return %0 : vector<4xf8E5M2>
}

// CHECK-LABEL: func @other_widths
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK:         arith.extf %{{.*}} : f32 to f64
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.trunci %{{.*}} : i32 to i4
// CHECK-NEXT:    arith.bitcast %{{.*}} : i4 to f4E2M1FN
func.func @other_widths(%x: f8E8M0FNU, %y: f8E5M2, %z: f16) -> (bf16, f64, f4E2M1FN) {
  %0 = arith.extf %x : f8E8M0FNU to bf16
  %1 = arith.extf %y : f8E5M2 to f64
  %2 = arith.truncf %z : f16 to f4E2M1FN
  return %0, %1, %2 : bf16, f64, f4E2M1FN
}

// CHECK-LABEL: func @small_to_small
// CHECK:         arith.bitcast %{{.*}} : f8E5M2 to i8
// CHECK:         arith.bitcast %{{.*}} : i4 to f4E2M1FN
func.func @small_to_small(%x: f8E5M2) -> f4E2M1FN {
  %0 = arith.truncf %x : f8E5M2 to f4E2M1FN
  return %0 : f4E2M1FN
}

// CHECK-LABEL: func @integers
// CHECK:         arith.sitofp %{{.*}} : i8 to f32
// CHECK:         arith.bitcast %{{.*}} : i8 to f8E4M3FN
// CHECK:         arith.uitofp %{{.*}} : i16 to f32
// CHECK:         arith.fptosi %{{.*}} : f32 to i32
// CHECK:         arith.fptoui %{{.*}} : f32 to i8
func.func @integers(%x: i8, %y: i16, %z: f8E4M3FN) -> (f8E4M3FN, f8E5M2, i32, i8) {
  %0 = arith.sitofp %x : i8 to f8E4M3FN
  %1 = arith.uitofp %y : i16 to f8E5M2
  %2 = arith.fptosi %z : f8E4M3FN to i32
  %3 = arith.fptoui %z : f8E4M3FN to i8
  return %0, %1, %2, %3 : f8E4M3FN, f8E5M2, i32, i8
}

// What does not compute may stay.
// CHECK-LABEL: func @kept
// CHECK:         arith.constant 1.000000e+00 : f8E4M3FN
// CHECK:         arith.select
// CHECK:         arith.bitcast
func.func @kept(%x: f8E4M3FN, %c: i1) -> i8 {
  %0 = arith.constant 1.0 : f8E4M3FN
  %1 = arith.select %c, %x, %0 : f8E4M3FN
  %2 = arith.bitcast %1 : f8E4M3FN to i8
  return %2 : i8
}

// CHECK-LABEL: func @bf16
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// BF16-LABEL:  func @bf16
// BF16-NOT:      arith.truncf
// BF16:          arith.trunci %{{.*}} : i32 to i16
// BF16-NEXT:     arith.bitcast %{{.*}} : i16 to bf16
func.func @bf16(%x: f32) -> bf16 {
  %0 = arith.truncf %x : f32 to bf16
  return %0 : bf16
}
