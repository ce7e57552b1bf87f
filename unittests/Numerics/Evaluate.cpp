//===- Evaluate.cpp - Runs what an emitter emits ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"

#include "moeq/RegisterAll.h"
#include "moeq/Runtime/Jit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::moeq;

static MLIRContext &getContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerAllDialects(registry);
    auto *result = new MLIRContext(registry);
    result->loadAllAvailableDialects();
    return result;
  }();
  return *context;
}

/// A function over memrefs of bits that applies `emit` to `width` at a time.
static OwningOpRef<ModuleOp> build(int64_t width, bool isFloat,
                                   const Emitter &emit) {
  OpBuilder b(&getContext());
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  b.setInsertionPointToEnd(module->getBody());
  auto memref = MemRefType::get({ShapedType::kDynamic}, b.getI32Type());
  auto function = func::FuncOp::create(b, loc, "f",
                                       b.getFunctionType({memref, memref}, {}));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  Value in = block->getArgument(0), out = block->getArgument(1);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value step = arith::ConstantIndexOp::create(b, loc, width);
  Value end = memref::DimOp::create(b, loc, in, 0);
  scf::ForOp::create(
      b, loc, zero, end, step, {},
      [&](OpBuilder &inner, Location, Value i, ValueRange) {
        Elementwise e(inner, loc);
        Value bits = memref::LoadOp::create(inner, loc, in, i);
        if (width > 1)
          bits = vector::LoadOp::create(
              inner, loc, VectorType::get({width}, b.getI32Type()), in, i);
        Value result = emit(e, isFloat ? e.fromBits(bits) : bits);
        if (getElementTypeOrSelf(result.getType()).isF32())
          result = e.toBits(result);
        if (width > 1)
          vector::StoreOp::create(inner, loc, result, out, i);
        else
          memref::StoreOp::create(inner, loc, result, out, i);
        scf::YieldOp::create(inner, loc);
      });
  func::ReturnOp::create(b, loc);
  return module;
}

std::vector<uint32_t> moeq::evaluate(const std::vector<uint32_t> &inputs,
                                     bool isFloat, const Emitter &emit) {
  // The vectors need whole steps.
  std::vector<uint32_t> in(llvm::alignTo(inputs.size(), 8));
  llvm::copy(inputs, in.begin());
  const int64_t widths[2] = {1, 8};
  std::vector<uint32_t> results[2];
  for (auto [width, out] : llvm::zip(widths, results)) {
    out.resize(in.size());
    OwningOpRef<ModuleOp> module = build(width, isFloat, emit);
    Type i32 = IntegerType::get(&getContext(), 32);
    SmallVector<int64_t> shape{static_cast<int64_t>(in.size())};
    EXPECT_TRUE(succeeded(runOnCpu(
        *module, "f", {{i32, shape, in.data()}, {i32, shape, out.data()}})));
    out.resize(inputs.size());
  }
  EXPECT_EQ(results[0], results[1]) << "scalars and vectors differ";
  return results[0];
}
