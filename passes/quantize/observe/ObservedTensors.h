//===- ObservedTensors.h - tensors that runs show ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_OBSERVE_OBSERVEDTENSORS_H
#define INGOT_PASSES_QUANTIZE_OBSERVE_OBSERVEDTENSORS_H

#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot::quantize {

/// Numbers the tensors that a run shows to its observer, and records their
/// names in the module.
class ObservedTensors {
public:
  /// Shows `value`, at the insertion point, under `name`.
  void observe(mlir::OpBuilder &builder, mlir::Value value,
               llvm::StringRef name) {
    ObserveOp::create(builder, value.getLoc(),
                      builder.getI64IntegerAttr(int64_t(names.size())), value);
    names.push_back(builder.getStringAttr(name));
  }

  /// Sets the module's attribute `ingot.observed`.
  void recordIn(mlir::ModuleOp module) const {
    IngotDialect::ObservedAttrHelper(module.getContext())
        .setAttr(module, mlir::ArrayAttr::get(module.getContext(), names));
  }

private:
  llvm::SmallVector<mlir::Attribute> names;
};

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_OBSERVE_OBSERVEDTENSORS_H
