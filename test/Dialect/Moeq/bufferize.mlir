// RUN: moeq-opt %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   -canonicalize -split-input-file | FileCheck %s

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// The init is written whole: an empty one needs no copy.
// CHECK-LABEL: func @matmul(
// CHECK-SAME: %[[AV:.*]]: memref<?x256xf8E4M3FN>, %[[AS:.*]]: memref<?x2xf32>
// CHECK-SAME: %[[WV:.*]]: memref<128x256xf8E4M3FN>, %[[WS:.*]]: memref<1x2xf32>
// CHECK-SAME: %[[BIAS:.*]]: memref<128xf32>, %[[INIT:.*]]: memref<?x128xbf16>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: moeq.matmul lhs(%[[AV]], %[[AS]] : memref<?x256xf8E4M3FN>, memref<?x2xf32> as !scaled) rhs(%[[WV]], %[[WS]] : memref<128x256xf8E4M3FN>, memref<1x2xf32> as !scaled1)
// CHECK-SAME: outs(%[[INIT]] : memref<?x128xbf16>) epilogue(%[[BIAS]] : memref<128xf32>) maps [column]
// CHECK: moeq.yield
// CHECK: return %[[INIT]]
func.func @matmul(%av: tensor<?x256xf8E4M3FN>, %as: tensor<?x2xf32>,
                  %wv: tensor<128x256xf8E4M3FN>, %ws: tensor<1x2xf32>,
                  %bias: tensor<128xf32>, %init: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.matmul lhs(%av, %as : tensor<?x256xf8E4M3FN>, tensor<?x2xf32> as !a)
      rhs(%wv, %ws : tensor<128x256xf8E4M3FN>, tensor<1x2xf32> as !w)
      outs(%init : tensor<?x128xbf16>) epilogue(%bias : tensor<128xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32):
      %s = arith.addf %acc, %b : f32
      %r = arith.truncf %s : f32 to bf16
      moeq.yield %r : bf16
  } -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

// An init that is written whole is not read: it may be overwritten while its old
// value is used elsewhere only after a copy, but a dead one needs none.
// CHECK-LABEL: func @written_whole(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64xbf16>, %[[INIT:[^:]*]]: memref<?x64xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.fill
// CHECK: moeq.activate input(%[[X]] : memref<?x64xbf16>) outs(%[[INIT]] : memref<?x64xf32>) function(relu)
func.func @written_whole(%x: tensor<?x64xbf16>, %init: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%c0 : f32) outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  %0 = moeq.activate input(%x : tensor<?x64xbf16>) outs(%fill : tensor<?x64xf32>) function(relu) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

// Two ops over one init: only what keeps rows of the init copies its contents.
// CHECK-LABEL: func @activate_twice(
// CHECK: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @activate_twice(%x: tensor<8x64xbf16>, %init: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %0 = moeq.activate input(%x : tensor<8x64xbf16>) outs(%init : tensor<8x64xf32>) function(relu) -> tensor<8x64xf32>
  %1 = moeq.activate input(%x : tensor<8x64xbf16>) outs(%init : tensor<8x64xf32>) function(silu) -> tensor<8x64xf32>
  return %0, %1 : tensor<8x64xf32>, tensor<8x64xf32>
}

// -----

// CHECK-LABEL: func @gather_twice(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64xbf16>, %[[ROWS:[^:]*]]: memref<8xi32>, %[[INIT:[^:]*]]: memref<8x64xbf16>
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[INIT]], %[[COPY]]
// CHECK: moeq.gather
// CHECK: moeq.gather
func.func @gather_twice(%x: tensor<?x64xbf16>, %rows: tensor<8xi32>, %init: tensor<8x64xbf16>) -> (tensor<8x64xbf16>, tensor<8x64xbf16>) {
  %0 = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<8xi32>) outs(%init : tensor<8x64xbf16>) -> tensor<8x64xbf16>
  %1 = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<8xi32>) outs(%init : tensor<8x64xbf16>) -> tensor<8x64xbf16>
  return %0, %1 : tensor<8x64xbf16>, tensor<8x64xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// Rows without an index keep the init: both components of it are read.
