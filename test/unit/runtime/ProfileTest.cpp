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

ingot_profile_times runTimes(const ContextPtr &context) {
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  EXPECT_EQ(ingot_context_profile_run(context.get(), &times, nullptr), 0);
  return times;
}

ingot_profile_times layerTimes(const ContextPtr &context, uint32_t layer) {
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  EXPECT_EQ(ingot_context_profile_layer(context.get(), layer, &times, nullptr),
            0);
  return times;
}

ModelPtr attach(const ingot_abi_artifact &artifact) {
  ingot_model *model = nullptr;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_attach(&artifact, nullptr, &model, &error), INGOT_OK)
      << error.message;
  return ModelPtr(model);
}

TEST(Profile, Layers) {
  ModelPtr model = load(artifactPath("static"));
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ASSERT_EQ(ingot_model_describe(model.get(), &info, nullptr), INGOT_OK);
  ASSERT_EQ(info.num_layers, 2u);
  ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
  ASSERT_EQ(ingot_model_layer_describe(model.get(), 0, &layer, nullptr), 0);
  EXPECT_STREQ(layer.kind, "matmul");
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
  StaticRun run;
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(runTimes(context).runs, 0u) << "off until it is started";
  EXPECT_EQ(layerTimes(context, 1).runs, 0u);

  ASSERT_EQ(ingot_context_profile_start(context.get(), nullptr), INGOT_OK);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_TRUE(run.right());
  ingot_profile_times whole = runTimes(context);
  ingot_profile_times first = layerTimes(context, 0);
  ingot_profile_times second = layerTimes(context, 1);
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
  // Without gaps, and within the run.
  EXPECT_EQ(second.last_start_ns, first.last_start_ns + first.last_ns);
  EXPECT_LE(second.last_start_ns + second.last_ns, whole.last_ns);
  EXPECT_LE(first.total_ns + second.total_ns, whole.total_ns);

  // It goes on where it stopped, and starts anew after a reset.
  ASSERT_EQ(ingot_context_profile_stop(context.get(), nullptr), INGOT_OK);
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(runTimes(context).runs, 3u);
  ASSERT_EQ(ingot_context_profile_start(context.get(), nullptr), INGOT_OK);
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(layerTimes(context, 0).runs, 4u);
  ASSERT_EQ(ingot_context_profile_reset(context.get(), nullptr), INGOT_OK);
  EXPECT_EQ(layerTimes(context, 0).total_ns, 0u);
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(runTimes(context).runs, 1u);
}

TEST(Profile, FailedRunsDoNotCount) {
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  ASSERT_EQ(ingot_context_profile_start(context.get(), nullptr), INGOT_OK);
  StaticRun run;
  run.outputs[0].bytes = 4;
  EXPECT_EQ(run(context.get()), INGOT_BUFFER_TOO_SMALL);
  EXPECT_EQ(runTimes(context).runs, 0u);
  EXPECT_EQ(layerTimes(context, 0).runs, 0u);
}

