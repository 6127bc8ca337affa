//===- Measure.cpp - loading and timing a model -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/Measure.h"

#include "client/Execute.h"
#include "client/Text.h"
#include "client/measure/Distribution.h"
#include "client/measure/System.h"

#include <algorithm>
#include <atomic>
#include <string.h>
#include <thread>

using namespace ingot::tools;

/// The most runs of a measurement. More runs would take too much memory.
static constexpr size_t maxRuns = 2000000;
/// The most runs whose layers are in the trace, and the most runs for medians.
static constexpr size_t maxTracedRuns = 10, maxMedianRuns = 2000;
/// The variation of runs in percent above which a warning is printed.
static constexpr double maxVariation = 10;

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::vector<double> BenchResult::latencies() const {
  std::vector<double> times;
  times.reserve(runs.size());
  for (const RunTime &run : runs)
    times.push_back(run.latencyMs());
  return times;
}

double BenchResult::layersMs() const {
  double sum = 0;
  for (const LayerResult &layer : layers)
    sum += layer.averageMs;
  return sum;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {

/// A context and the buffers of its runs.
struct Lane {
  PoolHandle pool;
  ContextHandle context;
  ProfileHandle profile; ///< null: nothing but the run itself
  std::vector<Array> outputs;
  std::vector<ingot_input> in;
  std::vector<ingot_output> out;
  std::vector<RunTime> runs;
  unsigned warmUpRuns = 0;
  ingot_error error = INGOT_ERROR_INIT;

  ingot_status run() {
    ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
    options.profile = profile.get();
    return ingot_context_run(context.get(), in.data(), uint32_t(in.size()),
                             out.data(), uint32_t(out.size()), &options,
                             &error);
  }
};

class Session {
public:
  Session(const MeasureOptions &options, BenchResult &result,
          const ingot::Progress &progress)
      : options(options), result(result), progress(progress) {}
  std::string run();
  std::string
  runRepeatedly(const std::function<bool()> &wantsNext,
                const std::function<void(const BenchResult &)> &report);

private:
  std::string load();
  std::string makeLane(Lane &lane);
  std::string firstAnswer();
  void describe();
  std::string measure();
  void measureLane(Lane &lane, std::atomic<size_t> &waiting);
  std::string profile();
  std::string dropIdleLayers();
  void collectLayers(const std::vector<std::vector<double>> &times);
  void warn();
  double profileMs() const { return std::min(options.durationMs, 1000.0); }
  void report(const char *phase, double doneMs);
  void reportRuns(uint64_t start, size_t runs);

  const MeasureOptions &options;
  BenchResult &result;
  const ingot::Progress &progress;
  /// The time of the last reported step, in nanoseconds.
  uint64_t reportedNs = 0;
  PoolHandle pool;
  ModelHandle model;
  std::vector<Array> inputs;
  std::vector<Lane> lanes;
  unsigned poolThreads = 0;
  uint64_t throttledBefore = 0;
};

} // namespace

/// Reports that `doneMs` of the planned time have passed.
void Session::report(const char *phase, double doneMs) {
  const double planned = options.warmUpMs + options.durationMs +
                         (options.profiles ? profileMs() : 0);
  progress.step(phase, planned > 0 ? std::min(doneMs / planned, 1.0) : -1);
}

/// Reports the progress of the measured runs twice a second, by time or by
/// number.
void Session::reportRuns(uint64_t start, size_t runs) {
  if (!progress.onStep || nowNs() - reportedNs < uint64_t(5e8))
    return;
  reportedNs = nowNs();
  const double passed = double(reportedNs - start) / 1e6;
  report("measuring",
         options.warmUpMs + std::min({passed, options.durationMs,
                                      options.durationMs * double(runs) /
                                          options.iterations}));
}

std::string Session::load() {
  report("loading", 0);
  // By default, contexts share the CPUs equally.
  poolThreads = options.threads
                    ? options.threads
                    : std::max(1u, ingot_cpu_count() / options.contexts);
  std::string problem = createPool(poolThreads, pool);
  if (!problem.empty())
    return problem;
  result.baseRssMb = residentMb("VmRSS");
  uint64_t start = nowNs();
  problem = loadModel(options.model, {options.weights, options.device},
                      pool.get(), model);
  result.loadMs = double(nowNs() - start) / 1e6;
  if (problem.empty())
    if (std::string warning =
            preprocessWarning(model.get(), options.specs.preprocess);
        !warning.empty())
      result.warnings.push_back(warning);
  if (!problem.empty() || !options.inputs.empty()) {
    inputs = options.inputs;
    return problem;
  }
  return makeInputs(model.get(), options.specs, inputs);
}

/// Prepares a context. The first context uses the pool that the model was
/// loaded with. Every other context gets its own pool, because a pool serves
/// one run at a time.
std::string Session::makeLane(Lane &lane) {
  std::string problem;
  if (!lane.pool)
    problem = createPool(poolThreads, lane.pool);
  if (problem.empty())
    problem = createContext(model.get(), lane.pool.get(), lane.context);
  if (!problem.empty())
    return problem;
  if (runToFit(model.get(), lane.context.get(), inputs, lane.outputs,
               lane.error))
    return lane.error.message;
  // Clear the message that a run with too little room may have left.
  lane.error = INGOT_ERROR_INIT;
  lane.in = inputViews(inputs);
  lane.out = outputViews(lane.outputs);
  return "";
}

std::string Session::firstAnswer() {
  lanes.resize(options.contexts);
  lanes[0].pool = std::move(pool);
  uint64_t start = nowNs();
  std::string problem = makeLane(lanes[0]);
  if (!problem.empty())
    return problem;
  result.firstAnswerMs = result.loadMs + double(nowNs() - start) / 1e6;
  result.threads = ingot_context_thread_count(lanes[0].context.get());
  for (size_t i = 1; i < lanes.size() && problem.empty(); ++i)
    problem = makeLane(lanes[i]);
  return problem;
}

void Session::describe() {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  result.compiler = info.compiler;
  result.target = info.target;
  result.libraries = usesOf(model.get(), INGOT_USE_LIBRARY);
  result.precision = precisionOf(model.get());
  for (const ingot_variant_info &variant : variantsOf(model.get()))
    if (variant.is_in_use) {
      result.cpuFeatures = variant.features;
      result.device = deviceName(variant.device);
    }
  result.weightsBytes = info.weights_bytes;
  result.arenaBytes = info.arena_bytes;
  for (uint32_t i = 0; i < info.num_inputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model.get(), i, &tensor, nullptr);
    result.bindings.push_back(tensor.name);
    result.inputs.push_back({tensor.name, formatShape(inputs[i].dims.data(),
                                                      inputs[i].dims.size())});
  }
  for (const std::string &name : outputNames(model.get()))
    result.bindings.push_back(name);
  // A library selects code for this CPU, not for the model's target.
  result.isa = result.libraries.empty() ? info.target : ingot_cpu_level();
  result.cpu = cpuName();
  result.cpus = ingot_cpu_count();
  for (Layer &layer : layersOf(model.get()))
    result.layers.push_back({std::move(layer)});
}

