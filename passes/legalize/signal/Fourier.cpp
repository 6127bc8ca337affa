//===- Fourier.cpp - DFT, STFT --------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes DFT and STFT. Short transforms of a few hundred points become
// products with constant matrices of cosines and sines, which run at matrix
// speed. Transforms of many points become transforms of the factors of their
// length (Cooley and Tukey, 1965). For example, 1024 points as 32 by 32 need a
// sixteenth of the multiplications. FastFourier handles other long lengths, and
// lengths that are known at run time only.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/legalize/signal/ComputedFourier.h"
#include "passes/legalize/signal/FastFourier.h"
#include "passes/support/RunChecks.h"
#include "passes/support/Thresholds.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// Real and imaginary parts. The imaginary part is null if it is zero.
struct Complex {
  Value re, im;
};

/// A transform of `length` points. It reads only the first `inputs` points, and
/// computes only the first `outputs` points of the result.
struct Transform {
  int64_t length, inputs, outputs;
  bool inverse = false;
  /// True if the inputs are half a spectrum and the outputs are real.
  bool fromHalf = false;
};

} // namespace

/// Limit of the elements of a constant.
constexpr int64_t kMaxMatrixElements = int64_t(1) << 22;

/// Returns two factors of the length whose transforms need far fewer
/// multiplications, or nullopt.
static std::optional<std::pair<int64_t, int64_t>>
factorsOf(const Transform &transform, bool isComplex) {
  int64_t length = transform.length;
  if (transform.fromHalf || length < threshold::fourierLength ||
      length > kMaxMatrixElements)
    return std::nullopt;
  int64_t parts = isComplex ? 4 : 2;
  int64_t least =
      parts * transform.inputs * transform.outputs / threshold::fourierGain;
  std::optional<std::pair<int64_t, int64_t>> best;
  for (int64_t first = 2; first * 2 <= length; ++first) {
    int64_t second = length / first;
    if (first * second != length ||
        std::max(first, second) > kMaxMatrixElements / std::max(first, second))
      continue;
    int64_t outputs = llvm::divideCeil(transform.outputs, first);
    int64_t products = length * (parts * first + 4 * outputs);
    if (products <= least) {
      least = products - 1;
      best = {first, second};
    }
  }
  return best;
}

static LogicalResult checkSize(Node &node, const Transform &transform) {
  if (transform.length < 1 || transform.outputs < 1 ||
      transform.length > kMaxPoints)
    return node.invalid("a transform of " + Twine(transform.length) +
                        " points");
  return success();
}

/// Returns true if products with constant matrices are faster than FastFourier
/// and their constants are small enough.
static bool isWorthMatrices(const Transform &transform) {
  return transform.inputs <= threshold::fourierMatrix / transform.outputs ||
         factorsOf(transform, /*isComplex=*/false);
}

/// Returns the matrix of scaled cosines or sines of 2 pi n k / length.
static Value waves(Node &node, Type element, const Transform &transform,
                   bool sine) {
  std::vector<double> values;
  values.reserve(transform.inputs * transform.outputs);
  for (int64_t n = 0; n < transform.inputs; ++n) {
    double scale = transform.inverse ? 1.0 / double(transform.length) : 1;
    // Counts a point of half a spectrum twice, because it also stands for its
    // mirror image.
    if (transform.fromHalf && n != 0 && 2 * n != transform.length)
      scale *= 2;
    for (int64_t k = 0; k < transform.outputs; ++k) {
      // Reduces n k before scaling, so that large products stay exact.
      double angle = 2 * M_PI * double((n * k) % transform.length) /
                     double(transform.length);
      values.push_back(scale * (sine ? std::sin(angle) : std::cos(angle)));
    }
  }
  auto type =
      RankedTensorType::get({transform.inputs, transform.outputs}, element);
  return nn::makeConstant(node.builder, node.loc(), type, values);
}

/// Splits the last dimension of x into (rows, columns), and swaps the two.
static Value fold(Node &node, Value x, int64_t rows, int64_t columns) {
  if (!x)
    return x;
  Sizes sizes = sizesOf(node, x);
  sizes.back() = sizeAttr(node, rows);
  sizes.push_back(sizeAttr(node, columns));
  return moveAxis(node, reshape(node, x, sizes), sizes.size() - 1,
                  sizes.size() - 2);
}

/// Combines the products of complex numbers with cosines and sines. A forward
/// transform rotates in the other direction.
static Complex addParts(Node &node, Value reCos, Value reSin, Value imCos,
                        Value imSin, bool inverse) {
  if (inverse)
    return {node.make<nn::SubOp>(reCos, imSin),
            node.make<nn::AddOp>(reSin, imCos)};
  return {node.make<nn::AddOp>(reCos, imSin),
          node.make<nn::SubOp>(imCos, reSin)};
}

