//===- Run.cpp - checking buffers and running -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"
#include "runtime/core/Context.h"
#include "runtime/core/Error.h"
#include "runtime/host/LibraryThreads.h"

#include <stdio.h>

using namespace ingot::rt;

namespace {
/// The name by which messages call a tensor, cut to fit them.
struct Label {
  Label(const char *kind, const ingot_abi_tensor &tensor) {
    snprintf(text, sizeof(text), "%s '%s'", kind, tensor.name);
  }
  char text[160];
};
} // namespace

static unsigned long long ull(uint64_t value) { return value; }

/// Writes sizes as "2x3x?" for messages; in what a caller gave, -1 is no "?".
static const char *formatDims(const int64_t *dims, uint32_t rank, char *text,
                              size_t room, bool given = false) {
  size_t used = 0;
  snprintf(text, room, "scalar");
  for (uint32_t i = 0; i < rank && used < room; ++i)
    used += size_t(dims[i] == INGOT_ABI_DYNAMIC && !given
                       ? snprintf(text + used, room - used, "%s?", i ? "x" : "")
                       : snprintf(text + used, room - used, "%s%lld",
                                  i ? "x" : "",
                                  static_cast<long long>(dims[i])));
  return text;
}

//===----------------------------------------------------------------------===//
// Which struct of the caller is which tensor
//===----------------------------------------------------------------------===//

/// Fills `given[i]` with the struct for the i-th tensor, by name or by place.
template <typename Tensor>
static ingot_status match(const Tensor *structs, uint32_t count,
                          const ingot_abi_tensor *tensors, const Tensor **given,
                          const char *kind, ingot_error *error) {
  bool named = count && structs[0].name;
  for (uint32_t i = 0; i < count; ++i)
    given[i] = named ? nullptr : &structs[i];
  for (uint32_t i = 0; i < count; ++i) {
    if (!structs[i].name != !named)
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "name all %ss or none, but %s %u %s", kind, kind, i,
                  named ? "has no name" : "has one");
    if (!named)
      continue;
    uint32_t at = 0;
    while (at < count && strcmp(tensors[at].name, structs[i].name))
      ++at;
    if (at == count)
      return fail(error, INGOT_NOT_FOUND, "the model has no %s '%.160s'", kind,
                  structs[i].name);
    if (given[at])
      return fail(error, INGOT_INVALID_ARGUMENT, "%s '%.160s' is given twice",
                  kind, structs[i].name);
    given[at] = &structs[i];
  }
  return INGOT_OK;
}

//===----------------------------------------------------------------------===//
// Checks of one tensor
//===----------------------------------------------------------------------===//

static ingot_status checkType(const ingot_abi_tensor &tensor, uint32_t dtype,
                              const char *kind, ingot_error *error) {
  if (dtype == tensor.dtype)
    return INGOT_OK;
  return fail(error, INGOT_INVALID_ARGUMENT, "%s is %s, but %s was given",
              Label(kind, tensor).text, ingot_dtype_name(tensor.dtype),
              ingot_dtype_name(dtype));
}

static ingot_status checkPointer(const ingot_abi_tensor &tensor,
                                 const void *data, uint64_t bytes,
                                 const char *kind, ingot_error *error) {
  uint32_t alignment = ingot_dtype_size(tensor.dtype);
  if (!data && bytes)
    return fail(error, INGOT_INVALID_ARGUMENT, "%s has null data",
                Label(kind, tensor).text);
  if (reinterpret_cast<uintptr_t>(data) % alignment)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s is not aligned to its element size, %u bytes",
                Label(kind, tensor).text, alignment);
  return INGOT_OK;
}

static ingot_status checkRank(const ingot_abi_tensor &tensor,
                              const int64_t *dims, uint32_t rank,
                              const char *kind, ingot_error *error) {
  if (!dims && rank == 0 && (tensor.rank == 0 || !isDynamic(tensor)))
    return INGOT_OK;
  if (rank != tensor.rank)
    return fail(error, INGOT_INVALID_ARGUMENT, "%s has rank %u, but %u was given",
                Label(kind, tensor).text, tensor.rank, rank);
  if (!dims && rank)
    return fail(error, INGOT_INVALID_ARGUMENT, "%s has null dims",
                Label(kind, tensor).text);
  return INGOT_OK;
}

