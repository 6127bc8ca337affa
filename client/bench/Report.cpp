//===- Report.cpp - how a measurement is printed ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Text.h"
#include "client/bench/Bench.h"
#include "client/measure/Distribution.h"

#include <algorithm>
#include <stdarg.h>

using namespace ingot::tools;

[[gnu::format(printf, 1, 2)]] static std::string format(const char *pattern,
                                                        ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof(text), pattern, arguments);
  va_end(arguments);
  return text;
}

/// Returns a number and a noun, for example "2 threads".
static std::string plural(uint64_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

static double toMb(uint64_t bytes) { return double(bytes) / (1 << 20); }

/// Returns a percentage without trailing zeros, for example "99" or "99.9".
static std::string percentName(double percent) {
  return format("%.6g", percent);
}

namespace {
/// The sum over all layers of one kind and one backend.
struct KindSum {
  std::string kind, backend;
  double ms = 0;
  uint64_t layers = 0;
};
} // namespace

void ingot::tools::sortByTime(BenchResult &result) {
  std::sort(result.layers.begin(), result.layers.end(),
            [](const LayerResult &a, const LayerResult &b) {
              return a.averageMs != b.averageMs ? a.averageMs > b.averageMs
                                                : a.number < b.number;
            });
}

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

static void addPeaks(TextBuilder &text, const BenchResult &result) {
  const Peaks &peaks = result.peaks;
  if (peaks.memory.empty())
    return;
  text.add("Roofline: %.1f GFLOP/s (fp32, %u-bit vectors, %s)",
           peaks.flopsPerSecond / 1e9, peaks.vectorBits,
           plural(result.threads, "thread").c_str());
  for (size_t i = 0; i < peaks.memory.size(); ++i) {
    bool isLast = i + 1 == peaks.memory.size();
    text.add(", %.1f GB/s %s %.1f MiB", peaks.memory[i].bytesPerSecond / 1e9,
             isLast && i ? "above" : "up to",
             toMb(peaks.memory[isLast && i ? i - 1 : i].bytes));
  }
  text.add("\n");
}

/// Aligns the first `columns` columns to the right.
static void padLeft(std::vector<std::vector<std::string>> &rows,
                    size_t columns) {
  for (size_t column = 0; column < columns; ++column) {
    size_t width = 0;
    for (const auto &row : rows)
      width = std::max(width, row[column].size());
    for (auto &row : rows)
      row[column].insert(0, width - row[column].size(), ' ');
  }
}

/// Sums the times of all layers of each kind. Sorts the sums, the longest
/// first.
static std::vector<KindSum> sumKinds(const BenchResult &result) {
  std::vector<KindSum> sums;
  for (const LayerResult &layer : result.layers) {
    auto sum =
        std::find_if(sums.begin(), sums.end(), [&](const KindSum &known) {
          return known.kind == layer.description() &&
                 known.backend == layer.backend;
        });
    if (sum == sums.end())
      sum = sums.insert(sums.end(), {layer.description(), layer.backend});
    sum->ms += layer.averageMs;
    ++sum->layers;
  }
  std::sort(sums.begin(), sums.end(), [](const KindSum &a, const KindSum &b) {
    return a.ms != b.ms ? a.ms > b.ms : a.kind < b.kind;
  });
  return sums;
}

static void addKinds(TextBuilder &text, const BenchResult &result) {
  const double all = result.layersMs();
  std::vector<std::vector<std::string>> rows = {
      {"ms", "share", "layers", "kind", "by"}};
  for (const KindSum &sum : sumKinds(result))
    rows.push_back({format("%.4f", sum.ms),
                    format("%.1f %%", all > 0 ? 100 * sum.ms / all : 0),
                    std::to_string(sum.layers), sum.kind, sum.backend});
  padLeft(rows, 3);
  text.add("\nBy kind:\n");
  text.table(std::move(rows));
}

static void addLayers(TextBuilder &text, const BenchResult &result) {
  double sum = result.layersMs();
  text.add("\nLayers: mean of %s, %.4f ms each; all layers together %.4f ms "
           "(%.1f %%)\n",
           plural(result.profiledRuns, "profiled run").c_str(),
           result.profiledMs, sum,
           result.profiledMs > 0 ? 100 * sum / result.profiledMs : 0);
  addPeaks(text, result);
  std::vector<std::vector<std::string>> rows = {{"ms", "share", "GFLOP/s",
                                                 "GB/s", "roofline", "kind",
                                                 "by", "shape", "layer"}};
  for (const LayerResult &layer : result.layers) {
    double seconds = layer.averageMs / 1e3;
    double best = result.peaks.bestTime(layer.flops, layer.bytes);
    auto rate = [&](uint64_t amount) {
      return amount && seconds > 0
                 ? format("%.1f", double(amount) / seconds / 1e9)
                 : std::string("-");
    };
    rows.push_back(
        {format("%.4f", layer.averageMs),
         format("%.1f %%", sum > 0 ? 100 * layer.averageMs / sum : 0),
         rate(layer.flops), rate(layer.bytes),
         best > 0 && seconds > 0 ? format("%.0f %%", 100 * best / seconds)
                                 : "-",
         layer.description(), layer.backend, formatLine(layer.shape, 60),
         formatLine(layer.shownName(), 100)});
  }
  padLeft(rows, 5);
  text.table(std::move(rows));
  addKinds(text, result);
  const char *title = "\nLayers that a faster backend declined:\n";
  for (const LayerResult &layer : result.layers)
    if (!layer.reason.empty()) {
      text.add("%s  %s: %s\n", title,
               formatLine(layer.shownName(), 100).c_str(),
               formatLine(layer.reason, 200).c_str());
      title = "";
    }
}

std::string ingot::tools::textReport(const BenchOptions &options,
                                     const BenchResult &result) {
  TextBuilder text;
  std::string libraries;
  for (const std::string &library : result.libraries)
    libraries += ", kernels of " + formatLine(library, 60);
  text.add("Model: %s, %s, for %s, %s%s\n",
           formatLine(options.model, 200).c_str(),
           formatLine(result.compiler, 60).c_str(),
           formatLine(result.target, 60).c_str(), result.precision.c_str(),
           libraries.c_str());
  for (const auto &[name, shape] : result.inputs)
    text.add("Input: %s %s\n", formatLine(name, 100).c_str(), shape.c_str());
  text.add("Machine: %s, %s, %s %s\n", result.cpu.c_str(),
           plural(result.cpus, "CPU").c_str(),
           result.runsOnCpu() ? "ISA level" : "device",
           result.runsOnCpu() ? result.isa.c_str() : result.device.c_str());
  text.add("Load: %.2f ms, first answer after %.2f ms\n", result.loadMs,
           result.firstAnswerMs);
  text.add("Memory: %.1f MiB more than before loading (peak %.1f MiB with this "
           "program); weights %.1f MiB, arena %.1f MiB\n",
           result.modelRssMb(), result.peakRssMb, toMb(result.weightsBytes),
           toMb(result.arenaBytes));
  if (!result.runs.empty()) {
    Distribution latency(result.latencies());
    text.add("Warm-up: %s over %.0f ms\n",
             plural(result.warmUpRuns, "run").c_str(), result.warmUpMs);
    text.add("Measured: %s over %.2f s, %s of %s\n",
             plural(result.runs.size(), "run").c_str(), result.wallMs / 1e3,
             plural(options.contexts, "context").c_str(),
             plural(result.threads, "thread").c_str());
    text.add("Throughput: %.6g qps\n", result.throughput());
    text.add("Latency: min = %.4f ms, max = %.4f ms, mean = %.4f ms, median = "
             "%.4f ms",
             latency.min(), latency.max(), latency.mean(), latency.median());
    for (double percent : options.percentiles)
      text.add(", percentile(%s%%) = %.4f ms", percentName(percent).c_str(),
               latency.percentile(percent));
    text.add("\n");
  }
  if (options.wantsProfile())
    addLayers(text, result);
  return text.str();
}

//===----------------------------------------------------------------------===//
// Output for programs
//===----------------------------------------------------------------------===//

static void addLayers(const BenchResult &result, Json &json) {
  json["profiled_runs"] = result.profiledRuns;
  json["profiled_ms"] = result.profiledMs;
  json["layers_ms"] = result.layersMs();
  Json memory = Json::array();
  for (const Peaks::Bandwidth &level : result.peaks.memory)
    memory.push_back(
        {{"bytes", level.bytes}, {"gb_per_s", level.bytesPerSecond / 1e9}});
  json["roofline"] = nullptr;
  if (!memory.empty())
    json["roofline"] = {{"gflops", result.peaks.flopsPerSecond / 1e9},
                        {"vector_bits", result.peaks.vectorBits},
                        {"memory", std::move(memory)}};
  Json layers = Json::array(), kinds = Json::array();
  for (const LayerResult &layer : result.layers) {
    const double best = result.peaks.bestTime(layer.flops, layer.bytes);
    layers.push_back(
        {{"name", layer.name()},
         {"kind", layer.kind},
         {"backend", layer.backend},
         {"reason", layer.reason},
         {"precision", layer.precision},
         {"number", layer.number},
         {"shape", layer.shape},
         {"nodes", layer.nodes},
         {"scopes", layer.scopes},
         {"mean_ms", layer.averageMs},
         {"median_ms", layer.medianMs},
         {"min_ms", layer.minMs},
         {"flops", layer.flops},
         {"bytes", layer.bytes},
         {"roofline_percent",
          layer.averageMs > 0 ? 1e5 * best / layer.averageMs : 0}});
  }
  for (const KindSum &sum : sumKinds(result))
    kinds.push_back({{"kind", sum.kind},
                     {"backend", sum.backend},
                     {"layers", sum.layers},
                     {"mean_ms", sum.ms}});
  json["layers"] = std::move(layers);
  json["kinds"] = std::move(kinds);
}

Json ingot::tools::jsonReport(const BenchOptions &options,
                              const BenchResult &result) {
  Distribution latency(result.latencies());
  Json times = {{"min", latency.min()},
                {"mean", latency.mean()},
                {"median", latency.median()}};
  std::vector<double> percentiles = {90, 95, 99};
  percentiles.insert(percentiles.end(), options.percentiles.begin(),
                     options.percentiles.end());
  for (double percent : percentiles)
    times["p" + percentName(percent)] = latency.percentile(percent);
  times["max"] = latency.max();
  Json inputs = Json::object();
  for (const auto &[name, shape] : result.inputs)
    inputs[name] = shape;
  Json json = {{"latency_ms", std::move(times)},
               {"variation_percent", latency.variation()},
               {"throughput", result.throughput()},
               {"load_ms", result.loadMs},
               {"first_answer_ms", result.firstAnswerMs},
               {"peak_rss_mb", result.peakRssMb},
               {"base_rss_mb", result.baseRssMb},
               {"model_rss_mb", result.modelRssMb()},
               {"weights_mb", toMb(result.weightsBytes)},
               {"arena_mb", toMb(result.arenaBytes)},
               {"threads", result.threads},
               {"contexts", options.contexts},
               {"runs", result.runs.size()},
               {"warm_up_runs", result.warmUpRuns},
               {"warm_up_ms", result.warmUpMs},
               {"measured_ms", result.wallMs},
               {"isa", result.isa},
               {"device", result.device},
               {"precision", result.precision},
               {"cpu", result.cpu},
               {"cpus", result.cpus},
               {"target", result.target},
               {"libraries", result.libraries},
               {"compiler", result.compiler},
               {"warnings", result.warnings},
               {"inputs", std::move(inputs)},
               {"model", options.model}};
  if (options.wantsProfile())
    addLayers(result, json);
  return json;
}