static FailureOr<Complex> apply(Node &node, Complex x,
                                const Transform &transform);

/// Transforms x[n], with n = n1 N2 + n2. Applies transforms of N1 points over
/// n1, rotates the points by their angles, and applies transforms of N2 points
/// over n2. The result is y[k], with k = k2 N1 + k1.
static FailureOr<Complex> applyFactors(Node &node, Complex x,
                                       const Transform &transform,
                                       std::pair<int64_t, int64_t> factors) {
  int64_t first = factors.first, second = factors.second;
  Type element = typeOf(x.re).getElementType();
  int64_t rank = typeOf(x.re).getRank();
  auto whole = [&](Value v) -> FailureOr<Value> {
    if (!v || transform.inputs == transform.length)
      return v;
    SmallVector<int64_t> low(rank, 0), high = low;
    high.back() = transform.length - transform.inputs;
    return node.infer<nn::PadOp>(v, scalar(node, element, 0), low, high,
                                 nn::PadMode::constant);
  };
  auto re = whole(x.re), im = whole(x.im);
  if (failed(re) || failed(im))
    return failure();
  // Shapes: (…, n2, n1), then (…, n2, k1).
  auto inner = apply(node,
                     {fold(node, *re, first, second),
                      fold(node, *im, first, second)},
                     {first, first, first, transform.inverse});
  if (failed(inner))
    return failure();
  Transform all = {transform.length, second, first};
  Value cosines = waves(node, element, all, /*sine=*/false),
        sines = waves(node, element, all, /*sine=*/true);
  auto times = [&](Value a, Value b) { return binary<nn::MulOp>(node, a, b); };
  Value reCos = times(inner->re, cosines), reSin = times(inner->re, sines),
        imCos = times(inner->im, cosines), imSin = times(inner->im, sines);
  Complex timesRootOfUnity =
      addParts(node, reCos, reSin, imCos, imSin, transform.inverse);
  // Shapes: (…, k1, n2), then (…, k1, k2). Only the first outputs are kept.
  auto exchange = [&](Value v) { return moveAxis(node, v, rank, rank - 1); };
  int64_t outputs = llvm::divideCeil(transform.outputs, first);
  auto outer = apply(
      node, {exchange(timesRootOfUnity.re), exchange(timesRootOfUnity.im)},
      {second, second, outputs, transform.inverse});
  if (failed(outer))
    return failure();
  auto flat = [&](Value v) {
    Sizes sizes = sizesOf(node, v);
    sizes.pop_back();
    sizes.back() = sizeAttr(node, outputs * first);
    return sliceAxis(node, reshape(node, exchange(v), sizes), rank - 1, 0,
                     transform.outputs);
  };
  return Complex{flat(outer->re), flat(outer->im)};
}

/// Transforms the last dimension.
static FailureOr<Complex> apply(Node &node, Complex x,
                                const Transform &transform) {
  if (auto factors = factorsOf(transform, x.im != nullptr))
    return applyFactors(node, x, transform, *factors);
  Type element = typeOf(x.re).getElementType();
  Value cosines = waves(node, element, transform, /*sine=*/false);
  Value sines = waves(node, element, transform, /*sine=*/true);
  auto times = [&](Value a, Value b) {
    return node.infer<nn::MatMulOp>(a, b, Value(), false, false);
  };
  auto reCos = times(x.re, cosines), reSin = times(x.re, sines);
  if (failed(reCos) || failed(reSin))
    return failure();
  Complex y;
  if (!x.im) {
    y.re = *reCos;
    y.im = transform.inverse ? *reSin : node.make<nn::NegOp>(*reSin);
    return y;
  }
  auto imCos = times(x.im, cosines), imSin = times(x.im, sines);
  if (failed(imCos) || failed(imSin))
    return failure();
  return addParts(node, *reCos, *reSin, *imCos, *imSin, transform.inverse);
}

/// Splits data into real and imaginary parts. The last dimension has 1 (real)
/// or 2 (complex) elements.
static Complex split(Node &node, Value x) {
  int64_t last = typeOf(x).getRank() - 1;
  Sizes sizes = sizesOf(node, x);
  int64_t parts = typeOf(x).getDimSize(last);
  sizes.pop_back();
  auto part = [&](int64_t i) {
    return reshape(node, sliceAxis(node, x, last, i, 1), sizes);
  };
  return {part(0), parts == 2 ? part(1) : Value()};
}

static Value join(Node &node, Complex y, bool real) {
  Sizes sizes = sizesOf(node, y.re);
  sizes.push_back(sizeAttr(node, 1));
  Value re = reshape(node, y.re, sizes);
  if (real)
    return re;
  return concat(node, {re, reshape(node, y.im, sizes)}, sizes.size() - 1);
}

