//===- MoeqGPUTypes.td - Types of the moeq_gpu dialect -----*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUTYPES_TD
#define MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUTYPES_TD

include "moeq/Dialect/MoeqGPU/IR/MoeqGPUBase.td"
include "mlir/IR/AttrTypeBase.td"

class MoeqGPU_Type<string name, string typeMnemonic>
    : TypeDef<MoeqGPU_Dialect, name> {
  let mnemonic = typeMnemonic;
}

// A static `rows x columns x element`.
class MoeqGPU_ShapedType<string name, string typeMnemonic>
    : MoeqGPU_Type<name, typeMnemonic> {
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<Shape>($rows, $columns, $elementType) `>`";
  let genVerifyDecl = 1;
}

def MoeqGPU_FragmentType : MoeqGPU_ShapedType<"Fragment", "fragment"> {
  let summary = "a matrix in the registers of a warpgroup";
  let description = [{
    A matrix whose elements are spread over the 128 threads of a warpgroup as
    the accumulator of `wgmma` is (`FragmentLayout.h`): `rows` a multiple of 64
    and `columns` one of 8. A fragment with one row (or one column) holds in each
    thread the elements of the columns (rows) that the thread owns, and
    broadcasts against whole fragments.

    ```mlir
    !moeq_gpu.fragment<64x256xf32>
    ```
  }];
}

def MoeqGPU_TileType : MoeqGPU_ShapedType<"Tile", "tile"> {
  let summary = "a matrix in shared memory";
  let description = [{
    Row-major panels of 128 bytes a row, panel after panel, each swizzled as
    TMA's 128-byte mode does (16-byte chunk c of row r lies at chunk c xor (r mod
    8)). A row of the tile is a multiple of 128 bytes, `rows` a multiple of 8.

    ```mlir
    !moeq_gpu.tile<128x128xf8E4M3FN>
    ```
  }];
  let extraClassDeclaration = [{
    /// The bytes of a row of a panel.
    static constexpr int64_t kPanelBytes = 128;
    /// The columns of a panel.
    int64_t getPanelColumns() const {
      return kPanelBytes * 8 / getElementType().getIntOrFloatBitWidth();
    }
    int64_t getNumPanels() const { return getColumns() / getPanelColumns(); }
    /// The size of the tile in bytes.
    int64_t getBytes() const { return getNumPanels() * getRows() * kPanelBytes; }
  }];
}

def MoeqGPU_OperandType : MoeqGPU_ShapedType<"Operand", "operand"> {
  let summary = "the A operand of a matmul in the registers of a warpgroup";
  let description = [{
    `rows`, a multiple of 64, and `columns`, one of 16, of 16-bit floats, spread
    over the 128 threads of a warpgroup as matrix A of `wgmma` is: four registers
    of two columns for each 64 rows and 16 columns.

    ```mlir
    !moeq_gpu.operand<64x64xbf16>
    ```
  }];
  let extraClassDeclaration = [{
    /// The 32-bit registers of a thread, by 64 rows, then by 16 columns.
    int64_t getNumRegisters() const { return getRows() / 64 * getColumns() / 16 * 4; }
  }];
}

