//===- ComparisonReport.cpp - text and JSON of a comparison ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/ComparisonReport.h"

#include "client/Text.h"
#include "compiler/study/metric/Details.h"
#include "passes/support/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace ingot;
using namespace ingot::tools;
using study::ComparedOutput;
using study::ComparedTensor;
using study::Difference;
using study::LayerError;
using study::Sensitivity;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string shownDecibels(const Difference &difference) {
  return std::isfinite(difference.decibels())
             ? digits("%.1f", difference.decibels())
             : "-";
}

static void addExcess(tools::TextBuilder &text,
                      const study::Tolerance &tolerance,
                      const study::Comparison &result) {
  for (const ComparedOutput &output : result.outputs) {
    const std::string name = "output '" + formatLine(output.name, 60) + "'";
    const Difference &difference = output.difference;
    if (const study::Excess &one = output.excess; one.count)
      text.add(
          "%s: %llu of %llu elements are beyond the tolerance, the first is "
          "element %llu of %s: %.9g, but %.9g in the reference\n",
          name.c_str(), static_cast<unsigned long long>(one.count),
          static_cast<unsigned long long>(difference.count),
          static_cast<unsigned long long>(one.place), one.where.c_str(),
          one.got, one.wanted);
    else if (output.isBeyond)
      text.add("%s: relative error %.6g, more than %g\n", name.c_str(),
               difference.relative(), *tolerance.output);
  }
  if (result.isWithin())
    text.add("all outputs are within the tolerance\n");
}

static void addTensors(tools::TextBuilder &text,
                       const std::vector<ComparedTensor> &tensors) {
  // Sort the tensors by error, the worst first.
  std::vector<const ComparedTensor *> sorted;
  for (const ComparedTensor &tensor : tensors)
    sorted.push_back(&tensor);
  llvm::stable_sort(
      sorted, [](const ComparedTensor *a, const ComparedTensor *b) {
        return a->difference.relative() > b->difference.relative();
      });
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "relative error", "signal to noise", "largest error"}};
  for (const ComparedTensor *tensor : sorted)
    rows.push_back({formatLine(tensor->name, 80),
                    digits("%.6f", tensor->difference.relative()),
                    shownDecibels(tensor->difference) + " dB",
                    digits("%.6g", tensor->difference.largest)});
  text.add("\ntensors, the worst first:\n");
  text.table(std::move(rows));
}

static std::string shownScore(const study::PairScore &score,
                              const study::Score &one) {
  return digits(score.isCommand ? "%.6g" : "%.2f %%", one.percent) +
         study::describeDetails(one.details);
}

static void addScore(tools::TextBuilder &text, const std::string &precision,
                     const std::string &reference,
                     const study::PairScore &score) {
  text.add("--metric=%s",
           score.isCommand ? ("'" + formatLine(score.metric, 120) + "'").c_str()
                           : score.metric.c_str());
  if (!score.isCommand)
    text.add(", output '%s'", formatLine(score.output, 120).c_str());
  text.add(" against %s:\n", score.hasLabels ? "labels" : reference.c_str());
  text.table({{precision, shownScore(score, score.model)},
              {reference, shownScore(score, score.reference)}});
}

/// Returns the layers to keep in fp32 that halve the error, or as many as fit
/// into a line. Returns null if nothing was kept.
static const Sensitivity::Kept *suggested(const Sensitivity &sensitivity) {
  constexpr size_t kMostOfLine = 16;
  const Sensitivity::Kept *best = nullptr;
  for (const Sensitivity::Kept &kept : sensitivity.kept)
    if (!best ||
        (best->error > sensitivity.all / 2 && kept.count <= kMostOfLine))
      best = &kept;
  return best;
}

static void addSensitivity(tools::TextBuilder &text,
                           const Sensitivity &sensitivity) {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "relative error of the outputs", "tensor"}};
  for (const LayerError &layer : sensitivity.layers)
    rows.push_back({formatLine(llvm::join(layer.nodes, " + "), 60),
                    digits("%.6f", layer.alone), formatLine(layer.tensor, 60)});
  text.add("\nlayers, each alone in int8 and all others in fp32, %llu samples, "
           "the worst first:\n",
           static_cast<unsigned long long>(sensitivity.samples));
  text.table(std::move(rows));
  text.add("\nall layers in int8: %s\n",
           digits("%.6f", sensitivity.all).c_str());
  for (const Sensitivity::Kept &kept : sensitivity.kept)
    text.add("all but the worst %zu: %s\n", kept.count,
             digits("%.6f", kept.error).c_str());
  if (const Sensitivity::Kept *best = suggested(sensitivity))
    text.add("\nto keep the worst %zu in fp32:\n  ingot compile … %s\n",
             best->count, keepArguments(sensitivity, best->count).c_str());
}

