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
// Consumers share a tile, or take turns with tiles of their own.
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

  bool hasMaps = !spec.isSync();
  if (hasMaps && !spec.isGathered)
    addMap(Kind::LhsMap, lhsMapType);
  if (hasMaps && !spec.isPacked)
    addMap(Kind::RhsMap, rhsMapType);
  if (hasMaps && !spec.swapAb)
    addMap(Kind::OutMap, outMapType);
  // A copy moves the scales of the rows of a tile in one row of them.
  SmallVector<SharedVectorType> staged = getStageVectors(spec);
  auto addScaleMap = [&](Kind kind, SharedVectorType vector) {
    addMap(kind, TensorMapType::get(context, 1, vector.getSize(),
                                    vector.getElementType(), /*step=*/0));
  };
  bool mapsScales = !areScalesGathered(spec),
       mapsLhs = areLhsScalesStaged(spec) && mapsScales,
       mapsRhs = areRhsScalesStaged(spec) && mapsScales;
  if (mapsLhs)
    addScaleMap(Kind::LhsScaleMap, staged.front());
  if (mapsRhs)
    addScaleMap(Kind::RhsScaleMap, staged.back());
  addParameter(Kind::Out, global, {b.getNamedAttr("llvm.noalias", unit)});
  if (spec.isGrouped)
    addInput(spec.isPlanned ? Kind::Plan : Kind::Offsets);
  if (!hasMaps || spec.isGathered)
    addInput(Kind::Lhs);
  if (!hasMaps || spec.isPacked)
    addInput(Kind::Rhs);
  if (spec.isGathered)
    addInput(Kind::RowIndices);
  if (spec.lhsScaleType && !mapsLhs)
    addInput(Kind::LhsScale);
  if (spec.rhsScaleType && !mapsRhs)
    addInput(Kind::RhsScale);
  if (spec.rhsZeroType)
    addInput(Kind::RhsZero);
  for (unsigned i = 0, n = spec.epilogueOperands.size(); i < n; ++i)
    addInput(Kind::EpilogueOperand, i);
  if (isDynamic())
    addParameter(Kind::Counter, global, {b.getNamedAttr("llvm.noalias", unit)});
  if (!spec.isGrouped || spec.isMasked || spec.contractsRows)
    addSize(Kind::Rows, ShapedType::kDynamic);
  addSize(Kind::Columns, spec.columns);
  addSize(Kind::Depth, spec.depth);
  if (spec.isGrouped)
    addSize(Kind::Groups, spec.groups);
  if (spec.lhsScaleIsMnMajor && !mapsLhs)
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
  kernel.threads = kWarpgroupThreads * (getNumProducers(spec) + spec.consumers);
  kernel.function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      b.getDenseI32ArrayAttr({static_cast<int32_t>(kernel.threads), 1, 1}));
  kernel.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                           b.getI32IntegerAttr(spec.ctas));
  if (isCluster())
    kernel.function->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        b.getDenseI32ArrayAttr(
            {static_cast<int32_t>(spec.getClusterSize()), 1, 1}));
  b.setInsertionPointToStart(kernel.function.addEntryBlock(b));
}

