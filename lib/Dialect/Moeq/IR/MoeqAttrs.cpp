//===- MoeqAttrs.cpp - Attributes of the moeq dialect -----------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::moeq;

#define GET_ATTRDEF_CLASSES
#include "moeq/Dialect/Moeq/IR/MoeqAttrs.cpp.inc"

void MoeqDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "moeq/Dialect/Moeq/IR/MoeqAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

namespace {
/// The parameters of a recipe, with their defaults.
struct RecipeFields {
  float amaxFloor = 0.0f;
  ScaleFormula scale = ScaleFormula::AmaxDivMax;
  ScaleRound scaleRound = ScaleRound::None;
  ScaleApply apply = ScaleApply::Divide;
  ZeroBlock zeroBlock = ZeroBlock::One;
  ScaleCompute compute = ScaleCompute::F32;
  std::optional<int64_t> lo, hi;
  ZeroPointRule zeroPoint = ZeroPointRule::None;
  Nonfinite nonfinite = Nonfinite::Propagate;

  RecipeFields() = default;
  explicit RecipeFields(RecipeAttr recipe)
      : amaxFloor(recipe.getAmaxFloor().convertToFloat()),
        scale(recipe.getScale()), scaleRound(recipe.getScaleRound()),
        apply(recipe.getApply()), zeroBlock(recipe.getZeroBlock()),
        compute(recipe.getCompute()), lo(recipe.getLo()), hi(recipe.getHi()),
        zeroPoint(recipe.getZeroPoint()), nonfinite(recipe.getNonfinite()) {}

  RecipeAttr get(MLIRContext *context) const {
    return RecipeAttr::get(context, APFloat(amaxFloor), scale, scaleRound,
                           apply, zeroBlock, compute, lo, hi, zeroPoint,
                           nonfinite);
  }
};
} // namespace

static constexpr StringRef presetNames[] = {
    "amax",    "deepgemm", "vllm_group", "vllm_token", "te",  "te_mx",
    "torchao", "ocp",      "int8_sym",   "int8_asym",  "awq", "int4_sym"};

ArrayRef<StringRef> RecipeAttr::getPresetNames() { return presetNames; }

/// The sources of the formulas are listed in docs/Spec.md, by preset.
RecipeAttr RecipeAttr::getPreset(MLIRContext *context, StringRef name) {
  RecipeFields f;
  if (name == "amax")
    return f.get(context);
  if (name == "deepgemm") {
    f.amaxFloor = 1e-4f;
    f.apply = ScaleApply::MulRcp;
    f.zeroBlock = ZeroBlock::Floor;
  } else if (name == "vllm_group") {
    f.amaxFloor = 1e-10f;
    f.zeroBlock = ZeroBlock::Floor;
  } else if (name == "vllm_token") {
    // The scale's floor 1 / (448 * 512), as a floor of amax.
    f.amaxFloor = 0x1p-9f;
    f.zeroBlock = ZeroBlock::Floor;
  } else if (name == "te") {
    f.scale = ScaleFormula::RcpOfQuant;
    f.apply = ScaleApply::MulQuant;
    f.nonfinite = Nonfinite::TeFp8;
  } else if (name == "te_mx") {
    f.scale = ScaleFormula::AmaxMulRcp;
    f.scaleRound = ScaleRound::E8M0Up;
    f.apply = ScaleApply::MulRcp;
    f.zeroBlock = ZeroBlock::Min;
    f.nonfinite = Nonfinite::TeMx;
  } else if (name == "torchao") {
    f.amaxFloor = 1e-12f;
    f.scale = ScaleFormula::RcpOfQuant;
    f.apply = ScaleApply::MulQuant;
    f.zeroBlock = ZeroBlock::Floor;
    f.compute = ScaleCompute::F64;
  } else if (name == "ocp") {
    f.scaleRound = ScaleRound::E8M0Floor;
    f.apply = ScaleApply::MulRcp;
    f.zeroBlock = ZeroBlock::Min;
  } else if (name == "int8_sym") {
    f.amaxFloor = 1e-10f;
    f.zeroBlock = ZeroBlock::Floor;
  } else if (name == "int8_asym") {
    f.amaxFloor = 1e-10f;
    f.zeroBlock = ZeroBlock::Floor;
    f.lo = -128;
    f.hi = 127;
    f.zeroPoint = ZeroPointRule::Affine;
  } else if (name == "awq") {
    f.amaxFloor = 1e-5f;
    f.zeroBlock = ZeroBlock::Floor;
    f.lo = 0;
    f.hi = 15;
    f.zeroPoint = ZeroPointRule::Affine;
  } else if (name == "int4_sym") {
    f.amaxFloor = 1e-10f;
    f.zeroBlock = ZeroBlock::Floor;
    f.lo = -8;
    f.hi = 7;
  } else {
    return {};
  }
  return f.get(context);
}

