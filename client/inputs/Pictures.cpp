//===- Pictures.cpp - pictures as inputs of a model -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Pictures.h"

#include "base/InputFile.h"
#include "client/Parse.h"
#include "client/Text.h"
#include "client/inputs/DecodePicture.h"

#include <algorithm>
#include <cmath>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace ingot;
using namespace ingot::tools;

static constexpr uint64_t kMostFileBytes = 256 << 20;
static constexpr int64_t kMostSide = 16384;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static bool parseFloat(const std::string &text, float &value) {
  char *end = nullptr;
  value = strtof(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(value);
}

static bool parseFloats(const std::string &text, std::vector<float> &values) {
  values.clear();
  for (const std::string &part : split(text, ':')) {
    values.emplace_back();
    if (!parseFloat(part, values.back()))
      return false;
  }
  return values.size() == 1 || values.size() == 3;
}

static bool parseSide(const std::string &text, int64_t &side) {
  long long value = 0;
  if (!parseNumber(text, value) || value < 1 || value > kMostSide)
    return false;
  side = value;
  return true;
}

static std::string formatFloats(const std::vector<float> &values) {
  std::string text;
  for (float value : values) {
    char digits[40];
    snprintf(digits, sizeof(digits), "%.9g", double(value));
    text += (text.empty() ? "" : ":") + std::string(digits);
  }
  return text;
}

std::string Preprocess::text() const {
  const Preprocess usual;
  std::string text;
  auto add = [&](const std::string &part) {
    text += (text.empty() ? "" : ",") + part;
  };
  if (side)
    add("resize=" + std::to_string(side));
  if (width)
    add("resize=" + std::to_string(width) + "x" + std::to_string(height));
  if (crop)
    add("crop=" + std::to_string(crop));
  if (scale != usual.scale)
    add("scale=" + formatFloats({scale}));
  if (!mean.empty())
    add("mean=" + formatFloats(mean));
  if (!deviation.empty())
    add("std=" + formatFloats(deviation));
  if (isBgr)
    add("order=bgr");
  return text;
}

std::string Preprocess::parse(const std::string &text) {
  isGiven = true;
  const std::string sizes = "a number from 1 to " + std::to_string(kMostSide);
  for (const std::string &part : split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::string value =
        equals == std::string::npos ? "" : part.substr(equals + 1);
    auto wants = [&](const std::string &what) {
      return key + " is '" + formatLine(value, 60) + "', but must be " + what;
    };
    if (key == "resize") {
      const std::vector<std::string> both = split(value, 'x');
      const bool isRight = both.size() == 2 ? parseSide(both[0], width) &&
                                                  parseSide(both[1], height)
                                            : parseSide(value, side);
      if (!isRight)
        return wants(sizes + ", or WIDTHxHEIGHT");
    } else if (key == "crop") {
      if (!parseSide(value, crop))
        return wants(sizes);
    } else if (key == "scale") {
      if (!parseFloat(value, scale) || scale == 0)
        return wants("a number that is not 0");
    } else if (key == "mean") {
      if (!parseFloats(value, mean))
        return wants("one number, or three as 0.485:0.456:0.406");
    } else if (key == "std") {
      if (!parseFloats(value, deviation) ||
          std::count(deviation.begin(), deviation.end(), 0.0f))
        return wants("one number, or three as 0.229:0.224:0.225, not 0");
    } else if (key == "order") {
      if (value != "rgb" && value != "bgr")
        return wants("rgb or bgr");
      isBgr = value == "bgr";
    } else {
      return "there is no '" + formatLine(key, 40) +
             "': use resize, crop, scale, mean, std, order";
    }
  }
  return "";
}

bool ingot::tools::isPicture(const std::string &path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos)
    return false;
  std::string extension = path.substr(dot + 1);
  for (char &c : extension)
    c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const char *known : {"png", "jpg", "jpeg", "bmp", "ppm", "pgm"})
    if (extension == known)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

namespace {
/// A pixel of a resized image: the source pixels that it is made from, and
/// their weights.
struct Window {
  int64_t first;
  std::vector<float> weights;
};
} // namespace

