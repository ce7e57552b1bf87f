//===- MatmulKernel.cpp - The kernel of a grouped matmul --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp copies tiles of A and B into a ring of shared-memory stages; each
// consumer warpgroup multiplies 64 rows of A with all columns of the tile, maps
// its accumulator through scales and epilogue, and stores it. CTAs take the
// output tiles round robin.
//
//===----------------------------------------------------------------------===//

#include "MatmulKernelDetail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::moeq_gpu;
using moeq::EpilogueMap;

namespace {

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
  int64_t getStageColumns() const {
    return TileType::kPanelBytes / getBytes(spec.lhs);
  }

  void buildFunction();
  void buildProducer(Region &region);
  void buildConsumer(Region &region);
  /// The tile loop of a role: `body` gets the tile and the cursor, and returns
  /// the cursor after it.
  struct Tile {
    Value group, row, rowEnd, column;
  };
  void buildTileLoop(function_ref<Value(Tile, Value)> body);
  Value buildForDepth(Value cursor,
                      function_ref<Value(Value k, Value cursor)> body);
  Value buildActive(Tile tile, Value cursor, Value staging, Value consumerRow);
  Value buildScaleScalar(Kind kind, Type type, Value index);
  void buildEpilogue(Tile tile, Value accumulator, Value staging,
                     Value lhsScale, Value rhsScale);
  Value buildMapped(Tile tile, Value accumulator, int64_t column, int64_t width,
                    Value lhsScale, Value rhsScale);
  Value buildColumnLoad(Tile tile, Value base, Type element, int64_t offset,
                        int64_t width);

  ImplicitLocOpBuilder b;
  const MatmulKernelSpec &spec;
  MLIRContext *context;
  MatmulKernel kernel;
  TensorMapType lhsMapType, rhsMapType, outMapType;
  TileType lhsTile, rhsTile;
  FragmentType accumulatorType;
  Value lhsMap, rhsMap, outMap, ring, schedule, first, step, count, columns,
      depthTiles;
};

} // namespace

Value MatmulBuilder::getParameter(Kind kind, unsigned index) {
  for (auto [parameter, argument] :
       llvm::zip_equal(kernel.parameters, kernel.function.getArguments()))
    if (parameter.kind == kind && parameter.index == index)
      return argument;
  llvm_unreachable("a parameter that the spec does not have");
}

// The parameters, with the attributes that make tensor maps come by value and
// tell that buffers do not overlap.
void MatmulBuilder::buildFunction() {
  auto global = LLVM::LLVMPointerType::get(context, 1);
  auto generic = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  UnitAttr unit = b.getUnitAttr();
  auto addParameter = [&](Kind kind, Type type, ArrayRef<NamedAttribute> names,
                          unsigned index = 0, TensorMapType map = {}) {
    kernel.parameters.push_back({kind, index, map});
    types.push_back(type);
    attributes.push_back(b.getDictionaryAttr(names));
  };
  auto addMap = [&](Kind kind, TensorMapType type) {
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
    addParameter(kind, generic,
                 {b.getNamedAttr("llvm.byval", TypeAttr::get(bytes)),
                  b.getNamedAttr("nvvm.grid_constant", unit),
                  b.getNamedAttr("llvm.align", b.getI32IntegerAttr(64))},
                 0, type);
  };
  auto addInput = [&](Kind kind, unsigned index = 0) {
    addParameter(kind, global,
                 {b.getNamedAttr("llvm.noalias", unit),
                  b.getNamedAttr("llvm.readonly", unit)},
                 index);
  };
  auto addSize = [&](Kind kind, int64_t extent) {
    if (!isStatic(extent))
      addParameter(kind, b.getI32Type(), {});
  };

  addMap(Kind::LhsMap, lhsMapType);
  addMap(Kind::RhsMap, rhsMapType);
  addMap(Kind::OutMap, outMapType);
  addParameter(Kind::Out, global, {b.getNamedAttr("llvm.noalias", unit)});
  if (spec.isGrouped)
    addInput(Kind::Offsets);
  if (spec.lhsScale != ScalePlacement::None)
    addInput(Kind::LhsScale);
  if (spec.rhsScale != ScalePlacement::None)
    addInput(Kind::RhsScale);
  for (unsigned i = 0, n = spec.epilogueOperands.size(); i < n; ++i)
    addInput(Kind::EpilogueOperand, i);
  if (!spec.isGrouped)
    addSize(Kind::Rows, ShapedType::kDynamic);
  addSize(Kind::Columns, spec.columns);
  addSize(Kind::Depth, spec.depth);
  if (spec.isGrouped)
    addSize(Kind::Groups, spec.groups);
  if (spec.epilogue) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(*spec.epilogue, captured);
    for (auto [i, value] : llvm::enumerate(captured)) {
      Type type = value.getType().isIndex() ? b.getI64Type() : value.getType();
      addParameter(Kind::Captured, type, {}, i);
    }
    kernel.captured = captured.takeVector();
  }

  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  kernel.function = LLVM::LLVMFuncOp::create(b, spec.name, type);
  kernel.function.setAllArgAttrs(attributes);
  kernel.function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), unit);
  kernel.function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), unit);
  kernel.threads = kWarpgroupThreads * (1 + spec.consumers);
  kernel.function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      b.getDenseI32ArrayAttr({static_cast<int32_t>(kernel.threads), 1, 1}));
  kernel.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                           b.getI32IntegerAttr(1));
  b.setInsertionPointToStart(kernel.function.addEntryBlock(b));
}

