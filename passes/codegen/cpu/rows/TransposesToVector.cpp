//===- TransposesToVector.cpp - cpu-transposes-to-vector ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for all loops but those of the rows and of the columns
//   for square of rows and columns: load its rows, turn them in registers,
//     store its columns
//
// The last square of a row or column ends with it: what it shares with the one
// before is written twice. Known sizes that leave less than half a square, or
// have less than one, are a part of one. Where only a run knows that there are
// fewer rows or columns than a square has, elements go one by one.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/rows/Rows.h"
#include "passes/codegen/cpu/rows/Transposes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/bit.h"

#include <numeric>

namespace ingot {
#define GEN_PASS_DEF_TRANSPOSESTOVECTOR
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, linalg::GenericOp op)
      : b{builder, op.getLoc()}, op(op), target(TargetInfo::of(op)) {}

  void emit();
  void forEachPart(Index size, int64_t side,
                   function_ref<void(Index first, int64_t count)> body);
  void emitSquare(Index row, int64_t rows, Index column, int64_t columns,
                  int64_t side);
  Value loadFirst(VectorType type, int64_t count);
  void storeFirst(Value vector, int64_t count);
  void emitElements(int64_t side);
  SmallVector<Value> at(int64_t operand);

  IndexBuilder b;
  linalg::GenericOp op;
  TargetInfo target;
  /// The loops along which src and dst are contiguous.
  int64_t row = 0, column = 0;
  SmallVector<Index> sizes, position;
};

struct TransposesToVectorPass
    : ingot::impl::TransposesToVectorBase<TransposesToVectorPass> {
  void runOnOperation() override;
};

} // namespace

static int64_t bitsOf(linalg::GenericOp op) {
  return getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth();
}

/// The side of a square: rows of 128 bits, or of 256 where elements have 32.
static int64_t sideOf(linalg::GenericOp op, const TargetInfo &target) {
  int64_t bits = bitsOf(op);
  return bits == 32 ? squareOf(target) : 128 / bits;
}

/// `count` as a sum of powers of two, the largest first: each, and what is
/// before it.
static void forEachPower(int64_t count,
                         function_ref<void(int64_t from, int64_t size)> body) {
  for (int64_t from = 0; from < count;) {
    int64_t size = llvm::bit_floor(uint64_t(count - from));
    body(from, size);
    from += size;
  }
}

SmallVector<Value> Emitter::at(int64_t operand) {
  SmallVector<Value> found;
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  for (AffineExpr result : map.getResults())
    found.push_back(
        b.get(position[cast<AffineDimExpr>(result).getPosition()]));
  return found;
}

/// The first `count` elements of a vector of src.
Value Emitter::loadFirst(VectorType type, int64_t count) {
  Value src = op->getOperand(0);
  if (count == type.getDimSize(0))
    return vector::LoadOp::create(b.b, b.loc, type, src, at(0));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  // Vectors of 32 bits are what every level loads under a mask.
  if (bitsOf(op) == 32)
    return vector::MaskedLoadOp::create(
        b.b, b.loc, type, src, at(0),
        maskOfFirst(b, type.getDimSize(0), count), zero);
  Value joined = zero;
  SmallVector<Value> coordinates = at(0);
  Index first(coordinates.back());
  forEachPower(count, [&](int64_t from, int64_t size) {
    coordinates.back() = b.get(b.add(first, from));
    Value part = vector::LoadOp::create(
        b.b, b.loc, VectorType::get({size}, type.getElementType()), src,
        coordinates);
    // As many lanes as the others have first.
    SmallVector<int64_t> spread(type.getDimSize(0), 0), lanes;
    std::iota(spread.begin(), spread.begin() + size, 0);
    part = vector::ShuffleOp::create(b.b, b.loc, part, part, spread);
    for (int64_t i = 0; i < type.getDimSize(0); ++i)
      lanes.push_back(i < from ? i : type.getDimSize(0) + (i - from) % size);
    joined = vector::ShuffleOp::create(b.b, b.loc, joined, part, lanes);
  });
  return joined;
}

/// Stores them in dst. Masked stores take some CPUs longer than a few whole
/// ones.
void Emitter::storeFirst(Value vector, int64_t count) {
  Value dst = op->getOperand(1);
  SmallVector<Value> coordinates = at(1);
  Index first(coordinates.back());
  forEachPower(count, [&](int64_t from, int64_t size) {
    coordinates.back() = b.get(b.add(first, from));
    Value part = vector;
    if (size != cast<VectorType>(vector.getType()).getDimSize(0))
      part = vector::ShuffleOp::create(
          b.b, b.loc, vector, vector,
          llvm::to_vector(llvm::seq<int64_t>(from, from + size)));
    vector::StoreOp::create(b.b, b.loc, part, dst, coordinates);
  });
}

