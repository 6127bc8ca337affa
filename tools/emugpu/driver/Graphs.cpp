//===- Graphs.cpp - graphs and their nodes --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/driver/Graphs.h"
#include "tools/emugpu/driver/Calls.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

//===----------------------------------------------------------------------===//
// Work of nodes
//===----------------------------------------------------------------------===//

static cuda::Result makeKernel(const cuda::KernelNode *node, NodeWork &work) {
  if (!node || !node->function || node->extra)
    return cuda::invalidValue;
  work.kind = NodeWork::Kind::kernel;
  work.name = node->function->program.kernel->name;
  return prepareLaunch(*node, work.execute);
}

/// Copies have one dimension. The emulator has no arrays.
static cuda::Result makeCopy(const cuda::CopyNode *node, NodeWork &work) {
  if (!node || !node->bytes || !node->height || !node->depth)
    return cuda::invalidValue;
  const cuda::CopySide &source = node->source, &target = node->target;
  for (const cuda::CopySide *side : {&source, &target})
    if (side->type != cuda::memoryHost && side->type != cuda::memoryDevice)
      return cuda::notSupported;
  if (node->height != 1 || node->depth != 1 || source.y || source.z ||
      target.y || target.z)
    return cuda::notSupported;
  const size_t bytes = node->bytes;
  Driver &driver = Driver::get();
  const bool isFromHost = source.type == cuda::memoryHost;
  const bool isToHost = target.type == cuda::memoryHost;
  const auto *hostSource = static_cast<const uint8_t *>(source.host) + source.x;
  auto *hostTarget =
      static_cast<uint8_t *>(const_cast<void *>(target.host)) + target.x;
  const uint64_t from = source.device + source.x;
  const uint64_t to = target.device + target.x;
  if ((isFromHost ? !source.host : !driver.memory->find(from, bytes)) ||
      (isToHost ? !target.host : !driver.memory->find(to, bytes)))
    return cuda::invalidValue;
  work.kind = NodeWork::Kind::copy;
  work.name = isFromHost ? "copy to the device"
              : isToHost ? "copy to the host"
                         : "copy on the device";
  work.from = source.type;
  work.to = target.type;
  work.read = isFromHost ? HostRange{hostSource, bytes} : HostRange();
  work.written = isToHost ? HostRange{hostTarget, bytes} : HostRange();
  work.execute = [=](Work &run) {
    Driver &owner = Driver::get();
    const uint8_t *data =
        isFromHost ? hostSource
                   : owner.access(run, from, bytes, /*isWrite=*/false);
    memmove(isToHost ? hostTarget
                     : owner.access(run, to, bytes, /*isWrite=*/true),
            data, bytes);
  };
  return cuda::success;
}

static cuda::Result makeMemset(const cuda::MemsetNode *node, NodeWork &work) {
  if (!node || !node->width || node->height != 1)
    return node && node->width && node->height > 1 ? cuda::notSupported
                                                   : cuda::invalidValue;
  const unsigned each = node->elementBytes;
  if (each != 1 && each != 2 && each != 4)
    return cuda::invalidValue;
  const uint64_t target = node->target, bytes = node->width * each;
  const unsigned value = node->value;
  if (target % each || !Driver::get().memory->find(target, bytes))
    return cuda::invalidValue;
  work.kind = NodeWork::Kind::memset;
  work.name = "memset";
  work.execute = [=](Work &run) {
    uint8_t *data = Driver::get().access(run, target, bytes, /*isWrite=*/true);
    for (uint64_t at = 0; at < bytes; at += each)
      memcpy(data + at, &value, each);
  };
  return cuda::success;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

cuda::Result cuGraphCreate(cuda::Graph *graph, unsigned flags) {
  INGOT_EMUGPU_ENTER(cuGraphCreate);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!graph || flags)
    return cuda::invalidValue;
  *graph = new cuda::GraphObject;
  driver.graphs.insert(*graph);
  return cuda::success;
}

cuda::Result cuGraphDestroy(cuda::Graph graph) {
  INGOT_EMUGPU_ENTER(cuGraphDestroy);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.graphs.erase(graph))
    return cuda::invalidValue;
  delete graph;
  return cuda::success;
}

/// Returns true if `node` is a node of `graph`.
static bool isNode(cuda::Graph graph, cuda::GraphNode node) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                     [&](const std::unique_ptr<cuda::GraphNodeObject> &each) {
                       return each.get() == node;
                     });
}

static bool dependsOn(cuda::GraphNode node, cuda::GraphNode other) {
  return std::count(node->dependencies.begin(), node->dependencies.end(),
                    other);
}

/// Adds a node for `work`, unless `made` is an error.
static cuda::Result addNode(cuda::GraphNode *node, cuda::Graph graph,
                            const cuda::GraphNode *dependencies, size_t count,
                            NodeWork work, cuda::Result made) {
  if (made)
    return made;
  if (!node || (count && !dependencies))
    return cuda::invalidValue;
  auto added = std::make_unique<cuda::GraphNodeObject>();
  for (size_t i = 0; i < count; ++i) {
    if (!isNode(graph, dependencies[i]) ||
        dependsOn(added.get(), dependencies[i]))
      return cuda::invalidValue;
    added->dependencies.push_back(dependencies[i]);
  }
  added->graph = graph;
  added->work = std::move(work);
  *node = added.get();
  graph->nodes.push_back(std::move(added));
  return cuda::success;
}

