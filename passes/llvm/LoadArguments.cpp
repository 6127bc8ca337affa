//===- LoadArguments.cpp - load-arguments ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Passes.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot {
#define GEN_PASS_DEF_LOADARGUMENTS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// The index of an argument among the host's inputs or outputs.
struct ArgumentIndex {
  bool isOutput;
  int64_t number;
};

struct LoadArgumentsPass : ingot::impl::LoadArgumentsBase<LoadArgumentsPass> {
  using LoadArgumentsBase::LoadArgumentsBase;

  void runOnOperation() override;

  LogicalResult loadIn(func::FuncOp function, ArrayAttr inputs,
                       ArrayAttr outputs);
};

} // namespace

/// Returns all inputs, and then the outputs of static shape. Outputs of open
/// size are left out, because the run passes them to the host by a call.
static SmallVector<ArgumentIndex> placesOf(ArrayAttr inputs,
                                           ArrayAttr outputs) {
  SmallVector<ArgumentIndex> places;
  for (size_t i = 0; i < inputs.size(); ++i)
    places.push_back({/*isOutput=*/false, int64_t(i)});
  for (auto [i, entry] : llvm::enumerate(outputs.getAsRange<TensorAttr>()))
    if (entry.getType().hasStaticShape())
      places.push_back({/*isOutput=*/true, int64_t(i)});
  return places;
}

LogicalResult LoadArgumentsPass::loadIn(func::FuncOp function, ArrayAttr inputs,
                                        ArrayAttr outputs) {
  SmallVector<ArgumentIndex> places = placesOf(inputs, outputs);
  if (int64_t(places.size()) <= mostBuffers)
    return success();
  Block &body = function.getBody().front();
  BlockArgument call = findRunOperand(function, RunOperand::call);
  if (body.getNumArguments() <= places.size() || !call ||
      call != body.getArguments().back())
    return function.emitError("expects an argument for each of ")
           << places.size() << " inputs and outputs, and the run's call";
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  llvm::BitVector loaded(body.getNumArguments());
  for (auto [i, place] : llvm::enumerate(places)) {
    BlockArgument argument = body.getArgument(i);
    loaded.set(i);
    if (argument.use_empty())
      continue;
    argument.replaceAllUsesWith(BufferOp::create(builder, function.getLoc(),
                                                 argument.getType(), call,
                                                 place.isOutput, place.number));
  }
  if (failed(function.eraseArguments(loaded)))
    return failure();
  // Mark the function, so that the run calls it without the tensors' buffers.
  SmallVector<Attribute> flags;
  if (auto given = function->getAttrOfType<ArrayAttr>("passthrough"))
    llvm::append_range(flags, given);
  flags.push_back(builder.getStringAttr("ingot-loads-buffers"));
  function->setAttr("passthrough", builder.getArrayAttr(flags));
  return success();
}

void LoadArgumentsPass::runOnOperation() {
  ModuleOp module = getOperation();
  ArrayAttr inputs =
                IngotDialect::InputsAttrHelper(&getContext()).getAttr(module),
            outputs =
                IngotDialect::OutputsAttrHelper(&getContext()).getAttr(module);
  auto forward = module.lookupSymbol<func::FuncOp>(kForward);
  if (!forward || forward.isExternal() || !inputs || !outputs)
    return markAllAnalysesPreserved();
  if (failed(loadIn(forward, inputs, outputs)))
    return signalPassFailure();
  ArrayAttr bodies =
      IngotDialect::BodiesAttrHelper(&getContext()).getAttr(module);
  for (Attribute attr : bodies ? bodies.getValue() : ArrayRef<Attribute>()) {
    auto body = cast<BodyAttr>(attr);
    if (auto function = module.lookupSymbol<func::FuncOp>(body.getFunction());
        failed(loadIn(function, body.getInputs(), body.getOutputs())))
      return signalPassFailure();
  }
}
