// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @ids_rank(%i: tensor<8xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects 'ids' of rank 2, got rank 1}}
  %0:3 = moeq.group ids(%i : tensor<8xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @rows_rank(%i: tensor<4x2xi32>, %r: tensor<4x2xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects 'rows' of rank 1, got rank 2}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<4x2xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<4x2xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @slots_rank(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<8xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects 'slots' of rank 2, got rank 1}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<8xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<8xi32>, tensor<9xi32>
  return
}

// -----

func.func @offsets_rank(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9x1xi32>) {
  // expected-error @below {{'moeq.group' op expects 'offsets' of rank 1, got rank 2}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9x1xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9x1xi32>
  return
}

// -----

func.func @tokens(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<5x2xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects the tokens of 'ids' and those of 'slots' to be equal, got 4 and 5}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<5x2xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<5x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @top_k(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x3xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects top_k of 'ids' and that of 'slots' to be equal, got 2 and 3}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x3xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<4x3xi32>, tensor<9xi32>
  return
}

// -----

func.func @rows(%i: tensor<4x2xi32>, %r: tensor<9xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects the number of 'rows' and that of 'ids' to be equal, got 9 and 8}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<9xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<9xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @overflow(%i: tensor<4294967296x4294967296xi32>, %r: tensor<0xi32>, %s: tensor<4294967296x4294967296xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op expects the number of 'rows' and that of 'ids' to be equal, got 0 and 9223372036854775807}}
  %0:3 = moeq.group ids(%i : tensor<4294967296x4294967296xi32>) outs(%r, %s, %o : tensor<0xi32>, tensor<4294967296x4294967296xi32>, tensor<9xi32>) -> tensor<0xi32>, tensor<4294967296x4294967296xi32>, tensor<9xi32>
  return
}

// -----

func.func @no_offsets(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<0xi32>) {
  // expected-error @below {{'moeq.group' op expects at least one offset, got 0}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<0xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<0xi32>
  return
}

// -----

func.func @padded_rank(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %p: tensor<9x1xi32>) {
  // expected-error @below {{'moeq.group' op expects 'padded_offsets' of rank 1, got rank 2}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) padded_offsets(%p : tensor<9x1xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<9x1xi32>
  return
}

// -----

func.func @padded(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %p: tensor<8xi32>) {
  // expected-error @below {{'moeq.group' op expects the number of 'padded_offsets' and that of 'offsets' to be equal, got 8 and 9}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) padded_offsets(%p : tensor<8xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<8xi32>
  return
}

// -----

func.func @map_rank(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %m: tensor<i32>) {
  // expected-error @below {{'moeq.group' op expects 'expert_map' of rank 1, got rank 0}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) expert_map(%m : tensor<i32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @weights_alone(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.group' op expects both 'weights' and 'sorted_weights', or neither}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) weights(%w : tensor<4x2xf32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @sorted_alone(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<8xf32>) {
  // expected-error @below {{'moeq.group' op expects both 'weights' and 'sorted_weights', or neither}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) sorted_weights(%w : tensor<8xf32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<8xf32>
  return
}

// -----

func.func @weights_rank(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<8xf32>, %x: tensor<8xf32>) {
  // expected-error @below {{'moeq.group' op expects 'weights' of rank 2, got rank 1}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) weights(%w : tensor<8xf32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) sorted_weights(%x : tensor<8xf32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<8xf32>
  return
}

// -----

func.func @sorted_rank(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<4x2xf32>, %x: tensor<4x2xf32>) {
  // expected-error @below {{'moeq.group' op expects 'sorted_weights' of rank 1, got rank 2}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) weights(%w : tensor<4x2xf32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) sorted_weights(%x : tensor<4x2xf32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @weights_tokens(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<3x2xf32>, %x: tensor<8xf32>) {
  // expected-error @below {{'moeq.group' op expects the tokens of 'weights' and those of 'ids' to be equal, got 3 and 4}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) weights(%w : tensor<3x2xf32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) sorted_weights(%x : tensor<8xf32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<8xf32>
  return
}

// -----

func.func @weights_top_k(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<4x1xf32>, %x: tensor<8xf32>) {
  // expected-error @below {{'moeq.group' op expects top_k of 'weights' and that of 'ids' to be equal, got 1 and 2}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) weights(%w : tensor<4x1xf32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) sorted_weights(%x : tensor<8xf32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<8xf32>
  return
}

// -----

func.func @sorted(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>, %w: tensor<4x2xf32>, %x: tensor<7xf32>) {
  // expected-error @below {{'moeq.group' op expects the number of 'sorted_weights' and that of 'rows' to be equal, got 7 and 8}}
  %0:4 = moeq.group ids(%i : tensor<4x2xi32>) weights(%w : tensor<4x2xf32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) sorted_weights(%x : tensor<7xf32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>, tensor<7xf32>
  return
}

// -----

func.func @ids_type(%i: tensor<4x2xi8>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<9xi32>) {
  // expected-error @below {{'moeq.group' op operand #0 must be ranked tensor or memref of i32, but got 'tensor<4x2xi8>'}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi8>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<9xi32>
  return
}

// -----

func.func @mixed(%i: tensor<4x2xi32>, %r: memref<8xi32>, %s: memref<4x2xi32>, %o: memref<9xi32>) {
  // expected-error @below {{'moeq.group' op expects all operands to be tensors or all to be memrefs}}
  moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : memref<8xi32>, memref<4x2xi32>, memref<9xi32>)
  return
}

// -----

func.func @huge(%i: tensor<4x2xi32>, %r: tensor<8xi32>, %s: tensor<4x2xi32>, %o: tensor<4294967296xi32>) {
  // expected-error @below {{'moeq.group' op expects at most 2147483647 experts, which is what ids can name, got 4294967295}}
  %0:3 = moeq.group ids(%i : tensor<4x2xi32>) outs(%r, %s, %o : tensor<8xi32>, tensor<4x2xi32>, tensor<4294967296xi32>) -> tensor<8xi32>, tensor<4x2xi32>, tensor<4294967296xi32>
  return
}
