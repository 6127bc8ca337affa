//===- MappedFile.h - read-only mapped files -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_MAPPEDFILE_H
#define INGOT_COMPILER_IMPORT_MAPPEDFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace ingot::importer {

/// An error with a message for the user and no code.
llvm::Error makeError(const llvm::Twine &message);

/// Bytes and what keeps them alive.
struct Blob {
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  /// Whether dropResident may be called.
  bool isMapped = false;
};

/// Maps a regular file read-only.
llvm::Expected<Blob> mapFile(llvm::StringRef path);
/// The same for an open descriptor, which it does not close. Errors have no
/// subject: "is a directory".
llvm::Expected<Blob> mapDescriptor(int fd);

/// Tells the system that mapped `bytes` were copied and need not stay resident.
void dropResident(llvm::ArrayRef<char> bytes);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_MAPPEDFILE_H
