//===- Helpers.cpp - helpers of legalizers --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"

#include "llvm/Support/Format.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

OpFoldResult legalize::sizeAttr(Node &node, int64_t size) {
  return node.builder.getIndexAttr(size);
}

OpFoldResult legalize::sizeOf(Node &node, Value tensor, int64_t i) {
  RankedTensorType type = typeOf(tensor);
  if (!type.isDynamicDim(i))
    return sizeAttr(node, type.getDimSize(i));
  Root root = node.progress.roots.of(tensor, i);
  if (root.dim < 0)
    return root.value;
  Value dim =
      arith::ConstantIndexOp::create(node.builder, node.loc(), root.dim);
  return tensor::DimOp::create(node.builder, node.loc(), root.value, dim)
      .getResult();
}

Sizes legalize::sizesOf(Node &node, Value tensor) {
  Sizes sizes;
  for (int64_t i = 0, e = typeOf(tensor).getRank(); i < e; ++i)
    sizes.push_back(sizeOf(node, tensor, i));
  return sizes;
}

OpFoldResult legalize::broadcastSizes(Node &node, OpFoldResult a,
                                      OpFoldResult b) {
  Indices i{node.builder, node.loc()};
  Value size = indexValue(node, a);
  return i.choose(i.equal(size, i.n(1)), indexValue(node, b), size);
}

bool legalize::isSameDim(OpFoldResult a, OpFoldResult b) {
  auto dimOf = [](OpFoldResult size) -> tensor::DimOp {
    auto value = dyn_cast<Value>(size);
    return value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  };
  tensor::DimOp dimA = dimOf(a), dimB = dimOf(b);
  return dimA && dimB && dimA.getSource() == dimB.getSource() &&
         dimA.getConstantIndex() &&
         dimA.getConstantIndex() == dimB.getConstantIndex();
}

bool legalize::isSameSize(OpFoldResult a, OpFoldResult b) {
  return isEqualConstantIntOrValue(a, b) || isSameDim(a, b);
}

/// Limit of ops to visit above a value. Without a limit, n ops that each use a
/// value twice would take 2^n visits.
static constexpr int kMaxDepth = 8;

static bool isFromDims(OpFoldResult size, int depth) {
  if (auto known = getConstantIntValue(size))
    return *known >= 0;
  Operation *op = cast<Value>(size).getDefiningOp();
  if (isa_and_nonnull<tensor::DimOp>(op))
    return true;
  return depth != 0 &&
         isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::DivSIOp,
                         arith::MaxSIOp, arith::MinSIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isFromDims(operand, depth - 1);
         });
}

bool legalize::isFromDims(OpFoldResult size) {
  return ::isFromDims(size, kMaxDepth);
}

static bool isNotNegative(OpFoldResult number, int depth) {
  if (auto known = getConstantIntValue(number))
    return *known >= 0;
  Operation *op = cast<Value>(number).getDefiningOp();
  auto isOperandNotNegative = [&](Value operand) {
    return isNotNegative(operand, depth - 1);
  };
  if (isa_and_nonnull<tensor::DimOp>(op))
    return true;
  if (!op || depth == 0)
    return false;
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isOperandNotNegative);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isOperandNotNegative(select.getTrueValue()) &&
           isOperandNotNegative(select.getFalseValue());
  return isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::MinSIOp>(
             op) &&
         llvm::all_of(op->getOperands(), isOperandNotNegative);
}

bool legalize::isNotNegative(OpFoldResult number) {
  return ::isNotNegative(number, kMaxDepth);
}

//===----------------------------------------------------------------------===//
// Arithmetic on sizes
//===----------------------------------------------------------------------===//
//
// Folds known results at once. For example, a slice of a whole dimension has
// the size of the dimension. Later code then sees that both sizes are equal.

OpFoldResult legalize::subSizes(Node &node, OpFoldResult a, OpFoldResult b) {
  if (isSameSize(a, b))
    return sizeAttr(node, 0);
  return support::subSizes(node.builder, node.loc(), a, b);
}

OpFoldResult legalize::divSizes(Node &node, OpFoldResult a, OpFoldResult b) {
  // Products of sizes do not overflow.
  auto divisor = getConstantIntValue(b);
  auto value = dyn_cast<Value>(a);
  auto product = value ? value.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (product && divisor && *divisor > 0 &&
      getConstantIntValue(product.getRhs()) == divisor && isFromDims(a))
    return product.getLhs();
  return support::divSizes(node.builder, node.loc(), a, b);
}

/// Returns true if `a` is known to be at most `b`.
static bool isAtMost(OpFoldResult a, OpFoldResult b) {
  auto known = getConstantIntValue(a);
  return isSameSize(a, b) || (known && *known <= 0 && isNotNegative(b));
}

OpFoldResult legalize::minSizes(Node &node, OpFoldResult a, OpFoldResult b) {
  if (isAtMost(a, b))
    return a;
  if (isAtMost(b, a))
    return b;
  return support::minSizes(node.builder, node.loc(), a, b);
}

