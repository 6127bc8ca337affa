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

namespace {
/// What the checks of one artifact have in common.
struct Check {
  const ingot_abi_artifact &artifact;
  const Mapping &mapping;
  const char *subject;
  ingot_error *error;

  ingot_status damaged(const char *what) const {
    return ::damaged(subject, what, error);
  }
  bool isString(const char *text) const {
    return text && mapping.holdsString(text);
  }
  template <typename T> bool isArray(const T *first, uint64_t count) const {
    return first && mapping.holdsArray(first, count);
  }
  template <typename T> bool isFunction(T *function) const {
    return function &&
           mapping.holdsFunction(reinterpret_cast<const void *>(function));
  }
  template <typename T> bool isFunctionOrNull(T *function) const {
    return !function || isFunction(function);
  }

  ingot_status tensors(const ingot_abi_tensor *list, uint32_t count,
                       const char *kind) const;
  ingot_status metadata() const;
  ingot_status weights() const;
  ingot_status levels() const;
  ingot_status layers() const;
};
} // namespace

ingot_status Check::tensors(const ingot_abi_tensor *list, uint32_t count,
                            const char *kind) const {
  if (count && !isArray(list, count))
    return damaged("it describes no inputs or outputs");
  for (uint32_t i = 0; i < count; ++i) {
    const ingot_abi_tensor &tensor = list[i];
    uint64_t bytes;
    if (!isString(tensor.name))
      return damaged("an input or output has no name");
    if (!ingot_dtype_size(tensor.dtype))
      return fail(error, INGOT_VERSION_MISMATCH,
                  "'%s': %s '%s' has element type %u, which this libingot (%s) "
                  "does not know; update libingot",
                  subject, kind, tensor.name, tensor.dtype,
                  ingot_version_get());
    if (tensor.rank > maxRank ||
        (tensor.rank && (!isArray(tensor.dims, tensor.rank) ||
                         !isArray(tensor.dim_names, tensor.rank))))
      return damaged("an input or output has no sizes");
    for (uint32_t d = 0; d < tensor.rank; ++d)
      if (tensor.dims[d] < INGOT_ABI_DYNAMIC || !isString(tensor.dim_names[d]))
        return damaged("an input or output has an invalid size");
    if (!isDynamic(tensor) &&
        !tensorBytes(tensor.dtype, tensor.dims, tensor.rank, bytes))
      return damaged("an input or output is impossibly large");
  }
  return INGOT_OK;
}

ingot_status Check::metadata() const {
  uint32_t count = artifact.num_metadata;
  if (count && !isArray(artifact.metadata, count))
    return damaged("its metadata is missing");
  for (uint32_t i = 0; i < count; ++i)
    if (!isString(artifact.metadata[i].key) ||
        !isString(artifact.metadata[i].value))
      return damaged("its metadata is incomplete");
  return INGOT_OK;
}

ingot_status Check::weights() const {
  if (!artifact.weights || mapping.isEmpty())
    return INGOT_OK;
  if (!mapping.holds(artifact.weights, artifact.weights_bytes))
    return damaged("its weights are missing");
  return INGOT_OK;
}

uint32_t ingot::rt::layerCount(const ingot_abi_artifact &artifact) {
  return artifact.struct_size < offsetof(ingot_abi_artifact, num_variants)
             ? 0
             : artifact.num_layers;
}

/// Each level must be whole and have all features of the one before.
ingot_status Check::levels() const {
  // More than there are CPU features to tell them apart.
  constexpr uint32_t most = 64;
  uint32_t count = levelCount(artifact);
  if (count == 1)
    return INGOT_OK;
  if (count > most || artifact.variant_bytes < sizeof(ingot_abi_variant) ||
      artifact.variant_bytes > 4096 ||
      artifact.variant_bytes % alignof(ingot_abi_variant) ||
      !isArray(artifact.variants, 1) ||
      !mapping.holds(artifact.variants,
                     uint64_t(count) * artifact.variant_bytes))
    return damaged("the table of its CPU levels is invalid");
  for (uint32_t i = 1; i < count; ++i) {
    ingot_abi_variant level = levelAt(artifact, i);
    if (!isString(level.target) || !isFunction(level.run) ||
        !isFunctionOrNull(level.load) || !isFunctionOrNull(level.unload) ||
        (level.load && !level.unload))
      return damaged("one of its CPU levels is incomplete");
    uint64_t below = levelAt(artifact, i - 1).cpu_features;
    if (level.cpu_features == below || (below & ~level.cpu_features))
      return damaged("its CPU levels are out of order");
  }
  return INGOT_OK;
}

/// Every string of every layer must end inside the text.
ingot_status Check::layers() const {
  uint32_t count = layerCount(artifact);
  if (!count)
    return INGOT_OK;
  uint32_t bytes = artifact.layer_text_bytes;
  const char *text = artifact.layer_text;
  if (!bytes || !isArray(artifact.layers, count) || !isArray(text, bytes) ||
      text[bytes - 1])
    return damaged("its layers are missing");
  for (uint32_t i = 0; i < count; ++i) {
    const ingot_abi_layer &layer = artifact.layers[i];
    uint32_t at = layer.nodes, names = 0;
    for (; names < layer.num_nodes && at < bytes; ++names)
      at += uint32_t(strlen(text + at)) + 1;
    if (layer.kind >= bytes || names < layer.num_nodes)
      return damaged("the names of its layers are cut off");
  }
  return INGOT_OK;
}

ingot_status ingot::rt::checkArtifact(const ingot_abi_artifact *artifact,
                                      const Mapping &mapping,
                                      const char *subject,
                                      ingot_error *error) {
  if (!artifact || reinterpret_cast<uintptr_t>(artifact) %
                       alignof(ingot_abi_artifact) ||
      !mapping.holds(artifact, INGOT_ABI_ARTIFACT_BYTES_V1))
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
  if (artifact->struct_size < INGOT_ABI_ARTIFACT_BYTES_V1 ||
      !mapping.holds(artifact, artifact->struct_size))
    return damaged(subject, "its description is too short", error);
  Check check{*artifact, mapping, subject, error};
  if (!check.isString(artifact->compiler) || !check.isString(artifact->name) ||
      !check.isString(artifact->target) || !check.isFunction(artifact->run) ||
      !check.isFunctionOrNull(artifact->load) ||
      !check.isFunctionOrNull(artifact->unload) ||
      (artifact->load && !artifact->unload))
    return check.damaged("its description is incomplete");
  if (ingot_status status = check.levels())
    return status;
  if (ingot_status status = check.metadata())
    return status;
  if (ingot_status status = check.weights())
    return status;
  if (ingot_status status =
          check.tensors(artifact->inputs, artifact->num_inputs, "input"))
    return status;
  if (ingot_status status =
          check.tensors(artifact->outputs, artifact->num_outputs, "output"))
    return status;
  return check.layers();
}
