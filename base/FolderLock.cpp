//===- FolderLock.cpp - lock of a folder for one process ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FolderLock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;

/// The name of the lock file. It has the form of a temporary name, so that the
/// next command removes the file of a killed command.
static constexpr char kName[] = ".ingot-publishing.tmp";

/// Longest wait. A process holds the lock for milliseconds, unless it was
/// stopped or its disk hangs.
static constexpr int kMilliseconds = 10'000;

FolderLock::~FolderLock() {
  if (file < 0)
    return;
  // Removes the name before the lock: see `take`.
  unlinkat(folder, kName, 0);
  watch.forget();
  close(file);
}

void FolderLock::take(int where) {
  folder = where;
  // Allocates all memory before there is a file that could be forgotten.
  const std::string name = kName;
  for (int waited = 0; waited < kMilliseconds; ++waited) {
    int opened =
        openat(folder, kName,
               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (opened < 0 && errno != ENOENT)
      return;
    struct stat locked = {}, named = {};
    bool isFree = opened >= 0 && !flock(opened, LOCK_EX | LOCK_NB);
    int reason = errno;
    // Checks that the previous holder did not remove the name in between.
    if (isFree && !fstat(opened, &locked) &&
        !fstatat(folder, kName, &named, AT_SYMLINK_NOFOLLOW) &&
        locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
      file = opened;
      watch.watch(folder, name);
      return;
    }
    if (opened >= 0)
      close(opened);
    if (!isFree && reason != EWOULDBLOCK)
      return;
    if (!isFree)
      usleep(1000);
  }
}
