//===- SmoothQuant.cpp - The pass moeq-smooth-quant -------------*- C++ -*-===//
//
// Part of moeq, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "moeq/Dialect/Moeq/IR/Moeq.h"
#include "moeq/Dialect/Moeq/Transforms/Passes.h"
#include "moeq/Support/GateColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"

namespace mlir::moeq {
#define GEN_PASS_DEF_MOEQSMOOTHQUANT
#include "moeq/Dialect/Moeq/Transforms/Passes.h.inc"
} // namespace mlir::moeq

using namespace mlir;
using namespace mlir::moeq;

/// Whether a positive factor of one input of the activation, the up half of a
/// gated one, comes out as a factor of its result.
static bool commutesWithFactors(Activation function) {
  switch (function) {
  case Activation::Identity:
  case Activation::Relu:
  case Activation::Swiglu:
  case Activation::Geglu:
  case Activation::Reglu:
    return true;
  default:
    return false;
  }
}

static Type getElement(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// The tensor type of the extents `shape` of `of`.
static RankedTensorType getSliceType(Value of, ArrayRef<int64_t> dims,
                                     Type element) {
  auto type = cast<RankedTensorType>(of.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(dim < 0 ? 1 : type.getDimSize(dim));
  return RankedTensorType::get(shape, element);
}

namespace {
/// What the pass is asked for, by its options.
struct SmoothOptions {
  float alpha, floor;
  bool powerOfTwo, quantize;
};

/// Splits the function of one layer.
class LayerSplit {
public:
  LayerSplit(ExpertsOp op, SmoothOptions options)
      : op(op), function(op->getParentOfType<func::FuncOp>()), options(options),
        folds(commutesWithFactors(op.getFunction())) {}

  /// Whether the layer has plain weights; errors where it cannot be split.
  FailureOr<bool> check();
  void run();

private:
  LogicalResult checkArgument(Value value, StringRef name);
  std::string nameOf(Value argument);
  bool movesBias() { return folds && op.getBias13(); }
  ScaledType getInt8() {
    auto f32 = Float32Type::get(op.getContext());
    return ScaledType::get(op.getContext(),
                           IntegerType::get(op.getContext(), 8),
                           {ShapedType::kDynamic}, f32, Type(),
                           ScaleLayout::RowMajor, /*groups=*/0, Packing::None);
  }

  /// The function that prepares the weights, with the types that it returns.
  SmallVector<Type> buildPrepare();
  void rewriteLayer(TypeRange prepared);

  /// A result [like] of elements `element`, each made of those of `inputs` at
  /// the loops that `dims` lists (-1 for an extent of 1), as f32.
  struct Input {
    Value tensor;
    SmallVector<int64_t> dims;
  };
  using Body = function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;
  Value buildElementwise(ImplicitLocOpBuilder &b, Value like, Type element,
                         ArrayRef<Input> inputs, Body body);
  Value buildSmooth(ImplicitLocOpBuilder &b, Value amax, Value weight,
                    bool isShared);
  Value buildWeight(ImplicitLocOpBuilder &b, Value weight,
                    ArrayRef<Input> factors, Value upFactor);
  /// `value`, at column `column` of w13, over the factor of its feature.
  Value buildUnsmoothed(ImplicitLocOpBuilder &b, Value value, Value upFactor,
                        Value features, int64_t columnDim);
  Value empty(ImplicitLocOpBuilder &b, Value of, ArrayRef<int64_t> dims,
              Type element);

  ExpertsOp op;
  func::FuncOp function;
  SmoothOptions options;
  /// Whether the factors of the second matmul go to the first one's weights.
  bool folds;
};
} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult LayerSplit::checkArgument(Value value, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &function.getBody().front() &&
      value.hasOneUse())
    return success();
  return op.emitOpError() << "expects '" << name
                          << "' to be an argument of the function that nothing "
                             "but the layer uses, to smooth it";
}

FailureOr<bool> LayerSplit::check() {
  bool isPlain = op.getNumResults() == 1 && !op.getW13Format() &&
                 !op.getW2Format() && !op.getActFormat();
  for (Value weight : {op.getW13().front(), op.getW2().front()})
    isPlain = isPlain && getElement(weight) == getElement(op.getHidden());
  if (!isPlain) {
    remark::missed(op.getLoc(), remark::RemarkOpts::name("smooth").category(
                                    "moeq-smooth-quant"))
        << remark::reason("{0}", "keeps the layer: its weights are not of the "
                                 "type of its hidden states");
    return false;
  }
  if (!function || function->getParentOp() != op->getParentOfType<ModuleOp>())
    return op.emitOpError("expects a layer in a function of the module");
  if (failed(checkArgument(op.getW13().front(), "w13")) ||
      failed(checkArgument(op.getW2().front(), "w2")) ||
      (movesBias() && failed(checkArgument(op.getBias13(), "bias13"))))
    return failure();
  std::string name = (function.getName() + "_prepare").str();
  auto module = op->getParentOfType<ModuleOp>();
  if (module.lookupSymbol(name))
    return op.emitOpError()
           << "expects no symbol '" << name << "' beside the layer's function";
  if (!SymbolTable::symbolKnownUseEmpty(function, module))
    return op.emitOpError()
           << "expects a layer in a function without callers, got '"
           << function.getName() << "', whose arguments would change";
  return true;
}

std::string LayerSplit::nameOf(Value argument) {
  unsigned number = cast<BlockArgument>(argument).getArgNumber();
  auto given = function.getArgAttrOfType<StringAttr>(number, "moeq.name");
  return given ? given.str() : "arg" + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Arithmetic on tensors
//===----------------------------------------------------------------------===//

Value LayerSplit::empty(ImplicitLocOpBuilder &b, Value of,
                        ArrayRef<int64_t> dims, Type element) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : dims)
    sizes.push_back(dim < 0 ? b.getIndexAttr(1)
                            : tensor::getMixedSize(b, b.getLoc(), of, dim));
  return tensor::EmptyOp::create(b, sizes, element);
}