MatmulKernel MatmulBuilder::build() {
  int64_t stageColumns = getStageColumns(),
          outPanel = TileType::kPanelBytes / getBytes(spec.out);
  lhsMapType =
      TensorMapType::get(context, spec.tileRows, stageColumns, spec.lhs);
  rhsMapType =
      TensorMapType::get(context, spec.tileColumns, stageColumns, spec.rhs);
  outMapType = TensorMapType::get(context, kConsumerRows, outPanel, spec.out);
  lhsTile = TileType::get(context, spec.tileRows, stageColumns, spec.lhs);
  rhsTile = TileType::get(context, spec.tileColumns, stageColumns, spec.rhs);
  accumulatorType = FragmentType::get(
      context, kConsumerRows, spec.tileColumns,
      spec.lhs.isInteger() ? Type(b.getI32Type()) : Type(b.getF32Type()));
  buildFunction();

  lhsMap = TensorMapOp::create(b, lhsMapType, getParameter(Kind::LhsMap));
  rhsMap = TensorMapOp::create(b, rhsMapType, getParameter(Kind::RhsMap));
  outMap = TensorMapOp::create(b, outMapType, getParameter(Kind::OutMap));
  ring = RingCreateOp::create(
      b, RingType::get(context, spec.stages, {lhsTile, rhsTile}),
      spec.consumers);
  columns = getExtent(spec.columns, Kind::Columns);
  if (isStatic(spec.depth)) {
    depthTiles = i32(llvm::divideCeil(spec.depth, stageColumns));
  } else {
    Value rounded = add(getParameter(Kind::Depth), i32(stageColumns - 1));
    depthTiles = arith::DivUIOp::create(b, rounded, i32(stageColumns));
  }
  int64_t groupsPerLane = !spec.isGrouped ? 1
                          : !isStatic(spec.groups)
                              ? kWarpThreads
                              : llvm::divideCeil(spec.groups, kWarpThreads);
  auto scheduleType = ScheduleType::get(
      context, spec.tileRows, spec.tileColumns, spec.raster, groupsPerLane);
  if (spec.isGrouped)
    schedule = ScheduleOp::create(b, scheduleType, getParameter(Kind::Offsets),
                                  getExtent(spec.groups, Kind::Groups), Value(),
                                  columns);
  else
    schedule = ScheduleOp::create(b, scheduleType, Value(), Value(),
                                  getParameter(Kind::Rows), columns);
  first = NVVM::BlockIdXOp::create(b, b.getI32Type());
  step = NVVM::GridDimXOp::create(b, b.getI32Type());
  count = ScheduleSizeOp::create(b, schedule);

  auto roles = RolesOp::create(b, kProducerRegisters, spec.consumers,
                               getConsumerRegisters(spec.consumers));
  LLVM::ReturnOp::create(b, ValueRange());
  buildProducer(roles.getProducer());
  buildConsumer(roles.getConsumer());
  kernel.sharedMemory = getKernelBudget(roles).sharedMemory;
  return kernel;
}

