//===- ConvertedConstants.h - constants of the converter --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX's version converter turns attributes into float32 constants, even if the
// operator requires the type of its data. Examples are min and max of Clip and
// the value of Pad. The functions here give such constants the required type.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_CONVERTEDCONSTANTS_H
#define INGOT_COMPILER_IMPORT_CONVERTEDCONSTANTS_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Element types of values by name; 0 if several graphs use the name.
using ElementTypes = llvm::StringMap<int>;

/// Returns the element types of values in `model`. Its shapes must be inferred.
ElementTypes collectElementTypes(pb::ModelProto &model);

/// Converts float32 constants that the version converter has made to the types
/// that their operators require. `types` comes from the model before the
/// conversion, so it does not contain the converter's new names.
void retypeConstants(pb::ModelProto &converted, const ElementTypes &types);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_CONVERTEDCONSTANTS_H