/// Checks the sizes given for an input and copies them to `sizes`.
static ingot_status checkDims(const ingot_abi_tensor &tensor,
                              const int64_t *dims, int64_t *sizes,
                              ingot_error *error) {
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    sizes[i] = dims ? dims[i] : tensor.dims[i];
    if (sizes[i] >= 0 &&
        (tensor.dims[i] == INGOT_ABI_DYNAMIC || tensor.dims[i] == sizes[i]))
      continue;
    char expected[96], actual[96];
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s has shape %s, but %s was given",
                Label("input", tensor).text,
                formatDims(tensor.dims, tensor.rank, expected,
                           sizeof(expected)),
                formatDims(dims, tensor.rank, actual, sizeof(actual), true));
  }
  return INGOT_OK;
}

//===----------------------------------------------------------------------===//
// Checks of a run
//===----------------------------------------------------------------------===//

ingot_status ingot_context::bindInputs(const ingot_input *inputs,
                                       ingot_error *error) {
  const ingot_abi_artifact &artifact = *model->artifact;
  if (ingot_status status = match(inputs, artifact.num_inputs, artifact.inputs,
                                  givenInputs, "input", error))
    return status;
  for (uint32_t i = 0; i < artifact.num_inputs; ++i) {
    const ingot_abi_tensor &tensor = artifact.inputs[i];
    const ingot_input &given = *givenInputs[i];
    ingot_abi_buffer &buffer = inputBuffers[i];
    if (ingot_status status = checkType(tensor, given.dtype, "input", error))
      return status;
    if (ingot_status status =
            checkRank(tensor, given.dims, given.rank, "input", error))
      return status;
    if (ingot_status status =
            checkDims(tensor, given.dims, buffer.dims, error))
      return status;
    uint64_t needed;
    if (!tensorBytes(tensor.dtype, buffer.dims, tensor.rank, needed))
      return fail(error, INGOT_INVALID_ARGUMENT, "%s is impossibly large",
                  Label("input", tensor).text);
    if (given.bytes != needed) {
      char shape[96];
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "%s of shape %s needs %llu bytes, but %llu were given",
                  Label("input", tensor).text,
                  formatDims(buffer.dims, tensor.rank, shape, sizeof(shape)),
                  ull(needed), ull(given.bytes));
    }
    if (ingot_status status =
            checkPointer(tensor, given.data, needed, "input", error))
      return status;
    buffer.data = const_cast<void *>(given.data);
    buffer.bytes = needed;
  }
  return INGOT_OK;
}

ingot_status ingot_context::bindOutputs(const ingot_output *outputs,
                                        ingot_error *error) {
  const ingot_abi_artifact &artifact = *model->artifact;
  if (ingot_status status =
          match(outputs, artifact.num_outputs, artifact.outputs, givenOutputs,
                "output", error))
    return status;
  uint32_t tooSmall = UINT32_MAX;
  for (uint32_t i = 0; i < artifact.num_outputs; ++i) {
    const ingot_abi_tensor &tensor = artifact.outputs[i];
    const ingot_output &given = *givenOutputs[i];
    ingot_abi_buffer &buffer = outputBuffers[i];
    if (ingot_status status = checkType(tensor, given.dtype, "output", error))
      return status;
    if (ingot_status status =
            checkRank(tensor, given.dims, given.rank, "output", error))
      return status;
    if (ingot_status status =
            checkPointer(tensor, given.data, given.bytes, "output", error))
      return status;
    buffer.data = given.data;
    buffer.bytes = given.bytes;
    for (uint32_t d = 0; d < tensor.rank; ++d)
      buffer.dims[d] = tensor.dims[d];
    uint64_t needed;
    if (!isDynamic(tensor) &&
        tensorBytes(tensor.dtype, tensor.dims, tensor.rank, needed) &&
        given.bytes < needed && tooSmall == UINT32_MAX)
      tooSmall = i;
  }
  if (ingot_status status = checkOverlaps(error))
    return status;
  if (tooSmall == UINT32_MAX)
    return INGOT_OK;
  const ingot_abi_tensor &tensor = artifact.outputs[tooSmall];
  uint64_t needed = 0;
  tensorBytes(tensor.dtype, tensor.dims, tensor.rank, needed);
  reportDims();
  return fail(error, INGOT_BUFFER_TOO_SMALL,
              "%s needs %llu bytes, but there is room for %llu",
              Label("output", tensor).text, ull(needed),
              ull(outputBuffers[tooSmall].bytes));
}

static bool overlap(const ingot_abi_buffer &a, const ingot_abi_buffer &b) {
  auto startA = reinterpret_cast<uintptr_t>(a.data);
  auto startB = reinterpret_cast<uintptr_t>(b.data);
  return startA <= startB ? startB - startA < a.bytes && b.bytes
                          : startA - startB < b.bytes && a.bytes;
}

