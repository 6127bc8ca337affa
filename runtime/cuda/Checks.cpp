//===- Checks.cpp - checks of data in kernels -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels check data without the host: the first check that fails leaves its
// number in the status of the run. The status is copied behind the outputs.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"
#include "runtime/support/support.h"

#include <string.h>

using namespace ingot::cuda;

static constexpr uint64_t statusBytes =
    INGOT_CUDA_STATUS_WORDS * sizeof(uint64_t);

int32_t Run::clearStatus(const Message &message) {
  if (!hasOldStatus)
    return INGOT_ABI_OK;
  memset(status, 0, statusBytes);
  if (int32_t failed = check(state->driver.cuMemcpyHtoDAsync_v2(
                                 deviceStatus, status, statusBytes, stream),
                             "cuMemcpyHtoDAsync_v2", message, " for checks"))
    return failed;
  hasOldStatus = false;
  return INGOT_ABI_OK;
}

int32_t Run::makeStatus(const Message &message) {
  if (!state->program->num_checks)
    return INGOT_ABI_OK;
  const Driver &driver = state->driver;
  void *memory = nullptr;
  if (int32_t failed = check(driver.cuMemHostAlloc(&memory, statusBytes, 0),
                             "cuMemHostAlloc", message, " for checks"))
    return failed;
  status = static_cast<uint64_t *>(memory);
  if (int32_t failed = check(driver.cuMemAlloc_v2(&deviceStatus, statusBytes),
                             "cuMemAlloc_v2", message, " for checks"))
    return failed;
  hasOldStatus = true;
  return INGOT_ABI_OK;
}

void Run::freeStatus() {
  if (status)
    state->driver.cuMemFreeHost(status);
  if (deviceStatus)
    state->driver.cuMemFree_v2(deviceStatus);
}

int32_t Run::copyStatus(const Message &message) {
  // A status that could not be cleared says nothing about this run.
  if (!status || hasOldStatus)
    return INGOT_ABI_OK;
  return check(state->driver.cuMemcpyDtoHAsync_v2(status, deviceStatus,
                                                  statusBytes, stream),
               "cuMemcpyDtoHAsync_v2", message, " for checks");
}

int32_t Run::reportStatus(const Message &message) {
  const uint64_t number = status ? status[0] : 0;
  if (!number)
    return INGOT_ABI_OK;
  // Other code does not write the status, so the number is one of a check.
  ingot_abi_call call = {};
  if (message.text && message.bytes && !message.text[0]) {
    call.error = message.text;
    call.error_bytes = message.bytes;
  }
  ingot_support_fail_with(&call, INGOT_ABI_RUNTIME_CHECK,
                          state->program->checks[number - 1],
                          int64_t(status[1]), int64_t(status[2]));
  hasOldStatus = true;
  return call.status;
}

uintptr_t ingot_cuda_status(ingot_abi_call *call) {
  return uintptr_t(static_cast<Run *>(call->state)->deviceStatus);
}
