// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!b = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: @scaled
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<?x256x!{{.*}}>) rhs(%{{.*}} : tensor<8x128x256x!{{.*}}>) offsets(%{{.*}} : tensor<9xi32>) outs(%{{.*}} : tensor<?x128xbf16>) accumulate(<fast>) config(<tile = [64, 32], stages = 3, consumers = 1, schedule = ping_pong, swap_ab = true, split_k = 2, raster = 8>) -> tensor<?x128xbf16>
func.func @scaled(%a: tensor<?x256x!a>, %w: tensor<8x128x256x!a>, %o: tensor<9xi32>, %init: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x128x256x!a>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x128xbf16>) accumulate(<fast>)
      config(<raster = 8, tile = [64, 32], stages = 3, consumers = 1, schedule = ping_pong, swap_ab = true, split_k = 2>)
      -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// A column operand is [E, N]: the row's expert selects it.
// CHECK-LABEL: @epilogue
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<?x?xf16>) rhs(%{{.*}} : tensor<?x?x?xf16>) offsets(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<?x?xf16>) epilogue(%{{.*}} : tensor<?x?xf16>) maps [column] {
func.func @epilogue(%a: tensor<?x?xf16>, %w: tensor<?x?x?xf16>, %o: tensor<?xi32>, %init: tensor<?x?xf16>, %bias: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x?xf16>) rhs(%w : tensor<?x?x?xf16>) offsets(%o : tensor<?xi32>)
      outs(%init : tensor<?x?xf16>) epilogue(%bias : tensor<?x?xf16>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f16):
      %1 = arith.truncf %acc : f32 to f16
      %2 = arith.addf %1, %b : f16
      moeq.yield %2 : f16
  } -> tensor<?x?xf16>
  return %0 : tensor<?x?xf16>
}

// CHECK-LABEL: @components
// CHECK: moeq.grouped_matmul lhs(%{{.*}}, %{{.*}} : memref<?x256xf8E4M3FN>, memref<?x1xf32> as !{{.*}}) rhs(%{{.*}}, %{{.*}} : memref<8x128x256xf8E4M3FN>, memref<8x128x1xf32> as !{{.*}}) offsets(%{{.*}} : memref<9xi32>) outs(%{{.*}} : memref<?x128xf32>)
func.func @components(%v: memref<?x256xf8E4M3FN>, %s: memref<?x1xf32>, %w: memref<8x128x256xf8E4M3FN>,
                      %ws: memref<8x128x1xf32>, %o: memref<9xi32>, %c: memref<?x128xf32>) {
  moeq.grouped_matmul lhs(%v, %s : memref<?x256xf8E4M3FN>, memref<?x1xf32> as !a)
      rhs(%w, %ws : memref<8x128x256xf8E4M3FN>, memref<8x128x1xf32> as !a)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x128xf32>)
  return
}

// CHECK-LABEL: @planned
// CHECK: moeq.grouped_matmul {{.*}} offsets(%{{.*}} : tensor<9xi32>) plan(%{{.*}} : tensor<9x4xi32>) outs(%{{.*}} : tensor<?x128xbf16>) -> tensor<?x128xbf16>
func.func @planned(%a: tensor<?x256xbf16>, %w: tensor<8x128x256xbf16>, %o: tensor<9xi32>, %p: tensor<9x4xi32>, %init: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x128x256xbf16>) offsets(%o : tensor<9xi32>)
      plan(%p : tensor<9x4xi32>) outs(%init : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// `row` operands of masked rows are [E, M].
// CHECK-LABEL: @masked
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<8x?x256x!{{.*}}>) rhs(%{{.*}} : tensor<8x128x256x!{{.*}}>) counts(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<8x?x128xbf16>) epilogue(%{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<8x128xf32>) maps [row, column] {
func.func @masked(%a: tensor<8x?x256x!a>, %w: tensor<8x128x256x!a>, %n: tensor<8xi32>, %init: tensor<8x?x128xbf16>, %s: tensor<8x?xf32>, %bias: tensor<8x128xf32>) -> tensor<8x?x128xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<8x?x256x!a>) rhs(%w : tensor<8x128x256x!a>) counts(%n : tensor<8xi32>)
      outs(%init : tensor<8x?x128xbf16>) epilogue(%s, %bias : tensor<8x?xf32>, tensor<8x128xf32>) maps [row, column] {
    ^bb0(%acc: f32, %row: index, %col: index, %s0: f32, %b0: f32):
      %1 = arith.addf %acc, %b0 : f32
      %2 = arith.mulf %1, %s0 : f32
      %3 = arith.truncf %2 : f32 to bf16
      moeq.yield %3 : bf16
  } -> tensor<8x?x128xbf16>
  return %0 : tensor<8x?x128xbf16>
}

