//===- Machine.h - the GPU that schedules are made for ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_MACHINE_H
#define INGOT_PASSES_CUDA_SCHEDULE_MACHINE_H

#include <cstdint>

namespace ingot::cuda {

/// Multiprocessors of the smallest data center GPU of the levels (NVIDIA A100
/// whitepaper, 2020).
constexpr int64_t kProcessors = 108;

/// The GPU's clock in MHz, and the bytes that its memory delivers in a cycle.
constexpr int64_t kMegahertz = 1410;
constexpr int64_t kMemoryBytes = 1100;

/// Multiply-adds of a multiprocessor in a cycle: of f32, and of f16 or bf16 by
/// matrix units.
constexpr int64_t kFloatRate = 64;
constexpr int64_t kHalfRate = 1024;

/// Schedulers of a multiprocessor. Each issues an instruction of one of its
/// warps in a cycle, so fewer warps leave units idle.
constexpr int64_t kSchedulers = 4;

/// Threads for which a multiprocessor issues an instruction in a cycle.
constexpr int64_t kIssueRate = kSchedulers * 32;

/// Instructions of a division of floats, of integers, and of integers by a
/// constant.
constexpr int64_t kFloatDivision = 10;
constexpr int64_t kIntegerDivision = 20;
constexpr int64_t kConstantDivision = 4;

/// Instructions of a function such as an exponential or a logarithm: a
/// polynomial, and the steps around it.
constexpr int64_t kFunctionInstructions = 16;

/// Bytes that a multiprocessor gets from the L2 cache in a cycle, if all do.
constexpr int64_t kCacheBytes = 40;

/// Cycles of a thread for an access of 16 bytes, at the rate of multiply-adds.
/// The L1 cache delivers 128 bytes to a multiprocessor in a cycle.
constexpr int64_t kWideAccess = 8;
/// Bytes of a sector, the unit in which caches deliver memory (NVIDIA, CUDA C++
/// Best Practices Guide).
constexpr int64_t kSectorBytes = 32;

/// Bytes of a line of the L1 cache. Each line that an access of a warp touches
/// takes a cycle.
constexpr int64_t kLineBytes = 128;

/// Banks of shared memory. Each delivers one word in a cycle.
constexpr int64_t kBanks = 32;
constexpr int64_t kBankBytes = 4;

/// The inverse of the part of its time in which a unit of the memory works
/// while the busiest one waits.
constexpr int64_t kOverlap = 8;

/// Cycles until a block has its tile in shared memory, besides the loads: all
/// warps wait for the slowest one.
constexpr int64_t kTileWait = 240;

/// Steps that stand for those of an open loop of a transpose.
constexpr int64_t kOpenSteps = 1024;

/// The most shared memory of a block that transposes, in bytes. Eight blocks
/// fit into a multiprocessor.
constexpr int64_t kTransposeBytes = 20 << 10;

/// Cycles of a step of a pipeline besides its products: a barrier, and the
/// latency of shared memory.
constexpr int64_t kStep = 60;

/// Instructions of an attention for each score besides its products: scale,
/// mask, maximum, the polynomial of the exponential, and sum.
constexpr int64_t kScoreInstructions = 16;

/// Cycles until a block has its first tiles, and until it has stored its
/// results: three latencies of memory.
constexpr int64_t kLatency = 1800;

/// Cycles between two launches of a graph.
constexpr int64_t kLaunch = 1500;

/// Threads of a block of a grid. Eight warps hide the latency of memory, and a
/// block leaves room for seven others on a multiprocessor.
constexpr int64_t kGridThreads = 256;

/// The fewest threads that keep the GPU busy: a block for each multiprocessor.
constexpr int64_t kWantedThreads = kProcessors * kGridThreads;

/// Numbers that open sizes are taken for: images or sequences of a batch, and
/// pixels or positions.
struct UsualSizes {
  int64_t batch = 8, size = 128;
};
constexpr UsualSizes kUsual;

/// Elements of a row that a thread should hold. More elements leave registers
/// for fewer warps.
constexpr int64_t kRowElements = 32;

/// The most elements of a row that a thread holds in a block of more than half
/// of the threads. Exponentials and epilogues need the other registers.
constexpr int64_t kRowElementsOfLargeBlock = 24;

/// Threads that a multiprocessor has at once.
constexpr int64_t kProcessorThreads = 2048;

/// Cycles of a thread for a vector of a column: one of several that are loaded
/// together, and one that a loop loads.
constexpr int64_t kHeldStep = 25;
constexpr int64_t kReadStep = 150;

/// Cycles of a step in which threads exchange partial results through shared
/// memory, and of each result.
constexpr int64_t kExchange = 70;
constexpr int64_t kExchangedResult = 8;

/// Cycles of a step in which lanes exchange a partial result by a shuffle, and
/// of each further result.
constexpr int64_t kShuffle = 25;
constexpr int64_t kShuffledResult = 2;

/// The most shared memory of a block of attention, in bytes. Two blocks fit
/// into a multiprocessor.
constexpr int64_t kAttentionBytes = 80 << 10;

/// The most copies of a thread to shared memory that are written out instead of
/// a loop.
constexpr int64_t kUnrolledCopies = 16;

/// Items that a block sorts together: the most of a long list, and the fewest
/// of rows whose length only a run knows.
constexpr int64_t kSortedItems = 4096;
constexpr int64_t kOpenRowItems = 2048;

/// Sorted updates that a thread loads together, before it makes them in order.
constexpr int64_t kLoadedUpdates = 8;

/// The most threads of a block that adds up a line, and the neighboring
/// elements of each.
constexpr int64_t kScanThreads = 256;
constexpr int64_t kScanElements = 4;

/// The fewest elements of a line that a block adds up: of a row, whose elements
/// are neighbors, and of one of a few columns.
constexpr int64_t kScanRow = 64;
constexpr int64_t kScanColumn = 1024;

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_MACHINE_H
