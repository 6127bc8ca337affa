//===- Exports.cpp - files that a measurement leaves --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"
#include "base/OutputPath.h"
#include "client/bench/Bench.h"

#include <errno.h>
#include <filesystem>
#include <set>
#include <string.h>
#include <string_view>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

/// Returns the elements of an array, one per line. There may be millions of
/// elements, so each one becomes text directly.
template <typename Range, typename Fn>
static std::string toLines(const Range &range, Fn toJson) {
  std::string text;
  for (const auto &one : range)
    text += (text.empty() ? "\n" : ",\n") + toLine(toJson(one));
  return text + "\n";
}

/// Returns the text of --exportTimes in trtexec's format. Times of copies are
/// zero, because the model accesses inputs and outputs in place.
static std::string timesFile(const BenchResult &result) {
  return "[" +
         toLines(result.runs,
                 [](const RunTime &run) -> Json {
                   return {{"startComputeMs", run.startMs},
                           {"endComputeMs", run.endMs},
                           {"computeMs", run.latencyMs()},
                           {"latencyMs", run.latencyMs()}};
                 }) +
         "]\n";
}

/// Returns the text of --exportProfile in trtexec's format, with additional
/// members.
static std::string profileFile(const BenchResult &result) {
  const double sum = result.layersMs();
  return "[\n" + toLine({{"count", result.profiledRuns}}) +
         (result.layers.empty() ? "" : ",") +
         toLines(result.layers,
                 [&](const LayerResult &layer) -> Json {
                   return {{"name", layer.name()},
                           {"timeMs", layer.totalMs},
                           {"averageMs", layer.averageMs},
                           {"medianMs", layer.medianMs},
                           {"percentage",
                            sum > 0 ? 100 * layer.averageMs / sum : 0},
                           {"flops", layer.flops},
                           {"bytes", layer.bytes}};
                 }) +
         "]\n";
}

/// Returns the text of --exportLayerInfo in trtexec's format.
static std::string layerInfoFile(const BenchResult &result) {
  return "{\"Layers\": [" +
         toLines(result.layers,
                 [](const LayerResult &layer) -> Json {
                   return {{"Name", layer.name()},
                           {"LayerType", layer.kind},
                           {"Nodes", layer.nodes},
                           {"Flops", layer.flops},
                           {"Bytes", layer.bytes}};
                 }) +
         "],\n\"Bindings\": " + toLine(result.bindings) + "}\n";
}

/// Returns the text of a trace in Chrome's trace event format: one event per
/// layer, in microseconds.
static std::string traceFile(const BenchOptions &options,
                             const BenchResult &result) {
  const Json process = {{"name", "process_name"},
                        {"ph", "M"},
                        {"pid", 1},
                        {"args", {{"name", "ingot bench " + options.model}}}};
  return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" +
         toLine(process) + (result.slices.empty() ? "" : ",") +
         toLines(result.slices,
                 [&](const Slice &slice) -> Json {
                   const LayerResult &layer = result.layers[slice.layer];
                   return {{"name", layer.shownName()},
                           {"cat", layer.kind},
                           {"ph", "X"},
                           {"ts", 1e3 * slice.startMs},
                           {"dur", 1e3 * slice.durationMs},
                           {"pid", 1},
                           {"tid", 1},
                           {"args",
                            {{"run", slice.run},
                             {"flops", layer.flops},
                             {"bytes", layer.bytes}}}};
                 }) +
         "]}\n";
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

/// Writes a file. A reader never sees an incomplete file.
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
