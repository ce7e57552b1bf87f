//===- CudaToolkitTest.cpp - Tests of where the toolkit is found *- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CudaToolkit.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::moeq;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

constexpr StringLiteral kFile = "nvvm/libdevice/moeq-test.bc";

/// A folder that goes away with the test, for toolkits.
class CudaToolkit : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("moeq", folder));
    unsetenv("CUDA_HOME");
    unsetenv("VIRTUAL_ENV");
  }
  void TearDown() override { fs::remove_directories(folder); }

  /// Makes the file in a toolkit at `root` below the folder; returns its path.
  std::string makeFile(StringRef root) {
    SmallString<128> file(folder);
    path::append(file, root, kFile);
    EXPECT_FALSE(fs::create_directories(path::parent_path(file)));
    int descriptor;
    EXPECT_FALSE(fs::openFileForWrite(file, descriptor));
    close(descriptor);
    return file.str().str();
  }

  SmallString<128> folder;
};

TEST_F(CudaToolkit, GivenFolderIsTheOnlyOne) {
  std::string file = makeFile("given");
  EXPECT_EQ(findCudaFile(kFile, (folder + "/given").str()), file);
  setenv("CUDA_HOME", (folder + "/given").str().c_str(), 1);
  EXPECT_EQ(findCudaFile(kFile, (folder + "/other").str()), std::nullopt);
}

TEST_F(CudaToolkit, CudaHomeThenPythonPackages) {
  EXPECT_EQ(findCudaFile(kFile), std::nullopt);
  std::string package =
      makeFile("venv/lib/python3.11/site-packages/nvidia/cu13");
  setenv("VIRTUAL_ENV", (folder + "/venv").str().c_str(), 1);
  EXPECT_EQ(findCudaFile(kFile), package);
  std::string home = makeFile("home");
  setenv("CUDA_HOME", (folder + "/home").str().c_str(), 1);
  EXPECT_EQ(findCudaFile(kFile), home);
}

} // namespace
