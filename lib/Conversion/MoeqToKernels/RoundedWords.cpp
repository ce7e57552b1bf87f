//===- RoundedWords.cpp - Rounding tests of bf16 ----------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoundedWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

Value RoundedWords::call(StringRef intrinsic, Value x) {
  SmallVector<Value> results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back(LLVM::CallIntrinsicOp::create(
                          k, k.getF32Type(), k.getStringAttr(intrinsic),
                          ValueRange{vector::ExtractOp::create(k, x, i)})
                          .getResult(0));
  return vector::FromElementsOp::create(k, cast<VectorType>(x.getType()),
                                        results);
}

RoundedWords::Words RoundedWords::wordsOf(Value vector) {
  Value words = vector::BitCastOp::create(
      k, VectorType::get(count / 2, k.getI32Type()), vector);
  Words result;
  for (int64_t i = 0; i < count / 2; ++i)
    result.push_back(vector::ExtractOp::create(k, words, i));
  return result;
}

Value RoundedWords::toBF16(ValueRange words) {
  Value vector = vector::FromElementsOp::create(
      k, VectorType::get(count / 2, k.getI32Type()), words);
  return vector::BitCastOp::create(k, VectorType::get(count, k.getBF16Type()),
                                   vector);
}

Value RoundedWords::numberOf(ArrayRef<Value> words, Value number) {
  if (words.empty())
    return Value();
  Value word = words[0];
  for (int64_t i = 1; i < count / 2; ++i)
    word = k.select(e.compareI(arith::CmpIPredicate::ult, number, 2 * i), word,
                    words[i]);
  Value half = arith::ShRUIOp::create(k, word, shiftOf(number));
  return e.fromBits(e.shl(half, 16));
}

Value RoundedWords::isAnyAbove(ArrayRef<Value> words, int32_t limit) {
  Value largest = words[0];
  for (Value word : words.drop_front())
    largest = chunks.maximumOfWords(largest, word);
  return arith::OrIOp::create(k, isAbove(e.andI(largest, 0xffff), limit),
                              isAbove(e.shrU(largest, 16), limit));
}

/// `words` with `exact`, rounded, as element `number`.
RoundedWords::Words RoundedWords::replace(ValueRange words, Value number,
                                          Value exact) {
  Value rounded = arith::TruncFOp::create(k, k.getBF16Type(), exact);
  Value half = arith::ExtUIOp::create(
      k, k.getI32Type(), arith::BitcastOp::create(k, k.getI16Type(), rounded));
  Value shift = shiftOf(number);
  Value bits = arith::ShLIOp::create(k, half, shift);
  Value mask = arith::ShLIOp::create(k, k.i32(0xffff), shift);
  Value place = e.shrU(number, 1);
  Words next;
  for (auto [i, old] : llvm::enumerate(words)) {
    Value kept = arith::AndIOp::create(
        k, old, arith::XOrIOp::create(k, mask, k.i32(-1)));
    Value word = arith::OrIOp::create(k, kept, bits);
    next.push_back(
        k.select(e.compareI(arith::CmpIPredicate::eq, place, i), word, old));
  }
  return next;
}

SmallVector<RoundedWords::Words>
RoundedWords::redo(Value isUnsafe, ArrayRef<Words> results,
                   function_ref<Value(int64_t)> isElementUnsafe,
                   function_ref<SmallVector<Value>(Value)> exact) {
  int64_t size = count / 2;
  SmallVector<Value> all;
  for (const Words &words : results)
    llvm::append_range(all, words);
  SmallVector<Value> done = k.ifElse(
      isUnsafe,
      [&] {
        // The elements to do, a bit each: almost always one.
        Value unsafe = k.i32(0);
        for (int64_t i = 0; i < count; ++i)
          unsafe = arith::OrIOp::create(
              k, unsafe, k.select(isElementUnsafe(i), k.i32(1 << i), k.i32(0)));
        SmallVector<Value> inits = all;
        inits.push_back(unsafe);
        auto loop = scf::WhileOp::create(
            k, TypeRange(ValueRange(inits)), inits,
            [&](OpBuilder &, Location, ValueRange carried) {
              Value isLeft =
                  e.compareI(arith::CmpIPredicate::ne, carried.back(), 0);
              scf::ConditionOp::create(k, isLeft, carried);
            },
            [&](OpBuilder &, Location, ValueRange carried) {
              Value left = carried.back();
              Value lowest =
                  math::CountTrailingZerosOp::create(k, left).getResult();
              SmallVector<Value> next;
              for (auto [i, value] : llvm::enumerate(exact(lowest)))
                llvm::append_range(next, replace(carried.slice(i * size, size),
                                                 lowest, value));
              next.push_back(arith::AndIOp::create(k, left, e.subI(left, 1)));
              scf::YieldOp::create(k, next);
            });
        SmallVector<Value> redone(loop.getResults());
        redone.pop_back();
        return redone;
      },
      [&] { return all; });
  SmallVector<Words> final;
  for (size_t i = 0; i < results.size(); ++i)
    final.emplace_back(ArrayRef(done).slice(i * size, size));
  return final;
}
