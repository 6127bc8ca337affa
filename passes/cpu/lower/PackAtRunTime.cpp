//===- PackAtRunTime.cpp - weights that only a run knows ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/PackAtRunTime.h"

#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/support/Tensors.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

void cpu::setInsertionPointOutside(OpBuilder &builder, Operation *op,
                                   Value value) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  while (loop && loop.isDefinedOutsideOfLoop(value)) {
    op = loop;
    loop = dyn_cast<scf::ForOp>(op->getParentOp());
  }
  builder.setInsertionPoint(op);
}

namespace {

/// The layout of panels for weights with columns in dimension `column` and
/// depth in dimension `k`.
struct Panels {
  Panels(RankedTensorType type, int64_t column, int64_t k)
      : Panels(type, column, k, cpu::panelWidth(type.getDimSize(column))) {}
  Panels(RankedTensorType type, int64_t column, int64_t k, int64_t width)
      : column(column), k(k), group(cpu::groupOf(type.getElementType())),
        width(width),
        count(llvm::divideCeil(type.getDimSize(column), width)),
        groups(llvm::divideCeil(type.getDimSize(k), group)) {}

  Value pad(OpBuilder &builder, Location loc, Value weights) const;
  /// Splits both dimensions, and reorders: dimensions in `outer`, panels,
  /// dimensions in `taps`, groups of k, columns of a panel, elements of a
  /// group.
  Value arrange(OpBuilder &builder, Location loc, Value weights,
                ArrayRef<int64_t> outer, ArrayRef<int64_t> taps) const;
  /// Arranges weights whose columns fill all panels.
  Value arrangeWhole(OpBuilder &builder, Location loc, Value weights,
                     ArrayRef<int64_t> outer, ArrayRef<int64_t> taps) const;

  int64_t column, k, group, width, count, groups;
};

} // namespace

Value Panels::pad(OpBuilder &builder, Location loc, Value weights) const {
  RankedTensorType type = typeOf(weights);
  SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
  high[column] = count * width - type.getDimSize(column);
  high[k] = groups * group - type.getDimSize(k);
  if (!high[column] && !high[k])
    return weights;
  return support::pad(builder, loc, weights, low, high,
                      support::scalar(builder, loc, type.getElementType(), 0));
}

/// Returns elements [from, end) of a dimension.
static Value slice(OpBuilder &builder, Location loc, Value x, int64_t dim,
                   int64_t from, int64_t end) {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  for (auto [i, size] : llvm::enumerate(typeOf(x).getShape())) {
    bool isCut = int64_t(i) == dim;
    offsets.push_back(builder.getIndexAttr(isCut ? from : 0));
    sizes.push_back(builder.getIndexAttr(isCut ? end - from : size));
    strides.push_back(builder.getIndexAttr(1));
  }
  return tensor::ExtractSliceOp::create(builder, loc, x, offsets, sizes,
                                        strides);
}

Value Panels::arrange(OpBuilder &builder, Location loc, Value weights,
                      ArrayRef<int64_t> outer, ArrayRef<int64_t> taps) const {
  int64_t columns = typeOf(weights).getDimSize(column);
  int64_t whole = columns / width;
  if (whole == count || whole == 0 || group != 1)
    return arrangeWhole(builder, loc, pad(builder, loc, weights), outer, taps);
  // Pads only the last panel, in the packed tensor. Padding the source would
  // copy all columns.
  auto arrangePart = [&](int64_t from, int64_t end, int64_t width) {
    Value part = slice(builder, loc, weights, column, from, end);
    return Panels(typeOf(part), column, k, width)
        .arrangeWhole(builder, loc, part, outer, taps);
  };
  Value panels = arrangePart(0, whole * width, width);
  Value last = arrangePart(whole * width, columns, columns - whole * width);
  SmallVector<int64_t> low(typeOf(last).getRank(), 0), high(low);
  high.back() = count * width - columns;
  last = support::pad(
      builder, loc, last, low, high,
      support::scalar(builder, loc, typeOf(weights).getElementType(), 0));
  SmallVector<int64_t> shape(typeOf(panels).getShape());
  shape[outer.size()] = count;
  Value all = tensor::EmptyOp::create(builder, loc, shape,
                                      typeOf(weights).getElementType());
  for (Value part : {panels, last}) {
    support::Sizes from(shape.size(), builder.getIndexAttr(0));
    support::Sizes ones(shape.size(), builder.getIndexAttr(1));
    from[outer.size()] = builder.getIndexAttr(part == panels ? 0 : whole);
    all = support::insert(
        builder, loc, part, all,
        {from, support::sizesOf(builder, loc, part), ones});
  }
  return all;
}

