//===- RunArgumentsTest.cpp - wrong arguments of runs --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ArgumentsFixture.h"

using namespace ingot::test;

namespace {

TEST_F(Arguments, Runs) {
  /// Runs once with one field changed.
  auto with = [&](const std::function<void(StaticRun &)> &change) {
    return refused([&](ingot_error *error) {
      StaticRun run;
      change(run);
      return ingot_context_run(context.get(), run.inputs, 2, run.outputs, 1,
                               &run.options, error);
    });
  };
  EXPECT_FALSE(with([](StaticRun &) {}));
  for (uint32_t value : special32) {
    EXPECT_EQ(with([&](StaticRun &run) { run.inputs[0].rank = value; }),
              value != 2);
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].rank = value; }),
              value != 2);
    EXPECT_EQ(with([&](StaticRun &run) { run.inputs[0].dtype = value; }),
              value != INGOT_FLOAT);
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].dtype = value; }),
              value != INGOT_FLOAT);
    EXPECT_EQ(refused([&](ingot_error *error) {
                StaticRun run;
                return ingot_context_run(context.get(), run.inputs, value,
                                         run.outputs, 1, nullptr, error);
              }),
              value != 2);
    EXPECT_EQ(refused([&](ingot_error *error) {
                StaticRun run;
                return ingot_context_run(context.get(), run.inputs, 2,
                                         run.outputs, value, nullptr, error);
              }),
              value != 1);
  }
  // Changes the size in all structs of an array, and in one alone.
  for (uint32_t size : special32) {
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].struct_size = size; }),
              // The size before strings is also accepted.
              size != sizeof(ingot_output) &&
                  size != offsetof(ingot_output, text))
        << size;
    EXPECT_EQ(with([&](StaticRun &run) { run.inputs[1].struct_size = size; }),
              size != sizeof(ingot_input))
        << size;
    EXPECT_EQ(with([&](StaticRun &run) { run.inputs[0].memory = size; }),
              size != INGOT_MEMORY_HOST);
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].memory = size; }),
              size != INGOT_MEMORY_HOST);
    EXPECT_EQ(with([&](StaticRun &run) { run.inputs[1].device = size; }),
              size != 0);
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].device = size; }),
              size != 0);
    EXPECT_EQ(with([&](StaticRun &run) { run.inputs[1].reserved0 = size; }),
              size != 0);
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].reserved0 = size; }),
              size != 0);
    EXPECT_EQ(with([&](StaticRun &run) { run.options.reserved0 = size; }),
              size != 0);
  }
  int64_t strides[] = {3, 1};
  EXPECT_TRUE(with([&](StaticRun &run) { run.inputs[0].strides = strides; }));
  EXPECT_TRUE(with([&](StaticRun &run) { run.outputs[0].strides = strides; }));
  EXPECT_TRUE(with([&](StaticRun &run) { run.options.stream = strides; }));
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(with([&](StaticRun &run) { run.options.reserved[i] = 1; }));
  sweepOptions<ingot_run_options>(
      INGOT_RUN_OPTIONS_INIT,
      [&](const ingot_run_options *options, ingot_error *error) {
        StaticRun run;
        return ingot_context_run(context.get(), run.inputs, 2, run.outputs, 1,
                                 options, error);
      });
  for (uint64_t value : special64) {
    EXPECT_TRUE(with([&](StaticRun &run) { run.inputs[0].bytes = value; }));
    // Callers through the typed header may state more room than the address
    // space has.
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].bytes = value; }),
              value < 24)
        << value;
    for (int d = 0; d < 2; ++d)
      EXPECT_TRUE(with([&](StaticRun &run) { run.xDims[d] = int64_t(value); }));
  }
  EXPECT_TRUE(with([](StaticRun &run) { run.inputs[0].data = nullptr; }));
  EXPECT_TRUE(with([](StaticRun &run) { run.outputs[0].data = nullptr; }));
  EXPECT_TRUE(with([](StaticRun &run) { run.inputs[0].dims = nullptr; }));
  EXPECT_TRUE(with([](StaticRun &run) { run.outputs[0].dims = nullptr; }));
  for (int offset : {1, 2, 3}) {
    EXPECT_TRUE(with([&](StaticRun &run) {
      run.inputs[0].data = reinterpret_cast<char *>(run.x) + offset;
    }));
    EXPECT_TRUE(with([&](StaticRun &run) {
      run.outputs[0].data = reinterpret_cast<char *>(run.y) + offset;
    }));
  }
  EXPECT_TRUE(with([](StaticRun &run) { run.outputs[0].data = run.x + 5; }));
  EXPECT_TRUE(with([](StaticRun &run) { run.outputs[0].data = run.b; }));
  for (const char *name : {"", "z", "b", "x\n"})
    EXPECT_TRUE(with([&](StaticRun &run) {
      run.inputs[0].name = name;
      run.inputs[1].name = "b";
    }));
  EXPECT_TRUE(with([](StaticRun &run) { run.inputs[0].name = "x"; }));
  EXPECT_TRUE(with([](StaticRun &run) { run.inputs[1].name = "b"; }));
  StaticRun run;
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_context_run(nullptr, run.inputs, 2, run.outputs, 1, nullptr,
                             e);
  }));
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_context_run(context.get(), nullptr, 2, run.outputs, 1, nullptr,
                             e);
  }));
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_context_run(context.get(), run.inputs, 2, nullptr, 1, nullptr,
                             e);
  }));
}

