//===- MemoryFile.cpp - file in memory with a path ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/MemoryFile.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace ingot;

MemoryFile::~MemoryFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

bool MemoryFile::write(llvm::StringRef bytes, std::string &error) {
  descriptor = memfd_create("ingot", MFD_CLOEXEC);
  ssize_t written = 0;
  while (descriptor >= 0 && written >= 0 && !bytes.empty()) {
    written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      written = 0;
    if (written > 0)
      bytes = bytes.drop_front(written);
  }
  if (descriptor >= 0 && bytes.empty())
    return true;
  error = std::string("cannot make a file in memory for the linker: ") +
          strerror(errno);
  return false;
}
