//===- LoopsToVector.cpp - cpu-loops-to-vector ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise ops on rows of a few vectors:
//
//     for all loops but the innermost
//       for each vector of the innermost, the last under a mask
//         the op's body, on vectors
//
// LLVM would compute the elements behind the last whole vector one by one, e.g.
// half of a row of 15 elements. Long rows are left to LLVM, which handles them
// well, unless floats are rounded to bytes:
//
//     for all loops but the innermost
//       for each block of four vectors, the last one ends with the row
//         the op's body on the block, whose bytes fill a register
//
// LLVM would store the bytes of one vector of floats at a time.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/Elementwise.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_LOOPSTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Vectors of floats whose bytes fill one vector.
static constexpr int64_t kBlockVectors = 4;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Returns true if rows are a few whole vectors, which need no mask. LLVM would
/// unroll the loop over such a row. It might then vectorize the surrounding
/// loop, which would gather and scatter single elements.
static bool isFewVectors(linalg::GenericOp op) {
  int64_t length = op.getStaticLoopRanges().back();
  return op.getNumLoops() > 1 && ShapedType::isStatic(length) &&
         length < cpu::threshold::loopLongRow &&
         length % TargetInfo::of(op).lanes == 0;
}

/// Returns true if rows of at least a block of floats are rounded to bytes.
/// Data and result have different types, and hence different buffers. So an
/// element may be computed twice.
static bool isRoundedToBytes(linalg::GenericOp op) {
  int64_t length = op.getStaticLoopRanges().back();
  if (ShapedType::isStatic(length) &&
      length < kBlockVectors * TargetInfo::of(op).lanes)
    return false;
  auto fits = [&](OpOperand &operand) {
    Type type = getElementTypeOrSelf(operand.get().getType());
    if (op.isDpsInit(&operand))
      return type.isInteger(8);
    return type.isF32() || !op.getMatchingIndexingMap(&operand).isFunctionOfDim(
                               op.getNumLoops() - 1);
  };
  return op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op->getOpOperands(), fits) &&
         llvm::any_of(*op.getBlock(), llvm::IsaPred<math::RoundEvenOp>);
}

/// Returns true if vectors of this type can be loaded. Elements of 32 bits can
/// always be loaded, because all levels have masked loads for them. Bytes can
/// be loaded only if rows are whole vectors, or blocks.
static bool hasWholeLanes(linalg::GenericOp op, Type type) {
  return type.isF32() || type.isSignlessInteger(32) ||
         (type.isInteger(8) && (isFewVectors(op) || isRoundedToBytes(op)));
}

static bool areVectors(linalg::GenericOp op) {
  int64_t inner = op.getNumLoops() - 1;
  AffineExpr last = getAffineDimExpr(inner, op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    if (op.getMatchingBlockArgument(&operand).use_empty() &&
        !op.isDpsInit(&operand))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto memref = dyn_cast<MemRefType>(operand.get().getType());
    if (!hasWholeLanes(op, getElementTypeOrSelf(operand.get().getType())))
      return false;
    if (!memref)
      continue;
    for (AffineExpr result : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(result))
        return false;
    // Excludes diagonals, which go along the last and another dimension.
    if (map.isFunctionOfDim(inner) &&
        (map.getResults().back() != last || !support::isRow(memref) ||
         llvm::is_contained(map.getResults().drop_back(), last)))
      return false;
    if (op.isDpsInit(&operand) && !map.isFunctionOfDim(inner))
      return false;
  }
  return true;
}

/// Returns true if the body calls math functions. LLVM does not vectorize all
/// of them. Without vectors, each element takes as long as a vector.
static bool hasFunctions(linalg::GenericOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &step) {
    return isa<arith::RemFOp, math::AcosOp, math::AsinOp, math::AtanOp,
               math::CosOp, math::ErfOp, math::ExpOp, math::Log1pOp,
               math::LogOp, math::SinOp, math::TanhOp>(step);
  });
}

static bool readsOrWritesBytes(linalg::GenericOp op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isInteger(8);
  });
}

static bool isFor(linalg::GenericOp op) {
  if (!op->getParentOfType<func::FuncOp>())
    return false;
  // Requires that the innermost loop is parallel. Outer loops may be
  // reductions, because they add whole rows.
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::parallel ||
      op.hasIndexSemantics())
    return false;
  int64_t length = op.getStaticLoopRanges().back();
  if (ShapedType::isStatic(length) &&
      (length < cpu::threshold::loopShortRow ||
       ((length >= cpu::threshold::loopLongRow ||
         length % TargetInfo::of(op).lanes == 0) &&
        !hasFunctions(op) && !(isFewVectors(op) && readsOrWritesBytes(op)) &&
        !isRoundedToBytes(op))))
    return false;
  // Excludes ops that only move elements. The runtime copies their data.
  return areVectors(op) && computes(op) &&
         isElementwise(op, [&](Type type) { return hasWholeLanes(op, type); });
}

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, linalg::GenericOp op)
      : b{builder, op.getLoc()}, op(op), target(TargetInfo::of(op)),
        inner(op.getNumLoops() - 1) {}

  void emit();
  void emitRow(ArrayRef<Value> outer);
  void emitBlocks(ArrayRef<Value> outer, Index length);
  void emitPiece(ArrayRef<Value> outer, const Piece &piece, int64_t lanes);
  Value load(OpOperand &operand, ArrayRef<Value> outer, const Piece &piece,
             int64_t lanes);
  SmallVector<Value> coordinates(AffineMap map, ArrayRef<Value> outer,
                                 Value at);
  bool hasInner(OpOperand &operand);

  IndexBuilder b;
  linalg::GenericOp op;
  TargetInfo target;
  int64_t inner;
};

