//===- MatmulKernel.cpp - The kernel of a grouped matmul --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp copies tiles of A and B into a ring of shared-memory stages; each
// consumer warpgroup multiplies 64 rows of A with all columns of the tile, maps
// its accumulator through scales and epilogue, and stores it. With swapped
// operands it multiplies its rows of B with all rows of A that the tile has:
// the accumulator is the transpose, and there is code for each width of it.
// CTAs have the output tiles round robin, or each takes the next one when it is
// free: then the producer takes it, and tells the consumers through a mailbox.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

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
    auto bytes = LLVM::LLVMArrayType::get(
        b.getI8Type(), TensorMapType::kBytes * type.getNumBoxes());
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
  if (!spec.swapAb)
    addMap(Kind::OutMap, outMapType);
  addParameter(Kind::Out, global, {b.getNamedAttr("llvm.noalias", unit)});
  if (spec.isGrouped)
    addInput(spec.isPlanned ? Kind::Plan : Kind::Offsets);
  if (spec.lhsScaleType)
    addInput(Kind::LhsScale);
  if (spec.rhsScaleType)
    addInput(Kind::RhsScale);
  for (unsigned i = 0, n = spec.epilogueOperands.size(); i < n; ++i)
    addInput(Kind::EpilogueOperand, i);
  if (isDynamic())
    addParameter(Kind::Counter, global, {b.getNamedAttr("llvm.noalias", unit)});
  if (!spec.isGrouped || spec.isMasked)
    addSize(Kind::Rows, ShapedType::kDynamic);
  addSize(Kind::Columns, spec.columns);
  addSize(Kind::Depth, spec.depth);
  if (spec.isGrouped)
    addSize(Kind::Groups, spec.groups);
  if (spec.lhsScaleIsMnMajor)
    addSize(Kind::LhsScalePitch, ShapedType::kDynamic);
  if (spec.epilogue) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(*spec.epilogue, used);
    for (Value value : used) {
      if (matchPattern(value, m_Constant())) {
        constants.push_back(value.getDefiningOp());
        continue;
      }
      Type type = value.getType().isIndex() ? b.getI64Type() : value.getType();
      addParameter(Kind::Captured, type, {}, kernel.captured.size());
      kernel.captured.push_back(value);
    }
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
      TensorMapType::get(context, spec.tileRows, stageColumns, spec.lhs,
                         spec.swapAb ? spec.getRowStep() : 0);
  rhsMapType = TensorMapType::get(context, spec.tileColumns, stageColumns,
                                  spec.rhs, /*step=*/0);
  outMapType = TensorMapType::get(context, kInstructionRows, outPanel, spec.out,
                                  /*step=*/0);
  lhsTile = TileType::get(context, spec.tileRows, stageColumns, spec.lhs);
  rhsTile = TileType::get(context, spec.tileColumns, stageColumns, spec.rhs);
  buildFunction();

  lhsMap = TensorMapOp::create(b, lhsMapType, getParameter(Kind::LhsMap));
  rhsMap = TensorMapOp::create(b, rhsMapType, getParameter(Kind::RhsMap));
  if (!spec.swapAb)
    outMap = TensorMapOp::create(b, outMapType, getParameter(Kind::OutMap));
  ring = RingCreateOp::create(
      b, RingType::get(context, spec.stages, {lhsTile, rhsTile}),
      spec.consumers);
  if (isDynamic())
    mailbox = RingCreateOp::create(
        b, RingType::get(context, kMailboxStages, {}), spec.consumers);
  columns = getExtent(spec.columns, Kind::Columns);
  outColumns = toOut(columns);
  if (isStatic(spec.depth)) {
    depthTiles = i32(llvm::divideCeil(spec.depth, stageColumns));
  } else {
    Value rounded = add(getParameter(Kind::Depth), i32(stageColumns - 1));
    depthTiles = arith::DivUIOp::create(b, rounded, i32(stageColumns));
  }
  int64_t groupsPerLane = !spec.isGrouped ? 0
                          : !isStatic(spec.groups)
                              ? kWarpThreads
                              : llvm::divideCeil(spec.groups, kWarpThreads);
  auto scheduleType = ScheduleType::get(
      context, spec.tileRows, spec.tileColumns, spec.swapAb ? 0 : spec.raster,
      spec.swapAb ? spec.getRowStep() : 0, spec.isPlanned, groupsPerLane,
      spec.isMasked);
  auto getWhere = [&](Kind kind, bool isUsed) {
    return isUsed ? getParameter(kind) : Value();
  };
  schedule = ScheduleOp::create(
      b, scheduleType,
      getWhere(Kind::Offsets,
               spec.isGrouped && !spec.isPlanned && !spec.isMasked),
      getWhere(Kind::Plan, spec.isPlanned),
      getWhere(Kind::Offsets, spec.isMasked),
      spec.isGrouped ? getExtent(spec.groups, Kind::Groups) : Value(),
      getWhere(Kind::Rows, !spec.isGrouped || spec.isMasked), columns);
  first = NVVM::BlockIdXOp::create(b, b.getI32Type());
  step = NVVM::GridDimXOp::create(b, b.getI32Type());
  count = ScheduleSizeOp::create(b, schedule);

  auto roles = RolesOp::create(b, getProducerRegisters(spec), spec.consumers,
                               getConsumerRegisters(spec));
  LLVM::ReturnOp::create(b, ValueRange());
  buildProducer(roles.getProducer());
  buildConsumer(roles.getConsumer());
  kernel.sharedMemory = getKernelBudget(roles).sharedMemory;
  return kernel;
}

