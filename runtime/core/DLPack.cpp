//===- DLPack.cpp - tensors of other libraries ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"
#include "runtime/core/Error.h"
#include "runtime/core/Model.h"

using namespace ingot::rt;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
/// An element type in both numberings.
struct TypePair {
  ingot_dtype dtype;
  uint8_t code, bits;
};
} // namespace

// The kinds of element_types.inc that DLPack 1.0 has.
#define INGOT_DLPACK_OF_FLOAT INGOT_DLPACK_FLOAT
#define INGOT_DLPACK_OF_HALF INGOT_DLPACK_FLOAT
#define INGOT_DLPACK_OF_BRAIN INGOT_DLPACK_BFLOAT
#define INGOT_DLPACK_OF_SIGNED INGOT_DLPACK_INT
#define INGOT_DLPACK_OF_UNSIGNED INGOT_DLPACK_UINT
#define INGOT_DLPACK_OF_BOOL INGOT_DLPACK_BOOL
#define INGOT_DLPACK_OF_TINY UINT8_MAX
static constexpr TypePair types[] = {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {NUMBER, INGOT_DLPACK_OF_##KIND, 8 * BYTES},
#include "ingot/abi/element_types.inc"
};

/// Returns the pair of an element type, or null if DLPack does not have it.
static const TypePair *findType(ingot_dtype dtype) {
  for (const TypePair &type : types)
    if (type.dtype == dtype && type.code != UINT8_MAX)
      return &type;
  return nullptr;
}

static const TypePair *findType(const ingot_dlpack_tensor &tensor) {
  for (const TypePair &type : types)
    if (type.code == tensor.type_code && type.bits == tensor.type_bits &&
        tensor.type_lanes == 1)
      return &type;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// From DLPack
//===----------------------------------------------------------------------===//

/// Returns true if a tensor with elements has no strides but those of a dense
/// row-major tensor. Strides of dimensions of size 1 do not matter.
static bool isDense(const ingot_dlpack_tensor &tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.ndim; tensor.strides && i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride)
      return false;
    stride *= tensor.shape[i];
  }
  return true;
}

/// Sets the fields that inputs and outputs share.
template <typename Tensor>
static ingot_status convert(const ingot_dlpack_managed *managed, Tensor *out,
                            ingot_error *error) {
  if (!managed || !out)
    return fail(error, INGOT_INVALID_ARGUMENT, "a tensor is null");
  if (managed->major != INGOT_DLPACK_MAJOR)
    return fail(error, INGOT_VERSION_MISMATCH,
                "the tensor is of DLPack %u.%u, but version %u is expected",
                managed->major, managed->minor, INGOT_DLPACK_MAJOR);
  const ingot_dlpack_tensor &tensor = managed->tensor;
  const TypePair *type = findType(tensor);
  if (!type)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the DLPack tensor has element type (code %u, bits %u, lanes "
                "%u), which no model has",
                tensor.type_code, tensor.type_bits, tensor.type_lanes);
  if (tensor.ndim < 0 || uint32_t(tensor.ndim) > maxRank ||
      (tensor.ndim && !tensor.shape))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the DLPack tensor has %d dimensions and no shape for them, "
                "or more than %u",
                tensor.ndim, maxRank);
  const bool isOnGpu = tensor.device_type == INGOT_DLPACK_CUDA;
  if (!isOnGpu && tensor.device_type != INGOT_DLPACK_CPU &&
      tensor.device_type != INGOT_DLPACK_CUDA_HOST)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the DLPack tensor is on a device of type %d; only 1 (CPU), 2 "
                "(CUDA) and 3 (pinned) are known",
                tensor.device_type);
  uint64_t bytes;
  if (!tensorBytes(type->dtype, tensor.shape, uint32_t(tensor.ndim), bytes))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the DLPack tensor is impossibly large");
  // Strides of a tensor without elements do not matter.
  if (bytes && !isDense(tensor))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the DLPack tensor is not dense and row-major; make it "
                "contiguous first");
  out->dtype = type->dtype;
  out->data = tensor.data
                  ? static_cast<char *>(tensor.data) + tensor.byte_offset
                  : nullptr;
  out->bytes = bytes;
  out->dims = tensor.shape;
  out->rank = uint32_t(tensor.ndim);
  out->memory = isOnGpu ? INGOT_MEMORY_CUDA : INGOT_MEMORY_HOST;
  out->device = isOnGpu ? uint32_t(tensor.device_id) : 0;
  return INGOT_OK;
}

