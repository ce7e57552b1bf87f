// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @amax_rank(%a: tensor<64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects 'amax' of rank 2, got rank 1}}
  %0 = moeq.smooth amax(%a : tensor<64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @weight_rank(%a: tensor<8x64xf32>, %w: tensor<96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects 'weight' of rank 3, got rank 2}}
  %0 = moeq.smooth amax(%a : tensor<8x64xf32>) weight(%w : tensor<96x64xf32>) outs(%s : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @channels(%a: tensor<8x32xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects the channels of 'amax' and K of 'weight' to be equal, got 32 and 64}}
  %0 = moeq.smooth amax(%a : tensor<8x32xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @channels_of_outs(%a: tensor<8x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x96xf32>) {
  // expected-error @below {{'moeq.smooth' op expects the channels of 'outs' and K of 'weight' to be equal, got 96 and 64}}
  %0 = moeq.smooth amax(%a : tensor<8x64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x96xf32>) -> tensor<8x96xf32>
  return
}

// -----

func.func @experts(%a: tensor<4x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects the experts of 'amax' and those of 'weight' to be equal, got 4 and 8}}
  %0 = moeq.smooth amax(%a : tensor<4x64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @experts_of_outs(%a: tensor<1x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<2x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects the experts of 'outs' and those of 'weight' to be equal, got 2 and 8}}
  %0 = moeq.smooth amax(%a : tensor<1x64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<2x64xf32>) -> tensor<2x64xf32>
  return
}

// -----

func.func @alpha(%a: tensor<8x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects an alpha of 0 to 1, got 1.5}}
  %0 = moeq.smooth amax(%a : tensor<8x64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x64xf32>) alpha(1.5) -> tensor<8x64xf32>
  return
}

// -----

func.func @floor(%a: tensor<8x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects a normal positive finite floor, got 0}}
  %0 = moeq.smooth amax(%a : tensor<8x64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x64xf32>) floor(0.0) -> tensor<8x64xf32>
  return
}

// -----

func.func @kinds(%a: memref<8x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x64xf32>) {
  // expected-error @below {{'moeq.smooth' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.smooth amax(%a : memref<8x64xf32>) weight(%w : tensor<8x96x64xf32>) outs(%s : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}
