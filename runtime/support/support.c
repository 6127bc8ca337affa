/*===- support.c - functions for generated code ---------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "support.h"

#include "float_state.h"
#include "frame.h"
#include "text.h"

#include <string.h>

void ingot_support_fail(ingot_abi_call *call, int32_t status,
                        const char *message) {
  if (call->status != INGOT_ABI_OK)
    return;
  call->status = status;
  if (call->error == NULL || call->error_bytes == 0)
    return;
  size_t length = strlen(message);
  if (length >= call->error_bytes)
    length = call->error_bytes - 1;
  memcpy(call->error, message, length);
  call->error[length] = '\0';
}

static void release_blocks(ingot_support_frame *frame) {
  const ingot_abi_host *host = frame->call.host;
  ingot_support_block *list = &frame->blocks;
  while (list->next != list) {
    ingot_support_block *block = list->next;
    list->next = block->next;
    host->release(host->user, block);
  }
}

int32_t ingot_support_run(ingot_abi_call *call,
                          void (*body)(ingot_abi_call *call)) {
  ingot_support_frame frame;
  if (call->struct_size >= sizeof frame.call) {
    frame.call = *call;
  } else {
    memset(&frame.call, 0, sizeof frame.call);
    memcpy(&frame.call, call, call->struct_size);
  }
  frame.call.struct_size = sizeof frame.call;
  frame.call.status = INGOT_ABI_OK;
  frame.blocks.previous = frame.blocks.next = &frame.blocks;
  frame.strings = NULL;
  ingot_float_state saved;
  ingot_float_state_enter(&saved);
  if (setjmp(frame.stop) == 0)
    body(&frame.call);
  ingot_float_state_leave(&saved);
  release_blocks(&frame);
  call->status = frame.call.status;
  return call->status;
}

/* A task, with the signature that the host's threads call. */
typedef struct ingot_support_job {
  void (*task)(void *arg, int64_t index);
  void *arg;
} ingot_support_job;

static void run_job(void *arg, int64_t index) {
  const ingot_support_job *job = arg;
  ingot_float_state saved;
  ingot_float_state_enter(&saved);
  job->task(job->arg, index);
  ingot_float_state_leave(&saved);
}

void ingot_support_parallel(ingot_abi_call *call,
                            void (*task)(void *arg, int64_t index), void *arg,
                            int64_t count) {
  const ingot_abi_host *host = call->host;
  if (host->num_threads <= 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i)
      task(arg, i);
    return;
  }
  ingot_support_job job = {task, arg};
  host->parallel_for(host->user, run_job, &job, count);
}

uint64_t ingot_support_chunk(ingot_abi_call *call, uint64_t pictures,
                             uint64_t per_thread) {
  const uint64_t threads =
      call->host->num_threads > 1 ? call->host->num_threads : 1;
  const uint64_t most = threads * per_thread;
  if (call->observer != NULL || pictures <= most)
    return pictures != 0 ? pictures : 1;
  const uint64_t chunks = (pictures + most - 1) / most;
  const uint64_t even = (pictures + chunks - 1) / chunks;
  /* Divides the images equally among the threads. */
  return (even + threads - 1) / threads * threads;
}

/** Ends the run if the observer has returned a status other than INGOT_ABI_OK.
 */
static void go_on(ingot_abi_call *call, int32_t status) {
  if (status == INGOT_ABI_OK)
    return;
  ingot_support_fail(call, status,
                     status == INGOT_ABI_CANCELLED ? "the run was cancelled"
                                                   : "the run was stopped");
  ingot_support_stop(call);
}

void ingot_support_layer_end(ingot_abi_call *call, uint64_t layer,
                             uint64_t flops, uint64_t bytes) {
  const ingot_abi_observer *observer = call->observer;
  go_on(call, observer->layer_end(observer->user, layer, flops, bytes));
}

void ingot_support_observe(ingot_abi_call *call, uint64_t tensor,
                           uint32_t dtype, uint32_t rank, const int64_t *dims,
                           const int64_t *strides, const void *data) {
  const ingot_abi_observer *observer = call->observer;
  /* An older host has only the member for layers. */
  const size_t needed =
      offsetof(ingot_abi_observer, tensor) + sizeof observer->tensor;
  if (observer && observer->struct_size >= needed && observer->tensor)
    go_on(call, observer->tensor(observer->user, tensor, dtype, rank, dims,
                                 strides, data));
}

void ingot_support_poll(ingot_abi_call *call) {
  const ingot_abi_observer *observer = call->observer;
  const size_t needed =
      offsetof(ingot_abi_observer, poll) + sizeof observer->poll;
  if (observer && observer->struct_size >= needed && observer->poll)
    go_on(call, observer->poll(observer->user));
}

/** Writes `message` with values in place of {0} and {1}. */
static void fill_in(ingot_support_text *text, const char *message,
                    int64_t first, int64_t second) {
  ingot_support_text_begin(text);
  while (*message != '\0') {
    if (message[0] == '{' && (message[1] == '0' || message[1] == '1') &&
        message[2] == '}') {
      ingot_support_text_number(text, message[1] == '0' ? first : second);
      message += 3;
    } else {
      ingot_support_text_add(text, message++, 1);
    }
  }
}

