//===- Exports.cpp - files that a measurement leaves --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"
#include "base/OutputPath.h"
#include "tools/ingot/bench/Bench.h"
#include "tools/ingot/bench/Json.h"

#include <errno.h>
#include <filesystem>
#include <set>
#include <string.h>
#include <string_view>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

/// Returns the text of --exportTimes in trtexec's layout. The model reads
/// inputs and writes outputs in place, so copies take no time.
static std::string timesFile(const BenchResult &result) {
  JsonWriter json;
  json.begin('[');
  for (const RunTime &run : result.runs)
    json.line()
        .begin('{')
        .member("startComputeMs", run.startMs)
        .member("endComputeMs", run.endMs)
        .member("computeMs", run.latencyMs())
        .member("latencyMs", run.latencyMs())
        .end('}');
  return json.line().end(']').str() + "\n";
}

/// Returns the text of --exportProfile in trtexec's layout, with more members.
static std::string profileFile(const BenchResult &result) {
  double sum = result.layersMs();
  JsonWriter json;
  json.begin('[').line().begin('{').member("count", result.profiledRuns);
  json.end('}');
  for (const LayerResult &layer : result.layers)
    json.line()
        .begin('{')
        .member("name", layer.name())
        .member("timeMs", layer.totalMs)
        .member("averageMs", layer.averageMs)
        .member("medianMs", layer.medianMs)
        .member("percentage", sum > 0 ? 100 * layer.averageMs / sum : 0)
        .member("flops", layer.flops)
        .member("bytes", layer.bytes)
        .end('}');
  return json.line().end(']').str() + "\n";
}

/// Returns the text of --exportLayerInfo in trtexec's layout.
static std::string layerInfoFile(const BenchResult &result) {
  JsonWriter json;
  json.begin('{').begin("Layers", '[');
  for (const LayerResult &layer : result.layers) {
    json.line()
        .begin('{')
        .member("Name", layer.name())
        .member("LayerType", layer.kind)
        .begin("Nodes", '[');
    for (const std::string &node : layer.nodes)
      json.element(node);
    json.end(']')
        .member("Flops", layer.flops)
        .member("Bytes", layer.bytes)
        .end('}');
  }
  json.line().end(']').line().begin("Bindings", '[');
  for (const std::string &binding : result.bindings)
    json.element(binding);
  return json.end(']').end('}').str() + "\n";
}

/// Returns the text of a trace in Chrome's trace event format: one event per
/// layer, in microseconds.
static std::string traceFile(const BenchOptions &options,
                             const BenchResult &result) {
  JsonWriter json;
  json.begin('{').member("displayTimeUnit", "ms").begin("traceEvents", '[');
  json.line()
      .begin('{')
      .member("name", "process_name")
      .member("ph", "M")
      .member("pid", 1u)
      .begin("args", '{')
      .member("name", "ingot bench " + options.model)
      .end('}')
      .end('}');
  for (const Slice &slice : result.slices) {
    const LayerResult &layer = result.layers[slice.layer];
    json.line()
        .begin('{')
        .member("name", layer.shownName())
        .member("cat", layer.kind)
        .member("ph", "X")
        .member("ts", 1e3 * slice.startMs)
        .member("dur", 1e3 * slice.durationMs)
        .member("pid", 1u)
        .member("tid", 1u)
        .begin("args", '{')
        .member("run", uint64_t(slice.run))
        .member("flops", layer.flops)
        .member("bytes", layer.bytes)
        .end('}')
        .end('}');
  }
  return json.line().end(']').end('}').str() + "\n";
}

static bool writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t put = write(descriptor, text.data(), text.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    text.remove_prefix(size_t(put));
  }
  return true;
}

/// Writes a file so that a reader never sees a part of it.
static std::string writeFile(const std::string &path, const std::string &text) {
  auto fail = [&](const std::string &reason) {
    return "cannot write '" + path + "': " + reason;
  };
  int descriptor = -1;
  if (isWrittenInPlace(path)) {
    if (std::string problem = openInPlace(path, descriptor); !problem.empty())
      return fail(problem);
    bool written = writeAll(descriptor, text);
    std::string reason = strerror(errno);
    close(descriptor);
    return written ? "" : fail(reason);
  }
  FileSet files;
  std::string problem = files.open(std::filesystem::path(path).parent_path());
  if (problem.empty())
    problem = files.create(/*isExecutable=*/false, descriptor);
  if (problem.empty() && !writeAll(descriptor, text))
    problem = strerror(errno);
  if (!problem.empty())
    return fail(problem);
  return files.publish({{descriptor, std::filesystem::path(path).filename()}});
}

std::string ingot::tools::checkExports(const BenchOptions &options) {
  std::vector<std::string> read = filesRead(options.specs);
  read.insert(read.end(), {options.model, options.weights});
  std::set<std::filesystem::path> names;
  for (const std::string &path :
       {options.exportTimes, options.exportProfile, options.exportLayerInfo,
        options.exportTrace}) {
    if (path.empty())
      continue;
    std::string problem = checkOutputText(path);
    if (problem.empty())
      problem = checkNotRead(path, read);
    if (problem.empty() && !isWrittenInPlace(path) &&
        !names.insert(std::filesystem::absolute(path).lexically_normal())
             .second)
      problem = "two --export options have this name";
    if (!problem.empty())
      return "cannot write '" + path + "': " + problem;
  }
  return "";
}

std::string ingot::tools::exportFiles(const BenchOptions &options,
                                      const BenchResult &result) {
  std::string problem;
  auto write = [&](const std::string &path, auto text) {
    if (problem.empty() && !path.empty())
      problem = writeFile(path, text());
  };
  write(options.exportTimes, [&] { return timesFile(result); });
  write(options.exportProfile, [&] { return profileFile(result); });
  write(options.exportLayerInfo, [&] { return layerInfoFile(result); });
  write(options.exportTrace, [&] { return traceFile(options, result); });
  return problem;
}
