//===- Describe.cpp - what a model says about itself ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"
#include "runtime/core/Error.h"
#include "runtime/core/Levels.h"
#include "runtime/core/Model.h"

using namespace ingot::rt;

ingot_status ingot_model_describe(const ingot_model *model,
                                  ingot_model_info *info, ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  const ingot_abi_artifact &artifact = *model->artifact;
  ingot_model_info filled = INGOT_MODEL_INFO_INIT;
  filled.num_inputs = artifact.num_inputs;
  filled.num_outputs = artifact.num_outputs;
  filled.num_metadata = artifact.num_metadata;
  filled.name = artifact.name;
  filled.compiler = artifact.compiler;
  filled.target = model->code.target;
  filled.cpu_features = model->code.cpu_features;
  filled.arena_bytes = artifact.arena_bytes;
  filled.weights_bytes = artifact.weights_bytes;
  filled.code_bytes = model->code.code_bytes;
  filled.abi_version = artifact.abi_version;
  filled.uses_onednn = (artifact.flags & INGOT_ABI_FLAG_ONEDNN) != 0;
  filled.uses_bf16 = (artifact.flags & INGOT_ABI_FLAG_BF16) != 0;
  filled.separate_weights = !artifact.weights && artifact.weights_bytes;
  memcpy(filled.weights_sha256, artifact.weights_sha256,
         sizeof(filled.weights_sha256));
  filled.num_layers = layerCount(artifact);
  filled.num_levels = levelCount(artifact);
  if (artifact.struct_size >=
      offsetof(ingot_abi_artifact, num_size_rules_checked) + sizeof(uint32_t)) {
    filled.num_size_rules_proved = artifact.num_size_rules_proved;
    filled.num_size_rules_checked = artifact.num_size_rules_checked;
  }
  return writeSized(info, &filled, sizeof(filled), "ingot_model_info", error);
}

ingot_status ingot_model_level_describe(const ingot_model *model,
                                        uint32_t index, ingot_level_info *info,
                                        ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  uint32_t count = levelCount(*model->artifact);
  if (index >= count)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "CPU level %u was asked for, but the model has %u", index,
                count);
  ingot_abi_variant level = levelAt(*model->artifact, index);
  ingot_level_info filled = INGOT_LEVEL_INFO_INIT;
  filled.is_in_use = index == model->level;
  filled.name = level.target;
  filled.cpu_features = level.cpu_features;
  filled.code_bytes = level.code_bytes;
  return writeSized(info, &filled, sizeof(filled), "ingot_level_info", error);
}

ingot_status ingot_model_layer_describe(const ingot_model *model,
                                        uint32_t index, ingot_layer_info *info,
                                        ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  uint32_t count = layerCount(*model->artifact);
  if (index >= count)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "layer %u was asked for, but the model has %u", index, count);
  const ingot_abi_layer &layer = model->artifact->layers[index];
  ingot_layer_info filled = INGOT_LAYER_INFO_INIT;
  filled.kind = model->artifact->layer_text + layer.kind;
  filled.num_nodes = layer.num_nodes;
  filled.flops = layer.flops;
  filled.bytes = layer.bytes;
  return writeSized(info, &filled, sizeof(filled), "ingot_layer_info", error);
}

const char *ingot_model_layer_node(const ingot_model *model, uint32_t layer,
                                   uint32_t node) {
  if (!model || layer >= layerCount(*model->artifact) ||
      node >= model->artifact->layers[layer].num_nodes)
    return nullptr;
  const char *name =
      model->artifact->layer_text + model->artifact->layers[layer].nodes;
  while (node--)
    name += strlen(name) + 1;
  return name;
}

static ingot_status describeTensor(const ingot_abi_tensor *tensors,
                                   uint32_t count, uint32_t index,
                                   const char *kind, ingot_tensor_info *info,
                                   ingot_error *error) {
  if (index >= count)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s %u was asked for, but the model has %u", kind, index,
                count);
  const ingot_abi_tensor &tensor = tensors[index];
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

static ingot_status findTensor(const ingot_abi_tensor *tensors, uint32_t count,
                               const char *name, const char *kind,
                               uint32_t *index, ingot_error *error) {
  if (!name || !index)
    return fail(error, INGOT_INVALID_ARGUMENT, "name or index is null");
  for (uint32_t i = 0; i < count; ++i)
    if (!strcmp(tensors[i].name, name)) {
      *index = i;
      return INGOT_OK;
    }
  return fail(error, INGOT_NOT_FOUND, "the model has no %s '%s'", kind, name);
}

ingot_status ingot_model_input_describe(const ingot_model *model,
                                        uint32_t index, ingot_tensor_info *info,
                                        ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  return describeTensor(model->artifact->inputs, model->artifact->num_inputs,
                        index, "input", info, error);
}

ingot_status ingot_model_output_describe(const ingot_model *model,
                                         uint32_t index,
                                         ingot_tensor_info *info,
                                         ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  return describeTensor(model->artifact->outputs, model->artifact->num_outputs,
                        index, "output", info, error);
}

ingot_status ingot_model_input_find(const ingot_model *model, const char *name,
                                    uint32_t *index, ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  return findTensor(model->artifact->inputs, model->artifact->num_inputs, name,
                    "input", index, error);
}

ingot_status ingot_model_output_find(const ingot_model *model, const char *name,
                                     uint32_t *index, ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  return findTensor(model->artifact->outputs, model->artifact->num_outputs,
                    name, "output", index, error);
}

ingot_status ingot_model_metadata_get(const ingot_model *model, uint32_t index,
                                      const char **key, const char **value,
                                      ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  if (index >= model->artifact->num_metadata)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "metadata %u was asked for, but the model has %u", index,
                model->artifact->num_metadata);
  if (key)
    *key = model->artifact->metadata[index].key;
  if (value)
    *value = model->artifact->metadata[index].value;
  return INGOT_OK;
}

const char *ingot_model_metadata_find(const ingot_model *model,
                                      const char *key) {
  if (!model || !key)
    return nullptr;
  for (uint32_t i = 0; i < model->artifact->num_metadata; ++i)
    if (!strcmp(model->artifact->metadata[i].key, key))
      return model->artifact->metadata[i].value;
  return nullptr;
}
