//===- Pad.cpp - Pad, CenterCropPad ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/ComputedShape.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns the index that `position` reads in a dimension of `size` elements.
/// `position` may be outside of the dimension.
static Value reflected(Indices i, nn::PadMode mode, Value position,
                       Value size) {
  Value zero = i.n(0), one = i.n(1), last = i.sub(size, one);
  if (mode == nn::PadMode::edge)
    return i.max(i.min(position, last), zero);
  Value period = mode == nn::PadMode::wrap ? size : i.add(last, last);
  period = i.max(period, one);
  Value rest = i.wrap(i.rem(position, period), period);
  if (mode == nn::PadMode::wrap)
    return rest;
  return i.choose(i.less(last, rest), i.sub(period, rest), rest);
}

static void requireNotNegative(Indices i, size_t dim, Value size, Value rest) {
  require(i.b, i.loc, i.less(i.n(-1), rest),
          "cropping leaves dimension " + Twine(dim) +
              " of {0} elements a negative size: {1}",
          {size, rest});
}

/// Requires at run time that a dimension is large enough for computed pads.
static void requirePads(Indices i, nn::PadMode mode, size_t dim, Value size,
                        Value low, Value high) {
  std::string name = "dimension " + std::to_string(dim);
  if (mode == nn::PadMode::constant)
    return requireNotNegative(i, dim, size, i.add(i.add(size, low), high));
  // A reflected dimension has one element less than its size to pad with.
  Value amount = i.max(i.max(low, high), i.n(0));
  Value least = mode == nn::PadMode::reflect ? amount : i.n(0);
  Value isEnough = arith::OrIOp::create(i.b, i.loc, i.equal(amount, i.n(0)),
                                        i.less(least, size));
  require(i.b, i.loc, isEnough,
          name + " of {0} elements is too short for pads of {1}",
          {size, amount});
}

namespace {

/// Computed pads of one dimension. Negative pads crop.
struct ComputedPads {
  Value size, low, high;
  /// True if the dimension is known not to change.
  bool isWhole;
};

} // namespace

/// Inserts the data into a filled tensor. Cropped elements are not read.
static Value fillAround(Node &node, Value fill, ArrayRef<ComputedPads> pads,
                        ArrayRef<OpFoldResult> sizes) {
  Value x = node.input(0);
  Indices i{node.builder, node.loc()};
  Sizes from, to, count;
  for (auto [dim, total] : llvm::zip_equal(pads, sizes)) {
    if (dim.isWhole) {
      from.push_back(sizeAttr(node, 0));
      to.push_back(sizeAttr(node, 0));
      count.push_back(total);
      continue;
    }
    Value whole = indexValue(node, total), zero = i.n(0);
    Value skipped = i.min(i.max(i.sub(zero, dim.low), zero), dim.size),
          added = i.min(i.max(dim.low, zero), whole);
    from.push_back(skipped);
    to.push_back(added);
    count.push_back(i.min(i.sub(dim.size, skipped), i.sub(whole, added)));
  }
  return setPart(node, broadcastTo(node, fill, sizes),
                 takePart(node, x, from, count), to);
}

/// Pads by repeating the ends. Computes the indices once per dimension, because
/// indices per element would need divisions for each element.
static Value repeatEnds(Node &node, nn::PadMode mode,
                        ArrayRef<ComputedPads> pads,
                        ArrayRef<OpFoldResult> sizes) {
  Value x = node.input(0);
  SmallVector<Value> lists;
  for (auto [dim, total] : llvm::zip_equal(pads, sizes)) {
    lists.push_back(Value());
    if (dim.isWhole)
      continue;
    // Crops before repeating the ends of the rest.
    Indices i{node.builder, node.loc()};
    Value zero = i.n(0), low = i.max(dim.low, zero),
          skipped = i.max(i.sub(zero, dim.low), zero),
          rest = i.add(i.add(dim.size, i.min(dim.low, zero)),
                       i.min(dim.high, zero));
    lists.back() = generate(
        node, node.builder.getI64Type(), total,
        [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          Indices i{b, loc};
          Value position = reflected(i, mode, i.sub(at[0], low), rest);
          return arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                            i.add(position, skipped));
        });
  }
  return generate(node, typeOf(x).getElementType(), sizes,
                  [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
                    Indices i{b, loc};
                    SmallVector<Value> at;
                    for (auto [list, index] : llvm::zip_equal(lists, indices))
                      at.push_back(list ? i.of(tensor::ExtractOp::create(
                                              b, loc, list, index))
                                        : index);
                    return tensor::ExtractOp::create(b, loc, x, at);
                  });
}

