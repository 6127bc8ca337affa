//===- MovementToLinalg.cpp - transpose, reshape, concat, slice, pad ------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

struct LowerTranspose : OpConversionPattern<nn::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::TransposeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value y = transpose(rewriter, op.getLoc(), adaptor.getX(), op.getPerm());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), y,
                                  signless(getTypeConverter(), op)));
    return success();
  }
};

struct LowerReshape : OpConversionPattern<nn::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Sizes sizes = resultSizes(rewriter, op->getResult(0));
    Value y = reshape(rewriter, loc, adaptor.getX(), sizes);
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

struct LowerBroadcastTo : OpConversionPattern<nn::BroadcastToOp> {
  LowerBroadcastTo(const TypeConverter &converter, MLIRContext *context,
                   const shape::SameSizes &sizes)
      : OpConversionPattern(converter, context), sizes(sizes) {}

  LogicalResult
  matchAndRewrite(nn::BroadcastToOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;

  const shape::SameSizes &sizes;
};

struct LowerConcat : OpConversionPattern<nn::ConcatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ConcatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct LowerSlice : OpConversionPattern<nn::SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct LowerPad : OpConversionPattern<nn::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::PadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Returns true if result dimension i is as large as the operand's dimension
/// `at`.
static bool takesSizeOf(nn::BroadcastToOp op, int64_t i, int64_t at,
                        const shape::SameSizes &sizes) {
  auto type = cast<RankedTensorType>(op.getType());
  auto dim = op.getSizes()[type.getDynamicDimIndex(i)]
                 .getDefiningOp<tensor::DimOp>();
  auto index = dim ? dim.getConstantIndex() : std::nullopt;
  return index && sizes.isSame(dim.getSource(), *index, op.getX(), at);
}

LogicalResult
LowerBroadcastTo::matchAndRewrite(nn::BroadcastToOp op, OpAdaptor adaptor,
                                  ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  Value x = adaptor.getX();
  int64_t rank = type.getRank(), offset = rank - typeOf(x).getRank();
  Value init = createEmpty(rewriter, loc, type, adaptor.getSizes());
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> decideAtRun;
  for (int64_t i = 0; i < typeOf(x).getRank(); ++i) {
    int64_t at = i + offset;
    bool repeats = typeOf(x).getDimSize(i) == 1 && type.getDimSize(at) != 1;
    decideAtRun.push_back(
        typeOf(x).isDynamicDim(i) && type.getDimSize(at) != 1 &&
        !(type.isDynamicDim(at) && takesSizeOf(op, at, i, sizes)));
    exprs.push_back(repeats ? rewriter.getAffineConstantExpr(0)
                            : rewriter.getAffineDimExpr(at));
  }
  auto copy = [](OpBuilder &, Location, ValueRange args) { return args[0]; };
  if (!llvm::is_contained(decideAtRun, true)) {
    rewriter.replaceOp(
        op, createGeneric(rewriter, loc, init, x,
                          AffineMap::get(rank, 0, exprs, getContext()), copy));
    return success();
  }
  // A dimension that may have one element is read at index * (size != 1).
  auto read = [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    SmallVector<Value> indices;
    Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
    for (auto [i, decide] : llvm::enumerate(decideAtRun)) {
      if (typeOf(x).getDimSize(i) == 1) {
        indices.push_back(zero);
        continue;
      }
      Value index = linalg::IndexOp::create(b, loc, i + offset);
      if (decide) {
        Value single =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                  sizeOf(b, loc, x, i), one);
        index = arith::SelectOp::create(b, loc, single, zero, index);
      }
      indices.push_back(index);
    }
    return tensor::ExtractOp::create(b, loc, x, indices);
  };
  rewriter.replaceOp(op, createGeneric(rewriter, loc, init, ValueRange(),
                                       ArrayRef<AffineMap>(), read));
  return success();
}

/// Returns the reshape that makes a part from the matrix of a matrix product.
/// Returns null if there is none, or if the axis is not a separate dimension of
/// the matrix.
static tensor::ExpandShapeOp matrixOf(Value part, int64_t axis) {
  auto expand = part.getDefiningOp<tensor::ExpandShapeOp>();
  bool isApart = expand && llvm::is_contained(expand.getReassociationIndices(),
                                              ReassociationIndices{axis});
  return isApart ? expand : tensor::ExpandShapeOp();
}

