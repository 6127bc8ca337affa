//===- Describe.cpp - descriptions of a model as objects of Python --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include <cstring>

#include "Errors.h"
#include "Model.h"

namespace ingot::python {

/// Returns UTF-8 text. Replaces bytes that are no UTF-8.
static nb::object text(const char *utf8) {
  return nb::steal(
      PyUnicode_DecodeUTF8(utf8, Py_ssize_t(std::strlen(utf8)), "replace"));
}

static ingot_model_info infoOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  return info;
}

static nb::tuple describeTensors(const std::vector<TensorSpec> &specs) {
  nb::list list;
  for (const TensorSpec &spec : specs) {
    nb::list dims;
    for (size_t i = 0; i < spec.dims.size(); ++i) {
      if (spec.dims[i] >= 0)
        dims.append(spec.dims[i]);
      else if (!spec.dimNames[i].empty())
        dims.append(text(spec.dimNames[i].c_str()));
      else
        dims.append(nb::none());
    }
    list.append(nb::make_tuple(text(spec.name.c_str()),
                               ingot_dtype_name(spec.dtype), nb::tuple(dims)));
  }
  return nb::tuple(list);
}

nb::tuple Model::describeInputs() const { return describeTensors(inputs); }
nb::tuple Model::describeOutputs() const { return describeTensors(outputs); }

nb::dict Model::describe() const {
  const ingot_model_info info = infoOf(model);
  nb::list uses;
  for (uint32_t i = 0; i < info.num_uses; ++i) {
    ingot_use_info use = INGOT_USE_INFO_INIT;
    ingot_model_use_describe(model, i, &use, nullptr);
    uses.append(nb::make_tuple(use.kind == INGOT_USE_LIBRARY, text(use.name)));
  }
  nb::dict dict;
  dict["name"] = text(info.name);
  dict["compiler"] = text(info.compiler);
  dict["target"] = text(info.target);
  dict["arena_bytes"] = info.arena_bytes;
  dict["weights_bytes"] = info.weights_bytes;
  dict["code_bytes"] = info.code_bytes;
  dict["separate_weights"] = bool(info.separate_weights);
  dict["takes_general"] = bool(info.takes_general);
  dict["uses"] = nb::tuple(uses);
  return dict;
}

nb::tuple Model::variants() const {
  const ingot_model_info info = infoOf(model);
  nb::list list;
  for (uint32_t i = 0; i < info.num_variants; ++i) {
    ingot_variant_info variant = INGOT_VARIANT_INFO_INIT;
    ingot_model_variant_describe(model, i, &variant, nullptr);
    list.append(text(variant.target));
  }
  return nb::tuple(list);
}

nb::dict Model::metadata() const {
  const ingot_model_info info = infoOf(model);
  nb::dict dict;
  for (uint32_t i = 0; i < info.num_metadata; ++i) {
    const char *key, *value;
    if (ingot_model_metadata_get(model, i, &key, &value, nullptr) == INGOT_OK)
      dict[text(key)] = text(value);
  }
  return dict;
}

nb::tuple Model::layers() const {
  const ingot_model_info info = infoOf(model);
  nb::list list;
  for (uint32_t i = 0; i < info.num_layers; ++i) {
    ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
    ingot_model_layer_describe(model, i, &layer, nullptr);
    nb::list nodes;
    for (uint32_t node = 0; node < layer.num_nodes; ++node)
      if (const char *name = ingot_model_layer_node(model, i, node))
        nodes.append(text(name));
    list.append(nb::make_tuple(text(layer.kind), nb::tuple(nodes), layer.flops,
                               layer.bytes, text(layer.backend),
                               text(layer.reason), text(layer.precision)));
  }
  return nb::tuple(list);
}

nb::tuple Model::ranges() const {
  const ingot_model_info info = infoOf(model);
  nb::list profiles;
  for (uint32_t i = 0; i < info.num_shape_profiles; ++i) {
    ingot_shape_profile_info profile = INGOT_SHAPE_PROFILE_INFO_INIT;
    ingot_model_shape_profile_describe(model, i, &profile, nullptr);
    nb::list ranges;
    for (uint32_t j = 0; j < profile.num_ranges; ++j) {
      ingot_size_range_info range = INGOT_SIZE_RANGE_INFO_INIT;
      ingot_model_size_range_describe(model, i, j, &range, nullptr);
      ranges.append(nb::make_tuple(range.input, range.dim, range.min,
                                   range.usual, range.max, range.multiple));
    }
    profiles.append(nb::tuple(ranges));
  }
  return nb::tuple(profiles);
}

nb::tuple Model::infer(nb::handle given) const {
  nb::tuple items = nb::borrow<nb::tuple>(given);
  if (items.size() != inputs.size())
    raise(INGOT_INVALID_ARGUMENT,
          "expected the sizes of " + std::to_string(inputs.size()) +
              " inputs, but got " + std::to_string(items.size()));
  std::vector<std::vector<int64_t>> inSizes(inputs.size()), outSizes;
  std::vector<const int64_t *> inDims(inputs.size());
  std::vector<uint32_t> inRanks(inputs.size()), outRanks;
  for (size_t i = 0; i < inputs.size(); ++i) {
    nb::object item = items[i];
    if (item.is_none())
      continue;
    for (nb::handle size : nb::borrow<nb::tuple>(item))
      inSizes[i].push_back(nb::cast<int64_t>(size));
    inDims[i] = inSizes[i].data();
    inRanks[i] = uint32_t(inSizes[i].size());
  }
  std::vector<int64_t *> outDims;
  outSizes.reserve(outputs.size());
  for (const TensorSpec &spec : outputs) {
    outSizes.push_back(spec.dims);
    outDims.push_back(outSizes.back().data());
    outRanks.push_back(uint32_t(spec.dims.size()));
  }
  uint64_t arenaBytes = 0;
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_model_infer(model, inDims.data(), inRanks.data(),
                        uint32_t(inDims.size()), outDims.data(),
                        outRanks.data(), uint32_t(outDims.size()), &arenaBytes,
                        &error) != INGOT_OK)
    raise(error);
  nb::list shapes;
  for (const std::vector<int64_t> &sizes : outSizes) {
    nb::list shape;
    for (int64_t size : sizes)
      if (size < 0)
        shape.append(nb::none());
      else
        shape.append(size);
    shapes.append(nb::tuple(shape));
  }
  nb::object arena = nb::none();
  if (arenaBytes != UINT64_MAX)
    arena = nb::int_(arenaBytes);
  return nb::make_tuple(nb::tuple(shapes), arena);
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

Profile::Profile(Model &model) {
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_profile_create(model.get(), nullptr, &profile, &error) != INGOT_OK)
    raise(error);
}

void Profile::reset() {
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_profile_reset(profile, &error) != INGOT_OK)
    raise(error);
}

static nb::tuple timesTuple(const ingot_profile_times &times) {
  return nb::make_tuple(times.runs, times.total_ns, times.min_ns, times.max_ns,
                        times.last_ns);
}

nb::tuple Profile::run() const {
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_profile_run_get(profile, &times, &error) != INGOT_OK)
    raise(error);
  return timesTuple(times);
}

nb::tuple Profile::layer(uint32_t index) const {
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_profile_layer_get(profile, index, &times, &error) != INGOT_OK)
    raise(error);
  return timesTuple(times);
}

} // namespace ingot::python
