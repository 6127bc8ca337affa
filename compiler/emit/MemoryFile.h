//===- MemoryFile.h - a file that has no name on any disk -------*- C++ -*-===//
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

/// What the linker reads: it takes paths. Nothing is left of it when the
/// process ends, however it ends.
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

  /// Whether it holds `bytes` now; otherwise `error` says why not.
  bool write(llvm::StringRef bytes, std::string &error);

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor = -1;
};

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_MEMORYFILE_H
