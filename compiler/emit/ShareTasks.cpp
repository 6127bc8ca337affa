//===- ShareTasks.cpp - tasks that are equal for two levels ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ShareTasks.h"

#include "compiler/emit/Emit.h"
#include "dialects/ingot/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace ingot;

/// Names without duplicates, in the order of their first use.
using Names = llvm::SetVector<StringAttr>;

namespace {

/// Compares the functions of two modules by name.
class TaskSharing {
public:
  TaskSharing(ModuleOp lower, ModuleOp higher)
      : lower(lower), higher(higher), lowerSymbols(lower),
        higherSymbols(higher) {}

  unsigned run(const Target &lowerTarget);

private:
  bool isEqual(StringAttr name);
  SmallVector<StringAttr> findTasks();
  void rename(const DenseMap<StringAttr, StringAttr> &names, ModuleOp module);
  void dropUnused();

  ModuleOp lower, higher;
  SymbolTable lowerSymbols, higherSymbols;
  DenseMap<StringAttr, bool> known;
};

} // namespace

bool ingot::canShareTasks(const Target &lower, const Target &higher) {
  constexpr uint64_t kForOthers =
      bitOf(CpuFeature::AVX512BF16) | bitOf(CpuFeature::AVX512FP16) |
      bitOf(CpuFeature::AMX_TILE) | bitOf(CpuFeature::AMX_INT8) |
      bitOf(CpuFeature::AMX_BF16) | bitOf(CpuFeature::AVX512VPOPCNTDQ);
  return !(lower.features & ~higher.features) &&
         !(higher.features & ~lower.features & ~kForOthers);
}

static bool isHalf(Type type) {
  const Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Returns true if LLVM may generate better code for the operation with the
/// features of the higher level.
static bool usesFeatures(Operation *op) {
  return isa<LLVM::CtPopOp>(op) ||
         llvm::any_of(op->getOperandTypes(), isHalf) ||
         llvm::any_of(op->getResultTypes(), isHalf);
}

/// Returns the names that operations of the region refer to.
static Names usedIn(Region &region) {
  Names names;
  region.walk([&](Operation *op) {
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      names.insert(address.getGlobalNameAttr().getAttr());
    else if (auto call = dyn_cast<LLVM::CallOp>(op))
      if (FlatSymbolRefAttr callee = call.getCalleeAttr())
        names.insert(callee.getAttr());
  });
  return names;
}

/// Returns true if `name` has equal definitions in both modules. All functions
/// and constants that the definitions refer to must be equal, too.
bool TaskSharing::isEqual(StringAttr name) {
  // Assumes equality during the comparison. So a cycle of references is equal
  // if everything else in it is equal.
  auto [at, isNew] = known.try_emplace(name, true);
  if (!isNew)
    return at->second;
  Operation *a = lowerSymbols.lookup(name), *b = higherSymbols.lookup(name);
  bool equal = a && b &&
               OperationEquivalence::isEquivalentTo(
                   a, b, OperationEquivalence::IgnoreLocations);
  // Variables are never equal, because each level has its own.
  if (auto global = dyn_cast_or_null<LLVM::GlobalOp>(b))
    equal &= global.getConstant();
  equal &= !b || !b->walk([](Operation *op) {
                     return usesFeatures(op) ? WalkResult::interrupt()
                                             : WalkResult::advance();
                   }).wasInterrupted();
  for (StringAttr used : equal ? usedIn(b->getRegion(0)) : Names())
    equal &= isEqual(used);
  return known[name] = equal;
}

/// Returns the functions of the module that are passed to the host but never
/// called directly.
SmallVector<StringAttr> TaskSharing::findTasks() {
  Names handed;
  DenseSet<StringAttr> called;
  higher.walk([&](Operation *op) {
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      handed.insert(address.getGlobalNameAttr().getAttr());
    else if (auto call = dyn_cast<LLVM::CallOp>(op))
      if (auto callee = call.getCalleeAttr())
        called.insert(callee.getAttr());
  });
  SmallVector<StringAttr> tasks;
  llvm::copy_if(handed, std::back_inserter(tasks), [&](StringAttr name) {
    auto function = higherSymbols.lookup<LLVM::LLVMFuncOp>(name);
    return function && !function.isExternal() && !called.contains(name) &&
           function.getLinkage() == LLVM::Linkage::Internal;
  });
  return tasks;
}

void TaskSharing::rename(const DenseMap<StringAttr, StringAttr> &names,
                         ModuleOp module) {
  module.walk([&](LLVM::AddressOfOp op) {
    if (StringAttr name = names.lookup(op.getGlobalNameAttr().getAttr()))
      op.setGlobalNameAttr(FlatSymbolRefAttr::get(name));
  });
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (StringAttr name = names.lookup(function.getSymNameAttr())) {
      function.setSymNameAttr(name);
      function.setLinkage(LLVM::Linkage::External);
      function.setVisibility_(LLVM::Visibility::Hidden);
      function.setDsoLocal(true);
    }
}

/// Removes functions without references, so that LLVM does not compile them.
void TaskSharing::dropUnused() {
  for (bool isChanged = true; isChanged;) {
    const Names used = usedIn(higher.getBodyRegion());
    isChanged = false;
    for (auto function :
         llvm::make_early_inc_range(higher.getOps<LLVM::LLVMFuncOp>()))
      if (!function.isExternal() && !used.contains(function.getSymNameAttr()) &&
          function.getLinkage() == LLVM::Linkage::Internal) {
        function.erase();
        isChanged = true;
      }
  }
}

unsigned TaskSharing::run(const Target &lowerTarget) {
  DenseMap<StringAttr, StringAttr> names;
  for (StringAttr name : findTasks()) {
    if (!isEqual(name))
      continue;
    names[name] = StringAttr::get(name.getContext(),
                                  levelSymbol(name.getValue(), lowerTarget));
    auto function = higherSymbols.lookup<LLVM::LLVMFuncOp>(name);
    function.getBody().dropAllReferences();
    function.getBody().getBlocks().clear();
  }
  rename(names, lower);
  rename(names, higher);
  dropUnused();
  return names.size();
}

unsigned ingot::shareTasks(ModuleOp lower, const Target &lowerTarget,
                           ModuleOp higher) {
  return TaskSharing(lower, higher).run(lowerTarget);
}
