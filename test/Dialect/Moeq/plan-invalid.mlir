// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @offsets_rank(%o: tensor<9x1xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects 'offsets' of rank 1, got rank 2}}
  %0 = moeq.plan offsets(%o : tensor<9x1xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<9x4xi32>
  return
}

// -----

func.func @plan_rank(%o: tensor<9xi32>, %n: index, %p: tensor<36xi32>) {
  // expected-error @below {{'moeq.plan' op expects 'plan' of rank 2, got rank 1}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<36xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<36xi32>
  return
}

// -----

func.func @plan_rows(%o: tensor<9xi32>, %n: index, %p: tensor<8x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects the rows of 'plan' and the number of 'offsets' to be equal, got 8 and 9}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<8x4xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<8x4xi32>
  return
}

// -----

func.func @plan_fields(%o: tensor<?xi32>, %n: index, %p: tensor<?x3xi32>) {
  // expected-error @below {{'moeq.plan' op expects the columns of 'plan' and its fields to be equal, got 3 and 4}}
  %0 = moeq.plan offsets(%o : tensor<?xi32>) columns(%n) outs(%p : tensor<?x3xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<?x3xi32>
  return
}

// -----

func.func @kinds(%o: memref<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects all operands to be tensors or all to be memrefs}}
  %0 = moeq.plan offsets(%o : memref<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<9x4xi32>
  return
}

// -----

func.func @no_offsets(%o: tensor<0xi32>, %n: index, %p: tensor<0x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects 1 to 1025 offsets, got 0}}
  %0 = moeq.plan offsets(%o : tensor<0xi32>) columns(%n) outs(%p : tensor<0x4xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<0x4xi32>
  return
}

// -----

func.func @many_offsets(%o: tensor<1026xi32>, %n: index, %p: tensor<1026x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects 1 to 1025 offsets, got 1026}}
  %0 = moeq.plan offsets(%o : tensor<1026xi32>) columns(%n) outs(%p : tensor<1026x4xi32>) tile_columns(256) max_width(160) ctas(132) -> tensor<1026x4xi32>
  return
}

// -----

func.func @max_width(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects a max_width of 8 to 256 in steps of 8, got 100}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(100) ctas(132) -> tensor<9x4xi32>
  return
}

// -----

func.func @widest(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects a max_width of 8 to 256 in steps of 8, got 264}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(264) ctas(132) -> tensor<9x4xi32>
  return
}

// -----

func.func @tile_columns(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects tile_columns of 8 to 1024, got 0}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(0) max_width(160) ctas(132) -> tensor<9x4xi32>
  return
}

// -----

func.func @ctas(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects ctas of 1 to 4096, got 5000}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(160) ctas(5000) -> tensor<9x4xi32>
  return
}

// -----

func.func @overhead(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects overhead of 0 to 1024, got -1}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(160) ctas(132) overhead(-1) -> tensor<9x4xi32>
  return
}

// -----

func.func @width_step(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects a width_step of 8 or 16, got 4}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(160) ctas(132) width_step(4) -> tensor<9x4xi32>
  return
}

// -----

func.func @wider_step(%o: tensor<9xi32>, %n: index, %p: tensor<9x4xi32>) {
  // expected-error @below {{'moeq.plan' op expects a max_width of 16 to 256 in steps of 16, got 168}}
  %0 = moeq.plan offsets(%o : tensor<9xi32>) columns(%n) outs(%p : tensor<9x4xi32>) tile_columns(256) max_width(168) ctas(132) width_step(16) -> tensor<9x4xi32>
  return
}