static std::vector<Window> makeWindows(int64_t from, int64_t to) {
  const double ratio = double(from) / double(to);
  const double support = std::max(ratio, 1.0);
  std::vector<Window> windows;
  for (int64_t i = 0; i < to; ++i) {
    const double center = (double(i) + 0.5) * ratio;
    const auto first = std::max<int64_t>(int64_t(center - support + 0.5), 0);
    const auto last = std::min<int64_t>(int64_t(center + support + 0.5), from);
    Window window = {first, {}};
    double sum = 0;
    for (int64_t x = first; x < last; ++x) {
      const double away = std::abs((double(x) + 0.5 - center) / support);
      window.weights.push_back(float(std::max(1 - away, 0.0)));
      sum += window.weights.back();
    }
    for (float &weight : window.weights)
      weight = float(weight / sum);
    windows.push_back(std::move(window));
  }
  return windows;
}

Picture ingot::tools::resize(const Picture &picture, int64_t height,
                             int64_t width) {
  if (height == picture.height && width == picture.width)
    return picture;
  const int64_t channels = picture.channels;
  Picture wide = {picture.height, width, channels, {}};
  wide.values.resize(size_t(wide.height * width * channels));
  const std::vector<Window> columns = makeWindows(picture.width, width);
  for (int64_t y = 0; y < wide.height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c) {
        const Window &window = columns[size_t(x)];
        const float *from = &picture.values[size_t(
            (y * picture.width + window.first) * channels + c)];
        float sum = 0;
        for (size_t i = 0; i < window.weights.size(); ++i)
          sum += window.weights[i] * from[i * size_t(channels)];
        wide.values[size_t((y * width + x) * channels + c)] = sum;
      }
  Picture result = {height, width, channels, {}};
  result.values.resize(size_t(height * width * channels));
  const std::vector<Window> rows = makeWindows(picture.height, height);
  const int64_t rowElements = width * channels;
  for (int64_t y = 0; y < height; ++y) {
    const Window &window = rows[size_t(y)];
    float *to = &result.values[size_t(y * rowElements)];
    for (size_t i = 0; i < window.weights.size(); ++i) {
      const float *from =
          &wide.values[size_t((window.first + int64_t(i)) * rowElements)];
      for (int64_t e = 0; e < rowElements; ++e)
        to[e] += window.weights[i] * from[e];
    }
  }
  return result;
}

static Picture cut(const Picture &picture, int64_t height, int64_t width) {
  const int64_t top = (picture.height - height) / 2,
                left = (picture.width - width) / 2;
  Picture result = {height, width, picture.channels, {}};
  for (int64_t y = 0; y < height; ++y) {
    auto row = picture.values.begin() +
               ((top + y) * picture.width + left) * picture.channels;
    result.values.insert(result.values.end(), row,
                         row + width * picture.channels);
  }
  return result;
}

namespace {
/// The positions of channels, height and width in an input, and their sizes.
struct Layout {
  int64_t channels = 0, height = 0, width = 0;
  bool isChannelsLast = false, hasBatch = false;
};
} // namespace

static std::string findLayout(const std::vector<int64_t> &dims,
                              Layout &layout) {
  const size_t rank = dims.size();
  auto isCount = [](int64_t dim) { return dim == 1 || dim == 3; };
  layout.hasBatch = rank == 4;
  if (rank == 4 || rank == 3) {
    const int64_t *d = dims.data() + (rank - 3);
    if (rank == 4 && dims[0] > 1)
      return "takes " + std::to_string(dims[0]) +
             " pictures at a time: "
             "fix the batch to 1 with --dim or --shape, or give an .npz file";
    if (isCount(d[0])) {
      layout.channels = d[0], layout.height = d[1], layout.width = d[2];
      return "";
    }
    if (isCount(d[2])) {
      layout.isChannelsLast = true;
      layout.channels = d[2], layout.height = d[0], layout.width = d[1];
      return "";
    }
  }
  return "is " + formatShape(dims.data(), rank) +
         ", which is not the shape of pictures: it must be Nx3xHxW or NxHxWx3, "
         "with 1 or 3 channels";
}

