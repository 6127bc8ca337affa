//===- QuantizedProducts.cpp - quantized MatMul and Conv ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes products of quantized tensors. The sum of (a - za) (b - zb) over k
// is
//     sum of a b - zb sum of a - za sum of b + K za zb,
// with a of uint8 and b of int8, which kernels multiply. Other types are
// converted by adding 128 to, or subtracting it from, both values and zero
// point. Sums of constants over k are constants. All of this is exact. The
// QLinear operators then scale and quantize the result as ONNX's reference
// does.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/backend/Policy.h"
#include "passes/legalize/nn/WindowAttributes.h"
#include "passes/legalize/quant/ByteOperands.h"
#include "passes/legalize/quant/FloatSums.h"
#include "passes/legalize/quant/Quantize.h"
#include "passes/legalize/quant/Requantize.h"
#include "passes/support/Convolutions.h"
#include "passes/support/DynamicScale.h"
#include "passes/support/ExactSums.h"
#include "passes/support/ExcessWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Returns the sums of constant `value` over `axis`, which is kept, as an i32
/// constant of any size. Returns null if the value is computed.
static Value sumConstant(Node &node, Value value, int64_t axis) {
  auto numbers = nn::getConstantInts(value);
  if (!numbers)
    return {};
  RankedTensorType type = typeOf(value);
  int64_t size = type.getDimSize(axis), behind = 1;
  for (int64_t dim : type.getShape().drop_front(axis + 1))
    behind *= dim;
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  auto summed = RankedTensorType::get(shape, node.builder.getI32Type());
  std::vector<double> sums(summed.getNumElements(), 0);
  for (auto [i, number] : llvm::enumerate(*numbers))
    sums[int64_t(i) / (behind * size) * behind + int64_t(i) % behind] +=
        double(number);
  return nn::makeConstant(node.builder, node.loc(), summed, sums);
}

/// Returns the sum of `value` over `axis`, as i32, times `factor`.
static FailureOr<Value> sumTimes(Node &node, Value value, int64_t axis,
                                 Value factor) {
  Value sum = sumConstant(node, value, axis);
  if (!sum)
    sum = node.create<nn::ReduceOp>(
        node.cast(value, node.builder.getI32Type()), nn::ReduceKind::sum, axis,
        /*keep_dims=*/true);
  return node.infer<nn::MulOp>(sum, factor);
}

Value legalize::alongLines(Node &node, Value value, bool isLeft) {
  if (isSingle(value))
    return toScalar(node, value);
  RankedTensorType type = typeOf(value);
  if (type.getRank() != 1 || !isLeft)
    return value;
  return node.make<nn::ReshapeOp>(type.clone({type.getDimSize(0), 1}), value);
}

/// Returns the i32 product of int8 tensors of rank 2 or more after subtracting
/// their zero points.
static FailureOr<Value> multiplyMatrices(Node &node, Bytes a, Bytes b) {
  FailureOr<Value> y = node.infer<nn::MatMulOp>(
      a.bytes, b.bytes, /*bias=*/Value(), /*transpose_a=*/false,
      /*transpose_b=*/false);
  int64_t inner = typeOf(a.bytes).getRank() - 1;
  auto less = [&](FailureOr<Value> other) {
    if (failed(y) || failed(other))
      y = failure();
    else
      y = node.infer<nn::SubOp>(*y, *other);
  };
  if (a.zero)
    less(sumTimes(node, b.bytes, typeOf(b.bytes).getRank() - 2, a.zero));
  if (b.zero)
    less(sumTimes(node, a.bytes, inner, b.zero));
  if (!a.zero || !b.zero || failed(y))
    return y;
  OpFoldResult depth = sizeOf(node, a.bytes, inner);
  if (!getConstantIntValue(depth))
    depth = sizeOf(node, b.bytes, typeOf(b.bytes).getRank() - 2);
  Type i32 = node.builder.getI32Type();
  Value count;
  if (auto known = getConstantIntValue(depth))
    count = node.scalar(i32, double(*known));
  else
    count = tensor::FromElementsOp::create(
        node.builder, node.loc(), RankedTensorType::get({}, i32),
        arith::IndexCastOp::create(node.builder, node.loc(), i32,
                                   indexValue(node, depth))
            .getResult());
  auto zeros = node.infer<nn::MulOp>(a.zero, b.zero);
  if (failed(zeros))
    return failure();
  auto all = node.infer<nn::MulOp>(*zeros, count);
  if (failed(all))
    return failure();
  return node.infer<nn::AddOp>(*y, *all);
}

