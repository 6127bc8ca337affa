//===- RequireSizes.cpp - nn-require-sizes --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"
#include "passes/support/RunChecks.h"
#include "passes/shape/SizeAnalysis.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {
#define GEN_PASS_DEF_REQUIRESIZES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;
using nn::SizeRelation;

namespace {

struct RequireSizesPass : ingot::impl::RequireSizesBase<RequireSizesPass> {
  void runOnOperation() override;
  LogicalResult checkFunction(func::FuncOp function);
};

/// Writes the checks of one function.
class Checks {
public:
  Checks(SizeAnalysis &analysis, Operation *first)
      : analysis(analysis), first(first) {}

  /// Requires `rule`: at the entry of the function if possible, else before
  /// `op`, an op of the function's block. Returns true if the rule holds from
  /// here on. If `op` itself computes a size of the rule, no check can precede
  /// it.
  bool add(Location loc, const SizeAnalysis::Rule &rule, Operation *op);
  /// Requires `rule` inside of a branch or a loop step, which may never be
  /// reached. There the rule holds only locally.
  void addInside(Location loc, const SizeAnalysis::Rule &rule, Operation *op);
  int64_t count = 0;

private:
  SizeAnalysis &analysis;
  /// The first original op of the function. Checks at the entry go before it.
  Operation *first;
  /// Rules that are already required: {relation, {a, b}}.
  llvm::DenseSet<std::pair<int, std::pair<Size, Size>>> done;
};

} // namespace

bool Checks::add(Location loc, const SizeAnalysis::Rule &rule, Operation *op) {
  Operation *sources[] = {analysis.lastSourceOf(rule.a, *op->getBlock()),
                          analysis.lastSourceOf(rule.b, *op->getBlock())};
  if (llvm::is_contained(sources, op))
    return false;
  if (!done.insert({int(rule.relation), {rule.a, rule.b}}).second)
    return true;
  ++count;
  bool isEarly = !sources[0] && !sources[1];
  OpBuilder builder(isEarly ? first : op);
  Value a = analysis.materialize(builder, loc, rule.a),
        b = analysis.materialize(builder, loc, rule.b);
  require(builder, loc, relates(builder, loc, rule.relation, a, b),
          rule.message, {a, b});
  return true;
}

void Checks::addInside(Location loc, const SizeAnalysis::Rule &rule,
                       Operation *op) {
  if (analysis.lastSourceOf(rule.a, *op->getBlock()) == op ||
      analysis.lastSourceOf(rule.b, *op->getBlock()) == op)
    return;
  ++count;
  OpBuilder builder(op);
  Value a = analysis.materializeInside(builder, loc, rule.a),
        b = analysis.materializeInside(builder, loc, rule.b);
  require(builder, loc, relates(builder, loc, rule.relation, a, b),
          rule.message, {a, b});
}

/// Checks `op` and the ops in its regions. `top` is its ancestor in the
/// function's block, or null if a run may not reach `op`. A run may not reach
/// ops in branches and loops of the model. It always reaches ops in loops that
/// legalizers create.
static LogicalResult checkOp(SizeAnalysis &analysis, Checks &checks,
                             Operation *op, Operation *top) {
  SmallVector<SizeAnalysis::Rule> open;
  if (failed(analysis.addResults(op, open)))
    return failure();
  for (const SizeAnalysis::Rule &rule : open) {
    if (!top)
      checks.addInside(op->getLoc(), rule, op);
    else if (checks.add(op->getLoc(), rule, top))
      analysis.assume(rule);
  }
  if (auto required = dyn_cast<RequireOp>(op); required && op == top)
    analysis.assume(required);
  if (!hasTensorBody(op))
    return success();
  analysis.addLoopState(op);
  if (isOfModel(op))
    top = nullptr;
  for (Region &region : op->getRegions())
    for (Operation &inner : llvm::make_early_inc_range(region.getOps()))
      if (failed(checkOp(analysis, checks, &inner, top)))
        return failure();
  return success();
}

LogicalResult RequireSizesPass::checkFunction(func::FuncOp function) {
  Block &body = function.getBody().front();
  // Erases dead ops first, because their sizes need not fit.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  SizeAnalysis analysis(function);
  Checks checks(analysis, &body.front());
  for (const SizeAnalysis::Rule &rule : analysis.rulesOfArguments())
    checks.add(function.getLoc(), rule, &body.front());
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  LogicalResult result = success();
  for (Operation *op : ops) {
    if (failed(checkOp(analysis, checks, op, op)))
      result = failure();
  }
  numProved += analysis.getNumProved();
  numChecked += checks.count;
  // Skip a body for usual sizes, because its rules are a part of the rules of
  // the general body.
  if (!usualOf(function))
    IngotDialect::SizeRulesAttrHelper(&getContext())
      .setAttr(getOperation(),
               SizeRulesAttr::get(&getContext(), analysis.getNumProved(),
                                  checks.count));
  return result;
}

void RequireSizesPass::runOnOperation() {
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && function.getBody().hasOneBlock() &&
        failed(checkFunction(function)))
      signalPassFailure();
}
