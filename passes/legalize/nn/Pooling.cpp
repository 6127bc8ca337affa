//===- Pooling.cpp - MaxPool, AveragePool, LpPool, MaxUnpool --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/nn/WindowAttributes.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

namespace {

/// A pooling window and its data. The data are padded if a dynamic dimension
/// decides the pads of auto_pad. `cut` are the sizes for `cutWindows`.
struct PoolAttributes {
  WindowAttributes window;
  Value x;
  Sizes cut;
};

} // namespace

/// Reads a pooling of `x`, which has its channels first. `fill` is the value of
/// the padding; null means 0.
static FailureOr<PoolAttributes> readPool(Node &node, Value x,
                                          Value fill = {}) {
  if (!x)
    return node.invalid("data is needed");
  RankedTensorType type = typeOf(x);
  if (type.getRank() < 3)
    return node.invalid("data needs rank 3 or more, but has rank " +
                        Twine(type.getRank()));
  auto kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.invalid("kernel_shape is missing");
  if (int64_t(kernel->size()) != type.getRank() - 2)
    return node.invalid("kernel_shape needs " + Twine(type.getRank() - 2) +
                        " elements, but has " + Twine(kernel->size()));
  auto window = readWindow(node, *kernel);
  if (failed(window))
    return failure();
  PoolAttributes pool{*window, x, {}};
  auto data = resolveAutoPad(node, pool.window, x, fill);
  if (failed(data))
    return failure();
  pool.x = *data;
  return pool;
}

static Value zeroOf(Node &node, Value x) {
  return x ? scalar(node, typeOf(x).getElementType(), 0) : Value();
}

/// Returns the lowest value of the element type, as a scalar.
static Value lowestOf(Node &node, Value x) {
  if (!x)
    return x;
  Type element = typeOf(x).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  double lowest = -std::numeric_limits<double>::infinity();
  if (integer)
    lowest = integer.isUnsigned() ? 0 : -std::ldexp(1, integer.getWidth() - 1);
  return scalar(node, element, lowest);
}

static LogicalResult legalizeMaxPool(Node &node) {
  auto pool = readPool(node, node.input(0), lowestOf(node, node.input(0)));
  if (failed(pool) ||
      failed(resolveCeilMode(node, pool->window, pool->x, pool->cut)))
    return failure();
  WindowAttributes &window = pool->window;
  if (node.isUsed(1)) {
    if (pool->x != node.input(0))
      return node.unsupported("indices with auto_pad and a dynamic spatial "
                              "dimension; fix it with --shape");
    auto both = node.inferOp<nn::MaxPoolWithIndicesOp>(
        pool->x, window.kernel, window.strides, window.pads, window.dilations,
        node.getInt("storage_order", 0) != 0);
    if (failed(both))
      return failure();
    return node.replace({cutWindows(node, both->getY(), pool->cut),
                         cutWindows(node, both->getIndices(), pool->cut)});
  }
  auto y = node.infer<nn::MaxPoolOp>(
      pool->x, window.kernel, window.strides, window.pads, window.dilations,
      /*channels_last=*/false);
  return failed(y) ? failure() : node.replace(cutWindows(node, *y, pool->cut));
}

/// Pads the spatial dimensions of x with zeros.
static FailureOr<Value> padZeros(Node &node, Value x, ArrayRef<int64_t> pads) {
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  size_t n = pads.size() / 2;
  SmallVector<int64_t> low(2, 0), high(2, 0);
  llvm::append_range(low, pads.take_front(n));
  llvm::append_range(high, pads.drop_front(n));
  return node.infer<nn::PadOp>(x, scalar(node, typeOf(x).getElementType(), 0),
                               low, high, nn::PadMode::constant);
}

/// Averages the windows of padded data without counting the padding. Pools a
/// tensor of ones, padded with zeros in the same way, so that its mean is the
/// share of data in a window. Divides by this mean.
static FailureOr<Value> meanOfData(Node &node, Value x,
                                   const PoolAttributes &pool) {
  Sizes sizes = sizesOf(node, x);
  sizes[0] = sizes[1] = sizeAttr(node, 1);
  Type element = typeOf(x).getElementType();
  auto isData = readPool(node, filled(node, element, 1, sizes),
                         scalar(node, element, 0));
  if (failed(isData))
    return failure();
  auto mean = [&](Value of) {
    const WindowAttributes &window = pool.window;
    return node.infer<nn::AvgPoolOp>(of, window.kernel, window.strides,
                                     window.pads, window.dilations,
                                     /*channels_last=*/false,
                                     /*count_include_pad=*/false);
  };
  auto sum = mean(pool.x), count = mean(isData->x);
  if (failed(sum) || failed(count))
    return failure();
  return node.infer<nn::DivOp>(*sum, *count);
}