/// The first `numRows` rows and `numColumns` columns of a square.
void Emitter::emitSquare(Index firstRow, int64_t numRows, Index firstColumn,
                         int64_t numColumns, int64_t side) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  auto type = VectorType::get({side}, element);
  // Instructions that interleave do not ask what they move.
  auto bits = VectorType::get({side}, b.b.getIntegerType(bitsOf(op)));
  SmallVector<Value> rows(
      side, arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(bits)));
  position[row] = firstRow;
  for (int64_t i = 0; i < numColumns; ++i) {
    position[column] = b.add(firstColumn, i);
    Value loaded = loadFirst(type, numRows);
    rows[i] = bits == type
                  ? loaded
                  : vector::BitCastOp::create(b.b, b.loc, bits, loaded);
  }
  position[column] = firstColumn;
  SmallVector<Value> turned = transposeSquare(b, rows);
  for (int64_t i = 0; i < numRows; ++i) {
    position[row] = b.add(firstRow, i);
    Value stored = bits == type ? turned[i]
                                : vector::BitCastOp::create(b.b, b.loc, type,
                                                            turned[i]);
    storeFirst(stored, numColumns);
  }
}

/// Those of the shorter loop one after the other, so that a line is read or
/// written at once.
void Emitter::emitElements(int64_t side) {
  auto emitLoops = [&](int64_t outer, int64_t inner) {
    forEach(b, 0, sizes[outer], 1, [&](Value i) {
      forEach(b, 0, sizes[inner], 1, [&](Value j) {
        position[outer] = Index(i);
        position[inner] = Index(j);
        Value moved =
            memref::LoadOp::create(b.b, b.loc, op->getOperand(0), at(0));
        memref::StoreOp::create(b.b, b.loc, moved, op->getOperand(1), at(1));
      });
    });
  };
  b.branch(b.compare(arith::CmpIPredicate::slt, sizes[row], side),
           [&] { emitLoops(column, row); }, [&] { emitLoops(row, column); });
}

/// Splits `size` into squares, the last of which ends with it, and what is less
/// than half a square or all that there is.
void Emitter::forEachPart(
    Index size, int64_t side,
    function_ref<void(Index first, int64_t count)> body) {
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

void Emitter::emit() {
  auto lastLoop = [&](int64_t operand) -> int64_t {
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
    return cast<AffineDimExpr>(map.getResults().back()).getPosition();
  };
  row = lastLoop(0), column = lastLoop(1);
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
  int64_t side = sideOf(op, target);
  auto emitSquares = [&] {
    forEachPart(sizes[row], side, [&](Index i, int64_t rows) {
      forEachPart(sizes[column], side, [&](Index j, int64_t columns) {
        emitSquare(i, rows, j, columns, side);
      });
    });
  };
  Value areEnough;
  for (int64_t loop : {row, column})
    if (sizes[loop].value)
      areEnough = b.both(areEnough, b.compare(arith::CmpIPredicate::sge,
                                              sizes[loop], side));
  if (areEnough)
    b.branch(areEnough, emitSquares, [&] { emitElements(side); });
  else
    emitSquares();
}

//===----------------------------------------------------------------------===//
// For what
//===----------------------------------------------------------------------===//

static bool isFor(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() < 2 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op.getBlock()->getTerminator()->getOperand(0) !=
          op.getBlock()->getArgument(0))
    return false;
  Type element = getElementTypeOrSelf(op->getOperand(0));
  if (!element.isIntOrFloat() ||
      !llvm::is_contained({8, 16, 32}, element.getIntOrFloatBitWidth()))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> last;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || !map.isProjectedPermutation() || map.getNumResults() == 0 ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
    last.push_back(map.getResults().back());
    int64_t size = ranges[cast<AffineDimExpr>(last.back()).getPosition()];
    if (ShapedType::isStatic(size) && size < 2)
      return false;
  }
  // A row of src that is a row of dst is copied; dst has all loops.
  return last[0] != last[1] &&
         op.getMatchingIndexingMap(&op->getOpOperand(0)).isFunctionOfDim(
             cast<AffineDimExpr>(last[1]).getPosition()) &&
         op.getMatchingIndexingMap(&op->getOpOperand(1)).isPermutation();
}

void TransposesToVectorPass::runOnOperation() {
  numWritten += emitInPlace<linalg::GenericOp, Emitter>(getOperation(), isFor);
}
