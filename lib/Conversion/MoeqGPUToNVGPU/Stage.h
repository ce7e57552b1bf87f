//===- Stage.h - A stage of a ring, lowered ---------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_LIB_CONVERSION_MOEQGPUTONVGPU_STAGE_H
#define MOEQ_LIB_CONVERSION_MOEQGPUTONVGPU_STAGE_H

#include "Patterns.h"

namespace mlir::moeq_gpu {

/// The time in ns after which a waiting thread looks at a barrier again.
constexpr int64_t kWaitTicks = 10000000;
constexpr int64_t kBarrierBytes = 8;

/// Makes the barriers that lie at `address` side by side, by one thread: a
/// phase of each ends with so many arrivals.
void emitBarriers(Emitter &e, Value address, ArrayRef<int64_t> arrivals);

/// A ring and a stage of it, lowered.
struct Stage {
  Stage(Emitter &e, RingType type, ValueRange ring, ValueRange cursor)
      : e(e), type(type), data(ring[0]), barriers(ring[1]), slot(cursor[0]),
        phase(cursor[1]) {}

  Value full() { return e.add(barriers, e.mul(slot, kBarrierBytes)); }
  Value empty() { return e.add(full(), type.getStages() * kBarrierBytes); }
  Value tile(int64_t offset) {
    return e.add(e.add(data, e.mul(slot, type.getStageBytes())), offset);
  }
  /// The vectors of all stages lie behind the tiles.
  Value vector(int64_t number, int64_t offset = 0) {
    for (SharedVectorType before : type.getVectors().take_front(number))
      offset += RingType::getPaddedBytes(before);
    return e.add(e.add(data, e.mul(slot, type.getVectorBytes())),
                 type.getStages() * type.getStageBytes() + offset);
  }
  void wait(Value barrier, Value parity) {
    Value word = arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), parity);
    NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, e.shared(barrier), word,
                                          e.i32(kWaitTicks));
  }

  Emitter &e;
  RingType type;
  Value data, barriers, slot, phase;
};

} // namespace mlir::moeq_gpu

#endif // MOEQ_LIB_CONVERSION_MOEQGPUTONVGPU_STAGE_H
