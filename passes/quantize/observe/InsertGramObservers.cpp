//===- InsertGramObservers.cpp - nn-insert-gram-observers -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/quantize/observe/ObservedTensors.h"
#include "passes/support/Rules.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <numeric>

namespace ingot {
#define GEN_PASS_DEF_INSERTGRAMOBSERVERS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

/// Builds the matrix of the data that a product multiplies by its weights, and
/// the Gram matrix of that data.
class GramBuilder {
public:
  explicit GramBuilder(Operation *product)
      : product(product), builder(product), loc(product->getLoc()) {}

  /// Returns the Gram matrix of the data, of shape groups × inner × inner.
  /// `inner` is the number of weights of one output. Each element is a sum over
  /// all output positions.
  Value gram();
  /// Returns the weights as a matrix with a row for each output. The columns
  /// have the order of the Gram matrix.
  Value weights();

private:
  Value columnsOfConv(nn::ConvOp conv);
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return nn::ReshapeOp::create(builder, loc, typeOf(value).clone(shape),
                                 value);
  }
  Value transpose(Value value, ArrayRef<int64_t> perm) {
    return nn::TransposeOp::create(builder, loc, value, perm);
  }

  Operation *product;
  OpBuilder builder;
  Location loc;
};

struct InsertGramObserversPass
    : ingot::impl::InsertGramObserversBase<InsertGramObserversPass> {
  using InsertGramObserversBase::InsertGramObserversBase;
  void runOnOperation() override;
};

} // namespace

/// Converts the data of a convolution to columns (im2col). Data of shape N × C
/// × D1…Dn become G × (C/G * taps) × (N * output positions).
Value GramBuilder::columnsOfConv(nn::ConvOp conv) {
  const int64_t groups = int64_t(conv.getGroups());
  Value x = conv.getX();
  const ArrayRef<int64_t> kernel =
      typeOf(conv.getW()).getShape().drop_front(2);
  const ArrayRef<int64_t> places = typeOf(conv.getY()).getShape().drop_front(2);
  const size_t dims = kernel.size();
  const int64_t batch = typeOf(x).getDimSize(0),
                channels = typeOf(x).getDimSize(1),
                taps = std::accumulate(kernel.begin(), kernel.end(),
                                       int64_t(1), std::multiplies<>()),
                spots = std::accumulate(places.begin(), places.end(),
                                        int64_t(1), std::multiplies<>());
  const bool isOpen = ShapedType::isDynamic(batch);
  ArrayRef<int64_t> pads = conv.getPads();
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; })) {
    SmallVector<int64_t> low(2, 0), high(2, 0);
    llvm::append_range(low, pads.take_front(dims));
    llvm::append_range(high, pads.drop_front(dims));
    Value zero =
        nn::makeScalar(builder, loc, typeOf(x).getElementType(), 0.0);
    x = nn::PadOp::create(builder, loc, x, zero, low, high,
                          nn::PadMode::constant);
  }
  SmallVector<Value> ofTaps;
  SmallVector<int64_t> tap(dims, 0);
  for (int64_t i = 0; i < taps; ++i) {
    int64_t left = i;
    for (size_t d = dims; d-- > 0; left /= kernel[d])
      tap[d] = left % kernel[d];
    // A size of -1 takes the whole batch if its size is unknown.
    SmallVector<int64_t> starts(2, 0), steps(2, 1),
        sizes = {isOpen ? -1 : batch, channels};
    for (size_t d = 0; d < dims; ++d) {
      starts.push_back(tap[d] * conv.getDilations()[d]);
      sizes.push_back(places[d]);
      steps.push_back(conv.getStrides()[d]);
    }
    Value part = nn::SliceOp::create(builder, loc, x, starts, sizes, steps);
    ofTaps.push_back(reshape(part, {batch, channels, 1, spots}));
  }
  Value all = ofTaps.front();
  if (taps > 1)
    all = nn::ConcatOp::create(builder, loc, ofTaps, 2);
  const int64_t inner = channels / groups * taps;
  all = transpose(reshape(all, {batch, groups, inner, spots}), {1, 2, 0, 3});
  return reshape(
      all, {groups, inner, isOpen ? ShapedType::kDynamic : batch * spots});
}

Value GramBuilder::gram() {
  Value columns;
  bool isTransposed = false;
  if (auto conv = dyn_cast<nn::ConvOp>(product)) {
    columns = columnsOfConv(conv);
  } else {
    // The Gram matrix is a sum over the rows of the left factor, so transpose
    // the left factor.
    RankedTensorType type = typeOf(product->getOperand(0));
    const int64_t inner = type.getShape().back();
    const int64_t rows = type.hasStaticShape()
                             ? type.getNumElements() / inner
                             : ShapedType::kDynamic;
    columns = reshape(product->getOperand(0), {1, rows, inner});
    isTransposed = true;
  }
  return nn::MatMulOp::create(builder, loc, columns, columns, /*bias=*/Value(),
                              isTransposed, !isTransposed);
}

