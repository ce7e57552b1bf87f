//===- ScaledType.cpp - The quantized element type --------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::moeq;

#define GET_TYPEDEF_CLASSES
#include "moeq/Dialect/Moeq/IR/MoeqTypes.cpp.inc"

void MoeqDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "moeq/Dialect/Moeq/IR/MoeqTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Assembly: <VALUE, block = [...], scale = T (, zero = T)? (, layout = L)?
//           (, groups = E)? (, packing = P)?>
//===----------------------------------------------------------------------===//

static ParseResult parseBlock(AsmParser &parser, SmallVector<int64_t> &block) {
  auto parseExtent = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalStar())) {
      block.push_back(ShapedType::kDynamic);
      return success();
    }
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(block.emplace_back()))
      return failure();
    // The number that stands for '*' is no extent.
    if (block.back() <= 0)
      return parser.emitError(loc)
             << "expects positive block extents or '*', got " << block.back();
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseExtent))
    return failure();
  // The block is aligned to the last dimensions: leading ones say nothing.
  block.erase(block.begin(),
              llvm::find_if(block, [](int64_t b) { return b != 1; }));
  return success();
}

static ParseResult parseLayout(AsmParser &parser, ScaleLayout &layout) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ScaleLayout> parsed = symbolizeScaleLayout(keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "expects a layout of row_major, mn_major, padded<128x4> or "
              "swizzle_128x4, got '"
           << keyword << "'";
  layout = *parsed;
  if (layout != ScaleLayout::Padded)
    return success();
  SmallVector<int64_t> tile;
  if (parser.parseLess() ||
      parser.parseDimensionList(tile, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseGreater())
    return failure();
  if (tile != ArrayRef<int64_t>{128, 4})
    return parser.emitError(loc) << "expects a padding of 128x4";
  return success();
}

static ParseResult parsePacking(AsmParser &parser, Packing &packing) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Packing> parsed = symbolizePacking(keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "expects a packing of none or fragments, got '" << keyword << "'";
  packing = *parsed;
  return success();
}

Type ScaledType::parse(AsmParser &parser) {
  Type value, scale, zero;
  std::optional<SmallVector<int64_t>> block;
  std::optional<ScaleLayout> layout;
  std::optional<int64_t> groups;
  std::optional<Packing> packing;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(value))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return {};
    if (parser.parseEqual())
      return {};
    auto duplicate = [&](bool seen) {
      if (seen)
        parser.emitError(loc) << "duplicate parameter '" << key << "'";
      return seen;
    };
    if (key == "block") {
      if (duplicate(block.has_value()) || parseBlock(parser, block.emplace()))
        return {};
    } else if (key == "scale") {
      if (duplicate(bool(scale)) || parser.parseType(scale))
        return {};
    } else if (key == "zero") {
      if (duplicate(bool(zero)) || parser.parseType(zero))
        return {};
    } else if (key == "layout") {
      if (duplicate(layout.has_value()) ||
          parseLayout(parser, layout.emplace()))
        return {};
    } else if (key == "groups") {
      if (duplicate(groups.has_value()) ||
          parser.parseInteger(groups.emplace()))
        return {};
      if (*groups <= 0) {
        parser.emitError(loc) << "expects positive groups, got " << *groups;
        return {};
      }
    } else if (key == "packing") {
      if (duplicate(packing.has_value()) ||
          parsePacking(parser, packing.emplace()))
        return {};
    } else {
      parser.emitError(loc)
          << "expects block, scale, zero, layout, groups or packing, got '"
          << key << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  if (!block || !scale) {
    parser.emitError(start)
        << "missing required parameter '" << (block ? "scale" : "block") << "'";
    return {};
  }
  return parser.getChecked<ScaledType>(
      start, parser.getContext(), value, *block, scale, zero,
      layout.value_or(ScaleLayout::RowMajor), groups.value_or(0),
      packing.value_or(Packing::None));
}

static void printBlock(raw_ostream &os, ArrayRef<int64_t> block) {
  os << '[';
  llvm::interleaveComma(block, os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << '*';
    else
      os << extent;
  });
  os << ']';
}

