//===- ComputedShape.cpp - shapes computed at run time --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/ComputedShape.h"

#include "passes/support/RunChecks.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns the product of sizes, if all are known and the product does not
/// overflow.
static std::optional<int64_t> staticCount(ArrayRef<OpFoldResult> sizes) {
  int64_t count = 1;
  for (OpFoldResult size : sizes) {
    auto known = getConstantIntValue(size);
    if (!known || llvm::MulOverflow(count, *known, count))
      return std::nullopt;
  }
  return count;
}

/// Appends the factors of a size.
static void addFactors(OpFoldResult size, SmallVectorImpl<OpFoldResult> &all) {
  auto value = dyn_cast<Value>(size);
  auto product = value ? value.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product) {
    all.push_back(size);
    return;
  }
  addFactors(product.getLhs(), all);
  addFactors(product.getRhs(), all);
}

/// Cancels a size on one side with its factors on the other side. Example: the
/// pixels of an image cancel with its rows and columns.
static void cancelProducts(ArrayRef<OpFoldResult> products,
                           llvm::SmallBitVector &isProductDone,
                           ArrayRef<OpFoldResult> sizes,
                           llvm::SmallBitVector &isDone) {
  for (auto [i, product] : llvm::enumerate(products)) {
    SmallVector<OpFoldResult> factors;
    if (isProductDone[i])
      continue;
    addFactors(product, factors);
    llvm::SmallBitVector isTaken = isDone;
    bool isCovered = factors.size() > 1 &&
                     llvm::none_of(factors, [](OpFoldResult factor) {
                       return getConstantIntValue(factor) == 0;
                     });
    for (OpFoldResult factor : factors) {
      size_t at = 0;
      while (at < sizes.size() &&
             (isTaken[at] || !(isEqualConstantIntOrValue(factor, sizes[at]) ||
                               isSameDim(factor, sizes[at]))))
        ++at;
      isCovered &= at < sizes.size();
      if (!isCovered)
        break;
      isTaken.set(at);
    }
    if (!isCovered)
      continue;
    isProductDone.set(i);
    isDone = isTaken;
  }
}

RestOfSizes legalize::restOfSizes(Node &node, Value x,
                                  ArrayRef<OpFoldResult> sizes, size_t rest,
                                  const llvm::SmallBitVector &isKept) {
  Sizes own = sizesOf(node, x), above, below;
  bool isStatic = cast<RankedTensorType>(x.getType()).hasStaticShape();
  llvm::SmallBitVector isDone = isKept, isUsed = isKept;
  isDone.resize(own.size());
  isUsed.resize(sizes.size());
  isUsed.set(rest);
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Cancel constants as well, so that the remaining product has only dynamic
    // sizes.
    auto known = getConstantIntValue(sizes[i]);
    if (isUsed[i] || (known && (*known <= 0 || isStatic)))
      continue;
    for (size_t other = 0; other < own.size() && !isUsed[i]; ++other)
      if (!isDone[other] && (isEqualConstantIntOrValue(sizes[i], own[other]) ||
                             isSameDim(sizes[i], own[other]))) {
        isDone.set(other);
        isUsed.set(i);
      }
  }
  cancelProducts(own, isDone, sizes, isUsed);
  cancelProducts(sizes, isUsed, own, isDone);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (isUsed[i])
      continue;
    below.push_back(sizes[i]);
    if (getConstantIntValue(sizes[i]) || i >= own.size() || isDone[i])
      continue;
    // Checks at run time if a dimension does not change.
    Indices index{node.builder, node.loc()};
    Value before = indexValue(node, own[i]), after = indexValue(node, sizes[i]);
    Value isSame = index.equal(before, after);
    isDone.set(i);
    above.push_back(index.choose(isSame, index.n(1), before));
    below.back() = index.choose(isSame, index.n(1), after);
  }
  for (size_t i = 0; i < own.size(); ++i)
    if (!isDone[i])
      above.push_back(own[i]);
  OpFoldResult total = sizeAttr(node, 1), known = total;
  for (OpFoldResult size : above)
    total = mulSizes(node, total, size);
  for (OpFoldResult size : below)
    known = mulSizes(node, known, size);
  return {above, total, known};
}

Value legalize::isNot(Indices i, Value condition) {
  return arith::XOrIOp::create(i.b, i.loc, condition,
                               arith::ConstantIntOp::create(i.b, i.loc, 1, 1));
}

