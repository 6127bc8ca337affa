//===- FloatProducts.cpp - mma of floats ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices.h has the layout of fragments. In this layout, the lanes of a
// register of A or of C hold 8 rows, one after the other. The lanes of a
// register of B hold 8 columns.
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Matrices.h"
#include "tools/emugpu/Numbers.h"

using namespace emugpu;

namespace {
constexpr unsigned kRows = 16, kGroups = 8;
/// The rows of 8 columns of a matrix.
using Row = __m256;
} // namespace

/// Writes the lower halves of a register's lanes side by side.
static void pack(const uint64_t *values, uint32_t *packed) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    packed[lane] = uint32_t(values[lane]);
}

/// Converts 8 halves.
template <Type type>
static __m256 toFloats(__m128i halves) {
  if (type == Type::f16)
    return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

/// Reads a register of A: 8 rows, 4 words of each.
template <Type type, unsigned depth>
static void readRows(const uint64_t *values, float (*rows)[depth]) {
  alignas(32) uint32_t packed[kLanes];
  pack(values, packed);
  for (unsigned row = 0; row < kGroups; ++row) {
    const __m128i words =
        _mm_load_si128(reinterpret_cast<const __m128i *>(&packed[4 * row]));
    if (type == Type::tf32)
      _mm_storeu_ps(rows[row], _mm_castsi128_ps(_mm_and_si128(
                                   words, _mm_set1_epi32(int(0xffffe000u)))));
    else
      _mm256_storeu_ps(rows[row], toFloats<type>(words));
  }
}

/// Reads a register of B: 8 columns, 4 words of each.
template <Type type>
static void readColumns(const uint64_t *values, Row *rows) {
  const auto *words = reinterpret_cast<const int *>(values);
  const __m256i lanes = _mm256_setr_epi32(0, 8, 16, 24, 32, 40, 48, 56);
  for (unsigned t = 0; t < 4; ++t) {
    const __m256i word = _mm256_i32gather_epi32(words + 2 * t, lanes, 4);
    const __m256i high = _mm256_set1_epi32(int(0xffff0000u));
    switch (type) {
    case Type::tf32:
      rows[t] = _mm256_castsi256_ps(
          _mm256_and_si256(word, _mm256_set1_epi32(int(0xffffe000u))));
      break;
    case Type::bf16:
      rows[2 * t] = _mm256_castsi256_ps(_mm256_slli_epi32(word, 16));
      rows[2 * t + 1] = _mm256_castsi256_ps(_mm256_and_si256(word, high));
      break;
    default: {
      const __m256i both = _mm256_permute4x64_epi64(
          _mm256_packus_epi32(_mm256_andnot_si256(high, word),
                              _mm256_srli_epi32(word, 16)),
          0xd8);
      rows[2 * t] = _mm256_cvtph_ps(_mm256_castsi256_si128(both));
      rows[2 * t + 1] = _mm256_cvtph_ps(_mm256_extracti128_si256(both, 1));
    }
    }
  }
}

/// Reads 8 rows of C: two registers of f32, or one with pairs of f16.
template <bool areHalves>
static void readSums(Warp &warp, const std::vector<Operand> &c, unsigned half,
                     Row *rows) {
  uint64_t buffers[2][kLanes];
  if (areHalves) {
    alignas(32) uint32_t packed[kLanes];
    pack(warp.read(c[half], buffers[0]), packed);
    for (unsigned row = 0; row < kGroups; ++row)
      rows[row] = _mm256_cvtph_ps(
          _mm_load_si128(reinterpret_cast<const __m128i *>(&packed[4 * row])));
    return;
  }
  const uint64_t *even = warp.read(c[2 * half], buffers[0]);
  const uint64_t *odd = warp.read(c[2 * half + 1], buffers[1]);
  alignas(32) uint64_t pairs[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    pairs[lane] = uint32_t(even[lane]) | odd[lane] << 32;
  memcpy(rows, pairs, sizeof(pairs));
}

/// Writes 8 rows of D.
template <bool areHalves>
static void writeSums(Warp &warp, const std::vector<Operand> &d, unsigned half,
                      const Row *rows) {
  alignas(32) uint64_t pairs[kLanes], result[kLanes];
  if (areHalves) {
    alignas(32) uint32_t packed[kLanes];
    for (unsigned row = 0; row < kGroups; ++row)
      _mm_store_si128(reinterpret_cast<__m128i *>(&packed[4 * row]),
                      _mm256_cvtps_ph(rows[row], _MM_FROUND_TO_NEAREST_INT));
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result[lane] = packed[lane];
    warp.write(d[half], result, kAllLanes);
    return;
  }
  memcpy(pairs, rows, sizeof(pairs));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = uint32_t(pairs[lane]);
  warp.write(d[2 * half], result, kAllLanes);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = pairs[lane] >> 32;
  warp.write(d[2 * half + 1], result, kAllLanes);
}

template <Type type, unsigned depth, bool areHalves>
static void multiplyFloats(Warp &warp, const Instruction &op, Mask mask) {
  if (!gatherWarp(warp, mask))
    return;
  ++warp.block.launch.counts.matrixProducts;
  // The words of a register are 4 or 8 elements of a row.
  constexpr unsigned kWidth = type == Type::tf32 ? 4 : 8;
  uint64_t buffer[kLanes];
  alignas(32) float a[kRows][depth];
  const std::vector<Operand> &ofA = op.operand(1).elements;
  for (unsigned r = 0; r < 2 * depth / kWidth; ++r) {
    auto *first =
        reinterpret_cast<float(*)[depth]>(&a[8 * (r % 2)][kWidth * (r / 2)]);
    readRows<type, depth>(warp.read(ofA[r], buffer), first);
  }
  Row b[depth];
  const std::vector<Operand> &ofB = op.operand(2).elements;
  for (unsigned r = 0; r < depth / kWidth; ++r)
    readColumns<type>(warp.read(ofB[r], buffer), b + kWidth * r);
  Row d[2][kGroups];
  for (unsigned half = 0; half < 2; ++half) {
    Row c[kGroups], sums[kGroups];
    readSums<areHalves>(warp, op.operand(3).elements, half, c);
    for (Row &sum : sums)
      sum = _mm256_setzero_ps();
    // A GPU's order of summation is not specified.
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned row = 0; row < kGroups; ++row)
        sums[row] = _mm256_fmadd_ps(_mm256_broadcast_ss(&a[8 * half + row][k]),
                                    b[k], sums[row]);
    for (unsigned row = 0; row < kGroups; ++row)
      d[half][row] = _mm256_add_ps(c[row], sums[row]);
  }
  // Write only now, because the results may be operands, too.
  for (unsigned half = 0; half < 2; ++half)
    writeSums<areHalves>(warp, op.operand(0).elements, half, d[half]);
}

Execute emugpu::floatProductOf(Type type, unsigned depth, bool areHalves) {
  switch (type) {
  case Type::f16:
    if (areHalves)
      return depth == 8 ? multiplyFloats<Type::f16, 8, true>
                        : multiplyFloats<Type::f16, 16, true>;
    return depth == 8 ? multiplyFloats<Type::f16, 8, false>
                      : multiplyFloats<Type::f16, 16, false>;
  case Type::bf16:
    return depth == 8 ? multiplyFloats<Type::bf16, 8, false>
                      : multiplyFloats<Type::bf16, 16, false>;
  default:
    return depth == 4 ? multiplyFloats<Type::tf32, 4, false>
                      : multiplyFloats<Type::tf32, 8, false>;
  }
}
