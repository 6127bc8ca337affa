//===- Against.cpp - a model beside other runtimes ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/bench/Against.h"

#include "base/Process.h"
#include "base/ScratchFolder.h"
#include "client/Handles.h"
#include "client/Text.h"
#include "client/measure/Distribution.h"
#include "client/measure/Python.h"

#include <optional>
#include <stdlib.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

/// The text of scripts/measure_peer.py. It is built into the program, so that
/// the script need not be installed.
static constexpr char peerScript[] =
#include "PeerScript.inc"
    ;

namespace {

/// The median, the lowest and the highest value of the rounds.
struct Spread {
  explicit Spread(std::vector<double> values) : all(std::move(values)) {}
  Distribution all;
  std::string text() const {
    char text[80];
    snprintf(text, sizeof(text), "%.3f (%.3f-%.3f)", all.median(), all.min(),
             all.max());
    return text;
  }
  Json json() const {
    return {{"median", all.median()}, {"min", all.min()}, {"max", all.max()}};
  }
};

class ComparisonRun {
public:
  ComparisonRun(const BenchOptions &options, Comparison &result)
      : options(options), engines(result.engines), threads(result.threads),
        precision(result.precision) {}
  /// Measures all engines. Returns an error message, or "".
  std::string run(const ingot::Progress &progress);

private:
  std::string checkPeers();
  std::string writeInputs();
  std::string measure(Engine &engine);
  std::string measureOurselves(EngineSample &sample);
  std::string measurePeer(Engine &engine, EngineSample &sample);

  const BenchOptions &options;
  std::vector<Engine> &engines;
  unsigned &threads;
  std::string &precision;
  ScratchFolder scratch;
  std::vector<std::pair<std::string, std::string>> inputs; ///< name, file
};

} // namespace

/// Parses the output of a program. Returns null if it is not a JSON object.
static Json parseObject(const std::string &text) {
  Json json = Json::parse(text, /*callback=*/nullptr,
                          /*allow_exceptions=*/false);
  return json.is_object() ? json : Json();
}

/// Returns a number in an object, or nothing if there is none under this key.
static std::optional<double> findNumber(const Json &json, const char *key) {
  auto found = json.find(key);
  if (found == json.end() || !found->is_number())
    return {};
  return found->get<double>();
}

/// Checks that each peer's Python package is installed. The package has the
/// peer's name.
std::string ComparisonRun::checkPeers() {
  engines.push_back({"ingot", ingot_version_get(), {}});
  for (const std::string &peer : options.against) {
    std::string problem = checkPython(options.python, peer);
    if (!problem.empty())
      return problem;
    engines.push_back({peer, "", {}});
  }
  return "";
}

/// Writes the inputs to a file. All engines read it, so they get equal values.
std::string ComparisonRun::writeInputs() {
  ModelHandle model;
  std::string problem = describeModel(options.model, model);
  if (!problem.empty())
    return problem;
  precision = precisionOf(model.get());
  std::vector<Array> arrays;
  problem = makeInputs(model.get(), options.specs, arrays);
  for (size_t i = 0; i < arrays.size() && problem.empty(); ++i) {
    ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model.get(), uint32_t(i), &info, nullptr);
    std::string file = scratch.path() + "/" + std::to_string(i) + ".npy";
    inputs.push_back({info.name, file});
    problem = writeNpy(file, arrays[i]);
    if (!problem.empty())
      problem = "cannot write '" + file + "': " + problem;
  }
  return problem;
}

std::string ComparisonRun::measureOurselves(EngineSample &sample) {
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (length <= 0)
    return "cannot find this program in /proc/self/exe";
  self[length] = '\0';
  std::vector<std::string> command = {
      self,
      "bench",
      options.model,
      "--json",
      "--threads=" + std::to_string(threads),
      "--iterations=" + std::to_string(options.iterations),
      "--warm-up=" + std::to_string(options.warmUpMs) + "ms",
      "--duration=" + std::to_string(options.durationMs) + "ms"};
  if (!options.weights.empty())
    command.push_back("--weights=" + options.weights);
  if (!options.device.empty())
    command.push_back("--device=" + options.device);
  for (const auto &[name, file] : inputs)
    command.push_back("--input=" + name + "=" + file);
  ProcessResult done = runProcess(command);
  Json told = parseObject(done.out);
  auto median = findNumber(told.value("latency_ms", Json::object()), "median"),
       first = findNumber(told, "first_answer_ms"),
       memory = findNumber(told, "model_rss_mb");
  if (done.exitCode || !median || !first || !memory) {
    // With --json, the last line on standard error is a message.
    std::string last = done.lastError();
    return "ingot: " + parseObject(last).value("text", last);
  }
  sample = {*median, *first, *memory};
  return "";
}

