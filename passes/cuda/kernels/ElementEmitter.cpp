//===- ElementEmitter.cpp - elements of linalg ops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/ElementEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

std::optional<int64_t> cuda::staticSteps(linalg::LinalgOp op,
                                         ArrayRef<unsigned> loops) {
  int64_t steps = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    steps *= ranges[loop];
  }
  return steps;
}

Value cuda::stepsOf(OpBuilder &b, linalg::LinalgOp op, unsigned loop,
                    const IRMapping &values) {
  Location loc = op.getLoc();
  const int64_t range = op.getStaticLoopRanges()[loop];
  if (!ShapedType::isDynamic(range))
    return arith::ConstantIndexOp::create(b, loc, range);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (map.getResult(i) == b.getAffineDimExpr(loop))
        return memref::DimOp::create(b, loc,
                                     values.lookupOrDefault(operand.get()), i);
  }
  llvm_unreachable("an operand of a linalg op has each loop as a dimension");
}

Value cuda::countSteps(OpBuilder &b, linalg::LinalgOp op,
                       ArrayRef<unsigned> loops, const IRMapping &values) {
  Location loc = op.getLoc();
  if (std::optional<int64_t> steps = staticSteps(op, loops))
    return arith::ConstantIndexOp::create(b, loc, *steps);
  Value count;
  for (unsigned loop : loops) {
    Value steps = stepsOf(b, op, loop, values);
    count =
        count ? arith::MulIOp::create(b, loc, count, steps).getResult() : steps;
  }
  return count;
}

ElementEmitter::ElementEmitter(OpBuilder &b, linalg::LinalgOp op,
                               const IRMapping &outside)
    : b(b), op(op), loc(op.getLoc()), values(outside),
      indices(op.getNumLoops()), parallel(parallelLoops(op)) {}

SmallVector<unsigned> ElementEmitter::parallelLoops(linalg::LinalgOp op) {
  llvm::SetVector<unsigned> loops;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      loops.insert(dim.getPosition());
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      loops.insert(unsigned(i));
  return llvm::to_vector(loops);
}

SmallVector<unsigned> ElementEmitter::reductionLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> parallel = parallelLoops(op), others;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(parallel, loop))
      others.push_back(loop);
  return others;
}

/// Computes the indices of `operand` and returns its memref.
Value ElementEmitter::address(OpOperand &operand, Values &at) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    at.push_back(affine::makeComposedAffineApply(
                     b, loc, map.getSubMap({i}),
                     llvm::map_to_vector(
                         indices, [](Value v) { return OpFoldResult(v); }))
                     ->getResult(0));
  return values.lookup(operand.get());
}

Value ElementEmitter::load(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType()))
    return values.lookupOrDefault(operand.get());
  Values at;
  Value memref = address(operand, at);
  return memref::LoadOp::create(b, loc, memref, at);
}

void ElementEmitter::store(ArrayRef<Value> results) {
  for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), results)) {
    Values at;
    Value memref = address(init, at);
    memref::StoreOp::create(b, loc, value, memref, at);
  }
}

Values ElementEmitter::compute(ArrayRef<Value> sums) {
  Block &body = *op.getBlock();
  IRMapping inner(values);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (Value known = elements.lookup(operand.getOperandNumber())) {
      inner.map(argument, known);
      continue;
    }
    inner.map(
        argument,
        op.isDpsInit(&operand)
            ? sums[operand.getOperandNumber() - unsigned(op.getNumDpsInputs())]
            : load(operand));
  }
  for (Operation &inside : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inside))
      inner.map(index.getResult(), indices[index.getDim()]);
    else
      b.clone(inside, inner);
  }
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return inner.lookupOrDefault(value); });
}

/// Emits loops around the body for the elements at `places`. `sums` are the
/// values of their results before the loops.
SmallVector<Values> ElementEmitter::reduce(ArrayRef<unsigned> loops,
                                           ArrayRef<Value> places,
                                           ArrayRef<Values> sums) {
  if (loops.empty()) {
    SmallVector<Values> results;
    for (auto [place, own] : llvm::zip_equal(places, sums)) {
      moveTo(place);
      results.push_back(compute(own));
    }
    return results;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = stepsOf(b, op, loops.front(), values);
  Values carried;
  for (const Values &own : sums)
    llvm::append_range(carried, own);
  const size_t numResults = sums.front().size();
  auto split = [&](ValueRange values) {
    SmallVector<Values> parts;
    for (size_t i = 0; i < values.size(); i += numResults)
      parts.emplace_back(values.slice(i, numResults));
    return parts;
  };
  auto loop = scf::ForOp::create(b, loc, zero, end, one, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[loops.front()] = loop.getInductionVar();
  Values next;
  for (const Values &own :
       reduce(loops.drop_front(), places, split(loop.getRegionIterArgs())))
    llvm::append_range(next, own);
  scf::YieldOp::create(b, loc, next);
  return split(loop.getResults());
}

void ElementEmitter::delinearize(Value number, ArrayRef<unsigned> loops,
                                 int64_t count) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!loops.empty() && count > 1)
    ranges[loops.back()] /= count;
  // Divisions of 32 bits take a third of the instructions of 64 bits.
  std::optional<int64_t> elements = staticSteps(op, loops);
  Type type = b.getIndexType();
  if (elements && *elements / count <= std::numeric_limits<int32_t>::max()) {
    type = b.getI32Type();
    number = arith::IndexCastUIOp::create(b, loc, type, number);
  }
  for (unsigned loop : llvm::reverse(loops)) {
    Value index = number;
    if (loop != loops.front()) {
      Value range = ShapedType::isDynamic(ranges[loop])
                        ? stepsOf(b, op, loop, values)
                        : arith::ConstantOp::create(
                              b, loc, b.getIntegerAttr(type, ranges[loop]))
                              .getResult();
      index = arith::RemUIOp::create(b, loc, number, range);
      number = arith::DivUIOp::create(b, loc, number, range);
    }
    if (!index.getType().isIndex())
      index = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), index);
    indices[loop] = index;
  }
}

Values ElementEmitter::loadInits() {
  Values inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    // Without a reduction, an unused value need not be read.
    bool isUsed =
        op.getNumReductionLoops() != 0 || op.payloadUsesValueFromOperand(&init);
    inits.push_back(isUsed ? load(init) : Value());
  }
  return inits;
}

/// Sets the index of the last parallel loop.
void ElementEmitter::moveTo(Value place) {
  if (!parallel.empty())
    indices[parallel.back()] = place;
}

void ElementEmitter::emit(Value number, int64_t count) {
  delinearize(number, parallel, count);
  Values places{parallel.empty() ? Value() : indices[parallel.back()]};
  if (count > 1) {
    Value first = arith::MulIOp::create(
        b, loc, places.front(), arith::ConstantIndexOp::create(b, loc, count));
    places.front() = first;
    for (int64_t i = 1; i < count; ++i)
      places.push_back(arith::AddIOp::create(
          b, loc, first, arith::ConstantIndexOp::create(b, loc, i)));
  }
  // All elements are computed before the first is stored, so that LLVM can join
  // their loads.
  SmallVector<Values> sums;
  for (Value place : places) {
    moveTo(place);
    sums.push_back(loadInits());
  }
  for (auto [place, results] :
       llvm::zip_equal(places, reduce(reductionLoops(op), places, sums))) {
    moveTo(place);
    store(results);
  }
}
