//===- ShapeProfiles.h - the sizes that runs may have -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_SHAPEPROFILES_H
#define INGOT_COMPILER_DRIVER_SHAPEPROFILES_H

#include "compiler/import/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace ingot {

/// The sizes from `min` to `max` that are multiples of `multiple`. Code is
/// optimized for the size `usual`; -1 if there is none.
struct SizeRange {
  int64_t min = 0;
  int64_t usual = -1;
  int64_t max = INT64_MAX;
  int64_t multiple = 1;

  static SizeRange of(int64_t size) { return {size, size, size, 1}; }
  bool operator==(const SizeRange &other) const;
  /// Returns "320", "64 to 2048", "64 to 2048 in steps of 32", or "a multiple
  /// of 8".
  std::string describe() const;
};

/// Ranges that apply together. Each range belongs to a dimension of an input,
/// or to a name of dimensions. A dimension without a range may have any size.
struct ShapeProfile {
  llvm::StringMap<llvm::SmallVector<std::optional<SizeRange>>> shapes;
  llvm::StringMap<SizeRange> dims;

  bool empty() const { return shapes.empty() && dims.empty(); }
};

/// Sets `ingot.shape_profiles` of `forward`'s module. If there are several
/// profiles, an error names the profile.
llvm::Error setShapeProfiles(mlir::func::FuncOp forward,
                             llvm::ArrayRef<ShapeProfile> profiles,
                             int64_t maxTensorElements);

/// Fixes the shapes of all inputs of `forward` to the usual sizes of a profile,
/// for a separate import.
void fixUsualSizes(mlir::func::FuncOp forward, size_t profile,
                   ImportOptions &import);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_SHAPEPROFILES_H
