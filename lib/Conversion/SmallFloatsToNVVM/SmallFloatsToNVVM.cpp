//===- SmallFloatsToNVVM.cpp - Conversions by instructions ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Conversion/Passes.h"
#include "moeq/Target/Chips.h"
#include "moeq/Target/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQSMALLFLOATSTONVVM
#include "moeq/Conversion/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// More elements than a thread has registers are not worth their code.
static constexpr int64_t kMaxElements = 256;

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

/// The elements of a vector, or a scalar, in pairs: an odd one stands twice.
static SmallVector<std::pair<Value, Value>> getPairs(ImplicitLocOpBuilder &b,
                                                     Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return {{value, value}};
  auto element = [&](int64_t i) -> Value {
    return vector::ExtractOp::create(b, value,
                                     std::min(i, vector.getNumElements() - 1));
  };
  SmallVector<std::pair<Value, Value>> pairs;
  for (int64_t i = 0; i < vector.getNumElements(); i += 2)
    pairs.push_back({element(i), element(i + 1)});
  return pairs;
}

/// The value of type `type` whose elements, in order, are those of pairs.
static Value fromPairs(ImplicitLocOpBuilder &b, Type type, ValueRange pairs) {
  SmallVector<Value> elements;
  for (Value pair : pairs)
    for (int64_t i : {0, 1})
      elements.push_back(vector::ExtractOp::create(b, pair, i));
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return elements[0];
  elements.resize(vector.getNumElements());
  return vector::FromElementsOp::create(b, vector, elements);
}

/// The type with i8 elements in the place of fp8 ones.
static Type getCodeType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type code = IntegerType::get(type.getContext(), 8);
  return vector ? Type(vector.clone(code)) : code;
}

static void convert(arith::TruncFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto format = TypeAttr::get(getElementTypeOrSelf(op.getType()));
  auto nearest =
      NVVM::FPRoundingModeAttr::get(b.getContext(), NVVM::FPRoundingMode::RN);
  auto saturating = NVVM::SaturationModeAttr::get(
      b.getContext(), NVVM::SaturationMode::SATFINITE);
  SmallVector<std::pair<Value, Value>> pairs = getPairs(b, op.getIn());
  // Words are put together of two pairs, with the instruction that converts.
  auto vector = dyn_cast<VectorType>(op.getType());
  bool asWords = vector && vector.getNumElements() % 4 == 0;
  Type codes =
      asWords ? Type(b.getI16Type()) : VectorType::get(2, b.getI8Type());
  SmallVector<Value> converted;
  // The first operand of the instruction becomes the upper byte.
  for (auto [low, high] : pairs)
    converted.push_back(NVVM::ConvertF32x2ToF8x2Op::create(
        b, codes, high, low, nearest, saturating, b.getBoolAttr(false),
        format));
  if (asWords) {
    SmallVector<Value> words;
    Value sixteen = arith::ConstantIntOp::create(b, b.getI32Type(), 16);
    auto wide = [&](Value pair) {
      return arith::ExtUIOp::create(b, b.getI32Type(), pair);
    };
    for (size_t i = 0; i < converted.size(); i += 2)
      words.push_back(arith::OrIOp::create(
          b, wide(converted[i]),
          arith::ShLIOp::create(b, wide(converted[i + 1]), sixteen)));
    auto type = VectorType::get(words.size(), b.getI32Type());
    Value bytes = vector::BitCastOp::create(
        b, cast<VectorType>(getCodeType(op.getType())),
        vector::FromElementsOp::create(b, type, words));
    op.replaceAllUsesWith(
        arith::BitcastOp::create(b, op.getType(), bytes).getResult());
    return op.erase();
  }
  Value result = fromPairs(b, getCodeType(op.getType()), converted);
  op.replaceAllUsesWith(
      arith::BitcastOp::create(b, op.getType(), result).getResult());
  op.erase();
}

static void convert(arith::ExtFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto format = TypeAttr::get(getElementTypeOrSelf(op.getIn().getType()));
  Value codes = arith::BitcastOp::create(b, getCodeType(op.getIn().getType()),
                                         op.getIn());
  SmallVector<Value> converted;
  for (auto [low, high] : getPairs(b, codes)) {
    Value pair = vector::FromElementsOp::create(
        b, VectorType::get(2, b.getI8Type()), ValueRange{low, high});
    Value halves = NVVM::ConvertF8x2ToF16x2Op::create(
        b, VectorType::get(2, b.getF16Type()), pair, b.getBoolAttr(false),
        format);
    converted.push_back(
        arith::ExtFOp::create(b, VectorType::get(2, b.getF32Type()), halves));
  }
  op.replaceAllUsesWith(fromPairs(b, op.getType(), converted));
  op.erase();
}

namespace {
struct SmallFloatsToNVVM
    : moeq::impl::MoeqSmallFloatsToNVVMBase<SmallFloatsToNVVM> {
  void runOnOperation() override {
    FailureOr<std::optional<PtxTarget>> target = getPtxTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (!*target || !(*target)->convertsFloat8())
      return markAllAnalysesPreserved();
    auto isVectorOrScalar = [](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return !vector || (vector.getRank() == 1 && !vector.isScalable() &&
                         vector.getNumElements() <= kMaxElements);
    };
    getOperation().walk([&](Operation *op) {
      if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
        if (isFloat8(truncate.getType()) &&
            isVectorOrScalar(truncate.getType()) &&
            !truncate.getRoundingmode() &&
            getElementTypeOrSelf(truncate.getIn().getType()).isF32())
          convert(truncate);
      } else if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
        if (isFloat8(extend.getIn().getType()) &&
            isVectorOrScalar(extend.getType()) &&
            getElementTypeOrSelf(extend.getType()).isF32())
          convert(extend);
      }
    });
  }
};
} // namespace