/// Warms up and waits for the other contexts. Then runs until both the number
/// of runs and the time are reached.
void Session::measureLane(Lane &lane, std::atomic<size_t> &waiting) {
  const bool reports = &lane == &lanes[0];
  uint64_t warmUntil = nowNs() + uint64_t(options.warmUpMs * 1e6);
  if (reports)
    report("warming up", 0);
  bool failed = false;
  while (!failed && nowNs() < warmUntil) {
    failed = lane.run() != INGOT_OK;
    ++lane.warmUpRuns;
  }
  lane.runs.clear();
  lane.runs.reserve(1 << 16);
  --waiting;
  while (waiting)
    std::this_thread::yield();
  uint64_t start = nowNs();
  uint64_t until = start + uint64_t(options.durationMs * 1e6);
  for (uint64_t now = start;
       !failed && lane.runs.size() < maxRuns &&
       (now < until || lane.runs.size() < options.iterations);) {
    uint64_t before = nowNs();
    failed = lane.run() != INGOT_OK;
    now = nowNs();
    if (!failed)
      lane.runs.push_back({double(before) / 1e6, double(now) / 1e6});
    if (reports)
      reportRuns(start, lane.runs.size());
  }
}

std::string Session::measure() {
  std::atomic<size_t> waiting{lanes.size()};
  std::vector<std::thread> others;
  uint64_t start = nowNs();
  for (size_t i = 1; i < lanes.size(); ++i)
    others.emplace_back([&, i] { measureLane(lanes[i], waiting); });
  measureLane(lanes[0], waiting);
  for (std::thread &other : others)
    other.join();
  result.runs.clear();
  for (Lane &lane : lanes) {
    if (lane.error.status)
      return lane.error.message;
    result.warmUpRuns += lane.warmUpRuns;
    result.runs.insert(result.runs.end(), lane.runs.begin(), lane.runs.end());
  }
  std::sort(
      result.runs.begin(), result.runs.end(),
      [](const RunTime &a, const RunTime &b) { return a.startMs < b.startMs; });
  if (result.runs.empty())
    return "";
  double first = result.runs.front().startMs, last = 0;
  result.warmUpMs = first - double(start) / 1e6;
  for (RunTime &run : result.runs) {
    run.startMs -= first;
    run.endMs -= first;
    last = std::max(last, run.endMs);
  }
  result.wallMs = last;
  return "";
}

