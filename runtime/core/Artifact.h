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

/// The rows of a table of an artifact that was checked, by number. A newer
/// compiler's rows are longer; what an older one's lack has to be looked for
/// with `row_bytes` once T has grown.
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
/// The row of a variant as this library knows it; null for what its compiler
/// did not know.
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

/// The shape profile whose usual sizes a layer is for, counting from 1; 0 if it
/// is for all sizes, or its compiler knew no profiles.
inline uint32_t usualOf(const ingot_abi_artifact &artifact, uint32_t layer) {
  return artifact.layers.row_bytes >= sizeof(ingot_abi_layer)
             ? layersOf(artifact)[layer].usual_of
             : 0;
}
/// Bits of INGOT_ABI_LAYER_LOOP; 0 if its compiler knew none.
inline uint32_t flagsOf(const ingot_abi_artifact &artifact, uint32_t layer) {
  return artifact.layers.row_bytes >= sizeof(ingot_abi_layer)
             ? layersOf(artifact)[layer].flags
             : 0;
}
/// No rows if its compiler knew no profiles.
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

/// Checks magic, version and every field that later code relies on, and that
/// all it points to lies in `mapping`, before it is looked at. `subject` names
/// the artifact in messages.
ingot_status checkArtifact(const ingot_abi_artifact *artifact,
                           const Mapping &mapping, const char *subject,
                           ingot_error *error);

/// Says which side of a model and this library to update.
ingot_status refuseVersion(const char *subject, uint64_t version,
                           ingot_error *error);

/// Bytes of a dense tensor; false if that does not fit into 63 bits or a size
/// is negative.
bool tensorBytes(uint32_t dtype, const int64_t *dims, uint32_t rank,
                 uint64_t &bytes);

bool isDynamic(const ingot_abi_tensor &tensor);

/// Whether a library that the model uses brings threads of its own.
bool bringsThreads(const ingot_abi_artifact &artifact);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ARTIFACT_H
