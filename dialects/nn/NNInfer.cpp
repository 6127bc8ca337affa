//===- NNInfer.cpp - types of structured ops ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
static bool isDynamic(int64_t size) { return ShapedType::isDynamic(size); }

int64_t ingot::nn::windowedSize(int64_t size, int64_t kernel, int64_t stride,
                                int64_t padding, int64_t dilation) {
  if (isDynamic(size) || isDynamic(kernel))
    return kDynamic;
  return (size + padding - dilation * (kernel - 1) - 1) / stride + 1;
}

static bool compatible(TypeRange a, TypeRange b) {
  return succeeded(verifyCompatibleShapes(a, b)) &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           return getElementTypeOrSelf(std::get<0>(pair)) ==
                  getElementTypeOrSelf(std::get<1>(pair));
         });
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Defines OP::inferReturnTypes; the body sees `op` (the adaptor), `loc` and
/// pushes to `results`.
#define INFER(OP)                                                              \
  bool OP::isCompatibleReturnTypes(TypeRange a, TypeRange b) {                 \
    return compatible(a, b);                                                   \
  }                                                                            \
  static LogicalResult infer##OP(std::optional<Location> loc, OP::Adaptor op,  \
                                 SmallVectorImpl<Type> &results);              \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, ValueRange operands,  \
      DictionaryAttr attributes, OpaqueProperties properties,                  \
      RegionRange regions, SmallVectorImpl<Type> &results) {                   \
    return infer##OP(                                                          \
        loc, OP::Adaptor(operands, attributes, properties, regions), results); \
  }                                                                            \
  static LogicalResult infer##OP(std::optional<Location> loc, OP::Adaptor op,  \
                                 SmallVectorImpl<Type> &results)

#define INFER_SAME(OP)                                                         \
  INFER(OP) {                                                                  \
    results.push_back(op.getX().getType());                                    \
    return success();                                                          \
  }

/// The result shape of a spatial op on data of `type`: `size(i)` gives spatial
/// dimension i.
template <typename Size>
static RankedTensorType spatialType(RankedTensorType type, bool channelsLast,
                                    int64_t channels, Size size) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t first = channelsLast ? 1 : 2;
  shape[channelsLast ? type.getRank() - 1 : 1] = channels;
  for (int64_t i = 0; i < type.getRank() - 2; ++i)
    shape[first + i] = size(i, shape[first + i]);
  return RankedTensorType::get(shape, type.getElementType());
}

/// C1 and C2: ranks, and one positive stride and dilation a spatial dimension.
static LogicalResult checkWindow(std::optional<Location> loc, int64_t rank,
                                 ArrayRef<int64_t> kernel,
                                 ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> pads,
                                 ArrayRef<int64_t> dilations) {
  if (rank < 3)
    return emitOptionalError(loc, "expects data of rank 3 or more, but got ",
                             rank);
  size_t spatial = rank - 2;
  if (kernel.size() != spatial)
    return emitOptionalError(loc, "expects ", spatial,
                             " kernel dims, but got ", kernel.size());
  if (strides.size() != spatial || dilations.size() != spatial)
    return emitOptionalError(loc, "expects ", spatial,
                             " strides and dilations, but got ",
                             strides.size(), " and ", dilations.size());
  if (pads.size() != 2 * spatial)
    return emitOptionalError(loc, "expects ", 2 * spatial, " pads, but got ",
                             pads.size());
  auto positive = [](int64_t v) { return v > 0; };
  auto positiveOrDynamic = [](int64_t v) { return v > 0 || isDynamic(v); };
  if (!llvm::all_of(strides, positive) || !llvm::all_of(dilations, positive) ||
      !llvm::all_of(kernel, positiveOrDynamic))
    return emitOptionalError(
        loc, "expects positive kernel dims, strides and dilations");
  return success();
}

static LogicalResult checkFits(std::optional<Location> loc,
                               RankedTensorType type) {
  for (int64_t size : type.getShape())
    if (!isDynamic(size) && size < 0)
      return emitOptionalError(
          loc, "the dilated kernel is larger than the padded input");
  return success();
}

