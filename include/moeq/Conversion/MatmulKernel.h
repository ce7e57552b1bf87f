//===- MatmulKernel.h - The kernel of a grouped matmul ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the persistent, warp-specialized kernel of a plain or grouped matmul
// in the kernel dialect. All kernels of this form share one skeleton; what
// differs is data in the spec.
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_CONVERSION_MATMULKERNEL_H
#define MOEQ_CONVERSION_MATMULKERNEL_H

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Target/Chips.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::moeq_gpu {

/// Which rows of an operand share one scale.
enum class ScalePlacement {
  None,   ///< There is no scale.
  Tensor, ///< One scale: of the whole left side, or of an expert's weight.
  Vector, ///< One scale a row of A, or a row of B (a column of C).
  Block,  ///< One scale for each 128 rows of B, aligned in an expert's weight.
};

/// How operands come to the tensor cores; what precedes and follows is the
/// same.
enum class OperandPath {
  Async, ///< A producer warp, TMA and a ring of barriers; wgmma. Of sm_90a.
  Sync,  ///< All threads copy by cp.async; ldmatrix and mma.sync. Of sm_80 on.
};

/// The elements of K that share a block scale, and that are summed before they
/// are promoted.
constexpr int64_t kBlockDepth = 128;

/// A matmul C[M, N] = A[M, K] * B[E, N, K]^T, row r of A with the weight of its
/// group. M is always dynamic; E, N and K may be (ShapedType::kDynamic), and
/// are kernel parameters then.
struct MatmulKernelSpec {
  std::string name;
  /// Values: f8E4M3FN or f8E5M2 (in any combination), bf16, f16 or i8; packed
  /// weights of i8, i4, ui4, f8E4M3FN, f8E5M2 or f4E2M1FN beside bf16 or f16.
  Type lhs, rhs;
  /// Results: bf16, f16 or f32.
  Type out;
  int64_t columns = ShapedType::kDynamic; ///< N
  int64_t depth = ShapedType::kDynamic;   ///< K
  /// Whether rows are grouped by `offsets` [E + 1]; else there is one group.
  bool isGrouped = false;
  int64_t groups = 1; ///< E
  /// Whether tiles come from a table of `moeq.plan`, in place of offsets: with
  /// `swapAb`.
  bool isPlanned = false;
  /// Whether each group has M rows in memory, of which the first `counts` [E]
  /// are its own. It is grouped then, by these in place of offsets, and rows
  /// are those of all groups: e * M + i.
  bool isMasked = false;
  /// Whether row r of A is that of an index [M], which may be negative: then it
  /// is zeros. The producer gathers the rows.
  bool isGathered = false;
  /// Whether groups are ranges of K, by `offsets`, in place of rows: C is [E,
  /// M, N], and operands have no dimension of groups. Rows of C are counted
  /// over all groups, e * M + i.
  bool contractsRows = false;
  /// Whether K is the outer dimension of an operand of 16-bit elements: A is
  /// [K, M], B [E, K, N]. With `contractsRows` both are.
  bool lhsIsTransposed = false, rhsIsTransposed = false;
  /// Whether the sum is added to what C holds. Without epilogue.
  bool addsToOut = false;

  /// Scales that span K, of type f32, bf16 or f16: acc * (lhs scale * rhs
  /// scale). Tensor or Vector.
  ScalePlacement lhsScale = ScalePlacement::None,
                 rhsScale = ScalePlacement::None;
  /// Scales of each 128 elements of K, of which an operand has either these or
  /// the ones above: acc = fma(partial sum, lhs scale * rhs scale, acc).
  ScalePlacement lhsBlockScale = ScalePlacement::None,
                 rhsBlockScale = ScalePlacement::None;
  Type lhsScaleType, rhsScaleType;
  /// Whether the block scales of the rows are contiguous along the rows: [K /
  /// 128, rows] with rows of 16 bytes each. Else they are along K.
  bool lhsScaleIsMnMajor = false, rhsScaleIsMnMajor = false;
  /// Whether the sum of each 128 elements of K goes to a second accumulator, of
  /// f32; of 8-bit operands. Block scales need it.
  bool promote = false;

  /// Whether the weights are packed: they are dequantized in registers, as the
  /// first operand (`swapAb`). `rhsBlockScale` is Vector, where it is, with a
  /// scale for each `rhsGroup` elements of K (32, 64 or 128), of f32, bf16 or
  /// f16, or f8E8M0FNU; zeros (i8, or null) are as many as scales, and of all
  /// of K where there is no group.
  bool isPacked = false;
  int64_t rhsGroup = 0;
  Type rhsZeroType;

  /// The epilogue of a `moeq.matmul` (accumulator, row, column, one element of
  /// each operand), or null, which rounds to `out`. Values that it captures are
  /// scalars defined above it, and become parameters.
  Region *epilogue = nullptr;
  struct EpilogueOperand {
    moeq::EpilogueMap map;
    Type elementType;
  };
  SmallVector<EpilogueOperand> epilogueOperands;
  /// Whether the epilogue takes the sums of gate and up, which alternate by
  /// moeq::kGateGroup columns: C is [M, N / 2] then.
  bool gated = false;
  /// The sums of an element of C.
  int64_t getNumSums() const { return gated ? 2 : 1; }

  /// The tile of a CTA. The kernel needs 128 bytes of K a stage for each row
  /// and column. As wgmma's M operand the rows of A are 64 a consumer
  /// warpgroup, and columns a multiple of 64 up to 256. With `swapAb` the
  /// weights are: columns are 64 or 128 a consumer, and rows as many as a tile
  /// needs, a multiple of `getRowStep` up to `tileRows`: the rows of a group
  /// are shared out evenly.
  int64_t tileRows = 128, tileColumns = 256;
  bool swapAb = false;
  int64_t stages = 4, consumers = 2, raster = 16;
  /// Persistent: CTAs have the tiles round robin. Dynamic: each takes the next
  /// one when it is free. PingPong: also, and its consumers have tiles of their
  /// own, in turn, so that the epilogue of one overlaps the matmul of another.
  moeq::Schedule schedule = moeq::Schedule::Persistent;
  /// The CTAs of a cluster, 1 or 2, which have neighbouring tiles. Rows or
  /// columns that are those of both come once for both.
  int64_t cluster = 1;
  /// The CTAs of a cluster, 1, 2, 4 or 8, which have the same tile, and sum a
  /// part of K each: equally many stages, but for the last part, which may be
  /// shorter. They add up the parts in a fixed order, each CTA for its share of
  /// the tile. Of static K; without `cluster`.
  int64_t splitK = 1;
  /// The CTAs of a cluster.
  int64_t getClusterSize() const { return cluster * splitK; }
  /// With the synchronous path: a persistent schedule; no transposed operands,
  /// swapped ones where the weights are packed, and no cluster.
  OperandPath path = OperandPath::Async;
  bool isSync() const { return path == OperandPath::Sync; }
  /// The CTAs that share a multiprocessor, 1 to 4: while one waits for a stage,
  /// or for its products, another goes on. Without clusters.
  int64_t ctas = 1;
  /// The bytes of shared memory that a CTA of the chip may have, and where so
  /// many share it.
  int64_t sharedMemory = 232448;

  /// Whether warps multiply for themselves (mma.sync). With packed weights they
  /// do so for few rows: dequantization and products of a warp then overlap,
  /// for a lower rate of the tensor cores. CTAs that share a multiprocessor
  /// overlap them anyway.
  bool multipliesByWarp() const {
    constexpr int64_t fewRows = 32;
    return isSync() || (isPacked && tileRows <= fewRows && ctas == 1);
  }

  /// The step between the widths of the N operand.
  int64_t getRowStep() const {
    return lhs.isInteger() || (isPacked && !multipliesByWarp()) ? 16 : 8;
  }
};

/// What a parameter of the kernel is; the parameters are in this order, tensor
/// maps first, with those left out that the spec does not need.
enum class MatmulParameter {
  LhsMap, ///< With `swapAb` an array of maps, with boxes for each row count.
  RhsMap, ///< Of the weights as [E * N, K]; not where they are packed.
  OutMap, ///< Not with `swapAb`. No maps with the synchronous path.
  LhsScaleMap, ///< Where copies move the scales of the rows of a tile, in place
  RhsScaleMap, ///< of `LhsScale` and `RhsScale`.
  Out,
  Offsets,    ///< Or the counts.
  Plan,       ///< In place of `Offsets`.
  Lhs,        ///< With gathered rows, in place of the map; synchronous.
  Rhs,        ///< With the synchronous path, and where it is packed.
  RowIndices, ///< Of gathered rows.
  LhsScale,
  RhsScale,
  RhsZero,       ///< Of packed weights.
  LhsScalePitch, ///< Of scales that are contiguous along the rows (i32), where
                 ///< threads copy them.
  EpilogueOperand, ///< One for each, by `index`.
  Counter,  ///< Of the tiles taken: an i32 that is zero between launches.
  Rows,     ///< M (i32), where groups are no ranges of rows.
  Columns,  ///< N (i32)
  Depth,    ///< K (i32)
  Groups,   ///< E (i32)
  Captured, ///< One for each captured scalar, by `index`.
};

struct MatmulKernel {
  LLVM::LLVMFuncOp function;
  struct Parameter {
    MatmulParameter kind;
    unsigned index = 0;
    /// Of a tensor map.
    TensorMapType map;
  };
  SmallVector<Parameter> parameters;
  /// The scalars that the epilogue captures.
  SmallVector<Value> captured;
  /// The launch: threads of a CTA, bytes of dynamic shared memory.
  int64_t threads = 0, sharedMemory = 0;
};

/// Why this form of kernel cannot do `spec`, or nullopt where it can. Extents
/// that are dynamic are taken to satisfy what copies ask: rows of A, B and C
/// are multiples of 16 bytes.
std::optional<std::string> getUnsupportedReason(const MatmulKernelSpec &spec);

/// Builds the kernel at the insertion point of `builder`, in a `gpu.module`.
/// Fails, with an error at `loc`, where getUnsupportedReason gives a reason.
FailureOr<MatmulKernel> buildMatmulKernel(OpBuilder &builder, Location loc,
                                          const MatmulKernelSpec &spec);

/// The spec of a `moeq.matmul` or `moeq.grouped_matmul` on memrefs in component
/// form, for `chip`, or a reason in `reason` why this form of kernel cannot do
/// it. Its name is empty.
FailureOr<MatmulKernelSpec>
getMatmulKernelSpec(Operation *op, const moeq::Chip &chip, std::string &reason);

} // namespace mlir::moeq_gpu

#endif // MOEQ_CONVERSION_MATMULKERNEL_H