MatmulBuilder::Tile MatmulBuilder::buildTile(Value index) {
  auto found = ScheduleTileOp::create(b, schedule, index);
  return {found.getGroup(), found.getRow(), found.getRowEnd(),
          found.getColumn()};
}

void MatmulBuilder::buildTileLoop(bool isProducer, TileBody body) {
  if (isDynamic())
    return buildMailboxLoop(isProducer, body);
  Value start = RingStartOp::create(b, CursorType::get(context));
  scf::ForOp::create(
      b, b.getLoc(), first, count, step, start,
      [&](OpBuilder &, Location, Value index, ValueRange cursor) {
        scf::YieldOp::create(b, body(buildTile(index), cursor.front()).cursor);
      });
}

// The producer sends each tile, and at last one of group -1, which ends the
// loop of both roles.
void MatmulBuilder::buildMailboxLoop(bool isProducer, TileBody body) {
  auto mailType = VectorType::get({4}, b.getI32Type());
  auto none = b.getIntegerAttr(b.getI32Type(), -1);
  Value start = RingStartOp::create(b, CursorType::get(context));
  SmallVector<Value> initial{start, start};
  if (isProducer)
    initial.push_back(first);
  auto findTile = [&](Value index) -> Value {
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, count);
    auto found = scf::IfOp::create(b, mailType, exists, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(found.thenBlock());
    Tile tile = buildTile(index);
    Value fields[] = {tile.group, tile.row, tile.rowEnd, tile.column};
    scf::YieldOp::create(
        b, Value(vector::FromElementsOp::create(b, mailType, fields)));
    b.setInsertionPointToStart(found.elseBlock());
    scf::YieldOp::create(b, Value(arith::ConstantOp::create(
                                b, DenseElementsAttr::get(mailType, none))));
    return found.getResult(0);
  };
  auto getTile = [&](OpBuilder &, Location, ValueRange carried) {
    Value cursor = carried[0], mail = carried[1], tile;
    if (isProducer) {
      tile = findTile(carried[2]);
      RingAcquireOp::create(b, mailbox, mail);
      RingSendOp::create(b, tile, mailbox, mail);
    } else {
      tile = RingReceiveOp::create(b, mailType, mailbox, mail);
      RingReleaseOp::create(b, mailbox, mail);
    }
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                         vector::ExtractOp::create(b, tile, 0),
                                         arith::ConstantOp::create(b, none));
    scf::ConditionOp::create(b, exists, ValueRange{cursor, mail, tile});
  };
  auto work = [&](OpBuilder &, Location, ValueRange carried) {
    SmallVector<Value, 4> fields;
    for (int64_t i = 0; i < mailType.getNumElements(); ++i)
      fields.push_back(vector::ExtractOp::create(b, carried[2], i));
    TileEnd end =
        body({fields[0], fields[1], fields[2], fields[3]}, carried[0]);
    SmallVector<Value> next{end.cursor, advance(mailbox, carried[1])};
    if (isProducer)
      next.push_back(end.next);
    scf::YieldOp::create(b, next);
  };
  Type cursorType = start.getType();
  scf::WhileOp::create(b, b.getLoc(),
                       TypeRange{cursorType, cursorType, mailType}, initial,
                       getTile, work);
}

