//===- MetricName.cpp - the syntax of --metric ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/MetricName.h"

#include "compiler/study/metric/Metric.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/SmallVector.h"

using namespace ingot;
using namespace ingot::study;

llvm::Expected<MetricName> ingot::study::parseMetric(const std::string &given) {
  const llvm::StringRef text(given);
  const auto [metric, outputs] = text.split('@');
  MetricName name;
  name.metric = metric.str();
  // A name with a wrong number is no command: `argmax:1/2`.
  const bool isKnown = isMetricKind(metric.split(':').first) || metric.empty();
  if (!isKnown && text.find_first_of(" /") != llvm::StringRef::npos) {
    name.metric.clear();
    name.command = given;
    return name;
  }
  if (!metric.empty() || !text.contains('@'))
    if (llvm::Expected<std::unique_ptr<Metric>> found = findMetric(metric);
        !found)
      return found.takeError();
  if (!text.contains('@'))
    return name;
  if (outputs.empty())
    return makeUsageError("--metric=" + given +
                          ": the name of an output follows '@'");
  if (!metric.starts_with("detection")) {
    name.outputs = {outputs.str()};
    return name;
  }
  llvm::SmallVector<llvm::StringRef> several;
  outputs.split(several, ',');
  for (llvm::StringRef one : several)
    name.outputs.push_back(one.str());
  if (several.size() != 1 && several.size() != 3)
    return makeUsageError("--metric=" + given +
                          ": name one output of boxes, or three: "
                          "BOXES,SCORES,CLASSES");
  return name;
}
