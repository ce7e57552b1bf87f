// RUN: moeq-opt %s -verify-diagnostics -split-input-file

func.func @plain_types(%a: tensor<4x256xf32>, %b: tensor<8x256xbf16>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'f32' and 'bf16'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xf32>) rhs(%b : tensor<8x256xbf16>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @scaled_plain(%a: tensor<4x256x!a>, %b: tensor<8x256xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>' and 'f32'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!z = !moeq.scaled<i8, block = [*], scale = f32, zero = i8>
func.func @fp8_int8(%a: tensor<4x256x!a>, %b: tensor<8x256x!z>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>' and '!moeq.scaled<i8, block = [*], scale = f32, zero = i8>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!z>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!z = !moeq.scaled<i8, block = [*], scale = f32, zero = i8>
func.func @int8_fp8(%a: tensor<4x256x!z>, %b: tensor<8x256x!a>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<i8, block = [*], scale = f32, zero = i8>' and '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!z>) rhs(%b : tensor<8x256x!a>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @fp8_int4(%a: tensor<4x256x!a>, %b: tensor<8x256x!i4>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<f8E4M3FN, block = [128], scale = f32>' and '!moeq.scaled<i4, block = [32], scale = f32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!i4>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @int4(%a: tensor<4x256x!i4>, %b: tensor<8x256x!i4>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<i4, block = [32], scale = f32>' and '!moeq.scaled<i4, block = [32], scale = f32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!i4>) rhs(%b : tensor<8x256x!i4>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!f4 = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU>
func.func @fp4(%a: tensor<4x256x!f4>, %b: tensor<8x256x!f4>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got '!moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU>' and '!moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!f4>) rhs(%b : tensor<8x256x!f4>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fnuz(%a: tensor<4x256xf8E4M3FNUZ>, %b: tensor<8x256xf8E4M3FNUZ>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'f8E4M3FNUZ' and 'f8E4M3FNUZ'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xf8E4M3FNUZ>) rhs(%b : tensor<8x256xf8E4M3FNUZ>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f64(%a: tensor<4x256xf64>, %b: tensor<8x256xf64>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'f64' and 'f64'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xf64>) rhs(%b : tensor<8x256xf64>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @index(%a: tensor<4x256xindex>, %b: tensor<8x256xindex>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'index' and 'index'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xindex>) rhs(%b : tensor<8x256xindex>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @unscaled_fp8(%a: tensor<4x256xf8E4M3FN>, %b: tensor<8x256xf8E4M3FN>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'f8E4M3FN' and 'f8E4M3FN'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xf8E4M3FN>) rhs(%b : tensor<8x256xf8E4M3FN>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @i32(%a: tensor<4x256xi32>, %b: tensor<8x256xi32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects operands of two FP8, two integer or one plain float type, or a plain lhs with a scaled rhs, got 'i32' and 'i32'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256xi32>) rhs(%b : tensor<8x256xi32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [96], scale = f32>
func.func @blocks(%a: tensor<4x256x!a>, %b: tensor<8x256x!w>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects scale blocks along K that divide one another, got 128 and 96}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!w>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @k(%a: tensor<4x256x!a>, %b: tensor<8x128x!a>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects K of 'lhs' and K of 'rhs' to be equal, got 256 and 128}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x128x!a>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!i4 = !moeq.scaled<i4, block = [32], scale = f32>
func.func @packed_k(%a: memref<4x62xbf16>, %v: memref<8x32xi8>, %s: memref<8x2xf32>, %o: memref<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects K of 'lhs' and K of 'rhs' to be equal, got 62 and 64}}
  moeq.matmul lhs(%a : memref<4x62xbf16>) rhs(%v, %s : memref<8x32xi8>, memref<8x2xf32> as !i4) outs(%o : memref<4x8xf32>)
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @lhs_rank(%a: tensor<1x4x256x!a>, %b: tensor<8x256x!a>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects 'lhs' of rank 2, got rank 3}}
  %0 = moeq.matmul lhs(%a : tensor<1x4x256x!a>) rhs(%b : tensor<8x256x!a>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rhs_rank(%a: tensor<4x256x!a>, %b: tensor<256x!a>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects 'rhs' of rank 2, got rank 1}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<256x!a>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @outs_rank(%a: tensor<4x256x!a>, %b: tensor<8x256x!a>, %o: tensor<8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects 'outs' of rank 2, got rank 1}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!a>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @rows(%a: tensor<4x256x!a>, %b: tensor<8x256x!a>, %o: tensor<5x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects the rows of 'lhs' and those of 'outs' to be equal, got 4 and 5}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!a>) outs(%o : tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @columns(%a: tensor<4x256x!a>, %b: tensor<8x256x!a>, %o: tensor<4x9xf32>) {
  // expected-error @below {{'moeq.matmul' op expects N of 'rhs' and the columns of 'outs' to be equal, got 8 and 9}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!a>) outs(%o : tensor<4x9xf32>) -> tensor<4x9xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @outs_type(%a: tensor<4x256x!a>, %b: tensor<8x256x!a>, %o: tensor<4x8xi32>) {
  // expected-error @below {{'moeq.matmul' op operand #2 must be ranked tensor or memref of f32, bf16 or f16, but got 'tensor<4x8xi32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x256x!a>) rhs(%b : tensor<8x256x!a>) outs(%o : tensor<4x8xi32>) -> tensor<4x8xi32>
  return
}

// -----

func.func @rank_0(%a: tensor<f32>, %b: tensor<f32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects 'lhs' of rank 2, got rank 0}}
  %0 = moeq.matmul lhs(%a : tensor<f32>) rhs(%b : tensor<f32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>
func.func @scales(%a: memref<2x16xbf16>, %v: memref<8x16xi8>, %s: memref<4x1xf32>, %o: memref<2x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects component 1 of 'rhs' of shape [8, 1], got 'memref<4x1xf32>'}}
  moeq.matmul lhs(%a : memref<2x16xbf16>) rhs(%v, %s : memref<8x16xi8>, memref<4x1xf32> as !w) outs(%o : memref<2x8xf32>)
  return
}

// -----

func.func @mixed(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: memref<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects all operands to be tensors or all to be memrefs}}
  moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : memref<4x8xf32>)
  return
}

// -----

func.func @map_count(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{'moeq.matmul' op expects a map for each of 1 epilogue operands, got 2}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<4xf32>) maps [row, row] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @operand_without_epilogue(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{'moeq.matmul' op expects an epilogue for its operands}}
  %0 = "moeq.matmul"(%a, %b, %x, %o) <{epilogue_maps = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({}) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @map_number(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{'moeq.matmul' op expects a map of 0 to 2 for epilogue operand 0, got 77}}
  %0 = "moeq.matmul"(%a, %b, %x, %o) <{epilogue_maps = array<i32: 77>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  }) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @row_shape(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<5xf32>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue operand 0 of map row of shape [4], got 'tensor<5xf32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<5xf32>) maps [row] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @column_shape(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue operand 0 of map column of shape [8], got 'tensor<4xf32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<4xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @row_column_shape(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<8x4xf32>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue operand 0 of map row_column of shape [4, 8], got 'tensor<8x4xf32>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<8x4xf32>) maps [row_column] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
func.func @scaled_epilogue_operand(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4x128x!a>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue operands of integers or floats of 8 to 64 bits, got 'tensor<4x128x!moeq.scaled<f8E4M3FN, block = [128], scale = f32>>'}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<4x128x!a>) maps [row] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @arguments(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue arguments of types ('f32', 'index', 'index'), got ('f32', 'index')}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @argument_type(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xbf16>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue arguments of types ('f32', 'index', 'index', 'bf16'), got ('f32', 'index', 'index', 'f32')}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<4xbf16>) maps [row] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @yield_type(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects the epilogue to yield 'f32', got 'index'}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      moeq.yield %row : index
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @no_yield(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      // expected-error @below {{block with no terminator}}
      %1 = arith.addf %acc, %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @other_terminator(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects an epilogue that ends with moeq.yield}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      llvm.unreachable
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @empty_block(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects a non-empty block}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @two_blocks(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects region #0 to have 0 or 1 blocks}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      cf.br ^bb1
    ^bb1:
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @yield_without_value(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>) {
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      // expected-error @below {{'moeq.yield' op requires a single operand}}
      "moeq.yield"() : () -> ()
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @map_name(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{expects row, column or row_column, got 'rows'}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue(%x : tensor<4xf32>) maps [rows] {
    ^bb0(%acc: f32, %row: index, %col: index, %e: f32):
      moeq.yield %acc : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @captured_tensor(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: tensor<4xf32>) {
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      // expected-error @below {{expects an epilogue that captures only scalars, got 'tensor<4xf32>': pass it as an epilogue operand}}
      %1 = tensor.extract %x[%row] : tensor<4xf32>
      moeq.yield %1 : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @captured_memref(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: memref<4xf32>) {
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      // expected-error @below {{expects an epilogue that captures only scalars, got 'memref<4xf32>': pass it as an epilogue operand}}
      %1 = memref.load %x[%row] : memref<4xf32>
      moeq.yield %1 : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @captured_vector(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %o: tensor<4x8xf32>, %x: vector<4xf32>) {
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      // expected-error @below {{expects an epilogue that captures only scalars, got 'vector<4xf32>': pass it as an epilogue operand}}
      %1 = vector.extract %x[0] : f32 from vector<4xf32>
      moeq.yield %1 : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @yield_outside(%x: f32) {
  // expected-error @below {{'moeq.yield' op expects parent op to be one of 'moeq.matmul, moeq.grouped_matmul'}}
  moeq.yield %x : f32
}

// -----

func.func @regions(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op requires one region}}
  %0 = "moeq.matmul"(%a, %a, %o) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @negative_segment(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %0 = "moeq.matmul"(%a, %a, %o) <{operandSegmentSizes = array<i32: 1, 2, -1, 1>}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @no_lhs(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{'moeq.matmul' op expects an operand 'lhs'}}
  %0 = "moeq.matmul"(%a, %o) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @maps_type(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{Invalid attribute `epilogue_maps` in property conversion}}
  %0 = "moeq.matmul"(%a, %a, %o) <{epilogue_maps = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @gate_columns(%a: tensor<4x8xf32>, %b: tensor<64x8xf32>, %o: tensor<4x64xf32>) {
  // expected-error @below {{'moeq.matmul' op expects N of 'rhs' and twice the columns of 'outs' to be equal, got 64 and 128}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<64x8xf32>) outs(%o : tensor<4x64xf32>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      moeq.yield %up : f32
  } -> tensor<4x64xf32>
  return
}

// -----

func.func @gate_groups(%a: tensor<4x8xf32>, %b: tensor<96x8xf32>, %o: tensor<4x48xf32>) {
  // expected-error @below {{'moeq.matmul' op expects a multiple of 64 columns of 'outs' to gate, got 48}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<96x8xf32>) outs(%o : tensor<4x48xf32>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      moeq.yield %up : f32
  } -> tensor<4x48xf32>
  return
}

// -----

func.func @gate_arguments(%a: tensor<4x8xf32>, %b: tensor<128x8xf32>, %o: tensor<4x64xf32>) {
  // expected-error @below {{'moeq.matmul' op expects epilogue arguments of types ('f32', 'f32', 'index', 'index'), got ('f32', 'index', 'index')}}
  %0 = moeq.matmul lhs(%a : tensor<4x8xf32>) rhs(%b : tensor<128x8xf32>) outs(%o : tensor<4x64xf32>) epilogue gated {
    ^bb0(%gate: f32, %row: index, %column: index):
      moeq.yield %gate : f32
  } -> tensor<4x64xf32>
  return
}

// -----

func.func @gate_without_epilogue(%a: tensor<4x8xf32>, %b: tensor<128x8xf32>, %o: tensor<4x64xf32>) {
  // expected-error @below {{'moeq.matmul' op expects an epilogue that gates}}
  %0 = "moeq.matmul"(%a, %b, %o) <{gated, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({}) : (tensor<4x8xf32>, tensor<128x8xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}
