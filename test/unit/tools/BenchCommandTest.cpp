//===- BenchCommandTest.cpp - ingot bench as a process ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandFixture.h"
#include "client/Npy.h"

using namespace ingot::tools;
using namespace ingot::test;

namespace {

constexpr const char *quick =
    " --threads=1 --duration=0 --warm-up=0 --iterations=3 ";

class Bench : public CommandFixture {
protected:
  void expectOutput(const std::string &part) {
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  }
  std::string file(const std::string &name) {
    return readText(directory + "/" + name);
  }
};

TEST_F(Bench, Report) {
  ASSERT_EQ(run("bench @static.so --percentile=50,99.9" + std::string(quick)),
            0)
      << err;
  for (const char *part :
       {"Input: x 2x3\n", "Input: b 1\n", "Throughput: ", "Latency: min = ",
        ", percentile(50%) = ", ", percentile(99.9%) = ", "Measured: 3 runs",
        "Load: ", "Memory: ", "Warm-up: 0 runs"})
    expectOutput(part);
}

TEST_F(Bench, Json) {
  ASSERT_EQ(
      run("bench @static.so --json --percentile=75" + std::string(quick)), 0)
      << err;
  const Json json = document();
  for (const char *key :
       {"latency_ms", "throughput", "load_ms", "first_answer_ms", "peak_rss_mb",
        "base_rss_mb", "threads", "isa", "precision", "cpu", "warnings"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char *key :
       {"min", "mean", "median", "p75", "p90", "p95", "p99", "max"})
    EXPECT_TRUE(json["latency_ms"].contains(key)) << key;
  EXPECT_EQ(json["schema"], "ingot.bench");
  EXPECT_EQ(json["runs"], 3);
  EXPECT_EQ(json["inputs"], Json({{"x", "2x3"}, {"b", "1"}}));
  EXPECT_FALSE(json.contains("layers"));
}

TEST_F(Bench, Turns) {
  ASSERT_EQ(run("bench @static.so --turns" + std::string(quick) +
                "< /dev/null"),
            0)
      << err;
  EXPECT_EQ(out, "");
  std::string lines = directory + "/lines";
  std::ofstream(lines) << "\ngo\n";
  ASSERT_EQ(run("bench @static.so --turns" + std::string(quick) + "< " + lines),
            0)
      << err;
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2);
  const Json turn = parseJson(out.substr(0, out.find('\n')));
  EXPECT_EQ(turn["runs"], 3);
  EXPECT_GE(turn["median_ms"], turn["min_ms"]);
  EXPECT_EQ(run("bench @static.so --turns --json"), 2);
  EXPECT_EQ(parseJson(err)["text"].get<std::string>().find(
                "--json and --turns exclude each other"),
            0u);
}

TEST_F(Bench, Layers) {
  ASSERT_EQ(run("bench @static.so --profile" + std::string(quick)), 0) << err;
  expectOutput("Layers: mean of ");
  expectOutput("Roofline: ");
  expectOutput("matmul       native         mul + scale");
  expectOutput("elementwise  loops          add");
  ASSERT_EQ(run("bench @static.so --profile --json" + std::string(quick)), 0);
  const Json layers = document()["layers"];
  ASSERT_EQ(layers.size(), 2u);
  const Json expected = {{"name", "mul + scale"},
                         {"kind", "matmul"},
                         {"backend", "native"},
                         {"reason", ""},
                         {"precision", ""},
                         {"number", 0},
                         {"shape", ""},
                         {"nodes", {"mul", "scale"}},
                         {"scopes", Json::array({"", ""})}};
  for (const auto &[key, value] : expected.items())
    EXPECT_EQ(layers[0].value(key, Json()), value) << key;
  EXPECT_EQ(layers[1]["flops"], 7);
  EXPECT_EQ(layers[1]["bytes"], 84);
  expectError("bench @dynamic.so --shape x=2x4 --profile" +
                  std::string(quick),
              1, "ingot bench: error: '");
}

TEST_F(Bench, Files) {
  ASSERT_EQ(run("bench @static.so --export-times=%t --export-profile %p "
                "--export-layer-info=%l --export-trace=%c" +
                std::string(quick)),
            0)
      << err;
  const Json times = parseJson(file("t")), profile = parseJson(file("p")),
             trace = parseJson(file("c"))["traceEvents"];
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0]["startComputeMs"], 0);
  for (const char *key : {"endComputeMs", "computeMs", "latencyMs"})
    EXPECT_TRUE(times[0].contains(key)) << key;
  ASSERT_EQ(profile.size(), 3u);
  EXPECT_EQ(profile[0], Json({{"count", 3}}));
  EXPECT_EQ(profile[1]["name"], "mul + scale");
  for (const char *key : {"timeMs", "averageMs", "medianMs", "percentage"})
    EXPECT_TRUE(profile[1].contains(key)) << key;
  EXPECT_EQ(parseJson(file("l")), Json({{"Layers",
                                         {{{"Name", "mul + scale"},
                                           {"LayerType", "matmul"},
                                           {"Nodes", {"mul", "scale"}},
                                           {"Flops", 6},
                                           {"Bytes", 72}},
                                          {{"Name", "add"},
                                           {"LayerType", "elementwise"},
                                           {"Nodes", Json::array({"add"})},
                                           {"Flops", 7},
                                           {"Bytes", 84}}}},
                                        {"Bindings", {"x", "b", "y"}}}));
  EXPECT_EQ(trace[0]["ph"], "M");
  EXPECT_EQ(trace[2]["name"], "add");
  EXPECT_EQ(trace[2]["cat"], "elementwise");
  EXPECT_EQ(trace[2]["ph"], "X");
  EXPECT_TRUE(trace[2].contains("ts"));
  // The layers are also known without a profile.
  ASSERT_EQ(run("bench @static.so --export-layer-info=%l" + std::string(quick)),
            0);
  EXPECT_EQ(parseJson(file("l"))["Layers"][1]["Flops"], 0);
}