TEST_F(Arguments, Profiles) {
  auto create = [&](const ingot_profile_options *options, ingot_error *error) {
    ingot_profile *raw = nullptr;
    ingot_status status =
        ingot_profile_create(model.get(), options, &raw, error);
    EXPECT_EQ(raw != nullptr, status == INGOT_OK);
    ingot_profile_release(raw);
    return status;
  };
  ingot_profile_options right = INGOT_PROFILE_OPTIONS_INIT;
  sweepOptions<ingot_profile_options>(right, create);
  for (int i = 0; i < 4; ++i) {
    ingot_profile_options options = right;
    options.reserved[i] = 1;
    EXPECT_TRUE(refused([&](ingot_error *e) { return create(&options, e); }));
  }
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_profile_create(model.get(), nullptr, nullptr, e);
  }));
  EXPECT_TRUE(refused([&](ingot_error *e) {
    ingot_profile *raw = nullptr;
    return ingot_profile_create(nullptr, nullptr, &raw, e);
  }));
  ingot_profile_release(nullptr);
  ProfilePtr profile = makeProfile(model);
  EXPECT_TRUE(
      refused([&](ingot_error *e) { return ingot_profile_reset(nullptr, e); }));
  EXPECT_FALSE(refused(
      [&](ingot_error *e) { return ingot_profile_reset(profile.get(), e); }));
  sweepInfo<ingot_profile_times>(
      INGOT_PROFILE_TIMES_INIT,
      [&](ingot_profile_times *times, ingot_error *e) {
        return ingot_profile_run_get(profile.get(), times, e);
      });
  sweepInfo<ingot_profile_times>(
      INGOT_PROFILE_TIMES_INIT,
      [&](ingot_profile_times *times, ingot_error *e) {
        return ingot_profile_layer_get(profile.get(), 1, times, e);
      });
  for (uint32_t layer : special32) {
    ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
    EXPECT_EQ(refused([&](ingot_error *e) {
                return ingot_profile_layer_get(profile.get(), layer, &times, e);
              }),
              layer >= 2);
    EXPECT_TRUE(refused([&](ingot_error *e) {
      return ingot_profile_layer_get(nullptr, layer, &times, e);
    }));
  }
  // Counts only this test, because each test may be a separate process.
  EXPECT_GT(calls, 500) << "a sweep of some eighty cases, seven calls each";
}

TEST_F(Arguments, Cancellations) {
  EXPECT_TRUE(refused(
      [&](ingot_error *e) { return ingot_cancellation_create(nullptr, e); }));
  EXPECT_FALSE(refused([&](ingot_error *e) {
    ingot_cancellation *raw = nullptr;
    ingot_status status = ingot_cancellation_create(&raw, e);
    ingot_cancellation_release(raw);
    return status;
  }));
  ingot_cancellation_request(nullptr);
  ingot_cancellation_release(nullptr);
}

} // namespace
