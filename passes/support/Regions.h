//===- Regions.h - regions that move into functions -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_REGIONS_H
#define INGOT_PASSES_SUPPORT_REGIONS_H

#include "mlir/IR/Region.h"

namespace ingot::support {

/// Moves the constants that a region uses into the region, because
/// canonicalization moves them out.
void sinkConstants(mlir::Region &region);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_REGIONS_H
