//===- BenchReportTest.cpp - options and reports of measurements --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/bench/Sweep.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdlib.h>

using namespace ingot::tools;

namespace {

BenchResult measurement() {
  BenchResult result;
  result.compiler = "ingot test";
  result.target = "x86-64";
  result.precision = "fp32";
  result.inputs = {{"x", "2x3"}};
  result.isa = "x86-64-v3";
  result.cpu = "a CPU";
  result.cpus = 2;
  result.threads = 1;
  result.loadMs = 1.5;
  result.firstAnswerMs = 2.25;
  result.baseRssMb = 10;
  result.peakRssMb = 14;
  result.weightsBytes = 1 << 20;
  result.arenaBytes = 1 << 19;
  result.warmUpRuns = 3;
  result.warmUpMs = 9;
  result.wallMs = 10;
  result.runs = {{0, 4}, {4, 6}, {6, 9}, {9, 10}};
  LayerResult first, second;
  first.kind = "matmul";
  first.backend = "native";
  first.nodes = {"mul"};
  first.scopes = {""};
  first.averageMs = first.totalMs = first.medianMs = first.minMs = 0.5;
  second = first;
  second.number = 1;
  second.kind = "elementwise";
  second.backend = "loops";
  second.nodes = {"add"};
  second.reason = "native: is of f64";
  second.averageMs = 1.5;
  result.layers = {first, second};
  result.profiledRuns = 1;
  result.profiledMs = 2.5;
  return result;
}

TEST(BenchReport, Text) {
  BenchOptions options;
  options.model = "m.so";
  options.percentiles = {50, 99.9};
  EXPECT_EQ(
      textReport(options, measurement()),
      "Model: m.so, ingot test, for x86-64, fp32\n"
      "Input: x 2x3\n"
      "Machine: a CPU, 2 CPUs, ISA level x86-64-v3\n"
      "Load: 1.50 ms, first answer after 2.25 ms\n"
      "Memory: 4.0 MiB more than before loading (peak 14.0 MiB with this "
      "program); weights 1.0 MiB, arena 0.5 MiB\n"
      "Warm-up: 3 runs over 9 ms\n"
      "Measured: 4 runs over 0.01 s, 1 context of 1 thread\n"
      "Throughput: 400 qps\n"
      "Latency: min = 1.0000 ms, max = 4.0000 ms, mean = 2.5000 ms, median = "
      "2.5000 ms, percentile(50%) = 2.0000 ms, percentile(99.9%) = 4.0000 "
      "ms\n");
}

TEST(BenchReport, Layers) {
  BenchOptions options;
  options.profile = true;
  BenchResult result = measurement();
  sortByTime(result);
  EXPECT_EQ(result.layers.front().kind, "elementwise");
  const std::string text = textReport(options, result);
  EXPECT_NE(text.find("\nLayers: mean of 1 profiled run, 2.5000 ms each; all "
                      "layers together 2.0000 ms (80.0 %)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nBy kind:\n"
                      "      ms   share  layers  kind         by\n"
                      "  1.5000  75.0 %       1  elementwise  loops\n"
                      "  0.5000  25.0 %       1  matmul       native\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nLayers that a faster backend declined:\n  add: "
                      "native: is of f64\n"),
            std::string::npos)
      << text;
}

TEST(BenchReport, Members) {
  BenchOptions options;
  options.model = "m.so";
  Json json = jsonReport(options, measurement());
  EXPECT_EQ(json["latency_ms"]["median"], 2.5);
  EXPECT_EQ(json["latency_ms"]["p99"], 4.0);
  EXPECT_EQ(json["model_rss_mb"], 4.0);
  EXPECT_EQ(json["inputs"], Json({{"x", "2x3"}}));
  EXPECT_FALSE(json.contains("layers"));
  options.profile = true;
  json = jsonReport(options, measurement());
  EXPECT_EQ(json["layers"].size(), 2u);
  EXPECT_EQ(json["kinds"][0]["kind"], "elementwise");
}

TEST(BenchReport, Exports) {
  char folder[] = "/tmp/ingot-test-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  BenchOptions options;
  options.exportTimes = options.exportLayerInfo = std::string(folder) + "/a";
  EXPECT_NE(checkExports(options).find("two --export options"),
            std::string::npos);
  options.exportLayerInfo = std::string(folder) + "/b";
  EXPECT_EQ(checkExports(options), "");
  ASSERT_EQ(exportFiles(options, measurement()), "");
  std::ifstream times(options.exportTimes), layers(options.exportLayerInfo);
  EXPECT_EQ(Json::parse(times)[1]["latencyMs"], 2.0);
  EXPECT_EQ(Json::parse(layers)["Layers"][0]["Name"], "mul");
  std::filesystem::remove_all(folder);
}

TEST(Engines, Ratios) {
  BenchOptions options;
  options.rounds = 2;
  Comparison comparison;
  comparison.threads = 2;
  comparison.engines = {{"ingot", "1", {{2, 10, 5}, {4, 12, 5}}},
                        {"other", "2", {{4, 20, 50}, {4, 20, 50}}}};
  std::vector<EngineTimes> times = comparison.times();
  ASSERT_EQ(times.size(), 2u);
  EXPECT_FALSE(times[0].timesFaster);
  EXPECT_EQ(times[0].latencyMs, 3);
  EXPECT_EQ(*times[1].timesFaster, 1.5);
  EXPECT_EQ(textReport(options, comparison)
                .find("2 threads, 2 rounds of fresh processes in turn;"),
            0u);
  Json engines = jsonReport(options, comparison)["engines"];
  EXPECT_FALSE(engines[0].contains("times_faster"));
  EXPECT_EQ(engines[1]["times_faster"],
            Json({{"median", 1.5}, {"min", 1.0}, {"max", 2.0}}));
}

TEST(Sweep, Points) {
  InputSpecs specs;
  specs.dims = {"n=(1:5:+2)"};
  specs.shapes = {"x=(1:5:+2)x3"};
  EXPECT_TRUE(isSweep(specs));
  std::vector<InputSpecs> points;
  ASSERT_EQ(expandSizes(specs, points), "");
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].dims, std::vector<std::string>{"n=3"});
  EXPECT_EQ(points[1].shapes, std::vector<std::string>{"x=3x3"});
  EXPECT_EQ(textReport({{"n=1", 2, 1.5, 500, {}}}),
            "  shapes  median ms  best ms  runs/s\n"
            "  n=1     2.000      1.500    500.000\n");
}

