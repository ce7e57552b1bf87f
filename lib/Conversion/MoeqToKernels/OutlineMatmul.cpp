//===- OutlineMatmul.cpp - A matmul to a kernel and its launch --*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "Kernels.h"
#include "MatmulKernelDetail.h"

#include "moeq/Target/CudaToolkit.h"
#include "moeq/Target/Manifest.h"
#include "moeq/Target/TargetChip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

/// Elements of an accumulator beside which registers are short, and the bytes
/// of spill stores that its kernel may have.
static constexpr int64_t kWideAccumulator = 128 * 160, kFewSpills = 24;

/// The clusters that run at a time: their multiprocessors are of one GPC, which
/// on Hopper has 16 or 18, in pairs.
static int64_t getResidentClusters(int64_t sms, int64_t size) {
  constexpr int64_t ofGpc = 16;
  return std::max<int64_t>(
      size <= 2 ? sms / size : sms / ofGpc * (ofGpc / size), 1);
}

/// Whether an operand is FP8 with E8M0 scales: bf16 holds its numbers, but
/// those below 2^-133.
static bool isMx(TypeAttr format) {
  auto scaled =
      format ? dyn_cast<moeq::ScaledType>(format.getValue()) : nullptr;
  return scaled && isa<Float8E8M0FNUType>(scaled.getScale()) &&
         isa<Float8E4M3FNType, Float8E5M2Type>(scaled.getValue()) &&
         scaled.getLayout() == moeq::ScaleLayout::RowMajor;
}

namespace {
/// The operands of a matmul of two MX operands as bf16, in memory of their own.
class WideOperands {
public:
  /// Makes `view` one of the wide operands, if the operands are of MX.
  WideOperands(Operation *op, MatmulView &view) : b(op->getLoc(), op) {
    if (!isMx(view.lhsFormat) || !isMx(view.rhsFormat))
      return;
    for (auto [operand, format] : {std::pair{&view.lhs, &view.lhsFormat},
                                   {&view.rhs, &view.rhsFormat}}) {
      Value values = operand->front();
      auto type = cast<MemRefType>(values.getType());
      SmallVector<Value> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(memref::DimOp::create(b, values, dim));
      Value wide = memref::AllocOp::create(
          b, MemRefType::get(type.getShape(), b.getBF16Type()), sizes);
      all.push_back({*operand, *format, wide});
    }
    view.lhs = all[0].wide;
    view.rhs = all[1].wide;
    view.lhsFormat = view.rhsFormat = TypeAttr();
  }

  /// Makes the kernels that fill them.
  LogicalResult build(gpu::GPUModuleOp module) {
    for (Operand &operand : all) {
      auto dequantize = moeq::DequantizeOp::create(
          b, TypeRange(), operand.scaled, operand.wide, operand.format);
      if (failed(moeq::buildKernels(dequantize, module)))
        return failure();
      dequantize.erase();
    }
    return success();
  }

  /// Frees them behind the matmul.
  void free() {
    for (Operand &operand : all)
      memref::DeallocOp::create(b, operand.wide);
  }

  /// Drops them where there is no such matmul.
  void drop() {
    for (Operand &operand : all)
      operand.wide.getDefiningOp()->erase();
  }

private:
  struct Operand {
    ValueRange scaled;
    TypeAttr format;
    Value wide;
  };
  ImplicitLocOpBuilder b;
  SmallVector<Operand, 2> all;
};
} // namespace

