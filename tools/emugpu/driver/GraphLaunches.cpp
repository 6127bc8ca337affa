//===- GraphLaunches.cpp - executable graphs and captures -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/driver/Calls.h"
#include "tools/emugpu/driver/Graphs.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

//===----------------------------------------------------------------------===//
// Executable graphs
//===----------------------------------------------------------------------===//

/// Orders the nodes of a graph behind their dependencies. Returns fewer nodes
/// than the graph has if it has a cycle.
static std::vector<cuda::GraphNode> sortNodes(cuda::Graph graph) {
  std::vector<cuda::GraphNode> sorted;
  std::set<cuda::GraphNode> done;
  for (size_t before = ~size_t(0); before != sorted.size();) {
    before = sorted.size();
    for (auto &node : graph->nodes) {
      const bool isReady =
          std::all_of(node->dependencies.begin(), node->dependencies.end(),
                      [&](cuda::GraphNode each) { return done.count(each); });
      if (isReady && done.insert(node.get()).second)
        sorted.push_back(node.get());
    }
  }
  return sorted;
}

/// Chooses a chain for each step: that of a dependency, if the dependency is
/// the last step of it, else a new one. Returns the number of chains.
static size_t chooseChains(std::vector<cuda::GraphExecObject::Step> &steps) {
  std::vector<size_t> lastSteps;
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].chain = lastSteps.size();
    for (size_t before : steps[i].dependencies)
      if (lastSteps[steps[before].chain] == before)
        steps[i].chain = steps[before].chain;
    if (steps[i].chain == lastSteps.size())
      lastSteps.emplace_back();
    lastSteps[steps[i].chain] = i;
  }
  return lastSteps.size();
}

cuda::Result cuGraphInstantiateWithFlags(cuda::GraphExec *exec,
                                         cuda::Graph graph,
                                         unsigned long long flags) {
  INGOT_EMUGPU_ENTER(cuGraphInstantiateWithFlags);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!exec || !driver.graphs.count(graph) || flags)
    return cuda::invalidValue;
  const std::vector<cuda::GraphNode> nodes = sortNodes(graph);
  if (nodes.size() != graph->nodes.size())
    return cuda::invalidValue;
  auto made = std::make_unique<cuda::GraphExecObject>();
  std::map<cuda::GraphNode, size_t> numbers;
  for (cuda::GraphNode node : nodes) {
    cuda::GraphExecObject::Step step{node, node->work, {}, 0};
    for (cuda::GraphNode each : node->dependencies)
      step.dependencies.push_back(numbers.at(each));
    numbers[node] = made->steps.size();
    made->steps.push_back(std::move(step));
  }
  made->chains.resize(chooseChains(made->steps));
  for (size_t &chain : made->chains)
    chain = driver.takeChain();
  *exec = made.release();
  driver.execs.insert(*exec);
  return cuda::success;
}

cuda::Result cuGraphExecDestroy(cuda::GraphExec exec) {
  INGOT_EMUGPU_ENTER(cuGraphExecDestroy);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.execs.erase(exec))
    return cuda::invalidValue;
  // Work of earlier launches continues, as on a GPU.
  driver.unusedChains.insert(driver.unusedChains.end(), exec->chains.begin(),
                             exec->chains.end());
  delete exec;
  return cuda::success;
}

cuda::Result cuGraphUpload(cuda::GraphExec exec, cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuGraphUpload);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.execs.count(exec))
    return cuda::invalidValue;
  return driver.enqueue(stream, "upload of a graph", [](Work &) {});
}

/// Makes host memory that a step writes NaN, until the program waits for the
/// step. Leaves memory alone that another step reads.
static void poison(Driver &driver, const cuda::GraphExecObject &exec,
                   const Clock &before) {
  for (const cuda::GraphExecObject::Step &step : exec.steps) {
    const HostRange &range = step.work.written;
    const bool isRead =
        std::any_of(exec.steps.begin(), exec.steps.end(),
                    [&](const cuda::GraphExecObject::Step &other) {
                      return other.work.read.overlaps(range);
                    });
    if (!range.first || isRead)
      continue;
    driver.finishReaders(before, range.first, range.bytes);
    memset(const_cast<uint8_t *>(range.first), kPoison, range.bytes);
  }
}

cuda::Result cuGraphLaunch(cuda::GraphExec exec, cuda::Stream stream) {
  INGOT_EMUGPU_ENTER(cuGraphLaunch);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.execs.count(exec))
    return cuda::invalidValue;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  cuda::StreamObject &object = driver.streamOf(stream);
  if (cuda::Result refused = driver.refuseCapture(object))
    return refused;
  join(object.clock, driver.hostClock);
  Clock start = object.clock;
  join(start, exec->last);
  poison(driver, *exec, start);
  std::vector<Clock> ends;
  for (const cuda::GraphExecObject::Step &step : exec->steps) {
    Clock clock = start;
    for (size_t each : step.dependencies)
      join(clock, ends[each]);
    const size_t chain = exec->chains[step.chain];
    Work &work = driver.append(chain, step.work.name, clock, step.work.execute);
    work.hostSource = step.work.read.first;
    work.hostBytes = step.work.read.bytes;
    clock.resize(std::max(clock.size(), chain + 1));
    clock[chain] = work.number;
    join(object.clock, clock);
    ends.push_back(std::move(clock));
    driver.maybeRun();
  }
  exec->last = object.clock;
  // Later work of the stream waits for all nodes.
  return driver.enqueue(stream, "end of a graph", [](Work &) {});
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

cuda::Result cuStreamBeginCapture_v2(cuda::Stream stream,
                                     cuda::CaptureMode mode) {
  INGOT_EMUGPU_ENTER(cuStreamBeginCapture_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (mode < cuda::captureGlobal || mode > cuda::captureRelaxed)
    return cuda::invalidValue;
  if (!stream)
    return cuda::captureUnsupported;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  if (stream->capture != cuda::captureNone)
    return cuda::illegalState;
  stream->capture = cuda::captureActive;
  stream->captureMode = mode;
  return cuda::success;
}

cuda::Result cuStreamEndCapture(cuda::Stream stream, cuda::Graph *graph) {
  INGOT_EMUGPU_ENTER(cuStreamEndCapture);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!graph)
    return cuda::invalidValue;
  *graph = nullptr;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  cuda::StreamObject &object = driver.streamOf(stream);
  const cuda::CaptureStatus status = object.capture;
  object.capture = cuda::captureNone;
  if (status == cuda::captureNone)
    return cuda::illegalState;
  if (status == cuda::captureIsInvalidated)
    return cuda::captureInvalidated;
  *graph = new cuda::GraphObject;
  driver.graphs.insert(*graph);
  return cuda::success;
}

cuda::Result cuThreadExchangeStreamCaptureMode(cuda::CaptureMode *mode) {
  INGOT_EMUGPU_ENTER(cuThreadExchangeStreamCaptureMode);
  if (!mode || *mode < cuda::captureGlobal || *mode > cuda::captureRelaxed)
    return cuda::invalidValue;
  std::swap(*mode, captureMode());
  return cuda::success;
}

cuda::Result cuStreamIsCapturing(cuda::Stream stream,
                                 cuda::CaptureStatus *status) {
  INGOT_EMUGPU_ENTER(cuStreamIsCapturing);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!status)
    return cuda::invalidValue;
  if (!driver.isStream(stream))
    return cuda::invalidHandle;
  *status = driver.streamOf(stream).capture;
  return cuda::success;
}