// Where operands come from, and the shared memory that they go to.
void MatmulBuilder::buildOperands() {
  if (spec.isSync()) {
    auto buildStages = [&](TileType tile, int64_t ofStage) {
      return AllocOp::create(
          b, TileType::get(context, spec.stages * ofStage * tile.getRows(),
                           tile.getColumns(), tile.getElementType()));
    };
    lhsStages = buildStages(lhsTile, getStageTiles(spec));
    if (!spec.isPacked)
      rhsStages = buildStages(rhsTile, 1);
    for (SharedVectorType vector : getStageVectors(spec))
      vectorStages.push_back(AllocOp::create(
          b, SharedVectorType::get(context, spec.stages * vector.getSize(),
                                   vector.getElementType())));
    return;
  }
  if (!spec.isGathered)
    lhsMap = TensorMapOp::create(b, lhsMapType, getParameter(Kind::LhsMap));
  if (!spec.isPacked)
    rhsMap = TensorMapOp::create(b, rhsMapType, getParameter(Kind::RhsMap));
  if (!spec.swapAb)
    outMap = TensorMapOp::create(b, outMapType, getParameter(Kind::OutMap));
  for (const MatmulKernel::Parameter &parameter : kernel.parameters)
    if (parameter.kind == Kind::LhsScaleMap ||
        parameter.kind == Kind::RhsScaleMap)
      scaleMaps.push_back(
          TensorMapOp::create(b, parameter.map, getParameter(parameter.kind)));
  SmallVector<TileType> payload(getStageTiles(spec), lhsTile);
  if (!spec.isPacked)
    payload.push_back(rhsTile);
  ringType =
      RingType::get(context, spec.stages, payload, getStageVectors(spec),
                    spec.isGathered, areScalesGathered(spec), spec.cluster);
  ring = RingCreateOp::create(b, ringType, getTileConsumers(spec));
  auto createMailbox = [&](int64_t cluster, int64_t consumers,
                           int64_t warps) -> Value {
    auto type =
        RingType::get(context, kMailboxStages, {}, {}, false, false, cluster);
    return RingCreateOp::create(b, type, consumers, warps);
  };
  if (isDynamic())
    mailbox = createMailbox(/*cluster=*/1, spec.consumers,
                            hasHelpers(spec) ? kHelperWarps : 0);
  if (isDynamic() && isCluster())
    numbers =
        createMailbox(spec.getClusterSize(), /*consumers=*/0, /*warps=*/0);
  if (isSplit())
    exchange = ExchangeCreateOp::create(b, getExchangeType(spec));
}

MatmulKernel MatmulBuilder::build() {
  int64_t stageDepth = getStageDepth(spec),
          outPanel = TileType::kPanelBytes / getBytes(spec.out);
  // A CTA of a cluster copies its part of a tile in one box.
  lhsMapType = getOperandMap(
      spec.swapAb ? spec.tileRows : spec.tileRows / spec.cluster, spec.lhs,
      spec.lhsIsTransposed, spec.swapAb ? spec.getRowStep() : 0);
  outMapType = TensorMapType::get(context, kInstructionRows, outPanel, spec.out,
                                  /*step=*/0);
  lhsTile = getOperandTile(spec.tileRows, spec.lhs, spec.lhsIsTransposed);
  if (!spec.isPacked) {
    rhsMapType = getOperandMap(spec.tileColumns / spec.cluster, spec.rhs,
                               spec.rhsIsTransposed, /*step=*/0);
    rhsTile = getOperandTile(spec.tileColumns, spec.rhs, spec.rhsIsTransposed);
  }
  buildFunction();
  buildOperands();
  columns = getExtent(spec.columns, Kind::Columns);
  outColumns = toOut(columns);
  if (isStatic(spec.depth)) {
    depthTiles = i32(llvm::divideCeil(spec.depth, stageDepth));
  } else {
    Value rounded = add(getParameter(Kind::Depth), i32(stageDepth - 1));
    depthTiles = arith::DivUIOp::create(b, rounded, i32(stageDepth));
  }
  bool hasRowGroups = spec.isGrouped && !spec.contractsRows;
  int64_t groupsPerLane = !hasRowGroups ? 0
                          : !isStatic(spec.groups)
                              ? kWarpThreads
                              : llvm::divideCeil(spec.groups, kWarpThreads);
  int64_t rowStep = hasFewWidths(spec) ? spec.tileRows : spec.getRowStep();
  auto scheduleType = ScheduleType::get(
      context, spec.tileRows, spec.tileColumns, spec.swapAb ? 0 : spec.raster,
      spec.swapAb ? rowStep : 0, spec.isPlanned, groupsPerLane, spec.isMasked);
  auto getWhere = [&](Kind kind, bool isUsed) {
    return isUsed ? getParameter(kind) : Value();
  };
  schedule = ScheduleOp::create(
      b, scheduleType,
      getWhere(Kind::Offsets,
               hasRowGroups && !spec.isPlanned && !spec.isMasked),
      getWhere(Kind::Plan, spec.isPlanned),
      getWhere(Kind::Offsets, spec.isMasked),
      hasRowGroups ? getExtent(spec.groups, Kind::Groups) : Value(),
      spec.contractsRows
          ? buildRowsOfGroups()
          : getWhere(Kind::Rows, !spec.isGrouped || spec.isMasked),
      columns);
  Type number = b.getI32Type();
  if (isCluster()) {
    rank = NVVM::ClusterId::create(b, number);
    first = NVVM::ClusterIdXOp::create(b, number);
    step = NVVM::ClusterDimXOp::create(b, number);
  } else {
    first = NVVM::BlockIdXOp::create(b, number);
    step = NVVM::GridDimXOp::create(b, number);
  }
  tiles = count = ScheduleSizeOp::create(b, schedule);
  if (sharesCopies())
    count = arith::DivUIOp::create(b, add(tiles, i32(spec.cluster - 1)),
                                   i32(spec.cluster));

  auto roles = RolesOp::create(b, getProducerRegisters(spec), spec.consumers,
                               getConsumerRegisters(spec));
  LLVM::ReturnOp::create(b, ValueRange());
  if (spec.isSync()) {
    buildSyncConsumer(roles.getConsumer());
  } else {
    buildProducer(roles.getProducer(), /*isHelper=*/false);
    if (hasHelpers(spec))
      buildProducer(roles.getHelpers(), /*isHelper=*/true);
    buildConsumer(roles.getConsumer());
  }
  kernel.sharedMemory = getKernelBudget(roles).sharedMemory;
  return kernel;
}

