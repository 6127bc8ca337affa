//===- ProcessGroups.h - programs that end with this one --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_PROCESSGROUPS_H
#define INGOT_BASE_PROCESSGROUPS_H

#include <sys/types.h>

namespace ingot {

/// A group of processes that ends when a signal or a failure ends this process.
/// A child alone can ask the kernel for this (PR_SET_PDEATHSIG), but its own
/// children would live on.
class WatchedGroup {
public:
  explicit WatchedGroup(pid_t group);
  ~WatchedGroup();
  WatchedGroup(const WatchedGroup &) = delete;
  WatchedGroup &operator=(const WatchedGroup &) = delete;

private:
  int slot = -1;
};

/// Kills every watched group. Safe in a signal handler.
void killWatchedGroups();

} // namespace ingot

#endif // INGOT_BASE_PROCESSGROUPS_H