//===----------------------------------------------------------------------===//
// RecipeAttr
//===----------------------------------------------------------------------===//

template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, Enum &result,
                             std::optional<Enum> (*symbolize)(StringRef)) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> parsed = symbolize(keyword);
  if (!parsed)
    return parser.emitError(loc) << "unknown value '" << keyword << "'";
  result = *parsed;
  return success();
}

Attribute RecipeAttr::parse(AsmParser &parser, Type) {
  RecipeFields f;
  llvm::StringSet<> seen;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  bool first = true;
  auto parseParameter = [&]() -> ParseResult {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return failure();
    bool isFirst = std::exchange(first, false);
    if (failed(parser.parseOptionalEqual())) {
      RecipeAttr preset =
          isFirst ? getPreset(parser.getContext(), key) : RecipeAttr();
      if (!preset)
        return parser.emitError(loc)
               << "expects " << (isFirst ? "a preset's name or " : "")
               << "a parameter, got '" << key << "'";
      f = RecipeFields(preset);
      return success();
    }
    if (!seen.insert(key).second)
      return parser.emitError(loc) << "duplicate parameter '" << key << "'";
    if (key == "amax_floor") {
      double value;
      if (parser.parseFloat(value))
        return failure();
      f.amaxFloor = static_cast<float>(value);
      return success();
    }
    if (key == "scale")
      return parseEnum<ScaleFormula>(parser, f.scale, symbolizeScaleFormula);
    if (key == "scale_round")
      return parseEnum<ScaleRound>(parser, f.scaleRound, symbolizeScaleRound);
    if (key == "apply")
      return parseEnum<ScaleApply>(parser, f.apply, symbolizeScaleApply);
    if (key == "zero_block")
      return parseEnum<ZeroBlock>(parser, f.zeroBlock, symbolizeZeroBlock);
    if (key == "compute")
      return parseEnum<ScaleCompute>(parser, f.compute, symbolizeScaleCompute);
    if (key == "lo")
      return parser.parseInteger(f.lo.emplace());
    if (key == "hi")
      return parser.parseInteger(f.hi.emplace());
    if (key == "zero_point")
      return parseEnum<ZeroPointRule>(parser, f.zeroPoint,
                                      symbolizeZeroPointRule);
    if (key == "nonfinite")
      return parseEnum<Nonfinite>(parser, f.nonfinite, symbolizeNonfinite);
    return parser.emitError(loc) << "unknown parameter '" << key << "'";
  };
  if (parser.parseCommaSeparatedList(parseParameter) || parser.parseGreater())
    return {};
  return parser.getChecked<RecipeAttr>(
      start, parser.getContext(), APFloat(f.amaxFloor), f.scale, f.scaleRound,
      f.apply, f.zeroBlock, f.compute, f.lo, f.hi, f.zeroPoint, f.nonfinite);
}

