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
  int64_t getStageColumns() const {
    return TileType::kPanelBytes / getBytes(spec.lhs);
  }

  void buildFunction();
  void buildProducer(Region &region);
  void buildConsumer(Region &region);
  /// The tile loop of a role: `body` gets the tile and the cursor, and returns
  /// the cursor after it; that of the producer also the number of the next tile
  /// where the schedule is dynamic.
  struct Tile {
    Value group, row, rowEnd, column;
  };
  struct TileEnd {
    Value cursor, next;
  };
  using TileBody = function_ref<TileEnd(Tile, Value)>;
  void buildTileLoop(bool isProducer, TileBody body);
  void buildMailboxLoop(bool isProducer, TileBody body);
  Tile buildTile(Value index);
  bool isDynamic() const { return spec.schedule == moeq::Schedule::Dynamic; }
  Value advance(Value in, Value cursor) {
    return RingAdvanceOp::create(b, cursor.getType(), in, cursor);
  }
  Value buildForDepth(Value end, Value cursor,
                      function_ref<Value(Value k, Value cursor)> body);
  Value buildActive(Tile tile, Value cursor, Value staging, Value consumerRow);
  /// The main loops: each returns the cursor after it, and the fragments of the
  /// accumulator, which are equally many columns each.
  Value buildMainLoop(Value cursor, Value consumerRow,
                      SmallVectorImpl<Value> &accumulators);
  Value buildPromotedLoop(Tile tile, Value cursor, Value consumerRow,
                          SmallVectorImpl<Value> &accumulators);
  struct BlockScales;
  BlockScales buildBlockScales(Tile tile, Value k);
  Value buildBlockScale(Tile tile, Value k, int64_t column);
  Value buildOpaque(Value value);
  Value buildColumnScales(Tile tile, Value k, int64_t column);
  Value buildPromotion(Tile tile, Value partial, Value accumulator,
                       Value lhsScale, Value rhsScale);
  Value buildScaleScalar(Kind kind, Type type, Value index);
  void buildEpilogue(Tile tile, ValueRange accumulators, Value staging,
                     Value lhsScale, Value rhsScale);
  Value buildMapped(Tile tile, ValueRange accumulators, int64_t column,
                    int64_t width, Value lhsScale, Value rhsScale);
  Value buildToF32(Value scalar);
  Value buildColumnLoad(Tile tile, Value base, Type element, int64_t offset,
                        int64_t width);

  ImplicitLocOpBuilder b;
  const MatmulKernelSpec &spec;
  MLIRContext *context;
  MatmulKernel kernel;
  TensorMapType lhsMapType, rhsMapType, outMapType;
  TileType lhsTile, rhsTile;
  FragmentType productType; ///< Of one matmul.
  Value lhsMap, rhsMap, outMap, ring, mailbox, schedule, first, step, count,
      columns, depthTiles;
};

} // namespace mlir::moeq_gpu

#endif // MOEQ_LIB_CONVERSION_MOEQTOKERNELS_MATMULBUILDER_H
