//===- CpuRecurrent.cpp - verifier and work of recurrences ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;
using ingot::kernel::Factor;
using ingot::kernel::Work;

void RecurrentOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, /*readsDestination=*/true);
}

StringRef RecurrentOp::getKernelKind() { return "recurrence"; }

Work RecurrentOp::getWork() {
  int64_t each = 2 * numDirections() * numProducts() * hidden() * hidden();
  return {Factor(getSrcs()[0], 0), Factor(getSrcs()[0], 1), each};
}

int64_t RecurrentOp::sumColumns(int64_t count) {
  int64_t columns = 0;
  for (int64_t i = 0; i < count; ++i) {
    PackedWeights weights(weightsOf(0, i));
    columns += weights.outer.front() * weights.width;
  }
  return columns;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Verifies that `value` is f32 and has the given shape.
static LogicalResult expectFloats(Operation *op, const Twine &what, Value value,
                                  ArrayRef<int64_t> shape) {
  ShapedType type = typeOf(value);
  if (!type.getElementType().isF32())
    return op->emitOpError("expects ")
           << what << " of f32, but got " << type.getElementType();
  if (failed(expectRank(op, what.str(), value, shape.size())))
    return failure();
  for (auto [want, got] : llvm::zip_equal(shape, type.getShape()))
    if (failed(expectSize(op, "a dimension of " + what, want, got)))
      return failure();
  return success();
}

static LogicalResult verifyCounts(RecurrentOp op) {
  size_t directions = op.getReverse().size(), states = op.getNumStates();
  if (directions == 0)
    return op.emitOpError("expects one direction or more");
  if (op.getGates().empty() || states < 1)
    return op.emitOpError("expects gates and a state");
  for (int64_t gates : op.getGates())
    if (gates < 1)
      return op.emitOpError("expects gates of at least 1, but got ") << gates;
  auto expectMany = [&](StringRef what, size_t want,
                        size_t got) -> LogicalResult {
    if (want == got)
      return success();
    return op.emitOpError("expects ")
           << want << " " << what << ", but got " << got;
  };
  size_t each = states + 1 + (op.getStoresAll() ? 1 : 0);
  if (failed(expectMany("srcs", directions, op.getSrcs().size())) ||
      failed(expectMany("weights", directions * op.getGates().size(),
                        op.getWeights().size())) ||
      failed(expectMany("outs", directions * each, op.getOuts().size())))
    return failure();
  if (op.getColumnOperands().size() % directions != 0)
    return op.emitOpError("expects as many column operands for each direction, "
                          "but got ")
           << op.getColumnOperands().size();
  return success();
}

static LogicalResult verifyOperands(RecurrentOp op) {
  Value first = op.state(0, 0);
  if (failed(expectRank(op, "states", first, 2)))
    return failure();
  int64_t hidden = typeOf(first).getDimSize(1);
  int64_t open = ShapedType::kDynamic, batch = typeOf(first).getDimSize(0);
  if (failed(expectKnown(op, "units", hidden)))
    return failure();
  ShapedType src = typeOf(op.getSrcs()[0]);
  if (failed(expectRank(op, "srcs", op.getSrcs()[0], 3)) ||
      failed(expectKnown(op, "columns of srcs", src.getShape().back())))
    return failure();
  int64_t columns = src.getShape().back(), steps = src.getDimSize(0);
  if (columns == 0 || columns % hidden != 0)
    return op.emitOpError("expects srcs of whole gates of ")
           << hidden << ", but got " << columns;
  for (int64_t d = 0; d < op.numDirections(); ++d) {
    if (failed(expectFloats(op, "srcs", op.getSrcs()[d],
                            {steps, batch, columns})))
      return failure();
    for (auto [i, gates] : llvm::enumerate(op.getGates())) {
      Value weights = op.weightsOf(d, i);
      if (failed(expectFloats(op, "weights", weights, {open, hidden, open})) ||
          failed(expectKnown(op, "weights", typeOf(weights).getShape())))
        return failure();
      PackedWeights packed(weights);
      if (packed.width != 16 && packed.width != 32 && packed.width != 64)
        return op.emitOpError("expects panels of 16, 32 or 64 columns, but "
                              "got ")
               << packed.width;
      if (failed(expectSize(op, "weight panels",
                            llvm::divideCeil(gates * hidden, packed.width),
                            packed.outer.front())) ||
          failed(expectSize(op, "panels of all directions",
                            PackedWeights(op.weightsOf(0, i)).width,
                            packed.width)))
        return failure();
    }
    for (int64_t i = 0; i < op.numColumnOperands(); ++i)
      if (failed(expectFloats(op, "column operands", op.columnOperand(d, i),
                              {hidden})) ||
          failed(expectKnown(op, "column operands",
                             typeOf(op.columnOperand(d, i)).getShape())))
        return failure();
  }
  for (int64_t d = 0; d < op.numDirections(); ++d) {
    for (int64_t i = 0; i < int64_t(op.getNumStates()); ++i)
      if (failed(expectFloats(op, "states", op.state(d, i), {batch, hidden})))
        return failure();
    if (op.all(d) && failed(expectFloats(op, "the output of all steps",
                                         op.all(d), {open, batch, hidden})))
      return failure();
    int64_t room = op.sumColumns(op.getGates().size()) +
                   (op.hasReset() ? hidden : 0);
    if (failed(expectFloats(op, "room for sums", op.sums(d), {batch, open})))
      return failure();
    int64_t given = typeOf(op.sums(d)).getDimSize(1);
    if (ShapedType::isDynamic(given) || given < room)
      return op.emitOpError("expects room for ")
             << room << " sums of a sequence, but got " << typeOf(op.sums(d));
  }
  Value lengths = op.getLengths();
  if (!lengths)
    return success();
  if (!typeOf(lengths).getElementType().isInteger(64))
    return op.emitOpError("expects lengths of i64, but got ")
           << typeOf(lengths).getElementType();
  return failure(failed(expectRank(op, "lengths", lengths, 2)) ||
                 failed(expectSize(op, "lengths", batch,
                                   typeOf(lengths).getDimSize(0))) ||
                 failed(expectSize(op, "lengths of a sequence", 1,
                                   typeOf(lengths).getDimSize(1))));
}

static LogicalResult verifyBody(RecurrentOp op, StringRef name, Block &body,
                                int64_t products, size_t results) {
  size_t floats = products + op.numInputs() + op.getNumStates() +
                  op.numColumnOperands();
  size_t want = floats + (op.getLengths() ? 1 : 0);
  if (body.getNumArguments() != want)
    return op.emitOpError("expects ")
           << want << " arguments of " << name << ", but got "
           << body.getNumArguments();
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (i < floats ? !argument.getType().isF32()
                   : !argument.getType().isInteger(1))
      return op.emitOpError("expects an argument of ")
             << name << " of " << (i < floats ? "f32" : "i1") << ", but got "
             << argument.getType();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != results ||
      !llvm::all_of(yield.getValues().getTypes(),
                    [](Type type) { return type.isF32(); }))
    return op.emitOpError("expects ")
           << name << " to yield " << results << " values of f32";
  return success();
}

LogicalResult RecurrentOp::verify() {
  if (failed(verifyCounts(*this)) || failed(verifyOperands(*this)))
    return failure();
  int64_t products = numProducts();
  if (failed(verifyBody(*this, "cell", getCell().front(), products,
                        getNumStates() + 1)))
    return failure();
  if (hasReset() && failed(verifyBody(*this, "reset", getReset().front(),
                                      products - getGates().back(), 1)))
    return failure();
  size_t tensors = llvm::count_if(getOuts(), [](Value out) {
    return isa<RankedTensorType>(out.getType());
  });
  if (tensors != getResults().size() ||
      (tensors != 0 && getResults().getTypes() != getOuts().getTypes()))
    return emitOpError("expects a result for each destination that is a "
                       "tensor, of its type");
  return success();
}