std::string ingot::study::textReport(const CompareOptions &options,
                                     const Comparison &result) {
  tools::TextBuilder text;
  const std::string reference =
      options.usesOnnxRuntime ? "ONNX Runtime " + result.onnxRuntime : "fp32";
  text.add("%llu sample%s, %s against %s\n",
           static_cast<unsigned long long>(result.samples),
           result.samples == 1 ? "" : "s", result.precision.c_str(),
           reference.c_str());
  std::vector<std::vector<std::string>> rows = {
      {"output", "relative error", "cosine", "largest error", "same largest"}};
  for (const ComparedOutput &output : result.outputs)
    rows.push_back(
        {formatLine(output.name, 60),
         digits("%.6f", output.difference.relative()),
         digits("%.6f", output.difference.cosine()),
         digits("%.6g", output.difference.largest),
         output.rows > 0 ? digits("%.2f %%", output.percentAgreeing()) : "-"});
  text.table(std::move(rows));
  for (const ComparedOutput &output : result.outputs)
    if (output.otherShapes)
      text.add("output '%s' has another shape in %llu samples, which are left "
               "out here\n",
               formatLine(output.name, 60).c_str(),
               static_cast<unsigned long long>(output.otherShapes));
  // A score or the user's tolerance says more than an error.
  if (result.score)
    addScore(text, result.precision, reference, *result.score);
  else if (!options.tolerance.isGiven() &&
           (result.precision != "fp32" ||
            result.verdict.kind != study::Verdict::Kind::good))
    text.add("%s\n", result.verdict.text().c_str());
  if (options.tolerance.isGiven())
    addExcess(text, options.tolerance, result);
  if (result.tensors)
    addTensors(text, *result.tensors);
  if (result.sensitivity)
    addSensitivity(text, *result.sensitivity);
  return text.str();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static Json toJson(const std::string &name, const Difference &difference) {
  return {{"name", name},
          {"relative_error", difference.relative()},
          {"cosine", difference.cosine()},
          {"largest_error", difference.largest}};
}

static Json toJson(const study::Tolerance &tolerance) {
  auto orNull = [](const std::optional<double> &bound) {
    return bound ? Json(*bound) : Json();
  };
  return {{"atol", orNull(tolerance.absolute)},
          {"rtol", orNull(tolerance.relative)},
          {"max_error", orNull(tolerance.output)}};
}

/// Returns the members about one output.
static Json toJson(const ComparedOutput &output,
                   const study::Tolerance &tolerance) {
  Json one = ::toJson(output.name, output.difference);
  if (output.rows > 0)
    one["same_largest"] = output.agreeing / output.rows;
  if (output.otherShapes)
    one["other_shapes"] = output.otherShapes;
  one["elements"] = output.difference.count;
  if (tolerance.isGiven())
    one["within_tolerance"] = !output.isBeyond;
  if (!tolerance.absolute && !tolerance.relative)
    return one;
  const study::Excess &excess = output.excess;
  one["elements_beyond"] = excess.count;
  if (excess.count)
    one["first_beyond"] = {{"sample", excess.where},
                           {"element", excess.place},
                           {"value", toNumber(excess.got)},
                           {"reference", toNumber(excess.wanted)}};
  return one;
}

static Json toJson(const study::PairScore &score) {
  return {{"metric", score.metric},
          {"output", score.isCommand ? Json() : Json(score.output)},
          {"labels", score.hasLabels ? "labels" : "reference"},
          {"rows", score.rows},
          {"percent", toNumber(score.model.percent)},
          {"reference_percent", toNumber(score.reference.percent)},
          {"details", study::detailsToJson(score.model.details)},
          {"reference_details", study::detailsToJson(score.reference.details)}};
}

static Json toJson(const Sensitivity &sensitivity) {
  Json layers = Json::array(), kept = Json::array();
  for (const LayerError &layer : sensitivity.layers)
    layers.push_back({{"nodes", layer.nodes},
                      {"tensor", layer.tensor},
                      {"relative_error", layer.alone},
                      {"keep", ingot::keepRule(layer.nodes.front())}});
  for (const Sensitivity::Kept &one : sensitivity.kept)
    kept.push_back({{"layers", one.count},
                    {"relative_error", one.error},
                    {"arguments", keepArguments(sensitivity, one.count)}});
  const Sensitivity::Kept *best = suggested(sensitivity);
  return {{"samples", sensitivity.samples},
          {"relative_error", sensitivity.all},
          {"layers", std::move(layers)},
          {"kept", std::move(kept)},
          {"suggested_layers", best ? Json(best->count) : Json()}};
}

Json ingot::study::jsonReport(const CompareOptions &options,
                              const Comparison &result) {
  Json members = {
      {"samples", result.samples},
      {"precision", result.precision},
      {"reference", options.usesOnnxRuntime ? "onnxruntime" : "fp32"}};
  if (options.usesOnnxRuntime)
    members["reference_version"] = result.onnxRuntime;
  const study::Tolerance &tolerance = options.tolerance;
  if (tolerance.isGiven()) {
    members["tolerance"] = ::toJson(tolerance);
    members["within_tolerance"] = result.isWithin();
  }
  Json outputs = Json::array();
  for (const ComparedOutput &output : result.outputs)
    outputs.push_back(::toJson(output, tolerance));
  members["outputs"] = std::move(outputs);
  members["verdict"] = {{"name", result.verdict.name()},
                        {"output", result.verdict.output},
                        {"part", result.verdict.part},
                        {"relative_error", toNumber(result.verdict.error)}};
  if (result.score)
    members["score"] = ::toJson(*result.score);
  if (result.tensors) {
    Json tensors = Json::array();
    for (const ComparedTensor &tensor : *result.tensors) {
      Json one = ::toJson(tensor.name, tensor.difference);
      one["signal_to_noise_db"] = toNumber(tensor.difference.decibels());
      tensors.push_back(std::move(one));
    }
    members["tensors"] = std::move(tensors);
  }
  if (result.sensitivity)
    members["sensitivity"] = ::toJson(*result.sensitivity);
  return members;
}
