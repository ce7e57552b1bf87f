//===- FragmentLayoutTest.cpp - Fragments against the ISA -------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/MoeqGPU/IR/FragmentLayout.h"

#include "gtest/gtest.h"
#include <set>

using namespace mlir::moeq_gpu;

// PTX ISA, "Register fragment layout for wgmma.mma_async.m64nNk...: matrix D":
// row = 16 * warp + groupID + 8 * (i odd pair), groupID = laneid >> 2,
// col = 8 * (i / 4) + 2 * (laneid % 4) + (i & 1).
static int isaRow(int thread, int i) {
  int warp = thread >> 5, lane = thread & 31, group = lane >> 2;
  return 16 * warp + group + ((i & 2) != 0 ? 8 : 0);
}
static int isaColumn(int thread, int i) {
  int inGroup = thread & 3;
  return (i >> 2) * 8 + inGroup * 2 + (i & 1);
}

TEST(FragmentLayout, AccumulatorIsThatOfTheIsa) {
  for (int columns = 8; columns <= 256; columns += 8) {
    FragmentLayout layout = getAccumulatorLayout(64, columns);
    ASSERT_EQ(layout.getNumThreads(), 128);
    ASSERT_EQ(layout.getNumRegisters(), columns / 2);
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < columns / 2; ++i) {
        Position position = layout.getPosition(thread, i);
        ASSERT_EQ(position.row, isaRow(thread, i)) << thread << ' ' << i;
        ASSERT_EQ(position.column, isaColumn(thread, i)) << thread << ' ' << i;
      }
  }
}

TEST(FragmentLayout, EachElementHasOnePlace) {
  for (int rows : {64, 128, 192})
    for (int columns : {8, 24, 256}) {
      FragmentLayout layout = getAccumulatorLayout(rows, columns);
      std::set<std::pair<int64_t, int64_t>> seen;
      for (int64_t thread = 0; thread < layout.getNumThreads(); ++thread)
        for (int64_t i = 0; i < layout.getNumRegisters(); ++i) {
          Position position = layout.getPosition(thread, i);
          EXPECT_TRUE(position.row >= 0 && position.row < rows);
          EXPECT_TRUE(position.column >= 0 && position.column < columns);
          EXPECT_TRUE(seen.insert({position.row, position.column}).second);
        }
      EXPECT_EQ(seen.size(), static_cast<size_t>(rows * columns));
    }
}

// A vector holds, in order, what a whole fragment's registers need of it.
TEST(FragmentLayout, VectorsMatchWholeFragments) {
  FragmentLayout whole = getAccumulatorLayout(128, 64);
  FragmentLayout rowVector = getAccumulatorLayout(128, 1);
  FragmentLayout columnVector = getAccumulatorLayout(1, 64);
  EXPECT_EQ(rowVector.getNumRegisters(), 4);
  EXPECT_EQ(columnVector.getNumRegisters(), 16);
  for (int64_t thread = 0; thread < 128; ++thread) {
    std::set<int64_t> rows, columns;
    for (int64_t i = 0; i < whole.getNumRegisters(); ++i) {
      rows.insert(whole.getPosition(thread, i).row);
      columns.insert(whole.getPosition(thread, i).column);
    }
    std::set<int64_t> vectorRows, vectorColumns;
    for (int64_t i = 0; i < rowVector.getNumRegisters(); ++i) {
      EXPECT_EQ(rowVector.getPosition(thread, i).column, 0);
      vectorRows.insert(rowVector.getPosition(thread, i).row);
    }
    for (int64_t i = 0; i < columnVector.getNumRegisters(); ++i) {
      EXPECT_EQ(columnVector.getPosition(thread, i).row, 0);
      vectorColumns.insert(columnVector.getPosition(thread, i).column);
    }
    EXPECT_EQ(rows, vectorRows);
    EXPECT_EQ(columns, vectorColumns);
  }
}
