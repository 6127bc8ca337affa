//===- State.h - the state of the emulated driver ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work that a program enqueues is executed only when the program waits for it,
// or earlier if the seed says so. Each piece of work knows which other work it
// is ordered behind, as a clock for each stream. Memory accesses of work that
// nothing orders race, even if they are executed one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_DRIVER_STATE_H
#define INGOT_TOOLS_EMUGPU_DRIVER_STATE_H

#include "runtime/cuda/DriverApi.h"
#include "tools/emugpu/Machine.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace emugpu {

namespace cuda = ingot::cuda;

/// The choices of the emulated GPU, from the environment variable
/// INGOT_EMUGPU: `seed=3,level=80,driver=12090,memory=1G,log=FILE,
/// fail=cuMemAlloc_v2:2,checks=off`. `level=0` is a machine without a device.
struct Settings {
  uint64_t seed = 0, memory = uint64_t(4) << 30;
  unsigned level = 80, driver = 12090;
  std::string log, failing;
  /// The number of the call of `failing` that fails, from 1 on.
  unsigned failingCall = 1;
  bool isChecked = true;

  /// Reads the variable. Returns "" or an error message.
  std::string read(const std::string &text);
};

/// The highest number of work in each stream that something is ordered behind.
using Clock = std::vector<uint64_t>;
void join(Clock &clock, const Clock &other);

/// Work that is enqueued.
struct Work {
  std::string name;
  /// The stream and the number in it, and all that comes before.
  size_t stream;
  uint64_t number;
  Clock before;
  std::function<void(Work &)> execute;
};

/// Thrown by work that fails.
struct WorkFault {
  cuda::Result result;
  std::string text;
};

class Driver {
public:
  /// Returns the driver of the process.
  static Driver &get();

  // Calls.
  /// Notes a call. Returns true if the call must fail.
  bool enter(const char *name);
  void log(const std::string &line);
  /// Prints a report of a mistake, and makes all later calls fail.
  void fault(cuda::Result result, const std::string &text);

  // Work.
  /// Appends work to a stream.
  cuda::Result enqueue(cuda::Stream stream, std::string name,
                       std::function<void(Work &)> execute);
  /// Executes the work of a stream up to a number, and what it waits for.
  void finish(size_t stream, uint64_t number);
  void finishAll();
  /// Reports work that nobody has waited for.
  void reportPending();
  /// Executes some work that could end now, if the seed says so.
  void maybeRun();
  /// Returns the object of a stream; null is the default stream.
  cuda::StreamObject &streamOf(cuda::Stream stream);

  // Memory.
  /// Checks and notes an access of `work` to device memory, and returns the
  /// host's bytes.
  uint8_t *access(Work &work, uint64_t address, uint64_t bytes, bool isWrite);
  bool isPinned(const void *pointer) const;
  EndedBefore orderOf(const Work &work) const;

  std::recursive_mutex mutex;
  Settings settings;
  std::string problem;
  std::unique_ptr<DeviceMemory> memory;
  bool isInitialized = false;
  /// The error that ended the context, or success.
  cuda::Result sticky = cuda::success;
  std::string report;
  unsigned retained = 0;
  std::vector<std::unique_ptr<cuda::StreamObject>> streams;
  std::set<cuda::Event> events;
  std::set<cuda::Module> modules;
  std::map<uint64_t, std::unique_ptr<uint8_t[]>> pinned;
  std::map<uint64_t, uint64_t> pinnedBytes;
  Segment nextSegment = 1;
  /// Everything that the host has waited for.
  Clock hostClock;

private:
  Driver();
  ~Driver();
  void run(Work &work);

  /// The first segment of each executed work, with its stream and number.
  struct Owner {
    Segment first;
    size_t stream;
    uint64_t number;
  };
  std::vector<Owner> owners;
  /// The segment of the work that is executed.
  Segment current = 0;
  std::map<std::string, unsigned> calls;
  std::mt19937_64 random;
  FILE *logFile = nullptr;
};

/// The contexts that are current in a thread, the last one on top.
std::vector<cuda::Context> &currentContexts();

/// The only context: the device's primary one.
cuda::Context primaryContext();

/// Begins a driver function: takes the lock, notes the call and returns early
/// if the call fails on demand or the driver is not ready.
#define INGOT_EMUGPU_ENTER(NAME)                                               \
  Driver &driver = Driver::get();                                              \
  std::lock_guard<std::recursive_mutex> guard(driver.mutex);                   \
  if (driver.enter(#NAME))                                                     \
    return cuda::unknown;                                                      \
  if (!driver.isInitialized)                                                   \
  return cuda::notInitialized
/// Goes on only if a context is current and no error ended it.
#define INGOT_EMUGPU_NEEDS_CONTEXT                                             \
  if (currentContexts().empty())                                               \
    return cuda::invalidContext;                                               \
  if (driver.sticky)                                                           \
  return driver.sticky

} // namespace emugpu

struct ingot::cuda::StreamObject {
  size_t index = 0;
  bool isDestroyed = false;
  uint64_t enqueued = 0, executed = 0;
  std::deque<emugpu::Work> queue;
  /// All that the next work of the stream is ordered behind.
  emugpu::Clock clock;
};

struct ingot::cuda::EventObject {
  /// The work that the event marks; none before it is recorded.
  bool isRecorded = false;
  size_t stream = 0;
  uint64_t number = 0;
  emugpu::Clock clock;
};

struct ingot::cuda::FunctionObject {
  emugpu::Program program;
  unsigned mostDynamicShared = 48 << 10;
};

struct ingot::cuda::ModuleObject {
  emugpu::Module module;
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};

#endif // INGOT_TOOLS_EMUGPU_DRIVER_STATE_H
