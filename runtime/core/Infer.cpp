//===- Infer.cpp - sizes and memory of a run, without running -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Bind.h"
#include "runtime/core/Context.h"
#include "runtime/core/Error.h"

#include <algorithm>
#include <stdlib.h>

using namespace ingot::rt;

namespace {

/// Computes the places that RunHeap would give to pieces in one unbounded
/// region, without real memory. Addresses start above 0, because the address 0
/// is null.
class HeapSketch {
public:
  HeapSketch() = default;
  HeapSketch(const HeapSketch &) = delete;
  HeapSketch &operator=(const HeapSketch &) = delete;
  ~HeapSketch() { free(pieces); }

  void *allocate(uint64_t bytes);
  void release(void *address);
  /// Returns the size of the region in bytes; 0 if it is empty, or UINT64_MAX
  /// if it depends on data.
  uint64_t bytes() const {
    return isUnknown ? UINT64_MAX : high ? RunHeap::regionBytes(high) : 0;
  }

private:
  struct Piece {
    uint64_t begin, end;
  };
  static constexpr uint64_t kFirst = INGOT_ABI_ALIGNMENT;
  static constexpr uint64_t kMost = uint64_t(1) << 62;

  /// Pieces by ascending address.
  Piece *pieces = nullptr;
  size_t count = 0, room = 0;
  uint64_t high = 0;
  bool isUnknown = false;
};

/// Buffers and sizes in one allocation.
class InferredBuffers {
public:
  InferredBuffers() = default;
  InferredBuffers(const InferredBuffers &) = delete;
  InferredBuffers &operator=(const InferredBuffers &) = delete;
  ~InferredBuffers() { free(memory); }

  ingot_status init(const ingot_abi_artifact &artifact, ingot_error *error);

  Buffers inputs, outputs;

private:
  void *memory = nullptr;
};

} // namespace

void *HeapSketch::allocate(uint64_t bytes) {
  if (bytes == UINT64_MAX) {
    isUnknown = true;
    return reinterpret_cast<void *>(kFirst);
  }
  if (count == room) {
    size_t more = std::max<size_t>(2 * room, 64);
    void *moved = realloc(pieces, more * sizeof(Piece));
    if (!moved)
      return nullptr;
    pieces = static_cast<Piece *>(moved);
    room = more;
  }
  uint64_t needed = RunHeap::pieceBytes(bytes), begin = kFirst;
  size_t at = 0;
  while (at < count && pieces[at].begin - begin < needed)
    begin = pieces[at++].end;
  if (needed > kMost || begin > kMost)
    return nullptr;
  memmove(pieces + at + 1, pieces + at, (count - at) * sizeof(Piece));
  pieces[at] = {begin, begin + needed};
  ++count;
  high = std::max(high, begin + needed - kFirst);
  return reinterpret_cast<void *>(begin);
}

void HeapSketch::release(void *address) {
  auto begin = reinterpret_cast<uint64_t>(address);
  for (size_t i = 0; i < count; ++i)
    if (pieces[i].begin == begin) {
      memmove(pieces + i, pieces + i + 1, (count - i - 1) * sizeof(Piece));
      --count;
      return;
    }
}

static void *sketchAllocate(void *user, uint64_t bytes, uint64_t) {
  return static_cast<HeapSketch *>(user)->allocate(bytes);
}

static void sketchRelease(void *user, void *address) {
  static_cast<HeapSketch *>(user)->release(address);
}

static void runTasks(void *, void (*task)(void *arg, int64_t index), void *arg,
                     int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    task(arg, i);
}

ingot_status InferredBuffers::init(const ingot_abi_artifact &artifact,
                                   ingot_error *error) {
  const Rows<ingot_abi_tensor> all[] = {inputsOf(artifact),
                                        outputsOf(artifact)};
  uint64_t words = 0;
  for (const Rows<ingot_abi_tensor> &tensors : all)
    for (uint32_t i = 0; i < tensors.count(); ++i)
      words += artifact.buffer_bytes / sizeof(int64_t) + tensors[i].rank;
  memory = calloc(std::max<uint64_t>(words, 1), sizeof(int64_t));
  if (!memory)
    return fail(error, INGOT_OUT_OF_MEMORY,
                "no memory for the sizes of inputs and outputs");
  auto *next = static_cast<int64_t *>(memory);
  for (Buffers *buffers : {&inputs, &outputs}) {
    const Rows<ingot_abi_tensor> &tensors = all[buffers == &outputs];
    *buffers = Buffers(next, artifact.buffer_bytes);
    next += tensors.count() * (artifact.buffer_bytes / sizeof(int64_t));
    for (uint32_t i = 0; i < tensors.count(); ++i) {
      (*buffers)[i].dims = next;
      for (uint32_t d = 0; d < tensors[i].rank; ++d)
        *next++ = tensors[i].dims[d];
    }
  }
  return INGOT_OK;
}

