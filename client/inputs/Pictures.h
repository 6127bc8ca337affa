//===- Pictures.h - pictures as inputs of a model ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_PICTURES_H
#define INGOT_CLIENT_INPUTS_PICTURES_H

#include "client/Npy.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// The conversion of images to inputs.
struct Preprocess {
  /// The size after resizing: the size of the shorter side, or width and
  /// height.
  int64_t side = 0, width = 0, height = 0;
  /// The size of the center crop. If 0, the size of the model's input.
  int64_t crop = 0;
  /// The normalization y = (scale x - mean) / std of values x from 0 to 255.
  float scale = 1.0f / 255;
  std::vector<float> mean, deviation;
  bool isBgr = false;
  /// True if `parse` was called. If not, a model's record may replace the
  /// defaults.
  bool isGiven = false;

  /// Parses `resize=256,crop=224,mean=0.485:0.456:0.406,std=…`. Returns an
  /// error message, or "".
  std::string parse(const std::string &text);
  /// Returns the options that differ from the defaults, in the syntax of
  /// `parse`. Equal options have equal texts.
  std::string text() const;
};

/// Returns true for the name of an image file that can be read.
bool isPicture(const std::string &path);

/// Reads a PNG, JPEG, BMP or PNM file as an input of type `dtype`. A size of -1
/// in `dims` stands for any size. The input is `[N,] C, H, W` or `[N,] H, W, C`
/// with 1 or 3 channels. Returns an error message, or "".
std::string readPicture(const std::string &path, const Preprocess &preprocess,
                        ingot_dtype dtype, const std::vector<int64_t> &dims,
                        Array &array);

/// Reads an image from the bytes of a file, like readPicture.
std::string decodePicture(const std::string &bytes,
                          const Preprocess &preprocess, ingot_dtype dtype,
                          const std::vector<int64_t> &dims, Array &array);

/// An image, with dimensions height, width and channels.
struct Picture {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<float> values;
};

/// Resizes with linear interpolation. Shrinking averages pixels, as PIL does.
Picture resize(const Picture &picture, int64_t height, int64_t width);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_PICTURES_H
