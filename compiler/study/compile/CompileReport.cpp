//===- CompileReport.cpp - the result of a compilation --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/CompileReport.h"

#include "compiler/driver/OutputNames.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/study/metric/Details.h"
#include "compiler/study/report/Report.h"
#include "dialects/nn/NodeName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::study;

using tools::Json;
using tools::toNumber;

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

static void printBytes(raw_ostream &out, uint64_t bytes) {
  if (bytes < 10 * 1024)
    out << bytes << " B";
  else if (bytes < 10 * 1024 * 1024)
    out << format("%.1f KiB", bytes / 1024.0);
  else
    out << format("%.1f MiB", bytes / 1048576.0);
}

static void printSummary(raw_ostream &out, const CompileOptions &options,
                         const Manifest &manifest) {
  out << printable(options.output) << ": ";
  for (const LevelCode &level : manifest.levels) {
    out << level.target.name() << " code ";
    printBytes(out, level.bytes);
    out << ", ";
  }
  out << "weights ";
  printBytes(out, manifest.weightsBytes);
  out << ", arena ";
  printBytes(out, manifest.arenaBytes);
  out << " (lower bound ";
  printBytes(out, manifest.arenaLowerBound);
  out << ")";
  for (const Library *library : usedLibraries(manifest))
    out << ", uses " << library->title;
  out << '\n';
}

/// Returns the additional bytes of constants that the compiler has computed.
/// Returns 0 if the weights are about as large as the model's.
static uint64_t computedBytes(const Manifest &manifest,
                              const SizeReport &sizes) {
  const uint64_t expected = sizes.modelWeights + sizes.fewerProducts;
  // Allow for padding to cache lines and to whole panels of weights.
  const uint64_t usual = expected + expected / 32 + (1 << 16);
  return manifest.weightsBytes > usual ? manifest.weightsBytes - expected : 0;
}

/// Prints the artifact's size, the reasons why it is larger than the model, and
/// options that change this.
static void printSizes(raw_ostream &out, const CompileOptions &options,
                       const Manifest &manifest, const SizeReport &sizes) {
  out << printable(options.output) << ": artifact ";
  printBytes(out, sizes.artifact);
  out << ", weights of the model ";
  printBytes(out, sizes.modelWeights);
  if (const uint64_t bytes = computedBytes(manifest, sizes)) {
    out << "; constants that are computed when compiling add ";
    printBytes(out, bytes);
  }
  if (sizes.fewerProducts) {
    out << "; transformed weights of " << sizes.numFewerProducts
        << " 3x3 convolutions add ";
    printBytes(out, sizes.fewerProducts);
    out << " (--optimize=" << getSizeRule(options.pipeline.optimize).name
        << "; size adds none)";
  }
  out << '\n';
}

/// Prints the kernels that `--kernels=auto` chose, and its measurements.
static void printKernels(raw_ostream &out, const CompileOptions &options,
                         const KernelRecord &record) {
  out << printable(options.output) << ": ";
  const StringRef other = otherBackend().title();
  switch (record.kernels) {
  case Kernels::native:
    out << "native kernels are fastest";
    break;
  case Kernels::other:
    out << other << "'s kernels are fastest";
    break;
  case Kernels::mixed:
    out << "native kernels and " << other << "'s for "
        << options.pipeline.preferredNodes.size() << " nodes are fastest";
    break;
  }
  out << format(" (native %.3f ms, ", record.nativeMs) << other
      << format(" %.3f ms", record.otherMs);
  if (record.mixedMs)
    out << format(", both %.3f ms", *record.mixedMs);
  out << "); " << printable(options.recordFile) << " holds the choice\n";
}

static size_t countLayers(const Study &study, bool StudiedLayer::*is) {
  return size_t(count_if(study.layers,
                         [&](const StudiedLayer &layer) { return layer.*is; }));
}

