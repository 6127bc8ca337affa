//===- Slice.cpp - Slice, Split -------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/ComputedShape.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {
/// Range of elements to take of one dimension.
struct Taken {
  OpFoldResult start, size;
  int64_t step = 1;
};
} // namespace

/// Bound of positions. No dimension is that large, and sums do not overflow.
static constexpr int64_t kFarPosition = int64_t(1) << 48;

/// Clamps a start or end, so that sums do not overflow. This is needed because
/// exporters write the limits of int64 for "from the start" and "to the end".
static Value holdNear(Indices &i, Value position) {
  return i.max(i.min(position, i.n(kFarPosition)), i.n(-kFarPosition));
}

/// Converts a start or end to a position counted from the front, and clamps it
/// to the dimension.
static OpFoldResult clampPosition(Node &node, OpFoldResult position,
                                  OpFoldResult size, int64_t low,
                                  OpFoldResult high) {
  auto known = getConstantIntValue(position);
  if (known && *known < 0)
    position = addSizes(node, size, position);
  // True if the position is computed from sizes and therefore not negative.
  bool isCounted = !known && isFromDims(position) && isFromDims(high);
  if (!known && !isCounted) {
    Indices i{node.builder, node.loc()};
    position =
        i.wrap(holdNear(i, indexValue(node, position)), indexValue(node, size));
  }
  if (known && *known >= kFarPosition)
    return high;
  if (known && *known <= -kFarPosition)
    return sizeAttr(node, low);
  OpFoldResult held = minSizes(node, position, high);
  return isCounted ? held : maxSizes(node, held, sizeAttr(node, low));
}

/// Splits a position into a value and a constant that is added to it.
static std::pair<Value, int64_t> splitPosition(OpFoldResult position) {
  auto value = dyn_cast<Value>(position);
  int64_t offset = 0;
  while (auto sum = value ? value.getDefiningOp<arith::AddIOp>() : nullptr) {
    auto added = getConstantIntValue(sum.getRhs());
    if (!added)
      break;
    value = sum.getLhs();
    offset += *added;
  }
  return {value, offset};
}

/// Returns true if two values are the same element of the same tensor.
static bool isSameElement(Value a, Value b) {
  if (a == b)
    return true;
  if (auto castA = a.getDefiningOp<arith::IndexCastOp>())
    if (auto castB = b.getDefiningOp<arith::IndexCastOp>())
      return isSameElement(castA.getIn(), castB.getIn());
  auto fromA = a.getDefiningOp<tensor::ExtractOp>(),
       fromB = b.getDefiningOp<tensor::ExtractOp>();
  return fromA && fromB && fromA.getTensor() == fromB.getTensor() &&
         llvm::equal(fromA.getIndices(), fromB.getIndices(),
                     [](Value i, Value j) {
                       return isEqualConstantIntOrValue(i, j);
                     });
}

/// Returns true if the range has at most one position. Exporters write x[i] as
/// x[i:i+1], which is empty if i is out of bounds.
static bool isOnePosition(OpFoldResult start, OpFoldResult end) {
  auto [first, firstOffset] = splitPosition(start);
  auto [last, lastOffset] = splitPosition(end);
  return first && last && lastOffset - firstOffset == 1 &&
         isSameElement(first, last);
}

static Taken resolveRange(Node &node, OpFoldResult start, OpFoldResult end,
                          int64_t step, OpFoldResult size) {
  OpFoldResult last = subSizes(node, size, sizeAttr(node, 1));
  OpFoldResult from, length;
  if (step > 0) {
    from = clampPosition(node, start, size, 0, size);
    OpFoldResult to = clampPosition(node, end, size, 0, size);
    length = subSizes(node, to, from);
  } else {
    from = clampPosition(node, start, size, 0, last);
    OpFoldResult to = clampPosition(node, end, size, -1, last);
    // Limit the length to the size. In an empty dimension, the last position is
    // -1, so the difference could be too large.
    length = minSizes(node, subSizes(node, from, to), size);
  }
  int64_t by = step > 0 ? step : -step;
  if (by != 1)
    length = divSizes(node, addSizes(node, length, sizeAttr(node, by - 1)),
                      sizeAttr(node, by));
  // Limits the length of a backward slice, because an empty dimension has no
  // last element to start from.
  if (step < 0)
    length = minSizes(node, length, size);
  if (!isFromDims(length))
    length = maxSizes(node, length, sizeAttr(node, 0));
  // Limit the length to 1 explicitly, because users of the slice may need a
  // list of static length.
  if (step > 0 && !getConstantIntValue(length) && isOnePosition(start, end))
    length = minSizes(node, length, sizeAttr(node, 1));
  return {from, length, step};
}

