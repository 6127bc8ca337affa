//===- AttachedCalibration.cpp - the module's calibration -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/AttachedCalibration.h"

#include "dialects/nn/NodeName.h"
#include "passes/support/Rules.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

static SmallVector<ChannelValuesAttr> toAttrs(MLIRContext *context,
                                              ArrayRef<ChannelValues> list) {
  SmallVector<ChannelValuesAttr> attrs;
  for (const ChannelValues &channels : list)
    attrs.push_back(ChannelValuesAttr::get(
        context, StringRef(channels.name),
        DenseF32ArrayAttr::get(context, channels.values)));
  return attrs;
}

void quantize::attachCalibration(ModuleOp module,
                                 const Calibration &calibration,
                                 StringRef file) {
  MLIRContext *context = module.getContext();
  SmallVector<TensorRangeAttr> tensors;
  for (const TensorCalibration &tensor : calibration.tensors)
    tensors.push_back(TensorRangeAttr::get(
        context, StringRef(tensor.name), APFloat(tensor.min),
        APFloat(tensor.max), APFloat(tensor.scale), tensor.zeroPoint));
  SmallVector<WeightRoundingAttr> rounding;
  for (const WeightRounding &product : calibration.rounding) {
    auto type = RankedTensorType::get(int64_t(product.up.size()),
                                      IntegerType::get(context, 8));
    auto up = DenseResourceElementsAttr::get(
        type, "rounding",
        HeapAsmResourceBlob::allocateAndCopyInferAlign(ArrayRef(product.up)));
    rounding.push_back(
        WeightRoundingAttr::get(context, StringRef(product.name), up));
  }
  IngotDialect::CalibrationAttrHelper(context).setAttr(
      module,
      CalibrationAttr::get(context, file, tensors, calibration.equalize,
                           toAttrs(context, calibration.channels),
                           toAttrs(context, calibration.biases), rounding));
}

CalibrationAttr quantize::findCalibration(ModuleOp module) {
  return IngotDialect::CalibrationAttrHelper(module.getContext())
      .getAttr(module);
}

FailureOr<CalibrationAttr> quantize::getCalibration(ModuleOp module) {
  if (CalibrationAttr calibration = findCalibration(module))
    return calibration;
  return module.emitError()
         << "expects a module with a calibration: use ingot-attach-calibration";
}

static bool isRepaired(CalibrationAttr calibration) {
  return calibration.getEqualize() || !calibration.getChannels().empty() ||
         !calibration.getBiases().empty() || !calibration.getRounding().empty();
}

quantize::WeightForm quantize::weightFormFor(ModuleOp module,
                                             Int8Weights weights) {
  CalibrationAttr calibration = findCalibration(module);
  return {bitsOf(weights), weights == Int8Weights::fitted &&
                               !(calibration && isRepaired(calibration))};
}

LogicalResult quantize::checkName(CalibrationAttr calibration, StringRef name,
                                  StringRef what,
                                  const llvm::StringSet<> &known,
                                  StringRef kind) {
  if (known.contains(name))
    return success();
  return emitError(UnknownLoc::get(calibration.getContext()))
         << "'" << printable(calibration.getFile()) << "' has " << what << " '"
         << printable(name) << "', but " << kind << " has this name"
         << nearNames(name, llvm::to_vector(known.keys()));
}
