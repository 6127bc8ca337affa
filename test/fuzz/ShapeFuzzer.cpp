//===- ShapeFuzzer.cpp - libFuzzer target of --shape and --dim ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuzzes the parser of shapes. Any text must give a shape or a one-line
// message.
//
//===----------------------------------------------------------------------===//
#include "compiler/study/options/ProfileOption.h"
#include "compiler/study/options/ShapeOption.h"

#include <cstdlib>

static void check(const ingot::SizeRange &range) {
  if (range.min < 0 || range.max < range.min || range.multiple < 1 ||
      (range.usual >= 0 &&
       (range.usual < range.min || range.usual > range.max ||
        range.usual % range.multiple != 0)))
    abort();
}

static void check(const ingot::ShapeProfile &profile) {
  for (const auto &shape : profile.shapes)
    for (const auto &range : shape.second)
      if (range)
        check(*range);
  for (const auto &dim : profile.dims)
    check(dim.second);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  ingot::ImportOptions import;
  ingot::PipelineOptions pipeline;
  ingot::ShapeProfile shaped, named, listed;
  std::string error;
  if (!ingot::parseShape(text, import, shaped, error) && error.empty())
    abort();
  check(shaped);
  for (const auto &shape : import.shapes)
    for (int64_t size : shape.second)
      if (size < -1 && size != INT64_MIN)
        abort();
  error.clear();
  if (!ingot::parseDim(text, import, named, error) && error.empty())
    abort();
  check(named);
  error.clear();
  if (!ingot::parseProfile(text, listed, error) && error.empty())
    abort();
  check(listed);
  error.clear();
  if (!ingot::parseLimit(text, import, pipeline, error) && error.empty())
    abort();
  if (import.maxNesting > 100 || import.maxTensorElements < 1 ||
      import.maxTensorElements > ingot::onnx::kLargestTensor)
    abort();
  ingot::isCIdentifier(text);
  return 0;
}