/// Prints the choice of `--precision=auto`, its speed and its accuracy.
static void printPrecisions(raw_ostream &out, const CompileOptions &options,
                            const Study &study) {
  out << printable(options.output) << ": "
      << countLayers(study, &StudiedLayer::isInt8) << " of "
      << study.layers.size() << " layers in int8, "
      << countLayers(study, &StudiedLayer::isBF16) << " in bf16";
  if (study.chosen.latencyMs && study.fp32.latencyMs)
    out << format(": %.3f ms, fp32 %.3f ms (%.2f times as fast)",
                  *study.chosen.latencyMs, *study.fp32.latencyMs,
                  *study.fp32.latencyMs / *study.chosen.latencyMs);
  const StudiedSearch &search = *study.search;
  out << "; " << describeScore(search, search.chosenPercent) << ", fp32 "
      << shortScore(search, search.fp32Percent) << '\n'
      << printable(options.output) << ": accuracy by --metric=";
  if (search.isCommand)
    out << "'" << formatLine(search.metric, 120) << "'";
  else
    out << search.metric << ", output '" << formatLine(search.output, 120)
        << "'";
  out << " against " << (search.hasLabels ? "labels" : "fp32")
      << describeDetails(search.details) << '\n'
      << printable(options.output) << ": took " << search.chosen << " of";
  ListSeparator separator(",");
  for (const Candidate &one : search.candidates) {
    out << separator << ' ' << one.name;
    if (one.milliseconds)
      out << format(" %.4g ms", *one.milliseconds);
    out << ' ' << shortScore(search, one.percent);
  }
  out << '\n';
}

std::string study::textReport(const CompileOutcome &outcome) {
  std::string text;
  if (!outcome.result.manifest)
    return text;
  raw_string_ostream out(text);
  const CompileOptions &options = outcome.options;
  const Manifest &manifest = *outcome.result.manifest;
  printSummary(out, options, manifest);
  printSizes(out, options, manifest, outcome.result.sizes);
  if (outcome.int8)
    out << printable(options.output) << ": " << outcome.int8->toText() << '\n';
  if (outcome.kernels)
    printKernels(out, options, *outcome.kernels);
  if (outcome.study && outcome.study->search)
    printPrecisions(out, options, *outcome.study);
  return text;
}

//===----------------------------------------------------------------------===//
// Output for programs
//===----------------------------------------------------------------------===//

static const char *nameOf(EmitKind kind) {
  switch (kind) {
  case EmitKind::sharedLibrary:
    return "so";
  case EmitKind::mlir:
    return "mlir";
  case EmitKind::llvmIR:
    return "llvm";
  case EmitKind::assembly:
    return "asm";
  case EmitKind::object:
    return "obj";
  }
  return "";
}

static Json orNull(const std::string &text) {
  return text.empty() ? Json() : Json(text);
}

/// Returns how many layers each backend computes in each precision, and how
/// many layers a faster backend has declined. `--decisions` shows the reasons.
static Json layersToJson(const Manifest &manifest) {
  std::map<std::string, size_t> backends, precisions;
  size_t declined = 0;
  for (const ingot::Layer &layer : manifest.layers) {
    ++backends[layer.backend];
    Precision precision = layer.precision.value_or(Precision::fp32);
    ++precisions[stringifyPrecision(precision).str()];
    declined += !layer.reason.empty();
  }
  return {{"count", manifest.layers.size()},
          {"by_backend", backends},
          {"by_precision", precisions},
          {"declined", declined}};
}

static Json toJson(const KernelRecord &record, const CompileOptions &options) {
  const char *choice = record.kernels == Kernels::native  ? "native"
                       : record.kernels == Kernels::other ? "other"
                                                          : "mixed";
  return {{"choice", choice},
          {"other", otherBackend().name().str()},
          {"native_ms", toNumber(record.nativeMs)},
          {"other_ms", toNumber(record.otherMs)},
          {"mixed_ms", record.mixedMs ? toNumber(*record.mixedMs) : Json()},
          {"nodes_of_other", record.kernels == Kernels::mixed
                                 ? options.pipeline.preferredNodes.size()
                                 : 0},
          {"file", options.recordFile}};
}