ingot_status ingot_dlpack_to_input(const ingot_dlpack_managed *tensor,
                                   ingot_input *input, ingot_error *error) {
  ingot_input made = INGOT_INPUT_INIT;
  if (ingot_status status = convert(tensor, input ? &made : nullptr, error))
    return status;
  return writeSized(input, &made, sizeof(made), "ingot_input", error);
}

ingot_status ingot_dlpack_to_output(ingot_dlpack_managed *tensor,
                                    ingot_output *output, ingot_error *error) {
  ingot_output made = INGOT_OUTPUT_INIT;
  if (ingot_status status = convert(tensor, output ? &made : nullptr, error))
    return status;
  if (tensor->flags & INGOT_DLPACK_READ_ONLY)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the DLPack tensor is read-only and cannot be an output");
  return writeSized(output, &made, sizeof(made), "ingot_output", error);
}

//===----------------------------------------------------------------------===//
// To DLPack
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of ours, with its sizes behind it.
struct OwnedTensor {
  ingot_dlpack_managed managed;
  ingot_model *model;
  ingot_memory memory;
  int64_t dims[1];
};
} // namespace

static void deleteTensor(ingot_dlpack_managed *self) {
  auto *owned = static_cast<OwnedTensor *>(self->manager_ctx);
  ingot_memory_release(owned->model, owned->memory, self->tensor.data);
  ingot_model_release(owned->model);
  free(owned);
}

ingot_status ingot_dlpack_create(ingot_model *model, ingot_memory memory,
                                 ingot_dtype dtype, const int64_t *dims,
                                 uint32_t rank, ingot_dlpack_managed **tensor,
                                 ingot_error *error) {
  if (!tensor || (rank && !dims))
    return fail(error, INGOT_INVALID_ARGUMENT, "dims or tensor is null");
  const TypePair *type = findType(dtype);
  if (!type)
    return fail(error, INGOT_INVALID_ARGUMENT, "DLPack has no element type %s",
                ingot_dtype_name(dtype));
  uint64_t bytes;
  if (rank > maxRank || !tensorBytes(dtype, dims, rank, bytes))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the sizes are negative or impossibly large");
  auto *owned = static_cast<OwnedTensor *>(
      calloc(1, sizeof(OwnedTensor) + rank * sizeof(int64_t)));
  if (!owned)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a tensor");
  void *data = nullptr;
  if (ingot_status status =
          ingot_memory_allocate(model, memory, bytes, &data, error)) {
    free(owned);
    return status;
  }
  owned->model = model;
  owned->memory = memory;
  model->references.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < rank; ++i)
    owned->dims[i] = dims[i];
  const bool isOnGpu = memory == INGOT_MEMORY_CUDA;
  owned->managed.major = INGOT_DLPACK_MAJOR;
  owned->managed.minor = INGOT_DLPACK_MINOR;
  owned->managed.manager_ctx = owned;
  owned->managed.deleter = deleteTensor;
  ingot_dlpack_tensor &made = owned->managed.tensor;
  made.data = data;
  made.device_type = isOnGpu                        ? INGOT_DLPACK_CUDA
                     : model->code.device_functions ? INGOT_DLPACK_CUDA_HOST
                                                    : INGOT_DLPACK_CPU;
  made.device_id = isOnGpu ? int32_t(model->device.index) : 0;
  made.ndim = int32_t(rank);
  made.type_code = type->code;
  made.type_bits = type->bits;
  made.type_lanes = 1;
  made.shape = owned->dims;
  *tensor = &owned->managed;
  return INGOT_OK;
}
