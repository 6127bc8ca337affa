//===- Access.cpp - loads, stores, copies and atomics ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Numbers.h"
#include "tools/emugpu/Order.h"
#include "tools/emugpu/Reach.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

/// Takes cache hints, which do not change results.
static void takeCacheHints(Opcode &opcode) {
  opcode.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  while (opcode.takeOneOf({"L1::evict_normal", "L1::evict_first",
                           "L1::evict_last", "L1::no_allocate", "L2::64B",
                           "L2::128B", "L2::256B"}) >= 0)
    ;
}

static const Operand &element(const Operand &operand, unsigned i) {
  return operand.kind == Operand::Kind::vector ? operand.elements[i] : operand;
}

/// Loads elements of type T, which are extended to the width of a register.
template <typename T>
static void loadValues(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffer[kLanes], values[4][kLanes];
  const uint64_t *addresses = warp.read(op.operand(1), buffer);
  Reach reach(warp, op.space);
  if (op.isVolatile)
    ++warp.block.launch.polls;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    const uint8_t *source =
        reach.access(addresses[lane], sizeof(T) * op.count,
                     /*isWrite=*/false, lane, op.isVolatile);
    for (unsigned i = 0; i < op.count; ++i) {
      T value;
      memcpy(&value, source + i * sizeof(T), sizeof(T));
      values[i][lane] = uint64_t(int64_t(value));
    }
    if (op.mode & kAcquires)
      acquire(warp, lane, addresses[lane]);
    else if (op.isVolatile)
      warp.lanes[lane].loosely.push_back(addresses[lane]);
  }
  for (unsigned i = 0; i < op.count; ++i)
    warp.write(element(op.operand(0), i), values[i], mask);
}

template <typename T>
static void storeValues(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffers[5][kLanes];
  const uint64_t *addresses = warp.read(op.operand(0), buffers[0]);
  const uint64_t *values[4];
  for (unsigned i = 0; i < op.count; ++i)
    values[i] = warp.read(element(op.operand(1), i), buffers[i + 1]);
  Reach reach(warp, op.space);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    if (op.isVolatile && ((op.mode & kReleases) || warp.lanes[lane].hasFenced))
      publish(warp, lane, addresses[lane]);
    uint8_t *target = reach.access(addresses[lane], sizeof(T) * op.count,
                                   /*isWrite=*/true, lane, op.isVolatile);
    for (unsigned i = 0; i < op.count; ++i)
      memcpy(target + i * sizeof(T), &values[i][lane], sizeof(T));
  }
  ++warp.block.launch.progress;
}

/// Returns the function that loads or stores elements of a type.
static Execute accessOf(Type type, bool isLoad) {
  switch (type) {
  case Type::s8:
    return isLoad ? loadValues<int8_t> : storeValues<int8_t>;
  case Type::s16:
    return isLoad ? loadValues<int16_t> : storeValues<int16_t>;
  case Type::s32:
    return isLoad ? loadValues<int32_t> : storeValues<int32_t>;
  default:
    break;
  }
  switch (bytesOf(type)) {
  case 1:
    return isLoad ? loadValues<uint8_t> : storeValues<uint8_t>;
  case 2:
    return isLoad ? loadValues<uint16_t> : storeValues<uint16_t>;
  case 4:
    return isLoad ? loadValues<uint32_t> : storeValues<uint32_t>;
  default:
    return isLoad ? loadValues<uint64_t> : storeValues<uint64_t>;
  }
}