/// Creates a slice whose start or size is known at run time only. A forward
/// slice is a tensor.extract_slice, which later passes handle like a static
/// one.
static Value sliceDynamic(Node &node, Value x, ArrayRef<Taken> ranges) {
  // The slice is the whole tensor.
  if (llvm::all_of_zip(ranges, sizesOf(node, x),
                       [](const Taken &taken, OpFoldResult size) {
                         return taken.step == 1 && isZeroInteger(taken.start) &&
                                isSameSize(taken.size, size);
                       }))
    return x;
  Sizes starts, sizes, steps;
  bool isForward = true;
  for (const Taken &taken : ranges) {
    starts.push_back(taken.start);
    sizes.push_back(taken.size);
    steps.push_back(sizeAttr(node, taken.step));
    isForward &= taken.step > 0;
  }
  if (isForward)
    return takePart(node, x, starts, sizes, steps);
  SmallVector<Value> startValues;
  for (OpFoldResult start : starts)
    startValues.push_back(indexValue(node, start));
  return generate(
      node, typeOf(x).getElementType(), sizes,
      [&](OpBuilder &b, Location loc, ValueRange indices) {
        SmallVector<Value> at;
        for (auto [i, range] : llvm::enumerate(ranges)) {
          Value step = arith::ConstantIndexOp::create(b, loc, range.step);
          Value moved = arith::MulIOp::create(b, loc, indices[i], step);
          at.push_back(arith::AddIOp::create(b, loc, startValues[i], moved));
        }
        return tensor::ExtractOp::create(b, loc, x, at);
      });
}

static LogicalResult checkLengths(Node &node, size_t starts, size_t ends,
                                  size_t axes, size_t steps) {
  if (int64_t(starts) > node.rank(0))
    return node.badLength("starts", starts,
                          "at most " + Twine(node.rank(0)) +
                              ", one a dimension");
  for (auto [name, length] : {std::pair<StringRef, size_t>("ends", ends),
                              {"axes", axes},
                              {"steps", steps}})
    if (length != starts)
      return node.badLength(name, length, Twine(starts) + " like 'starts'");
  return success();
}

