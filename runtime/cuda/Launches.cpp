//===- Launches.cpp - kernels that a fault may come from ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Launches.h"

#include "runtime/cuda/State.h"

#include <stdio.h>
#include <string.h>

using namespace ingot::cuda;

void ingot::cuda::describeKernel(const ingot_cuda_kernel &kernel, char *place) {
  snprintf(place, placeBytes, " in kernel '%.120s' of node '%.200s'",
           kernel.name, kernel.node);
}

bool Launches::describe(char *place) const {
  if (!count)
    return false;
  if (count == 1) {
    describeKernel(*last, place);
    return true;
  }
  const unsigned long long number = count;
  if (!strcmp(first->node, last->node))
    snprintf(place, placeBytes, " in one of %llu kernels of node '%.200s'",
             number, first->node);
  else
    snprintf(place, placeBytes,
             " in one of %llu kernels from node '%.100s' to node '%.100s' (a "
             "run with a profile and CUDA_LAUNCH_BLOCKING=1 names the layer)",
             number, first->node, last->node);
  return true;
}

int32_t Run::check(Result result, const char *call, const Message &message,
                   const char *place) {
  if (!result)
    return INGOT_ABI_OK;
  char kernels[placeBytes];
  return state->check(
      result, call, message,
      endsContext(result) && launches.describe(kernels) ? kernels : place);
}

int32_t Run::wait(const Message &message) {
  const int32_t status = check(state->driver.cuStreamSynchronize(stream),
                               "cuStreamSynchronize", message);
  launches.clear();
  return status;
}
