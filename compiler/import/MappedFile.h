//===- MappedFile.h - read-only mapped files --------------------*- C++ -*-===//
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
#include <cassert>
#include <memory>
#include <string>

namespace ingot::importer {

/// An error with a message for the user and no code.
llvm::Error makeError(const llvm::Twine &message);

/// Bytes and what keeps them alive: there are none without an owner.
struct Blob {
  Blob() = default;
  Blob(llvm::ArrayRef<char> bytes, std::shared_ptr<const void> owner,
       bool isMapped = false)
      : bytes(bytes), owner(std::move(owner)), isMapped(isMapped) {
    assert((bytes.empty() || this->owner) && "nothing keeps the bytes alive");
  }
  /// Takes what `owned` holds.
  explicit Blob(std::string owned) {
    auto keep = std::make_shared<const std::string>(std::move(owned));
    bytes = llvm::ArrayRef<char>(keep->data(), keep->size());
    owner = std::move(keep);
  }
  /// Bytes that the caller of the importer keeps alive.
  static Blob ofCaller(llvm::ArrayRef<char> bytes) {
    return Blob(bytes,
                std::shared_ptr<const void>(bytes.data(), [](const void *) {}));
  }
  /// A part of this.
  Blob slice(size_t offset, size_t size) const {
    return Blob(bytes.slice(offset, size), owner, isMapped);
  }

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
