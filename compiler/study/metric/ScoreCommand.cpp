//===- ScoreCommand.cpp - a user's program that scores outputs ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/ScoreCommand.h"

#include "base/Process.h"
#include "client/Json.h"
#include "client/Text.h"
#include "client/run/Outputs.h"
#include "compiler/study/runs/Errors.h"
#include "compiler/study/runs/TextFiles.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <errno.h>
#include <string.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::study;

OutputFolder::OutputFolder(const std::vector<std::string> &names)
    : names(names), files(tools::outputFileNames(names)) {}

llvm::Error OutputFolder::create() { return errorIf(folder.create()); }

std::string OutputFolder::fileOf(const char *kind, size_t output) const {
  char number[32];
  snprintf(number, sizeof(number), "%06zu", numSamples);
  return path() + "/" + kind + "." + number + "." + files[output];
}

static llvm::Error linkFile(const std::string &from, const std::string &to) {
  if (link(from.c_str(), to.c_str()))
    return makeError("cannot link '" + from + "': " + strerror(errno));
  return llvm::Error::success();
}

llvm::Error OutputFolder::addReference(llvm::ArrayRef<tools::Array> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string file = fileOf("fp32", i);
    if (llvm::Error error = errorIf(tools::writeNpy(file, outputs[i])))
      return error;
    if (llvm::Error error = linkFile(file, fileOf("model", i)))
      return error;
  }
  ++numSamples;
  return llvm::Error::success();
}

llvm::Error OutputFolder::add(llvm::ArrayRef<tools::Array> outputs,
                              const OutputFolder &reference) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string file = fileOf("fp32", i);
    if (llvm::Error error =
            errorIf(tools::writeNpy(fileOf("model", i), outputs[i])))
      return error;
    if (llvm::Error error =
            linkFile(reference.path() + file.substr(path().size()), file))
      return error;
  }
  ++numSamples;
  return llvm::Error::success();
}

llvm::Error
OutputFolder::finish(const std::optional<tools::Array> &labels) const {
  if (labels)
    if (llvm::Error error =
            errorIf(tools::writeNpy(path() + "/labels.npy", *labels)))
      return error;
  tools::Json outputs = tools::Json::array();
  for (size_t i = 0; i < names.size(); ++i)
    outputs.push_back({{"name", names[i]},
                       {"file", llvm::StringRef(files[i]).drop_back(4).str()}});
  const tools::Json document = {{"ingot_outputs", 1},
                                {"samples", numSamples},
                                {"labels", labels.has_value()},
                                {"outputs", std::move(outputs)}};
  return writeTexts({{path() + "/outputs.json", tools::toLine(document)}});
}

llvm::Expected<double> ScoreCommand::run(const OutputFolder &folder,
                                         const Progress &progress) const {
  progress.step("running the metric");
  ProcessLimits limits;
  limits.seconds = seconds;
  limits.isCancelled = [&progress] { return progress.cancelled(); };
  const ProcessResult done = runProcess(
      {"/bin/sh", "-c", command + " \"$1\"", "sh", folder.path()}, limits);
  if (llvm::Error error = checkCancelled(progress))
    return std::move(error);
  const std::string name = "--metric='" + tools::formatLine(command, 120) + "'";
  if (done.isLate)
    return makeError(name + " did not end in " + std::to_string(seconds) +
                     " s: give --metric-limit=SECONDS");
  if (done.exitCode)
    return makeError(name +
                     " failed: " + tools::formatLine(done.lastError(), 200));
  const std::string printed = llvm::StringRef(done.out).trim().str();
  char *end = nullptr;
  const double score = strtod(printed.c_str(), &end);
  if (printed.empty() || *end || !std::isfinite(score))
    return makeError(name + " printed " +
                     (printed.empty()
                          ? "nothing"
                          : "'" + tools::formatLine(printed, 80) + "'") +
                     ": it must print one finite number");
  return score;
}
