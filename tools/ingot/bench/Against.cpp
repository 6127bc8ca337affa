//===- Against.cpp - a model beside other runtimes ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/ScratchFolder.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/bench/Bench.h"
#include "tools/ingot/bench/Distribution.h"
#include "tools/ingot/bench/Json.h"
#include "tools/ingot/bench/Process.h"

#include <optional>
#include <stdlib.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

/// The text of scripts/measure_peer.py, built into the program so that it need
/// not be installed.
static constexpr char peerScript[] =
#include "PeerScript.inc"
    ;

namespace {

/// The measurements of one process.
struct Sample {
  double medianMs, firstMs;
  double memoryMb; ///< at most, above what the process had before
};

struct Engine {
  std::string name, version;
  std::vector<Sample> samples; ///< one a round
};

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
  void write(JsonWriter &json, const std::string &key) const {
    json.begin(key, '{')
        .member("median", all.median())
        .member("min", all.min())
        .member("max", all.max())
        .end('}');
  }
};

class Comparison {
public:
  explicit Comparison(const BenchOptions &options) : options(options) {}
  bool run(std::string &problem);
  std::vector<EngineTimes> times() const;
  void report() const { options.json ? printJson() : print(); }

private:
  bool checkPeers(std::string &problem);
  std::string writeInputs();
  std::string measure(Engine &engine);
  std::string measureOurselves(Sample &sample);
  std::string measurePeer(Engine &engine, Sample &sample);
  Spread spread(const Engine &engine, double Sample::*value) const;
  Spread ratios(const Engine &engine) const;
  void print() const;
  void printJson() const;

  const BenchOptions &options;
  ScratchFolder scratch;
  std::vector<std::pair<std::string, std::string>> inputs; ///< name, file
  std::vector<Engine> engines;
  unsigned threads = 0;
  std::string precision;
};

} // namespace

/// Returns the number behind `"key": ` in the flat JSON that our programs
/// print.
static std::optional<double> findNumber(const std::string &json,
                                        const std::string &key) {
  size_t at = json.find("\"" + key + "\": ");
  if (at == std::string::npos)
    return {};
  return strtod(json.c_str() + at + key.size() + 4, nullptr);
}

static std::string findString(const std::string &json, const std::string &key) {
  std::string start = "\"" + key + "\": \"";
  size_t at = json.find(start);
  if (at == std::string::npos)
    return "";
  at += start.size();
  return json.substr(at, json.find('"', at) - at);
}

/// Checks that each peer's Python package is installed. The package has the
/// peer's name.
bool Comparison::checkPeers(std::string &problem) {
  engines.push_back({"ingot", ingot_version_get(), {}});
  for (const std::string &peer : options.against) {
    problem = checkPython(options.python, peer);
    if (!problem.empty())
      return false;
    engines.push_back({peer, "", {}});
  }
  return true;
}