// CHECK-LABEL: @gathered
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<?x256x!{{.*}}>) rhs(%{{.*}} : tensor<8x128x256x!{{.*}}>) offsets(%{{.*}} : tensor<9xi32>) rows(%{{.*}} : tensor<40xi32>) outs(%{{.*}} : tensor<40x128xbf16>) -> tensor<40x128xbf16>
func.func @gathered(%a: tensor<?x256x!a>, %w: tensor<8x128x256x!a>, %o: tensor<9xi32>, %rows: tensor<40xi32>, %init: tensor<40x128xbf16>) -> tensor<40x128xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x128x256x!a>) offsets(%o : tensor<9xi32>)
      rows(%rows : tensor<40xi32>) outs(%init : tensor<40x128xbf16>) -> tensor<40x128xbf16>
  return %0 : tensor<40x128xbf16>
}

// CHECK-LABEL: @contract_rows
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<?x128xbf16>) rhs(%{{.*}} : tensor<?x256xbf16>) offsets(%{{.*}} : tensor<9xi32>) outs(%{{.*}} : tensor<8x128x256xf32>) contract(rows) -> tensor<8x128x256xf32>
// CHECK: moeq.grouped_matmul {{.*}} contract(rows) add_to_outs -> tensor<8x128x256xf32>
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<128x?x!{{.*}}>) rhs(%{{.*}} : tensor<256x?x!{{.*}}>) {{.*}} contract(rows) accumulate(<promote<128>>)
func.func @contract_rows(%dy: tensor<?x128xbf16>, %x: tensor<?x256xbf16>, %o: tensor<9xi32>, %dyt: tensor<128x?x!b>, %xt: tensor<256x?x!b>, %init: tensor<8x128x256xf32>) {
  %0 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%x : tensor<?x256xbf16>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<8x128x256xf32>) contract(rows) -> tensor<8x128x256xf32>
  %1 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%x : tensor<?x256xbf16>) offsets(%o : tensor<9xi32>)
      outs(%0 : tensor<8x128x256xf32>) contract(rows) add_to_outs -> tensor<8x128x256xf32>
  %2 = moeq.grouped_matmul lhs(%dyt : tensor<128x?x!b>) rhs(%xt : tensor<256x?x!b>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<8x128x256xf32>) contract(rows) accumulate(<promote<128>>) -> tensor<8x128x256xf32>
  return
}

// CHECK-LABEL: @transpose_rhs
// CHECK: moeq.grouped_matmul lhs(%{{.*}} : tensor<?x128xbf16>) rhs(%{{.*}} : tensor<8x128x256xbf16>) offsets(%{{.*}} : tensor<9xi32>) outs(%{{.*}} : tensor<?x256xbf16>) transpose_rhs -> tensor<?x256xbf16>
func.func @transpose_rhs(%dy: tensor<?x128xbf16>, %w: tensor<8x128x256xbf16>, %o: tensor<9xi32>, %init: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%w : tensor<8x128x256xbf16>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x256xbf16>) transpose_rhs -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}
