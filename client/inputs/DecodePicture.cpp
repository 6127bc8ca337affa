//===- DecodePicture.cpp - the pixels in a picture's file -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/DecodePicture.h"

#include <limits.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_PSD
#define STBI_NO_TGA
#define STBI_NO_GIF
#define STBI_NO_PIC
#define STBI_MAX_DIMENSIONS 16384
#include <stb/stb_image.h>

/// The most pixels of an image. A color image of this size takes 1 GiB.
static constexpr int64_t kMostPixels = int64_t(1) << 26;

std::string ingot::tools::decode(const std::string &bytes, int64_t channels,
                                 Picture &picture) {
  if (bytes.size() > INT_MAX)
    return "it is too large";
  const auto *data = reinterpret_cast<const stbi_uc *>(bytes.data());
  const int size = int(bytes.size());
  int width = 0, height = 0, found = 0;
  auto unreadable = [] {
    return std::string("it is no picture that can be read (") +
           stbi_failure_reason() + ")";
  };
  // Check the size before memory is allocated, because a small file may state
  // any size.
  if (!stbi_info_from_memory(data, size, &width, &height, &found))
    return unreadable();
  if (int64_t(width) * height > kMostPixels)
    return "it has " + std::to_string(width) + "x" + std::to_string(height) +
           " pixels, but at most " + std::to_string(kMostPixels) +
           " can be read";
  stbi_uc *pixels =
      stbi_load_from_memory(data, size, &width, &height, &found, int(channels));
  if (!pixels)
    return unreadable();
  picture.width = width;
  picture.height = height;
  picture.channels = channels;
  picture.values.assign(pixels, pixels + size_t(width) * size_t(height) *
                                             size_t(channels));
  stbi_image_free(pixels);
  return "";
}