/// Calls the code that infers sizes. `heapBytes` receives the memory that a run
/// needs in addition to the arena.
static ingot_status infer(const ingot_model &model,
                          const InferredBuffers &buffers, uint64_t &heapBytes,
                          ingot_error *error) {
  HeapSketch heap;
  ingot_abi_host host = {sizeof(host),   1,             &heap,
                         sketchAllocate, sketchRelease, runTasks};
  char message[384];
  message[0] = '\0';
  ingot_abi_call call = {};
  call.struct_size = sizeof(call);
  call.host = &host;
  call.inputs = &buffers.inputs[0];
  call.outputs = &buffers.outputs[0];
  call.error = message;
  call.error_bytes = sizeof(message);
  if (int32_t status = model.code.infer(&call))
    return fail(error, status, "%s",
                message[0] ? message : ingot_status_describe(status));
  heapBytes = heap.bytes();
  return INGOT_OK;
}

/// The most bytes of an input: no machine has as many, and sums of some of them
/// do not overflow.
constexpr uint64_t kMaxInputBytes = uint64_t(1) << 56;

static ingot_status checkPossible(const ingot_abi_tensor &input,
                                  const int64_t *dims, ingot_error *error) {
  uint64_t bytes;
  if (tensorBytes(input.dtype, dims, input.rank, bytes) &&
      bytes <= kMaxInputBytes)
    return INGOT_OK;
  return fail(error, INGOT_INVALID_ARGUMENT, "%s is impossibly large",
              Label("input", input).text);
}

static bool isOpen(const ingot_abi_artifact &artifact) {
  for (const Rows<ingot_abi_tensor> &tensors :
       {inputsOf(artifact), outputsOf(artifact)})
    for (uint32_t i = 0; i < tensors.count(); ++i)
      if (isDynamic(tensors[i]))
        return true;
  return false;
}

ingot_status ingot_model_infer(const ingot_model *model,
                               const int64_t *const *inputDims,
                               const uint32_t *inputRanks, uint32_t numInputs,
                               int64_t *const *outputDims,
                               const uint32_t *outputRanks, uint32_t numOutputs,
                               uint64_t *arenaBytes, ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  if (!model->loaded)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model was opened to be described only");
  const ingot_abi_artifact &artifact = *model->artifact;
  if (ingot_status status =
          checkCounts(artifact, numInputs, numOutputs, error))
    return status;
  if ((inputDims && numInputs && !inputRanks) ||
      (outputDims && numOutputs && !outputRanks))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the ranks of the given dims are null");
  InferredBuffers buffers;
  if (ingot_status status = buffers.init(artifact, error))
    return status;
  Rows<ingot_abi_tensor> inputs = inputsOf(artifact);
  for (uint32_t i = 0; i < numInputs; ++i) {
    const int64_t *given = inputDims ? inputDims[i] : nullptr;
    if (!given && isDynamic(inputs[i]))
      return fail(error, INGOT_INVALID_ARGUMENT, "%s has null dims",
                  Label("input", inputs[i]).text);
    if (given)
      if (ingot_status status =
              checkRank(inputs[i], given, inputRanks[i], "input", error))
        return status;
    if (ingot_status status =
            checkDims(inputs[i], given, buffers.inputs[i].dims, error))
      return status;
    if (ingot_status status =
            checkPossible(inputs[i], buffers.inputs[i].dims, error))
      return status;
  }
  Rows<ingot_abi_tensor> outputs = outputsOf(artifact);
  for (uint32_t i = 0; i < numOutputs; ++i)
    if (int64_t *dims = outputDims ? outputDims[i] : nullptr)
      if (ingot_status status =
              checkRank(outputs[i], dims, outputRanks[i], "output", error))
        return status;
  uint64_t heapBytes = 0;
  if (model->code.infer) {
    if (ingot_status status = infer(*model, buffers, heapBytes, error))
      return status;
  } else if (isOpen(artifact)) {
    return fail(error, INGOT_VERSION_MISMATCH,
                "the model cannot infer sizes without a run; compile it again");
  }
  for (uint32_t i = 0; i < numOutputs; ++i)
    if (int64_t *dims = outputDims ? outputDims[i] : nullptr)
      for (uint32_t d = 0; d < outputs[i].rank; ++d)
        dims[d] = buffers.outputs[i].dims[d];
  if (arenaBytes)
    *arenaBytes = heapBytes == UINT64_MAX
                      ? heapBytes
                      : model->code.arena_bytes + heapBytes;
  return INGOT_OK;
}
