//===- ReshapeGroups.cpp - groups of dimensions of a reshape --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/ReshapeGroups.h"

#include "passes/support/Tensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

SmallVector<ReassociationIndices> support::groupsFrom(int64_t rank,
                                                      int64_t first) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i)
    if (i <= first)
      groups.push_back({i});
    else
      groups.back().push_back(i);
  return groups;
}

static bool isOpen(int64_t size) { return ShapedType::isDynamic(size); }

std::optional<SmallVector<ReshapeGroup>>
support::splitReshape(ArrayRef<int64_t> x, ArrayRef<int64_t> y) {
  // If the products of all other dimensions are equal, the single dynamic
  // dimensions of both sides are equal, too.
  auto product = [](ArrayRef<int64_t> shape) {
    int64_t product = 1;
    for (int64_t size : shape)
      if (!isOpen(size))
        product *= size;
    return product;
  };
  int64_t unknown = llvm::count_if(x, isOpen);
  if (unknown > 1 || unknown != llvm::count_if(y, isOpen) ||
      product(x) != product(y) || product(x) == 0)
    return std::nullopt;
  SmallVector<ReshapeGroup> groups;
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    ReshapeGroup group;
    bool unitX = i < x.size() && x[i] == 1, unitY = j < y.size() && y[j] == 1;
    if (unitX || unitY) {
      if (unitX)
        group.from.push_back(i++);
      if (unitY)
        group.to.push_back(j++);
      groups.push_back(group);
      continue;
    }
    if (i >= x.size() || j >= y.size())
      return std::nullopt;
    int64_t left = x[i], right = y[j];
    if (isOpen(left) != isOpen(right))
      return std::nullopt;
    group.from.push_back(i++);
    group.to.push_back(j++);
    while (left != right) {
      bool grow = left < right;
      if (grow ? i >= x.size() || isOpen(x[i])
               : j >= y.size() || isOpen(y[j]))
        return std::nullopt;
      if (grow) {
        left *= x[i];
        group.from.push_back(i++);
      } else {
        right *= y[j];
        group.to.push_back(j++);
      }
    }
    groups.push_back(group);
  }
  return groups;
}

/// Merges groups with an empty side into the group before, or into the first
/// group, so that all groups have dimensions on both sides.
static SmallVector<ReshapeGroup> takeInUnits(ArrayRef<ReshapeGroup> groups) {
  SmallVector<ReshapeGroup> taken;
  for (const ReshapeGroup &group : groups) {
    bool joins = !taken.empty() &&
                 (group.from.empty() || group.to.empty() ||
                  taken.back().from.empty() || taken.back().to.empty());
    if (!joins) {
      taken.push_back(group);
      continue;
    }
    llvm::append_range(taken.back().from, group.from);
    llvm::append_range(taken.back().to, group.to);
  }
  return taken;
}

/// Returns the product of dimensions of `shape`, or dynamic.
static int64_t mergedSize(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (isOpen(shape[dim]))
      return ShapedType::kDynamic;
    product *= shape[dim];
  }
  return product;
}

Value support::reshapeByGroups(OpBuilder &b, Location loc, Value tensor,
                               ArrayRef<OpFoldResult> sizes,
                               ArrayRef<ReshapeGroup> split) {
  RankedTensorType from = typeOf(tensor);
  auto to = RankedTensorType::get(staticShape(sizes), from.getElementType());
  SmallVector<ReshapeGroup> groups = takeInUnits(split);
  if (groups.empty() || groups.front().from.empty() ||
      groups.front().to.empty() ||
      (groups.size() == 1 && groups[0].from.size() > 1 &&
       groups[0].to.size() > 1))
    return {};
  SmallVector<ReassociationIndices> merged, parts;
  SmallVector<int64_t> before, behind;
  for (const ReshapeGroup &group : groups) {
    merged.emplace_back(group.from.begin(), group.from.end());
    parts.emplace_back(group.to.begin(), group.to.end());
    before.push_back(mergedSize(from.getShape(), group.from));
    behind.push_back(mergedSize(to.getShape(), group.to));
  }
  if (int64_t(groups.size()) != from.getRank())
    tensor = tensor::CollapseShapeOp::create(b, loc, from.clone(before), tensor,
                                             merged);
  tensor = castTo(b, loc, tensor, from.clone(behind));
  if (int64_t(groups.size()) == to.getRank())
    return tensor;
  return tensor::ExpandShapeOp::create(b, loc, to, tensor, parts, sizes);
}
