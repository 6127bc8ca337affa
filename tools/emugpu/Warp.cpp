//===- Warp.cpp - lanes, registers and control flow -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Machine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace emugpu;

Warp::Warp(Block &block, unsigned number, unsigned numLanes)
    : block(block), number(number),
      live(numLanes == kLanes ? kAllLanes : (Mask(1) << numLanes) - 1) {
  const Kernel &kernel = *block.launch.program.kernel;
  // The bits are NaN in each format, so that an undefined register shows in
  // results.
  registers.assign(size_t(kernel.numRegisters) * kLanes, ~uint64_t(0));
  predicates.assign(kernel.numPredicates, 0);
  localMemory.assign(size_t(kernel.localBytes) * kLanes, 0xff);
  localDefined.assign(localMemory.size(), 0);
}

std::string emugpu::hexadecimal(uint64_t value) {
  char text[24];
  snprintf(text, sizeof(text), "0x%llx",
           static_cast<unsigned long long>(value));
  return text;
}

void Warp::fault(const std::string &text, int lane) const {
  const Dimensions &index = block.index;
  std::string where = block.launch.program.kernel->name + ": ";
  if (current)
    where += "PTX line " + std::to_string(current->source->line) + ", ";
  where += "block (" + std::to_string(index.x) + "," + std::to_string(index.y) +
           "," + std::to_string(index.z) + "), warp " + std::to_string(number);
  if (lane >= 0)
    where += ", lane " + std::to_string(lane);
  throw KernelFault{where + ": " + text};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static uint64_t specialValue(const Warp &warp, Special special, unsigned lane) {
  const Launch &launch = warp.block.launch;
  const Dimensions &size = launch.blockSize, &index = warp.block.index;
  const unsigned thread = warp.number * kLanes + lane;
  switch (special) {
  case Special::tidX:
    return thread % size.x;
  case Special::tidY:
    return thread / size.x % size.y;
  case Special::tidZ:
    return thread / size.x / size.y;
  case Special::ntidX:
    return size.x;
  case Special::ntidY:
    return size.y;
  case Special::ntidZ:
    return size.z;
  case Special::ctaidX:
    return index.x;
  case Special::ctaidY:
    return index.y;
  case Special::ctaidZ:
    return index.z;
  case Special::nctaidX:
    return launch.grid.x;
  case Special::nctaidY:
    return launch.grid.y;
  case Special::nctaidZ:
    return launch.grid.z;
  case Special::laneid:
    return lane;
  case Special::warpid:
    return warp.number;
  case Special::lanemaskLt:
    return (Mask(1) << lane) - 1;
  case Special::lanemaskLe:
    return (Mask(2) << lane) - 1;
  case Special::lanemaskGt:
    return Mask(~((uint64_t(2) << lane) - 1));
  case Special::lanemaskGe:
    return Mask(~((uint64_t(1) << lane) - 1));
  case Special::lanemaskEq:
    return Mask(1) << lane;
  case Special::clock:
  case Special::clock64:
    return launch.counts.instructions;
  case Special::dynamicSharedBytes:
    return launch.dynamicShared;
  case Special::totalSharedBytes:
    return warp.block.shared.size();
  }
  return 0;
}

/// Returns the offset of dynamic shared memory.
static uint64_t dynamicOffset(const Warp &warp) {
  return (warp.block.launch.program.kernel->sharedBytes + 127) / 128 * 128;
}

static const uint64_t *fill(uint64_t *buffer, uint64_t value) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    buffer[lane] = value;
  return buffer;
}

