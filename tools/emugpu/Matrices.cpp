//===- Matrices.cpp - ldmatrix and mma ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of fragments is that of the PTX ISA, "Matrix multiply-accumulate
// operation using mma instruction". Let group = lane / 4 and t = lane % 4. A
// register holds e elements, and i is the index of an element in it.
// | A, register r: row group + 8 (r % 2), depth e t + i + 4 e (r / 2)
// | B, register r: depth e t + i + 4 e r, column group
// | C, register r: row group + 8 (r / 2), column 2 t + r % 2
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Numbers.h"
#include "tools/emugpu/Reach.h"

#include <cstring>

using namespace emugpu;

/// Gathers all lanes of the warp, because a matrix instruction needs all of
/// them.
static bool gatherWarp(Warp &warp, Mask &mask) {
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

namespace {
/// The sizes of a product, and the number of elements in a register of A and of
/// B.
struct Shape {
  unsigned rows, columns, depth, perRegister;
};

/// The largest sizes of any shape.
constexpr unsigned kRows = 16, kColumns = 8, kDepth = 32;

template <typename T>
struct Fragments {
  T a[kRows][kDepth], b[kColumns][kDepth];
};
} // namespace

static float elementOf(Type type, uint32_t bits, unsigned i, float) {
  switch (type) {
  case Type::f16:
    return halfToFloat(uint16_t(bits >> (16 * i)));
  case Type::bf16:
    return bfloatToFloat(uint16_t(bits >> (16 * i)));
  default:
    return tf32ToFloat(bits);
  }
}
static int32_t elementOf(Type type, uint32_t bits, unsigned i, int32_t) {
  const uint8_t byte = uint8_t(bits >> (8 * i));
  return type == Type::s8 ? int32_t(int8_t(byte)) : int32_t(byte);
}

template <typename T>
static void gatherFragments(Warp &warp, const Instruction &op,
                            const Shape &shape, Fragments<T> &out) {
  uint64_t buffer[kLanes];
  const unsigned each = shape.perRegister;
  const std::vector<Operand> &a = op.operand(1).elements;
  for (unsigned r = 0; r < a.size(); ++r) {
    const uint64_t *values = warp.read(a[r], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < each; ++i)
        out.a[lane / 4 + 8 * (r % 2)]
             [each * (lane % 4) + i + 4 * each * (r / 2)] =
            elementOf(op.type, uint32_t(values[lane]), i, T());
  }
  const std::vector<Operand> &b = op.operand(2).elements;
  for (unsigned r = 0; r < b.size(); ++r) {
    const uint64_t *values = warp.read(b[r], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < each; ++i)
        out.b[lane / 4][each * (lane % 4) + i + 4 * each * r] =
            elementOf(op.type2, uint32_t(values[lane]), i, T());
  }
}

static void addProduct(int32_t &sum, int32_t a, int32_t b) {
  sum = int32_t(uint32_t(sum) + uint32_t(a) * uint32_t(b));
}
static void addProduct(float &sum, float a, float b) { sum += a * b; }

template <typename T>
static void multiply(Warp &warp, const Instruction &op, Mask mask,
                     const Shape &shape) {
  if (!gatherWarp(warp, mask))
    return;
  ++warp.block.launch.counts.matrixProducts;
  Fragments<T> fragments;
  gatherFragments(warp, op, shape, fragments);
  T sums[kRows][kColumns];
  uint64_t buffer[kLanes], result[4][kLanes];
  // If `mode` is true, sums are f16, with two in a register.
  const std::vector<Operand> &c = op.operand(3).elements;
  for (unsigned r = 0; r < c.size(); ++r) {
    const uint64_t *values = warp.read(c[r], buffer);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < (op.mode ? 2u : 1u); ++i) {
        const unsigned index = op.mode ? 2 * r + i : r;
        T &sum = sums[lane / 4 + 8 * (index / 2)][2 * (lane % 4) + index % 2];
        if (op.mode)
          sum = T(halfToFloat(uint16_t(values[lane] >> (16 * i))));
        else
          sum = bitCast<T>(values[lane]);
      }
  }
  for (unsigned row = 0; row < shape.rows; ++row)
    for (unsigned column = 0; column < shape.columns; ++column) {
      // A GPU's order of summation is not specified.
      T sum{};
      for (unsigned k = 0; k < shape.depth; ++k)
        addProduct(sum, fragments.a[row][k], fragments.b[column][k]);
      addProduct(sums[row][column], sum, T(1));
    }
  const std::vector<Operand> &d = op.operand(0).elements;
  for (unsigned r = 0; r < d.size(); ++r)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto at = [&](unsigned index) {
        return sums[lane / 4 + 8 * (index / 2)][2 * (lane % 4) + index % 2];
      };
      if (op.mode)
        result[r][lane] = floatToHalf(float(at(2 * r))) |
                          uint64_t(floatToHalf(float(at(2 * r + 1)))) << 16;
      else
        result[r][lane] = toBits(at(r));
    }
  for (unsigned r = 0; r < d.size(); ++r)
    warp.write(d[r], result[r], mask);
}

template <typename T, unsigned depth, unsigned perRegister>
static void multiplyOf(Warp &warp, const Instruction &op, Mask mask) {
  multiply<T>(warp, op, mask, {kRows, kColumns, depth, perRegister});
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
  if (areHalves && op.type2 == op.type && (depth == 8 || depth == 16) &&
      (result == Type::f32 || (result == Type::f16 && op.type == Type::f16)))
    op.execute =
        depth == 8 ? multiplyOf<float, 8, 2> : multiplyOf<float, 16, 2>;
  else if (op.type == Type::tf32 && op.type2 == Type::tf32 &&
           (depth == 4 || depth == 8) && result == Type::f32)
    op.execute = depth == 4 ? multiplyOf<float, 4, 1> : multiplyOf<float, 8, 1>;
  else if (areBytes && (op.type2 == Type::s8 || op.type2 == Type::u8) &&
           (depth == 16 || depth == 32) && result == Type::s32)
    op.execute =
        depth == 16 ? multiplyOf<int32_t, 16, 4> : multiplyOf<int32_t, 32, 4>;
  else
    return false;
  op.mode = result == Type::f16;
  const unsigned perRegister = areHalves ? 2 : areBytes ? 4 : 1;
  const size_t ofA = kRows * depth / kLanes / perRegister;
  const size_t ofC = op.mode ? 2 : 4;
  return haveKinds(op, "{{{{") && op.operand(0).elements.size() == ofC &&
         op.operand(1).elements.size() == ofA &&
         op.operand(2).elements.size() == ofA / 2 &&
         op.operand(3).elements.size() == ofC;
}

void emugpu::addMatrices(Decoders &decoders) {
  decoders["ldmatrix"] = decodeLoadMatrix;
  decoders["mma"] = decodeMultiply;
}
