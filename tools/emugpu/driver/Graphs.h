//===- Graphs.h - graphs of the emulated driver -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch of a graph puts the work of its nodes into chains. A chain is a
// stream that has no handle. Two nodes share a chain only if one depends on the
// other, so the clocks of their work contain no order but that of dependencies.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_DRIVER_GRAPHS_H
#define INGOT_TOOLS_EMUGPU_DRIVER_GRAPHS_H

#include "tools/emugpu/driver/State.h"

namespace emugpu {

/// A range of host memory.
struct HostRange {
  const uint8_t *first = nullptr;
  size_t bytes = 0;
  bool overlaps(const HostRange &other) const {
    return first && other.first && first < other.first + other.bytes &&
           other.first < first + bytes;
  }
};

/// The work of a node.
struct NodeWork {
  enum class Kind { kernel, copy, memset };
  Kind kind = Kind::kernel;
  std::string name;
  std::function<void(Work &)> execute;
  /// The types of memory that a copy reads and writes, which no update changes.
  cuda::MemoryType from = cuda::memoryDevice, to = cuda::memoryDevice;
  /// Host memory that a copy reads or writes.
  HostRange read, written;
};

} // namespace emugpu

struct ingot::cuda::GraphNodeObject {
  Graph graph;
  emugpu::NodeWork work;
  std::vector<GraphNode> dependencies;
};

struct ingot::cuda::GraphObject {
  std::vector<std::unique_ptr<GraphNodeObject>> nodes;
};

struct ingot::cuda::GraphExecObject {
  struct Step {
    /// The node that the step was made from.
    GraphNode node;
    emugpu::NodeWork work;
    /// The steps that must end first, all of them earlier in the list.
    std::vector<size_t> dependencies;
    /// The number of the chain.
    size_t chain;
  };
  std::vector<Step> steps;
  /// The streams that are the chains.
  std::vector<size_t> chains;
  /// The clock of the last launch. The next one is ordered after it.
  emugpu::Clock last;
};

#endif // INGOT_TOOLS_EMUGPU_DRIVER_GRAPHS_H
