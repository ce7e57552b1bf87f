//===- BlockCodes.cpp - Codes of the numbers of a block ---------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockCodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::moeq;

static int64_t getWidth(Value number) {
  auto vector = dyn_cast<VectorType>(number.getType());
  return vector ? vector.getNumElements() : 1;
}

/// x / divisor, correctly rounded, of the reciprocal, correctly rounded too:
/// one step makes a product that is off by less than 2 units in the last place
/// faithful, and another makes such a one exact (P. Markstein, "Computation of
/// elementary functions on the IBM RISC System/6000", 1990). For all numbers of
/// up to 11 bits and all divisors the first is exact already: there are 2^33
/// pairs, and all were tried. A zero keeps its sign; quotients too small for
/// exact remainders keep it too, and are 0 as codes.
static Value divideByReciprocal(KernelBuilder &k, Value number, Value divisor) {
  Elementwise e(k, k.getLoc());
  Value x = k.toF32(number);
  int64_t width = getWidth(number);
  Value reciprocal = e.div(e.f32(divisor, 1.0f), divisor);
  Value minusReciprocal = k.splat(e.neg(reciprocal), width);
  Value quotient = e.mul(x, k.splat(reciprocal, width));
  divisor = k.splat(divisor, width);
  Type element = getElementTypeOrSelf(number.getType());
  int steps = element.getIntOrFloatBitWidth() == 16 ? 1 : 2;
  for (int step = 0; step < steps; ++step)
    quotient =
        e.fma(e.fma(quotient, divisor, e.neg(x)), minusReciprocal, quotient);
  return quotient;
}

void moeq::foldFactor(KernelBuilder &k, const RecipeEmitter &emitter,
                      RecipeEmitter::BlockScale &scale,
                      MutableArrayRef<Value> numbers) {
  // No other type of 16 bits has the exponents of f32.
  auto isPairs = [](Value number) {
    return getWidth(number) > 1 &&
           getElementTypeOrSelf(number.getType()).isBF16();
  };
  if (!emitter.scalesByPowers() || !llvm::all_of(numbers, isPairs))
    return;
  for (Value &number : numbers) {
    Value factor = k.fromF32(scale.factor, k.getBF16Type());
    if (!isa<VectorType>(factor.getType()))
      factor = k.splat(factor, getWidth(number));
    number = arith::MulFOp::create(k, number, factor);
  }
  scale.factor = Value();
}

SmallVector<Value> moeq::emitBlockCodes(KernelBuilder &k,
                                        const RecipeEmitter &emitter,
                                        const RecipeEmitter::BlockScale &scale,
                                        ArrayRef<Value> numbers) {
  Elementwise e(k, k.getLoc());
  auto emitCodes = [&] {
    RecipeEmitter::BlockScale ofNumbers = scale;
    SmallVector<Value> products(numbers);
    foldFactor(k, emitter, ofNumbers, products);
    return llvm::map_to_vector(products, [&](Value number) {
      RecipeEmitter::BlockScale wide = ofNumbers;
      if (wide.factor)
        wide.factor = k.splat(scale.factor, getWidth(number));
      if (scale.zeroCode)
        wide.zeroCode = k.splat(scale.zeroCode, getWidth(number));
      return emitter.emitCode(e, wide, k.toF32(number));
    });
  };
  if (!emitter.divides() || !emitter.quotientsFit())
    return emitCodes();
  // The range has what scales are in practice: no overflow, and quotients that
  // underflow are below any code.
  Value factor = scale.factor;
  Value isUsual = k.both(e.compare(arith::CmpFPredicate::OGT, factor, 0x1p-60f),
                         e.compare(arith::CmpFPredicate::OLT, factor, 0x1p60f));
  return k.ifElse(
      isUsual,
      [&] {
        return llvm::map_to_vector(numbers, [&](Value number) {
          return emitter.emitCodeOfQuotient(
              e, divideByReciprocal(k, number, factor));
        });
      },
      emitCodes);
}
