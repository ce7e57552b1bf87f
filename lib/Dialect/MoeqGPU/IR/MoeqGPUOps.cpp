//===- MoeqGPUOps.cpp - Ops of the moeq_gpu dialect -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPU.h"

using namespace mlir;
using namespace mlir::moeq_gpu;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

// The accumulator of an mma has the type of its result.
static ParseResult parseAccumulator(
    OpAsmParser &parser, Type &result,
    const std::optional<OpAsmParser::UnresolvedOperand> &accumulator,
    Type &accumulatorType) {
  if (parser.parseType(result))
    return failure();
  if (accumulator)
    accumulatorType = result;
  return success();
}

static void printAccumulator(OpAsmPrinter &printer, Operation *, Type result,
                             Value, Type) {
  printer << result;
}

#define GET_OP_CLASSES
#include "moeq/Dialect/MoeqGPU/IR/MoeqGPUOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Tiles and their order
//===----------------------------------------------------------------------===//

LogicalResult TilesOp::verify() {
  if (static_cast<bool>(getOffsets()) == static_cast<bool>(getRows()))
    return emitOpError("expects either offsets or rows");
  if (getTile()[0] < 1 || getTile()[1] < 1)
    return emitOpError("expects a tile, got ")
           << getTile()[0] << 'x' << getTile()[1];
  Block &body = getBody().front();
  if (body.getNumArguments() != 4 ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isIndex(); }))
    return emitOpError("expects 4 index arguments of the body, got ")
           << body.getArgumentTypes();
  return success();
}

LogicalResult ScheduleOp::verify() {
  ScheduleType type = getResult().getType();
  // Counts come with the rows of each group.
  int sources =
      (getOffsets() ? 1 : 0) + (getPlan() ? 1 : 0) + (getRows() ? 1 : 0);
  if (sources != 1)
    return emitOpError("expects one of offsets, plan and rows, got ")
           << sources;
  if (static_cast<bool>(getPlan()) != type.getIsPlanned())
    return emitOpError("expects a plan for a planned schedule only, got ")
           << type;
  if (static_cast<bool>(getCounts()) != type.getMasked())
    return emitOpError("expects counts for a masked schedule only, got ")
           << type;
  bool isOneGroup = type.getGroupsPerLane() == 0;
  if ((getRows() && !getCounts()) != isOneGroup ||
      static_cast<bool>(getGroups()) == isOneGroup)
    return emitOpError("expects rows where no lane has groups, else their "
                       "number, got ")
           << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor maps and shared memory
//===----------------------------------------------------------------------===//

bool moeq_gpu::isContiguous(MemRefType type) {
  // A leading extent of 1 has no stride that matters.
  auto rest =
      type.getShape().drop_while([](int64_t size) { return size == 1; });
  return type.areTrailingDimsContiguous(rest.size());
}

bool moeq_gpu::isAlignedTo(MemRefType type, int64_t bytes) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return false;
  // In bits, modulo the alignment: nothing overflows.
  int64_t bits = 8 * bytes;
  return offset % bits * type.getElementTypeBitWidth() % bits == 0;
}

LogicalResult EncodeTensorMapOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  Type element = getResult().getType().getElementType();
  if (source.getElementType() != element)
    return emitOpError("expects elements of type ")
           << element << ", got " << source.getElementType();
  if (!isContiguous(source))
    return emitOpError("expects a contiguous memref, got ") << source;
  int64_t columns = source.getShape().back();
  if (ShapedType::isDynamic(columns))
    return success();
  // In bits, modulo 16 bytes: no extent overflows.
  int64_t bits = element.getIntOrFloatBitWidth();
  if (columns % 128 * bits % 128 != 0)
    return emitOpError("expects a row pitch of a multiple of 16 bytes, got ")
           << columns << " columns of " << element;
  return success();
}

LogicalResult SubtileOp::verify() {
  TileType source = getSource().getType(), result = getResult().getType();
  bool arePanels = source.getElementType() == result.getElementType() &&
                   source.getRows() == result.getRows() &&
                   source.getColumns() >= result.getColumns();
  if (arePanels)
    return success();
  if (source.getNumPanels() != 1)
    return emitOpError("expects a source of one panel, got ")
           << source.getNumPanels();
  if (source.getElementType() != result.getElementType() ||
      source.getColumns() != result.getColumns() ||
      source.getRows() < result.getRows())
    return emitOpError("expects rows of ") << source << ", got " << result;
  return success();
}

