//===- Sweep.cpp - one model at many sizes --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/bench/Sweep.h"

#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/bench/Distribution.h"
#include "tools/ingot/bench/Json.h"

#include <algorithm>
#include <unistd.h>

using namespace ingot::tools;

/// Each takes seconds.
static constexpr size_t maxPoints = 1000;

namespace {
/// What stands in brackets, and the sizes that it stands for.
struct Range {
  std::string text;
  std::vector<long long> sizes;
};

/// A point that was measured.
struct Point {
  std::string shapes;
  double latencyMs, bestMs, runsPerSecond;
  std::vector<EngineTimes> engines; ///< with peers
};
} // namespace

bool ingot::tools::isSweep(const std::vector<std::string> &shapes) {
  return std::any_of(shapes.begin(), shapes.end(), [](const std::string &text) {
    return text.find('(') != std::string::npos;
  });
}

/// Reads "64:320:+64" or "64:320:2048".
static bool readRange(const std::string &text, std::vector<long long> &sizes) {
  size_t first = text.find(':'), second = text.rfind(':');
  if (first == std::string::npos || first == second)
    return false;
  bool hasStep = text.compare(second + 1, 1, "+") == 0;
  long long low, middle, last;
  if (!parseNumber(text.substr(0, first), low) ||
      !parseNumber(text.substr(first + 1, second - first - 1), middle) ||
      !parseNumber(text.substr(second + 1 + hasStep), last) || low < 0 ||
      middle < low)
    return false;
  if (!hasStep) {
    sizes = {low, middle, last};
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return last >= middle;
  }
  if (last < 1 || (middle - low) / last >= (long long)(maxPoints))
    return false;
  for (long long size = low; size <= middle; size += last)
    sizes.push_back(size);
  return true;
}

static std::string findRanges(const std::vector<std::string> &shapes,
                              std::vector<Range> &ranges) {
  for (const std::string &spec : shapes)
    for (size_t at = 0; (at = spec.find('(', at)) != std::string::npos; ++at) {
      size_t end = spec.find(')', at);
      std::string text = spec.substr(
          at, end == std::string::npos ? end : end + 1 - at);
      Range range{text, {}};
      if (end == std::string::npos ||
          !readRange(text.substr(1, text.size() - 2), range.sizes))
        return "--shapes " + spec + ": '" + text +
               "' is no range of sizes; write (FIRST:LAST:+STEP), e.g. "
               "(64:320:+64), or (MIN:USUAL:MAX)";
      if (std::none_of(ranges.begin(), ranges.end(), [&](const Range &known) {
            return known.text == text;
          }))
        ranges.push_back(std::move(range));
    }
  return "";
}

static std::string replaceAll(std::string text, const std::string &what,
                              const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string
ingot::tools::expandShapes(const std::vector<std::string> &shapes,
                           std::vector<std::vector<std::string>> &points) {
  std::vector<Range> ranges;
  std::string problem = findRanges(shapes, ranges);
  if (!problem.empty())
    return problem;
  points = {shapes};
  for (const Range &range : ranges) {
    std::vector<std::vector<std::string>> finer;
    for (const std::vector<std::string> &point : points)
      for (long long size : range.sizes) {
        if (finer.size() == maxPoints)
          return "--shapes asks for more than " + std::to_string(maxPoints) +
                 " combinations of sizes; take larger steps";
        finer.push_back(point);
        for (std::string &spec : finer.back())
          spec = replaceAll(spec, range.text, std::to_string(size));
      }
    points = std::move(finer);
  }
  return "";
}

static std::string measurePoint(const BenchOptions &options, Point &point) {
  if (!options.against.empty())
    return compareEngines(options, point.engines);
  BenchResult result;
  std::string problem = measureModel(options, result);
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

static void print(const std::vector<Point> &points) {
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
  for (const Point &point : points) {
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
  printTable(rows);
}

static void printJson(const std::vector<Point> &points) {
  JsonWriter json;
  json.begin('[');
  for (const Point &point : points) {
    json.line().begin('{').member("shapes", point.shapes);
    if (point.engines.empty())
      json.member("latency_ms", point.latencyMs)
          .member("best_ms", point.bestMs)
          .member("runs_per_second", point.runsPerSecond);
    else
      json.begin("engines", '[');
    for (const EngineTimes &engine : point.engines) {
      json.begin('{')
          .member("name", engine.name)
          .member("version", engine.version)
          .member("latency_ms", engine.latencyMs);
      if (engine.timesFaster)
        json.member("times_faster", *engine.timesFaster);
      json.end('}');
    }
    if (!point.engines.empty())
      json.end(']');
    json.end('}');
  }
  json.line().end(']');
  printf("%s\n", json.str().c_str());
}

std::string ingot::tools::runSweep(const BenchOptions &options) {
  std::vector<std::vector<std::string>> shapes;
  std::string problem = expandShapes(options.shapes, shapes);
  std::vector<Point> points;
  for (size_t i = 0; i < shapes.size() && problem.empty(); ++i) {
    Point point = {};
    for (const std::string &spec : shapes[i])
      point.shapes += (point.shapes.empty() ? "" : ",") + spec;
    if (isatty(2))
      fprintf(stderr, "\r\033[K%zu of %zu: %s\r", i + 1, shapes.size(),
              point.shapes.c_str());
    BenchOptions one = options;
    one.shapes = shapes[i];
    problem = measurePoint(one, point);
    if (!problem.empty())
      problem = "at " + point.shapes + ": " + problem;
    points.push_back(std::move(point));
  }
  if (isatty(2))
    fprintf(stderr, "\r\033[K");
  if (!problem.empty())
    return problem;
  options.json ? printJson(points) : print(points);
  return "";
}