void ingot_support_fail_with(ingot_abi_call *call, int32_t status,
                             const char *message, int64_t first,
                             int64_t second) {
  ingot_support_text text;
  fill_in(&text, message, first, second);
  ingot_support_fail(call, status, text.bytes);
}

void ingot_support_require(ingot_abi_call *call, uint32_t holds,
                           const char *message, int64_t first, int64_t second) {
  if (holds)
    return;
  ingot_support_fail_with(call, INGOT_ABI_RUNTIME_CHECK, message, first,
                          second);
  ingot_support_stop(call);
}

/** Returns memory from the host for a block header and `bytes` behind it. On
 *  failure ends the run. The message names the node if `node` is not null. */
static void *get_block(ingot_abi_call *call, uint64_t bytes,
                       const char *node) {
  const ingot_abi_host *host = call->host;
  void *block = NULL;
  /* A size that has overflowed is larger than any address space. */
  if (bytes < (UINT64_C(1) << 47))
    block = host->allocate(host->user, INGOT_ABI_ALIGNMENT + bytes,
                           INGOT_ABI_ALIGNMENT);
  if (block == NULL) {
    ingot_support_text text;
    ingot_support_text_begin(&text);
    if (node != NULL) {
      ingot_support_text_string(&text, "node '");
      ingot_support_text_string(&text, node);
      ingot_support_text_string(&text, "': ");
    }
    ingot_support_text_string(&text,
                              "out of memory for a tensor of dynamic shape");
    ingot_support_fail(call, INGOT_ABI_OUT_OF_MEMORY, text.bytes);
    ingot_support_stop(call);
  }
  return block;
}

void *ingot_support_allocate(ingot_abi_call *call, uint64_t bytes,
                             const char *node) {
  ingot_support_block *block = get_block(call, bytes, node);
  ingot_support_block *list = &ingot_support_frame_of(call)->blocks;
  block->previous = list->previous;
  block->next = list;
  block->previous->next = block;
  list->previous = block;
  return (char *)block + INGOT_ABI_ALIGNMENT;
}

void ingot_support_release(ingot_abi_call *call, void *pointer) {
  ingot_support_block *block =
      (ingot_support_block *)((char *)pointer - INGOT_ABI_ALIGNMENT);
  block->previous->next = block->next;
  block->next->previous = block->previous;
  call->host->release(call->host->user, block);
}

void *ingot_support_room(ingot_abi_call *call, uint64_t index, uint64_t bytes,
                         const char *node) {
  const ingot_abi_buffer *output = &call->outputs[index];
  if (bytes <= output->bytes)
    return output->data;
  return ingot_support_allocate(call, bytes, node);
}

uintptr_t ingot_support_reserve(ingot_abi_call *call, uintptr_t bytes) {
  return (uintptr_t)get_block(call, bytes, NULL);
}

void ingot_support_unreserve(ingot_abi_call *call, uintptr_t address) {
  call->host->release(call->host->user, (void *)address);
}

void ingot_support_reserve_unknown(ingot_abi_call *call) {
  call->host->allocate(call->host->user, UINT64_MAX, INGOT_ABI_ALIGNMENT);
}

void ingot_support_set_dims(ingot_abi_call *call, uintptr_t index,
                            uintptr_t rank, uintptr_t dims) {
  memcpy(call->outputs[index].dims, (const void *)dims,
         rank * sizeof(int64_t));
}

uint32_t ingot_support_has_room(ingot_abi_call *call, uint64_t index,
                                uint64_t bytes) {
  if (bytes <= call->outputs[index].bytes)
    return 1;
  ingot_support_fail(call, INGOT_ABI_BUFFER_TOO_SMALL,
                     "an output buffer is too small");
  return 0;
}

uint64_t ingot_support_output_bytes(ingot_abi_call *call, uintptr_t index,
                                    uintptr_t rank, uintptr_t dims,
                                    uintptr_t element_bits) {
  const ingot_abi_buffer *output = &call->outputs[index];
  const int64_t *sizes = (const int64_t *)dims;
  uint64_t bytes = element_bits % 8 ? 1 : element_bits / 8;
  int overflows = 0, is_empty = 0;
  for (uintptr_t i = 0; i < rank; ++i) {
    output->dims[i] = sizes[i];
    is_empty |= sizes[i] == 0;
    overflows |= __builtin_mul_overflow(bytes, (uint64_t)sizes[i], &bytes);
  }
  if (element_bits % 8)
    bytes = bytes / 8 * element_bits + (bytes % 8 * element_bits + 7) / 8;
  if (overflows)
    bytes = is_empty ? 0 : UINT64_MAX;
  return bytes;
}

void ingot_support_store_output(ingot_abi_call *call, uintptr_t index,
                                uintptr_t rank, uintptr_t dims, uintptr_t data,
                                uintptr_t element_bits) {
  const ingot_abi_buffer *output = &call->outputs[index];
  const uint64_t bytes =
      ingot_support_output_bytes(call, index, rank, dims, element_bits);
  if (ingot_support_has_room(call, index, bytes) && bytes != 0 &&
      output->data != (void *)data)
    memcpy(output->data, (const void *)data, bytes);
}
