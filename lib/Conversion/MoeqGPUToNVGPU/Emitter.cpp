//===- Emitter.cpp - The instructions that all patterns use -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

Value Emitter::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value Emitter::thread() {
  return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
}

Value Emitter::shuffle(NVVM::ShflKind kind, Value value, Value lane) {
  // The clamp that keeps lanes in range: 0 for `up`, else the last lane.
  Value clamp = i32(kind == NVVM::ShflKind::up ? 0 : kWarpThreads - 1);
  return NVVM::ShflOp::create(b, loc, value.getType(), i32(-1), value, lane,
                              clamp, kind, UnitAttr());
}

Value Emitter::ballot(Value predicate) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), i32(-1), predicate,
                                  NVVM::VoteSyncKind::ballot);
}

Value Emitter::at(Value base, Type type, Value index) {
  return LLVM::GEPOp::create(b, loc, base.getType(), type, base, index);
}

Value Emitter::at(Value base, Type type, int64_t index) {
  if (index == 0)
    return base;
  return LLVM::GEPOp::create(b, loc, base.getType(), type, base,
                             LLVM::GEPArg(static_cast<int32_t>(index)));
}

Value Emitter::loadGlobal(Type type, Value address, int64_t alignment) {
  return LLVM::LoadOp::create(b, loc, type, address, alignment);
}

Value moeq_gpu::emitChunkAddress(Emitter &e, Value panel, Value row,
                                 Value chunk) {
  Value swizzled = e.bitXor(chunk, e.rem(row, kChunksPerRow));
  return e.add(panel, e.add(e.mul(row, TileType::kPanelBytes),
                            e.mul(swizzled, kChunkBytes)));
}

Emitter::Gathered Emitter::gather(Value indices, Value place) {
  Value index =
      loadGlobal(b.getI32Type(), at(indices, b.getI32Type(), toI64(place)), 4);
  Value exists = isNonNegative(index);
  return {select(exists, index, i32(0)), exists};
}

Value moeq_gpu::emitAddress(Emitter &e, Value pointer) {
  return LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI32Type(), pointer);
}

Value moeq_gpu::emitSharedMemory(Emitter &e, int64_t offset) {
  Value base = LLVM::AddressOfOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), kSharedSpace),
      kSharedMemorySymbol);
  return e.add(emitAddress(e, base), offset);
}

Value moeq_gpu::emitInCluster(Emitter &e, Value address, Value rank) {
  return NVVM::MapaOp::create(
      e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext(), kClusterSpace),
      e.shared(address), rank);
}

void Emitter::when(Value condition, function_ref<void()> body) {
  auto ifOp = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

void Emitter::consumerBarrier(const KernelBudget &budget) {
  Value warpgroup = div(thread(), kWarpgroupThreads);
  NVVM::BarrierOp::create(
      b, loc, TypeRange(), add(warpgroup, 1 - budget.producers),
      i32(kWarpgroupThreads), NVVM::BarrierReductionAttr(), Value());
}
