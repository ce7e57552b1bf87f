//===- MoeqGPUFragmentOps.td - Ops on registers ------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls, and what precedes and follows them in registers. Included by
// MoeqGPUOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUFRAGMENTOPS_TD
#define MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUFRAGMENTOPS_TD

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def MoeqGPU_ZeroOp : MoeqGPU_Op<"zero", [Pure]> {
  let summary = "a fragment of zeros";
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MoeqGPU_MmaOp : MoeqGPU_Op<"mma"> {
  let summary = "starts an asynchronous matmul";
  let description = [{
    `A * B^T`, plus `accumulator` where there is one, for `a` [rows, K], rows a
    multiple of 64, and `b` [columns, K] in shared memory. The result, and the tiles, may not be touched
    before a `mma_wait` has covered it; another `mma` may go on from the result.
    `transpose_a`, `transpose_b`: the tile, of 16-bit elements, is [K, rows] or [K,
    columns], in panels of 64.
    `overwrite`: the sum starts from zero, in the registers of `accumulator`.

    ```mlir
    %d = moeq_gpu.mma %a, %b, %c
        : !moeq_gpu.tile<64x128xf8E4M3FN>, !moeq_gpu.tile<256x128xf8E4M3FN>
        -> !moeq_gpu.fragment<64x256xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_TileType:$a, MoeqGPU_TileType:$b,
                       Optional<MoeqGPU_FragmentType>:$accumulator,
                       UnitAttr:$overwrite, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $accumulator^)? (`overwrite` $overwrite^)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict
    `:` type($a) `,` type($b) `->` custom<Accumulator>(type($result), ref($accumulator), type($accumulator))
  }];
  let hasVerifier = 1;
}

// The columns of both operands that a matmul takes: part `part` of `parts` equal
// ones of a panel, 1, 2 or 4.
class MoeqGPU_WithPart<dag operands> {
  dag arguments = !con(operands, (ins
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$part,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$parts));
}

def MoeqGPU_MmaSyncOp : MoeqGPU_Op<"mma_sync", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "a matmul that has ended when the next op begins";
  let description = [{
    `A * B^T + accumulator` like `mma`, by the instructions that each warp has:
    `ldmatrix` and `mma.sync`, of sm_80 and later. 8-bit floats are widened to
    f16, which is exact, where the target of the module does not multiply them. `a`
    may be in registers. `part i of n`: the sum over the i-th of n equal parts of the
    columns.

    ```mlir
    %d = moeq_gpu.mma_sync %a, %b, %c
        : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<128x64xbf16>
        -> !moeq_gpu.fragment<64x128xf32>
    ```
  }];
  let arguments = MoeqGPU_WithPart<(ins AnyTypeOf<[MoeqGPU_TileType, MoeqGPU_OperandType]>:$a,
                                        MoeqGPU_TileType:$b,
                                        MoeqGPU_FragmentType:$accumulator)>.arguments;
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $accumulator (`part` $part `of` $parts^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_MmaRsOp : MoeqGPU_Op<"mma_rs"> {
  let summary = "starts an asynchronous matmul with A in registers";
  let description = [{
    As `mma`. `a` must be among the registers of the `mma_wait` that covers it. `part i of n` as
    in `mma_sync`.

    ```mlir
    %d = moeq_gpu.mma_rs %a, %b, %c
        : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<256x64xbf16>
        -> !moeq_gpu.fragment<64x256xf32>
    %e = moeq_gpu.mma_rs %a, %b part 1 of 2
        : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<256x64xbf16>
        -> !moeq_gpu.fragment<64x256xf32>
    ```
  }];
  let arguments = MoeqGPU_WithPart<(ins MoeqGPU_OperandType:$a, MoeqGPU_TileType:$b,
                                        Optional<MoeqGPU_FragmentType>:$accumulator)>.arguments;
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $accumulator^)? (`part` $part `of` $parts^)? attr-dict
    `:` type($a) `,` type($b) `->` custom<Accumulator>(type($result), ref($accumulator), type($accumulator))
  }];
  let hasVerifier = 1;
}

def MoeqGPU_DequantOp : MoeqGPU_Op<"dequant", [AttrSizedOperandSegments]> {
  let summary = "packed weights to the A operand of a matmul";
  let description = [{
    `values` are chunks of packed weights of type `format` (docs/Spec.md, "Packed
    weights"), one for each 64 rows of the result, which has 64 columns. Element
    (r, k) of it is the value, minus the zero (i8) of its row and group, times its
    scale (f8E8M0FNU), which has one rounding where the product has no exact
    form. Zeros and scales lie as the chunks do: those of 64 rows for each group of
    columns.

    ```mlir
    %a = moeq_gpu.dequant %w as i8 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
    %b = moeq_gpu.dequant %w as f4E2M1FN scales(%s : !moeq_gpu.vector<128xf8E8M0FNU>)
        : !moeq_gpu.vector<2048xi8> -> !moeq_gpu.operand<64x64xbf16>
    ```
  }];
  let arguments = (ins MoeqGPU_SharedVectorType:$values,
                       Optional<MoeqGPU_SharedVectorType>:$scales,
                       Optional<MoeqGPU_SharedVectorType>:$zeros, TypeAttr:$format);
  let results = (outs MoeqGPU_OperandType:$result);
  let assemblyFormat = [{
    $values `as` $format (`scales` `(` $scales^ `:` qualified(type($scales)) `)`)?
    (`zeros` `(` $zeros^ `:` qualified(type($zeros)) `)`)? attr-dict
    `:` qualified(type($values)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def MoeqGPU_SubvectorOp : MoeqGPU_Op<"subvector", [Pure]> {
  let summary = "elements of a vector in shared memory";
  let description = [{
    From `offset` on, where they begin at a multiple of 16 bytes.

    ```mlir
    %w = moeq_gpu.subvector %v[%i] : !moeq_gpu.vector<8192xi8> -> !moeq_gpu.vector<4096xi8>
    ```
  }];
  let arguments = (ins MoeqGPU_SharedVectorType:$source, I32:$offset);
  let results = (outs MoeqGPU_SharedVectorType:$result);
  let assemblyFormat = [{
    $source `[` $offset `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def MoeqGPU_MmaWaitOp : MoeqGPU_Op<"mma_wait", [AttrSizedOperandSegments,
    AllTypesMatch<["fragments", "results"]>]> {
  let summary = "waits until at most `pending` matmuls are in flight";
  let description = [{
    The fragments are those that are read after it, the registers those that the
    matmuls read, which keep them until then.

    ```mlir
    moeq_gpu.mma_wait pending 1
    %r = moeq_gpu.mma_wait pending 0(%d : !moeq_gpu.fragment<64x256xf32>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending,
                       Variadic<MoeqGPU_FragmentType>:$fragments,
                       Variadic<MoeqGPU_OperandType>:$registers);
  let results = (outs Variadic<MoeqGPU_FragmentType>:$results);
  let assemblyFormat = [{
    `pending` $pending (`(` $fragments^ `:` type($fragments) `)`)?
    (`reading` `(` $registers^ `:` type($registers) `)`)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "int64_t":$pending,
                                 "::mlir::ValueRange":$fragments), [{
    build($_builder, $_state, results, pending, fragments, ::mlir::ValueRange());
  }]>];
}

def MoeqGPU_SliceOp : MoeqGPU_Op<"slice", [Pure]> {
  let summary = "rows and columns of a fragment";
  let description = [{
    From `row`, a multiple of 64, and `column`, one of 8, on.

    ```mlir
    %s = moeq_gpu.slice %f[64, 128]
        : !moeq_gpu.fragment<128x256xf32> -> !moeq_gpu.fragment<64x128xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_FragmentType:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$row,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$column);
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $source `[` $row `,` $column `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

// A place in a row-major matrix in global memory: element (row, column) of rows
// of `pitch` elements. Elements below row_end and column_end exist; all of a
// dimension do where no end is given.
class MoeqGPU_Place<dag extra> {
  dag arguments = !con((ins MoeqGPU_GlobalPointer:$base, I32:$row, I32:$column,
                            I64:$pitch, Optional<I32>:$row_end, Optional<I32>:$column_end), extra);
}

def MoeqGPU_LoadOp : MoeqGPU_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "a fragment from global memory";
  let description = [{
    Element (i, j) is that at (row + i, column + j) of a row-major matrix of
    `pitch` elements a row; beyond `row_end` and `column_end` it is the last one
    that exists, so that no other memory is read. A fragment with one row or one column is a
    vector that broadcasts. Its elements may be gathered: with `indices` the place
    of each along the vector is the number found there in place of its own, and an
    element whose number is negative is zero. `aligned`: each pair of columns lies at a multiple of
    its size, and column_end is even. `transposed`: the matrix is column-major,
    of `pitch` elements a column.

    ```mlir
    %s = moeq_gpu.load %scales[%row, %zero] pitch(%one) row_end(%row_end)
        : !moeq_gpu.fragment<64x1xf32>
    ```
  }];
  let arguments = MoeqGPU_Place<(ins Optional<MoeqGPU_GlobalPointer>:$indices,
                                     UnitAttr:$aligned, UnitAttr:$transposed)>.arguments;
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $base `[` $row `,` $column `]` `pitch` `(` $pitch `)`
    (`row_end` `(` $row_end^ `)`)? (`column_end` `(` $column_end^ `)`)?
    (`indices` `(` $indices^ `)`)? (`aligned` $aligned^)? (`transposed` $transposed^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_LoadStripedOp : MoeqGPU_Op<"load_striped"> {
  let summary = "a vector from global memory, by coalesced loads";
  let description = [{
    Element i is base[index + i]; from `end` on it is the last one before. With
    `indices` it is base[indices[index + i]], zero where that is negative.

    ```mlir
    %v = moeq_gpu.load_striped %scales[%row] end(%row_end) : !moeq_gpu.striped<160xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_GlobalPointer:$base, I32:$index, I32:$end,
                       Optional<MoeqGPU_GlobalPointer>:$indices);
  let results = (outs MoeqGPU_StripedType:$result);
  let assemblyFormat = [{
    $base `[` $index `]` `end` `(` $end `)` (`indices` `(` $indices^ `)`)? attr-dict
    `:` type($result)
  }];
}

def MoeqGPU_StoreStripedOp : MoeqGPU_Op<"store_striped"> {
  let summary = "a vector to shared memory";
  let description = [{
    Other threads read it after a `barrier`.

    ```mlir
    moeq_gpu.store_striped %v, %shared : !moeq_gpu.striped<40xf32>, !moeq_gpu.vector<160xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_StripedType:$value, MoeqGPU_SharedVectorType:$target);
  let assemblyFormat = "$value `,` $target attr-dict `:` type($value) `,` type($target)";
  let hasVerifier = 1;
}

def MoeqGPU_SpreadOp : MoeqGPU_Op<"spread"> {
  let summary = "elements of a vector as the columns, or the rows, of a fragment";
  let description = [{
    Column j, or row j of a fragment with one column, is element `offset` + j, or
    with a `start` element `start` + `offset` + j. The offset is a multiple of 8.

    ```mlir
    %f = moeq_gpu.spread %shared[32] : !moeq_gpu.vector<160xf32> -> !moeq_gpu.fragment<1x32xf32>
    %r = moeq_gpu.spread %shared[0] from(%row) : !moeq_gpu.vector<128xf32> -> !moeq_gpu.fragment<64x1xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_SharedVectorType:$source, Optional<I32>:$start,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $source `[` $offset `]` (`from` `(` $start^ `)`)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_MapOp : MoeqGPU_Op<"map", [SingleBlock]> {
  let summary = "a scalar region on each element of fragments";
  let description = [{
    The arguments of the region are one element of each operand, then the row
    and the column of the element, from (row, column) on. Operands with one row
    or one column broadcast.

    ```mlir
    %r = moeq_gpu.map(%acc, %sa, %sb : !acc, !moeq_gpu.fragment<64x1xf32>,
                      !moeq_gpu.fragment<1x256xf32>) at(%row, %column) {
    ^bb0(%a: f32, %x: f32, %y: f32, %i: index, %j: index):
      %s = arith.mulf %x, %y : f32
      %v = arith.mulf %a, %s : f32
      %t = arith.truncf %v : f32 to bf16
      moeq_gpu.yield %t : bf16
    } -> !moeq_gpu.fragment<64x256xbf16>
    ```
  }];
  let arguments = (ins Variadic<MoeqGPU_FragmentType>:$fragments, I32:$row, I32:$column);
  let results = (outs MoeqGPU_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $fragments `:` type($fragments) `)` `at` `(` $row `,` $column `)` $body
    attr-dict `->` type($result)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def MoeqGPU_StoreOp : MoeqGPU_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "a fragment to global memory";
  let description = [{
    Element (i, j) goes to (row + i, column + j), through the tile `staging`,
    which is free again at the next `store` that uses it. Elements beyond
    `row_end` and `column_end` are not written. Where there is a `map` and all
    rows exist the tile is stored by TMA, else in 16-byte pieces. Without a map
    every chip has the instructions. `column_end` and `pitch` are multiples of 16
    bytes.

    ```mlir
    moeq_gpu.store %f, %staging, %c[%row, %column] pitch(%n64) row_end(%row_end) map(%map : !map_c)
        : !moeq_gpu.fragment<64x128xbf16>, !moeq_gpu.tile<64x128xbf16>
    ```
  }];
  let arguments = !con((ins MoeqGPU_FragmentType:$value, MoeqGPU_TileType:$staging),
                       MoeqGPU_Place<(ins Optional<MoeqGPU_TensorMapType>:$map)>.arguments);
  let assemblyFormat = [{
    $value `,` $staging `,` $base `[` $row `,` $column `]`
    `pitch` `(` $pitch `)` (`row_end` `(` $row_end^ `)`)? (`column_end` `(` $column_end^ `)`)?
    (`map` `(` $map^ `:` type($map) `)`)? attr-dict `:` type($value) `,` type($staging)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_StoreTransposedOp : MoeqGPU_Op<"store_transposed", [AttrSizedOperandSegments]> {
  let summary = "the transpose of a fragment to global memory";
  let description = [{
    Element (i, j) goes to (row + j, column + i), through the tile `staging` of
    at least as many rows as the fragment has columns, in 16-byte pieces.
    Elements beyond `row_end` and `column_end` are not written. `column_end` and
    `pitch` are multiples of 16 bytes. The tile is free again after the next
    `barrier` or `store_transposed` through another tile.

    ```mlir
    moeq_gpu.store_transposed %f, %staging, %c[%row, %column] pitch(%n64) row_end(%row_end)
        : !moeq_gpu.fragment<64x24xbf16>, !moeq_gpu.tile<32x64xbf16>
    ```
  }];
  let arguments = !con((ins MoeqGPU_FragmentType:$value, MoeqGPU_TileType:$staging),
                       MoeqGPU_Place<(ins)>.arguments);
  let assemblyFormat = [{
    $value `,` $staging `,` $base `[` $row `,` $column `]`
    `pitch` `(` $pitch `)` (`row_end` `(` $row_end^ `)`)? (`column_end` `(` $column_end^ `)`)?
    attr-dict `:` type($value) `,` type($staging)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_BarrierOp : MoeqGPU_Op<"barrier"> {
  let summary = "waits until all threads of this warpgroup have come here";
  let assemblyFormat = "attr-dict";
}

class MoeqGPU_ConsumerOp<string mnemonic> : MoeqGPU_Op<mnemonic> {
  let arguments = (ins I32:$consumer);
  let assemblyFormat = "$consumer attr-dict";
}

def MoeqGPU_TurnWaitOp : MoeqGPU_ConsumerOp<"turn.wait"> {
  let summary = "waits until it is the turn of this consumer";
  let description = [{
    Consumers with tiles of their own take turns in the ring. Each may wait for a
    stage only when the one before has seen all of its own full: else the phase
    that it waits for would look complete a round too early.
  }];
}

def MoeqGPU_TurnPassOp : MoeqGPU_ConsumerOp<"turn.pass"> {
  let summary = "gives the turn to the next consumer, after the last to the first";
}

def MoeqGPU_StoreWaitOp : MoeqGPU_Op<"store_wait"> {
  let summary = "waits until the stores of this warpgroup have been made";
  let assemblyFormat = "attr-dict";
}

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUFRAGMENTOPS_TD