cuda::Result cuGraphAddKernelNode_v2(cuda::GraphNode *node, cuda::Graph graph,
                                     const cuda::GraphNode *dependencies,
                                     size_t count,
                                     const cuda::KernelNode *parameters) {
  INGOT_EMUGPU_ENTER(cuGraphAddKernelNode_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.graphs.count(graph))
    return cuda::invalidValue;
  NodeWork work;
  const cuda::Result made = makeKernel(parameters, work);
  return addNode(node, graph, dependencies, count, std::move(work), made);
}

cuda::Result cuGraphAddMemcpyNode(cuda::GraphNode *node, cuda::Graph graph,
                                  const cuda::GraphNode *dependencies,
                                  size_t count, const cuda::CopyNode *copy,
                                  cuda::Context context) {
  INGOT_EMUGPU_ENTER(cuGraphAddMemcpyNode);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.graphs.count(graph) || context != primaryContext())
    return cuda::invalidValue;
  NodeWork work;
  const cuda::Result made = makeCopy(copy, work);
  return addNode(node, graph, dependencies, count, std::move(work), made);
}

cuda::Result cuGraphAddMemsetNode(cuda::GraphNode *node, cuda::Graph graph,
                                  const cuda::GraphNode *dependencies,
                                  size_t count, const cuda::MemsetNode *memset,
                                  cuda::Context context) {
  INGOT_EMUGPU_ENTER(cuGraphAddMemsetNode);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.graphs.count(graph) || context != primaryContext())
    return cuda::invalidValue;
  NodeWork work;
  const cuda::Result made = makeMemset(memset, work);
  return addNode(node, graph, dependencies, count, std::move(work), made);
}

cuda::Result cuGraphAddDependencies(cuda::Graph graph,
                                    const cuda::GraphNode *from,
                                    const cuda::GraphNode *to, size_t count) {
  INGOT_EMUGPU_ENTER(cuGraphAddDependencies);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.graphs.count(graph) || (count && (!from || !to)))
    return cuda::invalidValue;
  for (size_t i = 0; i < count; ++i)
    if (!isNode(graph, from[i]) || !isNode(graph, to[i]) || from[i] == to[i] ||
        dependsOn(to[i], from[i]))
      return cuda::invalidValue;
  for (size_t i = 0; i < count; ++i)
    to[i]->dependencies.push_back(from[i]);
  return cuda::success;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Returns the step of an executable graph that was made from `node`, or null.
/// The node must still be in its graph.
static cuda::GraphExecObject::Step *findStep(const Driver &driver,
                                             cuda::GraphExec exec,
                                             cuda::GraphNode node,
                                             NodeWork::Kind kind) {
  if (!driver.execs.count(exec))
    return nullptr;
  const bool exists =
      std::any_of(driver.graphs.begin(), driver.graphs.end(),
                  [&](cuda::Graph graph) { return isNode(graph, node); });
  for (cuda::GraphExecObject::Step &step : exec->steps)
    if (exists && step.node == node && step.work.kind == kind)
      return &step;
  return nullptr;
}

// Launches that are enqueued keep the old work.

/// The function may change, too, as with drivers for CUDA 12.
cuda::Result
cuGraphExecKernelNodeSetParams_v2(cuda::GraphExec exec, cuda::GraphNode node,
                                  const cuda::KernelNode *parameters) {
  INGOT_EMUGPU_ENTER(cuGraphExecKernelNodeSetParams_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  auto *step = findStep(driver, exec, node, NodeWork::Kind::kernel);
  NodeWork work;
  if (!step)
    return cuda::invalidValue;
  const cuda::Result made = makeKernel(parameters, work);
  if (!made)
    step->work = std::move(work);
  return made;
}

cuda::Result cuGraphExecMemcpyNodeSetParams(cuda::GraphExec exec,
                                            cuda::GraphNode node,
                                            const cuda::CopyNode *copy,
                                            cuda::Context context) {
  INGOT_EMUGPU_ENTER(cuGraphExecMemcpyNodeSetParams);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  auto *step = findStep(driver, exec, node, NodeWork::Kind::copy);
  NodeWork work;
  if (!step || context != primaryContext())
    return cuda::invalidValue;
  const cuda::Result made = makeCopy(copy, work);
  if (made)
    return made;
  if (work.from != step->work.from || work.to != step->work.to)
    return cuda::invalidValue;
  step->work = std::move(work);
  return cuda::success;
}

cuda::Result cuGraphExecMemsetNodeSetParams(cuda::GraphExec exec,
                                            cuda::GraphNode node,
                                            const cuda::MemsetNode *memset,
                                            cuda::Context context) {
  INGOT_EMUGPU_ENTER(cuGraphExecMemsetNodeSetParams);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  auto *step = findStep(driver, exec, node, NodeWork::Kind::memset);
  NodeWork work;
  if (!step || context != primaryContext())
    return cuda::invalidValue;
  const cuda::Result made = makeMemset(memset, work);
  if (!made)
    step->work = std::move(work);
  return made;
}
