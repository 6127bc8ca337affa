//===- Graphs.h - recorded work of runs -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches and copies within GPU memory are collected as steps. Where the host
// needs a result, and at the end of the run, the steps become a graph, and the
// next graph begins. A session keeps the graphs for the last sizes of inputs. A
// later run of these sizes launches them again, and updates the nodes of steps
// that differ. If the host never needed a result, the later run does not even
// execute the host code.
//
// Host code sees tensors and the heap at addresses that are the same in all
// runs (`addressOfTensor`), so steps show which of them they use. The addresses
// are replaced when a node is made. A run without host code therefore needs a
// heap that is large enough, but none of its pieces.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_GRAPHS_H
#define INGOT_RUNTIME_CUDA_GRAPHS_H

#include "ingot/abi/cuda.h"
#include "runtime/cuda/DriverApi.h"

#include <stdint.h>

namespace ingot::cuda {

struct Message;
struct Run;

/// The number of sizes that a session keeps graphs for.
constexpr uint32_t mostRecordings = 16;

/// The most steps of a graph. A run that goes on for more without a wait, e.g.
/// a loop of many steps, does them one by one.
constexpr uint32_t mostSteps = 1 << 14;

/// The first address of tensors. A tensor has `1 << tensorShift` addresses.
constexpr uint64_t tensorBase = uint64_t(1) << 62;
constexpr unsigned tensorShift = 44;

/// Returns the address at which host code sees a tensor: an input, or an output
/// behind the inputs. The heap follows the outputs.
inline uint64_t addressOfTensor(uint32_t number) {
  return tensorBase + (uint64_t(number) << tensorShift);
}

/// A launch, or a copy within GPU memory.
struct Step {
  static constexpr uint32_t copy = UINT32_MAX;
  /// Number of the kernel, or `copy`.
  uint32_t kernel;
  /// Position of the parameters in `Steps::words`. A copy has two: its target
  /// and its source.
  uint32_t words;
  /// Blocks of a launch, or bytes of a copy.
  uint64_t size;
};

/// Work in the order in which it is done.
struct Steps {
  Step *steps;
  uint64_t *words;
  uint32_t count, room, numWords, wordRoom;

  /// Appends a step. Returns false if there is no memory.
  bool append(uint32_t kernel, uint64_t size, const uint64_t *parameters,
              uint32_t numParameters);
  void clear() { count = numWords = 0; }
  void release();
};

/// A graph, and the steps that its nodes stand for. A single step has none.
struct Segment {
  Steps steps;
  Graph graph;
  GraphExec exec;
  GraphNode *nodes;
  /// `Run::addresses` at the time when the nodes got theirs.
  DevicePointer *addresses;
  /// The number of runs whose steps did not fit the graph.
  uint32_t misfits;
};

/// An output of open size that host code has passed to the caller.
struct StoredOutput {
  uint32_t index;
  /// The number of segments whose work comes before.
  uint32_t segment;
  uint64_t bytes;
  /// The address that is copied to host memory. 0 if kernels write the output.
  uint64_t from;
};

/// The work of runs of some sizes.
struct Recording {
  /// Sizes of the inputs whose sizes are open, and the memory of each output
  /// whose size is open.
  int64_t *sizes;
  /// Sizes of all outputs.
  int64_t *outputSizes;
  Segment *segments;
  StoredOutput *stored;
  uint32_t numSegments, numStored;
  /// The segments of the last run that has succeeded.
  uint32_t numUsed;
  /// Bytes of the heap that the run needs.
  uint64_t heapBytes;
  /// True if the last run has succeeded, so that the other fields describe all
  /// of its work.
  bool isComplete;
  /// True if runs need the host code, not only the graphs.
  bool needsHostCode;
  /// Increases with each use.
  uint64_t lastUse;
};

/// The graphs of a session, and the steps of its current run.
struct Graphs {
  Recording *recordings[mostRecordings];
  /// The recording of the current run. Null if its work does not become graphs.
  Recording *current;
  /// Number of the next segment of the current run.
  uint32_t segment;
  Steps pending;
  uint64_t uses;
};

/// Begins a run: selects the recording for the sizes of its inputs, or makes
/// one. There is none if `isDirect`, or if the sizes are not known.
void beginGraphs(Run &run, const ingot_abi_call &call, bool isDirect);

/// Does the work of the current run without its host code, if its recording
/// allows that. Sets the sizes of outputs. Otherwise sets `isDone` to false.
int32_t replay(Run &run, const ingot_abi_buffer *outputs, bool &isDone,
               const Message &message);

/// Does the steps that are pending, before the host waits for them.
int32_t flush(Run &run, const Message &message);

/// Does the steps that are pending without a graph. Runs of these sizes then
/// need their host code.
int32_t launchPending(Run &run, const Message &message);

/// Does the steps of a segment again.
int32_t repeat(Run &run, Segment &segment, const Message &message);

/// Releases the graph and the steps of a segment. After a fork, `isOurs` is
/// false.
void releaseSegment(Run &run, Segment &segment, bool isOurs);

/// Remembers that host code passes output `index` of open size to the caller.
/// If `from` is not 0, does the pending steps and copies the bytes there to
/// host memory at `to`.
int32_t storeOutput(Run &run, uint32_t index, uint64_t bytes, uint64_t from,
                    void *to, const Message &message);

/// Ends a run whose host code has succeeded: does the pending steps and keeps
/// the sizes of outputs.
int32_t endGraphs(Run &run, const ingot_abi_buffer *outputs,
                  const Message &message);

/// Says that the host code of the run does more than to launch kernels, and to
/// allocate memory for them.
inline void needHostCode(Graphs &graphs) {
  if (graphs.current)
    graphs.current->needsHostCode = true;
}

/// Releases all graphs of a session. After a fork, `isOurs` is false.
void releaseGraphs(Run &run, bool isOurs);

/// Returns the address in GPU memory that host code sees as `word`.
uint64_t translate(const Run &run, uint64_t word);

/// Does one launch or copy now.
int32_t doStep(Run &run, uint32_t kernel, uint64_t size, const uint64_t *words,
               const Message &message);

/// Does a launch or copy, or collects it for a graph.
int32_t addStep(Run &run, uint32_t kernel, uint64_t size, const uint64_t *words,
                uint32_t numWords, const Message &message);

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_GRAPHS_H
