// RUN: moeq-opt %s -transform-interpreter -verify-diagnostics -split-input-file

// Upstream's driver adds two errors of its own to that of the op.

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @blocks(%a: tensor<?x256x!a>, %w: tensor<512x256x!w>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@below {{'moeq.matmul' op cannot be tiled: a tile cuts a scale block along dimension 0 of 'tensor<512x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>': expects an offset that is a multiple of 128 or a slice inside one block, got an offset that is a multiple of 192 and a size that is a multiple of 64}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<512x256x!w>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [32, 192] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @whole_extent(%x: tensor<?x256xbf16>, %q: tensor<?x256x!a>) -> tensor<?x256x!a> {
  // expected-error@below {{'moeq.quantize' op cannot be tiled: a tile cuts a scale block along dimension 1 of 'tensor<?x256x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>': expects the whole extent, got an offset that is a multiple of 64 and a size 64}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%q : tensor<?x256x!a>) recipe(<vllm_token>) -> tensor<?x256x!a>
  return %0 : tensor<?x256x!a>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.quantize"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [32, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>

func.func @columnwise(%x: tensor<?x256xbf16>, %o: tensor<9xi32>, %q: tensor<?x256x!a>) -> tensor<?x256x!a> {
  // expected-error@below {{'moeq.quantize' op cannot be tiled: its rows have groups or a columnwise result}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.quantize input(%x : tensor<?x256xbf16>) offsets(%o : tensor<9xi32>) outs(%q : tensor<?x256x!a>) recipe(<amax>) -> tensor<?x256x!a>
  return %0 : tensor<?x256x!a>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.quantize"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [32, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @gate_layout(%x: tensor<?x256xbf16>, %y: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error@below {{'moeq.activate' op cannot be tiled along its columns: gate and up lie apart under gate_layout gate_first}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.activate input(%x : tensor<?x256xbf16>) outs(%y : tensor<?x128xbf16>) function(swiglu) -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.activate"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [32, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @experts(%a: tensor<?x256xbf16>, %w: tensor<8x512x256xbf16>, %o: tensor<9xi32>, %init: tensor<?x512xf32>) -> tensor<?x512xf32> {
  // expected-error@below {{'moeq.grouped_matmul' op cannot be tiled by several experts: expects tiles of one expert or of all}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x512x256xbf16>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %0 : tensor<?x512xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [2, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @components(%x: tensor<4x256xbf16>, %v: tensor<4x256xf8E4M3FN>, %s: tensor<4x1xf32>) -> (tensor<4x256xf8E4M3FN>, tensor<4x1xf32>) {
  // expected-error@below {{'moeq.quantize' op expects scaled tensors to tile, got components}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0:2 = moeq.quantize input(%x : tensor<4x256xbf16>) outs(%v, %s : tensor<4x256xf8E4M3FN>, tensor<4x1xf32> as !a) recipe(<vllm_token>) -> tensor<4x256xf8E4M3FN>, tensor<4x1xf32>
  return %0#0, %0#1 : tensor<4x256xf8E4M3FN>, tensor<4x1xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.quantize"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @memrefs(%x: memref<4x256xbf16>, %y: memref<4x256xbf16>) {
  // expected-error@below {{'moeq.activate' op expects scaled tensors to tile, got memrefs}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  moeq.activate input(%x : memref<4x256xbf16>) outs(%y : memref<4x256xbf16>) function(relu)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.activate"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @gate(%a: tensor<4x64xbf16>, %b: tensor<256x64xbf16>, %c: tensor<4x128xf32>) -> tensor<4x128xf32> {
  // expected-error@below {{'moeq.matmul' op cannot be tiled: a tile cuts a group of gates: expects an offset that is a multiple of 64 and a size that is one or reaches the end, got an offset that is a multiple of 12 and a size that is a multiple of 4}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.matmul lhs(%a : tensor<4x64xbf16>) rhs(%b : tensor<256x64xbf16>) outs(%c : tensor<4x128xf32>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      moeq.yield %up : f32
  } -> tensor<4x128xf32>
  return %0 : tensor<4x128xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [0, 12] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @transposed(%a: tensor<?x256xbf16>, %w: tensor<4x256x512xbf16>, %o: tensor<5xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@below {{'moeq.grouped_matmul' op expects rows times weights [E, N, K] to tile, got transpose_rhs}}
  // expected-error@below {{faild to tile operation}}
  // expected-error@below {{failed to generate tiling loops}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<4x256x512xbf16>) offsets(%o : tensor<5xi32>) outs(%init : tensor<?x512xbf16>) transpose_rhs -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["moeq.grouped_matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:3 = transform.structured.tile_using_for %op tile_sizes [1, 32, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