/// Multiplies by constant weights that fit int8 after subtracting the zero
/// point, or of which only a few do not. Returns null for other weights.
static FailureOr<Value> multiplySplit(Node &node, Bytes x, Value columns,
                                      Value zero) {
  RankedTensorType type = typeOf(columns);
  const int64_t outputs = type.getShape().back();
  auto weights = lessZeroPoints(columns, zero, type.getRank() - 1);
  if (!weights)
    return Value();
  Remainders remainders;
  if (type.getRank() == 2) {
    auto split = splitMatrix(*weights, outputs, /*hasColumns=*/true);
    if (!split)
      return Value();
    remainders = std::move(*split);
  } else if (!areBytes(*weights)) {
    return Value();
  }
  auto y =
      multiplyMatrices(node, x, {makeBytes(node, columns, *weights), Value()});
  for (const auto &[place, amounts] : remainders) {
    if (failed(y))
      return failure();
    Value data = columnOf(node.builder, node.loc(), x.bytes, place.channel);
    y = addRemainder(node, *y, {data, x.zero}, {outputs}, amounts);
  }
  return y;
}

FailureOr<Value> legalize::multiplyBytes(Node &node, Value rows, Value zeroA,
                                         Value columns, Value zeroB) {
  RankedTensorType left = typeOf(rows), right = typeOf(columns);
  if (left.getRank() == 0 || right.getRank() == 0)
    return node.invalid("operands have rank 0");
  bool isRow = left.getRank() == 1, isColumn = right.getRank() == 1;
  if (isRow)
    rows = node.make<nn::ReshapeOp>(left.clone({1, left.getDimSize(0)}), rows);
  if (isColumn)
    columns = node.make<nn::ReshapeOp>(right.clone({right.getDimSize(0), 1}),
                                       columns);
  Type ui8 = IntegerType::get(node.context(), 8, IntegerType::Unsigned),
       i8 = node.builder.getI8Type();
  auto shaped = [&](bool isLeft) {
    return
        [&node, isLeft](Value zero) { return alongLines(node, zero, isLeft); };
  };
  auto x = withSign(node, rows, zeroA, ui8, shaped(true));
  if (failed(x))
    return failure();
  FailureOr<Value> y = multiplySplit(node, *x, columns, zeroB);
  if (succeeded(y) && !*y) {
    auto w = withSign(node, columns, zeroB, i8, shaped(false));
    if (failed(w))
      return failure();
    y = multiplyMatrices(node, *x, *w);
  }
  if (failed(y) || (!isRow && !isColumn))
    return y;
  SmallVector<int64_t> shape(typeOf(*y).getShape());
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
    return node.unsupported("a vector with dynamic dimensions");
  return node.make<nn::ReshapeOp>(typeOf(*y).clone(shape), *y);
}

