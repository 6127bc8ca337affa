//===- RunTest.cpp - checked buffers and dynamic shapes -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <math.h>
#include <string.h>

using namespace ingot::test;

namespace {

class Run : public testing::Test {
protected:
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  StaticRun run;
  void expectFails(ingot_status status, const std::string &part) {
    run.expectFails(context.get(), status, part);
  }
};

TEST_F(Run, ByPlace) {
  EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  EXPECT_TRUE(run.right());
}

TEST_F(Run, ByName) {
  std::swap(run.inputs[0], run.inputs[1]);
  run.inputs[0].name = "b";
  run.inputs[1].name = "x";
  run.outputs[0].name = "y";
  EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  EXPECT_TRUE(run.right());
}

TEST_F(Run, StaticShapesNeedNoDims) {
  for (ingot_input &input : run.inputs)
    input.dims = nullptr, input.rank = 0;
  run.outputs[0].dims = nullptr;
  run.outputs[0].rank = 0;
  EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  run.yDims[0] = 2, run.yDims[1] = 3;
  EXPECT_TRUE(run.right());
}

TEST_F(Run, WrongNames) {
  run.inputs[0].name = "x";
  expectFails(INGOT_INVALID_ARGUMENT,
              "name all inputs or none, but input 1 has no name");
  run.inputs[0].name = nullptr;
  run.inputs[1].name = "b";
  expectFails(INGOT_INVALID_ARGUMENT,
              "name all inputs or none, but input 1 has one");
  run.inputs[0].name = "z";
  expectFails(INGOT_NOT_FOUND, "the model has no input 'z'");
  run.inputs[0].name = "b";
  expectFails(INGOT_INVALID_ARGUMENT, "input 'b' is given twice");
  run.inputs[0].name = "x";
  run.outputs[0].name = "z";
  expectFails(INGOT_NOT_FOUND, "the model has no output 'z'");
}

TEST_F(Run, WrongCounts) {
  EXPECT_EQ(ingot_context_run(context.get(), run.inputs, 1, run.outputs, 1,
                              nullptr, &run.error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(run.error.message, "the model has 2 inputs, but 1 were given");
  EXPECT_EQ(ingot_context_run(context.get(), run.inputs, 2, run.outputs, 0,
                              nullptr, &run.error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(run.error.message, "the model has 1 outputs, but 0 were given");
  EXPECT_EQ(ingot_context_run(context.get(), nullptr, 2, run.outputs, 1,
                              nullptr, &run.error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(
      ingot_context_run(nullptr, nullptr, 0, nullptr, 0, nullptr, &run.error),
      INGOT_INVALID_ARGUMENT);
}

TEST_F(Run, WrongType) {
  run.inputs[0].dtype = INGOT_DOUBLE;
  expectFails(INGOT_INVALID_ARGUMENT,
              "input 'x' is float32, but float64 was given");
  run.inputs[0].dtype = INGOT_FLOAT;
  run.outputs[0].dtype = 0;
  expectFails(INGOT_INVALID_ARGUMENT,
              "output 'y' is float32, but unknown was given");
}

TEST_F(Run, WrongRank) {
  run.inputs[0].rank = 1;
  expectFails(INGOT_INVALID_ARGUMENT, "input 'x' has rank 2, but 1 was given");
  run.inputs[0].rank = 2;
  run.inputs[0].dims = nullptr;
  expectFails(INGOT_INVALID_ARGUMENT, "input 'x' has null dims");
  run.inputs[0].dims = run.xDims;
  run.outputs[0].rank = 3;
  expectFails(INGOT_INVALID_ARGUMENT, "output 'y' has rank 2, but 3 was given");
}

TEST_F(Run, WrongShape) {
  run.xDims[1] = 4;
  expectFails(INGOT_INVALID_ARGUMENT,
              "input 'x' has shape 2x3, but 2x4 was given");
  run.xDims[1] = -3;
  expectFails(INGOT_INVALID_ARGUMENT, "input 'x' has shape 2x3, but 2x-3");
}

TEST_F(Run, WrongBytes) {
  run.inputs[0].bytes = 20;
  expectFails(INGOT_INVALID_ARGUMENT,
              "input 'x' of shape 2x3 needs 24 bytes, but 20 were given");
  run.inputs[0].bytes = 28;
  expectFails(INGOT_INVALID_ARGUMENT, "but 28 were given");
}

TEST_F(Run, NullData) {
  run.inputs[1].data = nullptr;
  expectFails(INGOT_INVALID_ARGUMENT, "input 'b' has null data");
  run.inputs[1].data = run.b;
  run.outputs[0].data = nullptr;
  expectFails(INGOT_INVALID_ARGUMENT, "output 'y' has null data");
}

TEST_F(Run, ElementAlignmentIsEnough) {
  alignas(64) unsigned char memory[64];
  memcpy(memory + 4, run.x, sizeof(run.x));
  run.inputs[0].data = memory + 4;
  EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  EXPECT_TRUE(run.right());
  StaticRun again;
  memcpy(memory + 2, run.x, sizeof(run.x));
  again.inputs[0].data = memory + 2;
  again.expectFails(context.get(), INGOT_INVALID_ARGUMENT,
                    "input 'x' is not aligned to its element size, 4 bytes");
}

TEST_F(Run, StaticOutputTooSmall) {
  run.outputs[0].bytes = 23;
  expectFails(INGOT_BUFFER_TOO_SMALL,
              "output 'y' needs 24 bytes, but there is room for 23");
  EXPECT_EQ(run.yDims[0], 2);
  EXPECT_EQ(run.yDims[1], 3);
}

TEST_F(Run, Overlap) {
  run.outputs[0].data = run.x;
  run.outputs[0].bytes = sizeof(run.x);
  expectFails(INGOT_INVALID_ARGUMENT,
              "output 'y' overlaps input 'x' in memory");
  run.outputs[0].data = run.y;
  run.outputs[0].bytes = UINT64_MAX; // exceeds the address space
  EXPECT_NE(run(context.get()), INGOT_BACKEND_ERROR);
}

//===----------------------------------------------------------------------===//
// Dynamic shapes
//===----------------------------------------------------------------------===//

class DynamicRun : public testing::Test {
protected:
  ModelPtr model = load(artifactPath("dynamic"));
  CountingAllocator allocator;
  ContextPtr context;
  std::vector<float> x, y;
  int64_t xDims[2] = {0, 4}, yDims[1] = {-7}, count = -7;
  ingot_error error = INGOT_ERROR_INIT;

  void SetUp() override {
    ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
    options.allocator = &allocator.api;
    context = makeContext(model, &options);
  }
  /// Makes every second element positive.
  void fill(int64_t batch) {
    xDims[0] = batch;
    x.resize(size_t(batch) * 4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = i % 2 ? float(i) : -1;
  }
  ingot_status run() {
    ingot_input input =
        ingot_input_make(x.data(), x.size() * 4, xDims, 2, INGOT_FLOAT);
    ingot_output outputs[2] = {
        ingot_output_make(y.data(), y.size() * 4, yDims, 1, INGOT_FLOAT),
        ingot_output_make(&count, 8, nullptr, 0, INGOT_INT64)};
    return ingot_context_run(context.get(), &input, 1, outputs, 2, nullptr,
                             &error);
  }
};

TEST_F(DynamicRun, AskForTheSizeThenRun) {
  fill(3);
  EXPECT_EQ(run(), INGOT_BUFFER_TOO_SMALL);
  EXPECT_STREQ(error.message, "output 'y' of shape 6 needs 24 bytes, but there "
                              "is room for 0");
  EXPECT_EQ(yDims[0], 6);
  EXPECT_EQ(count, -7);
  y.resize(6);
  EXPECT_EQ(run(), INGOT_OK) << error.message;
  EXPECT_EQ(count, 6);
  EXPECT_EQ(y, (std::vector<float>{1, 3, 5, 7, 9, 11}));
}

TEST_F(DynamicRun, SeveralSizes) {
  y.resize(2000);
  for (int64_t batch : {1, 5, 1000, 2, 0, 7}) {
    fill(batch);
    EXPECT_EQ(run(), INGOT_OK) << error.message;
    EXPECT_EQ(count, batch * 2);
    EXPECT_EQ(yDims[0], batch * 2);
  }
}

TEST_F(DynamicRun, SecondRunAllocatesNothing) {
  y.resize(200);
  fill(100);
  EXPECT_EQ(run(), INGOT_OK);
  int first = allocator.allocations;
  EXPECT_EQ(first, 1);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(run(), INGOT_OK);
  EXPECT_EQ(allocator.allocations, first);
  ingot_context_trim(context.get());
  EXPECT_EQ(allocator.live, 0);
  EXPECT_EQ(run(), INGOT_OK);
}

TEST_F(DynamicRun, FailureOfTheRunningCode) {
  y.resize(200);
  fill(2);
  x[5] = NAN;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(), INGOT_RUNTIME_CHECK);
    EXPECT_STREQ(error.message, "NonZero 'pick': element 5 is not a number");
    EXPECT_EQ(yDims[0], -7);
  }
  EXPECT_EQ(allocator.live, 1); // memory of failed runs is reused
  fill(2);
  EXPECT_EQ(run(), INGOT_OK);
}

TEST_F(DynamicRun, OutOfMemory) {
  fill(2);
  allocator.fail = true;
  EXPECT_EQ(run(), INGOT_OUT_OF_MEMORY);
  EXPECT_STREQ(error.message, "out of memory");
  allocator.fail = false;
  y.resize(4);
  EXPECT_EQ(run(), INGOT_OK);
}

TEST_F(DynamicRun, WrongShapes) {
  fill(2);
  xDims[0] = -1;
  EXPECT_EQ(run(), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 'x' has shape ?x4, but -1x4 was given");
  xDims[0] = INT64_MAX;
  EXPECT_EQ(run(), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 'x' is impossibly large");
}

TEST(TypesRun, EveryElementType) {
  constexpr uint32_t kTypes = 25;
  ModelPtr model = load(artifactPath("types"));
  ContextPtr context = makeContext(model);
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  ASSERT_EQ(info.num_inputs, kTypes);
  uint64_t from[kTypes][4], to[kTypes][4] = {};
  std::vector<ingot_input> inputs;
  std::vector<ingot_output> outputs;
  for (uint32_t i = 0; i < kTypes; ++i) {
    memset(from[i], int(i + 1), sizeof(from[i]));
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model.get(), i, &tensor, nullptr);
    inputs.push_back(
        ingot_input_make(from[i], tensor.bytes, nullptr, 0, tensor.dtype));
    outputs.push_back(
        ingot_output_make(to[i], tensor.bytes, nullptr, 0, tensor.dtype));
  }
  EXPECT_EQ(ingot_context_run(context.get(), inputs.data(), kTypes,
                              outputs.data(), kTypes, nullptr, nullptr),
            INGOT_OK);
  for (uint32_t i = 0; i < kTypes; ++i)
    EXPECT_EQ(memcmp(from[i], to[i], inputs[size_t(i)].bytes), 0);
}

} // namespace
