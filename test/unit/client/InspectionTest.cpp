//===- InspectionTest.cpp - descriptions of artifacts -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inspect/Inspection.h"

#include <gtest/gtest.h>

using namespace ingot::tools;

namespace {

std::string artifact(const char *name) {
  return std::string(INGOT_TEST_ARTIFACTS) + name + ".so";
}

TEST(Inspection, OfFixedSizes) {
  InspectOptions options;
  options.model = artifact("static");
  Inspection inspection;
  ASSERT_EQ(inspectModel(options, inspection), "");
  EXPECT_STREQ(inspection.info.name, "hand written");
  EXPECT_FALSE(inspection.isVerified);
  EXPECT_FALSE(inspection.inferred);
  const std::string layers = "\nlayers\n"
                             "  matmul       native    mul + scale\n"
                             "  elementwise  loops     add          native: is "
                             "of f64\n";
  const std::string brief = textOf(inspection, /*withLayers=*/false),
                    whole = textOf(inspection, /*withLayers=*/true);
  EXPECT_EQ(brief.find("model     hand written\n"
                       "compiler  ingot test, ABI version 2\n"
                       "target    x86-64, code 128 bytes\n"),
            0u)
      << brief;
  EXPECT_NE(brief.find("\ninputs\n"
                       "  x  float32  2x3  24 bytes\n"
                       "  b  float32  1    4 bytes\n"),
            std::string::npos)
      << brief;
  EXPECT_EQ(brief.find(layers), std::string::npos);
  EXPECT_NE(whole.find(layers), std::string::npos) << whole;
}

TEST(Inspection, AsJson) {
  InspectOptions options;
  options.model = artifact("static");
  Inspection inspection;
  ASSERT_EQ(inspectModel(options, inspection), "");
  Json json = toJson(inspection);
  EXPECT_EQ(json["name"], "hand written");
  EXPECT_EQ(json["inputs"][0], Json({{"name", "x"},
                                     {"dtype", "float32"},
                                     {"shape", {2, 3}},
                                     {"bytes", 24},
                                     {"dim_names", {"", ""}}}));
  EXPECT_EQ(json["layers"].size(), 2u);
  EXPECT_EQ(json["layers"][1]["reason"], "native: is of f64");
  EXPECT_EQ(json["metadata"]["labels"], "cat\ndog");
  EXPECT_FALSE(json.contains("inferred"));
  EXPECT_FALSE(json.contains("verified"));
}

TEST(Inspection, AtGivenSizes) {
  InspectOptions options;
  options.model = artifact("inferring");
  options.sizes.dims = {"n=5"};
  Inspection inspection;
  ASSERT_EQ(inspectModel(options, inspection), "");
  ASSERT_TRUE(inspection.inferred);
  EXPECT_EQ(inspection.inferred->outputs,
            std::vector<std::vector<int64_t>>{{5}});
  EXPECT_GT(inspection.inferred->arenaBytes, 256u);
  EXPECT_NE(textOf(inspection, false).find("\nat        x=5\nmakes     y=5\n"),
            std::string::npos);
  Json inferred = toJson(inspection)["inferred"];
  EXPECT_EQ(inferred["inputs"], Json::array({Json::array({5})}));
  EXPECT_EQ(inferred["arena_bytes"], inspection.inferred->arenaBytes);
}

TEST(Inspection, WhereDataDecide) {
  InspectOptions options;
  options.model = artifact("inferring");
  options.sizes.shapes = {"x=13"};
  Inspection inspection;
  ASSERT_EQ(inspectModel(options, inspection), "");
  EXPECT_NE(textOf(inspection, false).find("memory whose size depends on data"),
            std::string::npos);
  EXPECT_TRUE(toJson(inspection)["inferred"]["arena_bytes"].is_null());
}

TEST(Inspection, Problems) {
  InspectOptions options;
  options.model = artifact("none");
  Inspection missing, wrongSize, refused;
  EXPECT_EQ(inspectModel(options, missing).find("cannot open model file"), 0u);
  options.model = artifact("inferring");
  options.sizes.dims = {"m=5"};
  EXPECT_NE(inspectModel(options, wrongSize), "");
  options.sizes.dims = {"n=17"};
  EXPECT_NE(inspectModel(options, refused).find("n is 17"), std::string::npos);
}

} // namespace
