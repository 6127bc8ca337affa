//===- GpuCodeTest.cpp - descriptions of code for GPUs --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inspect/GpuCode.h"

#include <gtest/gtest.h>

using namespace ingot::tools;

namespace {

const char recorded[] = R"({"arena_bytes":4096,
  "host_nodes":[{"buffers":2,"node":"sort","reason":"needs its data"},
                {"buffers":1,"node":"scan","reason":"needs input 'axis'"}],
  "images":[{"bytes":100,"kind":"cubin","level":80,"ptxas":"12.9.86"},
            {"bytes":200,"kind":"cubin","level":90,"ptxas":"12.9.86"},
            {"bytes":300,"kind":"ptx","level":80,"ptxas":""}],
  "kernels":[{"code":[{"level":80,"registers":40,"spill_bytes":0,
                       "stack_bytes":0,"static_shared_bytes":64},
                      {"level":90,"registers":48,"spill_bytes":8,
                       "stack_bytes":16,"static_shared_bytes":0}],
              "launches":2,"name":"matmul_0","node":"head",
              "predicted_ns":1500,"shared_bytes":1024,"threads":128},
             {"code":[],"launches":1,"name":"grid_0","node":"",
              "predicted_ns":0,"shared_bytes":0,"threads":256}],
  "weights_bytes":1048576})";

TEST(GpuCode, AsText) {
  std::optional<GpuCode> code = parseGpuCode(recorded);
  ASSERT_TRUE(code);
  TextBuilder text;
  addGpuCode(text, *code);
  EXPECT_EQ(text.str(),
            "gpu       code for sm_80, 100 bytes, by ptxas 12.9.86\n"
            "          code for sm_90, 200 bytes, by ptxas 12.9.86\n"
            "          PTX for sm_80 and later, 300 bytes\n"
            "          weights 1.0 MiB (1048576 bytes), arena 4.0 KiB (4096 "
            "bytes) a run\n"
            "          2 kernels with at most 48 registers and 1.1 KiB (1088 "
            "bytes) of shared memory, 16 bytes of local memory, 8 of spills\n"
            "          predicted for an A100: 3.0 us of kernels in a run; no "
            "GPU has confirmed it\n"
            "on CPU    node 'sort': needs its data; copies 2 buffers\n"
            "on CPU    node 'scan': needs input 'axis'; copies 1 buffer\n");
  TextBuilder table;
  addGpuKernels(table, *code);
  EXPECT_NE(table.str().find("registers of sm_80, sm_90"), std::string::npos);
  EXPECT_NE(table.str().find("40, 48"), std::string::npos) << table.str();
}

TEST(GpuCode, AsJson) {
  std::optional<GpuCode> code = parseGpuCode(recorded);
  ASSERT_TRUE(code);
  Json json = toJson(*code);
  EXPECT_EQ(json["images"].size(), 3u);
  EXPECT_EQ(json["predicted_us"], 3.0);
  EXPECT_EQ(json["kernels"][0]["code"][1]["registers"], 48);
  EXPECT_TRUE(json["kernels"][1]["predicted_us"].is_null());
  EXPECT_EQ(json["on_cpu"][0]["node"], "sort");
}

/// Any text may stand in an artifact. Each value of the wrong type, and each
/// text that ends too early, is refused.
TEST(GpuCode, Malformed) {
  const std::string whole = recorded;
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parseGpuCode(whole.substr(0, size))) << size;
  for (const char *text : {"[]", "null", "1", "\"x\"", "{}"})
    EXPECT_FALSE(parseGpuCode(text)) << text;
  EXPECT_FALSE(parseGpuCode(std::string(100000, '[')));
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  for (const char *value : {"-1", "1.5", "1e300", "null", "{}", "\"4096\""})
    EXPECT_FALSE(parseGpuCode(with("4096", value))) << value;
  EXPECT_FALSE(parseGpuCode(with("\"sort\"", "7")));
  EXPECT_FALSE(parseGpuCode(with("[{\"buffers\":2", "[7,{\"buffers\":2")));
  EXPECT_FALSE(parseGpuCode(with("\"code\":[]", "\"code\":{}")));
  // Members that a later compiler adds are ignored.
  EXPECT_TRUE(parseGpuCode(with("{\"arena", "{\"later\":[1],\"arena")));
}

} // namespace
