//===- TraceElements.cpp - elements of integer lists, traced --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// Follows small integer tensors back to constants and dimensions.
struct Tracer {
  Node &node;

  /// Returns the elements in row-major order. Tensors of rank 2 or more are
  /// traced only if no element has to be read.
  std::optional<Sizes> trace(Value tensor, int depth);
  std::optional<Sizes> choose(nn::SelectOp op, int64_t length, int depth);
  std::optional<Sizes> join(nn::ConcatOp op, int depth);
  std::optional<Sizes> move(Operation *op, int depth);
  Sizes extract(Value tensor, int64_t length);
};

} // namespace

/// Returns true for casts between integers of at least 32 bits. Such casts do
/// not change sizes.
static bool keepsSizes(Operation *op) {
  if (!isa<nn::CastOp>(op))
    return false;
  auto from = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getOperand(0)));
  auto to = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getResult(0)));
  return from && to && from.getWidth() >= 32 && to.getWidth() >= 32;
}

/// Returns a scalar of any integer type as an index.
static OpFoldResult toIndex(Node &node, Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return sizeAttr(node, constant.getSExtValue());
  if (auto indexCast = value.getDefiningOp<arith::IndexCastOp>())
    if (indexCast.getIn().getType().isIndex())
      return indexCast.getIn();
  if (value.getType().isIndex())
    return value;
  return node.create<arith::IndexCastOp>(node.builder.getIndexType(), value);
}

Sizes Tracer::extract(Value tensor, int64_t length) {
  Sizes elements;
  // Converts to signless integers, which index casts need.
  tensor = legalize::castTo(node, tensor, node.builder.getI64Type());
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<Value> indices;
    if (typeOf(tensor).getRank() == 1)
      indices.push_back(
          arith::ConstantIndexOp::create(node.builder, node.loc(), i));
    Value element = tensor::ExtractOp::create(node.builder, node.loc(), tensor,
                                              indices);
    elements.push_back(toIndex(node, element));
  }
  return elements;
}

/// Returns true or false if it is known that two values are equal or not.
static std::optional<bool> areEqual(OpFoldResult a, OpFoldResult b) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return *x == *y;
  if (isEqualConstantIntOrValue(a, b) || isSameDim(a, b))
    return true;
  auto isNever = [](std::optional<int64_t> number, OpFoldResult size) {
    return number && *number < 0 && (isFromDims(size) || isNotNegative(size));
  };
  if (isNever(x, b) || isNever(y, a))
    return false;
  return std::nullopt;
}

/// Traces `Where(sizes == -1, others, sizes)`, which exporters write for
/// Expand.
std::optional<Sizes> Tracer::choose(nn::SelectOp op, int64_t length,
                                    int depth) {
  auto equal = op->getOperand(0).getDefiningOp<nn::EqualOp>();
  if (!equal || depth == 0 || length == 0)
    return std::nullopt;
  auto isList = [](Value value) {
    return typeOf(value).getElementType().isInteger(64);
  };
  Value lists[] = {equal->getOperand(0), equal->getOperand(1),
                   op->getOperand(1), op->getOperand(2)};
  std::optional<Sizes> parts[4];
  for (auto [list, part] : llvm::zip_equal(lists, parts)) {
    if (!isList(list) || !(part = trace(list, depth - 1)) || part->empty())
      return std::nullopt;
  }
  auto at = [&](int part, int64_t i) {
    return (*parts[part])[parts[part]->size() == 1 ? 0 : i];
  };
  Sizes sizes;
  for (int64_t i = 0; i < length; ++i) {
    auto isEqual = areEqual(at(0, i), at(1, i));
    if (!isEqual)
      return std::nullopt;
    sizes.push_back(at(*isEqual ? 2 : 3, i));
  }
  return sizes;
}

/// Calls `visit` with the indices of each element of a shape, row-major.
static void forEachPlace(ArrayRef<int64_t> shape,
                         llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  for (int64_t i = 0, e = ShapedType::getNumElements(shape); i < e; ++i)
    visit(nn::placeOf(i, shape));
}

std::optional<Sizes> Tracer::join(nn::ConcatOp op, int depth) {
  int64_t axis = op.getAxis();
  SmallVector<Sizes> parts;
  for (Value input : op.getInputs()) {
    auto part = trace(input, depth);
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
  }
  Sizes sizes;
  forEachPlace(typeOf(op).getShape(), [&](ArrayRef<int64_t> place) {
    SmallVector<int64_t> at(place);
    size_t part = 0;
    ArrayRef<int64_t> shape = typeOf(op.getInputs()[0]).getShape();
    while (at[axis] >= shape[axis]) {
      at[axis] -= shape[axis];
      shape = typeOf(op.getInputs()[++part]).getShape();
    }
    sizes.push_back(parts[part][nn::numberOf(at, shape)]);
  });
  return sizes;
}

