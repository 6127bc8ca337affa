//===- Shape.cpp - Reshape, Expand, constants and others ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/Limits.h"
#include "passes/legalize/core/ComputedShape.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

/// Returns the number of elements of a shape. Returns nullopt if a size is
/// negative or the number is larger than any tensor.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) ||
        count > onnx::kLargestTensor)
      return std::nullopt;
  }
  return count;
}

static LogicalResult legalizeShape(Node &node) {
  int64_t rank = node.rank(0);
  auto clampAxis = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clampAxis(node.getInt("start", 0));
  int64_t end = clampAxis(node.getInt("end", rank));
  Sizes sizes;
  for (int64_t i = start; i < end; ++i)
    sizes.push_back(sizeOf(node, node.input(0), i));
  return node.replace(fromSizes(node, sizes));
}

static LogicalResult legalizeSize(Node &node) {
  OpFoldResult count = countElements(node, node.input(0));
  return node.replace(reshape(node, fromSizes(node, {count}),
                              ArrayRef<int64_t>()));
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Makes dynamic sizes static, by the number of elements or by ONNX's
/// inference.
static void refineSizes(Node &node, Sizes &sizes) {
  RankedTensorType x = node.type(0), hint = node.resultHint(0);
  SmallVector<int64_t> shape = staticShape(sizes);
  if (x.hasStaticShape() && llvm::count(shape, ShapedType::kDynamic) == 1) {
    int64_t known = 1, *unknown = llvm::find(shape, ShapedType::kDynamic);
    for (int64_t size : shape)
      known *= ShapedType::isDynamic(size) ? 1 : size;
    if (known > 0 && x.getNumElements() % known == 0) {
      sizes[unknown - shape.begin()] =
          sizeAttr(node, x.getNumElements() / known);
      return;
    }
  }
  if (!hint || hint.getRank() != int64_t(shape.size()))
    return;
  for (auto [i, size] : llvm::enumerate(hint.getShape()))
    if (ShapedType::isDynamic(shape[i]))
      shape[i] = size;
  // Ignores a hint that contradicts the data.
  auto type = RankedTensorType::get(shape, x.getElementType());
  if (type.hasStaticShape() && x.hasStaticShape() &&
      type.getNumElements() != x.getNumElements())
    return;
  if (type.hasStaticShape() != x.hasStaticShape() && type.hasStaticShape())
    return;
  for (auto [i, size] : llvm::enumerate(shape))
    if (!ShapedType::isDynamic(size))
      sizes[i] = sizeAttr(node, size);
}

/// Returns true if the product of `sizes` is a multiple of `divisor`, judged by
/// the static sizes.
static bool dividedBy(ArrayRef<OpFoldResult> sizes, int64_t divisor) {
  if (divisor == 0)
    return false;
  for (OpFoldResult size : sizes)
    if (auto known = getConstantIntValue(size))
      divisor /= std::gcd(divisor, *known);
  return divisor == 1;
}

static LogicalResult legalizeReshape(Node &node) {
  if (!node.has(0) || !node.has(1))
    return node.invalid("data and shape are needed");
  Value x = node.input(0);
  RankedTensorType type = node.type(0);
  auto wanted = elementsOf(node, node.input(1));
  if (failed(wanted))
    return failure();
  bool allowZero = node.getInt("allowzero", 0) != 0;
  Sizes sizes = *wanted;
  if (failed(checkKnownShape(node, sizes, allowZero)))
    return failure();
  if (!llvm::all_of(sizes, [](OpFoldResult size) {
        return getConstantIntValue(size) || isFromDims(size);
      })) {
    completeSizes(node, x, sizes, allowZero);
    refineSizes(node, sizes);
    return node.replace(reshape(node, x, sizes));
  }
  std::optional<size_t> rest;
  // Dimensions that keep their size and index.
  llvm::SmallBitVector isKept(std::max<size_t>(sizes.size(), type.getRank()));
  for (auto [i, size] : llvm::enumerate(sizes)) {
    auto known = getConstantIntValue(size);
    if (known == 0 && !allowZero) {
      size = sizeOf(node, x, i);
      isKept.set(i);
    } else if (known && *known < 0) {
      rest = i;
    }
  }
  for (int64_t i = 0, e = std::min<int64_t>(sizes.size(), type.getRank());
       i < e; ++i)
    if (rest != size_t(i) && isSameDim(sizes[i], sizeOf(node, x, i)))
      isKept.set(i);
  for (size_t i = 0; i < sizes.size() && !allowZero; ++i) {
    if (rest == i || isKept[i] || getConstantIntValue(sizes[i]))
      continue;
    requireNotCopied(node, sizesOf(node, x), i, indexValue(node, sizes[i]));
  }
  if (rest) {
    const auto [above, total, known] =
        restOfSizes(node, x, sizes, *rest, isKept);
    auto totalInt = getConstantIntValue(total),
         knownInt = getConstantIntValue(known);
    if (knownInt == 0)
      return node.invalid("'shape' has a -1 beside a 0, so that the -1 may be "
                          "any size");
    if (totalInt && knownInt && *totalInt % *knownInt != 0)
      return node.invalid("'shape' leaves no whole number for -1: " +
                          Twine(*totalInt) + " elements do not divide by " +
                          Twine(*knownInt));
    if (!knownInt && allowZero)
      requireRest(node, known);
    sizes[*rest] = knownInt == 1 ? total : divSizes(node, total, known);
    if (!knownInt || !dividedBy(above, *knownInt))
      requireCount(node, x, sizes);
  } else {
    requireCount(node, x, sizes);
  }
  refineSizes(node, sizes);
  SmallVector<int64_t> shape = staticShape(sizes);
  if (!llvm::is_contained(shape, ShapedType::kDynamic)) {
    auto count = countElements(shape);
    if (!count ||
        (type.hasStaticShape() && *count != type.getNumElements()))
      return node.invalid("'shape' asks for " +
                          (count ? std::to_string(*count) : "too many") +
                          " elements, but the data has " +
                          (type.hasStaticShape()
                               ? std::to_string(type.getNumElements())
                               : "fewer"));
  }
  return node.replace(reshape(node, x, sizes));
}

static LogicalResult legalizeFlatten(Node &node) {
  int64_t rank = node.rank(0), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.badElement("axis", std::nullopt, Twine(axis),
                           nn::describeRange({-rank, rank}));
  if (axis < 0)
    axis += rank;
  Sizes sizes(2, sizeAttr(node, 1));
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult &size = sizes[i < axis ? 0 : 1];
    size = mulSizes(node, size, sizeOf(node, node.input(0), i));
  }
  return node.replace(reshape(node, node.input(0), sizes));
}

