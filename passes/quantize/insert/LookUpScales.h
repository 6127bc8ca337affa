//===- LookUpScales.h - lookups in tables of bytes --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_INSERT_LOOKUPSCALES_H
#define INGOT_PASSES_QUANTIZE_INSERT_LOOKUPSCALES_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace ingot::quantize {

/// Adds the pattern that looks up bytes and their scales in a table, instead of
/// dequantizing the whole table. `count` counts its rewrites.
void populateLookUpScales(mlir::RewritePatternSet &patterns,
                          mlir::Pass::Statistic &count);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_INSERT_LOOKUPSCALES_H