void legalize::requireNumber(Node &node, Value number, int64_t least,
                             int64_t most, const Twine &name) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Type f64 = b.getF64Type();
  Value element = tensor::ExtractOp::create(
      b, loc, castTo(node, number, f64), ValueRange());
  auto holds = [&](arith::CmpFPredicate predicate, int64_t bound) -> Value {
    Value limit =
        arith::ConstantOp::create(b, loc, b.getF64FloatAttr(double(bound)));
    return arith::CmpFOp::create(b, loc, predicate, element, limit);
  };
  require(b, loc,
          Indices{b, loc}.both(holds(arith::CmpFPredicate::OGE, least),
                               holds(arith::CmpFPredicate::OLE, most)),
          name + " is outside of [" + Twine(least) + ", " + Twine(most) + "]");
}

void legalize::requireRest(Node &node, OpFoldResult known) {
  Indices i{node.builder, node.loc()};
  require(i.b, i.loc, i.less(i.n(0), indexValue(node, known)),
          "the shape has a -1 beside a 0, so that the -1 may be any size");
}

LogicalResult legalize::checkKnownShape(Node &node,
                                        ArrayRef<OpFoldResult> shape,
                                        bool allowZero) {
  std::optional<size_t> rest, zero;
  for (auto [i, size] : llvm::enumerate(shape)) {
    auto known = getConstantIntValue(size);
    if (!known || *known > 0)
      continue;
    if (*known < -1)
      return node.badElement("shape", i, Twine(*known), "at least -1");
    std::string element = nn::describeElement("shape", i, Twine(*known));
    if (*known == 0 && !allowZero && int64_t(i) >= node.rank(0))
      return node.invalid(element + ", but data of rank " +
                          Twine(node.rank(0)) +
                          " has no dimension to copy there");
    if (*known == -1 && rest)
      return node.invalid(element + ", but element " + Twine(*rest) +
                          " is, too");
    (*known ? rest : zero) = i;
  }
  if (allowZero && rest && zero)
    return node.invalid("'shape' has a -1 beside a 0, so that the -1 may be "
                        "any size");
  return success();
}

void legalize::requireNotCopied(Node &node, ArrayRef<OpFoldResult> own,
                                size_t d, Value size) {
  Indices i{node.builder, node.loc()};
  Value holds = i.less(i.n(0), size);
  if (d < own.size())
    holds = arith::OrIOp::create(i.b, i.loc, holds,
                                 i.equal(size, indexValue(node, own[d])));
  require(node.builder, node.loc(), holds,
          "element " + Twine(d) +
              " of the shape is {0}, computed from sizes, which would copy "
              "another dimension",
          size);
}

void legalize::completeSizes(Node &node, Value x, Sizes &sizes,
                             bool allowZero) {
  Indices i{node.builder, node.loc()};
  Value zero = i.n(0), one = i.n(1), rest = i.n(-1);
  Sizes own = sizesOf(node, x);
  // The products without copied dimensions: `total` of the sizes of the data,
  // `product` of the known elements of the shape.
  Value total = one, product = one, numRests = zero;
  SmallVector<Value> isRest(sizes.size());
  for (auto [d, size] : llvm::enumerate(sizes)) {
    OpFoldResult there = d < own.size() ? own[d] : OpFoldResult();
    if (there && !allowZero && getConstantIntValue(size) == 0)
      size = there;
    // A dimension that does not change does not affect the others.
    if (there && isSameSize(size, there))
      continue;
    Value value = indexValue(node, size), factor = value;
    if (!isNotNegative(size)) {
      isRest[d] = i.equal(value, rest);
      factor = i.choose(isRest[d], one, value);
      numRests = i.add(numRests, i.choose(isRest[d], one, zero));
    }
    bool mayCopy = !allowZero && !getConstantIntValue(size);
    if (mayCopy && isFromDims(size)) {
      requireNotCopied(node, own, d, value);
      mayCopy = false;
    }
    if (there) {
      Value before = indexValue(node, there), isKept = i.equal(value, before);
      if (mayCopy) {
        Value isCopied = i.equal(value, zero);
        size = value = i.choose(isCopied, before, value);
        isKept = arith::OrIOp::create(i.b, i.loc, isKept, isCopied);
      }
      total = i.mul(total, i.choose(isKept, one, before));
      factor = i.choose(isKept, one, factor);
    } else if (mayCopy) {
      require(i.b, i.loc, isNot(i, i.equal(value, zero)),
              "the shape copies dimension " + Twine(d) + " of data of rank " +
                  Twine(own.size()));
    }
    product = i.mul(product, factor);
  }
  if (llvm::none_of(isRest, [](Value value) { return bool(value); }))
    return requireCount(node, x, sizes);
  for (size_t d = sizes.size(); d < own.size(); ++d)
    total = i.mul(total, indexValue(node, own[d]));
  Value isDecided = arith::OrIOp::create(i.b, i.loc, i.less(zero, product),
                                         i.equal(numRests, zero));
  require(
      i.b, i.loc, i.both(i.less(numRests, i.n(2)), isDecided),
      "the shape has two -1, or one beside a 0, so that a -1 may be any size");
  Value left = i.div(total, i.max(product, one));
  for (auto [size, isOpen] : llvm::zip_equal(sizes, isRest))
    if (isOpen)
      size = i.choose(isOpen, left, indexValue(node, size));
  requireCount(node, x, sizes);
}

