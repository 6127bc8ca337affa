//===- InputFile.h - reads a regular file -----------------------*- C++ -*-===//
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

/// A regular file, which is read from its start or in pieces. Other kinds of
/// files are refused: a pipe may make the process wait, and a device may never
/// end. Functions return an error message, or "".
class InputFile {
public:
  InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  std::string open(const std::string &path);
  /// Reads exactly `bytes` bytes.
  std::string read(void *data, uint64_t bytes);
  /// Reads exactly `bytes` bytes at `offset`, independently of `read`.
  std::string readAt(uint64_t offset, void *data, uint64_t bytes) const;

  uint64_t size() const { return fileBytes; }

private:
  int descriptor = -1;
  uint64_t fileBytes = 0;
};

/// Reads a whole file, which may have at most `most` bytes.
std::string readWholeFile(const std::string &path, uint64_t most,
                          std::string &text);

} // namespace ingot

#endif // INGOT_BASE_INPUTFILE_H
