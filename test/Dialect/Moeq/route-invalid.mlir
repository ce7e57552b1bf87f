// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @logits_rank(%l: tensor<8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects 'logits' of rank 2, got rank 1}}
  %0:2 = moeq.route logits(%l : tensor<8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @ids_rank(%l: tensor<4x8xf32>, %i: tensor<4xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects 'ids' of rank 2, got rank 1}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4xi32>, tensor<4x2xf32>) -> tensor<4xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @weights_rank(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<f32>) {
  // expected-error @below {{'moeq.route' op expects 'weights' of rank 2, got rank 0}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<f32>) -> tensor<4x2xi32>, tensor<f32>
  return
}

// -----

func.func @tokens(%l: tensor<5x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects the tokens of 'logits' and those of 'ids' to be equal, got 5 and 4}}
  %0:2 = moeq.route logits(%l : tensor<5x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @tokens_of_weights(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<5x2xf32>) {
  // expected-error @below {{'moeq.route' op expects the tokens of 'ids' and those of 'weights' to be equal, got 4 and 5}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<5x2xf32>) -> tensor<4x2xi32>, tensor<5x2xf32>
  return
}

// -----

func.func @top_k(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{'moeq.route' op expects top_k of 'ids' and that of 'weights' to be equal, got 2 and 3}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x3xf32>) -> tensor<4x2xi32>, tensor<4x3xf32>
  return
}

// -----

func.func @dynamic_top_k(%l: tensor<4x8xf32>, %i: tensor<4x?xi32>, %w: tensor<4x?xf32>) {
  // expected-error @below {{'moeq.route' op expects a static top_k}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x?xi32>, tensor<4x?xf32>) -> tensor<4x?xi32>, tensor<4x?xf32>
  return
}

// -----

func.func @zero_top_k(%l: tensor<4x8xf32>, %i: tensor<4x0xi32>, %w: tensor<4x0xf32>) {
  // expected-error @below {{'moeq.route' op expects a positive top_k, got 0}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x0xi32>, tensor<4x0xf32>) -> tensor<4x0xi32>, tensor<4x0xf32>
  return
}

// -----

func.func @many(%l: tensor<4x8xf32>, %i: tensor<4x9xi32>, %w: tensor<4x9xf32>) {
  // expected-error @below {{'moeq.route' op expects top_k of at most the number of experts 8, got 9}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x9xi32>, tensor<4x9xf32>) -> tensor<4x9xi32>, tensor<4x9xf32>
  return
}

// -----

func.func @many_of_weights(%l: tensor<4x8xf32>, %i: tensor<4x?xi32>, %w: tensor<4x9xf32>) {
  // expected-error @below {{'moeq.route' op expects top_k of at most the number of experts 8, got 9}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x?xi32>, tensor<4x9xf32>) -> tensor<4x?xi32>, tensor<4x9xf32>
  return
}

// -----

func.func @bias_rank(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %b: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.route' op expects 'bias' of rank 1, got rank 2}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) bias(%b : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @bias(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>, %b: tensor<7xf32>) {
  // expected-error @below {{'moeq.route' op expects the experts of 'bias' and those of 'logits' to be equal, got 7 and 8}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) bias(%b : tensor<7xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @one_of_groups(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects both n_group and topk_group, or neither}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) n_group(4) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @other_of_groups(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects both n_group and topk_group, or neither}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) topk_group(4) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @no_groups(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects 0 < topk_group <= n_group, got topk_group 1 and n_group 0}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) n_group(0) topk_group(1) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @many_groups(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects 0 < topk_group <= n_group, got topk_group 5 and n_group 4}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) n_group(4) topk_group(5) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @dynamic_experts(%l: tensor<4x?xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects a static number of experts with n_group}}
  %0:2 = moeq.route logits(%l : tensor<4x?xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) n_group(4) topk_group(2) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @uneven(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects n_group to divide the number of experts 8, got 3}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) n_group(3) topk_group(2) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @small_groups(%l: tensor<4x8xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects groups of at least 2 experts with top2_sum, got 1}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) n_group(8) topk_group(2) group_score(top2_sum) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @masked(%l: tensor<4x8xf32>, %i: tensor<4x3xi32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{'moeq.route' op expects top_k of at most the 2 experts of the chosen groups, got 3}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x3xi32>, tensor<4x3xf32>) n_group(4) topk_group(1) -> tensor<4x3xi32>, tensor<4x3xf32>
  return
}

// -----

func.func @logits_type(%l: tensor<4x8xf64>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op operand #0 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<4x8xf64>'}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf64>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @ids_type(%l: tensor<4x8xf32>, %i: tensor<4x2xi64>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op operand #1 must be ranked tensor or memref of i32, but got 'tensor<4x2xi64>'}}
  %0:2 = moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x2xi64>, tensor<4x2xf32>
  return
}

// -----

func.func @mixed(%l: tensor<4x8xf32>, %i: memref<4x2xi32>, %w: memref<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects all operands to be tensors or all to be memrefs}}
  moeq.route logits(%l : tensor<4x8xf32>) outs(%i, %w : memref<4x2xi32>, memref<4x2xf32>)
  return
}

// -----

func.func @operands(%l: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.route' op expected 3 or more operands, but found 1}}
  "moeq.route"(%l) : (tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @huge(%l: tensor<4x4294967296xf32>, %i: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.route' op expects at most 2147483647 experts, which is what ids can name, got 4294967296}}
  %0:2 = moeq.route logits(%l : tensor<4x4294967296xf32>) outs(%i, %w : tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xi32>, tensor<4x2xf32>
  return
}
