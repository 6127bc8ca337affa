//===- RecurrentLoop.cpp - what a loop over time computes -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/RecurrentLoop.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::kernel;
using namespace ingot::support;

static Value throughCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

Reason RecurrentLoop::match() {
  for (auto matched : {&RecurrentLoop::matchStates, &RecurrentLoop::matchSteps,
                       &RecurrentLoop::matchProducts})
    if (Reason reason = (this->*matched)())
      return reason;
  if (!buildCells())
    return "computes units of its states from more than their own columns";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts of the loop
//===----------------------------------------------------------------------===//

Reason RecurrentLoop::matchStates() {
  if (getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return "does not count steps from 0";
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool isLast = argument == loop.getRegionIterArgs().back();
    if (!type || !type.getElementType().isF32() ||
        (type.getRank() != 2 && !(isLast && type.getRank() == 3)))
      return "carries something else than states of f32";
    stores = type.getRank() == 3;
    if (stores)
      break;
    if (numStates == 0)
      hidden = type.getShape().back();
    if (ShapedType::isDynamic(hidden) || hidden == 0 ||
        type.getShape().back() != hidden)
      return "carries states of open or different sizes";
    ++numStates;
  }
  if (numStates == 0)
    return "carries no state";
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isMemoryEffectFree(&op) &&
        !isa<bufferization::MaterializeInDestinationOp>(op))
      return "does something else in its steps";
  for (auto [value, state] :
       llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs())) {
    if (int64_t(results.size()) == numStates)
      break;
    auto stored =
        value.getDefiningOp<bufferization::MaterializeInDestinationOp>();
    if (stored && stored.getDest() != state)
      return "stores a state elsewhere";
    results.push_back(throughCasts(stored ? stored.getSource() : value));
  }
  return std::nullopt;
}

/// Returns true if `index` is the step, counted from either end.
bool RecurrentLoop::isStep(Value index) {
  if (index == loop.getInductionVar())
    return true;
  auto difference = index.getDefiningOp<arith::SubIOp>();
  if (!difference || difference.getRhs() != loop.getInductionVar())
    return false;
  isReverse = true;
  Value last = difference.getLhs(), count = loop.getUpperBound();
  if (std::optional<int64_t> steps = getConstantIntValue(count))
    return getConstantIntValue(last) == *steps - 1;
  auto isCountLessOne = [&](auto op, int64_t one) {
    return op && op.getLhs() == count &&
           getConstantIntValue(op.getRhs()) == one;
  };
  return isCountLessOne(last.getDefiningOp<arith::SubIOp>(), 1) ||
         isCountLessOne(last.getDefiningOp<arith::AddIOp>(), -1);
}

/// Returns true if a slice of a rank-3 tensor is exactly one step.
template <typename Slice>
static bool isWholeStep(Slice slice, int64_t columns) {
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                            sizes = slice.getMixedSizes();
  return offsets.size() == 3 && getConstantIntValue(offsets[1]) == 0 &&
         getConstantIntValue(offsets[2]) == 0 &&
         getConstantIntValue(sizes[0]) == 1 &&
         getConstantIntValue(sizes[2]) == columns && slice.hasUnitStride() &&
         isa<Value>(offsets[0]);
}

Reason RecurrentLoop::matchSteps() {
  for (auto slice : loop.getBody()->getOps<tensor::ExtractSliceOp>()) {
    if (!loop.isDefinedOutsideOfLoop(slice.getSource()))
      continue;
    if (part)
      return "reads several parts of a step";
    part = slice;
  }
  if (!part || part.getSourceType().getRank() != 3 ||
      part.getType().getRank() != 2)
    return "reads no part of a step";
  RankedTensorType type = part.getSourceType();
  int64_t columns = type.getShape().back();
  if (!type.getElementType().isF32() || ShapedType::isDynamic(columns) ||
      columns == 0 || columns % hidden != 0 || !isWholeStep(part, columns))
    return "reads a part of a step that is not a row of gates";
  step = cast<Value>(part.getMixedOffsets()[0]);
  if (!isStep(step))
    return "does not take one step after the other";
  Value shown = results.front();
  if (stores) {
    auto insert =
        loop.getYieldedValues().back().getDefiningOp<tensor::InsertSliceOp>();
    if (!insert || insert.getDest() != loop.getRegionIterArgs().back() ||
        insert.getSourceType().getRank() != 2 || !isWholeStep(insert, hidden) ||
        cast<Value>(insert.getMixedOffsets()[0]) != step)
      return "stores something else than its steps";
    shown = throughCasts(insert.getSource());
  }
  results.insert(results.begin(), shown);
  return std::nullopt;
}