// A loop over the stages of K up to `end` that carries the cursor.
Value MatmulBuilder::buildForDepth(Value end, Value cursor,
                                   function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(0), end, i32(1), cursor,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        scf::YieldOp::create(b, body(k, carried.front()));
      });
  return loop.getResult(0);
}

void MatmulBuilder::buildProducer(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&region.emplaceBlock());
  buildTileLoop(/*isProducer=*/true, [&](Tile tile, Value start) -> TileEnd {
    Value weightRow = add(mul(tile.group, columns), tile.column);
    Value rows, depth = depthTiles, hasRows;
    if (spec.swapAb)
      rows = mul(buildWidthIndex(tile), i32(spec.getRowStep()));
    if (spec.isPlanned) { // A tile without rows has no stages.
      hasRows =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rows, i32(0));
      depth = arith::SelectOp::create(b, hasRows, depth, i32(0));
    }
    auto fill = [&](Value k, Value cursor) -> Value {
      Value column = mul(k, i32(getStageColumns()));
      RingAcquireOp::create(b, ring, cursor);
      RingFillOp::create(b, ring, cursor, ValueRange{lhsMap, rhsMap},
                         ValueRange{tile.row, column, weightRow, column}, rows);
      return advance(ring, cursor);
    };
    if (!isDynamic())
      return {buildForDepth(depth, start, fill), Value()};
    // The next tile is taken before the last stage, for which the producer has
    // to wait anyway.
    Value last = arith::SubIOp::create(b, depth, i32(1));
    Value cursor = buildForDepth(last, start, fill);
    Value next = ScheduleTakeOp::create(b, b.getI32Type(), schedule,
                                        getParameter(Kind::Counter));
    if (!hasRows)
      return {fill(last, cursor), next};
    auto split = scf::IfOp::create(b, cursor.getType(), hasRows,
                                   /*withElseRegion=*/true);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(split.thenBlock());
    scf::YieldOp::create(b, fill(last, cursor));
    b.setInsertionPointToStart(split.elseBlock());
    scf::YieldOp::create(b, cursor);
    return {split.getResult(0), next};
  });
  YieldOp::create(b);
}

void MatmulBuilder::buildConsumer(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = region.emplaceBlock();
  Value consumer = block.addArgument(b.getI32Type(), b.getLoc());
  b.setInsertionPointToStart(&block);
  Consumer state{mul(consumer, i32(getConsumerRows(spec))), {}, {}};
  auto stagingType = spec.swapAb
                         ? TileType::get(context, getChunkColumns(spec),
                                         kInstructionRows, spec.out)
                         : TileType::get(context, kInstructionRows,
                                         getChunkColumns(spec), spec.out);
  for (int i = 0, n = spec.swapAb ? 2 : 1; i < n; ++i)
    state.staging.push_back(AllocOp::create(b, stagingType));
  if (spec.swapAb)
    for (const RowOperand &operand : getRowOperands())
      state.rowVectors.push_back(AllocOp::create(
          b, SharedVectorType::get(context, spec.tileRows, operand.element)));
  buildTileLoop(/*isProducer=*/false, [&](Tile tile, Value cursor) -> TileEnd {
    Value &start = spec.swapAb ? tile.column : tile.row;
    start = add(start, state.row);
    return {spec.swapAb ? buildWidths(state, tile, cursor)
                        : buildRows(state, tile, cursor),
            Value()};
  });
  if (!spec.swapAb)
    StoreWaitOp::create(b);
  YieldOp::create(b);
}

// A consumer without rows only hands the stages back.
Value MatmulBuilder::buildRows(const Consumer &consumer, Tile tile,
                               Value cursor) {
  Value hasRows = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tile.row,
                                        tile.rowEnd);
  auto split = scf::IfOp::create(b, cursor.getType(), hasRows,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(split.thenBlock());
  scf::YieldOp::create(b,
                       buildActive(consumer, tile, cursor, spec.tileColumns));
  b.setInsertionPointToStart(split.elseBlock());
  scf::YieldOp::create(
      b, buildForDepth(depthTiles, cursor, [&](Value, Value at) -> Value {
        RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
        RingReleaseOp::create(b, ring, at);
        return advance(ring, at);
      }));
  return split.getResult(0);
}

