//===- MoeqTypes.td - Types of the moeq dialect ------------*- tablegen -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_DIALECT_MOEQ_IR_MOEQTYPES_TD
#define MOEQ_DIALECT_MOEQ_IR_MOEQTYPES_TD

include "moeq/Dialect/Moeq/IR/MoeqBase.td"
include "moeq/Dialect/Moeq/IR/MoeqEnums.td"

def Moeq_ScaledType : TypeDef<Moeq_Dialect, "Scaled"> {
  let mnemonic = "scaled";
  let summary = "element of a tensor whose run-time scales travel with it";
  let description = [{
    An element type: `tensor<8x14336x4096x!moeq.scaled<f8E4M3FN, block =
    [128, 128], scale = f32>>` is a quantized tensor with one f32 scale for each
    128 x 128 block of each expert.

    `block` says which elements share one scale. It is aligned to the last
    dimensions of the tensor; missing leading entries are 1, and `*` is the
    whole extent. So one type serves a stack of experts and one expert of it.

    A tensor of this type has these components, in this order:

    | component | shape | type |
    |---|---|---|
    | values | the tensor's; 4-bit values are packed two a byte along the last dimension, low nibble first | `value`, or i8 where packed |
    | scales | `ceildiv(shape, block)`, rank kept (`*` gives 1) | `scale` |
    | zeros, if `zero` is given | that of the scales | `zero` |

    An element's number is `(value - zero) * scale`. A tail block is a real
    block with fewer elements. `layout` is the physical layout of the scales of
    a whole tensor between two ops: `row_major`, `mn_major` (scale column
    contiguous along rows, leading dimension padded to 16 bytes), `padded`
    (rows to 128 and columns to 4, by expert) or `swizzle_128x4` (tiles of 128
    rows x 4 scales; the byte in a tile is (r mod 32) * 16 + (r div 32) * 4 + c;
    PTX ISA, "Scale factor layout" of tcgen05).

    `groups = E` says that the rows, the dimension before the last, are those of
    E groups, whose offsets the ops on the tensor have. The rows of each group
    are padded to a multiple of 128 where scales are counted: with `offsets` [E +
    1] and their padded counterpart, row r of group e has padded row
    padded_offsets[e] + r - offsets[e], and its scale lies in the padded row
    divided by the block. So no block crosses a group. R rows are (R floordiv 128
    + E) * 128 padded ones, the most that they can need; scales that belong to no
    row are zero bytes.

    `packing = fragments` is the order of a weight [.., N, K] that `moeq.prepack`
    makes, in which a thread of a kernel finds its part of a wgmma operand side by
    side: chunks of 64 rows and 64 columns, along K first, in the order that
    `docs/Spec.md` gives ("Packed weights"); of scales and zeros by blocks of K, 64
    rows of a block are contiguous, then those of the next one. Components keep
    their shapes. N and K are static multiples of 64; rows may be cut at multiples
    of 64.

    Example:

    ```mlir
    !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
    !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8>
    !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>
    !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f8E8M0FNU, groups = 8>
    !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
    ```
  }];
  let parameters = (ins
    "::mlir::Type":$value,
    ArrayRefParameter<"int64_t", "block of the last dimensions, kDynamic for *">:$block,
    "::mlir::Type":$scale,
    OptionalParameter<"::mlir::Type">:$zero,
    DefaultValuedParameter<"::mlir::moeq::ScaleLayout",
                           "::mlir::moeq::ScaleLayout::RowMajor">:$layout,
    DefaultValuedParameter<"int64_t", "0", "groups of rows; 0 for none">:$groups,
    DefaultValuedParameter<"::mlir::moeq::Packing",
                           "::mlir::moeq::Packing::None">:$packing
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = [{
    /// The extent of a block along dimension `dim` of a tensor of rank `rank`:
    /// 1 where the block does not reach, ShapedType::kDynamic for the whole
    /// extent. The only accessor that knows the alignment of the block.
    int64_t getBlockOf(int64_t dim, int64_t rank) const;
    /// Whether values are packed two a byte.
    bool isPacked() const { return getValue().getIntOrFloatBitWidth() == 4; }
    /// Whether the elements are in another order than row-major.
    bool isReordered() const { return getPacking() != Packing::None; }
    /// Whether all components are row-major, as those of a plain tensor are.
    bool isRowMajor() const {
      return getLayout() == ScaleLayout::RowMajor && !isReordered();
    }
    /// The same type with elements in the given order.
    ScaledType withPacking(Packing packing) const;
    /// Whether values are integers.
    bool isInteger() const { return ::llvm::isa<::mlir::IntegerType>(getValue()); }
    /// The number of components: 2, or 3 with zero points.
    unsigned getNumComponents() const { return getZero() ? 3 : 2; }
    /// The shape of the scales of a tensor of shape `shape`, as they are laid out.
    ::llvm::SmallVector<int64_t> getScaleShape(::llvm::ArrayRef<int64_t> shape) const;
    /// The shape of the values component of a tensor of shape `shape`.
    ::llvm::SmallVector<int64_t> getValueShape(::llvm::ArrayRef<int64_t> shape) const;
    /// The element type of each component: the values' storage, scale, zero.
    ::llvm::SmallVector<::mlir::Type, 3> getComponentElementTypes() const;
    /// The largest magnitude that a value can hold under the symmetric recipes:
    /// 448, 57344, 6, 127, 7 or, unsigned, 15.
    double getMaxValue() const;
  }];
}

#endif // MOEQ_DIALECT_MOEQ_IR_MOEQTYPES_TD
