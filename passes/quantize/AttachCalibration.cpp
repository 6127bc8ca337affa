//===- AttachCalibration.cpp - ingot-attach-calibration -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/AttachedCalibration.h"
#include "passes/quantize/Passes.h"

namespace ingot {
#define GEN_PASS_DEF_ATTACHCALIBRATION
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct AttachCalibrationPass
    : ingot::impl::AttachCalibrationBase<AttachCalibrationPass> {
  using AttachCalibrationBase::AttachCalibrationBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    CalibrationAttr attached = quantize::findCalibration(module);
    if (attached && attached.getFile() == file)
      return;
    llvm::Expected<quantize::Calibration> read =
        quantize::readCalibration(file);
    if (!read) {
      emitError(UnknownLoc::get(&getContext())) << toString(read.takeError());
      return signalPassFailure();
    }
    quantize::attachCalibration(module, *read, file);
  }
};

} // namespace
