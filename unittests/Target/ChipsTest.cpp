//===- ChipsTest.cpp - Tests of the chip table ------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Target/Chips.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::moeq;

namespace {

/// Collects the text of the diagnostics of one call.
struct Errors {
  Errors() : handler(&context, [&](Diagnostic &d) { text += d.str(); }) {}

  MLIRContext context;
  std::string text;
  ScopedDiagnosticHandler handler;
  Location loc = UnknownLoc::get(&context);
};

/// The case of this id in test/Cases/16_target.json.
llvm::json::Object readCase(StringRef id) {
  auto buffer =
      llvm::MemoryBuffer::getFile(MOEQ_SOURCE_DIR "/test/Cases/16_target.json");
  EXPECT_TRUE(bool(buffer));
  auto cases = llvm::json::parse((*buffer)->getBuffer());
  EXPECT_TRUE(bool(cases));
  for (llvm::json::Value &value : *cases->getAsArray())
    if (value.getAsObject()->getString("id") == id)
      return std::move(*value.getAsObject());
  ADD_FAILURE() << "no case " << id.str();
  return {};
}

TEST(Chips, OperandTilesOfTheSharedMemoryCase) {
  llvm::json::Object data = readCase("target-shared-memory");
  const llvm::json::Object &inputs = *data.getObject("inputs");
  const llvm::json::Object &expected = *data.getObject("expected");
  Errors errors;

  for (const auto &[name, limit] : *inputs.getObject("limits")) {
    FailureOr<const Chip *> chip = lookupChip(errors.loc, name);
    ASSERT_TRUE(succeeded(chip)) << errors.text;
    EXPECT_EQ((*chip)->sharedMemory, *limit.getAsInteger()) << name.str();
  }

  const llvm::json::Array &tiles = *inputs.getArray("m_n_k_stages");
  for (size_t i = 0; i < tiles.size(); ++i) {
    const llvm::json::Array &tile = *tiles[i].getAsArray();
    int64_t bytes = getOperandTileBytes(
        *tile[0].getAsInteger(), *tile[1].getAsInteger(),
        *tile[2].getAsInteger(), *tile[3].getAsInteger(), 8, 8);
    EXPECT_EQ(bytes, *(*expected.getArray("bytes"))[i].getAsInteger());
    for (StringRef name : {"sm_89", "sm_90a"})
      EXPECT_EQ(
          bytes <= (*lookupChip(errors.loc, name))->sharedMemory,
          *(*expected.getArray(("fits_" + name).str()))[i].getAsBoolean());
  }
}

TEST(Chips, OperandTilesOfPackedWeights) {
  // 16-bit rows against 4-bit columns.
  EXPECT_EQ(getOperandTileBytes(128, 256, 64, 4, 16, 4), 4 * (16384 + 8192));
}

TEST(Chips, UnknownChipIsAnError) {
  Errors errors;
  EXPECT_TRUE(failed(lookupChip(errors.loc, "sm_999")));
  EXPECT_EQ(errors.text, "expects a chip out of sm_80, sm_89, sm_90a, sm_100a, "
                         "sm_120a, got 'sm_999'");
}

TEST(Chips, PtxVersions) {
  Errors errors;
  for (const Chip &chip : getChips()) {
    EXPECT_EQ(*selectPtxVersion(errors.loc, chip, 0), chip.defaultPtxVersion);
    EXPECT_EQ(*selectPtxVersion(errors.loc, chip, chip.minPtxVersion),
              chip.minPtxVersion);
    EXPECT_EQ(*selectPtxVersion(errors.loc, chip, 90), 90);
    EXPECT_GE(chip.defaultPtxVersion, chip.minPtxVersion);
    // The PTX ISA of griddepcontrol is 7.8, older than all chips that have it.
    EXPECT_EQ(chip.hasDependentLaunch, chip.minPtxVersion > 78);
  }
  EXPECT_EQ(errors.text, "");

  const Chip &hopper = **lookupChip(errors.loc, "sm_90a");
  EXPECT_TRUE(failed(selectPtxVersion(errors.loc, hopper, 78)));
  EXPECT_EQ(errors.text, "sm_90a expects a PTX version of at least 80, got 78");
  errors.text.clear();
  EXPECT_TRUE(failed(selectPtxVersion(errors.loc, hopper, 89)));
  EXPECT_NE(errors.text.find("88, 90, got 89"), std::string::npos);
}

} // namespace
