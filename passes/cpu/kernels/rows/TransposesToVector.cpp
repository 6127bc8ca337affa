//===- TransposesToVector.cpp - cpu-transposes-to-vector ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transpositions by squares:
//
//     for all loops but those of the rows and of the columns
//       for square of rows and columns: load its rows, transpose them in
//         registers, store its columns
//
// The op's body is computed on vectors of the wider type: f32 are converted to
// bytes before the transposition, bytes to f32 behind it
// (TransposesInt8.cpp).
//
// The last square of a row or column ends with the row or column, and writes
// some elements twice. If a known size is smaller than a square, or leaves less
// than half a square, a partial square is used. If an open size is smaller than
// a square at run time, elements are moved one by one.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/Elementwise.h"
#include "passes/cpu/kernels/rows/TransposeEmitter.h"
#include "passes/cpu/kernels/rows/Transposes.h"
#include "passes/support/TransposedOperand.h"

#include "llvm/ADT/bit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

namespace ingot {
#define GEN_PASS_DEF_TRANSPOSESTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

namespace {

struct TransposesToVectorPass
    : ingot::impl::TransposesToVectorBase<TransposesToVectorPass> {
  void runOnOperation() override;
};

} // namespace

static int64_t bitsOf(OpOperand &operand) {
  return getElementTypeOrSelf(operand.get()).getIntOrFloatBitWidth();
}

bool TransposeEmitter::computesFirst(OpOperand &src, OpOperand &dst) {
  return bitsOf(src) >= bitsOf(dst);
}

/// Returns the number of rows of a square: rows have 128 bits, or up to 256
/// with elements of 32 bits.
static int64_t sideOf(OpOperand &src, OpOperand &dst,
                      const TargetInfo &target) {
  int64_t bits = std::min(bitsOf(src), bitsOf(dst));
  return bits == 32 ? squareOf(target) : 128 / bits;
}

TransposeEmitter::TransposeEmitter(OpBuilder &builder, linalg::GenericOp op)
    : b{builder, op.getLoc()}, op(op), src(*support::getTransposedOperand(op)),
      dst(*op.getDpsInitOperand(0)), side(sideOf(src, dst, TargetInfo::of(op))),
      row(support::lastLoopOf(op, src)), column(support::lastLoopOf(op, dst)) {}

/// Splits `count` into powers of two, the largest first. Calls `body` with the
/// sum of the earlier powers, and with the power.
static void forEachPower(int64_t count,
                         function_ref<void(int64_t from, int64_t size)> body) {
  for (int64_t from = 0; from < count;) {
    int64_t size = llvm::bit_floor(uint64_t(count - from));
    body(from, size);
    from += size;
  }
}

SmallVector<Value> TransposeEmitter::at(OpOperand &operand) {
  SmallVector<Value> found;
  for (AffineExpr result : op.getMatchingIndexingMap(&operand).getResults()) {
    if (auto constant = dyn_cast<AffineConstantExpr>(result))
      found.push_back(b.get(constant.getValue()));
    else
      found.push_back(
          b.get(position[cast<AffineDimExpr>(result).getPosition()]));
  }
  return found;
}

Value TransposeEmitter::loadFirst(int64_t lanes, int64_t count, Value memref,
                                  SmallVector<Value> at) {
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(memref));
  if (count == lanes)
    return vector::LoadOp::create(b.b, b.loc, type, memref, at);
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  // Uses a masked load for 32-bit elements, which every level has.
  if (type.getElementTypeBitWidth() == 32)
    return vector::MaskedLoadOp::create(b.b, b.loc, type, memref, at,
                                        maskOfFirst(b, lanes, count), zero);
  Value joined = zero;
  Index first(at.back());
  forEachPower(count, [&](int64_t from, int64_t size) {
    at.back() = b.get(b.add(first, from));
    Value part = vector::LoadOp::create(
        b.b, b.loc, VectorType::get({size}, type.getElementType()), memref, at);
    // Extends the part to `lanes` lanes, because a shuffle requires equal
    // types.
    SmallVector<int64_t> spread(lanes, 0), picked;
    std::iota(spread.begin(), spread.begin() + size, 0);
    part = vector::ShuffleOp::create(b.b, b.loc, part, part, spread);
    for (int64_t i = 0; i < lanes; ++i)
      picked.push_back(i < from ? i : lanes + (i - from) % size);
    joined = vector::ShuffleOp::create(b.b, b.loc, joined, part, picked);
  });
  return joined;
}

