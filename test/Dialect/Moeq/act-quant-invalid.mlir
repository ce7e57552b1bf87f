// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @plain(%x: tensor<4x256xf32>, %o: tensor<4x128xi8>) {
  // expected-error @below {{'moeq.act_quant' op expects a scaled 'outs', got 'tensor<4x128xi8>'}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) outs(%o : tensor<4x128xi8>) function(swiglu) recipe(<amax>) -> tensor<4x128xi8>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @outs_rank(%x: tensor<4x256xf32>, %o: tensor<1x4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects 'outs' of rank 2, got rank 3}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) outs(%o : tensor<1x4x128x!a>) function(swiglu) recipe(<amax>) -> tensor<1x4x128x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @input_rank(%x: tensor<256xf32>, %o: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects 'input' of rank 2, got rank 1}}
  %0 = moeq.act_quant input(%x : tensor<256xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) recipe(<amax>) -> tensor<4x128x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rows(%x: tensor<5x256xf32>, %o: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects the rows of 'input' and those of 'outs' to be equal, got 5 and 4}}
  %0 = moeq.act_quant input(%x : tensor<5x256xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) recipe(<amax>) -> tensor<4x128x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @columns(%x: tensor<4x255xf32>, %o: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects the columns of 'input' and twice those of 'outs' under swiglu to be equal, got 255 and 256}}
  %0 = moeq.act_quant input(%x : tensor<4x255xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) recipe(<amax>) -> tensor<4x128x!a>
  return
}

// -----

!c = !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f32>
func.func @block(%x: tensor<4x256xf32>, %o: tensor<4x128x!c>) {
  // expected-error @below {{'moeq.act_quant' op expects a rowwise block of 'outs', got '!moeq.scaled<f8E4M3FN, block = [32, 1], scale = f32>'}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) outs(%o : tensor<4x128x!c>) function(swiglu) recipe(<amax>) -> tensor<4x128x!c>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @recipe(%x: tensor<4x256xf32>, %o: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects scale_round = e8m0_up or e8m0_floor exactly where the scale type is f8E8M0FNU, got #moeq.recipe<te_mx> and '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>'}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) recipe(<te_mx>) -> tensor<4x128x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @limit(%x: tensor<4x256xf32>, %o: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects limit and alpha only for clamped_swiglu, got swiglu}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) limit(7.0) recipe(<amax>) -> tensor<4x128x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @weight(%x: tensor<4x256xf32>, %o: tensor<4x128x!a>, %w: tensor<3xf32>) {
  // expected-error @below {{'moeq.act_quant' op expects the number of 'row_weight' and the rows of 'input' to be equal, got 3 and 4}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) row_weight(%w : tensor<3xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) recipe(<amax>) -> tensor<4x128x!a>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @mixed(%x: memref<4x256xf32>, %o: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.act_quant' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.act_quant input(%x : memref<4x256xf32>) outs(%o : tensor<4x128x!a>) function(swiglu) recipe(<amax>) -> tensor<4x128x!a>
  return
}

// -----

!c = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @columnwise(%x: tensor<4x256xf32>, %o: tensor<4x128x!c>) {
  // expected-error @below {{'moeq.act_quant' op expects extent 0 of 'columnwise' and what is quantized to it to be equal, got 4 and 128}}
  %0 = moeq.act_quant input(%x : tensor<4x256xf32>) columnwise(%o : tensor<4x128x!c>) function(swiglu) recipe(<amax>) -> tensor<4x128x!c>
  return
}
