//===- LevelTest.cpp - choosing among the CPU levels of an artifact -----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/Artifact.h"
#include "runtime/core/Levels.h"

#include <functional>

using namespace ingot::test;
using namespace ingot::rt;

namespace {

constexpr uint64_t v3 = 0x3f, v4 = 0x7ff, amx = 0x1ffff;

/// Which level's functions were called last.
int loaded = -1, ran = -1, unloaded = -1;

template <int level>
int32_t load(const ingot_abi_host *host, const void *weights, void **state,
             char *error, uint64_t errorBytes) {
  loaded = level;
  return linked_static_artifact()->load(host, weights, state, error,
                                        errorBytes);
}
template <int level> void unload(const ingot_abi_host *host, void *state) {
  unloaded = level;
  linked_static_artifact()->unload(host, state);
}
template <int level> int32_t run(ingot_abi_call *call) {
  ran = level;
  return linked_static_artifact()->run(call);
}

/// An artifact with three levels; the lowest runs anywhere.
struct Levels {
  ingot_abi_variant rows[3] = {
      {"base", 0, 10, load<0>, unload<0>, run<0>},
      {"x86-64-v2", 1, 20, load<1>, unload<1>, run<1>},
      {"future", uint64_t(1) << 63 | 1, 30, load<2>, unload<2>, run<2>}};
  ingot_abi_artifact artifact = *linked_static_artifact();

