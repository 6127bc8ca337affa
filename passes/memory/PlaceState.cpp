//===- PlaceState.cpp - ingot-place-state --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives the results of branches and the state of loops a place. If the size is
// known, all branches or steps share one place, so that a run allocates
// nothing. If the size is open, each branch and each step creates its own
// tensor. plan-memory then releases the tensor of the previous step.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Passes.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_PLACESTATE
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

static RankedTensorType tensorTypeOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Returns true if `writer` may overwrite `tensor`. Before `writer`, other
/// users may read only the size of the tensor, or elements of the tensor or of
/// its slices.
static bool mayOverwrite(Operation *writer, Value tensor) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *reader = use.getOwner();
    if (reader == writer || isa<tensor::DimOp>(reader))
      return true;
    if (auto part = dyn_cast<tensor::ExtractSliceOp>(reader))
      return mayOverwrite(writer, part);
    Operation *there = writer->getBlock()->findAncestorOpInBlock(*reader);
    return isa<tensor::ExtractOp>(reader) && there && there != writer &&
           there->isBeforeInBlock(writer);
  });
}

/// Returns the value that shares its place with `value`. Follows ops that are
/// certain to write in place.
static Value rootOf(Value value) {
  for (;;) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return value;
    Operation *op = result.getOwner();
    Value written;
    if (auto put = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      value = put.getDest();
      continue;
    }
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      written = destination.getTiedOpOperand(result)->get();
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      written = insert.getDest();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      written = loop.getTiedLoopInit(result)->get();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned i = result.getResultNumber();
      Value then = rootOf(branch.thenYield().getOperand(i)),
            otherwise = rootOf(branch.elseYield().getOperand(i));
      if (then != otherwise ||
          then.getParentRegion() == &branch.getThenRegion())
        return value;
      value = then;
      continue;
    }
    if (!written || !mayOverwrite(op, written))
      return value;
    value = written;
  }
}

static Value copyOf(OpBuilder &builder, Location loc, Value value) {
  return bufferization::AllocTensorOp::create(
      builder, loc, tensorTypeOf(value), ValueRange(), /*copy=*/value);
}

static Value put(OpBuilder &builder, Location loc, Value value, Value where) {
  return bufferization::MaterializeInDestinationOp::create(
             builder, loc, where.getType(), value, where)
      .getResult();
}

static bool isStatic(Value value) {
  return tensorTypeOf(value).hasStaticShape();
}

/// Gives the results of the branches one common place, or a place in each
/// branch.
static void placeBranches(scf::IfOp op) {
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    // Skip a result that both branches already write to one place.
    if (!tensorTypeOf(result) || rootOf(result) != result)
      continue;
    OpBuilder builder(op);
    Value place;
    // Do not use an empty tensor, because later each of its uses gets its own
    // empty tensor.
    if (isStatic(result))
      place = bufferization::AllocTensorOp::create(
          builder, op.getLoc(), tensorTypeOf(result), ValueRange());
    for (Region &region : op->getRegions()) {
      Operation *yield = region.front().getTerminator();
      builder.setInsertionPoint(yield);
      Value value = yield->getOperand(i);
      yield->setOperand(i, place ? put(builder, op.getLoc(), value, place)
                                 : copyOf(builder, op.getLoc(), value));
    }
  }
}

/// Turns a select between tensors back into a branch, because canonicalization
/// creates such selects. With a select, both tensors must share a buffer with
/// the result. With a branch, they need not.
static void placeChoice(arith::SelectOp op) {
  OpBuilder builder(op);
  auto branch = scf::IfOp::create(
      builder, op.getLoc(), op.getCondition(),
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, op.getTrueValue());
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, op.getFalseValue());
      });
  op.replaceAllUsesWith(branch.getResult(0));
  op.erase();
  placeBranches(branch);
}

