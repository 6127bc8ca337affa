//===- LoopForm.cpp - common form of Loop and Scan ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/control/LoopForm.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/RunChecks.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

/// Extracts row `at` of a scanned value.
static Value takeRow(OpBuilder &builder, Location loc, const Scanned &scanned,
                     OpFoldResult at) {
  RankedTensorType type = typeOf(scanned.value);
  Sizes offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(builder, loc, scanned.value);
  if (support::isKnownEmpty(typeOfRow(scanned).getShape())) {
    sizes.erase(sizes.begin() + scanned.axis);
    return tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  }
  offsets[scanned.axis] = at;
  sizes[scanned.axis] = builder.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(builder, loc, typeOfRow(scanned),
                                        scanned.value, offsets, sizes, strides);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// Builds the loop of a node.
class LoopBuilder {
public:
  LoopBuilder(Node &node, const LoopForm &form)
      : node(node), form(form), builder(node.op), loc(node.loc()) {}

  FailureOr<SmallVector<Value>> build();

private:
  LogicalResult findStates();
  LogicalResult limitTrip();
  LogicalResult prepareRows(bool isCounted);
  FailureOr<SmallVector<Value>> withoutSteps();
  void buildFor();
  void buildWhile();
  SmallVector<Value> fillStep(Value number, ValueRange carried);
  FailureOr<Value> finishRows(size_t i, Value carried, Value count);
  SmallVector<Type> typesOfArguments();
  std::string rowsMessage(size_t i);
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  /// Storage of the rows of an output: one tensor with a row per step, or a
  /// list that grows.
  struct StackedOutput {
    bool isWanted = false;
    RankedTensorType row;
    int64_t axis = 0;
    Value list;
  };

  Node &node;
  const LoopForm &form;
  OpBuilder builder;
  Location loc;
  Draft draft;
  Value trip;
  SmallVector<RankedTensorType> states;
  SmallVector<StackedOutput> rows;
  /// Values that the loop carries: states, then tensors of rows.
  SmallVector<Value> carried, results;
  /// Number of steps. Computed by the loop if a condition ends it.
  Value count;
};

} // namespace

SmallVector<Type> LoopBuilder::typesOfArguments() {
  SmallVector<Type> types;
  if (form.isLoop)
    types.append({typeOfNumber(node, form), Type()});
  llvm::append_range(types, states);
  for (const Scanned &scanned : form.scanned)
    types.push_back(typeOfRow(scanned));
  return types;
}

/// Determines the types of the states and the body. The type of a state has the
/// static sizes that its initial value and its value after each step share.
LogicalResult LoopBuilder::findStates() {
  for (Value value : form.init) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return node.unsupported("state " + Twine(states.size()) +
                              " is a sequence whose shapes differ or are not "
                              "known before the first step. The steps of a "
                              "long loop may only append to it");
    states.push_back(type);
  }
  bool isDeclared = false;
  for (;;) {
    FailureOr<Draft> attempt =
        draftBody(node, form, typesOfArguments(), {}, /*quiet=*/true);
    SmallVector<RankedTensorType> next = states;
    if (failed(attempt)) {
      // Tries the types that the body declares, because a size may change from
      // step to step.
      unsigned own = form.isLoop ? 2 : 0;
      for (auto [i, type] : llvm::enumerate(next))
        if (auto both = joinTypes(
                type, dyn_cast<RankedTensorType>(
                          form.body->getArgument(own + i).getType())))
          type = both;
      if (isDeclared || next == states) {
        for (auto [type, value] : llvm::zip_equal(states, form.init))
          type = typeOf(value);
        return draftBody(node, form, typesOfArguments(), {}, /*quiet=*/false);
      }
      isDeclared = true;
      states = next;
      continue;
    }
    for (ArrayRef<Value> values : {ArrayRef<Value>(attempt->states),
                                   ArrayRef<Value>(attempt->rows)})
      for (Value value : values)
        if (!isa<RankedTensorType>(value.getType()))
          return node.unsupported("a body that gives a sequence");
    for (auto [i, type] : llvm::enumerate(next)) {
      auto after = typeOf(attempt->states[i]);
      RankedTensorType both = joinTypes(type, after);
      if (!both && type.getElementType() != after.getElementType())
        return node.invalid("state " + Twine(i) +
                            " has another element type after a step");
      if (!both)
        return node.unsupported(
            "state " + Twine(i) + " has rank " + Twine(type.getRank()) +
            " before a step and " + Twine(after.getRank()) + " after it");
      type = both;
    }
    draft = *attempt;
    if (next == states)
      return success();
    draft.op.erase();
    states = next;
  }
}

