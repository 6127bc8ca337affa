//===- OpenTensors.cpp - buffers whose sizes only a run knows -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"
#include "runtime/support/support.h"

#include <stdio.h>

using namespace ingot::cuda;

static Run &runOf(ingot_abi_call *call) {
  return *static_cast<Run *>(call->state);
}

uintptr_t ingot_cuda_allocate(ingot_abi_call *call, uint64_t bytes,
                              const char *node) {
  Run &run = runOf(call);
  DevicePointer address = 0;
  // A replay would not know which pieces are in use.
  needHostCode(run.graphs);
  Result result = run.heap.allocate(run.state->driver, bytes, address);
  if (!result)
    return uintptr_t(address);
  char place[320];
  snprintf(place, sizeof(place), " for a tensor of dynamic shape%s%s%s",
           node ? " of node '" : "", node ? node : "", node ? "'" : "");
  endIf(call, result, "cuMemAlloc_v2", place);
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
  runOf(call).heap.release(address);
}

void ingot_cuda_store_output(ingot_abi_call *call, uintptr_t index,
                             uintptr_t rank, uintptr_t dims, uintptr_t data,
                             uintptr_t element_bits) {
  Run &run = runOf(call);
  const ingot_abi_buffer &output = call->outputs[index];
  const uint64_t bytes =
      ingot_support_output_bytes(call, index, rank, dims, element_bits);
  const uintptr_t to = reinterpret_cast<uintptr_t>(output.data);
  if (!ingot_support_has_room(call, index, bytes) || !bytes || to == data)
    return;
  if (output.memory == INGOT_ABI_MEMORY_CUDA)
    return ingot_cuda_copy(call, output.data,
                           reinterpret_cast<const void *>(data), bytes);
  catchUp(call);
  endIf(call,
        run.state->driver.cuMemcpyDtoHAsync_v2(
            output.data, translate(run, data), bytes, run.stream),
        "cuMemcpyDtoHAsync_v2");
}