Reason RecurrentLoop::matchProducts() {
  nn::MatMulOp late;
  for (auto product : loop.getBody()->getOps<nn::MatMulOp>()) {
    if (Reason reason = backend.whyNot(product))
      return reason;
    RankedTensorType weights = typeOf(product.getB());
    if (!nn::getConstant(product.getB()) || product.getTransposeA() ||
        typeOf(product.getY()).getRank() != 2)
      return "has products with other than constant weights of f32";
    int64_t depth = weights.getDimSize(product.getTransposeB() ? 1 : 0);
    int64_t columns = weights.getDimSize(product.getTransposeB() ? 0 : 1);
    if (depth != hidden || columns % hidden != 0 || columns == 0)
      return "has recurrent weights that are not rows of gates";
    weightBytes += 4 * depth * columns;
    if (throughCasts(product.getA()) == loop.getRegionIterArgs().front()) {
      products.push_back(product);
      continue;
    }
    if (late)
      return "has several products that read results of other products";
    late = product;
  }
  if (products.empty())
    return "has no product of its first state";
  if (late) {
    products.push_back(late);
    reset.emplaceBlock();
  }
  for (nn::MatMulOp product : products)
    gates.push_back(typeOf(product.getY()).getShape().back() / hidden);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The cell
//===----------------------------------------------------------------------===//

/// Returns the number of products that a body reads.
int64_t RecurrentLoop::numProducts(Region &region) {
  int64_t sum = 0;
  for (int64_t count : ArrayRef(gates).drop_back(&region == &reset ? 1 : 0))
    sum += count;
  return sum;
}

/// Returns the number of gates that the input adds to.
int64_t RecurrentLoop::numInputs() {
  return part.getSourceType().getShape().back() / hidden;
}

/// Returns true if `value` is the condition that a sequence has this step. One
/// length for several sequences is no such condition.
bool RecurrentLoop::isMask(Value value) {
  auto less = value.getDefiningOp<nn::LessOp>();
  if (!less || !typeOf(value).getElementType().isInteger(1))
    return false;
  auto number = less.getA().getDefiningOp<tensor::FromElementsOp>();
  if (!number || number.getElements().size() != 1)
    return false;
  auto cast = number.getElements()[0].getDefiningOp<arith::IndexCastOp>();
  RankedTensorType type = typeOf(less.getB());
  if (!cast || cast.getIn() != step || type.getRank() != 2 ||
      type.getDimSize(1) != 1 || !type.getElementType().isInteger(64) ||
      (!type.isDynamicDim(0) &&
       type.getDimSize(0) != part.getType().getDimSize(0)) ||
      !loop.isDefinedOutsideOfLoop(less.getB()) ||
      (lengths && lengths != less.getB()))
    return false;
  lengths = less.getB();
  return true;
}

/// Adds the block arguments of a body. Operands of the columns are added later,
/// when they are found. They come before the argument for the condition that
/// the sequence has the step.
Block *RecurrentLoop::startBody(Region &region) {
  if (region.empty())
    region.emplaceBlock();
  Block &body = region.front();
  int64_t count = numProducts(region) + numInputs() + numStates;
  Type f32 = Float32Type::get(loop.getContext());
  for (int64_t i = 0; i < count; ++i)
    body.addArgument(f32, loop.getLoc());
  if (lengths)
    body.addArgument(IntegerType::get(loop.getContext(), 1), loop.getLoc());
  return &body;
}

Value RecurrentLoop::operandOf(Region &region, Value value, int64_t offset) {
  RankedTensorType type = typeOf(value);
  if (!type.getElementType().isF32() || type.getRank() != 1 ||
      type.getDimSize(0) < offset + hidden ||
      !loop.isDefinedOutsideOfLoop(value))
    return {};
  std::pair<Value, int64_t> operand{value, offset};
  auto *found = llvm::find(operands, operand);
  size_t number = found - operands.begin();
  if (found == operands.end()) {
    operands.push_back(operand);
    for (Region *each : {&cell, &reset}) {
      if (each->empty())
        continue;
      Block &body = each->front();
      body.insertArgument(body.getNumArguments() - (lengths ? 1 : 0),
                          type.getElementType(), loop.getLoc());
    }
  }
  Block &body = region.front();
  size_t first = body.getNumArguments() - (lengths ? 1 : 0) - operands.size();
  return body.getArgument(first + number);
}

Value RecurrentLoop::buildElementwise(Region &region,
                                      nn::ElementwiseOpInterface op,
                                      int64_t offset) {
  // An empty region has no context, so take the loop's.
  OpBuilder b(loop.getContext());
  b.setInsertionPointToEnd(&region.front());
  SmallVector<Value> arguments;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = typeOf(operand);
    Value argument;
    if (std::optional<double> number = nn::getSplat(operand))
      argument = nn::scalar(b, op->getLoc(),
                            nn::signless(type.getElementType()), *number);
    else if (type.getRank() == 1)
      argument = operandOf(region, operand, offset);
    else
      argument = scalarOf(region, operand, offset);
    if (!argument)
      return {};
    arguments.push_back(argument);
  }
  b.setInsertionPointToEnd(&region.front());
  Value result = op.buildScalar(b, arguments);
  if (!result || !(result.getType().isF32() || result.getType().isInteger(1)))
    return {};
  return result;
}

