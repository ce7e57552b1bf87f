// RUN: moeq-opt %s --moeq-to-linalg | FileCheck %s

// Scales that span K multiply the whole sum, their product formed first.
// CHECK-LABEL: func @token_by_channel
// CHECK-SAME:    (%[[A:.*]]: memref<?x64xf8E4M3FN>, %[[SA:.*]]: memref<?x1xf32>, %[[B:.*]]: memref<8x64xf8E4M3FN>, %[[SB:.*]]: memref<8x1xf32>, %[[C:.*]]: memref<?x8xbf16>)
// CHECK:         %[[K:.*]] = memref.dim %[[A]], %c1
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%[[C]] : memref<?x8xbf16>)
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK:           %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[K]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32)
// CHECK:             memref.load %[[A]][%[[ROW]], %[[I]]]
// CHECK:             memref.load %[[B]][%[[COLUMN]], %[[I]]]
// CHECK:             math.fma %{{.*}}, %{{.*}}, %[[ACC]] : f32
// CHECK:           memref.load %[[SA]][%[[ROW]], %{{.*}}]
// CHECK:           memref.load %[[SB]][%[[COLUMN]], %{{.*}}]
// CHECK:           %[[SCALE:.*]] = arith.mulf
// CHECK:           %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[SCALE]]
// CHECK:           %[[R:.*]] = arith.truncf %[[SCALED]] : f32 to bf16
// CHECK:           linalg.yield %[[R]]
!t = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @token_by_channel(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1xf32>, %b: memref<8x64xf8E4M3FN>,
                            %sb: memref<8x1xf32>, %c: memref<?x8xbf16>) {
  moeq.matmul lhs(%a, %sa : memref<?x64xf8E4M3FN>, memref<?x1xf32> as !t)
      rhs(%b, %sb : memref<8x64xf8E4M3FN>, memref<8x1xf32> as !t) outs(%c : memref<?x8xbf16>)
  return
}

// Blocks of K: a partial sum each, promoted by fma.
// CHECK-LABEL: func @blocks
// CHECK:         linalg.generic
// CHECK:           %[[ACC:.*]] = scf.for %[[K0:.*]] = %{{.*}} to %[[K:.*]] step %[[STEP:.*]] iter_args(%[[OUTER:.*]] = %{{.*}}) -> (f32)
// CHECK:             %[[END:.*]] = arith.addi %[[K0]], %[[STEP]]
// CHECK:             arith.minui %[[END]], %[[K]]
// CHECK:             %[[PARTIAL:.*]] = scf.for
// CHECK:             %[[S:.*]] = arith.mulf
// CHECK:             math.fma %[[PARTIAL]], %[[S]], %[[OUTER]]
// CHECK:           linalg.yield %[[ACC]] : f32
!a128 = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w128 = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @blocks(%a: memref<4x300xf8E4M3FN>, %sa: memref<4x3xf32>, %b: memref<200x300xf8E4M3FN>,
                  %sb: memref<2x3xf32>, %c: memref<4x200xf32>) {
  moeq.matmul lhs(%a, %sa : memref<4x300xf8E4M3FN>, memref<4x3xf32> as !a128)
      rhs(%b, %sb : memref<200x300xf8E4M3FN>, memref<2x3xf32> as !w128) outs(%c : memref<4x200xf32>)
  return
}

// Integers are summed as integers, and converted once.
// CHECK-LABEL: func @int8
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (i32)
// CHECK:           arith.muli %{{.*}}, %{{.*}} : i32
// CHECK:           arith.addi
// CHECK:         arith.sitofp %[[SUM]] : i32 to f32
!i8 = !moeq.scaled<i8, block = [*], scale = f32>
func.func @int8(%a: memref<4x64xi8>, %sa: memref<4x1xf32>, %b: memref<8x64xi8>, %sb: memref<8x1xf32>,
                %c: memref<4x8xf32>) {
  moeq.matmul lhs(%a, %sa : memref<4x64xi8>, memref<4x1xf32> as !i8)
      rhs(%b, %sb : memref<8x64xi8>, memref<8x1xf32> as !i8) outs(%c : memref<4x8xf32>)
  return
}

