//===- Strings.cpp - strings of runs on a GPU -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels compute with the indices that stand for strings. runtime/support
// looks up the strings in host memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"
#include "runtime/support/frame.h"
#include "runtime/support/support.h"

using namespace ingot::cuda;

static Run &runOf(ingot_abi_call *call) {
  return *static_cast<Run *>(call->state);
}

/// Gives tensor `number`, which stands for strings, memory of the GPU. Ends the
/// run if there is none.
static void placeIndices(ingot_abi_call *call, uint32_t number,
                         ingot_abi_buffer &buffer) {
  Run &run = runOf(call);
  if (int32_t status = run.reserve(number, buffer.bytes, " for strings",
                                   {call->error, call->error_bytes})) {
    call->status = status;
    ingot_support_stop(call);
  }
  buffer.data = reinterpret_cast<void *>(uintptr_t(addressOfTensor(number)));
  run.addresses[number] = run.buffers[number];
  run.bytes[number] = buffer.bytes;
}

void ingot_cuda_read_strings(ingot_abi_call *call,
                             const ingot_abi_artifact *artifact,
                             const ingot_support_dictionary *dictionary) {
  Run &run = runOf(call);
  const ingot_cuda_program &program = *run.state->program;
  // Only host code can look up strings.
  needHostCode(run.graphs);
  ingot_support_read_strings(call, artifact, dictionary);
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    if (program.input_bytes[i] != INGOT_CUDA_STRINGS)
      continue;
    // The inputs are the copies that ingot_support_read_strings has made.
    auto &input = const_cast<ingot_abi_buffer &>(call->inputs[i]);
    const void *indices = input.data;
    placeIndices(call, i, input);
    if (input.bytes)
      endIf(call,
            run.state->driver.cuMemcpyHtoDAsync_v2(run.buffers[i], indices,
                                                   input.bytes, run.stream),
            "cuMemcpyHtoDAsync_v2", " for strings");
  }
}

void ingot_cuda_make_strings(ingot_abi_call *call, uint64_t index,
                             uint64_t count) {
  auto &output = const_cast<ingot_abi_buffer &>(call->outputs[index]);
  output.bytes = count * sizeof(int32_t);
  placeIndices(call, runOf(call).state->program->num_inputs + uint32_t(index),
               output);
}

void ingot_cuda_store_strings(ingot_abi_call *call, uintptr_t index,
                              uintptr_t rank, uintptr_t dims, uintptr_t data,
                              uintptr_t element_bits) {
  Run &run = runOf(call);
  needHostCode(run.graphs);
  uint64_t bytes = sizeof(int32_t);
  for (uintptr_t i = 0; i < rank; ++i)
    bytes *= uint64_t(reinterpret_cast<const int64_t *>(dims)[i]);
  void *indices = ingot_support_allocate(call, bytes, nullptr);
  if (bytes) {
    catchUp(call);
    endIf(call,
          run.state->driver.cuMemcpyDtoHAsync_v2(indices, translate(run, data),
                                                 bytes, run.stream),
          "cuMemcpyDtoHAsync_v2", " for strings");
    ingot_cuda_wait(call);
  }
  ingot_support_store_strings(call, index, rank, dims,
                              reinterpret_cast<uintptr_t>(indices),
                              element_bits);
  ingot_support_release(call, indices);
}