void MatmulBuilder::buildTileLoop(function_ref<Value(Tile, Value)> body) {
  Value start = RingStartOp::create(b, CursorType::get(context));
  scf::ForOp::create(
      b, b.getLoc(), first, count, step, start,
      [&](OpBuilder &, Location, Value index, ValueRange cursor) {
        auto found = ScheduleTileOp::create(b, schedule, index);
        Tile tile{found.getGroup(), found.getRow(), found.getRowEnd(),
                  found.getColumn()};
        scf::YieldOp::create(b, body(tile, cursor.front()));
      });
}

// A loop over the stages of K that carries the cursor.
Value MatmulBuilder::buildForDepth(Value cursor,
                                   function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(0), depthTiles, i32(1), cursor,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        scf::YieldOp::create(b, body(k, carried.front()));
      });
  return loop.getResult(0);
}

void MatmulBuilder::buildProducer(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&region.emplaceBlock());
  buildTileLoop([&](Tile tile, Value start) {
    Value weightRow = add(mul(tile.group, columns), tile.column);
    return buildForDepth(start, [&](Value k, Value cursor) -> Value {
      Value column = mul(k, i32(getStageColumns()));
      RingAcquireOp::create(b, ring, cursor);
      RingFillOp::create(b, ring, cursor, ValueRange{lhsMap, rhsMap},
                         ValueRange{tile.row, column, weightRow, column});
      return RingAdvanceOp::create(b, cursor.getType(), ring, cursor);
    });
  });
  YieldOp::create(b);
}

void MatmulBuilder::buildConsumer(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = region.emplaceBlock();
  Value consumer = block.addArgument(b.getI32Type(), b.getLoc());
  b.setInsertionPointToStart(&block);
  Value consumerRow = mul(consumer, i32(kConsumerRows));
  Value staging =
      AllocOp::create(b, TileType::get(context, kConsumerRows,
                                       getChunkColumns(spec), spec.out));
  buildTileLoop([&](Tile tile, Value cursor) -> Value {
    tile.row = add(tile.row, consumerRow);
    Value hasRows = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                          tile.row, tile.rowEnd);
    auto split = scf::IfOp::create(b, cursor.getType(), hasRows,
                                   /*withElseRegion=*/true);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(split.thenBlock());
    scf::YieldOp::create(b, buildActive(tile, cursor, staging, consumerRow));
    // A consumer without rows only hands the stages back.
    b.setInsertionPointToStart(split.elseBlock());
    scf::YieldOp::create(
        b, buildForDepth(cursor, [&](Value, Value at) -> Value {
          RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
          RingReleaseOp::create(b, ring, at);
          return RingAdvanceOp::create(b, at.getType(), ring, at);
        }));
    return split.getResult(0);
  });
  StoreWaitOp::create(b);
  YieldOp::create(b);
}

