//===- KernelBudget.cpp - What a kernel takes of a CTA ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "moeq/Target/Chips.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

KernelBudget mlir::moeq_gpu::getKernelBudget(RolesOp roles) {
  KernelBudget budget;
  int64_t consumers = roles.getConsumers();
  budget.threads = roles.getNumThreads();
  budget.producers = roles.getNumProducers();
  budget.registers =
      kWarpgroupThreads * (budget.producers * roles.getProducerRegisters() +
                           consumers * roles.getConsumerRegisters());
  // One for the CTA, one for the stores of each consumer, and one for its
  // turns.
  budget.namedBarriers = 1 + consumers;

  auto place = [&](Operation *op, int64_t bytes) {
    budget.offsets[op] = llvm::alignTo(budget.sharedMemory, kTileAlignment);
    budget.sharedMemory = budget.offsets[op] + bytes;
  };
  Operation *function = roles->getParentOp();
  if (auto cluster = function->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getClusterDimAttrName()))
    for (int32_t extent : cluster.asArrayRef())
      budget.cluster *= extent;
  if (auto ctas = function->getAttrOfType<IntegerAttr>(
          NVVM::NVVMDialect::getMinctasmAttrName()))
    budget.ctas = std::max<int64_t>(ctas.getInt(), 1);
  SmallVector<RingCreateOp> rings;
  SmallVector<ExchangeCreateOp> exchanges;
  SmallVector<std::pair<Operation *, int64_t>> vectors;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto ring = dyn_cast<RingCreateOp>(op)) {
      RingType type = ring.getResult().getType();
      if (!type.isMailbox() && type.getVectors().empty())
        place(op, type.getBytes());
      rings.push_back(ring);
    } else if (auto exchange = dyn_cast<ExchangeCreateOp>(op)) {
      exchanges.push_back(exchange);
    } else if (isa<TurnWaitOp>(op)) {
      budget.namedBarriers = 1 + 2 * consumers;
    } else if (auto alloc = dyn_cast<AllocOp>(op)) {
      bool isPrivate = roles.getConsumer().isAncestor(op->getParentRegion());
      if (isPrivate)
        budget.privateTiles.insert(op);
      int64_t bytes = alloc.getBytes() * (isPrivate ? consumers : 1);
      if (isa<TileType>(alloc.getResult().getType()))
        place(op, bytes);
      else
        vectors.push_back({op, bytes});
    }
  });
  // Rings that end with vectors have no tile behind them.
  for (RingCreateOp ring : rings)
    if (!ring.getResult().getType().getVectors().empty())
      place(ring, ring.getResult().getType().getBytes());
  for (auto [op, bytes] : vectors) {
    budget.offsets[op] = budget.sharedMemory;
    budget.sharedMemory += bytes;
  }
  // Mailboxes, of which a stage is read as a whole, and barriers.
  budget.sharedMemory = llvm::alignTo(budget.sharedMemory, 16);
  for (RingCreateOp ring : rings) {
    RingType type = ring.getResult().getType();
    if (!type.isMailbox())
      continue;
    budget.offsets[ring] = budget.sharedMemory;
    budget.sharedMemory += type.getStages() * type.getStageBytes();
  }
  for (ExchangeCreateOp exchange : exchanges) {
    budget.offsets[exchange] = budget.sharedMemory;
    budget.sharedMemory +=
        consumers * exchange.getResult().getType().getBytes();
  }
  for (RingCreateOp ring : rings) {
    budget.barrierOffsets[ring] = budget.sharedMemory;
    budget.sharedMemory += ring.getResult().getType().getBarrierBytes();
  }
  return budget;
}

// The target of the module around `op`, or null.
static moeq::TargetAttr getTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<moeq::TargetAttr>("moeq.target"))
      return target;
  return {};
}

LogicalResult RolesOp::verifyRegions() {
  // Each check names the number that the chip cannot hold.
  auto checkRegisters = [&](int64_t registers, StringRef who) -> LogicalResult {
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError(
                 "expects a multiple of 8 from 24 to 256 registers for the ")
             << who << ", got " << registers;
    return success();
  };
  bool hasProducer = getNumProducers() != 0;
  if (!hasProducer && getProducerRegisters() != 0)
    return emitOpError("expects no registers without a producer region, got ")
           << getProducerRegisters();
  if ((hasProducer &&
       failed(checkRegisters(getProducerRegisters(), "producer"))) ||
      failed(checkRegisters(getConsumerRegisters(), "consumers")))
    return failure();
  if (getConsumer().getNumArguments() != 1 ||
      !getConsumer().getArgument(0).getType().isInteger(32))
    return emitOpError("expects one i32 argument of the consumer region, got ")
           << getConsumer().getNumArguments() << " arguments";
  if (hasProducer && getProducer().getNumArguments() != 0)
    return emitOpError("expects no argument of the producer region, got ")
           << getProducer().getNumArguments();
  if (!getHelpers().empty() && getHelpers().front().getNumArguments() != 0)
    return emitOpError("expects no argument of the helpers' region, got ")
           << getHelpers().front().getNumArguments();
  if (!isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError("expects to be in the body of a function");

  KernelBudget budget = getKernelBudget(*this);
  if (budget.threads > 1024)
    return emitOpError("expects at most 1024 threads, got ") << budget.threads;
  if (int64_t launch = getLaunchRegisters(budget.threads, budget.ctas);
      budget.registers > launch)
    return emitOpError("expects at most the ")
           << launch << " registers that all threads start with, got "
           << budget.registers;
  if (budget.namedBarriers > 16)
    return emitOpError("expects at most 16 named barriers, got ")
           << budget.namedBarriers;
  moeq::TargetAttr target = getTarget(*this);
  FailureOr<const moeq::Chip *> chip =
      moeq::lookupChip(getLoc(), target ? target.getChip().getValue()
                                        : StringRef(moeq::kDefaultChip));
  if (failed(chip))
    return failure();
  moeq::Chip limited = **chip;
  if (target && target.getSharedMemory())
    limited.sharedMemory = target.getSharedMemory();
  int64_t limit = limited.getSharedMemory(budget.ctas);
  if (budget.sharedMemory > limit)
    return emitOpError("expects at most ")
           << limit << " bytes of shared memory on " << (*chip)->name
           << ", got " << budget.sharedMemory;
  if (!hasProducer && !budget.barrierOffsets.empty())
    return emitOpError("expects a producer that fills the rings, got none");
  auto checkCluster = [&](int64_t cluster) -> LogicalResult {
    if (cluster == 1 || cluster == budget.cluster)
      return success();
    return emitOpError("expects a kernel with clusters of ")
           << cluster << ", got " << budget.cluster;
  };
  for (auto &[op, offset] : budget.offsets)
    if (auto exchange = dyn_cast<ExchangeCreateOp>(op);
        exchange &&
        failed(checkCluster(exchange.getResult().getType().getCluster())))
      return failure();
  // A stage is for all consumers, or where they take turns for one; producers
  // write to each other in a cluster.
  for (auto &[op, offset] : budget.barrierOffsets) {
    auto ring = cast<RingCreateOp>(op);
    RingType type = ring.getResult().getType();
    int64_t consumers = ring.getConsumers(), all = getConsumers();
    bool isOfProducers = type.isMailbox() && type.getCluster() > 1;
    if (consumers != 1 && consumers != all &&
        !(isOfProducers && consumers == 0))
      return emitOpError("expects rings for ")
             << all << " consumers, got " << consumers;
    if (failed(checkCluster(type.getCluster())))
      return failure();
  }
  return success();
}
