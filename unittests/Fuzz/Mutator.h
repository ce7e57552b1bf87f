//===- Mutator.h - Mutations of MLIR text -----------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MOEQ_UNITTESTS_FUZZ_MUTATOR_H
#define MOEQ_UNITTESTS_FUZZ_MUTATOR_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace moeq_fuzz {

/// A piece of text that the mutations know.
struct Token {
  enum Kind { Space, Number, Word, Value, Block, Symbol, Alias, String, Other };
  Kind kind;
  std::string text;
};

/// Splits MLIR text into tokens whose concatenation is the text. A shape such
/// as `4x?xf32` is a token an extent and an element.
std::vector<Token> tokenize(const std::string &text);

/// Makes mutants of MLIR texts, three in four of valid ones. Mutant `index`
/// depends on the texts, the seed and the index only.
class Mutator {
public:
  Mutator(std::vector<std::string> valid, std::vector<std::string> invalid,
          uint64_t seed)
      : valid(std::move(valid)), invalid(std::move(invalid)), seed(seed) {}

  /// The mutant: one to four changes of bytes, tokens or lines.
  std::string get(int64_t index) const;

private:
  using Random = std::mt19937_64;

  void changeBytes(std::string &text, Random &random) const;
  void changeTokens(std::string &text, Random &random) const;
  void changeLines(std::string &text, Random &random) const;
  const std::string &pick(Random &random) const;

  std::vector<std::string> valid, invalid;
  uint64_t seed;
};

} // namespace moeq_fuzz

#endif // MOEQ_UNITTESTS_FUZZ_MUTATOR_H
