//===- State.cpp - work, its order and its memory -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/driver/Graphs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace emugpu;

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// Parses a number that may end in K, M or G. Returns false if it is malformed.
static bool parseSize(const std::string &text, uint64_t &value) {
  char *end = nullptr;
  value = strtoull(text.c_str(), &end, 10);
  if (end == text.c_str() || text[0] == '-')
    return false;
  const std::string unit = end;
  const unsigned shift = unit == "K"   ? 10
                         : unit == "M" ? 20
                         : unit == "G" ? 30
                                       : 0;
  if (unit.empty() == (shift != 0) || value > (uint64_t(1) << 40) >> shift)
    return false;
  value <<= shift;
  return true;
}

std::string Settings::read(const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string value =
        equals == std::string::npos ? "" : item.substr(equals + 1);
    uint64_t number = 0;
    const bool isNumber = parseSize(value, number);
    if (name == "seed" && isNumber)
      seed = number;
    else if (name == "level" && isNumber && number < 1000)
      level = unsigned(number);
    else if (name == "devices" && isNumber && number >= 1 && number <= 8)
      devices = unsigned(number);
    else if (name == "driver" && isNumber && number < 100000)
      driver = unsigned(number);
    else if (name == "memory" && isNumber)
      memory = number;
    else if (name == "log" && !value.empty())
      log = value;
    else if (name == "checks" && (value == "on" || value == "off"))
      isChecked = value == "on";
    else if (name == "fail" && value.find(':') != std::string::npos) {
      failing = value.substr(0, value.find(':'));
      if (!parseSize(value.substr(value.find(':') + 1), number) || !number)
        return "'" + item +
               "' must be fail=FUNCTION:CALL, e.g. "
               "fail=cuMemAlloc_v2:1";
      failingCall = unsigned(number);
    } else {
      return "'" + item +
             "' is none of seed=N, level=N, driver=N, memory=BYTES, "
             "devices=N, log=FILE, fail=FUNCTION:CALL, checks=on|off";
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void emugpu::join(Clock &clock, const Clock &other) {
  clock.resize(std::max(clock.size(), other.size()));
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

Driver::Driver() {
  if (const char *text = getenv("INGOT_EMUGPU"))
    problem = settings.read(text);
  random.seed(settings.seed);
  if (!settings.log.empty()) {
    logFile = fopen(settings.log.c_str(), "a");
    if (!logFile)
      problem = "cannot write to '" + settings.log + "'";
  }
  if (!problem.empty())
    fprintf(stderr, "emulated GPU: INGOT_EMUGPU: %s\n", problem.c_str());
  memory = std::make_unique<DeviceMemory>(settings.memory);
  streams.push_back(std::make_unique<cuda::StreamObject>());
}

Driver::~Driver() {
  reportPending();
  // A program may end without releasing its objects.
  for (cuda::Module module : modules)
    delete module;
  for (cuda::Event event : events)
    delete event;
  for (cuda::GraphExec exec : execs)
    delete exec;
  for (cuda::Graph graph : graphs)
    delete graph;
  for (cuda::Context context : contexts)
    delete context;
  if (logFile)
    fclose(logFile);
}

Driver &Driver::get() {
  static Driver driver;
  return driver;
}

bool Driver::enter(const char *name) {
  log(name);
  if (settings.failing != name || ++calls[name] != settings.failingCall)
    return false;
  log(std::string(name) + " fails on demand");
  return true;
}

void Driver::log(const std::string &line) {
  if (!logFile)
    return;
  fprintf(logFile, "%s\n", line.c_str());
  fflush(logFile);
}

void Driver::fault(cuda::Result result, const std::string &text) {
  fprintf(stderr, "emulated GPU: %s\n", text.c_str());
  log("FAULT " + text);
  if (sticky)
    return;
  sticky = result;
  report = text;
}

std::vector<cuda::Context> &emugpu::currentContexts() {
  static thread_local std::vector<cuda::Context> contexts;
  return contexts;
}

cuda::CaptureMode &emugpu::captureMode() {
  static thread_local cuda::CaptureMode mode = cuda::captureGlobal;
  return mode;
}

cuda::Result Driver::disturbCaptures() {
  if (captureMode() == cuda::captureRelaxed)
    return cuda::success;
  for (std::unique_ptr<cuda::StreamObject> &stream : streams)
    if (stream->captureMode == cuda::captureGlobal)
      if (cuda::Result refused = refuseCapture(*stream))
        return refused;
  return cuda::success;
}

cuda::Context emugpu::primaryContext() {
  static cuda::ContextObject object;
  return &object;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

cuda::StreamObject &Driver::streamOf(cuda::Stream stream) {
  return isDefault(stream) ? *streams.front() : *stream;
}

cuda::Result Driver::enqueue(cuda::Stream handle, std::string name,
                             std::function<void(Work &)> execute) {
  cuda::StreamObject &stream = streamOf(handle);
  if (stream.isDestroyed)
    return cuda::invalidHandle;
  if (cuda::Result refused = refuseCapture(stream))
    return refused;
  join(stream.clock, hostClock);
  append(stream.index, std::move(name), stream.clock, std::move(execute));
  stream.clock.resize(std::max(stream.clock.size(), stream.index + 1));
  stream.clock[stream.index] = stream.enqueued;
  maybeRun();
  return cuda::success;
}

Work &Driver::append(size_t number, std::string name, Clock before,
                     std::function<void(Work &)> execute) {
  cuda::StreamObject &stream = *streams[number];
  stream.queue.push_back({std::move(name), number, ++stream.enqueued,
                          std::move(before), std::move(execute)});
  return stream.queue.back();
}

bool Driver::isStream(cuda::Stream stream) const {
  return isDefault(stream) ||
         std::any_of(streams.begin(), streams.end(),
                     [&](const std::unique_ptr<cuda::StreamObject> &each) {
                       return each.get() == stream && !each->isDestroyed;
                     });
}

cuda::Result Driver::refuseCapture(cuda::StreamObject &stream) {
  if (stream.capture == cuda::captureNone)
    return cuda::success;
  stream.capture = cuda::captureIsInvalidated;
  return cuda::captureUnsupported;
}

size_t Driver::takeChain() {
  if (!unusedChains.empty()) {
    const size_t chain = unusedChains.back();
    unusedChains.pop_back();
    return chain;
  }
  auto made = std::make_unique<cuda::StreamObject>();
  made->index = streams.size();
  made->isDestroyed = true;
  streams.push_back(std::move(made));
  return streams.size() - 1;
}

void Driver::run(Work &work) {
  if (sticky)
    return;
  current = nextSegment++;
  owners.push_back({current, work.stream, work.number});
  log("  executes " + work.name);
  try {
    work.execute(work);
  } catch (const KernelFault &failed) {
    fault(cuda::launchFailed, failed.text);
  } catch (const WorkFault &failed) {
    fault(failed.result, work.name + ": " + failed.text);
  }
}

void Driver::finish(size_t stream, uint64_t number) {
  // Work that must come first goes on top of the stack.
  std::vector<std::pair<size_t, uint64_t>> wanted = {{stream, number}};
  while (!wanted.empty()) {
    auto [index, until] = wanted.back();
    cuda::StreamObject &object = *streams[index];
    if (object.executed >= until) {
      wanted.pop_back();
      continue;
    }
    const Clock &before = object.queue.front().before;
    bool isBlocked = false;
    // The seed chooses between streams that must all come first.
    const size_t first = before.empty() ? 0 : random() % before.size();
    for (size_t i = 0; i < before.size() && !isBlocked; ++i) {
      const size_t other = (first + i) % before.size();
      if (streams[other]->executed < before[other]) {
        wanted.push_back({other, before[other]});
        isBlocked = true;
      }
    }
    if (isBlocked)
      continue;
    Work work = std::move(object.queue.front());
    object.queue.pop_front();
    run(work);
    object.executed = work.number;
  }
}

void Driver::finishAll() {
  for (size_t i = 0; i < streams.size(); ++i)
    finish(i, streams[i]->enqueued);
  for (std::unique_ptr<cuda::StreamObject> &stream : streams)
    join(hostClock, stream->clock);
}

void Driver::finishReaders(const Clock &before, const void *target,
                           size_t bytes) {
  const HostRange range{static_cast<const uint8_t *>(target), bytes};
  for (size_t stream = 0; stream < before.size(); ++stream) {
    uint64_t last = 0;
    for (const Work &work : streams[stream]->queue)
      if (work.number <= before[stream] &&
          range.overlaps({work.hostSource, work.hostBytes}))
        last = work.number;
    finish(stream, last);
  }
}

void Driver::reportPending() {
  for (std::unique_ptr<cuda::StreamObject> &stream : streams) {
    const uint64_t awaited =
        stream->index < hostClock.size() ? hostClock[stream->index] : 0;
    if (awaited < stream->enqueued && !sticky)
      fault(cuda::unknown, "nobody waited for the last " +
                               std::to_string(stream->enqueued - awaited) +
                               " pieces of work of stream " +
                               std::to_string(stream->index));
    stream->queue.clear();
    stream->executed = stream->enqueued;
  }
}

void Driver::maybeRun() {
  if (random() % 4)
    return;
  const size_t stream = random() % streams.size();
  if (!streams[stream]->queue.empty())
    finish(stream, streams[stream]->executed + 1);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

EndedBefore Driver::orderOf(const Work &work) const {
  return [this, before = work.before](Segment segment) {
    auto found = std::upper_bound(
        owners.begin(), owners.end(), segment,
        [](Segment s, const Owner &owner) { return s < owner.first; });
    if (found == owners.begin())
      return true;
    const Owner &owner = *std::prev(found);
    return owner.stream < before.size() && owner.number <= before[owner.stream];
  };
}

uint8_t *Driver::access(Work &work, uint64_t address, uint64_t bytes,
                        bool isWrite) {
  Allocation *found = memory->find(address, bytes);
  if (!found)
    throw WorkFault{cuda::illegalAddress,
                    "memory that was freed, or never allocated, is used"};
  const uint64_t offset = address - found->address;
  const EndedBefore endedBefore = orderOf(work);
  found->memory->forEachCell(offset, bytes, [&](Cell &cell) {
    if (settings.isChecked) {
      if (!isWrite && !cell.isDefined)
        throw WorkFault{cuda::illegalAddress,
                        "device memory is read, but nobody wrote it"};
      if ((cell.writer && !endedBefore(cell.writer)) ||
          (isWrite && cell.reader && !endedBefore(cell.reader)))
        throw WorkFault{cuda::illegalAddress,
                        "race: other work that need not have ended uses the "
                        "same device memory"};
    }
    (isWrite ? cell.writer : cell.reader) = current;
    if (isWrite) {
      cell.isDefined = true;
      cell.isAtomic = false;
      cell.reader = 0;
      cell.readers = 0;
    }
  });
  return found->memory->data() + offset;
}

bool Driver::isPinned(const void *pointer) const {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  auto found = pinnedBytes.upper_bound(address);
  if (found == pinnedBytes.begin())
    return false;
  --found;
  return address - found->first < found->second;
}
