//===- Bind.cpp - checking the buffers of a run ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Artifact.h"
#include "runtime/core/Bind.h"
#include "runtime/core/Context.h"
#include "runtime/core/Error.h"

#include <stdio.h>

using namespace ingot::rt;

Label::Label(const char *kind, const ingot_abi_tensor &tensor) {
  snprintf(text, sizeof(text), "%s '%s'", kind, tensor.name);
}

static unsigned long long ull(uint64_t value) { return value; }

/// Formats sizes as "2x3x?" for messages. If `given`, the sizes come from a
/// caller, and -1 is printed as it is.
static const char *formatDims(const int64_t *dims, uint32_t rank, char *text,
                              size_t room, bool given = false) {
  size_t used = 0;
  snprintf(text, room, "scalar");
  for (uint32_t i = 0; i < rank && used < room; ++i)
    used +=
        size_t(dims[i] == INGOT_ABI_DYNAMIC && !given
                   ? snprintf(text + used, room - used, "%s?", i ? "x" : "")
                   : snprintf(text + used, room - used, "%s%lld", i ? "x" : "",
                              static_cast<long long>(dims[i])));
  return text;
}

//===----------------------------------------------------------------------===//
// Matching of the caller's structs and tensors
//===----------------------------------------------------------------------===//

/// Reads a struct from the caller's array. All structs of an array have the
/// size that the caller's header defines.
template <typename Tensor>
static ingot_status readRow(const Tensor *structs, uint32_t index,
                            const char *what, Tensor &row, ingot_error *error) {
  uint32_t size = structs->struct_size;
  if (size % alignof(Tensor))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s.struct_size is %u; initialise the struct with its "
                "INGOT_..._INIT macro",
                what, size);
  auto *given = reinterpret_cast<const Tensor *>(
      reinterpret_cast<const char *>(structs) + size_t(index) * size);
  if (given->struct_size != size)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s %u has struct_size %u, but the first has %u; initialise "
                "each with its INGOT_..._INIT macro",
                what, index, given->struct_size, size);
  // Fields that the caller's header does not have keep their defaults.
  if (size != sizeof(Tensor))
    row = {};
  if (ingot_status status = readOptions(given, row, what, error))
    return status;
  if (row.reserved0)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s: reserved fields must be zero", what);
  return INGOT_OK;
}

/// Sets `given[i]` to the struct of the i-th tensor, by name.
template <typename Tensor>
static ingot_status matchNames(const Tensor *structs,
                               Rows<ingot_abi_tensor> tensors, Tensor *given,
                               const char *kind, const char *what,
                               ingot_error *error) {
  uint32_t count = tensors.count();
  for (uint32_t i = 0; i < count; ++i)
    given[i].struct_size = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Tensor row;
    if (ingot_status status = readRow(structs, i, what, row, error))
      return status;
    if (!row.name)
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "name all %ss or none, but %s %u has no name", kind, kind, i);
    uint32_t at = 0;
    while (at < count && strcmp(tensors[at].name, row.name))
      ++at;
    if (at == count)
      return fail(error, INGOT_NOT_FOUND, "the model has no %s '%.160s'", kind,
                  row.name);
    if (given[at].struct_size)
      return fail(error, INGOT_INVALID_ARGUMENT, "%s '%.160s' is given twice",
                  kind, row.name);
    given[at] = row;
  }
  return INGOT_OK;
}