TEST(Sweep, MeasuresEachSize) {
  BenchOptions options;
  options.model = std::string(INGOT_TEST_ARTIFACTS) + "inferring.so";
  options.specs.dims = {"n=(2:4:+2)"};
  options.iterations = 1;
  options.warmUpMs = options.durationMs = 0;
  std::vector<std::string> steps;
  ingot::Progress progress;
  progress.onStep = [&](const std::string &step, double) {
    if (steps.empty() || steps.back() != step)
      steps.push_back(step);
  };
  std::vector<SweepPoint> points;
  ASSERT_EQ(measureSizes(options, points, progress), "");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].shapes, "n=4");
  EXPECT_GT(points[1].latencyMs, 0);
  EXPECT_EQ(steps, (std::vector<std::string>{"1 of 2: n=2", "2 of 2: n=4"}));
  options.specs.dims = {"n=(15:17:+2)"};
  points.clear();
  EXPECT_EQ(measureSizes(options, points, {}).find("at n=17: "), 0u);
}

TEST(BenchOptions, Values) {
  double ms = 0;
  EXPECT_EQ(readTime("200ms", 1e3, ms), "");
  EXPECT_EQ(ms, 200);
  EXPECT_EQ(readTime("3", 1e3, ms), "");
  EXPECT_EQ(ms, 3000);
  EXPECT_EQ(readTime("3x", 1, ms).find("must be a time"), 0u);
  std::vector<double> percentiles;
  EXPECT_EQ(readPercentiles("50,99.9", percentiles), "");
  EXPECT_EQ(percentiles, (std::vector<double>{50, 99.9}));
  EXPECT_NE(readPercentiles("101", percentiles), "");
  std::vector<std::string> peers;
  EXPECT_EQ(readPeers("onnxruntime,openvino", peers), "");
  EXPECT_EQ(peers.size(), 2u);
  EXPECT_NE(readPeers("other", peers), "");
}

TEST(BenchOptions, Contradictions) {
  BenchOptions options;
  EXPECT_EQ(checkOptions(options), "");
  options.against = {"onnxruntime"};
  EXPECT_EQ(checkOptions(options).find("--against needs the ONNX model"), 0u);
  options.onnxModel = "m.onnx";
  EXPECT_EQ(checkOptions(options), "");
  options.specs.dims = {"n=(1:x)"};
  EXPECT_EQ(checkOptions(options).find("--dim n=(1:x): "), 0u);
  options.specs.dims = {"n=(1:4:8)"};
  EXPECT_EQ(checkOptions(options), "");
  options.percentiles = {50};
  EXPECT_EQ(checkOptions(options).find("several sizes in --shape or --dim"),
            0u);
}

} // namespace
