//===- Request.h - an input and what the options say of it ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_INPUTS_REQUEST_H
#define INGOT_TOOLS_INGOT_INPUTS_REQUEST_H

#include "tools/ingot/inputs/Inputs.h"

#include <optional>

namespace ingot::tools {

/// An input of a model and what the options ask for it.
struct Request {
  const InputSpecs *specs = nullptr;
  const ingot_model *model = nullptr;
  uint32_t number = 0;
  ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
  /// File, `random...` or `zeros`; empty if not given.
  std::string source;
  /// Sizes from --shape.
  std::optional<std::vector<int64_t>> shape;
  /// Sizes from --dim for open dimensions, else -1.
  std::vector<int64_t> namedSizes;

  /// "input 'x' (float32 <batch>x4)"
  std::string describe() const;
  /// Sizes from the options and the model, -1 where neither fixes one.
  std::vector<int64_t> givenSizes() const;
  /// Sizes from the options and the model, or else the usual ones of the
  /// model's first profile; none if sizes are left open.
  std::optional<std::vector<int64_t>> knownShape() const;
};

/// Says that the shape must be given, with an example.
std::string askForShape(const Request &request);

/// Compares a shape with the sizes that the model fixes; `origin` names where
/// the shape comes from. Returns what is wrong, or "".
std::string checkFixedSizes(const Request &request,
                            const std::vector<int64_t> &shape,
                            const std::string &origin);

/// Parses `random` and `random:SEED`.
bool parseRandom(const std::string &source, uint64_t &seed);

/// Makes the array of an input from its source. Returns what is wrong, or "".
std::string readSource(const Request &request, Array &array);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTS_REQUEST_H
