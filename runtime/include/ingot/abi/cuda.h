/*===- ingot/abi/cuda.h - contract between generated code and CUDA --------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A variant for NVIDIA GPUs consists of host code and GPU code. The host code
 * computes sizes and launches kernels. The GPU code is held in images, which
 * an ingot_cuda_program describes. The functions below are linked statically
 * into the model from libingot_cuda.a. They open libcuda.so.1 with dlopen when
 * the model is loaded.
 *
 * Host code handles addresses of GPU memory as plain pointers and never reads
 * what they point to. Addresses of inputs and outputs are not those of the
 * memory: the functions below replace them.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_ABI_CUDA_H
#define INGOT_ABI_CUDA_H

#include "ingot/abi/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of ingot_cuda_image. */
enum {
  INGOT_CUDA_PTX = 1,   /**< text, compiled by the driver when it is loaded */
  INGOT_CUDA_CUBIN = 2, /**< machine code of one level */
};

/** GPU code of all kernels, in one form. */
typedef struct ingot_cuda_image {
  uint32_t kind; /**< INGOT_CUDA_... */
  /** Compute capability, 10 * major + minor. An image of PTX runs on this and
   *  all higher levels; a cubin on the level and on higher minor versions of
   *  the same major version. */
  uint32_t level;
  const void *data; /**< PTX ends with a null character */
  uint64_t bytes;   /**< with the null character */
} ingot_cuda_image;

/** A kernel of every image. */
typedef struct ingot_cuda_kernel {
  const char *name;
  /** Name of the ONNX node that it computes, or "". */
  const char *node;
  /** Threads of a block. */
  uint32_t threads;
  /** Bytes of dynamic shared memory. */
  uint32_t shared_bytes;
  /** Number of parameters, at most INGOT_CUDA_MAX_PARAMETERS. */
  uint32_t num_parameters;
  uint32_t reserved0;
} ingot_cuda_kernel;

/** The most parameters of a kernel: the driver passes 4 KiB. */
#define INGOT_CUDA_MAX_PARAMETERS 512u

/** Words of a run's status. */
#define INGOT_CUDA_STATUS_WORDS 3u

/** Size of a tensor that only a run knows. */
#define INGOT_CUDA_OPEN UINT64_MAX

/** Size of a tensor of strings. The caller's buffer is in host memory. Host
 *  code passes it to the functions for strings below. */
#define INGOT_CUDA_STRINGS (UINT64_MAX - 1)

/** The constant description of a variant for GPUs. */
typedef struct ingot_cuda_program {
  uint32_t struct_size;
  uint32_t num_images;
  const ingot_cuda_image *images;
  const ingot_cuda_kernel *kernels;
  uint32_t num_kernels;
  uint32_t num_inputs;
  uint32_t num_outputs;
  /** Number of the program's first layer in the artifact's table. Host code
   *  counts layers from 0. */
  uint32_t first_layer;
  /** Range of the artifact's weights that kernels read. */
  uint64_t weights_offset;
  uint64_t weights_bytes;
  /** Bytes of GPU memory for intermediate results of one run. */
  uint64_t arena_bytes;
  /** `num_inputs` and `num_outputs` sizes of tensors in bytes, or
   *  INGOT_CUDA_OPEN, or INGOT_CUDA_STRINGS. Host code passes outputs of open
   * sizes to ingot_cuda_store_output. */
  const uint64_t *input_bytes;
  const uint64_t *output_bytes;
  /** Ranks of the tensors. Null: no run is repeated as a graph. */
  const uint32_t *input_ranks;
  const uint32_t *output_ranks;
  /** Messages of checks that kernels make. {0} and {1} stand for the values in
   *  the run's status. */
  const char *const *checks;
  uint32_t num_checks;
  uint32_t reserved0;
} ingot_cuda_program;

/** Opens the driver and a device, loads the image that fits, and copies the
 *  weights. Fails with INGOT_ABI_UNSUPPORTED_DEVICE if there is no driver, no
 *  device, or no fitting image. */
int32_t ingot_cuda_load(ingot_abi_load *call,
                        const ingot_cuda_program *program);

void ingot_cuda_unload(const ingot_abi_host *host, void *state);

/** The other functions of a variant for GPUs. */
extern const ingot_abi_device ingot_cuda_device;

/** Runs `body`, which launches kernels. `body` receives a copy of `call`, whose
 *  weights, arena, inputs and outputs are in GPU memory. Copies inputs and
 *  outputs that are in host memory. Waits for the end of the work, unless the
 *  call has a session. */
