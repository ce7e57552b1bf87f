//===- MoeqGPUTypes.cpp - Types of the moeq_gpu dialect ---------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parsePair(AsmParser &parser, int64_t &rows,
                             int64_t &columns) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc) << "expects 2 extents, got " << shape.size();
  rows = shape[0];
  columns = shape[1];
  return success();
}

static void printPair(AsmPrinter &printer, int64_t rows, int64_t columns) {
  printer << rows << 'x' << columns;
}

static ParseResult parseShape(AsmParser &parser, int64_t &rows,
                              int64_t &columns, Type &elementType) {
  SmallVector<int64_t> shape;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(type))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc) << "expects 2 extents, got " << shape.size();
  rows = shape[0];
  columns = shape[1];
  elementType = type;
  return success();
}

static void printShape(AsmPrinter &printer, int64_t rows, int64_t columns,
                       Type elementType) {
  printer << rows << 'x' << columns << 'x' << elementType;
}

// `raster = R` or (`planned`) `step = S`; the other one is 0.
static ParseResult parseOrder(AsmParser &parser, int64_t &raster, int64_t &step,
                              bool &isPlanned) {
  raster = step = 0;
  isPlanned = false;
  if (succeeded(parser.parseOptionalKeyword("raster")))
    return failure(parser.parseEqual() || parser.parseInteger(raster));
  isPlanned = succeeded(parser.parseOptionalKeyword("planned"));
  return failure(parser.parseKeyword("step") || parser.parseEqual() ||
                 parser.parseInteger(step));
}

static void printOrder(AsmPrinter &printer, int64_t raster, int64_t step,
                       bool isPlanned) {
  if (raster)
    printer << "raster = " << raster;
  else
    printer << (isPlanned ? "planned step = " : "step = ") << step;
}

static ParseResult parseSize(AsmParser &parser, int64_t &size,
                             Type &elementType) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return failure();
  if (shape.size() != 1)
    return parser.emitError(loc) << "expects 1 extent, got " << shape.size();
  size = shape[0];
  return success();
}

static void printSize(AsmPrinter &printer, int64_t size, Type elementType) {
  printer << size << 'x' << elementType;
}

#define GET_TYPEDEF_CLASSES
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUTypes.cpp.inc"

void MoeqGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUTypes.cpp.inc"
      >();
}

// What a stage of a mailbox holds.
static Type getMailType(MLIRContext *context) {
  return VectorType::get({4}, IntegerType::get(context, 32));
}