const uint64_t *Warp::read(const Operand &operand, uint64_t *buffer) {
  switch (operand.kind) {
  case Operand::Kind::data:
    return &registers[size_t(operand.index) * kLanes];
  case Operand::Kind::immediate:
    return fill(buffer, uint64_t(operand.value));
  case Operand::Kind::special:
    for (unsigned lane = 0; lane < kLanes; ++lane)
      buffer[lane] = specialValue(*this, Special(operand.index), lane);
    return buffer;
  case Operand::Kind::predicate:
    for (unsigned lane = 0; lane < kLanes; ++lane)
      buffer[lane] = predicates[operand.index] >> lane & 1;
    return buffer;
  case Operand::Kind::dynamicShared:
    return fill(buffer, dynamicOffset(*this));
  case Operand::Kind::dynamicAddress:
    return fill(buffer, dynamicOffset(*this) + uint64_t(operand.value));
  case Operand::Kind::address: {
    if (operand.index < 0)
      return fill(buffer, uint64_t(operand.value));
    const uint64_t *base = &registers[size_t(operand.index) * kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      buffer[lane] = base[lane] + uint64_t(operand.value);
    return buffer;
  }
  default:
    fault("an operand cannot be read");
  }
}

Mask Warp::readPredicate(const Operand &operand) {
  if (operand.kind == Operand::Kind::immediate)
    return operand.value ? kAllLanes : 0;
  Mask value = predicates[operand.index];
  return operand.isNegated ? ~value : value;
}

void Warp::write(const Operand &operand, const uint64_t *values, Mask mask) {
  if (operand.kind == Operand::Kind::sink)
    return;
  uint64_t *target = &registers[size_t(operand.index) * kLanes];
  if (mask == kAllLanes) {
    memmove(target, values, kLanes * sizeof(uint64_t));
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1)
      target[lane] = values[lane];
}

void Warp::writePredicate(const Operand &operand, Mask values, Mask mask) {
  if (operand.kind == Operand::Kind::sink)
    return;
  Mask &target = predicates[operand.index];
  target = (target & ~mask) | (values & mask);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Warp::jump(int32_t target, Mask mask) {
  isConverged &= mask == live;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1)
      position[lane] = target - 1; // step adds 1
}

void Warp::exit(Mask mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1) {
      if (!lanes[lane].copies.empty() && block.launch.options.isChecked)
        fault("the lane exits, but has not waited for its copies", int(lane));
    }
  live &= ~mask;
  block.threadsExited();
}

bool Warp::gather(Mask members, Mask &mask) {
  if (members & ~live)
    fault("lanes " + hexadecimal(members) + " must take part, but of them " +
          hexadecimal(members & ~live) + " have exited");
  if (mask & ~members)
    fault("a lane executes the instruction, but is not in its mask",
          __builtin_ctz(mask & ~members));
  const int32_t here = position[__builtin_ctz(mask)];
  Mask present = mask;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((members & atCollective) >> lane & 1)
      present |= Mask(position[lane] == here) << lane;
  if (present != members) {
    atCollective |= mask;
    executed = 0;
    return false;
  }
  atCollective &= ~members;
  mask = executed = members;
  return true;
}

void Warp::releaseLanes(Mask mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1)
      for (unsigned other = 0; other < kLanes; ++other)
        if (mask >> other & 1)
          knows[lane][other] = clock + 1;
  // Lanes also learn what the other lanes know about other warps.
  std::vector<uint32_t> all;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) && !lanes[lane].known.empty()) {
      all.resize(block.numThreads());
      for (size_t i = 0; i < all.size(); ++i)
        all[i] = std::max(all[i], lanes[lane].known[i]);
    }
  if (!all.empty())
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (mask >> lane & 1)
        lanes[lane].known = all;
  ++clock;
  segment = 0;
}

/// Returns the lanes that execute next: usually those at the lowest position,
/// sometimes others.
Mask Warp::pickLanes() {
  const Mask able = ready();
  if (!able)
    return 0;
  int32_t chosen = INT32_MAX;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (able >> lane & 1)
      chosen = std::min(chosen, position[lane]);
  if (block.launch.random() % 8 == 0) {
    unsigned lane = unsigned(block.launch.random() % kLanes);
    while (!(able >> lane & 1))
      lane = (lane + 1) % kLanes;
    chosen = position[lane];
  }
  Mask mask = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (able >> lane & 1)
      mask |= Mask(position[lane] == chosen) << lane;
  isConverged = mask == live;
  return mask;
}

void Warp::step(Mask mask) {
  const std::vector<Instruction> &code = block.launch.program.code;
  const int32_t at = position[__builtin_ctz(mask)];
  if (size_t(at) >= code.size())
    return exit(mask);
  current = &code[at];
  const Statement &source = *current->source;
  Mask active = mask;
  if (source.guard >= 0)
    active &= source.isGuardNegated ? ~predicates[source.guard]
                                    : predicates[source.guard];
  executed = active;
  if (active)
    current->execute(*this, *current, active);
  const Mask moved = executed | (mask & ~active);
  if (moved != live)
    isConverged = false;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    position[lane] += moved >> lane & 1;
}

uint64_t Warp::run(uint64_t most) {
  uint64_t count = 0;
  for (; live && count < most; ++count) {
    const Mask able = ready();
    const Mask mask = isConverged && able == live ? live : pickLanes();
    if (!mask)
      break;
    step(mask);
  }
  block.launch.counts.instructions += count;
  return count;
}
