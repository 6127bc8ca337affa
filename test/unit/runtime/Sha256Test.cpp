//===- Sha256Test.cpp - SHA-256 -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/format/Sha256.h"

#include <algorithm>

using namespace ingot::rt;

namespace {

std::string hex(const uint8_t (&digest)[32]) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string digestOf(Sha256 hash, const std::string &data, size_t piece) {
  for (size_t at = 0; at < data.size(); at += piece)
    hash.update(data.data() + at, std::min(piece, data.size() - at));
  uint8_t digest[32];
  hash.finish(digest);
  return hex(digest);
}

/// Checks the portable code and the code for this CPU.
void expectDigest(const std::string &data, const std::string &expected) {
  EXPECT_EQ(digestOf(Sha256::portable(), data, data.size() + 1), expected);
  EXPECT_EQ(digestOf(Sha256(), data, data.size() + 1), expected);
  uint8_t digest[32];
  sha256(data.data(), data.size(), digest);
  EXPECT_EQ(hex(digest), expected);
}

TEST(Sha256, PublishedVectors) {
  expectDigest("", "e3b0c44298fc1c149afbf4c8996fb924"
                   "27ae41e4649b934ca495991b7852b855");
  expectDigest("abc", "ba7816bf8f01cfea414140de5dae2223"
                      "b00361a396177a9cb410ff61f20015ad");
  expectDigest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
               "248d6a61d20638b8e5c026930c3e6039"
               "a33ce45964ff2167f6ecedd419db06c1");
  expectDigest(std::string(1000000, 'a'),
               "cdc76e5c9914fb9281a1c7e284d73e67"
               "f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfEverySize) {
  std::string data;
  for (int i = 0; i < 300; ++i)
    data += char(i * 37);
  for (size_t length = 0; length < data.size(); ++length) {
    std::string part = data.substr(0, length);
    std::string whole = digestOf(Sha256::portable(), part, 1000);
    for (size_t piece : {1, 3, 55, 56, 63, 64, 65, 128, 1000}) {
      ASSERT_EQ(digestOf(Sha256::portable(), part, piece), whole)
          << length << " in pieces of " << piece;
      ASSERT_EQ(digestOf(Sha256(), part, piece), whole)
          << length << " in pieces of " << piece;
    }
  }
}

/// Returns the digest of `count` equal bytes, given in pieces that do not
/// divide `count`.
std::string digestOfRepeated(Sha256 hash, char byte, uint64_t count) {
  const std::string piece(1000003, byte);
  for (uint64_t left = count; left;) {
    size_t size = size_t(std::min<uint64_t>(left, piece.size()));
    hash.update(piece.data(), size);
    left -= size;
  }
  uint8_t digest[32];
  hash.finish(digest);
  return hex(digest);
}

// Lengths beyond 2^32 bits and beyond 2^32 bytes. The digests of 'Z', zeros and
// 'B' are NIST's ("SHA-256 additional test data"); the others are openssl's.
TEST(Sha256, LongerThan32BitsCanCount) {
  const struct {
    char byte;
    uint64_t count;
    const char *digest;
  } vectors[] = {
      {'Z', 0x20000000, 
       "15a1868c12cc53951e182344277447cd"
       "0979536badcc512ad24c67e9b2d4f3dd"},
      {0, 0x41000000, 
       "461c19a93bd4344f9215f5ec64357090"
       "342bc66b15a148317d276e31cbc20b53"},
      {'B', 0x6000003e, 
       "c23ce8a7895f4b21ec0daf37920ac0a2"
       "62a220045a03eb2dfed48ef9b05aabea"},
      {'a', (uint64_t(1) << 29) - 1, 
       "1f97811a3a059e582b3753e94d8852bd"
       "89740248c5f35911f8e70afdd57f9842"},
      {'a', uint64_t(1) << 29, 
       "b9045a713caed5dff3d3b783e98d1ce5"
       "778d8bc331ee4119d707072312af06a7"},
      {'a', (uint64_t(1) << 32) + 1, 
       "cef271d77f9e056f807620fe0e5ee34c"
       "84128a6940448c45eb84a15320eb8749"},
  };
  for (auto &[byte, count, digest] : vectors)
    EXPECT_EQ(digestOfRepeated(Sha256(), byte, count), digest) << count;
}

} // namespace