// The matmul and the epilogue of a consumer's rows. The first stage starts the
// accumulator; then one matmul stays in flight while the next stage is waited
// for.
Value MatmulBuilder::buildActive(Tile tile, Value cursor, Value staging,
                                 Value consumerRow) {
  auto lhsPart =
      TileType::get(context, kConsumerRows, getStageColumns(), spec.lhs);
  auto multiply = [&](Value at, Value accumulator) -> Value {
    auto stage = RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
    Value lhs = SubtileOp::create(b, lhsPart, stage.getResult(0), consumerRow);
    return MmaOp::create(b, accumulatorType, lhs, stage.getResult(1),
                         accumulator);
  };
  auto advance = [&](Value at) -> Value {
    return RingAdvanceOp::create(b, at.getType(), ring, at);
  };

  // Loaded early, so that the latency is hidden by the matmul.
  Value lhsScale, rhsScale;
  if (spec.lhsScale == ScalePlacement::Vector)
    lhsScale = LoadOp::create(
        b, FragmentType::get(context, kConsumerRows, 1, spec.lhsScaleType),
        getParameter(Kind::LhsScale), tile.row, i32(0), i64(1), tile.rowEnd,
        Value());
  else if (spec.lhsScale == ScalePlacement::Tensor)
    lhsScale = buildScaleScalar(Kind::LhsScale, spec.lhsScaleType, i32(0));
  if (spec.rhsScale == ScalePlacement::Tensor)
    rhsScale = buildScaleScalar(Kind::RhsScale, spec.rhsScaleType, tile.group);

  Value started = multiply(cursor, Value());
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(1), depthTiles, i32(1),
      ValueRange{started, advance(cursor), cursor},
      [&](OpBuilder &, Location, Value, ValueRange carried) {
        Value at = carried[1], previous = carried[2];
        Value accumulator = multiply(at, carried[0]);
        MmaWaitOp::create(b, TypeRange(), 1, ValueRange());
        RingReleaseOp::create(b, ring, previous);
        scf::YieldOp::create(b, ValueRange{accumulator, advance(at), at});
      });
  Value accumulator =
      MmaWaitOp::create(b, TypeRange(accumulatorType), 0, loop.getResult(0))
          .getResult(0);
  RingReleaseOp::create(b, ring, loop.getResult(2));
  buildEpilogue(tile, accumulator, staging, lhsScale, rhsScale);
  return loop.getResult(1);
}

