// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @input_rank(%x: tensor<32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects 'input' of rank 2, got rank 1}}
  %0 = moeq.activate input(%x : tensor<32xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @outs_rank(%x: tensor<4x32xf32>, %o: tensor<16xf32>) {
  // expected-error @below {{'moeq.activate' op expects 'outs' of rank 2, got rank 1}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<16xf32>) function(swiglu) -> tensor<16xf32>
  return
}

// -----

func.func @rows(%x: tensor<5x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects the rows of 'input' and those of 'outs' to be equal, got 5 and 4}}
  %0 = moeq.activate input(%x : tensor<5x32xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @gated_columns(%x: tensor<4x16xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects the columns of 'input' and twice those of 'outs' under swiglu to be equal, got 16 and 32}}
  %0 = moeq.activate input(%x : tensor<4x16xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @plain_columns(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects the columns of 'input' and those of 'outs' under silu to be equal, got 32 and 16}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(silu) -> tensor<4x16xf32>
  return
}

// -----

func.func @odd(%x: tensor<4x33xf32>, %o: tensor<4x?xf32>) {
  // expected-error @below {{'moeq.activate' op expects a multiple of 2 columns of 'input' under gate_layout gate_first, got 33}}
  %0 = moeq.activate input(%x : tensor<4x33xf32>) outs(%o : tensor<4x?xf32>) function(geglu) -> tensor<4x?xf32>
  return
}

// -----

func.func @gate_layout(%x: tensor<4x16xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects a gate_layout only for a gated function, got relu}}
  %0 = moeq.activate input(%x : tensor<4x16xf32>) outs(%o : tensor<4x16xf32>) function(relu) gate_layout(interleaved) -> tensor<4x16xf32>
  return
}

// -----

func.func @limit(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects limit and alpha only for clamped_swiglu, got swiglu}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) limit(7.0) -> tensor<4x16xf32>
  return
}

// -----

func.func @alpha(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects limit and alpha only for clamped_swiglu, got reglu}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(reglu) alpha(1.0) -> tensor<4x16xf32>
  return
}

// -----

func.func @negative_limit(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects a positive finite limit, got -1.000000e+00}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(clamped_swiglu) limit(-1.0) -> tensor<4x16xf32>
  return
}

// -----

func.func @infinite_limit(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects a positive finite limit, got}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(clamped_swiglu) limit(0x7f800000) -> tensor<4x16xf32>
  return
}

// -----

func.func @zero_limit(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects a positive finite limit, got 0.000000e+00}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(clamped_swiglu) limit(0.0) -> tensor<4x16xf32>
  return
}

// -----

func.func @nan_alpha(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects a finite alpha, got}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(clamped_swiglu) alpha(0x7fc00000) -> tensor<4x16xf32>
  return
}

// -----

func.func @weight_rank(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>, %w: tensor<4x1xf32>) {
  // expected-error @below {{'moeq.activate' op expects 'row_weight' of rank 1, got rank 2}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) row_weight(%w : tensor<4x1xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @weight(%x: tensor<4x32xf32>, %o: tensor<4x16xf32>, %w: tensor<3xf32>) {
  // expected-error @below {{'moeq.activate' op expects the number of 'row_weight' and the rows of 'input' to be equal, got 3 and 4}}
  %0 = moeq.activate input(%x : tensor<4x32xf32>) row_weight(%w : tensor<3xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @input_type(%x: tensor<4x32xf64>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<4x32xf64>'}}
  %0 = moeq.activate input(%x : tensor<4x32xf64>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @overflow(%x: tensor<4x0xf32>, %o: tensor<4x4611686018427387904xf32>) {
  // expected-error @below {{'moeq.activate' op expects the columns of 'input' and twice those of 'outs' under swiglu to be equal, got 0 and 9223372036854775807}}
  %0 = moeq.activate input(%x : tensor<4x0xf32>) outs(%o : tensor<4x4611686018427387904xf32>) function(swiglu) -> tensor<4x4611686018427387904xf32>
  return
}

// -----

func.func @mixed(%x: tensor<4x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op expects all operands to be tensors or all to be memrefs}}
  moeq.activate input(%x : tensor<4x16xf32>) outs(%o : memref<4x16xf32>) function(relu)
  return
}

// -----

func.func @no_function(%x: tensor<4x16xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate' op requires attribute 'function'}}
  %0 = "moeq.activate"(%x, %o) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @groups_of_64(%x: tensor<4x24xf32>, %o: tensor<4x12xf32>) {
  // expected-error @below {{'moeq.activate' op expects a multiple of 128 columns of 'input' under gate_layout interleaved_64, got 24}}
  %0 = moeq.activate input(%x : tensor<4x24xf32>) outs(%o : tensor<4x12xf32>) function(swiglu) gate_layout(interleaved_64) -> tensor<4x12xf32>
  return
}
