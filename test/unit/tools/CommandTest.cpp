//===- CommandTest.cpp - ingot run and ingot inspect as processes -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandFixture.h"
#include "client/Npy.h"

#include <string.h>

using namespace ingot::tools;
using namespace ingot::test;

namespace {

class Command : public CommandFixture {};

TEST_F(Command, Help) {
  for (const char *arguments :
       {"--help", "run --help", "inspect --help", "bench --help", "-h"}) {
    EXPECT_EQ(run(arguments), 0);
    EXPECT_NE(out.find("usage: ingot"), std::string::npos);
    EXPECT_NE(out.find("example:"), std::string::npos);
    EXPECT_EQ(err, "");
  }
  for (const char *arguments : {"--version", "run --version"}) {
    EXPECT_EQ(run(arguments), 0);
    EXPECT_EQ(out, "ingot " + std::string(ingot_version_get()) + "\n");
  }
}

TEST_F(Command, Usage) {
  EXPECT_EQ(run(""), 2);
  expectError("walk", 2, "ingot: error: unknown command 'walk'");
  expectError("run", 2, "ingot run: error: no model.so is given; see: ");
  expectError("run a.so b.so", 2, "ingot run: error: unexpected argument");
  expectError("run a.so --walk", 2, "ingot run: error: unknown option");
  expectError("run a.so -i", 2, "ingot run: error: unknown option '-i'");
  expectError("run a.so --threads", 2,
              "ingot run: error: option --threads needs a value, N");
  expectError("run a.so --threads=0", 2,
              "ingot run: error: option --threads must be a number from 1 to "
              "1024, not '0'");
  expectError("inspect a.so --json=1", 2,
              "ingot inspect: error: option --json takes no value");
  EXPECT_EQ(run("inspect a.so --json --metadata x"), 2);
  EXPECT_EQ(parseJson(err)["text"].get<std::string>().find(
                "--json and --metadata exclude"),
            0u);
}

TEST_F(Command, RunWritesOutputs) {
  ASSERT_EQ(run("run @static.so --input random --threads 2 --output-dir %o/p"),
            0)
      << err;
  EXPECT_EQ(err, "");
  EXPECT_NE(out.find("  y       float32  2x3"), std::string::npos) << out;
  Array y;
  ASSERT_EQ(readNpy(directory + "/o/p/y.npy", y), "");
  EXPECT_EQ(y.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory + "/o/p"),
                          fs::directory_iterator()),
            1);
}

TEST_F(Command, RunDynamic) {
  ASSERT_EQ(run("run @dynamic.so --input=x=random:3 --shape x=50x4 "
                "--output-dir %o"),
            0)
      << err;
  Array y, count;
  ASSERT_EQ(readNpy(directory + "/o/y.npy", y), "");
  ASSERT_EQ(readNpy(directory + "/o/count.npy", count), "");
  int64_t found;
  ASSERT_EQ(count.data.size(), 8u);
  memcpy(&found, count.data.data(), 8);
  EXPECT_EQ(y.dims, (std::vector<int64_t>{found}));
  EXPECT_GT(found, 50);
}

TEST_F(Command, RunEveryType) {
  ASSERT_EQ(run("run @types.so --input random --output-dir %o"), 0) << err;
  EXPECT_TRUE(fs::exists(directory + "/o/out_bfloat16.npy"));
}

TEST_F(Command, RunFailures) {
  expectError("run %none.so --input random", 1,
              "ingot run: error: cannot open model file '");
  expectError("run @bad_magic.so --input random", 1, "ingot run: error: '");
  expectError("run @static.so", 1,
              "ingot run: error: input 'x' (float32 2x3) is not given; ");
  expectError("run @separate.so --input random", 1,
              "ingot run: error: cannot open weights file '");
  expectError("run @separate.so --input random --weights %none", 1,
              "ingot run: error: cannot open weights file '");
  expectError("run @needs_v4.so --input random", 1, "ingot run: error: '",
              "INGOT_MAX_ISA=x86-64-v3");
  expectError("run @static.so --input random", 1,
              "ingot run: error: INGOT_MAX_ISA=fast names no CPU level",
              "INGOT_MAX_ISA=fast");
}

TEST_F(Command, FailuresLeaveNothingBehind) {
  expectError("run @failing_load.so --input random --output-dir %o", 1,
              "ingot run: error: '");
  EXPECT_FALSE(fs::exists(directory + "/o"));
  std::ofstream(directory + "/file") << "in the way";
  expectError("run @static.so --input random --output-dir %file/o", 1,
              "ingot run: error: cannot create directory '");
  fs::create_directories(directory + "/o/y.npy/full");
  expectError("run @static.so --input random --output-dir %o", 1,
              "ingot run: error: cannot write '");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory + "/o"),
                          fs::directory_iterator()),
            1);
}

TEST_F(Command, Inspect) {
  ASSERT_EQ(run("inspect @dynamic.so"), 0) << err;
  EXPECT_NE(out.find("x  float32  <batch>x4"), std::string::npos) << out;
  EXPECT_NE(out.find("labels  cat\\ndog"), std::string::npos) << out;
  ASSERT_EQ(run("inspect @dynamic.so --json"), 0) << err;
  EXPECT_EQ(document()["inputs"][0],
            Json({{"name", "x"},
                  {"dtype", "float32"},
                  {"shape", {-1, 4}},
                  {"bytes", nullptr},
                  {"dim_names", Json::array({"batch", ""})}}));
  ASSERT_EQ(run("inspect @static.so --metadata labels"), 0) << err;
  EXPECT_EQ(out, "cat\ndog");
  expectError("inspect @static.so --metadata none", 1, "ingot inspect: error");
  // A model for another CPU, and one without its weights.
  ASSERT_EQ(run("inspect @needs_future.so"), 0) << err;
  ASSERT_EQ(run("inspect @separate.so"), 0) << err;
  EXPECT_NE(out.find("SHA-256 24ae2dfe"), std::string::npos) << out;
}

} // namespace
