//===- Tensors.cpp - building tensor ops ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Tensors.h"

#include "dialects/nn/NNDialect.h"
#include "passes/support/ReshapeGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value support::empty(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
                     Type elementType) {
  return tensor::EmptyOp::create(b, loc, sizes, elementType);
}

Value support::filled(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
                      Value scalar) {
  Value init = empty(b, loc, sizes, scalar.getType());
  return linalg::FillOp::create(b, loc, scalar, init).getResult(0);
}

Value support::emptyLike(OpBuilder &b, Location loc, Value tensor) {
  return empty(b, loc, sizesOf(b, loc, tensor),
               typeOf(tensor).getElementType());
}

Sizes support::resultSizes(OpBuilder &b, OpResult result) {
  ReifiedRankedShapedTypeDims sizes;
  [[maybe_unused]] LogicalResult reified =
      cast<ReifyRankedShapedTypeOpInterface>(result.getOwner())
          .reifyResultShapes(b, sizes);
  assert(succeeded(reified) && "the sizes must not depend on data");
  return sizes[result.getResultNumber()];
}

Value support::destinationOf(OpBuilder &b, OpResult result) {
  return *tensor::getOrCreateDestination(b, result.getLoc(), result);
}

Value support::destinationOf(OpBuilder &b, OpResult result, Type element) {
  Value destination = destinationOf(b, result);
  if (typeOf(destination).getElementType() == element)
    return destination;
  return tensor::EmptyOp::create(
      b, result.getLoc(),
      tensor::getMixedSizes(b, result.getLoc(), destination), element);
}

Value support::castTo(OpBuilder &b, Location loc, Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  return tensor::CastOp::create(b, loc, type, tensor);
}

static Value expand(OpBuilder &b, Location loc, Value x, RankedTensorType type,
                    ArrayRef<ReassociationIndices> groups,
                    ArrayRef<OpFoldResult> sizes) {
  return tensor::ExpandShapeOp::create(b, loc, type, x, groups, sizes);
}

Value support::castElements(OpBuilder &b, Location loc, Value tensor,
                            Type element) {
  RankedTensorType type = typeOf(tensor);
  if (signless(type.getElementType()) == element)
    return tensor;
  return nn::CastOp::create(b, loc, type.clone(element), tensor);
}

Value support::expandVector(OpBuilder &b, Value vector, int64_t rank) {
  SmallVector<int64_t> shape(size_t(rank), 1);
  shape.back() = typeOf(vector).getDimSize(0);
  SmallVector<ReassociationIndices> whole(1);
  for (int64_t i = 0; i < rank; ++i)
    whole[0].push_back(i);
  return tensor::ExpandShapeOp::create(
      b, vector.getLoc(),
      RankedTensorType::get(shape, typeOf(vector).getElementType()), vector,
      whole);
}

Value support::reshape(OpBuilder &b, Location loc, Value tensor,
                       ArrayRef<OpFoldResult> sizes) {
  RankedTensorType from = typeOf(tensor);
  SmallVector<int64_t> shape = staticShape(sizes);
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to && to.getNumDynamicDims() <= 1)
    return tensor;
  // Upstream infers the size of a group of dimensions from its static sizes.
  // For a group with a 0 and a dynamic size, some functions of upstream infer
  // 0, others a dynamic size.
  if (isKnownEmpty(from.getShape()) || isKnownEmpty(shape))
    return empty(b, loc, sizes, from.getElementType());
  int64_t fromRank = from.getRank(), toRank = to.getRank();
  if (from.hasStaticShape() && to.hasStaticShape() && fromRank != toRank)
    if (auto groups = getReassociationIndicesForReshape(from, to)) {
      if (fromRank > toRank)
        return tensor::CollapseShapeOp::create(b, loc, to, tensor, *groups);
      return expand(b, loc, tensor, to, *groups, sizes);
    }
  if (!from.hasStaticShape() || !to.hasStaticShape())
    if (auto groups = splitReshape(from.getShape(), shape))
      if (Value view = reshapeByGroups(b, loc, tensor, sizes, *groups))
        return view;

  // Reshape through rank 1. At rank 1, a cast may change the number of elements
  // from static to dynamic or back.
  auto flat = [&](RankedTensorType type) {
    int64_t count = type.hasStaticShape() ? type.getNumElements()
                                          : ShapedType::kDynamic;
    return RankedTensorType::get({count}, type.getElementType());
  };
  auto allOf = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0)
      groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  if (fromRank == 0)
    tensor = expand(b, loc, tensor, flat(from), {},
                    {OpFoldResult(b.getIndexAttr(1))});
  else if (fromRank > 1)
    tensor = tensor::CollapseShapeOp::create(b, loc, flat(from), tensor,
                                             allOf(fromRank));
  tensor = castTo(b, loc, tensor, flat(to));
  if (toRank == 0)
    return tensor::CollapseShapeOp::create(
        b, loc, to, tensor, ArrayRef<ReassociationIndices>());
  if (toRank == 1)
    return tensor;
  return expand(b, loc, tensor, to, allOf(toRank), sizes);
}

