//===- Judge.cpp - scores of models on samples ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Judge.h"

#include "client/Text.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace ingot;
using namespace ingot::study;

static std::string quoted(const std::string &name) {
  return "'" + formatLine(name, 60) + "'";
}

static std::string shapeOf(const Array &array) {
  return formatShape(array.dims.data(), array.dims.size());
}

std::string Judge::fileName() const {
  return path.empty() ? "" : "'" + formatLine(path, 200) + "': ";
}

llvm::Error Judge::readLabelsOf(const std::string &file) {
  path = file;
  return readLabels(file).moveInto(givenLabels);
}

llvm::Error Judge::setModel(const std::vector<InputSpec> &inputs,
                            std::vector<std::string> outputs) {
  outputNames = std::move(outputs);
  if (!isNamed() && tools::readsLabels(inputs))
    givenLabels.reset();
  // A command may judge labels of any kind.
  if (!givenLabels || isCommand())
    return llvm::Error::success();
  return toLabels(*givenLabels, path).moveInto(labels);
}

llvm::Error Judge::hasChanged() const {
  return makeError(fileName() + "it has changed");
}

//===----------------------------------------------------------------------===//
// The metric
//===----------------------------------------------------------------------===//

/// Finds the outputs that the user names, or else the first one. Finds outputs
/// with boxes.
llvm::Error Judge::chooseOutput(llvm::ArrayRef<Array> outputs) {
  std::vector<size_t> named;
  for (const std::string &name : options.metric.outputs) {
    auto found = llvm::find(outputNames, name);
    if (found == outputNames.end())
      return makeError("--metric: the model has no output " + quoted(name) +
                       ", but " +
                       formatLine(llvm::join(outputNames, ", "), 120));
    named.push_back(size_t(found - outputNames.begin()));
  }
  judged = named.empty() ? 0 : named.front();
  const bool wantsBoxes =
      metric && llvm::StringRef(options.metric.metric).starts_with("detection");
  const bool hasBoxLabels =
      labels && labels->dims.size() == 3 && labels->dims.back() == 5;
  // Labels of another form are for another metric.
  if (!wantsBoxes && (metric || (labels && !hasBoxLabels)))
    return llvm::Error::success();
  if (named.size() == 3)
    boxes = BoxOutputs{named[0], named[1], named[2]};
  else if (named.empty())
    boxes = findBoxes(outputs, outputNames,
                      llvm::to_vector(llvm::seq(outputs.size())));
  else
    boxes = findBoxes(outputs, outputNames, named);
  // An output of N×6 may also have other numbers than boxes.
  if (!wantsBoxes && !hasBoxLabels && boxes && !boxes->scores)
    boxes.reset();
  if (wantsBoxes && !boxes)
    return makeError("--metric=" + options.metric.metric +
                     ": no outputs with boxes were found: one of N×6 with x1, "
                     "y1, x2, y2, score, class, or three with boxes, scores "
                     "and classes");
  return llvm::Error::success();
}

/// Checks that the output and the labels fit to the metric.
llvm::Error Judge::checkFor(const Array &output) const {
  if (const std::string wrong = metric->checkOutput(output); !wrong.empty())
    return makeError("output '" + formatLine(shownOutput, 120) + "', " +
                     shapeOf(output) + ", " + wrong +
                     ": name another metric than --metric=" + metric->name());
  const std::string wrong = labels ? metric->checkLabels(*labels, output) : "";
  return errorIf(wrong.empty() ? "" : fileName() + "array 'labels' " + wrong);
}

/// Chooses the output and the metric by the first sample's outputs.
llvm::Error Judge::chooseFor(llvm::ArrayRef<Array> outputs) {
  if (!options.metric.metric.empty())
    if (llvm::Error error = findMetric(options.metric.metric).moveInto(metric))
      return error;
  if (llvm::Error error = chooseOutput(outputs))
    return error;
  if (boxes && !metric)
    metric = makeDetection(0.5);
  llvm::Expected<Array> output = judgedOf(outputs);
  if (!output)
    return output.takeError();
  if (!metric)
    if (llvm::Error error =
            chooseMetric(*output, labels ? &*labels : nullptr).moveInto(metric))
      return error;
  if (!labels && metric->needsLabels())
    return makeError("--metric=" + metric->name() +
                     ": the samples have no array 'labels', which tells the "
                     "vectors that belong together");
  shownOutput = outputNames[boxes ? boxes->boxes : judged];
  if (boxes && boxes->scores)
    shownOutput +=
        "," + outputNames[*boxes->scores] + "," + outputNames[*boxes->classes];
  if (llvm::Error error = checkFor(*output))
    return error;
  shownMetric = metric->nameFor(*output);
  return llvm::Error::success();
}