LogicalResult LoopBuilder::limitTrip() {
  trip = form.trip;
  auto goesOn = constantGoesOn(draft);
  if (goesOn && !*goesOn) {
    // The first step is the only one.
    Value one = number(1);
    trip = trip ? arith::MinSIOp::create(builder, loc, trip, one) : one;
  }
  if (!trip && goesOn)
    return node.invalid("it never ends: it has no trip count, and its "
                        "condition is always true");
  if (!trip)
    return success();
  std::string limited = "than " + std::to_string(node.maxLoopSteps) +
                        " (--limit=loop-steps)";
  // Lets the loop count its steps if a condition may end it earlier.
  if (!goesOn)
    return success();
  if (form.go)
    trip = arith::SelectOp::create(builder, loc, form.go, trip, number(0));
  if (auto known = getConstantIntValue(trip)) {
    if (*known > node.maxLoopSteps)
      return node.invalid("it has " + Twine(*known) + " steps, more " +
                          limited);
  } else {
    require(builder, loc,
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, trip,
                                  number(node.maxLoopSteps)),
            "the loop has {0} steps, more " + limited, trip);
  }
  return success();
}

std::string LoopBuilder::rowsMessage(size_t i) {
  std::string node = nodeNameOf(loc);
  return (node.empty() ? "" : "node '" + node + "': ") + "output " +
         std::to_string(form.stacked[i].output) +
         " has rows of other sizes than the first";
}

/// Creates storage for the rows of all steps.
LogicalResult LoopBuilder::prepareRows(bool isCounted) {
  auto known = trip ? getConstantIntValue(trip) : std::nullopt;
  for (auto [i, stacked] : llvm::enumerate(form.stacked)) {
    StackedOutput kept;
    kept.row = typeOf(draft.rows[i]);
    auto axis = stackedAxis(node, stacked, i, kept.row.getRank());
    if (failed(axis))
      return failure();
    kept.axis = *axis;
    kept.isWanted = node.isUsed(stacked.output);
    if (!kept.isWanted) {
      rows.push_back(kept);
      continue;
    }
    bool isBounded = isCounted;
    if (!isCounted && known && kept.row.hasStaticShape()) {
      int64_t bytes = nn::elementBytes(kept.row.getElementType());
      isBounded = !llvm::MulOverflow(bytes, *known, bytes) &&
                  !llvm::MulOverflow(bytes, kept.row.getNumElements(), bytes) &&
                  bytes <= threshold::boundedRows;
    }
    if (kept.row.hasStaticShape() && isBounded && stacked.start.empty()) {
      Sizes sizes = tensor::getMixedSizes(builder, loc, draft.rows[i]);
      sizes.insert(sizes.begin() + kept.axis, getAsOpFoldResult(trip));
      carried.push_back(tensor::EmptyOp::create(builder, loc, sizes,
                                                kept.row.getElementType()));
    } else {
      kept.list = ListOp::create(builder, loc, builder.getIndexType());
      for (Value row : stacked.start) {
        auto type = dyn_cast<RankedTensorType>(row.getType());
        if (!type || type.getRank() != kept.row.getRank() ||
            type.getElementType() != kept.row.getElementType())
          return node.unsupported("steps append to a sequence a tensor of "
                                  "another rank or type than its elements");
        AppendOp::create(builder, loc, kept.list, row, rowsMessage(i));
      }
    }
    rows.push_back(kept);
  }
  return success();
}

