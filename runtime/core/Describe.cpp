//===- Describe.cpp - what a model says about itself ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"
#include "runtime/core/Error.h"
#include "runtime/core/Model.h"

using namespace ingot::rt;

ingot_status ingot_model_describe(const ingot_model *model,
                                  ingot_model_info *info, ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  const ingot_abi_artifact &artifact = *model->artifact;
  ingot_model_info filled = INGOT_MODEL_INFO_INIT;
  filled.abi_version = artifact.abi_version;
  filled.num_inputs = artifact.inputs.count;
  filled.num_outputs = artifact.outputs.count;
  filled.num_metadata = artifact.metadata.count;
  filled.num_uses = artifact.uses.count;
  filled.num_variants = artifact.variants.count;
  filled.num_layers = artifact.layers.count;
  filled.name = artifact.name;
  filled.compiler = artifact.compiler;
  filled.target = model->code.target;
  filled.arena_bytes = model->code.arena_bytes;
  filled.weights_bytes = artifact.weights_bytes;
  filled.code_bytes = model->code.code_bytes;
  filled.separate_weights = !artifact.weights && artifact.weights_bytes;
  memcpy(filled.weights_sha256, artifact.weights_sha256,
         sizeof(filled.weights_sha256));
  filled.num_size_rules_proved = artifact.num_size_rules_proved;
  filled.num_size_rules_checked = artifact.num_size_rules_checked;
  filled.num_shape_profiles = shapeProfilesOf(artifact).count();
  filled.takes_general = filled.num_shape_profiles && artifact.takes_general;
  if (model->code.device == INGOT_ABI_DEVICE_CUDA) {
    filled.device_memory = INGOT_MEMORY_CUDA;
    filled.device = model->device.index;
  }
  return writeSized(info, &filled, sizeof(filled), "ingot_model_info", error);
}

/// Checks that a table has the requested row.
static ingot_status checkIndex(const ingot_model *model,
                               ingot_abi_table ingot_abi_artifact::*table,
                               uint32_t index, const char *what,
                               ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  uint32_t count = (model->artifact->*table).count;
  if (index < count)
    return INGOT_OK;
  return fail(error, INGOT_INVALID_ARGUMENT,
              "%s %u was asked for, but the model has %u", what, index, count);
}

ingot_status ingot_model_variant_describe(const ingot_model *model,
                                          uint32_t index,
                                          ingot_variant_info *info,
                                          ingot_error *error) {
  if (ingot_status status = checkIndex(model, &ingot_abi_artifact::variants,
                                       index, "variant", error))
    return status;
  const ingot_abi_variant &variant = variantsOf(*model->artifact)[index];
  ingot_variant_info filled = INGOT_VARIANT_INFO_INIT;
  filled.is_in_use = index == model->variant;
  filled.target = variant.target;
  filled.device = variant.device;
  filled.architecture = variant.architecture;
  filled.features = variant.features;
  filled.priority = variant.priority;
  filled.memories = variant.memories;
  filled.arena_bytes = variant.arena_bytes;
  filled.code_bytes = variant.code_bytes;
  return writeSized(info, &filled, sizeof(filled), "ingot_variant_info", error);
}

ingot_status ingot_model_use_describe(const ingot_model *model, uint32_t index,
                                      ingot_use_info *info,
                                      ingot_error *error) {
  if (ingot_status status =
          checkIndex(model, &ingot_abi_artifact::uses, index, "use", error))
    return status;
  const ingot_abi_use &use = usesOf(*model->artifact)[index];
  ingot_use_info filled = INGOT_USE_INFO_INIT;
  filled.kind = use.kind;
  filled.name = use.name;
  return writeSized(info, &filled, sizeof(filled), "ingot_use_info", error);
}

ingot_status ingot_model_layer_describe(const ingot_model *model,
                                        uint32_t index, ingot_layer_info *info,
                                        ingot_error *error) {
  if (ingot_status status =
          checkIndex(model, &ingot_abi_artifact::layers, index, "layer", error))
    return status;
  const ingot_abi_layer &layer = layersOf(*model->artifact)[index];
  ingot_layer_info filled = INGOT_LAYER_INFO_INIT;
  filled.kind = model->artifact->layer_text + layer.kind;
  filled.num_nodes = layer.num_nodes;
  filled.flops = layer.flops;
  filled.bytes = layer.bytes;
  auto textAt = [&](uint32_t offset) {
    return offset ? model->artifact->layer_text + offset : "";
  };
  filled.backend = textAt(layer.backend);
  filled.reason = textAt(layer.reason);
  filled.precision = textAt(layer.precision);
  filled.usual_of = usualOf(*model->artifact, index);
  filled.flags = flagsOf(*model->artifact, index);
  return writeSized(info, &filled, sizeof(filled), "ingot_layer_info", error);
}

static ingot_status findProfile(const ingot_model *model, uint32_t index,
                                const ingot_abi_shape_profile *&profile,
                                ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  Rows<ingot_abi_shape_profile> rows = shapeProfilesOf(*model->artifact);
  if (index >= rows.count())
    return fail(error, INGOT_INVALID_ARGUMENT,
                "shape profile %u was asked for, but the model has %u", index,
                rows.count());
  profile = &rows[index];
  return INGOT_OK;
}

