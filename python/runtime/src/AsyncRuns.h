//===- AsyncRuns.h - runs of an event loop --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PYTHON_ASYNCRUNS_H
#define INGOT_PYTHON_ASYNCRUNS_H

#include <deque>
#include <memory>

#include "Run.h"

namespace ingot::python {

/// The runs of an event loop. Threads that all loops share execute them, and
/// these threads never need the GIL. So they never make the loop wait.
class AsyncRuns {
public:
  /// Raises ingot.Error if the process has no descriptor left.
  AsyncRuns();
  ~AsyncRuns();
  AsyncRuns(const AsyncRuns &) = delete;

  /// Returns a descriptor that can be read while `take` has something to
  /// return.
  int descriptor() const { return event; }

  /// Starts a run with arrays in the order of the model. `take` returns `tag`
  /// when the run has ended. Raises an exception for wrong arrays.
  void start(nb::handle model, nb::tuple inputs, nb::object outputs,
             uint32_t threads, nb::handle cancellation, nb::object tag);

  /// Returns at most so many runs that have ended, each as (tag, results, None)
  /// or (tag, None, exception).
  nb::list take(size_t most);

  /// Waits until the threads have no run. Needs no GIL.
  static void waitForAll();
  /// Forgets the threads, which a child process does not have.
  static void forget();

private:
  struct Job;
  struct Threads;
  struct Ended;

  static Threads &sharedThreads();
  static int deleteOrphans(void *);
  static void work(Threads *own);
  static void *enter(void *own);
  static void enqueue(Threads &threads, std::unique_ptr<Job> job);

  static Threads *shared; ///< never deleted, since a thread may use it
  Threads *own;
  std::shared_ptr<Ended> ended;
  int event;
};

} // namespace ingot::python

#endif // INGOT_PYTHON_ASYNCRUNS_H