// A loop over the stages of K from `begin` to `end` that carries the cursor.
Value MatmulBuilder::buildForDepth(Value begin, Value end, Value cursor,
                                   function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(
      b, b.getLoc(), begin, end, i32(1), cursor,
      [&](OpBuilder &, Location, Value k, ValueRange carried) {
        scf::YieldOp::create(b, body(k, carried.front()));
      });
  return loop.getResult(0);
}

MatmulBuilder::Consumer MatmulBuilder::buildConsumerState(Value number) {
  Value row = isPingPong() ? i32(0) : mul(number, i32(getConsumerRows(spec)));
  Consumer state{number, row, {}, {}, {}};
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
  return state;
}

void MatmulBuilder::buildConsumer(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = region.emplaceBlock();
  Value consumer = block.addArgument(b.getI32Type(), b.getLoc());
  b.setInsertionPointToStart(&block);
  Consumer state = buildConsumerState(consumer);
  if (isPingPong()) { // The first turn is that of consumer 0.
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, consumer,
                                         i32(spec.consumers - 1));
    auto split = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(split.thenBlock());
    buildPassTurn(state);
  }
  auto work = [&](Tile tile, Carried carried) -> Carried {
    if (isPingPong())
      return buildInTurn(state, tile, carried);
    if (!isSplit())
      return {buildTileWork(state, tile, carried.cursor), Value()};
    state.turn = carried.count;
    Value hasRows = arith::ExtUIOp::create(
        b, b.getI32Type(), buildHasRows(toConsumer(state, tile)));
    return {buildTileWork(state, tile, carried.cursor),
            add(carried.count, hasRows)};
  };
  buildTileLoop(/*isProducer=*/false,
                isPingPong() ? consumer
                : isSplit()  ? i32(0)
                             : Value(),
                work);
  if (!spec.swapAb)
    StoreWaitOp::create(b);
  YieldOp::create(b);
}

