//===- ScaleShift.cpp - per-channel scale and shift, and weights ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/ScaleShift.h"

#include "dialects/nn/Constants.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

bool ScaleShift::isFinite() const {
  auto finite = [](double v) { return std::isfinite(v); };
  return llvm::all_of(scale, finite) && llvm::all_of(shift, finite);
}
bool ScaleShift::scales() const {
  return llvm::any_of(scale, [](double v) { return v != 1; });
}
bool ScaleShift::shifts() const {
  return llvm::any_of(shift, [](double v) { return v != 0; });
}

//===----------------------------------------------------------------------===//
// Reading constants
//===----------------------------------------------------------------------===//

/// Limit of a dimension's size. Folding into a larger dimension takes as much
/// time as running the model.
static constexpr int64_t kMaxChannels = int64_t(1) << 20;

std::optional<std::vector<double>>
support::getPerChannel(Value constant, RankedTensorType type, int64_t dim) {
  ElementsAttr attr = nn::getConstant(constant);
  int64_t channels = type.getDimSize(dim);
  if (!attr || ShapedType::isDynamic(channels) || channels > kMaxChannels)
    return std::nullopt;
  RankedTensorType from = typeOf(constant);
  if (from.getRank() > type.getRank())
    return std::nullopt;
  int64_t own = dim - (type.getRank() - from.getRank());
  for (int64_t i = 0; i < from.getRank(); ++i)
    if (from.getDimSize(i) != 1 && (i != own || from.getDimSize(i) != channels))
      return std::nullopt;
  std::optional<std::vector<double>> values = nn::readDoubles(attr);
  if (values && values->size() == 1)
    values->assign(channels, values->front());
  return values;
}

std::optional<std::vector<double>> support::getBias(Value bias, int64_t size) {
  if (!bias)
    return std::vector<double>(size, 0.0);
  std::optional<std::vector<double>> values = nn::getConstantDoubles(bias);
  if (!values || int64_t(values->size()) != size)
    return std::nullopt;
  return values;
}

std::optional<ScaleShift> support::getScaleShift(nn::BatchNormOp op) {
  auto scale = nn::getConstantDoubles(op.getScale());
  auto bias = nn::getConstantDoubles(op.getBias());
  auto mean = nn::getConstantDoubles(op.getMean());
  auto variance = nn::getConstantDoubles(op.getVariance());
  if (!scale || !bias || !mean || !variance ||
      bias->size() != scale->size() || mean->size() != scale->size() ||
      variance->size() != scale->size())
    return std::nullopt;
  double epsilon = op.getEpsilon().convertToDouble();
  ScaleShift scaleShift;
  for (size_t c = 0; c < scale->size(); ++c) {
    double factor = (*scale)[c] / std::sqrt((*variance)[c] + epsilon);
    scaleShift.scale.push_back(factor);
    scaleShift.shift.push_back((*bias)[c] - (*mean)[c] * factor);
  }
  // Declines constants that are not finite. A model may rely on a NaN, and
  // folding would spread it to other elements.
  if (!scaleShift.isFinite())
    return std::nullopt;
  return scaleShift;
}

std::optional<ScaleShift> support::matchScaleShift(Operation *op, int64_t dim,
                                                   Value &data) {
  if (auto norm = dyn_cast<nn::BatchNormOp>(op)) {
    data = norm.getX();
    if (channelDim(typeOf(data).getRank(), norm.getChannelsLast()) != dim)
      return std::nullopt;
    return getScaleShift(norm);
  }
  if (!isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp>(op))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isa<FloatType>(type.getElementType()) || dim >= type.getRank())
    return std::nullopt;
  for (int i : {0, 1}) {
    data = op->getOperand(i);
    if (data.getType() != type)
      continue;
    auto values = getPerChannel(op->getOperand(1 - i), type, dim);
    if (!values)
      continue;
    ScaleShift scaleShift{std::vector<double>(values->size(), 1.0),
                  std::vector<double>(values->size(), 0.0)};
    if (isa<nn::AddOp>(op)) {
      scaleShift.shift = std::move(*values);
    } else if (isa<nn::MulOp>(op)) {
      scaleShift.scale = std::move(*values);
    } else if (isa<nn::DivOp>(op) && i == 0) {
      for (auto [scale, value] : llvm::zip_equal(scaleShift.scale, *values))
        scale = 1 / value;
    } else if (isa<nn::SubOp>(op) && i == 0) {
      for (auto [shift, value] : llvm::zip_equal(scaleShift.shift, *values))
        shift = -value;
    } else if (isa<nn::SubOp>(op)) {
      scaleShift.scale.assign(values->size(), -1.0);
      scaleShift.shift = std::move(*values);
    } else {
      continue;
    }
    if (scaleShift.isFinite())
      return scaleShift;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Creating constants
//===----------------------------------------------------------------------===//

Value support::scaleWeights(
    OpBuilder &builder, Location loc, Value weights, int64_t rows,
    int64_t columns, llvm::function_ref<double(int64_t, int64_t)> factor) {
  ElementsAttr attr = nn::getConstant(weights);
  if (!attr || !isa<FloatType>(attr.getElementType()))
    return {};
  std::optional<std::vector<double>> values = nn::readDoubles(attr);
  if (!values || rows * columns == 0 || values->size() % (rows * columns))
    return {};
  size_t rest = values->size() / (rows * columns);
  double *next = values->data();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double value = factor(row, column);
      for (size_t i = 0; i < rest; ++i)
        *next++ *= value;
    }
  return nn::makeConstant(builder, loc, typeOf(weights), *values);
}

Value support::makeVector(OpBuilder &builder, Location loc, Type elementType,
                          ArrayRef<double> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), elementType);
  return nn::makeConstant(builder, loc, type, values);
}

