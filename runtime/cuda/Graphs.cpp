//===- Graphs.cpp - graphs of a session -----------------------------------===//
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

/// The fewest steps that become a graph. A single launch is as fast alone.
static constexpr uint32_t leastSteps = 2;

/// The number of runs whose steps may differ from the graph. Later runs launch
/// the steps one by one, because making graphs costs more than it saves.
static constexpr uint32_t mostMisfits = 4;

/// Returns the size of `Run::addresses`.
static size_t numAddresses(const Run &run) { return run.numTensors() + 1; }

static uint32_t countWords(const Run &run, const Step &step) {
  return step.kernel == Step::copy
             ? 2
             : run.state->program->kernels[step.kernel].num_parameters;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Writes where a call failed.
static void describe(const Run &run, const Step &step, char *place) {
  if (step.kernel != Step::copy)
    return describeKernel(run.state->program->kernels[step.kernel], place);
  snprintf(place, placeBytes, " for a copy of %llu bytes",
           static_cast<unsigned long long>(step.size));
}

/// Writes the range of the model that a graph computes.
static void describe(const Run &run, const Steps &steps, char *place) {
  const ingot_cuda_kernel *first = nullptr, *last = nullptr;
  for (uint32_t i = 0; i < steps.count; ++i) {
    if (steps.steps[i].kernel == Step::copy)
      continue;
    last = &run.state->program->kernels[steps.steps[i].kernel];
    first = first ? first : last;
  }
  snprintf(place, placeBytes,
           " for a graph of %u nodes, from kernel '%s' of node '%s' to node "
           "'%s'",
           steps.count, first ? first->name : "", first ? first->node : "",
           last ? last->node : "");
}

static CopyNode makeCopy(const Run &run, const Step &step,
                         const uint64_t *words) {
  CopyNode node = {};
  node.target.type = node.source.type = memoryDevice;
  node.target.device = translate(run, words[0]);
  node.source.device = translate(run, words[1]);
  node.bytes = step.size;
  node.height = node.depth = 1;
  return node;
}

static KernelNode makeKernel(const Run &run, const Step &step,
                             KernelArguments &arguments) {
  const ingot_cuda_kernel &kernel = run.state->program->kernels[step.kernel];
  KernelNode node = {};
  node.function = run.state->functions[step.kernel];
  node.gridX = unsigned(step.size);
  node.gridY = node.gridZ = node.blockY = node.blockZ = 1;
  node.blockX = kernel.threads;
  node.sharedBytes = kernel.shared_bytes;
  node.parameters = arguments.pointers;
  return node;
}

namespace {
/// A function of the driver that adds or updates a node, and its name.
template <typename Function>
struct NodeCall {
  const char *name;
  Function function;
};
template <typename Function>
NodeCall(const char *, Function) -> NodeCall<Function>;
} // namespace

/// Calls `onKernel` or `onCopy` with the parameters for a step.
template <typename OnKernel, typename OnCopy>
static int32_t withNode(Run &run, const Steps &steps, uint32_t number,
                        NodeCall<OnKernel> onKernel, NodeCall<OnCopy> onCopy,
                        const Message &message) {
  const Step &step = steps.steps[number];
  const uint64_t *words = steps.words + step.words;
  const char *call = onCopy.name;
  Result result;
  if (step.kernel == Step::copy) {
    const CopyNode node = makeCopy(run, step, words);
    result = onCopy.function(node);
  } else {
    KernelArguments arguments(run, run.state->program->kernels[step.kernel],
                              words);
    const KernelNode node = makeKernel(run, step, arguments);
    result = onKernel.function(node);
    call = onKernel.name;
  }
  if (!result)
    return INGOT_ABI_OK;
  char place[placeBytes];
  describe(run, step, place);
  return run.state->check(result, call, message, place);
}

/// Adds a node for each step. Each depends on the one before it.
static int32_t addNodes(Run &run, Segment &segment, const Steps &steps,
                        const Message &message) {
  const Driver &driver = run.state->driver;
  for (uint32_t i = 0; i < steps.count; ++i) {
    const GraphNode *before = i ? &segment.nodes[i - 1] : nullptr;
    if (int32_t status =
            withNode(run, steps, i,
                     NodeCall{"cuGraphAddKernelNode_v2",
                              [&](const KernelNode &node) {
                                return driver.cuGraphAddKernelNode_v2(
                                    &segment.nodes[i], segment.graph, before,
                                    i ? 1 : 0, &node);
                              }},
                     NodeCall{"cuGraphAddMemcpyNode",
                              [&](const CopyNode &node) {
                                return driver.cuGraphAddMemcpyNode(
                                    &segment.nodes[i], segment.graph, before,
                                    i ? 1 : 0, &node, run.state->context);
                              }},
                     message))
      return status;
  }
  return INGOT_ABI_OK;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// Releases the graph of a segment, but not its steps.
static void releaseGraph(Run &run, Segment &segment, bool isOurs) {
  const Driver &driver = run.state->driver;
  if (segment.exec && isOurs)
    driver.cuGraphExecDestroy(segment.exec);
  if (segment.graph && isOurs)
    driver.cuGraphDestroy(segment.graph);
  free(segment.nodes);
  free(segment.addresses);
  segment.exec = nullptr;
  segment.graph = nullptr;
  segment.nodes = nullptr;
  segment.addresses = nullptr;
}

/// Makes the graph of a segment from the pending steps. The segment has none.
static int32_t buildGraph(Run &run, Segment &segment, const Message &message) {
  State &state = *run.state;
  Steps &steps = run.graphs.pending;
  segment.nodes =
      static_cast<GraphNode *>(calloc(steps.count, sizeof(GraphNode)));
  segment.addresses = static_cast<DevicePointer *>(
      calloc(numAddresses(run), sizeof(DevicePointer)));
  if (!segment.nodes || !segment.addresses)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for a graph");
  char place[placeBytes];
  describe(run, steps, place);
  if (int32_t status =
          state.check(state.driver.cuGraphCreate(&segment.graph, 0),
                      "cuGraphCreate", message, place))
    return status;
  if (int32_t status = addNodes(run, segment, steps, message))
    return status;
  if (int32_t status =
          state.check(state.driver.cuGraphInstantiateWithFlags(
                          &segment.exec, segment.graph, 0),
                      "cuGraphInstantiateWithFlags", message, place)) {
    segment.exec = nullptr;
    return status;
  }
  memcpy(segment.addresses, run.addresses,
         numAddresses(run) * sizeof(DevicePointer));
  return INGOT_ABI_OK;
}

/// Returns true if the steps can be those of the graph, after updates of its
/// nodes.
static bool fits(const Segment &segment, const Steps &steps) {
  if (!segment.exec || segment.steps.count != steps.count)
    return false;
  for (uint32_t i = 0; i < steps.count; ++i)
    if ((segment.steps.steps[i].kernel == Step::copy) !=
        (steps.steps[i].kernel == Step::copy))
      return false;
  return true;
}

/// Returns true if a node must be updated: its step differs, or a tensor that
/// it uses has moved.
static bool mustUpdate(const Run &run, const Segment &segment,
                       const Steps &steps, uint32_t number, bool hasMoved) {
  const Step &old = segment.steps.steps[number], &step = steps.steps[number];
  const uint32_t count = countWords(run, step);
  const uint64_t *words = steps.words + step.words;
  if (old.kernel != step.kernel || old.size != step.size ||
      memcmp(segment.steps.words + old.words, words, count * sizeof(uint64_t)))
    return true;
  for (uint32_t i = 0; hasMoved && i < count; ++i) {
    const uint64_t tensor = (words[i] - tensorBase) >> tensorShift;
    if (words[i] >= tensorBase && tensor < numAddresses(run) &&
        segment.addresses[tensor] != run.addresses[tensor])
      return true;
  }
  return false;
}

/// Updates the nodes whose steps differ from those of `steps`, which may be the
/// segment's own.
static int32_t updateNodes(Run &run, Segment &segment, const Steps &steps,
                           const Message &message) {
  const Driver &driver = run.state->driver;
  const size_t bytes = numAddresses(run) * sizeof(DevicePointer);
  const bool hasMoved = memcmp(segment.addresses, run.addresses, bytes);
  if (!hasMoved && &steps == &segment.steps)
    return INGOT_ABI_OK;
  for (uint32_t i = 0; i < steps.count; ++i) {
    if (!mustUpdate(run, segment, steps, i, hasMoved))
      continue;
    if (int32_t status =
            withNode(run, steps, i,
                     NodeCall{"cuGraphExecKernelNodeSetParams_v2",
                              [&](const KernelNode &node) {
                                return driver.cuGraphExecKernelNodeSetParams_v2(
                                    segment.exec, segment.nodes[i], &node);
                              }},
                     NodeCall{"cuGraphExecMemcpyNodeSetParams",
                              [&](const CopyNode &node) {
                                return driver.cuGraphExecMemcpyNodeSetParams(
                                    segment.exec, segment.nodes[i], &node,
                                    run.state->context);
                              }},
                     message))
      return status;
  }
  memcpy(segment.addresses, run.addresses, bytes);
  return INGOT_ABI_OK;
}

static int32_t launchGraph(Run &run, const Segment &segment,
                           const Message &message) {
  const State &state = *run.state;
  const Result result = state.driver.cuGraphLaunch(segment.exec, run.stream);
  if (!result) {
    for (uint32_t i = 0; i < segment.steps.count; ++i)
      if (const Step &step = segment.steps.steps[i]; step.kernel != Step::copy)
        run.launches.add(state.program->kernels[step.kernel]);
    return INGOT_ABI_OK;
  }
  char place[placeBytes];
  describe(run, segment.steps, place);
  return run.check(result, "cuGraphLaunch", message, place);
}

/// Returns the next segment of the current run, or null if there is no memory.
static Segment *nextSegment(Run &run) {
  Recording &recording = *run.graphs.current;
  const uint32_t number = run.graphs.segment++;
  if (number < recording.numSegments)
    return &recording.segments[number];
  void *moved = realloc(recording.segments, (number + 1) * sizeof(Segment));
  if (!moved)
    return nullptr;
  recording.segments = static_cast<Segment *>(moved);
  recording.segments[number] = {};
  ++recording.numSegments;
  return &recording.segments[number];
}

/// Makes the pending steps those of the segment's graph.
static int32_t adapt(Run &run, Segment &segment, const Message &message) {
  Steps &pending = run.graphs.pending;
  int32_t status;
  if (fits(segment, pending)) {
    status = updateNodes(run, segment, pending, message);
  } else {
    segment.misfits += segment.exec ? 1 : 0;
    releaseGraph(run, segment, /*isOurs=*/true);
    status = buildGraph(run, segment, message);
  }
  // A graph whose update has failed half-way stands for no steps.
  if (status) {
    releaseGraph(run, segment, /*isOurs=*/true);
    return status;
  }
  const Steps old = segment.steps;
  segment.steps = pending;
  pending = old;
  return INGOT_ABI_OK;
}

static int32_t doSteps(Run &run, const Steps &steps, const Message &message) {
  int32_t status = INGOT_ABI_OK;
  for (uint32_t i = 0; i < steps.count && !status; ++i)
    status = doStep(run, steps.steps[i].kernel, steps.steps[i].size,
                    steps.words + steps.steps[i].words, message);
  return status;
}

int32_t ingot::cuda::launchPending(Run &run, const Message &message) {
  needHostCode(run.graphs);
  const int32_t status = doSteps(run, run.graphs.pending, message);
  run.graphs.pending.clear();
  return status;
}

int32_t ingot::cuda::flush(Run &run, const Message &message) {
  Steps &pending = run.graphs.pending;
  if (!pending.count)
    return INGOT_ABI_OK;
  Segment *segment = nextSegment(run);
  if (!segment)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for a graph");
  int32_t status = INGOT_ABI_OK;
  run.addresses[run.numTensors()] = run.heap.version;
  if (pending.count >= leastSteps && segment->misfits <= mostMisfits) {
    status = adapt(run, *segment, message);
    if (!status)
      status = launchGraph(run, *segment, message);
  } else {
    status = doSteps(run, pending, message);
    // The steps of a graph that others replace depend on data.
    if (segment->exec || pending.count >= leastSteps) {
      needHostCode(run.graphs);
    } else {
      const Steps old = segment->steps;
      segment->steps = pending;
      pending = old;
    }
  }
  pending.clear();
  return status;
}

int32_t ingot::cuda::repeat(Run &run, Segment &segment,
                            const Message &message) {
  if (!segment.exec)
    return doSteps(run, segment.steps, message);
  if (int32_t status = updateNodes(run, segment, segment.steps, message)) {
    releaseGraph(run, segment, /*isOurs=*/true);
    return status;
  }
  return launchGraph(run, segment, message);
}

void ingot::cuda::releaseSegment(Run &run, Segment &segment, bool isOurs) {
  releaseGraph(run, segment, isOurs);
  segment.steps.release();
}
