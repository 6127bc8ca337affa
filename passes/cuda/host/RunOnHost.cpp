//===- RunOnHost.cpp - cuda-run-on-host -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/host/HostMemory.h"
#include "passes/support/Contains.h"
#include "passes/support/StoreOutputCall.h"
#include "passes/support/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {
#define GEN_PASS_DEF_RUNONHOST
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct RunOnHostPass : ingot::impl::RunOnHostBase<RunOnHostPass> {
  using RunOnHostBase::RunOnHostBase;
  void runOnOperation() override;

  void visit(Block &block);
  void move(Operation *op);
  void define(Value whole, Operation *op);

  /// Returns true if a message about the node of `op` is not a repetition.
  /// Several ops may be made of one node.
  bool isNews(Operation *op, const Twine &message);

  llvm::StringSet<> told;
  bool isFine = true;
  /// The buffers that `define` has defined.
  DenseSet<Value> defined;
};

} // namespace

/// Returns true if `op` itself reads or writes a memref.
static bool accesses(Operation *op) {
  if (isa<CudaDialect>(op->getDialect()) ||
      isa<memref::AllocOp, memref::CopyOp, memref::DeallocOp, RoomOp>(op))
    return false;
  // The address goes to a function that reads the memory, except for outputs:
  // they are passed to the host from where they are.
  if (isa<memref::ExtractAlignedPointerAsIndexOp>(op))
    return !llvm::all_of(op->getUsers(), [](Operation *user) {
      return bool(StoreOutputCall::find(user));
    });
  auto isMemRef = llvm::IsaPred<BaseMemRefType>;
  if (llvm::none_of(op->getOperandTypes(), isMemRef) &&
      llvm::none_of(op->getResultTypes(), isMemRef))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && !effects.hasNoEffect();
}

/// Returns the memrefs of GPU memory that `op` uses from outside.
static SetVector<Value> buffersOf(Operation *op) {
  SetVector<Value> all, buffers;
  // A reshape reads the shape alone, and its result is a view of the source.
  if (auto reshape = dyn_cast<memref::ReshapeOp>(op))
    all.insert(reshape.getShape());
  else
    all.insert(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), all);
  for (Value value : all)
    if (isa<MemRefType>(value.getType()) && !isOfHost(value))
      buffers.insert(value);
  return buffers;
}

/// Returns the buffers that `op` may write.
static SetVector<Value> writtenBy(Operation *op,
                                  const SetVector<Value> &buffers) {
  SetVector<Value> written;
  op->walk([&](Operation *inside) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(inside);
    if (!effects)
      return;
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &instance : instances) {
      // Ops that end the run write its status, too.
      if (!isa<MemoryEffects::Write>(instance.getEffect()) ||
          instance.getResource() != SideEffects::DefaultResource::get())
        continue;
      Value value = instance.getValue();
      while (value && !buffers.contains(value))
        value = sourceOf(value);
      if (value)
        written.insert(value);
    }
  });
  return written;
}

/// Returns true if `memref` is a part of the weights, which the host has.
static bool isWeights(Value memref) {
  auto base = dyn_cast<BlockArgument>(support::baseOf(memref));
  auto function = base ? dyn_cast<func::FuncOp>(base.getOwner()->getParentOp())
                       : func::FuncOp();
  return function && findRunOperand(function, RunOperand::weights) == base;
}

/// Returns true if `buffer` has memory of its own, whose elements are not
/// defined at first.
static bool isNew(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::ViewOp, RoomOp>(buffer.getDefiningOp());
}

/// Returns true if `op` runs at most once as long as `whole` exists: only
/// branches lie between both. A loop around both makes `whole` anew in each
/// step.
static bool runsOnce(Operation *op, Value whole) {
  Region *scope = whole.getParentRegion();
  Region *region = op->getParentRegion();
  while (region && region != scope && isa<scf::IfOp>(region->getParentOp()))
    region = region->getParentOp()->getParentRegion();
  return region == scope;
}

