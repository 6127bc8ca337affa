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

/// Returns an error with a message for the user and no error code.
llvm::Error makeError(const llvm::Twine &message);

/// Bytes, and the object that keeps them alive. Without an owner there are no
/// bytes.
struct Blob {
  Blob() = default;
  Blob(llvm::ArrayRef<char> bytes, std::shared_ptr<const void> owner,
       bool isMapped = false)
      : bytes(bytes), owner(std::move(owner)), isMapped(isMapped) {
    assert((bytes.empty() || this->owner) && "nothing keeps the bytes alive");
  }
  /// Takes ownership of the string.
  explicit Blob(std::string owned) {
    auto keep = std::make_shared<const std::string>(std::move(owned));
    bytes = llvm::ArrayRef<char>(keep->data(), keep->size());
    owner = std::move(keep);
  }
  /// Refers to bytes that the caller of the importer keeps alive.
  static Blob ofCaller(llvm::ArrayRef<char> bytes) {
    return Blob(bytes,
                std::shared_ptr<const void>(bytes.data(), [](const void *) {}));
  }
  /// Returns a part of this blob with the same owner.
  Blob slice(size_t offset, size_t size) const {
    return Blob(bytes.slice(offset, size), owner, isMapped);
  }

  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  /// True if dropResident may be called for the bytes.
  bool isMapped = false;
};

/// Maps a regular file read-only.
llvm::Expected<Blob> mapFile(llvm::StringRef path);
/// Maps an open descriptor read-only and does not close it. Error messages do
/// not name the file, for example "is a directory".
llvm::Expected<Blob> mapDescriptor(int fd);

/// Tells the system that mapped `bytes` have been copied, so that it may drop
/// their pages.
void dropResident(llvm::ArrayRef<char> bytes);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_MAPPEDFILE_H