FailureOr<Value> legalize::averagePool(Node &node, Value x) {
  auto pool = readPool(node, x, zeroOf(node, x));
  if (failed(pool))
    return failure();
  bool countPads = node.getInt("count_include_pad", 0) != 0;
  WindowAttributes stated = pool->window, &grown = pool->window;
  if (failed(resolveCeilMode(node, grown, pool->x, pool->cut)))
    return failure();
  FailureOr<Value> y = failure();
  if (pool->x != x && !countPads) {
    y = meanOfData(node, x, *pool);
    return failed(y) ? y : cutWindows(node, *y, pool->cut);
  }
  if (countPads && grown.pads != stated.pads) {
    // Counts the stated padding, but not the padding that ceil_mode adds.
    auto padded = padZeros(node, pool->x, stated.pads);
    if (failed(padded))
      return failure();
    pool->x = *padded;
    for (size_t i = 0, e = grown.pads.size(); i < e; ++i)
      grown.pads[i] -= stated.pads[i];
    countPads = false;
  }
  y = node.infer<nn::AvgPoolOp>(pool->x, grown.kernel, grown.strides,
                                grown.pads, grown.dilations,
                                /*channels_last=*/false, countPads);
  return failed(y) ? y : cutWindows(node, *y, pool->cut);
}

static LogicalResult legalizeAveragePool(Node &node) {
  if (!node.has(0))
    return node.invalid("data is needed");
  auto y = averagePool(node, node.input(0));
  return failed(y) ? failure() : node.replace(*y);
}

/// Computes (sum |x|^p)^(1/p) as (mean |x|^p * window)^(1/p), with zeros in the
/// padding.
static LogicalResult legalizeLpPool(Node &node) {
  auto pool = readPool(node, node.input(0), zeroOf(node, node.input(0)));
  if (failed(pool) ||
      failed(resolveCeilMode(node, pool->window, pool->x, pool->cut)))
    return failure();
  WindowAttributes &window = pool->window;
  int64_t p = node.getInt("p", 2), count = 1;
  if (p < 1)
    return node.invalid("p is " + Twine(p));
  for (int64_t size : window.kernel)
    count *= size;
  Type type = node.elementType(0);
  Value x = unary<nn::AbsOp>(node, pool->x);
  Value power =
      p == 1   ? x
      : p == 2 ? binary<nn::MulOp>(node, x, x)
               : binary<nn::PowOp>(node, x, scalar(node, type, p));
  auto mean = node.infer<nn::AvgPoolOp>(
      power, window.kernel, window.strides, window.pads, window.dilations,
      /*channels_last=*/false, /*count_include_pad=*/true);
  if (failed(mean))
    return failure();
  Value sum = binary<nn::MulOp>(node, *mean, scalar(node, type, count));
  Value y = p == 1 ? sum
            : p == 2
                ? unary<nn::SqrtOp>(node, sum)
                : binary<nn::PowOp>(node, sum, scalar(node, type, 1.0 / p));
  return node.replace(cutWindows(node, y, pool->cut));
}

/// Puts `y` at the start of a tensor of zeros with dynamic sizes.
static Value growOpen(Node &node, Value y, ArrayRef<OpFoldResult> sizes) {
  Sizes own = sizesOf(node, y), kept, all;
  for (auto [size, mine] : llvm::zip_equal(sizes, own)) {
    all.push_back(maxSizes(node, size, sizeAttr(node, 0)));
    kept.push_back(minSizes(node, all.back(), mine));
  }
  Sizes zeros(own.size(), sizeAttr(node, 0));
  return setPart(node, filled(node, typeOf(y).getElementType(), 0, all),
                 takePart(node, y, zeros, kept), zeros);
}

/// Returns the data of the MaxPool that gives `indices`, or null if another op
/// gives them.
static Value findPooled(Value indices) {
  // Looks through the slices that cut the extra windows of ceil_mode.
  while (Operation *op = indices.getDefiningOp()) {
    if (auto pool = dyn_cast<nn::MaxPoolWithIndicesOp>(op))
      return pool.getX();
    if (!isa<nn::SliceOp, tensor::CastOp, tensor::ExtractSliceOp>(op))
      break;
    indices = op->getOperand(0);
  }
  return {};
}

/// Computes the sizes that the windows of a MaxUnpool cover.
static FailureOr<Sizes> coveredBy(Node &node, const WindowAttributes &window) {
  Sizes sizes = sizesOf(node, node.input(0));
  size_t n = window.size();
  for (size_t i = 0; i < n; ++i) {
    OpFoldResult &size = sizes[2 + i];
    int64_t more = window.kernel[i] - window.strides[i] - window.pads[i] -
                   window.pads[n + i];
    OpFoldResult steps =
        mulSizes(node, size, sizeAttr(node, window.strides[i]));
    if (auto known = getConstantIntValue(steps)) {
      if (*known + more < 1)
        return node.invalid("pads leave no output");
    } else if (more < 0 &&
               failed(requireFit(node, nn::SizeRelation::atLeast, steps,
                                 sizeAttr(node, -more),
                                 "pads leave no output: the windows reach {0} "
                                 "elements, but need at least {1}"))) {
      return failure();
    }
    size = addSizes(node, steps, sizeAttr(node, more));
  }
  return sizes;
}