TEST(Profile, ModelWithoutLayers) {
  ModelPtr model = load(artifactPath("dynamic"));
  ContextPtr context = makeContext(model);
  ASSERT_EQ(ingot_context_profile_start(context.get(), nullptr), INGOT_OK);
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_context_profile_layer(context.get(), 0, &times, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(runTimes(context).runs, 0u);
}

TEST(Profile, ArtifactOfAnOlderCompiler) {
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.struct_size = INGOT_ABI_ARTIFACT_BYTES_V1;
  artifact.num_layers = 77;
  artifact.layers = nullptr;
  ModelPtr model = attach(artifact);
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ASSERT_EQ(ingot_model_describe(model.get(), &info, nullptr), INGOT_OK);
  EXPECT_EQ(info.num_layers, 0u);
  ContextPtr context = makeContext(model);
  StaticRun run;
  EXPECT_EQ(run(context.get()), INGOT_OK);
}

TEST(Profile, DamagedLayers) {
  static const ingot_abi_layer far[] = {{0, 4000, 1, 0, 0, 0}},
                               many[] = {{0, 0, 4000000000u, 0, 0, 0}},
                               kind[] = {{4000, 0, 1, 0, 0, 0}};
  auto refuse = [](const std::function<void(ingot_abi_artifact &)> &spoil) {
    ingot_abi_artifact artifact = *linked_static_artifact();
    spoil(artifact);
    ingot_model *model = nullptr;
    ingot_error error = INGOT_ERROR_INIT;
    EXPECT_EQ(ingot_model_attach(&artifact, nullptr, &model, &error),
              INGOT_BAD_ARTIFACT);
    expectOneLine(error.message);
  };
  refuse([](auto &a) { a.layers = nullptr; });
  refuse([](auto &a) { a.layer_text = nullptr; });
  refuse([](auto &a) { a.layer_text_bytes = 0; });
  refuse([](auto &a) { a.layer_text_bytes -= 1; });
  for (const ingot_abi_layer *layers : {far, many, kind})
    refuse([&](auto &a) { a.layers = layers, a.num_layers = 1; });
}

TEST(Profile, BusyWhileItRuns) {
  ModelPtr model = load(artifactPath("slow"));
  ContextPtr context = makeContext(model);
  std::atomic<int> flags[2] = {{0}, {0}};
  auto x = reinterpret_cast<uint64_t>(flags);
  uint64_t y = 0;
  ingot_input input = {nullptr, &x, 8, nullptr, 0, INGOT_UINT64};
  ingot_output output = {nullptr, &y, 8, nullptr, 0, INGOT_UINT64};
  std::thread runner([&] {
    EXPECT_EQ(ingot_context_run(context.get(), &input, 1, &output, 1, nullptr),
              INGOT_OK);
  });
  while (!flags[0])
    std::this_thread::yield();
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  EXPECT_EQ(ingot_context_profile_start(context.get(), nullptr), INGOT_BUSY);
  EXPECT_EQ(ingot_context_profile_stop(context.get(), nullptr), INGOT_BUSY);
  EXPECT_EQ(ingot_context_profile_reset(context.get(), nullptr), INGOT_BUSY);
  EXPECT_EQ(ingot_context_profile_run(context.get(), &times, nullptr),
            INGOT_BUSY);
  EXPECT_EQ(ingot_context_profile_layer(context.get(), 0, &times, nullptr),
            INGOT_BUSY);
  flags[1] = 1;
  runner.join();
  EXPECT_EQ(ingot_context_profile_start(nullptr, nullptr),
            INGOT_INVALID_ARGUMENT);
}

TEST(Profile, NoMemory) {
  CountingAllocator allocator;
  ModelPtr model = load(artifactPath("static"));
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.allocator = &allocator.api;
  ContextPtr context = makeContext(model, &options);
  allocator.fail = true;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_context_profile_start(context.get(), &error),
            INGOT_OUT_OF_MEMORY);
  expectOneLine(error.message);
  allocator.fail = false;
  ASSERT_EQ(ingot_context_profile_start(context.get(), nullptr), INGOT_OK);
  context.reset();
  EXPECT_EQ(allocator.live, 0);
}

TEST(Profile, Wrapper) {
  ingot::Model model = ingot::Model::load(artifactPath("static"));
  EXPECT_STREQ(model.layerInfo(1).kind, "elementwise");
  EXPECT_EQ(model.layerNodes(0), (std::vector<std::string>{"mul", "scale"}));
  ingot::Context context(model);
  context.startProfile();
  StaticRun run;
  ASSERT_EQ(run(context.get()), INGOT_OK);
  EXPECT_EQ(context.runTimes().runs, 1u);
  EXPECT_EQ(context.layerTimes(1).runs, 1u);
  context.stopProfile();
  context.resetProfile();
  EXPECT_EQ(context.runTimes().runs, 0u);
}

} // namespace