// The work on a tile if it is the consumer's own; else its stages are skipped.
MatmulBuilder::Carried MatmulBuilder::buildInTurn(const Consumer &consumer,
                                                  Tile tile, Carried carried) {
  Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      buildOfWarp(carried.count), i32(0));
  auto split = scf::IfOp::create(b, carried.cursor.getType(), isOwn,
                                 /*withElseRegion=*/true);
  Value others =
      arith::SelectOp::create(b, isOwn, i32(spec.consumers), carried.count);
  Value left = arith::SubIOp::create(b, others, i32(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(split.thenBlock());
  scf::YieldOp::create(b, buildTileWork(consumer, tile, carried.cursor));
  b.setInsertionPointToStart(split.elseBlock());
  scf::YieldOp::create(b,
                       advance(ring, carried.cursor, buildDepth(tile).stages));
  return {split.getResult(0), left};
}

MatmulBuilder::Tile MatmulBuilder::toConsumer(const Consumer &consumer,
                                              Tile tile) {
  Value &start = spec.swapAb ? tile.column : tile.row;
  start = add(start, consumer.row);
  return tile;
}

Value MatmulBuilder::buildTileWork(const Consumer &consumer, Tile tile,
                                   Value cursor) {
  tile = toConsumer(consumer, tile);
  return spec.swapAb ? buildWidths(consumer, tile, cursor)
                     : buildRows(consumer, tile, cursor);
}

// A consumer without rows only hands the stages back.
Value MatmulBuilder::buildHandBack(Tile tile, Value cursor) {
  auto release = [&](Value, Value at) -> Value {
    buildWait(at);
    RingReleaseOp::create(b, ring, at);
    return advance(ring, at);
  };
  return buildForDepth(i32(0), buildDepth(tile).stages, cursor, release);
}

Value MatmulBuilder::buildRows(const Consumer &consumer, Tile tile,
                               Value cursor) {
  auto split = scf::IfOp::create(b, cursor.getType(), buildHasRows(tile),
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(split.thenBlock());
  scf::YieldOp::create(b,
                       buildActive(consumer, tile, cursor, spec.tileColumns));
  b.setInsertionPointToStart(split.elseBlock());
  buildWaitTurn(consumer);
  Value end = buildHandBack(tile, cursor);
  buildPassTurn(consumer);
  scf::YieldOp::create(b, end);
  return split.getResult(0);
}

// The least width, in steps, that holds the rows of a tile.
Value MatmulBuilder::buildWidthIndex(Tile tile) {
  int64_t step = spec.getRowStep();
  Value rows = arith::SubIOp::create(b, tile.rowEnd, tile.row);
  return arith::DivUIOp::create(b, add(rows, i32(step - 1)), i32(step));
}

// The value of lane 0, which the compiler sees to be the same in a warp.
Value MatmulBuilder::buildOfWarp(Value value) {
  return NVVM::ShflOp::create(b, value.getType(), i32(-1), value, i32(0),
                              i32(kWarpThreads - 1), NVVM::ShflKind::idx,
                              UnitAttr());
}

// Code for each width. There is a cursor where there is a ring.
Value MatmulBuilder::buildWidths(const Consumer &consumer, Tile tile,
                                 Value cursor) {
  Value index = buildOfWarp(buildWidthIndex(tile));
  SmallVector<int64_t> widths = getWidths(spec), cases;
  for (int64_t width : widths)
    cases.push_back(width / spec.getRowStep());
  if (hasFewWidths(spec)) {
    // The least of them that is enough.
    Value least = i32(cases.back());
    for (int64_t width : llvm::drop_begin(llvm::reverse(cases)))
      least = arith::SelectOp::create(
          b,
          arith::CmpIOp::create(b, arith::CmpIPredicate::ule, index,
                                i32(width)),
          i32(width), least);
    Value isEmpty =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, i32(0));
    index = arith::SelectOp::create(b, isEmpty, index, least);
  }
  auto getCarried = [](Value end) {
    return end ? SmallVector<Value, 1>{end} : SmallVector<Value, 1>();
  };
  auto split = scf::IndexSwitchOp::create(
      b, TypeRange(ValueRange(getCarried(cursor))),
      arith::IndexCastOp::create(b, b.getIndexType(), index), cases,
      cases.size());
  OpBuilder::InsertionGuard guard(b);
  for (auto [width, region] : llvm::zip_equal(widths, split.getCaseRegions())) {
    b.setInsertionPointToStart(&region.emplaceBlock());
    Value end = buildActive(consumer, tile, cursor, width);
    scf::YieldOp::create(b, getCarried(end));
  }
  // A tile without rows has no stages, but where a cluster shares copies.
  b.setInsertionPointToStart(&split.getDefaultRegion().emplaceBlock());
  buildWaitTurn(consumer);
  Value end = sharesCopies() ? buildHandBack(tile, cursor) : cursor;
  buildPassTurn(consumer);
  scf::YieldOp::create(b, getCarried(end));
  return cursor ? split.getResult(0) : Value();
}

// The matmul and the epilogue of a consumer's rows.
Value MatmulBuilder::buildActive(const Consumer &consumer, Tile tile,
                                 Value cursor, int64_t width) {
  // What the epilogue reads is loaded during the turn of another.
  Early early = buildEarly(tile, width);
  buildWaitTurn(consumer);
  SmallVector<Value> accumulators;
  Value end;
  if (spec.isSync())
    buildSyncLoop(consumer, tile, width, accumulators);
  else if (spec.isPacked)
    end = buildPackedLoop(consumer, tile, cursor, width, accumulators);
  else if (spec.promote)
    end = buildPromotedLoop(consumer, tile, cursor, width, accumulators);
  else
    end = buildMainLoop(consumer, tile, cursor, width, accumulators);
  buildEpilogue(consumer, tile, accumulators, early);
  return end;
}

Value MatmulBuilder::buildPart(Value tile, Value first, int64_t extent,
                               bool isTransposed) {
  auto type = cast<TileType>(tile.getType());
  auto part = isTransposed ? TileType::get(context, type.getRows(), extent,
                                           type.getElementType())
                           : TileType::get(context, extent, type.getColumns(),
                                           type.getElementType());
  return type == part ? tile : Value(SubtileOp::create(b, part, tile, first));
}

// What wgmma multiplies of a stage, and its scales.
MatmulBuilder::Stage MatmulBuilder::buildWait(Value cursor) {
  auto parts = RingWaitOp::create(b, ringType.getStageTypes(), ring, cursor);
  Stage stage{parts.getResult(0), parts.getResult(1), {}, {}};
  if (spec.swapAb)
    std::swap(stage.a, stage.b);
  unsigned next = 2;
  if (areLhsScalesStaged(spec))
    stage.lhsScales = parts.getResult(next++);
  if (areRhsScalesStaged(spec))
    stage.rhsScales = parts.getResult(next++);
  return stage;
}

// The first stage starts the accumulator; then one matmul stays in flight while
// the next stage is waited for.
Value MatmulBuilder::buildMainLoop(const Consumer &consumer, Tile tile,
                                   Value cursor, int64_t width,
                                   SmallVectorImpl<Value> &accumulators) {
  Depth depth = buildDepth(tile);
  auto multiply = [&](Value at, Value accumulator) -> Value {
    Stage stage = buildWait(at);
    Value lhs = buildPart(stage.a, consumer.row, getConsumerRows(spec),
                          spec.lhsIsTransposed);
    Value rhs = buildPart(stage.b, i32(0), width, spec.rhsIsTransposed);
    if (!accumulator)
      buildClearTail(depth, lhs, rhs);
    return MmaOp::create(b, getProductType(width), lhs, rhs, accumulator,
                         /*overwrite=*/false, spec.lhsIsTransposed,
                         spec.rhsIsTransposed);
  };

  Value started = multiply(cursor, Value());
  // Unrolled, a short loop would need the registers of several iterations.
  auto loop = scf::ForOp::create(
      b, b.getLoc(), i32(1), buildOpaque(depth.stages), i32(1),
      ValueRange{started, advance(ring, cursor), cursor},
      [&](OpBuilder &, Location, Value, ValueRange carried) {
        Value at = carried[1], previous = carried[2];
        Value accumulator = multiply(at, carried[0]);
        MmaWaitOp::create(b, TypeRange(), 1, ValueRange());
        RingReleaseOp::create(b, ring, previous);
        scf::YieldOp::create(b, ValueRange{accumulator, advance(ring, at), at});
      });
  buildPassTurn(consumer);
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