/// Traces ops that only move elements. This is needed because exporters reverse
/// lists of pads as matrices of two columns.
std::optional<Sizes> Tracer::move(Operation *op, int depth) {
  auto slice = dyn_cast<nn::SliceOp>(op);
  auto turned = dyn_cast<nn::TransposeOp>(op);
  if (!slice && !turned)
    return std::nullopt;
  auto inner = trace(op->getOperand(0), depth);
  if (!inner)
    return std::nullopt;
  ArrayRef<int64_t> from = typeOf(op->getOperand(0)).getShape();
  Sizes sizes;
  forEachPlace(typeOf(op->getResult(0)).getShape(),
               [&](ArrayRef<int64_t> place) {
                 SmallVector<int64_t> at(place);
                 for (auto [d, index] : llvm::enumerate(place)) {
                   if (turned)
                     at[turned.getPerm()[d]] = index;
                   else
                     at[d] = slice.getStarts()[d] +
                             index * slice.getSteps()[d];
                 }
                 sizes.push_back((*inner)[nn::numberOf(at, from)]);
               });
  return sizes;
}

std::optional<Sizes> Tracer::trace(Value tensor, int depth) {
  RankedTensorType type = typeOf(tensor);
  if (!type.hasStaticShape() ||
      !isa<IntegerType, IndexType>(type.getElementType()))
    return std::nullopt;
  int64_t length = type.getNumElements();
  // Limits the length, because each element becomes ops. Lists are shapes, pads
  // and the like.
  constexpr int64_t kMaxListed = 4096;
  if (length > kMaxListed)
    return std::nullopt;
  if (auto constants = nn::getConstantInts(tensor)) {
    Sizes sizes;
    for (int64_t value : *constants)
      sizes.push_back(sizeAttr(node, value));
    return sizes;
  }
  Operation *op = tensor.getDefiningOp();
  auto again = [&](Value value) {
    return depth ? trace(value, depth - 1) : std::nullopt;
  };
  auto fallBack = [&]() -> std::optional<Sizes> {
    if (type.getRank() > 1)
      return std::nullopt;
    return extract(tensor, length);
  };
  if (!op)
    return fallBack();
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op)) {
    Sizes sizes;
    for (Value element : elements.getElements())
      sizes.push_back(toIndex(node, element));
    return sizes;
  }
  if (isa<nn::ReshapeOp, tensor::CastOp>(op) ||
      keepsSizes(op))
    if (auto inner = again(op->getOperand(0)))
      return inner;
  if (auto concat = dyn_cast<nn::ConcatOp>(op); concat && depth)
    if (auto joined = join(concat, depth - 1))
      return joined;
  if (depth)
    if (auto moved = move(op, depth - 1))
      return moved;
  if (auto gather = dyn_cast<nn::GatherOp>(op);
      gather && typeOf(gather.getX()).getRank() == 1) {
    auto indices = nn::getConstantInts(gather.getIndices());
    auto inner = again(gather.getX());
    if (indices && inner) {
      Sizes sizes;
      for (int64_t index : *indices) {
        if (index < 0)
          index += inner->size();
        if (index < 0 || index >= int64_t(inner->size()))
          return fallBack();
        sizes.push_back((*inner)[index]);
      }
      return sizes;
    }
  }
  if (auto select = dyn_cast<nn::SelectOp>(op); select && type.getRank() <= 1)
    if (auto chosen = choose(select, length, depth))
      return chosen;
  using Combine = OpFoldResult (*)(Node &, OpFoldResult, OpFoldResult);
  Combine combine = isa<nn::AddOp>(op)   ? Combine(addSizes)
                    : isa<nn::SubOp>(op) ? Combine(subSizes)
                    : isa<nn::MulOp>(op) ? Combine(mulSizes)
                    : isa<nn::DivOp>(op) ? Combine(divSizes)
                                         : nullptr;
  // Rejects rows that broadcast.
  auto fits = [&](const Sizes &part) {
    return part.size() == 1 || int64_t(part.size()) == length;
  };
  if (combine) {
    auto a = again(op->getOperand(0)), b = again(op->getOperand(1));
    if (a && b && fits(*a) && fits(*b)) {
      Sizes sizes;
      for (int64_t i = 0; i < length; ++i)
        sizes.push_back(combine(node, (*a)[a->size() == 1 ? 0 : i],
                                (*b)[b->size() == 1 ? 0 : i]));
      return sizes;
    }
  }
  return fallBack();
}

FailureOr<Sizes> legalize::elementsOf(Node &node, Value tensor) {
  if (typeOf(tensor).getRank() <= 1)
    if (auto sizes = Tracer{node}.trace(tensor, /*depth=*/16))
      return *sizes;
  auto inputs = node.op.getInputs();
  auto place = llvm::find(inputs, tensor);
  std::string list = place == inputs.end()
                         ? "a list of integers"
                         : "input " + std::to_string(place - inputs.begin());
  RankedTensorType type = typeOf(tensor);
  if (type.getRank() == 1 && type.isDynamicDim(0))
    return node.unsupported(list + " has an open number of elements; fix it "
                            "with --shape");
  return node.unsupported(list + " has " +
                          (type.getRank() > 1
                               ? "rank " + Twine(type.getRank()) +
                                     ", but is a list of integers"
                               : Twine("too many elements to be taken apart")));
}