static bool decodeAccess(Opcode &opcode, Instruction &op, bool isLoad) {
  op.isVolatile = opcode.take("volatile");
  opcode.take("weak");
  if (int order = opcode.takeOneOf({"relaxed", "acquire", "release"});
      order >= 0) {
    if (opcode.takeOneOf({"cta", "gpu", "sys"}) < 0)
      return false;
    op.isVolatile = true;
    op.mode = order == 1 ? kAcquires : order == 2 ? kReleases : 0;
  }
  op.space = takeSpace(opcode);
  if (op.space == Space::param)
    opcode.take("entry");
  const bool isReadOnly = isLoad && opcode.take("nc");
  takeCacheHints(opcode);
  op.count = opcode.take("v2") ? 2 : opcode.take("v4") ? 4 : 1;
  op.type = opcode.takeType();
  const unsigned bytes = bytesOf(op.type);
  if (!bytes || bytes > 8 || bytes * op.count > 16 ||
      (isReadOnly && op.space != Space::global))
    return false;
  op.execute = accessOf(op.type, isLoad);
  const char *scalar = isLoad ? "ra" : "av", *vector = isLoad ? "{a" : "a{";
  if (!haveKinds(op, op.count == 1 ? scalar : vector) &&
      !(op.count == 1 && haveKinds(op, vector)))
    return false;
  const Operand &data = op.operand(isLoad ? 0 : 1);
  return data.kind != Operand::Kind::vector || data.elements.size() == op.count;
}