/// Prints a preset's name where one has these parameters, else what differs
/// from the defaults.
void RecipeAttr::print(AsmPrinter &printer) const {
  for (StringRef name : presetNames)
    if (getPreset(getContext(), name) == *this) {
      printer << '<' << name << '>';
      return;
    }
  RecipeFields d;
  SmallVector<std::string> fields;
  auto add = [&](StringRef key, auto value, auto defaultValue, auto stringify) {
    if (value != defaultValue)
      fields.push_back((key + " = " + stringify(value)).str());
  };
  float amaxFloor = getAmaxFloor().convertToFloat();
  if (amaxFloor != d.amaxFloor) {
    // Nine digits tell any two f32 apart.
    std::string text;
    llvm::raw_string_ostream(text)
        << "amax_floor = " << llvm::format("%.8e", amaxFloor);
    fields.push_back(text);
  }
  auto number = [](std::optional<int64_t> value) {
    return std::to_string(*value);
  };
  add("scale", getScale(), d.scale, stringifyScaleFormula);
  add("scale_round", getScaleRound(), d.scaleRound, stringifyScaleRound);
  add("apply", getApply(), d.apply, stringifyScaleApply);
  add("zero_block", getZeroBlock(), d.zeroBlock, stringifyZeroBlock);
  add("compute", getCompute(), d.compute, stringifyScaleCompute);
  add("lo", getLo(), d.lo, number);
  add("hi", getHi(), d.hi, number);
  add("zero_point", getZeroPoint(), d.zeroPoint, stringifyZeroPointRule);
  add("nonfinite", getNonfinite(), d.nonfinite, stringifyNonfinite);
  printer << '<';
  llvm::interleaveComma(fields, printer);
  printer << '>';
}

LogicalResult RecipeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 APFloat amaxFloor, ScaleFormula scale,
                                 ScaleRound scaleRound, ScaleApply apply,
                                 ZeroBlock zeroBlock, ScaleCompute compute,
                                 std::optional<int64_t> lo,
                                 std::optional<int64_t> hi,
                                 ZeroPointRule zeroPoint, Nonfinite nonfinite) {
  if (!amaxFloor.isFinite() || amaxFloor.isNegative())
    return emitError()
           << "expects a finite amax_floor that is not negative, got "
           << amaxFloor.convertToDouble();
  if (zeroBlock == ZeroBlock::Floor && amaxFloor.isZero())
    return emitError()
           << "expects a positive amax_floor with zero_block = floor, got 0";
  if (lo.has_value() != hi.has_value())
    return emitError() << "expects both lo and hi, or neither";
  if (lo && *lo >= *hi)
    return emitError() << "expects lo < hi, got lo " << *lo << " and hi "
                       << *hi;
  if (apply == ScaleApply::MulQuant && scale != ScaleFormula::RcpOfQuant)
    return emitError()
           << "expects scale = rcp_of_quant with apply = mul_quant, got "
           << stringifyScaleFormula(scale);
  return success();
}

std::pair<int64_t, int64_t> RecipeAttr::getRange(Type value) const {
  if (getLo())
    return {*getLo(), *getHi()};
  bool isUnsigned = value.isUnsignedInteger();
  int64_t half = int64_t(1) << (value.getIntOrFloatBitWidth() - 1);
  if (isUnsigned)
    return {0, 2 * half - 1};
  return {getZeroPoint() == ZeroPointRule::Affine ? -half : 1 - half, half - 1};
}

//===----------------------------------------------------------------------===//
// AccumulateAttr
//===----------------------------------------------------------------------===//

Attribute AccumulateAttr::parse(AsmParser &parser, Type) {
  StringRef mode;
  int64_t interval = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&mode))
    return {};
  if (mode == "promote") {
    if (parser.parseLess() || parser.parseInteger(interval) ||
        parser.parseGreater())
      return {};
    if (interval <= 0) {
      parser.emitError(loc) << "expects a positive interval, got " << interval;
      return {};
    }
  } else if (mode != "fast") {
    parser.emitError(loc) << "expects fast or promote<N>, got '" << mode << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<AccumulateAttr>(loc, parser.getContext(), interval);
}

