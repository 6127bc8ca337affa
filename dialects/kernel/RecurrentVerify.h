//===- RecurrentVerify.h - verifiers of recurrences -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies what the recurrences of all backends share: ops with the members of
// dialects/kernel/Recurrent.td.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_RECURRENTVERIFY_H
#define INGOT_DIALECTS_KERNEL_RECURRENTVERIFY_H

#include "dialects/kernel/Verify.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace ingot::kernel {

/// Verifies the numbers of gates, states and operands.
template <typename Op>
mlir::LogicalResult verifyRecurrentCounts(Op op) {
  size_t directions = op.getReverse().size(), states = op.getNumStates();
  if (directions == 0)
    return op.emitOpError("expects one direction or more");
  if (op.getGates().empty() || states < 1)
    return op.emitOpError("expects gates and a state");
  for (int64_t gates : op.getGates())
    if (gates < 1)
      return op.emitOpError("expects gates of at least 1, but got ") << gates;
  auto expectMany = [&](llvm::StringRef what, size_t want,
                        size_t got) -> mlir::LogicalResult {
    if (want == got)
      return mlir::success();
    return op.emitOpError("expects ")
           << want << " " << what << ", but got " << got;
  };
  size_t each = states + 1 + (op.getStoresAll() ? 1 : 0);
  if (mlir::failed(expectMany("srcs", directions, op.getSrcs().size())) ||
      mlir::failed(expectMany("weights", directions * op.getGates().size(),
                              op.getWeights().size())) ||
      mlir::failed(expectMany("outs", directions * each, op.getOuts().size())))
    return mlir::failure();
  if (op.getColumnOperands().size() % directions != 0)
    return op.emitOpError("expects as many column operands for each direction, "
                          "but got ")
           << op.getColumnOperands().size();
  return mlir::success();
}

/// Verifies the sizes of srcs, column operands, states and outputs.
/// Precondition: the numbers of operands are right.
template <typename Op>
mlir::LogicalResult verifyRecurrentSizes(Op op) {
  mlir::Value first = op.state(0, 0);
  if (mlir::failed(expectRank(op, "states", first, 2)))
    return mlir::failure();
  int64_t hidden = typeOf(first).getDimSize(1);
  int64_t batch = typeOf(first).getDimSize(0);
  if (mlir::failed(expectKnown(op, "units", hidden)))
    return mlir::failure();
  mlir::ShapedType src = typeOf(op.getSrcs()[0]);
  if (mlir::failed(expectRank(op, "srcs", op.getSrcs()[0], 3)) ||
      mlir::failed(expectKnown(op, "columns of srcs", src.getShape().back())))
    return mlir::failure();
  int64_t columns = src.getShape().back(), steps = src.getDimSize(0);
  if (columns == 0 || columns % hidden != 0)
    return op.emitOpError("expects srcs of whole gates of ")
           << hidden << ", but got " << columns;
  for (int64_t d = 0; d < op.numDirections(); ++d) {
    if (mlir::failed(
            expectFloats(op, "srcs", op.getSrcs()[d], {steps, batch, columns})))
      return mlir::failure();
    for (int64_t i = 0; i < op.numColumnOperands(); ++i)
      if (mlir::failed(expectFloats(op, "column operands",
                                    op.columnOperand(d, i), {hidden})) ||
          mlir::failed(expectKnown(op, "column operands",
                                   typeOf(op.columnOperand(d, i)).getShape())))
        return mlir::failure();
    for (int64_t i = 0; i < int64_t(op.getNumStates()); ++i)
      if (mlir::failed(
              expectFloats(op, "states", op.state(d, i), {batch, hidden})))
        return mlir::failure();
    if (op.all(d) &&
        mlir::failed(expectFloats(op, "the output of all steps", op.all(d),
                                  {mlir::ShapedType::kDynamic, batch, hidden})))
      return mlir::failure();
  }
  return mlir::success();
}

/// Verifies the arguments and the terminator of a body. Its last argument is a
/// condition if `hasCondition` is true.
template <typename Yield, typename Op>
mlir::LogicalResult verifyRecurrentBody(Op op, llvm::StringRef name,
                                        mlir::Block &body, bool hasCondition) {
  const bool isCell = &body == &op.getCell().front();
  const int64_t products =
      op.numProducts() - (isCell ? 0 : op.getGates().back());
  const size_t results = isCell ? op.getNumStates() + 1 : 1;
  size_t floats =
      products + op.numInputs() + op.getNumStates() + op.numColumnOperands();
  size_t want = floats + (hasCondition ? 1 : 0);
  if (body.getNumArguments() != want)
    return op.emitOpError("expects ") << want << " arguments of " << name
                                      << ", but got " << body.getNumArguments();
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (i < floats ? !argument.getType().isF32()
                   : !argument.getType().isInteger(1))
      return op.emitOpError("expects an argument of ")
             << name << " of " << (i < floats ? "f32" : "i1") << ", but got "
             << argument.getType();
  auto yield = mlir::dyn_cast<Yield>(body.getTerminator());
  if (!yield || yield.getValues().size() != results ||
      !llvm::all_of(yield.getValues().getTypes(),
                    [](mlir::Type type) { return type.isF32(); }))
    return op.emitOpError("expects ")
           << name << " to yield " << results << " values of f32";
  return mlir::success();
}

/// Verifies the regions and the types of results.
template <typename Yield, typename Op>
mlir::LogicalResult verifyRecurrentRegions(Op op, bool hasCondition) {
  if (mlir::failed(verifyRecurrentBody<Yield>(op, "cell", op.getCell().front(),
                                              hasCondition)))
    return mlir::failure();
  if (op.hasReset() && mlir::failed(verifyRecurrentBody<Yield>(
                           op, "reset", op.getReset().front(), hasCondition)))
    return mlir::failure();
  size_t tensors = llvm::count_if(op.getOuts(), [](mlir::Value out) {
    return mlir::isa<mlir::RankedTensorType>(out.getType());
  });
  if (tensors != op.getResults().size() ||
      (tensors != 0 && op.getResults().getTypes() != op.getOuts().getTypes()))
    return op.emitOpError("expects a result for each destination that is a "
                          "tensor, of its type");
  return mlir::success();
}

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_RECURRENTVERIFY_H