OpFoldResult legalize::maxSizes(Node &node, OpFoldResult a, OpFoldResult b) {
  if (isAtMost(a, b))
    return b;
  if (isAtMost(b, a))
    return a;
  return support::maxSizes(node.builder, node.loc(), a, b);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value legalize::reshape(Node &node, Value x, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape = staticShape(sizes);
  auto type = RankedTensorType::get(shape, typeOf(x).getElementType());
  if (type == x.getType() && type.getNumDynamicDims() <= 1)
    return x;
  if (support::followsFromCount(type))
    return node.create<nn::ReshapeOp>(type, x);
  SmallVector<Value> values;
  for (OpFoldResult size : sizes)
    values.push_back(indexValue(node, size));
  Value list = tensor::FromElementsOp::create(node.builder, node.loc(), values);
  return tensor::ReshapeOp::create(node.builder, node.loc(), type, x, list);
}

Value legalize::reshape(Node &node, Value x, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, typeOf(x).getElementType());
  return node.create<nn::ReshapeOp>(type, x);
}

Value legalize::fromSizes(Node &node, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> known = staticShape(sizes);
  if (!llvm::is_contained(known, ShapedType::kDynamic))
    return intConstant(node, known, {int64_t(known.size())});
  SmallVector<Value> elements;
  for (OpFoldResult size : sizes)
    elements.push_back(node.create<arith::IndexCastOp>(
        node.builder.getI64Type(), indexValue(node, size)));
  return tensor::FromElementsOp::create(node.builder, node.loc(), elements);
}

Value legalize::unsqueeze(Node &node, Value x, ArrayRef<int64_t> axes) {
  Sizes inner = sizesOf(node, x), sizes;
  size_t rank = inner.size() + axes.size(), next = 0;
  for (size_t i = 0; i < rank; ++i)
    sizes.push_back(llvm::is_contained(axes, int64_t(i)) ? sizeAttr(node, 1)
                                                         : inner[next++]);
  return reshape(node, x, sizes);
}

Value legalize::transpose(Node &node, Value x, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(typeOf(x).getDimSize(dim));
  auto type = RankedTensorType::get(shape, typeOf(x).getElementType());
  return node.create<nn::TransposeOp>(type, x, perm);
}

OpFoldResult legalize::countElements(Node &node, Value x) {
  OpFoldResult count = sizeAttr(node, 1);
  for (OpFoldResult size : sizesOf(node, x))
    count = mulSizes(node, count, size);
  return count;
}

FailureOr<int64_t> legalize::axisOrFlat(Node &node, Value &x) {
  if (node.hasAttr("axis"))
    return node.normalizeAxis(node.getInt("axis", 0), typeOf(x).getRank());
  x = reshape(node, x, {countElements(node, x)});
  return 0;
}

Value legalize::moveAxis(Node &node, Value x, int64_t from, int64_t to) {
  if (from == to)
    return x;
  auto perm = llvm::to_vector(llvm::seq(typeOf(x).getRank()));
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return transpose(node, x, perm);
}

Value legalize::broadcastTo(Node &node, Value x, ArrayRef<OpFoldResult> sizes) {
  auto type =
      RankedTensorType::get(staticShape(sizes), typeOf(x).getElementType());
  if (type == x.getType() && type.hasStaticShape())
    return x;
  return node.create<nn::BroadcastToOp>(type, x, dynamicSizes(sizes));
}

Value legalize::sliceAxis(Node &node, Value x, int64_t axis, int64_t start,
                          int64_t size, int64_t step) {
  RankedTensorType type = typeOf(x);
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1),
      sizes(type.getRank(), -1), shape(type.getShape());
  starts[axis] = start;
  sizes[axis] = shape[axis] = size;
  steps[axis] = step;
  return node.create<nn::SliceOp>(
      RankedTensorType::get(shape, type.getElementType()), x, starts, sizes,
      steps);
}

Value legalize::takePart(Node &node, Value x, ArrayRef<OpFoldResult> starts,
                         ArrayRef<OpFoldResult> sizes,
                         ArrayRef<OpFoldResult> steps) {
  Type element = typeOf(x).getElementType();
  SmallVector<int64_t> shape = staticShape(sizes);
  if (support::isKnownEmpty(shape) ||
      support::isKnownEmpty(typeOf(x).getShape())) {
    Sizes held(sizes.begin(), sizes.end());
    for (auto [size, own] : llvm::zip_equal(held, typeOf(x).getShape()))
      if (own == 0)
        size = sizeAttr(node, 0);
    return tensor::EmptyOp::create(node.builder, node.loc(), held, element);
  }
  Sizes ones(sizes.size(), sizeAttr(node, 1));
  return tensor::ExtractSliceOp::create(
      node.builder, node.loc(), RankedTensorType::get(shape, element), x,
      starts, sizes, steps.empty() ? ArrayRef<OpFoldResult>(ones) : steps);
}

