//===- Team.cpp - threads that reduce a row together ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/Team.h"

#include "dialects/cuda/CudaDialect.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Bytes of a partial result.
static constexpr int64_t kResultBytes = 4;

Value Team::teamOf(Code &code, Value thread) const {
  if (threads == blockThreads)
    return code.number(0);
  return distance > 1 ? code.remainder(thread, distance)
                      : code.divide(thread, threads);
}

Value Team::memberOf(Code &code, Value thread) const {
  if (threads == 1)
    return code.number(0);
  if (threads == blockThreads)
    return thread;
  return distance > 1 ? code.divide(thread, distance)
                      : code.remainder(thread, threads);
}

int64_t Team::sharedBytes(int64_t count) const {
  if (distance > 1)
    return threads > 1 ? count * blockThreads * kResultBytes : 0;
  return threads > kWarp ? count * (blockThreads / kWarp) * kResultBytes : 0;
}

/// Combines the parts of teams whose members are at a distance, in memory at
/// `shared`. Each step halves the threads that have parts.
static SmallVector<Value> combineDistant(Code &code, const Team &team,
                                         Value shared, Value thread,
                                         SmallVector<Value> parts,
                                         CombineFn combine) {
  OpBuilder &b = code.b;
  auto placeOf = [&](size_t i, Value thread) -> Value {
    return code.shift(shared, b.getI32Type(),
                      code.add(thread, int64_t(i) * team.blockThreads));
  };
  auto load = [&](size_t i, Value thread) -> Value {
    return code.load(placeOf(i, thread), parts[i].getType(), kResultBytes);
  };
  for (auto [i, part] : llvm::enumerate(parts))
    code.store(part, placeOf(i, thread), kResultBytes);
  NVVM::BarrierOp::create(b, code.loc);
  for (int64_t half = team.blockThreads / 2; half >= team.distance; half /= 2) {
    auto branch = scf::IfOp::create(b, code.loc, code.isWithin(thread, half),
                                    /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenYield());
      for (size_t i = 0; i < parts.size(); ++i) {
        Value other = load(i, code.add(thread, half));
        code.store(combine(i, load(i, thread), other), placeOf(i, thread),
                   kResultBytes);
      }
    }
    NVVM::BarrierOp::create(b, code.loc);
  }
  Value result = team.teamOf(code, thread);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = load(i, result);
  return parts;
}

SmallVector<Value> cuda::combineTeam(Code &code, const Team &team,
                                     const TeamCode &place,
                                     SmallVector<Value> parts,
                                     CombineFn combine) {
  OpBuilder &b = code.b;
  Value thread = place.thread;
  if (team.threads == 1)
    return parts;
  if (team.distance > 1) {
    Value shared =
        code.shift(code.sharedMemory(place.kernels), b.getI32Type(),
                   code.number(int64_t(place.numBefore) * team.blockThreads));
    return combineDistant(code, team, shared, thread, std::move(parts),
                          combine);
  }
  for (int64_t distance = std::min(team.threads, kWarp) / 2; distance > 0;
       distance /= 2)
    for (auto [i, part] : llvm::enumerate(parts))
      part = combine(i, part, code.exchange(part, distance));
  if (team.threads <= kWarp)
    return parts;
  // The parts of a result, one for each warp of the block, are neighbors.
  const int64_t warps = team.blockThreads / kWarp;
  Value shared = code.sharedMemory(place.kernels);
  auto placeOf = [&](size_t i, Value warp) -> Value {
    return code.shift(shared, b.getI32Type(),
                      code.add(warp, int64_t(place.numBefore + i) * warps));
  };
  Value isFirst = code.equals(code.remainder(thread, kWarp), 0);
  auto branch =
      scf::IfOp::create(b, code.loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenYield());
    for (auto [i, part] : llvm::enumerate(parts))
      code.store(part, placeOf(i, code.divide(thread, kWarp)), kResultBytes);
  }
  NVVM::BarrierOp::create(b, code.loc);
  const int64_t teamWarps = team.threads / kWarp;
  Value firstWarp = code.number(0);
  if (team.threads != team.blockThreads)
    firstWarp = code.multiply(code.divide(thread, team.threads), teamWarps);
  for (auto [i, part] : llvm::enumerate(parts)) {
    Value result;
    for (int64_t warp = 0; warp < teamWarps; ++warp) {
      Value other = code.load(placeOf(i, code.add(firstWarp, warp)),
                              part.getType(), kResultBytes);
      result = result ? combine(i, result, other) : other;
    }
    part = result;
  }
  return parts;
}
