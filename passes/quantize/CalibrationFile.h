//===- CalibrationFile.h - ranges of tensors in a file ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_CALIBRATIONFILE_H
#define INGOT_PASSES_QUANTIZE_CALIBRATIONFILE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::quantize {

/// The quantization of a tensor to 8 bits: value = (byte - zeroPoint) * scale.
struct TensorCalibration {
  std::string name;
  /// Observed range, for readers of the file. Compilation reads only `scale`
  /// and `zeroPoint`.
  float min = 0, max = 0;
  float scale = 1;
  uint8_t zeroPoint = 0;
  /// Method that found the range, if it differs from the file's method. For
  /// readers of the file.
  std::string method;
};

/// A value for each channel of an operation's result.
struct ChannelValues {
  /// The ONNX nodes that the operation comes from, joined by " + ".
  std::string name;
  std::vector<float> values;
};

/// The rounding direction of a product's weights: up or down for each weight.
struct WeightRounding {
  std::string name;
  /// Bits, one for each weight: 1 rounds up, 0 rounds down. Weights are ordered
  /// by output channel. Each byte begins with its lowest bit.
  std::vector<char> up;
};

/// The content of a file that `ingot calibrate` writes. Its format is described
/// in docs/reference/calibration-file.md.
struct Calibration {
  /// File name of the model, and its SHA-256 in hexadecimal digits.
  std::string model, sha256;
  std::string method;
  uint64_t samples = 0;
  /// Conversion of images to samples, in the syntax of --preprocess; nullopt if
  /// the option was not given.
  std::optional<std::string> preprocess;
  std::vector<TensorCalibration> tensors;
  /// True if neighbouring layers were equalized before the ranges were found,
  /// so that their weights have equal magnitudes.
  bool equalize = false;
  /// Largest magnitude of each channel of tensors that products read. Smoothing
  /// moves a part of these ranges into the weights.
  std::vector<ChannelValues> channels;
  /// Mean error of each output channel of int8 products. The error is positive
  /// if the results are too large.
  std::vector<ChannelValues> biases;
  /// Rounding of products whose weights are not rounded to the nearest int8.
  std::vector<WeightRounding> rounding;
  /// Nodes whose layers stay in fp32. Each names one layer.
  std::vector<std::string> keep;

  bool isRepaired() const {
    return equalize || !channels.empty() || !biases.empty() ||
           !rounding.empty() || !keep.empty();
  }
};

std::string toText(const Calibration &calibration);

/// Reads the text of a calibration file. Returns an error that describes the
/// first fault of the text.
llvm::Expected<Calibration> parseCalibration(llvm::StringRef text);

/// Reads the calibration file `path`. The error names the file.
llvm::Expected<Calibration> readCalibration(llvm::StringRef path);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_CALIBRATIONFILE_H