int32_t ingot_cuda_run(ingot_abi_call *call, void (*body)(ingot_abi_call *));

/** Launches `kernel`, a row of the program, on `blocks` blocks. `words` holds
 *  the kernel's parameters, of 8 bytes each. Does nothing if there are no
 *  blocks, or if the run has failed before. The launch may be deferred until
 *  the host waits, or until the end of the run, and then be a node of a graph.
 *
 *  Later runs with equal sizes of inputs, and with open outputs in the same
 *  kind of memory, may launch the graph without a call of the body. Therefore
 *  launches, copies within GPU memory and outputs that are passed to the caller
 *  must depend on these alone, unless the body calls a function for strings or
 *  for host memory: ingot_cuda_shadow, to_host, to_device or wait. */
void ingot_cuda_launch(ingot_abi_call *call, uint64_t kernel, uint64_t blocks,
                       const uint64_t *words);

/** Copies bytes within GPU memory. */
void ingot_cuda_copy(ingot_abi_call *call, void *to, const void *from,
                     uint64_t bytes);

/** Return GPU memory of the run for a buffer whose size only the run knows.
 *  `room` returns the caller's buffer of output `index` if it is in GPU memory
 *  and large enough. End the run if there is no memory; `node` is its ONNX
 *  node in the message, or null. */
uintptr_t ingot_cuda_allocate(ingot_abi_call *call, uint64_t bytes,
                              const char *node);
uintptr_t ingot_cuda_room(ingot_abi_call *call, uint64_t index, uint64_t bytes,
                          const char *node);

/** Releases memory from ingot_cuda_allocate. Work that has been enqueued may
 *  still use it. */
void ingot_cuda_release(ingot_abi_call *call, uintptr_t address);

/** Passes output `index` of open size, at `data` in GPU memory, to the caller:
 *  ingot_support_store_output for GPUs. */
void ingot_cuda_store_output(ingot_abi_call *call, uintptr_t index,
                             uintptr_t rank, uintptr_t dims, uintptr_t data,
                             uintptr_t element_bits);

struct ingot_support_dictionary;

/** The functions of runtime/support for strings, on GPUs. The indices that
 *  stand for strings are in GPU memory. `read` writes those of inputs, `make`
 *  makes room for those of an output of fixed size, and `store` passes the
 *  strings of an output to the caller. */
void ingot_cuda_read_strings(ingot_abi_call *call,
                             const ingot_abi_artifact *artifact,
                             const struct ingot_support_dictionary *dictionary);
void ingot_cuda_make_strings(ingot_abi_call *call, uint64_t index,
                             uint64_t count);
void ingot_cuda_store_strings(ingot_abi_call *call, uintptr_t index,
                              uintptr_t rank, uintptr_t dims, uintptr_t data,
                              uintptr_t element_bits);

/** Returns the address in host memory for copies of the bytes at `device`. They
 *  are in the weights, the arena, an input, an output or other memory of the
 *  run. Returns another address unchanged, because its bytes are in host
 *  memory. Ends the run if there is no memory. */
uintptr_t ingot_cuda_shadow(ingot_abi_call *call, uintptr_t device);

/** Returns the address of the run's status in GPU memory. It has
 *  INGOT_CUDA_STATUS_WORDS words of 8 bytes. The first is 0, or the number of
 *  the first check that has failed, from 1 on. The others are values for its
 *  message. Kernels write it, and the run reads it at its end. */
uintptr_t ingot_cuda_status(ingot_abi_call *call);

/** Enqueue copies between GPU memory and host memory. A buffer that is its own
 *  shadow and the weights are not copied. */
void ingot_cuda_to_host(ingot_abi_call *call, void *to, const void *from,
                        uint64_t bytes);
void ingot_cuda_to_device(ingot_abi_call *call, void *to, const void *from,
                          uint64_t bytes);

/** Waits for all work of the run on the GPU. Ends the run if it failed. */
void ingot_cuda_wait(ingot_abi_call *call);

INGOT_ABI_STATIC_ASSERT(sizeof(ingot_cuda_image) == 24, "ingot_cuda_image");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_cuda_kernel) == 32, "ingot_cuda_kernel");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_cuda_program) == 112,
                        "ingot_cuda_program");

#ifdef __cplusplus
}
#endif

#endif /* INGOT_ABI_CUDA_H */