Value Panels::arrangeWhole(OpBuilder &builder, Location loc, Value weights,
                           ArrayRef<int64_t> outer,
                           ArrayRef<int64_t> taps) const {
  RankedTensorType type = typeOf(weights);
  int64_t count = type.getDimSize(column) / width;
  SmallVector<int64_t> shape, first;
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    first.push_back(shape.size());
    if (i == column)
      shape.append({count, width});
    else if (i == k && group > 1)
      shape.append({groups, group});
    else
      shape.push_back(type.getDimSize(i));
    auto parts = llvm::seq<int64_t>(first.back(), shape.size());
    reassociation.emplace_back(parts.begin(), parts.end());
  }
  Value split = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape),
                                              weights, reassociation);
  SmallVector<int64_t> perm;
  for (int64_t i : outer)
    perm.push_back(first[i]);
  perm.push_back(first[column]);
  for (int64_t i : taps)
    perm.push_back(first[i]);
  perm.append({first[k], first[column] + 1});
  if (group > 1)
    perm.push_back(first[k] + 1);
  return support::transpose(builder, loc, split, perm);
}

Value cpu::packFactor(OpBuilder &builder, Location loc, Value b,
                      bool transposed) {
  RankedTensorType type = typeOf(b);
  int64_t rank = type.getRank();
  int64_t column = transposed ? rank - 2 : rank - 1;
  auto batches = llvm::to_vector(llvm::seq<int64_t>(rank - 2));
  return Panels(type, column, 2 * rank - 3 - column)
      .arrange(builder, loc, b, batches, {});
}

Value cpu::packFilter(OpBuilder &builder, Location loc, Value w,
                      int64_t groups) {
  // Split `O, C/G, K…` into `G, O/G, C/G, K…`.
  RankedTensorType type = typeOf(w);
  SmallVector<int64_t> shape(type.getShape());
  shape[0] /= groups;
  shape.insert(shape.begin(), groups);
  SmallVector<ReassociationIndices> parts = {{0, 1}};
  for (int64_t i = 2, e = shape.size(); i < e; ++i)
    parts.push_back({i});
  Value split =
      tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), w, parts);
  int64_t outer = 0;
  auto taps = llvm::to_vector(llvm::seq<int64_t>(3, shape.size()));
  Value packed = Panels(typeOf(split), /*column=*/1, /*k=*/2)
                     .arrange(builder, loc, split, outer, taps);
  // Join the dimensions of groups and panels.
  parts = {{0, 1}};
  for (int64_t i = 2; i < typeOf(packed).getRank(); ++i)
    parts.push_back({i});
  return tensor::CollapseShapeOp::create(builder, loc, packed, parts);
}

Value cpu::packTaps(OpBuilder &builder, Location loc, Value w) {
  // Transpose `O, C/G, K…` to `K…, C/G O`.
  int64_t rank = typeOf(w).getRank(), taps = rank - 2;
  auto perm = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  perm.append({1, 0});
  Value permuted = support::transpose(builder, loc, w, perm);
  SmallVector<ReassociationIndices> parts;
  for (int64_t i = 0; i < taps; ++i)
    parts.push_back({i});
  parts.push_back({taps, taps + 1});
  return tensor::CollapseShapeOp::create(builder, loc, permuted, parts);
}
