//===- InputFile.h - a regular file that is read ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_INPUTFILE_H
#define INGOT_BASE_INPUTFILE_H

#include <stdint.h>
#include <string>

namespace ingot {

/// A file that is read from its start, or in pieces. Only a regular one has a
/// size that can be checked before; a pipe may make the process wait, a device
/// may never end.
/// Functions return what is wrong, or "".
class InputFile {
public:
  InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  std::string open(const std::string &path);
  /// Reads exactly so many bytes.
  std::string read(void *data, uint64_t bytes);
  /// The same from `offset` on, wherever `read` is.
  std::string readAt(uint64_t offset, void *data, uint64_t bytes) const;

  uint64_t size() const { return fileBytes; }

private:
  int descriptor = -1;
  uint64_t fileBytes = 0;
};

/// All of a file, which may have `most` bytes.
std::string readWholeFile(const std::string &path, uint64_t most,
                          std::string &text);

} // namespace ingot

#endif // INGOT_BASE_INPUTFILE_H
