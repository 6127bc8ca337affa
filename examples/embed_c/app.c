/*===- app.c - a compiled model in a C program, with nothing else ---------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Loads a model with dlopen and runs it through its binary interface, without
 * libingot:
 *
 *   cc -I runtime/include examples/embed_c/app.c -ldl && ./a.out ./model.so
 *
 * The headers in ingot/abi are plain C and may be copied into any project.
 * libingot adds threads, many checks of the caller's buffers, separate weights
 * files, detection of truncated files, INGOT_MAX_ISA, and cancellation. See
 * with_libingot.c.
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Services that the model may use: memory, and loops that may be parallel. */
static void *allocate(void *user, uint64_t bytes, uint64_t alignment) {
  void *memory = NULL;
  (void)user;
  return posix_memalign(&memory, alignment, bytes ? bytes : 1) ? NULL : memory;
}

static void release(void *user, void *pointer) {
  (void)user;
  free(pointer);
}

static void serialFor(void *user, void (*task)(void *arg, int64_t index),
                      void *arg, int64_t count) {
  (void)user;
  for (int64_t i = 0; i < count; ++i)
    task(arg, i);
}

/* Returns the best code that this CPU runs; null if there is none. Other code
 * would fail with SIGILL. Skips code for other devices, and code with needs
 * that this program does not know. */
static const ingot_abi_variant *chooseCode(const ingot_abi_artifact *model) {
  const ingot_abi_variant *best = NULL;
  uint64_t present = 0;
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME)                                \
  if (__builtin_cpu_supports(LLVM_NAME))                                       \
    present |= (uint64_t)1 << BIT;
#include "ingot/abi/cpu_features.inc"
  /* Linux gives the tile registers of AMX (bits 14 to 16) to who asks for them:
   * ARCH_REQ_XCOMP_PERM of the state XTILEDATA. */
  const uint64_t amx = (uint64_t)0x1c000;
  if ((present & amx) && syscall(SYS_arch_prctl, 0x1023, 18) != 0)
    present &= ~amx;
  for (uint32_t i = 0; i < model->variants.count; ++i) {
    const ingot_abi_variant *code = ingot_abi_row(&model->variants, i);
    if (code->device == INGOT_ABI_DEVICE_CPU &&
        code->architecture == INGOT_ABI_ARCHITECTURE_X86_64 &&
        !(code->features & ~present) && !code->flags &&
        code->arena_memory == INGOT_ABI_MEMORY_HOST &&
        (!best || code->priority > best->priority))
      best = code;
  }
  return best;
}

static uint64_t elementSize(uint32_t dtype) {
  switch (dtype) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return BYTES;
#include "ingot/abi/element_types.inc"
  default:
    return 0; /* newer than this program; main refuses it */
  }
}

static const ingot_abi_tensor *inputOf(const ingot_abi_artifact *model,
                                       uint32_t i) {
  return ingot_abi_row(&model->inputs, i);
}

static const ingot_abi_tensor *outputOf(const ingot_abi_artifact *model,
                                        uint32_t i) {
  return ingot_abi_row(&model->outputs, i);
}

static int hasUnknownType(const ingot_abi_artifact *model) {
  int found = 0;
  for (uint32_t i = 0; i < model->inputs.count; ++i)
    found |= !elementSize(inputOf(model, i)->dtype);
  for (uint32_t i = 0; i < model->outputs.count; ++i)
    found |= !elementSize(outputOf(model, i)->dtype);
  return found;
}

static uint64_t tensorBytes(const ingot_abi_tensor *tensor,
                            const int64_t *dims) {
  uint64_t bytes = elementSize(tensor->dtype);
  for (uint32_t i = 0; i < tensor->rank; ++i)
    bytes *= (uint64_t)dims[i];
  return bytes;
}

/* Returns a zeroed buffer. Dynamic sizes become `dynamic`. */
static ingot_abi_buffer makeBuffer(const ingot_abi_tensor *tensor,
                                   int64_t dynamic) {
  ingot_abi_buffer buffer = {NULL, NULL, NULL, 0, INGOT_ABI_MEMORY_HOST, 0,
                             NULL, 0,    NULL};
  buffer.dims = calloc(tensor->rank + 1, sizeof(int64_t));
  if (!buffer.dims)
    return buffer;
  for (uint32_t i = 0; i < tensor->rank; ++i)
    buffer.dims[i] = tensor->dims[i] < 0 ? dynamic : tensor->dims[i];
  buffer.bytes = tensorBytes(tensor, buffer.dims);
  buffer.data = calloc(buffer.bytes / 64 + 1, 64);
  return buffer;
}

static void freeBuffers(ingot_abi_buffer *buffers, uint32_t count) {
  for (uint32_t i = 0; buffers && i < count; ++i) {
    free(buffers[i].data);
    free(buffers[i].dims);
  }
  free(buffers);
}

static void printOutput(const ingot_abi_tensor *tensor,
                        const ingot_abi_buffer *buffer) {
  uint64_t count =
      tensorBytes(tensor, buffer->dims) / elementSize(tensor->dtype);
  printf("%s: ", tensor->name);
  for (uint32_t i = 0; i < tensor->rank; ++i)
    printf("%s%lld", i ? "x" : "", (long long)buffer->dims[i]);
  for (uint64_t i = 0; i < count && i < 5; ++i) {
    if (tensor->dtype == INGOT_ABI_FLOAT)
      printf(" %g", ((const float *)buffer->data)[i]);
    if (tensor->dtype == INGOT_ABI_INT64)
      printf(" %lld", (long long)((const int64_t *)buffer->data)[i]);
  }
  printf("%s\n", count > 5 ? " ..." : "");
}

