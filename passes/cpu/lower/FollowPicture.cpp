//===- FollowPicture.cpp - ops that move the result of a resize -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/FollowPicture.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

/// Returns the only user of `value`, or null.
static Operation *userOf(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

void cpu::followReshape(OpBuilder &b, Picture &picture) {
  auto reshape = dyn_cast_if_present<nn::ReshapeOp>(userOf(picture.value));
  if (!reshape)
    return;
  ArrayRef<int64_t> from = picture.type().getShape(),
                    to = typeOf(reshape.getY()).getShape();
  ArrayRef<int64_t> behind = from.drop_front(picture.dim + 1);
  if (llvm::is_contained(behind, ShapedType::kDynamic))
    return;
  int64_t inner = support::productOf(behind), found = -1, product = 1;
  for (int64_t i = int64_t(to.size()) - 1; i >= 0 && product <= inner; --i) {
    if (product == inner && to[i] == from[picture.dim])
      found = i;
    if (ShapedType::isDynamic(to[i]))
      break;
    product *= to[i];
  }
  int64_t known = 1, open = -1;
  for (int64_t i = 0; i < found; ++i) {
    if (!ShapedType::isDynamic(to[i]))
      known *= to[i];
    else if (open >= 0)
      return;
    else
      open = i;
  }
  if (found < 0 || known == 0)
    return;
  Location loc = reshape.getLoc();
  Sizes sizes;
  for (int64_t size : to)
    sizes.push_back(b.getIndexAttr(size));
  if (open >= 0)
    sizes[open] = divSizes(
        b, loc,
        support::productOf(
            b, loc,
            ArrayRef<OpFoldResult>(picture.sizes).take_front(picture.dim)),
        b.getIndexAttr(known));
  picture = {sizes, found, {}, reshape.getY(), 0, 1};
}

/// Returns true if channels are one dimension that fits a vector of each CPU
/// level.
static bool hasFewChannels(const Picture &picture) {
  ArrayRef<int64_t> shape = picture.type().getShape();
  return picture.channelsDim() + 1 == int64_t(shape.size()) &&
         shape.back() >= 1 && shape.back() <= 4;
}

/// Applies the order of a user to the channels.
static void reorder(Picture &picture, ArrayRef<int64_t> order) {
  SmallVector<int64_t> all(order);
  if (!picture.order.empty())
    for (int64_t &channel : all)
      channel = picture.order[channel];
  picture.order = all;
}

/// Applies the rows and channels of a slice. Returns false if the slice cuts
/// other dimensions.
static bool followSlice(nn::SliceOp slice, Picture &picture) {
  ArrayRef<int64_t> from = picture.type().getShape(),
                    to = typeOf(slice.getY()).getShape();
  SmallVector<int64_t> reversed;
  for (auto [i, start, step] :
       llvm::enumerate(slice.getStarts(), slice.getSteps())) {
    if (int64_t(i) == picture.dim ||
        (start == 0 && step == 1 && from[i] == to[i]))
      continue;
    if (int64_t(i) != picture.channelsDim() || !hasFewChannels(picture) ||
        step != -1 || start != from[i] - 1 || to[i] != from[i])
      return false;
    for (int64_t channel = 0; channel < to[i]; ++channel)
      reversed.push_back(start - channel);
  }
  int64_t first = slice.getStarts()[picture.dim],
          step = slice.getSteps()[picture.dim], count = to[picture.dim],
          had = from[picture.dim];
  if (ShapedType::isDynamic(had)) {
    // A slice of an open dimension is known to be in bounds.
    if (first < 0 || step < 1)
      return false;
  } else {
    int64_t last = first + step * (count - 1);
    if (count < 1 || std::min(first, last) < 0 || std::max(first, last) >= had)
      return false;
  }
  if (!reversed.empty())
    reorder(picture, reversed);
  picture.firstRow += picture.rowStep * first;
  picture.rowStep *= step;
  Builder b(slice.getContext());
  if (!ShapedType::isDynamic(count))
    picture.sizes[picture.dim] = b.getIndexAttr(count);
  picture.value = slice.getY();
  return true;
}

/// Applies the channel order of a gather with constant indices. Returns false
/// for other gathers.
static bool followGather(nn::GatherOp gather, Picture &picture) {
  if (gather.getX() != picture.value || !hasFewChannels(picture) ||
      int64_t(gather.getAxis()) != picture.channelsDim() ||
      typeOf(gather.getY()).getShape() != picture.type().getShape())
    return false;
  auto indices = nn::getConstantInts(gather.getIndices());
  int64_t channels = picture.type().getShape().back();
  if (!indices)
    return false;
  SmallVector<bool> seen(channels, false);
  for (int64_t &index : *indices) {
    index += index < 0 ? channels : 0;
    if (index < 0 || index >= channels || seen[index])
      return false;
    seen[index] = true;
  }
  reorder(picture, *indices);
  picture.value = gather.getY();
  return true;
}

void cpu::followMovements(Picture &picture) {
  while (Operation *user = userOf(picture.value)) {
    auto slice = dyn_cast<nn::SliceOp>(user);
    auto gather = dyn_cast<nn::GatherOp>(user);
    if (!(slice && followSlice(slice, picture)) &&
        !(gather && followGather(gather, picture)))
      break;
  }
}
