//===- ExcludeOverflow.cpp - nn-exclude-overflow --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NodeName.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/AttachedCalibration.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_EXCLUDEOVERFLOW
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Half of the f16 maximum. The other half is a margin, because other inputs
/// than the calibration's may give larger values.
static constexpr float kMaxSeen = 32752;

namespace {

struct ExcludeOverflowPass
    : ingot::impl::ExcludeOverflowBase<ExcludeOverflowPass> {
  using ExcludeOverflowBase::ExcludeOverflowBase;

  void runOnOperation() override;

private:
  void exclude(func::FuncOp function);
  LogicalResult checkNames(CalibrationAttr calibration);

  /// Largest observed magnitude, by the tensor's name.
  llvm::StringMap<float> seen;
  /// Names of the model's tensors that may have a range.
  llvm::StringSet<> known;
};

} // namespace

void ExcludeOverflowPass::exclude(func::FuncOp function) {
  IngotDialect::PrecisionAttrHelper precision(&getContext());
  SmallVector<Operation *> products =
      quantize::findProducts(function, [](Operation *) { return true; });
  auto names =
      quantize::nameTensors(quantize::findQuantizationPoints(products));
  for (const auto &[tensor, name] : names)
    known.insert(name);
  for (Operation *product : products) {
    auto name = names.find(product->getOperand(0));
    if (name == names.end())
      continue;
    auto range = seen.find(name->second);
    if (range == seen.end() || range->second <= kMaxSeen)
      continue;
    precision.setAttr(product,
                      PrecisionAttr::get(&getContext(), Precision::fp32));
    product->emitWarning()
        << "reads '" << printable(name->second) << "', which was up to "
        << double(range->second) << " in the calibration, beyond half of what "
        << "float16 holds: it stays float32";
    ++excluded;
  }
}

LogicalResult ExcludeOverflowPass::checkNames(CalibrationAttr calibration) {
  SmallVector<StringRef> names = llvm::to_vector(seen.keys());
  llvm::sort(names);
  for (StringRef name : names)
    if (failed(quantize::checkName(calibration, name, "a range of tensor",
                                   known, "no tensor that a product reads")))
      return failure();
  return success();
}

void ExcludeOverflowPass::runOnOperation() {
  if (Policy::of(getOperation())
          .halfPrecisionForm(getOperation(), Precision::fp16) !=
      HalfPrecisionForm::f16)
    return;
  FailureOr<CalibrationAttr> calibration =
      quantize::getCalibration(getOperation());
  if (failed(calibration))
    return signalPassFailure();
  // Ranges that were scaled for int8 say nothing about overflow in f16.
  if (calibration->getEqualize() || !calibration->getChannels().empty()) {
    emitError(UnknownLoc::get(&getContext()))
        << "'" << printable(calibration->getFile())
        << "' has ranges of a model that was "
        << "repaired for int8: calibrate with --repair=none";
    return signalPassFailure();
  }
  seen.clear();
  known.clear();
  for (TensorRangeAttr range : calibration->getTensors())
    seen[range.getName()] = std::max(std::abs(range.getMin().convertToFloat()),
                                     std::abs(range.getMax().convertToFloat()));
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      exclude(function);
  if (failed(checkNames(*calibration)))
    signalPassFailure();
}
