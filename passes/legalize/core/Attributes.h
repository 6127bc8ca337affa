//===- Attributes.h - checks of attribute values ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_ATTRIBUTES_H
#define INGOT_PASSES_LEGALIZE_CORE_ATTRIBUTES_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// Reports invalid attribute values: a flag that is neither 0 nor 1, or an
/// unknown enum string. Does so even if the operator's legalizer does not read
/// the attribute. Each legalizer checks its other attributes itself.
LogicalResult checkAttributes(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_ATTRIBUTES_H