/// Requires at run time that dimension i of the data has one element.
static void requireOne(Node &node, int64_t i) {
  Indices indices{node.builder, node.loc()};
  Value size = indexValue(node, sizeOf(node, node.input(0), i));
  require(node.builder, node.loc(), indices.equal(size, indices.n(1)),
          "dimension " + Twine(i) + " of {0} elements cannot be squeezed",
          size);
}

/// Requires at run time that dimension i does not have one element. Squeeze
/// without axes would drop it, but the rank of the result is fixed at compile
/// time, where a dynamic dimension is kept.
static void requireMany(Node &node, int64_t i) {
  Indices index{node.builder, node.loc()};
  Value size = indexValue(node, sizeOf(node, node.input(0), i));
  Value isOne = index.equal(size, index.n(1));
  Value isOther = arith::XOrIOp::create(
      index.b, index.loc, isOne,
      arith::ConstantIntOp::create(index.b, index.loc, 1, 1));
  require(node.builder, node.loc(), isOther,
          "open dimension " + Twine(i) +
              " has {0} element, which Squeeze without axes would leave out; "
              "compile with --shape",
          size);
}

static LogicalResult legalizeSqueeze(Node &node) {
  if (node.has(1) && !node.getConstantInts(1))
    return squeezeComputed(node);
  auto axes = intsFromInputOrAttr(node, 1, "axes");
  if (failed(axes))
    return failure();
  RankedTensorType type = node.type(0);
  SmallVector<int64_t> drop;
  if (*axes) {
    auto normal = normalizeAxes(node, **axes, type.getRank());
    if (failed(normal))
      return failure();
    drop = *normal;
  } else {
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(i))
        requireMany(node, i);
      else if (type.getDimSize(i) == 1)
        drop.push_back(i);
    }
  }
  Sizes sizes;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!llvm::is_contained(drop, i))
      sizes.push_back(sizeOf(node, node.input(0), i));
    else if (type.isDynamicDim(i))
      requireOne(node, i);
    else if (type.getDimSize(i) != 1)
      return node.invalid("dimension " + Twine(i) + " of " +
                          Twine(type.getDimSize(i)) +
                          " elements cannot be squeezed, but 'axes' names it");
  }
  return node.replace(reshape(node, node.input(0), sizes));
}

