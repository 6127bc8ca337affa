//===- Execute.h - running a model on arrays ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_EXECUTE_H
#define INGOT_CLIENT_EXECUTE_H

#include "client/Handles.h"
#include "client/Npy.h"

#include <string>
#include <vector>

namespace ingot::tools {

std::vector<ingot_input> inputViews(const std::vector<Array> &arrays);
std::vector<ingot_output> outputViews(std::vector<Array> &arrays);

/// Returns the names of the model's outputs, in order.
std::vector<std::string> outputNames(const ingot_model *model);

/// Runs with outputs of the sizes in the signature. Runs again with more room
/// as long as the model requires it. `outputs` receives types, sizes and data.
/// Only the first run uses `options`, so that an observer sees each tensor
/// once.
ingot_status runToFit(const ingot_model *model, ingot_context *context,
                      const std::vector<Array> &inputs,
                      std::vector<Array> &outputs, ingot_error &error,
                      const ingot_run_options *options = nullptr);

} // namespace ingot::tools

#endif // INGOT_CLIENT_EXECUTE_H
