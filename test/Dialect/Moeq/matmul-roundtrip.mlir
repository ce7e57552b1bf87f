// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!i4 = !moeq.scaled<ui4, block = [3], scale = bf16, zero = i8>

// CHECK-LABEL: @scaled
// CHECK: moeq.matmul lhs(%{{.*}} : tensor<?x256x!{{.*}}>) rhs(%{{.*}} : tensor<128x256x!{{.*}}>) outs(%{{.*}} : tensor<?x128xbf16>) accumulate(<promote<128>>) config(<tile = [128, 256], stages = 4, consumers = 2, schedule = persistent, swap_ab = false, split_k = 1, raster = 16>) -> tensor<?x128xbf16>
func.func @scaled(%a: tensor<?x256x!a>, %b: tensor<128x256x!b>, %init: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<128x256x!b>) outs(%init : tensor<?x128xbf16>)
      accumulate(<promote<128>>) config(<tile = [128, 256]>) -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// CHECK-LABEL: @plain
// CHECK: moeq.matmul lhs(%{{.*}} : tensor<?x?xbf16>) rhs(%{{.*}} : tensor<?x?xbf16>) outs(%{{.*}} : tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK: moeq.matmul lhs(%{{.*}} : memref<4x8xi8>) rhs(%{{.*}} : memref<2x8xi8>) outs(%{{.*}} : memref<4x2xf32>)
func.func @plain(%a: tensor<?x?xbf16>, %init: tensor<?x?xf32>, %c: memref<4x8xi8>, %d: memref<2x8xi8>, %e: memref<4x2xf32>) -> tensor<?x?xf32> {
  %0 = moeq.matmul lhs(%a : tensor<?x?xbf16>) rhs(%a : tensor<?x?xbf16>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  moeq.matmul lhs(%c : memref<4x8xi8>) rhs(%d : memref<2x8xi8>) outs(%e : memref<4x2xf32>)
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @epilogue
// CHECK: moeq.matmul {{.*}} epilogue(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>, tensor<128xbf16>, tensor<?x128xf16>) maps [row, column, row_column] {
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[R:.*]]: f32, %{{.*}}: bf16, %{{.*}}: f16):
// CHECK: moeq.yield %{{.*}} : bf16
// CHECK-NEXT: } -> tensor<?x128xbf16>
func.func @epilogue(%a: tensor<?x256xbf16>, %b: tensor<128x256xbf16>, %init: tensor<?x128xbf16>, %r: tensor<?xf32>,
                    %c: tensor<128xbf16>, %rc: tensor<?x128xf16>, %scalar: f32) -> tensor<?x128xbf16> {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<128x256xbf16>) outs(%init : tensor<?x128xbf16>)
      epilogue(%r, %c, %rc : tensor<?xf32>, tensor<128xbf16>, tensor<?x128xf16>) maps [row, column, row_column] {
    ^bb0(%acc: f32, %row: index, %col: index, %w: f32, %bias: bf16, %residual: f16):
      %1 = arith.mulf %acc, %w : f32
      %2 = arith.mulf %1, %scalar : f32
      %3 = arith.truncf %2 : f32 to bf16
      %4 = arith.addf %3, %bias : bf16
      moeq.yield %4 : bf16
  } -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// CHECK-LABEL: @epilogue_without_operands
// CHECK: moeq.matmul lhs(%{{.*}} : memref<4x8xf16>) rhs(%{{.*}} : memref<2x8xf16>) outs(%{{.*}} : memref<4x2xf32>) attributes {note = "kept"} epilogue {
func.func @epilogue_without_operands(%a: memref<4x8xf16>, %b: memref<2x8xf16>, %c: memref<4x2xf32>) {
  moeq.matmul lhs(%a : memref<4x8xf16>) rhs(%b : memref<2x8xf16>) outs(%c : memref<4x2xf32>) attributes {note = "kept"}
      epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      moeq.yield %acc : f32
  }
  return
}

// K of 5 in three bytes.
// CHECK-LABEL: @components
// CHECK: moeq.matmul lhs(%{{.*}} : memref<?x5xbf16>) rhs(%{{.*}}, %{{.*}}, %{{.*}} : memref<4x3xi8>, memref<4x2xbf16>, memref<4x2xi8> as !{{.*}}) outs(%{{.*}} : memref<?x4xbf16>)
func.func @components(%a: memref<?x5xbf16>, %v: memref<4x3xi8>, %s: memref<4x2xbf16>, %z: memref<4x2xi8>, %c: memref<?x4xbf16>) {
  moeq.matmul lhs(%a : memref<?x5xbf16>) rhs(%v, %s, %z : memref<4x3xi8>, memref<4x2xbf16>, memref<4x2xi8> as !i4)
      outs(%c : memref<?x4xbf16>)
  return
}

// Tiles are slices: any layout of the memref.
// CHECK-LABEL: @strided
// CHECK: moeq.matmul lhs(%{{.*}} : memref<4x8xf32, strided<[?, 1], offset: ?>>)
func.func @strided(%a: memref<4x8xf32, strided<[?, 1], offset: ?>>, %b: memref<2x8xf32>, %c: memref<4x2xf32, 1>) {
  moeq.matmul lhs(%a : memref<4x8xf32, strided<[?, 1], offset: ?>>) rhs(%b : memref<2x8xf32>) outs(%c : memref<4x2xf32, 1>)
  return
}

// Two accumulators, and two elements of a column operand.
// CHECK-LABEL: @gated
// CHECK: moeq.matmul lhs(%{{.*}} : tensor<?x8xf32>) rhs(%{{.*}} : tensor<128x8xf32>) outs(%{{.*}} : tensor<?x64xf32>) epilogue gated(%{{.*}}, %{{.*}} : tensor<128xf32>, tensor<?x64xf16>) maps [column, row_column] {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f16):
func.func @gated(%a: tensor<?x8xf32>, %b: tensor<128x8xf32>, %bias: tensor<128xf32>, %r: tensor<?x64xf16>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = moeq.matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<128x8xf32>) outs(%o : tensor<?x64xf32>)
      epilogue gated(%bias, %r : tensor<128xf32>, tensor<?x64xf16>) maps [column, row_column] {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index, %bg: f32, %bu: f32, %x: f16):
      %1 = arith.mulf %gate, %up : f32
      moeq.yield %1 : f32
  } -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
