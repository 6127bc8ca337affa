//===- FolderLock.h - lock of a folder for one process ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_FOLDERLOCK_H
#define INGOT_BASE_FOLDERLOCK_H

#include "base/Temporaries.h"

namespace ingot {

/// A lock that a process holds while it gives files of a folder their names.
/// The lock is a separate file, which is removed together with the lock. A lock
/// on the folder or on an output would fail if a caller under flock(1) already
/// holds it.
class FolderLock {
public:
  FolderLock() = default;
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  /// Waits some seconds at most for the lock. `folder` must stay open.
  void take(int folder);
  bool isHeld() const { return file >= 0; }

private:
  int folder = -1, file = -1;
  Temporary watch;
};

} // namespace ingot

#endif // INGOT_BASE_FOLDERLOCK_H