/// The code reads inputs after it began to write outputs.
ingot_status ingot_context::checkOverlaps(ingot_error *error) const {
  const ingot_abi_artifact &artifact = *model->artifact;
  for (uint32_t i = 0; i < artifact.num_outputs; ++i) {
    for (uint32_t k = 0; k < artifact.num_inputs; ++k)
      if (overlap(outputBuffers[i], inputBuffers[k]))
        return fail(error, INGOT_INVALID_ARGUMENT, "%s overlaps %s in memory",
                    Label("output", artifact.outputs[i]).text,
                    Label("input", artifact.inputs[k]).text);
    for (uint32_t k = 0; k < i; ++k)
      if (overlap(outputBuffers[i], outputBuffers[k]))
        return fail(error, INGOT_INVALID_ARGUMENT, "%s overlaps %s in memory",
                    Label("output", artifact.outputs[i]).text,
                    Label("output", artifact.outputs[k]).text);
  }
  return INGOT_OK;
}

void ingot_context::reportDims() const {
  for (uint32_t i = 0; i < model->artifact->num_outputs; ++i)
    if (givenOutputs[i]->dims)
      memcpy(givenOutputs[i]->dims, outputBuffers[i].dims,
             model->artifact->outputs[i].rank * sizeof(int64_t));
}

/// Which output was too small, for the message.
static ingot_status reportTooSmall(const ingot_context &context,
                                   ingot_error *error) {
  const ingot_abi_artifact &artifact = *context.model->artifact;
  for (uint32_t i = 0; i < artifact.num_outputs; ++i) {
    const ingot_abi_tensor &tensor = artifact.outputs[i];
    const ingot_abi_buffer &buffer = context.outputBuffers[i];
    uint64_t needed;
    char shape[96];
    if (tensorBytes(tensor.dtype, buffer.dims, tensor.rank, needed) &&
        needed > buffer.bytes)
      return fail(error, INGOT_BUFFER_TOO_SMALL,
                  "%s of shape %s needs %llu bytes, but there is room for %llu",
                  Label("output", tensor).text,
                  formatDims(buffer.dims, tensor.rank, shape, sizeof(shape)),
                  ull(needed), ull(buffer.bytes));
  }
  return fail(error, INGOT_BUFFER_TOO_SMALL,
              "an output needs more room than was given");
}

ingot_status ingot_context::run(const ingot_input *inputs,
                                const ingot_output *outputs,
                                ingot_error *error) {
  if (profile.isOn())
    profile.beginRun();
  if (ingot_status status = bindInputs(inputs, error))
    return status;
  if (ingot_status status = bindOutputs(outputs, error))
    return status;
  char message[384] = "";
  if ((model->artifact->flags & INGOT_ABI_FLAG_ONEDNN) &&
      libraryThreadsLostByFork())
    host.num_threads = 1;
  ingot_abi_call call = {};
  call.struct_size = sizeof(call);
  call.host = &host;
  call.weights = model->weights;
  call.state = model->state;
  call.arena = arena;
  call.inputs = inputBuffers;
  call.outputs = outputBuffers;
  call.error = message;
  call.error_bytes = sizeof(message);
  call.profile = profile.isOn() ? profile.sink() : nullptr;
  int32_t status = model->code.run(&call);
  blocks.endRun();
  if (profile.isOn())
    profile.endRun(status == INGOT_OK);
  if (status == INGOT_OK) {
    reportDims();
    return INGOT_OK;
  }
  if (status == INGOT_BUFFER_TOO_SMALL) {
    reportDims();
    return reportTooSmall(*this, error);
  }
  return fail(error, status, "%s",
              message[0] ? message : ingot_status_describe(status));
}

ingot_status ingot_context_run(ingot_context *context,
                               const ingot_input *inputs, uint32_t numInputs,
                               const ingot_output *outputs, uint32_t numOutputs,
                               ingot_error *error) {
  if (!context)
    return fail(error, INGOT_INVALID_ARGUMENT, "context is null");
  const ingot_abi_artifact &artifact = *context->model->artifact;
  if (numInputs != artifact.num_inputs)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model has %u inputs, but %u were given",
                artifact.num_inputs, numInputs);
  if (numOutputs != artifact.num_outputs)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model has %u outputs, but %u were given",
                artifact.num_outputs, numOutputs);
  if ((numInputs && !inputs) || (numOutputs && !outputs))
    return fail(error, INGOT_INVALID_ARGUMENT, "inputs or outputs are null");
  if (context->running.exchange(true, std::memory_order_acquire))
    return fail(error, INGOT_BUSY,
                "the context is running in another thread; make one context "
                "for each thread");
  ingot_status status = context->run(inputs, outputs, error);
  context->running.store(false, std::memory_order_release);
  return status;
}