/// Sets `given[i]` to the struct of the i-th tensor: by name if the first
/// struct has a name, else by position.
template <typename Tensor>
static ingot_status match(const Tensor *structs, Rows<ingot_abi_tensor> tensors,
                          Tensor *given, const char *kind, const char *what,
                          ingot_error *error) {
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    if (ingot_status status = readRow(structs, i, what, given[i], error))
      return status;
    if (!given[i].name)
      continue;
    if (i == 0)
      return matchNames(structs, tensors, given, kind, what, error);
    return fail(error, INGOT_INVALID_ARGUMENT,
                "name all %ss or none, but %s %u has one", kind, kind, i);
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

/// Checks that only strings have text, and that buffers of strings are in host
/// memory.
template <typename Tensor>
static ingot_status checkText(const ingot_abi_tensor &tensor,
                              const Tensor &given, const char *kind,
                              ingot_error *error) {
  bool isString = tensor.dtype == INGOT_STRING;
  if (!isString && (given.text || given.text_bytes))
    return fail(error, INGOT_INVALID_ARGUMENT, "%s is %s, which has no text",
                Label(kind, tensor).text, ingot_dtype_name(tensor.dtype));
  if (isString && !given.text && given.text_bytes)
    return fail(error, INGOT_INVALID_ARGUMENT, "%s has null text",
                Label(kind, tensor).text);
  return INGOT_OK;
}

ingot_status ingot::rt::checkRank(const ingot_abi_tensor &tensor,
                                  const int64_t *dims, uint32_t rank,
                                  const char *kind, ingot_error *error) {
  if (!dims && rank == 0 && (tensor.rank == 0 || !isDynamic(tensor)))
    return INGOT_OK;
  if (rank != tensor.rank)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s has rank %u, but %u was given", Label(kind, tensor).text,
                tensor.rank, rank);
  if (!dims && rank)
    return fail(error, INGOT_INVALID_ARGUMENT, "%s has null dims",
                Label(kind, tensor).text);
  return INGOT_OK;
}

ingot_status ingot::rt::checkDims(const ingot_abi_tensor &tensor,
                                  const int64_t *dims, int64_t *sizes,
                                  ingot_error *error) {
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    sizes[i] = dims ? dims[i] : tensor.dims[i];
    if (sizes[i] >= 0 &&
        (tensor.dims[i] == INGOT_ABI_DYNAMIC || tensor.dims[i] == sizes[i]))
      continue;
    char expected[96], actual[96];
    return fail(
        error, INGOT_INVALID_ARGUMENT, "%s has shape %s, but %s was given",
        Label("input", tensor).text,
        formatDims(tensor.dims, tensor.rank, expected, sizeof(expected)),
        formatDims(dims, tensor.rank, actual, sizeof(actual), true));
  }
  return INGOT_OK;
}

/// Checks that the variant's code can access a tensor: its location and its
/// strides must be supported.
template <typename Tensor>
static ingot_status checkPlace(const ingot_abi_tensor &tensor,
                               const Tensor &given,
                               const ingot_abi_variant &code, const char *kind,
                               ingot_error *error) {
  if (given.memory >= 32 || !(code.memories & (1u << given.memory)))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s lies in %s, which the code in use (%s) cannot reach",
                Label(kind, tensor).text,
                given.memory == INGOT_MEMORY_HOST   ? "host memory"
                : given.memory == INGOT_MEMORY_CUDA ? "CUDA memory"
                                                    : "unknown memory",
                code.target);
  if (given.memory == INGOT_MEMORY_HOST && given.device)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s lies in host memory, which has no device %u",
                Label(kind, tensor).text, given.device);
  if (given.strides && !(code.flags & INGOT_ABI_VARIANT_STRIDES))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s has strides, but the code in use (%s) takes dense tensors "
                "only; leave strides null",
                Label(kind, tensor).text, code.target);
  return INGOT_OK;
}

template <typename Tensor>
static void setPlace(ingot_abi_buffer &buffer, const Tensor &given) {
  buffer.strides = given.strides;
  buffer.memory = given.memory;
  buffer.device = given.device;
}

//===----------------------------------------------------------------------===//
// Checks of a run
//===----------------------------------------------------------------------===//

ingot_status ingot::rt::checkCounts(const ingot_abi_artifact &artifact,
                                    uint32_t numInputs, uint32_t numOutputs,
                                    ingot_error *error) {
  if (numInputs != artifact.inputs.count)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model has %u inputs, but %u were given",
                artifact.inputs.count, numInputs);
  if (numOutputs != artifact.outputs.count)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model has %u outputs, but %u were given",
                artifact.outputs.count, numOutputs);
  return INGOT_OK;
}