ingot_status
ingot_model_shape_profile_describe(const ingot_model *model, uint32_t index,
                                   ingot_shape_profile_info *info,
                                   ingot_error *error) {
  const ingot_abi_shape_profile *profile = nullptr;
  if (ingot_status status = findProfile(model, index, profile, error))
    return status;
  ingot_shape_profile_info filled = INGOT_SHAPE_PROFILE_INFO_INIT;
  filled.num_ranges = profile->ranges.count;
  return writeSized(info, &filled, sizeof(filled), "ingot_shape_profile_info",
                    error);
}

ingot_status ingot_model_size_range_describe(const ingot_model *model,
                                             uint32_t index, uint32_t range,
                                             ingot_size_range_info *info,
                                             ingot_error *error) {
  const ingot_abi_shape_profile *profile = nullptr;
  if (ingot_status status = findProfile(model, index, profile, error))
    return status;
  Rows<ingot_abi_size_range> rows = rangesOf(*profile);
  if (range >= rows.count())
    return fail(error, INGOT_INVALID_ARGUMENT,
                "range %u was asked for, but shape profile %u has %u", range,
                index, rows.count());
  ingot_size_range_info filled = INGOT_SIZE_RANGE_INFO_INIT;
  filled.input = rows[range].input;
  filled.dim = rows[range].dim;
  filled.min = rows[range].min;
  filled.usual = rows[range].usual;
  filled.max = rows[range].max;
  filled.multiple = rows[range].multiple;
  return writeSized(info, &filled, sizeof(filled), "ingot_size_range_info",
                    error);
}

const char *ingot_model_layer_node(const ingot_model *model, uint32_t index,
                                   uint32_t node) {
  if (!model || index >= model->artifact->layers.count)
    return nullptr;
  const ingot_abi_layer &layer = layersOf(*model->artifact)[index];
  if (node >= layer.num_nodes)
    return nullptr;
  const char *name = model->artifact->layer_text + layer.nodes;
  while (node--)
    name += strlen(name) + 1;
  return name;
}

static ingot_status describeTensor(const ingot_model *model,
                                   ingot_abi_table ingot_abi_artifact::*table,
                                   uint32_t index, const char *kind,
                                   ingot_tensor_info *info,
                                   ingot_error *error) {
  if (ingot_status status = checkIndex(model, table, index, kind, error))
    return status;
  Rows<ingot_abi_tensor> rows(model->artifact->*table);
  const ingot_abi_tensor &tensor = rows[index];
  ingot_tensor_info filled = INGOT_TENSOR_INFO_INIT;
  filled.dtype = tensor.dtype;
  filled.name = tensor.name;
  filled.dims = tensor.dims;
  filled.dim_names = tensor.dim_names;
  filled.rank = tensor.rank;
  filled.is_dynamic = isDynamic(tensor);
  if (!filled.is_dynamic)
    tensorBytes(tensor.dtype, tensor.dims, tensor.rank, filled.bytes);
  return writeSized(info, &filled, sizeof(filled), "ingot_tensor_info", error);
}

static ingot_status findTensor(const ingot_model *model,
                               ingot_abi_table ingot_abi_artifact::*table,
                               const char *name, const char *kind,
                               uint32_t *index, ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  if (!name || !index)
    return fail(error, INGOT_INVALID_ARGUMENT, "name or index is null");
  Rows<ingot_abi_tensor> rows(model->artifact->*table);
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (!strcmp(rows[i].name, name)) {
      *index = i;
      return INGOT_OK;
    }
  return fail(error, INGOT_NOT_FOUND, "the model has no %s '%s'", kind, name);
}

ingot_status ingot_model_input_describe(const ingot_model *model,
                                        uint32_t index, ingot_tensor_info *info,
                                        ingot_error *error) {
  return describeTensor(model, &ingot_abi_artifact::inputs, index, "input",
                        info, error);
}

ingot_status ingot_model_output_describe(const ingot_model *model,
                                         uint32_t index,
                                         ingot_tensor_info *info,
                                         ingot_error *error) {
  return describeTensor(model, &ingot_abi_artifact::outputs, index, "output",
                        info, error);
}

ingot_status ingot_model_input_find(const ingot_model *model, const char *name,
                                    uint32_t *index, ingot_error *error) {
  return findTensor(model, &ingot_abi_artifact::inputs, name, "input", index,
                    error);
}

ingot_status ingot_model_output_find(const ingot_model *model, const char *name,
                                     uint32_t *index, ingot_error *error) {
  return findTensor(model, &ingot_abi_artifact::outputs, name, "output", index,
                    error);
}

ingot_status ingot_model_metadata_get(const ingot_model *model, uint32_t index,
                                      const char **key, const char **value,
                                      ingot_error *error) {
  if (ingot_status status = checkIndex(model, &ingot_abi_artifact::metadata,
                                       index, "metadata", error))
    return status;
  const ingot_abi_metadata &entry = metadataOf(*model->artifact)[index];
  if (key)
    *key = entry.key;
  if (value)
    *value = entry.value;
  return INGOT_OK;
}

const char *ingot_model_metadata_find(const ingot_model *model,
                                      const char *key) {
  if (!model || !key)
    return nullptr;
  Rows<ingot_abi_metadata> rows = metadataOf(*model->artifact);
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (!strcmp(rows[i].key, key))
      return rows[i].value;
  return nullptr;
}
