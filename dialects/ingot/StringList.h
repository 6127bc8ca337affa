//===- StringList.h - the strings that a model has --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of a module, and how it grows. A tensor of strings holds places
// in this list; see stringType. The empty string is first, so that what is
// filled with zeros is filled with it.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_STRINGLIST_H
#define INGOT_DIALECTS_INGOT_STRINGLIST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

constexpr llvm::StringLiteral kStringsAttr = "ingot.strings";

/// Null if the module has no strings.
mlir::ArrayAttr stringsOf(mlir::ModuleOp module);

class StringList {
public:
  /// What the module has.
  void read(mlir::ModuleOp module);
  /// The place of a string, which is appended if it is not there.
  int64_t placeOf(llvm::StringRef text);
  /// The place of each of an array's.
  llvm::SmallVector<int64_t> placesOf(mlir::ArrayAttr texts);
  /// Gives the module the list, unless it is empty.
  void write(mlir::ModuleOp module) const;

private:
  llvm::StringMap<int64_t> places;
  llvm::SmallVector<llvm::StringRef> strings; // of `places`
};

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_STRINGLIST_H
