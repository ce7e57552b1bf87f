// RUN: moeq-opt %s -transform-interpreter -canonicalize -cse -split-input-file | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// A consumer pulls the tile of its scaled operand from the quantize.
// CHECK-LABEL: func @fuse_quantize(
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (%{{.*}}, %{{.*}}) step (32, 64)
// CHECK: %[[Q:.*]] = moeq.quantize
// CHECK: tensor.extract_slice %{{.*}}[%[[N]], 0]
// CHECK: moeq.matmul lhs(%[[Q]] : tensor<?x?x!{{.*}}>)
func.func @fuse_quantize(%x: tensor<?x?xbf16>, %w: tensor<?x?x!w>, %e: tensor<?x?x!a>, %init: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %q = moeq.quantize input(%x : tensor<?x?xbf16>) outs(%e : tensor<?x?x!a>) recipe(<deepgemm>) -> tensor<?x?x!a>
  %0 = moeq.matmul lhs(%q : tensor<?x?x!a>) rhs(%w : tensor<?x?x!w>) outs(%init : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.structured.fuse %op tile_sizes [32, 64] {use_forall} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile of one expert is a matmul on those of its rows that the tile has.
// CHECK-LABEL: func @expert_tiles(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x256xbf16>, %[[W:[^:]*]]: tensor<8x512x256xbf16>, %[[O:[^:]*]]: tensor<9xi32>, %[[BIAS:[^:]*]]: tensor<8x512xf32>
// CHECK: scf.forall (%[[E:[^,]*]], %[[I:[^,]*]], %[[J:[^,]*]]) in (8, %{{.*}}, 4) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: affine.apply #{{.*}}(%[[I]])
// CHECK: %[[N:.*]] = affine.apply #{{.*}}(%[[J]])
// CHECK: %[[LO:.*]] = arith.maxsi
// CHECK: %[[HI:.*]] = arith.minsi
// CHECK: %[[D:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK: %[[ROWS:.*]] = arith.maxsi %[[D]]
// CHECK: tensor.extract_slice %[[A]][%[[LO]], 0] [%[[ROWS]], 256]
// CHECK: tensor.extract_slice %[[W]][%[[E]], %[[N]], 0] [1, 128, 256] [1, 1, 1] : tensor<8x512x256xbf16> to tensor<128x256xbf16>
// CHECK: tensor.extract_slice %[[BIAS]][%[[E]], %[[N]]] [1, 128] [1, 1] : tensor<8x512xf32> to tensor<128xf32>
// CHECK: moeq.matmul
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[LO]], %[[N]]] [%[[ROWS]], 128]
func.func @expert_tiles(%a: tensor<?x256xbf16>, %w: tensor<8x512x256xbf16>, %o: tensor<9xi32>, %bias: tensor<8x512xf32>, %init: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x512x256xbf16>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x512xf32>)
      epilogue(%bias : tensor<8x512xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32):
      %s = arith.addf %acc, %b : f32
      moeq.yield %s : f32
  } -> tensor<?x512xf32>
  return %0 : tensor<?x512xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [1, 32, 128] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile of all experts is the same op on a window of the rows.
