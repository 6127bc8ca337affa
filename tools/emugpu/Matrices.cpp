//===- Matrices.cpp - ldmatrix and mma ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Matrices.h"
#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Reach.h"

#include <cstring>

using namespace emugpu;

bool emugpu::gatherWarp(Warp &warp, Mask &mask) {
  if (mask != kAllLanes && (mask | warp.live) != kAllLanes)
    warp.fault("a matrix instruction needs all 32 lanes of the warp");
  return warp.gather(kAllLanes, mask);
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Returns a lane other than `giver` that receives elements of a row.
static unsigned receiverOf(unsigned row, unsigned giver, bool isTransposed) {
  const unsigned lane = isTransposed ? row / 2 : 4 * row;
  if (lane != giver)
    return lane;
  return isTransposed ? lane + 4 : lane + 1;
}

/// Loads `count` matrices of 8x8 halves. Lane 8 i + r provides the address of
/// row r of matrix i. If `mode` is true, transposes the matrices. The lanes
/// that receive a row must be ordered after its writer.
static void loadMatrices(Warp &warp, const Instruction &op, Mask mask) {
  if (!gatherWarp(warp, mask))
    return;
  uint64_t buffer[kLanes];
  const uint64_t *addresses = warp.read(op.operand(1), buffer);
  Reach reach(warp, op.space);
  for (unsigned i = 0; i < op.count; ++i) {
    uint16_t rows[8][8];
    for (unsigned row = 0; row < 8; ++row) {
      const unsigned lane = 8 * i + row;
      memcpy(rows[row],
             reach.access(addresses[lane], 16, /*isWrite=*/false,
                          receiverOf(row, lane, op.mode)),
             16);
    }
    uint64_t result[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned row = lane / 4, column = 2 * (lane % 4);
      const uint32_t low = op.mode ? rows[column][row] : rows[row][column];
      const uint32_t high =
          op.mode ? rows[column + 1][row] : rows[row][column + 1];
      result[lane] = low | high << 16;
    }
    warp.write(op.operand(0).elements[i], result, mask);
  }
}

static bool decodeLoadMatrix(Opcode &opcode, Instruction &op) {
  if (!opcode.take("sync") || !opcode.take("aligned") || !opcode.take("m8n8"))
    return false;
  const int count = opcode.takeOneOf({"x1", "x2", "x4"});
  op.mode = opcode.take("trans");
  if (opcode.take("shared") || opcode.take("shared::cta"))
    op.space = Space::shared;
  op.count = uint8_t(1 << (count < 0 ? 0 : count));
  op.execute = loadMatrices;
  return count >= 0 && opcode.take("b16") && haveKinds(op, "{a") &&
         op.operand(0).elements.size() == op.count;
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

static int32_t byteOf(Type type, uint32_t bits, unsigned i) {
  const uint8_t byte = uint8_t(bits >> (8 * i));
  return type == Type::s8 ? int32_t(int8_t(byte)) : int32_t(byte);
}

/// Multiplies 16 rows and 8 columns of bytes. Sums are s32.
template <unsigned depth>
static void multiplyBytes(Warp &warp, const Instruction &op, Mask mask) {
  if (!gatherWarp(warp, mask))
    return;
  ++warp.block.launch.counts.matrixProducts;
  int32_t a[16][depth], b[depth][8];
  uint32_t sums[16][8];
  uint64_t buffer[kLanes], result[4][kLanes];
  const std::vector<Operand> &ofA = op.operand(1).elements;
  for (unsigned r = 0; r < ofA.size(); ++r) {
    const uint64_t *values = warp.read(ofA[r], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        a[lane / 4 + 8 * (r % 2)][4 * (lane % 4) + i + 16 * (r / 2)] =
            byteOf(op.type, uint32_t(values[lane]), i);
  }
  const std::vector<Operand> &ofB = op.operand(2).elements;
  for (unsigned r = 0; r < ofB.size(); ++r) {
    const uint64_t *values = warp.read(ofB[r], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        b[4 * (lane % 4) + i + 16 * r][lane / 4] =
            byteOf(op.type2, uint32_t(values[lane]), i);
  }
  const std::vector<Operand> &c = op.operand(3).elements;
  for (unsigned r = 0; r < 4; ++r) {
    const uint64_t *values = warp.read(c[r], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      sums[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2] =
          uint32_t(values[lane]);
  }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < 8; ++column)
        sums[row][column] += uint32_t(a[row][k]) * uint32_t(b[k][column]);
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result[r][lane] = sums[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2];
  for (unsigned r = 0; r < 4; ++r)
    warp.write(op.operand(0).elements[r], result[r], mask);
}

static bool decodeMultiply(Opcode &opcode, Instruction &op) {
  if (!opcode.take("sync") || !opcode.take("aligned"))
    return false;
  const int shape =
      opcode.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (shape < 0 || !opcode.take("row") || !opcode.take("col"))
    return false;
  opcode.take("satfinite");
  const Type result = opcode.takeType();
  op.type = opcode.takeType();
  op.type2 = opcode.takeType();
  if (opcode.takeType() != result)
    return false;
  const unsigned depth = 4u << shape;
  const bool areHalves = op.type == Type::f16 || op.type == Type::bf16;
  const bool areBytes = op.type == Type::s8 || op.type == Type::u8;
  const bool isHalfSum = result == Type::f16;
  if (areHalves && op.type2 == op.type && (depth == 8 || depth == 16) &&
      (result == Type::f32 || (isHalfSum && op.type == Type::f16)))
    op.execute = floatProductOf(op.type, depth, isHalfSum);
  else if (op.type == Type::tf32 && op.type2 == Type::tf32 &&
           (depth == 4 || depth == 8) && result == Type::f32)
    op.execute = floatProductOf(op.type, depth, /*areHalves=*/false);
  else if (areBytes && (op.type2 == Type::s8 || op.type2 == Type::u8) &&
           (depth == 16 || depth == 32) && result == Type::s32)
    op.execute = depth == 16 ? multiplyBytes<16> : multiplyBytes<32>;
  else
    return false;
  const unsigned perRegister = areHalves ? 2 : areBytes ? 4 : 1;
  const size_t ofA = 16 * depth / kLanes / perRegister;
  const size_t ofC = isHalfSum ? 2 : 4;
  return haveKinds(op, "{{{{") && op.operand(0).elements.size() == ofC &&
         op.operand(1).elements.size() == ofA &&
         op.operand(2).elements.size() == ofA / 2 &&
         op.operand(3).elements.size() == ofC;
}

void emugpu::addMatrices(Decoders &decoders) {
  decoders["ldmatrix"] = decodeLoadMatrix;
  decoders["mma"] = decodeMultiply;
}
