//===- Artifact.cpp - checks of what an artifact says about itself --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"

#include "ingot/abi/device.h"
#include "runtime/core/Error.h"

using namespace ingot::rt;

bool ingot::rt::isDynamic(const ingot_abi_tensor &tensor) {
  for (uint32_t i = 0; i < tensor.rank; ++i)
    if (tensor.dims[i] == INGOT_ABI_DYNAMIC)
      return true;
  return false;
}

bool ingot::rt::tensorBytes(uint32_t dtype, const int64_t *dims, uint32_t rank,
                            uint64_t &bytes) {
  int64_t bits = ingot_dtype_bits(dtype);
  // Counts packed types in elements, because the number of bits may overflow
  // where the number of bytes does not.
  int64_t total = bits % 8 ? 1 : bits / 8;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return false;
    // If any size is zero, the tensor is empty. The other sizes may have any
    // value, and must not cause an overflow.
    if (dims[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(total, dims[i], &total))
      total = INT64_MAX;
  }
  if (!empty && total == INT64_MAX)
    return false;
  if (bits % 8)
    total = total / 8 * bits + (total % 8 * bits + 7) / 8;
  bytes = empty ? 0 : uint64_t(total);
  // A string ends where the next one starts, so n strings need n + 1 offsets.
  if (dtype == INGOT_ABI_STRING)
    bytes += sizeof(int64_t);
  return true;
}

ingot_status ingot::rt::refuseVersion(const char *subject, uint64_t version,
                                      ingot_error *error) {
  return fail(error, INGOT_VERSION_MISMATCH,
              "'%s' has ABI version %llu, but this libingot (%s) reads version "
              "%u; %s",
              subject, static_cast<unsigned long long>(version),
              ingot_version_get(), INGOT_ABI_VERSION,
              version > INGOT_ABI_VERSION ? "update libingot"
                                          : "compile the model again");
}

static ingot_status damaged(const char *subject, const char *what,
                            ingot_error *error) {
  return fail(error, INGOT_BAD_ARTIFACT,
              "'%s' is damaged: %s; compile it again", subject, what);
}

namespace {
/// State that the checks of an artifact share.
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
  /// Returns true if the rows are at least as long as T was in version 2.
  template <typename T>
  bool isTable(const ingot_abi_table &table,
               uint32_t least = sizeof(T)) const {
    constexpr uint32_t most = 4096;
    return !table.count ||
           (table.row_bytes >= least && table.row_bytes <= most &&
            table.row_bytes % alignof(T) == 0 && table.rows &&
            reinterpret_cast<uintptr_t>(table.rows) % alignof(T) == 0 &&
            mapping.holds(table.rows, uint64_t(table.count) * table.row_bytes));
  }
  template <typename T> bool isFunction(T *function) const {
    return function &&
           mapping.holdsFunction(reinterpret_cast<const void *>(function));
  }
  template <typename T> bool isFunctionOrNull(T *function) const {
    return !function || isFunction(function);
  }

  bool areDeviceFunctions(const ingot_abi_device *device) const;

  ingot_status tensors(const ingot_abi_table &table, const char *kind) const;
  ingot_status metadata() const;
  ingot_status uses() const;
  ingot_status weights() const;
  ingot_status variants() const;
  ingot_status layers() const;
  ingot_status shapeProfiles() const;
};
} // namespace

