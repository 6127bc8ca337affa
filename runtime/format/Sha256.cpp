//===- Sha256.cpp - SHA-256 (FIPS 180-4) ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/Sha256.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

using namespace ingot::rt;

alignas(16) static const uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compressPortable(uint32_t *state, const uint8_t *block,
                             size_t count) {
  for (; count; --count, block += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) {
      uint32_t word;
      memcpy(&word, block + 4 * i, 4);
      w[i] = __builtin_bswap32(word);
    }
    for (int i = 16; i < 64; ++i) {
      uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^
                    w[i - 15] >> 3;
      uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^
                    w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; ++i) {
      uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
      uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
      uint32_t t1 = v[7] + s1 + choice + roundConstants[i] + w[i];
      uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
      uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
      memmove(v + 1, v, 7 * sizeof(uint32_t));
      v[4] += t1;
      v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; ++i)
      state[i] += v[i];
  }
}

#if defined(__x86_64__)
/// Compresses blocks with SHA instructions. Each sha256rnds2 computes two
/// rounds, and each step of this function computes four. The steps also compute
/// the next sixteen words of the message schedule.
[[gnu::target("sha,sse4.1,ssse3")]] static void
compressShaNi(uint32_t *state, const uint8_t *block, size_t count) {
  const __m128i swap =
      _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
  // The instructions expect the state as {A,B,E,F} and {C,D,G,H}.
  __m128i low = _mm_shuffle_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i *>(state)), 0xb1);
  __m128i high = _mm_shuffle_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i *>(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
  for (; count; --count, block += 64) {
    __m128i abefStart = abef, cdghStart = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(block) + i), swap);
    for (int i = 0; i < 16; ++i) {
      __m128i now = w[i & 3];
      __m128i sum = _mm_add_epi32(
          now, _mm_load_si128(
                   reinterpret_cast<const __m128i *>(roundConstants) + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (i >= 12)
        continue;
      __m128i next1 = w[(i + 1) & 3], next2 = w[(i + 2) & 3],
              next3 = w[(i + 3) & 3];
      __m128i expanded =
          _mm_add_epi32(_mm_sha256msg1_epu32(now, next1),
                        _mm_alignr_epi8(next3, next2, 4));
      w[i & 3] = _mm_sha256msg2_epu32(expanded, next3);
    }
    abef = _mm_add_epi32(abef, abefStart);
    cdgh = _mm_add_epi32(cdgh, cdghStart);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state),
                   _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state + 4),
                   _mm_alignr_epi8(dchg, feba, 8));
}

static bool hasShaNi() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) &&
         __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) &&
         (c & bit_SSSE3);
}
#endif

Sha256::Sha256(Compress compress)
    : compress(compress),
      state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

Sha256::Sha256() : Sha256(compressPortable) {
#if defined(__x86_64__)
  if (hasShaNi())
    compress = compressShaNi;
#endif
}

Sha256 Sha256::portable() { return Sha256(compressPortable); }

void Sha256::update(const void *data, size_t size) {
  blocks.add(data, size, [this](const uint8_t *whole, size_t count) {
    compress(state, whole, count);
  });
}

void Sha256::finish(uint8_t (&digest)[32]) {
  uint8_t tail[128] = {};
  size_t held = blocks.held();
  memcpy(tail, blocks.rest, held);
  tail[held] = 0x80;
  size_t tailBlocks = held < 56 ? 1 : 2;
  uint64_t bits = __builtin_bswap64(blocks.bytes * 8);
  memcpy(tail + tailBlocks * 64 - 8, &bits, 8);
  compress(state, tail, tailBlocks);
  for (int i = 0; i < 8; ++i) {
    uint32_t word = __builtin_bswap32(state[i]);
    memcpy(digest + 4 * i, &word, 4);
  }
}

void ingot::rt::sha256(const void *data, size_t size, uint8_t (&digest)[32]) {
  Sha256 hash;
  hash.update(data, size);
  hash.finish(digest);
}