/// Returns the single integer of optional input i, or nullopt if it is left
/// out.
static FailureOr<std::optional<int64_t>> readScalar(Node &node, size_t i,
                                                    StringRef name) {
  if (!node.has(i))
    return std::optional<int64_t>();
  auto values = node.getConstantInts(i);
  if (!values)
    return node.unsupported("a computed " + name);
  if (values->size() != 1)
    return node.invalid(name + " is not a scalar");
  return std::optional<int64_t>((*values)[0]);
}

/// Reports a given length that is not positive.
static LogicalResult checkLength(Node &node, std::optional<int64_t> length,
                                 StringRef name) {
  if (length && *length < 1)
    return node.badElement(name, std::nullopt, Twine(*length), "at least 1");
  return success();
}

/// Checks that the last dimension of input 0 is 1 (real) or 2 (complex).
static LogicalResult checkParts(Node &node) {
  int64_t rank = node.rank(0);
  if (rank < 2)
    return node.invalid("expects data of rank 2 or more, but got " +
                        Twine(rank));
  int64_t parts = node.shape(0).back();
  if (ShapedType::isDynamic(parts))
    return node.unsupported("an open last dimension, which is 1 for real and 2 "
                            "for complex numbers; fix it with --shape");
  if (parts != 1 && parts != 2)
    return node.invalid("expects a last dimension of 1 or 2");
  return success();
}

static LogicalResult legalizeDFT(Node &node) {
  if (failed(checkParts(node)))
    return failure();
  if (auto length = node.getConstantInts(1); length && length->size() == 1)
    if (failed(checkLength(node, length->front(), "dft_length")))
      return failure();
  int64_t rank = node.rank(0);
  int64_t axisValue = node.getInt("axis", 1);
  if (node.opset >= 20 && node.has(2) && !node.getConstantInts(2))
    return legalizeComputedDFT(node, std::nullopt);
  if (node.opset >= 20) {
    auto axis = readScalar(node, 2, "axis");
    if (failed(axis))
      return failure();
    axisValue = axis->value_or(-2);
  }
  auto axis = node.normalizeAxis(axisValue, rank);
  if (failed(axis))
    return failure();
  if (*axis == rank - 1)
    return node.badElement("axis", std::nullopt, Twine(axisValue),
                           "other than that of real and imaginary parts");
  if (node.has(1) && !node.getConstantInts(1))
    return legalizeComputedDFT(node, *axis);
  auto given = readScalar(node, 1, "dft_length");
  if (failed(given))
    return failure();
  bool inverse = node.getInt("inverse", 0),
       oneSided = node.getInt("onesided", 0);
  int64_t size = node.shape(0)[*axis];
  if (ShapedType::isDynamic(size))
    return legalizeComputedDFT(node, *axis);

  Transform transform;
  transform.inverse = inverse;
  transform.fromHalf = inverse && oneSided;
  transform.length =
      given->value_or(transform.fromHalf ? 2 * (size - 1) : size);
  int64_t half = transform.length / 2 + 1;
  transform.outputs = oneSided && !inverse ? half : transform.length;
  // Leaves out the rows of the transform for missing data, which are zeros.
  transform.inputs =
      std::min(size, transform.fromHalf ? half : transform.length);
  if (transform.inputs < 1)
    return node.invalid("an empty axis");
  if (failed(checkSize(node, transform)))
    return failure();
  if (!isWorthMatrices(transform))
    return legalizeComputedDFT(node, *axis);

  Value x = sliceAxis(node, node.input(0), *axis, 0, transform.inputs);
  Complex parts = split(node, x);
  // Moves the axis to the end, and back after the transform.
  SmallVector<int64_t> perm, back(rank - 1);
  for (int64_t d = 0; d < rank - 1; ++d)
    if (d != *axis)
      perm.push_back(d);
  perm.push_back(*axis);
  for (auto [to, from] : llvm::enumerate(perm))
    back[from] = to;
  auto last = [&](Value v) {
    v = v ? transpose(node, v, perm) : v;
    return v && rank == 2 ? unsqueeze(node, v, {0}) : v;
  };
  auto y = apply(node, {last(parts.re), last(parts.im)}, transform);
  if (failed(y))
    return failure();
  auto restore = [&](Value v) {
    if (rank == 2)
      v = reshape(node, v, ArrayRef<int64_t>{transform.outputs});
    return transpose(node, v, back);
  };
  Complex result{restore(y->re), restore(y->im)};
  return node.replace(join(node, result, /*real=*/transform.fromHalf));
}

/// Returns the indices of the frames' elements in a signal of static size.
static Value listPositions(Node &node, int64_t size, int64_t frame,
                           int64_t hop) {
  int64_t frames = (size - frame) / hop + 1;
  if (frames > kMaxMatrixElements / frame) {
    (void)node.unsupported("a signal of " + Twine(size) + " samples");
    return Value();
  }
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < frames; ++i)
    for (int64_t k = 0; k < frame; ++k)
      positions.push_back(i * hop + k);
  return intConstant(node, positions, {frames, frame});
}