/// Reads output_shape for a result of `rank` dimensions.
static FailureOr<Sizes> readOutputShape(Node &node, int64_t rank) {
  pinInput(node, 2, {rank}, "output_shape");
  auto wanted = elementsOf(node, node.input(2));
  if (failed(wanted))
    return failure();
  if (int64_t(wanted->size()) != rank)
    return node.badLength("output_shape", wanted->size(), Twine(rank));
  if (failed(
          node.checkElements(2, "output_shape", {0, nn::kMostElements})))
    return failure();
  return wanted;
}

/// Replaces `sizes` by `wanted` if `wanted` are the sizes of the MaxPool's
/// data, because the indices refer to these sizes.
static void takePooledSizes(Node &node, ArrayRef<OpFoldResult> wanted,
                            Sizes &sizes) {
  Value pooled = findPooled(node.input(1));
  if (!pooled || typeOf(pooled).getRank() != int64_t(sizes.size()))
    return;
  Indices i{node.builder, node.loc()};
  Value isPooled;
  for (auto [size, data] : llvm::zip_equal(wanted, sizesOf(node, pooled))) {
    if (isSameSize(size, data))
      continue;
    if (getConstantIntValue(size) && getConstantIntValue(data))
      return;
    Value isSame = i.equal(indexValue(node, size), indexValue(node, data));
    isPooled = isPooled ? i.both(isPooled, isSame) : isSame;
  }
  for (auto [size, other] : llvm::zip_equal(sizes, wanted))
    if (!isSameSize(size, other))
      size = isPooled ? OpFoldResult(i.choose(isPooled,
                                              indexValue(node, other),
                                              indexValue(node, size)))
                      : other;
}

/// Puts `y` of `sizes` at the start of a tensor of zeros with sizes `wanted`.
static FailureOr<Value> growTo(Node &node, Value y,
                               ArrayRef<OpFoldResult> sizes,
                               ArrayRef<OpFoldResult> wanted) {
  // Rejects a smaller result, which would have no room for all values of the
  // indices.
  for (size_t i = 2; i < sizes.size(); ++i)
    if (failed(requireFit(node, nn::SizeRelation::atLeast, wanted[i], sizes[i],
                          "'output_shape' is {0} at [" + Twine(i) +
                              "], but the windows need at least {1}")))
      return failure();
  if (llvm::equal(sizes, wanted, isSameSize))
    return y;
  auto isOpen = [](OpFoldResult size) { return !getConstantIntValue(size); };
  if (llvm::any_of(wanted, isOpen) || llvm::any_of(sizes, isOpen))
    return growOpen(node, y, wanted);
  size_t n = sizes.size() - 2;
  SmallVector<int64_t> pads(2 * n, 0);
  for (size_t i = 0; i < n; ++i)
    pads[n + i] = *getConstantIntValue(wanted[2 + i]) -
                  *getConstantIntValue(sizes[2 + i]);
  return padZeros(node, y, pads);
}

static LogicalResult legalizeMaxUnpool(Node &node) {
  if (node.has(0) && node.has(1)) {
    pinInput(node, 0, node.shape(1), "the data");
    pinInput(node, 1, node.shape(0), "the indices");
  }
  auto pool = readPool(node, node.input(0), lowestOf(node, node.input(0)));
  if (failed(pool))
    return failure();
  RankedTensorType x = node.type(0);
  if (!node.has(1) || node.shape(1) != x.getShape())
    return node.invalid("indices need the shape of the data");
  auto sizes = coveredBy(node, pool->window);
  if (failed(sizes))
    return failure();
  Sizes wanted;
  if (node.has(2)) {
    auto shape = readOutputShape(node, x.getRank());
    if (failed(shape))
      return failure();
    wanted = *shape;
    takePooledSizes(node, wanted, *sizes);
  }
  OpFoldResult count = support::productOf(node.builder, node.loc(), *sizes),
               given = support::productOf(node.builder, node.loc(),
                                          sizesOf(node, node.input(0)));
  if (auto known = getConstantIntValue(count);
      known && failed(node.checkElements(1, "I", {0, *known - 1})))
    return failure();
  auto scattered = node.infer<nn::ScatterElementsOp>(
      filled(node, x.getElementType(), 0, {count}),
      reshape(node, node.input(1), ArrayRef(given)),
      reshape(node, node.input(0), ArrayRef(given)), /*axis=*/0,
      nn::ScatterReduction::none);
  if (failed(scattered))
    return failure();
  Value y = reshape(node, *scattered, ArrayRef(*sizes));
  // Applies output_shape by adding zeros. Indices refer to the smaller sizes
  // above, so it must not change the scatter.
  auto grown =
      wanted.empty() ? FailureOr<Value>(y) : growTo(node, y, *sizes, wanted);
  return failed(grown) ? failure() : node.replace(*grown);
}

void legalize::populatePooling(Legalizers &legalizers) {
  legalizers.add("AveragePool", legalizeAveragePool);
  legalizers.add("LpPool", legalizeLpPool);
  legalizers.add("MaxPool", legalizeMaxPool);
  legalizers.add("MaxUnpool", legalizeMaxUnpool);
}
