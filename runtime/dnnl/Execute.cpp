//===- Execute.cpp - running one operation --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/State.h"

#include <stdlib.h>

using namespace ingot::dnnl;

static dnnl_status_t fillExecution(const State &state, const Variant &variant,
                                   Execution &execution) {
  const Primitive &primitive = variant.primitive;
  dnnl_status_t status = dnnl_stream_create(&execution.stream, state.engine,
                                            dnnl_stream_default_flags);
  for (int i = 0; i < primitive.numArguments && status == dnnl_success; ++i) {
    const Argument &argument = primitive.arguments[i];
    status = dnnl_memory_create(&execution.memories[i], argument.layout,
                                state.engine,
                                const_cast<void *>(argument.constant));
    execution.arguments[i] = {argument.id, execution.memories[i]};
    if (status == dnnl_success && argument.outside)
      status = dnnl_memory_create(&execution.outside[i], argument.outside,
                                  state.engine, nullptr);
  }
  if (status == dnnl_success && primitive.scratchBytes) {
    status = dnnl_memory_create(&execution.scratch, primitive.scratchLayout,
                                state.engine, nullptr);
    execution.arguments[primitive.numArguments] = {DNNL_ARG_SCRATCHPAD,
                                                   execution.scratch};
  }
  return status;
}

/// Returns the variant's idle execution if there is one, else a new execution.
static Execution *takeExecution(const State &state, Variant &variant) {
  if (Execution *idle =
          __atomic_exchange_n(&variant.idle, nullptr, __ATOMIC_ACQ_REL))
    return idle;
  auto *execution = static_cast<Execution *>(calloc(1, sizeof(Execution)));
  if (!execution)
    return nullptr;
  if (fillExecution(state, variant, *execution) == dnnl_success)
    return execution;
  destroyExecution(execution);
  return nullptr;
}

static dnnl_status_t copy(dnnl_primitive_t reorder, dnnl_stream_t stream,
                          dnnl_memory_t from, dnnl_memory_t to) {
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return dnnl_primitive_execute(reorder, stream, 2, arguments);
}

/// Sets argument `i` to the caller's data, or to a copy of it in `scratch`.
static dnnl_status_t setArgument(const Argument &argument, int i,
                                 Execution &execution, void *data,
                                 void *scratch) {
  if (!argument.outside)
    return dnnl_memory_set_data_handle(execution.memories[i], data);
  dnnl_status_t status =
      dnnl_memory_set_data_handle(execution.outside[i], data);
  if (status == dnnl_success)
    status = dnnl_memory_set_data_handle(
        execution.memories[i],
        static_cast<char *>(scratch) + argument.copyOffset);
  if (status == dnnl_success && argument.copyIn)
    status = copy(argument.copyIn, execution.stream, execution.outside[i],
                  execution.memories[i]);
  return status;
}

static dnnl_status_t runPrimitive(const Variant &variant, Execution &execution,
                                  void *const *arguments, void *scratch) {
  const Primitive &primitive = variant.primitive;
  dnnl_status_t status = dnnl_success;
  for (int i = 0; i < primitive.numArguments && status == dnnl_success; ++i)
    if (!primitive.arguments[i].constant)
      status = setArgument(primitive.arguments[i], i, execution, *arguments++,
                           scratch);
  bool hasScratch = primitive.scratchBytes != 0;
  if (status == dnnl_success && hasScratch)
    status = dnnl_memory_set_data_handle(execution.scratch, scratch);
  if (status == dnnl_success)
    status = dnnl_primitive_execute(primitive.handle, execution.stream,
                                    primitive.numArguments + hasScratch,
                                    execution.arguments);
  for (int i = 0; i < primitive.numArguments && status == dnnl_success; ++i)
    if (dnnl_primitive_t copyOut = primitive.arguments[i].copyOut)
      status = copy(copyOut, execution.stream, execution.memories[i],
                    execution.outside[i]);
  return status == dnnl_success ? dnnl_stream_wait(execution.stream) : status;
}

static int32_t runVariant(const State &state, const Operation &operation,
                          const ingot_abi_host *host, Variant &variant,
                          void *const *arguments, const Message &message) {
  Record record;
  auto fail = [&](int32_t code, const char *what,
                  dnnl_status_t status = dnnl_success) {
    readOperation(state, operation, record);
    return message.fail(code, record, what, status);
  };
  Execution *execution = takeExecution(state, variant);
  if (!execution)
    return fail(INGOT_ABI_OUT_OF_MEMORY, "is out of memory");
  void *scratch = nullptr;
  if (size_t bytes = variant.primitive.totalScratchBytes) {
    scratch = host->allocate(host->user, bytes, INGOT_ABI_ALIGNMENT);
    if (!scratch) {
      destroyExecution(execution);
      return fail(INGOT_ABI_OUT_OF_MEMORY, "is out of scratch memory");
    }
  }
  dnnl_status_t status;
  {
    ThreadScope threads(host->num_threads);
    status = runPrimitive(variant, *execution, arguments, scratch);
  }
  if (scratch)
    host->release(host->user, scratch);
  // Keep this execution for the next run. If another run has stored an
  // execution before, destroy the older one.
  destroyExecution(
      __atomic_exchange_n(&variant.idle, execution, __ATOMIC_ACQ_REL));
  if (status == dnnl_success)
    return INGOT_ABI_OK;
  return fail(INGOT_ABI_BACKEND_ERROR, "cannot run the operation", status);
}

void ingot_dnnl_execute(ingot_abi_call *call, int64_t index,
                        void *const *arguments, const int64_t *dynamic) {
  if (call->status != INGOT_ABI_OK)
    return;
  auto &state = *static_cast<State *>(call->state);
  Operation &operation = state.operations[index];
  Message message{call->error, call->error_bytes};
  Variant *variant = operation.fixed;
  bool isFixed = variant && variant->numThreads == call->host->num_threads;
  if (!isFixed) {
    ThreadScope threads(call->host->num_threads);
    call->status = acquireVariant(state, operation, dynamic,
                                  call->host->num_threads, message, variant);
    if (call->status != INGOT_ABI_OK)
      return;
  }
  if (!variant->primitive.isEmpty)
    call->status = runVariant(state, operation, call->host, *variant, arguments,
                              message);
  if (!isFixed)
    releaseVariant(operation, variant);
}