/// Gives loop state a place. `arguments` are the state at the start of a step,
/// `next` are the values that the terminator passes to the next step.
static void placeCarried(Operation *loop, MutableOperandRange inits,
                         ValueRange arguments,
                         MutableArrayRef<OpOperand> next) {
  OpBuilder before(loop), after(next.front().getOwner());
  Location loc = loop->getLoc();
  SmallVector<unsigned> kept;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    OpOperand &value = next[i];
    if (!tensorTypeOf(argument) || rootOf(value.get()) == argument)
      continue;
    if (!isStatic(argument)) {
      Value init = inits[i].get();
      if (!init.getDefiningOp<bufferization::AllocTensorOp>() ||
          !init.hasOneUse())
        inits[i].set(copyOf(before, loc, init));
      value.set(copyOf(after, loc, value.get()));
      continue;
    }
    // Copy another state's argument, because it is overwritten as well.
    if (llvm::is_contained(arguments, value.get()))
      value.set(copyOf(after, loc, value.get()));
    kept.push_back(i);
  }
  // Overwrite the state after the step has read all of it.
  for (unsigned i : kept)
    next[i].set(put(after, loc, next[i].get(), arguments[i]));
}

/// Makes both regions of the loop take the same values in the same order, as
/// bufferization requires. Canonicalization removes the values that a region
/// does not need.
static scf::WhileOp alignRegions(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  if (llvm::equal(condition.getArgs(), loop.getBeforeArguments()))
    return loop;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits(loop.getInits());
  SmallVector<Value> given(loop.getBeforeArguments()),
      yielded(loop.getYieldOp().getResults());
  // For each value that the condition passes on: its index in `given`, or the
  // value itself if it is defined outside.
  SmallVector<std::pair<unsigned, Value>> places;
  for (Value value : condition.getArgs()) {
    auto *same = llvm::find(given, value);
    if (same == given.end() &&
        value.getParentRegion() != &loop.getBefore()) {
      places.push_back({0, value});
      continue;
    }
    if (same == given.end()) {
      // Pass any initial value, because the condition computes the value before
      // it is read.
      Value none;
      if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
        none = tensor::EmptyOp::create(
            builder, loc, tensor.getShape(), tensor.getElementType());
      else
        none = arith::ConstantOp::create(
            builder, loc, builder.getZeroAttr(value.getType()));
      inits.push_back(none);
      yielded.push_back(none);
      same = given.insert(given.end(), value);
    }
    places.push_back({unsigned(same - given.begin()), Value()});
  }
  auto aligned =
      scf::WhileOp::create(builder, loc, ValueRange(inits).getTypes(), inits);
  aligned.getBefore().takeBody(loop.getBefore());
  aligned.getAfter().takeBody(loop.getAfter());
  Block *before = aligned.getBeforeBody(), *after = aligned.getAfterBody();
  unsigned had = before->getNumArguments(), took = after->getNumArguments();
  for (Value init : ArrayRef(inits).drop_front(had))
    before->addArgument(init.getType(), loc);
  for (Value init : inits)
    after->addArgument(init.getType(), loc);
  condition.getArgsMutable().assign(given);
  for (auto [i, place] : llvm::enumerate(places)) {
    after->getArgument(i).replaceAllUsesWith(
        place.second ? place.second : after->getArgument(took + place.first));
    loop.getResult(i).replaceAllUsesWith(
        place.second ? place.second : aligned.getResult(place.first));
  }
  auto yield = cast<scf::YieldOp>(after->getTerminator());
  // Read the results again, because they were just replaced.
  SmallVector<Value> next(yield.getResults());
  next.append(yielded.begin() + had, yielded.end());
  yield.getResultsMutable().assign(next);
  after->eraseArguments(0, took);
  loop.erase();
  return aligned;
}

namespace {
struct PlaceStatePass : ingot::impl::PlaceStateBase<PlaceStatePass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      auto choice = dyn_cast<arith::SelectOp>(op);
      if (choice && tensorTypeOf(choice) &&
          choice.getCondition().getType().isInteger(1)) {
        placeChoice(choice);
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        placeBranches(branch);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        // Skips loops inside of a single node, which already work in place.
        bool isOfModel = !loop.getBody()->getOps<PollOp>().empty();
        if (isOfModel && loop.getNumRegionIterArgs() != 0)
          placeCarried(op, loop.getInitArgsMutable(), loop.getRegionIterArgs(),
                       *loop.getYieldedValuesMutable());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        loop = alignRegions(loop);
        if (loop.getNumOperands() == 0)
          return;
        placeCarried(loop, loop.getInitsMutable(), loop.getAfterArguments(),
                     loop.getYieldOp()->getOpOperands());
      }
    });
  }
};
} // namespace