/// Resizes and crops an image to the size of the input.
static std::string fit(Picture &picture, const Preprocess &options,
                       const Layout &layout) {
  int64_t height = layout.height, width = layout.width;
  if (options.crop)
    height = width = options.crop;
  if (options.side) {
    const bool isWide = picture.width > picture.height;
    const int64_t shorter = isWide ? picture.height : picture.width,
                  longer = isWide ? picture.width : picture.height;
    const auto other =
        int64_t(double(options.side) * double(longer) / double(shorter));
    if (other > kMostSide)
      return "it is too long for its width";
    picture = isWide ? resize(picture, options.side, other)
                     : resize(picture, other, options.side);
  } else if (options.width) {
    picture = resize(picture, options.height, options.width);
  } else if (!options.crop && height > 0 && width > 0) {
    picture = resize(picture, height, width);
  }
  if (height <= 0)
    height = picture.height;
  if (width <= 0)
    width = picture.width;
  if (picture.height < height || picture.width < width)
    return "it is " + std::to_string(picture.width) + "x" +
           std::to_string(picture.height) + " pixels, but " +
           std::to_string(width) + "x" + std::to_string(height) +
           " are to be cut out: resize it in --preprocess";
  picture = cut(picture, height, width);
  if ((layout.height > 0 && layout.height != height) ||
      (layout.width > 0 && layout.width != width))
    return "it is cut to " + std::to_string(width) + "x" +
           std::to_string(height) + " pixels, but the input takes " +
           std::to_string(layout.width) + "x" + std::to_string(layout.height);
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static float ofChannel(const std::vector<float> &values, int64_t channel,
                       float none) {
  return values.empty()       ? none
         : values.size() == 1 ? values[0]
                              : values[size_t(channel)];
}

/// Writes the elements in the order of the input's dimensions.
template <typename T, typename Convert>
static void store(const Picture &picture, const Layout &layout, Array &array,
                  bool isBgr, Convert convert) {
  const int64_t channels = picture.channels,
                pixels = picture.height * picture.width;
  array.data.resize(size_t(pixels * channels) * sizeof(T));
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t from = isBgr && channels == 3 ? 2 - c : c;
      const T value = convert(picture.values[size_t(p * channels + from)], c);
      const int64_t to =
          layout.isChannelsLast ? p * channels + c : c * pixels + p;
      memcpy(&array.data[size_t(to) * sizeof(T)], &value, sizeof(T));
    }
}

std::string ingot::tools::decodePicture(const std::string &bytes,
                                        const Preprocess &options,
                                        ingot_dtype dtype,
                                        const std::vector<int64_t> &dims,
                                        Array &array) {
  Layout layout;
  std::string problem = findLayout(dims, layout);
  if (!problem.empty())
    return "the input " + problem;
  if (dtype != INGOT_FLOAT && dtype != INGOT_UINT8)
    return std::string("the input is ") + ingot_dtype_name(dtype) +
           ", but pictures become float32 or uint8: give an .npz file";
  if (layout.channels == 1 &&
      (options.mean.size() > 1 || options.deviation.size() > 1))
    return "the input has 1 channel, but mean or std have 3 numbers";
  Picture picture;
  problem = decode(bytes, layout.channels, picture);
  if (problem.empty())
    problem = fit(picture, options, layout);
  if (!problem.empty())
    return problem;
  array.dtype = dtype;
  array.dims.clear();
  if (layout.hasBatch)
    array.dims.push_back(1);
  if (layout.isChannelsLast)
    array.dims.insert(array.dims.end(),
                      {picture.height, picture.width, picture.channels});
  else
    array.dims.insert(array.dims.end(),
                      {picture.channels, picture.height, picture.width});
  if (dtype == INGOT_UINT8)
    store<uint8_t>(
        picture, layout, array, options.isBgr, [](float value, int64_t) {
          return uint8_t(std::lround(std::clamp(value, 0.0f, 255.0f)));
        });
  else
    store<float>(picture, layout, array, options.isBgr,
                 [&](float value, int64_t channel) {
                   return (value * options.scale -
                           ofChannel(options.mean, channel, 0)) /
                          ofChannel(options.deviation, channel, 1);
                 });
  return "";
}

std::string ingot::tools::readPicture(const std::string &path,
                                      const Preprocess &preprocess,
                                      ingot_dtype dtype,
                                      const std::vector<int64_t> &dims,
                                      Array &array) {
  std::string bytes;
  std::string problem = readWholeFile(path, kMostFileBytes, bytes);
  return problem.empty() ? decodePicture(bytes, preprocess, dtype, dims, array)
                         : problem;
}