//===----------------------------------------------------------------------===//
// Profile
//===----------------------------------------------------------------------===//

/// Drops the layers that runs with these sizes do not use, because the model
/// may have several bodies.
std::string Session::dropIdleLayers() {
  if (lanes[0].run())
    return lanes[0].error.message;
  ingot_profile *profile = lanes[0].profile.get();
  auto isIdle = [&](const LayerResult &layer) {
    ingot_profile_times taken = INGOT_PROFILE_TIMES_INIT;
    ingot_profile_layer_get(profile, layer.number, &taken, nullptr);
    return !taken.runs;
  };
  result.layers.erase(
      std::remove_if(result.layers.begin(), result.layers.end(), isIdle),
      result.layers.end());
  ingot_profile_reset(profile, nullptr);
  return "";
}

/// Profiles in separate runs. So the timed runs do not read the clock for each
/// layer.
std::string Session::profile() {
  Lane &lane = lanes[0];
  if (std::string problem = createProfile(model.get(), lane.profile);
      !problem.empty())
    return problem;
  if (std::string problem = dropIdleLayers(); !problem.empty())
    return problem;
  size_t count = result.layers.size();
  std::vector<std::vector<double>> times(count);
  report("profiling", options.warmUpMs + options.durationMs);
  uint64_t start = nowNs();
  uint64_t until = start + uint64_t(profileMs() * 1e6);
  for (size_t run = 0; run < options.iterations || nowNs() < until; ++run) {
    double runStart = double(nowNs() - start) / 1e6;
    if (lane.run())
      return lane.error.message;
    for (size_t i = 0; i < count && run < maxMedianRuns; ++i) {
      ingot_profile_times layer = INGOT_PROFILE_TIMES_INIT;
      ingot_profile_layer_get(lane.profile.get(), result.layers[i].number,
                              &layer, nullptr);
      times[i].push_back(double(layer.last_ns) / 1e6);
      if (run < maxTracedRuns)
        result.slices.push_back({i, run,
                                 runStart + double(layer.last_start_ns) / 1e6,
                                 double(layer.last_ns) / 1e6});
    }
  }
  collectLayers(times);
  return "";
}