/// Returns true if `user` runs before `op`, and not in another branch.
static bool isBefore(Operation *user, Operation *op) {
  for (; op; op = op->getParentOp())
    if (Operation *beside = op->getBlock()->findAncestorOpInBlock(*user))
      return beside != op && beside->isBeforeInBlock(op);
  return true;
}

/// Returns true if something accesses `buffer`, or a view of it, before `op`
/// does. Otherwise its elements are not defined yet.
static bool isUsedBefore(Value buffer, Operation *op) {
  const bool isOnce = runsOnce(op, wholeOf(buffer));
  for (Operation *user : buffer.getUsers()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(user);
        view && view.getViewSource() == buffer) {
      if (llvm::any_of(user->getResults(),
                       [&](Value result) { return isUsedBefore(result, op); }))
        return true;
      continue;
    }
    // Sizes are not elements.
    if (op->isAncestor(user) || isa<ShadowOp>(user) || isMemoryEffectFree(user))
      continue;
    if (!isOnce || isBefore(user, op))
      return true;
  }
  return false;
}

/// Returns true if `op` writes all elements of `buffer` and reads none. A copy
/// of the buffer would also have what lies between its elements, so there must
/// be nothing.
static bool overwrites(Operation *op, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.areTrailingDimsContiguous(type.getRank()) ||
      llvm::count(op->getOperands(), buffer) != 1)
    return false;
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return type.hasStaticShape() && type.getNumElements() == 1;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  for (OpOperand &init : structured.getDpsInitsMutable())
    if (init.get() == buffer)
      return !structured.payloadUsesValueFromOperand(&init) &&
             structured.getMatchingIndexingMap(&init).isPermutation();
  return false;
}

/// Adds the node of `op` to the list of those that the CPU computes.
static void addHostNode(ModuleOp module, Operation *op, StringRef reason,
                        size_t buffers) {
  MLIRContext *context = module.getContext();
  CudaDialect::HostNodesAttrHelper helper(context);
  SmallVector<Attribute> nodes;
  if (ArrayAttr known = helper.getAttr(module))
    llvm::append_range(nodes, known);
  nodes.push_back(HostNodeAttr::get(
      context, StringAttr::get(context, nodeNameOf(op->getLoc())),
      StringAttr::get(context, reason), int64_t(buffers)));
  helper.setAttr(module, ArrayAttr::get(context, nodes));
}

/// Lets the inside of `op` use the host's memory for buffers that it allocates.
/// Nothing copies them.
static void shadowAllocs(Operation *op) {
  op->walk([](memref::AllocOp alloc) {
    OpBuilder b(alloc->getContext());
    b.setInsertionPointAfter(alloc);
    Value buffer = alloc.getResult();
    auto shadow = ShadowOp::create(b, alloc.getLoc(), alloc.getType(), buffer);
    buffer.replaceUsesWithIf(shadow.getHost(), [&](OpOperand &use) {
      return !isa<ShadowOp, memref::DeallocOp>(use.getOwner());
    });
  });
}

/// Returns true if host code may compute `op` as a whole: it launches nothing,
/// and no buffer leaves it that it allocates.
static bool isWhole(Operation *op) {
  if (op->getNumRegions() == 0)
    return true;
  if (support::contains(op,
                        llvm::IsaPred<cuda::LaunchOp, memref::CopyOp, RoomOp>))
    return false;
  return llvm::none_of(op->getResultTypes(), llvm::IsaPred<MemRefType>) ||
         !support::contains(op, llvm::IsaPred<memref::AllocOp>);
}

/// Returns why `op`, which has no reason of its own, is computed on the CPU.
/// The host knows the value of an element only if it loads the element itself.
static std::string whyOnHost(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    if (std::string source = describeSource(load, op); !source.empty())
      return "needs " + source + " on the host";
  return "needs its data on the host";
}

bool RunOnHostPass::isNews(Operation *op, const Twine &message) {
  const std::string node = nodeNameOf(op->getLoc());
  return node.empty() || told.insert((message + "\n" + node).str()).second;
}

