//===- ArgumentsTest.cpp - wrong arguments of objects ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ArgumentsFixture.h"

using namespace ingot::test;

namespace {

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
  for (uint32_t flags = 0; flags < 128; ++flags) {
    ingot_model_options options = right;
    options.flags = flags;
    // Bit 4, VERIFY, needs checksums, which this file lacks.
    EXPECT_EQ(refused([&](ingot_error *e) { return loadWith(&options, e); }),
              flags > 31 || (flags & 4))
        << flags;
    EXPECT_EQ(refused([&](ingot_error *e) { return attachWith(&options, e); }),
              flags > 3)
        << flags;
  }
  for (size_t i = 0; i < std::size(right.reserved); ++i) {
    ingot_model_options options = right;
    options.reserved[i] = 1;
    EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }));
  }
  for (const char *device : {"gpu", "CPU", "cuda:", "cuda:x", "cuda:-1",
                             "cuda:1x", "cuda:65536", "cuda: 1", " ", "\n"}) {
    ingot_model_options options = right;
    options.device = device;
    EXPECT_TRUE(refused([&](ingot_error *e) { return loadWith(&options, e); }))
        << device;
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
    // Every status number has a text.
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
        // A short struct lacks parallel_for, which is also refused.
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

} // namespace
