// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @grad_rank(%d: tensor<32xf32>, %x: tensor<4x32xf32>, %o: tensor<4x32xf32>) {
  // expected-error @below {{'moeq.activate_grad' op expects 'grad' of rank 2, got rank 1}}
  %0 = moeq.activate_grad grad(%d : tensor<32xf32>) input(%x : tensor<4x32xf32>) outs(%o : tensor<4x32xf32>) function(relu) -> tensor<4x32xf32>
  return
}

// -----

func.func @rows(%d: tensor<5x32xf32>, %x: tensor<4x32xf32>, %o: tensor<4x32xf32>) {
  // expected-error @below {{'moeq.activate_grad' op expects the rows of 'input' and those of 'grad' to be equal, got 4 and 5}}
  %0 = moeq.activate_grad grad(%d : tensor<5x32xf32>) input(%x : tensor<4x32xf32>) outs(%o : tensor<4x32xf32>) function(relu) -> tensor<4x32xf32>
  return
}

// -----

func.func @columns(%d: tensor<4x32xf32>, %x: tensor<4x32xf32>, %o: tensor<4x32xf32>) {
  // expected-error @below {{'moeq.activate_grad' op expects the columns of 'input' and twice those of 'grad' under swiglu to be equal, got 32 and 64}}
  %0 = moeq.activate_grad grad(%d : tensor<4x32xf32>) input(%x : tensor<4x32xf32>) outs(%o : tensor<4x32xf32>) function(swiglu) -> tensor<4x32xf32>
  return
}

// -----

func.func @outs_rows(%d: tensor<4x32xf32>, %x: tensor<4x32xf32>, %o: tensor<5x32xf32>) {
  // expected-error @below {{'moeq.activate_grad' op expects the rows of 'input' and those of 'outs' to be equal, got 4 and 5}}
  %0 = moeq.activate_grad grad(%d : tensor<4x32xf32>) input(%x : tensor<4x32xf32>) outs(%o : tensor<5x32xf32>) function(relu) -> tensor<5x32xf32>
  return
}

// -----

func.func @outs_columns(%d: tensor<4x16xf32>, %x: tensor<4x32xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{'moeq.activate_grad' op expects the columns of 'input' and those of 'outs' to be equal, got 32 and 16}}
  %0 = moeq.activate_grad grad(%d : tensor<4x16xf32>) input(%x : tensor<4x32xf32>) outs(%o : tensor<4x16xf32>) function(swiglu) -> tensor<4x16xf32>
  return
}

// -----

func.func @layout(%d: tensor<4x32xf32>, %x: tensor<4x32xf32>, %o: tensor<4x32xf32>) {
  // expected-error @below {{'moeq.activate_grad' op expects a gate_layout only for a gated function, got relu}}
  %0 = moeq.activate_grad grad(%d : tensor<4x32xf32>) input(%x : tensor<4x32xf32>) outs(%o : tensor<4x32xf32>) function(relu) gate_layout(up_first) -> tensor<4x32xf32>
  return
}
