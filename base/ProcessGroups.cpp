//===- ProcessGroups.cpp - programs that end with this one ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/ProcessGroups.h"

#include <atomic>
#include <signal.h>

using namespace ingot;

/// Watched groups, or 0. A fixed table of atomics, because a signal handler
/// must neither allocate nor lock. Groups beyond its size are not watched.
static constexpr int kMaxGroups = 64;
static std::atomic<pid_t> groups[kMaxGroups];

WatchedGroup::WatchedGroup(pid_t group) {
  for (int i = 0; i < kMaxGroups; ++i) {
    pid_t expected = 0;
    if (groups[i].compare_exchange_strong(expected, group)) {
      slot = i;
      return;
    }
  }
}

WatchedGroup::~WatchedGroup() {
  if (slot >= 0)
    groups[slot] = 0;
}

void ingot::killWatchedGroups() {
  for (std::atomic<pid_t> &group : groups)
    if (pid_t number = group.exchange(0); number > 0)
      kill(-number, SIGKILL);
}