Value support::makePerChannel(OpBuilder &builder, Location loc,
                              Type elementType, int64_t rank, int64_t dim,
                              ArrayRef<double> values) {
  SmallVector<int64_t> shape(rank - dim, 1);
  shape.front() = int64_t(values.size());
  return nn::makeConstant(builder, loc,
                          RankedTensorType::get(shape, elementType), values);
}

//===----------------------------------------------------------------------===//
// Folding into the producer of the data
//===----------------------------------------------------------------------===//

namespace {
/// A producer's weights as rows x columns x rest, and the output channel of
/// each (row, column).
struct WeightView {
  Value weights;
  int64_t rows = 1, columns = 1, channels = 1;
  std::function<int64_t(int64_t, int64_t)> channelOf;
};
} // namespace

static std::optional<WeightView> viewWeights(Operation *producer) {
  WeightView view;
  if (auto conv = dyn_cast<nn::ConvOp>(producer)) {
    view.weights = conv.getW();
    view.rows = view.channels = typeOf(view.weights).getDimSize(0);
    view.channelOf = [](int64_t row, int64_t) { return row; };
  } else if (auto conv = dyn_cast<nn::ConvTransposeOp>(producer)) {
    view.weights = conv.getW();
    ArrayRef<int64_t> shape = typeOf(view.weights).getShape();
    if (ShapedType::isDynamicShape(shape))
      return std::nullopt;
    view.rows = shape[0];
    view.columns = shape[1];
    view.channels = shape[1] * conv.getGroups();
    int64_t inputsOfGroup = shape[0] / conv.getGroups();
    view.channelOf = [=, outputs = shape[1]](int64_t row, int64_t column) {
      return row / inputsOfGroup * outputs + column;
    };
  } else if (auto matmul = dyn_cast<nn::MatMulOp>(producer)) {
    view.weights = matmul.getB();
    ArrayRef<int64_t> shape = typeOf(view.weights).getShape();
    if (ShapedType::isDynamicShape(shape))
      return std::nullopt;
    bool transposed = matmul.getTransposeB();
    view.columns = shape.back();
    view.rows = typeOf(view.weights).getNumElements() /
                std::max<int64_t>(view.columns, 1);
    view.channels = transposed ? shape[shape.size() - 2] : shape.back();
    view.channelOf = [=, n = view.channels](int64_t row, int64_t column) {
      return transposed ? row % n : column;
    };
  } else {
    return std::nullopt;
  }
  if (!typeOf(view.weights).hasStaticShape() || view.channels == 0)
    return std::nullopt;
  return view;
}

/// Returns the result dimension of the producer's bias.
static int64_t outputChannelDim(Operation *producer) {
  int64_t rank = typeOf(producer->getResult(0)).getRank();
  if (auto conv = dyn_cast<nn::ConvOp>(producer))
    return channelDim(rank, conv.getChannelsLast());
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(producer))
    return channelDim(rank, conv.getChannelsLast());
  return rank - 1;
}

static Value biasOf(Operation *producer) {
  if (auto conv = dyn_cast<nn::ConvOp>(producer))
    return conv.getBias();
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(producer))
    return conv.getBias();
  return cast<nn::MatMulOp>(producer).getBias();
}

/// Returns the bias as one value per channel. The bias of a matmul may have
/// more dimensions.
static std::optional<std::vector<double>> readBias(Operation *producer,
                                                   int64_t channels) {
  Value bias = biasOf(producer);
  if (!bias)
    return std::vector<double>(channels, 0.0);
  if (!isa<nn::MatMulOp>(producer))
    return getBias(bias, channels);
  RankedTensorType type = typeOf(producer->getResult(0));
  return getPerChannel(bias, type, type.getRank() - 1);
}

LogicalResult support::foldIntoProducer(PatternRewriter &rewriter,
                                        Operation *op) {
  // Does cheap checks first, so that weights are read only if the fold is
  // certain.
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !operand.hasOneUse() ||
        !isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(producer))
      continue;
    Value data;
    std::optional<ScaleShift> scaleShift =
        matchScaleShift(op, outputChannelDim(producer), data);
    if (!scaleShift || data != operand)
      continue;
    std::optional<WeightView> view = viewWeights(producer);
    if (!view || view->channels != int64_t(scaleShift->scale.size()) ||
        (scaleShift->scales() && !nn::getConstant(view->weights)))
      continue;
    std::optional<std::vector<double>> bias =
        readBias(producer, view->channels);
    if (!bias)
      continue;
    for (int64_t c = 0; c < view->channels; ++c)
      (*bias)[c] = (*bias)[c] * scaleShift->scale[c] + scaleShift->shift[c];

    Location loc = rewriter.getFusedLoc({producer->getLoc(), op->getLoc()});
    rewriter.setInsertionPoint(op);
    Value weights = view->weights;
    if (scaleShift->scales())
      weights =
          scaleWeights(rewriter, loc, weights, view->rows, view->columns,
                       [&](int64_t row, int64_t column) {
                         return scaleShift->scale[view->channelOf(row, column)];
                       });
    if (!weights)
      continue;
    Value newBias = biasOf(producer);
    if (newBias || llvm::any_of(*bias, [](double v) { return v != 0; }))
      newBias =
          makeVector(rewriter, loc, typeOf(weights).getElementType(), *bias);
    SmallVector<Value> operands{producer->getOperand(0), weights};
    if (newBias)
      operands.push_back(newBias);
    Operation *folded = rewriter.create(
        loc, producer->getName().getIdentifier(), operands,
        op->getResultTypes(), producer->getAttrs());
    rewriter.replaceOp(op, folded);
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    return success();
  }
  return rewriter.notifyMatchFailure(
      op, "does not scale and shift a product with constant weights that "
          "nothing else uses");
}
