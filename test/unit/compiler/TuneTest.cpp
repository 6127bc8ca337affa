//===- TuneTest.cpp - choices from measured times -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/tune/KernelRecord.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ingot;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
using Names = std::vector<std::string>;

TEST(ChooseKernels, TakesOneDnnWhereItIsClearlyFaster) {
  std::vector<LayerChoice> found =
      chooseForLayers({{{"a"}, 2.0}, {{"b"}, 1.04}, {{"c"}, 1.0}},
                      {{{"a"}, 1.0}, {{"b"}, 1.0}, {{"c"}, 3.0}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kernels, Kernels::other);
  // A difference of 5 % is within the noise of measurements.
  EXPECT_EQ(found[1].kernels, Kernels::native);
  EXPECT_EQ(found[2].kernels, Kernels::native);
  EXPECT_EQ(found[2].nodes, Names{"c"});
  EXPECT_EQ(found[2].nativeMs, 1.0);
  EXPECT_EQ(found[2].otherMs, 3.0);
}

/// The backends fuse a and b, or b and c, so no two layers can be compared
/// alone.
TEST(ChooseKernels, ComparesLayersThatAreConnectedTogether) {
  std::vector<LayerChoice> found =
      chooseForLayers({{{"b", "a"}, 1.0}, {{"c"}, 2.0}, {{"d"}, 1.0}},
                      {{{"a"}, 0.5}, {{"b", "c"}, 0.5}, {{"d"}, 1.0}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].nodes, (Names{"a", "b", "c"}));
  EXPECT_EQ(found[0].nativeMs, 3.0);
  EXPECT_EQ(found[0].otherMs, 1.0);
  EXPECT_EQ(found[0].kernels, Kernels::other);
  EXPECT_EQ(found[1].nodes, Names{"d"});
}

TEST(ChooseKernels, IgnoresLayersOfNoNode) {
  EXPECT_TRUE(chooseForLayers({{{}, 1.0}}, {{{}, 9.0}}).empty());
}

TEST(ChooseKernels, ComparesWholeRuns) {
  EXPECT_EQ(chooseForModel(1.04, 1.0, kNever), Kernels::native);
  EXPECT_EQ(chooseForModel(1.06, 1.0, kNever), Kernels::other);
  EXPECT_EQ(chooseForModel(2.0, 1.5, 1.0), Kernels::mixed);
  EXPECT_EQ(chooseForModel(2.0, 1.0, 1.0), Kernels::other);
  EXPECT_EQ(chooseForModel(1.04, 1.5, 1.0), Kernels::native);
}

KernelRecord mixedRecord() {
  KernelRecord record;
  record.kernels = Kernels::mixed;
  record.layers = {{{"a", "b"}, 2, 1, Kernels::other},
                   {{"c"}, 1, 2, Kernels::native},
                   {{"d"}, 2, 1, Kernels::other}};
  return record;
}

TEST(KernelRecord, IsReadAsItWasWritten) {
  llvm::Expected<KernelRecord> read =
      KernelRecord::fromJson(mixedRecord().toJson());
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  PipelineOptions options;
  options.preferredNodes = {"of before"};
  read->applyTo(options);
  EXPECT_EQ(options.kernels, "native");
  EXPECT_EQ(options.preferred, "onednn");
  EXPECT_EQ(options.preferredNodes, (Names{"a", "b", "d"}));
}

/// If kernels are not mixed, the times of layers do not matter.
TEST(KernelRecord, OfOneKindOfKernelsNamesNoNodes) {
  for (Kernels kernels : {Kernels::native, Kernels::other}) {
    KernelRecord record = mixedRecord();
    record.kernels = kernels;
    llvm::Expected<KernelRecord> read = KernelRecord::fromJson(record.toJson());
    ASSERT_TRUE(bool(read)) << toString(read.takeError());
    PipelineOptions options;
    read->applyTo(options);
    EXPECT_EQ(options.kernels,
              kernels == Kernels::native ? "native" : "onednn");
    EXPECT_TRUE(options.preferredNodes.empty());
    const char *shown =
        kernels == Kernels::native ? "\"onednn\"," : "\"native\",";
    EXPECT_EQ(record.toJson().find(shown), std::string::npos);
  }
}

} // namespace
