//===- Quantize.cpp - QuantizeLinear, DequantizeLinear --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/quant/Quantize.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/Elements.h"
#include "dialects/nn/Scalars.h"
#include "dialects/nn/TinyFloats.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/support/DynamicScale.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

bool legalize::isSingle(Value value) {
  RankedTensorType type = typeOf(value);
  return type.hasStaticShape() && type.getNumElements() == 1;
}

Value legalize::toScalar(Node &node, Value value) {
  RankedTensorType type = typeOf(value);
  if (type.getRank() == 0)
    return value;
  return node.make<nn::ReshapeOp>(type.clone(ArrayRef<int64_t>()), value);
}

Value legalize::alongAxis(Node &node, Value value, int64_t rank, int64_t axis) {
  if (isSingle(value))
    return toScalar(node, value);
  SmallVector<int64_t> shape(rank - axis, 1);
  shape[0] = typeOf(value).getDimSize(0);
  return node.make<nn::ReshapeOp>(typeOf(value).clone(shape), value);
}

static bool isStep(double scale) { return scale > 0 && !std::isinf(scale); }

/// Returns true unless scales are known not to be positive and finite.
static bool areSteps(Value scales) {
  auto values = nn::getConstantDoubles(scales);
  return !values || llvm::all_of(*values, isStep);
}

/// Reports the first element of a constant input that `isRight` rejects.
/// `wanted` says what the element must be.
static LogicalResult checkElements(Node &node, size_t i, StringRef name,
                                   function_ref<bool(double)> isRight,
                                   StringRef wanted) {
  auto values = nn::getConstantDoubles(node.input(i));
  if (!values)
    return success();
  for (auto [k, value] : llvm::enumerate(*values))
    if (!isRight(value))
      return node.badElementAt(name, nn::placeOf(k, node.shape(i)),
                               std::to_string(value), wanted);
  return success();
}

LogicalResult legalize::checkScale(Node &node, size_t i, StringRef name) {
  return checkElements(node, i, name, isStep, "finite and above 0");
}

LogicalResult legalize::needInputs(Node &node, ArrayRef<size_t> inputs) {
  for (size_t i : inputs)
    if (!node.has(i))
      return node.invalid("input " + Twine(i) + " is missing");
  return success();
}

Value legalize::saturate(Node &node, Value scaled, Value zeroPoint, Type to) {
  // Zero points of 16 bits, and sums with them, do not fit f16 and bf16.
  Type real = nn::computeType(typeOf(scaled).getElementType());
  Value y = node.make<nn::RoundOp>(node.cast(scaled, real));
  if (zeroPoint)
    y = node.make<nn::AddOp>(y, node.cast(zeroPoint, real));
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  double low = isUnsigned ? 0 : -std::ldexp(1, width - 1);
  double high = std::ldexp(1, isUnsigned ? width : width - 1) - 1;
  y = node.make<nn::ClampOp>(y, node.builder.getF64FloatAttr(low),
                             node.builder.getF64FloatAttr(high));
  // Lets the cast saturate wide types again, because clamping in f32 may leave
  // the largest value plus 1.
  return node.make<nn::CastOp>(typeOf(y).clone(to), y,
                               /*in_range=*/width <= 16);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear
//===----------------------------------------------------------------------===//

/// The way in which scale and zero point broadcast to the data.
enum class Granularity { tensor, axis, block };

static FailureOr<Granularity> granularity(Node &node, int64_t &axis) {
  int64_t rank = node.rank(0);
  if (isSingle(node.input(1)) && node.getInt("block_size", 0) == 0)
    return axis = 0, Granularity::tensor;
  // For a vector, allow axis 1 although a vector has only axis 0, because 1 is
  // the default of the attribute.
  if (rank != 1 || node.getInt("axis", 1) != 1) {
    auto normal = node.normalizeAxis(node.getInt("axis", 1), rank);
    if (failed(normal))
      return failure();
    axis = *normal;
  } else {
    axis = 0;
  }
  if (node.getInt("block_size", 0) != 0)
    return Granularity::block;
  if (node.rank(1) != 1)
    return node.invalid("expects a scale of rank 0 or 1, but got " +
                        Twine(node.rank(1)));
  int64_t size = node.shape(0)[axis], scales = node.shape(1)[0];
  if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(scales) &&
      size != scales)
    return node.invalid("expects " + Twine(size) + " scales, but got " +
                        Twine(scales));
  return Granularity::axis;
}

/// Requires input i to have an entry for each block along the axis.
static LogicalResult checkBlocks(Node &node, size_t i, int64_t axis) {
  RankedTensorType type = node.type(i), data = node.type(0);
  int64_t block = node.getInt("block_size", 0);
  if (!type.hasStaticShape() || !data.hasStaticShape())
    return node.unsupported("blocks with a dynamic dimension; fix it with "
                            "--shape");
  if (type.getRank() != data.getRank() || block < 1)
    return node.invalid("block_size is " + Twine(block) +
                        " and the scale has rank " + Twine(type.getRank()));
  int64_t size = data.getDimSize(axis);
  for (int64_t d = 0; d < data.getRank(); ++d) {
    int64_t want = d == axis ? (size + block - 1) / block : data.getDimSize(d);
    if (type.getDimSize(d) != want)
      return node.invalid("expects " + Twine(want) + " scales in dimension " +
                          Twine(d) + ", but got " + Twine(type.getDimSize(d)));
  }
  return success();
}