/// Collapses `joined` to the shape of the matrix that `like` expands. Dimension
/// `axis` has `size` elements.
static Value collapseLike(ConversionPatternRewriter &rewriter, Location loc,
                          Value joined, tensor::ExpandShapeOp like,
                          int64_t axis, OpFoldResult size) {
  auto groups = like.getReassociationIndices();
  auto expand = joined.getDefiningOp<tensor::ExpandShapeOp>();
  if (expand && expand.getReassociationIndices() == groups)
    return expand.getSrc();
  if (!joined.getDefiningOp<tensor::EmptyOp>())
    return tensor::CollapseShapeOp::create(rewriter, loc, joined, groups);
  Sizes sizes = sizesOf(rewriter, loc, like.getSrc());
  sizes[axis] = size;
  return empty(rewriter, loc, sizes, typeOf(joined).getElementType());
}

namespace {
/// A tensor of `sizes` that parts are joined to along an axis.
struct Joined {
  Value tensor;
  int64_t axis;
  ArrayRef<OpFoldResult> sizes;
};
} // namespace

/// Inserts a part at `offset` of the axis. Inserts a matrix into a matrix,
/// because the matrix's kernel can write into a slice of two dimensions but not
/// into a slice of more.
static Value insertPart(ConversionPatternRewriter &rewriter, Location loc,
                        Value part, const Joined &whole, OpFoldResult offset) {
  auto [joined, axis, sizes] = whole;
  tensor::ExpandShapeOp expand = matrixOf(part, axis);
  if (expand) {
    OpFoldResult size = sizes[axis];
    auto groups = expand.getReassociationIndices();
    axis = llvm::find(groups, ReassociationIndices{axis}) - groups.begin();
    joined = collapseLike(rewriter, loc, joined, expand, axis, size);
    part = expand.getSrc();
  }
  int64_t rank = typeOf(part).getRank();
  Sizes offsets(rank, rewriter.getIndexAttr(0)),
      ones(rank, rewriter.getIndexAttr(1));
  offsets[axis] = offset;
  Value inserted = insert(rewriter, loc, part, joined,
                          {offsets, sizesOf(rewriter, loc, part), ones});
  if (!expand)
    return inserted;
  SmallVector<int64_t> shape = decomposeMixedValues(Sizes(sizes)).first;
  return tensor::ExpandShapeOp::create(
      rewriter, loc, typeOf(joined).clone(shape), inserted,
      expand.getReassociationIndices(), Sizes(sizes));
}

/// Returns the indices of the parts in the order of their computation. Parts
/// are inserted in this order, so that each part can be written in place behind
/// the earlier parts.
static SmallVector<size_t> orderOf(ValueRange parts, Block *block) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, parts.size()));
  auto sourceOf = [&](size_t part) {
    Operation *source = parts[part].getDefiningOp();
    // Look at the source of a cast, because the conversion may have moved the
    // cast.
    if (auto cast = dyn_cast_or_null<UnrealizedConversionCastOp>(source))
      source = cast.getInputs().front().getDefiningOp();
    return source && source->getBlock() == block ? source : nullptr;
  };
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    Operation *first = sourceOf(a), *second = sourceOf(b);
    return second && (!first || first->isBeforeInBlock(second));
  });
  return order;
}

/// Concatenates the inputs along the axis into a tensor of `sizes`.
static Value join(ConversionPatternRewriter &rewriter, Location loc,
                  ValueRange inputs, int64_t axis, ArrayRef<OpFoldResult> sizes,
                  Type element) {
  Value y = empty(rewriter, loc, sizes, element);
  OpFoldResult offset = rewriter.getIndexAttr(0);
  SmallVector<OpFoldResult> offsets;
  for (Value input : inputs) {
    offsets.push_back(offset);
    offset =
        addSizes(rewriter, loc, offset,
                 tensor::getMixedSize(rewriter, loc, input, axis));
  }
  for (size_t i : orderOf(inputs, rewriter.getInsertionBlock()))
    // Skips empty parts, because tensor.insert_slice rejects any offset into an
    // empty dimension.
    if (llvm::none_of(sizesOf(rewriter, loc, inputs[i]), [](OpFoldResult size) {
          return getConstantIntValue(size) == 0;
        }))
      y = insertPart(rewriter, loc, inputs[i], {y, axis, sizes}, offsets[i]);
  return y;
}

