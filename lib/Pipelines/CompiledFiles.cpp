//===- CompiledFiles.cpp - What a compilation writes and prints -*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Pipelines/Compile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::moeq;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Writes a new file.
static std::error_code writeFile(StringRef name, StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream os(name, error);
  if (error)
    return error;
  os << content;
  os.close();
  error = os.error();
  os.clear_error();
  return error;
}

LogicalResult
mlir::moeq::writeFiles(Location loc, StringRef directory,
                       ArrayRef<std::pair<std::string, StringRef>> files) {
  auto fail = [&](std::error_code error) {
    return emitError(loc) << "cannot write " << directory << ": "
                          << error.message();
  };
  SmallString<128> target(directory), staging;
  fs::make_absolute(target);
  path::remove_dots(target, /*remove_dot_dot=*/true);
  if (std::error_code error = fs::create_directories(path::parent_path(target)))
    return fail(error);
  fs::createUniquePath(target + ".%%%%%%%%", staging, /*MakeAbsolute=*/false);
  if (std::error_code error =
          fs::create_directory(staging, /*IgnoreExisting=*/false))
    return fail(error);
  llvm::scope_exit cleanUp([&] { fs::remove_directories(staging); });

  auto in = [](StringRef folder, StringRef name) {
    SmallString<128> file(folder);
    path::append(file, name);
    return file;
  };
  for (const auto &[name, content] : files)
    if (std::error_code error = writeFile(in(staging, name), content))
      return fail(error);
  if (std::error_code error = fs::create_directory(target))
    return fail(error);
  for (const auto &[name, content] : files)
    if (std::error_code error = fs::rename(in(staging, name), in(target, name)))
      return fail(error);
  return success();
}

/// Prints an expression of the manifest as one would write it.
static void printExpr(const llvm::json::Value &expr, raw_ostream &os) {
  const llvm::json::Object *object = expr.getAsObject();
  if (!object) {
    os << expr;
  } else if (auto symbol = object->getString("symbol")) {
    os << *symbol;
  } else if (const llvm::json::Array *arguments = object->getArray("args")) {
    StringRef op = object->getString("op").value_or("");
    bool infix = op.size() == 1;
    os << (infix ? "" : op) << "(";
    llvm::interleave(
        *arguments, os,
        [&](const llvm::json::Value &argument) { printExpr(argument, os); },
        infix ? (" " + op + " ").str() : ", ");
    os << ")";
  } else {
    os << "num_sms";
  }
}

static void printSizes(const llvm::json::Array *sizes, raw_ostream &os) {
  os << "[";
  if (sizes)
    llvm::interleaveComma(*sizes, os, [&](const llvm::json::Value &size) {
      printExpr(size, os);
    });
  os << "]";
}

void mlir::moeq::printKernels(const Compiled &compiled, raw_ostream &os) {
  const llvm::json::Object *manifest = compiled.manifest.getAsObject();
  if (!manifest)
    return;
  for (const auto &[name, entry] : *manifest->getObject("entries"))
    for (const llvm::json::Value &value :
         *entry.getAsObject()->getArray("kernels")) {
      const llvm::json::Object &launch = *value.getAsObject();
      StringRef name = *launch.getString("name");
      os << name << ": grid ";
      printSizes(launch.getArray("grid"), os);
      os << ", block ";
      printSizes(launch.getArray("block"), os);
      const auto *kernel =
          llvm::find_if(compiled.kernels, [&](const CompiledKernel &kernel) {
            return kernel.name == name;
          });
      os << ", shared memory ";
      printExpr(*launch.get("shared_memory"), os);
      if (kernel != compiled.kernels.end() && kernel->usage) {
        const KernelUsage &usage = *kernel->usage;
        os << " + " << usage.sharedMemory << ", registers " << usage.registers
           << ", spill stores " << usage.spillStores;
      }
      os << "\n";
    }
}
