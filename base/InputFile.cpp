//===- InputFile.cpp - reads a regular file -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/InputFile.h"

#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;

InputFile::~InputFile() {
  if (descriptor >= 0)
    close(descriptor);
}

std::string InputFile::open(const std::string &path) {
  // O_NONBLOCK keeps open() from waiting for the writer of a pipe.
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (descriptor < 0 || fstat(descriptor, &status))
    return strerror(errno);
  if (S_ISDIR(status.st_mode))
    return strerror(EISDIR);
  if (!S_ISREG(status.st_mode))
    return "it is not a regular file";
  fileBytes = uint64_t(status.st_size);
  return "";
}

/// Calls `readSome(to, bytes)`, which may read less, until all bytes are read.
template <typename ReadSome>
static std::string readAll(void *data, uint64_t bytes, ReadSome readSome) {
  auto *to = static_cast<char *>(data);
  constexpr uint64_t kPiece = 1 << 30;
  while (bytes) {
    ssize_t got = readSome(to, std::min(bytes, kPiece));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return strerror(errno);
    if (got == 0)
      return "it ended early";
    to += got;
    bytes -= uint64_t(got);
  }
  return "";
}

std::string InputFile::read(void *data, uint64_t bytes) {
  return readAll(data, bytes, [&](char *to, uint64_t size) {
    return ::read(descriptor, to, size);
  });
}

std::string InputFile::readAt(uint64_t offset, void *data,
                              uint64_t bytes) const {
  const char *first = static_cast<char *>(data);
  return readAll(data, bytes, [&](char *to, uint64_t size) {
    return pread(descriptor, to, size, off_t(offset) + (to - first));
  });
}

std::string ingot::readWholeFile(const std::string &path, uint64_t most,
                                 std::string &text) {
  InputFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    return problem;
  if (file.size() > most)
    return "it has " + std::to_string(file.size()) + " bytes, but " +
           std::to_string(most) + " is the limit";
  text.resize(file.size());
  return file.read(text.data(), text.size());
}