/// The maximum number of inputs that are concatenated at once. Bufferization
/// compares each part with all parts before it. More inputs are concatenated in
/// groups, which are still written in place.
static constexpr size_t kMaxJoined = 64;

LogicalResult
LowerConcat::matchAndRewrite(nn::ConcatOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  int64_t axis = op.getAxis();
  Sizes sizes = resultSizes(rewriter, op->getResult(0));
  SmallVector<Value> parts(adaptor.getInputs());
  while (parts.size() > kMaxJoined) {
    SmallVector<Value> groups;
    for (size_t i = 0; i < parts.size(); i += kMaxJoined) {
      auto group = ArrayRef(parts).slice(i).take_front(kMaxJoined);
      Sizes part = sizes;
      part[axis] = rewriter.getIndexAttr(0);
      for (Value input : group)
        part[axis] = addSizes(rewriter, loc, part[axis],
                              tensor::getMixedSize(rewriter, loc, input, axis));
      groups.push_back(
          join(rewriter, loc, group, axis, part, type.getElementType()));
    }
    parts = std::move(groups);
  }
  Value y = join(rewriter, loc, parts, axis, sizes, type.getElementType());
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

LogicalResult
LowerSlice::matchAndRewrite(nn::SliceOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  Value x = adaptor.getX();
  Sizes starts, sizes, steps;
  bool forward = true;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    starts.push_back(rewriter.getIndexAttr(op.getStarts()[i]));
    steps.push_back(rewriter.getIndexAttr(op.getSteps()[i]));
    // tensor.extract_slice refuses any offset into an empty dimension.
    forward &= op.getSteps()[i] > 0 && typeOf(x).getDimSize(i) != 0;
    if (op.getSizes()[i] != -1)
      sizes.push_back(rewriter.getIndexAttr(op.getSizes()[i]));
    else if (typeOf(x).isDynamicDim(i))
      sizes.push_back(sizeOf(rewriter, loc, x, i));
    else
      sizes.push_back(rewriter.getIndexAttr(typeOf(x).getDimSize(i)));
  }
  Value y;
  if (forward) {
    y = tensor::ExtractSliceOp::create(rewriter, loc, x, starts, sizes, steps);
  } else {
    y = generate(
        rewriter, loc, sizes, type.getElementType(),
        [&](OpBuilder &b, Location loc, ValueRange indices) {
          SmallVector<Value> at;
          for (auto [i, index] : llvm::enumerate(indices)) {
            Value step = indexConstant(b, loc, op.getSteps()[i]);
            Value start = indexConstant(b, loc, op.getStarts()[i]);
            Value moved = arith::MulIOp::create(b, loc, index, step);
            at.push_back(arith::AddIOp::create(b, loc, start, moved));
          }
          return tensor::ExtractOp::create(b, loc, x, at);
        });
  }
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

/// Returns the index at which position p of the result reads a dimension of
/// `size` elements. The position counts from the operand's first element and
/// may be outside of the operand. The dimension has enough elements to be
/// mirrored.
static Value reflected(OpBuilder &b, Location loc, nn::PadMode mode,
                       Value position, Value size, bool repeatsOnce) {
  Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, size, one);
  auto less = [&](Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  };
  auto larger = [&](Value x, Value y) -> Value {
    return arith::MaxSIOp::create(b, loc, x, y);
  };
  auto minus = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(b, loc, x, y);
  };
  if (mode == nn::PadMode::edge)
    return larger(arith::MinSIOp::create(b, loc, position, last), zero);
  // Mirrors at both ends: last - |last - |p||.
  if (mode == nn::PadMode::reflect) {
    Value right = minus(last, larger(position, minus(zero, position)));
    return minus(last, larger(right, minus(zero, right)));
  }
  Value rest = repeatsOnce
                   ? Value(arith::SelectOp::create(
                         b, loc, less(position, size), position,
                         minus(position, size)))
                   : Value(arith::RemSIOp::create(b, loc, position, size));
  Value lifted = arith::AddIOp::create(b, loc, rest, size);
  return arith::SelectOp::create(b, loc, less(rest, zero), lifted, rest);
}

