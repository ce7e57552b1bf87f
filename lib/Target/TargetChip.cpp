//===- TargetChip.cpp - The chip that an op is compiled for -----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/TargetChip.h"

#include "moeq/Dialect/Moeq/IR/Moeq.h"

using namespace mlir;
using namespace mlir::moeq;

FailureOr<Chip> moeq::getTargetChip(Operation *op, StringRef fallback) {
  TargetAttr target;
  for (Operation *module = op; module && !target;
       module = module->getParentOp())
    target = module->getAttrOfType<TargetAttr>("moeq.target");
  FailureOr<const Chip *> found =
      lookupChip(op->getLoc(), target ? target.getChip().getValue() : fallback);
  if (failed(found))
    return failure();
  Chip chip = **found;
  if (target && target.getSms() > 0) { // Fewer or more of the same.
    double part = double(target.getSms()) / chip.sms;
    chip.sms = target.getSms();
    chip.fp8Tflops *= part;
    chip.f16Tflops *= part;
  }
  if (target && target.getSharedMemory() > 0)
    chip.sharedMemory = target.getSharedMemory();
  return chip;
}
