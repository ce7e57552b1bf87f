// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @elements(%w: tensor<8x128x4xf32>, %p: tensor<8x128x4xbf16>) {
  // expected-error @below {{'moeq.prepack' op expects 'input' and 'outs' of one element type, got 'f32' and 'bf16'}}
  %0 = moeq.prepack input(%w : tensor<8x128x4xf32>) outs(%p : tensor<8x128x4xbf16>) from(gate_first) to(interleaved_64) -> tensor<8x128x4xbf16>
  return
}

// -----

func.func @no_number(%w: tensor<8x128x4xindex>, %p: tensor<8x128x4xindex>) {
  // expected-error @below {{'moeq.prepack' op expects an 'input' of integers or floats of 8 to 64 bits, got 'index'}}
  %0 = moeq.prepack input(%w : tensor<8x128x4xindex>) outs(%p : tensor<8x128x4xindex>) from(gate_first) to(interleaved_64) -> tensor<8x128x4xindex>
  return
}

// -----

func.func @rank(%w: tensor<128xf32>, %p: tensor<128xf32>) {
  // expected-error @below {{'moeq.prepack' op expects 'input' of rank 2 or 3, got rank 1}}
  %0 = moeq.prepack input(%w : tensor<128xf32>) outs(%p : tensor<128xf32>) from(gate_first) to(interleaved_64) -> tensor<128xf32>
  return
}

// -----

func.func @outs_rank(%w: tensor<8x128xf32>, %p: tensor<8x128x4xf32>) {
  // expected-error @below {{'moeq.prepack' op expects 'outs' of rank 2, got rank 3}}
  %0 = moeq.prepack input(%w : tensor<8x128xf32>) outs(%p : tensor<8x128x4xf32>) from(gate_first) to(interleaved_64) -> tensor<8x128x4xf32>
  return
}

// -----

func.func @extents(%w: tensor<8x128x4xf32>, %p: tensor<8x128x5xf32>) {
  // expected-error @below {{'moeq.prepack' op expects extent 2 of 'input' and that of 'outs' to be equal, got 4 and 5}}
  %0 = moeq.prepack input(%w : tensor<8x128x4xf32>) outs(%p : tensor<8x128x5xf32>) from(gate_first) to(interleaved_64) -> tensor<8x128x5xf32>
  return
}

// -----

func.func @columns(%w: tensor<8x192x4xf32>, %p: tensor<8x192x4xf32>) {
  // expected-error @below {{'moeq.prepack' op expects a multiple of 128 columns of 'input' under gate_layout interleaved_64, got 192}}
  %0 = moeq.prepack input(%w : tensor<8x192x4xf32>) outs(%p : tensor<8x192x4xf32>) from(gate_first) to(interleaved_64) -> tensor<8x192x4xf32>
  return
}

// -----

func.func @kinds(%w: memref<8x128x4xf32>, %p: tensor<8x128x4xf32>) {
  // expected-error @below {{'moeq.prepack' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.prepack input(%w : memref<8x128x4xf32>) outs(%p : tensor<8x128x4xf32>) from(gate_first) to(interleaved_64) -> tensor<8x128x4xf32>
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @blocks(%w: tensor<8x256x256x!b>, %p: tensor<8x256x256x!b>) {
  // expected-error @below {{'moeq.prepack' op expects row-major scales whose blocks span one column or all, got '!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>'}}
  %0 = moeq.prepack input(%w : tensor<8x256x256x!b>) outs(%p : tensor<8x256x256x!b>) from(gate_first) to(interleaved_64) -> tensor<8x256x256x!b>
  return
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>
func.func @packed(%w: tensor<8x128x!p>, %o: tensor<8x128x!p>) {
  // expected-error @below {{'moeq.prepack' op expects columns of whole bytes, got '!moeq.scaled<i4, block = [32], scale = f32>'}}
  %0 = moeq.prepack input(%w : tensor<8x128x!p>) outs(%o : tensor<8x128x!p>) from(gate_first) to(up_first) -> tensor<8x128x!p>
  return
}

// -----

func.func @half(%w: tensor<8x128x4xf32>, %p: tensor<8x128x4xf32>) {
  // expected-error @below {{'moeq.prepack' op expects both or neither of 'from' and 'to'}}
  %0 = "moeq.prepack"(%w, %p) {from = 0 : i32, operandSegmentSizes = array<i32: 1, 1>} : (tensor<8x128x4xf32>, tensor<8x128x4xf32>) -> tensor<8x128x4xf32>
  return
}

// -----

!a = !moeq.scaled<i8, block = [*], scale = f32>
!q = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @packed_rank(%w: tensor<128x64x!a>, %o: tensor<128x64x!q>) {
  // expected-error @below {{'moeq.prepack' op expects packed 'input' of rank 3 to move gate and up, got rank 2}}
  %0 = moeq.prepack input(%w : tensor<128x64x!a>) outs(%o : tensor<128x64x!q>) from(gate_first) to(up_first) -> tensor<128x64x!q>
  return
}

// -----

!a = !moeq.scaled<i8, block = [*], scale = f32>
!q = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @packed_extents(%w: tensor<128x96x!a>, %o: tensor<128x96x!q>) {
  // expected-error @below {{'moeq.prepack' op expects packed 'outs' of static columns, and rows, in multiples of 64, got 'tensor<128x96x!moeq.scaled<i8, block = [*], scale = f32, packing = fragments>>'}}
  %0 = moeq.prepack input(%w : tensor<128x96x!a>) outs(%o : tensor<128x96x!q>) -> tensor<128x96x!q>
  return
}

// -----

!q = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @packed_result(%x: tensor<128x64xf32>, %o: tensor<128x64x!q>) {
  // expected-error @below {{'moeq.quantize' op expects packed weights only where a matmul takes its weights, got '!moeq.scaled<i8, block = [*], scale = f32, packing = fragments>' as 'outs'}}
  %0 = moeq.quantize input(%x : tensor<128x64xf32>) outs(%o : tensor<128x64x!q>) recipe(<int8_sym>) -> tensor<128x64x!q>
  return
}