//===----------------------------------------------------------------------===//
// Convolution and matrix product
//===----------------------------------------------------------------------===//

static LogicalResult checkGroups(std::optional<Location> loc, int64_t channels,
                                 int64_t perGroup, int64_t groups,
                                 int64_t outputs) {
  if (groups < 1)
    return emitOptionalError(loc, "expects positive groups, but got ", groups);
  if (!isDynamic(channels) && !isDynamic(perGroup) &&
      channels != perGroup * groups)
    return emitOptionalError(loc, "expects ", perGroup * groups,
                             " input channels (", perGroup, " a group, ",
                             groups, " groups), but got ", channels);
  if (!isDynamic(outputs) && outputs % groups != 0)
    return emitOptionalError(loc, "expects groups to divide ", outputs,
                             " output channels, but got ", groups);
  return success();
}

INFER(ConvOp) {
  RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
  if (x.getRank() != w.getRank())
    return emitOptionalError(loc, "expects data and weights of one rank, but got ",
                             x.getRank(), " and ", w.getRank());
  if (x.getRank() < 3)
    return emitOptionalError(loc, "expects data of rank 3 or more, but got ",
                             x.getRank());
  ArrayRef<int64_t> kernel = w.getShape().drop_front(2);
  ArrayRef<int64_t> pads = op.getPads();
  if (failed(checkWindow(loc, x.getRank(), kernel, op.getStrides(), pads,
                         op.getDilations())))
    return failure();
  int64_t channels =
      x.getDimSize(op.getChannelsLast() ? x.getRank() - 1 : 1);
  if (failed(checkGroups(loc, channels, w.getDimSize(1), op.getGroups(),
                         w.getDimSize(0))))
    return failure();
  size_t n = kernel.size();
  RankedTensorType y = spatialType(
      x, op.getChannelsLast(), w.getDimSize(0), [&](int64_t i, int64_t size) {
        int64_t span = op.getDilations()[i] * (kernel[i] - 1) + 1;
        if (!isDynamic(size) && !isDynamic(kernel[i]) &&
            size + pads[i] + pads[n + i] < span)
          return int64_t(-1);
        return windowedSize(size, kernel[i], op.getStrides()[i],
                            pads[i] + pads[n + i], op.getDilations()[i]);
      });
  results.push_back(y);
  return checkFits(loc, y);
}

INFER(ConvTransposeOp) {
  RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
  if (x.getRank() != w.getRank())
    return emitOptionalError(loc, "expects data and weights of one rank, but got ",
                             x.getRank(), " and ", w.getRank());
  if (x.getRank() < 3)
    return emitOptionalError(loc, "expects data of rank 3 or more, but got ",
                             x.getRank());
  ArrayRef<int64_t> kernel = w.getShape().drop_front(2), pads = op.getPads();
  if (failed(checkWindow(loc, x.getRank(), kernel, op.getStrides(), pads,
                         op.getDilations())))
    return failure();
  size_t n = kernel.size();
  if (op.getOutputPadding().size() != n)
    return emitOptionalError(loc, "expects ", n, " output paddings, but got ",
                             op.getOutputPadding().size());
  int64_t channels =
      x.getDimSize(op.getChannelsLast() ? x.getRank() - 1 : 1);
  int64_t groups = op.getGroups();
  if (groups < 1)
    return emitOptionalError(loc, "expects positive groups, but got ", groups);
  if (!isDynamic(channels) && !isDynamic(w.getDimSize(0)) &&
      channels != w.getDimSize(0))
    return emitOptionalError(loc, "expects ", w.getDimSize(0),
                             " input channels, but got ", channels);
  if (!isDynamic(w.getDimSize(0)) && w.getDimSize(0) % groups != 0)
    return emitOptionalError(loc, "expects groups to divide ", w.getDimSize(0),
                             " input channels, but got ", groups);
  int64_t outputs =
      isDynamic(w.getDimSize(1)) ? kDynamic : w.getDimSize(1) * groups;
  RankedTensorType y = spatialType(
      x, op.getChannelsLast(), outputs, [&](int64_t i, int64_t size) {
        if (isDynamic(size) || isDynamic(kernel[i]))
          return kDynamic;
        int64_t result = (size - 1) * op.getStrides()[i] +
                         (kernel[i] - 1) * op.getDilations()[i] + 1 +
                         op.getOutputPadding()[i] - pads[i] - pads[n + i];
        return result < 0 ? int64_t(-1) : result;
      });
  results.push_back(y);
  return checkFits(loc, y);
}