template <typename OpTy>
static LogicalResult outlineMatmul(OpTy op, gpu::GPUModuleOp module) {
  FailureOr<moeq::Chip> chip = moeq::getTargetChip(op);
  if (failed(chip))
    return failure();
  std::string reason;
  MatmulView view(op);
  WideOperands wide(op, view);
  FailureOr<MatmulKernelSpec> spec =
      getMatmulKernelSpec(op, view, *chip, reason);
  if (failed(spec)) {
    if (op->hasAttr(moeq::kGivenConfigAttr))
      return op.emitOpError("expects a config that there is a kernel of, got ")
             << *op.getConfig() << ": " << reason;
    op.emitRemark("runs without tensor cores: ") << reason;
    wide.drop();
    return moeq::buildGeneralMatmul(op, module);
  }
  if (failed(wide.build(module)))
    return failure();
  spec->name = moeq::getKernelName(module, op);
  OpBuilder inModule = OpBuilder::atBlockEnd(module.getBody());
  FailureOr<MatmulKernel> kernel =
      buildMatmulKernel(inModule, op->getLoc(), *spec);
  if (failed(kernel))
    return failure();
  if (Attribute config = op->getAttr("config"))
    kernel->function->setAttr("moeq.config", config);
  // The largest tiles with swapped operands win with a few spills, too
  // (docs/Performance.md, "Spills").
  if (spec->swapAb &&
      getConsumerRows(*spec) * spec->tileRows >= kWideAccumulator)
    kernel->function->setAttr(moeq::kMaxSpillStoresAttr,
                              OpBuilder(op).getI64IntegerAttr(kFewSpills));

  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto extent = [&](Value buffer, int64_t dim) -> Value {
    int64_t size = cast<MemRefType>(buffer.getType()).getDimSize(dim);
    return ShapedType::isDynamic(size)
               ? Value(memref::DimOp::create(b, buffer, dim))
               : index(size);
  };
  auto toI32 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getI32Type(), value);
  };
  Value weights = view.rhs.front();
  int64_t depthDim = cast<MemRefType>(weights.getType()).getRank() - 1,
          columnDim = depthDim - 1;
  if (spec->rhsIsTransposed)
    std::swap(depthDim, columnDim);
  int64_t rowDim = cast<MemRefType>(view.out.getType()).getRank() - 2;
  Value rows = extent(view.out, rowDim), columns = extent(weights, columnDim);
  Value groups = !spec->isGrouped
                     ? index(1)
                     : extent(spec->contractsRows ? view.out : weights, 0);

  SmallVector<Value> operands;
  for (const MatmulKernel::Parameter &parameter : kernel->parameters) {
    auto map = [&](Value buffer) -> Value {
      return EncodeTensorMapOp::create(b, parameter.map, buffer);
    };
    switch (parameter.kind) {
    case MatmulParameter::LhsMap:
      operands.push_back(map(view.lhs.front()));
      break;
    case MatmulParameter::Lhs:
      operands.push_back(view.lhs.front());
      break;
    case MatmulParameter::Rhs:
      operands.push_back(weights);
      break;
    case MatmulParameter::RowIndices:
      operands.push_back(view.rows);
      break;
    case MatmulParameter::RhsMap:
      operands.push_back(map(weights));
      break;
    case MatmulParameter::OutMap:
      operands.push_back(map(view.out));
      break;
    case MatmulParameter::LhsScaleMap:
      operands.push_back(map(view.lhs[1]));
      break;
    case MatmulParameter::RhsScaleMap:
      operands.push_back(map(view.rhs[1]));
      break;
    case MatmulParameter::Out:
      operands.push_back(view.out);
      break;
    case MatmulParameter::Offsets:
      operands.push_back(view.counts ? view.counts : view.offsets);
      break;
    case MatmulParameter::Plan:
      operands.push_back(view.plan);
      break;
    case MatmulParameter::LhsScale:
      operands.push_back(view.lhs[1]);
      break;
    case MatmulParameter::RhsScale:
      operands.push_back(view.rhs[1]);
      break;
    case MatmulParameter::RhsZero:
      operands.push_back(view.rhs[2]);
      break;
    case MatmulParameter::LhsScalePitch:
      operands.push_back(toI32(extent(
          view.lhs[1], cast<MemRefType>(view.lhs[1].getType()).getRank() - 1)));
      break;
    case MatmulParameter::EpilogueOperand:
      operands.push_back(view.operands[parameter.index]);
      break;
    case MatmulParameter::Counter: {
      auto counter =
          memref::AllocOp::create(b, MemRefType::get({1}, b.getI32Type()));
      counter->setAttr(moeq::kZeroedAttr, b.getUnitAttr());
      operands.push_back(counter);
      break;
    }
    case MatmulParameter::Rows:
      operands.push_back(toI32(rows));
      break;
    case MatmulParameter::Columns:
      operands.push_back(toI32(columns));
      break;
    case MatmulParameter::Depth:
      operands.push_back(toI32(extent(weights, depthDim)));
      break;
    case MatmulParameter::Groups:
      operands.push_back(toI32(groups));
      break;
    case MatmulParameter::Captured: {
      Value value = kernel->captured[parameter.index];
      if (value.getType().isIndex())
        value = arith::IndexCastOp::create(b, b.getI64Type(), value);
      operands.push_back(value);
      break;
    }
    }
  }

  // The CTAs of all multiprocessors, in whole clusters, and no more than there
  // can be tiles: each group has one partial tile of rows at most. A plan
  // splits tiles, for all of them.
  int64_t clusterSize = spec->getClusterSize();
  Value grid = index(getResidentClusters(chip->sms, clusterSize) * clusterSize *
                     spec->ctas);
  if (!spec->isPlanned) {
    if (spec->isMasked || spec->contractsRows)
      rows = arith::MulIOp::create(b, rows, groups);
    Value rowTiles = arith::AddIOp::create(
        b, arith::DivUIOp::create(b, rows, index(spec->tileRows)), groups);
    Value columnTiles =
        arith::CeilDivUIOp::create(b, columns, index(spec->tileColumns));
    Value tiles = arith::MulIOp::create(b, rowTiles, columnTiles);
    if (clusterSize > 1) {
      if (spec->cluster > 1)
        tiles = arith::CeilDivUIOp::create(b, tiles, index(spec->cluster));
      tiles = arith::MulIOp::create(b, tiles, index(clusterSize));
    }
    grid = arith::MinUIOp::create(b, tiles, grid);
  }
  Value one = index(1);
  auto symbol = SymbolRefAttr::get(
      module.getNameAttr(),
      {FlatSymbolRefAttr::get(kernel->function.getNameAttr())});
  Value shared = arith::ConstantIntOp::create(b, kernel->sharedMemory, 32);
  gpu::LaunchFuncOp::create(b, symbol, gpu::KernelDim3{grid, one, one},
                            gpu::KernelDim3{index(kernel->threads), one, one},
                            shared, operands);
  wide.free();
  return success();
}

LogicalResult moeq::buildKernels(MatmulOp op, gpu::GPUModuleOp module) {
  return outlineMatmul(op, module);
}

LogicalResult moeq::buildKernels(GroupedMatmulOp op, gpu::GPUModuleOp module) {
  return outlineMatmul(op, module);
}
