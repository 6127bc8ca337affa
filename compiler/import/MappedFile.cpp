//===- MappedFile.cpp - read-only mapped files ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/MappedFile.h"

#include "llvm/ADT/ScopeExit.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace ingot::importer {

Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Expected<Blob> mapDescriptor(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return makeError(Twine("cannot be read: ") + strerror(errno));
  if (S_ISDIR(info.st_mode))
    return makeError("is a directory");
  if (!S_ISREG(info.st_mode))
    return makeError("is not a regular file");
  if (info.st_size == 0)
    return Blob();
  size_t size = size_t(info.st_size);
  void *data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    return makeError(Twine("cannot be mapped: ") + strerror(errno));
  std::shared_ptr<const void> owner(
      data, [size](const void *p) { munmap(const_cast<void *>(p), size); });
  return Blob(ArrayRef<char>(static_cast<const char *>(data), size), owner,
              /*isMapped=*/true);
}

Expected<Blob> mapFile(StringRef path) {
  // O_NONBLOCK keeps open() from waiting for the writer of a FIFO.
  int fd = open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return makeError(Twine("the model cannot be opened: ") + strerror(errno));
  auto close = llvm::scope_exit([fd] { ::close(fd); });
  Expected<Blob> file = mapDescriptor(fd);
  if (!file)
    return makeError("the model " + toString(file.takeError()));
  return file;
}

void dropResident(ArrayRef<char> bytes) {
  uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  uintptr_t begin = (uintptr_t(bytes.data()) + page - 1) & ~(page - 1);
  uintptr_t end = uintptr_t(bytes.data() + bytes.size()) & ~(page - 1);
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

} // namespace ingot::importer