/// Repeats each entry of input i along the axis for its block, and cuts off the
/// excess of the last block.
static FailureOr<Value> expandBlocks(Node &node, size_t i, int64_t axis) {
  if (failed(checkBlocks(node, i, axis)))
    return failure();
  RankedTensorType type = node.type(i), data = node.type(0);
  int64_t block = node.getInt("block_size", 0), blocks = type.getDimSize(axis);
  SmallVector<int64_t> split(type.getShape());
  split.insert(split.begin() + axis + 1, 1);
  Value value = node.make<nn::ReshapeOp>(type.clone(split), node.input(i));
  split[axis + 1] = block;
  value = node.make<nn::BroadcastToOp>(type.clone(split), value, ValueRange());
  SmallVector<int64_t> joined(type.getShape());
  joined[axis] = blocks * block;
  value = node.make<nn::ReshapeOp>(type.clone(joined), value);
  SmallVector<int64_t> starts(joined.size(), 0), steps(joined.size(), 1);
  return node.make<nn::SliceOp>(value, starts, data.getShape(), steps);
}

/// Requires the zero point to have the shape of the scale.
static LogicalResult checkZeroPoint(Node &node) {
  if (!node.has(2))
    return success();
  // If one of the two shapes is static, make the other one static as well.
  if (isSingle(node.input(1)))
    pinToOne(node, 2, "the zero point");
  else if (isSingle(node.input(2)))
    pinToOne(node, 1, "the scale");
  else {
    pinInput(node, 2, SmallVector<int64_t>(node.shape(1)), "the zero point");
    pinInput(node, 1, SmallVector<int64_t>(node.shape(2)), "the scale");
  }
  if (isSingle(node.input(1)) != isSingle(node.input(2)) ||
      (!isSingle(node.input(1)) && node.shape(1) != node.shape(2)))
    return node.invalid("scale and zero point have different shapes");
  return success();
}

/// Makes input i, a scale or zero point, broadcast to the data.
static FailureOr<Value> spread(Node &node, size_t i, Granularity kind,
                               int64_t axis) {
  if (kind == Granularity::block)
    return expandBlocks(node, i, axis);
  return alongAxis(node, node.input(i), node.rank(0), axis);
}

/// Quantizes to a small float type. Adds the zero point after the division,
/// because there is no rounding to integers before it. A zero point of 0, which
/// is the usual case, is not added, so that -0 stays -0.
static Value quantizeToTiny(Node &node, Value scaled, Value zeroPoint,
                            Type to) {
  if (zeroPoint && nn::getSplat(zeroPoint) != 0.0) {
    Type real = typeOf(scaled).getElementType();
    Value zero = node.cast(zeroPoint, real);
    Value isNone = node.make<nn::EqualOp>(zero, node.scalar(real, 0));
    scaled = node.make<nn::SelectOp>(isNone, scaled,
                                     node.make<nn::AddOp>(scaled, zero));
  }
  return node.make<nn::CastOp>(typeOf(scaled).clone(to), scaled,
                               /*in_range=*/false,
                               /*saturate=*/node.getInt("saturate", 1) != 0);
}

LogicalResult legalize::legalizeQuantizeLinear(Node &node) {
  Type to = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (int64_t code = node.getInt("output_dtype", 0))
    to = elementTypeOf(node.context(), code);
  else if (node.has(2))
    to = node.elementType(2);
  if (!to)
    return node.invalid("unknown output_dtype");
  if (node.has(2) && to != node.elementType(2))
    return node.invalid("output_dtype is not the type of the zero point");
  if (!to.isInteger() && !nn::tinyFloatOf(to))
    return node.invalid("the zero point is of no type to quantize to");
  int64_t axis = 0;
  auto kind = granularity(node, axis);
  if (failed(kind) || failed(checkZeroPoint(node)) ||
      failed(checkScale(node, 1, "scale")))
    return failure();
  Type precision = node.elementType(1);
  if (int64_t code = node.getInt("precision", 0))
    precision = elementTypeOf(node.context(), code);
  // Scales may be powers of two down to 2^-127, which are denormal in f32.
  if (isa_and_nonnull<Float8E8M0FNUType>(precision))
    precision = node.builder.getF64Type();
  if (!precision || !isa<FloatType>(precision) || nn::tinyFloatOf(precision))
    return node.unsupported("this precision of the division");
  if (*kind == Granularity::block || nn::tinyFloatOf(to)) {
    auto scale = spread(node, 1, *kind, axis);
    FailureOr<Value> zeroPoint = Value();
    if (succeeded(scale) && node.has(2))
      zeroPoint = spread(node, 2, *kind, axis);
    if (failed(scale) || failed(zeroPoint))
      return failure();
    auto scaled = node.infer<nn::DivOp>(node.cast(node.input(0), precision),
                                        node.cast(*scale, precision));
    if (failed(scaled))
      return failure();
    return node.replace(
        to.isInteger() ? saturate(node, *scaled, *zeroPoint, to)
                       : quantizeToTiny(node, *scaled, *zeroPoint, to));
  }
  Value scale = node.cast(node.input(1), precision), zero = node.input(2);
  if (*kind == Granularity::tensor) {
    scale = toScalar(node, scale);
    zero = zero ? toScalar(node, zero) : zero;
  }
  return node.replace(node.make<nn::QuantizeOp>(
      node.type(0).clone(to), node.cast(node.input(0), precision), scale, zero,
      axis));
}

