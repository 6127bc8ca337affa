//===- DimNames.h - names of dimensions -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_DIMNAMES_H
#define INGOT_DIALECTS_INGOT_DIMNAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Separator between a name and a number in `ingot.dim_names`. Dimensions with
/// equal names have equal sizes. Dimensions that may differ get different
/// numbers.
constexpr char kDimNumberMark = '\x1f';

/// Returns the model's name for several dimensions, with the number of one of
/// them.
inline std::string numberedDimName(llvm::StringRef name, size_t number) {
  return name.str() + kDimNumberMark + std::to_string(number);
}

/// Returns the name as it is in the model.
inline llvm::StringRef plainDimName(llvm::StringRef name) {
  return name.split(kDimNumberMark).first;
}

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_DIMNAMES_H
