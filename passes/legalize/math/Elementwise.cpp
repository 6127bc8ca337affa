//===- Elementwise.cpp - arithmetic, logic, casts -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/nn/TinyFloats.h"
#include "passes/legalize/core/Helpers.h"

#include "llvm/ADT/StringSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static LogicalResult replaceWith(Node &node, FailureOr<Value> value) {
  return failed(value) ? failure() : node.replace(*value);
}

template <typename Op>
static LogicalResult legalizeUnary(Node &node) {
  return replaceWith(node, node.infer<Op>(node.input(0)));
}

template <typename Op>
static LogicalResult legalizeBinary(Node &node) {
  return replaceWith(node, node.infer<Op>(node.input(0), node.input(1)));
}

/// Combines the operands of Max, Min or Sum. There may be any number of
/// operands.
template <typename Op>
static FailureOr<Value> foldOperands(Node &node) {
  if (!node.has(0))
    return node.invalid("no operands");
  FailureOr<Value> result = node.input(0);
  for (size_t i = 1; i < node.numInputs() && succeeded(result); ++i)
    result = node.infer<Op>(*result, node.input(i));
  return result;
}

template <typename Op>
static LogicalResult legalizeVariadic(Node &node) {
  return replaceWith(node, foldOperands<Op>(node));
}

static LogicalResult legalizeMean(Node &node) {
  FailureOr<Value> sum = foldOperands<nn::AddOp>(node);
  if (failed(sum))
    return failure();
  Value count = node.scalar(node.elementType(0), node.numInputs());
  return replaceWith(node, node.infer<nn::DivOp>(*sum, count));
}

//===----------------------------------------------------------------------===//
// Arithmetic that is not one nn op
//===----------------------------------------------------------------------===//

static LogicalResult legalizeMod(Node &node) {
  bool fmod = node.getInt("fmod", 0) != 0;
  return replaceWith(
      node, node.infer<nn::ModOp>(node.input(0), node.input(1), fmod));
}

/// Computes x^2, x^3, x^(1/2) or x^1 without a power function. Returns null for
/// other exponents.
static FailureOr<Value> powerOfConstant(Node &node, Value x, double exponent) {
  bool isFloat = isa<FloatType>(node.elementType(0));
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return node.infer<nn::MulOp>(x, x);
  if (exponent == 3)
    return node.infer<nn::MulOp>(node.make<nn::MulOp>(x, x), x);
  if (exponent == 0.5 && isFloat)
    return node.infer<nn::SqrtOp>(x);
  return Value();
}

/// Legalizes Pow. The result has the type of the base; the exponent may have
/// another type.
static LogicalResult legalizePow(Node &node) {
  Value x = node.input(0), exponent = node.input(1);
  Type type = node.elementType(0), exponentType = node.elementType(1);
  std::optional<double> constant = nn::getSplat(exponent);
  if (constant && node.rank(1) <= node.rank(0) &&
      llvm::all_of(node.shape(1), [](int64_t size) { return size == 1; })) {
    FailureOr<Value> product = powerOfConstant(node, x, *constant);
    if (failed(product) || *product)
      return replaceWith(node, product);
  }
  if (isa<FloatType>(type) == isa<FloatType>(exponentType) ||
      isa<FloatType>(type))
    return replaceWith(
        node, node.infer<nn::PowOp>(x, node.cast(exponent, type)));
  // Computes an integer to a fractional power in f64.
  Type f64 = node.builder.getF64Type();
  FailureOr<Value> power =
      node.infer<nn::PowOp>(node.cast(x, f64), node.cast(exponent, f64));
  return failed(power) ? failure() : node.replace(node.cast(*power, type));
}

