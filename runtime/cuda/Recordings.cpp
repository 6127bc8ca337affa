//===- Recordings.cpp - runs that are repeated ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <stdlib.h>

using namespace ingot::cuda;

static void releaseRecording(Run &run, Recording *recording, bool isOurs) {
  if (!recording)
    return;
  for (uint32_t i = 0; i < recording->numSegments; ++i)
    releaseSegment(run, recording->segments[i], isOurs);
  free(recording->segments);
  free(recording->stored);
  free(recording->sizes);
  free(recording->outputSizes);
  free(recording);
}

void ingot::cuda::releaseGraphs(Run &run, bool isOurs) {
  for (Recording *&recording : run.graphs.recordings) {
    releaseRecording(run, recording, isOurs);
    recording = nullptr;
  }
  run.graphs.pending.release();
}

/// Calls `visit` with each number that determines the work of a run. The
/// numbers are open sizes of inputs, and the memory of each open output.
template <typename Visit>
static void forEachSize(const ingot_cuda_program &program,
                        const ingot_abi_call &call, Visit visit) {
  for (uint32_t i = 0; i < program.num_inputs; ++i)
    if (program.input_bytes[i] == INGOT_CUDA_OPEN ||
        program.input_bytes[i] == INGOT_CUDA_STRINGS)
      for (uint32_t d = 0; d < program.input_ranks[i]; ++d)
        visit(call.inputs[i].dims[d]);
  for (uint32_t i = 0; i < program.num_outputs; ++i)
    if (program.output_bytes[i] == INGOT_CUDA_OPEN)
      visit(int64_t(call.outputs[i].memory));
}

/// Returns true if the recording is one of runs with these sizes.
static bool isOf(const Recording &recording, const ingot_cuda_program &program,
                 const ingot_abi_call &call) {
  bool isEqual = true;
  const int64_t *size = recording.sizes;
  forEachSize(program, call,
              [&](int64_t given) { isEqual &= *size++ == given; });
  return isEqual;
}

/// Returns a new recording in the place of the one that was not used for the
/// longest time, or null if there is no memory.
static Recording *makeRecording(Run &run, const ingot_abi_call &call) {
  const ingot_cuda_program &program = *run.state->program;
  Recording **oldest = run.graphs.recordings;
  for (Recording *&each : run.graphs.recordings)
    if (*oldest && (!each || each->lastUse < (*oldest)->lastUse))
      oldest = &each;
  size_t count = 0;
  forEachSize(program, call, [&](int64_t) { ++count; });
  auto *made = static_cast<Recording *>(calloc(1, sizeof(Recording)));
  auto *sizes = static_cast<int64_t *>(calloc(count + 1, sizeof(int64_t)));
  if (!made || !sizes) {
    free(made);
    free(sizes);
    return nullptr;
  }
  made->sizes = sizes;
  forEachSize(program, call, [&](int64_t given) { *sizes++ = given; });
  releaseRecording(run, *oldest, /*isOurs=*/true);
  return *oldest = made;
}

void ingot::cuda::beginGraphs(Run &run, const ingot_abi_call &call,
                              bool isDirect) {
  const ingot_cuda_program &program = *run.state->program;
  Graphs &graphs = run.graphs;
  graphs.current = nullptr;
  graphs.segment = 0;
  graphs.pending.clear();
  if (isDirect || !program.input_ranks)
    return;
  for (Recording *each : graphs.recordings)
    if (each && isOf(*each, program, call))
      graphs.current = each;
  if (!graphs.current)
    graphs.current = makeRecording(run, call);
  if (graphs.current)
    graphs.current->lastUse = ++graphs.uses;
}

/// Calls `visit` with each size of the outputs and its place in a recording.
template <typename Visit>
static void forEachOutputSize(const ingot_cuda_program &program,
                              const ingot_abi_buffer *outputs, Visit visit) {
  uint32_t place = 0;
  for (uint32_t i = 0; i < program.num_outputs; ++i)
    for (uint32_t d = 0; d < program.output_ranks[i]; ++d)
      visit(outputs[i].dims[d], place++);
}

