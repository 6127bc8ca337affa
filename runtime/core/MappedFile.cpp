//===- MappedFile.cpp - a file mapped for reading -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/MappedFile.h"

#include "runtime/core/Error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ingot::rt;

MappedFile::~MappedFile() {
  uint64_t kept = isKept ? sysconf(_SC_PAGESIZE) : 0;
  if (bytes && length > kept)
    munmap(bytes + kept, length - kept);
}

void MappedFile::unmapPage(void *page) {
  if (page)
    munmap(page, sysconf(_SC_PAGESIZE));
}

ingot_status MappedFile::open(const char *path, const char *what,
                              ingot_error *error) {
  // O_NONBLOCK keeps open() from waiting for the writer of a FIFO.
  int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail(error, INGOT_NOT_FOUND, "cannot open %s file '%s': %s", what,
                path, strerror(errno));
  ingot_status result = INGOT_OK;
  if (fstat(fd, &status) < 0) {
    result = fail(error, INGOT_NOT_FOUND, "cannot read %s file '%s': %s", what,
                  path, strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    result = fail(error, INGOT_BAD_ARTIFACT,
                  "%s file '%s' is not a regular file", what, path);
  } else if (status.st_size > 0) {
    void *memory = mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_SHARED,
                        fd, 0);
    if (memory == MAP_FAILED) {
      result = fail(error, INGOT_OUT_OF_MEMORY, "cannot map %s file '%s': %s",
                    what, path, strerror(errno));
    } else {
      bytes = static_cast<unsigned char *>(memory);
      length = uint64_t(status.st_size);
    }
  }
  close(fd);
  return result;
}
