//===- NNInfer.cpp - types of structured ops ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"
#include "dialects/nn/Scalars.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;


bool ingot::nn::areCompatible(TypeRange a, TypeRange b) {
  return succeeded(verifyCompatibleShapes(a, b)) &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           return getElementTypeOrSelf(std::get<0>(pair)) ==
                  getElementTypeOrSelf(std::get<1>(pair));
         });
}

void ingot::nn::appendTypes(ArrayRef<SizedType> sized,
                            SmallVectorImpl<Type> &types) {
  for (const SizedType &result : sized) {
    SmallVector<int64_t> shape;
    for (Size size : result.sizes)
      shape.push_back(knownSize(size).value_or(ShapedType::kDynamic));
    types.push_back(RankedTensorType::get(shape, result.elementType));
  }
}

/// Returns a result type with the sizes of `x`.
static SizedType sizedLike(SizeRules &rules, Value x) {
  return {rules.sizesOf(x), typeOf(x).getElementType()};
}

/// Aligns both shapes at the last dimension. Requires that each size of `own`
/// is 1 or equal to that of `sizes`.
static LogicalResult requireBroadcastTo(SizeRules &rules, ArrayRef<Size> own,
                                        ArrayRef<Size> sizes,
                                        const Twine &what) {
  size_t offset = sizes.size() - own.size();
  for (auto [i, size] : llvm::enumerate(own))
    if (failed(rules.require(SizeRelation::broadcastTo, size,
                             sizes[offset + i],
                             what + ": dimension " + Twine(offset + i) +
                                 " is {0}, not {1}")))
      return failure();
  return success();
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
  auto matrix = [](ArrayRef<Size> sizes, bool transposed) {
    ArrayRef<Size> dims = sizes.take_back(2);
    return transposed ? std::pair(dims[1], dims[0])
                      : std::pair(dims[0], dims[1]);
  };
  SmallVector<Size> sizesA = rules.sizesOf(op.getA()),
                    sizesB = rules.sizesOf(op.getB());
  auto [m, ka] = matrix(sizesA, op.getTransposeA());
  auto [kb, n] = matrix(sizesB, op.getTransposeB());
  if (failed(rules.require(SizeRelation::equal, ka, kb,
                           "expects equal inner dimensions, but got {0} and "
                           "{1}")))
    return failure();
  FailureOr<SmallVector<Size>> sizes = rules.broadcast(
      ArrayRef<Size>(sizesA).drop_back(2), ArrayRef<Size>(sizesB).drop_back(2),
      "batch dimensions do not broadcast");
  if (failed(sizes))
    return failure();
  sizes->append({m, n});
  results.push_back({*sizes, productElement(a.getElementType())});
  Value bias = op.getBias();
  if (!bias)
    return success();
  SmallVector<Size> added = rules.sizesOf(bias);
  if (added.size() > sizes->size())
    return emitOptionalError(loc, "bias does not broadcast to the result");
  return requireBroadcastTo(rules, added, *sizes,
                            "bias does not broadcast to the result");
}

INFER(PackedMatMulOp) {
  if (typeOf(op.getA()).getRank() < 2)
    return emitOptionalError(loc, "expects data of rank 2 or more, but got ",
                             typeOf(op.getA()).getRank());
  if (typeOf(op.getCodes()).getRank() != 3)
    return emitOptionalError(loc, "expects codes of rank 3, but got ",
                             typeOf(op.getCodes()).getRank());
  SmallVector<Size> sizes = rules.sizesOf(op.getA());
  if (failed(rules.require(SizeRelation::equal, sizes.back(),
                           rules.constant(op.getDepth()),
                           "expects data of inner dimension {1}, but got "
                           "{0}")))
    return failure();
  sizes.back() = rules.sizesOf(op.getCodes()).front();
  results.push_back({sizes, typeOf(op.getA()).getElementType()});
  return success();
}

