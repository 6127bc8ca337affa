//===- DropZeroBlocks.cpp - cpu-drop-zero-blocks --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks cover the rows of a panel that are not all zero. Each block starts at
// the first such row behind the previous block. This takes the fewest blocks,
// wherever blocks of zeros start in the model. The last block ends with the
// matrix. If it shares rows with the previous block, its copies of these rows
// are zero.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/Metadata.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

#include <cstring>

namespace ingot {
#define GEN_PASS_DEF_DROPZEROBLOCKS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The block depths to try, in groups of k. f16 is added up in runs of
/// `kF16Terms`.
static constexpr int64_t kDepths[] = {4, 8, 16};
/// The number of columns to check together: the width of the narrowest panel.
static constexpr int64_t kPart = 16;

namespace {

/// Blocks of `depth` rows and `width` columns that contain all nonzero weights
/// of a matrix.
struct Cover {
  int64_t depth, width;
  /// `starts` holds the index of each panel's first block, then the number of
  /// blocks. `firsts` holds the first k of each block.
  SmallVector<int32_t> starts, firsts;

  int64_t stored() const { return int64_t(firsts.size()) * depth * width; }
  /// Returns the relative time of the product, with or without copied rows. The
  /// time of the dense product is the number of elements of the matrix.
  double cost(const cpu::PackedWeights &weights, bool copiesRows) const {
    double groups = copiesRows ? cpu::threshold::zeroBlockCopyWay
                               : cpu::threshold::zeroBlockWay;
    double way = 1 + groups * double(weights.group) / double(depth);
    return double(stored()) * way *
           (width < weights.width ? cpu::threshold::zeroBlockNarrow : 1);
  }
};

/// The packed weights of one matrix.
class Matrix {
public:
  /// Reads a matrix of `depth` x `columns`; the padding behind them is ignored.
  Matrix(ArrayRef<char> bytes, const cpu::PackedWeights &packed, int64_t depth,
         int64_t columns);

  /// Returns the number of weights in the rows of column parts that are not all
  /// zero.
  int64_t used() const { return llvm::count(isUsed, true) * kPart; }
  Cover cover(int64_t depth, int64_t width) const;
  std::vector<char> pack(const Cover &cover) const;

private:
  const char *at(int64_t k, int64_t column) const {
    int64_t row = column / packed.width * (packed.depth / packed.group) +
                  k / packed.group;
    return bytes.data() +
           ((row * packed.width + column % packed.width) * packed.group +
            k % packed.group) *
               size;
  }
  bool isZero(const char *element) const;

