// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @plain(%x: tensor<4x8xf32>, %c: tensor<8x4xi8>) {
  // expected-error @below {{'moeq.quantize' op expects a scaled 'columnwise', got 'tensor<8x4xi8>'}}
  %0 = moeq.quantize input(%x : tensor<4x8xf32>) columnwise(%c : tensor<8x4xi8>) recipe(<amax>) -> tensor<8x4xi8>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @input_rank(%x: tensor<2x4x8xf32>, %c: tensor<8x4x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'input' of rank 2, got rank 3}}
  %0 = moeq.quantize input(%x : tensor<2x4x8xf32>) columnwise(%c : tensor<8x4x!a>) recipe(<amax>) -> tensor<8x4x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @rank(%x: tensor<4x8xf32>, %c: tensor<1x8x4x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'columnwise' of rank 2, got rank 3}}
  %0 = moeq.quantize input(%x : tensor<4x8xf32>) columnwise(%c : tensor<1x8x4x!a>) recipe(<amax>) -> tensor<1x8x4x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @transposed_rows(%x: tensor<200x8xf32>, %o: tensor<4xi32>, %c: tensor<8x384x!a>) {
  // expected-error @below {{'moeq.quantize' op expects extent 1 of 'columnwise' and what is quantized to it to be equal, got 384 and 512}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) offsets(%o : tensor<4xi32>) columnwise(%c : tensor<8x384x!a>) recipe(<amax>) -> tensor<8x384x!a>
  return
}

// -----

!t = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @transposed_block(%x: tensor<200x8xf32>, %o: tensor<4xi32>, %c: tensor<8x512x!t>) {
  // expected-error @below {{'moeq.quantize' op expects a transposed 'columnwise' whose block along rows divides 128 where there are offsets, got '!moeq.scaled<f8E4M3FN, block = [*], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) offsets(%o : tensor<4xi32>) columnwise(%c : tensor<8x512x!t>) recipe(<amax>) -> tensor<8x512x!t>
  return
}

// -----

!c = !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f32, groups = 2>
func.func @groups(%x: tensor<200x8xf32>, %o: tensor<4xi32>, %c: tensor<200x8x!c>) {
  // expected-error @below {{'moeq.quantize' op expects 'columnwise' of 3 groups, got '!moeq.scaled<f8E4M3FN, block = [32, 1], scale = f32, groups = 2>'}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) offsets(%o : tensor<4xi32>) columnwise(%c : tensor<200x8x!c>) recipe(<amax>) -> tensor<200x8x!c>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32, groups = 2>
func.func @groups_without_offsets(%x: tensor<200x8xf32>, %c: tensor<200x8x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'outs' of 0 groups, got '!moeq.scaled<f8E4M3FN, block = [32], scale = f32, groups = 2>'}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) outs(%c : tensor<200x8x!a>) recipe(<amax>) -> tensor<200x8x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
func.func @outs_block(%x: tensor<200x8xf32>, %o: tensor<4xi32>, %c: tensor<200x8x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'outs' with blocks inside a row beside offsets or 'columnwise', got '!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) offsets(%o : tensor<4xi32>) outs(%c : tensor<200x8x!a>) recipe(<amax>) -> tensor<200x8x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @offsets_rank(%x: tensor<200x8xf32>, %o: tensor<4x1xi32>, %c: tensor<200x8x!a>) {
  // expected-error @below {{'moeq.quantize' op expects 'offsets' of rank 1, got rank 2}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) offsets(%o : tensor<4x1xi32>) outs(%c : tensor<200x8x!a>) recipe(<amax>) -> tensor<200x8x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @no_group(%x: tensor<200x8xf32>, %o: tensor<1xi32>, %c: tensor<200x8x!a>) {
  // expected-error @below {{'moeq.quantize' op expects the offsets of at least 1 group, got 1 offsets}}
  %0 = moeq.quantize input(%x : tensor<200x8xf32>) offsets(%o : tensor<1xi32>) outs(%c : tensor<200x8x!a>) recipe(<amax>) -> tensor<200x8x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @recipe(%x: tensor<4x8xf32>, %c: tensor<8x4x!a>) {
  // expected-error @below {{'moeq.quantize' op expects scale_round = e8m0_up or e8m0_floor exactly where the scale type is f8E8M0FNU, got #moeq.recipe<te_mx> and '!moeq.scaled<f8E4M3FN, block = [32], scale = f32>'}}
  %0 = moeq.quantize input(%x : tensor<4x8xf32>) columnwise(%c : tensor<8x4x!a>) recipe(<te_mx>) -> tensor<8x4x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32, groups = 2>
func.func @rank_of_groups(%x: memref<4x8xf32>, %q: memref<1x4x8xf8E4M3FN>, %s: memref<1x256x1xf32>) {
  // expected-error @below {{'moeq.quantize' op expects 'outs' of rank 2 where its rows have groups, got 'memref<1x4x8xf8E4M3FN>'}}
  moeq.quantize input(%x : memref<4x8xf32>) outs(%q, %s : memref<1x4x8xf8E4M3FN>, memref<1x256x1xf32> as !a) recipe(<amax>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32, groups = 2>
func.func @other_op(%x: tensor<4x8x!a>, %y: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.dequantize' op expects 'input' with scales that have no groups, got '!moeq.scaled<f8E4M3FN, block = [32], scale = f32, groups = 2>'}}
  %0 = moeq.dequantize input(%x : tensor<4x8x!a>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
