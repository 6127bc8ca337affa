//===- Case.cpp - running and measuring one compiled model ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Case.h"

#include "client/Execute.h"
#include "client/Values.h"
#include "client/measure/Distribution.h"
#include "client/measure/System.h"
#include "tools/gpu-runner/Match.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <thread>

using namespace ingot;
using namespace ingot::gpu;
using namespace ingot::tools;

namespace {

/// A loaded model with its inputs.
struct Loaded {
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  std::vector<Array> inputs;
  double loadMs = 0;

  std::string load(const std::string &path, unsigned threads = 1);
  std::string makeInputs(const Json &sources, const std::string &folder);
  /// Runs once, with all tensors in host memory.
  std::string run(std::vector<Array> &outputs) {
    return runIn(context.get(), outputs);
  }
  std::string runIn(ingot_context *context, std::vector<Array> &outputs);
};

/// Inputs and outputs in GPU memory.
class DeviceTensors {
public:
  explicit DeviceTensors(Gpu &gpu) : gpu(gpu) {}
  DeviceTensors(const DeviceTensors &) = delete;
  ~DeviceTensors() {
    for (cuda::DevicePointer pointer : pointers)
      gpu.driver.cuMemFree_v2(pointer);
    if (stream)
      gpu.driver.cuStreamDestroy_v2(stream);
  }

  /// Allocates memory and copies the inputs. `outputs` has the sizes.
  std::string create(std::vector<Array> &inputs, std::vector<Array> &outputs);
  std::string run(ingot_context *context);
  /// Starts a run on the stream of the tensors, and waits for it.
  std::string start(ingot_context *context);
  std::string wait(ingot_context *context);
  /// Copies the outputs to host memory.
  std::string fetch(std::vector<Array> &outputs);

private:
  std::string allocate(uint64_t bytes, cuda::DevicePointer &pointer);

  Gpu &gpu;
  cuda::Stream stream = nullptr;
  std::vector<cuda::DevicePointer> pointers;
  std::vector<ingot_input> in;
  std::vector<ingot_output> out;
};

} // namespace

static double since(uint64_t start) { return double(nowNs() - start) * 1e-6; }

std::string Loaded::load(const std::string &path, unsigned threads) {
  std::string problem = createPool(threads, pool);
  const uint64_t start = nowNs();
  if (problem.empty())
    problem = loadModel(path, {}, pool.get(), model);
  loadMs = since(start);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  return problem;
}

/// Rounds each element to a multiple of 1/8. Sums of such products are exact in
/// any order.
static void roundToEighths(Array &array) {
  if (array.dtype != INGOT_FLOAT)
    return;
  for (size_t at = 0; at + sizeof(float) <= array.data.size();
       at += sizeof(float)) {
    float value;
    memcpy(&value, &array.data[at], sizeof(value));
    value = roundf(value * 8) / 8;
    memcpy(&array.data[at], &value, sizeof(value));
  }
}

std::string Loaded::makeInputs(const Json &sources, const std::string &folder) {
  const std::vector<ingot_tensor_info> infos = inputInfosOf(model.get());
  if (infos.size() != sources.size())
    return "the model has " + std::to_string(infos.size()) +
           " inputs, but the case has " + std::to_string(sources.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    const std::string source = sources[i];
    Array array;
    array.dtype = infos[i].dtype;
    const size_t colon = source.find(':');
    const std::string kind = source.substr(0, colon);
    if (colon != source.npos && (kind == "random" || kind == "eighths")) {
      array.dims.assign(infos[i].dims, infos[i].dims + infos[i].rank);
      uint64_t bytes;
      if (!denseBytes(array.dims, array.dtype, bytes))
        return "input " + std::to_string(i) + " has an open size";
      array.data.resize(bytes);
      fillRandom(array, strtoull(source.c_str() + colon + 1, nullptr, 10));
      if (kind == "eighths")
        roundToEighths(array);
    } else {
      // The file has the type.
      array.dtype = 0;
      if (std::string problem = readNpy(folder + "/" + source, array);
          !problem.empty())
        return problem;
    }
    inputs.push_back(std::move(array));
  }
  return "";
}

std::string Loaded::runIn(ingot_context *context, std::vector<Array> &outputs) {
  ingot_error error = INGOT_ERROR_INIT;
  outputs.clear();
  if (runToFit(model.get(), context, inputs, outputs, error))
    return error.message;
  return "";
}

std::string DeviceTensors::allocate(uint64_t bytes,
                                    cuda::DevicePointer &pointer) {
  // The driver refuses an allocation of 0 bytes.
  std::string problem = gpu.check(
      gpu.driver.cuMemAlloc_v2(&pointer, bytes ? bytes : 1), "cuMemAlloc");
  if (problem.empty())
    pointers.push_back(pointer);
  return problem;
}