// MX on both sides: each factor is rounded to bf16.
// CHECK-LABEL: func @mx
// CHECK:         scf.for
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:           math.fma
!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
func.func @mx(%a: memref<4x64xf8E4M3FN>, %sa: memref<4x2xf8E8M0FNU>, %b: memref<8x64xf8E4M3FN>,
              %sb: memref<8x2xf8E8M0FNU>, %c: memref<4x8xf32>) {
  moeq.matmul lhs(%a, %sa : memref<4x64xf8E4M3FN>, memref<4x2xf8E8M0FNU> as !mx)
      rhs(%b, %sb : memref<8x64xf8E4M3FN>, memref<8x2xf8E8M0FNU> as !mx) outs(%c : memref<4x8xf32>)
  return
}

// Two values a byte, the low nibble first; the zero point is taken off exactly.
// CHECK-LABEL: func @int4_weight
// CHECK-SAME:    %[[B:[^:]*]]: memref<8x32xi8>, %[[SB:[^:]*]]: memref<8x2xbf16>, %[[ZB:[^:]*]]: memref<8x2xi8>
// CHECK:         %[[BYTE:.*]] = arith.shrui %{{.*}}, %{{.*}} : index
// CHECK:         memref.load %[[B]][%{{.*}}, %[[BYTE]]]
// CHECK:         memref.load %[[ZB]]
// CHECK:         arith.subf
// CHECK:         math.fma
// CHECK:         memref.load %[[SB]]
!w4 = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>
func.func @int4_weight(%a: memref<4x64xbf16>, %b: memref<8x32xi8>, %sb: memref<8x2xbf16>,
                       %zb: memref<8x2xi8>, %c: memref<4x8xbf16>) {
  moeq.matmul lhs(%a : memref<4x64xbf16>)
      rhs(%b, %sb, %zb : memref<8x32xi8>, memref<8x2xbf16>, memref<8x2xi8> as !w4)
      outs(%c : memref<4x8xbf16>)
  return
}

// A second accumulator, without scales of its own.
// CHECK-LABEL: func @promote
// CHECK:         scf.for {{.*}} step %c128
// CHECK:           %[[PARTIAL:.*]] = scf.for
// CHECK:           arith.addf %{{.*}}, %[[PARTIAL]]
func.func @promote(%a: memref<4x256xbf16>, %b: memref<8x256xbf16>, %c: memref<4x8xf32>) {
  moeq.matmul lhs(%a : memref<4x256xbf16>) rhs(%b : memref<8x256xbf16>) outs(%c : memref<4x8xf32>)
      accumulate(<promote<128>>)
  return
}

// Rows of an expert at a time, never past the result; a column operand is that
// of the expert, and `row` counts from the first row of all.
// CHECK-LABEL: func @grouped
// CHECK-SAME:    %[[OFF:[^:]*]]: memref<3xi32>, %[[BIAS:[^:]*]]: memref<2x8xf32>, %[[W:[^:]*]]: memref<?xf32>, %[[C:[^:]*]]: memref<?x8xf32>
// CHECK:         scf.for %[[E:.*]] = %{{.*}} to %{{.*}}
// CHECK:           memref.load %[[OFF]][%[[E]]]
// CHECK:           %[[FIRST:.*]] = arith.minsi
// CHECK:           memref.load %[[OFF]]
// CHECK:           %[[GROUP:.*]] = memref.subview %[[C]][%[[FIRST]], 0]
// CHECK:           linalg.generic {{.*}} outs(%[[GROUP]]
// CHECK:             %[[ROW:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK:             math.fma
// CHECK:             memref.load %[[BIAS]][%[[E]], %{{.*}}]
// CHECK:             memref.load %[[W]][%[[ROW]]]
// CHECK:             arith.index_cast %[[ROW]]
func.func @grouped(%a: memref<?x64xbf16>, %b: memref<2x8x64xbf16>, %off: memref<3xi32>,
                   %bias: memref<2x8xf32>, %w: memref<?xf32>, %c: memref<?x8xf32>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%b : memref<2x8x64xbf16>)
      offsets(%off : memref<3xi32>) outs(%c : memref<?x8xf32>)
      epilogue(%bias, %w : memref<2x8xf32>, memref<?xf32>) maps [column, row] {
    ^bb0(%acc: f32, %row: index, %col: index, %b0: f32, %w0: f32):
      %0 = arith.addf %acc, %b0 : f32
      %1 = arith.mulf %0, %w0 : f32
      %2 = arith.index_cast %row : index to i32
      %3 = arith.sitofp %2 : i32 to f32
      %4 = arith.addf %1, %3 : f32
      moeq.yield %4 : f32
  }
  return
}