/// Computes the indices for a signal of dynamic size or a computed step. A
/// signal that is too short has no frames.
static Value computePositions(Node &node, int64_t frame, OpFoldResult hop) {
  auto n = [&](int64_t size) { return sizeAttr(node, size); };
  OpFoldResult size = sizeOf(node, node.input(0), 1);
  // Computes (size - frame) / hop + 1, at least 0.
  OpFoldResult room = subSizes(node, addSizes(node, size, hop), n(frame));
  OpFoldResult frames = divSizes(node, maxSizes(node, room, n(0)), hop);
  Value step = indexValue(node, hop);
  Type wide = node.builder.getI64Type();
  return generate(node, wide, {frames, n(frame)},
                  [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                    Indices index{b, loc};
                    Value position =
                        index.add(index.mul(at[0], step), at[1]);
                    return arith::IndexCastOp::create(b, loc, wide, position);
                  });
}

static LogicalResult legalizeSTFT(Node &node) {
  // Exporters also write a real signal without the last dimension of 1.
  bool isPlain = node.rank(0) == 2;
  if (!isPlain && failed(checkParts(node)))
    return failure();
  if (!isPlain && node.rank(0) != 3)
    return node.invalid("expects a signal of rank 3, but got " +
                        Twine(node.rank(0)));
  bool isWindowOpen = !node.has(3) && node.has(2) && node.rank(2) == 1 &&
                      node.type(2).isDynamicDim(0);
  if (isWindowOpen || (node.has(3) && !node.getConstantInts(3)))
    return legalizeComputedSTFT(node);
  bool isStepComputed = node.has(1) && !node.getConstantInts(1);
  FailureOr<std::optional<int64_t>> step = std::optional<int64_t>(1);
  if (!isStepComputed)
    step = readScalar(node, 1, "frame_step");
  auto length = readScalar(node, 3, "frame_length");
  if (failed(step) || failed(length) ||
      failed(checkLength(node, *step, "frame_step")))
    return failure();
  int64_t size = node.shape(0)[1];
  if (!*length && node.has(2) && node.rank(2) == 1)
    *length = node.shape(2)[0];
  bool isDynamic = ShapedType::isDynamic(size);
  if (isDynamic && !*length)
    return node.unsupported("a dynamic frame length; fix it with --shape");
  int64_t frame = length->value_or(size), hop = step->value_or(0);
  if (*length && (frame < 1 || (!isDynamic && frame > size)))
    return node.badElement("frame_length", std::nullopt, Twine(frame),
                           isDynamic ? "at least 1"
                                     : nn::describeRange({1, size}));
  if (frame < 1 || hop < 1 || (!isDynamic && frame > size))
    return node.invalid("frames of " + Twine(frame) + " every " + Twine(hop) +
                        " of " + Twine(size) + " samples");
  Transform transform;
  transform.length = transform.inputs = frame;
  bool oneSided = node.getInt("onesided", 1);
  transform.outputs = oneSided ? frame / 2 + 1 : frame;
  if (failed(checkSize(node, transform)))
    return failure();
  if (!isWorthMatrices(transform))
    return legalizeComputedSTFT(node);
  Value at;
  if (isStepComputed) {
    auto computed = computedScalar(node, 1, "frame_step");
    if (failed(computed))
      return failure();
    Indices i{node.builder, node.loc()};
    require(node.builder, node.loc(), i.less(i.n(0), *computed),
            "frame_step is {0}, but must be at least 1", {*computed});
    at = computePositions(node, frame, OpFoldResult(*computed));
  } else {
    at = isDynamic ? computePositions(node, frame, sizeAttr(node, hop))
                   : listPositions(node, size, frame, hop);
  }
  if (!at)
    return failure();
  Value window = node.input(2);
  bool fits = true;
  auto take = [&](Value v) -> Value {
    if (!v)
      return v;
    Value taken = node.make<nn::GatherOp>(v, at, /*axis=*/1);
    if (!window)
      return taken;
    auto weighted = node.infer<nn::MulOp>(taken, window);
    fits &= succeeded(weighted);
    return fits ? *weighted : Value();
  };
  Complex parts = isPlain ? Complex{node.input(0), Value()}
                          : split(node, node.input(0));
  parts = {take(parts.re), take(parts.im)};
  if (!fits)
    return failure();
  auto y = apply(node, parts, transform);
  return failed(y) ? failure() : node.replace(join(node, *y, /*real=*/false));
}

void legalize::populateFourier(Legalizers &legalizers) {
  legalizers.add("DFT", legalizeDFT);
  legalizers.add("STFT", legalizeSTFT);
}
