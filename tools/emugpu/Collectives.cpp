//===- Collectives.cpp - instructions that the lanes of a warp share ------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective instruction names the lanes that execute it together. Lanes that
// arrive early wait for the others.
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Numbers.h"

#include <algorithm>

using namespace emugpu;

/// Gathers the lanes that operand `index` names. Returns false if some of them
/// have not arrived yet.
static bool gatherNamed(Warp &warp, const Operand &operand, Mask &mask) {
  uint64_t buffer[kLanes];
  const uint64_t *masks = warp.read(operand, buffer);
  const Mask members = Mask(masks[__builtin_ctz(mask)]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) && Mask(masks[lane]) != members)
      warp.fault("lanes name different masks", int(lane));
  return warp.gather(members, mask);
}

/// shfl.sync d(|p), a, b, c, mask.
static void shuffle(Warp &warp, const Instruction &op, Mask mask) {
  const bool hasPredicate = op.numOperands() == 6;
  const size_t first = hasPredicate ? 2 : 1;
  if (!gatherNamed(warp, op.operand(first + 3), mask))
    return;
  uint64_t buffers[3][kLanes], result[kLanes] = {};
  const uint64_t *values = warp.read(op.operand(first), buffers[0]);
  const uint64_t *offsets = warp.read(op.operand(first + 1), buffers[1]);
  const uint64_t *controls = warp.read(op.operand(first + 2), buffers[2]);
  Mask inRange = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    const int clamp = int(controls[lane] & 31);
    const int segment = int(controls[lane] >> 8 & 31);
    const int offset = int(offsets[lane] & 31);
    const int most = (int(lane) & segment) | (clamp & ~segment);
    const int least = int(lane) & segment;
    int source;
    bool isInRange;
    switch (op.mode) {
    case 0: // up
      source = int(lane) - offset;
      isInRange = source >= most;
      break;
    case 1: // down
      source = int(lane) + offset;
      isInRange = source <= most;
      break;
    case 2: // bfly
      source = int(lane) ^ offset;
      isInRange = source <= most;
      break;
    default: // idx
      source = least | (offset & ~segment);
      isInRange = source <= most;
    }
    if (!isInRange)
      source = int(lane);
    if (!(mask >> source & 1))
      warp.fault("reads from lane " + std::to_string(source) +
                     ", which does not take part",
                 int(lane));
    result[lane] = uint32_t(values[source]);
    inRange |= Mask(isInRange) << lane;
  }
  warp.write(op.operand(0), result, mask);
  if (hasPredicate)
    warp.writePredicate(op.operand(1), inRange, mask);
}

static bool decodeShuffle(Opcode &opcode, Instruction &op) {
  if (!opcode.take("sync"))
    return false;
  const int kind = opcode.takeOneOf({"up", "down", "bfly", "idx"});
  op.mode = uint8_t(kind);
  op.execute = shuffle;
  return kind >= 0 && opcode.take("b32") &&
         (haveKinds(op, "rvvvv") || haveKinds(op, "rpvvvv"));
}

/// vote.sync.{all, any, uni} p, q, mask, or vote.sync.ballot r, q, mask.
static void vote(Warp &warp, const Instruction &op, Mask mask) {
  if (!gatherNamed(warp, op.operand(2), mask))
    return;
  const Mask yes = warp.readPredicate(op.operand(1)) & mask;
  if (op.mode == 3) {
    uint64_t result[kLanes];
    std::fill(result, result + kLanes, uint64_t(yes));
    warp.write(op.operand(0), result, mask);
    return;
  }
  const bool all = yes == mask, any = yes != 0;
  const bool result = op.mode == 0 ? all : op.mode == 1 ? any : all || !any;
  warp.writePredicate(op.operand(0), result ? kAllLanes : 0, mask);
}

static bool decodeVote(Opcode &opcode, Instruction &op) {
  if (!opcode.take("sync"))
    return false;
  const int kind = opcode.takeOneOf({"all", "any", "uni", "ballot"});
  op.mode = uint8_t(kind);
  op.execute = vote;
  if (kind == 3)
    return opcode.take("b32") && haveKinds(op, "rqv");
  return kind >= 0 && opcode.take("pred") && haveKinds(op, "pqv");
}

template <typename T>
static T reduceTwo(uint8_t kind, T a, T b) {
  switch (kind) {
  case 0:
    return T(uint32_t(a) + uint32_t(b));
  case 1:
    return std::min(a, b);
  case 2:
    return std::max(a, b);
  case 3:
    return a & b;
  case 4:
    return a | b;
  default:
    return a ^ b;
  }
}

template <typename T>
static void reduceLanes(Warp &warp, const Instruction &op, Mask mask) {
  if (!gatherNamed(warp, op.operand(2), mask))
    return;
  uint64_t buffer[kLanes], result[kLanes];
  const uint64_t *values = warp.read(op.operand(1), buffer);
  bool isFirst = true;
  T sum{};
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1) {
      const T value = bitCast<T>(values[lane]);
      sum = isFirst ? value : reduceTwo(op.mode, sum, value);
      isFirst = false;
    }
  std::fill(result, result + kLanes, toBits(sum));
  warp.write(op.operand(0), result, mask);
}

static bool decodeReduce(Opcode &opcode, Instruction &op) {
  if (!opcode.take("sync"))
    return false;
  const int kind = opcode.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  op.mode = uint8_t(kind);
  op.type = opcode.takeType();
  op.execute =
      op.type == Type::s32 ? reduceLanes<int32_t> : reduceLanes<uint32_t>;
  return kind >= 0 &&
         (op.type == Type::s32 || op.type == Type::u32 ||
          op.type == Type::b32) &&
         haveKinds(op, "rvv");
}

static bool decodeMatch(Opcode &opcode, Instruction &op) {
  if (!opcode.take("any") || !opcode.take("sync") || !opcode.take("b32"))
    return false;
  op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
    if (!gatherNamed(warp, o.operand(2), mask))
      return;
    uint64_t buffer[kLanes], result[kLanes] = {};
    const uint64_t *values = warp.read(o.operand(1), buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned other = 0; other < kLanes; ++other)
        if ((mask >> other & 1) &&
            uint32_t(values[lane]) == uint32_t(values[other]))
          result[lane] |= uint64_t(1) << other;
    warp.write(o.operand(0), result, mask);
  };
  return haveKinds(op, "rvv");
}

static bool decodeActiveMask(Opcode &opcode, Instruction &op) {
  op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
    uint64_t result[kLanes];
    std::fill(result, result + kLanes, uint64_t(mask));
    warp.write(o.operand(0), result, mask);
  };
  return opcode.take("b32") && haveKinds(op, "r");
}

void emugpu::addCollectives(Decoders &decoders) {
  decoders["shfl"] = decodeShuffle;
  decoders["vote"] = decodeVote;
  decoders["redux"] = decodeReduce;
  decoders["match"] = decodeMatch;
  decoders["activemask"] = decodeActiveMask;
}
