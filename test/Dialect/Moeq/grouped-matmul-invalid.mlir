// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @lhs_rank(%a: tensor<1x?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'lhs' of rank 2, got rank 3}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<1x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @rhs_rank(%a: tensor<?x8xf32>, %b: tensor<16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'rhs' of rank 3, got rank 2}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @offsets_rank(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'offsets' of rank 1, got rank 2}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5x1xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @offsets(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<4xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the number of 'offsets' less 1 and the number of experts of 'rhs' to be equal, got 3 and 4}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<4xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @no_offsets(%a: tensor<?x8xf32>, %b: tensor<?x16x8xf32>, %off: tensor<0xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects at least one offset, got 0}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<?x16x8xf32>) offsets(%off : tensor<0xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @offsets_type(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xindex>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op operand #2 must be ranked tensor or memref of i32, but got 'tensor<5xindex>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xindex>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @huge_experts(%a: tensor<?x8xf32>, %b: tensor<9223372036854775807x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects at most 2147483647 experts, which is what ids can name, got 9223372036854775807}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<9223372036854775807x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @types(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf16>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'f32' and 'f16'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf16>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @k(%a: tensor<?x9xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects K of 'lhs' and K of 'rhs' to be equal, got 9 and 8}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x9xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @columns(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x15xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects N of 'rhs' and the columns of 'outs' to be equal, got 16 and 15}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x15xf32>) -> tensor<?x15xf32>
  return
}

// -----

func.func @rows(%a: tensor<6x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<7x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the rows of 'lhs' and those of 'outs' to be equal, got 6 and 7}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<6x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<7x16xf32>) -> tensor<7x16xf32>
  return
}

// -----

func.func @outs_rank(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<4x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'outs' of rank 2, got rank 3}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [96], scale = f32>
func.func @blocks(%a: tensor<?x256x!a>, %b: tensor<4x16x256x!w>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects scale blocks along K that divide one another, got 128 and 96}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<4x16x256x!w>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

// A column operand has a row an expert.
func.func @column_operand(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>, %x: tensor<16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects epilogue operand 0 of map column of shape [4, 16], got 'tensor<16xf32>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) epilogue(%x : tensor<16xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<?x16xf32>
  return
}

// -----

func.func @column_experts(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>, %x: tensor<5x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects epilogue operand 0 of map column of shape [4, 16], got 'tensor<5x16xf32>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) epilogue(%x : tensor<5x16xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<?x16xf32>
  return
}

// -----

func.func @arguments(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>, %x: tensor<?xbf16>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects epilogue arguments of types ('f32', 'index', 'index', 'bf16'), got ('f32', 'index', 'index', 'f32')}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) epilogue(%x : tensor<?xbf16>) maps [row] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<?x16xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [2, 2, 2, 2], scale = f32>
func.func @block_rank(%a: tensor<?x256x!a>, %b: tensor<4x16x256x!w>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'rhs' of rank at least 4, got 'tensor<4x16x256x!moeq.scaled<f8E4M3FN, block = [2, 2, 2, 2], scale = f32>>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<4x16x256x!w>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @plan_rows(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %p: tensor<4x4xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the rows of 'plan' and the number of 'offsets' to be equal, got 4 and 5}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) plan(%p : tensor<4x4xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @no_rows(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects either offsets or counts, got neither}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @offsets_and_counts(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %n: tensor<4xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects either offsets or counts, got both}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) counts(%n : tensor<4xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @masked_rank(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %o: tensor<4x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'lhs' of rank 3, got rank 2}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return
}

// -----

func.func @masked_outs_rank(%a: tensor<4x?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'outs' of rank 3, got rank 2}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @masked_counts(%a: tensor<4x?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<5xi32>, %o: tensor<4x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the number of 'counts' and the number of experts of 'rhs' to be equal, got 5 and 4}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<5xi32>) outs(%o : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return
}

// -----

func.func @masked_lhs(%a: tensor<3x?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %o: tensor<4x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the number of experts of 'lhs' and the number of experts of 'rhs' to be equal, got 3 and 4}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<3x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return
}

// -----

func.func @masked_outs(%a: tensor<4x?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %o: tensor<3x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the number of experts of 'outs' and the number of experts of 'rhs' to be equal, got 3 and 4}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<3x?x16xf32>) -> tensor<3x?x16xf32>
  return
}

// -----

func.func @masked_rows(%a: tensor<4x7x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %o: tensor<4x6x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the rows of 'lhs' and those of 'outs' to be equal, got 7 and 6}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x7x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  return
}

// -----

func.func @masked_row_operand(%a: tensor<4x7x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %s: tensor<28xf32>, %o: tensor<4x7x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects epilogue operand 0 of map row of shape [4, 7], got 'tensor<28xf32>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x7x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<4x7x16xf32>)
      epilogue(%s : tensor<28xf32>) maps [row] {
    ^bb0(%acc: f32, %row: index, %col: index, %s0: f32):
      moeq.yield %acc : f32
  } -> tensor<4x7x16xf32>
  return
}

// -----

