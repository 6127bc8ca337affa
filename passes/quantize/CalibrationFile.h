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

/// How a tensor becomes bytes: value = (byte - zeroPoint) scale.
struct TensorCalibration {
  std::string name;
  /// What was seen. For people; scale and zero point are what counts.
  float min = 0, max = 0;
  float scale = 1;
  uint8_t zeroPoint = 0;
  /// How the range was found, if not as the file says. For people.
  std::string method;
};

/// A number for each channel of an operation's result.
struct ChannelValues {
  /// The ONNX nodes that the operation comes from, joined by " + ".
  std::string name;
  std::vector<float> values;
};

/// Which weights of a product become the byte above them, and not the one
/// below.
struct WeightRounding {
  std::string name;
  /// A bit for each weight, those of the first output first, the lowest bit of
  /// a byte before the others.
  std::vector<char> up;
};

/// What `ingot calibrate` writes; docs/quantization.md has the format.
struct Calibration {
  /// File name and SHA-256, in hexadecimal digits, of the model.
  std::string model, sha256;
  std::string method;
  uint64_t samples = 0;
  /// How pictures became samples, as --preprocess spells it; none if it was not
  /// given.
  std::optional<std::string> preprocess;
  std::vector<TensorCalibration> tensors;
  /// What was repaired before ranges were found: weights of neighbours are
  /// as large as each other.
  bool equalize = false;
  /// The largest magnitudes of channels of what products read, into whose
  /// weights a part of these ranges goes.
  std::vector<ChannelValues> channels;
  /// How much the results of products in bytes are too large on average.
  std::vector<ChannelValues> biases;
  /// Weights that are not rounded to the nearest byte.
  std::vector<WeightRounding> rounding;

  bool isRepaired() const {
    return equalize || !channels.empty() || !biases.empty() ||
           !rounding.empty();
  }
};

std::string toText(const Calibration &calibration);

/// Reads a whole file of this version, or says what is wrong with it.
llvm::Expected<Calibration> parseCalibration(llvm::StringRef text);

/// The same from a file, whose name the error has.
llvm::Expected<Calibration> readCalibration(llvm::StringRef path);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_CALIBRATIONFILE_H
