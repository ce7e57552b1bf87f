//===- TilingTest.cpp - Tests of fusion into producers' loops ---*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's transform dialect fuses producers only; consumers fuse by its C++.
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/RegisterAll.h"

#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::moeq;

namespace {

/// A function whose last op consumes what another op produces.
struct Program {
  explicit Program(StringRef text) : context(getRegistry()) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module));
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name)
        found = op;
    });
    return found;
  }

  /// Tiles `producer` by `sizes` and fuses `consumer` into the loops. Whether
  /// that was done.
  bool fuse(StringRef producer, StringRef consumer, ArrayRef<int64_t> sizes) {
    IRRewriter rewriter(&context);
    Operation *op = find(producer);
    rewriter.setInsertionPoint(op);
    scf::SCFTilingOptions options;
    options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    options.setTileSizes(getAsIndexOpFoldResult(&context, sizes));
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op), options);
    EXPECT_TRUE(succeeded(tiled));
    rewriter.replaceOp(op, tiled->replacements);
    bool fused = succeeded(
        scf::tileAndFuseConsumer(rewriter, find(consumer), tiled->loops));
    EXPECT_TRUE(succeeded(verify(*module)));
    return fused;
  }

  /// Whether an op of this name stands in a loop.
  bool isInLoop(StringRef name) {
    bool inLoop = false;
    module->walk([&](Operation *op) {
      inLoop |= op->getName().getStringRef() == name &&
                bool(op->getParentOfType<scf::ForallOp>());
    });
    return inLoop;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr StringLiteral kMatmulActQuant = R"mlir(
!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @f(%a: tensor<?x64xbf16>, %w: tensor<256x64xbf16>,
             %y: tensor<?x256xbf16>, %q: tensor<?x128x!a>) -> tensor<?x128x!a> {
  %0 = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<256x64xbf16>)
      outs(%y : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %1 = moeq.act_quant input(%0 : tensor<?x256xbf16>) outs(%q : tensor<?x128x!a>)
      function(swiglu) recipe(<vllm_token>) -> tensor<?x128x!a>
  return %1 : tensor<?x128x!a>
}
)mlir";

TEST(FuseConsumer, GatedActivationTakesWholeRows) {
  Program program(kMatmulActQuant);
  EXPECT_TRUE(program.fuse("moeq.matmul", "moeq.act_quant", {32}));
  EXPECT_TRUE(program.isInLoop("moeq.act_quant"));
}

TEST(FuseConsumer, GatedActivationLeavesColumns) {
  Program program(kMatmulActQuant);
  EXPECT_FALSE(program.fuse("moeq.matmul", "moeq.act_quant", {32, 128}));
}

TEST(FuseConsumer, PlainActivationTakesTiles) {
  Program program(R"mlir(
func.func @f(%a: tensor<?x64xbf16>, %w: tensor<256x64xbf16>,
             %y: tensor<?x256xbf16>, %z: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<256x64xbf16>)
      outs(%y : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %1 = moeq.activate input(%0 : tensor<?x256xbf16>) outs(%z : tensor<?x256xbf16>)
      function(silu) -> tensor<?x256xbf16>
  return %1 : tensor<?x256xbf16>
}
)mlir");
  EXPECT_TRUE(program.fuse("moeq.matmul", "moeq.activate", {32, 64}));
  EXPECT_TRUE(program.isInLoop("moeq.activate"));
}

TEST(FuseConsumer, QuantizeThenMatmul) {
  Program program(R"mlir(
!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @f(%x: tensor<?x64xbf16>, %q: tensor<?x64x!a>, %w: tensor<256x64x!a>,
             %y: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = moeq.quantize input(%x : tensor<?x64xbf16>) outs(%q : tensor<?x64x!a>)
      recipe(<vllm_token>) -> tensor<?x64x!a>
  %1 = moeq.matmul lhs(%0 : tensor<?x64x!a>) rhs(%w : tensor<256x64x!a>)
      outs(%y : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %1 : tensor<?x256xbf16>
}
)mlir");
  EXPECT_TRUE(program.fuse("moeq.quantize", "moeq.matmul", {16}));
  EXPECT_TRUE(program.isInLoop("moeq.matmul"));
}

TEST(FuseConsumer, QuantizeThenDequantize) {
  Program program(R"mlir(
!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @f(%x: tensor<?x64xbf16>, %q: tensor<?x64x!a>,
             %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = moeq.quantize input(%x : tensor<?x64xbf16>) outs(%q : tensor<?x64x!a>)
      recipe(<deepgemm>) -> tensor<?x64x!a>
  %1 = moeq.dequantize input(%0 : tensor<?x64x!a>) outs(%y : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
)mlir");
  EXPECT_TRUE(program.fuse("moeq.quantize", "moeq.dequantize", {16, 32}));
  EXPECT_TRUE(program.isInLoop("moeq.dequantize"));
}

TEST(FuseConsumer, GatheredRowsComeFromAnywhere) {
  Program program(R"mlir(
!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @f(%x: tensor<?x64xbf16>, %y: tensor<?x64xbf16>, %rows: tensor<?xi32>,
             %q: tensor<?x64x!a>) -> tensor<?x64x!a> {
  %0 = moeq.activate input(%x : tensor<?x64xbf16>) outs(%y : tensor<?x64xbf16>)
      function(silu) -> tensor<?x64xbf16>
  %1 = moeq.quantize input(%0 : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%q : tensor<?x64x!a>) recipe(<vllm_token>) -> tensor<?x64x!a>
  return %1 : tensor<?x64x!a>
}
)mlir");
  EXPECT_FALSE(program.fuse("moeq.activate", "moeq.quantize", {16}));
}

} // namespace
