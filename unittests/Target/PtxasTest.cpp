//===- PtxasTest.cpp - Tests of what is read from ptxas ---------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/CudaToolkit.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::moeq;

namespace {

constexpr StringLiteral kClean = R"(ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 16 barriers, 80 bytes smem
ptxas info    : Compile time = 91.250 ms
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 16 bytes cumulative stack size
)";

constexpr StringLiteral kSerialized =
    "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async "
    "instructions are serialized due to ... in function 'first'\n";

/// The text of the error of `verifyAssembly`, or nothing.
std::string verify(const Assembly &assembly, int64_t maxSpillStores) {
  MLIRContext context;
  std::string text;
  ScopedDiagnosticHandler handler(&context,
                                  [&](Diagnostic &d) { text += d.str(); });
  LogicalResult result =
      verifyAssembly(UnknownLoc::get(&context), assembly, maxSpillStores);
  EXPECT_EQ(succeeded(result), assembly.notes.empty());
  return text;
}

TEST(Ptxas, Usage) {
  Assembly assembly;
  parsePtxasOutput(kClean, assembly);
  ASSERT_EQ(assembly.kernels.size(), 2u);
  const KernelUsage &first = assembly.kernels[0], &second = assembly.kernels[1];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.registers, 168);
  EXPECT_EQ(first.sharedMemory, 80);
  EXPECT_EQ(first.spillStores, 0);
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.registers, 255);
  EXPECT_EQ(second.sharedMemory, 0);
  EXPECT_EQ(second.stack, 16);
  EXPECT_EQ(second.spillStores, 12);
  EXPECT_EQ(second.spillLoads, 20);
  EXPECT_TRUE(assembly.notes.empty());
}

TEST(Ptxas, SpillsAreWarnedOfUnlessRecorded) {
  Assembly assembly;
  parsePtxasOutput(kClean, assembly);
  EXPECT_EQ(verify(assembly, 0),
            "kernel 'second' expects at most 0 bytes of spill stores, got 12 "
            "(and 20 bytes of spill loads)");
  EXPECT_NE(verify(assembly, 8), "");
  EXPECT_EQ(verify(assembly, 12), "");
}

TEST(Ptxas, SerializedWgmmaIsAnError) {
  Assembly assembly;
  parsePtxasOutput(kSerialized, assembly);
  ASSERT_EQ(assembly.notes.size(), 1u);
  EXPECT_EQ(verify(assembly, 24),
            "ptxas expects to have nothing to say of a kernel, got 1 notes");
}

} // namespace
