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

/// A path without its folder.
std::string fileName(llvm::StringRef path);

/// The header beside a library.
std::string headerName(const CompileOptions &options);

/// Whether each file that is asked for can get its name, without taking the
/// place of something else. Empty string, or what is wrong. The name of
/// separate weights holds their hash, so it is not known yet, and nobody
/// else's.
std::string checkNames(const CompileOptions &options);

/// The external data that the model reads stand in its way as the model does.
std::string
checkNamesAgainst(const CompileOptions &options,
                  llvm::ArrayRef<llvm::sys::fs::UniqueID> externalFiles);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_OUTPUTNAMES_H
