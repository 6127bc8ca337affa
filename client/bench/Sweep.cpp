//===- Sweep.cpp - one model at many sizes --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/bench/Sweep.h"

#include "client/Parse.h"
#include "client/SizeText.h"
#include "client/Text.h"
#include "client/measure/Distribution.h"

#include <algorithm>

using namespace ingot::tools;

/// The most points of a sweep, because each point takes seconds.
static constexpr size_t maxPoints = 1000;

namespace {
/// A range as text, and its sizes.
struct Range {
  std::string text;
  std::vector<int64_t> sizes;
};
} // namespace

/// Returns true if a spec gives more than one size: a range or steps.
static bool hasRange(const std::string &spec) {
  return spec.find(':', spec.rfind('=') + 1) != std::string::npos;
}

bool ingot::tools::isSweep(const InputSpecs &specs) {
  return std::any_of(specs.shapes.begin(), specs.shapes.end(), hasRange) ||
         std::any_of(specs.dims.begin(), specs.dims.end(), hasRange);
}

/// Lists the sizes in a text. Returns an error message, or "".
static std::string listSizes(const std::string &text,
                             std::vector<int64_t> &sizes) {
  SizeText size;
  std::string problem;
  bool isRange = parseSizeText(text, size, problem) &&
                 (size.kind == SizeText::range || size.kind == SizeText::steps);
  if (!isRange || (size.kind == SizeText::range && size.usual < 0))
    return "'" + formatLine(text, 60) + "' is no range of sizes; " +
           (problem.empty() ? "write (FIRST:LAST:+STEP), e.g. (64:320:+64), or "
                              "(MIN:USUAL:MAX)"
                            : problem);
  if (size.kind == SizeText::range) {
    sizes = {size.min, size.usual, size.max};
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return "";
  }
  if ((size.max - size.min) / size.step >= int64_t(maxPoints))
    return "'" + formatLine(text, 60) + "' are more than " +
           std::to_string(maxPoints) + " sizes; take a larger step";
  for (int64_t at = size.min; at <= size.max; at += size.step)
    sizes.push_back(at);
  return "";
}

/// Collects the ranges in one spec. Collects equal ranges only once.
static std::string findRanges(const std::string &option,
                              const std::string &spec,
                              std::vector<Range> &ranges) {
  std::string name, value;
  if (!splitNameAndValue(spec, name, value))
    return option + " " + spec + " cannot be read: write NAME=SIZES";
  for (const std::string &part : split(value, 'x')) {
    if (!hasRange(part) ||
        std::any_of(ranges.begin(), ranges.end(),
                    [&](const Range &known) { return known.text == part; }))
      continue;
    Range range{part, {}};
    std::string problem = listSizes(part, range.sizes);
    if (!problem.empty())
      return option + " " + spec + ": " + problem;
    ranges.push_back(std::move(range));
  }
  return "";
}

/// Replaces a range by one of its sizes, in all specs that contain the range.
static void choose(std::vector<std::string> &specs, const std::string &range,
                   int64_t size) {
  for (std::string &spec : specs) {
    const size_t start = spec.rfind('=') + 1;
    std::string chosen;
    for (const std::string &part : split(spec.substr(start), 'x'))
      chosen += (chosen.empty() ? "" : "x") +
                (part == range ? std::to_string(size) : part);
    spec.replace(start, std::string::npos, chosen);
  }
}

std::string ingot::tools::expandSizes(const InputSpecs &specs,
                                      std::vector<InputSpecs> &points) {
  std::vector<Range> ranges;
  std::string problem;
  for (const std::string &spec : specs.shapes)
    if (problem = findRanges("--shape", spec, ranges); !problem.empty())
      return problem;
  for (const std::string &spec : specs.dims)
    if (problem = findRanges("--dim", spec, ranges); !problem.empty())
      return problem;
  points = {specs};
  for (const Range &range : ranges) {
    std::vector<InputSpecs> finer;
    for (const InputSpecs &point : points)
      for (int64_t size : range.sizes) {
        if (finer.size() == maxPoints)
          return "--shape and --dim ask for more than " +
                 std::to_string(maxPoints) +
                 " combinations of sizes; take larger steps";
        finer.push_back(point);
        choose(finer.back().shapes, range.text, size);
        choose(finer.back().dims, range.text, size);
      }
    points = std::move(finer);
  }
  return "";
}

