//===- ArgumentsTest.cpp - every function with every wrong argument -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call with one thing wrong is refused with a status and one line, changes
// nothing else that it was given, and leaves its objects fit for a right call.
// Sized structs and plain values are put through every value that is special
// somewhere: null, zero, one, the largest, what is next to those.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <functional>
#include <string.h>

using namespace ingot::test;

namespace {

const uint32_t special32[] = {0,          1,          2,          3,
                              7,          8,          9,          63,
                              64,         65,         255,        4095,
                              4096,       4097,       0x7fffffff, 0x80000000,
                              0xfffffffe, 0xffffffff};
const uint64_t special64[] = {0,
                              1,
                              63,
                              64,
                              uint64_t(1) << 31,
                              uint64_t(1) << 32,
                              uint64_t(1) << 47,
                              (uint64_t(1) << 63) - 1,
                              uint64_t(1) << 63,
                              ~uint64_t(0) - 63,
                              ~uint64_t(0)};

int calls = 0;

/// Checks what every failure has in common; returns whether it was one.
bool refused(const std::function<ingot_status(ingot_error *)> &call) {
  ++calls;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status = call(&error);
  // A message is the caller's wish.
  ++calls;
  EXPECT_EQ(call(nullptr), status);
  // So is its room.
  for (uint32_t size : {0u, 7u, 8u, 9u, 12u}) {
    ++calls;
    ingot_error small;
    memset(&small, 0x5a, sizeof(small));
    small.struct_size = size;
    EXPECT_EQ(call(&small), status);
    const auto *bytes = reinterpret_cast<const char *>(&small);
    for (size_t i = size < 8 ? 4 : size; i < sizeof(small); ++i)
      if (bytes[i] != 0x5a) {
        ADD_FAILURE() << "byte " << i << " behind a struct of " << size;
        break;
      }
  }
  if (status == INGOT_OK) {
    EXPECT_EQ(error.status, INGOT_OK);
    EXPECT_STREQ(error.message, "");
    return false;
  }
  EXPECT_EQ(error.status, status);
  expectOneLine(error.message);
  EXPECT_STRNE(ingot_status_describe(status), "unknown status");
  return true;
}

class Arguments : public testing::Test {
protected:
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);

  void TearDown() override {
    // All that was refused has left them as they were.
    StaticRun run;
    EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
    EXPECT_TRUE(run.right());
    EXPECT_GT(calls, 0);
  }

  /// Every struct_size, and garbage in each word behind it, in a struct that is
  /// only read.
  template <typename T>
  void sweepOptions(const T &right,
                    const std::function<ingot_status(const T *, ingot_error *)>
                        &call) {
    for (uint32_t size : special32) {
      struct {
        T known;
        char behind[4096];
      } given;
      memset(&given, 0, sizeof(given));
      given.known = right;
      given.known.struct_size = size;
      bool isSize = size >= 8 && size <= 4096;
      EXPECT_EQ(refused([&](ingot_error *error) {
                  return call(&given.known, error);
                }),
                !isSize)
          << "struct_size " << size;
      if (isSize && size > sizeof(T)) {
        given.behind[size - sizeof(T) - 1] = 1;
        EXPECT_TRUE(refused([&](ingot_error *error) {
          return call(&given.known, error);
        })) << "a field that nobody knows";
      }
    }
  }

  /// A struct that is written: as far as it reaches and no further.
  template <typename T>
  void sweepInfo(const T &init,
                 const std::function<ingot_status(T *, ingot_error *)> &call) {
    EXPECT_TRUE(refused([&](ingot_error *error) {
      return call(nullptr, error);
    }));
    for (uint32_t size : special32) {
      struct {
        T known;
        char behind[4200];
      } given;
      bool isSize = size >= 8 && size <= 4096;
      bool failed = refused([&](ingot_error *error) {
        memset(&given, 0x5a, sizeof(given));
        given.known.struct_size = size;
        return call(&given.known, error);
      });
      EXPECT_EQ(failed, !isSize) << "struct_size " << size;
      const auto *bytes = reinterpret_cast<const char *>(&given);
      for (size_t i = isSize ? size : 4; i < sizeof(given); ++i)
        if (bytes[i] != 0x5a) {
          ADD_FAILURE() << "byte " << i << " of a struct of " << size;
          break;
        }
    }
    T right = init;
    EXPECT_FALSE(refused([&](ingot_error *error) {
      return call(&right, error);
    }));
  }
};

