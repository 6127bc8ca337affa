//===- WeightsNameTest.cpp - name of a weights file -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/WeightsName.h"

#include <gtest/gtest.h>

#include <string>

using namespace ingot::rt;

static std::string nameFor(const std::string &library) {
  uint8_t digest[32] = {0x00, 0x1f, 0xa2, 0xff, 4, 5, 6, 0x70, 0xee};
  char name[maxFileName];
  weightsName(library.c_str(), digest, name);
  return name;
}

TEST(WeightsName, CarriesTheHash) {
  EXPECT_EQ(nameFor("model.so"), "model.so.001fa2ff04050670.weights");
}

TEST(WeightsName, IsCutToWhatIsLegal) {
  EXPECT_EQ(nameFor(std::string(230, 'a')).size(), 255u);
  EXPECT_EQ(nameFor(std::string(255, 'a')), nameFor(std::string(230, 'a')));
  // Each character has 2 bytes. The cut at 230 is between two characters, and
  // with one byte more inside of one.
  std::string accents, shifted = "x";
  for (int i = 0; i < 127; ++i)
    accents += "\u00e9";
  shifted += accents;
  EXPECT_EQ(nameFor(accents).substr(0, 230), accents.substr(0, 230));
  EXPECT_EQ(nameFor(shifted).substr(0, 230), shifted.substr(0, 229) + ".");
}

TEST(WeightsName, IsRecognised) {
  EXPECT_TRUE(isWeightsName(nameFor("model.so").c_str(), "model.so"));
  EXPECT_TRUE(isWeightsName("m.0123456789abcdef.weights", "m"));
  for (const char *other :
       {"m.weights", "m.0123456789abcde.weights", "m.0123456789abcdeff.weights",
        "m.0123456789ABCDEF.weights", "m.0123456789abcdeg.weights",
        "mm.0123456789abcdef.weights", "m_0123456789abcdef.weights",
        "m.0123456789abcdef.weight", ".0123456789abcdef.weights", ""})
    EXPECT_FALSE(isWeightsName(other, "m")) << other;
  // The name of another library may be shortened to an equal one.
  std::string longest(231, 'a');
  EXPECT_FALSE(isWeightsName(nameFor(longest).c_str(), longest.c_str()));
}