std::string DeviceTensors::create(std::vector<Array> &inputs,
                                  std::vector<Array> &outputs) {
  std::string problem =
      gpu.check(gpu.driver.cuStreamCreate(&stream, cuda::streamNonBlocking),
                "cuStreamCreate");
  in = inputViews(inputs);
  out = outputViews(outputs);
  for (size_t i = 0; i < in.size() && problem.empty(); ++i) {
    cuda::DevicePointer pointer = 0;
    problem = allocate(in[i].bytes, pointer);
    if (problem.empty() && in[i].bytes)
      problem = gpu.check(gpu.driver.cuMemcpyHtoDAsync_v2(pointer, in[i].data,
                                                          in[i].bytes, stream),
                          "cuMemcpyHtoDAsync");
    in[i].data = reinterpret_cast<const void *>(pointer);
    in[i].memory = INGOT_MEMORY_CUDA;
  }
  for (size_t i = 0; i < out.size() && problem.empty(); ++i) {
    cuda::DevicePointer pointer = 0;
    problem = allocate(out[i].bytes, pointer);
    out[i].data = reinterpret_cast<void *>(pointer);
    out[i].memory = INGOT_MEMORY_CUDA;
  }
  if (problem.empty())
    problem = gpu.check(gpu.driver.cuStreamSynchronize(stream),
                        "cuStreamSynchronize");
  return problem;
}

std::string DeviceTensors::run(ingot_context *context) {
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_context_run(context, in.data(), uint32_t(in.size()), out.data(),
                        uint32_t(out.size()), nullptr, &error))
    return error.message;
  return "";
}

std::string DeviceTensors::start(ingot_context *context) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  options.stream = stream;
  if (ingot_context_run_async(context, in.data(), uint32_t(in.size()),
                              out.data(), uint32_t(out.size()), &options,
                              &error))
    return error.message;
  return "";
}

std::string DeviceTensors::wait(ingot_context *context) {
  ingot_error error = INGOT_ERROR_INIT;
  return ingot_context_wait(context, &error) ? error.message : "";
}

std::string DeviceTensors::fetch(std::vector<Array> &outputs) {
  std::string problem;
  for (size_t i = 0; i < out.size() && problem.empty(); ++i)
    if (!outputs[i].data.empty())
      problem =
          gpu.check(gpu.driver.cuMemcpyDtoHAsync_v2(
                        outputs[i].data.data(),
                        reinterpret_cast<cuda::DevicePointer>(out[i].data),
                        outputs[i].data.size(), stream),
                    "cuMemcpyDtoHAsync");
  if (problem.empty())
    problem = gpu.check(gpu.driver.cuStreamSynchronize(stream),
                        "cuStreamSynchronize");
  return problem;
}

/// Returns true if all tensors may be in GPU memory.
static bool acceptsDeviceMemory(const Loaded &loaded,
                                const std::vector<Array> &outputs) {
  for (const ingot_tensor_info &info : inputInfosOf(loaded.model.get()))
    if (info.is_dynamic)
      return false;
  for (const ingot_tensor_info &info : outputInfosOf(loaded.model.get()))
    if (info.is_dynamic)
      return false;
  for (const Array &array : outputs)
    if (array.dtype == INGOT_STRING)
      return false;
  return !outputs.empty();
}

static bool equalBits(const std::vector<Array> &a,
                      const std::vector<Array> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].data != b[i].data || a[i].text != b[i].text)
      return false;
  return true;
}

