//===- OpenTensors.cpp - buffers whose sizes only a run knows -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"
#include "runtime/support/frame.h"
#include "runtime/support/support.h"

#include <stdio.h>

using namespace ingot::cuda;

static Run &runOf(ingot_abi_call *call) {
  return *static_cast<Run *>(call->state);
}

uintptr_t ingot_cuda_allocate(ingot_abi_call *call, uint64_t bytes,
                              const char *node) {
  Run &run = runOf(call);
  uint64_t place = 0;
  Result result = run.heap.allocate(run.state->driver, bytes, place);
  if (!result)
    return uintptr_t(run.heapStart() + place);
  char text[320];
  snprintf(text, sizeof(text), " for a tensor of dynamic shape%s%s%s",
           node ? " of node '" : "", node ? node : "", node ? "'" : "");
  endIf(call, result, "cuMemAlloc_v2", text);
  return 0;
}

uintptr_t ingot_cuda_room(ingot_abi_call *call, uint64_t index, uint64_t bytes,
                          const char *node) {
  const ingot_abi_buffer &output = call->outputs[index];
  if (output.memory == INGOT_ABI_MEMORY_CUDA && bytes && bytes <= output.bytes)
    return reinterpret_cast<uintptr_t>(output.data);
  return ingot_cuda_allocate(call, bytes, node);
}

void ingot_cuda_release(ingot_abi_call *call, uintptr_t address) {
  Run &run = runOf(call);
  run.heap.release(address - run.heapStart());
}

void ingot_cuda_store_output(ingot_abi_call *call, uintptr_t index,
                             uintptr_t rank, uintptr_t dims, uintptr_t data,
                             uintptr_t element_bits) {
  Run &run = runOf(call);
  const ingot_abi_buffer &output = call->outputs[index];
  const uint64_t bytes =
      ingot_support_output_bytes(call, index, rank, dims, element_bits);
  const uintptr_t to = reinterpret_cast<uintptr_t>(output.data);
  if (!ingot_support_has_room(call, index, bytes) || !bytes)
    return;
  const bool isOnHost = output.memory == INGOT_ABI_MEMORY_HOST;
  if (!isOnHost && to != data)
    ingot_cuda_copy(call, output.data, reinterpret_cast<const void *>(data),
                    bytes);
  if (call->status)
    return;
  call->status = storeOutput(run, uint32_t(index), bytes, isOnHost ? data : 0,
                             output.data, {call->error, call->error_bytes});
  if (call->status)
    ingot_support_stop(call);
}
