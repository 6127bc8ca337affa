//===- Cancellation.h - request to end runs early -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_CANCELLATION_H
#define INGOT_RUNTIME_CORE_CANCELLATION_H

#include "ingot/ingot.h"

#include <atomic>

struct ingot_cancellation {
  bool isRequested() const { return requested.load(std::memory_order_relaxed); }

  /// True once any thread or a signal handler has requested cancellation.
  std::atomic<bool> requested{false};
};

#endif // INGOT_RUNTIME_CORE_CANCELLATION_H
