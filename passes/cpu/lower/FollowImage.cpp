//===- FollowImage.cpp - ops that move the result of a resize -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/FollowImage.h"

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

void cpu::followReshape(OpBuilder &b, ResizedImage &image) {
  auto reshape = dyn_cast_if_present<nn::ReshapeOp>(userOf(image.value));
  if (!reshape)
    return;
  ArrayRef<int64_t> from = image.type().getShape(),
                    to = typeOf(reshape.getY()).getShape();
  ArrayRef<int64_t> behind = from.drop_front(image.dim + 1);
  if (llvm::is_contained(behind, ShapedType::kDynamic))
    return;
  int64_t inner = support::productOf(behind), found = -1, product = 1;
  for (int64_t i = int64_t(to.size()) - 1; i >= 0 && product <= inner; --i) {
    if (product == inner && to[i] == from[image.dim])
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
            b, loc, ArrayRef<OpFoldResult>(image.sizes).take_front(image.dim)),
        b.getIndexAttr(known));
  image = {sizes, found, {}, reshape.getY(), 0, 1};
}

/// Returns true if the channels form one dimension, and a vector of each CPU
/// level can hold them.
static bool hasFewChannels(const ResizedImage &image) {
  ArrayRef<int64_t> shape = image.type().getShape();
  return image.channelsDim() + 1 == int64_t(shape.size()) &&
         shape.back() >= 1 && shape.back() <= 4;
}

/// Applies the order of a user to the channels.
static void reorder(ResizedImage &image, ArrayRef<int64_t> order) {
  SmallVector<int64_t> all(order);
  if (!image.order.empty())
    for (int64_t &channel : all)
      channel = image.order[channel];
  image.order = all;
}

/// Applies the rows and channels of a slice. Returns false if the slice cuts
/// other dimensions.
static bool followSlice(nn::SliceOp slice, ResizedImage &image) {
  ArrayRef<int64_t> from = image.type().getShape(),
                    to = typeOf(slice.getY()).getShape();
  SmallVector<int64_t> reversed;
  for (auto [i, start, step] :
       llvm::enumerate(slice.getStarts(), slice.getSteps())) {
    if (int64_t(i) == image.dim ||
        (start == 0 && step == 1 && from[i] == to[i]))
      continue;
    if (int64_t(i) != image.channelsDim() || !hasFewChannels(image) ||
        step != -1 || start != from[i] - 1 || to[i] != from[i])
      return false;
    for (int64_t channel = 0; channel < to[i]; ++channel)
      reversed.push_back(start - channel);
  }
  int64_t first = slice.getStarts()[image.dim],
          step = slice.getSteps()[image.dim], count = to[image.dim],
          had = from[image.dim];
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
    reorder(image, reversed);
  image.firstRow += image.rowStep * first;
  image.rowStep *= step;
  Builder b(slice.getContext());
  if (!ShapedType::isDynamic(count))
    image.sizes[image.dim] = b.getIndexAttr(count);
  image.value = slice.getY();
  return true;
}

/// Applies the channel order of a gather with constant indices. Returns false
/// for other gathers.
static bool followGather(nn::GatherOp gather, ResizedImage &image) {
  if (gather.getX() != image.value || !hasFewChannels(image) ||
      int64_t(gather.getAxis()) != image.channelsDim() ||
      typeOf(gather.getY()).getShape() != image.type().getShape())
    return false;
  auto indices = nn::getConstantInts(gather.getIndices());
  int64_t channels = image.type().getShape().back();
  if (!indices)
    return false;
  SmallVector<bool> seen(channels, false);
  for (int64_t &index : *indices) {
    index += index < 0 ? channels : 0;
    if (index < 0 || index >= channels || seen[index])
      return false;
    seen[index] = true;
  }
  reorder(image, *indices);
  image.value = gather.getY();
  return true;
}

void cpu::followMovements(ResizedImage &image) {
  while (Operation *user = userOf(image.value)) {
    auto slice = dyn_cast<nn::SliceOp>(user);
    auto gather = dyn_cast<nn::GatherOp>(user);
    if (!(slice && followSlice(slice, image)) &&
        !(gather && followGather(gather, image)))
      break;
  }
}
