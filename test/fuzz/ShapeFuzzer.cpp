//===- ShapeFuzzer.cpp - libFuzzer target of --shape and --dim ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text must give a shape, or one line that says what is wrong with it.
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/ShapeOption.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  llvm::StringMap<int64_t> dims;
  std::string error;
  if (!ingot::parseShape(text, shapes, error) && error.empty())
    abort();
  for (const auto &shape : shapes)
    for (int64_t size : shape.second)
      if (size < -1 && size != INT64_MIN)
        abort();
  error.clear();
  if (!ingot::parseDim(text, dims, error) && error.empty())
    abort();
  error.clear();
  ingot::ImportOptions import;
  ingot::PipelineOptions pipeline;
  if (!ingot::parseLimit(text, import, pipeline, error) && error.empty())
    abort();
  if (import.maxNesting > 100 || import.maxTensorElements < 1 ||
      import.maxTensorElements > ingot::onnx::kLargestTensor)
    abort();
  ingot::isCIdentifier(text);
  return 0;
}
