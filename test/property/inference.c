/*===- inference.c - checks inference against runs --------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "inference.h"

#include <stdio.h>
#include <string.h>

#define MAX_STEPS 16384
#define MAX_TENSORS 512
#define MAX_RANK 64

/* Requested bytes, or the index of the step whose memory was released. */
typedef struct step {
  int is_release;
  uint64_t what;
} step;

typedef struct trace {
  step steps[MAX_STEPS];
  const void *pointers[MAX_STEPS];
  size_t count;
} trace;

static trace of_run, of_inference;

static void add_allocate(trace *t, const void *pointer, uint64_t bytes) {
  if (t->count == MAX_STEPS)
    return;
  t->pointers[t->count] = pointer;
  t->steps[t->count++] = (step){0, bytes};
}

static void add_release(trace *t, const void *pointer) {
  if (t->count == MAX_STEPS)
    return;
  size_t i = t->count;
  while (i > 0 && (t->steps[i - 1].is_release || t->pointers[i - 1] != pointer))
    --i;
  t->steps[t->count++] = (step){1, i};
}

void trace_begin(void) { of_run.count = 0; }
void trace_allocate(const void *pointer, uint64_t bytes) {
  add_allocate(&of_run, pointer, bytes);
}
void trace_release(const void *pointer) { add_release(&of_run, pointer); }

static int is_unknown;

static void *infer_allocate(void *user, uint64_t bytes, uint64_t alignment) {
  (void)user, (void)alignment;
  if (bytes == UINT64_MAX) {
    is_unknown = 1;
    return (void *)1;
  }
  /* guard.c has the same limit. */
  if (bytes > (uint64_t)1 << 30)
    return NULL;
  const void *pointer = (const char *)64 + of_inference.count;
  add_allocate(&of_inference, pointer, bytes);
  return (void *)pointer;
}

static void infer_release(void *user, void *pointer) {
  (void)user;
  add_release(&of_inference, pointer);
}

/* Memory that a run leaves to the host is released at the end of the run. */
static size_t without_last_releases(const trace *t) {
  size_t count = t->count;
  while (count > 0 && t->steps[count - 1].is_release)
    --count;
  return count;
}

const char *find_wrong_inference(const ingot_abi_artifact *artifact,
                                 const ingot_abi_variant *code,
                                 const ingot_abi_buffer *inputs,
                                 const ingot_abi_buffer *outputs, int status,
                                 const char *message) {
  static char text[512], said[256];
  static ingot_abi_buffer in[MAX_TENSORS], out[MAX_TENSORS];
  static int64_t dims[MAX_TENSORS][MAX_RANK];
  if (artifact->variants.row_bytes < sizeof *code || !code->infer)
    return NULL;
  memset(in, 0, sizeof in);
  memset(out, 0, sizeof out);
  for (uint32_t i = 0; i < artifact->inputs.count; ++i)
    in[i].dims = inputs[i].dims;
  for (uint32_t i = 0; i < artifact->outputs.count; ++i)
    out[i].dims = dims[i];
  ingot_abi_host host = {sizeof host, 1, NULL, infer_allocate, infer_release,
                         NULL};
  ingot_abi_call call = {0};
  call.struct_size = sizeof call;
  call.host = &host;
  call.inputs = in;
  call.outputs = out;
  call.error = said;
  call.error_bytes = sizeof said;
  said[0] = 0;
  is_unknown = 0;
  of_inference.count = 0;
  int inferred = code->infer(&call);
  /* If two sizes do not fit, either may be reported first. */
  if (inferred != INGOT_ABI_OK && inferred != status) {
    snprintf(text, sizeof text,
             "inference ends with %d (%s), the run with %d (%s)", inferred,
             said, status, message);
    return text;
  }
  if (status != INGOT_ABI_OK)
    return NULL;
  for (uint32_t i = 0; i < artifact->outputs.count; ++i) {
    const ingot_abi_tensor *output = ingot_abi_row(&artifact->outputs, i);
    for (uint32_t d = 0; d < output->rank; ++d)
      if (dims[i][d] != outputs[i].dims[d] &&
          dims[i][d] != INGOT_ABI_DYNAMIC) {
        snprintf(text, sizeof text,
                 "dimension %u of output %s is %lld, but %lld was inferred", d,
                 output->name, (long long)outputs[i].dims[d],
                 (long long)dims[i][d]);
        return text;
      }
  }
  if (is_unknown)
    return NULL;
  size_t count = without_last_releases(&of_run);
  if (count != without_last_releases(&of_inference)) {
    snprintf(text, sizeof text, "a run of %zu demands, but %zu were inferred",
             count, without_last_releases(&of_inference));
    return text;
  }
  for (size_t i = 0; i < count; ++i) {
    const step *a = &of_run.steps[i], *b = &of_inference.steps[i];
    if (a->is_release != b->is_release || a->what != b->what) {
      snprintf(text, sizeof text,
               "step %zu of a run %s %llu, but inference %s %llu", i,
               a->is_release ? "releases" : "takes",
               (unsigned long long)a->what,
               b->is_release ? "releases" : "takes",
               (unsigned long long)b->what);
      return text;
    }
  }
  return NULL;
}
