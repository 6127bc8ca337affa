//===- Artifact.h - checks of what an artifact says about itself ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_ARTIFACT_H
#define INGOT_RUNTIME_CORE_ARTIFACT_H

#include "ingot/ingot.h"
#include "runtime/core/Mapping.h"

#include <string.h>

namespace ingot::rt {

constexpr uint32_t maxRank = 64;

/// Rows of a table in a checked artifact, by index. Rows from a newer compiler
/// may be longer than T. Rows from an older compiler may be shorter if T has
/// grown. Callers compare `row_bytes` before they read a newer field.
template <typename T>
class Rows {
public:
  explicit Rows(const ingot_abi_table &table) : table(&table) {}
  uint32_t count() const { return table->count; }
  const T &operator[](uint32_t index) const {
    return *static_cast<const T *>(ingot_abi_row(table, index));
  }

private:
  const ingot_abi_table *table;
};

inline Rows<ingot_abi_tensor> inputsOf(const ingot_abi_artifact &artifact) {
  return Rows<ingot_abi_tensor>(artifact.inputs);
}
inline Rows<ingot_abi_tensor> outputsOf(const ingot_abi_artifact &artifact) {
  return Rows<ingot_abi_tensor>(artifact.outputs);
}
inline Rows<ingot_abi_metadata> metadataOf(const ingot_abi_artifact &artifact) {
  return Rows<ingot_abi_metadata>(artifact.metadata);
}
inline Rows<ingot_abi_use> usesOf(const ingot_abi_artifact &artifact) {
  return Rows<ingot_abi_use>(artifact.uses);
}
inline Rows<ingot_abi_variant> variantsOf(const ingot_abi_artifact &artifact) {
  return Rows<ingot_abi_variant>(artifact.variants);
}
/// Returns a variant's row as this library defines it. Fields that the
/// artifact's compiler did not know are null.
inline ingot_abi_variant readVariant(const ingot_abi_artifact &artifact,
                                     uint32_t index) {
  ingot_abi_variant variant = {};
  uint32_t bytes = artifact.variants.row_bytes;
  memcpy(&variant, ingot_abi_row(&artifact.variants, index),
         bytes < sizeof(variant) ? bytes : sizeof(variant));
  return variant;
}
inline Rows<ingot_abi_layer> layersOf(const ingot_abi_artifact &artifact) {
  return Rows<ingot_abi_layer>(artifact.layers);
}

/// Returns the number of the shape profile whose usual sizes the layer serves,
/// from 1. Returns 0 if the layer serves all sizes, or if the artifact's
/// compiler did not know profiles.
inline uint32_t usualOf(const ingot_abi_artifact &artifact, uint32_t layer) {
  return artifact.layers.row_bytes >= sizeof(ingot_abi_layer)
             ? layersOf(artifact)[layer].usual_of
             : 0;
}
/// Returns bits of INGOT_ABI_LAYER_LOOP; 0 if the artifact's compiler did not
/// know them.
inline uint32_t flagsOf(const ingot_abi_artifact &artifact, uint32_t layer) {
  return artifact.layers.row_bytes >= sizeof(ingot_abi_layer)
             ? layersOf(artifact)[layer].flags
             : 0;
}
/// Returns the shape profiles; no rows if the artifact's compiler did not know
/// them.
inline Rows<ingot_abi_shape_profile>
shapeProfilesOf(const ingot_abi_artifact &artifact) {
  static constexpr ingot_abi_table none = {nullptr, 0, 0};
  return Rows<ingot_abi_shape_profile>(
      artifact.struct_size >= sizeof(artifact) ? artifact.shape_profiles
                                               : none);
}
inline Rows<ingot_abi_size_range>
rangesOf(const ingot_abi_shape_profile &profile) {
  return Rows<ingot_abi_size_range>(profile.ranges);
}

/// Checks magic, version and every field that later code relies on. Checks each
/// pointer before following it: it must stay in `mapping`. `subject` names the
/// artifact in messages.
ingot_status checkArtifact(const ingot_abi_artifact *artifact,
                           const Mapping &mapping, const char *subject,
                           ingot_error *error);

/// Fails with a message that tells the user what to update: the model or this
/// library.
ingot_status refuseVersion(const char *subject, uint64_t version,
                           ingot_error *error);

/// Computes the bytes of a dense tensor. Returns false if they exceed 63 bits
/// or a size is negative.
bool tensorBytes(uint32_t dtype, const int64_t *dims, uint32_t rank,
                 uint64_t &bytes);

bool isDynamic(const ingot_abi_tensor &tensor);

/// Returns true if a library that the model uses has its own threads.
bool bringsThreads(const ingot_abi_artifact &artifact);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ARTIFACT_H