Value legalize::setPart(Node &node, Value x, Value part,
                        ArrayRef<OpFoldResult> starts) {
  if (support::isKnownEmpty(typeOf(part).getShape()))
    return x;
  Sizes ones(starts.size(), sizeAttr(node, 1));
  return tensor::InsertSliceOp::create(node.builder, node.loc(), part, x,
                                       starts, sizesOf(node, part), ones);
}

Value legalize::concat(Node &node, ArrayRef<Value> inputs, int64_t axis) {
  auto y = node.infer<nn::ConcatOp>(ValueRange(inputs), axis);
  return failed(y) ? Value() : *y;
}

Value legalize::joinRows(Node &node, ArrayRef<Value> rows, int64_t axis) {
  SmallVector<Value> parts;
  for (Value row : rows)
    parts.push_back(unsqueeze(node, row, {axis}));
  return concat(node, parts, axis);
}

Value legalize::castTo(Node &node, Value x, Type elementType) {
  RankedTensorType type = typeOf(x);
  if (type.getElementType() == elementType)
    return x;
  return node.create<nn::CastOp>(type.clone(elementType), x);
}

Value legalize::scalar(Node &node, Type elementType, double value) {
  return nn::makeScalar(node.builder, node.loc(), elementType, value);
}

Value legalize::filled(Node &node, Type elementType, double value,
                       ArrayRef<OpFoldResult> sizes) {
  return broadcastTo(node, scalar(node, elementType, value), sizes);
}

Value legalize::intConstant(Node &node, ArrayRef<int64_t> values,
                            ArrayRef<int64_t> shape, Type elementType) {
  if (!elementType)
    elementType = node.builder.getI64Type();
  SmallVector<double> doubles(values.begin(), values.end());
  return nn::makeConstant(node.builder, node.loc(),
                          RankedTensorType::get(shape, elementType), doubles);
}

Value legalize::select(Node &node, Value condition, Value a, Value b) {
  auto y = node.infer<nn::SelectOp>(condition, a, b);
  return failed(y) ? Value() : *y;
}

Value legalize::generate(
    Node &node, Type elementType, ArrayRef<OpFoldResult> sizes,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  OpBuilder &builder = node.builder;
  Value empty =
      tensor::EmptyOp::create(builder, node.loc(), sizes, elementType);
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(sizes.size(), node.context());
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(empty.getType()), ValueRange(),
      ValueRange(empty), ArrayRef<AffineMap>(map), iterators,
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> indices;
        for (size_t i = 0; i < sizes.size(); ++i)
          indices.push_back(linalg::IndexOp::create(b, loc, i));
        linalg::YieldOp::create(b, loc, body(b, loc, indices));
      });
  return generic.getResult(0);
}

Value legalize::countUp(Node &node, ArrayRef<OpFoldResult> shape,
                        size_t along) {
  constexpr int64_t kMaxConstant = 4096;
  SmallVector<int64_t> known = staticShape(shape);
  int64_t count = 1;
  bool isSmall = llvm::all_of(known, [&](int64_t size) {
    return !ShapedType::isDynamic(size) && size <= kMaxConstant &&
           (count *= size) <= kMaxConstant;
  });
  Type i64 = node.builder.getI64Type();
  if (!isSmall)
    return generate(node, i64, shape,
                    [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                      return arith::IndexCastOp::create(b, loc, i64, at[along]);
                    });
  // Elements between neighbours along the dimension.
  int64_t stride = 1;
  for (int64_t size : ArrayRef<int64_t>(known).drop_front(along + 1))
    stride *= size;
  SmallVector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(i / stride % known[along]);
  return intConstant(node, values, known);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

FailureOr<std::optional<SmallVector<int64_t>>>
legalize::intsFromInputOrAttr(Node &node, size_t i, StringRef name) {
  if (!node.has(i))
    return node.getInts(name);
  auto ints = node.getConstantInts(i);
  if (!ints)
    return node.unsupported("computed " + name);
  return ints;
}

FailureOr<SmallVector<int64_t>>
legalize::normalizeAxes(Node &node, ArrayRef<int64_t> axes, int64_t rank,
                        StringRef name) {
  SmallVector<int64_t> result;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    auto normal = node.normalizeAxis(axis, rank, name, i);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return node.invalid(nn::describeElement(name, i, Twine(axis)) +
                          ", which names dimension " + Twine(*normal) +
                          " twice");
    result.push_back(*normal);
  }
  return result;
}

std::string legalize::numberText(double value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (value == std::floor(value) && value >= -0x1p63 && value < 0x1p63)
    stream << int64_t(value);
  else
    stream << llvm::format("%.6g", value);
  return text;
}

LogicalResult legalize::checkKnownAxes(Node &node, ArrayRef<OpFoldResult> axes,
                                       int64_t rank, StringRef name) {
  for (auto [i, axis] : llvm::enumerate(axes))
    if (auto known = getConstantIntValue(axis))
      if (failed(node.normalizeAxis(*known, rank, name, i)))
        return failure();
  return success();
}
