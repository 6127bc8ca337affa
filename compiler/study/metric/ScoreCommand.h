//===- ScoreCommand.h - a user's program that scores outputs ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_SCORECOMMAND_H
#define INGOT_COMPILER_STUDY_METRIC_SCORECOMMAND_H

#include "base/Progress.h"
#include "base/ScratchFolder.h"
#include "client/Npy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::study {

/// The folder that a command gets. It has these files:
///
/// - model.SAMPLE.OUTPUT.npy: the outputs of the model that is scored. SAMPLE
///   has six digits and counts from 0.
/// - fp32.SAMPLE.OUTPUT.npy: the outputs of the reference.
/// - labels.npy: the labels, if there are any.
/// - outputs.json: the number of samples, and the name and OUTPUT of each
///   output.
class OutputFolder {
public:
  /// `names` are the model's outputs.
  explicit OutputFolder(const std::vector<std::string> &names);

  llvm::Error create();
  /// Writes the outputs of the next sample, of the model and of the reference.
  llvm::Error addReference(llvm::ArrayRef<tools::Array> outputs);
  /// Writes the outputs of the next sample. Takes those of the reference from
  /// its folder.
  llvm::Error add(llvm::ArrayRef<tools::Array> outputs,
                  const OutputFolder &reference);
  /// Writes what is not of one sample.
  llvm::Error finish(const std::optional<tools::Array> &labels) const;

  const std::string &path() const { return folder.path(); }

private:
  /// Returns the path of a file of the sample that is added.
  std::string fileOf(const char *kind, size_t output) const;

  ScratchFolder folder;
  std::vector<std::string> names;
  /// The names of outputs in files, with `.npy`.
  std::vector<std::string> files;
  size_t numSamples = 0;
};

/// A command of the shell that gets a folder as its last argument and prints
/// one number. Larger numbers are better.
struct ScoreCommand {
  std::string command;
  /// The most seconds of one run.
  unsigned seconds = 0;

  llvm::Expected<double> run(const OutputFolder &folder,
                             const Progress &progress) const;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_SCORECOMMAND_H
