//===- Interrupt.cpp - Ctrl-C ends a run ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Interrupt.h"

#include <atomic>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace ingot::python {

/// The cancellation of the main thread's run. The handler reads it.
static std::atomic<ingot_cancellation *> running{nullptr};
/// True if the handler has requested `own`.
static std::atomic<bool> isOwnRequested{false};
/// The handler that ours replaced.
static struct sigaction replaced;

static void onInterrupt(int signal, siginfo_t *info, void *context) {
  if (ingot_cancellation *cancellation = running.load()) {
    isOwnRequested.store(true);
    ingot_cancellation_request(cancellation);
  }
  if (replaced.sa_flags & SA_SIGINFO)
    replaced.sa_sigaction(signal, info, context);
  else
    replaced.sa_handler(signal);
}

/// Installs the handler, unless it is installed already. Python replaces it
/// whenever a program calls signal.signal().
static bool install() {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current))
    return false;
  bool hasInfo = current.sa_flags & SA_SIGINFO;
  if (hasInfo && current.sa_sigaction == onInterrupt)
    return true;
  if (!hasInfo &&
      (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN))
    return false;
  replaced = current;
  struct sigaction ours = current;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = onInterrupt;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

static bool isMainThread() {
  static thread_local const bool isMain = syscall(SYS_gettid) == getpid();
  return isMain;
}

/// Returns the cancellation of runs that have none of their own. Only the main
/// thread calls it.
static ingot_cancellation *ownCancellation() {
  static ingot_cancellation *own = nullptr;
  if (isOwnRequested.exchange(false) && own) {
    ingot_cancellation_release(own);
    own = nullptr;
  }
  if (!own)
    ingot_cancellation_create(&own, nullptr);
  return own;
}

InterruptibleRun::InterruptibleRun(const ingot_cancellation *given)
    : used(given) {
  if (!isMainThread() || running.load() || !install())
    return;
  if (!used)
    used = ownCancellation();
  running.store(const_cast<ingot_cancellation *>(used));
  isWatched = true;
}

InterruptibleRun::~InterruptibleRun() {
  if (isWatched)
    running.store(nullptr);
}

} // namespace ingot::python
