//===- StringList.h - list of strings of a model ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of strings of a module. A tensor of strings contains indices in this
// list; see stringType. The first string is the empty one, so a tensor filled
// with zeros contains empty strings.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_STRINGLIST_H
#define INGOT_DIALECTS_INGOT_STRINGLIST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

constexpr llvm::StringLiteral kStringsAttr = "ingot.strings";

/// Returns the module's list, or null if the module has no strings.
mlir::ArrayAttr stringsOf(mlir::ModuleOp module);

class StringList {
public:
  /// Reads the module's list.
  void read(mlir::ModuleOp module);
  /// Returns the index of a string. If the string is new, appends it to the
  /// list.
  int64_t placeOf(llvm::StringRef text);
  /// Returns the indices of all strings of an array.
  llvm::SmallVector<int64_t> placesOf(mlir::ArrayAttr texts);
  /// Writes the list to the module, unless the list is empty.
  void write(mlir::ModuleOp module) const;

private:
  llvm::StringMap<int64_t> places;
  llvm::SmallVector<llvm::StringRef> strings; // in the order of `places`
};

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_STRINGLIST_H