/// Pads by amounts that are computed at run time.
static LogicalResult padComputed(Node &node, Value fill, nn::PadMode mode,
                                 ArrayRef<OpFoldResult> low,
                                 ArrayRef<OpFoldResult> high) {
  Sizes sizes;
  SmallVector<ComputedPads> pads;
  Indices i{node.builder, node.loc()};
  for (auto [d, amounts] : llvm::enumerate(
           llvm::zip_equal(sizesOf(node, node.input(0)), low, high))) {
    auto [size, before, after] = amounts;
    sizes.push_back(addSizes(node, addSizes(node, size, before), after));
    bool isWhole = isZeroInteger(before) && isZeroInteger(after);
    ComputedPads dim = {indexValue(node, size), indexValue(node, before),
                        indexValue(node, after), isWhole};
    pads.push_back(dim);
    if (isWhole)
      continue;
    Value length = dim.size, begin = dim.low, end = dim.high, zero = i.n(0);
    if (mode != nn::PadMode::constant) {
      Value rest = i.add(i.add(length, i.min(begin, zero)), i.min(end, zero));
      requireNotNegative(i, d, length, rest);
      length = rest;
      begin = i.max(begin, zero);
      end = i.max(end, zero);
    }
    requirePads(i, mode, d, length, begin, end);
  }
  return node.replace(mode == nn::PadMode::constant
                          ? fillAround(node, fill, pads, sizes)
                          : repeatEnds(node, mode, pads, sizes));
}

/// Returns the allowed pads at one end of a dimension. Negative pads crop.
static nn::Range allowedPads(nn::PadMode mode, int64_t size) {
  int64_t most = nn::kMostElements;
  // With constant padding, allow large crops, because a crop may extend into
  // the padding of the other end.
  if (ShapedType::isDynamic(size) || mode == nn::PadMode::constant)
    return {-most, most};
  // A reflected dimension has one element less than its size to pad with.
  if (mode == nn::PadMode::reflect)
    most = std::max<int64_t>(size - 1, 0);
  else if (size == 0)
    most = 0;
  return {-std::min(size, nn::kMostElements), most};
}

/// Moves the excess of a crop to the pad of the other end, if the crop exceeds
/// `size`. No element of the dimension then remains.
static void cropPads(int64_t size, int64_t &low, int64_t &high) {
  int64_t left = size + low + high;
  if (low < -size) {
    low = -size;
    high = left;
  } else if (high < -size) {
    high = -size;
    low = left;
  }
}

/// Returns true if a crop may extend into the padding of the other end of a
/// dynamic dimension. In this case the pads depend on the size.
static bool mayCropPads(RankedTensorType type, nn::PadMode mode,
                        ArrayRef<int64_t> axes, ArrayRef<OpFoldResult> pads) {
  return mode == nn::PadMode::constant &&
         llvm::any_of(llvm::seq(axes.size()), [&](size_t i) {
           int64_t low = *getConstantIntValue(pads[i]),
                   high = *getConstantIntValue(pads[i + axes.size()]);
           return type.isDynamicDim(axes[i]) &&
                  std::min(low, high) < 0 && std::max(low, high) > 0;
         });
}

static std::string sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "some" : std::to_string(size);
}

/// Makes the lengths of pads and axes static from each other. There are two
/// pads per axis.
static void pinPads(Node &node) {
  auto lengthOf = [&](size_t i) {
    return node.rank(i) == 1 ? node.shape(i)[0] : ShapedType::kDynamic;
  };
  int64_t axes = node.has(3) ? lengthOf(3) : node.rank(0), pads = lengthOf(1);
  if (!ShapedType::isDynamic(axes))
    pinInput(node, 1, {2 * axes}, "pads");
  else if (!ShapedType::isDynamic(pads))
    pinInput(node, 3, {pads / 2}, "axes");
}

