//===- MatmulBuilder.h - Builds the kernel of a matmul ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULBUILDER_H
#define MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULBUILDER_H

#include "MatmulKernelDetail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::moeq_gpu {

/// Builds one kernel. Values that all roles use are members.
class MatmulBuilder {
public:
  MatmulBuilder(OpBuilder &builder, Location loc, const MatmulKernelSpec &spec)
      : b(loc, builder), spec(spec), context(builder.getContext()) {}

  MatmulKernel build();

private:
  // A parameter's name in the function, and what it holds.
  using Kind = MatmulParameter;

  Value i32(int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value i64(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value toI64(Value x) { return arith::ExtUIOp::create(b, b.getI64Type(), x); }

  Value getParameter(Kind kind, unsigned index = 0);
  // A static extent, or the parameter that holds it.
  Value getExtent(int64_t extent, Kind kind) {
    return isStatic(extent) ? i32(extent) : getParameter(kind);
  }
  /// Whether a tile of the last columns may reach beyond them.
  bool reachesBeyondColumns() const {
    return !isStatic(spec.columns) || spec.columns % spec.tileColumns != 0;
  }

  void buildFunction();
  void buildOperands();
  void buildProducer(Region &region, bool isHelper);
  void buildConsumer(Region &region);
  void buildSyncConsumer(Region &region);
  /// The tile loop of a role: `body` gets the tile and what the loop carries,
  /// and returns that after it: the cursor; where the schedule is dynamic also
  /// the producer's number of the next tile, or how many tiles of others a
  /// consumer skips before its own.
  struct Tile {
    Value group, row, rowEnd, column;
  };
  /// What a tile sums over: the first element of K, how many stages, and of K
  /// in the first of them, which is the last part where that is not whole.
  /// Where K is split, the first stage among those of all parts.
  struct Depth {
    Value first, stages, inFirst, firstStage;
  };
  /// A schedule of rows [0, E * M), M rounded up to whole tiles of rows, and
  /// its tile as one of the rows e * M + i.
  Value buildRowsOfGroups();
  Tile toGroup(Tile tile);
  Depth buildDepth(Tile tile);
  void setPart(Depth &depth);
  /// The tile and the tensor map of an operand that has `extent` rows or
  /// columns of C.
  TileType getOperandTile(int64_t extent, Type type, bool isTransposed);
  TensorMapType getOperandMap(int64_t extent, Type type, bool isTransposed,
                              int64_t step);
  /// Where stage `k` of a tile is in A and B: row and column of each.
  SmallVector<Value> buildCoordinates(Tile tile, Depth depth, Value k);
  void buildClearTail(Depth depth, Value lhs, Value rhs);
  /// Stage `k` of a tile among those of all of K.
  Value buildStageOfAll(Depth depth, Value k);
  struct Carried {
    Value cursor, count;
  };
  /// The copies of a stage, number `stage` of all of K, of which `shared` ones
  /// are the same in a cluster.
  void buildFill(Tile tile, Value stage, SmallVector<Value> places,
                 Value cursor, ValueRange shared, Value rows);
  /// The row of a tile in its group, where groups are apart in memory.
  Value buildRowInPart(Tile tile, Value row);
  using TileBody = function_ref<Carried(Tile, Carried)>;
  void buildTileLoop(bool isProducer, Value initialCount, TileBody body);
  void buildMailboxLoop(bool isProducer, Value initialCount, TileBody body);
  Value buildFindTile(Value number);
  Value buildHasRows(Tile tile) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tile.row,
                                 tile.rowEnd);
  }
  Tile buildTile(Value number, Value cta);
  bool isCluster() const { return spec.getClusterSize() > 1; }
  /// Whether its CTAs have neighbouring tiles, and share copies of operands.
  bool sharesCopies() const { return spec.cluster > 1; }
  /// Whether they have the same tile, and parts of K.
  bool isSplit() const { return spec.splitK > 1; }
  Value buildInFirstCta(function_ref<Value()> body);
  Value buildTake();
  Value buildShareNumber(Value number, Value mail);
  SmallVector<Value, 2> buildShared(Tile tile, Value number);
  bool isDynamic() const { return spec.schedule != moeq::Schedule::Persistent; }
  bool isPingPong() const { return spec.schedule == moeq::Schedule::PingPong; }
  Value advance(Value in, Value cursor, Value count = {}) {
    return RingAdvanceOp::create(b, cursor.getType(), in, cursor, count);
  }
  Value buildForDepth(Value begin, Value end, Value cursor,
                      function_ref<Value(Value k, Value cursor)> body);
  /// What a consumer knows besides the tile, whose row and column are those of
  /// its accumulator: the offset of its rows in the operand's tile, and its
  /// shared memory, through which it stores, and with swapped operands also
  /// spreads what it has for each row of C. Where K is split, how often it
  /// has added up parts.
  struct Consumer {
    Value number, row;
    SmallVector<Value, 2> staging, rowVectors;
    Value turn;
  };
  Consumer buildConsumerState(Value number);
  void buildWaitTurn(const Consumer &consumer) {
    if (isPingPong())
      TurnWaitOp::create(b, consumer.number);
  }
  void buildPassTurn(const Consumer &consumer) {
    if (isPingPong())
      TurnPassOp::create(b, consumer.number);
  }
  Value buildWidthIndex(Tile tile);
  Value buildOfWarp(Value value);
  Carried buildInTurn(const Consumer &consumer, Tile tile, Carried carried);
  /// The tile's part that is a consumer's.
  Tile toConsumer(const Consumer &consumer, Tile tile);
  Value buildTileWork(const Consumer &consumer, Tile tile, Value cursor);
  Value buildHandBack(Tile tile, Value cursor);
  Value buildRows(const Consumer &consumer, Tile tile, Value cursor);
  Value buildWidths(const Consumer &consumer, Tile tile, Value cursor);
  Value buildActive(const Consumer &consumer, Tile tile, Value cursor,
                    int64_t width);

