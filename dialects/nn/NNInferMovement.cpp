//===- NNInferMovement.cpp - types of ops that move data ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"

using namespace mlir;
using namespace ingot::nn;

INFER(TransposeOp) {
  SmallVector<Size> sizes = rules.sizesOf(op.getX()), permuted;
  int64_t rank = sizes.size();
  ArrayRef<int64_t> perm = op.getPerm();
  SmallVector<bool> seen(rank, false);
  for (int64_t dim : perm) {
    if (dim < 0 || dim >= rank || seen[dim])
      break;
    seen[dim] = true;
    permuted.push_back(sizes[dim]);
  }
  if (int64_t(perm.size()) != rank || permuted.size() != perm.size())
    return emitOptionalError(loc, "expects a permutation of ", rank,
                             " dimensions");
  results.push_back({permuted, typeOf(op.getX()).getElementType()});
  return success();
}

/// Infers the sizes of the result type. If one dimension is dynamic, the number
/// of elements of x determines it.
LogicalResult ReshapeOp::inferSizes(SizeRules &rules,
                                    SmallVectorImpl<SizedType> &results) {
  RankedTensorType type = typeOf(getY());
  Size count = rules.product(rules.sizesOf(getX()));
  int64_t known = 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      known *= size;
  SmallVector<Size> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size))
      sizes.push_back(rules.constant(size));
    else if (known == 0)
      sizes.push_back(rules.constant(0)); // as in the lowering
    else
      sizes.push_back(rules.floorDiv(count, known));
  }
  results.push_back({sizes, type.getElementType()});
  if (type.hasStaticShape() || known == 0)
    return rules.require(SizeRelation::equal, count, rules.constant(known),
                         "expects {0} elements, but got {1}");
  return rules.require(SizeRelation::multipleOf, count, rules.constant(known),
                       "expects a number of elements that {1} divides, but got "
                       "{0}");
}

LogicalResult BroadcastToOp::inferSizes(SizeRules &rules,
                                        SmallVectorImpl<SizedType> &results) {
  RankedTensorType type = typeOf(getY());
  SmallVector<Size> sizes, own = rules.sizesOf(getX());
  unsigned next = 0;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size)
                        ? rules.sizeOfIndex(getSizes()[next++])
                        : rules.constant(size));
  results.push_back({sizes, type.getElementType()});
  for (auto [i, size] : llvm::enumerate(sizes))
    if (failed(rules.require(SizeRelation::atLeast, size, rules.constant(0),
                             "dimension " + Twine(i) +
                                 " of the result would have {0} elements")))
      return failure();
  size_t offset = sizes.size() - own.size();
  for (auto [i, size] : llvm::enumerate(own))
    if (failed(rules.require(SizeRelation::broadcastTo, size,
                             sizes[offset + i],
                             "dimension " + Twine(i) +
                                 " of {0} elements cannot be expanded to {1}")))
      return failure();
  return success();
}

INFER(ConcatOp) {
  if (op.getInputs().empty())
    return emitOptionalError(loc, "expects at least one input");
  RankedTensorType first = typeOf(op.getInputs().front());
  int64_t axis = op.getAxis();
  if (failed(checkAxis(loc, axis, first.getRank())))
    return failure();
  SmallVector<Size> sizes = rules.sizesOf(op.getInputs().front());
  for (auto [k, input] : llvm::enumerate(op.getInputs().drop_front())) {
    RankedTensorType type = typeOf(input);
    if (type.getRank() != first.getRank() ||
        type.getElementType() != first.getElementType())
      return emitOptionalError(loc, "inputs do not fit together: ", first,
                               " and ", type);
    for (auto [i, size] : llvm::enumerate(rules.sizesOf(input))) {
      if (int64_t(i) == axis) {
        sizes[i] = rules.add(sizes[i], size);
        continue;
      }
      FailureOr<Size> both =
          rules.unify(sizes[i], size,
                      "inputs do not fit together: dimension " + Twine(i) +
                          " of input " + Twine(k + 1) +
                          " is {1}, but {0} in those before");
      if (failed(both))
        return failure();
      sizes[i] = *both;
    }
  }
  results.push_back({sizes, first.getElementType()});
  return success();
}

INFER(SliceOp) {
  RankedTensorType x = typeOf(op.getX());
  size_t rank = x.getRank();
  if (op.getStarts().size() != rank || op.getSizes().size() != rank ||
      op.getSteps().size() != rank)
    return emitOptionalError(loc, "expects ", rank, " starts, sizes and steps");
  SmallVector<Size> sizes, own = rules.sizesOf(op.getX());
  for (size_t i = 0; i < rank; ++i) {
    int64_t start = op.getStarts()[i], size = op.getSizes()[i],
            step = op.getSteps()[i];
    if (step == 0)
      return emitOptionalError(loc, "expects non-zero steps");
    if (size == -1) {
      if (start != 0 || step != 1)
        return emitOptionalError(
            loc, "expects start 0 and step 1 of a dimension taken whole");
      sizes.push_back(own[i]);
      continue;
    }
    sizes.push_back(rules.constant(size));
    int64_t length, last = 0;
    if (size < 0 || start < 0 ||
        (size > 0 && (llvm::MulOverflow(size - 1, step, length) ||
                      llvm::AddOverflow(start, length, last) || last < 0)))
      return emitOptionalError(loc, "slice of dimension ", i, " leaves its ",
                               x.isDynamicDim(i)
                                   ? std::string()
                                   : std::to_string(x.getDimSize(i)) + " ",
                               "elements");
    if (size > 0 &&
        failed(rules.require(SizeRelation::atLeast, own[i],
                             rules.constant(std::max(start, last) + 1),
                             "slice of dimension " + Twine(i) +
                                 " leaves its {0} elements")))
      return failure();
  }
  results.push_back({sizes, x.getElementType()});
  return success();
}

