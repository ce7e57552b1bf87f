// RUN: moeq-opt %s --moeq-smooth-quant -verify-diagnostics -split-input-file
// RUN: not moeq-opt --moeq-smooth-quant=alpha=2 /dev/null 2>&1 | FileCheck %s --check-prefix=ALPHA
// RUN: not moeq-opt --moeq-smooth-quant=floor=0 /dev/null 2>&1 | FileCheck %s --check-prefix=FLOOR

// ALPHA: expects an alpha of 0 to 1, got 2
// FLOOR: expects a normal positive finite floor, got 0

func.func @constant(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w13 = arith.constant dense<1.0> : tensor<4x64x64xf32>
  // expected-error @below {{'moeq.experts' op expects 'w13' to be an argument of the function that nothing but the layer uses, to smooth it}}
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%w13 : tensor<4x64x64xf32>) w2(%w2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

func.func @twice(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x64x64xf32>, %w2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<4x64x32xf32>) {
  // expected-error @below {{'moeq.experts' op expects 'w2' to be an argument of the function}}
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%w13 : tensor<4x64x64xf32>) w2(%w2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
  return %r, %w2 : tensor<?x64xf32>, tensor<4x64x32xf32>
}

// -----

func.func private @layer_prepare()
func.func @layer(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x64x64xf32>, %w2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{'moeq.experts' op expects no symbol 'layer_prepare' beside the layer's function}}
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%w13 : tensor<4x64x64xf32>) w2(%w2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

func.func @called(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x64x64xf32>, %w2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{'moeq.experts' op expects a layer in a function without callers, got 'called', whose arguments would change}}
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%w13 : tensor<4x64x64xf32>) w2(%w2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
func.func @caller(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x64x64xf32>, %w2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = call @called(%x, %l, %w13, %w2, %o) : (tensor<?x64xf32>, tensor<?x4xf32>, tensor<4x64x64xf32>, tensor<4x64x32xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

func.func @two_layers(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %a13: tensor<4x64x64xf32>, %a2: tensor<4x64x32xf32>, %b13: tensor<4x64x64xf32>, %b2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%a13 : tensor<4x64x64xf32>) w2(%a2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
  // expected-error @below {{'moeq.experts' op expects one layer a function to smooth}}
  %s = moeq.experts hidden(%r : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%b13 : tensor<4x64x64xf32>) w2(%b2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}
// -----

gpu.module @kernels {
  func.func @f(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x64x64xf32>, %w2: tensor<4x64x32xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
    // expected-error @below {{'moeq.experts' op expects a layer in a function of the module}}
    %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>) w13(%w13 : tensor<4x64x64xf32>) w2(%w2 : tensor<4x64x32xf32>) outs(%o : tensor<?x64xf32>) top_k(2) function(swiglu) -> tensor<?x64xf32>
    return %r : tensor<?x64xf32>
  }
}
