//===- TargetAttrs.cpp - target attributes --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot;

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef level, TargetNumbers numbers) {
  if (!findLevel(level))
    return emitError() << "unknown CPU level '" << level << "': use one of "
                       << levelNames();
  if (std::optional<std::string> wrong = numbers.check())
    return emitError() << *wrong;
  return success();
}

uint64_t TargetAttr::getFeatures() const {
  return findLevel(getLevel())->features;
}

TargetInfo TargetAttr::getInfo() const {
  return TargetInfo(getFeatures(), getNumbers());
}

/// Returns `op` if it is a module, else the module around it, or null.
static ModuleOp moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

TargetAttr TargetAttr::of(Operation *op) {
  ModuleOp module = moduleOf(op);
  IngotDialect::TargetAttrHelper helper(op->getContext());
  if (TargetAttr target = module ? helper.getAttr(module) : TargetAttr())
    return target;
  return TargetAttr::get(op->getContext(), "x86-64-v3", TargetNumbers());
}

LogicalResult TargetsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef device, ArrayRef<TargetAttr> sure,
                                  ArrayRef<TargetAttr> may) {
  if (sure.empty())
    return emitError() << "expects a level that is sure";
  llvm::StringSet<> levels;
  for (TargetAttr target : llvm::concat<const TargetAttr>(sure, may))
    if (!levels.insert(target.getLevel()).second)
      return emitError() << "lists level '" << target.getLevel() << "' twice";
  return success();
}

TargetsAttr TargetsAttr::of(Operation *op) {
  ModuleOp module = moduleOf(op);
  MLIRContext *context = op->getContext();
  if (!module)
    return TargetsAttr::get(context, "cpu", TargetAttr::of(op), {});
  if (TargetsAttr targets =
          IngotDialect::TargetsAttrHelper(context).getAttr(module))
    return targets;
  if (TargetAttr target =
          IngotDialect::TargetAttrHelper(context).getAttr(module))
    return TargetsAttr::get(context, "cpu", target, {});
  return TargetsAttr::get(
      context, "cpu",
      {TargetAttr::get(context, "x86-64-v3", TargetNumbers()),
       TargetAttr::get(context, "znver4", TargetNumbers())},
      {});
}

static auto passes(TargetsAttr::Test test) {
  return [test](TargetAttr target) { return test(target.getInfo()); };
}

bool TargetsAttr::all(Test test) const {
  return llvm::all_of(getSure(), passes(test));
}

bool TargetsAttr::anySure(Test test) const {
  return llvm::any_of(getSure(), passes(test));
}

bool TargetsAttr::any(Test test) const {
  return anySure(test) || llvm::any_of(getMay(), passes(test));
}