/// Stores powers of two, because a masked store is slower on some CPUs than a
/// few whole stores.
void TransposeEmitter::storeFirst(Value vector, int64_t count, Value memref,
                                  SmallVector<Value> at) {
  Index first(at.back());
  forEachPower(count, [&](int64_t from, int64_t size) {
    at.back() = b.get(b.add(first, from));
    Value part = vector;
    if (size != cast<VectorType>(vector.getType()).getDimSize(0))
      part = vector::ShuffleOp::create(
          b.b, b.loc, vector, vector,
          llvm::to_vector(llvm::seq<int64_t>(from, from + size)));
    vector::StoreOp::create(b.b, b.loc, part, memref, at);
  });
}

/// Loads the element of an operand at the position; null if it has no use.
Value TransposeEmitter::loadScalar(OpOperand &operand) {
  if (op.getMatchingBlockArgument(&operand).use_empty())
    return {};
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  return memref::LoadOp::create(b.b, b.loc, operand.get(), at(operand));
}

Value TransposeEmitter::compute(Value vector, Value wanted) {
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    Value scalar = &operand == &src ? Value() : loadScalar(operand);
    arguments.push_back(scalar ? splat(b, side, scalar) : scalar);
  }
  arguments[src.getOperandNumber()] = vector;
  return evaluate(b, *op.getBlock(), arguments, side,
                  wanted ? ValueRange(wanted) : ValueRange())[0];
}

/// Returns the columns of `rows`; missing rows of the square are 0.
SmallVector<Value> TransposeEmitter::turn(SmallVector<Value> rows) {
  auto type = cast<VectorType>(rows[0].getType());
  // Transposes integers of the same size, because the interleaving instructions
  // are the same.
  VectorType bits =
      type.clone(b.b.getIntegerType(type.getElementTypeBitWidth()));
  auto castAll = [&](MutableArrayRef<Value> vectors, VectorType to) {
    if (bits != type)
      for (Value &vector : vectors)
        vector = vector::BitCastOp::create(b.b, b.loc, to, vector);
  };
  castAll(rows, bits);
  rows.resize(side,
              arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(bits)));
  SmallVector<Value> columns = transposeSquare(b, rows);
  castAll(columns, type);
  return columns;
}

/// Emits the first `numRows` rows and `numColumns` columns of a square.
void TransposeEmitter::emitSquare(Index firstRow, int64_t numRows,
                                  Index firstColumn, int64_t numColumns) {
  bool isFirst = computesFirst(src, dst);
  SmallVector<Value> rows;
  position[row] = firstRow;
  for (int64_t i = 0; i < numColumns; ++i) {
    position[column] = b.add(firstColumn, i);
    Value loaded = loadFirst(side, numRows, src.get(), at(src));
    rows.push_back(isFirst ? compute(loaded) : loaded);
  }
  position[column] = firstColumn;
  SmallVector<Value> columns = turn(rows);
  for (int64_t i = 0; i < numRows; ++i) {
    position[row] = b.add(firstRow, i);
    storeFirst(isFirst ? columns[i] : compute(columns[i]), numColumns,
               dst.get(), at(dst));
  }
}

/// Emits elements one by one. The shorter loop is the inner one, so that a
/// cache line is read or written at once.
void TransposeEmitter::emitElements() {
  auto emitLoops = [&](int64_t outer, int64_t inner) {
    forEach(b, 0, sizes[outer], 1, [&](Value i) {
      forEach(b, 0, sizes[inner], 1, [&](Value j) {
        position[outer] = Index(i);
        position[inner] = Index(j);
        IRMapping values;
        for (OpOperand &operand : op->getOpOperands())
          if (Value element = loadScalar(operand))
            values.map(op.getMatchingBlockArgument(&operand), element);
        for (Operation &step : op.getBlock()->without_terminator())
          b.b.clone(step, values);
        Value result = op.getBlock()->getTerminator()->getOperand(0);
        memref::StoreOp::create(b.b, b.loc, values.lookup(result), dst.get(),
                                at(dst));
      });
    });
  };
  b.branch(b.compare(arith::CmpIPredicate::slt, sizes[row], side),
           [&] { emitLoops(column, row); }, [&] { emitLoops(row, column); });
}