/// Copies an output from GPU memory to host memory at `to`.
static int32_t copyOutput(Run &run, const StoredOutput &stored, void *to,
                          const Message &message) {
  return run.check(
      run.state->driver.cuMemcpyDtoHAsync_v2(to, translate(run, stored.from),
                                             stored.bytes, run.stream),
      "cuMemcpyDtoHAsync_v2", message, " for an output");
}

int32_t ingot::cuda::storeOutput(Run &run, uint32_t index, uint64_t bytes,
                                 uint64_t from, void *to,
                                 const Message &message) {
  if (from)
    if (int32_t status = flush(run, message))
      return status;
  const StoredOutput stored = {index, run.graphs.segment, bytes, from};
  if (Recording *recording = run.graphs.current) {
    void *moved = realloc(recording->stored,
                          (recording->numStored + 1) * sizeof(StoredOutput));
    if (!moved)
      return message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for a graph");
    recording->stored = static_cast<StoredOutput *>(moved);
    recording->stored[recording->numStored++] = stored;
  }
  return from ? copyOutput(run, stored, to, message) : int32_t(INGOT_ABI_OK);
}

int32_t ingot::cuda::endGraphs(Run &run, const ingot_abi_buffer *outputs,
                               const Message &message) {
  Recording *recording = run.graphs.current;
  if (!recording)
    return INGOT_ABI_OK;
  if (int32_t status = flush(run, message))
    return status;
  if (recording->needsHostCode)
    return INGOT_ABI_OK;
  const ingot_cuda_program &program = *run.state->program;
  uint32_t count = 0;
  forEachOutputSize(program, outputs, [&](int64_t &, uint32_t) { ++count; });
  if (!recording->outputSizes)
    recording->outputSizes =
        static_cast<int64_t *>(calloc(count + 1, sizeof(int64_t)));
  if (!recording->outputSizes)
    return INGOT_ABI_OK;
  forEachOutputSize(program, outputs, [&](int64_t &size, uint32_t place) {
    recording->outputSizes[place] = size;
  });
  recording->numUsed = run.graphs.segment;
  recording->heapBytes = run.heap.usedBytes();
  recording->isComplete = true;
  return INGOT_ABI_OK;
}

/// Returns true if the recording has all work of a run with these outputs.
/// Outputs without room need the host code, which says so.
static bool canRepeat(const Recording &recording,
                      const ingot_abi_buffer *outputs) {
  if (!recording.isComplete || recording.needsHostCode)
    return false;
  for (uint32_t i = 0; i < recording.numStored; ++i)
    if (outputs[recording.stored[i].index].bytes < recording.stored[i].bytes)
      return false;
  return true;
}

/// Does the work of a recording, whose heap has memory.
static int32_t repeatAll(Run &run, const Recording &recording,
                         const ingot_abi_buffer *outputs,
                         const Message &message) {
  run.addresses[run.numTensors()] = run.heap.version;
  const StoredOutput *stored = recording.stored,
                     *end = stored + recording.numStored;
  for (uint32_t i = 0;; ++i) {
    for (; stored != end && stored->segment == i; ++stored)
      if (int32_t status =
              stored->from ? copyOutput(run, *stored,
                                        outputs[stored->index].data, message)
                           : int32_t(INGOT_ABI_OK))
        return status;
    if (i == recording.numUsed)
      return INGOT_ABI_OK;
    if (int32_t status = repeat(run, recording.segments[i], message))
      return status;
  }
}

int32_t ingot::cuda::replay(Run &run, const ingot_abi_buffer *outputs,
                            bool &isDone, const Message &message) {
  Recording *recording = run.graphs.current;
  isDone = recording && canRepeat(*recording, outputs);
  if (!isDone) {
    // The host code records the work anew.
    if (recording) {
      recording->isComplete = false;
      recording->numStored = 0;
    }
    return INGOT_ABI_OK;
  }
  forEachOutputSize(*run.state->program, outputs,
                    [&](int64_t &size, uint32_t place) {
                      size = recording->outputSizes[place];
                    });
  const Result result =
      run.heap.reserve(run.state->driver, recording->heapBytes);
  int32_t status = run.state->check(result, "cuMemAlloc_v2", message,
                                    " for tensors of dynamic shape");
  if (!status)
    status = repeatAll(run, *recording, outputs, message);
  // After a failure, the next run makes the graphs again.
  recording->isComplete &= !status;
  return status;
}
