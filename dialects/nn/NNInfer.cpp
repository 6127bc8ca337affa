//===- NNInfer.cpp - types of structured ops ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
static bool isDynamic(int64_t size) { return ShapedType::isDynamic(size); }

bool ingot::nn::areCompatible(TypeRange a, TypeRange b) {
  return succeeded(verifyCompatibleShapes(a, b)) &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           return getElementTypeOrSelf(std::get<0>(pair)) ==
                  getElementTypeOrSelf(std::get<1>(pair));
         });
}

#define INFER_SAME(OP)                                                         \
  INFER(OP) {                                                                  \
    results.push_back(op.getX().getType());                                    \
    return success();                                                          \
  }

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

INFER(MatMulOp) {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  if (a.getRank() < 2 || b.getRank() < 2)
    return emitOptionalError(loc,
                             "expects operands of rank 2 or more, but got ",
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
  std::optional<SmallVector<int64_t>> shape =
      broadcastShapes({a.getShape().drop_back(2), b.getShape().drop_back(2)});
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
// Reduction
//===----------------------------------------------------------------------===//

static LogicalResult checkAxis(std::optional<Location> loc, int64_t axis,
                               int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return emitOptionalError(loc, "expects an axis in [0, ", rank, "), but got ",
                           axis);
}

static SmallVector<int64_t>
reducedShape(RankedTensorType x, ArrayRef<int64_t> axes, bool keepDims) {
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
INFER_SAME(SoftmaxOp)

INFER(LRNOp) {
  RankedTensorType x = typeOf(op.getX());
  if (x.getRank() < 2)
    return emitOptionalError(loc, "expects data of rank 2 or more, but got ",
                             x.getRank());
  if (op.getSize() < 1)
    return emitOptionalError(loc, "expects a positive size, but got ",
                             op.getSize());
  results.push_back(x);
  return success();
}

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
        shape[i] =
            isDynamic(shape[i]) || isDynamic(size) ? kDynamic : shape[i] + size;
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
    return emitOptionalError(loc, "expects ", rank, " starts, sizes and steps");
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
      return emitOptionalError(loc, "slice of dimension ", i, " leaves its ",
                               full, " elements");
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
    return emitOptionalError(loc,
                             "expects data and indices of one rank, but got ",
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
    return emitOptionalError(loc,
                             "expects data, indices and updates of one rank");
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
