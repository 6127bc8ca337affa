//===- AttachedCalibration.h - the module's calibration ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_ATTACHEDCALIBRATION_H
#define INGOT_PASSES_QUANTIZE_ATTACHEDCALIBRATION_H

#include "dialects/ingot/IngotDialect.h"
#include "passes/quantize/CalibrationFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace ingot::quantize {

/// Sets the module's `ingot.calibration` to what was read from `file`.
void attachCalibration(mlir::ModuleOp module, const Calibration &calibration,
                       llvm::StringRef file);

/// Returns the module's calibration, or null.
CalibrationAttr findCalibration(mlir::ModuleOp module);

/// Returns the module's calibration; reports an error if there is none.
mlir::FailureOr<CalibrationAttr> getCalibration(mlir::ModuleOp module);

/// Returns true if weights of int8 may be fitted in pairs (PairFit.h). A
/// calibration must have no repairs: they were measured with scales for the
/// largest weights.
bool mayFitPairs(mlir::ModuleOp module);

/// Checks that `name` of the calibration is one of `known`: other names were
/// mistyped or belong to another model. The error calls the thing that has the
/// name `what`, and the things that it may be `kind`.
mlir::LogicalResult checkName(CalibrationAttr calibration, llvm::StringRef name,
                              llvm::StringRef what,
                              const llvm::StringSet<> &known,
                              llvm::StringRef kind);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_ATTACHEDCALIBRATION_H