def MoeqGPU_TensorMapType : MoeqGPU_Type<"TensorMap", "tensor_map"> {
  let summary = "a TMA descriptor of a row-major matrix";
  let description = [{
    `rows x columns` is the box that one copy moves; a row of it is 128 bytes,
    swizzled as in `tile`. A box of one row is a vector: not swizzled, and of any
    multiple of 16 bytes. Elements outside of the matrix read as zero and are
    not written. The pitch of the matrix is a multiple of 16 bytes. With a `step`
    it is an array of descriptors of the same matrix, with boxes of `step`,
    2 `step`, ..., `rows` rows.

    ```mlir
    !moeq_gpu.tensor_map<128x128xf8E4M3FN>
    !moeq_gpu.tensor_map<160x128xf8E4M3FN, step = 8>
    !moeq_gpu.tensor_map<1x160xf32>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"int64_t", "0">:$step);
  let assemblyFormat = [{
    `<` custom<Shape>($rows, $columns, $elementType) (`,` `step` `=` $step^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The size of a descriptor in bytes.
    static constexpr int64_t kBytes = 128;
    /// How many descriptors there are.
    int64_t getNumBoxes() const { return getStep() ? getRows() / getStep() : 1; }
    /// The rows of the box of descriptor `index`.
    int64_t getBoxRows(int64_t index) const {
      return getStep() ? (index + 1) * getStep() : getRows();
    }
    /// Whether a box is one row, which is not swizzled.
    bool isVector() const { return getRows() == 1; }
  }];
}

// A static `size x element`.
class MoeqGPU_VectorLikeType<string name, string typeMnemonic>
    : MoeqGPU_Type<name, typeMnemonic> {
  let parameters = (ins "int64_t":$size, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<Size>($size, $elementType) `>`";
  let genVerifyDecl = 1;
}

def MoeqGPU_StripedType : MoeqGPU_VectorLikeType<"Striped", "striped"> {
  let summary = "a vector striped over the threads of a warpgroup";
  let description = [{
    Thread t holds the elements t, t + 128, ...

    ```mlir
    !moeq_gpu.striped<160xf32>
    ```
  }];
  let extraClassDeclaration = [{
    /// The registers of a thread.
    int64_t getNumRegisters() const { return (getSize() + 127) / 128; }
  }];
}

def MoeqGPU_SharedVectorType : MoeqGPU_VectorLikeType<"SharedVector", "vector"> {
  let summary = "a vector in shared memory";
  let description = [{
    ```mlir
    !moeq_gpu.vector<160xf32>
    ```
  }];
  let extraClassDeclaration = [{
    /// The size in bytes, with padding to 16.
    int64_t getBytes() const {
      return (getSize() * getElementType().getIntOrFloatBitWidth() / 8 + 15) / 16 * 16;
    }
  }];
}

def MoeqGPU_ExchangeType : MoeqGPU_Type<"Exchange", "exchange"> {
  let summary = "shared memory for what the CTAs of a cluster add up";
  let description = [{
    Each consumer has room for `parts` parts of `size` 32-bit elements from each other
    CTA of its cluster, and two barriers: all of them have come, and have been read
    everywhere.

    ```mlir
    !moeq_gpu.exchange<2x2048xf32, cluster = 2>
    ```
  }];
  let parameters = (ins "int64_t":$parts, "int64_t":$size, "::mlir::Type":$elementType,
                        "int64_t":$cluster);
  let assemblyFormat = [{
    `<` custom<Shape>($parts, $size, $elementType) `,` `cluster` `=` $cluster `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The bytes of a part, of the parts of all other CTAs, and of the barriers, for
    /// one consumer.
    int64_t getPartBytes() const { return getSize() * 4; }
    int64_t getDataBytes() const { return (getCluster() - 1) * getParts() * getPartBytes(); }
    static constexpr int64_t kBarrierBytes = 16;
    int64_t getBytes() const { return getDataBytes() + kBarrierBytes; }
  }];
}