LogicalResult RingFillOp::verify() {
  RingType ring = getRing().getType();
  ArrayRef<TileType> payload = ring.getMapped();
  ArrayRef<SharedVectorType> vectors = ring.getFilledVectors();
  if (ring.isMailbox())
    return emitOpError("expects a ring of tiles, got ") << ring;
  // Vectors have maps or sources.
  size_t sources = getSources().size(),
         count = payload.size() + (sources ? 0 : vectors.size());
  if (getMaps().size() != count)
    return emitOpError("expects ")
           << count << " tensor maps, got " << getMaps().size();
  if (getCoordinates().size() != 2 * count)
    return emitOpError("expects ")
           << 2 * count << " coordinates, got " << getCoordinates().size();
  int64_t cluster = ring.getCluster();
  size_t bits = cluster == 1 ? 0 : payload.size();
  if (getShared().size() != bits)
    return emitOpError("expects ") << bits << " shared bits for " << ring
                                   << ", got " << getShared().size();
  for (auto [map, vector] :
       llvm::zip(getMaps().drop_front(payload.size()), vectors)) {
    auto box = cast<TensorMapType>(map.getType());
    if (!box.isVector() || box.getElementType() != vector.getElementType() ||
        box.getColumns() != vector.getSize())
      return emitOpError("expects a tensor map that fills ")
             << vector << ", got " << box;
  }
  for (auto [map, tile] :
       llvm::zip_equal(getMaps().take_front(payload.size()), payload)) {
    auto box = cast<TensorMapType>(map.getType());
    // Of a cluster's tile each CTA copies its part in boxes.
    int64_t rows = box.getStep() ? tile.getRows() : tile.getRows() / cluster;
    if (box.getElementType() != tile.getElementType() ||
        rows % box.getRows() != 0 ||
        (cluster != 1 && tile.getColumns() != box.getColumns()))
      return emitOpError("expects a tensor map that fills ")
             << tile << ", got " << box;
    if (box.getStep() && (box.getRows() != tile.getRows() ||
                          tile.getNumPanels() != 1 || !getRows()))
      return emitOpError("expects a tile like the largest box, and rows, for ")
             << box << ", got " << tile;
  }
  if (sources == 0)
    return success();
  if (vectors.empty() || sources % vectors.size() != 0)
    return emitOpError("expects sources of ")
           << vectors.size() << " vectors, got " << sources;
  for (SharedVectorType vector : vectors) {
    int64_t parts = sources / vectors.size();
    if (vector.getBytes() % (16 * parts) != 0)
      return emitOpError("expects parts of whole 16 bytes, got ")
             << parts << " of " << vector;
  }
  return success();
}

// A thread has the index of one of each 128 of `rows`.
template <typename OpTy>
static LogicalResult verifyIndices(OpTy op, int64_t rows) {
  int64_t registers = llvm::divideCeil(rows, kWarpgroupThreads);
  if (static_cast<int64_t>(op.getIndices().size()) == registers)
    return success();
  return op.emitOpError("expects ")
         << registers << " indices a thread, got " << op.getIndices().size();
}

LogicalResult RingGatherOp::verify() {
  RingType ring = getRing().getType();
  if (!ring.getIsGathered())
    return emitOpError("expects a gathered ring, got ") << ring;
  return verifyIndices(*this, ring.getPayload().front().getRows());
}

LogicalResult RingGatherVectorOp::verify() {
  RingType ring = getRing().getType();
  int64_t count = ring.getVectors().size(), number = getNumber();
  if (!ring.getHasGatheredVectors() || number >= count)
    return emitOpError("expects a ring with a gathered vector ")
           << number << ", got " << ring;
  return verifyIndices(*this, ring.getVectors()[number].getSize());
}

LogicalResult RingGatheredOp::verify() {
  RingType ring = getRing().getType();
  if (!ring.hasGathered())
    return emitOpError("expects a ring with a gathered part, got ") << ring;
  return success();
}

