// RUN: moeq-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expects an element type of bf16 or f16, got 'f32'}}
func.func private @operand_type(!moeq_gpu.operand<64x64xf32>)

// -----

// expected-error@+1 {{expects a multiple of 64 rows and one of 16 columns that registers hold, got 64 x 24}}
func.func private @operand_columns(!moeq_gpu.operand<64x24xbf16>)

// -----

// expected-error@+1 {{expects tiles of 2 extents, then vectors of 1, got 2 extents}}
func.func private @tile_after_vector(!moeq_gpu.ring<2x[64x64xbf16, 64xi8, 64x64xbf16]>)

// -----

// expected-error@+1 {{expects tiles before vectors, got none}}
func.func private @vectors_alone(!moeq_gpu.ring<2x[64xi8]>)

// -----

// expected-error@+1 {{expects 1 to 262144 elements, got 262145}}
func.func private @vector_size(!moeq_gpu.vector<262145xi8>)

// -----

!ring = !moeq_gpu.ring<2x[64x64xbf16, 64xi8, 64xi8]>
func.func @sources(%ring: !ring, %c: !moeq_gpu.cursor, %m: !moeq_gpu.tensor_map<64x64xbf16>, %i: i32, %p: !llvm.ptr<1>) {
  // expected-error@+1 {{'moeq_gpu.ring.fill' op expects sources of 2 vectors, got 3}}
  moeq_gpu.ring.fill %ring[%c] from(%m at %i, %i) sources(%p, %p, %p) : !ring, !moeq_gpu.tensor_map<64x64xbf16>
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x64xbf16]>
func.func @no_vectors(%ring: !ring, %c: !moeq_gpu.cursor, %m: !moeq_gpu.tensor_map<64x64xbf16>, %i: i32, %p: !llvm.ptr<1>) {
  // expected-error@+1 {{'moeq_gpu.ring.fill' op expects sources of 0 vectors, got 1}}
  moeq_gpu.ring.fill %ring[%c] from(%m at %i, %i) sources(%p) : !ring, !moeq_gpu.tensor_map<64x64xbf16>
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x64xbf16, 48xi8]>
func.func @parts(%ring: !ring, %c: !moeq_gpu.cursor, %m: !moeq_gpu.tensor_map<64x64xbf16>, %i: i32, %p: !llvm.ptr<1>) {
  // expected-error@+1 {{'moeq_gpu.ring.fill' op expects parts of whole 16 bytes, got 2 of '!moeq_gpu.vector<48xi8>'}}
  moeq_gpu.ring.fill %ring[%c] from(%m at %i, %i) sources(%p, %p) : !ring, !moeq_gpu.tensor_map<64x64xbf16>
  return
}

// -----

!ring = !moeq_gpu.ring<2x[64x64xbf16, 64xi8]>
func.func @wait_vectors(%ring: !ring, %c: !moeq_gpu.cursor) {
  // expected-error@+1 {{'moeq_gpu.ring.wait' op expects the payload types as results, got '!moeq_gpu.tile<64x64xbf16>', '!moeq_gpu.vector<32xi8>'}}
  %0, %1 = moeq_gpu.ring.wait %ring[%c] : !ring -> !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.vector<32xi8>
  return
}

// -----