void ScaledType::print(AsmPrinter &printer) const {
  printer << '<' << getValue() << ", block = ";
  printBlock(printer.getStream(), getBlock());
  printer << ", scale = " << getScale();
  if (getZero())
    printer << ", zero = " << getZero();
  if (getLayout() != ScaleLayout::RowMajor)
    printer << ", layout = " << stringifyScaleLayout(getLayout())
            << (getLayout() == ScaleLayout::Padded ? "<128x4>" : "");
  if (getGroups() != 0)
    printer << ", groups = " << getGroups();
  if (isReordered())
    printer << ", packing = " << stringifyPacking(getPacking());
  printer << '>';
}

static std::string stringifyBlock(ArrayRef<int64_t> block) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printBlock(os, block);
  return text;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isFnuz(Type type) {
  return isa<Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3B11FNUZType>(
      type);
}

static bool isValueType(Type type) {
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && ((integer.isSignless() &&
                      (integer.getWidth() == 8 || integer.getWidth() == 4)) ||
                     (integer.isUnsigned() && integer.getWidth() == 4));
}

// Packed weights have scales that a kernel finds beside their rows.
static LogicalResult verifyPacked(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> block, ScaleLayout layout,
                                  int64_t groups) {
  if (layout != ScaleLayout::RowMajor)
    return emitError() << "expects no layout of scales beside a packing, got "
                       << stringifyScaleLayout(layout);
  if (groups != 0)
    return emitError() << "expects no groups of rows beside a packing, got "
                       << groups;
  bool isTensor = llvm::all_of(block, ShapedType::isDynamic);
  bool isVector = block.size() == 1 || (block.size() == 2 && block[0] == 1);
  int64_t columns = block.back();
  if (!isTensor && !(isVector && (ShapedType::isDynamic(columns) ||
                                  llvm::is_contained({32, 64, 128}, columns))))
    return emitError() << "expects packed weights with a scale for each row, "
                          "or 32, 64 or 128 elements of it, got a block of "
                       << stringifyBlock(block);
  return success();
}

LogicalResult ScaledType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type value, ArrayRef<int64_t> block,
                                 Type scale, Type zero, ScaleLayout layout,
                                 int64_t groups, Packing packing) {
  for (Type type : {value, scale})
    if (isFnuz(type))
      return emitError() << "expects types with a signed zero, got " << type
                         << ": FNUZ types are not supported";
  if (!isValueType(value))
    return emitError() << "expects a value type of f8E4M3FN, f8E5M2, f4E2M1FN, "
                          "i8, i4 or ui4, got "
                       << value;
  if (block.empty())
    return emitError() << "expects a block of more than one element";
  for (int64_t extent : block)
    if (extent <= 0 && !ShapedType::isDynamic(extent))
      return emitError() << "expects positive block extents or '*', got "
                         << extent;
  if (block.front() == 1)
    return emitError() << "expects no leading block extent of 1";
  if (!scale.isF32() && !scale.isBF16() && !scale.isF16() &&
      !isa<Float8E8M0FNUType, Float8E4M3FNType>(scale))
    return emitError() << "expects a scale type of f32, bf16, f16, f8E8M0FNU "
                          "or f8E4M3FN, got "
                       << scale;
  if (zero) {
    if (!isa<IntegerType>(value))
      return emitError()
             << "expects zero points only on integer values, got values of "
             << value;
    if (zero != scale && !zero.isSignlessInteger(8))
      return emitError() << "expects a zero type of i8 or the scale type "
                         << scale << ", got " << zero;
    if (isa<Float8E8M0FNUType>(zero))
      return emitError() << "expects a zero type that has a zero, got " << zero;
  }
  if (packing == Packing::Fragments &&
      failed(verifyPacked(emitError, block, layout, groups)))
    return failure();
  if (groups == 0)
    return success();
  // The number of groups is that of experts, whose ids are i32.
  if (groups < 0 || groups > std::numeric_limits<int32_t>::max())
    return emitError() << "expects 1 to 2147483647 groups, got " << groups;
  int64_t rowBlock = block.size() < 2 ? 1 : block[block.size() - 2];
  if (ShapedType::isDynamic(rowBlock) || kPaddedRows % rowBlock != 0)
    return emitError() << "expects blocks whose rows divide " << kPaddedRows
                       << " where there are groups, got "
                       << (ShapedType::isDynamic(rowBlock)
                               ? std::string("*")
                               : std::to_string(rowBlock));
  return success();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

int64_t ScaledType::getBlockOf(int64_t dim, int64_t rank) const {
  int64_t lead = rank - static_cast<int64_t>(getBlock().size());
  return dim < lead ? 1 : getBlock()[dim - lead];
}

int64_t moeq::getPaddedRows(int64_t rows, int64_t groups) {
  int64_t tiles, padded;
  if (ShapedType::isDynamic(rows))
    return rows;
  if (llvm::AddOverflow(rows / kPaddedRows, groups, tiles) ||
      llvm::MulOverflow(tiles, kPaddedRows, padded))
    return std::numeric_limits<int64_t>::max();
  return padded;
}

ScaledType ScaledType::withPacking(Packing packing) const {
  return get(getContext(), getValue(), getBlock(), getScale(), getZero(),
             getLayout(), getGroups(), packing);
}

SmallVector<int64_t> ScaledType::getScaleShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> scales;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t block = getBlockOf(dim, shape.size());
    bool isGrouped = getGroups() != 0 && dim + 2 == shape.size();
    int64_t extent =
        isGrouped ? getPaddedRows(shape[dim], getGroups()) : shape[dim];
    if (ShapedType::isDynamic(block))
      scales.push_back(1);
    else if (ShapedType::isDynamic(extent))
      scales.push_back(ShapedType::kDynamic);
    else
      scales.push_back(extent / block + (extent % block != 0));
  }
  if (getLayout() == ScaleLayout::RowMajor || scales.size() < 2)
    return scales;
  // Laid-out scales of a whole tensor: the last two dimensions are padded, and
  // swapped where the rows are contiguous.
  auto pad = [](int64_t extent, int64_t to) {
    bool fits = extent <= std::numeric_limits<int64_t>::max() - to;
    return ShapedType::isDynamic(extent) || !fits
               ? extent
               : int64_t(llvm::alignTo(extent, to));
  };
  int64_t &rows = scales[scales.size() - 2], &columns = scales.back();
  if (getLayout() == ScaleLayout::MnMajor) {
    rows =
        pad(rows, 16 / llvm::divideCeil(getScale().getIntOrFloatBitWidth(), 8));
    std::swap(rows, columns);
  } else {
    rows = pad(rows, 128);
    columns = pad(columns, 4);
  }
  return scales;
}

