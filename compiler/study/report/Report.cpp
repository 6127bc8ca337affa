//===- Report.cpp - a page on what int8 costs and brings ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/report/Report.h"

#include "compiler/Version.h"
#include "compiler/study/report/JsonWriter.h"
#include "compiler/study/report/Plots.h"
#include "compiler/study/runs/TextFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

#include <map>
#include <set>

using namespace ingot;
using namespace ingot::study;

static constexpr char kPage[] =
#include "ReportPage.inc"
    ;

/// The largest number of histograms. They show the inputs of the worst layers.
static constexpr size_t kMostPlots = 8;

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string shownBytes(uint64_t bytes) {
  return bytes < 10 << 20 ? digits("%.1f KiB", double(bytes) / (1 << 10))
                          : digits("%.1f MiB", double(bytes) / (1 << 20));
}

static std::string shown(const std::optional<double> &value,
                         const char *format) {
  return value ? digits(format, *value) : "";
}

static std::string nameOf(const StudiedLayer &layer) {
  return llvm::join(layer.nodes, " + ");
}

static const char *precisionOf(const StudiedLayer &layer) {
  return layer.isInt8 ? "int8" : layer.isBF16 ? "bf16" : "fp32";
}

/// Returns the method of the tensor, or "" if it has no range of its own.
static std::string methodOf(const Study &study, const StudiedLayer &layer) {
  if (!layer.range)
    return "";
  return layer.range->method.empty() ? study.method : layer.range->method;
}

