//===- ScoredPair.cpp - scores of a model and its reference ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/ScoredPair.h"

#include "client/Execute.h"
#include "compiler/study/compare/Comparison.h"
#include "compiler/study/runs/Errors.h"

using namespace ingot;
using namespace ingot::study;

llvm::Expected<std::unique_ptr<ScoredPair>>
ScoredPair::open(const CompareOptions &options, const ingot_model *model,
                 const Progress &progress) {
  auto pair = std::make_unique<ScoredPair>(
      JudgeOptions{options.metric, options.metricSeconds}, progress);
  // Labels of several files have no order.
  if (options.data.size() == 1)
    if (llvm::Error error = pair->judge.readLabelsOf(options.data.front()))
      return std::move(error);
  if (llvm::Error error =
          pair->judge.setModel(inputsOf(model), tools::outputNames(model)))
    return std::move(error);
  if (!pair->judge.isNamed() && !pair->judge.hasLabels())
    return nullptr;
  return pair;
}

llvm::Error ScoredPair::add(llvm::ArrayRef<Array> wanted,
                            llvm::ArrayRef<Array> got,
                            const std::string &where) {
  if (llvm::Error error = judge.addReference(wanted, where))
    return error;
  return atSample(where, rating.add(got));
}

llvm::Expected<std::optional<PairScore>> ScoredPair::end() {
  if (llvm::Error error = judge.endReference(progress))
    return std::move(error);
  if (llvm::Error error = judge.checkReference()) {
    // Without a named metric, the wrong one may have been chosen.
    if (judge.isNamed())
      return std::move(error);
    warn(progress,
         "no metric judges the outputs: " + llvm::toString(std::move(error)));
    return std::nullopt;
  }
  llvm::Expected<Score> model = rating.end(progress);
  if (!model)
    return model.takeError();
  return PairScore{judge.metricName(), judge.outputName(), judge.isCommand(),
                   judge.hasLabels(),  judge.numRows(),    *model,
                   judge.reference()};
}