Value RecurrentLoop::buildScalar(Region &region, Value value, int64_t offset) {
  Block &body = region.front();
  if (lengths && isMask(value))
    return body.getArguments().back();
  RankedTensorType type = typeOf(value);
  if (type.getRank() != 2 || type.getShape().back() < offset + hidden)
    return {};
  int64_t products = numProducts(region);
  int64_t inputs = numInputs();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != loop.getBody() || offset != 0)
      return {};
    return body.getArgument(products + inputs + argument.getArgNumber() - 1);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody())
    return {};
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return scalarOf(region, cast.getSource(), offset);
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    ArrayRef<int64_t> starts = slice.getStarts(), steps = slice.getSteps();
    int64_t size = slice.getSizes()[0];
    if (starts[0] != 0 || steps[0] != 1 || steps[1] != 1 ||
        (size != -1 && size != typeOf(slice.getX()).getDimSize(0)))
      return {};
    return scalarOf(region, slice.getX(), offset + starts[1]);
  }
  if (auto elementwise = dyn_cast<nn::ElementwiseOpInterface>(op))
    return buildElementwise(region, elementwise, offset);
  // All other operands are gates.
  if (offset % hidden != 0)
    return {};
  int64_t gate = offset / hidden;
  if (op == part)
    return body.getArgument(products + gate);
  for (auto [product, count] : llvm::zip_equal(this->products, gates)) {
    if (op != product) {
      gate += count;
      continue;
    }
    if (gate >= products)
      return {};
    Value sum = body.getArgument(gate);
    if (!product.getBias())
      return sum;
    Value bias = operandOf(region, product.getBias(), offset);
    if (!bias)
      return {};
    OpBuilder b(loop.getContext());
    b.setInsertionPointToEnd(&body);
    return arith::AddFOp::create(b, product.getLoc(), sum, bias);
  }
  return {};
}

Value RecurrentLoop::scalarOf(Region &region, Value value, int64_t offset) {
  auto &known = &region == &cell ? inCell : inReset;
  if (Value found = known.lookup({value, offset}))
    return found;
  Value built = buildScalar(region, value, offset);
  if (built)
    known[{value, offset}] = built;
  return built;
}

bool RecurrentLoop::buildCells() {
  for (auto less : loop.getBody()->getOps<nn::LessOp>())
    if (typeOf(less.getY()).getShape().back() == 1)
      isMask(less.getY());
  startBody(cell);
  bool hasReset = !reset.empty();
  if (hasReset)
    startBody(reset);
  auto build = [&](Region &region, ArrayRef<Value> values) {
    SmallVector<Value> yielded;
    for (Value value : values) {
      Value scalar = scalarOf(region, value, 0);
      if (!scalar || !scalar.getType().isF32() ||
          typeOf(value).getShape().back() != hidden)
        return false;
      yielded.push_back(scalar);
    }
    OpBuilder b(loop.getContext());
    b.setInsertionPointToEnd(&region.front());
    backend.buildYield(b, loop.getLoc(), yielded);
    return true;
  };
  return build(cell, results) &&
         (!hasReset || build(reset, throughCasts(products.back().getA())));
}

//===----------------------------------------------------------------------===//
// Operands of a kernel
//===----------------------------------------------------------------------===//

Value RecurrentLoop::buildSource(OpBuilder &b) {
  Value src = part.getSource();
  RankedTensorType type = typeOf(src);
  OpFoldResult steps = getAsOpFoldResult(loop.getUpperBound());
  OpFoldResult batch = part.getMixedSizes()[1];
  std::optional<int64_t> known = getConstantIntValue(steps),
                         sequences = getConstantIntValue(batch);
  if (type.getDimSize(0) == known && type.getDimSize(1) == sequences)
    return src;
  Location loc = loop.getLoc();
  SmallVector<OpFoldResult> zeros(3, b.getIndexAttr(0)),
      ones(3, b.getIndexAttr(1)),
      sizes = {steps, batch, b.getIndexAttr(type.getShape().back())};
  SmallVector<int64_t> shape = {known.value_or(ShapedType::kDynamic),
                                sequences.value_or(ShapedType::kDynamic),
                                type.getShape().back()};
  return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), src, zeros,
                                        sizes, ones);
}

/// Builds the elements of `hidden` units, from `offset` on.
static Value unitsOf(OpBuilder &b, Location loc, Value value, int64_t offset,
                     int64_t hidden) {
  RankedTensorType type = typeOf(value);
  if (offset == 0 && type.getDimSize(0) == hidden)
    return value;
  SmallVector<OpFoldResult> at = {b.getIndexAttr(offset)},
                            size = {b.getIndexAttr(hidden)},
                            one = {b.getIndexAttr(1)};
  return tensor::ExtractSliceOp::create(b, loc, type.clone({hidden}), value, at,
                                        size, one);
}

SmallVector<Value> RecurrentLoop::buildOperands(OpBuilder &b) {
  SmallVector<Value> built;
  for (auto [value, offset] : operands)
    built.push_back(unitsOf(b, loop.getLoc(), value, offset, hidden));
  return built;
}
