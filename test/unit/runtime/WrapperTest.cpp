//===- WrapperTest.cpp - the C++ wrapper --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "ingot/ingot.hpp"

#include <fstream>
#include <iterator>

using ingot::test::artifactPath;

namespace {

TEST(Wrapper, Runs) {
  ingot::Model model = ingot::Model::load(artifactPath("static"));
  EXPECT_STREQ(model.metadata("author"), "nobody");
  EXPECT_EQ(model.info().num_outputs, 1u);
  EXPECT_EQ(model.info().num_variants, 1u);
  EXPECT_STREQ(model.variantInfo(0).target, "x86-64");
  EXPECT_EQ(model.variantInfo(0).is_in_use, 1u);
  EXPECT_STREQ(model.inputInfo(1).name, "b");
  EXPECT_STREQ(model.outputInfo(0).name, "y");

  ingot::Pool pool(2);
  EXPECT_EQ(pool.threadCount(), 2u);
  ingot_context_options options = ingot::Context::defaults();
  options.pool = pool.get();
  ingot::Context context(model, options);
  EXPECT_EQ(context.threadCount(), 2u);
  ingot::Context moved = std::move(context);

  ingot::Tensor<float> x({2, 3}), b({1}), y({2, 3});
  x.data = {1, 2, 3, 4, 5, 6};
  moved.run({ingot::input(b, "b"), ingot::input(x, "x")},
            {ingot::output(y, "y")});
  EXPECT_EQ(y.data, (std::vector<float>{1, 4, 9, 16, 25, 36}));
}

TEST(Wrapper, ShapeProfiles) {
  static const ingot_abi_size_range ranges[] = {{0, 0, 1, 4, 8, 2}};
  static const ingot_abi_shape_profile profiles[] = {
      {{ranges, 1, sizeof(ingot_abi_size_range)}}};
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.shape_profiles = {profiles, 1, sizeof(ingot_abi_shape_profile)};
  ingot::Model model = ingot::Model::attach(&artifact);
  std::vector<ingot_size_range_info> told = model.shapeProfile(0);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].usual, 4);
  EXPECT_EQ(told[0].multiple, 2);
  EXPECT_THROW(model.shapeProfile(1), ingot::Error);
}

TEST(Wrapper, LoadsFromMemory) {
  std::ifstream in(artifactPath("static"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  ingot::Model model = ingot::Model::loadMemory(bytes.data(), bytes.size());
  EXPECT_EQ(model.info().num_inputs, 2u);
  EXPECT_THROW(ingot::Model::loadMemory(bytes.data(), 100), ingot::Error);
}

TEST(Wrapper, Infers) {
  ingot::Model model = ingot::Model::load(artifactPath("inferring"));
  ingot::Model::Inferred inferred = model.infer({{5}});
  EXPECT_EQ(inferred.outputs, (std::vector<std::vector<int64_t>>{{5}}));
  EXPECT_GT(inferred.arenaBytes, 256u);
  EXPECT_THROW(model.infer({{17}}), ingot::Error);
  EXPECT_THROW(model.infer({}), ingot::Error);
}

TEST(Wrapper, GrowsOutputs) {
  ingot::Model model = ingot::Model::load(artifactPath("dynamic"));
  ingot::Context context(model);
  ingot::Tensor<float> x({1, 4}), y({0});
  ingot::Tensor<int64_t> count((std::vector<int64_t>()));
  x.data = {-1, 2, -3, 4};
  EXPECT_FALSE(context.tryRun({ingot::input(x)},
                              {ingot::output(y), ingot::output(count)}));
  y = ingot::Tensor<float>(y.dims);
  EXPECT_TRUE(context.tryRun({ingot::input(x)},
                             {ingot::output(y), ingot::output(count)}));
  EXPECT_EQ(y.data, (std::vector<float>{2, 4}));
  EXPECT_EQ(count.data[0], 2);
  context.trim();
}

TEST(Wrapper, UsesAndOptionsOfARun) {
  ingot::Model model = ingot::Model::load(artifactPath("own_threads"));
  EXPECT_EQ(model.info().num_uses, 2u);
  EXPECT_STREQ(model.useInfo(0).name, "onednn");
  EXPECT_EQ(model.useInfo(1).kind, uint32_t(INGOT_USE_PRECISION));
  ingot::Context context(model);
  ingot::Tensor<float> x({2, 3}), b({1}), y({2, 3});
  ingot::Profile profile(model);
  ingot::Cancellation cancellation;
  ingot_run_options options = ingot::Context::runDefaults();
  options.profile = profile.get();
  options.cancellation = cancellation.get();
  context.run({ingot::input(x), ingot::input(b)}, {ingot::output(y)}, options);
  EXPECT_EQ(profile.runTimes().runs, 1u);
  EXPECT_EQ(profile.layerTimes(1).runs, 1u);
  cancellation.request();
  try {
    context.run({ingot::input(x), ingot::input(b)}, {ingot::output(y)},
                options);
    FAIL();
  } catch (const ingot::Error &error) {
    EXPECT_EQ(error.status(), INGOT_CANCELLED);
  }
  profile.reset();
  EXPECT_EQ(profile.runTimes().runs, 0u);
}

TEST(Wrapper, Throws) {
  try {
    ingot::Model::load("/no/such/model.so");
    FAIL();
  } catch (const ingot::Error &error) {
    EXPECT_EQ(error.status(), INGOT_NOT_FOUND);
    ingot::test::expectOneLine(error.what());
  }
  ingot::Model model = ingot::Model::load(artifactPath("static"));
  EXPECT_THROW(model.inputInfo(2), ingot::Error);
  ingot::Context context(model);
  EXPECT_THROW(context.run({}, {}), ingot::Error);
  EXPECT_THROW(context.tryRun({}, {}), ingot::Error);
}

} // namespace
