//===- ProfileTest.cpp - times of layers --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "ingot/ingot.hpp"

#include <functional>
#include <thread>

using namespace ingot::test;

namespace {

ingot_profile_times runTimes(const ProfilePtr &profile) {
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  EXPECT_EQ(ingot_profile_run_get(profile.get(), &times, nullptr), 0);
  return times;
}

ingot_profile_times layerTimes(const ProfilePtr &profile, uint32_t layer) {
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  EXPECT_EQ(ingot_profile_layer_get(profile.get(), layer, &times, nullptr), 0);
  return times;
}

TEST(Profile, Layers) {
  ModelPtr model = load(artifactPath("static"));
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ASSERT_EQ(ingot_model_describe(model.get(), &info, nullptr), INGOT_OK);
  ASSERT_EQ(info.num_layers, 2u);
  ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
  ASSERT_EQ(ingot_model_layer_describe(model.get(), 0, &layer, nullptr), 0);
  EXPECT_STREQ(layer.kind, "matmul");
  EXPECT_STREQ(layer.backend, "native");
  EXPECT_STREQ(layer.reason, "");
  EXPECT_EQ(layer.num_nodes, 2u);
  EXPECT_EQ(layer.flops, 6u);
  EXPECT_EQ(layer.bytes, 72u);
  EXPECT_STREQ(ingot_model_layer_node(model.get(), 0, 0), "mul");
  EXPECT_STREQ(ingot_model_layer_node(model.get(), 0, 1), "scale");
  EXPECT_STREQ(ingot_model_layer_node(model.get(), 1, 0), "add");
  EXPECT_EQ(ingot_model_layer_node(model.get(), 1, 1), nullptr);
  EXPECT_EQ(ingot_model_layer_node(model.get(), 2, 0), nullptr);
  EXPECT_EQ(ingot_model_layer_node(nullptr, 0, 0), nullptr);
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_layer_describe(model.get(), 2, &layer, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message,
               "layer 2 was asked for, but the model has 2");
}

TEST(Profile, Times) {
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  ProfilePtr profile = makeProfile(model);
  StaticRun run;
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(runTimes(profile).runs, 0u) << "only runs that are given it";
  EXPECT_EQ(layerTimes(profile, 1).runs, 0u);

  run.options.profile = profile.get();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_TRUE(run.right());
  ingot_profile_times whole = runTimes(profile);
  ingot_profile_times first = layerTimes(profile, 0);
  ingot_profile_times second = layerTimes(profile, 1);
  EXPECT_EQ(whole.runs, 3u);
  EXPECT_EQ(whole.flops, 13u);
  EXPECT_EQ(whole.bytes, 13u * 12);
  for (const ingot_profile_times &times : {whole, first, second}) {
    EXPECT_EQ(times.runs, 3u);
    EXPECT_LE(times.min_ns, times.last_ns);
    EXPECT_LE(times.last_ns, times.max_ns);
    EXPECT_LE(times.max_ns, times.total_ns);
  }
  EXPECT_EQ(second.flops, 7u) << "what the run said, not the table";
  // Layers have no gaps and are within the run.
  EXPECT_EQ(second.last_start_ns, first.last_start_ns + first.last_ns);
  EXPECT_LE(second.last_start_ns + second.last_ns, whole.last_ns);
  EXPECT_LE(first.total_ns + second.total_ns, whole.total_ns);

  // Runs of other contexts are added, and a reset starts again.
  ContextPtr other = makeContext(model);
  ASSERT_EQ(run(other.get()), INGOT_OK);
  EXPECT_EQ(layerTimes(profile, 0).runs, 4u);
  run.options.profile = nullptr;
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(runTimes(profile).runs, 4u);
  ASSERT_EQ(ingot_profile_reset(profile.get(), nullptr), INGOT_OK);
  EXPECT_EQ(layerTimes(profile, 0).total_ns, 0u);
  run.options.profile = profile.get();
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(runTimes(profile).runs, 1u);
}

TEST(Profile, FailedRunsDoNotCount) {
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  ProfilePtr profile = makeProfile(model);
  StaticRun run;
  run.options.profile = profile.get();
  run.outputs[0].bytes = 4;
  EXPECT_EQ(run(context.get()), INGOT_BUFFER_TOO_SMALL);
  EXPECT_EQ(runTimes(profile).runs, 0u);
  EXPECT_EQ(layerTimes(profile, 0).runs, 0u);
}

TEST(Profile, ModelWithoutLayers) {
  ModelPtr model = load(artifactPath("dynamic"));
  ProfilePtr profile = makeProfile(model);
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_profile_layer_get(profile.get(), 0, &times, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(runTimes(profile).runs, 0u);
}

TEST(Profile, OfAnotherModel) {
  ModelPtr model = load(artifactPath("static"));
  ModelPtr other = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  ProfilePtr profile = makeProfile(other);
  StaticRun run;
  run.options.profile = profile.get();
  run.expectFails(context.get(), INGOT_INVALID_ARGUMENT,
                  "ingot_run_options.profile was created for another model");
}

TEST(Profile, KeepsItsModel) {
  ModelPtr model = load(artifactPath("static"));
  ProfilePtr profile = makeProfile(model);
  ContextPtr context = makeContext(model);
  model.reset();
  StaticRun run;
  run.options.profile = profile.get();
  ASSERT_EQ(run(context.get()), INGOT_OK);
  context.reset();
  EXPECT_EQ(layerTimes(profile, 1).runs, 1u);
}

TEST(Profile, DamagedLayers) {
  using Layer = ingot_abi_layer;
  static const Layer far[] = {{0, 4000, 1, 0, 0, 0, 0, 0, 0, 0}},
                     many[] = {{0, 0, 4000000000u, 0, 0, 0, 0, 0, 0, 0}},
                     kind[] = {{4000, 0, 1, 0, 0, 0, 0, 0, 0, 0}},
                     backend[] = {{0, 0, 1, 4000, 0, 0, 0, 0, 0, 0}},
                     reason[] = {{0, 0, 1, 0, 0, 0, 4000, 0, 0, 0}},
                     precision[] = {{0, 0, 1, 0, 0, 0, 0, 4000, 0, 0}};
  auto refuse = [](const std::function<void(ingot_abi_artifact &)> &spoil) {
    ingot_abi_artifact artifact = *linked_static_artifact();
    spoil(artifact);
    ingot_model *model = nullptr;
    ingot_error error = INGOT_ERROR_INIT;
    EXPECT_EQ(ingot_model_attach(&artifact, nullptr, &model, &error),
              INGOT_BAD_ARTIFACT);
    expectOneLine(error.message);
  };
  refuse([](auto &a) { a.layer_text = nullptr; });
  refuse([](auto &a) { a.layer_text_bytes = 0; });
  refuse([](auto &a) { a.layer_text_bytes -= 1; });
  for (const ingot_abi_layer *layers : {far, many, kind, backend, reason,
                                        precision})
    refuse([&](auto &a) { a.layers = {layers, 1, sizeof(ingot_abi_layer)}; });
}

TEST(Profile, BusyWhileItRuns) {
  ModelPtr model = load(artifactPath("slow"));
  ContextPtr context = makeContext(model), second = makeContext(model);
  ProfilePtr profile = makeProfile(model);
  std::atomic<int> flags[2] = {{0}, {0}};
  auto x = reinterpret_cast<uint64_t>(flags);
  uint64_t y = 0;
  ingot_input input = ingot_input_make(&x, 8, nullptr, 0, INGOT_UINT64);
  ingot_output output = ingot_output_make(&y, 8, nullptr, 0, INGOT_UINT64);
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  options.profile = profile.get();
  auto run = [&](const ContextPtr &context) {
    return ingot_context_run(context.get(), &input, 1, &output, 1, &options,
                             nullptr);
  };
  std::thread runner([&] { EXPECT_EQ(run(context), INGOT_OK); });
  while (!flags[0])
    std::this_thread::yield();
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  EXPECT_EQ(run(second), INGOT_BUSY) << "one run at a time";
  EXPECT_EQ(ingot_profile_reset(profile.get(), nullptr), INGOT_BUSY);
  EXPECT_EQ(ingot_profile_run_get(profile.get(), &times, nullptr), INGOT_BUSY);
  EXPECT_EQ(ingot_profile_layer_get(profile.get(), 0, &times, nullptr),
            INGOT_BUSY);
  flags[1] = 1;
  runner.join();
  EXPECT_EQ(runTimes(profile).runs, 1u);
  EXPECT_EQ(run(second), INGOT_OK);
}

TEST(Profile, NoMemory) {
  CountingAllocator allocator;
  ModelPtr model = load(artifactPath("static"));
  ingot_profile_options options = INGOT_PROFILE_OPTIONS_INIT;
  options.allocator = &allocator.api;
  allocator.fail = true;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_profile *raw = nullptr;
  EXPECT_EQ(ingot_profile_create(model.get(), &options, &raw, &error),
            INGOT_OUT_OF_MEMORY);
  EXPECT_EQ(raw, nullptr);
  expectOneLine(error.message);
  allocator.fail = false;
  makeProfile(model, &options);
  EXPECT_EQ(allocator.allocations, 1);
  EXPECT_EQ(allocator.live, 0);
}

TEST(Profile, Wrapper) {
  ingot::Model model = ingot::Model::load(artifactPath("static"));
  EXPECT_STREQ(model.layerInfo(1).kind, "elementwise");
  EXPECT_STREQ(model.layerInfo(1).backend, "loops");
  EXPECT_STREQ(model.layerInfo(1).reason, "native: is of f64");
  EXPECT_EQ(model.layerNodes(0), (std::vector<std::string>{"mul", "scale"}));
}

} // namespace