/// Writes the inputs into a file, so that all engines read the same values.
std::string Comparison::writeInputs() {
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

std::string Comparison::measureOurselves(Sample &sample) {
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
  for (const auto &[name, file] : inputs)
    command.push_back("--input=" + name + "=" + file);
  ProcessResult done = runProcess(command);
  auto median = findNumber(done.out, "median"),
       first = findNumber(done.out, "first_answer_ms"),
       memory = findNumber(done.out, "model_rss_mb");
  if (done.exitCode || !median || !first || !memory)
    return "ingot: " + done.lastError();
  sample = {*median, *first, *memory};
  return "";
}

std::string Comparison::measurePeer(Engine &engine, Sample &sample) {
  std::vector<std::string> command = {
      options.python,           "-c", peerScript, engine.name,
      options.onnxModel,        std::to_string(threads),
      std::to_string(options.durationMs / 1e3)};
  if (precision == "bf16")
    command.push_back("--precision=bf16");
  for (const auto &[name, file] : inputs)
    command.push_back(name + "=" + file);
  ProcessResult done = runProcess(command);
  auto median = findNumber(done.out, "median_ms"),
       first = findNumber(done.out, "first_ms"),
       peak = findNumber(done.out, "peak_mb"),
       base = findNumber(done.out, "base_mb");
  if (done.exitCode || !median || !first || !peak || !base)
    return engine.name + " cannot run '" + options.onnxModel +
           "': " + done.lastError();
  engine.version = findString(done.out, "version");
  sample = {*median, *first, *peak - *base};
  return "";
}

std::string Comparison::measure(Engine &engine) {
  Sample sample;
  std::string problem = engine.name == "ingot" ? measureOurselves(sample)
                                               : measurePeer(engine, sample);
  if (problem.empty())
    engine.samples.push_back(sample);
  return problem;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Spread Comparison::spread(const Engine &engine, double Sample::*value) const {
  std::vector<double> values;
  for (const Sample &sample : engine.samples)
    values.push_back(sample.*value);
  return Spread(std::move(values));
}

/// Returns the peer's time divided by Ingot's in each round. Above 1, Ingot is
/// faster.
Spread Comparison::ratios(const Engine &engine) const {
  std::vector<double> values;
  for (size_t i = 0; i < engine.samples.size(); ++i)
    values.push_back(engine.samples[i].medianMs /
                     engines[0].samples[i].medianMs);
  return Spread(std::move(values));
}

void Comparison::print() const {
  printf("%u thread%s, %u rounds of fresh processes in turn; median (lowest-"
         "highest) of the rounds\n",
         threads, threads == 1 ? "" : "s", options.rounds);
  printf("times faster: their latency over Ingot's, round by round\n");
  std::vector<std::vector<std::string>> rows = {
      {"engine", "version", "latency ms", "times faster", "first answer ms",
       "memory MiB"}};
  for (const Engine &engine : engines)
    rows.push_back({engine.name, engine.version,
                    spread(engine, &Sample::medianMs).text(),
                    &engine == &engines[0] ? "" : ratios(engine).text(),
                    spread(engine, &Sample::firstMs).text(),
                    spread(engine, &Sample::memoryMb).text()});
  printTable(rows);
}

void Comparison::printJson() const {
  JsonWriter json;
  json.begin('{')
      .member("model", options.model)
      .member("onnx_model", options.onnxModel)
      .member("precision", precision)
      .member("threads", threads)
      .member("rounds", options.rounds)
      .begin("engines", '[');
  for (const Engine &engine : engines) {
    json.line()
        .begin('{')
        .member("name", engine.name)
        .member("version", engine.version);
    spread(engine, &Sample::medianMs).write(json, "latency_ms");
    spread(engine, &Sample::firstMs).write(json, "first_answer_ms");
    spread(engine, &Sample::memoryMb).write(json, "model_rss_mb");
    if (&engine != &engines[0])
      ratios(engine).write(json, "times_faster");
    json.end('}');
  }
  json.line().end(']').end('}');
  printf("%s\n", json.str().c_str());
}

bool Comparison::run(std::string &problem) {
  problem = scratch.create();
  if (!problem.empty())
    return false;
  if (access(options.onnxModel.c_str(), R_OK)) {
    problem = "cannot read the ONNX model '" + options.onnxModel + "'";
    return false;
  }
  threads = options.threads ? options.threads : ingot_cpu_count();
  if (!checkPeers(problem))
    return false;
  problem = writeInputs();
  for (unsigned round = 0; round < options.rounds && problem.empty(); ++round)
    for (Engine &engine : engines) {
      if (isatty(2))
        fprintf(stderr, "\rround %u of %u: %-12s", round + 1, options.rounds,
                engine.name.c_str());
      problem = measure(engine);
      if (!problem.empty())
        break;
    }
  if (isatty(2))
    fprintf(stderr, "\r%40s\r", "");
  return problem.empty();
}

std::vector<EngineTimes> Comparison::times() const {
  std::vector<EngineTimes> all;
  for (const Engine &engine : engines) {
    EngineTimes one{engine.name, engine.version,
                    spread(engine, &Sample::medianMs).all.median(), {}};
    if (&engine != &engines[0])
      one.timesFaster = ratios(engine).all.median();
    all.push_back(std::move(one));
  }
  return all;
}

bool ingot::tools::runAgainst(const BenchOptions &options,
                              std::string &problem) {
  Comparison comparison(options);
  if (!comparison.run(problem))
    return false;
  comparison.report();
  return true;
}

std::string ingot::tools::compareEngines(const BenchOptions &options,
                                         std::vector<EngineTimes> &times) {
  Comparison comparison(options);
  std::string problem;
  if (comparison.run(problem))
    times = comparison.times();
  return problem;
}
