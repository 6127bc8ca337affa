//===- ConvertedConstants.h - constants of the converter --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX's version converter turns attributes into constants of float32, even
// where the operator wants the type of its data: min and max of Clip, the value
// of Pad.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_CONVERTEDCONSTANTS_H
#define INGOT_COMPILER_IMPORT_CONVERTEDCONSTANTS_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Element types of values by name, 0 where graphs give one name to several.
using ElementTypes = llvm::StringMap<int>;

/// Returns the element types that `model`, whose shapes are inferred, states.
ElementTypes collectElementTypes(pb::ModelProto &model);

/// Gives float32 constants that the converter made the type that their operator
/// asks for. `types` are those of the model before, so the names in it are not
/// the converter's.
void retypeConstants(pb::ModelProto &converted, const ElementTypes &types);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_CONVERTEDCONSTANTS_H
