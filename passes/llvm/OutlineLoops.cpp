//===- OutlineLoops.cpp - outline-loops -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "passes/llvm/Passes.h"
#include "passes/loops/KernelTable.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct OutlineLoopsPass : ingot::impl::OutlineLoopsBase<OutlineLoopsPass> {
  void runOnOperation() override;
  void outline(scf::ForOp loop, func::FuncOp function);

  int64_t count = 0;
};

/// The values from outside that a loop uses. Some ops are repeated in the new
/// function, in order. The other values become arguments.
struct Captures {
  explicit Captures(scf::ForOp loop) {
    SetVector<Value> values;
    getUsedValuesDefinedAbove(loop->getRegions(), values);
    values.insert(loop->operand_begin(), loop->operand_end());
    for (Value value : values)
      add(value);
  }

  void add(Value value) {
    if (arguments.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    // Repeat views at constant offsets of a buffer, so that LLVM sees that they
    // do not alias.
    if (op &&
        (op->hasTrait<OpTrait::ConstantLike>() ||
         isa<memref::GetGlobalOp, memref::ViewOp, memref::SubViewOp,
             memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
             memref::ReinterpretCastOp, memref::DimOp>(op))) {
      if (cloned.contains(op))
        return;
      for (Value operand : op->getOperands())
        add(operand);
      cloned.insert(op);
      return;
    }
    arguments.insert(value);
  }

  SetVector<Operation *> cloned;
  SetVector<Value> arguments;
};

} // namespace

/// Returns true if a loop can move into a separate function. A loop with stack
/// or host memory, checks, calls or kernels cannot move. These ops need the
/// call of the run, which only the original function has.
static bool canOutline(scf::ForOp loop) {
  if (loop.getNumResults() != 0)
    return false;
  return !loop->walk([](Operation *op) {
                bool stays =
                    loops::needsRun(op) ||
                    isa<StackOp, memref::AllocaOp, kernel::LaunchOpInterface,
                        CallOpInterface>(op) ||
                    isa<LLVM::LLVMDialect>(op->getDialect());
                return stays ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

void OutlineLoopsPass::outline(scf::ForOp loop, func::FuncOp function) {
  Captures captures(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> arguments = captures.arguments.takeVector();
  if (llvm::any_of(arguments, [](Value value) {
        return isa<LLVM::LLVMPointerType>(value.getType());
      }))
    return;
  OpBuilder builder(function);
  auto outlined = func::FuncOp::create(
      builder, loc, (function.getName() + "_loops_" + Twine(count++)).str(),
      builder.getFunctionType(ValueRange(arguments).getTypes(), {}));
  outlined.setPrivate();
  outlined->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(&getContext(),
                                           LLVM::Linkage::Internal));
  SmallVector<Attribute> flags = {builder.getStringAttr("noinline")};
  // Finds out if all buffers are arguments of the function, because these never
  // overlap. Buffers that the function makes itself may overlap.
  bool areDistinct = llvm::all_of(arguments, [](Value value) {
    return !isa<MemRefType>(value.getType()) || isa<BlockArgument>(value);
  });
  if (areDistinct)
    flags.push_back(builder.getStringAttr("ingot-distinct-buffers"));
  outlined->setAttr("passthrough", builder.getArrayAttr(flags));

  Block *body = outlined.addEntryBlock();
  IRMapping mapping;
  mapping.map(arguments, body->getArguments());
  builder.setInsertionPointToStart(body);
  for (Operation *op : captures.cloned)
    builder.clone(*op, mapping);
  builder.setInsertionPoint(loop);
  func::CallOp::create(builder, loc, outlined, arguments);
  loop->moveBefore(body, body->end());
  loop->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  });
  builder.setInsertionPointToEnd(body);
  func::ReturnOp::create(builder, loc);
  ++outlinedLoops;
}

void OutlineLoopsPass::runOnOperation() {
  IngotDialect::KernelAttrHelper isKernel(&getContext());
  for (auto function :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    // Skip kernels. They are small, and may overwrite one of their operands.
    if (function.isExternal() || isKernel.isAttrPresent(function))
      continue;
    count = 0;
    SmallVector<scf::ForOp> loops;
    for (Block &block : function.getBody())
      for (auto loop : block.getOps<scf::ForOp>())
        if (canOutline(loop))
          loops.push_back(loop);
    for (scf::ForOp loop : loops)
      outline(loop, function);
  }
}