void legalize::requireCount(Node &node, Value x, ArrayRef<OpFoldResult> sizes) {
  // Cancel sizes that occur on both sides, except a known 0. A dynamic size may
  // be canceled even if it is 0, because both sides are then empty.
  Sizes own = sizesOf(node, x), others, shared;
  for (OpFoldResult size : sizes) {
    auto same = llvm::find_if(own, [&](OpFoldResult other) {
      return getConstantIntValue(size) != 0 && isSameSize(size, other);
    });
    if (same != own.end()) {
      own.erase(same);
      if (!getConstantIntValue(size))
        shared.push_back(size);
    } else {
      others.push_back(size);
    }
  }
  if (staticCount(own) && staticCount(own) == staticCount(others))
    return;
  Indices i{node.builder, node.loc()};
  Value total = i.n(1);
  for (OpFoldResult size : own)
    total = i.mul(total, indexValue(node, size));
  // Compute the product so that it cannot wrap around to a value that seems to
  // fit. This is necessary because sizes from data may have any value.
  Type i64 = node.builder.getI64Type();
  auto toInt = [&](Value value) -> Value {
    return arith::IndexCastOp::create(i.b, i.loc, i64, value);
  };
  Value zero = arith::ConstantIntOp::create(i.b, i.loc, 0, 64);
  Value product = arith::ConstantIntOp::create(i.b, i.loc, 1, 64), fits;
  auto also = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    Value holds = arith::CmpIOp::create(i.b, i.loc, predicate, a, b);
    fits = fits ? i.both(fits, holds) : holds;
  };
  for (OpFoldResult size : others) {
    Value factor = toInt(indexValue(node, size));
    if (!isFromDims(size))
      also(arith::CmpIPredicate::sge, factor, zero);
    auto wide =
        arith::MulUIExtendedOp::create(i.b, i.loc, product, factor);
    product = wide.getLow();
    also(arith::CmpIPredicate::eq, wide.getHigh(), zero);
  }
  Value isEqual = arith::CmpIOp::create(i.b, i.loc, arith::CmpIPredicate::eq,
                                        product, toInt(total));
  for (OpFoldResult size : shared)
    isEqual = arith::OrIOp::create(
        i.b, i.loc, isEqual, i.equal(indexValue(node, size), i.n(0)));
  fits = fits ? i.both(fits, isEqual) : isEqual;
  require(i.b, i.loc, fits,
          "the shape has another number of elements than the data");
}

void legalize::requireAxis(Node &node, Value axis, int64_t rank) {
  Indices i{node.builder, node.loc()};
  Value fits = i.both(i.less(i.n(-rank - 1), axis), i.less(axis, i.n(rank)));
  require(node.builder, node.loc(), fits,
          "axis {0} is outside of {1} dimensions", {axis, i.n(rank)});
}

Sizes legalize::scatterByAxis(Node &node, ArrayRef<OpFoldResult> axes,
                              ArrayRef<OpFoldResult> values,
                              ArrayRef<OpFoldResult> otherwise) {
  Indices i{node.builder, node.loc()};
  Sizes result(otherwise.begin(), otherwise.end());
  int64_t rank = otherwise.size();
  for (auto [axis, value] : llvm::zip_equal(axes, values)) {
    if (auto known = getConstantIntValue(axis)) {
      int64_t d = *known < 0 ? *known + rank : *known;
      if (d >= 0 && d < rank)
        result[d] = value;
      continue;
    }
    requireAxis(node, indexValue(node, axis), rank);
    Value named = i.wrap(indexValue(node, axis), i.n(rank));
    for (int64_t d = 0; d < rank; ++d)
      result[d] = i.choose(i.equal(named, i.n(d)), indexValue(node, value),
                           indexValue(node, result[d]));
  }
  return result;
}

