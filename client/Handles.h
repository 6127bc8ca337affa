//===- Handles.h - owning pointers to libingot's objects ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_HANDLES_H
#define INGOT_CLIENT_HANDLES_H

#include "ingot/ingot.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::tools {

struct HandleRelease {
  void operator()(ingot_pool *pool) const { ingot_pool_release(pool); }
  void operator()(ingot_model *model) const { ingot_model_release(model); }
  void operator()(ingot_context *context) const {
    ingot_context_release(context);
  }
  void operator()(ingot_profile *profile) const {
    ingot_profile_release(profile);
  }
};
using PoolHandle = std::unique_ptr<ingot_pool, HandleRelease>;
using ModelHandle = std::unique_ptr<ingot_model, HandleRelease>;
using ContextHandle = std::unique_ptr<ingot_context, HandleRelease>;
using ProfileHandle = std::unique_ptr<ingot_profile, HandleRelease>;

// Each function returns an empty string, or an error message.

/// Creates a thread pool. `threads` of 0 means all CPUs that this process may
/// use. `spinUs` is that of `ingot_pool_options`.
std::string createPool(unsigned threads, PoolHandle &pool, unsigned spinUs = 0);
/// How to load a model.
struct LoadOptions {
  /// File of separate weights. If empty, the file beside the model.
  std::string weights;
  /// Device, as in ingot_model_options. If empty, libingot chooses.
  std::string device;
  /// True to compare the embedded weights with their checksum.
  bool verifies = false;
};
std::string loadModel(const std::string &path, const LoadOptions &options,
                      ingot_pool *pool, ModelHandle &model);
/// Loads only the description of the model. The model cannot run.
std::string describeModel(const std::string &path, ModelHandle &model);
/// Loads only the description of the model, and compares all its files with
/// their checksums.
std::string verifyModel(const std::string &path, const std::string &weights,
                        ModelHandle &model);
std::string createContext(ingot_model *model, ingot_pool *pool,
                          ContextHandle &context);
std::string createProfile(ingot_model *model, ProfileHandle &profile);

/// Returns the model's inputs or outputs, in its order.
std::vector<ingot_tensor_info> inputInfosOf(const ingot_model *model);
std::vector<ingot_tensor_info> outputInfosOf(const ingot_model *model);

/// Returns all kinds of machine that the model has code for.
std::vector<ingot_variant_info> variantsOf(const ingot_model *model);
/// Returns the name of a device of a variant: "cpu" or "cuda".
const char *deviceName(uint32_t device);
/// Returns the names of the libraries or precisions that a model uses. `kind`
/// is an INGOT_USE_... value.
std::vector<std::string> usesOf(const ingot_model *model, uint32_t kind);
/// Returns "int8", "bf16" or "fp16" if factors of products are rounded to that
/// type. Returns "w2", "w4" or "w8" if only weights are stored with that number
/// of bits. Otherwise returns "fp32".
std::string precisionOf(const ingot_model *model);

} // namespace ingot::tools

#endif // INGOT_CLIENT_HANDLES_H
