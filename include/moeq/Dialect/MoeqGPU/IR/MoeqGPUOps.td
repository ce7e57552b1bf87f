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
    wraps to zero there. Executed by one warp of the CTA, whose lane 0 has the
    number: what broadcasts it waits for it.

    With a `cluster` tiles are taken that many at a time: the number is that of
    so many neighbours, of which each CTA of a cluster has one; or, with `same`, it is
    that of one tile, which all of them have. Executed by one warp of the cluster.

    ```mlir
    %i = moeq_gpu.schedule.take %s from %counter : !schedule
    %j = moeq_gpu.schedule.take %s from %counter cluster 2 : !schedule
    %k = moeq_gpu.schedule.take %s from %counter cluster 2 same : !schedule
    ```
  }];
  let arguments = (ins MoeqGPU_ScheduleType:$schedule, MoeqGPU_GlobalPointer:$counter,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$cluster,
                       UnitAttr:$same);
  let results = (outs I32:$index);
  let assemblyFormat = [{
    $schedule `from` $counter (`cluster` $cluster^)? (`same` $same^)? attr-dict `:` type($schedule)
  }];
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
  let summary = "rows of a tile, or panels";
  let description = [{
    The rows from `offset`, a multiple of 8, of a tile of one panel; or, where the
    result has all rows, the panels from column `offset` on.

    ```mlir
    %s = moeq_gpu.subtile %t[%row] : !moeq_gpu.tile<128x128xi8> -> !moeq_gpu.tile<64x128xi8>
    %p = moeq_gpu.subtile %u[%column] : !moeq_gpu.tile<64x128xbf16> -> !moeq_gpu.tile<64x64xbf16>
    ```
  }];
  let arguments = (ins MoeqGPU_TileType:$source, I32:$offset);
  let results = (outs MoeqGPU_TileType:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MoeqGPU_ClearRowsOp : MoeqGPU_Op<"clear_rows"> {
  let summary = "sets the last rows of tiles to zero";
  let description = [{
    Those from `row` on, by the threads of the warpgroup; then all of them, and
    its matmuls, see the zeros. Other warpgroups may do the same to the same tile.

    ```mlir
    moeq_gpu.clear_rows %a, %b from %row
        : !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.tile<64x256xbf16>
    ```
  }];
  let arguments = (ins Variadic<MoeqGPU_TileType>:$tiles, I32:$row);
  let assemblyFormat = "$tiles `from` $row attr-dict `:` type($tiles)";
}

def MoeqGPU_RingCreateOp : MoeqGPU_Op<"ring.create"> {
  let summary = "a ring with its barriers";
  let description = [{
    `consumers` warpgroups, and as many `warps` beside them, release each stage, of
    every CTA of the cluster of the ring; where there are none, the warps of the
    producers do.

    ```mlir
    %ring = moeq_gpu.ring.create consumers 2 : !ring
    %mailbox = moeq_gpu.ring.create consumers 2 warps 3 : !moeq_gpu.ring<4x[vector<4xi32>]>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$consumers,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$warps);
  let results = (outs MoeqGPU_RingType:$result);
  let assemblyFormat = "`consumers` $consumers (`warps` $warps^)? attr-dict `:` type($result)";
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

def MoeqGPU_RingUniformOp : MoeqGPU_Op<"ring.uniform", [SameOperandsAndResultType]> {
  let summary = "a cursor as lane 0 of the warp has it";
  let description = [{
    All lanes have the same one anyway. Where branches meet that only some lanes take,
    ptxas does not see that, and what follows would compute addresses and descriptors
    in each lane, and move them to uniform registers before each matmul.

    ```mlir
    %same = moeq_gpu.ring.uniform %cursor : !moeq_gpu.cursor
    ```
  }];
  let arguments = (ins MoeqGPU_CursorType:$cursor);
  let results = (outs MoeqGPU_CursorType:$result);
  let assemblyFormat = "$cursor attr-dict `:` type($cursor)";
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
    One copy for each payload tile and vector that is not gathered, from the box at
    (row, column) of its tensor map. The column is a multiple of 16 bytes: of another
    one without swizzle the hardware says that the instruction is illegal. A tile with
    more rows than the box, or more panels, takes several copies. Of a map with a
    `step` the box of `rows` rows is copied, a multiple of the step; the other rows of
    the tile are undefined. In place of maps all vectors may have sources: the
    addresses of their equal parts, as many for each vector, multiples of 16 bytes.

    The ring of a cluster has `shared` bits, one for each tile's map: whether the tile
    is the same in both CTAs. Then each copies half of it, to both.

    ```mlir
    moeq_gpu.ring.fill %ring[%c] from(%a, %b at %row_a, %k, %row_b, %k) : !ring, !map_a, !map_b
    moeq_gpu.ring.fill %pair[%c] from(%a, %b at %row_a, %k, %row_b, %k) shared(%x, %y)
        : !moeq_gpu.ring<4x[64x128xi8, 256x128xi8], cluster = 2>, !map_a, !map_b
    ```
  }];
  let arguments = (ins MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor,
                       Variadic<MoeqGPU_TensorMapType>:$maps, Variadic<I32>:$coordinates,
                       Variadic<I1>:$shared, Optional<I32>:$rows,
                       Variadic<MoeqGPU_GlobalPointer>:$sources);
  let assemblyFormat = [{
    $ring `[` $cursor `]` `from` `(` $maps `at` $coordinates `)` (`shared` `(` $shared^ `)`)?
    (`sources` `(` $sources^ `)`)?
    (`rows` `(` $rows^ `)`)? attr-dict `:` type($ring) `,` type($maps)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_LoadIndicesOp : MoeqGPU_Op<"load_indices"> {
  let summary = "the indices of the rows of a tile, over the threads of the producer warpgroup";
  let description = [{
    Result i of a thread is that of row r = 128 i + 16 (thread mod 8) + thread / 8:
    base[row + r], or without a base the number of the row itself; and -1 from `end`
    on. So eight neighbouring threads have those of every 16th row, which they copy
    together.

    ```mlir
    %i:2 = moeq_gpu.load_indices %base[%row] end(%row_end) : i32, i32
    ```
  }];
  let arguments = (ins Optional<MoeqGPU_GlobalPointer>:$base, I32:$row, I32:$end);
  let results = (outs Variadic<I32>:$indices);
  let assemblyFormat = [{
    ($base^)? `[` $row `]` `end` `(` $end `)` attr-dict `:` type($indices)
  }];
}

def MoeqGPU_RingGatherOp : MoeqGPU_Op<"ring.gather"> {
  let summary = "the producer starts the copies of gathered rows of a stage";
  let description = [{
    Row r of the first tile comes from the row whose index `load_indices` gave for
    it, of a row-major matrix of `pitch` elements a row, from `column` on. Elements
    beyond the pitch, and rows of a negative index, are zeros. Executed by all warps
    of the producer warpgroup, eight lanes a row; `ring.gathered` follows.

    ```mlir
    moeq_gpu.ring.gather %ring[%c] from(%a, %k) pitch(%n) indices(%i#0, %i#1)
        : !moeq_gpu.ring<4x[gathered 160x128xf8E4M3FN, 256x128xf8E4M3FN]>
    ```
  }];
  let arguments = (ins MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor,
                       MoeqGPU_GlobalPointer:$base, I32:$column, I32:$pitch,
                       Variadic<I32>:$indices);
  let assemblyFormat = [{
    $ring `[` $cursor `]` `from` `(` $base `,` $column `)` `pitch` `(` $pitch `)`
    `indices` `(` $indices `)` attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_RingGatherVectorOp : MoeqGPU_Op<"ring.gather_vector"> {
  let summary = "the producer starts the copies of a gathered vector of a stage";
  let description = [{
    Element r of vector `number` is base[index * pitch + offset], of the index that
    `load_indices` gave for row r, and zero where that is negative. Executed by all
    warps of the producer warpgroup; `ring.gathered` follows.

    ```mlir
    moeq_gpu.ring.gather_vector %ring[%c] number 0 from(%scales, %k) pitch(%n) indices(%i#0)
        : !moeq_gpu.ring<4x[128x128xf8E4M3FN, 256x128xf8E4M3FN, gathered 128xf32]>
    ```
  }];
  let arguments = (ins MoeqGPU_RingType:$ring, MoeqGPU_CursorType:$cursor,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$number,
                       MoeqGPU_GlobalPointer:$base, I64:$offset, I64:$pitch, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $ring `[` $cursor `]` `number` $number `from` `(` $base `,` $offset `)` `pitch` `(` $pitch `)`
    `indices` `(` $indices `)` attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_RingGatheredOp : MoeqGPU_RingOp<"gathered"> {
  let summary = "arrives at a stage when the copies are made that this thread has started";
  let description = [{
    A stage with a gathered part is full when all threads of the producer warpgroup
    have arrived.
  }];
  let hasVerifier = 1;
}

def MoeqGPU_RingWaitOp : MoeqGPU_RingOp<"wait"> {
  let summary = "a consumer waits until a stage is full";
  let description = [{
    The results are the tiles and the vectors of the stage, one of each payload type.

    ```mlir
    %a, %b = moeq_gpu.ring.wait %ring[%c] : !ring -> !tile_a, !tile_b
    ```
  }];
  let results = (outs Variadic<AnyTypeOf<[MoeqGPU_TileType, MoeqGPU_SharedVectorType]>>:$parts);
  let assemblyFormat = "$ring `[` $cursor `]` attr-dict `:` type($ring) `->` type($parts)";
  let hasVerifier = 1;
}

def MoeqGPU_RingSendOp : MoeqGPU_Op<"ring.send"> {
  let summary = "the producer fills a stage of a mailbox";
  let description = [{
    That of a cluster is filled in both CTAs, by the producer of the first one.

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
  let description = [{
    Each warp for itself: what its threads have read of the vectors of the stage is
    in registers then, and the matmuls on its tiles have ended.
  }];
}

//===----------------------------------------------------------------------===//
// Copies by all threads
//===----------------------------------------------------------------------===//

def MoeqGPU_LocateRowsOp : MoeqGPU_Op<"locate_rows"> {
  let summary = "where the rows are that a thread copies pieces of";
  let description = [{
    Rows of a row-major matrix of `pitch` elements a row, from `row` on. Eight
    neighbouring threads copy a row; result i is the offset in elements of the
    row that is i times as many rows further as the threads copy at a time. With
    `indices` it is that of the row whose number is found there in place of its
    own. It is -1 where the row is not below `end`, or its index is negative.
    Executed by the consumers of a kernel without a producer.

    ```mlir
    %r:4 = moeq_gpu.locate_rows %row end(%row_end) pitch(%k) : i64, i64, i64, i64
    ```
  }];
  let arguments = (ins I32:$row, I32:$end, I32:$pitch, Optional<MoeqGPU_GlobalPointer>:$indices);
  let results = (outs Variadic<I64>:$offsets);
  let assemblyFormat = [{
    $row `end` `(` $end `)` `pitch` `(` $pitch `)` (`indices` `(` $indices^ `)`)? attr-dict
    `:` type($offsets)
  }];
}

def MoeqGPU_CopyOp : MoeqGPU_Op<"copy"> {
  let summary = "starts the copies of rows to a tile, by all threads";
  let description = [{
    The columns from `column` on of the rows at `offsets`, which `locate_rows`
    found, in pieces of 16 bytes. Columns from `columns` on, a multiple of 16
    bytes, and rows at -1 are zeros, and not read. The copies have been made when
    each thread has waited for its own (`nvvm.cp.async.wait.group`) and for the
    others.

    ```mlir
    moeq_gpu.copy %a[%k] columns(%depth) rows(%r#0, %r#1) to %tile : !moeq_gpu.tile<64x128xi8>
    ```
  }];
  let arguments = (ins MoeqGPU_GlobalPointer:$base, I32:$column, I32:$columns,
                       Variadic<I64>:$offsets, MoeqGPU_TileType:$tile);
  let assemblyFormat = [{
    $base `[` $column `]` `columns` `(` $columns `)` `rows` `(` $offsets `)` `to` $tile attr-dict
    `:` type($tile)
  }];
  let hasVerifier = 1;
}

def MoeqGPU_CopyVectorOp : MoeqGPU_Op<"copy_vector"> {
  let summary = "starts the copies of elements to a vector, by all threads";
  let description = [{
    Those from `source` on, a multiple of 16 bytes that lie at one, in pieces of 16
    bytes; none where they do not exist. The copies have been made as those of
    `copy` have.

    ```mlir
    moeq_gpu.copy_vector %w if %exists to %vector : !moeq_gpu.vector<4096xi8>
    ```
  }];
  let arguments = (ins MoeqGPU_GlobalPointer:$source, I1:$exists, MoeqGPU_SharedVectorType:$vector);
  let assemblyFormat = "$source `if` $exists `to` $vector attr-dict `:` qualified(type($vector))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def MoeqGPU_RolesOp : MoeqGPU_Op<"roles", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "what the warpgroups of a CTA do";
  let description = [{
    The first warpgroup is the producer: its first warp runs the producer region,
    and the other three that of the `helpers`, if there is one. The next `consumers`
    warpgroups run the consumer region, whose argument is the number of the warpgroup
    among the consumers. Each side gets its number of registers a thread. Before, all
    threads see the barriers of the rings, and those of a cluster wait for each other
    at the end.
    Without a producer all warpgroups are consumers, with the registers that
    they start with, and there are no rings.

    The verifier computes the shared memory, the registers and the barriers of
    the kernel and rejects what the chip cannot hold.

    ```mlir
    moeq_gpu.roles producer(40) {
      ...
    } consumers(2, 232) {
    ^bb0(%warpgroup: i32):
      ...
    }
    moeq_gpu.roles consumers(2, 240) {
    ^bb0(%warpgroup: i32):
      ...
    }
    ```
  }];
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$producer_registers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$consumers,
                       I64Attr:$consumer_registers);
  let regions = (region MaxSizedRegion<1>:$producer, MaxSizedRegion<1>:$helpers, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    (`producer` `(` $producer_registers^ `)` $producer)? (`helpers` $helpers^)?
    `consumers` `(` $consumers `,` $consumer_registers `)` $consumer attr-dict
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The threads of the CTA.
    int64_t getNumThreads() { return 128 * (getNumProducers() + getConsumers()); }
    /// The warpgroups before the consumers: 1, or 0 where there is no producer.
    int64_t getNumProducers() { return getProducer().empty() ? 0 : 1; }
  }];
}

def MoeqGPU_YieldOp : MoeqGPU_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["MapOp", "RolesOp", "TilesOp"]>]> {
  let summary = "ends a region";
  let arguments = (ins Optional<AnyType>:$value);
  let builders = [OpBuilder<(ins), [{ /* No value. */ }]>];
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
}

include "moeq/Dialect/MoeqGPU/IR/MoeqGPUFragmentOps.td"
include "moeq/Dialect/MoeqGPU/IR/MoeqGPUExchangeOps.td"

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUOPS_TD