static Json toJson(const Study &study) {
  auto milliseconds = [](const StudiedModel &model) {
    return model.latencyMs ? toNumber(*model.latencyMs) : Json();
  };
  Json json = {{"layers", study.layers.size()},
               {"int8_layers", countLayers(study, &StudiedLayer::isInt8)},
               {"bf16_layers", countLayers(study, &StudiedLayer::isBF16)},
               {"fp32_ms", milliseconds(study.fp32)},
               {"int8_ms", milliseconds(study.int8)},
               {"chosen_ms", milliseconds(study.chosen)}};
  if (study.search) {
    json["max_drop_percent"] = study.search->maxDrop;
    json["metric"] = study.search->metric;
    json["metric_output"] = orNull(study.search->output);
    json["labels"] = study.search->hasLabels ? "labels" : "fp32";
    json["fp32_percent"] = toNumber(study.search->fp32Percent);
    json["int8_percent"] = toNumber(study.search->int8Percent);
    json["chosen_percent"] = toNumber(study.search->chosenPercent);
    json["details"] = detailsToJson(study.search->details);
    json["chosen"] = study.search->chosen;
    json["candidates"] = Json::array();
    for (const Candidate &one : study.search->candidates)
      json["candidates"].push_back(
          {{"name", one.name},
           {"percent", toNumber(one.percent)},
           {"within_budget", one.isRight},
           {"ms", one.milliseconds ? toNumber(*one.milliseconds) : Json()}});
  }
  return json;
}

static Json toJson(const Int8Summary &summary) {
  Json floats = Json::array();
  for (const Int8Summary::Floats &some : summary.floats)
    floats.push_back({{"operation", some.operation},
                      {"reason", some.reason},
                      {"layers", some.layers}});
  return {{"layers", summary.layers},
          {"int8_layers", summary.int8Layers},
          {"float32", std::move(floats)}};
}

Json study::jsonReport(const CompileOutcome &outcome) {
  const CompileOptions &options = outcome.options;
  const CompileResult &result = outcome.result;
  Json json = {{"model", options.input},
               {"model_sha256", orNull(result.modelSha256)},
               {"emit", nameOf(options.emit)},
               {"output", options.output},
               {"decisions", orNull(options.decisionsFile)},
               {"report", orNull(outcome.report)},
               {"seconds", outcome.seconds}};
  if (result.manifest) {
    const Manifest &manifest = *result.manifest;
    const SizeReport &sizes = result.sizes;
    json["header"] = options.writeHeader ? Json(headerName(options)) : Json();
    json["weights_file"] = orNull(weightsName(options, manifest));
    Json levels = Json::array(), libraries = Json::array();
    for (const LevelCode &level : manifest.levels)
      levels.push_back(
          {{"level", level.target.name()}, {"code_bytes", level.bytes}});
    for (const Library *library : usedLibraries(manifest))
      libraries.push_back(library->title.str());
    json["levels"] = std::move(levels);
    json["libraries"] = std::move(libraries);
    json["artifact_bytes"] = sizes.artifact;
    json["weights_bytes"] = manifest.weightsBytes;
    json["model_weights_bytes"] = sizes.modelWeights;
    json["computed_constants_bytes"] = computedBytes(manifest, sizes);
    json["winograd"] = {{"convolutions", sizes.numFewerProducts},
                        {"added_bytes", sizes.fewerProducts}};
    json["optimize"] = getSizeRule(options.pipeline.optimize).name;
    json["arena_bytes"] = manifest.arenaBytes;
    json["arena_lower_bound_bytes"] = manifest.arenaLowerBound;
    json["layers"] = layersToJson(manifest);
  }
  if (outcome.int8)
    json["int8"] = toJson(*outcome.int8);
  if (outcome.kernels)
    json["kernels"] = toJson(*outcome.kernels, options);
  if (outcome.study)
    json["precision_study"] = toJson(*outcome.study);
  return json;
}
