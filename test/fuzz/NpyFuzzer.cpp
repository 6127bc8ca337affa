//===- NpyFuzzer.cpp - libFuzzer target of the .npy reader ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuzzes the reader of npy files. Any bytes must give an array whose data fit
// its sizes, or a one-line message.
//
//===----------------------------------------------------------------------===//
#include "client/Npy.h"
#include "client/Text.h"
#include "client/Values.h"

#include <cstdlib>

using namespace ingot::tools;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Array array;
  std::string error = parseNpy(data, size, array);
  if (!error.empty()) {
    if (error.find('\n') != std::string::npos)
      abort();
    return 0;
  }
  uint64_t bytes = 0;
  if (!denseBytes(array.dims, array.dtype, bytes) ||
      bytes != array.data.size() ||
      // The offsets of strings can take more bytes than the strings.
      (array.dtype != INGOT_STRING && bytes > size))
    abort();
  summarize(array);
  formatShape(array.dims.data(), array.dims.size());
  return 0;
}