/// Runs two contexts at the same time. Returns an error message, or "".
static std::string runInThreads(Loaded &loaded,
                                const std::vector<Array> &want) {
  constexpr int kThreads = 2, kRuns = 3;
  std::string problems[kThreads];
  std::vector<std::thread> threads;
  for (std::string &problem : problems)
    threads.emplace_back([&] {
      ContextHandle context;
      std::vector<Array> outputs;
      problem = createContext(loaded.model.get(), loaded.pool.get(), context);
      for (int run = 0; run < kRuns && problem.empty(); ++run) {
        problem = loaded.runIn(context.get(), outputs);
        if (problem.empty() && !equalBits(outputs, want))
          problem = "runs in two threads give other bits";
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &problem : problems)
    if (!problem.empty())
      return problem;
  return "";
}

/// Runs again, in other ways. Returns an error message, or "".
static std::string runOtherWays(Loaded &loaded, const std::vector<Array> &want,
                                Json &row) {
  std::vector<Array> again;
  std::string problem = loaded.run(again);
  if (!problem.empty())
    return problem;
  if (!equalBits(again, want))
    return "a second run gives other bits";
  row["ways"] = {"again"};
  problem = runInThreads(loaded, want);
  if (!problem.empty())
    return problem;
  row["ways"].push_back("two threads");
  if (!acceptsDeviceMemory(loaded, want))
    return "";
  Gpu gpu;
  problem = gpu.open();
  if (!problem.empty())
    return problem;
  DeviceTensors tensors(gpu);
  problem = tensors.create(loaded.inputs, again);
  if (problem.empty())
    problem = tensors.run(loaded.context.get());
  if (problem.empty())
    problem = tensors.fetch(again);
  if (problem.empty() && !equalBits(again, want))
    problem = "a run with tensors in GPU memory gives other bits";
  if (!problem.empty())
    return problem;
  row["ways"].push_back("tensors in GPU memory");
  problem = tensors.start(loaded.context.get());
  if (problem.empty())
    problem = tensors.fetch(again);
  if (problem.empty())
    problem = tensors.wait(loaded.context.get());
  if (problem.empty() && !equalBits(again, want))
    problem = "an asynchronous run on a stream gives other bits";
  if (problem.empty())
    row["ways"].push_back("asynchronous");
  return problem;
}

/// Measures runs for some seconds, at least three. Inputs and outputs are in
/// GPU memory if the model accepts that.
static std::string measure(Loaded &loaded, std::vector<Array> outputs,
                           double seconds, Json &row) {
  Gpu gpu;
  std::string problem = gpu.open();
  if (!problem.empty())
    return problem;
  DeviceTensors tensors(gpu);
  const bool onDevice = acceptsDeviceMemory(loaded, outputs);
  if (onDevice)
    problem = tensors.create(loaded.inputs, outputs);
  std::vector<double> times;
  // The first runs warm up.
  constexpr int kWarmUp = 2, kLeast = 3;
  const uint64_t begin = nowNs();
  for (int run = 0; problem.empty() &&
                    (run < kWarmUp + kLeast || since(begin) < 1e3 * seconds);
       ++run) {
    const uint64_t start = nowNs();
    problem =
        onDevice ? tensors.run(loaded.context.get()) : loaded.run(outputs);
    if (run >= kWarmUp)
      times.push_back(since(start));
  }
  if (!problem.empty())
    return problem;
  const Distribution distribution(times);
  row["tensors_in"] = onDevice ? "GPU memory" : "host memory";
  row["runs"] = times.size();
  row["median_ms"] = distribution.median();
  row["min_ms"] = distribution.min();
  row["p90_ms"] = distribution.percentile(90);
  return "";
}

static Tolerance toleranceOf(const Json &item) {
  Tolerance tolerance;
  if (const auto found = item.find("tolerance"); found != item.end()) {
    tolerance.absolute = found->value("absolute", 0.0);
    tolerance.relative = found->value("relative", 0.0);
    tolerance.scale = found->value("scale", 0.0);
  }
  return tolerance;
}

/// Loads, runs and compares. Returns an error message, or "".
static std::string runInto(const Json &item, const std::string &folder,
                           Json &row) {
  Loaded loaded;
  std::string problem =
      loaded.load(folder + "/" + item.at("artifact").get<std::string>());
  if (problem.empty())
    problem = loaded.makeInputs(item.at("inputs"), folder);
  row["load_ms"] = loaded.loadMs;
  std::vector<Array> outputs;
  if (problem.empty())
    problem = loaded.run(outputs);
  if (!problem.empty())
    return problem;

  Match match;
  const std::string expected = item.at("expected");
  for (size_t i = 0; i < outputs.size() && match.problem.empty(); ++i) {
    Array want;
    match.problem = readNpy(
        folder + "/" + expected + "/" + std::to_string(i) + ".npy", want);
    if (match.problem.empty())
      compare(outputs[i], want, toleranceOf(item), match);
  }
  if (!match.problem.empty())
    return match.problem;
  row["elements"] = match.elements;
  row["different"] = match.different;
  row["wrong"] = match.wrong;
  // JSON has neither NaN nor infinity.
  row["largest_error"] =
      isfinite(match.largestError) ? Json(match.largestError) : Json();
  row["status"] = match.wrong ? "differs" : match.different ? "close" : "equal";
  if (item.value("api", false))
    problem = runOtherWays(loaded, outputs, row);
  if (const double seconds = item.value("measure", 0.0);
      problem.empty() && seconds > 0)
    problem = measure(loaded, outputs, seconds, row);
  return problem;
}

Json gpu::runCase(const Json &item, const std::string &folder) {
  Json row = {{"name", item.at("name")},
              {"group", item.value("group", "")},
              {"status", "failed"}};
  const std::string problem = runInto(item, folder, row);
  if (!problem.empty()) {
    row["status"] = "failed";
    row["message"] = problem;
  }
  return row;
}

std::string gpu::recordCase(const Json &item, const std::string &folder) {
  Loaded loaded;
  const std::string artifact =
      item.value("reference", item.at("artifact").get<std::string>());
  // Large models run on the CPU, with all its threads.
  std::string problem = loaded.load(folder + "/" + artifact, /*threads=*/0);
  if (problem.empty())
    problem = loaded.makeInputs(item.at("inputs"), folder);
  std::vector<Array> outputs;
  if (problem.empty())
    problem = loaded.run(outputs);
  const std::string expected =
      folder + "/" + item.at("expected").get<std::string>();
  if (problem.empty() && mkdir(expected.c_str(), 0777) && errno != EEXIST)
    problem = "cannot create " + expected;
  for (size_t i = 0; i < outputs.size() && problem.empty(); ++i)
    problem = writeNpy(expected + "/" + std::to_string(i) + ".npy",
                       storedPart(outputs[i]));
  return problem;
}