/// Legalizes BitShift. A shift by the width or more leaves only copies of the
/// sign bit. A negative amount counts as such a shift, because it is large as
/// an unsigned integer.
static LogicalResult legalizeBitShift(Node &node) {
  StringRef direction = node.getString("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.invalid("direction is '" + direction + "'");
  Type type = node.elementType(0);
  if (!type.isInteger())
    return node.invalid("operands are not integers");
  bool left = direction == "LEFT";
  Value x = node.input(0), amount = node.input(1);
  double width = type.getIntOrFloatBitWidth();
  Value last = node.scalar(type, width - 1), zero = node.scalar(type, 0);
  if (!left && !type.isUnsignedInteger()) {
    // Shifts in the sign bit: computes ~(~x >> amount) if x is negative.
    FailureOr<Value> tooFar = node.infer<nn::OrOp>(
        node.make<nn::LessOp>(amount, zero),
        node.make<nn::GreaterOp>(amount, last));
    if (failed(tooFar))
      return failure();
    Value bounded = node.make<nn::SelectOp>(*tooFar, last, amount);
    Value isNegative = node.make<nn::LessOp>(x, zero);
    Value flipped = node.make<nn::SelectOp>(
        isNegative, node.make<nn::NotOp>(x), x);
    FailureOr<Value> shifted =
        node.infer<nn::ShiftRightOp>(flipped, bounded);
    if (failed(shifted))
      return failure();
    return replaceWith(
        node, node.infer<nn::SelectOp>(
                  isNegative, node.make<nn::NotOp>(*shifted), *shifted));
  }
  Value tooFar = node.make<nn::GreaterOp>(amount, last);
  if (!type.isUnsignedInteger())
    tooFar = node.make<nn::OrOp>(tooFar, node.make<nn::LessOp>(amount, zero));
  Value bounded = node.make<nn::SelectOp>(tooFar, zero, amount);
  FailureOr<Value> shifted = left ? node.infer<nn::ShiftLeftOp>(x, bounded)
                                  : node.infer<nn::ShiftRightOp>(x, bounded);
  if (failed(shifted))
    return failure();
  return replaceWith(node, node.infer<nn::SelectOp>(tooFar, zero, *shifted));
}

static LogicalResult legalizeWhere(Node &node) {
  return replaceWith(node, node.infer<nn::SelectOp>(
                               node.input(0), node.input(1), node.input(2)));
}

static LogicalResult legalizeIsInf(Node &node) {
  return replaceWith(node, node.infer<nn::IsInfOp>(
                               node.input(0),
                               node.getInt("detect_negative", 1) != 0,
                               node.getInt("detect_positive", 1) != 0));
}

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

/// Returns a constant bound if f64 represents it exactly.
static std::optional<double> constantBound(Node &node, Value bound) {
  if (!isa<FloatType>(node.elementType(0))) {
    std::optional<SmallVector<int64_t>> value = nn::getConstantInts(bound);
    if (!value || value->size() != 1 || std::abs((*value)[0]) > (1ll << 53))
      return std::nullopt;
    return double((*value)[0]);
  }
  std::optional<double> value = nn::getSplat(bound);
  return value && !std::isnan(*value) ? value : std::nullopt;
}

/// Legalizes Clip. min and max are attributes up to opset 6, then optional
/// scalars.
static LogicalResult legalizeClip(Node &node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Value x = node.input(0), min = node.input(1), max = node.input(2);
  for (size_t i : {1, 2})
    if (node.has(i) && !node.type(i).hasStaticShape())
      return node.unsupported("a bound of unknown shape");
  for (size_t i : {1, 2})
    if (node.has(i) && node.type(i).getNumElements() != 1)
      return node.invalid("a bound is not a scalar");
  double low = node.getFloat("min", -kInfinity);
  double high = node.getFloat("max", kInfinity);
  std::optional<double> constantMin =
      min ? constantBound(node, min) : std::optional(low);
  std::optional<double> constantMax =
      max ? constantBound(node, max) : std::optional(high);
  auto asBound = [&](Value bound) {
    return node.rank(0) >= cast<RankedTensorType>(bound.getType()).getRank()
               ? bound
               : node.make<nn::ReshapeOp>(
                     RankedTensorType::get({}, node.elementType(0)), bound);
  };
  if (!constantMin)
    x = node.make<nn::MaxOp>(x, asBound(min));
  double from = constantMin.value_or(-kInfinity);
  double to = constantMax.value_or(kInfinity);
  if (!std::isinf(from) || !std::isinf(to))
    x = node.make<nn::ClampOp>(x, node.builder.getF64FloatAttr(from),
                               node.builder.getF64FloatAttr(to));
  if (!constantMax)
    x = node.make<nn::MinOp>(x, asBound(max));
  return node.replace(x);
}

//===----------------------------------------------------------------------===//
// Casts, identities
//===----------------------------------------------------------------------===//

/// Returns how to round a value between two powers of two.
static nn::RoundMode roundMode(Node &node) {
  return llvm::StringSwitch<nn::RoundMode>(node.getString("round_mode", "up"))
      .Case("down", nn::RoundMode::down)
      .Case("nearest", nn::RoundMode::nearest)
      .Default(nn::RoundMode::up);
}

static LogicalResult castTo(Node &node, Type to) {
  Type from = node.elementType(0);
  if (from == to)
    return node.replace(node.input(0));
  if (isString(from))
    return node.unsupported("numbers from strings");
  if (isString(to))
    return node.unsupported("strings from numbers");
  for (Type type : {from, to})
    if (isa<ComplexType>(type))
      return node.unsupported("complex numbers");
  if (!nn::tinyFloatOf(to))
    return node.replace(node.cast(node.input(0), to));
  nn::RoundMode mode = isa<Float8E8M0FNUType>(to) ? roundMode(node)
                                                  : nn::RoundMode::nearest;
  return node.replace(node.make<nn::CastOp>(
      node.type(0).clone(to), node.input(0), /*in_range=*/false,
      /*saturate=*/node.getInt("saturate", 1) != 0, mode));
}

static LogicalResult legalizeCast(Node &node) {
  int64_t code = node.getInt("to", 0);
  Type to = code == 8 ? stringType(node.context())
                      : elementTypeOf(node.context(), code);
  if (!to)
    return node.invalid("unknown element type " + Twine(code));
  return castTo(node, to);
}

static LogicalResult legalizeCastLike(Node &node) {
  return castTo(node, node.elementType(1));
}

/// Applies arith.bitcast to each element.
static Value bitcastElements(Node &node, Value x, Type to) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  auto type = cast<RankedTensorType>(x.getType());
  Value init = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, x), to);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), x, init, ArrayRef<AffineMap>{map, map},
             iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               Value y = arith::BitcastOp::create(nested, loc, to, args[0]);
               linalg::YieldOp::create(nested, loc, y);
             })
      .getResult(0);
}