static LogicalResult legalizeUnsqueeze(Node &node) {
  if (node.has(1) && !node.getConstantInts(1))
    return unsqueezeComputed(node);
  auto axes = intsFromInputOrAttr(node, 1, "axes");
  if (failed(axes))
    return failure();
  if (!*axes)
    return node.invalid("axes are missing");
  auto normal =
      normalizeAxes(node, **axes, node.rank(0) + int64_t((*axes)->size()));
  if (failed(normal))
    return failure();
  return node.replace(unsqueeze(node, node.input(0), *normal));
}

/// Returns the size of a dimension of `own` elements after expanding it to
/// `wanted`.
static OpFoldResult expandedSize(Node &node, OpFoldResult own,
                                 OpFoldResult wanted) {
  Indices i{node.builder, node.loc()};
  Value a = indexValue(node, own), b = indexValue(node, wanted);
  auto isCutOf = [](Value cut, Value whole) {
    Value before = support::sizeBeforeCut(cut);
    return before && isSameDim(before, whole);
  };
  bool isOwnCut = isCutOf(a, b), isWantedCut = isCutOf(b, a);
  Value fits = i.equal(a, b);
  if (!isOwnCut && !isWantedCut)
    fits = arith::OrIOp::create(
        i.b, i.loc, fits,
        arith::OrIOp::create(i.b, i.loc, i.equal(a, i.n(1)),
                             i.equal(b, i.n(1))));
  require(i.b, i.loc, fits,
          "a dimension of {0} elements cannot be expanded to {1}", {a, b});
  if (isOwnCut)
    return wanted;
  return isWantedCut ? own : broadcastSizes(node, own, wanted);
}

static LogicalResult legalizeExpand(Node &node) {
  Value x = node.input(0);
  auto wanted = elementsOf(node, node.input(1));
  if (failed(wanted))
    return failure();
  Sizes own = sizesOf(node, x), sizes;
  size_t rank = std::max(own.size(), wanted->size());
  RankedTensorType hint = node.resultHint(0);
  for (size_t i = 0; i < rank; ++i) {
    OpFoldResult a = sizeAttr(node, 1), b = a;
    if (i + own.size() >= rank)
      a = own[i + own.size() - rank];
    if (i + wanted->size() >= rank)
      b = (*wanted)[i + wanted->size() - rank];
    auto knownA = getConstantIntValue(a), knownB = getConstantIntValue(b);
    int64_t place = int64_t(i + wanted->size()) - int64_t(rank);
    if (knownB && *knownB < 0)
      return node.badElement("shape", place, Twine(*knownB), "at least 0");
    if (knownA && knownB && *knownA != *knownB && *knownA != 1 && *knownB != 1)
      return node.badElement("shape", place, Twine(*knownB),
                             "1 or " + Twine(*knownA) +
                                 " for a dimension of " + Twine(*knownA) +
                                 " elements");
    bool hinted = hint && hint.getRank() == int64_t(rank) &&
                  !hint.isDynamicDim(i) && !knownB;
    if (knownA && *knownA != 1)
      sizes.push_back(a);
    else if (knownA == 1 && hinted)
      sizes.push_back(sizeAttr(node, hint.getDimSize(i)));
    else if (knownA == 1 || (knownB && *knownB != 1))
      sizes.push_back(b);
    else if (knownB == 1 || isSameDim(a, b))
      sizes.push_back(a);
    else
      sizes.push_back(expandedSize(node, a, b));
  }
  return node.replace(broadcastTo(node, x, sizes));
}

