//===- MatmulSplit.cpp - Tiles that several CTAs sum ------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where there are few tiles, the CTAs of a cluster have the same one: each sums
// a part of K, by the main loop that it would have of all. Then each adds up,
// scales and stores its share of the tile: consumers send the other parts of
// their accumulators to the CTAs that have these, through the shared memory of
// the cluster. Neither the parts of K nor the order of the sum depend on which
// rows a tile has.
//
//===----------------------------------------------------------------------===//

#include "MatmulBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

ExchangeType mlir::moeq_gpu::getExchangeType(const MatmulKernelSpec &spec) {
  MLIRContext *context = spec.lhs.getContext();
  int64_t parts = 0;
  for (int64_t columns : getWidths(spec))
    parts = std::max<int64_t>(
        parts, getMatmulParts(spec, columns, getFragmentColumns(spec, columns))
                   .size());
  int64_t size = kInstructionRows * getChunkColumns(spec) * spec.getNumSums();
  Type element = spec.lhs.isInteger(8) ? Type(IntegerType::get(context, 32))
                                       : Type(Float32Type::get(context));
  return ExchangeType::get(context, llvm::divideCeil(parts, spec.splitK), size,
                           element, spec.splitK);
}

std::optional<std::string>
mlir::moeq_gpu::getUnsupportedSplit(const MatmulKernelSpec &spec) {
  if (spec.splitK == 1)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream reason(text);
  if (spec.splitK != 2 && spec.splitK != 4 && spec.splitK != 8)
    reason << "K is split in 2, 4 or 8 parts, got " << spec.splitK;
  else if (spec.isSync())
    reason << "the parts of K are those of a cluster, with wgmma only";
  else if (spec.cluster != 1)
    reason << "the CTAs of a cluster share tiles or split K, got clusters of "
           << spec.cluster << " and " << spec.splitK << " parts";
  else if (spec.contractsRows || spec.rhsIsTransposed)
    reason << "K is split of rows times weights [E, N, K], got "
           << (spec.contractsRows ? "contraction of rows"
                                  : "transposed weights");
  else if (spec.schedule == moeq::Schedule::PingPong)
    reason << "consumers that split K share a tile, got "
           << moeq::stringifySchedule(spec.schedule);
  else if (!isStatic(spec.depth))
    reason << "K is static where it is split";
  else if (spec.depth > 0 &&
           getPartStages(spec) * (spec.splitK - 1) >= getStages(spec))
    reason << "each part of K has stages of " << getStageDepth(spec)
           << " elements, got " << spec.splitK << " parts of " << spec.depth;
  else if (int64_t unit = getStageDepth(spec) * getStepStages(spec);
           spec.isPacked && spec.depth % (unit * spec.splitK) != 0)
    reason << "the parts of K are equal with packed weights, of a multiple of "
           << unit << " elements, got " << spec.splitK << " parts of "
           << spec.depth;
  if (text.empty())
    return std::nullopt;
  return text;
}

// The stages of this CTA.
void MatmulBuilder::setPart(Depth &depth) {
  int64_t stages = getStages(spec), ofPart = getPartStages(spec);
  depth.firstStage = mul(rank, i32(ofPart));
  depth.stages = i32(ofPart);
  if (stages % spec.splitK != 0)
    depth.stages = arith::MinUIOp::create(
        b, depth.stages,
        arith::SubIOp::create(b, i32(stages), depth.firstStage));
}

void MatmulBuilder::buildAddedUp(
    const Consumer &consumer, ValueRange accumulators, ArrayRef<Part> parts,
    function_ref<void(int64_t, int64_t, ValueRange)> body) {
  SmallVector<SmallVector<Value, 2>> sums;
  SmallVector<Value> all;
  for (Part part : parts)
    llvm::append_range(all, sums.emplace_back(buildSums(accumulators, part)));
  // A consumer's parts follow those of the one before, for equal shares.
  Value first = mul(consumer.number, i32(parts.size()));
  Value own = arith::AndIOp::create(b, arith::XOrIOp::create(b, rank, first),
                                    i32(spec.splitK - 1));
  ExchangeSwapOp::create(b, exchange, consumer.turn, own, all,
                         spec.getNumSums());
  for (auto [i, ofPart] : llvm::enumerate(sums)) {
    Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own,
                                        i32(i % spec.splitK));
    auto split = scf::IfOp::create(b, isOwn, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(split.thenBlock());
    auto added = ExchangeSumOp::create(b, TypeRange(ValueRange(ofPart)),
                                       exchange, i, ofPart);
    body(i, i / spec.splitK, added.getResults());
  }
  ExchangeReleaseOp::create(b, exchange);
}
