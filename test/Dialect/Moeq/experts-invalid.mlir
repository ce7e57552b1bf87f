// RUN: moeq-opt %s -verify-diagnostics -split-input-file

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @hidden_rank(%x: tensor<64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects 'hidden' of rank 2, got rank 1}}
  %0 = moeq.experts hidden(%x : tensor<64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @logits_rank(%x: tensor<?x64xbf16>, %l: tensor<8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects 'logits' of rank 2, got rank 1}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @w13_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects 'w13' of rank 3, got rank 2}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @w2_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects 'w2' of rank 3, got rank 2}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @outs_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64x1xbf16>) {
  // expected-error @below {{'moeq.experts' op expects 'outs' of rank 2, got rank 3}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64x1xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64x1xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @tokens_of_logits(%x: tensor<3x64xbf16>, %l: tensor<4x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the tokens of 'hidden' and those of 'logits' to be equal, got 3 and 4}}
  %0 = moeq.experts hidden(%x : tensor<3x64xbf16>) logits(%l : tensor<4x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @tokens_of_outs(%x: tensor<3x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<4x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the tokens of 'hidden' and those of 'outs' to be equal, got 3 and 4}}
  %0 = moeq.experts hidden(%x : tensor<3x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<4x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<4x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @columns(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x65xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the columns of 'hidden' and those of 'outs' to be equal, got 64 and 65}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x65xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x65xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @k(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x32x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the columns of 'hidden' and K of 'w13' to be equal, got 64 and 32}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x32x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @experts(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<7x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the experts of 'w13' and those of 'w2' to be equal, got 8 and 7}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<7x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @w2_rows(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x63x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the rows of an expert of 'w2' and the columns of 'outs' to be equal, got 63 and 64}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x63x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @gated(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x128x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects N of 'w13' and twice K of 'w2' under swiglu to be equal, got 128 and 256}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x128x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @plain(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects N of 'w13' and K of 'w2' under silu to be equal, got 256 and 128}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(silu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @gate_layout(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x128x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects a gate_layout only for a gated function, got silu}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x128x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(silu) gate_layout(up_first) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @limit(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects limit and alpha only for clamped_swiglu, got swiglu}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) limit(7.0) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @limit_value(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects a positive finite limit, got -7.000000e+00}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(clamped_swiglu) limit(-7.0) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @shared(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects shared_experts of 0 to the number of experts less one, got 8}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) shared_experts(8) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @negative_shared(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects shared_experts of 0 to the number of experts less one, got -1}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) shared_experts(-1) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @shared_with_map(%x: tensor<?x64xbf16>, %l: tensor<?x16xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<16xi32>) {
  // expected-error @below {{'moeq.experts' op expects no shared experts beside an expert map}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x16xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) expert_map(%m : tensor<16xi32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) shared_experts(1) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @logits(%x: tensor<?x64xbf16>, %l: tensor<?x7xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the experts of 'logits' and the routed experts of 'w13' to be equal, got 7 and 8}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x7xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @logits_with_shared(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects the experts of 'logits' and the routed experts of 'w13' to be equal, got 8 and 7}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) shared_experts(1) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @map_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<8x1xi32>) {
  // expected-error @below {{'moeq.experts' op expects 'expert_map' of rank 1, got rank 2}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) expert_map(%m : tensor<8x1xi32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @map(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<9xi32>) {
  // expected-error @below {{'moeq.experts' op expects the extent of 'expert_map' and the experts of 'logits' to be equal, got 9 and 8}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) expert_map(%m : tensor<9xi32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @bias_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<8x1xf32>) {
  // expected-error @below {{'moeq.experts' op expects 'router_bias' of rank 1, got rank 2}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) router_bias(%m : tensor<8x1xf32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @router_bias(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<9xf32>) {
  // expected-error @below {{'moeq.experts' op expects the experts of 'router_bias' and those of 'logits' to be equal, got 9 and 8}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) router_bias(%m : tensor<9xf32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @bias13_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<256xf32>) {
  // expected-error @below {{'moeq.experts' op expects 'bias13' of rank 2, got rank 1}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) bias13(%m : tensor<256xf32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @bias13_experts(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<1x256xf32>) {
  // expected-error @below {{'moeq.experts' op expects the experts of 'bias13' and those of its weight to be equal, got 1 and 8}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) bias13(%m : tensor<1x256xf32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @bias2_columns(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>, %m: tensor<8x128xf32>) {
  // expected-error @below {{'moeq.experts' op expects the columns of 'bias2' and N of its weight to be equal, got 128 and 64}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>) bias2(%m : tensor<8x128xf32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @format(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects to quantize to a !moeq.scaled type, got 'f32'}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to f32) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @format_rank(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects to quantize to blocks of rank at most 2, got '!moeq.scaled<f8E4M3FN, block = [2, 2, 2], scale = f32>'}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !moeq.scaled<f8E4M3FN, block = [2, 2, 2], scale = f32>) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @format_rows(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects to quantize to blocks of one row or of all, got '!moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>'}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @recipe(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects scale_round = e8m0_up or e8m0_floor exactly where the scale type is f8E8M0FNU, got #moeq.recipe<ocp> and '!moeq.scaled<f8E4M3FN, block = [*], scale = f32>'}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<ocp> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @types(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<i8, block = [*], scale = f32>' and '!moeq.scaled<f8E4M3FN, block = [*], scale = f32>'}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !moeq.scaled<i8, block = [*], scale = f32>) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @plain_types(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128xf16>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'bf16' and 'f16'}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128xf16>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!m = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @blocks(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!m>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects scale blocks along K that divide one another, got 48 and 32}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!m>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !moeq.scaled<f8E4M3FN, block = [48], scale = f32>) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @top_k(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects a positive top_k, got 0}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(0) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @many(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects top_k of at most the number of experts 8, got 9}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(9) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @groups(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects both n_group and topk_group, or neither}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) n_group(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @one_of_recipe(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects both a recipe and the type to quantize to, or neither}}
  %0 = "moeq.experts"(%x, %l, %w13, %w2, %o) <{top_k = 2 : i64, function = 6 : i32, recipe = #moeq.recipe<amax>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 1>}> : (tensor<?x64xbf16>, tensor<?x8xf32>, tensor<8x256x64x!w>, tensor<8x64x128x!w>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @components(%x: memref<?x64xbf16>, %l: memref<?x8xf32>, %w13: memref<8x256x64xf8E4M3FN>, %s: memref<8x4x1xf32>, %w2: memref<8x64x128xbf16>, %o: memref<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects component 1 of 'w13' of shape [8, 256, 1], got 'memref<8x4x1xf32>'}}
  moeq.experts hidden(%x : memref<?x64xbf16>) logits(%l : memref<?x8xf32>) w13(%w13, %s : memref<8x256x64xf8E4M3FN>, memref<8x4x1xf32> as !w) w2(%w2 : memref<8x64x128xbf16>)
      outs(%o : memref<?x64xbf16>) top_k(2) function(swiglu)
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @mixed(%x: memref<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x64x!w>, %w2: tensor<8x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.experts hidden(%x : memref<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x256x64x!w>) w2(%w2 : tensor<8x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @huge(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<9223372036854775807x256x64x!w>, %w2: tensor<9223372036854775807x64x128x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects at most 2147483647 experts, which is what ids can name, got 9223372036854775807}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<9223372036854775807x256x64x!w>) w2(%w2 : tensor<9223372036854775807x64x128x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @odd(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x255x64x!w>, %w2: tensor<8x64x?x!w>, %o: tensor<?x64xbf16>) {
  // expected-error @below {{'moeq.experts' op expects a multiple of 2 columns of 'w13' under gate_layout gate_first, got 255}}
  %0 = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x8xf32>) w13(%w13 : tensor<8x255x64x!w>) w2(%w2 : tensor<8x64x?x!w>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) quantize(<amax> to !w) -> tensor<?x64xbf16>
  return
}
