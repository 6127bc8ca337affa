/*===- ingot/memory.h - memory for inputs and outputs ----------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_MEMORY_H
#define INGOT_MEMORY_H

#include "ingot/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of a device -------------------------------------------------------*/

/** Allocates memory for inputs and outputs of the model, on the device that the
 *  model was loaded for. The elements have no values yet.
 *
 *  INGOT_MEMORY_CUDA is memory of the GPU. Code for CPUs has none.
 *  INGOT_MEMORY_HOST is memory of the host. For a model on a GPU it is pinned:
 *  copies are faster, and asynchronous runs do not wait for them.
 *
 *  Zero bytes give a null pointer. Release the memory with
 *  ingot_memory_release, before the model. */
INGOT_API ingot_status ingot_memory_allocate(ingot_model *model,
                                             ingot_memory memory,
                                             uint64_t bytes, void **pointer,
                                             ingot_error *error);

/** Releases memory from ingot_memory_allocate. No run may be using it. The
 *  driver of a GPU waits for work of the GPU, so do not release memory between
 *  runs that should overlap. */
INGOT_API void ingot_memory_release(ingot_model *model, ingot_memory memory,
                                    void *pointer);

/** Copies bytes between memory of the host and of the model's device, in any
 *  direction. Both may overlap in memory of the host, but not in memory of a
 *  GPU. `stream` is a CUstream as in ingot_run_options. With it, the function
 *  returns when the copy is in the queue. If it is null, the function returns
 *  when the copy is done. */
INGOT_API ingot_status ingot_memory_copy(ingot_model *model,
                                         ingot_memory to_memory, void *to,
                                         ingot_memory from_memory,
                                         const void *from, uint64_t bytes,
                                         void *stream, ingot_error *error);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_MEMORY_H */