struct LoopsToVectorPass : ingot::impl::LoopsToVectorBase<LoopsToVectorPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool Emitter::hasInner(OpOperand &operand) {
  return op.getMatchingIndexingMap(&operand).isFunctionOfDim(inner);
}

SmallVector<Value> Emitter::coordinates(AffineMap map, ArrayRef<Value> outer,
                                        Value at) {
  SmallVector<Value> found;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      found.push_back(b.get(cast<AffineConstantExpr>(result).getValue()));
    else
      found.push_back(int64_t(dim.getPosition()) == inner
                          ? at
                          : outer[dim.getPosition()]);
  }
  return found;
}

Value Emitter::load(OpOperand &operand, ArrayRef<Value> outer,
                    const Piece &piece, int64_t lanes) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto memref = dyn_cast<MemRefType>(operand.get().getType());
  if (!memref)
    return splat(b, lanes, operand.get());
  SmallVector<Value> at = coordinates(map, outer, b.get(piece.at));
  if (!hasInner(operand))
    return splat(b, lanes,
                 memref::LoadOp::create(b.b, b.loc, operand.get(), at));
  auto type = VectorType::get({lanes}, memref.getElementType());
  if (!piece.mask)
    return vector::LoadOp::create(b.b, b.loc, type, operand.get(), at);
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b.b, b.loc, type, operand.get(), at,
                                      piece.mask, zero);
}

void Emitter::emitPiece(ArrayRef<Value> outer, const Piece &piece,
                        int64_t lanes) {
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands())
    arguments.push_back(op.getMatchingBlockArgument(&operand).use_empty()
                            ? Value()
                            : load(operand, outer, piece, lanes));
  SmallVector<Value> results = evaluate(b, *op.getBlock(), arguments, lanes);
  for (auto [i, result] : llvm::enumerate(results)) {
    OpOperand &dst = *op.getDpsInitOperand(i);
    SmallVector<Value> at =
        coordinates(op.getMatchingIndexingMap(&dst), outer, b.get(piece.at));
    if (piece.mask)
      vector::MaskedStoreOp::create(b.b, b.loc, dst.get(), at, piece.mask,
                                    result);
    else
      vector::StoreOp::create(b.b, b.loc, result, dst.get(), at);
  }
}

/// Emits the row in blocks. The last block overlaps the block before it, and
/// writes some elements twice.
void Emitter::emitBlocks(ArrayRef<Value> outer, Index length) {
  const int64_t width = kBlockVectors * target.lanes;
  auto emitAll = [&] {
    const bool isWhole = !length.value && length.constant % width == 0;
    Index last = b.sub(length, width);
    forEach(b, 0, length, width, [&](Value at) {
      Index first = isWhole ? Index(at) : b.min(Index(at), last);
      emitPiece(outer, {first, {}}, width);
    });
  };
  if (!length.value)
    return emitAll();
  b.branch(b.compare(arith::CmpIPredicate::sge, length, width), emitAll, [&] {
    forEach(b, 0, length, 1, [&](Value at) {
      emitPiece(outer, {Index(at), {}}, 1);
    });
  });
}

void Emitter::emitRow(ArrayRef<Value> outer) {
  Index length = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> dim =
            map.getResultPosition(getAffineDimExpr(inner, op.getContext())))
      length = dimOf(b, operand.get(), *dim);
  }
  if (isRoundedToBytes(op))
    return emitBlocks(outer, length);
  forEachPiece(b, target, length, [&](IndexBuilder &, const Piece &piece) {
    emitPiece(outer, piece, target.lanes);
  });
}

void Emitter::emit() {
  sinkConstants(b.b, op);
  SmallVector<Value> outer;
  OpBuilder::InsertionGuard guard(b.b);
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(*op).createLoopRanges(b.b, b.loc);
  for (const Range &range : ArrayRef(ranges).drop_back()) {
    Value size = getValueOrCreateConstantIndexOp(b.b, b.loc, range.size);
    auto loop = scf::ForOp::create(b.b, b.loc, b.get(0), size, b.get(1));
    outer.push_back(loop.getInductionVar());
    b.b.setInsertionPointToStart(loop.getBody());
  }
  emitRow(outer);
}

void LoopsToVectorPass::runOnOperation() {
  numWritten += emitInPlace<linalg::GenericOp, Emitter>(getOperation(), isFor);
}