/// Moves the body to the insertion point, and returns the values that it
/// carries on.
SmallVector<Value> LoopBuilder::fillStep(Value step, ValueRange before) {
  PollOp::create(builder, loc);
  auto place = [&](bool isReversed) -> Value {
    if (!isReversed)
      return step;
    Value last = arith::SubIOp::create(builder, loc, trip, number(1));
    return arith::SubIOp::create(builder, loc, last, step);
  };
  SmallVector<Value> arguments;
  if (form.isLoop) {
    Value i64 = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                           step);
    arguments.push_back(tensor::FromElementsOp::create(
        builder, loc, typeOfNumber(node, form), i64));
    arguments.push_back(Value());
  }
  llvm::append_range(arguments, before.take_front(states.size()));
  for (const Scanned &scanned : form.scanned)
    arguments.push_back(
        takeRow(builder, loc, scanned, place(scanned.isReversed)));
  for (auto [argument, value] :
       llvm::zip_equal(draft.body->getArguments(), arguments))
    if (value)
      argument.replaceAllUsesWith(value);
  // Reads the results again, because replacing arguments may have changed them.
  ValueRange given = draft.body->getTerminator()->getOperands();
  size_t own = form.isLoop ? 1 : 0;
  if (form.isLoop)
    draft.goesOn = given.front();
  draft.states.assign(given.begin() + own, given.begin() + own + states.size());
  draft.rows.assign(given.begin() + own + states.size(), given.end());
  Block *block = builder.getInsertionBlock();
  block->getOperations().splice(block->end(), draft.body->getOperations(),
                                draft.body->begin(),
                                draft.body->getTerminator()->getIterator());
  SmallVector<Value> after;
  for (auto [value, type] : llvm::zip_equal(draft.states, states))
    after.push_back(castSizes(builder, loc, value, type));
  for (auto [i, kept] : llvm::enumerate(rows)) {
    if (!kept.isWanted)
      continue;
    if (kept.list) {
      AppendOp::create(builder, loc, kept.list, draft.rows[i],
                       rowsMessage(i));
      continue;
    }
    if (support::isKnownEmpty(support::shapeOf(draft.rows[i]))) {
      after.push_back(before[after.size()]);
      continue;
    }
    Sizes sizes = tensor::getMixedSizes(builder, loc, draft.rows[i]);
    sizes.insert(sizes.begin() + kept.axis, builder.getIndexAttr(1));
    Sizes offsets(sizes.size(), builder.getIndexAttr(0)),
        strides(sizes.size(), builder.getIndexAttr(1));
    offsets[kept.axis] = place(form.stacked[i].isReversed);
    after.push_back(tensor::InsertSliceOp::create(builder, loc, draft.rows[i],
                                                  before[after.size()], offsets,
                                                  sizes, strides));
  }
  return after;
}

void LoopBuilder::buildFor() {
  auto loop = scf::ForOp::create(builder, loc, number(0), trip, number(1),
                                 carried);
  Block *body = loop.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> after =
      fillStep(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, after);
  results = loop.getResults();
  count = trip;
}

void LoopBuilder::buildWhile() {
  Value go = form.go ? form.go
                     : arith::ConstantIntOp::create(builder, loc, 1, 1);
  SmallVector<Value> inits = {number(0), go};
  llvm::append_range(inits, carried);
  TypeRange types = ValueRange(inits).getTypes();
  auto loop = scf::WhileOp::create(builder, loc, types, inits);
  SmallVector<Location> locs(inits.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  Value holds = before->getArgument(1);
  if (trip)
    holds = arith::AndIOp::create(
        builder, loc, holds,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                              before->getArgument(0), trip));
  scf::ConditionOp::create(builder, loc, holds, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs);
  Value step = after->getArgument(0);
  require(builder, loc,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, step,
                                number(node.maxLoopSteps)),
          "the loop takes more than {0} steps (--limit=loop-steps)",
          number(node.maxLoopSteps));
  SmallVector<Value> next = fillStep(step, after->getArguments().drop_front(2));
  Value goesOn = onlyElement(builder, loc, draft.goesOn);
  SmallVector<Value> yielded = {
      arith::AddIOp::create(builder, loc, step, number(1)), goesOn};
  llvm::append_range(yielded, next);
  scf::YieldOp::create(builder, loc, yielded);
  count = loop.getResult(0);
  results.assign(loop.getResults().begin() + 2, loop.getResults().end());
}

