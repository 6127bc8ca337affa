//===- MappedFile.h - a file mapped for reading ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_MAPPEDFILE_H
#define INGOT_RUNTIME_CORE_MAPPEDFILE_H

#include "ingot/ingot.h"

#include <sys/stat.h>

namespace ingot::rt {

/// Maps a regular file read-only; unmaps it when destroyed.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// Opens and maps the file. `what` describes the file to the user, for
  /// example "weights".
  ingot_status open(const char *path, const char *what, ingot_error *error);

  const unsigned char *data() const { return bytes; }
  uint64_t size() const { return length; }
  /// Keeps the first page mapped after destruction, until the caller calls
  /// `unmapPage`. During this time no other file gets this inode number.
  void *keepPage() {
    isKept = true;
    return bytes;
  }
  static void unmapPage(void *page);

  /// State of the file when it was opened.
  const struct stat &info() const { return status; }

private:
  unsigned char *bytes = nullptr;
  uint64_t length = 0;
  bool isKept = false;
  struct stat status = {};
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_MAPPEDFILE_H