// Without columns there is nothing to compute.
// CHECK-LABEL: func @no_columns
// CHECK-NEXT: return
func.func @no_columns(%a: memref<?x64xbf16>, %b: memref<2x0x64xbf16>, %off: memref<3xi32>,
                      %c: memref<?x0xf32>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%b : memref<2x0x64xbf16>)
      offsets(%off : memref<3xi32>) outs(%c : memref<?x0xf32>)
  return
}

// Masked rows: the first ones of each expert; `row` counts those of all experts.
// CHECK-LABEL: func @masked
// CHECK-SAME:    %[[A:[^:]*]]: memref<2x?x64xbf16>, %{{[^:]*}}: memref<2x8x64xbf16>, %[[N:[^:]*]]: memref<2xi32>, %[[C:[^:]*]]: memref<2x?x8xf32>
// CHECK:         %[[M:.*]] = memref.dim %[[C]], %c1{{.*}}
// CHECK:         scf.for %[[E:.*]] = %{{.*}} to %{{.*}}
// CHECK:           memref.load %[[N]][%[[E]]]
// CHECK:           %[[COUNT:.*]] = arith.minsi %{{.*}}, %[[M]]
// CHECK:           %[[ROWS:.*]] = memref.subview %[[C]][%[[E]], %{{.*}}, 0] [1, %[[COUNT]], %{{.*}}]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[E]], %[[M]]
// CHECK:           linalg.generic {{.*}} outs(%[[ROWS]]
// CHECK:             %[[I:.*]] = linalg.index 0
// CHECK:             %[[ROW:.*]] = arith.addi %[[I]], %[[FIRST]]
// CHECK:             memref.load %[[A]][%[[E]], %[[I]], %{{.*}}]
// CHECK:             arith.index_cast %[[ROW]]
func.func @masked(%a: memref<2x?x64xbf16>, %b: memref<2x8x64xbf16>, %n: memref<2xi32>, %c: memref<2x?x8xf32>) {
  moeq.grouped_matmul lhs(%a : memref<2x?x64xbf16>) rhs(%b : memref<2x8x64xbf16>)
      counts(%n : memref<2xi32>) outs(%c : memref<2x?x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      %0 = arith.index_cast %row : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      %2 = arith.addf %acc, %1 : f32
      moeq.yield %2 : f32
  }
  return
}

// Gathered rows; one that no index names is zeros.
// CHECK-LABEL: func @gathered
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x64xbf16>, %{{[^:]*}}: memref<2x8x64xbf16>, %{{[^:]*}}: memref<3xi32>, %[[R:[^:]*]]: memref<?xi32>
// CHECK:         linalg.generic
// CHECK:           %[[I32:.*]] = memref.load %[[R]][%{{.*}}]
// CHECK:           %[[I:.*]] = arith.index_cast %[[I32]]
// CHECK:           %[[EXISTS:.*]] = arith.cmpi sge, %[[I]], %c0{{.*}}
// CHECK:           scf.if %[[EXISTS]] -> (f32)
// CHECK:             memref.load %[[A]][%[[I]], %{{.*}}]
// CHECK:           } else {
// CHECK-NEXT:        %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        scf.yield %[[ZERO]]
func.func @gathered(%a: memref<?x64xbf16>, %b: memref<2x8x64xbf16>, %off: memref<3xi32>, %r: memref<?xi32>, %c: memref<?x8xf32>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%b : memref<2x8x64xbf16>)
      offsets(%off : memref<3xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x8xf32>)
  return
}