//===----------------------------------------------------------------------===//
// Constants and generated tensors
//===----------------------------------------------------------------------===//

static LogicalResult legalizeConstant(Node &node) {
  OpBuilder &builder = node.builder;
  auto replace = [&](ElementsAttr attr) {
    return node.replace(arith::ConstantOp::create(builder, node.loc(),
                                                  cast<TypedAttr>(attr))
                            .getResult());
  };
  if (ElementsAttr value = node.getTensor("value"))
    return replace(value);
  if (node.hasAttr("value_int"))
    return node.replace(intConstant(node, {node.getInt("value_int", 0)}, {}));
  if (auto ints = node.getInts("value_ints"))
    return node.replace(intConstant(node, *ints, {int64_t(ints->size())}));
  if (node.hasAttr("value_float"))
    return node.replace(
        scalar(node, builder.getF32Type(), node.getFloat("value_float", 0)));
  if (auto floats = node.getFloats("value_floats")) {
    SmallVector<double> values(floats->begin(), floats->end());
    return node.replace(nn::makeConstant(
        builder, node.loc(),
        RankedTensorType::get(int64_t(values.size()), builder.getF32Type()),
        values));
  }
  return node.unsupported("a constant that is not a dense tensor of numbers");
}

static LogicalResult legalizeConstantOfShape(Node &node) {
  Type type = node.builder.getF32Type();
  double value = 0;
  if (ElementsAttr attr = node.getTensor("value")) {
    auto values = nn::readDoubles(attr);
    if (!values || values->size() != 1)
      return node.invalid("value needs one element");
    type = attr.getElementType();
    value = values->front();
  } else if (node.hasAttr("value")) {
    return node.invalid("value is not a tensor of numbers");
  }
  auto sizes = elementsOf(node, node.input(0));
  if (failed(sizes))
    return failure();
  RankedTensorType hint = node.resultHint(0);
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    auto known = getConstantIntValue(size);
    if (known && *known < 0)
      return node.badElement("input", i, Twine(*known), "at least 0");
    if (!known && hint && hint.getRank() == int64_t(sizes->size()) &&
        !hint.isDynamicDim(i))
      size = sizeAttr(node, hint.getDimSize(i));
  }
  SmallVector<int64_t> shape = staticShape(*sizes);
  if (!llvm::is_contained(shape, ShapedType::kDynamic) && !countElements(shape))
    return node.invalid("'input' asks for too many elements");
  return node.replace(filled(node, type, value, *sizes));
}

/// Legalizes EyeLike: 1 where column - row = k, else 0.
static LogicalResult legalizeEyeLike(Node &node) {
  RankedTensorType type = node.type(0);
  if (type.getRank() != 2)
    return node.invalid("the operand needs rank 2, but has rank " +
                        Twine(type.getRank()));
  Type element = type.getElementType();
  if (RankedTensorType hint = node.resultHint(0))
    element = hint.getElementType();
  else if (node.hasAttr("dtype"))
    return node.unsupported("dtype without an inferred type");
  int64_t k = node.getInt("k", 0);
  Value eye = generate(
      node, node.builder.getI1Type(), sizesOf(node, node.input(0)),
      [&](OpBuilder &b, Location loc, ValueRange indices) {
        Value offset = arith::ConstantIndexOp::create(b, loc, k);
        Value column = arith::AddIOp::create(b, loc, indices[0], offset);
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, column,
                                     indices[1]);
      });
  return node.replace(castTo(node, eye, element));
}

void legalize::populateShape(Legalizers &legalizers) {
  legalizers.add("Constant", legalizeConstant);
  legalizers.add("ConstantOfShape", legalizeConstantOfShape);
  legalizers.add("Expand", legalizeExpand);
  legalizers.add("EyeLike", legalizeEyeLike);
  legalizers.add("Flatten", legalizeFlatten);
  legalizers.add("Range", legalizeRange);
  legalizers.add("Reshape", legalizeReshape);
  legalizers.add("Shape", legalizeShape);
  legalizers.add("Size", legalizeSize);
  legalizers.add("Squeeze", legalizeSqueeze);
  legalizers.add("Unsqueeze", legalizeUnsqueeze);
}