INFER(ByteAttentionOp) {
  for (auto [name, value] :
       {std::pair("q", op.getQ()), std::pair("k", op.getK()),
        std::pair("v", op.getV())})
    if (typeOf(value).getRank() != 4)
      return emitOptionalError(loc, "expects ", name, " of rank 4, but got ",
                               typeOf(value).getRank());
  SmallVector<Size> q = rules.sizesOf(op.getQ()), k = rules.sizesOf(op.getK()),
                    v = rules.sizesOf(op.getV());
  auto requireSame = [&](const Twine &what, Size a, Size b) {
    return rules.require(SizeRelation::equal, a, b,
                         "expects " + what + ", but got {0} and {1}");
  };
  for (int64_t dim : {0, 2})
    if (failed(requireSame("q and k of equal dimension " + Twine(dim), q[dim],
                           k[dim])) ||
        failed(requireSame("k and v of equal dimension " + Twine(dim), k[dim],
                           v[dim])))
      return failure();
  if (failed(requireSame("k and v of as many keys", k[1], v[1])) ||
      failed(requireSame("q and k of heads of one size", q[3], k[3])))
    return failure();
  results.push_back(
      {{q[0], q[1], q[2], v[3]}, Float32Type::get(op.getQ().getContext())});
  Value mask = op.getMask();
  if (!mask)
    return success();
  if (typeOf(mask).getRank() != 4)
    return emitOptionalError(loc, "expects a mask of rank 4, but got ",
                             typeOf(mask).getRank());
  SmallVector<Size> sizes = rules.sizesOf(mask);
  if (failed(requireSame("a mask of all keys", sizes[3], k[1])))
    return failure();
  return requireBroadcastTo(rules, sizes, {q[0], q[2], q[1], k[1]},
                            "mask does not broadcast to the scores");
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

LogicalResult ingot::nn::checkAxis(std::optional<Location> loc, int64_t axis,
                                   int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return emitOptionalError(loc, "expects an axis in [0, ", rank, "), but got ",
                           axis);
}

static SmallVector<Size> reducedSizes(SizeRules &rules, Value x,
                                      ArrayRef<int64_t> axes, bool keepDims) {
  SmallVector<Size> sizes;
  for (auto [i, size] : llvm::enumerate(rules.sizesOf(x))) {
    if (!llvm::is_contained(axes, int64_t(i)))
      sizes.push_back(size);
    else if (keepDims)
      sizes.push_back(rules.constant(1));
  }
  return sizes;
}

INFER(ReduceOp) {
  RankedTensorType x = typeOf(op.getX());
  for (int64_t axis : op.getAxes())
    if (failed(checkAxis(loc, axis, x.getRank())))
      return failure();
  results.push_back(
      {reducedSizes(rules, op.getX(), op.getAxes(), op.getKeepDims()),
       x.getElementType()});
  return success();
}

INFER(ArgReduceOp) {
  RankedTensorType x = typeOf(op.getX());
  if (failed(checkAxis(loc, op.getAxis(), x.getRank())))
    return failure();
  int64_t axis = op.getAxis();
  results.push_back({reducedSizes(rules, op.getX(), axis, op.getKeepDims()),
                     IntegerType::get(x.getContext(), 64)});
  // An empty dimension has no largest element.
  SmallVector<Size> sizes = rules.sizesOf(op.getX());
  return rules.require(SizeRelation::atLeast, sizes[axis], rules.constant(1),
                       "expects elements along dimension " + Twine(axis) +
                           ", but there are {0}");
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// Requires that `value` has one dimension of `size` elements.
static LogicalResult requireVector(SizeRules &rules, StringRef name,
                                   Value value, Size size) {
  SmallVector<Size> sizes = rules.sizesOf(value);
  if (sizes.size() != 1)
    return emitOptionalError(rules.getLoc(), "expects ", name,
                             " of rank 1, but got ", sizes.size());
  return rules.require(SizeRelation::equal, sizes.front(), size,
                       "expects " + name + " of {1} elements, but got {0}");
}

/// Infers the result type from the type of the data x. Returns the number of
/// channels.
template <typename Adaptor>
static FailureOr<Size> inferLikeChannels(SizeRules &rules, Adaptor op,
                                         SmallVectorImpl<SizedType> &results) {
  int64_t rank = typeOf(op.getX()).getRank();
  if (rank < 2)
    return emitOptionalError(rules.getLoc(),
                             "expects data of rank 2 or more, but got ", rank);
  results.push_back(sizedLike(rules, op.getX()));
  ArrayRef<Size> sizes = results.back().sizes;
  return op.getChannelsLast() ? sizes.back() : sizes[1];
}

INFER(BatchNormOp) {
  FailureOr<Size> channels = inferLikeChannels(rules, op, results);
  if (failed(channels))
    return failure();
  return failure(
      failed(requireVector(rules, "scale", op.getScale(), *channels)) ||
      failed(requireVector(rules, "bias", op.getBias(), *channels)) ||
      failed(requireVector(rules, "mean", op.getMean(), *channels)) ||
      failed(requireVector(rules, "variance", op.getVariance(), *channels)));
}

/// Requires that the scale or bias of a normalization broadcasts to the
/// dimensions starting at `axis`.
static LogicalResult requireTrailing(SizeRules &rules, StringRef name,
                                     Value value, ArrayRef<Size> sizes,
                                     int64_t axis) {
  if (!value)
    return success();
  SmallVector<Size> own = rules.sizesOf(value);
  if (own.size() > sizes.size() - axis)
    return emitOptionalError(rules.getLoc(), "expects ", name,
                             " of at most rank ", sizes.size() - axis,
                             ", but got ", own.size());
  return requireBroadcastTo(rules, own, sizes,
                            name + " does not broadcast to the data");
}

INFER(LayerNormOp) {
  if (failed(checkAxis(loc, op.getAxis(), typeOf(op.getX()).getRank())))
    return failure();
  results.push_back(sizedLike(rules, op.getX()));
  ArrayRef<Size> sizes = results.back().sizes;
  return failure(failed(requireTrailing(rules, "scale", op.getScale(), sizes,
                                        op.getAxis())) ||
                 failed(requireTrailing(rules, "bias", op.getBias(), sizes,
                                        op.getAxis())));
}

INFER(RMSNormOp) {
  if (failed(checkAxis(loc, op.getAxis(), typeOf(op.getX()).getRank())))
    return failure();
  results.push_back(sizedLike(rules, op.getX()));
  return requireTrailing(rules, "scale", op.getScale(), results.back().sizes,
                         op.getAxis());
}

INFER(GroupNormOp) {
  FailureOr<Size> channels = inferLikeChannels(rules, op, results);
  if (failed(channels))
    return failure();
  int64_t groups = op.getGroups();
  if (groups < 1)
    return emitOptionalError(loc, "expects groups to divide the channels, but "
                                  "got ",
                             groups);
  if (failed(rules.require(SizeRelation::multipleOf, *channels,
                           rules.constant(groups),
                           "expects groups to divide {0} channels, but got "
                           "{1}")))
    return failure();
  return failure(
      failed(requireVector(rules, "scale", op.getScale(), *channels)) ||
      failed(requireVector(rules, "bias", op.getBias(), *channels)));
}

INFER(SoftmaxOp) {
  if (failed(checkAxis(loc, op.getAxis(), typeOf(op.getX()).getRank())))
    return failure();
  results.push_back(sizedLike(rules, op.getX()));
  return success();
}

INFER(LRNOp) {
  RankedTensorType x = typeOf(op.getX());
  if (x.getRank() < 2)
    return emitOptionalError(loc, "expects data of rank 2 or more, but got ",
                             x.getRank());
  if (op.getSize() < 1)
    return emitOptionalError(loc, "expects a positive size, but got ",
                             op.getSize());
  results.push_back(sizedLike(rules, op.getX()));
  return success();
}

/// Requires that scale and zero_point, if present, are scalars or vectors along
/// the axis, or that they broadcast to x.
template <typename Adaptor>
static LogicalResult inferQuantization(SizeRules &rules, Adaptor op,
                                       Type elementType,
                                       SmallVectorImpl<SizedType> &results) {
  results.push_back({rules.sizesOf(op.getX()), elementType});
  if (typeOf(op.getScale()).getRank() == 0)
    return success();
  ArrayRef<Size> sizes = results.back().sizes;
  if (failed(checkAxis(rules.getLoc(), op.getAxis(), sizes.size())))
    return failure();
  if (typeOf(op.getScale()).getRank() > 1) {
    if (failed(requireTrailing(rules, "scale", op.getScale(), sizes, 0)))
      return failure();
    return requireTrailing(rules, "zero_point", op.getZeroPoint(), sizes, 0);
  }
  Size channels = sizes[op.getAxis()];
  if (failed(requireVector(rules, "scale", op.getScale(), channels)))
    return failure();
  if (Value zero = op.getZeroPoint())
    return requireVector(rules, "zero_point", zero, channels);
  return success();
}

LogicalResult QuantizeOp::inferSizes(SizeRules &rules,
                                     SmallVectorImpl<SizedType> &results) {
  return inferQuantization(rules, *this, typeOf(getY()).getElementType(),
                           results);
}
LogicalResult
DequantizeBlocksOp::inferSizes(SizeRules &rules,
                               SmallVectorImpl<SizedType> &results) {
  results.push_back({rules.sizesOf(getX()), typeOf(getY()).getElementType()});
  return success();
}
LogicalResult DequantizeOp::inferSizes(SizeRules &rules,
                                       SmallVectorImpl<SizedType> &results) {
  return inferQuantization(rules, *this, typeOf(getY()).getElementType(),
                           results);
}
