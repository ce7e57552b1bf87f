// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @plain_outs(%x: tensor<4x8xf32>, %o: tensor<4x8xi8>) {
  // expected-error @below {{'moeq.quantize' op expects a scaled 'outs', got 'tensor<4x8xi8>'}}
  %0 = moeq.quantize input(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xi8>) recipe(<amax>) -> tensor<4x8xi8>
  return
}

// -----

func.func @two_plain_outs(%x: tensor<4x8xf32>, %o: tensor<4x8xi8>, %s: tensor<4x1xf32>) {
  // expected-error @below {{'moeq.quantize' op expects one operand 'outs' or the scaled type of its 2 components}}
  %0:2 = moeq.quantize input(%x : tensor<4x8xf32>) outs(%o, %s : tensor<4x8xi8>, tensor<4x1xf32>) recipe(<amax>) -> tensor<4x8xi8>, tensor<4x1xf32>
  return
}

// -----

func.func @no_outs(%x: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.quantize' op expects an operand 'outs'}}
  "moeq.quantize"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, recipe = #moeq.recipe<amax>}> : (tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @format_type(%x: tensor<4x8xf32>, %o: tensor<4x8xi8>) {
  // expected-error @below {{'moeq.quantize' op expects the components of 'outs' as a !moeq.scaled type, got 'f32'}}
  %0 = moeq.quantize input(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xi8> as f32) recipe(<amax>) -> tensor<4x8xi8>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @format_on_plain(%x: tensor<4x256xf32>, %o: tensor<4x256xf8E4M3FN>) {
  // expected-error @below {{'moeq.quantize' op expects 2 components of 'outs' for '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>', got 1}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256xf8E4M3FN> as !a) recipe(<amax>) -> tensor<4x256xf8E4M3FN>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @format_on_scaled(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>, %s: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.quantize' op expects component 0 of 'outs' of 'f8E4M3FN', got 'tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>'}}
  %0:2 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o, %s : tensor<4x256x!a>, tensor<4x2xf32> as !a) recipe(<amax>) -> tensor<4x256x!a>, tensor<4x2xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @component_type(%x: tensor<4x256xf32>, %o: tensor<4x256xf8E4M3FN>, %s: tensor<4x2xbf16>) {
  // expected-error @below {{'moeq.quantize' op expects component 1 of 'outs' of 'f32', got 'tensor<4x2xbf16>'}}
  %0:2 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o, %s : tensor<4x256xf8E4M3FN>, tensor<4x2xbf16> as !a) recipe(<amax>) -> tensor<4x256xf8E4M3FN>, tensor<4x2xbf16>
  return
}

// -----