SmallVector<int64_t> ScaledType::getValueShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> values(shape);
  if (isPacked() && !values.empty() && !ShapedType::isDynamic(values.back()))
    values.back() = values.back() / 2 + values.back() % 2;
  return values;
}

SmallVector<Type, 3> ScaledType::getComponentElementTypes() const {
  SmallVector<Type, 3> types{
      isPacked() ? IntegerType::get(getContext(), 8) : getValue(), getScale()};
  if (getZero())
    types.push_back(getZero());
  return types;
}

double ScaledType::getMaxValue() const {
  if (isa<Float8E4M3FNType>(getValue()))
    return 448;
  if (isa<Float8E5M2Type>(getValue()))
    return 57344;
  if (isa<Float4E2M1FNType>(getValue()))
    return 6;
  return getValue().isUnsignedInteger() ? 15 : isPacked() ? 7 : 127;
}

bool moeq::isScaledTensor(Type type) {
  ScaledType scaled = getScaledElementType(type);
  if (!scaled)
    return false;
  auto tensor = cast<RankedTensorType>(type);
  return !tensor.getEncoding() &&
         static_cast<int64_t>(scaled.getBlock().size()) <= tensor.getRank() &&
         (scaled.getGroups() == 0 || tensor.getRank() == 2) &&
         !(scaled.isPacked() &&
           ShapedType::isDynamic(tensor.getShape().back()));
}

bool moeq::isRankedTensorOrMemRef(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding();
  return isa<MemRefType>(type);
}

ScaledType moeq::getScaledElementType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<ScaledType>(tensor.getElementType()) : ScaledType();
}

SmallVector<RankedTensorType, 3>
moeq::getComponentTypes(RankedTensorType type) {
  ScaledType scaled = getScaledElementType(type);
  SmallVector<RankedTensorType, 3> types;
  for (auto [index, element] :
       llvm::enumerate(scaled.getComponentElementTypes()))
    types.push_back(RankedTensorType::get(
        index == 0 ? scaled.getValueShape(type.getShape())
                   : scaled.getScaleShape(type.getShape()),
        element));
  return types;
}