INFER(PadOp) {
  RankedTensorType x = typeOf(op.getX());
  size_t rank = x.getRank();
  if (op.getLow().size() != rank || op.getHigh().size() != rank)
    return emitOptionalError(loc, "expects ", rank, " low and high pads");
  SmallVector<Size> sizes = rules.sizesOf(op.getX());
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t low = op.getLow()[i], high = op.getHigh()[i];
    Size padded = rules.add(size, low + high);
    // Every position of the result must come from an element of the operand.
    // Reflection needs one element more in a dimension than it adds at an end.
    int64_t widest = std::max(low, high);
    int64_t least = op.getMode() == PadMode::reflect ? widest + 1 : 1;
    if (op.getMode() != PadMode::constant && widest > 0 &&
        failed(rules.require(SizeRelation::atLeast, size, rules.constant(least),
                             "dimension " + Twine(i) +
                                 " of {0} elements is too short for pads of " +
                                 Twine(widest))))
      return failure();
    // Cropping must not remove more elements than there are.
    int64_t cropped = std::max<int64_t>(-low, 0) + std::max<int64_t>(-high, 0);
    if (cropped > 0 &&
        failed(rules.require(SizeRelation::atLeast, size,
                             rules.constant(std::max(cropped, -(low + high))),
                             "cropping leaves dimension " + Twine(i) +
                                 " a negative size: {1} of {0} elements")))
      return failure();
    size = padded;
  }
  results.push_back({sizes, x.getElementType()});
  return success();
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

INFER(GatherOp) {
  SmallVector<Size> x = rules.sizesOf(op.getX());
  int64_t axis = op.getAxis();
  if (failed(checkAxis(loc, axis, x.size())))
    return failure();
  SmallVector<Size> sizes(x.begin(), x.begin() + axis);
  llvm::append_range(sizes, rules.sizesOf(op.getIndices()));
  llvm::append_range(sizes, ArrayRef<Size>(x).drop_front(axis + 1));
  results.push_back({sizes, typeOf(op.getX()).getElementType()});
  return success();
}

/// Requires that indices are not larger than the data, except along the axis.
static LogicalResult requireWithin(SizeRules &rules, ArrayRef<Size> indices,
                                   ArrayRef<Size> x, int64_t axis) {
  for (auto [i, size] : llvm::enumerate(x))
    if (int64_t(i) != axis &&
        failed(rules.require(SizeRelation::atLeast, size, indices[i],
                             "dimension " + Twine(i) +
                                 " of the indices is {1}, more than the data's "
                                 "{0}")))
      return failure();
  return success();
}

INFER(GatherElementsOp) {
  SmallVector<Size> x = rules.sizesOf(op.getX()),
                    indices = rules.sizesOf(op.getIndices());
  if (failed(checkAxis(loc, op.getAxis(), x.size())))
    return failure();
  if (x.size() != indices.size())
    return emitOptionalError(loc,
                             "expects data and indices of one rank, but got ",
                             x.size(), " and ", indices.size());
  results.push_back({indices, typeOf(op.getX()).getElementType()});
  return requireWithin(rules, indices, x, op.getAxis());
}

INFER(GatherNDOp) {
  SmallVector<Size> x = rules.sizesOf(op.getX()),
                    indices = rules.sizesOf(op.getIndices());
  int64_t batch = op.getBatchDims(), rank = x.size();
  int64_t length = typeOf(op.getIndices()).getRank() < 1
                       ? ShapedType::kDynamic
                       : typeOf(op.getIndices()).getShape().back();
  if (ShapedType::isDynamic(length))
    return emitOptionalError(loc, "expects index tuples of a known length");
  if (batch < 0 || batch >= int64_t(indices.size()) || length < 0 ||
      batch + length > rank)
    return emitOptionalError(loc, "index tuples of ", length, " and ", batch,
                             " batch dims do not fit data of rank ", rank);
  SmallVector<Size> sizes(ArrayRef<Size>(indices).drop_back());
  for (int64_t i = 0; i < batch; ++i)
    if (failed(
            rules.require(SizeRelation::equal, indices[i], x[i],
                          "batch dimension " + Twine(i) +
                              " is {0} in the indices, but {1} in the data")))
      return failure();
  llvm::append_range(sizes, ArrayRef<Size>(x).drop_front(batch + length));
  results.push_back({sizes, typeOf(op.getX()).getElementType()});
  return success();
}