TEST_F(Bench, Inputs) {
  Array x;
  x.dtype = INGOT_FLOAT;
  x.dims = {2, 3};
  x.data.resize(24);
  ASSERT_EQ(writeNpy(directory + "/x.npy", x), "");
  std::ofstream(directory + "/b.bin") << "1234";
  ASSERT_EQ(run("bench @static.so --input=x=%x.npy --input b=%b.bin" +
                std::string(quick)),
            0)
      << err;
  std::ofstream(directory + "/b.bin") << "123";
  expectError("bench @static.so --input b=%b.bin" + std::string(quick),
              1, "ingot bench: error: cannot read '");
  expectError("bench @static.so --input c=%b.bin" + std::string(quick),
              1, "ingot bench: error: the model has no input 'c'");
  expectError("bench @dynamic.so" + std::string(quick), 1,
              "ingot bench: error: input 'x' (float32 <batch>x4) has sizes "
              "that only you know; add --shape x=1x4");
  expectError("bench @dynamic.so --shape=x=4" + std::string(quick), 1,
              "ingot bench: error: input 'x'");
  ASSERT_EQ(run("bench @dynamic.so --shape=x=5x4" + std::string(quick)), 0)
      << err;
  expectOutput("Input: x 5x4\n");
}

TEST_F(Bench, Contexts) {
  ASSERT_EQ(run("bench @static.so --contexts=3 --threads=1000 --json "
                "--duration=1ms --warm-up=1 --iterations=4"),
            0)
      << err;
  const Json json = document();
  EXPECT_EQ(json["contexts"], 3);
  const std::string warning = json["warnings"][0];
  EXPECT_EQ(warning.find("3000 threads in 3 contexts are more than the "), 0u);
  EXPECT_NE(err.find("\"severity\":\"warning\",\"text\":\"" + warning),
            std::string::npos)
      << err;
}