static LogicalResult legalizeMatMulInteger(Node &node) {
  auto y = multiplyBytes(node, node.input(0), node.input(2), node.input(1),
                         node.input(3));
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult checkScales(Node &node, ArrayRef<size_t> inputs) {
  for (size_t i : inputs)
    if (failed(checkScale(node, i, "input " + std::to_string(i))))
      return failure();
  return success();
}

static LogicalResult legalizeQLinearMatMul(Node &node) {
  if (failed(checkScales(node, {1, 4, 6})))
    return failure();
  auto y = multiplyBytes(node, node.input(0), node.input(2), node.input(3),
                         node.input(5));
  if (failed(y))
    return failure();
  if (node.rank(6) <= 1 && node.rank(7) <= 1) {
    pinToOne(node, 6, "the output scale");
    pinToOne(node, 7, "the output zero point");
  }
  if (!isSingle(node.input(6)) || !isSingle(node.input(7)))
    return node.unsupported("an output scale of more than one element");
  Value left = alongLines(node, node.input(1), /*isLeft=*/true),
        right = alongLines(node, node.input(4), /*isLeft=*/false);
  FailureOr<Value> ratio =
      ratioOf(node, left, right, toScalar(node, node.input(6)));
  if (failed(ratio))
    return failure();
  std::vector<double> largest =
      largestSums(node, {0, 2}, {3, 5}, node.rank(3) - 1);
  // If rows have separate scales, use the maximum of the bounds, because the
  // scale of a row applies to all columns.
  if (!isSingle(left) && !largest.empty())
    largest = {*llvm::max_element(largest)};
  return requantize(node, *y, *ratio, toScalar(node, node.input(7)), largest);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns `value` as i32 minus its zero point, which broadcasts to it.
static FailureOr<Value> widen(Node &node, Value value, Value zero) {
  Type i32 = node.builder.getI32Type();
  Value wide = node.cast(value, i32);
  if (!zero)
    return wide;
  return node.infer<nn::SubOp>(wide, node.cast(zero, i32));
}

/// Returns the i32 convolution of int8 values. Only x has a zero point, which
/// is also its padding. Sets `made` to the convolution itself.
static FailureOr<Value> convolveSigned(Node &node, Bytes x, Value weights,
                                       nn::ConvOp *made = nullptr) {
  Type ui8 = typeOf(x.bytes).getElementType();
  std::optional<double> known =
      x.zero ? nn::getSplat(x.zero) : std::optional<double>(0);
  Value fill = x.zero ? node.cast(x.zero, ui8) : Value();
  auto y = convolve(node, x.bytes, weights, Value(), fill);
  if (failed(y))
    return failure();
  auto conv = y->getDefiningOp<nn::ConvOp>();
  if (made)
    *made = conv;
  if (known && *known == 0)
    return y;
  if (llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; })) {
    if (known) {
      conv.setXZeroPoint(int64_t(*known));
      return y;
    }
    // Pads with the zero point explicitly if it is computed at run time.
    OpBuilder::InsertionGuard guard(node.builder);
    node.builder.setInsertionPoint(conv);
    auto [padded, pads] = support::padWithZeroPoint(
        node.builder, node.loc(), conv.getX(), node.cast(x.zero, ui8),
        conv.getPads(), conv.getChannelsLast());
    conv.getXMutable().assign(padded);
    conv.setPads(pads);
  }
  // The correction is the same for all sums of an output channel.
  int64_t rank = typeOf(weights).getRank();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  Value sums = node.create<nn::ReduceOp>(
      node.cast(weights, node.builder.getI32Type()), nn::ReduceKind::sum,
      axes, /*keep_dims=*/false);
  auto times = node.infer<nn::MulOp>(sums, x.zero);
  if (failed(times))
    return failure();
  return node.infer<nn::SubOp>(*y, alongAxis(node, *times, rank - 1, 0));
}

namespace {
/// Weights of a convolution as int8 plus remainders.
struct SplitWeights {
  std::vector<double> bytes;
  Remainders remainders;
};
} // namespace

/// Reads constant weights of which at most a few do not fit int8 after
/// subtracting the zero point. Returns nullopt for other weights, and if the
/// remainders need sizes of the data `x` that are open.
static std::optional<SplitWeights> readSplit(Node &node, Value x, size_t w,
                                             size_t zeroW) {
  auto weights = lessZeroPoints(node.input(w), node.input(zeroW), 0);
  if (!weights)
    return std::nullopt;
  auto remainders =
      splitConvWeights(*weights, node.shape(w), node.getInt("group", 1));
  if (!remainders ||
      (!remainders->empty() &&
       llvm::any_of(typeOf(x).getShape().drop_front(2), ShapedType::isDynamic)))
    return std::nullopt;
  return SplitWeights{std::move(*weights), std::move(*remainders)};
}

