//===- MatmulKernel.cpp - The kernel of a grouped matmul --------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp copies tiles of A and B into a ring of shared-memory stages; each
// consumer warpgroup multiplies 64 rows of A with all columns of the tile, maps
// its accumulator through scales and epilogue, and stores it. CTAs have the
// output tiles round robin, or each takes the next one when it is free: then
// the producer takes the number, and tells the consumers through a mailbox.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
  if (spec.lhsScaleType)
    addInput(Kind::LhsScale);
  if (spec.rhsScaleType)
    addInput(Kind::RhsScale);
  for (unsigned i = 0, n = spec.epilogueOperands.size(); i < n; ++i)
    addInput(Kind::EpilogueOperand, i);
  if (isDynamic())
    addParameter(Kind::Counter, global, {b.getNamedAttr("llvm.noalias", unit)});
  if (!spec.isGrouped)
    addSize(Kind::Rows, ShapedType::kDynamic);
  addSize(Kind::Columns, spec.columns);
  addSize(Kind::Depth, spec.depth);
  if (spec.isGrouped)
    addSize(Kind::Groups, spec.groups);
  if (spec.lhsScaleIsMnMajor)
    addSize(Kind::LhsScalePitch, ShapedType::kDynamic);
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
  productType = FragmentType::get(
      context, kConsumerRows, getProductColumns(spec),
      spec.lhs.isInteger() ? Type(b.getI32Type()) : Type(b.getF32Type()));
  buildFunction();

  lhsMap = TensorMapOp::create(b, lhsMapType, getParameter(Kind::LhsMap));
  rhsMap = TensorMapOp::create(b, rhsMapType, getParameter(Kind::RhsMap));
  outMap = TensorMapOp::create(b, outMapType, getParameter(Kind::OutMap));
  ring = RingCreateOp::create(
      b, RingType::get(context, spec.stages, {lhsTile, rhsTile}),
      spec.consumers);
  if (isDynamic())
    mailbox = RingCreateOp::create(
        b, RingType::get(context, kMailboxStages, {}), spec.consumers);
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

// The producer sends each number, one past the tiles too, which ends the loop
// of both roles.
void MatmulBuilder::buildMailboxLoop(bool isProducer, TileBody body) {
  Value start = RingStartOp::create(b, CursorType::get(context));
  SmallVector<Value> initial{start, start};
  if (isProducer)
    initial.push_back(first);
  auto getTile = [&](OpBuilder &, Location, ValueRange carried) {
    Value cursor = carried[0], mail = carried[1], index;
    if (isProducer) {
      index = carried[2];
      RingAcquireOp::create(b, mailbox, mail);
      RingSendOp::create(b, index, mailbox, mail);
    } else {
      index = RingReceiveOp::create(b, b.getI32Type(), mailbox, mail);
      RingReleaseOp::create(b, mailbox, mail);
    }
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, count);
    scf::ConditionOp::create(b, exists, ValueRange{cursor, mail, index});
  };
  auto work = [&](OpBuilder &, Location, ValueRange carried) {
    TileEnd end = body(buildTile(carried[2]), carried[0]);
    SmallVector<Value> next{end.cursor, advance(mailbox, carried[1])};
    if (isProducer)
      next.push_back(end.next);
    scf::YieldOp::create(b, next);
  };
  Type cursorType = start.getType();
  scf::WhileOp::create(b, b.getLoc(),
                       TypeRange{cursorType, cursorType, b.getI32Type()},
                       initial, getTile, work);
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
    auto fill = [&](Value k, Value cursor) -> Value {
      Value column = mul(k, i32(getStageColumns()));
      RingAcquireOp::create(b, ring, cursor);
      RingFillOp::create(b, ring, cursor, ValueRange{lhsMap, rhsMap},
                         ValueRange{tile.row, column, weightRow, column});
      return advance(ring, cursor);
    };
    if (!isDynamic())
      return {buildForDepth(depthTiles, start, fill), Value()};
    // The next tile is taken before the last stage, for which the producer has
    // to wait anyway.
    Value last = arith::SubIOp::create(b, depthTiles, i32(1));
    Value cursor = buildForDepth(last, start, fill);
    Value next = ScheduleTakeOp::create(b, b.getI32Type(), schedule,
                                        getParameter(Kind::Counter));
    return {fill(last, cursor), next};
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
  buildTileLoop(/*isProducer=*/false, [&](Tile tile, Value cursor) -> TileEnd {
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
        b, buildForDepth(depthTiles, cursor, [&](Value, Value at) -> Value {
          RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
          RingReleaseOp::create(b, ring, at);
          return advance(ring, at);
        }));
    return {split.getResult(0), Value()};
  });
  StoreWaitOp::create(b);
  YieldOp::create(b);
}

// The matmul and the epilogue of a consumer's rows.
Value MatmulBuilder::buildActive(Tile tile, Value cursor, Value staging,
                                 Value consumerRow) {
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

  SmallVector<Value> accumulators;
  Value end = spec.promote
                  ? buildPromotedLoop(tile, cursor, consumerRow, accumulators)
                  : buildMainLoop(cursor, consumerRow, accumulators);
  buildEpilogue(tile, accumulators, staging, lhsScale, rhsScale);
  return end;
}

// The first stage starts the accumulator; then one matmul stays in flight while
// the next stage is waited for.
Value MatmulBuilder::buildMainLoop(Value cursor, Value consumerRow,
                                   SmallVectorImpl<Value> &accumulators) {
  auto lhsPart =
      TileType::get(context, kConsumerRows, getStageColumns(), spec.lhs);
  auto multiply = [&](Value at, Value accumulator) -> Value {
    auto stage = RingWaitOp::create(b, TypeRange{lhsTile, rhsTile}, ring, at);
    Value lhs = SubtileOp::create(b, lhsPart, stage.getResult(0), consumerRow);
    return MmaOp::create(b, productType, lhs, stage.getResult(1), accumulator,
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
      MmaWaitOp::create(b, TypeRange(productType), 0, loop.getResult(0));
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