TEST_F(Bench, Usage) {
  std::string error = "ingot bench: error: ";
  expectError("bench", 2, error + "no model.so is given");
  expectError("bench @static.so --warm-up=3m", 2,
              error + "option --warm-up must be a time such as 200ms or 3s, "
                      "not '3m'");
  expectError("bench @static.so --duration=-1", 2, error + "option --duration");
  expectError("bench @static.so --duration=1e9", 2, error + "option --dur");
  expectError("bench @static.so --percentile=101", 2, error + "option --perc");
  expectError("bench @static.so --percentile=", 2, error + "option --perc");
  expectError("bench @static.so --iterations=0", 2, error + "option --iter");
  expectError("bench @static.so --against=tensorflow m.onnx", 2,
              error + "option --against knows onnxruntime and openvino, not "
                      "'tensorflow'");
  expectError("bench @static.so --against=openvino", 2,
              error + "--against needs the ONNX model");
  expectError("bench @static.so m.onnx", 2,
              error + "unexpected argument 'm.onnx'");
  expectError("bench @static.so m.onnx --against=openvino --profile", 2,
              error + "--against and --profile exclude each other");
  expectError("bench @static.so m.onnx --against=openvino --contexts=2", 2,
              error + "--against and --contexts exclude each other");
}

TEST_F(Bench, Failures) {
  std::string error = "ingot bench: error: ";
  expectError("bench %none.so", 1, error + "cannot open model file '");
  expectError("bench @failing_load.so", 1, error + "'");
  expectError("bench @needs_future.so", 1, error + "'");
  expectError("bench @static.so --export-times=%no/t" + std::string(quick), 1,
              error + "cannot write '");
  EXPECT_FALSE(fs::exists(directory + "/no"));
  expectError("bench @static.so %none.onnx --against=openvino", 1,
              error + "cannot read the ONNX model '");
  std::ofstream(directory + "/m.onnx") << "x";
  expectError("bench @static.so %m.onnx --against=openvino --python=%nothing",
              1, error + "cannot run '");
  expectError("bench @static.so %m.onnx --against=openvino --python=false", 1,
              error + "'false' cannot use openvino (exit code 1); install it");
  expectError("bench @static.so %m.onnx --against=openvino --python=true", 1,
              error + "'true' is no Python interpreter");
}

/// Replaces Python and a peer: prints what measure_peer.py would print.
TEST_F(Bench, Against) {
  std::ofstream(directory + "/m.onnx") << "x";
  std::ofstream(directory + "/python")
      << "#!/bin/sh\n"
         "case \"$2\" in 'import numpy, onnxruntime;'*)\n"
         "  echo found; exit;; esac\n"
         "echo \"$3 $5 $6\" >>" + directory + "/calls\n"
         "echo '{\"load_ms\": 1, \"first_ms\": 2.5, \"median_ms\": 4, "
         "\"base_mb\": 3, \"peak_mb\": 8, \"version\": \"7.7\"}'\n";
  fs::permissions(directory + "/python", fs::perms::owner_all);
  std::string command = "bench @static.so %m.onnx --against=onnxruntime "
                        "--python=%python --rounds=2" +
                        std::string(quick);
  ASSERT_EQ(run(command), 0) << err;
  expectOutput("1 thread, 2 rounds");
  expectOutput("onnxruntime  7.7");
  expectOutput("4.000 (4.000-4.000)");
  expectOutput("5.000 (5.000-5.000)");
  EXPECT_EQ(file("calls"), "onnxruntime 1 0.000000\nonnxruntime 1 0.000000\n");
  ASSERT_EQ(run(command + " --json"), 0) << err;
  const Json peer = document()["engines"][1];
  EXPECT_TRUE(peer["times_faster"].contains("median"));
  EXPECT_EQ(peer["version"], "7.7");
  EXPECT_EQ(peer["latency_ms"], Json({{"median", 4}, {"min", 4}, {"max", 4}}));
}

TEST_F(Bench, AgainstReportsWhatAPeerSays) {
  std::ofstream(directory + "/m.onnx") << "x";
  std::ofstream(directory + "/python")
      << "#!/bin/sh\n"
         "case \"$2\" in 'import numpy, openvino;'*)\n"
         "  echo found; exit;; esac\n"
         "echo 'RuntimeError: not a model' >&2; exit 1\n";
  fs::permissions(directory + "/python", fs::perms::owner_all);
  expectError("bench @static.so %m.onnx --against=openvino --python=%python" +
                  std::string(quick),
              1, "ingot bench: error: openvino cannot run '");
  EXPECT_NE(err.find("RuntimeError: not a model"), std::string::npos);
}

} // namespace
