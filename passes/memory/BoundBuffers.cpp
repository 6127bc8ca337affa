//===- BoundBuffers.cpp - bound-buffers -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the largest size of each buffer for the sizes in a profile. Sizes
// are computed in program order from those of the inputs, so one walk finds
// their intervals. Interval arithmetic treats operands as independent, although
// they often are not: padding, for example, is the remainder to a multiple. So
// each range is also split into pieces. Bounds that hold for all pieces hold
// for the whole range.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/memory/BufferSizes.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_BOUNDBUFFERS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Limit of bytes in any address space.
static constexpr int64_t kMaxBytes = int64_t(1) << 47;

namespace {

/// An interval of integers, from `low` to `high`.
struct Interval {
  int64_t low, high;

  static Interval of(int64_t value) { return {value, value}; }
  bool isPositive() const { return low > 0; }
};

/// Bounds of a value; nullopt if they are unknown or overflow.
using Bounds = std::optional<Interval>;

/// Bounds of the sizes that a function computes, for the input sizes of one
/// profile.
class SizeBounds {
public:
  SizeBounds(func::FuncOp function, ShapeProfileAttr profile);

  /// Returns the maximum number of bytes of a buffer, or nullopt.
  std::optional<int64_t> mostBytes(memref::AllocOp alloc) const;

private:
  using Intervals = llvm::DenseMap<Value, Interval>;

  /// Computes `known` for `ops`, and intersects the bounds with `limits`.
  void walk(ArrayRef<Operation *> ops, const Intervals &limits);
  /// Computes the bounds of `ops` for each piece of a range, and returns their
  /// union.
  Intervals walkPieces(ArrayRef<Operation *> ops, Interval &range);
  Bounds boundsOf(Value value) const;
  Bounds boundsOf(Operation *op) const;
  Bounds boundsOfDim(memref::DimOp op) const;
  Bounds evaluate(AffineExpr expr, ValueRange dims, ValueRange symbols) const;

