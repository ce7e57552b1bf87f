//===- LoadPatterns.cpp - Global memory to fragments ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

namespace {

struct LoadLowering : KernelPattern<LoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    Type element = type.getElementType();
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    FragmentLayout layout =
        getAccumulatorLayout(type.getRows(), type.getColumns());
    auto [threadRow, threadColumn] = emitThreadOffset(e, layout);
    Value row = e.add(adaptor.getRow(), threadRow);
    Value column = e.add(adaptor.getColumn(), threadColumn);
    // Two columns by one load.
    int64_t width = op.getAligned() && type.getColumns() > 1 ? 2 : 1;
    Type loaded = width == 1 ? element : VectorType::get({width}, element);

    // The address of each register: along its major dimension first.
    bool transposed = op.getTransposed();
    Value majorEnd = adaptor.getRowEnd(), minorEnd = adaptor.getColumnEnd();
    // The indices of a vector are along its only dimension.
    Value majorIndices, minorIndices;
    (type.getColumns() == 1 ? majorIndices : minorIndices) =
        adaptor.getIndices();
    if (transposed) {
      std::swap(row, column);
      std::swap(majorEnd, minorEnd);
      std::swap(majorIndices, minorIndices);
    }
    Value exists; // Of a gathered element.
    auto place = [&](Value index, int64_t offset, Value end, int64_t width,
                     Value indices) {
      index = e.add(index, offset);
      if (end)
        index = e.min(index, e.sub(end, width));
      if (indices) {
        Emitter::Gathered found = e.gather(indices, index);
        index = found.index;
        exists = found.exists;
      }
      return e.toI64(index);
    };
    llvm::DenseMap<int64_t, Value> starts, startExists;
    SmallVector<Value> scalars;
    for (int64_t i = 0, n = layout.getNumRegisters(); i < n; i += width) {
      auto [major, minor] = layout.getRegisterOffset(i);
      if (transposed)
        std::swap(major, minor);
      Value &start = starts[major];
      bool isMinorKnown = !minorEnd && !minorIndices;
      if (!start) {
        Value index = place(row, major, majorEnd, 1, majorIndices);
        start =
            e.at(adaptor.getBase(), element, e.mul(index, adaptor.getPitch()));
        if (isMinorKnown)
          start = e.at(start, element, e.toI64(column));
        startExists[major] = exists;
      }
      exists = startExists[major];
      Value address =
          isMinorKnown
              ? e.at(start, element, minor)
              : e.at(start, element,
                     place(column, minor, minorEnd, width, minorIndices));
      Value value = e.loadGlobal(loaded, address, bytes * width);
      if (exists)
        value = e.select(exists, value, e.zero(loaded));
      for (int64_t j = 0; j < width; ++j)
        scalars.push_back(width == 1 ? value
                                     : vector::ExtractOp::create(
                                           rewriter, op.getLoc(), value, j));
    }
    rewriter.replaceOpWithMultiple(op, {packElements(e, type, scalars)});
    return success();
  }
};

struct LoadStripedLowering : KernelPattern<LoadStripedOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LoadStripedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    StripedType type = op.getResult().getType();
    Type element = type.getElementType();
    Value first = e.add(adaptor.getIndex(), e.warpgroupThread());
    Value last = e.sub(adaptor.getEnd(), 1);
    SmallVector<Value> values;
    for (int64_t i = 0; i < type.getNumRegisters(); ++i) {
      Value index = e.min(e.add(first, i * kWarpgroupThreads), last), exists;
      if (Value indices = adaptor.getIndices()) {
        Emitter::Gathered found = e.gather(indices, index);
        index = found.index;
        exists = found.exists;
      }
      Value value = e.loadGlobal(
          element, e.at(adaptor.getBase(), element, e.toI64(index)),
          element.getIntOrFloatBitWidth() / 8);
      values.push_back(exists ? e.select(exists, value, e.zero(element))
                              : value);
    }
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct StoreStripedLowering : KernelPattern<StoreStripedOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreStripedOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    StripedType type = op.getValue().getType();
    int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    Value thread = e.warpgroupThread();
    Value first =
        e.shared(e.add(adaptor.getTarget().front(), e.mul(thread, bytes)));
    for (auto [i, value] : llvm::enumerate(adaptor.getValue())) {
      int64_t done = i * kWarpgroupThreads;
      auto store = [&, value = value] {
        LLVM::StoreOp::create(rewriter, op.getLoc(), value,
                              e.at(first, e.b.getI8Type(), done * bytes),
                              bytes);
      };
      if (done + kWarpgroupThreads <= type.getSize())
        store();
      else
        e.when(e.below(thread, type.getSize() - done), store);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct SpreadLowering : KernelPattern<SpreadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(SpreadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    Type element = type.getElementType();
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    FragmentLayout layout =
        getAccumulatorLayout(type.getRows(), type.getColumns());
    auto [threadRow, threadColumn] = emitThreadOffset(e, layout);
    bool areRows = type.getColumns() == 1;
    Value index = areRows ? threadRow : threadColumn;
    if (Value start = adaptor.getStart())
      index = e.add(index, start);
    Value first = e.shared(e.add(adaptor.getSource(), e.mul(index, bytes)));
    // Two columns by one load, if they are aligned.
    int64_t width = areRows || op.getStart() ? 1 : 2;
    Type loaded = width == 1 ? element : VectorType::get({width}, element);
    SmallVector<Value> elements;
    for (int64_t i = 0, n = layout.getNumRegisters(); i < n; i += width) {
      Position at = layout.getRegisterOffset(i);
      int64_t offset = op.getOffset() + (areRows ? at.row : at.column);
      Value value =
          LLVM::LoadOp::create(rewriter, op.getLoc(), loaded,
                               e.at(first, element, offset), width * bytes,
                               /*isVolatile=*/areRows);
      for (int64_t j = 0; j < width; ++j)
        elements.push_back(width == 1 ? value
                                      : vector::ExtractOp::create(
                                            rewriter, op.getLoc(), value, j));
    }
    rewriter.replaceOpWithMultiple(op, {packElements(e, type, elements)});
    return success();
  }
};

} // namespace

void mlir::moeq_gpu::populateLoadPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          const KernelBudget &budget) {
  patterns.add<LoadLowering, LoadStripedLowering, StoreStripedLowering,
               SpreadLowering>(converter, patterns.getContext(), budget);
}
