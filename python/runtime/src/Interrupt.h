//===- Interrupt.h - Ctrl-C ends a run ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PYTHON_INTERRUPT_H
#define INGOT_PYTHON_INTERRUPT_H

#include "ingot/ingot.h"

namespace ingot::python {

/// Lets SIGINT end a run of the main thread. Python handles signals only
/// between its own instructions, so a run must be told by a signal handler.
///
/// The handler calls the handler that it replaced. It is not installed while
/// SIGINT is ignored or has its default action.
class InterruptibleRun {
public:
  /// `given` is the caller's own cancellation, or null. Does nothing on other
  /// threads.
  explicit InterruptibleRun(const ingot_cancellation *given);
  ~InterruptibleRun();
  InterruptibleRun(const InterruptibleRun &) = delete;

  /// Returns the cancellation for the run; may be null.
  const ingot_cancellation *cancellation() const { return used; }

private:
  const ingot_cancellation *used;
  bool isWatched = false;
};

} // namespace ingot::python

#endif // INGOT_PYTHON_INTERRUPT_H