/// Legalizes BitCast between types of the same width.
static LogicalResult legalizeBitCast(Node &node) {
  Type from = node.elementType(0);
  Type to = elementTypeOf(node.context(), node.getInt("to", 0));
  auto bits = [](Type type) {
    return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
  };
  if (!to || !to.isIntOrFloat() || !from.isIntOrFloat())
    return node.unsupported("this element type");
  if (bits(from) != bits(to))
    return node.invalid("element types of different widths");
  // Integers of one width differ only in their sign, which a cast changes.
  Value x = node.input(0);
  if (from.isInteger() && to.isInteger())
    return node.replace(node.cast(x, to));
  auto signless = [&](Type type) -> Type {
    return type.isInteger()
               ? IntegerType::get(node.context(), type.getIntOrFloatBitWidth())
               : type;
  };
  x = node.cast(x, signless(from));
  Value y = bitcastElements(node, x, signless(to));
  return node.replace(node.cast(y, to));
}

static LogicalResult legalizeIdentity(Node &node) {
  return node.replace(node.input(0));
}

/// Legalizes Dropout that may run in training mode. The mode may be computed at
/// run time. Outside of training, nothing is dropped and the mask is all true.
static LogicalResult dropInTraining(Node &node) {
  Type f32 = node.builder.getF32Type(), boolean = node.builder.getI1Type();
  auto one = [&](size_t i, Type type, double otherwise) -> FailureOr<Value> {
    if (!node.has(i))
      return node.scalar(type, otherwise);
    if (!node.type(i).hasStaticShape() || node.type(i).getNumElements() != 1)
      return node.invalid("input " + Twine(i) + " needs one element");
    return castTo(node, reshape(node, node.input(i), ArrayRef<int64_t>()),
                  type);
  };
  auto ratio = one(1, f32, 0.5), training = one(2, boolean, 0);
  if (failed(ratio) || failed(training))
    return failure();
  Value x = node.input(0), isKept;
  // Outside of training, the probability is 0.
  Value chance = select(node, *training, *ratio, node.scalar(f32, 0));
  auto y = dropRandomly(node, x, chance, isKept);
  return failed(y) ? failure() : node.replace({*y, isKept});
}

static LogicalResult legalizeDropout(Node &node) {
  if (node.has(2)) {
    std::optional<double> training = nn::getSplat(node.input(2));
    std::optional<double> ratio =
        node.has(1) ? nn::getSplat(node.input(1)) : std::optional(0.5);
    bool drops = (!training || *training != 0) && (!ratio || *ratio != 0);
    if (drops)
      return dropInTraining(node);
  }
  SmallVector<Value> results{node.input(0)};
  if (node.isUsed(1)) {
    Type type = node.opset < 10 ? node.elementType(0)
                                : Type(node.builder.getI1Type());
    results.push_back(node.splat(node.scalar(type, 1), node.input(0)));
  }
  return node.replace(results);
}