  using Part = MatmulPart;

  /// The main loops of `width` columns: each returns the cursor after it, and
  /// the fragments of the accumulator, which are equally many columns each, or
  /// rows with swapped operands.
  Value buildMainLoop(const Consumer &consumer, Tile tile, Value cursor,
                      int64_t width, SmallVectorImpl<Value> &accumulators);
  Value buildPromotedLoop(const Consumer &consumer, Tile tile, Value cursor,
                          int64_t width, SmallVectorImpl<Value> &accumulators);
  /// A part of an operand's tile: rows of it, or columns where it is
  /// transposed.
  Value buildPart(Value tile, Value first, int64_t extent,
                  bool isTransposed = false);
  Value buildPackedLoop(const Consumer &consumer, Tile tile, Value cursor,
                        int64_t width, SmallVectorImpl<Value> &accumulators);
  SmallVector<Value> buildPackedSources(Tile tile, Value k);
  struct PackedStep;
  PackedStep buildPackedStep(const Consumer &consumer, Value &cursor);
  void addPackedStage(PackedStep &step, const Consumer &consumer,
                      ValueRange parts);
  /// Dequantizes and multiplies a stage, which is a step, by its parts.
  void buildPackedStage(const Consumer &consumer, Tile tile, ValueRange parts,
                        FragmentType type, MutableArrayRef<Value> accumulators);
  void buildPackedProducts(const PackedStep &step, Tile tile, FragmentType type,
                           MutableArrayRef<Value> accumulators, bool isLast,
                           function_ref<void()> prefetch);
  /// The loop of the synchronous path over a consumer's part of a tile, of
  /// which all consumers copy all rows and columns.
  void buildSyncLoop(const Consumer &consumer, Tile tile, int64_t width,
                     SmallVectorImpl<Value> &accumulators);
  void buildSyncCopies(Tile tile, Value k, Value slot, ValueRange lhsRows,
                       ValueRange rhsRows);
  void buildSyncStage(const Consumer &consumer, Tile tile, Value k, Value slot,
                      FragmentType type, MutableArrayRef<Value> accumulators);
  Value buildSlot(Value stages, Value slot, TileType type);
  SmallVector<Value> buildLhsSlots(Value slot);
  SmallVector<Value> buildVectorSlots(Value slot);
  /// The scales of a stage: that of the rows, a fragment or a scalar, and one
  /// of the columns of each sum. Null or empty where the operand has none.
  /// Those of the rows that come with the stage start at `lhsStart`, where that
  /// is not 0.
  struct BlockScales {
    Value lhs, lhsStart;
    SmallVector<Value> rhs;
    Value getRhs(int64_t product) const {
      return rhs.empty() ? Value() : rhs[product];
    }
  };
  /// Where the scales of an operand with one a row and stage are, and whether
  /// they are those of the rows of the accumulator, else of its columns: for
  /// the synchronous path.
  struct VectorScales {
    Value base, indices, pitch;
    Type type;
    bool isMnMajor, areRows, isAligned;
  };
  Value buildVectorScales(const VectorScales &of, Value first, Value end,
                          Value k, int64_t count);
  Value buildLhsScales(Tile tile, Value k);
  Value buildRhsScales(Tile tile, Value k, int64_t column, int64_t width);
  /// A full stage: the operands of wgmma, and the scales that come with them.
  struct Stage {
    Value a, b, lhsScales, rhsScales;
  };
  Stage buildWait(Value cursor);
  BlockScales buildBlockScales(Tile tile, Value k, ArrayRef<Part> products);
  void addStagedScales(BlockScales &scales, const Consumer &consumer,
                       const Stage &stage, ArrayRef<Part> products);
  /// How the producer finds what copies bring of an operand's scales, and what
  /// threads do: element `index` of stage k at first + k * step + index *
  /// pitch.
  SmallVector<Value> buildScalePlaces(Tile tile, Value k);
  SmallVector<Value> buildIndices(Value base, Value first, Value end,
                                  int64_t count);
  struct GatheredScales {
    Value base, first, step, pitch;
    SmallVector<Value, 2> indices;
  };
  SmallVector<GatheredScales, 2> buildGatheredScales(Tile tile,
                                                     ArrayRef<Value> indices);
  Value buildBlockScale(Tile tile, Value k, int64_t column);
  Value buildOpaque(Value value);
  Value buildPromotion(Tile tile, Value partial, Value accumulator,
                       Value lhsScale, Value rhsScale);

