//===- SplitReshape.cpp - groups of dimensions of a reshape ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/SplitReshape.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;
using support::ReshapeGroup;

SmallVector<ReshapeGroup> shape::splitReshape(const SameSizes &sizes,
                                              tensor::ReshapeOp op) {
  auto dimsOf = [](Value tensor) {
    return llvm::to_vector(llvm::seq<int64_t>(
        0, cast<RankedTensorType>(tensor.getType()).getRank()));
  };
  SmallVector<int64_t> x = dimsOf(op.getSource()), y = dimsOf(op.getResult());
  ArrayRef<int64_t> from(x), to(y);
  // Takes the smallest group at one end of the remaining dimensions.
  auto take = [&](bool atEnd) -> std::optional<ReshapeGroup> {
    auto part = [&](ArrayRef<int64_t> dims, size_t count) {
      return atEnd ? dims.take_back(count) : dims.take_front(count);
    };
    auto isGroup = [&](size_t i, size_t j) {
      return i <= from.size() && j <= to.size() &&
             sizes.isSameProduct(op.getSource(), part(from, i),
                                 op.getResult(), part(to, j));
    };
    auto makeGroup = [&](size_t i, size_t j) {
      ReshapeGroup group{SmallVector<int64_t>(part(from, i)),
                         SmallVector<int64_t>(part(to, j))};
      from = atEnd ? from.drop_back(i) : from.drop_front(i);
      to = atEnd ? to.drop_back(j) : to.drop_front(j);
      return group;
    };
    // Two dimensions of size 1 form a group.
    if (isGroup(1, 1))
      return makeGroup(1, 1);
    for (size_t all = 1; all < from.size() + to.size(); ++all)
      for (size_t i = 0; i <= all; ++i)
        if (isGroup(i, all - i))
          return makeGroup(i, all - i);
    return std::nullopt;
  };
  SmallVector<ReshapeGroup> front, back;
  while (std::optional<ReshapeGroup> group = take(/*atEnd=*/false))
    front.push_back(*group);
  while (std::optional<ReshapeGroup> group = take(/*atEnd=*/true))
    back.push_back(*group);
  if (!from.empty() || !to.empty())
    front.push_back({SmallVector<int64_t>(from), SmallVector<int64_t>(to)});
  front.append(back.rbegin(), back.rend());
  return front;
}