void legalize::populateElementwise(Legalizers &legalizers) {
  legalizers.add("Abs", legalizeUnary<nn::AbsOp>);
  legalizers.add("Neg", legalizeUnary<nn::NegOp>);
  legalizers.add("Sign", legalizeUnary<nn::SignOp>);
  legalizers.add("Ceil", legalizeUnary<nn::CeilOp>);
  legalizers.add("Floor", legalizeUnary<nn::FloorOp>);
  legalizers.add("Round", legalizeUnary<nn::RoundOp>);
  legalizers.add("Sqrt", legalizeUnary<nn::SqrtOp>);
  legalizers.add("Exp", legalizeUnary<nn::ExpOp>);
  legalizers.add("Log", legalizeUnary<nn::LogOp>);
  legalizers.add("Sin", legalizeUnary<nn::SinOp>);
  legalizers.add("Cos", legalizeUnary<nn::CosOp>);
  legalizers.add("Tan", legalizeUnary<nn::TanOp>);
  legalizers.add("Asin", legalizeUnary<nn::AsinOp>);
  legalizers.add("Acos", legalizeUnary<nn::AcosOp>);
  legalizers.add("Atan", legalizeUnary<nn::AtanOp>);
  legalizers.add("Sinh", legalizeUnary<nn::SinhOp>);
  legalizers.add("Cosh", legalizeUnary<nn::CoshOp>);
  legalizers.add("Asinh", legalizeUnary<nn::AsinhOp>);
  legalizers.add("Acosh", legalizeUnary<nn::AcoshOp>);
  legalizers.add("Atanh", legalizeUnary<nn::AtanhOp>);
  legalizers.add("Erf", legalizeUnary<nn::ErfOp>);
  legalizers.add("Reciprocal", legalizeUnary<nn::ReciprocalOp>);
  legalizers.add("Not", legalizeUnary<nn::NotOp>);
  legalizers.add("BitwiseNot", legalizeUnary<nn::NotOp>);
  legalizers.add("IsNaN", legalizeUnary<nn::IsNaNOp>);
  legalizers.add("IsInf", legalizeIsInf);

  legalizers.add("Add", legalizeBinary<nn::AddOp>);
  legalizers.add("Sub", legalizeBinary<nn::SubOp>);
  legalizers.add("Mul", legalizeBinary<nn::MulOp>);
  legalizers.add("Div", legalizeBinary<nn::DivOp>);
  legalizers.add("Mod", legalizeMod);
  legalizers.add("Pow", legalizePow);
  legalizers.add("Max", legalizeVariadic<nn::MaxOp>);
  legalizers.add("Min", legalizeVariadic<nn::MinOp>);
  legalizers.add("Sum", legalizeVariadic<nn::AddOp>);
  legalizers.add("Mean", legalizeMean);
  legalizers.add("And", legalizeBinary<nn::AndOp>);
  legalizers.add("Or", legalizeBinary<nn::OrOp>);
  legalizers.add("Xor", legalizeBinary<nn::XorOp>);
  legalizers.add("BitwiseAnd", legalizeBinary<nn::AndOp>);
  legalizers.add("BitwiseOr", legalizeBinary<nn::OrOp>);
  legalizers.add("BitwiseXor", legalizeBinary<nn::XorOp>);
  legalizers.add("BitShift", legalizeBitShift);
  legalizers.add("Equal", legalizeBinary<nn::EqualOp>);
  legalizers.add("Less", legalizeBinary<nn::LessOp>);
  legalizers.add("LessOrEqual", legalizeBinary<nn::LessOrEqualOp>);
  legalizers.add("Greater", legalizeBinary<nn::GreaterOp>);
  legalizers.add("GreaterOrEqual", legalizeBinary<nn::GreaterOrEqualOp>);
  legalizers.add("Where", legalizeWhere);

  legalizers.add("Clip", legalizeClip);
  legalizers.add("Cast", legalizeCast);
  legalizers.add("CastLike", legalizeCastLike);
  legalizers.add("BitCast", legalizeBitCast);
  legalizers.add("Identity", legalizeIdentity);
  legalizers.add("Dropout", legalizeDropout);
}
