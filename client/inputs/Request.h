//===- Request.h - an input and what the options say of it ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_REQUEST_H
#define INGOT_CLIENT_INPUTS_REQUEST_H

#include "client/inputs/Inputs.h"

#include <optional>

namespace ingot::tools {

/// An input of a model, and the options for it.
struct Request {
  const InputSpecs *specs = nullptr;
  const ingot_model *model = nullptr;
  uint32_t number = 0;
  ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
  /// The file, `random...` or `zeros`; empty if not given.
  std::string source;
  /// The sizes from --shape.
  std::optional<std::vector<int64_t>> shape;
  /// The sizes from --dim for dynamic dimensions; -1 for all other dimensions.
  std::vector<int64_t> namedSizes;

  /// Returns a description, for example "input 'x' (float32 <batch>x4)".
  std::string describe() const;
  /// Returns the sizes from the options and the model; -1 for unknown ones.
  std::vector<int64_t> givenSizes() const;
  /// Returns the sizes from the options and the model. Other sizes are the
  /// usual sizes of the model's first profile. Returns nothing if a size
  /// remains unknown.
  std::optional<std::vector<int64_t>> knownShape() const;
};

/// Returns a message that the shape is required, with an example.
std::string askForShape(const Request &request);

/// Compares a shape with the fixed sizes of the model. `origin` names the
/// source of the shape. Returns an error message, or "".
std::string checkFixedSizes(const Request &request,
                            const std::vector<int64_t> &shape,
                            const std::string &origin);

/// Parses `random` and `random:SEED`.
bool parseRandom(const std::string &source, uint64_t &seed);

/// Makes the array of an input from its source. Returns an error message, or
/// "".
std::string readSource(const Request &request, Array &array);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_REQUEST_H
