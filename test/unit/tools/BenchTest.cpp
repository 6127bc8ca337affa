//===- BenchTest.cpp - numbers and texts of ingot bench -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/bench/Bench.h"
#include "base/Process.h"
#include "client/measure/Distribution.h"
#include "client/measure/System.h"
#include "compiler/study/report/JsonWriter.h"

#include <gtest/gtest.h>

using namespace ingot;
using namespace ingot::tools;

namespace {

TEST(Distribution, TrtexecsDefinitions) {
  Distribution times({5, 1, 4, 2, 3, 6, 8, 7, 10, 9});
  EXPECT_EQ(times.min(), 1);
  EXPECT_EQ(times.max(), 10);
  EXPECT_EQ(times.mean(), 5.5);
  EXPECT_EQ(times.median(), 5.5);
  // Index max(n - 1 - int((1 - p / 100) * n), 0).
  EXPECT_EQ(times.percentile(50), 5);
  EXPECT_EQ(times.percentile(95), 10);
  EXPECT_EQ(times.percentile(99), 10);
  EXPECT_EQ(times.percentile(100), 10);
  EXPECT_EQ(times.percentile(0), 1);
  EXPECT_NEAR(times.variation(), 52.22, 0.01);
}

TEST(Distribution, Few) {
  EXPECT_EQ(Distribution({7}).percentile(99), 7);
  EXPECT_EQ(Distribution({7}).variation(), 0);
  EXPECT_EQ(Distribution({1, 2, 9}).median(), 2);
  EXPECT_EQ(Distribution({}).median(), 0);
}

TEST(Json, Commas) {
  ingot::study::JsonWriter json;
  json.begin('{')
      .member("a", 1.5)
      .begin("b", '[')
      .element("x\"")
      .begin('{')
      .end('}')
      .end(']')
      .begin("c", '[')
      .end(']')
      .member("d", uint64_t(1) << 40)
      .member("e", double(INFINITY))
      .end('}');
  EXPECT_EQ(json.str(), "{\"a\": 1.5, \"b\": [\"x\\\"\", {}], \"c\": [], "
                        "\"d\": 1099511627776, \"e\": null}");
}

TEST(Layer, Names) {
  LayerResult layer;
  layer.kind = "copy";
  EXPECT_EQ(layer.name(), "(copy)");
  layer.nodes = {"conv", "relu", "add"};
  layer.scopes = {"stem", "stem", ""};
  EXPECT_EQ(layer.name(), "conv + relu + add");
  EXPECT_EQ(layer.shownName(), "stem + add");
}

TEST(Roofline, BoundByWhatIsSlower) {
  Peaks peaks;
  peaks.flopsPerSecond = 100e9;
  peaks.memory = {{1000, 50e9}, {100000, 10e9}};
  EXPECT_EQ(peaks.bandwidthFor(1000), 50e9);
  EXPECT_EQ(peaks.bandwidthFor(1001), 10e9);
  EXPECT_EQ(peaks.bandwidthFor(1000000), 10e9);
  EXPECT_DOUBLE_EQ(peaks.bestTime(100, 5), 1e-9);
  EXPECT_DOUBLE_EQ(peaks.bestTime(100, 1000), 20e-9);
  EXPECT_EQ(peaks.bestTime(0, 0), 0);
  EXPECT_EQ(Peaks().bestTime(10, 10), 0);
}

TEST(Roofline, MeasuresSomething) {
  for (const char *level : {"x86-64-v2", ingot_cpu_level()}) {
    Peaks peaks = measurePeaks(1, levelFeatures(level));
    EXPECT_GT(peaks.flopsPerSecond, 0);
    ASSERT_FALSE(peaks.memory.empty());
    for (const Peaks::Bandwidth &memory : peaks.memory)
      EXPECT_GT(memory.bytesPerSecond, 0);
  }
}

TEST(System, Facts) {
  EXPECT_GT(residentMb("VmRSS"), 0);
  EXPECT_GE(residentMb("VmHWM"), residentMb("VmRSS") / 2);
  EXPECT_FALSE(cpuName().empty());
  EXPECT_EQ(levelFeatures("x86-64-v2"), 1u);
  EXPECT_EQ(levelFeatures("none"), 0u);
}

} // namespace