/// Pads x by repeating or mirroring its elements. Copies the data as a whole,
/// then fills the two ends of each dimension in order. An end of a dimension
/// covers the unpadded extent of the earlier dimensions, and the padded extent
/// of the later dimensions.
static Value repeatEnds(OpBuilder &b, nn::PadOp op, Value x,
                        ArrayRef<int64_t> lowPads, ArrayRef<int64_t> highPads,
                        ArrayRef<OpFoldResult> sizes) {
  Location loc = op.getLoc();
  const nn::PadMode mode = op.getMode();
  RankedTensorType type = typeOf(x);
  int64_t rank = type.getRank();
  Sizes own = sizesOf(b, loc, x), lows, none(rank, b.getIndexAttr(0)),
        ones(rank, b.getIndexAttr(1));
  for (int64_t low : lowPads)
    lows.push_back(b.getIndexAttr(low));
  Value y = empty(b, loc, sizes, type.getElementType());
  y = insert(b, loc, x, y, {lows, own, ones});
  auto padEnd = [&](int64_t d, bool isHigh) {
    int64_t pad = (isHigh ? highPads : lowPads)[d];
    if (pad == 0)
      return;
    Sizes part(own), offsets(lows);
    part[d] = b.getIndexAttr(pad);
    offsets[d] = isHigh ? addSizes(b, loc, lows[d], own[d]) : none[d];
    for (int64_t i = d + 1; i < rank; ++i)
      std::tie(part[i], offsets[i]) = std::pair(sizes[i], none[i]);
    Value end = generate(
        b, loc, part, type.getElementType(),
        [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
          SmallVector<Value> at(indices);
          for (int64_t i = d; i < rank; ++i) {
            int64_t low = lowPads[i], high = highPads[i];
            if (low == 0 && high == 0)
              continue;
            Value size = sizeOf(b, loc, x, i);
            at[i] = i == d && isHigh
                        ? arith::AddIOp::create(b, loc, at[i], size)
                              .getResult()
                        : arith::SubIOp::create(b, loc, at[i],
                                                indexConstant(b, loc, low))
                              .getResult();
            bool repeatsOnce = !type.isDynamicDim(i) &&
                               std::max(low, high) <= type.getDimSize(i);
            at[i] = reflected(b, loc, mode, at[i], size, repeatsOnce);
          }
          return tensor::ExtractOp::create(b, loc, x, at);
        });
    y = insert(b, loc, end, y, {offsets, part, ones});
  };
  for (int64_t d = 0; d < rank; ++d) {
    padEnd(d, /*isHigh=*/false);
    padEnd(d, /*isHigh=*/true);
  }
  return y;
}

LogicalResult
LowerPad::matchAndRewrite(nn::PadOp op, OpAdaptor adaptor,
                          ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  Value x = adaptor.getX(), y;
  if (op.getMode() == nn::PadMode::constant) {
    Value fill = tensor::ExtractOp::create(rewriter, loc, adaptor.getValue(),
                                           ValueRange());
    y = pad(rewriter, loc, x, op.getLow(), op.getHigh(), fill);
  } else {
    // Crop first, since only the elements that remain are repeated at the ends.
    SmallVector<int64_t> cut[2], added[2];
    ArrayRef<int64_t> given[] = {op.getLow(), op.getHigh()};
    for (auto [i, pads] : llvm::enumerate(given))
      for (int64_t amount : pads) {
        cut[i].push_back(std::min<int64_t>(amount, 0));
        added[i].push_back(std::max<int64_t>(amount, 0));
      }
    Value nothing = scalar(rewriter, loc, type.getElementType(), 0);
    x = pad(rewriter, loc, x, cut[0], cut[1], nothing);
    y = repeatEnds(rewriter, op, x, added[0], added[1],
                   resultSizes(rewriter, op->getResult(0)));
  }
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

void loops::populateMovementToLinalg(RewritePatternSet &patterns,
                                     const TypeConverter &converter,
                                     const shape::SameSizes &sizes) {
  patterns.add<LowerBroadcastTo>(converter, patterns.getContext(), sizes);
  patterns.add<LowerConcat, LowerPad, LowerReshape, LowerSlice,
               LowerTranspose>(converter, patterns.getContext());
}