void AccumulateAttr::print(AsmPrinter &printer) const {
  if (isFast())
    printer << "<fast>";
  else
    printer << "<promote<" << getInterval() << ">>";
}

LogicalResult
AccumulateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t interval) {
  if (interval < 0 || interval % 32 != 0)
    return emitError() << "expects an interval that is a multiple of 32, got "
                       << interval;
  return success();
}

//===----------------------------------------------------------------------===//
// ConfigAttr
//===----------------------------------------------------------------------===//

Attribute ConfigAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> tile;
  int64_t stages = 4, consumers = 2, splitK = 1, raster = 16, cluster = 1,
          ctas = 1;
  Schedule schedule = Schedule::Persistent;
  bool swapAb = false;
  llvm::StringSet<> seen;
  SMLoc start = parser.getCurrentLocation();
  auto parseParameter = [&]() -> ParseResult {
    StringRef key;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(loc) << "duplicate parameter '" << key << "'";
    if (key == "tile")
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(tile.emplace_back());
      });
    if (key == "stages")
      return parser.parseInteger(stages);
    if (key == "consumers")
      return parser.parseInteger(consumers);
    if (key == "schedule")
      return parseEnum<Schedule>(parser, schedule, symbolizeSchedule);
    if (key == "swap_ab") {
      StringRef value;
      if (parser.parseKeyword(&value))
        return failure();
      if (value != "true" && value != "false")
        return parser.emitError(loc)
               << "expects true or false, got '" << value << "'";
      swapAb = value == "true";
      return success();
    }
    if (key == "split_k")
      return parser.parseInteger(splitK);
    if (key == "raster")
      return parser.parseInteger(raster);
    if (key == "cluster")
      return parser.parseInteger(cluster);
    if (key == "ctas")
      return parser.parseInteger(ctas);
    return parser.emitError(loc) << "unknown parameter '" << key << "'";
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(parseParameter) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ConfigAttr>(start, parser.getContext(), tile, stages,
                                       consumers, schedule, swapAb, splitK,
                                       raster, cluster, ctas);
}

void ConfigAttr::print(AsmPrinter &printer) const {
  printer << "<tile = [";
  llvm::interleaveComma(getTile(), printer);
  printer << "], stages = " << getStages() << ", consumers = " << getConsumers()
          << ", schedule = " << stringifySchedule(getSchedule())
          << ", swap_ab = " << (getSwapAb() ? "true" : "false")
          << ", split_k = " << getSplitK() << ", raster = " << getRaster();
  if (getCluster() != 1)
    printer << ", cluster = " << getCluster();
  if (getCtas() != 1)
    printer << ", ctas = " << getCtas();
  printer << '>';
}

LogicalResult ConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> tile, int64_t stages,
                                 int64_t consumers, Schedule schedule,
                                 bool swapAb, int64_t splitK, int64_t raster,
                                 int64_t cluster, int64_t ctas) {
  if (tile.size() != 2)
    return emitError() << "expects a tile of 2 extents, got " << tile.size();
  for (int64_t extent : tile)
    if (extent <= 0)
      return emitError() << "expects positive tile extents, got " << extent;
  auto positive = [&](StringRef name, int64_t value) -> LogicalResult {
    if (value > 0)
      return success();
    return emitError() << "expects a positive " << name << ", got " << value;
  };
  return success(succeeded(positive("stages", stages)) &&
                 succeeded(positive("consumers", consumers)) &&
                 succeeded(positive("split_k", splitK)) &&
                 succeeded(positive("raster", raster)) &&
                 succeeded(positive("cluster", cluster)) &&
                 succeeded(positive("ctas", ctas)));
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr chip, int64_t sms,
                                 int64_t sharedMemory) {
  if (!chip || chip.getValue().empty())
    return emitError() << "expects the name of a chip";
  if (sms < 0 || sharedMemory < 0)
    return emitError() << "expects numbers that are not negative, got sms "
                       << sms << " and shared_memory " << sharedMemory;
  return success();
}