INFER(MatMulOp) {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  if (a.getRank() < 2 || b.getRank() < 2)
    return emitOptionalError(loc, "expects operands of rank 2 or more, but got ",
                             a.getRank(), " and ", b.getRank());
  auto matrix = [](RankedTensorType type, bool transposed) {
    ArrayRef<int64_t> dims = type.getShape().take_back(2);
    return transposed ? std::pair(dims[1], dims[0])
                      : std::pair(dims[0], dims[1]);
  };
  auto [m, ka] = matrix(a, op.getTransposeA());
  auto [kb, n] = matrix(b, op.getTransposeB());
  if (!isDynamic(ka) && !isDynamic(kb) && ka != kb)
    return emitOptionalError(loc, "expects equal inner dimensions, but got ",
                             ka, " and ", kb);
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(
      {a.getShape().drop_back(2), b.getShape().drop_back(2)});
  if (!shape)
    return emitOptionalError(loc, "batch dimensions do not broadcast: ", a,
                             " and ", b);
  shape->append({m, n});
  results.push_back(RankedTensorType::get(*shape, a.getElementType()));
  if (Value bias = op.getBias()) {
    auto all = broadcastShapes({*shape, typeOf(bias).getShape()});
    if (!all || all->size() != shape->size())
      return emitOptionalError(loc, "bias does not broadcast to the result");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pooling, reduction
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static LogicalResult inferPool(std::optional<Location> loc, Adaptor op,
                               bool channelsLast,
                               SmallVectorImpl<Type> &results) {
  RankedTensorType x = typeOf(op.getX());
  ArrayRef<int64_t> kernel = op.getKernel(), pads = op.getPads();
  if (failed(checkWindow(loc, x.getRank(), kernel, op.getStrides(), pads,
                         op.getDilations())))
    return failure();
  size_t n = kernel.size();
  int64_t channels = x.getDimSize(channelsLast ? x.getRank() - 1 : 1);
  RankedTensorType y =
      spatialType(x, channelsLast, channels, [&](int64_t i, int64_t size) {
        int64_t span = op.getDilations()[i] * (kernel[i] - 1) + 1;
        if (!isDynamic(size) && size + pads[i] + pads[n + i] < span)
          return int64_t(-1);
        return windowedSize(size, kernel[i], op.getStrides()[i],
                            pads[i] + pads[n + i], op.getDilations()[i]);
      });
  results.push_back(y);
  return checkFits(loc, y);
}

INFER(MaxPoolOp) { return inferPool(loc, op, op.getChannelsLast(), results); }
INFER(AvgPoolOp) { return inferPool(loc, op, op.getChannelsLast(), results); }

INFER(MaxPoolWithIndicesOp) {
  if (failed(inferPool(loc, op, /*channelsLast=*/false, results)))
    return failure();
  auto y = cast<RankedTensorType>(results.back());
  results.push_back(y.clone(IntegerType::get(y.getContext(), 64)));
  return success();
}

static LogicalResult checkAxis(std::optional<Location> loc, int64_t axis,
                               int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return emitOptionalError(loc, "expects an axis in [0, ", rank, "), but got ",
                           axis);
}

static SmallVector<int64_t> reducedShape(RankedTensorType x,
                                         ArrayRef<int64_t> axes,
                                         bool keepDims) {
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(x.getShape())) {
    if (!llvm::is_contained(axes, int64_t(i)))
      shape.push_back(size);
    else if (keepDims)
      shape.push_back(1);
  }
  return shape;
}

INFER(ReduceOp) {
  RankedTensorType x = typeOf(op.getX());
  for (int64_t axis : op.getAxes())
    if (failed(checkAxis(loc, axis, x.getRank())))
      return failure();
  results.push_back(RankedTensorType::get(
      reducedShape(x, op.getAxes(), op.getKeepDims()), x.getElementType()));
  return success();
}

INFER(ArgReduceOp) {
  RankedTensorType x = typeOf(op.getX());
  if (failed(checkAxis(loc, op.getAxis(), x.getRank())))
    return failure();
  int64_t axis = op.getAxis();
  results.push_back(
      RankedTensorType::get(reducedShape(x, axis, op.getKeepDims()),
                            IntegerType::get(x.getContext(), 64)));
  return success();
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

INFER_SAME(BatchNormOp)
INFER_SAME(LayerNormOp)
INFER_SAME(RMSNormOp)
INFER_SAME(GroupNormOp)
INFER_SAME(LRNOp)
INFER_SAME(SoftmaxOp)

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

INFER(TransposeOp) {
  RankedTensorType x = typeOf(op.getX());
  ArrayRef<int64_t> perm = op.getPerm();
  SmallVector<int64_t> shape;
  SmallVector<bool> seen(x.getRank(), false);
  for (int64_t dim : perm) {
    if (dim < 0 || dim >= x.getRank() || seen[dim])
      break;
    seen[dim] = true;
    shape.push_back(x.getDimSize(dim));
  }
  if (int64_t(perm.size()) != x.getRank() || shape.size() != perm.size())
    return emitOptionalError(loc, "expects a permutation of ", x.getRank(),
                             " dimensions");
  results.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

INFER(ConcatOp) {
  if (op.getInputs().empty())
    return emitOptionalError(loc, "expects at least one input");
  RankedTensorType first = typeOf(op.getInputs().front());
  if (failed(checkAxis(loc, op.getAxis(), first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : op.getInputs().drop_front()) {
    RankedTensorType type = typeOf(input);
    if (type.getRank() != first.getRank() ||
        type.getElementType() != first.getElementType())
      return emitOptionalError(loc, "inputs do not fit together: ", first,
                               " and ", type);
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      if (int64_t(i) == int64_t(op.getAxis()))
        shape[i] = isDynamic(shape[i]) || isDynamic(size) ? kDynamic
                                                          : shape[i] + size;
      else if (isDynamic(shape[i]))
        shape[i] = size;
      else if (!isDynamic(size) && size != shape[i])
        return emitOptionalError(loc, "inputs do not fit together: ", first,
                                 " and ", type);
    }
  }
  results.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

INFER(SliceOp) {
  RankedTensorType x = typeOf(op.getX());
  size_t rank = x.getRank();
  if (op.getStarts().size() != rank || op.getSizes().size() != rank ||
      op.getSteps().size() != rank)
    return emitOptionalError(loc, "expects ", rank,
                             " starts, sizes and steps");
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t start = op.getStarts()[i], size = op.getSizes()[i],
            step = op.getSteps()[i], full = x.getDimSize(i);
    if (step == 0)
      return emitOptionalError(loc, "expects non-zero steps");
    if (size == -1) {
      if (start != 0 || step != 1)
        return emitOptionalError(
            loc, "expects start 0 and step 1 of a dimension taken whole");
      shape.push_back(full);
      continue;
    }
    int64_t last = start + (size - 1) * step;
    if (size < 0 || start < 0 ||
        (size > 0 && !isDynamic(full) &&
         (start >= full || last < 0 || last >= full)))
      return emitOptionalError(loc, "slice of dimension ", i,
                               " leaves its ", full, " elements");
    shape.push_back(size);
  }
  results.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

INFER(PadOp) {
  RankedTensorType x = typeOf(op.getX());
  size_t rank = x.getRank();
  if (op.getLow().size() != rank || op.getHigh().size() != rank)
    return emitOptionalError(loc, "expects ", rank, " low and high pads");
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = x.getDimSize(i);
    if (!isDynamic(size)) {
      size += op.getLow()[i] + op.getHigh()[i];
      if (size < 0)
        return emitOptionalError(loc, "cropping leaves dimension ", i,
                                 " a negative size");
    }
    shape.push_back(size);
  }
  results.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

INFER(GatherOp) {
  RankedTensorType x = typeOf(op.getX()), indices = typeOf(op.getIndices());
  if (failed(checkAxis(loc, op.getAxis(), x.getRank())))
    return failure();
  SmallVector<int64_t> shape(x.getShape().take_front(op.getAxis()));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, x.getShape().drop_front(op.getAxis() + 1));
  results.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

INFER(GatherElementsOp) {
  RankedTensorType x = typeOf(op.getX()), indices = typeOf(op.getIndices());
  if (failed(checkAxis(loc, op.getAxis(), x.getRank())))
    return failure();
  if (x.getRank() != indices.getRank())
    return emitOptionalError(loc, "expects data and indices of one rank, but got ",
                             x.getRank(), " and ", indices.getRank());
  results.push_back(
      RankedTensorType::get(indices.getShape(), x.getElementType()));
  return success();
}

INFER(GatherNDOp) {
  RankedTensorType x = typeOf(op.getX()), indices = typeOf(op.getIndices());
  int64_t batch = op.getBatchDims();
  if (indices.getRank() < 1 || isDynamic(indices.getShape().back()))
    return emitOptionalError(loc, "expects index tuples of a known length");
  int64_t depth = indices.getShape().back();
  if (batch < 0 || batch >= indices.getRank() || depth < 0 ||
      batch + depth > x.getRank())
    return emitOptionalError(loc, "index tuples of ", depth, " and ", batch,
                             " batch dims do not fit data of rank ",
                             x.getRank());
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, x.getShape().drop_front(batch + depth));
  results.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

INFER(ScatterElementsOp) {
  RankedTensorType x = typeOf(op.getX()), indices = typeOf(op.getIndices());
  if (failed(checkAxis(loc, op.getAxis(), x.getRank())))
    return failure();
  if (indices.getRank() != x.getRank() ||
      typeOf(op.getUpdates()).getRank() != x.getRank())
    return emitOptionalError(loc, "expects data, indices and updates of one rank");
  results.push_back(x);
  return success();
}

INFER(ScatterNDOp) {
  RankedTensorType x = typeOf(op.getX()), indices = typeOf(op.getIndices());
  if (indices.getRank() < 1 || isDynamic(indices.getShape().back()) ||
      indices.getShape().back() > x.getRank())
    return emitOptionalError(
        loc, "expects index tuples of a known length, at most the data's rank");
  results.push_back(x);
  return success();
}

INFER(CumSumOp) {
  if (failed(checkAxis(loc, op.getAxis(), typeOf(op.getX()).getRank())))
    return failure();
  results.push_back(op.getX().getType());
  return success();
}

INFER(TopKOp) {
  RankedTensorType x = typeOf(op.getX());
  if (failed(checkAxis(loc, op.getAxis(), x.getRank())))
    return failure();
  int64_t size = x.getDimSize(op.getAxis());
  int64_t k = op.getK();
  if (k < 0 || (!op.getCount() && !isDynamic(size) && k > size))
    return emitOptionalError(loc, "expects k in [0, ", size, "], but got ", k);
  SmallVector<int64_t> shape(x.getShape());
  shape[op.getAxis()] = op.getCount() ? kDynamic : k;
  results.push_back(RankedTensorType::get(shape, x.getElementType()));
  results.push_back(
      RankedTensorType::get(shape, IntegerType::get(x.getContext(), 64)));
  return success();
}