/// Slices by starts, ends, axes and steps that may be computed at run time.
static LogicalResult sliceComputed(Node &node, ArrayRef<OpFoldResult> starts,
                                   ArrayRef<OpFoldResult> ends) {
  Value x = node.input(0);
  int64_t rank = node.rank(0);
  size_t count = starts.size();
  Sizes axes, steps(count, sizeAttr(node, 1));
  for (size_t i = 0; i < count; ++i)
    axes.push_back(sizeAttr(node, i));
  for (auto [input, list] : {std::pair(3, &axes), std::pair(4, &steps)}) {
    if (!node.has(input))
      continue;
    auto elements = elementsOf(node, node.input(input));
    if (failed(elements))
      return failure();
    *list = *elements;
  }
  if (failed(
          checkLengths(node, count, ends.size(), axes.size(), steps.size())) ||
      failed(checkKnownAxes(node, axes, rank)))
    return failure();
  for (auto [i, step] : llvm::enumerate(steps))
    if (getConstantIntValue(step) == 0)
      return node.badElement("steps", i, "0", "other than 0");
  Sizes full = sizesOf(node, x);
  Sizes zeros(rank, sizeAttr(node, 0)), ones(rank, sizeAttr(node, 1));
  Sizes from = scatterByAxis(node, axes, starts, zeros),
        to = scatterByAxis(node, axes, ends, full),
        by = scatterByAxis(node, axes, steps, ones);
  Indices i{node.builder, node.loc()};
  SmallVector<Value> firsts, strides;
  Sizes sizes;
  for (int64_t d = 0; d < rank; ++d) {
    Value size = indexValue(node, full[d]), step = indexValue(node, by[d]);
    require(node.builder, node.loc(),
            arith::CmpIOp::create(i.b, i.loc, arith::CmpIPredicate::ne, step,
                                  i.n(0)),
            "the step of dimension " + Twine(d) + " is {0}", step);
    // Clamps steps, so that no product overflows. A start beyond the end of a
    // forward slice gives an empty slice.
    Value limit = i.n(int64_t(1) << 32), under = i.n(-(int64_t(1) << 32));
    step = i.max(i.min(step, limit), under);
    Value isBack = i.less(step, i.n(0)), last = i.sub(size, i.n(1));
    Value high = i.choose(isBack, last, size);
    auto hold = [&](OpFoldResult position, Value low) {
      Value at = i.wrap(holdNear(i, indexValue(node, position)), size);
      return i.max(i.min(at, high), low);
    };
    Value first = hold(from[d], i.n(0));
    Value end = hold(to[d], i.choose(isBack, i.n(-1), i.n(0)));
    Value length = i.choose(isBack, i.min(i.sub(first, end), size),
                            i.sub(end, first));
    Value stride = i.choose(isBack, i.sub(i.n(0), step), step);
    length = i.div(i.add(length, i.sub(stride, i.n(1))), stride);
    firsts.push_back(first);
    strides.push_back(step);
    sizes.push_back(i.max(i.min(length, size), i.n(0)));
  }
  return node.replace(
      generate(node, typeOf(x).getElementType(), sizes,
               [&](OpBuilder &b, Location loc, ValueRange indices) {
                 Indices i{b, loc};
                 SmallVector<Value> at;
                 for (auto [d, index] : llvm::enumerate(indices))
                   at.push_back(i.add(firsts[d], i.mul(index, strides[d])));
                 return tensor::ExtractOp::create(b, loc, x, at);
               }));
}

/// Returns true if a size is known to be at most 1.
static bool isAtMostOne(OpFoldResult size) {
  if (auto known = getConstantIntValue(size))
    return *known <= 1;
  auto min = cast<Value>(size).getDefiningOp<arith::MinSIOp>();
  return min && (isAtMostOne(min.getLhs()) || isAtMostOne(min.getRhs()));
}

/// Makes the lengths of starts, ends, axes and steps static. One static list
/// determines the lengths of the others. Lists also have one element if the
/// data have rank 1 or a list has at most one element.
static void pinLengths(Node &node) {
  std::optional<int64_t> length;
  constexpr std::pair<size_t, StringRef> kLists[] = {
      {1, "'starts'"}, {2, "'ends'"}, {3, "'axes'"}, {4, "'steps'"}};
  for (auto [input, name] : kLists)
    if (node.has(input) && node.rank(input) == 1) {
      int64_t known = node.shape(input)[0];
      if (!ShapedType::isDynamic(known))
        length = length.value_or(known);
      else if (node.rank(0) == 1 ||
               isAtMostOne(sizeOf(node, node.input(input), 0)))
        length = length.value_or(1);
    }
  if (length)
    for (auto [input, name] : kLists)
      pinInput(node, input, {*length}, name);
}

