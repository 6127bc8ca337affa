//===- Attributes.h - values that attributes may have -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_ATTRIBUTES_H
#define INGOT_PASSES_LEGALIZE_CORE_ATTRIBUTES_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// Reports an attribute of an ONNX operator whose value has no meaning,
/// wherever the operator reads it: a flag that is neither 0 nor 1, or an
/// unknown word. Other values are checked where they are read.
LogicalResult checkAttributes(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_ATTRIBUTES_H