func.func @mma_types(%a: !moeq_gpu.operand<64x64xf16>, %b: !moeq_gpu.tile<64x64xbf16>) {
  // expected-error@+1 {{'moeq_gpu.mma_rs' op expects operands of one type and a result of f32, got '!moeq_gpu.operand<64x64xf16>', '!moeq_gpu.tile<64x64xbf16>' and '!moeq_gpu.fragment<64x64xf32>'}}
  %0 = moeq_gpu.mma_rs %a, %b : !moeq_gpu.operand<64x64xf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_columns(%a: !moeq_gpu.operand<64x32xbf16>, %b: !moeq_gpu.tile<64x64xbf16>) {
  // expected-error@+1 {{'moeq_gpu.mma_rs' op expects operands of one panel and the same columns, got '!moeq_gpu.operand<64x32xbf16>' and '!moeq_gpu.tile<64x64xbf16>'}}
  %0 = moeq_gpu.mma_rs %a, %b : !moeq_gpu.operand<64x32xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_part(%a: !moeq_gpu.operand<64x64xbf16>, %b: !moeq_gpu.tile<64x64xbf16>) {
  // expected-error@+1 {{'moeq_gpu.mma_rs' op expects one of 1, 2 or 4 parts of '!moeq_gpu.tile<64x64xbf16>', got 2 of 2}}
  %0 = moeq_gpu.mma_rs %a, %b part 2 of 2 : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_sync_part(%a: !moeq_gpu.operand<64x64xbf16>, %b: !moeq_gpu.tile<64x64xbf16>, %c: !moeq_gpu.fragment<64x64xf32>) {
  // expected-error@+1 {{'moeq_gpu.mma_sync' op expects one of 1, 2 or 4 parts of '!moeq_gpu.tile<64x64xbf16>', got 1 of 3}}
  %0 = moeq_gpu.mma_sync %a, %b, %c part 1 of 3 : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// -----

func.func @mma_result(%a: !moeq_gpu.operand<64x64xbf16>, %b: !moeq_gpu.tile<64x64xbf16>) {
  // expected-error@+1 {{'moeq_gpu.mma_rs' op expects a result of 64x64, got '!moeq_gpu.fragment<64x32xf32>'}}
  %0 = moeq_gpu.mma_rs %a, %b : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @mma_sync_types(%a: !moeq_gpu.operand<64x64xf16>, %b: !moeq_gpu.tile<32x64xbf16>, %c: !moeq_gpu.fragment<64x32xf32>) {
  // expected-error@+1 {{'moeq_gpu.mma_sync' op expects operands of 8-bit floats, bf16, f16 or i8, got 'f16' and 'bf16'}}
  %0 = moeq_gpu.mma_sync %a, %b, %c : !moeq_gpu.operand<64x64xf16>, !moeq_gpu.tile<32x64xbf16> -> !moeq_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @mma_sync_panel(%a: !moeq_gpu.operand<64x32xbf16>, %b: !moeq_gpu.tile<32x64xbf16>, %c: !moeq_gpu.fragment<64x32xf32>) {
  // expected-error@+1 {{'moeq_gpu.mma_sync' op expects operands of one panel and the same columns, got '!moeq_gpu.operand<64x32xbf16>' and '!moeq_gpu.tile<32x64xbf16>'}}
  %0 = moeq_gpu.mma_sync %a, %b, %c : !moeq_gpu.operand<64x32xbf16>, !moeq_gpu.tile<32x64xbf16> -> !moeq_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @mma_sync_result(%a: !moeq_gpu.operand<128x64xbf16>, %b: !moeq_gpu.tile<32x64xbf16>, %c: !moeq_gpu.fragment<64x32xf32>) {
  // expected-error@+1 {{'moeq_gpu.mma_sync' op expects a result of 128x32, got '!moeq_gpu.fragment<64x32xf32>'}}
  %0 = moeq_gpu.mma_sync %a, %b, %c : !moeq_gpu.operand<128x64xbf16>, !moeq_gpu.tile<32x64xbf16> -> !moeq_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @format(%w: !moeq_gpu.vector<4096xi8>) {
  // expected-error@+1 {{'moeq_gpu.dequant' op expects values of i8, i4, ui4, f8E4M3FN, f8E5M2 or f4E2M1FN, got 'ui8'}}
  %0 = moeq_gpu.dequant %w as ui8 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
  return
}

// -----

func.func @chunks(%w: !moeq_gpu.vector<4096xi8>) {
  // expected-error@+1 {{'moeq_gpu.dequant' op expects chunks for '!moeq_gpu.operand<64x64xbf16>', got '!moeq_gpu.vector<4096xi8>'}}
  %0 = moeq_gpu.dequant %w as i4 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
  return
}

// -----

func.func @scales(%w: !moeq_gpu.vector<4096xi8>, %s: !moeq_gpu.vector<64xf8E8M0FNU>) {
  // expected-error@+1 {{'moeq_gpu.dequant' op expects one or two f8E8M0FNU scales a row of floats, got '!moeq_gpu.vector<64xf8E8M0FNU>' for 'i8'}}
  %0 = moeq_gpu.dequant %w as i8 scales(%s : !moeq_gpu.vector<64xf8E8M0FNU>) : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
  return
}

// -----

func.func @zeros(%w: !moeq_gpu.vector<4096xi8>, %z: !moeq_gpu.vector<192xi8>) {
  // expected-error@+1 {{'moeq_gpu.dequant' op expects one or two i8 zeros a row of integers, got '!moeq_gpu.vector<192xi8>' for 'i8'}}
  %0 = moeq_gpu.dequant %w as i8 zeros(%z : !moeq_gpu.vector<192xi8>) : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
  return
}

// -----

func.func @subvector(%v: !moeq_gpu.vector<64xi8>, %i: i32) {
  // expected-error@+1 {{'moeq_gpu.subvector' op expects elements of '!moeq_gpu.vector<64xi8>', got '!moeq_gpu.vector<128xi8>'}}
  %0 = moeq_gpu.subvector %v[%i] : !moeq_gpu.vector<64xi8> -> !moeq_gpu.vector<128xi8>
  return
}
