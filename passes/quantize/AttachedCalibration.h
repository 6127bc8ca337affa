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
#include "passes/quantize/Int8Weights.h"
#include "passes/quantize/WeightQuantizer.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace ingot::quantize {

/// Sets the module's attribute `ingot.calibration` to the calibration that was
/// read from `file`.
void attachCalibration(mlir::ModuleOp module, const Calibration &calibration,
                       llvm::StringRef file);

/// Returns the module's calibration, or null.
CalibrationAttr findCalibration(mlir::ModuleOp module);

/// Returns the module's calibration; reports an error if there is none.
mlir::FailureOr<CalibrationAttr> getCalibration(mlir::ModuleOp module);

/// Returns the form of int8 weights. Fits the weights in pairs (PairFit.h) if
/// `weights` asks for it and the calibration has no repairs. Repairs exclude
/// pairs because repairs were measured with unfitted scales.
WeightForm weightFormFor(mlir::ModuleOp module, Int8Weights weights);

/// Checks that the calibration's entry `name` is in `known`. A name that is not
/// in `known` was mistyped or belongs to another model. In the error message,
/// `what` names the entry. `kind` names the things that an entry may refer to.
mlir::LogicalResult checkName(CalibrationAttr calibration, llvm::StringRef name,
                              llvm::StringRef what,
                              const llvm::StringSet<> &known,
                              llvm::StringRef kind);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_ATTACHEDCALIBRATION_H