static LogicalResult legalizeSlice(Node &node) {
  pinLengths(node);
  Value x = node.input(0);
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  Sizes starts, ends;
  auto readBounds = [&](size_t input, StringRef name,
                        Sizes &bounds) -> LogicalResult {
    if (node.has(input)) {
      auto elements = elementsOf(node, node.input(input));
      if (failed(elements))
        return failure();
      bounds = *elements;
      return success();
    }
    auto ints = node.getInts(name);
    if (!ints)
      return node.invalid(name + " is missing");
    for (int64_t value : *ints)
      bounds.push_back(sizeAttr(node, value));
    return success();
  };
  if (failed(readBounds(1, "starts", starts)) ||
      failed(readBounds(2, "ends", ends)))
    return failure();
  auto isComputed = [&](size_t input) {
    return node.has(input) && !node.getConstantInts(input);
  };
  if (isComputed(3) || isComputed(4))
    return sliceComputed(node, starts, ends);
  auto axes = intsFromInputOrAttr(node, 3, "axes");
  auto steps = intsFromInputOrAttr(node, 4, "steps");
  if (failed(axes) || failed(steps))
    return failure();
  size_t count = starts.size();
  SmallVector<int64_t> axisList =
      (*axes).value_or(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  SmallVector<int64_t> stepList =
      (*steps).value_or(SmallVector<int64_t>(count, 1));
  if (failed(checkLengths(node, count, ends.size(), axisList.size(),
                          stepList.size())))
    return failure();
  auto normal = normalizeAxes(node, axisList, rank);
  if (failed(normal))
    return failure();

  SmallVector<Taken> ranges;
  Sizes full = sizesOf(node, x);
  for (OpFoldResult size : full)
    ranges.push_back({sizeAttr(node, 0), size, 1});
  SmallVector<bool> whole(rank, true);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = (*normal)[i], step = stepList[i];
    if (step == 0)
      return node.badElement("steps", i, "0", "other than 0");
    // Clamps the step. No dimension is that large, and products do not
    // overflow.
    step = std::clamp<int64_t>(step, -(int64_t(1) << 32), int64_t(1) << 32);
    auto start = getConstantIntValue(starts[i]);
    auto end = getConstantIntValue(ends[i]);
    if (step == 1 && start == 0 && end && *end >= int64_t(1) << 31)
      continue;
    whole[axis] = false;
    ranges[axis] = resolveRange(node, starts[i], ends[i], step, full[axis]);
  }

  SmallVector<int64_t> startInts, sizeInts, stepInts;
  for (auto [i, range] : llvm::enumerate(ranges)) {
    auto start = getConstantIntValue(range.start);
    auto size = getConstantIntValue(range.size);
    if (whole[i])
      size = -1;
    if (!start || !size)
      return node.replace(sliceDynamic(node, x, ranges));
    bool empty = *size == 0;
    startInts.push_back(empty ? 0 : *start);
    sizeInts.push_back(*size);
    stepInts.push_back(empty || *size == 1 ? 1 : range.step);
  }
  auto y = node.infer<nn::SliceOp>(x, startInts, sizeInts, stepInts);
  return failed(y) ? failure() : node.replace(*y);
}

void legalize::requireSum(Node &node, ArrayRef<OpFoldResult> parts,
                       OpFoldResult whole) {
  Indices i{node.builder, node.loc()};
  Value sum = i.n(0), size = indexValue(node, whole);
  for (OpFoldResult part : parts)
    sum = i.add(sum, indexValue(node, part));
  require(node.builder, node.loc(), i.equal(sum, size),
          "split adds up to {0} of {1} elements", {sum, size});
}

SmallVector<Value> legalize::takeParts(Node &node, int64_t axis,
                                       ArrayRef<OpFoldResult> parts) {
  Value x = node.input(0);
  Sizes sizes = sizesOf(node, x), starts(sizes.size(), sizeAttr(node, 0));
  SmallVector<Value> values;
  for (OpFoldResult part : parts) {
    sizes[axis] = part;
    values.push_back(takePart(node, x, starts, sizes));
    starts[axis] = addSizes(node, starts[axis], part);
  }
  return values;
}

/// Splits into parts of computed sizes. nn-require-sizes checks that no size is
/// negative.
static LogicalResult splitComputed(Node &node, int64_t axis) {
  Value x = node.input(0);
  auto parts = elementsOf(node, node.input(1));
  if (failed(parts))
    return failure();
  if (parts->size() != node.numOutputs())
    return node.badLength("split", parts->size(),
                          Twine(node.numOutputs()) + ", one an output");
  for (auto [i, part] : llvm::enumerate(*parts))
    if (auto known = getConstantIntValue(part); known && *known < 0)
      return node.badElement("split", i, Twine(*known), "at least 0");
  requireSum(node, *parts, sizeOf(node, x, axis));
  return node.replace(takeParts(node, axis, *parts));
}

