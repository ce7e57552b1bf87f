// RUN: moeq-opt %s -verify-diagnostics -split-input-file

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @columns(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<4x64x!mx>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects the columns of 'input' and twice those of 'grad' under swiglu to be equal, got 64 and 128}}
  %0 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) outs(%o : tensor<4x64x!mx>) function(swiglu) recipe(<te_mx>) -> tensor<4x64x!mx>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @outs_rows(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<5x64x!mx>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects the rows of 'input' and those of 'outs' to be equal, got 4 and 5}}
  %0 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) outs(%o : tensor<5x64x!mx>) function(relu) recipe(<te_mx>) -> tensor<5x64x!mx>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @outs_columns(%d: tensor<4x32xf32>, %x: tensor<4x64xf32>, %o: tensor<4x32x!mx>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects the columns of 'input' and those of 'outs' to be equal, got 64 and 32}}
  %0 = moeq.act_quant_grad grad(%d : tensor<4x32xf32>) input(%x : tensor<4x64xf32>) outs(%o : tensor<4x32x!mx>) function(swiglu) recipe(<te_mx>) -> tensor<4x32x!mx>
  return
}

// -----

!square = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

func.func @outs_block(%d: tensor<4x128xf32>, %x: tensor<4x128xf32>, %o: tensor<4x128x!square>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects a rowwise block of 'outs', got '!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>'}}
  %0 = moeq.act_quant_grad grad(%d : tensor<4x128xf32>) input(%x : tensor<4x128xf32>) outs(%o : tensor<4x128x!square>) function(relu) recipe(<deepgemm>) -> tensor<4x128x!square>
  return
}

// -----

func.func @nothing(%d: memref<4x64xf32>, %x: memref<4x64xf32>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects an operand 'outs'}}
  moeq.act_quant_grad grad(%d : memref<4x64xf32>) input(%x : memref<4x64xf32>) function(relu) recipe(<te_mx>)
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @columnwise(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<32x4x!mx>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects extent 0 of 'columnwise' and what is quantized to it to be equal, got 32 and 64}}
  %0 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) columnwise(%o : tensor<32x4x!mx>) function(relu) recipe(<te_mx>) -> tensor<32x4x!mx>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @bias_without_groups(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<3xi32>, %q: tensor<4x64x!mx>, %b: tensor<2x64xf32>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects the offsets of groups beside 'bias_grad'}}
  %0:2 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) outs(%q : tensor<4x64x!mx>) bias_grad(%b : tensor<2x64xf32>) function(relu) recipe(<te_mx>) -> tensor<4x64x!mx>, tensor<2x64xf32>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @bias_rank(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<3xi32>, %q: tensor<4x64x!mx>, %b: tensor<64xf32>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects 'bias_grad' of rank 2, got rank 1}}
  %0:2 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) offsets(%o : tensor<3xi32>) outs(%q : tensor<4x64x!mx>) bias_grad(%b : tensor<64xf32>) function(relu) recipe(<te_mx>) -> tensor<4x64x!mx>, tensor<64xf32>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @bias_groups(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<3xi32>, %q: tensor<4x64x!mx>, %b: tensor<3x64xf32>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects the rows of 'bias_grad' and the groups of 'offsets' to be equal, got 3 and 2}}
  %0:2 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) offsets(%o : tensor<3xi32>) outs(%q : tensor<4x64x!mx>) bias_grad(%b : tensor<3x64xf32>) function(relu) recipe(<te_mx>) -> tensor<4x64x!mx>, tensor<3x64xf32>
  return
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @bias_columns(%d: tensor<4x64xf32>, %x: tensor<4x64xf32>, %o: tensor<3xi32>, %q: tensor<4x64x!mx>, %b: tensor<2x32xf32>) {
  // expected-error @below {{'moeq.act_quant_grad' op expects the columns of 'bias_grad' and those of 'input' to be equal, got 32 and 64}}
  %0:2 = moeq.act_quant_grad grad(%d : tensor<4x64xf32>) input(%x : tensor<4x64xf32>) offsets(%o : tensor<3xi32>) outs(%q : tensor<4x64x!mx>) bias_grad(%b : tensor<2x32xf32>) function(relu) recipe(<te_mx>) -> tensor<4x64x!mx>, tensor<2x32xf32>
  return
}
