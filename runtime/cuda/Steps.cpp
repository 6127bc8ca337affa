//===- Steps.cpp - launches and copies of a run ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace ingot::cuda;

/// Makes room for `needed` elements. Returns false if there is no memory.
template <typename T>
static bool reserve(T *&elements, uint32_t &room, uint32_t needed) {
  if (needed <= room)
    return true;
  const uint32_t more = needed > 2 * room ? needed + 64 : 2 * room;
  void *moved = realloc(elements, more * sizeof(T));
  if (!moved)
    return false;
  elements = static_cast<T *>(moved);
  room = more;
  return true;
}

bool Steps::append(uint32_t kernel, uint64_t size, const uint64_t *parameters,
                   uint32_t numParameters) {
  if (!reserve(steps, room, count + 1) ||
      !reserve(words, wordRoom, numWords + numParameters))
    return false;
  steps[count++] = {kernel, numWords, size};
  for (uint32_t i = 0; i < numParameters; ++i)
    words[numWords++] = parameters[i];
  return true;
}

void Steps::release() {
  free(steps);
  free(words);
  *this = {};
}

uint64_t ingot::cuda::translate(const Run &run, uint64_t word) {
  const uint64_t number = (word - tensorBase) >> tensorShift;
  if (word < tensorBase || number > run.numTensors())
    return word;
  const uint64_t offset = word - addressOfTensor(uint32_t(number));
  return number == run.numTensors() ? run.heap.addressOf(offset)
                                    : run.addresses[number] + offset;
}

KernelArguments::KernelArguments(const Run &run,
                                 const ingot_cuda_kernel &kernel,
                                 const uint64_t *given) {
  for (uint32_t i = 0; i < kernel.num_parameters; ++i) {
    words[i] = translate(run, given[i]);
    pointers[i] = &words[i];
  }
}

int32_t ingot::cuda::doStep(Run &run, uint32_t number, uint64_t size,
                            const uint64_t *words, const Message &message) {
  State &state = *run.state;
  if (number == Step::copy)
    return state.check(state.driver.cuMemcpyDtoDAsync_v2(
                           translate(run, words[0]), translate(run, words[1]),
                           size, run.stream),
                       "cuMemcpyDtoDAsync_v2", message);
  const ingot_cuda_kernel &kernel = state.program->kernels[number];
  KernelArguments arguments(run, kernel, words);
  run.beginLayer(kernel.node);
  const Result result = state.driver.cuLaunchKernel(
      state.functions[number], unsigned(size), 1, 1, kernel.threads, 1, 1,
      kernel.shared_bytes, run.stream, arguments.pointers, nullptr);
  run.launches.add(kernel);
  // Launches are frequent, so only a failure makes its text.
  if (!result)
    return INGOT_ABI_OK;
  char place[placeBytes];
  describeKernel(kernel, place);
  return run.check(result, "cuLaunchKernel", message, place);
}

int32_t ingot::cuda::addStep(Run &run, uint32_t kernel, uint64_t size,
                             const uint64_t *words, uint32_t numWords,
                             const Message &message) {
  if (!run.graphs.current)
    return doStep(run, kernel, size, words, message);
  if (run.graphs.pending.count == mostSteps)
    if (int32_t status = launchPending(run, message))
      return status;
  if (run.graphs.pending.append(kernel, size, words, numWords))
    return INGOT_ABI_OK;
  return message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for a graph");
}
