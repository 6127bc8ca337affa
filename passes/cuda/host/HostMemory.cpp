//===- HostMemory.cpp - buffers of the host and of the GPU ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/host/HostMemory.h"

#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot;

/// The most ops of the host that are searched for the source of a value.
static constexpr size_t kMaxSlice = 64;

/// The most ops of a node that are followed back from an element.
static constexpr size_t kMaxSteps = 4;

Value cuda::sourceOf(Value memref) {
  auto view = memref.getDefiningOp<ViewLikeOpInterface>();
  return view ? view.getViewSource() : Value();
}

Value cuda::wholeOf(Value memref) {
  while (Value source = sourceOf(memref)) {
    if (memref.getDefiningOp<memref::ViewOp>())
      break;
    memref = source;
  }
  return memref;
}

bool cuda::isOfHost(Value memref) {
  Operation *op = support::baseOf(memref).getDefiningOp();
  return op &&
         isa<memref::AllocaOp, memref::GetGlobalOp, ShadowOp, StackOp>(op);
}

/// Returns true if `op` writes `memref`. A launch names all operands of a grid
/// as written, so its kernel tells.
static bool writes(Operation *op, Value memref) {
  if (!hasEffect<MemoryEffects::Write>(op, memref))
    return false;
  auto launch = dyn_cast<cuda::LaunchOp>(op);
  auto kernel = launch ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                             op, launch.getKernel())
                       : func::FuncOp();
  if (!kernel)
    return true;
  for (auto [operand, argument] :
       llvm::zip(launch.getArgs(), kernel.getArguments()))
    if (operand == memref &&
        !llvm::all_of(argument.getUsers(),
                      llvm::IsaPred<memref::LoadOp, memref::DimOp>))
      return true;
  return false;
}

/// Sets `last` to the last op before `op` in its block that writes `memref` or
/// a view of it.
static void findLastWriter(Value memref, Operation *op, Operation *&last) {
  for (Operation *user : memref.getUsers()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(user);
        view && view.getViewSource() == memref) {
      for (Value result : user->getResults())
        findLastWriter(result, op, last);
      continue;
    }
    Operation *beside = op->getBlock()->findAncestorOpInBlock(*user);
    if (beside && beside->isBeforeInBlock(op) && writes(user, memref) &&
        (!last || last->isBeforeInBlock(beside)))
      last = beside;
  }
}

/// Returns a phrase for the elements of `buffer` that `op` reads, or "". If the
/// op's own node computes the elements, describes what it computes them from.
static std::string describeElements(Value buffer, Operation *op,
                                    size_t steps = 0) {
  Value whole = cuda::wholeOf(buffer);
  if (auto argument = dyn_cast<BlockArgument>(whole)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    ArrayAttr inputs = function
                           ? IngotDialect::InputsAttrHelper(op->getContext())
                                 .getAttr(function->getParentOfType<ModuleOp>())
                           : ArrayAttr();
    const unsigned number = argument.getArgNumber();
    if (!inputs || number >= inputs.size())
      return "";
    StringRef name = cast<TensorAttr>(inputs[number]).getName();
    return name.empty() ? "" : "input '" + printable(name) + "'";
  }
  Operation *last = nullptr;
  findLastWriter(whole, op, last);
  const std::string node = last ? nodeNameOf(last->getLoc()) : "";
  if (node.empty())
    return "";
  if (node != nodeNameOf(op->getLoc()))
    return "the result of node '" + printable(node) + "'";
  for (Value operand : last->getOperands()) {
    if (steps == kMaxSteps || !isa<MemRefType>(operand.getType()) ||
        cuda::isOfHost(operand) || cuda::wholeOf(operand) == whole)
      continue;
    std::string source = describeElements(operand, last, steps + 1);
    if (!source.empty())
      return source;
  }
  return "";
}

std::string cuda::describeSource(Value value, Operation *op) {
  // The loads that the value is computed from.
  SetVector<Operation *> slice;
  slice.insert(value.getDefiningOp());
  for (size_t i = 0; i < slice.size() && i < kMaxSlice; ++i) {
    if (!slice[i])
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(slice[i])) {
      if (isOfHost(load.getMemref()))
        continue;
      std::string source = describeElements(load.getMemref(), load);
      if (!source.empty())
        return source;
      continue;
    }
    for (Value operand : slice[i]->getOperands())
      slice.insert(operand.getDefiningOp());
  }
  return "";
}
