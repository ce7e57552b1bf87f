//===- ConfigFile.cpp - Configs of matmuls from a file ----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Pipelines/Compile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::moeq;

LogicalResult mlir::moeq::applyConfigs(ModuleOp module, StringRef file) {
  MLIRContext *context = module.getContext();
  Location loc = FileLineColLoc::get(context, file, 1, 1);
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return emitError(loc) << "cannot read the configs: "
                          << buffer.getError().message();
  auto configs = dyn_cast_or_null<DictionaryAttr>(
      parseAttribute((*buffer)->getBuffer(), context));
  if (!configs)
    return emitError(loc) << "expects a dictionary of configs";

  llvm::StringMap<Operation *> matmuls;
  for (auto function : module.getOps<func::FuncOp>()) {
    int64_t n = 0;
    function.walk([&](Operation *op) {
      if (isa<MatmulOp, GroupedMatmulOp>(op))
        matmuls[(function.getName() + "." + Twine(n++)).str()] = op;
    });
  }
  for (NamedAttribute entry : configs) {
    auto config = dyn_cast<ConfigAttr>(entry.getValue());
    if (!config)
      return emitError(loc) << "expects a #moeq.config for " << entry.getName()
                            << ", got " << entry.getValue();
    Operation *op = matmuls.lookup(entry.getName());
    if (!op)
      return emitError(loc) << "expects the name of a matmul, such as "
                               "\"function.0\", got "
                            << entry.getName();
    llvm::TypeSwitch<Operation *>(op).Case<MatmulOp, GroupedMatmulOp>(
        [&](auto matmul) { matmul.setConfigAttr(config); });
  }
  return success();
}
