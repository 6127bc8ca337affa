//===- ocr.cpp - reads a line of text in a picture ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A complete application around a compiled PP-OCR recognizer. It uses only
// libingot and the C++ standard library. The model's dictionary is in the
// artifact, as ONNX metadata.
//
// usage: ingot-ocr MODEL.so PICTURE.ppm [--dump-input FILE]
//===----------------------------------------------------------------------===//
#include "ingot/ingot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct Picture {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;
};

/// Reads a binary PPM (P6, 8 bits).
bool readPicture(const char *path, Picture &picture) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int most = 0;
  if (!(file >> magic >> picture.width >> picture.height >> most) ||
      magic != "P6" || most != 255 || picture.width < 1 ||
      picture.height < 1 || picture.width > 16384 || picture.height > 16384)
    return false;
  file.get();
  picture.rgb.resize(size_t(3) * picture.width * picture.height);
  return bool(file.read(reinterpret_cast<char *>(picture.rgb.data()),
                        picture.rgb.size()));
}

/// Returns a channel at a fractional position, interpolated between its four
/// neighbours.
float sample(const Picture &picture, float x, float y, int channel) {
  x = std::min(std::max(x, 0.0f), float(picture.width - 1));
  y = std::min(std::max(y, 0.0f), float(picture.height - 1));
  int x0 = int(x), y0 = int(y);
  int x1 = std::min(x0 + 1, picture.width - 1);
  int y1 = std::min(y0 + 1, picture.height - 1);
  auto at = [&](int column, int row) {
    return float(picture.rgb[3 * (size_t(row) * picture.width + column) +
                             channel]);
  };
  float fx = x - x0, fy = y - y0;
  return (at(x0, y0) * (1 - fx) + at(x1, y0) * fx) * (1 - fy) +
         (at(x0, y1) * (1 - fx) + at(x1, y1) * fx) * fy;
}

/// Preprocesses as PP-OCR does. The image is scaled to the model's height, and
/// padded with zeros at the right. The planes are blue, green, red, with values
/// in [-1, 1].
std::vector<float> prepare(const Picture &picture, int height, int width) {
  std::vector<float> planes(size_t(3) * height * width, 0.0f);
  float ratio = float(picture.width) / picture.height;
  int used = std::min(width, int(std::ceil(height * ratio)));
  float stepX = float(picture.width) / used;
  float stepY = float(picture.height) / height;
  for (int channel = 0; channel < 3; ++channel)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < used; ++x)
        planes[(size_t(channel) * height + y) * width + x] =
            sample(picture, (x + 0.5f) * stepX - 0.5f,
                   (y + 0.5f) * stepY - 0.5f, 2 - channel) /
                127.5f -
            1.0f;
  return planes;
}

std::vector<std::string> readDictionary(const char *text) {
  std::vector<std::string> characters{""}; // class 0: no character
  for (const char *end; (end = std::strchr(text, '\n')); text = end + 1)
    characters.emplace_back(text, end);
  if (*text)
    characters.emplace_back(text);
  characters.emplace_back(" ");
  return characters;
}

/// Decodes greedily by CTC: takes the best class of each step, then drops
/// repetitions and blanks.
std::string decode(const float *scores, int64_t steps, int64_t classes,
                   const std::vector<std::string> &characters,
                   float &confidence) {
  std::string text;
  int64_t previous = 0;
  int count = 0;
  confidence = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const float *row = scores + step * classes;
    int64_t best = std::max_element(row, row + classes) - row;
    if (best != 0 && best != previous && best < int64_t(characters.size())) {
      text += characters[best];
      confidence += row[best];
      ++count;
    }
    previous = best;
  }
  confidence = count ? confidence / count : 0;
  return text;
}

int fail(const char *what, const char *message) {
  std::fprintf(stderr, "ingot-ocr: %s: %s\n", what, message);
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  const char *usage =
      "usage: ingot-ocr MODEL.so PICTURE.ppm [--dump-input FILE]\n"
      "Reads a line of text in a picture with a compiled PP-OCR recogniser.\n"
      "example: ingot-ocr rec.so line.ppm\n"
      "exit codes: 0 done, 1 failed, 2 wrong use\n";
  if (argc == 2 && !std::strcmp(argv[1], "--help")) {
    std::printf("%s", usage);
    return 0;
  }
  if (argc == 2 && !std::strcmp(argv[1], "--version")) {
    std::printf("ingot-ocr %s\n", ingot_version_get());
    return 0;
  }
  if (argc != 3 && !(argc == 5 && !std::strcmp(argv[3], "--dump-input"))) {
    std::fprintf(stderr, "%s", usage);
    return 2;
  }
  Picture picture;
  if (!readPicture(argv[2], picture))
    return fail(argv[2], "cannot read this as a binary PPM picture");

  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = nullptr;
  ingot_context *context = nullptr;
  ingot_tensor_info in = INGOT_TENSOR_INFO_INIT, out = INGOT_TENSOR_INFO_INIT;
  if (ingot_model_load(argv[1], nullptr, &model, &error) ||
      ingot_model_input_describe(model, 0, &in, &error) ||
      ingot_model_output_describe(model, 0, &out, &error) ||
      ingot_context_create(model, nullptr, &context, &error))
    return fail(argv[1], error.message);
  if (in.rank != 4 || in.dims[0] != 1 || in.dims[1] != 3 || in.is_dynamic ||
      out.rank != 3 || out.is_dynamic)
    return fail(argv[1], "not a recogniser compiled for one picture "
                         "(ingot compile --shape x=1x3x48x320)");
  const char *dictionary = ingot_model_metadata_find(model, "character");
  if (!dictionary)
    return fail(argv[1], "the model carries no dictionary");

  std::vector<float> pixels = prepare(picture, in.dims[2], in.dims[3]);
  if (argc == 5) {
    std::ofstream file(argv[4], std::ios::binary);
    file.write(reinterpret_cast<const char *>(pixels.data()), in.bytes);
    if (!file.flush())
      return fail(argv[4], "cannot write");
  }
  std::vector<float> scores(out.bytes / sizeof(float));
  ingot_input input = ingot_input_make(pixels.data(), in.bytes, in.dims,
                                       in.rank, in.dtype);
  ingot_output output = ingot_output_make(scores.data(), out.bytes, nullptr, 0,
                                          out.dtype);
  if (ingot_context_run(context, &input, 1, &output, 1, nullptr, &error))
    return fail(argv[1], error.message);
  float confidence = 0;
  std::string text = decode(scores.data(), out.dims[1], out.dims[2],
                            readDictionary(dictionary), confidence);
  std::printf("%s\n", text.c_str());
  std::fprintf(stderr, "confidence %.3f\n", confidence);
  ingot_context_release(context);
  ingot_model_release(model);
  return 0;
}