// CHECK-LABEL: func @row_windows(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x256xbf16>, %[[W:[^:]*]]: tensor<?x512x256xbf16>, %[[O:[^:]*]]: tensor<?xi32>, %[[BIAS:[^:]*]]: tensor<?x512xf32>
// CHECK: scf.for %[[M:[^ ]*]] =
// CHECK: tensor.extract_slice %[[A]][%[[M]], 0]
// CHECK: tensor.extract_slice %[[BIAS]][0, 0] [%{{.*}}, 64]
// CHECK: %[[C:.*]] = linalg.map ins(%[[O]] : tensor<?xi32>)
// CHECK: moeq.grouped_matmul lhs({{.*}}) rhs({{.*}}) offsets(%[[C]] : tensor<?xi32>)
// CHECK: ^bb0(%{{.*}}: f32, %[[ROW:.*]]: index, %[[COL:.*]]: index, %{{.*}}: f32):
// CHECK-NEXT: arith.addi %[[ROW]], %[[M]]
// CHECK-NEXT: arith.cmpi
func.func @row_windows(%a: tensor<?x256xbf16>, %w: tensor<?x512x256xbf16>, %o: tensor<?xi32>, %bias: tensor<?x512xf32>, %init: tensor<?x512xf32>) -> tensor<?x64xf32> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<?x512x256xbf16>) offsets(%o : tensor<?xi32>) outs(%init : tensor<?x512xf32>)
      epilogue(%bias : tensor<?x512xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32):
      %c = arith.cmpi eq, %row, %col : index
      %s = arith.select %c, %acc, %b : f32
      moeq.yield %s : f32
  } -> tensor<?x512xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %m = tensor.dim %init, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %slice = tensor.extract_slice %0[0, 0] [%m, 64] [1, 1] : tensor<?x512xf32> to tensor<?x64xf32>
  %1 = moeq.activate input(%slice : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) function(relu) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %activate = transform.structured.match ops{["moeq.activate"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %activate tile_sizes [32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.apply_patterns to %loop {
      transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
    } : !transform.any_op
    %op = transform.structured.match ops{["moeq.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.structured.fuse_into_containing_op %op into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>

// Row-wise ops: what a tile takes of each operand.
// CHECK-LABEL: func @rows(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x128xbf16>, %[[ROWS:[^:]*]]: tensor<?xi32>, %[[SLOTS:[^:]*]]: tensor<?x2xi32>, %[[WEIGHTS:[^:]*]]: tensor<?x2xf32>
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} step %c16
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} step %c64
// CHECK: tensor.extract_slice %[[X]][0, %[[J]]] [%{{.*}}, 64]
// CHECK: tensor.extract_slice %[[ROWS]][%[[I]]] [%[[N:[a-z0-9_]+]]]
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [%[[N]], 64]
// CHECK: moeq.quantize input(%{{.*}} : tensor<?x64xbf16>) rows(%{{.*}} : tensor<?xi32>)
// CHECK: tensor.insert_slice
// CHECK: scf.for
// CHECK: moeq.gather input(%{{.*}} : tensor<?x64x!{{.*}}>) rows(%{{.*}} : tensor<?xi32>)
// CHECK: scf.for
// CHECK: moeq.dequantize input(%{{.*}} : tensor<?x64x!{{.*}}>)
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} step %c16
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} step %c64
// CHECK: tensor.extract_slice %{{.*}}[0, %[[J]]] [%{{.*}}, 64]
// CHECK: tensor.extract_slice %[[SLOTS]][%[[I]], 0] [%{{.*}}, 2]
// CHECK: tensor.extract_slice %[[WEIGHTS]][%[[I]], 0] [%{{.*}}, 2]
// CHECK: moeq.combine
func.func @rows(%x: tensor<?x128xbf16>, %rows: tensor<?xi32>, %slots: tensor<?x2xi32>, %weights: tensor<?x2xf32>,
    %q: tensor<?x128x!a>, %g: tensor<?x128x!a>, %d: tensor<?x128xbf16>, %y: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.quantize input(%x : tensor<?x128xbf16>) rows(%rows : tensor<?xi32>) outs(%q : tensor<?x128x!a>) recipe(<deepgemm>) -> tensor<?x128x!a>
  %1 = moeq.gather input(%0 : tensor<?x128x!a>) rows(%rows : tensor<?xi32>) outs(%g : tensor<?x128x!a>) -> tensor<?x128x!a>
  %2 = moeq.dequantize input(%1 : tensor<?x128x!a>) outs(%d : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  %3 = moeq.combine input(%2 : tensor<?x128xbf16>) slots(%slots : tensor<?x2xi32>) weights(%weights : tensor<?x2xf32>) outs(%y : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  return %3 : tensor<?x128xbf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["moeq.quantize", "moeq.gather", "moeq.dequantize", "moeq.combine"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %ops : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    }
    transform.yield
  }
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>

// Interleaved gate and up are columns side by side; apart, they are taken whole.
// CHECK-LABEL: func @activations(
// CHECK: scf.for %{{.*}} = {{.*}} step %c16
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}} step %c64
// CHECK: %[[TWICE:.*]] = affine.apply #{{.*}}()[%[[J]]]
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %[[TWICE]]] [%{{.*}}, 128]
// CHECK: moeq.activate input(%{{.*}} : tensor<?x128xbf16>) row_weight(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?x64xbf16>) function(swiglu) gate_layout(interleaved)
// CHECK: scf.for %{{.*}} = {{.*}} step %c16
// CHECK: moeq.act_quant input(%{{.*}} : tensor<?x256xbf16>) outs(%{{.*}} : tensor<?x128x!{{.*}}>)
func.func @activations(%x: tensor<?x256xbf16>, %w: tensor<?xf32>, %y: tensor<?x128xbf16>, %q: tensor<?x128x!a>) -> (tensor<?x128xbf16>, tensor<?x128x!a>) {
  %0 = moeq.activate input(%x : tensor<?x256xbf16>) row_weight(%w : tensor<?xf32>) outs(%y : tensor<?x128xbf16>) function(swiglu) gate_layout(interleaved) -> tensor<?x128xbf16>
  %1 = moeq.act_quant input(%x : tensor<?x256xbf16>) outs(%q : tensor<?x128x!a>) function(swiglu) recipe(<deepgemm>) -> tensor<?x128x!a>
  return %0, %1 : tensor<?x128xbf16>, tensor<?x128x!a>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %activate = transform.structured.match ops{["moeq.activate"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %activate tile_sizes [16, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %quantize = transform.structured.match ops{["moeq.act_quant"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled_quantize, %loop = transform.structured.tile_using_for %quantize tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
