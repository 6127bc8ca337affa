//===- State.h - the state of the emulated driver ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work that a program enqueues is executed when the program waits for it. The
// seed may choose an earlier time. Each piece of work has a clock for each
// stream, which records the work that it is ordered after. Memory accesses of
// unordered work are races, even if the work is executed one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_DRIVER_STATE_H
#define INGOT_TOOLS_EMUGPU_DRIVER_STATE_H

#include "tools/emugpu/Machine.h"
#include "tools/emugpu/driver/GraphApi.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace emugpu {

namespace cuda = ingot::cuda;

/// The options of the emulated GPU, from the environment variable INGOT_EMUGPU:
/// `seed=3,level=80,driver=12090,memory=1G,devices=2,log=FILE,
/// fail=cuMemAlloc_v2:2,checks=off`. With `level=0` the machine has no device.
struct Settings {
  uint64_t seed = 0, memory = uint64_t(4) << 30;
  unsigned level = 80, driver = 12090;
  /// The number of devices. Only device 0 executes work. A program can allocate
  /// memory on the others, in a context that it creates.
  unsigned devices = 1;
  std::string log, failing;
  /// The number of the call to `failing` that fails, counted from 1.
  unsigned failingCall = 1;
  bool isChecked = true;

  /// Parses the value of the variable. Returns "" or an error message.
  std::string read(const std::string &text);
};

/// A byte that makes every float type a NaN.
constexpr int kPoison = 0xff;

/// For each stream, the number of the last work that something is ordered
/// after.
using Clock = std::vector<uint64_t>;
void join(Clock &clock, const Clock &other);

/// Work in a stream.
struct Work {
  std::string name;
  /// The stream, the number of the work in it, and the clock of all earlier
  /// work.
  size_t stream;
  uint64_t number;
  Clock before;
  std::function<void(Work &)> execute;
  /// Pinned memory that the work reads.
  const uint8_t *hostSource = nullptr;
  size_t hostBytes = 0;
};

/// An exception of work that fails.
struct WorkFault {
  cuda::Result result;
  std::string text;
};

class Driver {
public:
  /// Returns the driver of the process.
  static Driver &get();

  // Calls.
  /// Records a call. Returns true if the call must fail.
  bool enter(const char *name);
  void log(const std::string &line);
  /// Prints a report of an error in the program, and makes all later calls
  /// fail.
  void fault(cuda::Result result, const std::string &text);

  // Work.
  /// Appends work to a stream.
  cuda::Result enqueue(cuda::Stream stream, std::string name,
                       std::function<void(Work &)> execute);
  /// Executes the work of a stream up to a number, and all work that it waits
  /// for.
  void finish(size_t stream, uint64_t number);
  /// Appends work to the stream with this number, ordered after `before`.
  Work &append(size_t stream, std::string name, Clock before,
               std::function<void(Work &)> execute);
  /// Executes the work up to `before` that reads host memory at `target`,
  /// before later work overwrites that memory.
  void finishReaders(const Clock &before, const void *target, size_t bytes);
  void finishAll();
  /// Reports work that the program has not waited for.
  void reportPending();
  /// Executes some work that may run now, if the seed selects that.
  void maybeRun();
  /// Returns true for the handles of the default stream: null and
  /// CU_STREAM_LEGACY.
  static bool isDefault(cuda::Stream stream) {
    return reinterpret_cast<uintptr_t>(stream) <= 1;
  }
  /// Returns the object of a stream.
  cuda::StreamObject &streamOf(cuda::Stream stream);
  /// Returns true if the handle is that of an existing stream.
  bool isStream(cuda::Stream stream) const;
  /// Returns an error if the stream captures, and invalidates the capture. The
  /// emulator records no work.
  cuda::Result refuseCapture(cuda::StreamObject &stream);
  /// Returns the number of a stream without a handle, for nodes of graphs.
  size_t takeChain();

  // Memory.
  /// Checks and records an access of `work` to device memory. Returns the bytes
  /// on the host.
  uint8_t *access(Work &work, uint64_t address, uint64_t bytes, bool isWrite);
  bool isPinned(const void *pointer) const;
  /// Returns an error if a call that allocates memory, by this thread, disturbs
  /// a capture. Invalidates the capture.
  cuda::Result disturbCaptures();
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
  /// The contexts that the program has created beside the primary one. They
  /// share its memory and modules.
  std::set<cuda::Context> contexts;
  std::vector<std::unique_ptr<cuda::StreamObject>> streams;
  std::set<cuda::Event> events;
  std::set<cuda::Module> modules;
  std::set<cuda::Graph> graphs;
  std::set<cuda::GraphExec> execs;
  /// The numbers of streams that no executable graph uses.
  std::vector<size_t> unusedChains;
  std::map<uint64_t, std::unique_ptr<uint8_t[]>> pinned;
  std::map<uint64_t, uint64_t> pinnedBytes;
  /// The device of each allocation that is not on device 0, by address.
  std::map<uint64_t, cuda::Device> foreign;
  Segment nextSegment = 1;
  /// The clock of all work that the host has waited for.
  Clock hostClock;

private:
  Driver();
  ~Driver();
  void run(Work &work);

  /// The first segment of a piece of executed work, its stream and its number.
  struct Owner {
    Segment first;
    size_t stream;
    uint64_t number;
  };
  std::vector<Owner> owners;
  /// The segment of the work that is being executed.
  Segment current = 0;
  std::map<std::string, unsigned> calls;
  std::mt19937_64 random;
  FILE *logFile = nullptr;
};

/// Checks a launch and copies its parameters, as a driver does. Sets the
/// function that executes it.
cuda::Result prepareLaunch(const cuda::KernelNode &launch,
                           std::function<void(Work &)> &execute);

/// The current contexts of a thread. The last one is on top of the stack.
std::vector<cuda::Context> &currentContexts();

/// The capture mode of this thread.
cuda::CaptureMode &captureMode();

/// The device's primary context.
cuda::Context primaryContext();

/// Begins a driver function. Takes the lock and records the call. Returns early
/// if the options make the call fail, or if the driver is not initialized.
#define INGOT_EMUGPU_ENTER(NAME)                                               \
  Driver &driver = Driver::get();                                              \
  std::lock_guard<std::recursive_mutex> guard(driver.mutex);                   \
  if (driver.enter(#NAME))                                                     \
    return cuda::unknown;                                                      \
  if (!driver.isInitialized)                                                   \
  return cuda::notInitialized
/// Continues only if a context is current and no error has ended it.
#define INGOT_EMUGPU_NEEDS_CONTEXT                                             \
  if (currentContexts().empty())                                               \
    return cuda::invalidContext;                                               \
  if (driver.sticky)                                                           \
  return driver.sticky

} // namespace emugpu

struct ingot::cuda::ContextObject {
  Device device = 0;
};

struct ingot::cuda::StreamObject {
  size_t index = 0;
  /// The context that was current when the stream was made.
  Context context = nullptr;
  /// True if there is no handle of the stream.
  bool isDestroyed = false;
  CaptureStatus capture = captureNone;
  CaptureMode captureMode = captureGlobal;
  uint64_t enqueued = 0, executed = 0;
  std::deque<emugpu::Work> queue;
  /// The clock of all work that the stream's next work is ordered after.
  emugpu::Clock clock;
};

struct ingot::cuda::EventObject {
  bool hasTime = true;
  /// The work that the event marks. None before the event is recorded.
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
