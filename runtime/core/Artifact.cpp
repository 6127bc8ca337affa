//===- Artifact.cpp - checks of what an artifact says about itself --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"

#include "runtime/core/Error.h"
#include "runtime/core/Levels.h"

using namespace ingot::rt;

bool ingot::rt::isDynamic(const ingot_abi_tensor &tensor) {
  for (uint32_t i = 0; i < tensor.rank; ++i)
    if (tensor.dims[i] == INGOT_ABI_DYNAMIC)
      return true;
  return false;
}

bool ingot::rt::tensorBytes(uint32_t dtype, const int64_t *dims, uint32_t rank,
                            uint64_t &bytes) {
  int64_t total = ingot_dtype_size(dtype);
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return false;
    // Sizes next to a zero may be anything; they must not overflow first.
    if (dims[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(total, dims[i], &total))
      total = INT64_MAX;
  }
  if (!empty && total == INT64_MAX)
    return false;
  bytes = empty ? 0 : uint64_t(total);
  return true;
}

static ingot_status damaged(const char *subject, const char *what,
                            ingot_error *error) {
  return fail(error, INGOT_BAD_ARTIFACT,
              "'%s' is damaged: %s; compile it again", subject, what);
}

static ingot_status checkTensors(const ingot_abi_tensor *tensors,
                                 uint32_t count, const char *kind,
                                 const char *subject, ingot_error *error) {
  if (count && !tensors)
    return damaged(subject, "it describes no inputs or outputs", error);
  for (uint32_t i = 0; i < count; ++i) {
    const ingot_abi_tensor &tensor = tensors[i];
    uint64_t bytes;
    if (!tensor.name)
      return damaged(subject, "an input or output has no name", error);
    if (!ingot_dtype_size(tensor.dtype))
      return fail(error, INGOT_VERSION_MISMATCH,
                  "'%s': %s '%s' has element type %u, which this libingot (%s) "
                  "does not know; update libingot",
                  subject, kind, tensor.name, tensor.dtype,
                  ingot_version_get());
    if (tensor.rank > maxRank ||
        (tensor.rank && (!tensor.dims || !tensor.dim_names)))
      return damaged(subject, "an input or output has no sizes", error);
    for (uint32_t d = 0; d < tensor.rank; ++d)
      if (tensor.dims[d] < INGOT_ABI_DYNAMIC || !tensor.dim_names[d])
        return damaged(subject, "an input or output has an invalid size",
                       error);
    if (!isDynamic(tensor) &&
        !tensorBytes(tensor.dtype, tensor.dims, tensor.rank, bytes))
      return damaged(subject, "an input or output is impossibly large", error);
  }
  return INGOT_OK;
}

uint32_t ingot::rt::layerCount(const ingot_abi_artifact &artifact) {
  return artifact.struct_size < offsetof(ingot_abi_artifact, num_variants)
             ? 0
             : artifact.num_layers;
}

/// Each level must be whole and have all features of the one before.
static ingot_status checkLevels(const ingot_abi_artifact &artifact,
                                const char *subject, ingot_error *error) {
  // More than there are CPU features to tell them apart.
  constexpr uint32_t most = 64;
  uint32_t count = levelCount(artifact);
  if (count == 1)
    return INGOT_OK;
  if (count > most || !artifact.variants ||
      artifact.variant_bytes < sizeof(ingot_abi_variant) ||
      artifact.variant_bytes > 4096 ||
      artifact.variant_bytes % alignof(ingot_abi_variant))
    return damaged(subject, "the table of its CPU levels is invalid", error);
  for (uint32_t i = 1; i < count; ++i) {
    ingot_abi_variant level = levelAt(artifact, i);
    if (!level.target || !level.run || (level.load && !level.unload))
      return damaged(subject, "one of its CPU levels is incomplete", error);
    uint64_t below = levelAt(artifact, i - 1).cpu_features;
    if (level.cpu_features == below || (below & ~level.cpu_features))
      return damaged(subject, "its CPU levels are out of order", error);
  }
  return INGOT_OK;
}

/// Every string of every layer must end inside the text.
static ingot_status checkLayers(const ingot_abi_artifact &artifact,
                                const char *subject, ingot_error *error) {
  uint32_t count = layerCount(artifact);
  if (!count)
    return INGOT_OK;
  uint32_t bytes = artifact.layer_text_bytes;
  const char *text = artifact.layer_text;
  if (!artifact.layers || !text || !bytes || text[bytes - 1])
    return damaged(subject, "its layers are missing", error);
  for (uint32_t i = 0; i < count; ++i) {
    const ingot_abi_layer &layer = artifact.layers[i];
    uint32_t at = layer.nodes, names = 0;
    for (; names < layer.num_nodes && at < bytes; ++names)
      at += uint32_t(strlen(text + at)) + 1;
    if (layer.kind >= bytes || names < layer.num_nodes)
      return damaged(subject, "the names of its layers are cut off", error);
  }
  return INGOT_OK;
}

ingot_status ingot::rt::checkArtifact(const ingot_abi_artifact *artifact,
                                      const char *subject,
                                      ingot_error *error) {
  if (!artifact)
    return fail(error, INGOT_BAD_ARTIFACT, "'%s' describes no model", subject);
  if (artifact->magic != INGOT_ABI_MAGIC)
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is not a compiled model (wrong magic number 0x%llx)",
                subject, static_cast<unsigned long long>(artifact->magic));
  if (artifact->abi_version != INGOT_ABI_VERSION)
    return fail(error, INGOT_VERSION_MISMATCH,
                "'%s' has ABI version %u, but this libingot (%s) reads version "
                "%u; %s",
                subject, artifact->abi_version, ingot_version_get(),
                INGOT_ABI_VERSION,
                artifact->abi_version > INGOT_ABI_VERSION
                    ? "update libingot"
                    : "compile the model again");
  if (artifact->struct_size < INGOT_ABI_ARTIFACT_BYTES_V1)
    return damaged(subject, "its description is too short", error);
  if (!artifact->compiler || !artifact->name || !artifact->target ||
      !artifact->run || (artifact->load && !artifact->unload))
    return damaged(subject, "its description is incomplete", error);
  if (ingot_status status = checkLevels(*artifact, subject, error))
    return status;
  if (artifact->num_metadata && !artifact->metadata)
    return damaged(subject, "its metadata is missing", error);
  for (uint32_t i = 0; i < artifact->num_metadata; ++i)
    if (!artifact->metadata[i].key || !artifact->metadata[i].value)
      return damaged(subject, "its metadata is incomplete", error);
  if (ingot_status status = checkTensors(
          artifact->inputs, artifact->num_inputs, "input", subject, error))
    return status;
  if (ingot_status status = checkTensors(
          artifact->outputs, artifact->num_outputs, "output", subject, error))
    return status;
  return checkLayers(*artifact, subject, error);
}