  Levels() { refresh(); }
  explicit Levels(const uint64_t (&features)[3]) {
    for (int i = 0; i < 3; ++i)
      rows[i].cpu_features = features[i];
    refresh();
  }
  void refresh() {
    artifact.target = rows[0].target;
    artifact.cpu_features = rows[0].cpu_features;
    artifact.code_bytes = rows[0].code_bytes;
    artifact.load = rows[0].load;
    artifact.unload = rows[0].unload;
    artifact.run = rows[0].run;
    artifact.num_variants = 3;
    artifact.variant_bytes = sizeof(ingot_abi_variant);
    artifact.variants = rows;
  }
  ModelPtr attach(uint32_t flags = 0) {
    ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
    options.flags = flags;
    ingot_error error = INGOT_ERROR_INIT;
    ingot_model *model = nullptr;
    EXPECT_EQ(ingot_model_attach(&artifact, &options, &model, &error), INGOT_OK)
        << error.message;
    return ModelPtr(model);
  }
};

ingot_model_info describe(const ModelPtr &model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  EXPECT_EQ(ingot_model_describe(model.get(), &info, nullptr), INGOT_OK);
  return info;
}

int amxRequests = 0;
bool grantAmx() { return ++amxRequests; }
bool refuseAmx() {
  ++amxRequests;
  errno = EPERM;
  return false;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

uint32_t choose(const Levels &levels, uint64_t features,
                bool (*requestAmx)() = grantAmx) {
  ingot_error error = INGOT_ERROR_INIT;
  uint32_t index = 77;
  amxRequests = 0;
  EXPECT_EQ(chooseLevel(levels.artifact, {features, nullptr, requestAmx},
                        "model", index, &error),
            INGOT_OK)
      << error.message;
  return index;
}

TEST(Levels, HighestThatTheCpuHas) {
  Levels levels({v3, v4, amx});
  EXPECT_EQ(choose(levels, v3), 0u);
  EXPECT_EQ(choose(levels, v4 & ~(v4 >> 1 ^ v3)), 0u); // some of AVX-512 only
  EXPECT_EQ(choose(levels, v4), 1u);
  EXPECT_EQ(choose(levels, 0xfff), 1u);
  EXPECT_EQ(amxRequests, 0) << "only code with tiles asks for them";
  EXPECT_EQ(choose(levels, amx), 2u);
  EXPECT_EQ(amxRequests, 1);
}

TEST(Levels, WithoutPermissionForAmxTheLevelBelow) {
  Levels levels({v3, v4, amx});
  EXPECT_EQ(choose(levels, amx, refuseAmx), 1u);
  EXPECT_EQ(amxRequests, 1);

  levels.artifact.num_variants = 0;
  levels.artifact.cpu_features = amx;
  ingot_error error = INGOT_ERROR_INIT;
  uint32_t index = 77;
  EXPECT_EQ(chooseLevel(levels.artifact, {amx, nullptr, refuseAmx}, "model",
                        index, &error),
            INGOT_UNSUPPORTED_CPU);
  EXPECT_EQ(index, 77u);
  expectOneLine(error.message);
  EXPECT_NE(strstr(error.message, "'model' needs AMX, which the operating "
                                  "system does not grant"),
            nullptr)
      << error.message;
}

TEST(Levels, BelowTheLowest) {
  Levels levels({v3, v4, amx});
  levels.rows[0].target = levels.artifact.target = "x86-64-v3";
  levels.rows[1].target = "x86-64-v4";
  ingot_error error = INGOT_ERROR_INIT;
  uint32_t index;
  EXPECT_EQ(chooseLevel(levels.artifact, {1, nullptr, grantAmx}, "model.so",
                        index, &error),
            INGOT_UNSUPPORTED_CPU);
  EXPECT_STREQ(error.message,
               "'model.so' was compiled for x86-64-v3, x86-64-v4, future and "
               "needs at least avx, avx2, fma, f16c, bmi2, which this CPU "
               "(x86-64-v2) lacks; compile it with --target=x86-64-v2");
  EXPECT_EQ(chooseLevel(levels.artifact, {1, "x86-64-v2", grantAmx},
                        "model.so", index, &error),
            INGOT_UNSUPPORTED_CPU);
  expectOneLine(error.message);
  EXPECT_NE(strstr(error.message, "which INGOT_MAX_ISA=x86-64-v2 rules out"),
            nullptr)
      << error.message;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

TEST(Levels, OneRunsLoadAndRunAndUnloadOfOneLevel) {
  if (!(detectCpuFeatures() & SSE42))
    GTEST_SKIP() << "this CPU is below x86-64-v2";
  Levels levels;
  ScopedEnv env("INGOT_MAX_ISA", nullptr);
  ModelPtr model = levels.attach();
  EXPECT_EQ(loaded, 1);
  EXPECT_STREQ(describe(model).target, "x86-64-v2");
  EXPECT_EQ(describe(model).code_bytes, 20u);
  EXPECT_EQ(describe(model).cpu_features, 1u);
  EXPECT_EQ(describe(model).num_levels, 3u);
  ContextPtr context = makeContext(model);
  StaticRun once;
  EXPECT_EQ(once(context.get()), INGOT_OK) << once.error.message;
  EXPECT_TRUE(once.right());
  EXPECT_EQ(ran, 1);
  context.reset();
  model.reset();
  EXPECT_EQ(unloaded, 1);
}

TEST(Levels, AreDescribed) {
  Levels levels;
  ScopedEnv env("INGOT_MAX_ISA", "x86-64-v2");
  ModelPtr model = levels.attach();
  const char *inUse = describe(model).target;
  for (uint32_t i = 0; i < 3; ++i) {
    ingot_level_info info = INGOT_LEVEL_INFO_INIT;
    EXPECT_EQ(ingot_model_level_describe(model.get(), i, &info, nullptr),
              INGOT_OK);
    EXPECT_STREQ(info.name, levels.rows[i].target);
    EXPECT_EQ(info.cpu_features, levels.rows[i].cpu_features);
    EXPECT_EQ(info.code_bytes, levels.rows[i].code_bytes);
    EXPECT_EQ(info.is_in_use, uint32_t(!strcmp(info.name, inUse)));
  }
  ingot_level_info info = INGOT_LEVEL_INFO_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_level_describe(model.get(), 3, &info, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message,
               "CPU level 3 was asked for, but the model has 3");
  EXPECT_EQ(ingot_model_level_describe(nullptr, 0, &info, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_level_describe(model.get(), 0, nullptr, &error),
            INGOT_INVALID_ARGUMENT);
}

TEST(Levels, AModelForAnotherCpuCanBeDescribed) {
  Levels levels({uint64_t(1) << 61, uint64_t(3) << 61, uint64_t(7) << 61});
  ScopedEnv env("INGOT_MAX_ISA", "nonsense");
  ModelPtr model = levels.attach(INGOT_MODEL_DESCRIBE_ONLY);
  EXPECT_STREQ(describe(model).target, "base");
  EXPECT_EQ(describe(model).num_levels, 3u);
}

TEST(Levels, ArtifactsOfOlderCompilersHoldOne) {
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.num_variants = 88;
  artifact.variant_bytes = 1;
  artifact.variants = nullptr;
  for (uint32_t bytes : {INGOT_ABI_ARTIFACT_BYTES_V1, 200u}) {
    artifact.struct_size = bytes;
    ingot_model *raw = nullptr;
    ASSERT_EQ(ingot_model_attach(&artifact, nullptr, &raw, nullptr), INGOT_OK);
    ModelPtr model(raw);
    EXPECT_EQ(describe(model).num_levels, 1u);
    EXPECT_STREQ(describe(model).target, "x86-64");
    EXPECT_EQ(describe(model).num_layers, bytes == 200 ? 2u : 0u);
  }
}

/// A later ABI may put more into a row.
TEST(Levels, LongerRows) {
  struct Longer {
    ingot_abi_variant variant;
    uint64_t more[2];
  };
  Levels levels;
  Longer rows[3] = {{levels.rows[0], {9, 9}},
                    {levels.rows[1], {9, 9}},
                    {levels.rows[2], {9, 9}}};
  levels.artifact.variants = &rows[0].variant;
  levels.artifact.variant_bytes = sizeof(Longer);
  ModelPtr model = levels.attach(INGOT_MODEL_DESCRIBE_ONLY);
  ingot_level_info info = INGOT_LEVEL_INFO_INIT;
  EXPECT_EQ(ingot_model_level_describe(model.get(), 2, &info, nullptr),
            INGOT_OK);
  EXPECT_STREQ(info.name, "future");
}

TEST(Levels, Corrupt) {
  auto refuse = [](const char *part,
                   const std::function<void(Levels &)> &spoil) {
    Levels levels;
    spoil(levels);
    ingot_error error = INGOT_ERROR_INIT;
    ingot_model *model = nullptr;
    EXPECT_EQ(ingot_model_attach(&levels.artifact, nullptr, &model, &error),
              INGOT_BAD_ARTIFACT);
    expectOneLine(error.message);
    EXPECT_NE(strstr(error.message, part), nullptr) << error.message;
  };
  const char *invalid = "the table of its CPU levels is invalid";
  refuse(invalid, [](Levels &l) { l.artifact.variants = nullptr; });
  refuse(invalid, [](Levels &l) { l.artifact.num_variants = 65; });
  refuse(invalid, [](Levels &l) { l.artifact.num_variants = UINT32_MAX; });
  refuse(invalid, [](Levels &l) { l.artifact.variant_bytes = 0; });
  refuse(invalid, [](Levels &l) { l.artifact.variant_bytes = 40; });
  refuse(invalid, [](Levels &l) { l.artifact.variant_bytes = 49; });
  refuse(invalid, [](Levels &l) { l.artifact.variant_bytes = UINT32_MAX - 7; });
  const char *incomplete = "one of its CPU levels is incomplete";
  refuse(incomplete, [](Levels &l) { l.rows[1].target = nullptr; });
  refuse(incomplete, [](Levels &l) { l.rows[2].run = nullptr; });
  refuse(incomplete, [](Levels &l) { l.rows[2].unload = nullptr; });
  const char *order = "its CPU levels are out of order";
  refuse(order, [](Levels &l) { l.rows[1].cpu_features = 0; });
  refuse(order, [](Levels &l) { l.rows[2].cpu_features = uint64_t(1) << 63; });
}

} // namespace