std::string ComparisonRun::measurePeer(Engine &engine, EngineSample &sample) {
  std::vector<std::string> command = {options.python,
                                      "-c",
                                      peerScript,
                                      engine.name,
                                      options.onnxModel,
                                      std::to_string(threads),
                                      std::to_string(options.durationMs / 1e3)};
  if (precision == "bf16")
    command.push_back("--precision=bf16");
  for (const auto &[name, file] : inputs)
    command.push_back(name + "=" + file);
  ProcessResult done = runProcess(command);
  Json told = parseObject(done.out);
  auto median = findNumber(told, "median_ms"),
       first = findNumber(told, "first_ms"), peak = findNumber(told, "peak_mb"),
       base = findNumber(told, "base_mb");
  if (done.exitCode || !median || !first || !peak || !base)
    return engine.name + " cannot run '" + options.onnxModel +
           "': " + done.lastError();
  engine.version = told.value("version", "");
  sample = {*median, *first, *peak - *base};
  return "";
}

std::string ComparisonRun::measure(Engine &engine) {
  EngineSample sample;
  std::string problem = engine.name == "ingot" ? measureOurselves(sample)
                                               : measurePeer(engine, sample);
  if (problem.empty())
    engine.samples.push_back(sample);
  return problem;
}

std::string ComparisonRun::run(const ingot::Progress &progress) {
  std::string problem = scratch.create();
  if (!problem.empty())
    return problem;
  if (access(options.onnxModel.c_str(), R_OK))
    return "cannot read the ONNX model '" + options.onnxModel + "'";
  threads = options.threads ? options.threads : ingot_cpu_count();
  problem = checkPeers();
  if (problem.empty())
    problem = writeInputs();
  const size_t all = options.rounds * engines.size();
  size_t done = 0;
  for (unsigned round = 0; round < options.rounds && problem.empty(); ++round)
    for (Engine &engine : engines) {
      progress.step("round " + std::to_string(round + 1) + " of " +
                        std::to_string(options.rounds) + ": " + engine.name,
                    double(done++) / double(all));
      problem = measure(engine);
      if (!problem.empty())
        break;
    }
  return problem;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Spread spread(const Engine &engine, double EngineSample::*value) {
  std::vector<double> values;
  for (const EngineSample &sample : engine.samples)
    values.push_back(sample.*value);
  return Spread(std::move(values));
}

/// Returns the peer's time divided by Ingot's, for each round. If it is above
/// 1, Ingot is faster.
static Spread ratios(const Comparison &comparison, const Engine &engine) {
  std::vector<double> values;
  for (size_t i = 0; i < engine.samples.size(); ++i)
    values.push_back(engine.samples[i].medianMs /
                     comparison.engines[0].samples[i].medianMs);
  return Spread(std::move(values));
}

std::string ingot::tools::textReport(const BenchOptions &options,
                                     const Comparison &comparison) {
  TextBuilder text;
  text.add("%u thread%s, %u rounds of fresh processes in turn; median (lowest-"
           "highest) of the rounds\n",
           comparison.threads, comparison.threads == 1 ? "" : "s",
           options.rounds);
  text.add("times faster: latency of the engine / latency of Ingot, for each "
           "round\n");
  std::vector<std::vector<std::string>> rows = {
      {"engine", "version", "latency ms", "times faster", "first answer ms",
       "memory MiB"}};
  const Engine *ours = &comparison.engines[0];
  for (const Engine &engine : comparison.engines)
    rows.push_back({engine.name, engine.version,
                    spread(engine, &EngineSample::medianMs).text(),
                    &engine == ours ? "" : ratios(comparison, engine).text(),
                    spread(engine, &EngineSample::firstMs).text(),
                    spread(engine, &EngineSample::memoryMb).text()});
  text.table(std::move(rows));
  return text.str();
}

Json ingot::tools::jsonReport(const BenchOptions &options,
                              const Comparison &comparison) {
  Json all = Json::array();
  for (const Engine &engine : comparison.engines) {
    Json one = {
        {"name", engine.name},
        {"version", engine.version},
        {"latency_ms", spread(engine, &EngineSample::medianMs).json()},
        {"first_answer_ms", spread(engine, &EngineSample::firstMs).json()},
        {"model_rss_mb", spread(engine, &EngineSample::memoryMb).json()}};
    if (&engine != &comparison.engines[0])
      one["times_faster"] = ratios(comparison, engine).json();
    all.push_back(std::move(one));
  }
  return {{"model", options.model},
          {"onnx_model", options.onnxModel},
          {"precision", comparison.precision},
          {"threads", comparison.threads},
          {"rounds", options.rounds},
          {"engines", std::move(all)}};
}

std::vector<EngineTimes> Comparison::times() const {
  std::vector<EngineTimes> all;
  for (const Engine &engine : engines) {
    EngineTimes one{engine.name,
                    engine.version,
                    spread(engine, &EngineSample::medianMs).all.median(),
                    {}};
    if (&engine != &engines[0])
      one.timesFaster = ratios(*this, engine).all.median();
    all.push_back(std::move(one));
  }
  return all;
}

std::string ingot::tools::compareEngines(const BenchOptions &options,
                                         Comparison &comparison,
                                         const ingot::Progress &progress) {
  return ComparisonRun(options, comparison).run(progress);
}