/// Returns all rows of an output in the layout of the node's output.
FailureOr<Value> LoopBuilder::finishRows(size_t i, Value kept, Value count) {
  const StackedOutput &info = rows[i];
  int64_t rank = info.row.getRank() + 1;
  if (!info.list) {
    if (count == trip)
      return kept;
    // Cuts off the rows that were not written.
    Sizes sizes = tensor::getMixedSizes(builder, loc, kept);
    sizes[info.axis] = count;
    if (support::isKnownEmpty(info.row.getShape()))
      return Value(tensor::EmptyOp::create(builder, loc, sizes,
                                           info.row.getElementType()));
    return Value(tensor::ExtractSliceOp::create(
        builder, loc, kept, Sizes(rank, builder.getIndexAttr(0)), sizes,
        Sizes(rank, builder.getIndexAttr(1))));
  }
  SmallVector<int64_t> shape(info.row.getShape());
  auto known = trip && count == trip ? getConstantIntValue(trip)
                                     : std::nullopt;
  if (known)
    *known += form.stacked[i].start.size();
  shape.insert(shape.begin(), known.value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, info.row.getElementType());
  Value all = StackOp::create(builder, loc, type, info.list);
  if (form.stacked[i].isReversed) {
    Indices index{node.builder, loc};
    Value last = arith::IndexCastOp::create(
        node.builder, loc, node.builder.getI64Type(),
        index.sub(indexValue(node, sizeOf(node, all, 0)), index.n(1)));
    Value from = tensor::FromElementsOp::create(
        node.builder, loc,
        RankedTensorType::get({1}, node.builder.getI64Type()), last);
    Value order = binary<nn::SubOp>(node, from,
                                    countUp(node, {sizeOf(node, all, 0)}));
    auto reversed = node.infer<nn::GatherOp>(all, order, int64_t(0));
    if (failed(reversed))
      return failure();
    all = *reversed;
  }
  return moveAxis(node, all, 0, info.axis);
}

/// Returns the results of a loop without steps. Unknown row sizes are 0.
FailureOr<SmallVector<Value>> LoopBuilder::withoutSteps() {
  SmallVector<Value> values(form.init);
  for (auto [i, row] : llvm::enumerate(draft.rows)) {
    RankedTensorType type = typeOf(row);
    auto axis = stackedAxis(node, form.stacked[i], i, type.getRank());
    if (failed(axis))
      return failure();
    if (ArrayRef<Value> start = form.stacked[i].start; !start.empty()) {
      values.push_back(joinRows(node, start));
      if (!values.back())
        return failure();
      continue;
    }
    SmallVector<int64_t> shape(type.getShape());
    llvm::replace(shape, ShapedType::kDynamic, int64_t(0));
    shape.insert(shape.begin() + *axis, 0);
    values.push_back(tensor::EmptyOp::create(builder, loc, shape,
                                             type.getElementType()));
  }
  draft.op.erase();
  return values;
}

FailureOr<SmallVector<Value>> LoopBuilder::build() {
  if (failed(findStates()) || failed(limitTrip()))
    return failure();
  if (trip && getConstantIntValue(trip) == 0)
    return withoutSteps();
  bool isCounted = constantGoesOn(draft).has_value();
  for (auto [value, type] : llvm::zip_equal(form.init, states)) {
    Value init = castSizes(builder, loc, value, type);
    // Copies the initial value. Without the copy, canonicalization would remove
    // the cast and change the type of the loop's value.
    if (init != value)
      init = bufferization::AllocTensorOp::create(builder, loc, type,
                                                  ValueRange(), /*copy=*/init);
    carried.push_back(init);
  }
  if (failed(prepareRows(isCounted)))
    return failure();
  if (isCounted)
    buildFor();
  else
    buildWhile();
  draft.op.erase();
  SmallVector<Value> values(ArrayRef(results).take_front(states.size()));
  size_t next = states.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].isWanted) {
      values.push_back(Value());
      continue;
    }
    FailureOr<Value> all = finishRows(
        i, rows[i].list ? Value() : results[next++], count);
    if (failed(all))
      return failure();
    values.push_back(*all);
  }
  return values;
}

FailureOr<SmallVector<Value>> legalize::buildLoop(Node &node,
                                                  const LoopForm &form) {
  return LoopBuilder(node, form).build();
}