TEST_F(Arguments, Pools) {
  auto create = [](const ingot_pool_options *options, ingot_error *error) {
    ingot_pool *pool = nullptr;
    ingot_status status = ingot_pool_create(options, &pool, error);
    EXPECT_EQ(pool != nullptr, status == INGOT_OK);
    ingot_pool_release(pool);
    return status;
  };
  ingot_pool_options right = INGOT_POOL_OPTIONS_INIT;
  sweepOptions<ingot_pool_options>(right, create);
  EXPECT_FALSE(refused([&](ingot_error *e) { return create(nullptr, e); }));
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_pool_create(&right, nullptr, e);
  }));
  for (uint32_t value : special32) {
    ingot_pool_options options = right;
    options.num_threads = value;
    EXPECT_EQ(refused([&](ingot_error *e) { return create(&options, e); }),
              value > 1024)
        << value;
    options = right;
    options.spin_us = value;
    EXPECT_FALSE(refused([&](ingot_error *e) { return create(&options, e); }));
    options = right;
    options.reserved0 = value;
    EXPECT_EQ(refused([&](ingot_error *e) { return create(&options, e); }),
              value != 0);
  }
  for (int i = 0; i < 4; ++i) {
    ingot_pool_options options = right;
    options.reserved[i] = uint64_t(1) << (i * 20);
    EXPECT_TRUE(refused([&](ingot_error *e) { return create(&options, e); }));
  }
  EXPECT_EQ(ingot_pool_thread_count(nullptr), 0u);
}

TEST_F(Arguments, Models) {
  std::string path = artifactPath("static");
  auto loadWith = [&](const ingot_model_options *options, ingot_error *error) {
    ingot_model *raw = nullptr;
    ingot_status status = ingot_model_load(path.c_str(), options, &raw, error);
    EXPECT_EQ(raw != nullptr, status == INGOT_OK);
    ingot_model_release(raw);
    return status;
  };
  auto attachWith = [&](const ingot_model_options *options,
                        ingot_error *error) {
    ingot_model *raw = nullptr;
    ingot_status status =
        ingot_model_attach(linked_static_artifact(), options, &raw, error);
    ingot_model_release(raw);
    return status;
  };
  ingot_model_options right = INGOT_MODEL_OPTIONS_INIT;
  sweepOptions<ingot_model_options>(right, loadWith);
  sweepOptions<ingot_model_options>(right, attachWith);
  for (uint32_t flags = 0; flags < 64; ++flags) {
    ingot_model_options options = right;
    options.flags = flags;
    // Bit 4, VERIFY, needs checksums, which this file has not.
    EXPECT_EQ(refused([&](ingot_error *e) { return loadWith(&options, e); }),
              flags > 15 || (flags & 4))
        << flags;
    EXPECT_EQ(refused([&](ingot_error *e) { return attachWith(&options, e); }),
              flags > 3)
        << flags;
  }
  for (int i = 0; i < 4; ++i) {
    ingot_model_options options = right;
    options.reserved[i] = 1;
    EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }));
  }
  for (const char *level : {"x86-64-v5", "X86-64-V3", "native", " ", "\n"}) {
    ingot_model_options options = right;
    options.max_level = level;
    EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }))
        << level;
  }
  ingot_allocator allocator = CountingAllocator().api;
  ingot_model_options options = right;
  options.allocator = &allocator;
  allocator.allocate = nullptr;
  EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }));
  allocator = CountingAllocator().api;
  allocator.release = nullptr;
  EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }));
  allocator.struct_size = 0;
  EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }));
  for (const char *name : {(const char *)nullptr, "", "/", "/dev/null", ".",
                           "/dev/zero", "/no/such/file", "\n", "/etc/passwd"})
    EXPECT_TRUE(refused([&](ingot_error *e) {
      ingot_model *raw = nullptr;
      return ingot_model_load(name, nullptr, &raw, e);
    })) << (name ? name : "null");
  std::string longName(100000, 'x');
  for (const std::string &name : {longName, "/" + longName, longName + "/x"})
    EXPECT_TRUE(refused([&](ingot_error *e) {
      ingot_model *raw = nullptr;
      return ingot_model_load(name.c_str(), nullptr, &raw, e);
    }));
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_model_load(path.c_str(), nullptr, nullptr, e);
  }));
}

