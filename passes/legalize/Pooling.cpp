//===- Pooling.cpp - MaxPool, AveragePool, LpPool, MaxUnpool --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Window.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Of a pooling of `x`, which has its channels first.
static FailureOr<WindowAttributes> readPool(Node &node, Value x) {
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
  if (failed(window) ||
      failed(resolveAutoPad(node, *window, type.getShape().drop_front(2))))
    return failure();
  return window;
}

static FailureOr<WindowAttributes> readPool(Node &node) {
  if (!node.has(0))
    return node.invalid("data is needed");
  return readPool(node, node.input(0));
}

static LogicalResult legalizeMaxPool(Node &node) {
  auto window = readPool(node);
  if (failed(window) ||
      failed(resolveCeilMode(node, *window, node.shape(0).drop_front(2))))
    return failure();
  if (node.isUsed(1)) {
    auto pool = node.inferOp<nn::MaxPoolWithIndicesOp>(
        node.input(0), window->kernel, window->strides, window->pads,
        window->dilations, node.getInt("storage_order", 0) != 0);
    if (failed(pool))
      return failure();
    return node.replace({pool->getY(), pool->getIndices()});
  }
  auto y = node.infer<nn::MaxPoolOp>(
      node.input(0), window->kernel, window->strides, window->pads,
      window->dilations, /*channels_last=*/false);
  return failed(y) ? failure() : node.replace(*y);
}

/// x with spatial borders of zeros.
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

FailureOr<Value> legalize::averagePool(Node &node, Value x) {
  auto window = readPool(node, x);
  if (failed(window))
    return failure();
  bool countPads = node.getInt("count_include_pad", 0) != 0;
  WindowAttributes grown = *window;
  if (failed(resolveCeilMode(node, grown, typeOf(x).getShape().drop_front(2))))
    return failure();
  if (countPads && grown.pads != window->pads) {
    // Padding counts, but what ceil_mode adds beyond it does not.
    auto padded = padZeros(node, x, window->pads);
    if (failed(padded))
      return failure();
    x = *padded;
    for (size_t i = 0, e = grown.pads.size(); i < e; ++i)
      grown.pads[i] -= window->pads[i];
    countPads = false;
  }
  return node.infer<nn::AvgPoolOp>(x, grown.kernel, grown.strides, grown.pads,
                                   grown.dilations, /*channels_last=*/false,
                                   countPads);
}

static LogicalResult legalizeAveragePool(Node &node) {
  if (!node.has(0))
    return node.invalid("data is needed");
  auto y = averagePool(node, node.input(0));
  return failed(y) ? failure() : node.replace(*y);
}

/// (sum |x|^p)^(1/p) is (mean |x|^p * window)^(1/p), with zeros in the padding.
static LogicalResult legalizeLpPool(Node &node) {
  auto window = readPool(node);
  if (failed(window) ||
      failed(resolveCeilMode(node, *window, node.shape(0).drop_front(2))))
    return failure();
  int64_t p = node.getInt("p", 2), count = 1;
  if (p < 1)
    return node.invalid("p is " + Twine(p));
  for (int64_t size : window->kernel)
    count *= size;
  Type type = node.elementType(0);
  Value x = unary<nn::AbsOp>(node, node.input(0));
  Value power =
      p == 1   ? x
      : p == 2 ? binary<nn::MulOp>(node, x, x)
               : binary<nn::PowOp>(node, x, scalar(node, type, p));
  auto mean = node.infer<nn::AvgPoolOp>(
      power, window->kernel, window->strides, window->pads, window->dilations,
      /*channels_last=*/false, /*count_include_pad=*/true);
  if (failed(mean))
    return failure();
  Value sum = binary<nn::MulOp>(node, *mean, scalar(node, type, count));
  Value y = p == 1 ? sum
            : p == 2
                ? unary<nn::SqrtOp>(node, sum)
                : binary<nn::PowOp>(node, sum, scalar(node, type, 1.0 / p));
  return node.replace(y);
}

/// y at the start of zeros of sizes that only a run knows.
static Value growTo(Node &node, Value y, ArrayRef<OpFoldResult> sizes) {
  Sizes own = sizesOf(node, y), kept, all;
  for (auto [size, mine] : llvm::zip_equal(sizes, own)) {
    all.push_back(maxSizes(node, size, sizeAttr(node, 0)));
    kept.push_back(minSizes(node, all.back(), mine));
  }
  Sizes zeros(own.size(), sizeAttr(node, 0)),
      ones(own.size(), sizeAttr(node, 1));
  Type type = typeOf(y).getElementType();
  Value part = tensor::ExtractSliceOp::create(
      node.builder, node.loc(), RankedTensorType::get(staticShape(kept), type),
      y, zeros, kept, ones);
  return tensor::InsertSliceOp::create(node.builder, node.loc(), part,
                                       filled(node, type, 0, all), zeros, kept,
                                       ones);
}

static LogicalResult legalizeMaxUnpool(Node &node) {
  auto window = readPool(node);
  if (failed(window))
    return failure();
  RankedTensorType x = node.type(0);
  if (!node.has(1) || node.shape(1) != x.getShape())
    return node.invalid("indices need the shape of the data");
  if (!x.hasStaticShape())
    return node.unsupported("a dynamic dimension; fix it with --shape");
  size_t n = window->size();
  SmallVector<int64_t> shape(x.getShape());
  int64_t count = shape[0] * shape[1];
  for (size_t i = 0; i < n; ++i) {
    int64_t &size = shape[2 + i];
    size = (size - 1) * window->strides[i] + window->kernel[i] -
           window->pads[i] - window->pads[n + i];
    if (size < 1)
      return node.invalid("pads leave no output");
    count *= size;
  }
  if (failed(node.checkElements(1, "I", {0, count - 1})))
    return failure();
  Value zeros = filled(node, x.getElementType(), 0, {sizeAttr(node, count)});
  Value flatX = reshape(node, node.input(0), {x.getNumElements()});
  Value flatIndices = reshape(node, node.input(1), {x.getNumElements()});
  auto scattered = node.infer<nn::ScatterElementsOp>(
      zeros, flatIndices, flatX, /*axis=*/0, nn::ScatterReduction::none);
  if (failed(scattered))
    return failure();
  Value y = reshape(node, *scattered, shape);
  // The indices count in the shape above; output_shape only adds to it.
  if (node.has(2)) {
    auto wanted = elementsOf(node, node.input(2));
    if (failed(wanted))
      return failure();
    if (wanted->size() != shape.size())
      return node.badLength("output_shape", wanted->size(),
                            Twine(shape.size()));
    if (failed(node.checkElements(2, "output_shape",
                                  {0, nn::kMostElements})))
      return failure();
    if (llvm::any_of(*wanted, [](OpFoldResult size) {
          return !getConstantIntValue(size);
        }))
      return node.replace(growTo(node, y, *wanted));
    SmallVector<int64_t> pads(2 * n, 0);
    for (size_t i = 0; i < n; ++i)
      pads[n + i] = *getConstantIntValue((*wanted)[2 + i]) - shape[2 + i];
    auto padded = padZeros(node, y, pads);
    if (failed(padded))
      return failure();
    y = *padded;
  }
  return node.replace(y);
}

void legalize::populatePooling(Legalizers &legalizers) {
  legalizers.add("AveragePool", legalizeAveragePool);
  legalizers.add("LpPool", legalizeLpPool);
  legalizers.add("MaxPool", legalizeMaxPool);
  legalizers.add("MaxUnpool", legalizeMaxUnpool);
}