// The least width, in steps, that holds the rows of a tile.
Value MatmulBuilder::buildWidthIndex(Tile tile) {
  int64_t step = spec.getRowStep();
  Value rows = arith::SubIOp::create(b, tile.rowEnd, tile.row);
  return arith::DivUIOp::create(b, add(rows, i32(step - 1)), i32(step));
}

// Code for each width. The number of the case is that of lane 0, so that the
// compiler sees that it is the same in a warp.
Value MatmulBuilder::buildWidths(const Consumer &consumer, Tile tile,
                                 Value cursor) {
  Value index = NVVM::ShflOp::create(
      b, b.getI32Type(), i32(-1), buildWidthIndex(tile), i32(0),
      i32(kWarpThreads - 1), NVVM::ShflKind::idx, UnitAttr());
  SmallVector<int64_t> widths = getWidths(spec), cases;
  for (int64_t width : widths)
    cases.push_back(width / spec.getRowStep());
  auto split = scf::IndexSwitchOp::create(
      b, cursor.getType(),
      arith::IndexCastOp::create(b, b.getIndexType(), index), cases,
      cases.size());
  OpBuilder::InsertionGuard guard(b);
  for (auto [width, region] : llvm::zip_equal(widths, split.getCaseRegions())) {
    b.setInsertionPointToStart(&region.emplaceBlock());
    scf::YieldOp::create(b, buildActive(consumer, tile, cursor, width));
  }
  // A tile without rows has no stages.
  b.setInsertionPointToStart(&split.getDefaultRegion().emplaceBlock());
  scf::YieldOp::create(b, cursor);
  return split.getResult(0);
}

// The matmul and the epilogue of a consumer's rows.
Value MatmulBuilder::buildActive(const Consumer &consumer, Tile tile,
                                 Value cursor, int64_t width) {
  Early early = buildEarly(tile, width);
  SmallVector<Value> accumulators;
  Value end =
      spec.promote
          ? buildPromotedLoop(consumer, tile, cursor, width, accumulators)
          : buildMainLoop(consumer, cursor, width, accumulators);
  buildEpilogue(consumer, tile, accumulators, early);
  return end;
}

Value MatmulBuilder::buildPart(Value tile, Value row, int64_t rows) {
  auto type = cast<TileType>(tile.getType());
  auto part =
      TileType::get(context, rows, type.getColumns(), type.getElementType());
  return type == part ? tile : Value(SubtileOp::create(b, part, tile, row));
}

// The first stage starts the accumulator; then one matmul stays in flight while
// the next stage is waited for.
Value MatmulBuilder::buildMainLoop(const Consumer &consumer, Value cursor,
                                   int64_t width,
                                   SmallVectorImpl<Value> &accumulators) {
  auto multiply = [&](Value at, Value accumulator) -> Value {
    auto stage = RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
    Value lhs = stage.getResult(0), rhs = stage.getResult(1);
    if (spec.swapAb)
      std::swap(lhs, rhs);
    return MmaOp::create(b, getProductType(width),
                         buildPart(lhs, consumer.row, getConsumerRows(spec)),
                         buildPart(rhs, i32(0), width), accumulator,
                         /*overwrite=*/false);
  };

  Value started = multiply(cursor, Value());
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(1), depthTiles, i32(1),
      ValueRange{started, advance(ring, cursor), cursor},
      [&](OpBuilder &, Location, Value, ValueRange carried) {
        Value at = carried[1], previous = carried[2];
        Value accumulator = multiply(at, carried[0]);
        MmaWaitOp::create(b, TypeRange(), 1, ValueRange());
        RingReleaseOp::create(b, ring, previous);
        scf::YieldOp::create(b, ValueRange{accumulator, advance(ring, at), at});
      });
  auto done =
      MmaWaitOp::create(b, TypeRange(started.getType()), 0, loop.getResult(0));
  accumulators.push_back(done.getResult(0));
  RingReleaseOp::create(b, ring, loop.getResult(2));
  return loop.getResult(1);
}

FailureOr<MatmulKernel>
mlir::moeq_gpu::buildMatmulKernel(OpBuilder &builder, Location loc,
                                  const MatmulKernelSpec &spec) {
  if (std::optional<std::string> reason = getUnsupportedReason(spec))
    return emitError(loc) << "no kernel: " << *reason;
  OpBuilder::InsertionGuard guard(builder);
  return MatmulBuilder(builder, loc, spec).build();
}