Value support::transpose(OpBuilder &b, Location loc, Value tensor,
                         ArrayRef<int64_t> perm) {
  int64_t rank = perm.size();
  Sizes from = sizesOf(b, loc, tensor), to;
  SmallVector<AffineExpr> exprs(rank);
  for (int64_t i = 0; i < rank; ++i) {
    to.push_back(from[perm[i]]);
    exprs[perm[i]] = b.getAffineDimExpr(i);
  }
  Value init = empty(b, loc, to, typeOf(tensor).getElementType());
  return createGeneric(b, loc, init, tensor,
                       AffineMap::get(rank, 0, exprs, b.getContext()),
                       [](OpBuilder &, Location, ValueRange args) {
                         return args[0];
                       });
}

Value support::pad(OpBuilder &b, Location loc, Value tensor,
                   ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                   Value scalar) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  Sizes full = sizesOf(b, loc, tensor), kept, result, from, to;
  for (auto [size, before, after] : llvm::zip_equal(full, low, high)) {
    int64_t cut = std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    from.push_back(b.getIndexAttr(std::max<int64_t>(-before, 0)));
    to.push_back(b.getIndexAttr(std::max<int64_t>(before, 0)));
    kept.push_back(addSizes(b, loc, size, b.getIndexAttr(cut)));
    result.push_back(addSizes(b, loc, size, b.getIndexAttr(before + after)));
  }
  Sizes ones(full.size(), b.getIndexAttr(1));
  if (llvm::any_of(low, [](int64_t v) { return v < 0; }) ||
      llvm::any_of(high, [](int64_t v) { return v < 0; }))
    tensor = tensor::ExtractSliceOp::create(b, loc, tensor, from, kept, ones);
  if (llvm::all_of(low, [](int64_t v) { return v <= 0; }) &&
      llvm::all_of(high, [](int64_t v) { return v <= 0; }))
    return tensor;
  Value background = filled(b, loc, result, scalar);
  return insert(b, loc, tensor, background, {to, kept, ones});
}

Value support::insert(OpBuilder &b, Location loc, Value source, Value dest,
                      const TensorPart &part) {
  const auto [offsets, sizes, strides] = part;
  // tensor.insert_slice rejects any offset into an empty dimension.
  if (llvm::any_of(sizes, [](OpFoldResult size) {
        return getConstantIntValue(size) == 0;
      }))
    return dest;
  // The op's sizes and the source type must have the same static sizes. A size
  // of the op may be static although the type's is not, if it was folded from
  // an operand of a cast.
  SmallVector<int64_t> shape;
  Sizes known;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    known.push_back(constant ? OpFoldResult(b.getIndexAttr(*constant)) : size);
  }
  source = castTo(b, loc, source, typeOf(source).clone(shape));
  return tensor::InsertSliceOp::create(b, loc, source, dest, offsets, known,
                                       strides);
}

Value support::generate(
    OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Type elementType,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  Value init = empty(b, loc, sizes, elementType);
  return createGeneric(b, loc, init, ValueRange(), ArrayRef<AffineMap>(),
                       [&](OpBuilder &b, Location loc, ValueRange) {
                         SmallVector<Value> indices;
                         for (size_t i = 0; i < sizes.size(); ++i)
                           indices.push_back(
                               linalg::IndexOp::create(b, loc, i));
                         return body(b, loc, indices);
                       });
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value support::safeIndex(OpBuilder &b, Location loc, Value element,
                         Value size) {
  Value index = element;
  if (!index.getType().isIndex())
    index = arith::IndexCastOp::create(b, loc, b.getIndexType(), element);
  Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
  Value negative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, zero);
  Value wrapped = arith::AddIOp::create(b, loc, index, size);
  index = arith::SelectOp::create(b, loc, negative, wrapped, index);
  Value last = arith::SubIOp::create(b, loc, size, one);
  index = arith::MinSIOp::create(b, loc, index, last);
  return arith::MaxSIOp::create(b, loc, index, zero);
}

Value support::addScalars(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y);
  if (x.getType().isInteger(1))
    return arith::OrIOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value support::mulScalars(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

Value support::maxScalars(OpBuilder &b, Location loc, Value x, Value y,
                          bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return arith::MaximumFOp::create(b, loc, x, y);
  if (isUnsigned)
    return arith::MaxUIOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value support::minScalars(OpBuilder &b, Location loc, Value x, Value y,
                          bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return arith::MinimumFOp::create(b, loc, x, y);
  if (isUnsigned)
    return arith::MinUIOp::create(b, loc, x, y);
  return arith::MinSIOp::create(b, loc, x, y);
}