/// Returns, for each dimension, 1 if an axis names the dimension, else 0. If
/// `isAdded`, axes name new dimensions, which are added to the `rank`
/// dimensions.
static FailureOr<Sizes> markAxes(Node &node, int64_t rank, bool isAdded) {
  auto axes = elementsOf(node, node.input(1));
  if (failed(axes))
    return failure();
  int64_t count = axes->size();
  int64_t full = isAdded ? rank + count : rank;
  if (count > full)
    return node.badLength("axes", count, "at most " + Twine(full));
  if (failed(checkKnownAxes(node, *axes, full)))
    return failure();
  Sizes marks = scatterByAxis(node, *axes, Sizes(count, sizeAttr(node, 1)),
                              Sizes(full, sizeAttr(node, 0)));
  Indices i{node.builder, node.loc()};
  Value sum = i.n(0);
  for (OpFoldResult mark : marks)
    sum = i.add(sum, indexValue(node, mark));
  require(node.builder, node.loc(), i.equal(sum, i.n(count)),
          "{1} axes name {0} dimensions: one of them twice", {sum, i.n(count)});
  return marks;
}

/// Returns element `position` of `sizes`, chosen at run time. Returns 1 past
/// the end.
static Value pickSize(Node &node, ArrayRef<OpFoldResult> sizes,
                      Value position) {
  Indices i{node.builder, node.loc()};
  Value picked = i.n(1);
  for (auto [d, size] : llvm::enumerate(sizes))
    picked =
        i.choose(i.equal(position, i.n(d)), indexValue(node, size), picked);
  return picked;
}

LogicalResult legalize::unsqueezeComputed(Node &node) {
  Sizes own = sizesOf(node, node.input(0)), sizes;
  auto marks = markAxes(node, own.size(), /*isAdded=*/true);
  if (failed(marks))
    return failure();
  Indices i{node.builder, node.loc()};
  Value next = i.n(0);
  for (OpFoldResult mark : *marks) {
    Value isNew = i.equal(indexValue(node, mark), i.n(1));
    sizes.push_back(i.choose(isNew, i.n(1), pickSize(node, own, next)));
    next = i.choose(isNew, next, i.add(next, i.n(1)));
  }
  completeSizes(node, node.input(0), sizes, /*allowZero=*/true);
  return node.replace(reshape(node, node.input(0), sizes));
}

LogicalResult legalize::squeezeComputed(Node &node) {
  Sizes own = sizesOf(node, node.input(0)), sizes;
  auto axes = elementsOf(node, node.input(1));
  if (failed(axes))
    return failure();
  auto marks = markAxes(node, own.size(), /*isAdded=*/false);
  if (failed(marks))
    return failure();
  // Result dimension d is the dimension with d unmarked dimensions before it.
  Indices i{node.builder, node.loc()};
  for (size_t d = 0; d + axes->size() < own.size(); ++d) {
    Value before = i.n(0), size = i.n(1);
    for (auto [mark, from] : llvm::zip_equal(*marks, own)) {
      Value isKept = i.equal(indexValue(node, mark), i.n(0));
      Value isHere = i.both(isKept, i.equal(before, i.n(d)));
      size = i.choose(isHere, indexValue(node, from), size);
      before = i.choose(isKept, i.add(before, i.n(1)), before);
    }
    sizes.push_back(size);
  }
  for (auto [d, mark, from] : llvm::enumerate(*marks, own)) {
    Value size = indexValue(node, from);
    Value fits = arith::OrIOp::create(i.b, i.loc, i.equal(size, i.n(1)),
                                      i.equal(indexValue(node, mark), i.n(0)));
    require(i.b, i.loc, fits,
            "dimension " + Twine(d) + " of {0} elements cannot be squeezed",
            size);
  }
  completeSizes(node, node.input(0), sizes, /*allowZero=*/true);
  return node.replace(reshape(node, node.input(0), sizes));
}