static std::string measurePoint(const BenchOptions &options, SweepPoint &point,
                                const ingot::Progress &progress) {
  if (!options.against.empty()) {
    Comparison comparison;
    std::string problem = compareEngines(options, comparison, progress);
    if (problem.empty())
      point.engines = comparison.times();
    return problem;
  }
  BenchResult result;
  std::string problem = measureModel(options.measurement(), result, progress);
  if (!problem.empty())
    return problem;
  Distribution latencies(result.latencies());
  point.latencyMs = latencies.median();
  point.bestMs = latencies.min();
  point.runsPerSecond = result.throughput();
  return "";
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::string formatNumber(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

std::string ingot::tools::textReport(const std::vector<SweepPoint> &points) {
  std::vector<std::vector<std::string>> rows = {{"shapes"}};
  if (points.front().engines.empty()) {
    rows[0].insert(rows[0].end(), {"median ms", "best ms", "runs/s"});
  } else {
    for (const EngineTimes &engine : points.front().engines) {
      rows[0].push_back(engine.name + " ms");
      if (engine.timesFaster)
        rows[0].push_back("times faster");
    }
  }
  for (const SweepPoint &point : points) {
    std::vector<std::string> row = {point.shapes};
    if (point.engines.empty())
      row.insert(row.end(),
                 {formatNumber(point.latencyMs), formatNumber(point.bestMs),
                  formatNumber(point.runsPerSecond)});
    for (const EngineTimes &engine : point.engines) {
      row.push_back(formatNumber(engine.latencyMs));
      if (engine.timesFaster)
        row.push_back(formatNumber(*engine.timesFaster));
    }
    rows.push_back(std::move(row));
  }
  return formatTable(std::move(rows));
}

static Json toJson(const std::vector<SweepPoint> &points) {
  Json all = Json::array();
  for (const SweepPoint &point : points) {
    Json one = {{"shapes", point.shapes}};
    if (point.engines.empty()) {
      one["latency_ms"] = point.latencyMs;
      one["best_ms"] = point.bestMs;
      one["runs_per_second"] = point.runsPerSecond;
    }
    for (const EngineTimes &engine : point.engines) {
      Json times = {{"name", engine.name},
                    {"version", engine.version},
                    {"latency_ms", engine.latencyMs}};
      if (engine.timesFaster)
        times["times_faster"] = *engine.timesFaster;
      one["engines"].push_back(std::move(times));
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json ingot::tools::jsonReport(const BenchOptions &options,
                              const std::vector<SweepPoint> &points) {
  return {{"model", options.model}, {"points", toJson(points)}};
}

std::string ingot::tools::measureSizes(const BenchOptions &options,
                                       std::vector<SweepPoint> &points,
                                       const ingot::Progress &progress) {
  std::vector<InputSpecs> specs;
  std::string problem = expandSizes(options.specs, specs);
  for (size_t i = 0; i < specs.size() && problem.empty(); ++i) {
    SweepPoint point = {};
    for (const auto *list : {&specs[i].shapes, &specs[i].dims})
      for (const std::string &spec : *list)
        point.shapes += (point.shapes.empty() ? "" : ",") + spec;
    const std::string where = std::to_string(i + 1) + " of " +
                              std::to_string(specs.size()) + ": " +
                              point.shapes;
    ingot::Progress here;
    here.onStep = [&](const std::string &, double fraction) {
      progress.step(where, (double(i) + std::max(0.0, fraction)) /
                               double(specs.size()));
    };
    here.step("");
    BenchOptions one = options;
    one.specs = specs[i];
    problem = measurePoint(one, point, here);
    if (!problem.empty())
      problem = "at " + point.shapes + ": " + problem;
    points.push_back(std::move(point));
  }
  return problem;
}
