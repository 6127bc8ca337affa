//===- StringList.h - list of strings of a model ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of strings of a module. A tensor of strings holds indices in this
// list; see stringType. The empty string is first, so that tensors filled with
// zeros hold empty strings.
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
  /// Returns the index of a string. Appends the string if it is new.
  int64_t placeOf(llvm::StringRef text);
  /// Returns the index of each string of an array.
  llvm::SmallVector<int64_t> placesOf(mlir::ArrayAttr texts);
  /// Writes the list to the module unless it is empty.
  void write(mlir::ModuleOp module) const;

private:
  llvm::StringMap<int64_t> places;
  llvm::SmallVector<llvm::StringRef> strings; // in the order of `places`
};

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_STRINGLIST_H