void Session::collectLayers(const std::vector<std::vector<double>> &times) {
  ingot_profile *profile = lanes[0].profile.get();
  ingot_profile_times whole = INGOT_PROFILE_TIMES_INIT;
  ingot_profile_run_get(profile, &whole, nullptr);
  result.profiledRuns = whole.runs;
  if (whole.runs)
    result.profiledMs = double(whole.total_ns) / 1e6 / double(whole.runs);
  for (size_t i = 0; i < result.layers.size(); ++i) {
    LayerResult &layer = result.layers[i];
    ingot_profile_times taken = INGOT_PROFILE_TIMES_INIT;
    ingot_profile_layer_get(profile, layer.number, &taken, nullptr);
    layer.totalMs = double(taken.total_ns) / 1e6;
    layer.averageMs = taken.runs ? layer.totalMs / double(taken.runs) : 0;
    layer.minMs = double(taken.min_ns) / 1e6;
    layer.medianMs = Distribution(times[i]).median();
    layer.flops = taken.flops;
    layer.bytes = taken.bytes;
  }
  // The peaks of the CPU say nothing about a GPU.
  if (!options.measuresPeaks || !result.runsOnCpu())
    return;
  uint64_t features = levelFeatures(result.isa);
  result.peaks =
      measurePeaks(result.threads, features ? features : result.cpuFeatures);
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

void Session::warn() {
  char text[300];
  unsigned wanted = result.threads * options.contexts;
  if (wanted > result.cpus) {
    snprintf(
        text, sizeof(text),
        "%u thread%s in %u context%s are more than the %u CPU%s that this "
        "process may use (affinity and cgroup quota); the times mean little",
        wanted, wanted > 1 ? "s" : "", options.contexts,
        options.contexts > 1 ? "s" : "", result.cpus,
        result.cpus > 1 ? "s" : "");
    result.warnings.push_back(text);
  }
  if (uint64_t times = cgroupThrottled() - throttledBefore) {
    snprintf(text, sizeof(text),
             "the cgroup's CPU quota stopped this process %llu times while it "
             "was measured",
             static_cast<unsigned long long>(times));
    result.warnings.push_back(text);
  }
  double variation = Distribution(result.latencies()).variation();
  if (variation > maxVariation) {
    snprintf(text, sizeof(text),
             "latency is unstable: its coefficient of variation is %.1f %%; "
             "look for other load, or compare medians of several processes",
             variation);
    result.warnings.push_back(text);
  }
}

std::string Session::run() {
  throttledBefore = cgroupThrottled();
  std::string problem = load();
  if (problem.empty())
    problem = firstAnswer();
  if (!problem.empty())
    return problem;
  describe();
  if (options.profiles && result.layers.empty())
    return "'" + options.model +
           "' has no layers to profile; compile it again with this version";
  problem = measure();
  if (!problem.empty())
    return problem;
  result.peakRssMb = residentMb("VmHWM");
  warn();
  return options.profiles ? profile() : "";
}

std::string
Session::runRepeatedly(const std::function<bool()> &wantsNext,
                       const std::function<void(const BenchResult &)> &report) {
  std::string problem = load();
  if (problem.empty())
    problem = firstAnswer();
  while (problem.empty() && wantsNext()) {
    problem = measure();
    if (problem.empty())
      report(result);
  }
  return problem;
}

std::string ingot::tools::measureRepeatedly(
    const MeasureOptions &options, const std::function<bool()> &wantsNext,
    const std::function<void(const BenchResult &)> &report) {
  BenchResult result;
  return Session(options, result, /*progress=*/{})
      .runRepeatedly(wantsNext, report);
}

std::string ingot::tools::measureModel(const MeasureOptions &options,
                                       BenchResult &result,
                                       const ingot::Progress &progress) {
  return Session(options, result, progress).run();
}
