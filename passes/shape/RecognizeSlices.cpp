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
using namespace ingot::lower;
using shape::IndexLine;
using shape::SameSizes;

namespace {

/// Where the updates of a ScatterND go, of the dimensions that its indices
/// have coordinates for.
struct Window {
  SmallVector<IndexLine> lines;
  /// The largest position of each dimension whose size a run has to be asked
  /// for; -1 of others.
  SmallVector<int64_t> asked;
};

struct RecognizeSlicesPass
    : ingot::impl::RecognizeSlicesBase<RecognizeSlicesPass> {
  void runOnOperation() override;
};

} // namespace

/// Whether the lines run through the indices in their order, each dimension of
/// these being that of one line or of size 1.
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

/// The last position that a line comes to, if that is known and `line` starts
/// at a known one.
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

static std::optional<Window> windowOf(nn::ScatterNDOp op,
                                      const SameSizes &sizes) {
  ArrayRef<int64_t> space = op.getIndices().getType().getShape().drop_back();
  std::optional<SmallVector<IndexLine>> lines =
      shape::linesOf(op.getIndices(), sizes);
  if (!lines || isKnownEmpty(space))
    return std::nullopt;
  Window window;
  RankedTensorType type = op.getX().getType();
  for (auto [dim, line] : llvm::enumerate(*lines)) {
    int64_t size = type.getDimSize(dim);
    std::optional<int64_t> last = lastOf(line, space);
    window.asked.push_back(-1);
    // Positions that a run counts in a dimension of this size.
    if (line.counted && sizes.isSame(line.counted, 0, op.getX(), dim))
      continue;
    if (!last)
      return std::nullopt;
    int64_t start = *getConstantIntValue(line.start);
    if (line.isConstant() && start < 0 && !ShapedType::isDynamic(size)) {
      start = *last += size;
      line.start = OpBuilder(op).getIndexAttr(start);
    }
    if (start < 0 || (!ShapedType::isDynamic(size) && *last >= size))
      return std::nullopt;
    if (ShapedType::isDynamic(size))
      window.asked.back() = *last;
  }
  if (!isGrid(*lines, space))
    return std::nullopt;
  window.lines = std::move(*lines);
  return window;
}

/// `updates` with a dimension for each of the data's, of size 1 where a line is
/// one position.
static Value atRankOfData(OpBuilder &b, Location loc, Value updates,
                          ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape = staticShape(sizes);
  RankedTensorType from = typeOf(updates), to = from.clone(shape);
  if (from.getShape() == ArrayRef(shape))
    return updates;
  if (followsFromCount(to))
    return nn::ReshapeOp::create(b, loc, to, updates);
  return lower::reshape(b, loc, updates, sizes);
}

static void insertUpdates(nn::ScatterNDOp op, const Window &window) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getX(), updates = op.getUpdates();
  for (auto [dim, last] : llvm::enumerate(window.asked)) {
    if (last < 0)
      continue;
    Value size = sizeOf(b, loc, x, dim), at = indexConstant(b, loc, last);
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
  // Dimensions without coordinates are taken whole.
  size_t space = typeOf(op.getIndices()).getRank() - 1;
  for (OpFoldResult size : ArrayRef(own).drop_front(space)) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(size);
    strides.push_back(one);
  }
  Value source = atRankOfData(b, loc, updates, sizes);
  op.replaceAllUsesWith(
      lower::insert(b, loc, source, x, offsets, sizes, strides));
}

void RecognizeSlicesPass::runOnOperation() {
  SmallVector<nn::ScatterNDOp> scatters;
  getOperation()->walk([&](nn::ScatterNDOp op) {
    if (op.getReduction() == nn::ScatterReduction::none)
      scatters.push_back(op);
  });
  if (scatters.empty())
    return;
  SameSizes sizes(getOperation());
  // Values that come about here are not known to `sizes`.
  SmallVector<std::pair<nn::ScatterNDOp, Window>> found;
  for (nn::ScatterNDOp op : scatters)
    if (std::optional<Window> window = windowOf(op, sizes))
      found.emplace_back(op, *window);
  numRecognized += found.size();
  for (auto &[op, window] : found) {
    insertUpdates(op, window);
    op.erase();
  }
}