INFER(ScatterElementsOp) {
  SmallVector<Size> x = rules.sizesOf(op.getX()),
                    indices = rules.sizesOf(op.getIndices()),
                    updates = rules.sizesOf(op.getUpdates());
  if (failed(checkAxis(loc, op.getAxis(), x.size())))
    return failure();
  if (indices.size() != x.size() || updates.size() != x.size())
    return emitOptionalError(loc,
                             "expects data, indices and updates of one rank");
  results.push_back({x, typeOf(op.getX()).getElementType()});
  for (auto [i, size] : llvm::enumerate(updates))
    if (failed(rules.require(SizeRelation::equal, size, indices[i],
                             "dimension " + Twine(i) +
                                 " of the updates is {0}, but {1} of the "
                                 "indices")))
      return failure();
  return requireWithin(rules, indices, x, op.getAxis());
}

INFER(ScatterNDOp) {
  SmallVector<Size> x = rules.sizesOf(op.getX()),
                    indices = rules.sizesOf(op.getIndices());
  RankedTensorType type = typeOf(op.getIndices());
  if (type.getRank() < 1 || type.isDynamicDim(type.getRank() - 1) ||
      type.getShape().back() > int64_t(x.size()))
    return emitOptionalError(
        loc, "expects index tuples of a known length, at most the data's rank");
  results.push_back({x, typeOf(op.getX()).getElementType()});
  SmallVector<Size> wanted(ArrayRef<Size>(indices).drop_back()),
      updates = rules.sizesOf(op.getUpdates());
  llvm::append_range(wanted,
                     ArrayRef<Size>(x).drop_front(type.getShape().back()));
  if (wanted.size() != updates.size())
    return emitOptionalError(loc, "expects updates of rank ", wanted.size(),
                             ", but got ", updates.size());
  for (auto [i, size] : llvm::enumerate(updates))
    if (failed(rules.require(SizeRelation::equal, size, wanted[i],
                             "dimension " + Twine(i) +
                                 " of the updates is {0}, but data and indices "
                                 "ask for {1}")))
      return failure();
  return success();
}

INFER(CumSumOp) {
  if (failed(checkAxis(loc, op.getAxis(), typeOf(op.getX()).getRank())))
    return failure();
  results.push_back(
      {rules.sizesOf(op.getX()), typeOf(op.getX()).getElementType()});
  return success();
}

INFER(TopKOp) {
  SmallVector<Size> sizes = rules.sizesOf(op.getX());
  if (failed(checkAxis(loc, op.getAxis(), sizes.size())))
    return failure();
  int64_t k = op.getK();
  if (k < 0)
    return emitOptionalError(loc, "expects k of at least 0, but got ", k);
  Size count =
      op.getCount() ? rules.sizeOfIndex(op.getCount()) : rules.constant(k);
  Size &size = sizes[op.getAxis()];
  if (failed(rules.require(SizeRelation::atLeast, size, count,
                           "expects k in [0, {0}], but got {1}")) ||
      failed(rules.require(SizeRelation::atLeast, count, rules.constant(0),
                           "expects k of at least {1}, but got {0}")))
    return failure();
  size = count;
  Type element = typeOf(op.getX()).getElementType();
  results.push_back({sizes, element});
  results.push_back({sizes, IntegerType::get(element.getContext(), 64)});
  return success();
}

LogicalResult ResizeOp::inferSizes(SizeRules &rules,
                                   SmallVectorImpl<SizedType> &results) {
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  SmallVector<Size> sizes = rules.sizesOf(getX());
  for (int64_t i = 0; i < y.getRank(); ++i) {
    float scale = getScales()[i];
    if (isComputed(i)) {
      // A rule about the computed size has already required that it is valid.
      sizes[i] = y.isDynamicDim(i)
                     ? rules.sizeOfIndex(getSizes()[computedBefore(i)])
                     : rules.constant(y.getDimSize(i));
      continue;
    }
    if (scale == 1 &&
        (y.isDynamicDim(i) || y.getDimSize(i) == x.getDimSize(i)))
      continue;
    if (y.isDynamicDim(i)) {
      // The size is floor(size scale). It is exact if the scale is an integer
      // and f32 represents the sizes exactly.
      constexpr int64_t kExact = int64_t(1) << 24;
      bool isWhole = scale < kExact && scale == int64_t(scale);
      if (isWhole &&
          failed(rules.require(SizeRelation::atLeast, rules.constant(kExact),
                               sizes[i],
                               "dimension " + Twine(i) +
                                   " has {1} elements, more than the {0} that "
                                   "can be resized")))
        return failure();
      sizes[i] = isWhole ? rules.multiply(sizes[i], int64_t(scale))
                         : rules.scale(sizes[i], scale);
      continue;
    }
    // A non-empty result reads elements, so the operand must not be empty.
    if (y.getDimSize(i) != 0 &&
        failed(rules.require(SizeRelation::atLeast, sizes[i],
                             rules.constant(1),
                             "dimension " + Twine(i) +
                                 " has no elements to resize")))
      return failure();
    sizes[i] = rules.constant(y.getDimSize(i));
  }
  results.push_back({sizes, y.getElementType()});
  return success();
}