/// Returns the array that the metric judges.
llvm::Expected<Array> Judge::judgedOf(llvm::ArrayRef<Array> outputs) const {
  if (boxes)
    return packBoxes(outputs, *boxes);
  return outputs[judged];
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

/// Adds the target of the next sample.
llvm::Error Judge::addTarget(const Array &output) {
  if (!labels) {
    targets.push_back(metric->targetOf(output));
    return llvm::Error::success();
  }
  const uint64_t count = metric->numLabels(*labels, output);
  const llvm::ArrayRef<double> all(labels->values);
  // After the last label, count the missing ones for the message.
  if (numTaken + count <= all.size())
    targets.push_back(
        metric->targetOf(all.slice(numTaken, count), *labels, output));
  else
    targets.emplace_back();
  numTaken += count;
  return llvm::Error::success();
}

llvm::Error Judge::addReference(llvm::ArrayRef<Array> outputs,
                                const std::string &where) {
  ++samples;
  if (isCommand()) {
    rows = samples;
    shownMetric = options.metric.command;
    if (!referenceFolder) {
      referenceFolder = std::make_unique<OutputFolder>(outputNames);
      if (llvm::Error error = referenceFolder->create())
        return error;
    }
    return referenceFolder->addReference(outputs);
  }
  if (samples == 1)
    if (llvm::Error error = chooseFor(outputs))
      return error;
  llvm::Expected<Array> output = judgedOf(outputs);
  if (!output)
    return atSample(where, output.takeError());
  if (llvm::Error error = addTarget(*output))
    return error;
  const Target shown = metric->targetOf(*output);
  rows += shown.values.size() / (boxes ? shown.width : 1);
  const Sums sums = metric->compare(targets.back(), *output);
  if (sums.empty() && !labels)
    return hasChanged();
  metric->add(referenceSums, sums);
  referenceBlocks.add(*metric, sums);
  return llvm::Error::success();
}

llvm::Error Judge::endReference(const Progress &progress) {
  if (isCommand()) {
    if (llvm::Error error = referenceFolder->finish(givenLabels))
      return error;
    return ScoreCommand{options.metric.command, options.seconds}
        .run(*referenceFolder, progress)
        .moveInto(referenceScore.percent);
  }
  referenceScore = {100, {}};
  if (!labels)
    return llvm::Error::success();
  if (labels->values.size() != numTaken)
    return makeError(
        fileName() + "there are " + std::to_string(labels->values.size()) +
        " labels, but " + std::to_string(numTaken) + " rows of output '" +
        formatLine(shownOutput, 120) + "' by the metric " + metric->name());
  referenceScore = {metric->score(referenceSums),
                    metric->details(referenceSums)};
  return llvm::Error::success();
}

llvm::Error Judge::checkReference() const {
  if (isCommand() || samples == 0)
    return llvm::Error::success();
  if (metric->isNothing(referenceSums))
    return makeError(fileName() + "the metric " + metric->name() +
                     " finds nothing in " + (labels ? "the labels" : "fp32") +
                     ": give samples with results, or another --metric");
  if (!labels || referenceScore.percent > 0)
    return llvm::Error::success();
  return makeError(fileName() + "fp32 is never right by the metric " +
                   metric->name() +
                   ": the labels are of other samples, or --metric must name "
                   "another metric");
}

//===----------------------------------------------------------------------===//
// Ratings
//===----------------------------------------------------------------------===//

llvm::Expected<Sums> Judge::compare(size_t sample,
                                    llvm::ArrayRef<Array> outputs) const {
  if (sample >= targets.size())
    return hasChanged();
  llvm::Expected<Array> output = judgedOf(outputs);
  if (!output)
    return output.takeError();
  Sums sums = metric->compare(targets[sample], *output);
  // `endReference` reports missing labels.
  if (sums.empty() && !(labels && numTaken > labels->values.size()))
    return makeError("output '" + formatLine(shownOutput, 120) +
                     "' has another size than the right result, which the "
                     "metric " +
                     shownMetric + " cannot compare");
  return sums;
}

llvm::Error Rating::add(llvm::ArrayRef<Array> outputs) {
  if (judge.isCommand()) {
    if (sample++ >= judge.samples)
      return judge.hasChanged();
    if (!folder) {
      folder = std::make_unique<OutputFolder>(judge.outputNames);
      if (llvm::Error error = folder->create())
        return error;
    }
    return folder->add(outputs, *judge.referenceFolder);
  }
  llvm::Expected<Sums> one = judge.compare(sample, outputs);
  if (!one)
    return one.takeError();
  lastIsPerfect = *one == judge.perfect(sample);
  judge.metric->add(sums, *one);
  blocks.add(*judge.metric, *one);
  ++sample;
  return llvm::Error::success();
}

llvm::Expected<Score> Rating::end(const Progress &progress) {
  if (sample != judge.samples)
    return judge.hasChanged();
  if (!judge.isCommand()) {
    Score score{judge.metric->score(sums), judge.metric->details(sums)};
    if (std::optional<double> error =
            errorOfDifference(*judge.metric, judge.referenceBlocks, blocks))
      score.details.push_back({"standard_error_of_drop", *error, "points"});
    return score;
  }
  if (llvm::Error error = folder->finish(judge.givenLabels))
    return std::move(error);
  Score score;
  if (llvm::Error error =
          ScoreCommand{judge.options.metric.command, judge.options.seconds}
              .run(*folder, progress)
              .moveInto(score.percent))
    return std::move(error);
  return score;
}
