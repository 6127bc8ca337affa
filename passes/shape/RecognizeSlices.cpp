//===- RecognizeSlices.cpp - nn-recognize-slices --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/TensorTypes.h"
#include "passes/shape/IndexLines.h"
#include "passes/shape/Passes.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/RunChecks.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_RECOGNIZESLICES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using shape::IndexLine;
using shape::SameSizes;

namespace {

/// Slice of the data that a scatter writes.
struct WrittenSlice {
  /// Ranges of the first dimensions of the data. The other dimensions are
  /// written whole.
  SmallVector<IndexLine> lines;
  /// The largest index of each dimension that needs a check at run time; -1 for
  /// other dimensions.
  SmallVector<int64_t> asked;
  /// Number of leading dimensions of the updates that the ranges cover.
  int64_t depth;
};

struct RecognizeSlicesPass
    : ingot::impl::RecognizeSlicesBase<RecognizeSlicesPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns true if the ranges follow the order of the index dimensions. Each
/// index dimension must belong to one range or have size 1.
static bool isGrid(ArrayRef<IndexLine> lines, ArrayRef<int64_t> space) {
  int64_t next = 0;
  auto skipTo = [&](int64_t dim) {
    for (; next < dim; ++next)
      if (space[next] != 1)
        return false;
    return true;
  };
  for (const IndexLine &line : lines) {
    if (line.isConstant())
      continue;
    if (line.dim < next || !skipTo(line.dim))
      return false;
    next = line.dim + 1;
  }
  return skipTo(space.size());
}

/// Returns the last index of a range, if it and the start are known.
static std::optional<int64_t> lastOf(const IndexLine &line,
                                     ArrayRef<int64_t> space) {
  std::optional<int64_t> start = getConstantIntValue(line.start);
  if (!start)
    return std::nullopt;
  if (line.isConstant())
    return start;
  int64_t size = space[line.dim];
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  return *start + (size - 1) * line.step;
}

/// Adds a range for the next dimension of the data. Fails if the range may be
/// out of bounds and no check can decide it at run time.
static bool addLine(WrittenSlice &window, Value x, IndexLine line,
                    ArrayRef<int64_t> space, const SameSizes &sizes) {
  int64_t dim = window.lines.size(), size = typeOf(x).getDimSize(dim);
  int64_t asked = -1;
  // The range counts 0, 1, … over a dimension of the same size, so it is in
  // bounds.
  if (!line.counted || !sizes.isSame(line.counted, 0, x, dim)) {
    std::optional<int64_t> last = lastOf(line, space);
    if (!last)
      return false;
    int64_t start = *getConstantIntValue(line.start);
    if (line.isConstant() && start < 0 && !ShapedType::isDynamic(size)) {
      start = *last += size;
      line.start = Builder(x.getContext()).getIndexAttr(start);
    }
    if (start < 0 || (!ShapedType::isDynamic(size) && *last >= size))
      return false;
    if (ShapedType::isDynamic(size))
      asked = *last;
  }
  window.lines.push_back(line);
  window.asked.push_back(asked);
  return true;
}

static std::optional<WrittenSlice> windowOf(nn::ScatterNDOp op,
                                            const SameSizes &sizes) {
  ArrayRef<int64_t> space = op.getIndices().getType().getShape().drop_back();
  if (op.getReduction() != nn::ScatterReduction::none || isKnownEmpty(space))
    return std::nullopt;
  std::optional<SmallVector<IndexLine>> lines =
      shape::linesOf(op.getIndices(), sizes);
  if (!lines || !isGrid(*lines, space))
    return std::nullopt;
  WrittenSlice window{{}, {}, int64_t(space.size())};
  for (const IndexLine &line : *lines)
    if (!addLine(window, op.getX(), line, space, sizes))
      return std::nullopt;
  return window;
}

/// Matches a scatter of elements whose other coordinates are their own indices.
static std::optional<WrittenSlice> windowOf(nn::ScatterElementsOp op,
                                            const SameSizes &sizes) {
  ArrayRef<int64_t> space = op.getIndices().getType().getShape();
  int64_t axis = op.getAxis();
  if (op.getReduction() != nn::ScatterReduction::none || isKnownEmpty(space))
    return std::nullopt;
  std::optional<IndexLine> along = shape::lineOf(op.getIndices(), sizes);
  if (!along || (along->isConstant() ? space[axis] != 1 : along->dim != axis))
    return std::nullopt;
  WrittenSlice window{{}, {}, int64_t(space.size())};
  for (int64_t dim = 0, rank = space.size(); dim < rank; ++dim) {
    if (dim == axis) {
      if (!addLine(window, op.getX(), *along, space, sizes))
        return std::nullopt;
      continue;
    }
    int64_t size = op.getX().getType().getDimSize(dim);
    bool hasFewer = !ShapedType::isDynamic(space[dim]) &&
                    !ShapedType::isDynamic(size) && space[dim] < size;
    if (!hasFewer && !sizes.isSame(op.getIndices(), dim, op.getX(), dim))
      return std::nullopt;
    window.lines.push_back(shape::positionsOf(op.getContext(), dim));
    window.asked.push_back(-1);
  }
  return window;
}

/// Reshapes `updates` to the rank of the data. Dimensions with a constant index
/// get size 1.
static Value atRankOfData(OpBuilder &b, Location loc, Value updates,
                          ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape = staticShape(sizes);
  RankedTensorType from = typeOf(updates), to = from.clone(shape);
  if (from.getShape() == ArrayRef(shape))
    return updates;
  if (followsFromCount(to))
    return nn::ReshapeOp::create(b, loc, to, updates);
  return support::reshape(b, loc, updates, sizes);
}

static Value insertUpdates(OpBuilder &b, Location loc, Value x, Value updates,
                           const WrittenSlice &window) {
  for (auto [dim, last] : llvm::enumerate(window.asked)) {
    if (last < 0)
      continue;
    Value size = sizeOf(b, loc, x, dim);
    Value at = indexConstant(b, loc, last);
    Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at,
                                        size);
    require(b, loc, holds,
            "'indices' has {0} for dimension " + Twine(dim) +
                ", which has {1} elements",
            {at, size});
  }
  Sizes own = sizesOf(b, loc, updates), offsets, sizes, strides;
  OpFoldResult one = b.getIndexAttr(1);
  for (const IndexLine &line : window.lines) {
    offsets.push_back(line.start);
    sizes.push_back(line.isConstant() ? one : own[line.dim]);
    strides.push_back(b.getIndexAttr(line.isConstant() ? 1 : line.step));
  }
  // Dimensions without indices are taken whole.
  for (OpFoldResult size : ArrayRef(own).drop_front(window.depth)) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(size);
    strides.push_back(one);
  }
  Value source = atRankOfData(b, loc, updates, sizes);
  return support::insert(b, loc, source, x, {offsets, sizes, strides});
}

void RecognizeSlicesPass::runOnOperation() {
  SmallVector<Operation *> scatters;
  getOperation()->walk([&](Operation *op) {
    if (isa<nn::ScatterNDOp, nn::ScatterElementsOp>(op))
      scatters.push_back(op);
  });
  if (scatters.empty())
    return;
  SameSizes sizes(getOperation());
  // Matches all ops before the first rewrite, because the sizes of new values
  // are not known.
  SmallVector<std::pair<Operation *, WrittenSlice>> found;
  for (Operation *op : scatters) {
    auto elements = dyn_cast<nn::ScatterElementsOp>(op);
    std::optional<WrittenSlice> window =
        elements ? windowOf(elements, sizes)
                 : windowOf(cast<nn::ScatterNDOp>(op), sizes);
    if (window)
      found.emplace_back(op, *window);
  }
  numRecognized += found.size();
  for (auto &[op, window] : found) {
    OpBuilder b(op);
    // In both ops, operands 0 and 2 are the data and the updates.
    op->getResult(0).replaceAllUsesWith(insertUpdates(
        b, op->getLoc(), op->getOperand(0), op->getOperand(2), window));
    op->erase();
  }
}