// CHECK-LABEL: func @quantize_rows(
// CHECK-COUNT-2: memref.copy
// CHECK: moeq.quantize
// CHECK-NOT: memref.copy
func.func @quantize_rows(%x: tensor<?x128xbf16>, %rows: tensor<8xi32>,
    %v: tensor<8x128xf8E4M3FN>, %s: tensor<8x1xf32>)
    -> (tensor<8x128xf8E4M3FN>, tensor<8x1xf32>, tensor<8x128xf8E4M3FN>, tensor<8x1xf32>) {
  %0:2 = moeq.quantize input(%x : tensor<?x128xbf16>) rows(%rows : tensor<8xi32>)
      outs(%v, %s : tensor<8x128xf8E4M3FN>, tensor<8x1xf32> as !a) recipe(<deepgemm>)
      -> tensor<8x128xf8E4M3FN>, tensor<8x1xf32>
  return %0#0, %0#1, %v, %s : tensor<8x128xf8E4M3FN>, tensor<8x1xf32>, tensor<8x128xf8E4M3FN>, tensor<8x1xf32>
}

// -----

// Three inits of three ops' results, all in place.
// CHECK-LABEL: func @group(
// CHECK-SAME: %[[IDS:[^:]*]]: memref<?x2xi32>, %[[R:[^:]*]]: memref<?xi32>, %[[S:[^:]*]]: memref<?x2xi32>, %[[O:[^:]*]]: memref<9xi32>
// CHECK-NEXT: moeq.group ids(%[[IDS]] : memref<?x2xi32>) outs(%[[R]], %[[S]], %[[O]] : memref<?xi32>, memref<?x2xi32>, memref<9xi32>)
// CHECK-NEXT: return %[[R]], %[[S]], %[[O]]
func.func @group(%ids: tensor<?x2xi32>, %r: tensor<?xi32>, %s: tensor<?x2xi32>, %o: tensor<9xi32>)
    -> (tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>) {
  %0:3 = moeq.group ids(%ids : tensor<?x2xi32>) outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
  return %0#0, %0#1, %0#2 : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
}

// -----

// The table is written whole: in place, without a copy of the init.
// CHECK-LABEL: func @plan(
// CHECK-SAME: %[[O:[^:]*]]: memref<9xi32>, %[[N:[^:]*]]: index, %[[T:[^:]*]]: memref<9x4xi32>
// CHECK-NEXT: moeq.plan offsets(%[[O]] : memref<9xi32>) columns(%[[N]]) outs(%[[T]] : memref<9x4xi32>)
// CHECK-NEXT: return %[[T]]
func.func @plan(%o: tensor<9xi32>, %n: index, %t: tensor<9x4xi32>) -> tensor<9x4xi32> {
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%t : tensor<9x4xi32>)
      tile_columns(256) max_width(160) ctas(132) -> tensor<9x4xi32>
  return %0 : tensor<9x4xi32>
}

// -----

// The sum over rows writes each element; what is added to is read.
// CHECK-LABEL: func @contract_rows(
// CHECK-NOT: memref.copy
// CHECK: moeq.grouped_matmul {{.*}} contract(rows)
// CHECK: memref.copy
// CHECK: moeq.grouped_matmul {{.*}} contract(rows) add_to_outs
func.func @contract_rows(%dy: tensor<?x128xbf16>, %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %dw: tensor<3x128x64xf32>) -> (tensor<3x128x64xf32>, tensor<3x128x64xf32>, tensor<3x128x64xf32>) {
  %0 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%x : tensor<?x64xbf16>)
      offsets(%o : tensor<4xi32>) outs(%dw : tensor<3x128x64xf32>) contract(rows) -> tensor<3x128x64xf32>
  %1 = moeq.grouped_matmul lhs(%dy : tensor<?x128xbf16>) rhs(%x : tensor<?x64xbf16>)
      offsets(%o : tensor<4xi32>) outs(%dw : tensor<3x128x64xf32>) contract(rows) add_to_outs -> tensor<3x128x64xf32>
  return %dw, %0, %1 : tensor<3x128x64xf32>, tensor<3x128x64xf32>, tensor<3x128x64xf32>
}