/* Runs once. Outputs that turn out too small get the memory they need. */
static int32_t runModel(const ingot_abi_artifact *model,
                        const ingot_abi_variant *code, ingot_abi_call *call,
                        ingot_abi_buffer *outputs) {
  int32_t status = INGOT_ABI_BUFFER_TOO_SMALL;
  for (uint32_t attempt = 0;
       status == INGOT_ABI_BUFFER_TOO_SMALL && attempt <= model->outputs.count;
       ++attempt) {
    status = code->run(call);
    for (uint32_t i = 0; i < model->outputs.count; ++i) {
      uint64_t needed = tensorBytes(outputOf(model, i), outputs[i].dims);
      if (status != INGOT_ABI_BUFFER_TOO_SMALL || needed <= outputs[i].bytes)
        continue;
      free(outputs[i].data);
      outputs[i].bytes = needed;
      outputs[i].data = calloc(needed / 64 + 1, 64);
      if (!outputs[i].data)
        return INGOT_ABI_OUT_OF_MEMORY;
    }
  }
  return status;
}

static int useModel(const ingot_abi_artifact *model,
                    const ingot_abi_variant *code) {
  char message[256] = "";
  void *state = NULL;
  ingot_abi_host host = {sizeof(host), 1,       NULL,
                         allocate,     release, serialFor};
  if (code->load) {
    ingot_abi_load load = {0};
    load.struct_size = sizeof(load);
    load.host = &host;
    load.weights = model->weights;
    load.weights_bytes = model->weights_bytes;
    load.error = message;
    load.error_bytes = sizeof(message);
    int32_t status = code->load(&load);
    state = load.state;
    if (status) {
      fprintf(stderr, "error: load failed with status %d: %s\n", status,
              message);
      return 1;
    }
  }

  ingot_abi_buffer *inputs = calloc(model->inputs.count + 1, sizeof(*inputs));
  ingot_abi_buffer *outputs =
      calloc(model->outputs.count + 1, sizeof(*outputs));
  ingot_abi_call call = {0};
  int32_t status = INGOT_ABI_OUT_OF_MEMORY;
  int complete = inputs && outputs;
  for (uint32_t i = 0; complete && i < model->inputs.count; ++i) {
    inputs[i] = makeBuffer(inputOf(model, i), 1);
    complete = inputs[i].data != NULL;
    if (complete && inputOf(model, i)->dtype == INGOT_ABI_FLOAT)
      for (uint64_t k = 0; k < inputs[i].bytes / sizeof(float); ++k)
        ((float *)inputs[i].data)[k] = (float)(k % 7) / 7;
  }
  for (uint32_t i = 0; complete && i < model->outputs.count; ++i) {
    outputs[i] = makeBuffer(outputOf(model, i), 0);
    complete = outputs[i].data != NULL;
  }

  if (complete) {
    call.struct_size = sizeof(call);
    call.host = &host;
    call.weights = model->weights;
    call.state = state;
    call.arena = allocate(NULL, code->arena_bytes, INGOT_ABI_ALIGNMENT);
    call.inputs = inputs;
    call.outputs = outputs;
    call.error = message;
    call.error_bytes = sizeof(message);
    if (call.arena)
      status = runModel(model, code, &call, outputs);
  }
  if (status)
    fprintf(stderr, "error: run failed with status %d: %s\n", status, message);
  else
    for (uint32_t i = 0; i < model->outputs.count; ++i)
      printOutput(outputOf(model, i), &outputs[i]);

  free(call.arena);
  freeBuffers(inputs, model->inputs.count);
  freeBuffers(outputs, model->outputs.count);
  if (code->unload)
    code->unload(&host, state);
  return status ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s ./model.so\n", argv[0]);
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "error: %s\n", dlerror());
    return 1;
  }
  /* ISO C has no conversion from object to function pointer; POSIX does. */
  ingot_abi_query_fn query;
  void *symbol = dlsym(library, INGOT_ABI_QUERY_SYMBOL);
  memcpy(&query, &symbol, sizeof(query));

  int result = 1;
  const ingot_abi_variant *code = NULL;
  const ingot_abi_artifact *model = query ? query() : NULL;
  if (!model || model->magic != INGOT_ABI_MAGIC ||
      model->abi_version != INGOT_ABI_VERSION)
    fprintf(stderr, "error: '%s' is no model of ABI version %u\n", argv[1],
            INGOT_ABI_VERSION);
  else if (!model->weights && model->weights_bytes)
    fprintf(stderr, "error: '%s' has separate weights; use libingot\n",
            argv[1]);
  else if (model->flags || model->buffer_bytes != sizeof(ingot_abi_buffer))
    fprintf(stderr, "error: '%s' is of a newer compiler; use libingot\n",
            argv[1]);
  else if (hasUnknownType(model))
    fprintf(stderr, "error: '%s' has an element type of a newer compiler\n",
            argv[1]);
  else if (!(code = chooseCode(model)))
    fprintf(stderr, "error: '%s' holds no code that runs here\n", argv[1]);
  else
    result = useModel(model, code);
  dlclose(library);
  return result;
}