Value LayerSplit::buildElementwise(ImplicitLocOpBuilder &b, Value like,
                                   Type element, ArrayRef<Input> inputs,
                                   Body body) {
  int64_t rank = cast<RankedTensorType>(like.getType()).getRank();
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const Input &input : inputs) {
    tensors.push_back(input.tensor);
    SmallVector<AffineExpr> places;
    for (int64_t dim : input.dims)
      places.push_back(dim < 0 ? b.getAffineConstantExpr(0)
                               : b.getAffineDimExpr(dim));
    maps.push_back(AffineMap::get(rank, 0, places, b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  Value init = empty(b, like, llvm::to_vector(llvm::seq(rank)), element);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, init.getType(), tensors, init, maps, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder ib(loc, inner);
        SmallVector<Value> numbers;
        for (Value argument : arguments.drop_back())
          numbers.push_back(
              argument.getType().isF32()
                  ? argument
                  : arith::ExtFOp::create(ib, ib.getF32Type(), argument));
        Value result = body(ib, numbers);
        if (!element.isF32())
          result = arith::TruncFOp::create(ib, element, result);
        linalg::YieldOp::create(ib, result);
      });
  return generic.getResult(0);
}

Value LayerSplit::buildSmooth(ImplicitLocOpBuilder &b, Value amax, Value weight,
                              bool isShared) {
  Value init = empty(b, weight, {isShared ? -1 : 0, 2}, b.getF32Type());
  return SmoothOp::create(b, init.getType(), amax, weight, init,
                          b.getF32FloatAttr(options.alpha),
                          b.getF32FloatAttr(options.floor),
                          options.powerOfTwo ? b.getUnitAttr() : UnitAttr())
      .getResult(0);
}

