//===- ShapeProfiles.h - sizes that a model's runs may have -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_SHAPEPROFILES_H
#define INGOT_CLIENT_SHAPEPROFILES_H

#include "ingot/ingot.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

using ShapeProfile = std::vector<ingot_size_range_info>;

/// Returns the profiles that a model was compiled for. If there are none, a run
/// may have any sizes.
std::vector<ShapeProfile> shapeProfilesOf(const ingot_model *model);

/// Returns the shape of an input. For dynamic dimensions, uses the usual sizes
/// of the first profile that has usual sizes for all of them.
std::optional<std::vector<int64_t>> usualShape(const ingot_model *model,
                                               uint32_t input);

/// Returns "x=1x3x48x(64:320:2048)", the syntax of `ingot compile --profile`.
std::string formatProfile(const ingot_model *model,
                          const ShapeProfile &profile);

} // namespace ingot::tools

#endif // INGOT_CLIENT_SHAPEPROFILES_H
