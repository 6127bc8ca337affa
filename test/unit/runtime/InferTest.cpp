//===- InferTest.cpp - sizes and memory of a run, without running ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <string>
#include <vector>

using namespace ingot::test;

namespace {

/// Counts the bytes that are allocated.
struct MeasuringAllocator {
  uint64_t live = 0;
  ingot_allocator api = {
      sizeof(ingot_allocator), 0, this,
      [](void *user, uint64_t bytes, uint64_t alignment) -> void * {
        void *memory = nullptr;
        // The size is stored in front of the memory, in the padding for the
        // alignment.
        if (posix_memalign(&memory, alignment, bytes + alignment))
          return nullptr;
        *static_cast<uint64_t *>(memory) = bytes;
        static_cast<MeasuringAllocator *>(user)->live += bytes;
        return static_cast<char *>(memory) + alignment;
      },
      [](void *user, void *pointer) {
        if (!pointer)
          return;
        void *memory = static_cast<char *>(pointer) - INGOT_ABI_ALIGNMENT;
        static_cast<MeasuringAllocator *>(user)->live -=
            *static_cast<uint64_t *>(memory);
        free(memory);
      }};
};

struct Inferred {
  ingot_status status;
  int64_t size = -7;
  uint64_t arenaBytes = 0;
  ingot_error error = INGOT_ERROR_INIT;
};

Inferred infer(const ModelPtr &model, int64_t n) {
  Inferred inferred;
  const int64_t *inputs[] = {&n};
  int64_t *outputs[] = {&inferred.size};
  const uint32_t rank = 1;
  inferred.status =
      ingot_model_infer(model.get(), inputs, &rank, 1, outputs, &rank, 1,
                        &inferred.arenaBytes, &inferred.error);
  return inferred;
}

// A context that has run the sizes holds as many bytes as inferred.
TEST(Infer, TellsSizesAndMemory) {
  ModelPtr model = load(artifactPath("inferring"));
  for (int64_t n = 18; n < 120; ++n) {
    Inferred inferred = infer(model, n);
    ASSERT_EQ(inferred.status, INGOT_OK) << inferred.error.message;
    EXPECT_EQ(inferred.size, n);
    MeasuringAllocator allocator;
    ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
    options.allocator = &allocator.api;
    options.num_threads = 1;
    ContextPtr context = makeContext(model, &options);
    std::vector<float> x(n, 1), y(n);
    for (int run = 0; run < 2; ++run) {
      ingot_input input =
          ingot_input_make(x.data(), n * 4, &n, 1, INGOT_FLOAT);
      int64_t size = 0;
      ingot_output output =
          ingot_output_make(y.data(), n * 4, &size, 1, INGOT_FLOAT);
      ASSERT_EQ(ingot_context_run(context.get(), &input, 1, &output, 1, nullptr,
                                  nullptr),
                INGOT_OK);
      EXPECT_EQ(size, n);
    }
    // A single region may have room where several regions had none.
    EXPECT_LE(inferred.arenaBytes, allocator.live) << n;
    EXPECT_GE(inferred.arenaBytes + (256u << 10), allocator.live) << n;
  }
}

TEST(Infer, SaysWhatDataDecide) {
  ModelPtr model = load(artifactPath("inferring"));
  EXPECT_EQ(infer(model, 13).arenaBytes, UINT64_MAX);
  Inferred failed = infer(model, 17);
  EXPECT_EQ(failed.status, INGOT_RUNTIME_CHECK);
  EXPECT_STREQ(failed.error.message, "node 'walk': n is 17");
  // A failure reports nothing.
  EXPECT_EQ(failed.size, -7);
  EXPECT_EQ(infer(model, -1).status, INGOT_INVALID_ARGUMENT);
}

TEST(Infer, RefusesWrongArguments) {
  ModelPtr model = load(artifactPath("inferring"));
  ingot_error error = INGOT_ERROR_INIT;
  int64_t n = 3;
  const int64_t *dims[] = {&n, &n};
  const uint32_t ranks[] = {1, 1};
  auto infer = [&](const ingot_model *model, const int64_t *const *inputs,
                   const uint32_t *inputRanks, uint32_t numInputs,
                   int64_t *const *outputs = nullptr,
                   const uint32_t *outputRanks = nullptr) {
    error.message[0] = '\0';
    return ingot_model_infer(model, inputs, inputRanks, numInputs, outputs,
                             outputRanks, 1, nullptr, &error);
  };
  EXPECT_EQ(infer(nullptr, dims, ranks, 1), INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(infer(model.get(), dims, ranks, 2), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the model has 1 inputs, but 2 were given");
  EXPECT_EQ(infer(model.get(), nullptr, nullptr, 1), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 'x' has null dims");
  // Values that are not requested are not reported.
  EXPECT_EQ(infer(model.get(), dims, ranks, 1), INGOT_OK);
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.flags = INGOT_MODEL_DESCRIBE_ONLY;
  ModelPtr described = load(artifactPath("inferring"), &options);
  EXPECT_EQ(infer(described.get(), dims, ranks, 1), INGOT_INVALID_ARGUMENT);

  // A tensor that no memory can hold has no size. Arithmetic on its sizes might
  // overflow.
  for (int64_t huge : {INT64_MAX, int64_t(1) << 62, int64_t(1) << 55}) {
    const int64_t *hugeDims[] = {&huge};
    EXPECT_EQ(infer(model.get(), hugeDims, ranks, 1), INGOT_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "input 'x' is impossibly large");
  }

  // Arrays of another length than the model's rank are neither read nor
  // written.
  EXPECT_EQ(infer(model.get(), dims, nullptr, 1), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the ranks of the given dims are null");
  for (uint32_t rank : {0u, 2u, UINT32_MAX}) {
    EXPECT_EQ(infer(model.get(), dims, &rank, 1), INGOT_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(error.message),
              "input 'x' has rank 1, but " + std::to_string(rank) +
                  " was given");
    int64_t told = -7, *outputs[] = {&told};
    EXPECT_EQ(infer(model.get(), dims, ranks, 1, outputs, &rank),
              INGOT_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(error.message),
              "output 'y' has rank 1, but " + std::to_string(rank) +
                  " was given");
    EXPECT_EQ(told, -7);
    EXPECT_EQ(infer(model.get(), dims, ranks, 1, outputs),
              INGOT_INVALID_ARGUMENT);
  }
}

// Fixed sizes are known without code; open sizes of an older compiler are not.
TEST(Infer, WithoutCode) {
  ModelPtr fixed = load(artifactPath("static"));
  int64_t dims[2] = {};
  int64_t *outputs[] = {dims};
  uint64_t bytes = 1;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ASSERT_EQ(ingot_model_describe(fixed.get(), &info, nullptr), INGOT_OK);
  const uint32_t rank = 2;
  ASSERT_EQ(ingot_model_infer(fixed.get(), nullptr, nullptr, info.num_inputs,
                              outputs, &rank, info.num_outputs, &bytes, &error),
            INGOT_OK)
      << error.message;
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 3);
  EXPECT_EQ(bytes, info.arena_bytes);

  ModelPtr old = load(artifactPath("dynamic"));
  int64_t x[2] = {1, 4};
  const int64_t *inputs[] = {x};
  EXPECT_EQ(ingot_model_infer(old.get(), inputs, &rank, 1, nullptr, nullptr, 2,
                              nullptr, &error),
            INGOT_VERSION_MISMATCH);
}

} // namespace