/// Convolves with weights that `readSplit` reads. Returns null for others.
static FailureOr<Value> convolveSplit(Node &node, Bytes x, size_t w,
                                      size_t zeroW) {
  auto weights = readSplit(node, x.bytes, w, zeroW);
  if (!weights)
    return Value();
  nn::ConvOp conv;
  auto y = convolveSigned(
      node, x, makeBytes(node, node.input(w), weights->bytes), &conv);
  if (failed(y) || !takesRemainders(conv))
    return failed(y) ? y : Value();
  SmallVector<int64_t> shape(conv.getStrides().size() + 1, 1);
  shape[0] = node.shape(w)[0];
  for (const auto &[place, amounts] : weights->remainders) {
    y = addRemainder(node, *y, {dataAt(node.builder, conv, place), x.zero},
                     shape, amounts);
    if (failed(y))
      return failure();
  }
  return y;
}

/// Convolves with constant weights that do not fit int8 after subtracting the
/// zero point, e.g. uint8 weights. Convolves with the unchanged weights, and
/// subtracts the zero point times the window sums of x. A convolution with ones
/// computes these sums. Returns null if several outputs of a group share a
/// window.
static FailureOr<Value> convolveByWindows(Node &node, Bytes x, size_t w,
                                          size_t zeroW) {
  RankedTensorType type = node.type(w);
  int64_t groups = node.getInt("group", 1), outputs = type.getDimSize(0);
  if (!nn::getConstantInts(node.input(w)) || (groups != 1 && groups != outputs))
    return Value();
  Type i8 = node.builder.getI8Type();
  auto weights = withSign(node, node.input(w), node.input(zeroW), i8,
                          [&](Value zero) {
                            return isSingle(zero)
                                       ? toScalar(node, zero)
                                       : alongAxis(node, zero,
                                                   type.getRank() - 1, 0);
                          });
  if (failed(weights))
    return failure();
  auto y = convolveSigned(node, x, weights->bytes);
  if (failed(y) || !weights->zero)
    return y;
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = groups;
  auto ones = RankedTensorType::get(shape, i8);
  auto sums = convolveSigned(
      node, x,
      nn::makeConstant(node.builder, node.loc(), ones,
                       std::vector<double>(ones.getNumElements(), 1)));
  if (failed(sums))
    return failure();
  auto less = node.infer<nn::MulOp>(*sums, weights->zero);
  if (failed(less))
    return failure();
  return node.infer<nn::SubOp>(*y, *less);
}

/// Convolves in f32, which is exact if the sums stay below 2^24. Kernels for
/// bytes of single channels do not add larger sums than f32 holds. Returns null
/// if sums of a part of the window may be larger, or if int8 kernels are
/// faster.
static FailureOr<Value> convolveFloats(Node &node, ByteInputs x,
                                       ByteInputs w) {
  int64_t groups = node.getInt("group", 1);
  ArrayRef<int64_t> shape = node.shape(w.bytes);
  Value weights = groups == 1 ? Value() : floatWeights(node, w);
  if (!weights)
    return Value();
  if (support::areDepthwise(shape, groups)
          ? support::areSumsExact(*nn::getConstantDoubles(weights), shape[0])
          : !Policy::of(node.op).multiplyGroupsAsFloats(shape, groups).choice &&
                readSplit(node, node.input(x.bytes), w.bytes, w.zeroPoint))
    return Value();
  Type real = node.builder.getF32Type();
  Value data = node.cast(node.input(x.bytes), real);
  double most = 255;
  if (Value zero = node.input(x.zeroPoint)) {
    const double least = nn::isUnsigned(node.elementType(x.bytes)) ? 0 : -128;
    if (auto known = nn::getSplat(zero))
      most = std::max(*known - least, least + most - *known);
    auto less =
        node.infer<nn::SubOp>(data, node.cast(toScalar(node, zero), real));
    if (failed(less))
      return failure();
    data = *less;
  }
  return convolveAsFloats(node, data, weights, most);
}