ingot_status Check::tensors(const ingot_abi_table &table,
                            const char *kind) const {
  if (!isTable<ingot_abi_tensor>(table))
    return damaged("it describes no inputs or outputs");
  Rows<ingot_abi_tensor> rows(table);
  for (uint32_t i = 0; i < rows.count(); ++i) {
    const ingot_abi_tensor &tensor = rows[i];
    uint64_t bytes;
    if (!isString(tensor.name))
      return damaged("an input or output has no name");
    if (tensor.dtype == INGOT_ABI_STRING &&
        artifact.buffer_bytes < sizeof(ingot_abi_buffer))
      return damaged("its buffers have no room for strings");
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
  if (!isTable<ingot_abi_metadata>(artifact.metadata))
    return damaged("its metadata is missing");
  Rows<ingot_abi_metadata> rows = metadataOf(artifact);
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (!isString(rows[i].key) || !isString(rows[i].value))
      return damaged("its metadata is incomplete");
  return INGOT_OK;
}

ingot_status Check::uses() const {
  if (!isTable<ingot_abi_use>(artifact.uses))
    return damaged("the list of what it uses is missing");
  Rows<ingot_abi_use> rows = usesOf(artifact);
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (!isString(rows[i].name))
      return damaged("the list of what it uses is incomplete");
  return INGOT_OK;
}

ingot_status Check::weights() const {
  if (!artifact.weights || mapping.isEmpty())
    return INGOT_OK;
  if (!mapping.holds(artifact.weights, artifact.weights_bytes))
    return damaged("its weights are missing");
  return INGOT_OK;
}

bool ingot::rt::bringsThreads(const ingot_abi_artifact &artifact) {
  Rows<ingot_abi_use> rows = usesOf(artifact);
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (rows[i].kind == INGOT_ABI_USE_LIBRARY &&
        (rows[i].flags & INGOT_ABI_USE_OWN_THREADS))
      return true;
  return false;
}

/// Returns true if all functions are in the artifact, or if there are none.
bool Check::areDeviceFunctions(const ingot_abi_device *device) const {
  return !device ||
         (reinterpret_cast<uintptr_t>(device) % alignof(ingot_abi_device) ==
              0 &&
          isArray(reinterpret_cast<const char *>(device),
                  INGOT_ABI_DEVICE_BYTES_V2) &&
          device->struct_size >= INGOT_ABI_DEVICE_BYTES_V2 &&
          isFunction(device->open) && isFunction(device->close) &&
          isFunction(device->wait) && isFunction(device->allocate) &&
          isFunction(device->release) && isFunction(device->copy));
}

ingot_status Check::variants() const {
  constexpr uint32_t most = 256;
  if (!artifact.variants.count || artifact.variants.count > most ||
      !isTable<ingot_abi_variant>(artifact.variants,
                                  INGOT_ABI_VARIANT_BYTES_V2))
    return damaged("the table of its variants is invalid");
  for (uint32_t i = 0; i < artifact.variants.count; ++i) {
    const ingot_abi_variant variant = readVariant(artifact, i);
    if (!isString(variant.target) || !isFunction(variant.run) ||
        !isFunctionOrNull(variant.load) || !isFunctionOrNull(variant.unload) ||
        (variant.load && !variant.unload) || !isFunctionOrNull(variant.infer) ||
        !areDeviceFunctions(variant.device_functions))
      return damaged("one of its variants is incomplete");
  }
  return INGOT_OK;
}

/// Checks that all strings of all layers end inside the text.
ingot_status Check::layers() const {
  Rows<ingot_abi_layer> rows = layersOf(artifact);
  if (!rows.count())
    return INGOT_OK;
  uint64_t bytes = artifact.layer_text_bytes;
  const char *text = artifact.layer_text;
  if (!bytes || !isTable<ingot_abi_layer>(artifact.layers,
                                          INGOT_ABI_LAYER_BYTES_V2) ||
      !isArray(text, bytes) || text[bytes - 1])
    return damaged("its layers are missing");
  for (uint32_t i = 0; i < rows.count(); ++i) {
    const ingot_abi_layer &layer = rows[i];
    uint64_t at = layer.nodes, names = 0;
    for (; names < layer.num_nodes && at < bytes; ++names)
      at += strlen(text + at) + 1;
    if (layer.kind >= bytes || layer.backend >= bytes ||
        layer.reason >= bytes || layer.precision >= bytes ||
        names < layer.num_nodes)
      return damaged("the names of its layers are cut off");
  }
  return INGOT_OK;
}

ingot_status Check::shapeProfiles() const {
  Rows<ingot_abi_shape_profile> profiles = shapeProfilesOf(artifact);
  if (!profiles.count())
    return INGOT_OK;
  if (!isTable<ingot_abi_shape_profile>(artifact.shape_profiles))
    return damaged("its shape profiles are missing");
  for (uint32_t p = 0; p < profiles.count(); ++p) {
    if (!isTable<ingot_abi_size_range>(profiles[p].ranges))
      return damaged("a shape profile is incomplete");
    Rows<ingot_abi_size_range> ranges = rangesOf(profiles[p]);
    for (uint32_t i = 0; i < ranges.count(); ++i) {
      const ingot_abi_size_range &range = ranges[i];
      if (range.input >= artifact.inputs.count ||
          range.dim >= inputsOf(artifact)[range.input].rank ||
          range.multiple < 1)
        return damaged("a shape profile belongs to no input");
    }
  }
  return INGOT_OK;
}

ingot_status ingot::rt::checkArtifact(const ingot_abi_artifact *artifact,
                                      const Mapping &mapping,
                                      const char *subject,
                                      ingot_error *error) {
  if (!artifact ||
      reinterpret_cast<uintptr_t>(artifact) % alignof(ingot_abi_artifact) ||
      !mapping.holds(artifact, offsetof(ingot_abi_artifact, compiler)))
    return fail(error, INGOT_BAD_ARTIFACT, "'%s' describes no model", subject);
  if (artifact->magic != INGOT_ABI_MAGIC)
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is not a compiled model (wrong magic number 0x%llx)",
                subject, static_cast<unsigned long long>(artifact->magic));
  if (artifact->abi_version != INGOT_ABI_VERSION)
    return refuseVersion(subject, artifact->abi_version, error);
  if (artifact->struct_size < INGOT_ABI_ARTIFACT_BYTES_V2 ||
      !mapping.holds(artifact, artifact->struct_size))
    return damaged(subject, "its description is too short", error);
  Check check{*artifact, mapping, subject, error};
  if (!check.isString(artifact->compiler) || !check.isString(artifact->name))
    return check.damaged("its description is incomplete");
  if (artifact->flags)
    return fail(error, INGOT_VERSION_MISMATCH,
                "'%s' needs something that this libingot (%s) does not know "
                "(flags 0x%x); update libingot",
                subject, ingot_version_get(), artifact->flags);
  if (artifact->buffer_bytes < INGOT_ABI_BUFFER_BYTES_V2 ||
      artifact->buffer_bytes > 4096 ||
      artifact->buffer_bytes % alignof(ingot_abi_buffer))
    return check.damaged("the size of its buffers is invalid");
  if (ingot_status status = check.variants())
    return status;
  if (ingot_status status = check.metadata())
    return status;
  if (ingot_status status = check.uses())
    return status;
  if (ingot_status status = check.weights())
    return status;
  if (ingot_status status = check.tensors(artifact->inputs, "input"))
    return status;
  if (ingot_status status = check.tensors(artifact->outputs, "output"))
    return status;
  if (ingot_status status = check.shapeProfiles())
    return status;
  return check.layers();
}