static bool decodeLoad(Opcode &opcode, Instruction &op) {
  return decodeAccess(opcode, op, true);
}
static bool decodeStore(Opcode &opcode, Instruction &op) {
  return decodeAccess(opcode, op, false);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static void moveValue(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffer[kLanes];
  warp.write(op.operand(0), warp.read(op.operand(1), buffer), mask);
}

static void movePredicate(Warp &warp, const Instruction &op, Mask mask) {
  warp.writePredicate(op.operand(0), warp.readPredicate(op.operand(1)), mask);
}

/// Joins the elements in braces to one register.
static void packValue(Warp &warp, const Instruction &op, Mask mask) {
  const std::vector<Operand> &elements = op.operand(1).elements;
  const unsigned bits = 8 * bytesOf(op.type) / unsigned(elements.size());
  uint64_t buffer[kLanes], result[kLanes] = {};
  for (unsigned i = 0; i < elements.size(); ++i) {
    const uint64_t *part = warp.read(elements[i], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result[lane] |= (part[lane] & ((uint64_t(1) << bits) - 1)) << (i * bits);
  }
  warp.write(op.operand(0), result, mask);
}

/// Splits a register into the elements in braces.
static void unpackValue(Warp &warp, const Instruction &op, Mask mask) {
  const std::vector<Operand> &elements = op.operand(0).elements;
  const unsigned bits = 8 * bytesOf(op.type) / unsigned(elements.size());
  uint64_t buffer[kLanes], source[kLanes], part[kLanes];
  memcpy(source, warp.read(op.operand(1), buffer), sizeof(source));
  for (unsigned i = 0; i < elements.size(); ++i) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      part[lane] = source[lane] >> (i * bits) & ((uint64_t(1) << bits) - 1);
    warp.write(elements[i], part, mask);
  }
}

static bool decodeMove(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  if (op.type == Type::pred) {
    op.execute = movePredicate;
    return haveKinds(op, "pq");
  }
  if (!bytesOf(op.type) || bytesOf(op.type) > 8)
    return false;
  if (haveKinds(op, "r{"))
    op.execute = packValue;
  else if (haveKinds(op, "{v"))
    op.execute = unpackValue;
  else if (haveKinds(op, "rv"))
    op.execute = moveValue;
  else
    return false;
  if (op.execute == moveValue)
    return true;
  const size_t count =
      op.operand(op.execute == packValue ? 1 : 0).elements.size();
  return (count == 2 || count == 4) && bytesOf(op.type) >= count;
}

/// A generic address of global memory is equal to the global address. Shared
/// and local memory have separate windows of generic addresses.
static bool decodeConvertAddress(Opcode &opcode, Instruction &op) {
  const bool isFromGeneric = opcode.take("to");
  op.space = takeSpace(opcode);
  op.type = opcode.takeType();
  if (bytesOf(op.type) != 8 || !haveKinds(op, "rv"))
    return false;
  switch (op.space) {
  case Space::global:
  case Space::constant:
  case Space::param:
    op.execute = moveValue;
    return true;
  case Space::shared:
  case Space::local:
    op.mode = isFromGeneric;
    op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
      const uint64_t window = uint64_t(o.space == Space::shared ? 0x7e : 0x7d)
                              << 40;
      uint64_t buffer[kLanes], result[kLanes];
      const uint64_t *source = warp.read(o.operand(1), buffer);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        result[lane] = o.mode ? source[lane] - window : source[lane] + window;
      warp.write(o.operand(0), result, mask);
    };
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// cp.async: copies 4, 8 or 16 bytes to shared memory. A third operand is the
/// number of bytes to read; the rest is filled with zeros.
static void copyAsync(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffers[3][kLanes];
  const uint64_t *targets = warp.read(op.operand(0), buffers[0]);
  const uint64_t *sources = warp.read(op.operand(1), buffers[1]);
  const unsigned bytes = unsigned(op.operand(2).value);
  const uint64_t *given =
      op.numOperands() == 4 ? warp.read(op.operand(3), buffers[2]) : nullptr;
  Reach source(warp, Space::global), target(warp, Space::shared);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    AsyncCopy copy{uint32_t(targets[lane]), 0, uint8_t(bytes), {}};
    const unsigned count = given ? unsigned(uint32_t(given[lane])) : bytes;
    if (count > bytes)
      warp.fault("cp.async reads more bytes than it writes", int(lane));
    if (sources[lane] % bytes)
      warp.fault("the source of cp.async is not aligned", int(lane));
    // Reads are powers of two.
    for (unsigned i = 0; i < count;) {
      unsigned step = 1;
      while (step * 2 <= count - i && i % (step * 2) == 0)
        step *= 2;
      memcpy(copy.data + i,
             source.access(sources[lane] + i, step, /*isWrite=*/false, lane),
             step);
      i += step;
    }
    target.access(targets[lane], bytes, /*isWrite=*/true, lane);
    warp.startCopy(lane, copy);
  }
}

static bool decodeCopy(Opcode &opcode, Instruction &op) {
  if (!opcode.take("async"))
    return false;
  if (opcode.take("commit_group")) {
    op.execute = [](Warp &warp, const Instruction &, Mask mask) {
      warp.commitCopies(mask);
    };
    return haveKinds(op, "");
  }
  if (opcode.take("wait_group")) {
    op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
      warp.waitCopies(mask, size_t(o.operand(0).value));
    };
    return haveKinds(op, "i") && op.operand(0).value >= 0;
  }
  if (opcode.take("wait_all")) {
    op.execute = [](Warp &warp, const Instruction &, Mask mask) {
      warp.commitCopies(mask);
      warp.waitCopies(mask, 0);
    };
    return haveKinds(op, "");
  }
  const bool isAroundL1 = opcode.take("cg");
  if ((!isAroundL1 && !opcode.take("ca")) ||
      !(opcode.take("shared") || opcode.take("shared::cta")) ||
      !opcode.take("global"))
    return false;
  takeCacheHints(opcode);
  if (!haveKinds(op, "aai") && !haveKinds(op, "aaiv"))
    return false;
  const int64_t bytes = op.operand(2).value;
  op.execute = copyAsync;
  return bytes == 16 || (!isAroundL1 && (bytes == 4 || bytes == 8));
}

static bool decodePrefetch(Opcode &opcode, Instruction &op) {
  takeSpace(opcode);
  op.execute = [](Warp &, const Instruction &, Mask) {};
  return opcode.takeOneOf({"L1", "L2"}) >= 0 && haveKinds(op, "a");
}

void emugpu::addMemory(Decoders &decoders) {
  decoders["ld"] = decodeLoad;
  decoders["st"] = decodeStore;
  decoders["mov"] = decodeMove;
  decoders["cvta"] = decodeConvertAddress;
  decoders["cp"] = decodeCopy;
  decoders["prefetch"] = decodePrefetch;
}