// The roles of a kernel in which all threads copy, as `op` does.
static FailureOr<RolesOp> getRolesOfCopy(Operation *op) {
  auto roles = op->getParentOfType<RolesOp>();
  if (!roles || roles.getNumProducers() != 0)
    return op->emitOpError("expects to be in a kernel without a producer");
  return roles;
}

LogicalResult CopyOp::verify() {
  TileType tile = getTile().getType();
  if (tile.getNumPanels() != 1)
    return emitOpError("expects a tile of one panel, got ")
           << tile.getNumPanels();
  FailureOr<RolesOp> roles = getRolesOfCopy(*this);
  if (failed(roles))
    return failure();
  // Eight threads a row.
  int64_t rows = roles->getNumThreads() / 8, rounds = getOffsets().size();
  if (rounds * rows != tile.getRows())
    return emitOpError("expects an offset for each ")
           << rows << " rows of " << tile << ", got " << rounds;
  return success();
}

LogicalResult CopyVectorOp::verify() {
  SharedVectorType vector = getVector().getType();
  int64_t bytes =
      vector.getSize() * vector.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes % 16 != 0)
    return emitOpError("expects a multiple of 16 bytes, got ") << bytes;
  return getRolesOfCopy(*this);
}

LogicalResult RingWaitOp::verify() {
  RingType ring = getRing().getType();
  if (ring.isMailbox())
    return emitOpError("expects a ring of tiles, got ") << ring;
  if (!llvm::equal(getParts().getTypes(), ring.getStageTypes()))
    return emitOpError("expects the payload types as results, got ")
           << getParts().getTypes();
  return success();
}

LogicalResult RingSendOp::verify() {
  if (!getRing().getType().isMailbox())
    return emitOpError("expects a mailbox, got ") << getRing().getType();
  return success();
}

