//===- Samples.h - what a model is calibrated with --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_SAMPLES_H
#define INGOT_TOOLS_INGOT_CALIBRATE_SAMPLES_H

#include "tools/ingot/Npy.h"
#include "tools/ingot/inputs/Pictures.h"
#include "tools/ingot/calibrate/SampleSurvey.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// What an input takes.
struct InputSpec {
  std::string name;
  ingot_dtype dtype = 0;
  /// -1: any size.
  std::vector<int64_t> dims;
};

/// Returns true for the name of a file that a folder of samples may hold.
bool isSampleFile(const std::string &path);

/// The inputs of one run after the other, out of .npz and .npy files and
/// pictures; of arrays, no more than one sample is in memory.
class Samples {
public:
  explicit Samples(Preprocess preprocess);
  ~Samples();

  /// Files, or folders of files in the order of their names. Returns what is
  /// wrong, or "".
  std::string open(const std::vector<std::string> &paths);

  /// What samples are read for; before the first of them.
  void setInputs(std::vector<InputSpec> specs) { inputs = std::move(specs); }

  /// Before the first sample.
  void setPreprocess(const Preprocess &how) { preprocess = how; }

  /// Only these are wanted, in ascending order.
  void choose(std::vector<PickedSample> picked) { wanted = std::move(picked); }

  /// Reads the next sample into `arrays`, one for each input. False at the end,
  /// and where `problem` says what is wrong.
  bool next(std::vector<Array> &arrays, std::string &problem);

  /// For how many the last one stands.
  double weight() const {
    return wanted ? (*wanted)[numTaken - 1].weight : 1;
  }
  /// Where the last one was: "sample 3 of 'data.npz'".
  std::string where() const;
  uint64_t count() const { return read; }
  /// How far the files are read.
  std::string progress() const;

private:
  struct Source;
  std::string openFile();
  std::string openNpy(const std::string &path);
  std::string openNpz(const std::string &path);
  bool step(std::string &problem);
  std::string readArrays(std::vector<Array> &arrays);
  std::string readPicture(const std::string &path, std::vector<Array> &arrays);
  std::string addStream(size_t input, const std::string &what, NpyRead read,
                        uint64_t size);
  std::string countSamples();
  std::string listFolder(const std::string &path);

  std::vector<InputSpec> inputs;
  Preprocess preprocess;
  std::vector<std::string> files;
  size_t fileNumber = 0;
  uint64_t read = 0;
  /// Of the samples; none: all.
  std::optional<std::vector<PickedSample>> wanted;
  size_t numTaken = 0;
  /// Of the file that is open.
  std::unique_ptr<Source> source;
  uint64_t inFile = 0, numInFile = 0;
  std::string current;
};

/// Whether all elements that are floats are finite.
bool allFinite(const Array &array);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_SAMPLES_H