def MoeqGPU_RingType : MoeqGPU_Type<"Ring", "ring"> {
  let summary = "a ring of shared-memory stages";
  let description = [{
    `stages` stages, each with one tile, then one vector, of each payload type, and
    two barriers a stage: full (the copies have arrived) and empty (all consumers are
    done). A stage of a mailbox, a ring with no payload tiles, holds 4 i32 values. A
    `gathered` first tile is filled by `ring.gather`, and `gathered` vectors by
    `ring.gather_vector`.

    Both CTAs of a `cluster` of 2 go through the same stages: each has its own, and
    finds one empty when the consumers of both are done with it.

    ```mlir
    !moeq_gpu.ring<4x[128x128xf8E4M3FN, 256x128xf8E4M3FN]>
    !moeq_gpu.ring<4x[128x128xf8E4M3FN, 256x128xf8E4M3FN, 128xf32]>
    !moeq_gpu.ring<4x[gathered 128x128xf8E4M3FN, 256x128xf8E4M3FN]>
    !moeq_gpu.ring<4x[128x128xf8E4M3FN, 256x128xf8E4M3FN, gathered 128xf32]>
    !moeq_gpu.ring<4x[256x64xbf16, 8192xi8, 256xf8E8M0FNU]>
    !moeq_gpu.ring<4x[vector<4xi32>]>
    !moeq_gpu.ring<4x[128x128xf8E4M3FN, 256x128xf8E4M3FN], cluster = 2>
    ```
  }];
  let parameters = (ins "int64_t":$stages, ArrayRefParameter<"::mlir::moeq_gpu::TileType">:$payload,
                        ArrayRefParameter<"::mlir::moeq_gpu::SharedVectorType">:$vectors,
                        "bool":$isGathered, "bool":$hasGatheredVectors,
                        DefaultValuedParameter<"int64_t", "1">:$cluster);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// More than fit into shared memory, tiles or not.
    static constexpr int64_t kMaxStages = 1024;
    /// Whether a stage holds 4 i32 values in place of tiles.
    bool isMailbox() const { return getPayload().empty(); }
    /// The tiles that tensor maps fill.
    ::llvm::ArrayRef<TileType> getMapped() const {
      return getPayload().drop_front(getIsGathered() ? 1 : 0);
    }
    /// The vectors that the producer's copies fill.
    ::llvm::ArrayRef<SharedVectorType> getFilledVectors() const {
      return getHasGatheredVectors() ? ::llvm::ArrayRef<SharedVectorType>() : getVectors();
    }
    /// Whether elements of a gathered vector are such that threads copy them
    /// asynchronously, of 4 bytes.
    static bool isCopied(SharedVectorType vector) {
      return vector.getElementType().getIntOrFloatBitWidth() == 32;
    }
    /// Whether threads fill a part of a stage.
    bool hasGathered() const { return getIsGathered() || getHasGatheredVectors(); }
    /// The bytes of the tiles of one stage, and of its vectors, which lie behind
    /// the tiles of all stages.
    int64_t getStageBytes() const;
    int64_t getVectorBytes() const;
    /// The bytes of one vector, with the padding that lets a copy start there.
    static int64_t getPaddedBytes(SharedVectorType vector);
    /// The bytes of all stages.
    int64_t getBytes() const { return getStages() * (getStageBytes() + getVectorBytes()); }
    /// What a stage holds: the tiles, then the vectors.
    ::llvm::SmallVector<::mlir::Type> getStageTypes() const;
    /// The bytes of all barriers: full ones first, then empty ones.
    int64_t getBarrierBytes() const { return 2 * 8 * getStages(); }
  }];
}

/// What a stage of a mailbox holds.
def MoeqGPU_Mail : Type<And<[VectorOfLengthAndType<[4], [I32]>.predicate, HasStaticShapePred]>,
                        "vector of 4 i32 values", "::mlir::VectorType">,
                   BuildableType<"::mlir::VectorType::get({4}, $_builder.getI32Type())">;

def MoeqGPU_CursorType : MoeqGPU_Type<"Cursor", "cursor"> {
  let summary = "a position in a ring: slot and phase";
}

def MoeqGPU_ScheduleType : MoeqGPU_Type<"Schedule", "schedule"> {
  let summary = "the output tiles of a grouped matmul, in the order of the work";
  let description = [{
    Tiles of up to `rows x columns`, over the row tiles of all groups and the
    column tiles of N. Each lane of a warp knows `groupsPerLane` consecutive
    groups, so at most 32 times as many; 0 says that there is one group, of all
    rows.

    With a `raster`, tiles have `rows` rows and are ordered by row groups of
    `raster` row tiles, then columns, then rows, so that a wave of CTAs shares
    operands. With a `step`, the rows of each group are shared out evenly, in
    multiples of `step`, over as few tiles as `rows` allows, and tiles are
    ordered by groups, then columns, then rows, so that those which share columns
    are neighbours. `planned` says that the order of the groups, the rows of their
    tiles and the splits of tiles come from a table of `moeq.plan`.
    With several groups a lane, the whole tiles of a plan are taken from both ends
    of its order in turns, two at a time: those of groups with many rows, which
    wait for tensor cores, beside those of groups with few, which wait for memory.

    `masked`: each group has as many rows in memory as any other, of which the
    first ones are its own.

    ```mlir
    !moeq_gpu.schedule<128x256, raster = 16, groups_per_lane = 1>
    !moeq_gpu.schedule<160x256, step = 8, groups_per_lane = 1>
    !moeq_gpu.schedule<160x256, planned step = 8, groups_per_lane = 1>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "int64_t":$raster, "int64_t":$step, "bool":$isPlanned,
                        "int64_t":$groupsPerLane,
                        DefaultValuedParameter<"bool", "false">:$masked);
  let assemblyFormat = [{
    `<` custom<Pair>($rows, $columns) `,` custom<Order>($raster, $step, $isPlanned) `,`
    `groups_per_lane` `=` $groupsPerLane (`,` `masked` `=` $masked^)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // MOEQ_DIALECT_MOEQGPU_IR_MOEQGPUTYPES_TD
