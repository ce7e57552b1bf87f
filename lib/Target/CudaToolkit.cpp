//===- CudaToolkit.cpp - Files and tools of the CUDA toolkit ----*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CudaToolkit.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::moeq;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The tool or shared library that this code is in.
static std::string getOwnPath() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&getOwnPath), &info) &&
      path::is_absolute(info.dli_fname))
    return info.dli_fname;
  return fs::getMainExecutable(nullptr, nullptr);
}

/// Appends the folders below `base` whose names start with `prefix`, followed
/// by `rest`.
static void appendFolders(SmallVectorImpl<std::string> &folders, StringRef base,
                          StringRef prefix, StringRef rest = {}) {
  std::error_code error;
  SmallVector<std::string> found;
  for (fs::directory_iterator it(base, error), end; !error && it != end;
       it.increment(error))
    if (path::filename(it->path()).starts_with(prefix)) {
      SmallString<128> folder(it->path());
      path::append(folder, rest);
      found.push_back(folder.str().str());
    }
  llvm::sort(found);
  llvm::append_range(folders, found);
}

/// Appends the roots of the CUDA packages of a Python environment.
static void appendPythonPackages(SmallVectorImpl<std::string> &roots,
                                 StringRef environment) {
  SmallString<128> lib(environment);
  path::append(lib, "lib");
  SmallVector<std::string> packages;
  appendFolders(packages, lib, "python3", "site-packages/nvidia");
  for (const std::string &folder : packages)
    appendFolders(roots, folder, "");
}

static SmallVector<std::string> getToolkitRoots() {
  SmallVector<std::string> roots;
  if (auto home = llvm::sys::Process::GetEnv("CUDA_HOME"))
    roots.push_back(*home);
  if (auto ptxas = llvm::sys::findProgramByName("ptxas")) {
    SmallString<128> real;
    if (!fs::real_path(*ptxas, real))
      roots.push_back(path::parent_path(path::parent_path(real)).str());
  }
  if (auto environment = llvm::sys::Process::GetEnv("VIRTUAL_ENV"))
    appendPythonPackages(roots, *environment);
  SmallString<128> environment(
      path::parent_path(path::parent_path(getOwnPath())));
  path::append(environment, "venv");
  appendPythonPackages(roots, environment);
  return roots;
}

std::optional<std::string> mlir::moeq::findCudaFile(StringRef file,
                                                    StringRef toolkit) {
  SmallVector<std::string> roots;
  if (toolkit.empty())
    roots = getToolkitRoots();
  else
    roots.push_back(toolkit.str());
  for (const std::string &root : roots) {
    SmallString<128> candidate(root);
    path::append(candidate, file);
    if (!root.empty() && fs::is_regular_file(candidate))
      return candidate.str().str();
  }
  return std::nullopt;
}

/// The number before `unit` in `line`, such as 80 before "bytes smem".
static int64_t parseNumber(StringRef line, StringRef unit) {
  auto [head, tail] = line.split((" " + unit).str());
  int64_t number = 0;
  if (head.size() == line.size() ||
      head.rsplit(' ').second.getAsInteger(10, number))
    return 0;
  return number;
}

void mlir::moeq::parsePtxasOutput(StringRef output, Assembly &assembly) {
  for (StringRef line : llvm::split(output, '\n')) {
    line = line.rtrim();
    if (line.contains("Compiling entry function '")) {
      assembly.kernels.emplace_back();
      assembly.kernels.back().name =
          line.split("'").second.split("'").first.str();
    } else if (line.contains("Function properties for") ||
               line.contains("bytes gmem") || line.contains("Compile time =") ||
               line.empty()) {
      continue;
    } else if (line.contains("bytes stack frame") &&
               !assembly.kernels.empty()) {
      // Device functions that were not inlined print their frames too.
      KernelUsage &kernel = assembly.kernels.back();
      kernel.stack += parseNumber(line, "bytes stack frame");
      kernel.spillStores += parseNumber(line, "bytes spill stores");
      kernel.spillLoads += parseNumber(line, "bytes spill loads");
    } else if (line.contains(": Used ") && !assembly.kernels.empty()) {
      assembly.kernels.back().registers = parseNumber(line, "registers");
      assembly.kernels.back().sharedMemory = parseNumber(line, "bytes smem");
    } else {
      assembly.notes.push_back(line.str());
    }
  }
}

FailureOr<Assembly> mlir::moeq::assemblePtx(Location loc, StringRef ptx,
                                            StringRef chip, StringRef toolkit) {
  std::optional<std::string> ptxas = findCudaFile("bin/ptxas", toolkit);
  if (!ptxas)
    return emitError(loc) << "a cubin needs ptxas, which was found neither in "
                             "CUDA_HOME nor on PATH nor among the Python "
                             "packages";

  SmallString<128> input, cubin, output;
  if (fs::createTemporaryFile("moeq", "ptx", input) ||
      fs::createTemporaryFile("moeq", "cubin", cubin) ||
      fs::createTemporaryFile("moeq", "txt", output))
    return emitError(loc) << "cannot create a temporary file for ptxas";
  llvm::FileRemover removeInput(input), removeCubin(cubin),
      removeOutput(output);
  std::error_code error;
  llvm::raw_fd_ostream stream(input, error);
  stream << ptx;
  stream.close();
  if (error || stream.has_error()) {
    stream.clear_error();
    return emitError(loc) << "cannot write the input of ptxas";
  }

  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {*ptxas, arch, "-v", "-lineinfo", input, "-o", cubin};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output),
                                          StringRef(output)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*ptxas, arguments, std::nullopt,
                                         redirects, 0, 0, &message);
  auto printed = llvm::MemoryBuffer::getFile(output);
  StringRef text = printed ? (*printed)->getBuffer() : StringRef();
  if (status != 0) {
    InFlightDiagnostic diagnostic =
        emitError(loc) << "ptxas failed with status " << status << message;
    for (StringRef line : llvm::split(text.rtrim(), '\n'))
      diagnostic.attachNote() << line;
    return diagnostic;
  }
  auto binary = llvm::MemoryBuffer::getFile(cubin, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!binary)
    return emitError(loc) << "cannot read the output of ptxas";
  Assembly assembly;
  assembly.cubin = (*binary)->getBuffer().str();
  parsePtxasOutput(text, assembly);
  return assembly;
}

LogicalResult mlir::moeq::verifyAssembly(Location loc, const Assembly &assembly,
                                         int64_t maxSpillStores) {
  for (const KernelUsage &kernel : assembly.kernels)
    if (kernel.spillStores > maxSpillStores ||
        (maxSpillStores == 0 && kernel.spillLoads > 0))
      emitWarning(loc) << "kernel '" << kernel.name << "' expects at most "
                       << maxSpillStores << " bytes of spill stores, got "
                       << kernel.spillStores << " (and " << kernel.spillLoads
                       << " bytes of spill loads)";
  if (assembly.notes.empty())
    return success();
  InFlightDiagnostic diagnostic =
      emitError(loc) << "ptxas expects to have nothing to say of a kernel, got "
                     << assembly.notes.size() << " notes";
  for (const std::string &line : assembly.notes)
    diagnostic.attachNote() << line;
  return diagnostic;
}
