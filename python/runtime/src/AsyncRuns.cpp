//===- AsyncRuns.cpp - runs of an event loop ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AsyncRuns.h"

#include <condition_variable>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "Errors.h"

namespace ingot::python {

using Lock = std::unique_lock<std::mutex>;

/// A run, and the objects that must live as long.
struct AsyncRuns::Job {
  Job(nb::handle model, nb::handle cancellation, nb::object tag,
      std::shared_ptr<Ended> receiver, const Model::Request &request)
      : model(nb::borrow(model)), cancellation(nb::borrow(cancellation)),
        tag(std::move(tag)), receiver(std::move(receiver)),
        run(nb::cast<Model &>(model), request) {}

  nb::object model, cancellation, tag;
  std::shared_ptr<Ended> receiver;
  Run run;
};

/// The jobs of a loop that have ended. The mutex of the threads guards them.
struct AsyncRuns::Ended {
  std::deque<std::unique_ptr<Job>> jobs;
  int event = -1; ///< -1 if the loop is gone
};

/// The threads that execute runs, and the runs that wait for one.
struct AsyncRuns::Threads {
  std::mutex mutex;
  std::condition_variable hasJob, isIdle;
  std::deque<std::unique_ptr<Job>> jobs;
  /// Ended runs of loops that are gone. The main thread deletes them.
  std::deque<std::unique_ptr<Job>> orphans;
  uint32_t count = 0, waiting = 0;

  /// True if no thread has a run.
  bool hasNoRun() const { return jobs.empty() && waiting == count; }
};

AsyncRuns::Threads *AsyncRuns::shared = nullptr;

AsyncRuns::Threads &AsyncRuns::sharedThreads() {
  if (!shared)
    shared = new Threads();
  return *shared;
}

/// Makes the descriptor of a loop readable.
static void notify(int event) {
  uint64_t one = 1;
  // The write fails only if the descriptor is readable already.
  [[maybe_unused]] ssize_t written = write(event, &one, sizeof(one));
}

int AsyncRuns::deleteOrphans(void *) {
  std::deque<std::unique_ptr<Job>> orphans;
  if (!shared)
    return 0;
  Lock lock(shared->mutex);
  orphans.swap(shared->orphans);
  lock.unlock();
  return 0;
}

void AsyncRuns::work(Threads *own) {
  Lock lock(own->mutex);
  while (true) {
    ++own->waiting;
    if (own->hasNoRun())
      own->isIdle.notify_all();
    own->hasJob.wait(lock, [&] { return !own->jobs.empty(); });
    --own->waiting;
    std::unique_ptr<Job> job = std::move(own->jobs.front());
    own->jobs.pop_front();
    lock.unlock();
    job->run.execute();
    lock.lock();
    Ended &receiver = *job->receiver;
    if (receiver.event < 0) {
      own->orphans.push_back(std::move(job));
      Py_AddPendingCall(deleteOrphans, nullptr);
      continue;
    }
    receiver.jobs.push_back(std::move(job));
    if (receiver.jobs.size() == 1)
      notify(receiver.event);
  }
}

void *AsyncRuns::enter(void *own) {
  pthread_setname_np(pthread_self(), "ingot-run");
  work(static_cast<Threads *>(own));
  return nullptr;
}

/// Starts a thread that receives no signals. Returns false if there is none.
static bool startThread(void *(*function)(void *), void *argument) {
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  pthread_t thread;
  bool isStarted = pthread_create(&thread, nullptr, function, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (isStarted)
    pthread_detach(thread);
  return isStarted;
}

void AsyncRuns::enqueue(Threads &threads, std::unique_ptr<Job> job) {
  Lock lock(threads.mutex);
  if (threads.waiting <= threads.jobs.size() &&
      threads.count < ingot_cpu_count()) {
    if (startThread(enter, &threads))
      ++threads.count;
    else if (!threads.count)
      raise(INGOT_OUT_OF_MEMORY, "no thread for an asynchronous run");
  }
  threads.jobs.push_back(std::move(job));
  if (threads.waiting)
    threads.hasJob.notify_one();
}

AsyncRuns::AsyncRuns()
    : own(&sharedThreads()), ended(std::make_shared<Ended>()),
      event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (event < 0)
    raise(INGOT_OUT_OF_MEMORY, "no descriptor for asynchronous runs");
  ended->event = event;
}

AsyncRuns::~AsyncRuns() {
  std::deque<std::unique_ptr<Job>> left;
  // In a child process, a thread of the parent may have held the mutex.
  if (own == shared) {
    Lock lock(own->mutex);
    ended->event = -1;
    left.swap(ended->jobs);
  }
  close(event);
}

void AsyncRuns::start(nb::handle model, nb::tuple inputs, nb::object outputs,
                      uint32_t threads, nb::handle cancellation,
                      nb::object tag) {
  Model::Request request;
  request.inputs = inputs;
  request.outputs = outputs;
  request.threads = threads;
  request.cancellation = nb::cast<Cancellation *>(cancellation);
  enqueue(*own, std::make_unique<Job>(model, cancellation, std::move(tag),
                                      ended, request));
}

nb::list AsyncRuns::take(size_t most) {
  std::deque<std::unique_ptr<Job>> taken;
  {
    Lock lock(own->mutex);
    while (!ended->jobs.empty() && taken.size() < most) {
      taken.push_back(std::move(ended->jobs.front()));
      ended->jobs.pop_front();
    }
    uint64_t count;
    // Runs that are left keep the descriptor readable.
    if (ended->jobs.empty() && read(event, &count, sizeof(count)) < 0)
      count = 0; // It was not readable.
  }
  nb::list results;
  for (std::unique_ptr<Job> &job : taken) {
    nb::object values = nb::none(), error = nb::none();
    try {
      if (job->run.state() == INGOT_BUFFER_TOO_SMALL && job->run.mustRepeat()) {
        enqueue(*own, std::move(job));
        continue;
      }
      nb::list list;
      for (nb::object &value : job->run.take())
        list.append(value);
      values = nb::tuple(list);
    } catch (nb::python_error &raised) {
      error = nb::borrow(raised.value());
    }
    results.append(nb::make_tuple(job->tag, values, error));
  }
  return results;
}

void AsyncRuns::waitForAll() {
  if (!shared)
    return;
  Lock lock(shared->mutex);
  shared->isIdle.wait(lock, [] { return shared->hasNoRun(); });
}

void AsyncRuns::forget() { shared = nullptr; }

} // namespace ingot::python
