//===- Npy.cpp - NumPy's array files ----------------------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Runtime/Npy.h"

#include "moeq/Support/NumericsCasts.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace mlir;
using namespace mlir::moeq;

static constexpr StringRef magic("\x93NUMPY", 6);

/// NumPy's names of the type of `spec`, the one that is written first.
static SmallVector<StringRef> getDescriptors(const ArraySpec &spec) {
  Type type = spec.element;
  if (isSmallFloat(type))
    return {"|u1", "|V1"};
  if (type.isBF16())
    return {"<u2", "<V2", "|V2"};
  if (type.isF16())
    return {"<f2"};
  if (type.isF32())
    return {"<f4"};
  if (type.isF64())
    return {"<f8"};
  if (type.isInteger(1))
    return {"|b1"};
  if (type.isInteger(8)) {
    if (spec.isPacked)
      return {"|u1", "|i1"};
    return {"|i1", "|u1"};
  }
  if (type.isInteger(16))
    return {"<i2"};
  if (type.isInteger(32))
    return {"<i4"};
  if (type.isInteger(64) || type.isIndex())
    return {"<i8"};
  return {};
}

namespace {
/// Reads the header, a Python dictionary of three known keys.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  StringRef descriptor;
  bool columnMajor = false;
  SmallVector<int64_t> shape;

  bool parse() {
    bool seen[3] = {};
    if (!consume("{"))
      return false;
    while (!consume("}")) {
      StringRef key;
      if (!parseString(key) || !consume(":"))
        return false;
      bool ok;
      int index = key == "descr"           ? 0
                  : key == "fortran_order" ? 1
                  : key == "shape"         ? 2
                                           : -1;
      if (index < 0 || std::exchange(seen[index], true))
        return false;
      ok = index == 0   ? parseString(descriptor)
           : index == 1 ? parseBool()
                        : parseShape();
      if (!ok || (!consume(",") && !text.ltrim().starts_with("}")))
        return false;
    }
    return seen[0] && seen[1] && seen[2] && text.trim().empty();
  }

private:
  bool consume(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  bool parseString(StringRef &string) {
    if (!consume("'"))
      return false;
    size_t end = text.find('\'');
    if (end == StringRef::npos)
      return false;
    string = text.take_front(end);
    text = text.drop_front(end + 1);
    return true;
  }
  bool parseBool() {
    if (consume("True"))
      return columnMajor = true;
    return consume("False");
  }
  bool parseShape() {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      int64_t extent;
      text = text.ltrim();
      if (text.consumeInteger(10, extent) || extent < 0)
        return false;
      shape.push_back(extent);
      if (!consume(",") && !text.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef text;
};
} // namespace

llvm::Expected<Array> moeq::readNpy(StringRef path, const ArraySpec &spec) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(path + ": " + message);
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  // The magic, two bytes of version, and the header's length of two or four.
  if (bytes.size() < 10 || !bytes.starts_with(magic))
    return fail("expects a .npy file");
  unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3 || bytes[7] != 0 ||
      (version > 1 && bytes.size() < 12))
    return fail("expects version 1.0 to 3.0 of .npy");
  size_t start = version == 1 ? 10 : 12;
  size_t length = version == 1
                      ? llvm::support::endian::read16le(bytes.data() + 8)
                      : llvm::support::endian::read32le(bytes.data() + 8);
  HeaderParser header(bytes.substr(start, length));
  if (bytes.size() < start + length || !header.parse())
    return fail("malformed header");

  SmallVector<StringRef> descriptors = getDescriptors(spec);
  if (!llvm::is_contained(descriptors, header.descriptor)) {
    std::string type;
    llvm::raw_string_ostream(type) << spec.element;
    return fail("expects elements '" + llvm::join(descriptors, "' or '") +
                "' for " + type + " of '" + spec.name + "', got '" +
                header.descriptor + "'");
  }
  if (header.columnMajor && header.shape.size() > 1)
    return fail("expects row-major data");
  Array array{spec.element, header.shape, {}};
  int64_t size = getElementBytes(spec.element);
  for (int64_t extent : header.shape)
    if (llvm::MulOverflow(size, extent, size))
      return fail("expects a smaller shape");
  StringRef data = bytes.drop_front(start + length);
  if (static_cast<int64_t>(data.size()) != size)
    return fail("expects " + Twine(size) + " bytes of data, got " +
                Twine(data.size()));
  array.data = std::make_unique<char[]>(size);
  std::memcpy(array.data.get(), data.data(), size);
  return std::move(array);
}

llvm::Error moeq::writeNpy(StringRef path, const ArraySpec &spec,
                           const ArrayView &array) {
  SmallVector<StringRef> descriptors = getDescriptors(spec);
  if (descriptors.empty())
    return llvm::createStringError(
        path + ": no NumPy type for the elements of '" + spec.name + "'");
  std::string header;
  llvm::raw_string_ostream text(header);
  text << "{'descr': '" << descriptors.front()
       << "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : array.shape)
    text << extent << ',';
  text << "), }";
  // The data starts at a multiple of 64.
  header.append(
      llvm::offsetToAlignment(10 + header.size() + 1, llvm::Align(64)), ' ');
  header += '\n';

  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return llvm::createStringError(path + ": " + error.message());
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  file << magic << '\1' << '\0' << StringRef(length, 2) << header;
  int64_t size = getElementBytes(spec.element);
  for (int64_t extent : array.shape)
    size *= extent;
  file.write(static_cast<const char *>(array.data), size);
  file.close();
  if (file.has_error()) {
    std::string message = file.error().message();
    file.clear_error();
    return llvm::createStringError(path + ": " + message);
  }
  return llvm::Error::success();
}
