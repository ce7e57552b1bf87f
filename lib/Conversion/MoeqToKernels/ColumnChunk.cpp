//===- ColumnChunk.cpp - Neighbouring columns in registers ------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnChunk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::moeq;

ChunkEmitter::ChunkEmitter(KernelBuilder &k, Type element)
    : k(k), element(element),
      magnitude(k.getIntegerType(element.getIntOrFloatBitWidth())) {}

Value ChunkEmitter::fromElements(Value elements) {
  if (isHalf())
    return vector::BitCastOp::create(k, vectorOf(k.getI32Type(), kChunk / 2),
                                     elements);
  return arith::BitcastOp::create(k, vectorOf(k.getI32Type(), kChunk),
                                  elements);
}

Value ChunkEmitter::toElements(Value chunk) {
  if (isHalf())
    return vector::BitCastOp::create(k, vectorOf(element, kChunk), chunk);
  return arith::BitcastOp::create(k, vectorOf(element, kChunk), chunk);
}

Value ChunkEmitter::toF32(Value chunk) { return k.toF32(toElements(chunk)); }

Value ChunkEmitter::zero() {
  return k.splat(k.i32(0), isHalf() ? kChunk / 2 : kChunk);
}

Value ChunkEmitter::opaque(Value chunk) {
  SmallVector<Value> words;
  int64_t count = cast<VectorType>(chunk.getType()).getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    Value word = vector::ExtractOp::create(k, chunk, i);
    words.push_back(
        LLVM::InlineAsmOp::create(
            k, k.getI32Type(), word, "mov.b32 $0, $1;", "=r,r",
            /*has_side_effects=*/false, /*is_align_stack=*/false,
            LLVM::TailCallKind::None,
            LLVM::AsmDialectAttr::get(k.getContext(), LLVM::AsmDialect::AD_ATT),
            /*operand_attrs=*/ArrayAttr())
            .getResult(0));
  }
  return vector::FromElementsOp::create(k, cast<VectorType>(chunk.getType()),
                                        words);
}

Value ChunkEmitter::magnitudes(Value chunk, bool isUnsigned) {
  int64_t count = cast<VectorType>(chunk.getType()).getNumElements();
  Value mask = k.splat(k.i32(isHalf() ? 0x7fff7fff : 0x7fffffff), count);
  Value bits = isUnsigned ? chunk : arith::AndIOp::create(k, chunk, mask);
  return isHalf()
             ? vector::BitCastOp::create(k, vectorOf(magnitude, kChunk), bits)
             : bits;
}

Value ChunkEmitter::maximum(Value left, Value right) {
  return arith::MaxUIOp::create(k, left, right);
}

Value ChunkEmitter::maximumOfWords(Value left, Value right) {
  if (!isHalf())
    return maximum(left, right);
  Type pair = vectorOf(magnitude, 2);
  auto asPair = [&](Value word) {
    return LLVM::BitcastOp::create(k, pair, word);
  };
  return LLVM::BitcastOp::create(k, k.getI32Type(),
                                 maximum(asPair(left), asPair(right)));
}

Value ChunkEmitter::reduceChunk(Value magnitudes) {
  if (isHalf())
    magnitudes = vector::BitCastOp::create(
        k, vectorOf(k.getI32Type(), kChunk / 2), magnitudes);
  SmallVector<Value> words;
  int64_t count = cast<VectorType>(magnitudes.getType()).getNumElements();
  for (int64_t i = 0; i < count; ++i)
    words.push_back(vector::ExtractOp::create(k, magnitudes, i));
  for (; words.size() > 1; words.resize(words.size() / 2))
    for (size_t i = 0; i < words.size() / 2; ++i)
      words[i] = maximumOfWords(words[i], words[i + words.size() / 2]);
  return words[0];
}

Value ChunkEmitter::reduceLanes(Value word, int64_t lanes) {
  return k.reduceLanes(word, lanes, [&](Value left, Value right) {
    return maximumOfWords(left, right);
  });
}

Value ChunkEmitter::toBits(Value value) {
  if (!isHalf())
    return value;
  if (element.isBF16())
    return arith::ShLIOp::create(
        k, arith::ExtUIOp::create(k, k.getI32Type(), value), k.i32(16));
  Value half = arith::BitcastOp::create(k, element, value);
  return arith::BitcastOp::create(
      k, k.getI32Type(), arith::ExtFOp::create(k, k.getF32Type(), half));
}

SmallVector<Value> ChunkEmitter::reduceRows(ArrayRef<Value> rows,
                                            int64_t lanes) {
  SmallVector<Value> words, result;
  for (Value row : rows)
    words.push_back(reduceChunk(row));
  if (!isHalf()) {
    for (Value word : words)
      result.push_back(reduceLanes(word, lanes));
    return result;
  }
  // Two rows share a word: the first one has the lower half.
  Value sixteen = k.i32(16), upper = k.i32(static_cast<int32_t>(0xffff0000));
  for (size_t i = 0; i < words.size(); i += 2) {
    Value first = words[i], second = words[std::min(i + 1, words.size() - 1)];
    Value even =
        arith::OrIOp::create(k, arith::AndIOp::create(k, first, k.i32(0xffff)),
                             arith::ShLIOp::create(k, second, sixteen));
    Value odd =
        arith::OrIOp::create(k, arith::ShRUIOp::create(k, first, sixteen),
                             arith::AndIOp::create(k, second, upper));
    Value both = reduceLanes(maximumOfWords(even, odd), lanes);
    Value low = arith::TruncIOp::create(k, magnitude, both);
    Value high = arith::TruncIOp::create(
        k, magnitude, arith::ShRUIOp::create(k, both, sixteen));
    result.push_back(toBits(low));
    if (i + 1 < words.size())
      result.push_back(toBits(high));
  }
  return result;
}
