//===- ShapeProfiles.cpp - sizes that a model's runs may have -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/ShapeProfiles.h"

#include "client/Text.h"

using namespace ingot::tools;

std::vector<ShapeProfile>
ingot::tools::shapeProfilesOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<ShapeProfile> profiles(info.num_shape_profiles);
  for (uint32_t p = 0; p < profiles.size(); ++p) {
    ingot_shape_profile_info profile = INGOT_SHAPE_PROFILE_INFO_INIT;
    ingot_model_shape_profile_describe(model, p, &profile, nullptr);
    profiles[p].resize(profile.num_ranges, INGOT_SIZE_RANGE_INFO_INIT);
    for (uint32_t r = 0; r < profile.num_ranges; ++r)
      ingot_model_size_range_describe(model, p, r, &profiles[p][r], nullptr);
  }
  return profiles;
}

static const ingot_size_range_info *findRange(const ShapeProfile &profile,
                                              uint32_t input, uint32_t dim) {
  for (const ingot_size_range_info &range : profile)
    if (range.input == input && range.dim == dim)
      return &range;
  return nullptr;
}

std::optional<std::vector<int64_t>>
ingot::tools::usualShape(const ingot_model *model, uint32_t input) {
  ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
  ingot_model_input_describe(model, input, &info, nullptr);
  if (!info.is_dynamic)
    return std::vector<int64_t>(info.dims, info.dims + info.rank);
  for (const ShapeProfile &profile : shapeProfilesOf(model)) {
    std::vector<int64_t> shape(info.dims, info.dims + info.rank);
    bool isKnown = true;
    for (uint32_t d = 0; d < info.rank; ++d) {
      if (const ingot_size_range_info *range = findRange(profile, input, d))
        shape[d] = range->usual;
      isKnown &= shape[d] != INGOT_ABI_DYNAMIC;
    }
    if (isKnown)
      return shape;
  }
  return std::nullopt;
}

/// Returns "(64:320:2048)", with steps "(64:320:2048:32k)", or "(8k)".
static std::string formatRange(const ingot_size_range_info &range) {
  std::string steps = std::to_string(range.multiple) + "k";
  if (range.min == range.max)
    return std::to_string(range.min);
  if (range.usual == INGOT_ABI_DYNAMIC)
    return "(" + steps + ")";
  return "(" + std::to_string(range.min) + ":" + std::to_string(range.usual) +
         ":" + std::to_string(range.max) +
         (range.multiple == 1 ? "" : ":" + steps) + ")";
}

std::string ingot::tools::formatProfile(const ingot_model *model,
                                        const ShapeProfile &profile) {
  std::string text;
  ingot_model_info model_info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &model_info, nullptr);
  for (uint32_t i = 0; i < model_info.num_inputs; ++i) {
    ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model, i, &info, nullptr);
    std::string shape;
    bool hasRange = false;
    for (uint32_t d = 0; d < info.rank; ++d) {
      const ingot_size_range_info *range = findRange(profile, i, d);
      hasRange |= range != nullptr;
      shape += d ? "x" : "";
      if (range)
        shape += formatRange(*range);
      else
        shape += formatShape(&info.dims[d], 1, &info.dim_names[d]);
    }
    if (hasRange)
      text +=
          (text.empty() ? "" : ", ") + formatLine(info.name, 60) + "=" + shape;
  }
  return text;
}
