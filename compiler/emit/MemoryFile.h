//===- MemoryFile.h - file in memory with a path ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_MEMORYFILE_H
#define INGOT_COMPILER_EMIT_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>

namespace ingot {

/// A file in memory. It has a path, because the linker takes only paths. The
/// file disappears when the process ends, for any reason.
class MemoryFile {
public:
  MemoryFile() = default;
  MemoryFile(MemoryFile &&other) : descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  MemoryFile &operator=(MemoryFile &&other) {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~MemoryFile();

  /// Writes `bytes` to the file. On failure returns false and sets `error`.
  bool write(llvm::StringRef bytes, std::string &error);

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor = -1;
};

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_MEMORYFILE_H