TEST_F(Arguments, Descriptions) {
  const ingot_model *raw = model.get();
  sweepInfo<ingot_model_info>(
      INGOT_MODEL_INFO_INIT, [&](ingot_model_info *info, ingot_error *e) {
        return ingot_model_describe(raw, info, e);
      });
  using Tensors = ingot_status (*)(const ingot_model *, uint32_t,
                                   ingot_tensor_info *, ingot_error *);
  for (Tensors describe :
       {ingot_model_input_describe, ingot_model_output_describe}) {
    sweepInfo<ingot_tensor_info>(
        INGOT_TENSOR_INFO_INIT, [&](ingot_tensor_info *info, ingot_error *e) {
          return describe(raw, 0, info, e);
        });
    for (uint32_t index : special32) {
      uint32_t count = describe == ingot_model_input_describe ? 2 : 1;
      ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
      EXPECT_EQ(refused([&](ingot_error *e) {
                  return describe(raw, index, &info, e);
                }),
                index >= count);
      EXPECT_TRUE(refused([&](ingot_error *e) {
        return describe(nullptr, index, &info, e);
      }));
    }
  }
  sweepInfo<ingot_variant_info>(
      INGOT_VARIANT_INFO_INIT, [&](ingot_variant_info *info, ingot_error *e) {
        return ingot_model_variant_describe(raw, 0, info, e);
      });
  ModelPtr withUses = load(artifactPath("own_threads"));
  sweepInfo<ingot_use_info>(
      INGOT_USE_INFO_INIT, [&](ingot_use_info *info, ingot_error *e) {
        return ingot_model_use_describe(withUses.get(), 1, info, e);
      });
  sweepInfo<ingot_layer_info>(
      INGOT_LAYER_INFO_INIT, [&](ingot_layer_info *info, ingot_error *e) {
        return ingot_model_layer_describe(raw, 1, info, e);
      });
  for (uint32_t index : special32) {
    ingot_variant_info variant = INGOT_VARIANT_INFO_INIT;
    ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
    EXPECT_EQ(refused([&](ingot_error *e) {
                return ingot_model_variant_describe(raw, index, &variant, e);
              }),
              index >= 1);
    EXPECT_EQ(refused([&](ingot_error *e) {
                return ingot_model_layer_describe(raw, index, &layer, e);
              }),
              index >= 2);
    EXPECT_EQ(refused([&](ingot_error *e) {
                return ingot_model_metadata_get(raw, index, nullptr, nullptr,
                                                e);
              }),
              index >= 2);
    for (uint32_t node : special32) {
      ++calls;
      EXPECT_EQ(ingot_model_layer_node(raw, index, node) != nullptr,
                (index == 0 && node < 2) || (index == 1 && node < 1));
      EXPECT_EQ(ingot_model_layer_node(nullptr, index, node), nullptr);
    }
    // Whatever number it is, there is a word for it.
    EXPECT_NE(ingot_status_describe(ingot_status(index)), nullptr);
    EXPECT_NE(ingot_dtype_name(index), nullptr);
    EXPECT_LE(ingot_dtype_size(index), 8u);
  }
  using Find = ingot_status (*)(const ingot_model *, const char *, uint32_t *,
                                ingot_error *);
  for (Find find : {ingot_model_input_find, ingot_model_output_find}) {
    uint32_t index = 77;
    std::string longName(100000, 'n');
    for (const char *name :
         {(const char *)nullptr, "", "z", "x\n", longName.c_str()}) {
      EXPECT_TRUE(
          refused([&](ingot_error *e) { return find(raw, name, &index, e); }));
      EXPECT_EQ(index, 77u);
    }
    EXPECT_TRUE(
        refused([&](ingot_error *e) { return find(raw, "x", nullptr, e); }));
    EXPECT_TRUE(refused(
        [&](ingot_error *e) { return find(nullptr, "x", &index, e); }));
  }
  EXPECT_EQ(ingot_model_metadata_find(raw, nullptr), nullptr);
  EXPECT_EQ(ingot_model_metadata_find(raw, ""), nullptr);
}

