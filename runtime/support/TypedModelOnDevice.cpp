//===- TypedModelOnDevice.cpp - typed C functions for GPUs ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TypedModel.h"

#include "runtime/core/Device.h"
#include "runtime/core/Error.h"
#include "runtime/core/Variants.h"

using namespace ingot;
using namespace ingot::support;

using Kind = rt::Device::Kind;

/// Makes a model that runs on a CPU.
static ingot_support_model *make_on_cpu(const ingot_support_request &request,
                                        const rt::Cpu &cpu, char *error,
                                        uint64_t error_bytes) {
  ingot_error reason = INGOT_ERROR_INIT;
  uint32_t variant;
  if (rt::chooseVariant(*request.artifact, cpu, "this model", variant,
                        &reason) == INGOT_OK)
    return make(request, variant, {}, error, error_bytes);
  say(error, error_bytes, reason.message);
  return nullptr;
}

ingot_support_model *
ingot_support_create_on(const ingot_support_request *request, char *error,
                        uint64_t error_bytes) {
  ingot_error reason = INGOT_ERROR_INIT;
  rt::Device device;
  rt::Cpu cpu;
  uint32_t variant;
  ingot_status status =
      rt::readDevice(request->device, "the device", device, &reason);
  if (!status)
    status = rt::readCpu(cpu, &reason);
  if (status) {
    say(error, error_bytes, reason.message);
    return nullptr;
  }
  const bool isForGpu = device.kind != Kind::cpu &&
                        rt::findGpuVariant(*request->artifact, cpu, variant);
  if (!isForGpu && device.kind == Kind::cuda) {
    rt::refuseGpu(*request->artifact, "this model", &reason);
    say(error, error_bytes, reason.message);
    return nullptr;
  }
  if (!isForGpu)
    return make_on_cpu(*request, cpu, error, error_bytes);
  int32_t failed = INGOT_ABI_OK;
  const char *path = device.driver[0] ? device.driver : nullptr;
  ingot_support_model *model = make(
      *request, variant, {device.index, path, &failed}, error, error_bytes);
  // The CPU takes the place of a GPU only if nobody names a device. If there is
  // no code for CPUs, the message about the GPU remains.
  uint32_t ofCpu;
  if (model || device.kind != Kind::best ||
      failed != INGOT_ABI_UNSUPPORTED_DEVICE ||
      rt::chooseVariant(*request->artifact, cpu, "this model", ofCpu, nullptr))
    return model;
  return make(*request, ofCpu, {}, error, error_bytes);
}

/// Sets in which memory each of the buffers is. Inputs have passed the check of
/// their sizes, from which their bytes follow.
static void locate(const ingot_support_model &model,
                   rt::Rows<ingot_abi_tensor> tensors,
                   const ingot_abi_buffer *given, bool is_input) {
  // The generated functions pass buffers of their own.
  auto *buffers = const_cast<ingot_abi_buffer *>(given);
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    if (buffers[i].data)
      buffers[i].memory = model.code.device_functions->locate(
          model.state, buffers[i].data, &buffers[i].device);
    if (is_input)
      rt::tensorBytes(tensors[i].dtype, buffers[i].dims, tensors[i].rank,
                      buffers[i].bytes);
  }
}

/// Starts a run. A run on a GPU that succeeds leaves the model marked as
/// running.
static int32_t start(ingot_support_model *model, ingot_abi_call &call,
                     const ingot_abi_buffer *inputs,
                     const ingot_abi_buffer *outputs) {
  if (!begin(model, inputs, outputs, call))
    return call.status;
  const ingot_abi_device *device = model->code.device_functions;
  int32_t status = INGOT_ABI_OK;
  if (!device && call.stream) {
    say(call.error, call.error_bytes,
        "the model runs on the CPU, which has no streams; pass null");
    status = INGOT_ABI_INVALID_ARGUMENT;
  }
  if (device && !model->session)
    status = device->open(model->state, &model->session, call.error,
                          call.error_bytes);
  if (device) {
    locate(*model, rt::inputsOf(*model->artifact), inputs, true);
    locate(*model, rt::outputsOf(*model->artifact), outputs, false);
    call.session = model->session;
  }
  if (!status)
    status = model->code.run(&call);
  if (status || !device)
    model->is_running.store(false, std::memory_order_release);
  else
    model->is_under_way.store(true, std::memory_order_relaxed);
  return status;
}

int32_t ingot_support_start(ingot_support_model *model, void *stream,
                            const ingot_abi_buffer *inputs,
                            const ingot_abi_buffer *outputs, char *error,
                            uint64_t error_bytes) {
  ingot_abi_call call = {};
  call.stream = stream;
  call.error = error;
  call.error_bytes = error_bytes;
  return start(model, call, inputs, outputs);
}

int32_t ingot_support_wait(ingot_support_model *model, char *error,
                           uint64_t error_bytes) {
  if (model == nullptr) {
    say(error, error_bytes, "the model is null");
    return INGOT_ABI_INVALID_ARGUMENT;
  }
  if (!model->is_under_way.exchange(false, std::memory_order_acquire))
    return INGOT_ABI_OK;
  const int32_t status = model->code.device_functions->wait(
      model->state, model->session, error, error_bytes);
  model->is_running.store(false, std::memory_order_release);
  return status;
}

int32_t ingot_support_call_on(ingot_support_model *model,
                              const ingot_abi_buffer *inputs,
                              const ingot_abi_buffer *outputs, char *error,
                              uint64_t error_bytes) {
  const int32_t status =
      ingot_support_start(model, nullptr, inputs, outputs, error, error_bytes);
  return status ? status : ingot_support_wait(model, error, error_bytes);
}