// Syntax: `<` stages `x` `[` part (`,` part)* `]` `>`, where a part is a tile
// or a vector, rows `x` columns `x` type or size `x` type, vectors follow
// tiles, and the first of each may be `gathered`; or
// `<` stages `x` `[` `vector<4xi32>` `]` `>`; before the `>` also `,` `cluster`
// `=` size.
Type RingType::parse(AsmParser &parser) {
  SmallVector<int64_t> stages;
  SmallVector<TileType> payload;
  SmallVector<SharedVectorType> vectors;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(stages, /*allowDynamic=*/false))
    return {};
  if (stages.size() != 1) {
    parser.emitError(loc) << "expects the number of stages, got "
                          << stages.size() << " extents";
    return {};
  }
  MLIRContext *context = parser.getContext();
  bool isGathered = false, hasGatheredVectors = false;
  auto parsePart = [&]() -> ParseResult {
    SmallVector<int64_t> shape;
    Type element;
    SMLoc at = parser.getCurrentLocation();
    bool gathers = succeeded(parser.parseOptionalKeyword("gathered"));
    if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
        parser.parseType(element))
      return failure();
    bool isVector = shape.size() == 1;
    if (gathers && !(isVector ? vectors.empty() : payload.empty()))
      return parser.emitError(at)
             << "expects only the first tile or vector gathered, got another";
    (isVector ? hasGatheredVectors : isGathered) |= gathers;
    if (shape.size() == 2 && vectors.empty()) {
      auto tile =
          parser.getChecked<TileType>(at, context, shape[0], shape[1], element);
      if (tile)
        payload.push_back(tile);
      return success(static_cast<bool>(tile));
    }
    if (isVector) {
      auto vector =
          parser.getChecked<SharedVectorType>(at, context, shape[0], element);
      if (vector)
        vectors.push_back(vector);
      return success(static_cast<bool>(vector));
    }
    return parser.emitError(at)
           << "expects tiles of 2 extents, then vectors of 1, got "
           << shape.size() << " extents";
  };
  auto parsePayload = [&]() -> ParseResult {
    Type word;
    OptionalParseResult isWord = parser.parseOptionalType(word);
    if (!isWord.has_value())
      return parser.parseCommaSeparatedList(parsePart);
    if (failed(*isWord))
      return failure();
    if (word != getMailType(word.getContext()))
      return parser.emitError(loc)
             << "expects a mailbox of vector<4xi32>, got " << word;
    return success();
  };
  int64_t cluster = 1;
  if (parser.parseLSquare() || parsePayload() || parser.parseRSquare() ||
      (succeeded(parser.parseOptionalComma()) &&
       (parser.parseKeyword("cluster") || parser.parseEqual() ||
        parser.parseInteger(cluster))) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<RingType>(loc, context, stages[0], payload, vectors,
                                     isGathered, hasGatheredVectors, cluster);
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<' << getStages() << "x[";
  if (isMailbox())
    printer << getMailType(getContext());
  if (getIsGathered())
    printer << "gathered ";
  llvm::interleaveComma(getPayload(), printer, [&](TileType tile) {
    printShape(printer, tile.getRows(), tile.getColumns(),
               tile.getElementType());
  });
  for (auto [i, vector] : llvm::enumerate(getVectors())) {
    printer << (i == 0 && getHasGatheredVectors() ? ", gathered " : ", ");
    printSize(printer, vector.getSize(), vector.getElementType());
  }
  printer << ']';
  if (getCluster() != 1)
    printer << ", cluster = " << getCluster();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Invariants
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult verifyElement(EmitError emitError, Type type) {
  if (!type.isIntOrFloat() ||
      !llvm::is_contained({8, 16, 32}, type.getIntOrFloatBitWidth()))
    return emitError() << "expects an element type of 8, 16 or 32 bits, got "
                       << type;
  return success();
}

// Whether `extent` is a positive multiple of `multiple`.
static bool isMultiple(int64_t extent, int64_t multiple) {
  return extent > 0 && extent % multiple == 0;
}

/// Elements in 256 registers of each of 128 threads.
static constexpr int64_t kMaxElements = 256 * 128;
/// Elements that threads hold a vector of, and of a dimension of a box.
static constexpr int64_t kMaxVector = 256;
/// The CTAs of a cluster, on every chip that has them.
static constexpr int64_t kMaxCluster = 8;
/// Bytes that copies move a multiple of, and the alignment of what they fill.
static constexpr int64_t kCopyBytes = 16, kCopyAlignment = 128;

LogicalResult FragmentType::verify(EmitError emitError, int64_t rows,
                                   int64_t columns, Type elementType) {
  if (failed(verifyElement(emitError, elementType)))
    return failure();
  if (rows != 1 && !isMultiple(rows, 64))
    return emitError() << "expects one row or a multiple of 64, got " << rows;
  if (columns != 1 && !isMultiple(columns, 8))
    return emitError() << "expects one column or a multiple of 8, got "
                       << columns;
  if (rows > kMaxElements || columns > kMaxElements / rows)
    return emitError() << "expects at most " << kMaxElements
                       << " elements, which a warpgroup's registers hold, got "
                       << rows << " x " << columns;
  return success();
}

LogicalResult TileType::verify(EmitError emitError, int64_t rows,
                               int64_t columns, Type elementType) {
  if (failed(verifyElement(emitError, elementType)))
    return failure();
  if (!isMultiple(rows, 8))
    return emitError() << "expects a multiple of 8 rows, got " << rows;
  // An element has 8 bits or a multiple of them.
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  if (!isMultiple(columns, kPanelBytes / bytes))
    return emitError() << "expects a row of a multiple of 128 bytes, got "
                       << columns << " elements of " << elementType;
  return success();
}

LogicalResult TensorMapType::verify(EmitError emitError, int64_t rows,
                                    int64_t columns, Type elementType,
                                    int64_t step) {
  if (failed(verifyElement(emitError, elementType)))
    return failure();
  if (rows < 1 || rows > 256)
    return emitError() << "expects a box of 1 to 256 rows, got " << rows;
  // Extents are limited before they are multiplied.
  int64_t bytes = std::min<int64_t>(columns, kMaxElements) *
                  elementType.getIntOrFloatBitWidth() / 8;
  if (rows == 1) {
    if (columns > kMaxVector || !isMultiple(bytes, kCopyBytes))
      return emitError() << "expects a box row of a multiple of " << kCopyBytes
                         << " bytes and at most " << kMaxVector
                         << " elements, got " << columns << " of "
                         << elementType;
  } else if (bytes != TileType::kPanelBytes) {
    return emitError() << "expects a box row of 128 bytes, got " << bytes;
  }
  if (step != 0 && (step < 8 || step % 8 != 0 || rows % step != 0))
    return emitError() << "expects a step that is a multiple of 8 and divides "
                       << rows << " rows, got " << step;
  return success();
}

LogicalResult OperandType::verify(EmitError emitError, int64_t rows,
                                  int64_t columns, Type elementType) {
  if (!elementType.isBF16() && !elementType.isF16())
    return emitError() << "expects an element type of bf16 or f16, got "
                       << elementType;
  if (!isMultiple(rows, 64) || !isMultiple(columns, 16) ||
      rows > kMaxElements || columns > kMaxElements / rows)
    return emitError() << "expects a multiple of 64 rows and one of 16 columns "
                          "that registers hold, got "
                       << rows << " x " << columns;
  return success();
}

static LogicalResult verifyVector(EmitError emitError, int64_t size,
                                  Type elementType, int64_t most) {
  if (failed(verifyElement(emitError, elementType)))
    return failure();
  if (size < 1 || size > most)
    return emitError() << "expects 1 to " << most << " elements, got " << size;
  return success();
}

LogicalResult StripedType::verify(EmitError emitError, int64_t size,
                                  Type elementType) {
  return verifyVector(emitError, size, elementType, kMaxVector);
}

LogicalResult SharedVectorType::verify(EmitError emitError, int64_t size,
                                       Type elementType) {
  return verifyVector(emitError, size, elementType, /*most=*/1 << 18);
}

LogicalResult RingType::verify(EmitError emitError, int64_t stages,
                               ArrayRef<TileType> payload,
                               ArrayRef<SharedVectorType> vectors,
                               bool isGathered, bool hasGatheredVectors,
                               int64_t cluster) {
  if (stages < 2 || stages > kMaxStages)
    return emitError() << "expects 2 to " << kMaxStages << " stages, got "
                       << stages;
  if (payload.empty() && !vectors.empty())
    return emitError() << "expects tiles before vectors, got none";
  // Producers may tell more of them than share copies.
  int64_t most = payload.empty() ? kMaxCluster : 2;
  if (cluster < 1 || cluster > most || !llvm::isPowerOf2_64(cluster))
    return emitError() << "expects a cluster of a power of two of CTAs up to "
                       << most << ", got " << cluster;
  return success();
}

LogicalResult ExchangeType::verify(EmitError emitError, int64_t parts,
                                   int64_t size, Type elementType,
                                   int64_t cluster) {
  if (!elementType.isF32() && !elementType.isInteger(32))
    return emitError() << "expects an element type of f32 or i32, got "
                       << elementType;
  constexpr int64_t unit = 4 * kWarpgroupThreads;
  if (!isMultiple(size, unit) || size > kMaxElements)
    return emitError() << "expects parts of a multiple of " << unit
                       << " elements up to " << kMaxElements << ", got "
                       << size;
  if (parts < 1 || parts > kMaxElements / size)
    return emitError() << "expects 1 to " << kMaxElements / size
                       << " parts, got " << parts;
  if (cluster < 2 || cluster > kMaxCluster || !llvm::isPowerOf2_64(cluster))
    return emitError() << "expects a cluster of 2, 4 or 8 CTAs, got "
                       << cluster;
  return success();
}

LogicalResult ScheduleType::verify(EmitError emitError, int64_t rows,
                                   int64_t columns, int64_t raster,
                                   int64_t step, bool isPlanned,
                                   int64_t groupsPerLane, bool masked) {
  if (rows < 1 || columns < 1)
    return emitError() << "expects a tile, got " << rows << 'x' << columns;
  if (raster < 0 || step < 0 || (raster == 0) == (step == 0))
    return emitError() << "expects a raster or a step of at least 1, got "
                       << raster << " and " << step;
  if (step != 0 && rows % step != 0)
    return emitError() << "expects rows that are a multiple of the step, got "
                       << rows << " and " << step;
  if (groupsPerLane < 0 || groupsPerLane > kWarpThreads)
    return emitError() << "expects 0 to 32 groups a lane, got "
                       << groupsPerLane;
  return success();
}

int64_t RingType::getStageBytes() const {
  if (isMailbox())
    return 4 * sizeof(int32_t);
  int64_t bytes = 0;
  for (TileType tile : getPayload())
    bytes += tile.getBytes();
  return bytes;
}

int64_t RingType::getPaddedBytes(SharedVectorType vector) {
  return llvm::alignTo(vector.getBytes(), kCopyAlignment);
}

int64_t RingType::getVectorBytes() const {
  int64_t bytes = 0;
  for (SharedVectorType vector : getVectors())
    bytes += getPaddedBytes(vector);
  return bytes;
}

SmallVector<Type> RingType::getStageTypes() const {
  SmallVector<Type> types(getPayload().begin(), getPayload().end());
  types.append(getVectors().begin(), getVectors().end());
  return types;
}