func.func @masked_gathered(%a: tensor<4x?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %rows: tensor<?xi32>, %o: tensor<4x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects no rows beside counts}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) rows(%rows : tensor<?xi32>) outs(%o : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return
}

// -----

func.func @masked_plan(%a: tensor<4x?x8xf32>, %b: tensor<4x16x8xf32>, %n: tensor<4xi32>, %p: tensor<5x4xi32>, %o: tensor<4x?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects no plan beside counts}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<4x?x8xf32>) rhs(%b : tensor<4x16x8xf32>) counts(%n : tensor<4xi32>) plan(%p : tensor<5x4xi32>) outs(%o : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  return
}

// -----

func.func @gathered_rows(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %rows: tensor<9xi32>, %o: tensor<8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the number of 'rows' and those of 'outs' to be equal, got 9 and 8}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) rows(%rows : tensor<9xi32>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gathered_rank(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %rows: tensor<9x1xi32>, %o: tensor<9x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'rows' of rank 1, got rank 2}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) rows(%rows : tensor<9x1xi32>) outs(%o : tensor<9x16xf32>) -> tensor<9x16xf32>
  return
}

// -----

func.func @contract_counts(%a: tensor<?x8xf32>, %b: tensor<?x16xf32>, %n: tensor<4xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects offsets alone to contract rows, got counts}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<?x16xf32>) counts(%n : tensor<4xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_epilogue(%a: tensor<?x8xf32>, %b: tensor<?x16xf32>, %off: tensor<5xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects offsets alone to contract rows, got an epilogue}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<?x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      moeq.yield %acc : f32
  } -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_transposed(%a: tensor<?x8xf32>, %b: tensor<?x16xf32>, %off: tensor<5xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects offsets alone to contract rows, got transpose_rhs}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<?x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) transpose_rhs -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_rank(%a: tensor<?x8xf32>, %b: tensor<4x?x16xf32>, %off: tensor<5xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'rhs' of rank 2, got rank 3}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x?x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_kinds(%a: tensor<32x8xbf16>, %b: tensor<32x16x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>, %off: tensor<5xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects two plain or two scaled operands to contract rows, got 'bf16' and '!moeq.scaled<f8E4M3FN, block = [*], scale = f32>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<32x8xbf16>) rhs(%b : tensor<32x16x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_rows(%a: tensor<32x8xf32>, %b: tensor<31x16xf32>, %off: tensor<5xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the rows of 'lhs' and those of 'rhs' to be equal, got 32 and 31}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<32x8xf32>) rhs(%b : tensor<31x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_outs(%a: tensor<32x8xf32>, %b: tensor<32x16xf32>, %off: tensor<5xi32>, %o: tensor<8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects 'outs' of rank 3, got rank 2}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<32x8xf32>) rhs(%b : tensor<32x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<8x16xf32>) contract(rows) -> tensor<8x16xf32>
  return
}

// -----

func.func @contract_experts(%a: tensor<32x8xf32>, %b: tensor<32x16xf32>, %off: tensor<4xi32>, %o: tensor<4x8x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects the number of 'offsets' less 1 and the number of experts of 'outs' to be equal, got 3 and 4}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<32x8xf32>) rhs(%b : tensor<32x16xf32>) offsets(%off : tensor<4xi32>) outs(%o : tensor<4x8x16xf32>) contract(rows) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @contract_n(%a: tensor<32x8xf32>, %b: tensor<32x16xf32>, %off: tensor<5xi32>, %o: tensor<4x9x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects N of 'lhs' and N of 'outs' to be equal, got 8 and 9}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<32x8xf32>) rhs(%b : tensor<32x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x9x16xf32>) contract(rows) -> tensor<4x9x16xf32>
  return
}

// -----

func.func @contract_k(%a: tensor<32x8xf32>, %b: tensor<32x16xf32>, %off: tensor<5xi32>, %o: tensor<4x8x17xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects K of 'rhs' and K of 'outs' to be equal, got 16 and 17}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<32x8xf32>) rhs(%b : tensor<32x16xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<4x8x17xf32>) contract(rows) -> tensor<4x8x17xf32>
  return
}

// -----

func.func @add_to_outs(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects add_to_outs where rows are contracted, got contraction of columns}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) add_to_outs -> tensor<?x16xf32>
  return
}

// -----

func.func @transpose_scaled(%a: tensor<?x8x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>, %b: tensor<4x8x16x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects a plain 'rhs' to transpose, got '!moeq.scaled<f8E4M3FN, block = [*], scale = f32>'}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>) rhs(%b : tensor<4x8x16x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) transpose_rhs -> tensor<?x16xf32>
  return
}

// -----

func.func @transpose_columns(%a: tensor<?x8xf32>, %b: tensor<4x16x8xf32>, %off: tensor<5xi32>, %o: tensor<?x16xf32>) {
  // expected-error @below {{'moeq.grouped_matmul' op expects K of 'lhs' and K of 'rhs' to be equal, got 8 and 16}}
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x8xf32>) rhs(%b : tensor<4x16x8xf32>) offsets(%off : tensor<5xi32>) outs(%o : tensor<?x16xf32>) transpose_rhs -> tensor<?x16xf32>
  return
}
