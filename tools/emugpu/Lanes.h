//===- Lanes.h - functions of each lane's values ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_LANES_H
#define INGOT_TOOLS_EMUGPU_LANES_H

#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Numbers.h"

namespace emugpu {

// Inactive lanes compute, too, but do not write. The compiler can vectorize
// loops over all lanes.

template <typename T, typename Function>
void eachOfOne(Warp &warp, const Instruction &op, Mask mask,
               Function function) {
  uint64_t buffer[kLanes], result[kLanes];
  const uint64_t *a = warp.read(op.operand(1), buffer);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = toBits(function(bitCast<T>(a[lane])));
  warp.write(op.operand(0), result, mask);
}

template <typename T, typename U = T, typename Function>
void eachOfTwo(Warp &warp, const Instruction &op, Mask mask,
               Function function) {
  uint64_t buffers[2][kLanes], result[kLanes];
  const uint64_t *a = warp.read(op.operand(1), buffers[0]);
  const uint64_t *b = warp.read(op.operand(2), buffers[1]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = toBits(function(bitCast<T>(a[lane]), bitCast<U>(b[lane])));
  warp.write(op.operand(0), result, mask);
}

template <typename T, typename U = T, typename V = T, typename Function>
void eachOfThree(Warp &warp, const Instruction &op, Mask mask,
                 Function function) {
  uint64_t buffers[3][kLanes], result[kLanes];
  const uint64_t *a = warp.read(op.operand(1), buffers[0]);
  const uint64_t *b = warp.read(op.operand(2), buffers[1]);
  const uint64_t *c = warp.read(op.operand(3), buffers[2]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = toBits(function(bitCast<T>(a[lane]), bitCast<U>(b[lane]),
                                   bitCast<V>(c[lane])));
  warp.write(op.operand(0), result, mask);
}

template <template <typename> class F>
Execute integerBinary(Type type) {
  switch (type) {
#define INGOT_CASE(NAME, T)                                                    \
  case Type::NAME:                                                             \
    return [](Warp &w, const Instruction &op, Mask m) {                        \
      eachOfTwo<T>(w, op, m, F<T>());                                          \
    };
    INGOT_CASE(u16, uint16_t)
    INGOT_CASE(b16, uint16_t)
    INGOT_CASE(s16, int16_t)
    INGOT_CASE(u32, uint32_t)
    INGOT_CASE(b32, uint32_t)
    INGOT_CASE(s32, int32_t)
    INGOT_CASE(u64, uint64_t)
    INGOT_CASE(b64, uint64_t)
    INGOT_CASE(s64, int64_t)
#undef INGOT_CASE
  default:
    return nullptr;
  }
}

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_LANES_H