/// Splits `size` into squares; the last square ends at `size`. If the rest is
/// at most half a square, or `size` is less than a square, the rest is a
/// separate part.
void TransposeEmitter::forEachPart(Index size, PartFn body) {
  int64_t rest = size.value ? 0 : size.constant % side;
  bool isPart = rest != 0 && (rest <= side / 2 || size.constant < side);
  Index end = isPart ? Index(size.constant - rest) : size;
  Index last = b.add(size, -side);
  forEach(b, 0, end, side, [&](Value i) {
    body(isPart ? Index(i) : b.min(Index(i), last), side);
  });
  if (isPart)
    body(end, rest);
}

void TransposeEmitter::emitParts() {
  bool toBytes = bitsOf(src) == 32 && bitsOf(dst) == 8;
  bool fromBytes = bitsOf(src) == 8 && bitsOf(dst) == 32;
  auto emitPart = toBytes     ? &TransposeEmitter::emitToBytes
                  : fromBytes ? &TransposeEmitter::emitFromBytes
                              : &TransposeEmitter::emitSquare;
  forEachPart(sizes[row], [&](Index i, int64_t rows) {
    forEachPart(sizes[column], [&](Index j, int64_t columns) {
      (this->*emitPart)(i, rows, j, columns);
    });
  });
}

void TransposeEmitter::emit() {
  sinkConstants(b.b, op);
  if (bitsOf(src) + bitsOf(dst) == 8 + 32)
    findFew();
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(*op).createLoopRanges(b.b, b.loc);
  for (const Range &range : ranges) {
    if (std::optional<int64_t> known = getConstantIntValue(range.size))
      sizes.push_back(*known);
    else
      sizes.push_back(Index(cast<Value>(range.size)));
  }
  position.resize(sizes.size(), Index(0));
  OpBuilder::InsertionGuard guard(b.b);
  for (int64_t i = 0; i < int64_t(sizes.size()); ++i) {
    if (i == row || i == column)
      continue;
    auto loop = scf::ForOp::create(b.b, b.loc, b.get(0), b.get(sizes[i]),
                                   b.get(1));
    position[i] = Index(loop.getInductionVar());
    b.b.setInsertionPointToStart(loop.getBody());
  }
  Value areEnough;
  for (int64_t loop : {row, column})
    if (sizes[loop].value)
      areEnough = b.both(areEnough, b.compare(arith::CmpIPredicate::sge,
                                              sizes[loop], side));
  if (areEnough)
    b.branch(areEnough, [&] { emitParts(); }, [&] { emitElements(); });
  else
    emitParts();
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Returns true if elements along the last loop of `operand` are contiguous,
/// and there are several.
static bool isRow(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || !type.getElementType().isIntOrFloat() ||
      !llvm::is_contained({8, 16, 32}, bitsOf(operand)) ||
      !op.getMatchingIndexingMap(&operand).isProjectedPermutation() ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return false;
  int64_t size = op.getStaticLoopRanges()[support::lastLoopOf(op, operand)];
  return ShapedType::isDynamic(size) || size > 1;
}

/// Returns true if `operand` has one value for all lanes of a vector.
static bool isOne(linalg::GenericOp op, OpOperand &operand, int64_t loop) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  return op.getMatchingBlockArgument(&operand).use_empty() ||
         (!map.isFunctionOfDim(loop) &&
          llvm::all_of(map.getResults(), [](AffineExpr result) {
            return isa<AffineDimExpr, AffineConstantExpr>(result);
          }));
}

static bool isFor(linalg::GenericOp op) {
  OpOperand *src = support::getTransposedOperand(op);
  if (!op.hasPureBufferSemantics() || !src)
    return false;
  OpOperand &dst = *op.getDpsInitOperand(0);
  if (!isRow(op, *src) || !isRow(op, dst) ||
      !op.getMatchingIndexingMap(&dst).isPermutation() ||
      !op.getMatchingBlockArgument(&dst).use_empty())
    return false;
  bool isFirst = TransposeEmitter::computesFirst(*src, dst);
  int64_t loop = support::lastLoopOf(op, isFirst ? *src : dst);
  return llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *operand) {
                        return operand == src || isOne(op, *operand, loop);
                      }) &&
         isElementwise(op, [](Type type) {
           return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32;
         });
}

void TransposesToVectorPass::runOnOperation() {
  numWritten += emitInPlace<linalg::GenericOp, TransposeEmitter>(getOperation(),
                                                                 isFor);
}
