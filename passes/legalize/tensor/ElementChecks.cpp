//===- ElementChecks.cpp - run-time checks of sizes and elements ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Elements.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns true if a tensor has no elements, or null if it is known to have
/// some.
static Value isEmpty(Node &node, Value tensor) {
  Indices i{node.builder, node.loc()};
  Value empty;
  for (OpFoldResult size : sizesOf(node, tensor)) {
    auto known = getConstantIntValue(size);
    if (known && *known)
      continue;
    Value none = i.equal(indexValue(node, size), i.n(0));
    empty = empty ? arith::OrIOp::create(i.b, i.loc, empty, none) : none;
  }
  return empty;
}

/// Checks constant elements against known bounds. Returns nullopt if the check
/// must be at run time.
static std::optional<LogicalResult>
checkConstants(Node &node, size_t i, StringRef name,
               const ElementBounds &bounds) {
  auto values = node.getConstantInts(i);
  auto count = getConstantIntValue(bounds.count);
  if (!values || !count)
    return std::nullopt;
  nn::Range range = {0, *count - !bounds.includesCount};
  for (auto [k, value] : llvm::enumerate(*values)) {
    if (range.contains(value) || value == bounds.other)
      continue;
    std::string other;
    if (bounds.other)
      other =
          (" or " + Twine(*bounds.other) + " (" + bounds.otherName + ")").str();
    return node.badElementAt(name, nn::placeOf(k, node.shape(i)), Twine(value),
                             nn::describeRange(range) + other);
  }
  return success();
}

LogicalResult legalize::requireFit(Node &node, nn::SizeRelation relation,
                                   OpFoldResult a, OpFoldResult b,
                                   const Twine &message) {
  if (isSameDim(a, b))
    return success();
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y) {
    auto holds = nn::decide(relation, getAffineConstantExpr(*x, node.context()),
                            getAffineConstantExpr(*y, node.context()));
    if (holds == true)
      return success();
    return node.invalid(nn::formatSizes(message.str(), *x, *y));
  }
  Value left = indexValue(node, a), right = indexValue(node, b);
  require(node.builder, node.loc(),
          relates(node.builder, node.loc(), relation, left, right), message,
          {left, right});
  return success();
}

void legalize::requireEach(Node &node, Value elements, StringRef name,
                           const ElementBounds &bounds) {
  Indices index{node.builder, node.loc()};
  Value empty = isEmpty(node, elements);
  Value count = indexValue(node, bounds.count);
  auto axes =
      llvm::to_vector(llvm::seq<int64_t>(0, typeOf(elements).getRank()));
  for (nn::ReduceKind kind : {nn::ReduceKind::min, nn::ReduceKind::max}) {
    Value found = axes.empty() ? elements
                               : node.create<nn::ReduceOp>(elements, kind, axes,
                                                           /*keep_dims=*/false);
    Value number = arith::IndexCastOp::create(
        index.b, index.loc, index.b.getIndexType(),
        tensor::ExtractOp::create(index.b, index.loc, found, ValueRange()));
    Value fits = index.both(
        index.less(index.n(-1), number),
        index.less(number, bounds.includesCount ? index.add(count, index.n(1))
                                                : count));
    // Without elements, the extremes are those of the type.
    if (empty)
      fits = arith::OrIOp::create(index.b, index.loc, empty, fits);
    require(index.b, index.loc, fits,
            name + " has {0}, but there are {1} " + bounds.counted,
            {number, count});
  }
}

LogicalResult legalize::requireElements(Node &node, size_t i, StringRef name,
                                        const ElementBounds &bounds) {
  if (!node.has(i))
    return success();
  if (auto checked = checkConstants(node, i, name, bounds))
    return *checked;
  Type i64 = node.builder.getI64Type();
  Value elements = castTo(node, node.input(i), i64);
  if (bounds.other) {
    Value other = scalar(node, i64, 0);
    auto same = node.infer<nn::EqualOp>(elements,
                                        intConstant(node, {*bounds.other}, {}));
    if (failed(same))
      return failure();
    elements = select(node, *same, other, elements);
  }
  requireEach(node, elements, name, bounds);
  return success();
}