static std::string reasonOf(const StudiedLayer &layer) {
  if (layer.reason.empty() && layer.fp32Ms && layer.int8Ms &&
      *layer.int8Ms > *layer.fp32Ms)
    return "int8 is slower here";
  return layer.reason;
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

/// Returns the number of layers in int8, as the page's title.
static std::string titleOf(const Study &study) {
  const auto narrow = llvm::count_if(
      study.layers, [](const StudiedLayer &layer) { return layer.isInt8; });
  return std::to_string(narrow) + " of " + std::to_string(study.layers.size()) +
         " layers in int8";
}

static std::string card(const std::string &value, const std::string &what) {
  return "<div class=\"card\"><b>" + escapeHtml(value) + "</b><span>" +
         escapeHtml(what) + "</span></div>\n";
}

static std::string cards(const Study &study) {
  std::string text = card(
      shownBytes(study.chosen.bytes),
      "artifact, " +
          digits("%.2f", double(study.chosen.bytes) /
                             double(std::max<uint64_t>(study.fp32.bytes, 1))) +
          " of the " + shownBytes(study.fp32.bytes) + " in fp32");
  if (study.chosen.latencyMs && study.fp32.latencyMs)
    text += card(
        digits("%.3f ms", *study.chosen.latencyMs),
        "a run, " +
            digits("%.2f", *study.fp32.latencyMs / *study.chosen.latencyMs) +
            " times as fast as fp32 with " +
            digits("%.3f ms", *study.fp32.latencyMs));
  if (study.search)
    text += card(shortScore(*study.search, study.search->chosenPercent),
                 "by " + study.search->metric + ", " +
                     shortScore(*study.search, study.search->fp32Percent) +
                     " in fp32");
  if (study.outputs.size() == 1 && study.samples)
    text += card(digits("%.4f", study.outputs.front().difference.relative()),
                 "relative error of the output");
  return text;
}

static std::string madeBy(const Study &study) {
  std::string text = "ingot " INGOT_VERSION "; ranges by " + study.method +
                     " of " + std::to_string(study.calibrationSamples) +
                     " samples";
  if (study.samples)
    text += "; errors of " + std::to_string(study.samples) + " samples";
  if (study.machine)
    text += "; times of " + study.machine->cpu + ", code for " +
            study.machine->target + ", " +
            std::to_string(study.machine->threads) +
            (study.machine->threads == 1 ? " thread" : " threads");
  return text;
}

/// Returns the result with bf16 for layers that are not in int8.
static std::string bf16Text(const Study &study) {
  const StudiedSearch &search = *study.search;
  if (!search.bf16Percent)
    return "";
  return ", " + shortScore(search, *search.bf16Percent) +
         " with bf16 for the rest" +
         (search.bf16Speedup
              ? digits(", %.2f times as fast as fp32", *search.bf16Speedup)
              : "");
}

static std::string searchSection(const Study &study) {
  if (!study.search)
    return "";
  const StudiedSearch &search = *study.search;
  return "<h2>Search</h2>\n<p>" +
         escapeHtml(
             std::to_string(search.rows) + " results, judged by " +
             search.metric + " against " +
             (search.hasLabels ? "labels" : "fp32") + ". " +
             shortScore(search, search.fp32Percent) + " in fp32" +
             (search.evaluations
                  ? ", " + shortScore(search, search.int8Percent) +
                        " with all layers in int8 that int8 makes faster"
                  : "") +
             bf16Text(study) + ", " + shortScore(search, search.chosenPercent) +
             " as chosen (" + search.chosen + "); a drop of " +
             digits("%g", search.maxDrop) + " points was allowed. " +
             std::to_string(search.evaluations) + " assignments were tried.") +
         "</p>\n";
}

static std::string cell(const std::string &text, const char *kind = "") {
  return std::string("<td") +
         (*kind ? std::string(" class=\"") + kind + "\"" : "") + ">" +
         escapeHtml(text) + "</td>";
}

/// Returns the first node and, in smaller type, the nodes merged with it.
static std::string nameCell(const std::vector<std::string> &nodes) {
  std::string text = "<td class=\"name\">" + escapeHtml(nodes.front());
  for (const std::string &node : llvm::ArrayRef(nodes).drop_front())
    text += "<small>+&nbsp;" + escapeHtml(node) + "</small>";
  return text + "</td>";
}

static std::string outputsSection(const Study &study) {
  if (!study.samples)
    return "";
  std::string text =
      "<h2>Outputs</h2>\n<div class=\"wide\"><table>\n<tr><th>output</th>"
      "<th class=\"n\">relative error</th><th class=\"n\">cosine</th>"
      "<th class=\"n\">largest error</th><th class=\"n\">same largest</th>"
      "</tr>\n";
  for (const OutputDifference &output : study.outputs)
    text +=
        "<tr>" + cell(output.name, "name") +
        cell(digits("%.6f", output.difference.relative()), "n") +
        cell(digits("%.6f", output.difference.cosine()), "n") +
        cell(digits("%.6g", output.difference.largest), "n") +
        cell(output.rows > 0 ? digits("%.2f %%", output.percentAgreeing()) : "",
             "n") +
        "</tr>\n";
  return text + "</table></div>\n";
}

/// Returns the time of the layer in its precision. bf16 has no time of its own.
static std::optional<double> timeOf(const StudiedLayer &layer) {
  if (layer.isInt8)
    return layer.int8Ms;
  return layer.isBF16 ? std::nullopt : layer.fp32Ms;
}

/// Returns the layers, those that take longest first.
static std::vector<const StudiedLayer *> sortByTime(const Study &study) {
  std::vector<const StudiedLayer *> sorted;
  for (const StudiedLayer &layer : study.layers)
    sorted.push_back(&layer);
  llvm::stable_sort(sorted, [](const StudiedLayer *a, const StudiedLayer *b) {
    return timeOf(*a).value_or(0) > timeOf(*b).value_or(0);
  });
  return sorted;
}

/// Returns the tensor and, in smaller type, its quantization.
static std::string tensorCell(const Study &study, const StudiedLayer &layer) {
  std::string text = "<td class=\"name\">" + escapeHtml(layer.tensor);
  if (layer.range)
    text += "<small>scale " + digits("%.6g", double(layer.range->scale)) +
            ", zero point " + std::to_string(layer.range->zeroPoint) + ", " +
            escapeHtml(methodOf(study, layer)) + "</small>";
  return text + "</td>";
}

static std::string layerRows(const Study &study) {
  double largest = 0, allMs = 0;
  for (const StudiedLayer &layer : study.layers) {
    largest = std::max(largest, layer.alone.value_or(0));
    allMs += timeOf(layer).value_or(0);
  }
  std::string text;
  for (const StudiedLayer *sorted : sortByTime(study)) {
    const StudiedLayer &layer = *sorted;
    std::string error;
    if (layer.alone)
      error = "<span class=\"meter\" style=\"width:" +
              digits("%.0f", largest ? 60 * *layer.alone / largest : 0) +
              "px\"></span>" + digits("%.6f", *layer.alone);
    const std::optional<double> ms = timeOf(layer);
    text += "<tr>" + nameCell(layer.nodes) + "<td><span class=\"p " +
            precisionOf(layer) + "\">" + precisionOf(layer) + "</span></td>" +
            cell(ms && allMs ? digits("%.1f %%", 100 * *ms / allMs) : "", "n") +
            cell(shown(ms, "%.4f"), "n") +
            cell(shown(layer.fp32Ms, "%.4f"), "n") + "<td class=\"error\">" +
            error + "</td>" + cell(reasonOf(layer), "why") +
            tensorCell(study, layer) + "</tr>\n";
  }
  return text;
}

/// Returns the words of the page with their meanings.
static std::string terms(const Study &study) {
  std::string text;
  auto add = [&](const char *term, const char *meaning) {
    text += "<dt>" + escapeHtml(term) + "</dt><dd>" + escapeHtml(meaning) +
            "</dd>\n";
  };
  add("layer", "the product (convolution or matrix product) of a node or of "
               "several merged nodes, with the operations that its kernel "
               "computes on the result");
  if (study.machine) {
    add("ms", "time of the layer in a run, in its precision: the least of the "
              "medians of three rounds, in which fp32 and int8 take turns");
    add("share", "part of the time of all layers in the table; other "
                 "operations are not counted");
  }
  if (study.samples) {
    add("relative error", "norm of the difference from fp32, divided by the "
                          "norm of the fp32 output");
    add("cosine", "cosine of the angle between the output and that of fp32");
    add("same largest", "rows whose largest element is at the same place as "
                        "in fp32");
  }
  if (study.sensitivity)
    add("error alone",
        "relative error of the outputs if only this layer is in int8");
  add("why", "the reason for the precision");
  add("reads", "the tensor that the layer multiplies with its weights");
  add("scale, zero point",
      "a byte b of the tensor stands for (b - zero point) scale");
  add("method", "how the range of the tensor was chosen from the samples, as "
                "--method of ingot calibrate");
  return text;
}

static std::string sensitivitySection(const Study &study) {
  if (!study.sensitivity || study.sensitivity->kept.empty())
    return "";
  std::string text =
      "<h2>Keeping the worst in fp32</h2>\n<p>Relative error of the outputs if "
      "the layers with the largest errors stay in fp32: " +
      digits("%.6f", study.sensitivity->all) +
      " with none of them. The options are for ingot compile.</p>\n";
  for (size_t i = 0; i < study.sensitivity->kept.size(); ++i) {
    const Sensitivity::Kept &kept = study.sensitivity->kept[i];
    text += "<p>the worst " + std::to_string(kept.count) + ": " +
            digits("%.6f", kept.error) + "</p>\n<pre>" +
            escapeHtml(study.keepArguments[i]) + "</pre>\n";
  }
  return text;
}

static std::string plotsSection(const Study &study) {
  if (!study.sensitivity)
    return "";
  std::string text;
  std::set<std::string> done;
  for (const LayerError &worst : study.sensitivity->layers) {
    const StudiedLayer &layer = study.layers[worst.unit];
    auto histogram = study.histograms.find(layer.tensor);
    if (!layer.range || histogram == study.histograms.end() ||
        done.size() == kMostPlots || !done.insert(layer.tensor).second)
      continue;
    const double scale = layer.range->scale, zero = layer.range->zeroPoint;
    text +=
        "<div><h3>" + escapeHtml(layer.tensor) + "</h3><p>read by " +
        escapeHtml(nameOf(layer)) + "</p>" +
        plotHistogram(histogram->second, -zero * scale, (255 - zero) * scale) +
        "</div>\n";
  }
  if (text.empty())
    return "";
  return "<h2>What the worst layers read</h2>\n<p>Histograms of the values, "
         "with logarithmic heights. Bytes can represent the shaded range. "
         "Values outside of it, in red, become its ends.</p>\n<div "
         "class=\"plots\">\n" +
         text + "</div>\n";
}

/// Replaces each `{{name}}` in a page by its text. Makes one pass, so marks in
/// inserted texts are not replaced.
static std::string fill(llvm::StringRef page,
                        const std::map<llvm::StringRef, std::string> &texts) {
  std::string filled;
  while (true) {
    auto [before, rest] = page.split("{{");
    filled += before;
    if (rest.empty())
      return filled;
    auto [name, behind] = rest.split("}}");
    filled += texts.at(name);
    page = behind;
  }
}

std::string ingot::study::reportPage(const Study &study) {
  const std::string layersText =
      study.machine ? "The layers that take longest come first."
                    : "The layers are in the model's order. Times are missing, "
                      "because the sizes of inputs are not known.";
  return fill(kPage, {{"model", escapeHtml(study.model)},
                      {"title", titleOf(study)},
                      {"terms", terms(study)},
                      {"made", escapeHtml(madeBy(study))},
                      {"cards", cards(study)},
                      {"search", searchSection(study)},
                      {"outputs", outputsSection(study)},
                      {"layers_text", escapeHtml(layersText)},
                      {"layers", layerRows(study)},
                      {"sensitivity", sensitivitySection(study)},
                      {"plots", plotsSection(study)}});
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string ingot::study::reportJsonPath(const std::string &page) {
  llvm::SmallString<128> name(page);
  llvm::sys::path::replace_extension(name, "json");
  return std::string(name);
}

llvm::Error ingot::study::writeReport(const Study &study,
                                      const std::string &page) {
  return writeTexts(
      {{reportJsonPath(page), reportJson(study)}, {page, reportPage(study)}});
}

static void writeModel(JsonWriter &json, const char *key,
                       const StudiedModel &model) {
  json.line().begin(key, '{').member("bytes", model.bytes);
  if (model.latencyMs)
    json.member("latency_ms", *model.latencyMs);
  json.end('}');
}

static void writeLayer(JsonWriter &json, const Study &study,
                       const StudiedLayer &layer) {
  json.line().begin('{').begin("nodes", '[');
  for (const std::string &node : layer.nodes)
    json.element(node);
  json.end(']')
      .member("precision", precisionOf(layer))
      .member("reason", reasonOf(layer))
      .member("tensor", layer.tensor);
  if (layer.range)
    json.member("scale", double(layer.range->scale))
        .member("zero_point", unsigned(layer.range->zeroPoint))
        .member("method", methodOf(study, layer));
  if (layer.alone)
    json.member("relative_error", *layer.alone);
  if (layer.fp32Ms)
    json.member("fp32_ms", *layer.fp32Ms);
  if (layer.int8Ms)
    json.member("int8_ms", *layer.int8Ms);
  json.end('}');
}

static void writeSearch(JsonWriter &json, const StudiedSearch &search) {
  json.line()
      .begin("search", '{')
      .member("max_drop", search.maxDrop)
      .member("labels", search.hasLabels ? "labels" : "fp32")
      .member("metric", search.metric)
      .member("metric_output", search.output)
      .member("rows", search.rows)
      .member("fp32_percent", search.fp32Percent);
  if (search.evaluations)
    json.member("int8_percent", search.int8Percent);
  if (search.bf16Percent)
    json.member("bf16_percent", *search.bf16Percent);
  if (search.bf16Speedup)
    json.member("bf16_speedup", *search.bf16Speedup);
  json.member("chosen_percent", search.chosenPercent)
      .member("evaluations", search.evaluations)
      .member("chosen", search.chosen)
      .begin("candidates", '[');
  for (const Candidate &one : search.candidates) {
    json.begin('{')
        .member("name", one.name)
        .member("percent", one.percent)
        .member("within_budget", one.isRight);
    if (one.milliseconds)
      json.member("ms", *one.milliseconds);
    json.end('}');
  }
  json.end(']').end('}');
}

std::string ingot::study::reportJson(const Study &study) {
  JsonWriter json;
  json.begin('{')
      .line()
      .member("ingot_report", 1u)
      .line()
      .member("model", study.model)
      .line()
      .begin("calibration", '{')
      .member("method", study.method)
      .member("samples", study.calibrationSamples)
      .end('}');
  if (study.machine)
    json.line()
        .begin("machine", '{')
        .member("cpu", study.machine->cpu)
        .member("target", study.machine->target)
        .member("threads", study.machine->threads)
        .end('}');
  writeModel(json, "fp32", study.fp32);
  writeModel(json, "int8", study.int8);
  writeModel(json, "chosen", study.chosen);
  if (study.search)
    writeSearch(json, *study.search);
  if (study.samples) {
    json.line().begin("outputs", '[');
    for (const OutputDifference &output : study.outputs) {
      json.line()
          .begin('{')
          .member("name", output.name)
          .member("relative_error", output.difference.relative())
          .member("cosine", output.difference.cosine())
          .member("largest_error", output.difference.largest);
      if (output.rows > 0)
        json.member("same_largest", output.percentAgreeing() / 100);
      json.end('}');
    }
    json.end(']');
  }
  json.line().begin("layers", '[');
  for (const StudiedLayer &layer : study.layers)
    writeLayer(json, study, layer);
  json.end(']');
  if (study.sensitivity) {
    json.line()
        .begin("sensitivity", '{')
        .member("samples", study.sensitivity->samples)
        .member("relative_error", study.sensitivity->all)
        .begin("kept", '[');
    for (size_t i = 0; i < study.sensitivity->kept.size(); ++i)
      json.line()
          .begin('{')
          .member("layers", uint64_t(study.sensitivity->kept[i].count))
          .member("relative_error", study.sensitivity->kept[i].error)
          .member("arguments", study.keepArguments[i])
          .end('}');
    json.end(']').end('}');
  }
  return json.end('}').str() + "\n";
}