  /// The part of the accumulator with the sums of a part of C: those of the
  /// gate (0) or of up (1).
  Part getSum(Part part, unsigned sum) const {
    int64_t &at = spec.swapAb ? part.row : part.column;
    if (spec.gated)
      at = at / moeq::kGateGroup * 2 * moeq::kGateGroup +
           sum * moeq::kGateGroup + at % moeq::kGateGroup;
    return part;
  }
  /// A column of the product, at a multiple of a group, as one of C.
  Value toOut(Value column) {
    return spec.gated ? arith::DivUIOp::create(b, column, i32(2)) : column;
  }
  /// What the epilogue reads before the loop over K: the operands with an
  /// element for each row of C, as getRowOperands lists them; scales that are
  /// one number; with swapped operands also the scales of the columns.
  struct Early {
    SmallVector<Value, 2> rows;
    Value lhsScale, rhsScale;
    SmallVector<Value, 2> rhsScaleParts;
  };
  struct RowOperand {
    Value base, indices;
    Type element;
  };
  SmallVector<RowOperand, 2> getRowOperands();
  Early buildEarly(Tile tile, int64_t width);
  /// The one of equal parts of the left scales that the tile's rows are of.
  Value getLhsPart(Tile tile) { return spec.isMasked ? tile.group : i32(0); }
  /// That of the right ones.
  Value getRhsPart(Tile tile) {
    return spec.contractsRows ? i32(0) : tile.group;
  }
  Value getRowIndices() {
    return spec.isGathered ? getParameter(Kind::RowIndices) : Value();
  }
  Value buildScaleScalar(Kind kind, Type type, Value index);
  Value buildToF32(Value scalar);
  /// Continues in the body of a map, which it makes: an element of each
  /// fragment, row and column.
  Block &enterMap(MapOp map);
  void buildEpilogue(const Consumer &consumer, Tile tile,
                     ValueRange accumulators, const Early &early);
  /// The sums of a part of C, as one CTA has them.
  SmallVector<Value, 2> buildSums(ValueRange accumulators, Part part);
  /// Where K is split, `body` for each of the parts that this CTA adds up: its
  /// number, that among the own ones, and its sums.
  void buildAddedUp(const Consumer &consumer, ValueRange accumulators,
                    ArrayRef<Part> parts,
                    function_ref<void(int64_t, int64_t, ValueRange)> body);
  Value buildMapped(const Consumer &consumer, Tile tile, ValueRange sums,
                    Part part, const Early &early);
  Value buildColumnOperand(Tile tile, Value base, Type element, Part part);
  Value buildElementOperand(Tile tile, Value base, Type element, Part part);
  /// The end of the product's columns where a tile may reach beyond it, else
  /// null.
  Value getColumnEnd() { return reachesBeyondColumns() ? columns : Value(); }
  FragmentType getProductType(int64_t width) {
    return FragmentType::get(context, getConsumerRows(spec), width,
                             spec.lhs.isInteger() ? Type(b.getI32Type())
                                                  : Type(b.getF32Type()));
  }

  ImplicitLocOpBuilder b;
  const MatmulKernelSpec &spec;
  MLIRContext *context;
  MatmulKernel kernel;
  /// What the epilogue takes of the constants above it.
  SmallVector<Operation *> constants;
  TensorMapType lhsMapType, rhsMapType, outMapType;
  TileType lhsTile, rhsTile;
  RingType ringType;
  SmallVector<Value, 2> scaleMaps;
  Value lhsMap, rhsMap, outMap, ring, mailbox, exchange, schedule, columns,
      outColumns, depthTiles;
  /// The tiles, and the numbers by which CTAs have them, or clusters: the first
  /// one, the distance to the next, their count. Producers of a cluster tell
  /// each other through `numbers`; `rank` is that of the CTA in it.
  Value tiles, first, step, count, numbers, rank;
  /// The stages of the synchronous path, one below the other, and those of
  /// vectors one behind the other.
  Value lhsStages, rhsStages;
  SmallVector<Value, 3> vectorStages;
};

} // namespace mlir::moeq_gpu

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULBUILDER_H
