//===- Pictures.h - pictures as inputs of a model ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_INPUTS_PICTURES_H
#define INGOT_TOOLS_INGOT_INPUTS_PICTURES_H

#include "tools/ingot/Npy.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// How pictures become inputs.
struct Preprocess {
  /// The shorter side, or width and height.
  int64_t side = 0, width = 0, height = 0;
  /// Cut out of the middle; 0: the size of the model's input.
  int64_t crop = 0;
  /// y = (scale x - mean) / std, of x from 0 to 255.
  float scale = 1.0f / 255;
  std::vector<float> mean, deviation;
  bool isBgr = false;
  /// Whether `parse` was called: defaults may be replaced by what a model
  /// records.
  bool isGiven = false;

  /// Reads `resize=256,crop=224,mean=0.485:0.456:0.406,std=…`; returns what is
  /// wrong, or "".
  std::string parse(const std::string &text);
  /// Writes what differs from the defaults, as `parse` reads it. Equal options
  /// have equal texts.
  std::string text() const;
};

/// Whether the name is that of a picture which can be read.
bool isPicture(const std::string &path);

/// Reads a PNG, JPEG, BMP or PNM file as an input of type `dtype` and `dims`,
/// -1 for any size: `[N,] C, H, W` or `[N,] H, W, C` with 1 or 3 channels.
/// Returns what is wrong, or "".
std::string readPicture(const std::string &path, const Preprocess &preprocess,
                        ingot_dtype dtype, const std::vector<int64_t> &dims,
                        Array &array);

/// The same of the bytes of a file.
std::string decodePicture(const std::string &bytes,
                          const Preprocess &preprocess, ingot_dtype dtype,
                          const std::vector<int64_t> &dims, Array &array);

/// Height by width by channels.
struct Picture {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<float> values;
};

/// Linear interpolation; what gets smaller is averaged, as PIL does it.
Picture resize(const Picture &picture, int64_t height, int64_t width);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTS_PICTURES_H