  ArrayRef<char> bytes;
  const cpu::PackedWeights &packed;
  int64_t depth, columns, size;
  /// True for each k of each column part that has a nonzero weight.
  std::vector<bool> isUsed;
};

struct DropZeroBlocksPass
    : ingot::impl::DropZeroBlocksBase<DropZeroBlocksPass> {
  using DropZeroBlocksBase::DropZeroBlocksBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Matrix::Matrix(ArrayRef<char> bytes, const cpu::PackedWeights &packed,
               int64_t depth, int64_t columns)
    : bytes(bytes), packed(packed), depth(depth), columns(columns),
      size(nn::elementBytes(packed.element)),
      isUsed(depth * (packed.outer[0] * packed.width / kPart)) {
  for (int64_t part = 0; part < packed.outer[0] * packed.width / kPart; ++part)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t c = 0; c < kPart && !isUsed[part * depth + k]; ++c)
        isUsed[part * depth + k] = !isZero(at(k, part * kPart + c));
}

/// Returns true for 0, and for -0 of floats.
bool Matrix::isZero(const char *element) const {
  for (int64_t i = 0; i + 1 < size; ++i)
    if (element[i])
      return false;
  char last = element[size - 1];
  return last == 0 || (!packed.element.isInteger() && last == char(0x80));
}

Cover Matrix::cover(int64_t blockDepth, int64_t width) const {
  Cover cover{blockDepth, width, {}, {}};
  auto isRowUsed = [&](int64_t k, int64_t panel) {
    for (int64_t part = panel * width / kPart;
         part < (panel + 1) * width / kPart; ++part)
      if (isUsed[part * depth + k])
        return true;
    return false;
  };
  for (int64_t panel = 0; panel * width < columns; ++panel) {
    cover.starts.push_back(cover.firsts.size());
    for (int64_t k = 0; k < depth; ++k) {
      if (!isRowUsed(k, panel))
        continue;
      cover.firsts.push_back(std::min(k, depth - blockDepth));
      k += blockDepth - 1;
    }
  }
  // Makes at least one block for each matrix, because weights must not be
  // empty.
  if (cover.firsts.empty()) {
    cover.firsts.push_back(0);
    std::fill(cover.starts.begin() + 1, cover.starts.end(), 1);
  }
  cover.starts.push_back(cover.firsts.size());
  return cover;
}

std::vector<char> Matrix::pack(const Cover &cover) const {
  std::vector<char> stored(cover.stored() * size, 0);
  char *to = stored.data();
  for (int64_t panel = 0; panel + 1 < int64_t(cover.starts.size()); ++panel) {
    int64_t done = 0;
    for (int64_t b = cover.starts[panel]; b < cover.starts[panel + 1]; ++b) {
      int64_t first = cover.firsts[b];
      for (int64_t r = std::max<int64_t>(done - first, 0); r < cover.depth; ++r)
        for (int64_t c = 0; c < cover.width; ++c) {
          int64_t place = (r / packed.group * cover.width + c) * packed.group +
                          r % packed.group;
          std::memcpy(to + place * size, at(first + r, panel * cover.width + c),
                      size);
        }
      done = first + cover.depth;
      to += cover.depth * cover.width * size;
    }
  }
  return stored;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

/// The stored form of a product's weights.
struct Stored {
  ElementsAttr weights, blocks;
  int64_t bytesBefore = 0, bytesAfter = 0;
  bool isCounted = false;
};

/// Rewrites products; products with the same constant weights share the result.
class Dropper {
public:
  explicit Dropper(bool amxTiles) : amxTiles(amxTiles) {}

  /// Rewrites `op` and returns true if its weights lose blocks of zeros.
  bool rewrite(cpu::MatMulOp op);
  /// Erases the constants that have no users left.
  void clean();

  int64_t bytesBefore = 0, bytesAfter = 0;

private:
  Stored &storedOf(ElementsAttr constant, cpu::MatMulOp op);
  void count(Stored &stored, cpu::MatMulOp op);

  bool amxTiles;
  llvm::DenseMap<std::pair<Attribute, int64_t>, Stored> known;
  /// The ops that computed replaced weights.
  llvm::SetVector<Operation *> dropped;
};

} // namespace

static remark::RemarkOpts named() {
  return remark::RemarkOpts::name("blocks").category("zeros");
}

/// Returns the constant in panels, without reshapes that drop dimensions of 1.
static ElementsAttr constantOf(cpu::MatMulOp op) {
  Value packed = op.getWeights();
  while (auto shaped = packed.getDefiningOp<tensor::CollapseShapeOp>())
    packed = shaped.getSrc();
  return nn::getConstant(packed);
}

/// Says why no block of `op` may be left out, for any weights.
static const char *whyNot(cpu::MatMulOp op) {
  cpu::PackedWeights weights(op.getWeights());
  if (op.getFormat().getKind() != cpu::WeightsKind::panels ||
      op.getFormat().getPairs())
    return "has signs, pairs or blocks";
  if (weights.outer.size() != 1)
    return "has a right factor for each batch";
  return nullptr;
}

/// Returns the fastest cover of a matrix of `depth` rows. Returns nullopt if it
/// saves too little against the dense product.
static std::optional<Cover> coverOf(const Matrix &matrix,
                                    const cpu::PackedWeights &weights,
                                    int64_t depth, bool copiesRows) {
  double least =
      (weights.element.isInteger() ? cpu::threshold::zeroBlocksOfBytesPay
                                   : cpu::threshold::zeroBlocksPay) *
      double(support::productOf(weights.outer) * weights.depth * weights.width);
  // Stops early: no cover takes less time than this bound.
  if (double(matrix.used()) > least)
    return std::nullopt;
  bool isInRuns = weights.element.isF16() && weights.group == 2;
  SmallVector<int64_t> depths;
  for (int64_t groups : kDepths)
    depths.push_back(groups * weights.group);
  if (isInRuns)
    depths = {cpu::kF16Terms};
  std::optional<Cover> best;
  for (int64_t width : {weights.width, kPart})
    for (int64_t blockDepth : depths) {
      if (2 * blockDepth > depth)
        continue;
      Cover cover = matrix.cover(blockDepth, width);
      double cost = cover.cost(weights, copiesRows);
      if (cost > least)
        continue;
      least = cost;
      best = std::move(cover);
    }
  return best;
}

Stored &Dropper::storedOf(ElementsAttr constant, cpu::MatMulOp op) {
  cpu::PackedWeights weights(op.getWeights());
  auto src = cast<ShapedType>(op.getSrc().getType());
  int64_t depth = src.getShape().back();
  auto [at, isNew] = known.try_emplace({constant, depth});
  Stored &stored = at->second;
  if (!isNew)
    return stored;
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes = nn::getRawBytes(constant, storage);
  if (!bytes || int64_t(bytes->size()) < cpu::threshold::zeroBlockBytes)
    return stored;
  Matrix matrix(*bytes, weights, depth,
                cast<ShapedType>(op.getDst().getType()).getShape().back());
  int64_t size = nn::elementBytes(weights.element), whole = bytes->size();
  int64_t rowBytes = depth * nn::elementBytes(src.getElementType());
  // Copies rows that all fall into one set of the first-level cache.
  int64_t stride = TargetsAttr::of(op).getNumbers().set_stride;
  std::optional<Cover> cover =
      coverOf(matrix, weights, depth, rowBytes % stride == 0);
  if (!cover)
    return stored;
  stored.bytesBefore = whole;
  stored.bytesAfter = cover->stored() * size +
                      int64_t(cover->starts.size() + cover->firsts.size()) * 4;
  if (amxTiles && (weights.element.isInteger(8) || weights.element.isBF16()))
    return stored;
  SmallVector<int64_t> shape = {int64_t(cover->firsts.size()),
                                cover->depth / weights.group, cover->width};
  if (weights.group > 1)
    shape.push_back(weights.group);
  stored.weights = nn::makeConstantAttr(
      RankedTensorType::get(shape, weights.element), matrix.pack(*cover));
  SmallVector<int32_t> list(cover->starts);
  llvm::append_range(list, cover->firsts);
  auto type = RankedTensorType::get(int64_t(list.size()),
                                    IntegerType::get(op.getContext(), 32));
  const char *numbers = reinterpret_cast<const char *>(list.data());
  stored.blocks = nn::makeConstantAttr(
      type, std::vector<char>(numbers, numbers + list.size() * 4));
  return stored;
}

/// Counts the bytes before and after, once for each matrix. Does not count a
/// body for usual sizes, because it computes the same model again.
void Dropper::count(Stored &stored, cpu::MatMulOp op) {
  IngotDialect::UsualOfAttrHelper usualOf(op.getContext());
  if (stored.isCounted ||
      usualOf.isAttrPresent(op->getParentOfType<func::FuncOp>()))
    return;
  stored.isCounted = true;
  bytesBefore += stored.bytesBefore;
  bytesAfter += stored.bytesAfter;
}

bool Dropper::rewrite(cpu::MatMulOp op) {
  ElementsAttr constant = constantOf(op);
  if (!constant || whyNot(op))
    return false;
  Stored &stored = storedOf(constant, op);
  if (!stored.weights) {
    if (stored.bytesAfter != 0)
      remark::missed(op.getLoc(), named()) << remark::reason(
          "{0} of {1} bytes of its weights are blocks of "
          "zeros that stay: AMX multiplies whole panels",
          stored.bytesBefore - stored.bytesAfter, stored.bytesBefore);
    return false;
  }
  remark::passed(op.getLoc(), named())
      << remark::reason("{0} of {1} bytes are stored of its weights, the rest "
                        "are blocks of zeros",
                        stored.bytesAfter, stored.bytesBefore);
  OpBuilder builder(op);
  Location loc = op.getWeights().getLoc();
  auto constantOp = [&](ElementsAttr attr) -> Value {
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
  };
  dropped.insert(op.getWeights().getDefiningOp());
  op.getWeightsMutable().assign(constantOp(stored.weights));
  op.getBlocksMutable().assign(constantOp(stored.blocks));
  op.setFormatAttr(
      cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::blocks));
  count(stored, op);
  cpu::recordPacking(op);
  return true;
}

void Dropper::clean() {
  while (!dropped.empty()) {
    Operation *op = dropped.pop_back_val();
    if (!op->use_empty())
      continue;
    for (Value operand : op->getOperands())
      dropped.insert(operand.getDefiningOp());
    op->erase();
  }
}

void DropZeroBlocksPass::runOnOperation() {
  Dropper dropper(/*amxTiles=*/cpu::someHaveTiles(getOperation()));
  getOperation().walk(
      [&](cpu::MatMulOp op) { numProducts += dropper.rewrite(op); });
  dropper.clean();
  if (dropper.bytesBefore == 0)
    return;
  setCount(getOperation(), Count::whole_bytes, dropper.bytesBefore);
  setCount(getOperation(), Count::block_bytes, dropper.bytesAfter);
}