TEST_F(Arguments, Contexts) {
  auto create = [&](const ingot_context_options *options, ingot_error *error) {
    ingot_context *raw = nullptr;
    ingot_status status =
        ingot_context_create(model.get(), options, &raw, error);
    EXPECT_EQ(raw != nullptr, status == INGOT_OK);
    ingot_context_release(raw);
    return status;
  };
  ingot_context_options right = INGOT_CONTEXT_OPTIONS_INIT;
  sweepOptions<ingot_context_options>(right, create);
  auto refuses = [&](ingot_context_options options) {
    return refused([&](ingot_error *e) { return create(&options, e); });
  };
  for (uint32_t threads : special32) {
    ingot_context_options options = right;
    options.num_threads = threads;
    EXPECT_FALSE(refuses(options));
  }
  alignas(64) static char arena[4096 + 64];
  for (uint64_t bytes : special64) {
    ingot_context_options options = right;
    options.arena_bytes = bytes;
    options.arena = arena;
    EXPECT_EQ(refuses(options), bytes < 4096) << bytes;
    for (int offset : {1, 4, 32, 63}) {
      options.arena = arena + offset;
      EXPECT_TRUE(refuses(options));
    }
    options.arena = nullptr;
    EXPECT_FALSE(refuses(options));
  }
  ingot_executor executor = INGOT_EXECUTOR_INIT;
  ingot_context_options options = right;
  options.executor = &executor;
  EXPECT_TRUE(refuses(options)) << "no parallel_for";
  executor.parallel_for = [](void *, void (*task)(void *, int64_t), void *arg,
                             int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      task(arg, i);
  };
  for (uint32_t threads : special32) {
    executor.num_threads = threads;
    EXPECT_EQ(refuses(options), threads == 0);
  }
  sweepOptions<ingot_executor>(
      executor, [&](const ingot_executor *given, ingot_error *e) {
        ingot_context_options with = right;
        with.executor = given;
        // A short struct lacks parallel_for, which is refused as well.
        ingot_status status = create(&with, e);
        return given->struct_size >= 8 &&
                       given->struct_size < sizeof(*given) && status
                   ? (e && e->struct_size == sizeof(*e)
                          ? (*e = INGOT_ERROR_INIT, INGOT_OK)
                          : INGOT_OK)
                   : status;
      });
  for (int i = 0; i < 4; ++i) {
    ingot_context_options reserved = right;
    reserved.reserved[i] = 1;
    EXPECT_TRUE(refuses(reserved));
  }
  EXPECT_TRUE(refused([&](ingot_error *e) {
    return ingot_context_create(model.get(), nullptr, nullptr, e);
  }));
  EXPECT_TRUE(refused([&](ingot_error *e) {
    ingot_context *raw = nullptr;
    return ingot_context_create(nullptr, nullptr, &raw, e);
  }));
  EXPECT_EQ(ingot_context_thread_count(nullptr), 0u);
  ingot_context_trim(nullptr);
}

TEST_F(Arguments, Runs) {
  /// One run with one field changed.
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
  // Of all structs of an array together, and of one alone.
  for (uint32_t size : special32) {
    EXPECT_EQ(with([&](StaticRun &run) { run.outputs[0].struct_size = size; }),
              size != sizeof(ingot_output))
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
    // Room for more than there is address space is what typed callers say.
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
  // Of this test alone: each test may be a process of its own.
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