/// Replaces the node by a dequantize_blocks. Inputs are constant. The scale is
/// at least of f32, because scales of float8 may be out of the range of f16.
static LogicalResult replaceByBlocks(Node &node, Type to, int64_t axis) {
  if (failed(checkBlocks(node, 1, axis)))
    return failure();
  Value zero = node.input(2);
  if (zero && nn::getSplat(zero) == 0.0)
    zero = {};
  return node.replace(node.make<nn::DequantizeBlocksOp>(
      node.type(0).clone(to), node.input(0),
      node.cast(node.input(1), nn::computeType(to)), zero, axis,
      node.getInt("block_size", 0)));
}

LogicalResult legalize::legalizeDequantizeLinear(Node &node) {
  Type from = node.elementType(0), to = node.elementType(1);
  if (int64_t code = node.getInt("output_dtype", 0))
    to = elementTypeOf(node.context(), code);
  if (!to || !isa<FloatType>(to) || nn::tinyFloatOf(to))
    return node.unsupported("this output_dtype");
  int64_t axis = 0;
  auto kind = granularity(node, axis);
  if (failed(kind) || failed(checkZeroPoint(node)) ||
      // Allow a negative scale and 0, because dequantization only multiplies by
      // the scale.
      failed(checkElements(
          node, 1, "scale", [](double v) { return std::isfinite(v); },
          "finite")))
    return failure();
  Value x = node.input(0), scale = node.input(1), zero = node.input(2);
  bool ofPowers = isa<Float8E8M0FNUType>(node.elementType(1));
  // Multiply explicitly if scales are not positive. Passes use the scale of a
  // `dequantize` as a quantization step, so it must be positive. Some
  // quantizers write negative scales, so that the largest weight becomes -128.
  // They write 0 for blocks of zeros.
  // Keeps packed weights packed.
  if (*kind == Granularity::block && nn::getConstant(x) &&
      nn::getConstant(scale) && (!zero || nn::getConstant(zero)))
    return replaceByBlocks(node, to, axis);
  if (*kind == Granularity::block || nn::tinyFloatOf(from) || ofPowers ||
      !areSteps(scale)) {
    auto expanded = spread(node, 1, *kind, axis);
    if (failed(expanded))
      return failure();
    // Computes in a wider type. Scales down to 2^-127 and their products are
    // denormal in f32, and int16 values do not fit f16.
    Type wide = ofPowers                          ? node.builder.getF64Type()
                : to.getIntOrFloatBitWidth() < 32 ? node.builder.getF32Type()
                                                  : to;
    Value real = node.cast(x, wide);
    if (zero && nn::getSplat(zero) != 0.0) {
      auto expandedZero = spread(node, 2, *kind, axis);
      if (failed(expandedZero))
        return failure();
      real = node.make<nn::SubOp>(real, node.cast(*expandedZero, wide));
    }
    return node.replace(node.cast(
        node.make<nn::MulOp>(real, node.cast(*expanded, wide)), to));
  }
  if (*kind == Granularity::tensor) {
    scale = toScalar(node, scale);
    zero = zero ? toScalar(node, zero) : zero;
  }
  return node.replace(node.make<nn::DequantizeOp>(
      node.type(0).clone(to), x, node.cast(scale, to), zero, axis));
}

//===----------------------------------------------------------------------===//
// DynamicQuantizeLinear
//===----------------------------------------------------------------------===//

static LogicalResult legalizeDynamicQuantizeLinear(Node &node) {
  support::DynamicBytes made =
      support::quantizeDynamically(node.builder, node.loc(), node.input(0));
  return node.replace({made.bytes, made.scale, made.zeroPoint});
}

void legalize::populateQuantize(Legalizers &legalizers) {
  legalizers.add("DynamicQuantizeLinear", legalizeDynamicQuantizeLinear);
  legalizers.add("QuantizeLinear", legalizeQuantizeLinear);
  legalizers.add("DequantizeLinear", legalizeDequantizeLinear);
}