  ShapeProfileAttr profile;
  /// The profile's ranges, or a piece of one range.
  SmallVector<Interval> ranges;
  Intervals known;
};

struct BoundBuffersPass : ingot::impl::BoundBuffersBase<BoundBuffersPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arithmetic of intervals
//===----------------------------------------------------------------------===//

static Bounds add(Interval a, Interval b) {
  Interval sum;
  if (llvm::AddOverflow(a.low, b.low, sum.low) ||
      llvm::AddOverflow(a.high, b.high, sum.high))
    return std::nullopt;
  return sum;
}

static Bounds negate(Interval a) {
  if (a.low == INT64_MIN)
    return std::nullopt;
  return Interval{-a.high, -a.low};
}

static Bounds multiply(Interval a, Interval b) {
  Interval product = {INT64_MAX, INT64_MIN};
  for (int64_t x : {a.low, a.high})
    for (int64_t y : {b.low, b.high}) {
      int64_t corner;
      if (llvm::MulOverflow(x, y, corner))
        return std::nullopt;
      product.low = std::min(product.low, corner);
      product.high = std::max(product.high, corner);
    }
  return product;
}

static Interval join(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Returns the intersection of two intervals.
static Interval meet(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

/// Divides by a positive interval. `divide` rounds down, up or towards 0.
static Bounds divide(Interval a, Interval b,
                     llvm::function_ref<int64_t(int64_t, int64_t)> divide) {
  if (!b.isPositive())
    return std::nullopt;
  // The quotient decreases with b if a is positive, and increases otherwise.
  return Interval{std::min(divide(a.low, b.low), divide(a.low, b.high)),
                  std::max(divide(a.high, b.low), divide(a.high, b.high))};
}

static Bounds floorDivide(Interval a, Interval b) {
  return divide(a, b, [](int64_t x, int64_t y) {
    return llvm::divideFloorSigned(x, y);
  });
}

static Bounds ceilDivide(Interval a, Interval b) {
  return divide(a, b, [](int64_t x, int64_t y) {
    return llvm::divideCeilSigned(x, y);
  });
}

/// Returns `result` if both operands are non-negative. Returns nullopt for
/// other operands, because unsigned ops would read a negative operand as a
/// large number.
static Bounds ifNatural(Interval a, Interval b, Bounds result) {
  return a.low >= 0 && b.low >= 0 ? result : std::nullopt;
}

static Bounds towardsZero(Interval a, Interval b) {
  return divide(a, b, [](int64_t x, int64_t y) { return x / y; });
}

static Interval least(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

static Interval greatest(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

static Bounds remainder(Interval a, Interval b) {
  if (a.low < 0 || !b.isPositive())
    return std::nullopt;
  return Interval{0, std::min(a.high, b.high - 1)};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Number of pieces of a range. Smaller pieces make the bounds more precise.
static constexpr int64_t kPieces = 32;

SizeBounds::SizeBounds(func::FuncOp function, ShapeProfileAttr profile)
    : profile(profile) {
  for (SizeRangeAttr range : profile.getRanges())
    ranges.push_back({range.getMin(), range.getMax()});
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    if (op.getNumResults() == 1)
      ops.push_back(&op);
  walk(ops, Intervals());
  llvm::erase_if(ops, [&](Operation *op) {
    return !known.contains(op->getResult(0));
  });
  Intervals limits = known;
  for (Interval &range : ranges)
    if (range.low < range.high)
      for (auto [value, bounds] : walkPieces(ops, range))
        limits[value] = meet(limits.at(value), bounds);
  walk(ops, limits);
}

void SizeBounds::walk(ArrayRef<Operation *> ops, const Intervals &limits) {
  known.clear();
  for (Operation *op : ops) {
    Bounds bounds = boundsOf(op);
    if (!bounds)
      continue;
    auto limit = limits.find(op->getResult(0));
    known[op->getResult(0)] =
        limit == limits.end() ? *bounds : meet(*bounds, limit->second);
  }
}

SizeBounds::Intervals SizeBounds::walkPieces(ArrayRef<Operation *> ops,
                                             Interval &range) {
  Interval whole = range;
  Intervals joined;
  int64_t width = (whole.high - whole.low) / kPieces + 1;
  range.high = whole.low - 1;
  while (range.high < whole.high) {
    range.low = range.high + 1;
    range.high += std::min(width, whole.high - range.high);
    walk(ops, Intervals());
    for (auto [value, bounds] : known) {
      auto [it, isFirst] = joined.try_emplace(value, bounds);
      if (!isFirst)
        it->second = join(it->second, bounds);
    }
  }
  range = whole;
  return joined;
}

Bounds SizeBounds::boundsOf(Value value) const {
  auto it = known.find(value);
  return it == known.end() ? std::nullopt : Bounds(it->second);
}

/// Returns the bounds of a dimension. Dimensions of inputs have the profile's
/// ranges.
Bounds SizeBounds::boundsOfDim(memref::DimOp op) const {
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim)
    return std::nullopt;
  Value memref = op.getSource();
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  auto input = dyn_cast<BlockArgument>(memref);
  if (!input) {
    SmallVector<OpFoldResult> sizes = sizesOfBuffer(memref);
    if (*dim >= int64_t(sizes.size()))
      return std::nullopt;
    if (std::optional<int64_t> size = getConstantIntValue(sizes[*dim]))
      return Interval::of(*size);
    return boundsOf(cast<Value>(sizes[*dim]));
  }
  for (auto [range, of] : llvm::zip_equal(ranges, profile.getRanges()))
    if (of.getInput() == input.getArgNumber() && of.getDim() == *dim)
      return range;
  return std::nullopt;
}

Bounds SizeBounds::evaluate(AffineExpr expr, ValueRange dims,
                            ValueRange symbols) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Interval::of(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return boundsOf(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return boundsOf(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Bounds a = evaluate(binary.getLHS(), dims, symbols);
  Bounds b = evaluate(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(*a, *b);
  case AffineExprKind::Mul:
    return multiply(*a, *b);
  case AffineExprKind::FloorDiv:
    return floorDivide(*a, *b);
  case AffineExprKind::CeilDiv:
    return ceilDivide(*a, *b);
  case AffineExprKind::Mod:
    return remainder(*a, *b);
  default:
    return std::nullopt;
  }
}

Bounds SizeBounds::boundsOf(Operation *op) const {
  if (std::optional<int64_t> constant = getConstantIntValue(op->getResult(0)))
    return Interval::of(*constant);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return boundsOfDim(dim);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return evaluate(map.getResult(0),
                    apply.getMapOperands().take_front(map.getNumDims()),
                    apply.getMapOperands().drop_front(map.getNumDims()));
  }
  if (auto chunk = dyn_cast<ChunkOp>(op)) {
    Bounds images = boundsOf(chunk.getImages());
    return images ? Bounds(greatest({1, images->high}, Interval::of(1)))
                  : std::nullopt;
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    Bounds a = boundsOf(choice.getTrueValue());
    Bounds b = boundsOf(choice.getFalseValue());
    return a && b ? Bounds(join(*a, *b)) : std::nullopt;
  }
  if (isa<arith::IndexCastOp>(op))
    return boundsOf(op->getOperand(0));
  if (op->getNumOperands() != 2)
    return std::nullopt;
  Bounds first = boundsOf(op->getOperand(0)),
         second = boundsOf(op->getOperand(1));
  if (!first || !second)
    return std::nullopt;
  Interval a = *first, b = *second;
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case([&](arith::AddIOp) { return add(a, b); })
      .Case([&](arith::SubIOp) {
        Bounds minus = negate(b);
        return minus ? add(a, *minus) : std::nullopt;
      })
      .Case([&](arith::MulIOp) { return multiply(a, b); })
      .Case([&](arith::DivSIOp) { return towardsZero(a, b); })
      .Case([&](arith::FloorDivSIOp) { return floorDivide(a, b); })
      .Case([&](arith::CeilDivSIOp) { return ceilDivide(a, b); })
      .Case([&](arith::DivUIOp) { return ifNatural(a, b, towardsZero(a, b)); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](Operation *) { return ifNatural(a, b, remainder(a, b)); })
      .Case([&](arith::MinSIOp) { return Bounds(least(a, b)); })
      .Case([&](arith::MaxSIOp) { return Bounds(greatest(a, b)); })
      .Case([&](arith::MinUIOp) { return ifNatural(a, b, least(a, b)); })
      .Case([&](arith::MaxUIOp) { return ifNatural(a, b, greatest(a, b)); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> SizeBounds::mostBytes(memref::AllocOp alloc) const {
  MemRefType type = alloc.getType();
  Bounds bytes = Interval::of(nn::elementBytes(type.getElementType()));
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      bytes = bytes ? multiply(*bytes, Interval::of(size)) : std::nullopt;
  for (Value size : alloc.getDynamicSizes()) {
    Bounds bounds = boundsOf(size);
    bytes = bytes && bounds
                ? multiply(*bytes, greatest(*bounds, Interval::of(0)))
                : std::nullopt;
  }
  if (!bytes || bytes->high > kMaxBytes)
    return std::nullopt;
  return bytes->high;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Returns the profiles that apply to a function.
static SmallVector<ShapeProfileAttr> profilesOf(func::FuncOp function,
                                                ArrayAttr all) {
  SmallVector<ShapeProfileAttr> profiles(all.getAsRange<ShapeProfileAttr>());
  if (std::optional<int64_t> usual = usualOf(function))
    return {profiles[*usual]};
  return profiles;
}

void BoundBuffersPass::runOnOperation() {
  ModuleOp module = getOperation();
  ArrayAttr all =
      IngotDialect::ShapeProfilesAttrHelper(&getContext()).getAttr(module);
  if (!all || IngotDialect::TakesGeneralAttrHelper(&getContext())
                  .isAttrPresent(module))
    return markAllAnalysesPreserved();
  IngotDialect::MostBytesAttrHelper most(&getContext());
  Builder builder(&getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!findRunOperand(function, RunOperand::arena))
      continue;
    SmallVector<SizeBounds> bounds;
    for (ShapeProfileAttr profile : profilesOf(function, all))
      bounds.emplace_back(function, profile);
    for (auto alloc : function.getBody().front().getOps<memref::AllocOp>()) {
      if (alloc.getType().hasStaticShape())
        continue;
      int64_t bytes = 0;
      bool isBounded = llvm::all_of(bounds, [&](const SizeBounds &of) {
        std::optional<int64_t> some = of.mostBytes(alloc);
        bytes = std::max(bytes, some.value_or(0));
        return some.has_value();
      });
      if (isBounded)
        most.setAttr(alloc, builder.getI64IntegerAttr(bytes));
    }
  }
}
