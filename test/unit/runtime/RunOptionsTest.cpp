//===- RunOptionsTest.cpp - cancelled runs, streams, memory -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <functional>
#include <string.h>
#include <thread>

using namespace ingot::test;

namespace {

//===----------------------------------------------------------------------===//
// Cancellation
//===----------------------------------------------------------------------===//

/// Runs of a model whose layers wait for the test.
class Cancellation : public testing::Test {
protected:
  ModelPtr model = load(artifactPath("layers"));
  CountingAllocator allocator;
  CancellationPtr cancellation = makeCancellation();
  std::atomic<int> steps[2] = {{0}, {0}};

  ContextPtr context() {
    ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
    options.allocator = &allocator.api;
    return makeContext(model, &options);
  }
  struct Result {
    ingot_status status;
    uint64_t y = 0;
    int64_t dims[1] = {-7};
    ingot_error error = INGOT_ERROR_INIT;
  };
  Result run(const ContextPtr &context, const ingot_run_options &options) {
    Result result;
    auto x = reinterpret_cast<uint64_t>(steps);
    ingot_input input = ingot_input_make(&x, 8, nullptr, 0, INGOT_UINT64);
    ingot_output output =
        ingot_output_make(&result.y, 8, result.dims, 1, INGOT_UINT64);
    result.status = ingot_context_run(context.get(), &input, 1, &output, 1,
                                      &options, &result.error);
    return result;
  }
  ingot_run_options options() {
    ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
    options.cancellation = cancellation.get();
    return options;
  }
  void expectCancelled(const Result &result) {
    EXPECT_EQ(result.status, INGOT_CANCELLED);
    EXPECT_EQ(result.error.status, INGOT_CANCELLED);
    EXPECT_STREQ(result.error.message, "the run was cancelled");
    EXPECT_EQ(result.dims[0], -7);
    EXPECT_EQ(result.y, 0u);
  }
};

TEST_F(Cancellation, ARunOnAnotherThreadEndsWithTheLayerItIsIn) {
  ContextPtr own = context();
  Result result;
  std::thread runner([&] { result = run(own, options()); });
  steps[1] = 2;
  while (steps[0] != 3)
    std::this_thread::yield();
  ingot_cancellation_request(cancellation.get());
  steps[1] = 1000;
  runner.join();
  expectCancelled(result);
  EXPECT_EQ(steps[0], 3) << "no layer after the one that ran";
  ingot_context_trim(own.get());
  EXPECT_EQ(allocator.live, 0);

  // The context is still usable.
  steps[0] = 0;
  ingot_run_options none = INGOT_RUN_OPTIONS_INIT;
  Result again = run(own, none);
  EXPECT_EQ(again.status, INGOT_OK) << again.error.message;
  EXPECT_EQ(again.y, 42u);
  EXPECT_EQ(steps[0], 100);
}

TEST_F(Cancellation, ARunThatBeginsLaterDoesNotBegin) {
  ContextPtr own = context();
  steps[1] = 1000;
  Result result = run(own, options());
  EXPECT_EQ(result.status, INGOT_OK) << result.error.message;
  EXPECT_EQ(result.y, 42u);
  ingot_cancellation_request(cancellation.get());
  ingot_cancellation_request(cancellation.get());
  steps[0] = 0;
  expectCancelled(run(own, options()));
  EXPECT_EQ(steps[0], 0);
}

TEST_F(Cancellation, OfSeveralRunsAtOnce) {
  ContextPtr contexts[3] = {context(), context(), context()};
  Result results[3];
  std::vector<std::thread> runners;
  for (int i = 0; i < 3; ++i)
    runners.emplace_back([&, i] {
      ingot_run_options given = options();
      if (i == 2)
        given.cancellation = nullptr;
      results[i] = run(contexts[i], given);
    });
  while (steps[0] != 3)
    std::this_thread::yield();
  ingot_cancellation_request(cancellation.get());
  steps[1] = 10000;
  for (std::thread &runner : runners)
    runner.join();
  expectCancelled(results[0]);
  expectCancelled(results[1]);
  EXPECT_EQ(results[2].status, INGOT_OK) << "which was not asked to stop";
}

TEST_F(Cancellation, AProfileDropsTheRun) {
  ContextPtr own = context();
  ProfilePtr profile = makeProfile(model);
  ingot_run_options given = options();
  given.profile = profile.get();
  Result result;
  std::thread runner([&] { result = run(own, given); });
  steps[1] = 49;
  while (steps[0] != 50)
    std::this_thread::yield();
  ingot_cancellation_request(cancellation.get());
  steps[1] = 1000;
  runner.join();
  expectCancelled(result);
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  ASSERT_EQ(ingot_profile_layer_get(profile.get(), 0, &times, nullptr), 0);
  EXPECT_EQ(times.runs, 0u);
}

/// A model without layers only checks at its start, as documented.
TEST(CancellationOfAModelWithoutLayers, AtTheBeginning) {
  ModelPtr model = load(artifactPath("dynamic"));
  ContextPtr context = makeContext(model);
  CancellationPtr cancellation = makeCancellation();
  ingot_cancellation_request(cancellation.get());
  float x[4] = {1, 2, 3, 4}, y[4];
  int64_t count, xDims[] = {1, 4}, yDims[1];
  ingot_input input = ingot_input_make(x, sizeof(x), xDims, 2, INGOT_FLOAT);
  ingot_output outputs[] = {
      ingot_output_make(y, sizeof(y), yDims, 1, INGOT_FLOAT),
      ingot_output_make(&count, 8, nullptr, 0, INGOT_INT64)};
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  options.cancellation = cancellation.get();
  EXPECT_EQ(ingot_context_run(context.get(), &input, 1, outputs, 2, &options,
                              nullptr),
            INGOT_CANCELLED);
}

//===----------------------------------------------------------------------===//
// Streams, memory and strides
//===----------------------------------------------------------------------===//

TEST(Place, CodeForACpuRefusesWhatItCannotDo) {
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  int something;
  auto refuses = [&](const char *message,
                     const std::function<void(StaticRun &)> &change) {
    StaticRun run;
    change(run);
    EXPECT_EQ(run(context.get()), INGOT_INVALID_ARGUMENT);
    EXPECT_STREQ(run.error.message, message);
  };
  refuses("ingot_run_options.stream is for code that runs on a stream, but the "
          "code in use (x86-64) does not; leave it null",
          [&](StaticRun &run) { run.options.stream = &something; });
  refuses("input 'x' lies in CUDA memory, which the code in use (x86-64) "
          "cannot reach",
          [](StaticRun &run) { run.inputs[0].memory = INGOT_MEMORY_CUDA; });
  refuses("output 'y' lies in unknown memory, which the code in use (x86-64) "
          "cannot reach",
          [](StaticRun &run) { run.outputs[0].memory = 77; });
  refuses("input 'b' lies in host memory, which has no device 2",
          [](StaticRun &run) { run.inputs[1].device = 2; });
  int64_t strides[] = {3, 1};
  refuses("input 'x' has strides, but the code in use (x86-64) takes dense "
          "tensors only; leave strides null",
          [&](StaticRun &run) { run.inputs[0].strides = strides; });
}

/// Code that declares support receives the caller's stream, memory and strides.
TEST(Place, CodeForADeviceIsHandedWhatItTakes) {
  ModelPtr model = load(artifactPath("device"));
  ContextPtr context = makeContext(model);
  ingot_variant_info info = INGOT_VARIANT_INFO_INIT;
  ASSERT_EQ(ingot_model_variant_describe(model.get(), 0, &info, nullptr), 0);
  EXPECT_EQ(info.memories, 3u);
  int64_t x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y[5] = {};
  int64_t dims[] = {2, 3}, strides[] = {4, 1}, yDims[1];
  ingot_input input = ingot_input_make(x, 48, dims, 2, INGOT_INT64);
  ingot_output output = ingot_output_make(y, 40, yDims, 1, INGOT_INT64);
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  auto run = [&] {
    return ingot_context_run(context.get(), &input, 1, &output, 1, &options,
                             &error);
  };
  ASSERT_EQ(run(), INGOT_OK) << error.message;
  EXPECT_EQ(std::vector<int64_t>(y, y + 5),
            (std::vector<int64_t>{0, INGOT_MEMORY_HOST, 0, 3, 3}));
  options.stream = reinterpret_cast<void *>(intptr_t(1234));
  input.memory = INGOT_MEMORY_CUDA;
  input.device = 5;
  input.strides = strides;
  input.bytes = sizeof(x);
  ASSERT_EQ(run(), INGOT_OK) << error.message;
  EXPECT_EQ(std::vector<int64_t>(y, y + 5),
            (std::vector<int64_t>{1234, INGOT_MEMORY_CUDA, 5, 4, 4}));
  input.bytes = 40;
  EXPECT_EQ(run(), INGOT_INVALID_ARGUMENT) << "less than its elements";
  // Buffers in different memories do not overlap, even with equal addresses.
  input.bytes = 48;
  input.strides = nullptr;
  output.data = x;
  output.bytes = sizeof(x);
  ASSERT_EQ(run(), INGOT_OK) << error.message;
  input.memory = INGOT_MEMORY_HOST;
  input.device = 0;
  EXPECT_EQ(run(), INGOT_INVALID_ARGUMENT);
}

//===----------------------------------------------------------------------===//
// Older and newer callers
//===----------------------------------------------------------------------===//

/// Passes an array of structs of a later header, whose new fields are zero or
/// not.
TEST(Arrays, OfLongerStructs) {
  struct Longer {
    ingot_input known;
    uint64_t more[2];
  };
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  StaticRun run;
  Longer inputs[2] = {{run.inputs[0], {0, 0}}, {run.inputs[1], {0, 0}}};
  for (Longer &input : inputs)
    input.known.struct_size = sizeof(Longer);
  auto call = [&] {
    return ingot_context_run(context.get(), &inputs[0].known, 2, run.outputs, 1,
                             nullptr, &run.error);
  };
  EXPECT_EQ(call(), INGOT_OK) << run.error.message;
  EXPECT_TRUE(run.right());
  inputs[1].more[1] = 1;
  EXPECT_EQ(call(), INGOT_VERSION_MISMATCH);
  expectOneLine(run.error.message);
}

TEST(Arrays, OfStructsOfDifferentSizes) {
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  StaticRun run;
  run.inputs[1].struct_size = 0;
  run.expectFails(context.get(), INGOT_INVALID_ARGUMENT,
                  "ingot_input 1 has struct_size 0, but the first has 80; "
                  "initialise each with its INGOT_..._INIT macro");
}

/// A later artifact may require larger buffer rows, whose new fields are zero.
TEST(Arrays, OfLongerBuffers) {
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.buffer_bytes = sizeof(ingot_abi_buffer) + 24;
  ingot_abi_variant variant =
      *static_cast<const ingot_abi_variant *>(artifact.variants.rows);
  static const ingot_abi_variant *original;
  original = static_cast<const ingot_abi_variant *>(artifact.variants.rows);
  variant.run = [](ingot_abi_call *call) -> int32_t {
    auto *rows = reinterpret_cast<const char *>(call->inputs);
    ingot_abi_buffer inputs[2];
    for (int i = 0; i < 2; ++i) {
      const char *row = rows + i * (sizeof(ingot_abi_buffer) + 24);
      memcpy(&inputs[i], row, sizeof(ingot_abi_buffer));
      for (int k = 0; k < 24; ++k)
        if (row[sizeof(ingot_abi_buffer) + size_t(k)])
          return INGOT_ABI_BACKEND_ERROR;
    }
    ingot_abi_call inner = *call;
    inner.inputs = inputs;
    return original->run(&inner);
  };
  artifact.variants.rows = &variant;
  ingot_model *raw = nullptr;
  ASSERT_EQ(ingot_model_attach(&artifact, nullptr, &raw, nullptr), INGOT_OK);
  ModelPtr model(raw);
  ContextPtr context = makeContext(model);
  StaticRun run;
  EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  EXPECT_TRUE(run.right());
}

} // namespace