/// Defines a new buffer, which `op` writes in part, in front of the loop around
/// `op`. Does nothing if other ops use the buffer before the loop. The copy of
/// the first step would else read memory that nobody has written.
void RunOnHostPass::define(Value whole, Operation *op) {
  Operation *loop = whole.getParentBlock()->findAncestorOpInBlock(*op);
  if (!loop || loop == op || !isNew(whole) || isUsedBefore(whole, loop) ||
      !defined.insert(whole).second)
    return;
  OpBuilder b(loop);
  Location loc = op->getLoc();
  auto shadow = ShadowOp::create(b, loc, whole.getType(), whole);
  ToDeviceOp::create(b, loc, shadow, whole);
}

/// Lets `op` work on copies of its buffers in host memory.
void RunOnHostPass::move(Operation *op) {
  shadowAllocs(op);
  SetVector<Value> buffers = buffersOf(op);
  if (buffers.empty())
    return;
  CudaDialect::ReasonAttrHelper reasons(&getContext());
  StringAttr own = reasons.getAttr(op);
  const std::string reason = own ? own.str() : whyOnHost(op);
  if (refuse) {
    isFine = false;
    if (isNews(op, reason))
      op->emitError("is not computed on GPUs: it ") << reason;
    return;
  }
  SetVector<Value> written = writtenBy(op, buffers);
  OpBuilder b(op);
  Location loc = op->getLoc();
  IRMapping shadows;
  for (Value buffer : buffers) {
    Value shadow = ShadowOp::create(b, loc, buffer.getType(), buffer);
    shadows.map(buffer, shadow);
    Value whole = wholeOf(buffer);
    // Inputs are defined from the beginning.
    const bool isInput = isa<BlockArgument>(whole) && !written.contains(buffer);
    if (isWeights(whole) || overwrites(op, buffer) ||
        (!isInput && isNew(whole) && !isUsedBefore(whole, op)))
      continue;
    if (written.contains(buffer))
      define(whole, op);
    ToHostOp::create(b, loc, buffer, shadow);
  }
  WaitOp::create(b, loc);
  if (own)
    reasons.removeAttr(op);
  op->walk([&](Operation *inside) {
    for (OpOperand &operand : inside->getOpOperands())
      operand.set(shadows.lookupOrDefault(operand.get()));
  });
  b.setInsertionPointAfter(op);
  for (Value buffer : written) {
    Value host = shadows.lookup(buffer);
    // Defines also what is beside a part of a new buffer. A later part may be
    // copied together with what lies between its elements.
    if (Value whole = wholeOf(buffer);
        whole != buffer && isNew(whole) && !isUsedBefore(whole, op)) {
      buffer = whole;
      host = ShadowOp::create(b, loc, whole.getType(), whole);
    }
    ToDeviceOp::create(b, loc, host, buffer);
  }
  const std::string message =
      ("is computed on the CPU, between copies of " + Twine(buffers.size()) +
       (buffers.size() == 1 ? " buffer" : " buffers") + ": it " + reason)
          .str();
  if (isNews(op, message))
    emitRemark(loc) << message;
  addHostNode(getOperation(), op, reason, buffers.size());
  ++onHost;
}

/// Replaces a copy between the memories of host and GPU.
static void convertCopy(memref::CopyOp copy) {
  const bool isFromHost = isOfHost(copy.getSource());
  if (isFromHost == isOfHost(copy.getTarget()))
    return;
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  if (isFromHost) {
    ToDeviceOp::create(b, loc, copy.getSource(), copy.getTarget());
  } else {
    ToHostOp::create(b, loc, copy.getSource(), copy.getTarget());
    WaitOp::create(b, loc);
  }
  copy.erase();
}

void RunOnHostPass::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      convertCopy(copy);
      continue;
    }
    if (!support::contains(&op, accesses))
      continue;
    if (isWhole(&op)) {
      move(&op);
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inside : region)
        visit(inside);
  }
}

void RunOnHostPass::runOnOperation() {
  isFine = true;
  told.clear();
  defined.clear();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (findRunOperand(function, RunOperand::call))
      visit(function.getBody().front());
  if (!isFine)
    signalPassFailure();
}
