//===- Probe.h - what int8 does, layer by layer -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_PROBE_H
#define INGOT_TOOLS_INGOT_CALIBRATE_PROBE_H

#include "compiler/quantize/Ranges.h"
#include "passes/quantize/CalibrationFile.h"
#include "tools/ingot/calibrate/ScratchModel.h"

namespace ingot::tools {

/// Samples that are enough, where each is run once or more for each layer.
constexpr unsigned kUsualSamples = 8;

uint64_t bytesOf(const std::vector<Array> &arrays);

/// A sample, and what f32 makes of it.
struct KnownSample {
  std::vector<Array> inputs, outputs;
  std::string where;
  /// For how many it stands.
  double weight = 1;
};

/// A model in f32 of which each run says what is rounded as int8 rounds it:
/// one compilation serves all questions of what a precision does.
class Probe {
public:
  Probe(const OptionParser &parser, const Progress &progress)
      : progress(progress), model(parser, progress) {}

  /// Compiles. 0, or the code to end with once what is wrong was printed.
  int prepare(const ScratchModel::Options &options);

  /// What can be switched: products that come from one node. Those that a
  /// calibration has no range of never are.
  const std::vector<Switch> &units() const { return model.switches(); }
  const std::vector<std::string> &tensors() const { return model.observed(); }
  /// What the unit reads; "" if that is in a loop or a branch.
  std::string tensorOf(size_t unit) const;
  ScratchModel &scratch() { return model; }

  void setRange(size_t tensor, const quantize::Encoding &encoding);
  /// Rounding leaves the tensor as it is.
  void setExact(size_t tensor);
  /// A calibration must be of the model, and its tensors be there. Returns what
  /// is wrong, to be read behind the file's name, or "".
  std::string setRanges(const quantize::Calibration &calibration);
  /// A layer that stays in f32 whatever a choice says.
  void forbid(size_t unit) { forbidden[unit] = true; }
  /// Whether a choice can turn it on.
  bool canBeOn(size_t unit) const;

  /// Reads samples, and what f32 makes of them; none after one with which both
  /// take `mostBytes`. Returns what is wrong, or "".
  std::string readSamples(Samples &samples, uint64_t mostBytes = UINT64_MAX);
  uint64_t numSamples() const { return kept.size(); }

  const std::vector<Array> &inputsOf(size_t sample) const {
    return kept[sample].inputs;
  }
  double weightOf(size_t sample) const { return kept[sample].weight; }

  /// Of a model that shows errors: how much each channel of a unit's product in
  /// bytes is too large, on average over all samples; of units of several
  /// products, nothing. Returns what is wrong, or "".
  std::string meanErrors(Samples &samples,
                         std::vector<std::vector<double>> &errors);

  /// Runs on a sample of the caller's.
  std::string runOnce(const std::vector<bool> &isOn,
                      const std::vector<Array> &inputs,
                      std::vector<Array> &outputs);

  /// Runs on all samples and hands the outputs to `visit`, beside those that
  /// are wanted, of f32.
  using Visit =
      std::function<void(size_t sample, const std::vector<Array> &wanted,
                         const std::vector<Array> &found)>;
  std::string run(const std::vector<bool> &isOn, const Visit &visit);

  /// From now on outputs are held against those of this choice.
  std::string compareWith(const std::vector<bool> &isOn);

  /// The norm of the outputs' error over theirs, the root of the mean square
  /// over all outputs.
  std::string measure(const std::vector<bool> &isOn, double &error);

private:
  std::string runOne(KnownSample &sample, std::vector<Array> &outputs);
  void turn(const std::vector<bool> &isOn);

  const Progress &progress;
  ScratchModel model;
  /// Behind the inputs of the model: switches and ranges.
  std::vector<Array> settings;
  std::vector<bool> ranged, forbidden;
  /// Some layers are kept, and not all tensors asked for.
  bool isPartial = false;
  std::vector<KnownSample> kept;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_PROBE_H
