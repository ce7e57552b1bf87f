// RUN: moeq-opt %s -moeq-tile="tile-m=96 tile-n=192" -verify-diagnostics -split-input-file

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @columns(%a: tensor<?x256x!a>, %w: tensor<512x256x!w>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{'moeq.matmul' op expects a tile of columns that is a multiple or a divisor of the scale block 128 of 'tensor<512x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>', got 192}}
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<512x256x!w>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @rows(%a: tensor<?x256x!w>, %w: tensor<512x256x!w>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{'moeq.matmul' op expects a tile of rows that is a multiple or a divisor of the scale block 128 of 'tensor<?x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>', got 96}}
  %0 = moeq.matmul lhs(%a : tensor<?x256x!w>) rhs(%w : tensor<512x256x!w>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @ragged_rows(%a: tensor<?x256x!w>, %w: tensor<8x512x256x!w>, %o: tensor<9xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{'moeq.grouped_matmul' op expects no scale blocks across rows, which start anywhere, got blocks of 128 of 'tensor<?x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!w>) rhs(%w : tensor<8x512x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @config_columns(%a: tensor<?x256x!a>, %w: tensor<8x512x256x!w>, %o: tensor<9xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{'moeq.grouped_matmul' op expects a tile of columns that is a multiple or a divisor of the scale block 128 of 'tensor<8x512x256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>', got 96}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x512x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x512xbf16>) config(<tile = [64, 96]>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!s = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>

func.func @laid_out(%a: tensor<?x256x!s>, %w: tensor<512x256x!s>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{'moeq.matmul' op expects scales in row-major layout to tile rows, got 'tensor<?x256x!moeq.scaled}}
  %0 = moeq.matmul lhs(%a : tensor<?x256x!s>) rhs(%w : tensor<512x256x!s>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @components(%v: tensor<4x256xf8E4M3FN>, %s: tensor<4x1xf32>, %w: tensor<512x256x!a>, %init: tensor<4x512xbf16>) -> tensor<4x512xbf16> {
  // expected-error@+1 {{'moeq.matmul' op expects scaled tensors to tile, got components}}
  %0 = moeq.matmul lhs(%v, %s : tensor<4x256xf8E4M3FN>, tensor<4x1xf32> as !a) rhs(%w : tensor<512x256x!a>) outs(%init : tensor<4x512xbf16>) -> tensor<4x512xbf16>
  return %0 : tensor<4x512xbf16>
}

// -----

func.func @memrefs(%a: memref<4x256xbf16>, %w: memref<512x256xbf16>, %init: memref<4x512xbf16>) {
  // expected-error@+1 {{'moeq.matmul' op expects scaled tensors to tile, got memrefs}}
  moeq.matmul lhs(%a : memref<4x256xbf16>) rhs(%w : memref<512x256xbf16>) outs(%init : memref<4x512xbf16>)
  return
}

// -----

func.func @gated(%a: tensor<4x256xbf16>, %w: tensor<512x256xbf16>, %init: tensor<4x256xf32>) -> tensor<4x256xf32> {
  // expected-error@+1 {{'moeq.matmul' op expects a tile of columns that is a multiple of 64, which a gated epilogue takes together, got 100}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xbf16>) rhs(%w : tensor<512x256xbf16>) outs(%init : tensor<4x256xf32>)
      config(<tile = [64, 100]>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      moeq.yield %up : f32
  } -> tensor<4x256xf32>
  return %0 : tensor<4x256xf32>
}

// -----

func.func @masked(%a: tensor<4x?x256xbf16>, %w: tensor<4x512x256xbf16>, %n: tensor<4xi32>, %init: tensor<4x?x512xbf16>) -> tensor<4x?x512xbf16> {
  // expected-error@+1 {{'moeq.grouped_matmul' op expects neither masked nor gathered rows to tile, got counts}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x?x256xbf16>) rhs(%w : tensor<4x512x256xbf16>) counts(%n : tensor<4xi32>) outs(%init : tensor<4x?x512xbf16>) -> tensor<4x?x512xbf16>
  return %0 : tensor<4x?x512xbf16>
}

// -----

func.func @gathered(%a: tensor<?x256xbf16>, %w: tensor<4x512x256xbf16>, %o: tensor<5xi32>, %rows: tensor<?xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // expected-error@+1 {{'moeq.grouped_matmul' op expects neither masked nor gathered rows to tile, got rows}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<4x512x256xbf16>) offsets(%o : tensor<5xi32>) rows(%rows : tensor<?xi32>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
