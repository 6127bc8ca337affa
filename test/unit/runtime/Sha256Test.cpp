//===- Sha256Test.cpp - SHA-256 -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/Sha256.h"

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

/// The portable code, and what this CPU would use.
void expectDigest(const std::string &data, const std::string &expected) {
  uint8_t digest[32];
  sha256Portable(data.data(), data.size(), digest);
  EXPECT_EQ(hex(digest), expected);
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

TEST(Sha256, BothImplementationsAgreeAtEveryLength) {
  std::string data;
  for (int i = 0; i < 300; ++i) {
    uint8_t a[32], b[32];
    sha256(data.data(), data.size(), a);
    sha256Portable(data.data(), data.size(), b);
    EXPECT_EQ(hex(a), hex(b)) << i;
    data += char(i * 37);
  }
}

} // namespace
