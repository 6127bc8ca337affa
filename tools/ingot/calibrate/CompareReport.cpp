//===- CompareReport.cpp - what `ingot compare` prints --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Text.h"
#include "tools/ingot/bench/Json.h"
#include "tools/ingot/calibrate/Comparison.h"

using namespace ingot;
using namespace ingot::tools;

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

void Comparison::print() const {
  printf("%llu sample%s, %s against %s\n",
         static_cast<unsigned long long>(numRead), numRead == 1 ? "" : "s",
         precisionOf(model.get()).c_str(), referenceName().c_str());
  std::vector<std::vector<std::string>> rows = {
      {"output", "relative error", "cosine", "largest error", "same largest"}};
  for (const OutputDifference &output : outputs)
    rows.push_back(
        {formatLine(output.name, 60),
         digits("%.6f", output.difference.relative()),
         digits("%.6f", output.difference.cosine()),
         digits("%.6g", output.difference.largest),
         output.rows > 0 ? digits("%.2f %%", output.percentAgreeing()) : "-"});
  printTable(rows);
  printExcess();
  if (options.perLayer)
    printLayers();
  if (options.sensitivity)
    printSensitivity(probe, sensitivity);
}

std::string Comparison::referenceName() const {
  return options.usesOnnxRuntime ? "ONNX Runtime " + peer.version() : "fp32";
}

void Comparison::printExcess() const {
  if (!options.tolerance.isGiven())
    return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = "output '" + formatLine(outputs[i].name, 60) + "'";
    const Difference &difference = outputs[i].difference;
    if (const Excess &one = excess[i]; one.count)
      printf("%s: %llu of %llu elements are beyond the tolerance, the first is "
             "element %llu of %s: %.9g, but %.9g in the reference\n",
             name.c_str(), static_cast<unsigned long long>(one.count),
             static_cast<unsigned long long>(difference.count),
             static_cast<unsigned long long>(one.place), one.where.c_str(),
             one.got, one.wanted);
    else if (isBeyond(i))
      printf("%s: relative error %.6g, more than %g\n", name.c_str(),
             difference.relative(), *options.tolerance.output);
  }
  if (isWithin())
    printf("all outputs are within the tolerance\n");
}

void Comparison::printLayers() const {
  // Sort the layers, the worst first.
  std::vector<const Inner *> sorted;
  for (const Inner &layer : layers)
    sorted.push_back(&layer);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Inner *a, const Inner *b) {
                     return a->difference.relative() > b->difference.relative();
                   });
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "relative error", "signal to noise", "largest error"}};
  for (const Inner *layer : sorted)
    rows.push_back({formatLine(layer->name, 80),
                    digits("%.6f", layer->difference.relative()),
                    shownDecibels(layer->difference) + " dB",
                    digits("%.6g", layer->difference.largest)});
  printf("\ntensors, the worst first:\n");
  printTable(rows);
}

void Comparison::printJson() const {
  JsonWriter json;
  json.begin('{')
      .member("samples", numRead)
      .member("precision", precisionOf(model.get()))
      .member("reference", options.usesOnnxRuntime ? "onnxruntime" : "fp32");
  if (options.usesOnnxRuntime)
    json.member("reference_version", peer.version());
  if (options.tolerance.isGiven())
    json.member("within_tolerance", isWithin());
  auto write = [&](const std::string &name, const Difference &difference) {
    json.line()
        .begin('{')
        .member("name", name)
        .member("relative_error", difference.relative())
        .member("cosine", difference.cosine())
        .member("largest_error", difference.largest);
  };
  json.begin("outputs", '[');
  for (const OutputDifference &output : outputs) {
    write(output.name, output.difference);
    if (output.rows > 0)
      json.member("same_largest", output.agreeing / output.rows);
    if (options.tolerance.absolute || options.tolerance.relative)
      json.member("elements_beyond",
                  excess[size_t(&output - outputs.data())].count);
    json.end('}');
  }
  json.end(']');
  if (options.perLayer) {
    json.begin("tensors", '[');
    for (const Inner &layer : layers) {
      write(layer.name, layer.difference);
      json.end('}');
    }
    json.end(']');
  }
  if (options.sensitivity)
    writeSensitivity(probe, sensitivity, json);
  printf("%s\n", json.end('}').str().c_str());
}