/// Returns true if all parts must be equal. Since opset 18, num_outputs allows
/// a smaller last part. Conversion adds num_outputs to older nodes.
static bool wantsEqualParts(Node &node) {
  return !node.hasAttr("num_outputs") || node.statedOpset < 18;
}

/// Splits a dynamic dimension equally. With num_outputs, the last part may be
/// smaller.
static LogicalResult splitEqually(Node &node, int64_t axis) {
  Indices i{node.builder, node.loc()};
  int64_t count = node.numOutputs();
  OpFoldResult whole = sizeOf(node, node.input(0), axis);
  bool isExact = wantsEqualParts(node);
  auto n = [&](int64_t value) { return sizeAttr(node, value); };
  OpFoldResult part = divSizes(
      node, isExact ? whole : addSizes(node, whole, n(count - 1)), n(count));
  Sizes parts;
  if (isExact) {
    Value size = indexValue(node, whole);
    require(i.b, i.loc, i.equal(i.rem(size, i.n(count)), i.n(0)),
            "{0} elements do not split into {1} equal parts",
            {size, i.n(count)});
    parts.assign(count, part);
  } else {
    for (int64_t k = 0; k < count; ++k) {
      OpFoldResult left = subSizes(node, whole, mulSizes(node, part, n(k)));
      parts.push_back(minSizes(node, maxSizes(node, left, n(0)), part));
    }
  }
  return node.replace(takeParts(node, axis, parts));
}

static LogicalResult legalizeSplit(Node &node) {
  RankedTensorType type = node.type(0);
  auto axis = node.normalizeAxis(node.getInt("axis", 0), type.getRank());
  if (failed(axis))
    return failure();
  int64_t count = node.numOutputs(), size = type.getDimSize(*axis);
  SmallVector<int64_t> parts;
  if (node.has(1) && !node.getConstantInts(1))
    return splitComputed(node, *axis);
  if (node.has(1) || node.hasAttr("split")) {
    auto split = intsFromInputOrAttr(node, 1, "split");
    if (failed(split))
      return failure();
    parts = **split;
    if (int64_t(parts.size()) != count)
      return node.badLength("split", parts.size(),
                            Twine(count) + ", one an output");
    int64_t sum = 0;
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (part < 0)
        return node.badElement("split", i, Twine(part), "at least 0");
      if (part > int64_t(1) << 48)
        return node.badElement("split", i, Twine(part),
                               "at most " + Twine(int64_t(1) << 48));
      sum += part;
    }
    if (!ShapedType::isDynamic(size) && sum != size)
      return node.invalid("'split' adds up to " + Twine(sum) + " of " +
                          Twine(size) + " elements");
    if (ShapedType::isDynamic(size))
      requireSum(node, sizeAttr(node, sum),
                 sizeOf(node, node.input(0), *axis));
  } else {
    if (node.getInt("num_outputs", count) != count)
      return node.invalid("num_outputs is not " + Twine(count));
    if (ShapedType::isDynamic(size))
      return splitEqually(node, *axis);
    int64_t part = count ? (size + count - 1) / count : 0;
    if (wantsEqualParts(node) && part * count != size)
      return node.invalid(Twine(size) + " elements do not split into " +
                          Twine(count) + " equal parts");
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(std::clamp<int64_t>(size - i * part, 0, part));
  }
  SmallVector<Value> values;
  int64_t start = 0;
  for (int64_t part : parts) {
    values.push_back(
        sliceAxis(node, node.input(0), *axis, part ? start : 0, part));
    start += part;
  }
  return node.replace(values);
}

void legalize::populateSlice(Legalizers &legalizers) {
  legalizers.add("Slice", legalizeSlice);
  legalizers.add("Split", legalizeSplit);
}