Value LayerSplit::buildUnsmoothed(ImplicitLocOpBuilder &b, Value value,
                                  Value upFactor, Value features,
                                  int64_t columnDim) {
  Value expert = linalg::IndexOp::create(b, 0);
  Value column = linalg::IndexOp::create(b, columnDim), isUp;
  if (isGated(op.getFunction())) {
    column = emitGateSource(b, b.getLoc(), GateLayout::GateFirst,
                            op.getGateLayout(), column, features);
    isUp =
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, column, features);
    Value up = arith::SubIOp::create(b, column, features);
    column = arith::SelectOp::create(b, isUp, up, column);
  }
  Value factor =
      tensor::ExtractOp::create(b, upFactor, ValueRange{expert, column});
  Value quotient = arith::DivFOp::create(b, value, factor);
  return isUp ? Value(arith::SelectOp::create(b, isUp, quotient, value))
              : quotient;
}

/// `weight` times its factors, quantized where that is asked for. With
/// `upFactor` [E, F] it is w13.
Value LayerSplit::buildWeight(ImplicitLocOpBuilder &b, Value weight,
                              ArrayRef<Input> factors, Value upFactor) {
  Value features =
      upFactor ? Value(b.createOrFold<tensor::DimOp>(upFactor, 1)) : Value();
  SmallVector<Input> inputs{{weight, {0, 1, 2}}};
  llvm::append_range(inputs, factors);
  Type element = options.quantize ? b.getF32Type() : getElement(weight);
  Value smoothed = weight;
  if (inputs.size() > 1)
    smoothed = buildElementwise(
        b, weight, element, inputs,
        [&](ImplicitLocOpBuilder &ib, ValueRange numbers) -> Value {
          Value product = arith::MulFOp::create(ib, numbers[0], numbers[1]);
          return upFactor ? buildUnsmoothed(ib, product, upFactor, features, 1)
                          : product;
        });
  if (!options.quantize)
    return smoothed;
  Value init = empty(b, weight, {0, 1, 2}, getInt8());
  return QuantizeOp::create(b, init.getType(), smoothed, /*rows=*/Value(),
                            /*offsets=*/Value(), init,
                            /*columnwise=*/ValueRange(),
                            RecipeAttr::getPreset(b.getContext(), "int8_sym"),
                            /*outs_format=*/TypeAttr(),
                            /*columnwise_format=*/TypeAttr())
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// The two functions
//===----------------------------------------------------------------------===//

SmallVector<Type> LayerSplit::buildPrepare() {
  Value w13 = op.getW13().front(), w2 = op.getW2().front();
  Type f32 = Float32Type::get(op.getContext());
  SmallVector<Value> sources{w13, w2};
  if (movesBias())
    sources.push_back(op.getBias13());
  SmallVector<Type> types;
  SmallVector<std::string> names;
  for (Value source : sources) {
    types.push_back(source.getType());
    names.push_back(nameOf(source) + ".source");
  }
  auto addAmax = [&](Type type, StringRef name) {
    types.push_back(type);
    names.push_back(name.str());
    return types.size() - 1;
  };
  unsigned amax13 = addAmax(getSliceType(w13, {-1, 2}, f32), "amax13");
  unsigned amax2 = folds ? addAmax(getSliceType(w2, {0, 2}, f32), "amax2") : 0;

  ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
  b.setInsertionPoint(function);
  auto prepare = func::FuncOp::create(
      b, (function.getName() + "_prepare").str(), b.getFunctionType(types, {}));
  for (auto [number, name] : llvm::enumerate(names))
    prepare.setArgAttr(number, "moeq.name", b.getStringAttr(name));
  Block *body = prepare.addEntryBlock();
  b.setInsertionPointToStart(body);
  auto argument = [&](unsigned number) { return body->getArgument(number); };

  Value s13 = buildSmooth(b, argument(amax13), argument(0), /*isShared=*/true);
  Value s2 = folds ? buildSmooth(b, argument(amax2), argument(1),
                                 /*isShared=*/false)
                   : Value();
  Value inverse = buildElementwise(
      b, s13, f32, {{s13, {0, 1}}},
      [](ImplicitLocOpBuilder &ib, ValueRange numbers) -> Value {
        Value one = arith::ConstantOp::create(ib, ib.getF32FloatAttr(1));
        return arith::DivFOp::create(ib, one, numbers[0]);
      });
  SmallVector<Input> factors2;
  if (folds)
    factors2.push_back({s2, {0, 2}});
  SmallVector<Value> results{
      buildWeight(b, argument(0), {{s13, {-1, 2}}}, s2),
      buildWeight(b, argument(1), factors2, /*upFactor=*/Value()), inverse};
  SmallVector<std::string> resultNames{nameOf(w13), nameOf(w2), "smooth"};
  if (movesBias()) {
    Value features = b.createOrFold<tensor::DimOp>(s2, 1);
    results.push_back(buildElementwise(
        b, argument(2), f32, {{argument(2), {0, 1}}},
        [&](ImplicitLocOpBuilder &ib, ValueRange numbers) {
          return buildUnsmoothed(ib, numbers[0], s2, features, 1);
        }));
    resultNames.push_back(nameOf(op.getBias13()));
  }
  func::ReturnOp::create(b, results);
  SmallVector<Type> resultTypes(ValueRange(results).getTypes());
  prepare.setFunctionType(b.getFunctionType(types, resultTypes));
  for (auto [number, name] : llvm::enumerate(resultNames))
    prepare.setResultAttr(number, "moeq.name", b.getStringAttr(name));
  return resultTypes;
}

void LayerSplit::rewriteLayer(TypeRange prepared) {
  op.getW13().front().setType(prepared[0]);
  op.getW2().front().setType(prepared[1]);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  unsigned last = function.getNumArguments();
  function.setFunctionType(b.getFunctionType(
      function.getBody().getArgumentTypes(), function.getResultTypes()));
  NamedAttribute name = b.getNamedAttr("moeq.name", b.getStringAttr("smooth"));
  (void)function.insertArgument(last, prepared[2], b.getDictionaryAttr(name),
                                op.getLoc());
  Value smooth = function.getArgument(last), hidden = op.getHidden();
  op.getHiddenMutable().assign(buildElementwise(
      b, hidden, getElement(hidden), {{hidden, {0, 1}}, {smooth, {-1, 1}}},
      [](ImplicitLocOpBuilder &ib, ValueRange numbers) -> Value {
        return arith::MulFOp::create(ib, numbers[0], numbers[1]);
      }));
  if (!options.quantize)
    return;
  op.setRecipeAttr(RecipeAttr::getPreset(b.getContext(), "int8_sym"));
  op.setActFormatAttr(TypeAttr::get(getInt8()));
}

void LayerSplit::run() {
  if (!folds)
    remark::missed(op.getLoc(), remark::RemarkOpts::name("smooth").category(
                                    "moeq-smooth-quant"))
        << remark::reason("{0}", ("keeps the input of the second matmul: " +
                                  stringifyActivation(op.getFunction()) +
                                  " does not commute with a factor")
                                     .str());
  rewriteLayer(buildPrepare());
}

namespace {
struct SmoothQuant : moeq::impl::MoeqSmoothQuantBase<SmoothQuant> {
  using MoeqSmoothQuantBase::MoeqSmoothQuantBase;

  LogicalResult initialize(MLIRContext *context) override {
    Location loc = UnknownLoc::get(context);
    if (!(alpha >= 0 && alpha <= 1))
      return emitError(loc)
             << "expects an alpha of 0 to 1, got " << alpha.getValue();
    if (!(floor >= 0x1p-126 && floor <= 0x1p127))
      return emitError(loc) << "expects a normal positive finite floor, got "
                            << floor.getValue();
    return success();
  }

  void runOnOperation() override {
    SmoothOptions options{static_cast<float>(alpha), static_cast<float>(floor),
                          powerOfTwo, quantize};
    SmallVector<LayerSplit> splits;
    DenseSet<Operation *> functions;
    WalkResult walk = getOperation()->walk([&](ExpertsOp op) {
      LayerSplit split(op, options);
      FailureOr<bool> applies = split.check();
      if (failed(applies))
        return WalkResult::interrupt();
      if (!*applies)
        return WalkResult::advance();
      if (!functions.insert(op->getParentOfType<func::FuncOp>()).second) {
        op.emitOpError("expects one layer a function to smooth");
        return WalkResult::interrupt();
      }
      splits.push_back(split);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    for (LayerSplit &split : splits) {
      split.run();
      ++numLayers;
    }
  }
};
} // namespace
