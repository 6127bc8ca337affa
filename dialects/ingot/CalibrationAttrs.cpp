//===- CalibrationAttrs.cpp - constraints of calibrations -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace ingot;

LogicalResult
TensorRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        StringRef name, APFloat min, APFloat max, APFloat scale,
                        int64_t zeroPoint) {
  for (const APFloat &number : {min, max, scale})
    if (&number.getSemantics() != &APFloat::IEEEsingle())
      return emitError() << "expects numbers of f32 for '" << name << "'";
  if (!min.isFinite() || !max.isFinite() || min > max)
    return emitError() << "expects a finite min <= max for '" << name
                       << "', but got " << min.convertToFloat() << " and "
                       << max.convertToFloat();
  if (!scale.isNormal() || scale.isNegative())
    return emitError() << "expects a normal scale above 0 for '" << name
                       << "', but got " << scale.convertToFloat();
  if (zeroPoint < 0 || zeroPoint > UINT8_MAX)
    return emitError() << "expects a zero point from 0 to 255 for '" << name
                       << "', but got " << zeroPoint;
  return success();
}

LogicalResult
ChannelValuesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          StringRef name, DenseF32ArrayAttr values) {
  for (float value : values.asArrayRef())
    if (!std::isfinite(value))
      return emitError() << "expects finite numbers for '" << name << "'";
  return success();
}

LogicalResult
WeightRoundingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           StringRef name, DenseResourceElementsAttr up) {
  auto type = dyn_cast<RankedTensorType>(up.getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isInteger(8))
    return emitError() << "expects bytes in one dimension for '" << name
                       << "', but got " << up.getType();
  return success();
}

ArrayRef<char> WeightRoundingAttr::getBytes() const {
  AsmResourceBlob *blob = getUp().getRawHandle().getBlob();
  if (!blob || int64_t(blob->getData().size()) != getUp().getNumElements())
    return {};
  return blob->getData();
}

/// Checks that the names of all attributes in a list are different.
template <typename T>
static LogicalResult verifyNames(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef what, ArrayRef<T> entries) {
  llvm::StringSet<> names;
  for (T entry : entries)
    if (!names.insert(entry.getName()).second)
      return emitError() << "expects '" << entry.getName() << "' once in "
                         << what;
  return success();
}

LogicalResult
CalibrationAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef,
                        ArrayRef<TensorRangeAttr> tensors, bool,
                        ArrayRef<ChannelValuesAttr> channels,
                        ArrayRef<ChannelValuesAttr> biases,
                        ArrayRef<WeightRoundingAttr> rounding) {
  for (ChannelValuesAttr entry : channels)
    for (float value : entry.getValues().asArrayRef())
      if (value < 0)
        return emitError() << "expects magnitudes of at least 0 for '"
                           << entry.getName() << "', but got " << value;
  return success(succeeded(verifyNames(emitError, "tensors", tensors)) &&
                 succeeded(verifyNames(emitError, "channels", channels)) &&
                 succeeded(verifyNames(emitError, "biases", biases)) &&
                 succeeded(verifyNames(emitError, "rounding", rounding)));
}
