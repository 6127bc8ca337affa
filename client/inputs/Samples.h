//===- Samples.h - what a model is calibrated with --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_SAMPLES_H
#define INGOT_CLIENT_INPUTS_SAMPLES_H

#include "client/Npy.h"
#include "client/inputs/Pictures.h"
#include "client/inputs/SampleSurvey.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// The type and the shape of an input.
struct InputSpec {
  std::string name;
  ingot_dtype dtype = 0;
  /// The sizes; -1 for any size.
  std::vector<int64_t> dims;
};

/// Returns true for the name of a file that a folder of samples may hold.
bool isSampleFile(const std::string &path);

/// Reads the inputs of one run after the other from .npz and .npy files and
/// images. Only one sample of an array is in memory.
class Samples {
public:
  explicit Samples(Preprocess preprocess = {});
  ~Samples();

  /// Opens files, or folders of files in the order of their names. Returns an
  /// error message, or "".
  std::string open(const std::vector<std::string> &paths);

  /// Sets the inputs that samples are read for. Must be called before the first
  /// sample.
  void setInputs(std::vector<InputSpec> specs) { inputs = std::move(specs); }

  /// Sets the preprocessing. Must be called before the first sample.
  void setPreprocess(const Preprocess &how) { preprocess = how; }

  /// Restricts reading to these samples, in ascending order.
  void choose(std::vector<PickedSample> picked) { wanted = std::move(picked); }

  /// Reads the next sample into `arrays`, one array per input. Returns false at
  /// the end, or on an error with its message in `problem`.
  bool next(std::vector<Array> &arrays, std::string &problem);

  /// Returns how many samples the last one represents.
  double weight() const { return wanted ? (*wanted)[numTaken - 1].weight : 1; }
  /// Returns the source of the last sample: "sample 3 of 'data.npz'".
  std::string where() const;
  uint64_t count() const { return read; }
  /// Returns how far the files have been read.
  std::string progress() const;
  /// Returns the share of the samples that come before the last one, from 0 to
  /// 1. All files count alike.
  double fraction() const;

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
  /// The samples to read; not set to read all samples.
  std::optional<std::vector<PickedSample>> wanted;
  size_t numTaken = 0;
  /// The state of the open file.
  std::unique_ptr<Source> source;
  uint64_t inFile = 0, numInFile = 0;
  std::string current;
};

/// Returns true if all float elements are finite.
bool allFinite(const Array &array);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_SAMPLES_H
