/*===- ingot/dlpack.h - tensors of other libraries -------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which states the conventions.
 *
 * Libraries such as PyTorch, JAX and CuPy pass tensors to each other without a
 * copy as DLPack structs (https://dmlc.github.io/dlpack). The structs here have
 * the layout of DLPack 1.0, so that pointers can be cast from and to the types
 * of its own header, which need not be installed.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_DLPACK_H
#define INGOT_DLPACK_H

#include "ingot/model.h"
#include "ingot/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors of other libraries ------------------------------------------------*/

/** Version of DLPack that ingot_dlpack_create writes. */
#define INGOT_DLPACK_MAJOR 1u
#define INGOT_DLPACK_MINOR 0u

/** Values of DLDeviceType that Ingot knows. */
enum {
  INGOT_DLPACK_CPU = 1,
  INGOT_DLPACK_CUDA = 2,
  INGOT_DLPACK_CUDA_HOST = 3 /**< pinned memory of the host */
};

/** Values of DLDataTypeCode. */
enum {
  INGOT_DLPACK_INT = 0,
  INGOT_DLPACK_UINT = 1,
  INGOT_DLPACK_FLOAT = 2,
  INGOT_DLPACK_BFLOAT = 4,
  INGOT_DLPACK_COMPLEX = 5,
  INGOT_DLPACK_BOOL = 6
};

/** Flag of a tensor whose elements must not be written. */
#define INGOT_DLPACK_READ_ONLY 1u

/** DLTensor, with DLDevice and DLDataType. */
typedef struct ingot_dlpack_tensor {
  void *data;
  int32_t device_type; /**< INGOT_DLPACK_CPU, ... */
  int32_t device_id;
  int32_t ndim;
  uint8_t type_code; /**< INGOT_DLPACK_INT, ... */
  uint8_t type_bits;
  uint16_t type_lanes;
  int64_t *shape;
  int64_t *strides; /**< in elements; null: dense and row-major */
  uint64_t byte_offset;
} ingot_dlpack_tensor;

/** DLManagedTensorVersioned. */
typedef struct ingot_dlpack_managed {
  uint32_t major;
  uint32_t minor;
  void *manager_ctx;
  /** Releases the tensor; may be null. Whoever uses the tensor calls it once.
   */
  void (*deleter)(struct ingot_dlpack_managed *self);
  uint64_t flags; /**< INGOT_DLPACK_READ_ONLY, ... */
  ingot_dlpack_tensor tensor;
} ingot_dlpack_managed;

INGOT_ABI_STATIC_ASSERT(sizeof(ingot_dlpack_tensor) == 48,
                        "ingot_dlpack_tensor");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_dlpack_tensor, shape) == 24,
                        "ingot_dlpack_tensor");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_dlpack_managed) == 80,
                        "ingot_dlpack_managed");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_dlpack_managed, tensor) == 32,
                        "ingot_dlpack_managed");

/** Sets `input` to the elements and sizes of a DLPack tensor, without a name.
 *  Copies nothing: the tensor must outlive the run. The deleter is not called.
 *  Work that writes the elements must have ended, or must be in the stream of
 *  the run.
 *
 *  Refuses tensors that are not dense and row-major, memory of other kinds of
 *  devices, and element types that DLPack does not have: strings, floats of
 *  8 bits and types of less than a byte. */
INGOT_API ingot_status ingot_dlpack_to_input(const ingot_dlpack_managed *tensor,
                                             ingot_input *input,
                                             ingot_error *error);

/** Sets `output` to the memory and sizes of a DLPack tensor, without a name, so
 *  that a run writes its elements. The run also writes the tensor's sizes.
 * Refuses tensors as ingot_dlpack_to_input does, and those that are read-only.
 */
INGOT_API ingot_status ingot_dlpack_to_output(ingot_dlpack_managed *tensor,
                                              ingot_output *output,
                                              ingot_error *error);

/** Makes a DLPack tensor whose elements are in memory from
 *  ingot_memory_allocate. They have no values yet. The tensor can be an output
 *  of runs, and be passed to another library then, which calls the deleter. The
 *  tensor keeps the model alive.
 *
 *  If the run was asynchronous, wait for it before another library uses the
 *  tensor, or let the library use the stream of the run. */
INGOT_API ingot_status ingot_dlpack_create(ingot_model *model,
                                           ingot_memory memory,
                                           ingot_dtype dtype,
                                           const int64_t *dims, uint32_t rank,
                                           ingot_dlpack_managed **tensor,
                                           ingot_error *error);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_DLPACK_H */