ingot_status ingot_context::bindInputs(const ingot_input *inputs,
                                       ingot_error *error) {
  Rows<ingot_abi_tensor> tensors = inputsOf(*model->artifact);
  if (ingot_status status =
          match(inputs, tensors, givenInputs, "input", "ingot_input", error))
    return status;
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    const ingot_abi_tensor &tensor = tensors[i];
    const ingot_input &given = givenInputs[i];
    ingot_abi_buffer &buffer = inputBuffers[i];
    if (ingot_status status = checkType(tensor, given.dtype, "input", error))
      return status;
    if (ingot_status status =
            checkPlace(tensor, given, model->code, "input", error))
      return status;
    if (ingot_status status =
            checkRank(tensor, given.dims, given.rank, "input", error))
      return status;
    if (ingot_status status = checkDims(tensor, given.dims, buffer.dims, error))
      return status;
    uint64_t needed;
    if (!tensorBytes(tensor.dtype, buffer.dims, tensor.rank, needed))
      return fail(error, INGOT_INVALID_ARGUMENT, "%s is impossibly large",
                  Label("input", tensor).text);
    // With strides, there may be gaps between elements.
    if (given.strides ? given.bytes < needed : given.bytes != needed) {
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
    if (ingot_status status = checkText(tensor, given, "input", error))
      return status;
    buffer.data = const_cast<void *>(given.data);
    buffer.bytes = given.bytes;
    setPlace(buffer, given);
    // Read the text fields only for strings, because in artifacts without
    // strings the buffer may lack these fields.
    if (tensor.dtype == INGOT_STRING) {
      buffer.text = const_cast<char *>(given.text);
      buffer.text_bytes = given.text_bytes;
    }
  }
  return INGOT_OK;
}

ingot_status ingot_context::bindOutputs(const ingot_output *outputs,
                                        ingot_error *error) {
  Rows<ingot_abi_tensor> tensors = outputsOf(*model->artifact);
  if (ingot_status status = match(outputs, tensors, givenOutputs, "output",
                                  "ingot_output", error))
    return status;
  constexpr uint32_t none = UINT32_MAX;
  uint32_t tooSmall = none;
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    const ingot_abi_tensor &tensor = tensors[i];
    const ingot_output &given = givenOutputs[i];
    ingot_abi_buffer &buffer = outputBuffers[i];
    if (ingot_status status = checkType(tensor, given.dtype, "output", error))
      return status;
    if (ingot_status status =
            checkPlace(tensor, given, model->code, "output", error))
      return status;
    if (ingot_status status =
            checkRank(tensor, given.dims, given.rank, "output", error))
      return status;
    if (ingot_status status =
            checkPointer(tensor, given.data, given.bytes, "output", error))
      return status;
    if (ingot_status status = checkText(tensor, given, "output", error))
      return status;
    buffer.data = given.data;
    buffer.bytes = given.bytes;
    setPlace(buffer, given);
    if (tensor.dtype == INGOT_STRING) {
      buffer.text = given.text;
      buffer.text_bytes = given.text_bytes;
      buffer.text_used = given.text_used;
      if (given.text_used)
        *given.text_used = 0;
    }
    for (uint32_t d = 0; d < tensor.rank; ++d)
      buffer.dims[d] = tensor.dims[d];
    uint64_t needed;
    if (!isDynamic(tensor) &&
        tensorBytes(tensor.dtype, tensor.dims, tensor.rank, needed) &&
        given.bytes < needed && tooSmall == none)
      tooSmall = i;
  }
  if (ingot_status status = checkOverlaps(error))
    return status;
  if (tooSmall == none)
    return INGOT_OK;
  const ingot_abi_tensor &tensor = tensors[tooSmall];
  uint64_t needed = 0;
  tensorBytes(tensor.dtype, tensor.dims, tensor.rank, needed);
  reportDims();
  return fail(error, INGOT_BUFFER_TOO_SMALL,
              "%s needs %llu bytes, but there is room for %llu",
              Label("output", tensor).text, ull(needed),
              ull(outputBuffers[tooSmall].bytes));
}

