//===- OutputNames.h - names of what a compilation writes -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_OUTPUTNAMES_H
#define INGOT_COMPILER_DRIVER_OUTPUTNAMES_H

#include "compiler/driver/Compiler.h"

#include "llvm/Support/FileSystem/UniqueID.h"

namespace ingot {

/// Returns a path without its folder.
std::string fileName(llvm::StringRef path);

/// Returns true if two paths name the same file, which need not exist.
bool isSameFile(llvm::StringRef one, llvm::StringRef other);

/// Returns the name of the header beside a library.
std::string headerName(const CompileOptions &options);

/// Returns the path of the separate weights, or "" if the library has them.
std::string weightsName(const CompileOptions &options,
                        const Manifest &manifest);

/// Returns true if the compilation writes or replaces a file of this name
/// besides `options.decisionsFile`. A library replaces its weights files.
bool isOutput(const CompileOptions &options, llvm::StringRef path);

/// Checks that each output file can be written, and replaces no file that the
/// compilation reads. Returns an error message, or "". Separate weights are not
/// checked: their name has a hash, which is not known yet and which no other
/// file has.
std::string checkNames(const CompileOptions &options);

/// Checks that no output file would replace external data of the model.
std::string
checkNamesAgainst(const CompileOptions &options,
                  llvm::ArrayRef<llvm::sys::fs::UniqueID> externalFiles);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_OUTPUTNAMES_H