static LogicalResult legalizePad(Node &node) {
  Value x = node.input(0);
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  StringRef modeName = node.getString("mode", "constant");
  std::optional<nn::PadMode> mode = nn::symbolizePadMode(modeName);
  if (!mode)
    return node.invalid("mode is " + modeName);

  Sizes pads;
  if (node.has(1)) {
    pinPads(node);
    auto elements = elementsOf(node, node.input(1));
    if (failed(elements))
      return failure();
    pads = *elements;
  } else if (auto ints = node.getInts("pads")) {
    for (int64_t pad : *ints)
      pads.push_back(sizeAttr(node, pad));
  } else {
    return node.invalid("pads is missing");
  }
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Sizes axisSizes;
  bool isConstant = true;
  if (node.has(3)) {
    auto elements = elementsOf(node, node.input(3));
    if (failed(elements))
      return failure();
    axisSizes = *elements;
    axes = staticShape(axisSizes);
    isConstant = !llvm::is_contained(axes, ShapedType::kDynamic);
    if (failed(checkKnownAxes(node, axisSizes, rank)))
      return failure();
    auto normal = isConstant ? normalizeAxes(node, axes, rank)
                             : FailureOr<SmallVector<int64_t>>(axes);
    if (failed(normal))
      return failure();
    axes = *normal;
  } else {
    for (int64_t axis : axes)
      axisSizes.push_back(sizeAttr(node, axis));
  }
  if (pads.size() != 2 * axes.size())
    return node.badLength("pads", pads.size(), Twine(2 * axes.size()));

  Value fill;
  if (*mode == nn::PadMode::constant) {
    if (node.has(2)) {
      if (!node.type(2).hasStaticShape() || node.type(2).getNumElements() != 1)
        return node.invalid("the value needs one element");
      fill = reshape(node, node.input(2), ArrayRef<int64_t>());
    } else {
      fill = scalar(node, type.getElementType(), node.getFloat("value", 0));
    }
  }
  isConstant &= llvm::all_of(
      pads, [](OpFoldResult pad) { return getConstantIntValue(pad); });
  if (!isConstant || mayCropPads(type, *mode, axes, pads)) {
    Sizes none(rank, sizeAttr(node, 0));
    size_t count = axisSizes.size();
    return padComputed(
        node, fill, *mode,
        scatterByAxis(node, axisSizes, ArrayRef(pads).take_front(count), none),
        scatterByAxis(node, axisSizes, ArrayRef(pads).drop_front(count), none));
  }
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    auto before = getConstantIntValue(pads[i]),
         after = getConstantIntValue(pads[i + axes.size()]);
    low[axis] = *before;
    high[axis] = *after;
    nn::Range range = allowedPads(*mode, type.getDimSize(axis));
    for (auto [place, pad] :
         {std::pair(i, *before), std::pair(i + axes.size(), *after)})
      if (!range.contains(pad))
        return node.badElement("pads", place, Twine(pad),
                               nn::describeRange(range) + " for dimension " +
                                   Twine(axis) + " of " +
                                   sizeText(type.getDimSize(axis)) +
                                   " elements");
    if (type.isDynamicDim(axis))
      continue;
    int64_t left = type.getDimSize(axis) + *before + *after;
    if (left < 0)
      return node.invalid("'pads' leaves dimension " + Twine(axis) + " of " +
                          Twine(type.getDimSize(axis)) + " elements " +
                          Twine(left));
    cropPads(type.getDimSize(axis), low[axis], high[axis]);
  }
  auto isNegative = [](int64_t pad) { return pad < 0; };
  if (*mode != nn::PadMode::constant &&
      (llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))) {
    // Crops before repeating the ends of the rest.
    SmallVector<int64_t> cropLow(rank, 0), cropHigh(rank, 0);
    for (int64_t d = 0; d < rank; ++d) {
      cropLow[d] = std::min<int64_t>(low[d], 0);
      cropHigh[d] = std::min<int64_t>(high[d], 0);
      low[d] = std::max<int64_t>(low[d], 0);
      high[d] = std::max<int64_t>(high[d], 0);
    }
    auto cropped = node.infer<nn::PadOp>(
        x, scalar(node, type.getElementType(), 0), cropLow, cropHigh,
        nn::PadMode::constant);
    if (failed(cropped))
      return failure();
    x = *cropped;
  }
  auto y = node.infer<nn::PadOp>(x, fill, low, high, *mode);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeCenterCropPad(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  auto stated = node.getInts("axes");
  pinInput(node, 1, {stated ? int64_t(stated->size()) : rank}, "shape");
  auto shape = elementsOf(node, node.input(1));
  if (failed(shape))
    return failure();
  auto axes = normalizeAxes(node,
                            stated.value_or(
                                llvm::to_vector(llvm::seq<int64_t>(0, rank))),
                            rank);
  if (failed(axes))
    return failure();
  if (shape->size() != axes->size())
    return node.badLength("shape", shape->size(), Twine(axes->size()));
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  Sizes lowSizes(rank, sizeAttr(node, 0)), highSizes = lowSizes;
  bool isConstant = true;
  constexpr nn::Range kSizes = {0, nn::kMostElements};
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(*axes, *shape))) {
    auto [axis, wanted] = pair;
    auto known = getConstantIntValue(wanted);
    if (known && !kSizes.contains(*known))
      return node.badElement("shape", i, Twine(*known),
                             nn::describeRange(kSizes));
    // Splits the difference between both ends. The odd element is at the end.
    OpFoldResult more =
        subSizes(node, wanted, sizeOf(node, node.input(0), axis));
    if (auto amount = getConstantIntValue(more)) {
      low[axis] = *amount / 2;
      high[axis] = *amount - low[axis];
      lowSizes[axis] = sizeAttr(node, low[axis]);
      highSizes[axis] = sizeAttr(node, high[axis]);
      continue;
    }
    isConstant = false;
    lowSizes[axis] = divSizes(node, more, sizeAttr(node, 2));
    highSizes[axis] = subSizes(node, more, lowSizes[axis]);
  }
  Value fill = scalar(node, type.getElementType(), 0);
  if (!isConstant)
    return padComputed(node, fill, nn::PadMode::constant, lowSizes, highSizes);
  auto y = node.infer<nn::PadOp>(node.input(0), fill, low, high,
                                 nn::PadMode::constant);
  return failed(y) ? failure() : node.replace(*y);
}

void legalize::populatePad(Legalizers &legalizers) {
  legalizers.add("CenterCropPad", legalizeCenterCropPad);
  legalizers.add("Pad", legalizePad);
}
