//===- Mutator.cpp - Mutations of MLIR text ---------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"

#include <algorithm>
#include <cctype>

using namespace moeq_fuzz;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

static Token::Kind kindOf(char c) {
  switch (c) {
  case '%':
    return Token::Value;
  case '^':
    return Token::Block;
  case '@':
    return Token::Symbol;
  case '!':
  case '#':
    return Token::Alias;
  case '"':
    return Token::String;
  default:
    break;
  }
  auto byte = static_cast<unsigned char>(c);
  if (std::isspace(byte))
    return Token::Space;
  if (std::isdigit(byte))
    return Token::Number;
  return std::isalpha(byte) || c == '_' ? Token::Word : Token::Other;
}

std::vector<Token> moeq_fuzz::tokenize(const std::string &text) {
  std::vector<Token> tokens;
  for (size_t begin = 0; begin < text.size();) {
    Token::Kind kind = kindOf(text[begin]);
    size_t end = begin + 1;
    auto extend = [&](auto belongs) {
      while (end < text.size() && belongs(text[end]))
        ++end;
    };
    bool afterExtent = begin > 0 && (kindOf(text[begin - 1]) == Token::Number ||
                                     text[begin - 1] == '?');
    if (kind == Token::Space)
      extend([](char c) { return kindOf(c) == Token::Space; });
    else if (kind == Token::Number)
      extend([](char c) { return kindOf(c) == Token::Number || c == '.'; });
    else if (kind == Token::String) {
      extend([](char c) { return c != '"'; });
      end = std::min(end + 1, text.size());
    } else if (text[begin] == 'x' && afterExtent)
      kind = Token::Other;
    else if (kind != Token::Other)
      extend(isWordChar);
    tokens.push_back({kind, text.substr(begin, end - begin)});
    begin = end;
  }
  return tokens;
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

static const char *const numbers[] = {"0",          "1",
                                      "2",          "3",
                                      "7",          "8",
                                      "16",         "32",
                                      "33",         "64",
                                      "127",        "128",
                                      "129",        "255",
                                      "256",        "65536",
                                      "2147483648", "4294967296",
                                      "-1",         "9223372036854775807",
                                      "?",          "-9223372036854775808"};

static const char *const elements[] = {
    "f32",          "bf16",     "f16",       "f64",           "f8E4M3FN",
    "f8E5M2",       "f4E2M1FN", "f8E8M0FNU", "f8E4M3FNUZ",    "i1",
    "i4",           "ui4",      "i8",        "i32",           "i64",
    "index",        "none",     "f6E3M2FN",  "vector<4xf32>", "complex<f32>",
    "memref<4xf32>"};

template <typename Range>
static size_t choose(const Range &range, std::mt19937_64 &random) {
  return random() % std::size(range);
}

const std::string &Mutator::pick(Random &random) const {
  const std::vector<std::string> &texts = random() % 4 ? valid : invalid;
  return texts[choose(texts, random)];
}

static bool isElement(const std::string &text) {
  return std::find(std::begin(elements), std::end(elements), text) !=
         std::end(elements);
}

void Mutator::changeBytes(std::string &text, Random &random) const {
  if (text.empty())
    return;
  size_t at = choose(text, random);
  switch (random() % 4) {
  case 0:
    text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    break;
  case 1:
    text.insert(at, 1, static_cast<char>(random() % 256));
    break;
  case 2:
    text.erase(at, 1 + random() % 8);
    break;
  default:
    text.insert(at, text.substr(at, 1 + random() % 16));
  }
}

void Mutator::changeTokens(std::string &text, Random &random) const {
  std::vector<Token> tokens = tokenize(text);
  if (tokens.empty())
    return;
  // Mostly a number, an element type or a name: those keep the syntax.
  uint64_t level = random() % 16;
  auto wanted = [&](const Token &token) {
    if (level < 7)
      return token.kind == Token::Number;
    if (level < 10)
      return isElement(token.text);
    if (level < 15)
      return token.kind != Token::Space && token.kind != Token::Other;
    return token.kind != Token::Space;
  };
  size_t at = choose(tokens, random);
  for (int tries = 0; !wanted(tokens[at]) && tries < 64; ++tries)
    at = choose(tokens, random);
  Token token = tokens[at];
  auto replacement = [&]() -> std::string {
    if (token.kind == Token::Number)
      return numbers[choose(numbers, random)];
    if (isElement(token.text))
      return elements[choose(elements, random)];
    // A token of the same kind, mostly of the same text.
    std::vector<Token> others = random() % 4 ? tokens : tokenize(pick(random));
    for (int tries = 0; tries < 32; ++tries) {
      const Token &other = others[choose(others, random)];
      if (other.kind == token.kind && other.text != token.text)
        return other.text;
    }
    return token.text;
  };
  switch (random() % 12) {
  case 0:
    tokens[at].text.clear();
    break;
  case 1:
    tokens.insert(tokens.begin() + at, {tokens[at], {Token::Space, " "}});
    break;
  case 2:
    std::swap(tokens[at].text, tokens[choose(tokens, random)].text);
    break;
  case 3:
  case 4:
  case 5:
    tokens[at].text = replacement();
    break;
  default: {
    // Everywhere: an extent, a type or a name changes and stays consistent.
    std::string to = replacement();
    for (Token &other : tokens)
      if (other.text == token.text && other.kind == token.kind)
        other.text = to;
  }
  }
  text.clear();
  for (const Token &other : tokens)
    text += other.text;
}

static std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    lines.back() += c;
    if (c == '\n')
      lines.emplace_back();
  }
  return lines;
}

void Mutator::changeLines(std::string &text, Random &random) const {
  std::vector<std::string> lines = splitLines(text);
  size_t at = choose(lines, random);
  switch (random() % 5) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at, lines[choose(lines, random)]);
    break;
  case 2:
    std::swap(lines[at], lines[choose(lines, random)]);
    break;
  case 3:
    lines.resize(at);
    break;
  default: {
    std::vector<std::string> other = splitLines(pick(random));
    size_t from = choose(other, random);
    size_t to = std::min(other.size(), from + 1 + random() % 6);
    lines.insert(lines.begin() + at, other.begin() + from, other.begin() + to);
  }
  }
  text.clear();
  for (const std::string &line : lines)
    text += line;
}

std::string Mutator::get(int64_t index) const {
  std::seed_seq sequence{seed, static_cast<uint64_t>(index)};
  Random random(sequence);
  std::string text = pick(random);
  static constexpr uint64_t changes[] = {1, 1, 1, 2, 2, 3, 4};
  uint64_t count = changes[choose(changes, random)];
  for (uint64_t change = 0; change < count; ++change) {
    uint64_t level = random() % 10;
    if (level == 0)
      changeBytes(text, random);
    else if (level <= 7)
      changeTokens(text, random);
    else
      changeLines(text, random);
  }
  return text;
}