Value MatmulBuilder::buildScaleScalar(Kind kind, Type type, Value index) {
  Value base = getParameter(kind);
  Value address = LLVM::GEPOp::create(b, base.getType(), type, base, index);
  return LLVM::LoadOp::create(b, type, address, getBytes(type),
                              /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

void MatmulBuilder::buildEpilogue(Tile tile, Value accumulator, Value staging,
                                  Value lhsScale, Value rhsScale) {
  int64_t width = getChunkColumns(spec);
  Value pitch = toI64(columns);
  for (int64_t column = 0; column < spec.tileColumns; column += width) {
    Value mapped =
        buildMapped(tile, accumulator, column, width, lhsScale, rhsScale);
    Value columnEnd =
        isStatic(spec.columns) && spec.columns % spec.tileColumns == 0
            ? Value()
            : columns;
    StoreOp::create(b, mapped, staging, outMap, getParameter(Kind::Out),
                    tile.row, add(tile.column, i32(column)), pitch, tile.rowEnd,
                    columnEnd);
  }
}

// One element a column, from [E, N] at the tile's group.
Value MatmulBuilder::buildColumnLoad(Tile tile, Value base, Type element,
                                     int64_t offset, int64_t width) {
  // A tile of the last columns may reach beyond them.
  bool reaches =
      !isStatic(spec.columns) || spec.columns % spec.tileColumns != 0;
  auto load =
      LoadOp::create(b, FragmentType::get(context, 1, width, element), base,
                     tile.group, add(tile.column, i32(offset)), toI64(columns),
                     Value(), reaches ? columns : Value());
  load.setAligned(true);
  return load;
}

// Columns from `column` on through scales and epilogue: acc * (lhs * rhs), then
// the epilogue's region, or one rounding.
Value MatmulBuilder::buildMapped(Tile tile, Value accumulator, int64_t column,
                                 int64_t width, Value lhsScale,
                                 Value rhsScale) {
  auto part = FragmentType::get(context, kConsumerRows, width,
                                accumulatorType.getElementType());
  SmallVector<Value> fragments{SliceOp::create(b, part, accumulator, column)};
  if (spec.lhsScale == ScalePlacement::Vector)
    fragments.push_back(lhsScale);
  if (spec.rhsScale == ScalePlacement::Vector)
    fragments.push_back(buildColumnLoad(tile, getParameter(Kind::RhsScale),
                                        spec.rhsScaleType, column, width));
  for (auto [i, operand] : llvm::enumerate(spec.epilogueOperands)) {
    Value base = getParameter(Kind::EpilogueOperand, i);
    if (operand.map == EpilogueMap::Column) {
      fragments.push_back(
          buildColumnLoad(tile, base, operand.elementType, column, width));
      continue;
    }
    bool isRow = operand.map == EpilogueMap::Row;
    auto type = FragmentType::get(context, kConsumerRows, isRow ? 1 : width,
                                  operand.elementType);
    Value at = isRow ? i32(0) : add(tile.column, i32(column));
    auto load = LoadOp::create(b, type, base, tile.row, at,
                               isRow ? i64(1) : toI64(columns), tile.rowEnd,
                               isRow ? Value() : columns);
    load.setAligned(!isRow);
    fragments.push_back(load);
  }

  auto map = MapOp::create(
      b, FragmentType::get(context, kConsumerRows, width, spec.out), fragments,
      tile.row, add(tile.column, i32(column)));
  OpBuilder::InsertionGuard guard(b);
  Block &body = map.getBody().emplaceBlock();
  for (Value fragment : fragments)
    body.addArgument(cast<FragmentType>(fragment.getType()).getElementType(),
                     b.getLoc());
  body.addArguments({b.getIndexType(), b.getIndexType()},
                    {b.getLoc(), b.getLoc()});
  b.setInsertionPointToStart(&body);

  auto toF32 = [&](Value x) -> Value {
    if (x.getType().isInteger())
      return arith::SIToFPOp::create(b, b.getF32Type(), x);
    return x.getType().isF32()
               ? x
               : Value(arith::ExtFOp::create(b, b.getF32Type(), x));
  };
  unsigned next = 0;
  Value value = toF32(body.getArgument(next++));
  Value scale;
  for (auto [placement, scalar] : {std::pair{spec.lhsScale, lhsScale},
                                   std::pair{spec.rhsScale, rhsScale}}) {
    if (placement == ScalePlacement::None)
      continue;
    Value factor = toF32(placement == ScalePlacement::Vector
                             ? Value(body.getArgument(next++))
                             : scalar);
    scale = scale ? Value(arith::MulFOp::create(b, scale, factor)) : factor;
  }
  if (scale)
    value = arith::MulFOp::create(b, value, scale);

  if (!spec.epilogue) {
    if (!spec.out.isF32())
      value = arith::TruncFOp::create(b, spec.out, value);
    YieldOp::create(b, value);
    return map;
  }
  // The region's arguments: accumulator, row, column, operands.
  Block &source = spec.epilogue->front();
  size_t fragmentCount = fragments.size();
  IRMapping mapping;
  mapping.map(source.getArgument(0), value);
  mapping.map(source.getArgument(1), body.getArgument(fragmentCount));
  mapping.map(source.getArgument(2), body.getArgument(fragmentCount + 1));
  for (unsigned i = 3, n = source.getNumArguments(); i < n; ++i)
    mapping.map(source.getArgument(i), body.getArgument(next++));
  for (auto [i, captured] : llvm::enumerate(kernel.captured)) {
    Value parameter = getParameter(Kind::Captured, i);
    if (captured.getType().isIndex())
      parameter = arith::IndexCastOp::create(b, b.getIndexType(), parameter);
    mapping.map(captured, parameter);
  }
  for (Operation &op : source.without_terminator())
    b.clone(op, mapping);
  YieldOp::create(
      b, mapping.lookupOrDefault(source.getTerminator()->getOperand(0)));
  return map;
}

FailureOr<MatmulKernel>
mlir::moeq_gpu::buildMatmulKernel(OpBuilder &builder, Location loc,
                                  const MatmulKernelSpec &spec) {
  if (std::optional<std::string> reason = getUnsupportedReason(spec))
    return emitError(loc) << "no kernel: " << *reason;
  OpBuilder::InsertionGuard guard(builder);
  return MatmulBuilder(builder, loc, spec).build();
}