Value GramBuilder::weights() {
  Value old = product->getOperand(quantize::weightsOperand(product));
  RankedTensorType type = typeOf(old);
  const int64_t outputs = type.getDimSize(quantize::weightsAxis(product)),
                inner = type.getNumElements() / outputs;
  std::vector<double> values = *nn::getConstantDoubles(old);
  if (quantize::weightsAxis(product) == 1) {
    std::vector<double> turned(values.size());
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t o = 0; o < outputs; ++o)
        turned[o * inner + k] = values[k * outputs + o];
    values = std::move(turned);
  }
  return nn::makeConstant(builder, loc,
                          type.clone(ArrayRef<int64_t>{outputs, inner}),
                          values);
}

/// Returns the number of weights of one output.
static int64_t innerOf(Operation *product) {
  RankedTensorType type =
      typeOf(product->getOperand(quantize::weightsOperand(product)));
  return type.getNumElements() /
         std::max<int64_t>(type.getDimSize(quantize::weightsAxis(product)), 1);
}

/// Returns true if all sizes are known, except for the batch of a convolution
/// and the number of rows of a matrix.
static bool hasKnownSizes(Operation *product) {
  RankedTensorType data = typeOf(product->getOperand(0));
  if (auto matmul = dyn_cast<nn::MatMulOp>(product))
    return typeOf(matmul.getB()).getRank() == 2 && !matmul.getTransposeA() &&
           data.getShape().back() > 0 &&
           !llvm::is_contained(data.getShape(), 0);
  return llvm::all_of(data.getShape().drop_front(),
                      [](int64_t dim) { return dim > 0; }) &&
         data.getDimSize(0) != 0 &&
         typeOf(product->getOperand(quantize::weightsOperand(product)))
                 .getNumElements() > 0;
}

/// Products that multiply the same weights.
using ProductGroup = SmallVector<Operation *>;

/// Returns the products to show. Products with the same weights form a group if
/// they have the same output channels.
static SmallVector<ProductGroup>
findGroups(func::FuncOp function, int64_t maxInner, const KeepRules &keep) {
  const SmallVector<Operation *> all =
      quantize::findProducts(function, [](Operation *) { return true; });
  // A calibration file identifies products by name, so skip products whose name
  // is missing or not unique.
  llvm::StringMap<unsigned> uses;
  for (Operation *op : all)
    ++uses[nodeNameOf(op->getLoc())];
  quantize::ByteGains gains(keep);
  llvm::MapVector<std::pair<Value, int64_t>, ProductGroup> groups;
  for (Operation *op : all) {
    // Ask about all products in program order, as ByteGains expects.
    const bool isInt8 = gains.of(op);
    const std::string name = nodeNameOf(op->getLoc());
    Value weights = op->getOperand(quantize::weightsOperand(op));
    // Skip transposed convolutions, because each phase uses another part of the
    // weights.
    if (isInt8 && !name.empty() && uses.lookup(name) == 1 &&
        !isa<nn::ConvTransposeOp>(op) && hasKnownSizes(op) &&
        innerOf(op) <= maxInner && quantize::fitBytes(weights))
      groups[{weights, quantize::weightsAxis(op)}].push_back(op);
  }
  SmallVector<ProductGroup> result;
  for (auto &entry : groups)
    result.push_back(std::move(entry.second));
  return result;
}

void InsertGramObserversPass::runOnOperation() {
  FailureOr<KeepRules> rules = KeepRules::parse(getOperation(), keep);
  if (failed(rules))
    return signalPassFailure();
  OpBuilder builder(&getContext());
  quantize::ObservedTensors shown;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (const ProductGroup &group : findGroups(function, maxInner, *rules)) {
      const std::string name = nodeNameOf(group.front()->getLoc());
      Value sum;
      for (Operation *op : group) {
        Value gram = GramBuilder(op).gram();
        builder.setInsertionPoint(op);
        sum = sum ? nn::AddOp::create(builder, op->getLoc(), sum, gram) : gram;
      }
      // The sum is there at the last product.
      for (Value matrix : {sum, GramBuilder(group.back()).weights()})
        shown.observe(builder, matrix, name);
      observed += group.size();
    }
  }
  shown.recordIn(getOperation());
}
