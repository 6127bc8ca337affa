//===- CandidatesTest.cpp - the fastest model within a budget -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Candidates.h"

#include <gtest/gtest.h>

using namespace ingot::study;

namespace {

std::string chosenOf(std::vector<Candidate> candidates) {
  return candidates[chooseCandidate(candidates)].name;
}

TEST(Candidates, TheFastestWithinTheBudgetIsTaken) {
  EXPECT_EQ(chosenOf({{"fp32", 98, true, 9.0},
                      {"mixed", 97.9, true, 7.4},
                      {"int8", 97.8, true, 3.7},
                      {"int8-dynamic", 97.9, true, 4.5}}),
            "int8");
  EXPECT_EQ(chosenOf({{"fp32", 98, true, 9.0},
                      {"mixed", 97.9, true, 5.0},
                      {"int8-dynamic", 97.9, true, 4.5}}),
            "int8-dynamic");
}

TEST(Candidates, FasterOnesBeyondTheBudgetAreLeft) {
  EXPECT_EQ(chosenOf({{"fp32", 98, true, 9.0},
                      {"mixed", 97.9, true, 7.4},
                      {"int8", 90, false, 3.7},
                      {"int8-dynamic", 91, false, {}}}),
            "mixed");
}

TEST(Candidates, SlowerOnesLeaveFP32) {
  EXPECT_EQ(chosenOf({{"fp32", 98, true, 1.0},
                      {"int8", 99, true, 1.2},
                      {"int8-dynamic", 98, true, 1.1}}),
            "fp32");
}

TEST(Candidates, TheBestScoreDecidesWithinNoise) {
  EXPECT_EQ(chosenOf({{"fp32", 98, true, 1.02},
                      {"int8", 97, true, 1.0},
                      {"mixed", 97.5, true, 1.01}}),
            "fp32");
  EXPECT_EQ(chosenOf({{"fp32", 98, true, 1.04},
                      {"int8", 97, true, 1.0},
                      {"mixed", 97.5, true, 1.01}}),
            "mixed");
}

} // namespace
