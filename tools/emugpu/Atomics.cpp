//===- Atomics.cpp - atomics and fences -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Numbers.h"
#include "tools/emugpu/Order.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

Space emugpu::takeSpace(Opcode &opcode) {
  if (opcode.take("global"))
    return Space::global;
  if (opcode.take("shared") || opcode.take("shared::cta"))
    return Space::shared;
  if (opcode.take("local"))
    return Space::local;
  if (opcode.take("const"))
    return Space::constant;
  if (opcode.take("param"))
    return Space::param;
  return Space::generic;
}

void emugpu::publish(Warp &warp, unsigned lane, uint64_t address) {
  Block &block = warp.block;
  block.launch.published[address].push_back(
      {block.number, block.epoch, block.knowledgeOf(warp, lane)});
  warp.releaseLanes(Mask(1) << lane);
}

void emugpu::acquire(Warp &warp, unsigned lane, uint64_t address) {
  Block &block = warp.block;
  auto found = block.launch.published.find(address);
  if (found == block.launch.published.end())
    return;
  for (const Launch::Published &each : found->second) {
    if (each.block == block.number) {
      if (each.epoch == block.epoch)
        block.learn(warp, lane, each.known);
      continue;
    }
    Launch::Published &known =
        block.launch.acquired[{block.number, each.block}];
    if (known.epoch < each.epoch)
      known = each;
    else if (known.epoch == each.epoch)
      for (size_t i = 0; i < each.known.size(); ++i)
        known.known[i] = std::max(known.known[i], each.known[i]);
  }
}

namespace {
enum AtomicKind : uint8_t {
  atomAdd,
  atomMin,
  atomMax,
  atomAnd,
  atomOr,
  atomXor,
  atomExch,
  atomInc,
  atomDec,
  atomCas
};
} // namespace

template <typename T>
static T combine(uint8_t kind, T old, T value, T swap) {
  switch (kind) {
  case atomMin:
    return std::min(old, value);
  case atomMax:
    return std::max(old, value);
  case atomAnd:
    return T(uint64_t(old) & uint64_t(value));
  case atomOr:
    return T(uint64_t(old) | uint64_t(value));
  case atomXor:
    return T(uint64_t(old) ^ uint64_t(value));
  case atomExch:
    return value;
  case atomInc:
    return old >= value ? T(0) : T(old + 1);
  case atomDec:
    return old == 0 || old > value ? value : T(old - 1);
  case atomCas:
    return old == value ? swap : old;
  default:
    return T(uint64_t(old) + uint64_t(value));
  }
}

static uint64_t combineBits(const Instruction &op, uint64_t old, uint64_t value,
                            uint64_t swap) {
  switch (op.type) {
  case Type::f32:
    return toBits(bitCast<float>(old) + bitCast<float>(value));
  case Type::f64:
    return toBits(bitCast<double>(old) + bitCast<double>(value));
  case Type::s32:
    return toBits(combine(op.mode, bitCast<int32_t>(old),
                          bitCast<int32_t>(value), bitCast<int32_t>(swap)));
  case Type::s64:
    return toBits(combine(op.mode, bitCast<int64_t>(old),
                          bitCast<int64_t>(value), bitCast<int64_t>(swap)));
  case Type::b32:
  case Type::u32:
    return toBits(
        combine(op.mode, uint32_t(old), uint32_t(value), uint32_t(swap)));
  default:
    return combine(op.mode, old, value, swap);
  }
}

static void executeAtomic(Warp &warp, const Instruction &op, Mask mask) {
  const bool hasResult = op.source->opcode.front() == "atom";
  uint64_t buffers[3][kLanes], results[kLanes] = {};
  const size_t first = hasResult;
  const uint64_t *addresses = warp.read(op.operand(first), buffers[0]);
  const uint64_t *values = warp.read(op.operand(first + 1), buffers[1]);
  const uint64_t *swaps = op.mode == atomCas
                              ? warp.read(op.operand(first + 2), buffers[2])
                              : values;
  const unsigned bytes = bytesOf(op.type);
  ++warp.block.launch.progress;
  // The lanes execute in a random order, as on a GPU.
  const unsigned start = unsigned(warp.block.launch.random() % kLanes);
  for (unsigned i = 0; i < kLanes; ++i) {
    const unsigned lane = (start + i) % kLanes;
    if (!(mask >> lane & 1))
      continue;
    if ((op.mode2 & kReleases) || warp.lanes[lane].hasFenced)
      publish(warp, lane, addresses[lane]);
    uint8_t *place = warp.access(op.space, addresses[lane], bytes,
                                 /*isWrite=*/true, lane, /*isAtomic=*/true);
    uint64_t old = 0;
    memcpy(&old, place, bytes);
    const uint64_t made = combineBits(op, old, values[lane], swaps[lane]);
    memcpy(place, &made, bytes);
    results[lane] = old;
    if (op.mode2 & kAcquires)
      acquire(warp, lane, addresses[lane]);
    else
      warp.lanes[lane].loosely.push_back(addresses[lane]);
  }
  if (hasResult)
    warp.write(op.operand(0), results, mask);
}

static bool decodeAtomicOf(Opcode &opcode, Instruction &op, bool hasResult) {
  switch (opcode.takeOneOf({"relaxed", "acquire", "release", "acq_rel"})) {
  case 1:
    op.mode2 = kAcquires;
    break;
  case 2:
    op.mode2 = kReleases;
    break;
  case 3:
    op.mode2 = kAcquires | kReleases;
    break;
  }
  opcode.takeOneOf({"cta", "gpu", "sys"});
  op.space = takeSpace(opcode);
  opcode.takeOneOf({"cta", "gpu", "sys"});
  int kind = opcode.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"});
  if (kind < 0 || (op.space != Space::generic && op.space != Space::global &&
                   op.space != Space::shared))
    return false;
  op.mode = uint8_t(kind);
  op.type = opcode.takeType();
  const bool isFloat = op.type == Type::f32 || op.type == Type::f64;
  const unsigned bytes = bytesOf(op.type);
  if ((isFloat && kind != atomAdd) || (bytes != 4 && bytes != 8) ||
      op.type == Type::f16x2 || op.type == Type::bf16x2 ||
      op.type == Type::tf32)
    return false;
  op.execute = executeAtomic;
  if (!hasResult)
    return kind != atomCas && haveKinds(op, "av");
  return haveKinds(op, kind == atomCas ? "ravv" : "rav");
}

static bool decodeAtomic(Opcode &opcode, Instruction &op) {
  return decodeAtomicOf(opcode, op, true);
}
static bool decodeReduction(Opcode &opcode, Instruction &op) {
  return decodeAtomicOf(opcode, op, false);
}

static void executeFence(Warp &warp, const Instruction &, Mask mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1) {
      Lane &each = warp.lanes[lane];
      each.hasFenced = true;
      for (uint64_t address : each.loosely)
        acquire(warp, lane, address);
      each.loosely.clear();
    }
}

static bool decodeFence(Opcode &opcode, Instruction &op) {
  opcode.takeOneOf({"acq_rel", "sc"});
  op.execute = executeFence;
  return opcode.takeOneOf({"cta", "gl", "gpu", "sys"}) >= 0 &&
         haveKinds(op, "");
}

void emugpu::addAtomics(Decoders &decoders) {
  decoders["atom"] = decodeAtomic;
  decoders["red"] = decodeReduction;
  decoders["membar"] = decodeFence;
  decoders["fence"] = decodeFence;
}
