//===- FolderLock.h - one process at a time in a folder ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_FOLDERLOCK_H
#define INGOT_BASE_FOLDERLOCK_H

#include "base/Temporaries.h"

namespace ingot {

/// A lock that processes take while they give files of a folder their names.
/// It is a file of its own, which is gone with the lock: whoever runs a command
/// under flock(1) may hold a lock on the folder or on an output already.
class FolderLock {
public:
  FolderLock() = default;
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  /// Waits for the lock, for some seconds at most. `folder` must stay open.
  void take(int folder);
  bool isHeld() const { return file >= 0; }

private:
  int folder = -1, file = -1;
  Temporary watch;
};

} // namespace ingot

#endif // INGOT_BASE_FOLDERLOCK_H