LogicalResult RingReceiveOp::verify() {
  if (!getRing().getType().isMailbox())
    return emitOpError("expects a mailbox, got ") << getRing().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

// Whether tensor cores multiply `a`, a tile or in registers, and `b`, of one
// panel of K, to `result`.
template <typename LeftType>
static LogicalResult verifyProduct(Operation *op, LeftType a, TileType b,
                                   FragmentType result, bool transposeA = false,
                                   bool transposeB = false) {
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  Type elementA = a.getElementType(), elementB = b.getElementType();
  bool isFloat =
      (isFloat8(elementA) && isFloat8(elementB)) ||
      (elementA == elementB && (elementA.isBF16() || elementA.isF16()));
  bool isInteger = elementA.isInteger(8) && elementB.isInteger(8);
  if (!isFloat && !isInteger)
    return op->emitOpError(
               "expects operands of 8-bit floats, bf16, f16 or i8, got ")
           << elementA << " and " << elementB;
  if (isFloat ? !result.getElementType().isF32()
              : !result.getElementType().isInteger(32))
    return op->emitOpError("expects a result of ")
           << (isFloat ? "f32" : "i32") << ", got " << result.getElementType();
  if ((transposeA || transposeB) && elementA.getIntOrFloatBitWidth() != 16)
    return op->emitOpError("expects 16-bit operands to transpose, got ")
           << elementA;
  // The extents of an operand: those of the result, and K.
  auto getExtents = [](auto tile, bool transposed) {
    return transposed ? std::pair(tile.getColumns(), tile.getRows())
                      : std::pair(tile.getRows(), tile.getColumns());
  };
  auto [rows, depth] = getExtents(a, transposeA);
  auto [columns, depthB] = getExtents(b, transposeB);
  if (depth != depthB ||
      depth * elementA.getIntOrFloatBitWidth() / 8 != TileType::kPanelBytes)
    return op->emitOpError(
               "expects operands of one panel and the same columns, got ")
           << a << " and " << b;
  if (rows != result.getRows() || columns != result.getColumns())
    return op->emitOpError("expects a result of ")
           << rows << 'x' << columns << ", got " << result;
  return success();
}

LogicalResult MmaOp::verify() {
  FragmentType result = getResult().getType();
  if (failed(verifyProduct(*this, getA().getType(), getB().getType(), result,
                           getTransposeA(), getTransposeB())))
    return failure();
  int64_t columns = result.getColumns();
  if (columns > 256)
    return emitOpError("expects at most 256 rows of b, got ") << columns;
  if (result.getElementType().isInteger() && columns > 32 && columns % 16 != 0)
    return emitOpError("expects a multiple of 16 rows of b, past 32, for "
                       "integers, got ")
           << columns;
  if (getAccumulator() && getAccumulator().getType() != result)
    return emitOpError("expects an accumulator of ")
           << result << ", got " << getAccumulator().getType();
  return success();
}

// Whether there is the part of a panel that `op` takes, of whole instructions.
template <typename OpTy>
static LogicalResult verifyPart(OpTy op) {
  TileType b = op.getB().getType();
  constexpr uint64_t bytes = 32;
  uint64_t instructions = TileType::kPanelBytes / bytes, parts = op.getParts();
  if (instructions % parts != 0 || op.getPart() >= parts)
    return op.emitOpError("expects one of 1, 2 or 4 parts of ")
           << b << ", got " << op.getPart() << " of " << parts;
  return success();
}

LogicalResult MmaSyncOp::verify() {
  if (failed(verifyPart(*this)))
    return failure();
  return TypeSwitch<Type, LogicalResult>(getA().getType())
      .Case<TileType, OperandType>([&](auto a) {
        return verifyProduct(*this, a, getB().getType(), getResult().getType());
      });
}

LogicalResult MmaRsOp::verify() {
  OperandType a = getA().getType();
  TileType b = getB().getType();
  FragmentType result = getResult().getType();
  if (a.getElementType() != b.getElementType() ||
      !result.getElementType().isF32())
    return emitOpError("expects operands of one type and a result of f32, got ")
           << a << ", " << b << " and " << result;
  if (b.getNumPanels() != 1 || a.getColumns() != b.getColumns())
    return emitOpError("expects operands of one panel and the same columns, "
                       "got ")
           << a << " and " << b;
  if (failed(verifyPart(*this)))
    return failure();
  if (a.getRows() != result.getRows() || b.getRows() != result.getColumns())
    return emitOpError("expects a result of ")
           << a.getRows() << 'x' << b.getRows() << ", got " << result;
  if (b.getRows() > 256)
    return emitOpError("expects at most 256 rows of b, got ") << b.getRows();
  return success();
}

LogicalResult DequantOp::verify() {
  OperandType result = getResult().getType();
  Type format = getFormat();
  bool isInteger = format.isSignlessInteger(8) || format.isSignlessInteger(4) ||
                   format.isUnsignedInteger(4);
  if (!isInteger &&
      !isa<Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType>(format))
    return emitOpError("expects values of i8, i4, ui4, f8E4M3FN, f8E5M2 or "
                       "f4E2M1FN, got ")
           << format;
  constexpr int64_t chunk = 64;
  int64_t elements = result.getRows() * result.getColumns();
  SharedVectorType values = getValues().getType();
  if (result.getColumns() != chunk || !values.getElementType().isInteger(8) ||
      values.getSize() * 8 != elements * format.getIntOrFloatBitWidth())
    return emitOpError("expects chunks for ") << result << ", got " << values;
  auto fits = [&](SharedVectorType of, Type element) {
    return of.getElementType() == element &&
           (of.getSize() == result.getRows() ||
            of.getSize() == 2 * result.getRows());
  };
  if (getScales() && (isInteger || !fits(getScales().getType(),
                                         Float8E8M0FNUType::get(getContext()))))
    return emitOpError("expects one or two f8E8M0FNU scales a row of floats, "
                       "got ")
           << getScales().getType() << " for " << format;
  if (getZeros() && (!isInteger || !fits(getZeros().getType(),
                                         IntegerType::get(getContext(), 8))))
    return emitOpError("expects one or two i8 zeros a row of integers, got ")
           << getZeros().getType() << " for " << format;
  return success();
}

LogicalResult SubvectorOp::verify() {
  SharedVectorType source = getSource().getType(),
                   result = getResult().getType();
  if (source.getElementType() != result.getElementType() ||
      source.getSize() < result.getSize())
    return emitOpError("expects elements of ") << source << ", got " << result;
  return success();
}

LogicalResult SliceOp::verify() {
  FragmentType source = getSource().getType(), result = getResult().getType();
  int64_t row = getRow(), column = getColumn();
  if (source.getElementType() != result.getElementType() || row % 64 != 0 ||
      column % 8 != 0 || row > source.getRows() - result.getRows() ||
      column > source.getColumns() - result.getColumns())
    return emitOpError("expects a part of ")
           << source << ", got " << result << " at " << row << ", " << column;
  return success();
}

LogicalResult StoreStripedOp::verify() {
  StripedType value = getValue().getType();
  SharedVectorType target = getTarget().getType();
  if (value.getElementType() != target.getElementType() ||
      value.getSize() > target.getSize())
    return emitOpError("expects at most the elements of ")
           << target << ", got " << value;
  return success();
}

LogicalResult SpreadOp::verify() {
  SharedVectorType source = getSource().getType();
  FragmentType result = getResult().getType();
  int64_t offset = getOffset();
  if ((result.getRows() != 1 && result.getColumns() != 1) ||
      source.getElementType() != result.getElementType() || offset % 8 != 0 ||
      offset > source.getSize() - result.getRows() * result.getColumns())
    return emitOpError("expects one row or column with elements of ")
           << source << ", got " << result << " at " << offset;
  return success();
}

LogicalResult LoadOp::verify() {
  FragmentType type = getResult().getType();
  if (getIndices() && type.getRows() != 1 && type.getColumns() != 1)
    return emitOpError("expects a vector to gather, got ") << type;
  if (getAligned() && getTransposed())
    return emitOpError("expects aligned pairs of columns in a row-major matrix "
                       "only, got transposed");
  return success();
}

LogicalResult MapOp::verify() {
  FragmentType result = getResult().getType();
  for (Value operand : getFragments()) {
    auto type = cast<FragmentType>(operand.getType());
    if ((type.getRows() != 1 && type.getRows() != result.getRows()) ||
        (type.getColumns() != 1 && type.getColumns() != result.getColumns()))
      return emitOpError("expects operands that broadcast to ")
             << result << ", got " << type;
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  Block &body = getBody().front();
  size_t count = getFragments().size();
  if (body.getNumArguments() != count + 2)
    return emitOpError("expects ")
           << count + 2 << " arguments of the body, got "
           << body.getNumArguments();
  for (auto [operand, argument] :
       llvm::zip(getFragments(), body.getArguments())) {
    Type element = cast<FragmentType>(operand.getType()).getElementType();
    if (argument.getType() != element)
      return emitOpError("expects a body argument of ")
             << element << ", got " << argument.getType();
  }
  for (BlockArgument argument : body.getArguments().take_back(2))
    if (!argument.getType().isIndex())
      return emitOpError("expects row and column of type index, got ")
             << argument.getType();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  Type element = getResult().getType().getElementType();
  if (!yield || !yield.getValue() || yield.getValue().getType() != element)
    return emitOpError("expects a body that yields ") << element;
  return success();
}

LogicalResult StoreOp::verify() {
  FragmentType value = getValue().getType();
  TileType staging = getStaging().getType();
  Type element = value.getElementType();
  if (element.getIntOrFloatBitWidth() < 16)
    return emitOpError("expects elements of 16 or 32 bits, got ") << element;
  if (value.getRows() != 64 || staging.getRows() != value.getRows() ||
      staging.getColumns() != value.getColumns() ||
      staging.getElementType() != element)
    return emitOpError("expects a value of 64 rows and a tile like it, got ")
           << value << " and " << staging;
  if (!getMap())
    return success();
  TensorMapType map = getMap().getType();
  if (map.getRows() != 64 || map.getElementType() != element)
    return emitOpError("expects a tensor map of 64 rows of ")
           << element << ", got " << map;
  return success();
}

LogicalResult StoreTransposedOp::verify() {
  FragmentType value = getValue().getType();
  TileType staging = getStaging().getType();
  Type element = value.getElementType();
  if (element.getIntOrFloatBitWidth() < 16)
    return emitOpError("expects elements of 16 or 32 bits, got ") << element;
  if (value.getRows() != 64 || staging.getColumns() != value.getRows() ||
      staging.getRows() < value.getColumns() ||
      staging.getElementType() != element)
    return emitOpError(
               "expects a value of 64 rows and a tile like its transpose, got ")
           << value << " and " << staging;
  return success();
}