static bool overlap(const void *a, uint64_t bytesOfA, const void *b,
                    uint64_t bytesOfB) {
  auto startA = reinterpret_cast<uintptr_t>(a);
  auto startB = reinterpret_cast<uintptr_t>(b);
  return startA <= startB ? startB - startA < bytesOfA && bytesOfB
                          : startA - startB < bytesOfB && bytesOfA;
}

/// Returns true if an output overlaps another buffer. Only buffers of strings
/// have text.
static bool overlap(const ingot_abi_buffer &a, bool aIsString,
                    const ingot_abi_buffer &b, bool bIsString) {
  if (a.memory != b.memory || a.device != b.device)
    return false;
  return overlap(a.data, a.bytes, b.data, b.bytes) ||
         (aIsString && overlap(a.text, a.text_bytes, b.data, b.bytes)) ||
         (bIsString && overlap(a.data, a.bytes, b.text, b.text_bytes)) ||
         (aIsString && bIsString &&
          overlap(a.text, a.text_bytes, b.text, b.text_bytes));
}

/// Checks that outputs do not overlap other buffers, because the code may still
/// read inputs while it writes outputs.
ingot_status ingot_context::checkOverlaps(ingot_error *error) const {
  Rows<ingot_abi_tensor> inputs = inputsOf(*model->artifact);
  Rows<ingot_abi_tensor> outputs = outputsOf(*model->artifact);
  for (uint32_t i = 0; i < outputs.count(); ++i) {
    const ingot_abi_buffer &own = outputBuffers[i];
    bool isString = outputs[i].dtype == INGOT_STRING;
    if (isString && overlap(own.data, own.bytes, own.text, own.text_bytes))
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "%s has text that overlaps its offsets in memory",
                  Label("output", outputs[i]).text);
    for (uint32_t k = 0; k < inputs.count(); ++k)
      if (overlap(own, isString, inputBuffers[k],
                  inputs[k].dtype == INGOT_STRING))
        return fail(error, INGOT_INVALID_ARGUMENT, "%s overlaps %s in memory",
                    Label("output", outputs[i]).text,
                    Label("input", inputs[k]).text);
    for (uint32_t k = 0; k < i; ++k)
      if (overlap(own, isString, outputBuffers[k],
                  outputs[k].dtype == INGOT_STRING))
        return fail(error, INGOT_INVALID_ARGUMENT, "%s overlaps %s in memory",
                    Label("output", outputs[i]).text,
                    Label("output", outputs[k]).text);
  }
  return INGOT_OK;
}

void ingot_context::reportDims() const {
  Rows<ingot_abi_tensor> tensors = outputsOf(*model->artifact);
  for (uint32_t i = 0; i < tensors.count(); ++i)
    if (int64_t *dims = givenOutputs[i].dims)
      for (uint32_t d = 0; d < tensors[i].rank; ++d)
        dims[d] = outputBuffers[i].dims[d];
}

ingot_status ingot_context::reportTooSmall(ingot_error *error) const {
  Rows<ingot_abi_tensor> tensors = outputsOf(*model->artifact);
  reportDims();
  for (uint32_t i = 0; i < tensors.count(); ++i) {
    const ingot_abi_tensor &tensor = tensors[i];
    const ingot_abi_buffer &buffer = outputBuffers[i];
    uint64_t needed;
    char shape[96];
    if (tensorBytes(tensor.dtype, buffer.dims, tensor.rank, needed) &&
        needed > buffer.bytes)
      return fail(error, INGOT_BUFFER_TOO_SMALL,
                  "%s of shape %s needs %llu bytes, but there is room for %llu",
                  Label("output", tensor).text,
                  formatDims(buffer.dims, tensor.rank, shape, sizeof(shape)),
                  ull(needed), ull(buffer.bytes));
    if (tensor.dtype == INGOT_STRING && buffer.text_used &&
        *buffer.text_used > buffer.text_bytes)
      return fail(error, INGOT_BUFFER_TOO_SMALL,
                  "%s needs %llu bytes of text, but there is room for %llu",
                  Label("output", tensor).text, ull(*buffer.text_used),
                  ull(buffer.text_bytes));
  }
  return fail(error, INGOT_BUFFER_TOO_SMALL,
              "an output needs more room than was given");
}