/// Returns the i32 convolution of inputs `x` and `w`, less zero points. The
/// padding is the zero point of x.
static FailureOr<Value> convolveBytes(Node &node, size_t x, size_t zeroX,
                                      size_t w, size_t zeroW) {
  if (node.rank(x) < 3 || node.rank(w) != node.rank(x))
    return node.invalid("data and weights need one rank of at least 3");
  if (node.has(zeroX) && node.rank(zeroX) <= 1)
    pinToOne(node, zeroX, "the zero point of the data");
  if (node.has(zeroX) && !isSingle(node.input(zeroX)))
    return node.unsupported("a zero point of more than one element for input " +
                            Twine(zeroX));
  if (node.has(zeroW) && node.rank(zeroW) > 1)
    return node.unsupported("a zero point of rank " +
                            Twine(node.rank(zeroW)) + " for input " +
                            Twine(zeroW));
  auto floats = convolveFloats(node, {x, zeroX}, {w, zeroW});
  if (failed(floats) || *floats)
    return floats;
  Type ui8 = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  auto bytes = withSign(node, node.input(x), node.input(zeroX), ui8,
                        [&](Value zero) { return toScalar(node, zero); });
  if (failed(bytes))
    return failure();
  if (Value weights = foldZeroPoint(node, node.input(w), node.input(zeroW), 0))
    return convolveSigned(node, *bytes, weights);
  for (auto convolveWide : {convolveSplit, convolveByWindows}) {
    auto y = convolveWide(node, *bytes, w, zeroW);
    if (failed(y) || *y)
      return y;
  }
  // Multiplies i32 values in the remaining cases, which are rare. The weights
  // are computed, or they do not fit int8 after subtracting the zero point and
  // several outputs of a group share a window.
  Value zero = node.has(zeroX) ? toScalar(node, node.input(zeroX)) : Value();
  Value weightZero = node.input(zeroW);
  if (weightZero)
    weightZero = alongAxis(node, weightZero, node.rank(w), 0);
  auto wideX = widen(node, node.input(x), zero);
  auto wideW = widen(node, node.input(w), weightZero);
  if (failed(wideX) || failed(wideW))
    return failure();
  return convolve(node, *wideX, *wideW, Value());
}

static LogicalResult legalizeConvInteger(Node &node) {
  auto y = convolveBytes(node, 0, 2, 1, 3);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeQLinearConv(Node &node) {
  for (size_t i : {1, 2, 6, 7})
    if (!isSingle(node.input(i)))
      return node.unsupported("a scale of more than one element for input " +
                              Twine(i));
  if (failed(checkScales(node, {1, 4, 6})))
    return failure();
  auto y = convolveBytes(node, 0, 2, 3, 5);
  if (failed(y))
    return failure();
  if (node.has(8)) {
    y = node.infer<nn::AddOp>(
        *y, alongAxis(node, node.input(8), node.rank(0) - 1, 0));
    if (failed(y))
      return failure();
  }
  // The weights have one scale per output channel, which is dimension 1 of the
  // result.
  FailureOr<Value> ratio =
      ratioOf(node, toScalar(node, node.input(1)),
              alongAxis(node, node.input(4), node.rank(0) - 1, 0),
              toScalar(node, node.input(6)));
  if (failed(ratio))
    return failure();
  std::vector<double> largest = largestSums(node, {0, 2}, {3, 5}, 0);
  addBias(node, largest, 8);
  return requantize(node, *y, *ratio, toScalar(node, node.input(7)), largest);
}

void legalize::populateQuantizedProducts(Legalizers &legalizers) {
  legalizers.add("ConvInteger", legalizeConvInteger);
  legalizers.add("MatMulInteger", legalizeMatMulInteger);
  legalizers.add("QLinearConv", legalizeQLinearConv);
  legalizers.add("QLinearMatMul", legalizeQLinearMatMul);
}
