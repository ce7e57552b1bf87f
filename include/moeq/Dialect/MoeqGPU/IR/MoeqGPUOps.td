//===- MoeqGPUOps.td - Ops of the moeq_gpu dialect ---------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUOPS_TD
#define MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUOPS_TD

include "moeq/Dialect/MoeqGPU/IR/MoeqGPUTypes.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MoeqGPU_GenericPointer : LLVM_PointerInAddressSpace<0>;
def MoeqGPU_GlobalPointer : LLVM_PointerInAddressSpace<1>;

class MoeqGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<MoeqGPU_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Tiles and their order
//===----------------------------------------------------------------------===//

def MoeqGPU_TilesOp : MoeqGPU_Op<"tiles", [AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the output tiles of a grouped matmul";
  let description = [{
    Runs its body once for each output tile, in no particular order and possibly
    at the same time. Group e has the rows offsets[e] to offsets[e + 1]; without
    `offsets` there is one group of `rows` rows. The body gets the group, the first row of the tile,
    the end of the rows of the group, and the first column. The last tile of a
    group is partial: no row is padded, and rows outside of the groups are in no
    tile. `columns` is the extent of the columns; the last tile of a row may reach beyond it.

    ```mlir
    moeq_gpu.tiles offsets(%offsets : memref<9xi32>) columns(%n) tile [128, 256] raster 16 {
    ^bb0(%expert: index, %row: index, %row_end: index, %column: index):
      ...
    }
    ```
  }];
  let arguments = (ins Optional<MemRefRankOf<[I32], [1]>>:$offsets, Optional<Index>:$rows,
                       Index:$columns,
                       ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>]>:$tile,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "16">:$raster);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)? (`rows` `(` $rows^ `)`)?
    `columns` `(` $columns `)` `tile` $tile (`raster` $raster^)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def MoeqGPU_ScheduleOp : MoeqGPU_Op<"schedule", [AttrSizedOperandSegments]> {
  let summary = "finds the output tiles on the device";
  let description = [{
    The in-kernel form of `tiles`: `offsets` points to groups + 1 numbers, `plan`
    to the table that `moeq.plan` makes of them, or `rows` is the number of rows
    of the only group. With `counts` each group has `rows` rows in memory, of
    which the first ones, as many as its count, are its own. The search over the groups is set up once; each lane keeps
    the tile prefix of its groups.

    ```mlir
    %s = moeq_gpu.schedule offsets(%offsets) groups(%groups) columns(%n)
        : !moeq_gpu.schedule<128x256, raster = 16, groups_per_lane = 1>
    ```
  }];
  let arguments = (ins Optional<MoeqGPU_GlobalPointer>:$offsets,
                       Optional<MoeqGPU_GlobalPointer>:$plan,
                       Optional<MoeqGPU_GlobalPointer>:$counts,
                       Optional<I32>:$groups, Optional<I32>:$rows, I32:$columns);
  let results = (outs MoeqGPU_ScheduleType:$result);
  let assemblyFormat = [{
    (`offsets` `(` $offsets^ `)`)? (`plan` `(` $plan^ `)`)?
    (`counts` `(` $counts^ `)`)? (`groups` `(` $groups^ `)`)?
    (`rows` `(` $rows^ `)`)? `columns` `(` $columns `)` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_ScheduleSizeOp : MoeqGPU_Op<"schedule.size", [Pure]> {
  let summary = "the number of output tiles";
  let arguments = (ins MoeqGPU_ScheduleType:$schedule);
  let results = (outs I32:$size);
  let assemblyFormat = "$schedule attr-dict `:` type($schedule)";
}

def MoeqGPU_ScheduleTileOp : MoeqGPU_Op<"schedule.tile"> {
  let summary = "an output tile by its number";
  let description = [{
    The group, the first row, the end of the rows, and the first column of tile
    `index`. The rows end where those of the group do, or with a `step` where
    those of the tile do; a planned tile may have no rows. Executed by whole
    warps with the same index.

    ```mlir
    %group, %row, %row_end, %column = moeq_gpu.schedule.tile %s[%i] : !schedule
    ```
  }];
  let arguments = (ins MoeqGPU_ScheduleType:$schedule, I32:$index);
  let results = (outs I32:$group, I32:$row, I32:$row_end, I32:$column);
  let assemblyFormat = "$schedule `[` $index `]` attr-dict `:` type($schedule)";
}

def MoeqGPU_ScheduleTakeOp : MoeqGPU_Op<"schedule.take"> {
  let summary = "takes the next output tile that no CTA has";
  let description = [{
    The number of a tile, or one past them. The CTAs of a grid of any size start
    with the tiles of their own numbers; each then takes one more for each tile
    that it has had, so `counter`, an i32 in global memory that is zero when the
    kernel starts, has been increased by the number of tiles when it ends, and
    wraps to zero there. Executed by one warp of the CTA.

    ```mlir
    %i = moeq_gpu.schedule.take %s from %counter : !schedule
    ```
  }];
  let arguments = (ins MoeqGPU_ScheduleType:$schedule, MoeqGPU_GlobalPointer:$counter);
  let results = (outs I32:$index);
  let assemblyFormat = "$schedule `from` $counter attr-dict `:` type($schedule)";
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

def MoeqGPU_EncodeTensorMapOp : MoeqGPU_Op<"encode_tensor_map", [Pure]> {
  let summary = "makes a tensor map on the host";
  let description = [{
    The operand of a launch. The memref is row-major and contiguous, of the box's
    element type; leading dimensions of one of rank 3 count as rows.

    ```mlir
    %t = moeq_gpu.encode_tensor_map %w
        : memref<8x14336x4096xf8E4M3FN> -> !moeq_gpu.tensor_map<256x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins MemRefRankOf<[AnyType], [2, 3]>:$source);
  let results = (outs MoeqGPU_TensorMapType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MoeqGPU_TensorMapOp : MoeqGPU_Op<"tensor_map"> {
  let summary = "a tensor map that came as a kernel parameter";
  let description = [{
    Also prefetches it, or each descriptor of the array.

    ```mlir
    %t = moeq_gpu.tensor_map %arg : !moeq_gpu.tensor_map<128x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins MoeqGPU_GenericPointer:$parameter);
  let results = (outs MoeqGPU_TensorMapType:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def MoeqGPU_AllocOp : MoeqGPU_Op<"alloc"> {
  let summary = "a tile or a vector of shared memory";
  let description = [{
    Lives as long as the kernel. In the consumer region of `roles` each
    warpgroup has its own.

    ```mlir
    %t = moeq_gpu.alloc : !moeq_gpu.tile<64x128xbf16>
    %v = moeq_gpu.alloc : !moeq_gpu.vector<160xf32>
    ```
  }];
  let results = (outs AnyTypeOf<[MoeqGPU_TileType, MoeqGPU_SharedVectorType]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let extraClassDeclaration = [{
    /// The size in bytes.
    int64_t getBytes() {
      if (auto tile = ::llvm::dyn_cast<TileType>(getResult().getType()))
        return tile.getBytes();
      return ::llvm::cast<SharedVectorType>(getResult().getType()).getBytes();
    }
  }];
}

def MoeqGPU_SubtileOp : MoeqGPU_Op<"subtile", [Pure]> {
  let summary = "rows of a tile";
  let description = [{
    The rows from `row`, a multiple of 8, of a tile of one panel.

    ```mlir
    %s = moeq_gpu.subtile %t[%row] : !moeq_gpu.tile<128x128xi8> -> !moeq_gpu.tile<64x128xi8>
    ```
  }];
  let arguments = (ins MoeqGPU_TileType:$source, I32:$row);
  let results = (outs MoeqGPU_TileType:$result);
  let assemblyFormat = "$source `[` $row `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MoeqGPU_RingCreateOp : MoeqGPU_Op<"ring.create"> {
  let summary = "a ring with its barriers";
  let description = [{
    `consumers` warpgroups release each stage.

    ```mlir
    %ring = moeq_gpu.ring.create consumers 2 : !ring
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$consumers);
  let results = (outs MoeqGPU_RingType:$result);
  let assemblyFormat = "`consumers` $consumers attr-dict `:` type($result)";
}

def MoeqGPU_RingStartOp : MoeqGPU_Op<"ring.start", [Pure]> {
  let summary = "the cursor of the first stage";
  let results = (outs MoeqGPU_CursorType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MoeqGPU_RingAdvanceOp : MoeqGPU_Op<"ring.advance", [Pure]> {
  let summary = "the cursor of the next stage, or of one `count` stages further";
  let arguments = (ins MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor, Optional<I32>:$count);
  let results = (outs MoeqGPU_CursorType:$result);
  let assemblyFormat = "$ring `[` $cursor `]` (`by` $count^)? attr-dict `:` type($ring)";
}

// An op at one stage of a ring.
class MoeqGPU_RingOp<string mnemonic, list<Trait> traits = []>
    : MoeqGPU_Op<"ring." # mnemonic, traits> {
  let arguments = (ins MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor);
  let assemblyFormat = "$ring `[` $cursor `]` attr-dict `:` type($ring)";
}

def MoeqGPU_RingAcquireOp : MoeqGPU_RingOp<"acquire"> {
  let summary = "the producer waits until a stage is empty";
}

def MoeqGPU_RingFillOp : MoeqGPU_Op<"ring.fill", [AttrSizedOperandSegments]> {
  let summary = "the producer starts the copies of a stage";
  let description = [{
    One copy for each payload tile, from the box at (row, column) of its tensor
    map. A tile with more rows than the box takes several copies. Of a map with a
    `step` the box of `rows` rows is copied, a multiple of the step; the other
    rows of the tile are undefined.

    ```mlir
    moeq_gpu.ring.fill %ring[%c] from(%a, %b at %row_a, %k, %row_b, %k) : !ring, !map_a, !map_b
    ```
  }];
  let arguments = (ins MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor,
                       Variadic<MoeqGPU_TensorMapType>:$maps, Variadic<I32>:$coordinates,
                       Optional<I32>:$rows);
  let assemblyFormat = [{
    $ring `[` $cursor `]` `from` `(` $maps `at` $coordinates `)` (`rows` `(` $rows^ `)`)? attr-dict
    `:` type($ring) `,` type($maps)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_RingWaitOp : MoeqGPU_RingOp<"wait"> {
  let summary = "a consumer waits until a stage is full";
  let description = [{
    The results are the tiles of the stage, one of each payload type.

    ```mlir
    %a, %b = moeq_gpu.ring.wait %ring[%c] : !ring -> !tile_a, !tile_b
    ```
  }];
  let results = (outs Variadic<MoeqGPU_TileType>:$tiles);
  let assemblyFormat = "$ring `[` $cursor `]` attr-dict `:` type($ring) `->` type($tiles)";
  let hasVerifier = 1;
}

def MoeqGPU_RingSendOp : MoeqGPU_Op<"ring.send"> {
  let summary = "the producer fills a stage of a mailbox";
  let description = [{
    ```mlir
    moeq_gpu.ring.send %words to %ring[%c] : !moeq_gpu.ring<4x[vector<4xi32>]>
    ```
  }];
  let arguments = (ins MoeqGPU_Mail:$value, MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor);
  let assemblyFormat = "$value `to` $ring `[` $cursor `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def MoeqGPU_RingReceiveOp : MoeqGPU_RingOp<"receive"> {
  let summary = "a consumer waits until a stage of a mailbox is full, and reads it";
  let results = (outs MoeqGPU_Mail:$value);
  let hasVerifier = 1;
}

def MoeqGPU_RingReleaseOp : MoeqGPU_RingOp<"release"> {
  let summary = "a consumer is done with a stage";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def MoeqGPU_RolesOp : MoeqGPU_Op<"roles", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "what the warpgroups of a CTA do";
  let description = [{
    The first warpgroup is the producer: its first warp runs the producer region.
    The next `consumers` warpgroups run the consumer region, whose argument is
    the number of the warpgroup among the consumers. Each side gets its number of
    registers a thread. Before, all threads see the barriers of the rings.

    The verifier computes the shared memory, the registers and the barriers of
    the kernel and rejects what the chip cannot hold.

    ```mlir
    moeq_gpu.roles producer(40) {
      ...
    } consumers(2, 232) {
    ^bb0(%warpgroup: i32):
      ...
    }
    ```
  }];
  let arguments = (ins I64Attr:$producer_registers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$consumers,
                       I64Attr:$consumer_registers);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `producer` `(` $producer_registers `)` $producer
    `consumers` `(` $consumers `,` $consumer_registers `)` $consumer attr-dict
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The threads of the CTA.
    int64_t getNumThreads() { return 128 * (1 + getConsumers()); }
  }];
}

def MoeqGPU_YieldOp : MoeqGPU_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["MapOp", "RolesOp", "TilesOp"]>]> {
  let summary = "ends a region";
  let arguments = (ins Optional<AnyType>:$value);
  let builders = [OpBuilder<(ins), [{ /* No value. */ }]>];
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
}

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
    `overwrite`: the sum starts from zero, in the registers of `accumulator`.

    ```mlir
    %d = moeq_gpu.mma %a, %b, %c
        : !moeq_gpu.tile<64x128xf8E4M3FN>, !moeq_gpu.tile<256x128xf8E4M3FN>
        -> !moeq_gpu.fragment<64x256xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_TileType:$a, MoeqGPU_TileType:$b,
                       Optional<MoeqGPU_FragmentType>:$accumulator,
                       UnitAttr:$overwrite);
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $accumulator^)? (`overwrite` $overwrite^)? attr-dict
    `:` type($a) `,` type($b) `->` custom<Accumulator>(type($result), ref($accumulator), type($accumulator))
  }];
  let hasVerifier = 1;
}

def MoeqGPU_MmaWaitOp : MoeqGPU_Op<"mma_wait", [AllTypesMatch<["fragments", "results"]>]> {
  let summary = "waits until at most `pending` matmuls are in flight";
  let description = [{
    The fragments are those that are read after it.

    ```mlir
    moeq_gpu.mma_wait pending 1
    %r = moeq_gpu.mma_wait pending 0(%d : !moeq_gpu.fragment<64x256xf32>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending,
                       Variadic<MoeqGPU_FragmentType>:$fragments);
  let results = (outs Variadic<MoeqGPU_FragmentType>:$results);
  let assemblyFormat = "`pending` $pending (`(` $fragments^ `:` type($fragments) `)`)? attr-dict";
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
    vector that broadcasts. `aligned`: each pair of columns lies at a multiple of
    its size, and column_end is even. `transposed`: the matrix is column-major,
    of `pitch` elements a column.

    ```mlir
    %s = moeq_gpu.load %scales[%row, %zero] pitch(%one) row_end(%row_end)
        : !moeq_gpu.fragment<64x1xf32>
    ```
  }];
  let arguments = MoeqGPU_Place<(ins UnitAttr:$aligned, UnitAttr:$transposed)>.arguments;
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = [{
    $base `[` $row `,` $column `]` `pitch` `(` $pitch `)`
    (`row_end` `(` $row_end^ `)`)? (`column_end` `(` $column_end^ `)`)?
    (`aligned` $aligned^)? (`transposed` $transposed^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_LoadStripedOp : MoeqGPU_Op<"load_striped"> {
  let summary = "a vector from global memory, by coalesced loads";
  let description = [{
    Element i is base[index + i]; from `end` on it is the last one before.

    ```mlir
    %v = moeq_gpu.load_striped %scales[%row] end(%row_end) : !moeq_gpu.striped<160xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_GlobalPointer:$base, I32:$index, I32:$end);
  let results = (outs MoeqGPU_StripedType:$result);
  let assemblyFormat = "$base `[` $index `]` `end` `(` $end `)` attr-dict `:` type($result)";
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
  let summary = "elements of a vector as the columns of a fragment";
  let description = [{
    Column j is element `offset` + j; the offset is a multiple of 8.

    ```mlir
    %f = moeq_gpu.spread %shared[32] : !moeq_gpu.vector<160xf32> -> !moeq_gpu.fragment<1x32xf32>
    ```
  }];
  let arguments = (ins MoeqGPU_SharedVectorType:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs MoeqGPU_FragmentType:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)";
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
    `row_end` and `column_end` are not written. Where all rows exist the tile is
    stored by TMA through `map`, else in 16-byte pieces. `column_end` and
    `pitch` are multiples of 16 bytes.

    ```mlir
    moeq_gpu.store %f, %staging, %map, %c[%row, %column] pitch(%n64) row_end(%row_end)
        : !moeq_gpu.fragment<64x128xbf16>, !moeq_gpu.tile<64x128xbf16>, !map_c
    ```
  }];
  let arguments = !con((ins MoeqGPU_FragmentType:$value, MoeqGPU_TileType:$staging,
                            MoeqGPU_TensorMapType:$map), MoeqGPU_Place<(ins)>.arguments);
  let assemblyFormat = [{
    $value `,` $staging `,` $map `,` $base `[` $row `,` $column `]`
    `pitch` `(` $pitch `)` (`row_end` `(` $row_end^ `)`)? (`column_end` `(` $column_end^ `)`)?
    attr-dict `:` type($value) `,` type($staging) `,` type($map)
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

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUOPS_TD