// A tail block has a scale.
!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @component_shape(%x: memref<4x200xf32>, %o: memref<4x200xf8E4M3FN>, %s: memref<4x1xf32>) {
  // expected-error @below {{'moeq.quantize' op expects component 1 of 'outs' of shape [4, 2], got 'memref<4x1xf32>'}}
  moeq.quantize input(%x : memref<4x200xf32>) outs(%o, %s : memref<4x200xf8E4M3FN>, memref<4x1xf32> as !a) recipe(<amax>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @component_dynamic_shape(%x: memref<?x200xf32>, %o: memref<?x200xf8E4M3FN>, %s: memref<?x1xf32>) {
  // expected-error @below {{'moeq.quantize' op expects component 1 of 'outs' of shape [?, 2], got 'memref<?x1xf32>'}}
  moeq.quantize input(%x : memref<?x200xf32>) outs(%o, %s : memref<?x200xf8E4M3FN>, memref<?x1xf32> as !a) recipe(<amax>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @component_rank(%x: memref<4x256xf32>, %o: memref<4x256xf8E4M3FN>, %s: memref<8xf32>) {
  // expected-error @below {{'moeq.quantize' op expects component 1 of 'outs' of shape [4, 2], got 'memref<8xf32>'}}
  moeq.quantize input(%x : memref<4x256xf32>) outs(%o, %s : memref<4x256xf8E4M3FN>, memref<8xf32> as !a) recipe(<amax>)
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @block_rank(%x: tensor<256xf32>, %o: tensor<256x!b>) {
  // expected-error @below {{'moeq.quantize' op expects 'outs' of rank at least 2, got 'tensor<256x!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>>'}}
  %0 = moeq.quantize input(%x : tensor<256xf32>) outs(%o : tensor<256x!b>) recipe(<amax>) -> tensor<256x!b>
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @component_block_rank(%x: memref<f32>, %o: memref<f8E4M3FN>, %s: memref<f32>) {
  // expected-error @below {{'moeq.quantize' op expects 'outs' of rank at least 2, got 'memref<f8E4M3FN>'}}
  moeq.quantize input(%x : memref<f32>) outs(%o, %s : memref<f8E4M3FN>, memref<f32> as !b) recipe(<amax>)
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @dynamic_nibbles(%x: tensor<4x?xf32>, %o: tensor<4x?x!i4>) {
  // expected-error @below {{'moeq.quantize' op expects a static last extent of 'outs' for values of 4 bits, got 'tensor<4x?x!moeq.scaled<i4, block = [32], scale = f32>>'}}
  %0 = moeq.quantize input(%x : tensor<4x?xf32>) outs(%o : tensor<4x?x!i4>) recipe(<int4_sym>) -> tensor<4x?x!i4>
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @dynamic_bytes(%x: memref<4x?xf32>, %o: memref<4x?xi8>, %s: memref<4x?xf32>) {
  // expected-error @below {{'moeq.quantize' op expects a static last extent of 'outs' for values of 4 bits, got 'memref<4x?xi8>'}}
  moeq.quantize input(%x : memref<4x?xf32>) outs(%o, %s : memref<4x?xi8>, memref<4x?xf32> as !i4) recipe(<int4_sym>)
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [3], scale = f32>
func.func @odd_scales(%x: memref<4x5xf32>, %o: memref<4x3xi8>, %s: memref<4x3xf32>) {
  // expected-error @below {{'moeq.quantize' op expects component 1 of 'outs' of shape [4, 2], got 'memref<4x3xf32>'}}
  moeq.quantize input(%x : memref<4x5xf32>) outs(%o, %s : memref<4x3xi8>, memref<4x3xf32> as !i4) recipe(<int4_sym>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @mixed(%x: memref<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.quantize input(%x : memref<4x256xf32>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rank(%x: tensor<256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'outs' of rank 1, got rank 2}}
  %0 = moeq.quantize input(%x : tensor<256xf32>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @extent(%x: tensor<4x200xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects extent 1 of 'input' and that of 'outs' to be equal, got 200 and 256}}
  %0 = moeq.quantize input(%x : tensor<4x200xf32>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @packed_extent(%x: memref<4x62xf32>, %o: memref<4x32xi8>, %s: memref<4x2xf32>) {
  // expected-error @below {{'moeq.quantize' op expects extent 1 of 'input' and that of 'outs' to be equal, got 62 and 64}}
  moeq.quantize input(%x : memref<4x62xf32>) outs(%o, %s : memref<4x32xi8>, memref<4x2xf32> as !i4) recipe(<int4_sym>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rows_rank(%x: tensor<4x256xf32>, %r: tensor<4x1xi32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'rows' of rank 1, got rank 2}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) rows(%r : tensor<4x1xi32>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rows_input_rank(%x: tensor<2x4x256xf32>, %r: tensor<2xi32>, %o: tensor<2x4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'input' of rank 2, got rank 3}}
  %0 = moeq.quantize input(%x : tensor<2x4x256xf32>) rows(%r : tensor<2xi32>) outs(%o : tensor<2x4x256x!a>) recipe(<amax>) -> tensor<2x4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rows_number(%x: tensor<4x256xf32>, %r: tensor<6xi32>, %o: tensor<5x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects the number of 'rows' and that of 'outs' to be equal, got 6 and 5}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) rows(%r : tensor<6xi32>) outs(%o : tensor<5x256x!a>) recipe(<amax>) -> tensor<5x256x!a>
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @rows_block(%x: tensor<4x256xf32>, %r: tensor<6xi32>, %o: tensor<6x256x!b>) {
  // expected-error @below {{'moeq.quantize' op expects blocks inside a row when rows are gathered, got '!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) rows(%r : tensor<6xi32>) outs(%o : tensor<6x256x!b>) recipe(<amax>) -> tensor<6x256x!b>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @input_type(%x: tensor<4x256xi32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<4x256xi32>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xi32>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @vector_elements(%x: memref<4xvector<4xf32>>, %o: memref<4x256xf8E4M3FN>, %s: memref<4x2xf32>) {
  // expected-error @below {{'moeq.quantize' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'memref<4xvector<4xf32>>'}}
  moeq.quantize input(%x : memref<4xvector<4xf32>>) outs(%o, %s : memref<4x256xf8E4M3FN>, memref<4x2xf32> as !a) recipe(<amax>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @unranked(%x: memref<*xf32>, %o: memref<4x256xf8E4M3FN>, %s: memref<4x2xf32>) {
  // expected-error @below {{'moeq.quantize' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'memref<*xf32>'}}
  moeq.quantize input(%x : memref<*xf32>) outs(%o, %s : memref<4x256xf8E4M3FN>, memref<4x2xf32> as !a) recipe(<amax>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @fnuz_input(%x: tensor<4x256xf8E4M3FNUZ>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<4x256xf8E4M3FNUZ>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf8E4M3FNUZ>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rows_type(%x: tensor<4x256xf32>, %r: tensor<4xi64>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op operand #1 must be ranked tensor or memref of i32, but got 'tensor<4xi64>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) rows(%r : tensor<4xi64>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @affine(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects zero points exactly where the recipe is affine, got #moeq.recipe<int8_asym> and '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256x!a>) recipe(<int8_asym>) -> tensor<4x256x!a>
  return
}

// -----

!z = !moeq.scaled<i8, block = [*], scale = f32, zero = i8>
func.func @not_affine(%x: tensor<4x8xf32>, %o: tensor<4x8x!z>) {
  // expected-error @below {{'moeq.quantize' op expects zero points exactly where the recipe is affine, got #moeq.recipe<amax> and '!moeq.scaled<i8, block = [*], scale = f32, zero = i8>'}}
  %0 = moeq.quantize input(%x : tensor<4x8xf32>) outs(%o : tensor<4x8x!z>) recipe(<amax>) -> tensor<4x8x!z>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @range_of_floats(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects a range of codes only for integer values, got '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256x!a>) recipe(<int4_sym>) -> tensor<4x256x!a>
  return
}

// -----

!w = !moeq.scaled<i4, block = [32], scale = f32>
func.func @range(%x: tensor<4x32xf32>, %o: tensor<4x32x!w>) {
  // expected-error @below {{'moeq.quantize' op expects a range of codes inside -8 to 7 for values of 'i4', got -8 to 8}}
  %0 = moeq.quantize input(%x : tensor<4x32xf32>) outs(%o : tensor<4x32x!w>) recipe(<lo = -8, hi = 8>) -> tensor<4x32x!w>
  return
}

// -----

!w = !moeq.scaled<ui4, block = [32], scale = f32>
func.func @unsigned_range(%x: tensor<4x32xf32>, %o: tensor<4x32x!w>) {
  // expected-error @below {{'moeq.quantize' op expects a range of codes inside 0 to 15 for values of 'ui4', got -1 to 15}}
  %0 = moeq.quantize input(%x : tensor<4x32xf32>) outs(%o : tensor<4x32x!w>) recipe(<lo = -1, hi = 15>) -> tensor<4x32x!w>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @e8m0(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expects scale_round = e8m0_up or e8m0_floor exactly where the scale type is f8E8M0FNU, got #moeq.recipe<ocp> and '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256x!a>) recipe(<ocp>) -> tensor<4x256x!a>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
func.func @not_e8m0(%x: tensor<4x256xf32>, %o: tensor<4x256x!mx>) {
  // expected-error @below {{'moeq.quantize' op expects scale_round = e8m0_up or e8m0_floor exactly where the scale type is f8E8M0FNU, got #moeq.recipe<amax> and '!moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>'}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256x!mx>) recipe(<amax>) -> tensor<4x256x!mx>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @no_recipe(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op requires attribute 'recipe'}}
  %0 = "moeq.quantize"(%x, %o) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>}> : (tensor<4x256xf32>, tensor<4x256x!a>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @segments(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %0 = "moeq.quantize"(%x, %o) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, recipe = #moeq.recipe<amax>}> : (tensor<4x256xf32>, tensor<4x256x!a>) -> tensor<4x256x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @no_result(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256x!a>) recipe(<amax>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @result_type(%x: tensor<4x256xf32>, %o: tensor<4x256x!a>) {
  // expected-error @below {{'moeq.quantize' op expected type of operand #1 ('tensor<4x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>') to match type of corresponding result ('tensor<?x256x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>')}}
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%o : tensor<4x256x!a>) recipe(<amax>) -> tensor<?x256x!a>
  return
}
