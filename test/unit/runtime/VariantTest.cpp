//===- VariantTest.cpp - selection of a variant -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/Artifact.h"
#include "runtime/core/Variants.h"

#include <functional>

using namespace ingot::test;
using namespace ingot::rt;

namespace {

constexpr uint64_t v3 = 0x3f, v4 = 0x7ff, amx = 0x3ffff;

/// Index of the variant whose functions were called last.
int loaded = -1, ran = -1, unloaded = -1;

/// Returns the variant of the linked artifact.
const ingot_abi_variant &linked() {
  return variantsOf(*linked_static_artifact())[0];
}

template <int number>
int32_t load(ingot_abi_load *call) {
  loaded = number;
  return linked().load(call);
}
template <int number>
void unload(const ingot_abi_host *host, void *state) {
  unloaded = number;
  linked().unload(host, state);
}
template <int number>
int32_t run(ingot_abi_call *call) {
  ran = number;
  return linked().run(call);
}

template <int number>
ingot_abi_variant row(const char *target, uint64_t features, uint64_t bytes) {
  ingot_abi_variant made = linked();
  made.target = target;
  made.features = features;
  made.priority = number + 1;
  made.code_bytes = bytes;
  made.load = load<number>;
  made.unload = unload<number>;
  made.run = run<number>;
  return made;
}

/// An artifact with three variants; the first runs anywhere.
struct Variants {
  ingot_abi_variant rows[3] = {row<0>("base", 0, 10),
                               row<1>("x86-64-v2", 1, 20),
                               row<2>("future", uint64_t(1) << 63 | 1, 30)};
  ingot_abi_artifact artifact = *linked_static_artifact();

  Variants() { artifact.variants = {rows, 3, sizeof(ingot_abi_variant)}; }
  explicit Variants(const uint64_t (&features)[3]) : Variants() {
    for (int i = 0; i < 3; ++i)
      rows[i].features = features[i];
  }
  ingot_status attach(ModelPtr &model, ingot_error &error, uint32_t flags = 0,
                      const char *maxLevel = nullptr) {
    ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
    options.flags = flags;
    options.max_level = maxLevel;
    ingot_model *raw = nullptr;
    ingot_status status = ingot_model_attach(&artifact, &options, &raw, &error);
    model.reset(raw);
    return status;
  }
  ModelPtr attach(uint32_t flags = 0, const char *maxLevel = nullptr) {
    ingot_error error = INGOT_ERROR_INIT;
    ModelPtr model;
    EXPECT_EQ(attach(model, error, flags, maxLevel), INGOT_OK) << error.message;
    return model;
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

Cpu cpuWith(uint64_t features, bool (*requestAmx)() = grantAmx) {
  return {features, nullptr, nullptr, requestAmx};
}

uint32_t choose(const Variants &variants, uint64_t features,
                bool (*requestAmx)() = grantAmx) {
  ingot_error error = INGOT_ERROR_INIT;
  uint32_t index = 77;
  amxRequests = 0;
  EXPECT_EQ(chooseVariant(variants.artifact, cpuWith(features, requestAmx),
                          "model", index, &error),
            INGOT_OK)
      << error.message;
  return index;
}

TEST(Variants, BestThatTheCpuCanRun) {
  Variants variants({v3, v4, amx});
  EXPECT_EQ(choose(variants, v3), 0u);
  EXPECT_EQ(choose(variants, v4 & ~(v4 >> 1 ^ v3)), 0u); // a part of AVX-512
  EXPECT_EQ(choose(variants, v4), 1u);
  EXPECT_EQ(choose(variants, 0xfff), 1u);
  EXPECT_EQ(amxRequests, 0) << "only code with tiles asks for them";
  EXPECT_EQ(choose(variants, amx), 2u);
  EXPECT_EQ(amxRequests, 1);
}

/// The features of one variant need not contain those of another: AVX-VNNI
/// without AVX-512, and the reverse.
TEST(Variants, NeedNotContainEachOther) {
  constexpr uint64_t vnni = AVXVNNI;
  Variants variants({v3, v3 | vnni, v4});
  EXPECT_EQ(choose(variants, v3), 0u);
  EXPECT_EQ(choose(variants, v3 | vnni), 1u);
  EXPECT_EQ(choose(variants, v4), 2u);
  EXPECT_EQ(choose(variants, v4 | vnni), 2u) << "the priority decides";
  variants.rows[1].priority = 9;
  EXPECT_EQ(choose(variants, v4 | vnni), 1u);
  EXPECT_EQ(choose(variants, v4), 2u);
  // The order in the table does not matter.
  std::swap(variants.rows[0], variants.rows[2]);
  EXPECT_EQ(choose(variants, v3), 2u);
  EXPECT_EQ(choose(variants, v4), 0u);
  // Among equals the first is used.
  variants.rows[1].priority = variants.rows[0].priority;
  EXPECT_EQ(choose(variants, v4 | vnni), 0u);
}

/// Variants for another device, architecture or memory, or with unknown
/// features, are ignored at any priority.
TEST(Variants, ForOtherMachines) {
  auto skips = [](const std::function<void(ingot_abi_variant &)> &change) {
    Variants variants({v3, v3, v3});
    variants.rows[2].features = 0;
    change(variants.rows[2]);
    EXPECT_EQ(choose(variants, v4), 1u);
  };
  skips([](ingot_abi_variant &v) { v.device = INGOT_ABI_DEVICE_CUDA; });
  skips([](ingot_abi_variant &v) { v.device = 0; });
  skips([](ingot_abi_variant &v) { v.device = 1000; });
  skips([](ingot_abi_variant &v) {
    v.architecture = INGOT_ABI_ARCHITECTURE_NVPTX;
  });
  skips([](ingot_abi_variant &v) { v.architecture = 0; });
  skips([](ingot_abi_variant &v) { v.features = uint64_t(1) << 63; });
  skips([](ingot_abi_variant &v) { v.flags = 4; });
  skips([](ingot_abi_variant &v) { v.arena_memory = INGOT_ABI_MEMORY_CUDA; });
}

TEST(Variants, WithoutPermissionForAmxTheNextBest) {
  Variants variants({v3, v4, amx});
  EXPECT_EQ(choose(variants, amx, refuseAmx), 1u);
  EXPECT_EQ(amxRequests, 1);

  variants.artifact.variants = {variants.rows + 2, 1,
                                sizeof(ingot_abi_variant)};
  ingot_error error = INGOT_ERROR_INIT;
  uint32_t index = 77;
  EXPECT_EQ(chooseVariant(variants.artifact, cpuWith(amx, refuseAmx), "model",
                          index, &error),
            INGOT_UNSUPPORTED_DEVICE);
  EXPECT_EQ(index, 77u);
  expectOneLine(error.message);
  EXPECT_NE(strstr(error.message, "'model' needs AMX, which the operating "
                                  "system does not grant"),
            nullptr)
      << error.message;
}

TEST(Variants, NoneThatRuns) {
  Variants variants({v3, v4, amx});
  variants.rows[0].target = "x86-64-v3";
  variants.rows[1].target = "x86-64-v4";
  ingot_error error = INGOT_ERROR_INIT;
  uint32_t index;
  EXPECT_EQ(
      chooseVariant(variants.artifact, cpuWith(1), "model.so", index, &error),
      INGOT_UNSUPPORTED_DEVICE);
  EXPECT_STREQ(error.message,
               "'model.so' was compiled for x86-64-v3, x86-64-v4, future and "
               "needs at least avx, avx2, fma, f16c, bmi2, which this CPU "
               "(x86-64-v2) lacks; compile it with --target=x86-64-v2");
  EXPECT_EQ(chooseVariant(variants.artifact,
                          {1, "x86-64-v2", "INGOT_MAX_ISA", grantAmx},
                          "model.so", index, &error),
            INGOT_UNSUPPORTED_DEVICE);
  expectOneLine(error.message);
  EXPECT_NE(strstr(error.message, "which INGOT_MAX_ISA=x86-64-v2 rules out"),
            nullptr)
      << error.message;
  for (ingot_abi_variant &row : variants.rows)
    row.device = INGOT_ABI_DEVICE_CUDA, row.target = "sm_90";
  EXPECT_EQ(
      chooseVariant(variants.artifact, cpuWith(1), "model.so", index, &error),
      INGOT_UNSUPPORTED_DEVICE);
  EXPECT_STREQ(error.message,
               "'model.so' was compiled for sm_90, sm_90, sm_90, and holds no "
               "code for this CPU (x86-64-v2); compile it with "
               "--target=x86-64-v2");
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

TEST(Variants, OneRunsLoadAndRunAndUnloadOfOne) {
  if (!(detectCpuFeatures() & SSE42))
    GTEST_SKIP() << "this CPU is below x86-64-v2";
  Variants variants;
  ScopedEnv env("INGOT_MAX_ISA", nullptr);
  ModelPtr model = variants.attach();
  EXPECT_EQ(loaded, 1);
  EXPECT_STREQ(describe(model).target, "x86-64-v2");
  EXPECT_EQ(describe(model).code_bytes, 20u);
  EXPECT_EQ(describe(model).num_variants, 3u);
  ContextPtr context = makeContext(model);
  StaticRun once;
  EXPECT_EQ(once(context.get()), INGOT_OK) << once.error.message;
  EXPECT_TRUE(once.right());
  EXPECT_EQ(ran, 1);
  context.reset();
  model.reset();
  EXPECT_EQ(unloaded, 1);
}

TEST(Variants, AreDescribed) {
  Variants variants;
  ScopedEnv env("INGOT_MAX_ISA", "x86-64-v2");
  ModelPtr model = variants.attach();
  const char *inUse = describe(model).target;
  for (uint32_t i = 0; i < 3; ++i) {
    ingot_variant_info info = INGOT_VARIANT_INFO_INIT;
    EXPECT_EQ(ingot_model_variant_describe(model.get(), i, &info, nullptr),
              INGOT_OK);
    EXPECT_STREQ(info.target, variants.rows[i].target);
    EXPECT_EQ(info.device, uint32_t(INGOT_ABI_DEVICE_CPU));
    EXPECT_EQ(info.architecture, variants.rows[i].architecture);
    EXPECT_EQ(info.features, variants.rows[i].features);
    EXPECT_EQ(info.priority, i + 1);
    EXPECT_EQ(info.memories, 1u);
    EXPECT_EQ(info.arena_bytes, 4096u);
    EXPECT_EQ(info.code_bytes, variants.rows[i].code_bytes);
    EXPECT_EQ(info.is_in_use, uint32_t(!strcmp(info.target, inUse)));
  }
  ingot_variant_info info = INGOT_VARIANT_INFO_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_variant_describe(model.get(), 3, &info, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "variant 3 was asked for, but the model has 3");
  EXPECT_EQ(ingot_model_variant_describe(nullptr, 0, &info, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_variant_describe(model.get(), 0, nullptr, &error),
            INGOT_INVALID_ARGUMENT);
}

TEST(Variants, AModelForAnotherMachineCanBeDescribed) {
  Variants variants({uint64_t(1) << 61, uint64_t(3) << 61, uint64_t(7) << 61});
  ScopedEnv env("INGOT_MAX_ISA", "nonsense");
  ModelPtr model = variants.attach(INGOT_MODEL_DESCRIBE_ONLY);
  EXPECT_STREQ(describe(model).target, "base");
  EXPECT_EQ(describe(model).num_variants, 3u);
}

/// The option and the environment variable each remove features.
TEST(Variants, CapOfTheLoad) {
  if ((detectCpuFeatures() & v3) != v3)
    GTEST_SKIP() << "this CPU is below x86-64-v3";
  ScopedEnv env("INGOT_MAX_ISA", nullptr);
  Variants variants({0, 1, v3});
  variants.rows[2].target = "x86-64-v3";
  EXPECT_STREQ(describe(variants.attach()).target, "x86-64-v3");
  EXPECT_STREQ(describe(variants.attach(0, "sapphirerapids")).target,
               "x86-64-v3");
  EXPECT_STREQ(describe(variants.attach(0, "x86-64-v2")).target, "x86-64-v2");
  EXPECT_STREQ(
      describe(variants.attach(INGOT_MODEL_DESCRIBE_ONLY, "x86-64-v2")).target,
      "x86-64-v2");
  {
    ScopedEnv capped("INGOT_MAX_ISA", "x86-64-v2");
    EXPECT_STREQ(describe(variants.attach(0, "x86-64-v3")).target, "x86-64-v2");
  }
  {
    ScopedEnv capped("INGOT_MAX_ISA", "x86-64-v4");
    EXPECT_STREQ(describe(variants.attach(0, "x86-64-v2")).target, "x86-64-v2");
  }
  ModelPtr model;
  ingot_error error = INGOT_ERROR_INIT;
  for (uint32_t flags : {0, int(INGOT_MODEL_DESCRIBE_ONLY)}) {
    EXPECT_EQ(variants.attach(model, error, flags, "pentium"),
              INGOT_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message,
                 "ingot_model_options.max_level=pentium names no CPU level; "
                 "known are x86-64-v2, x86-64-v3, alderlake, x86-64-v4, "
                 "cascadelake, znver4, avx512fp16, sapphirerapids");
  }
  variants.rows[0].features = variants.rows[1].features = v3;
  EXPECT_EQ(variants.attach(model, error, 0, "x86-64-v2"),
            INGOT_UNSUPPORTED_DEVICE);
  expectOneLine(error.message);
  EXPECT_NE(strstr(error.message, "which ingot_model_options.max_level="
                                  "x86-64-v2 rules out"),
            nullptr)
      << error.message;
}

/// A later compiler may use longer rows.
TEST(Variants, LongerRows) {
  struct Longer {
    ingot_abi_variant variant;
    uint64_t more[2];
  };
  Variants variants;
  Longer rows[3] = {{variants.rows[0], {9, 9}},
                    {variants.rows[1], {9, 9}},
                    {variants.rows[2], {9, 9}}};
  variants.artifact.variants = {rows, 3, sizeof(Longer)};
  ModelPtr model = variants.attach(INGOT_MODEL_DESCRIBE_ONLY);
  ingot_variant_info info = INGOT_VARIANT_INFO_INIT;
  EXPECT_EQ(ingot_model_variant_describe(model.get(), 2, &info, nullptr),
            INGOT_OK);
  EXPECT_STREQ(info.target, "future");
}

TEST(Variants, Corrupt) {
  auto refuse = [](const char *part,
                   const std::function<void(Variants &)> &spoil) {
    Variants variants;
    spoil(variants);
    ingot_error error = INGOT_ERROR_INIT;
    ModelPtr model;
    EXPECT_EQ(variants.attach(model, error), INGOT_BAD_ARTIFACT);
    expectOneLine(error.message);
    EXPECT_NE(strstr(error.message, part), nullptr) << error.message;
  };
  const char *invalid = "the table of its variants is invalid";
  refuse(invalid, [](Variants &v) { v.artifact.variants.count = 0; });
  refuse(invalid, [](Variants &v) { v.artifact.variants.count = 257; });
  refuse(invalid, [](Variants &v) { v.artifact.variants.count = UINT32_MAX; });
  const char *incomplete = "one of its variants is incomplete";
  refuse(incomplete, [](Variants &v) { v.rows[1].target = nullptr; });
  refuse(incomplete, [](Variants &v) { v.rows[2].run = nullptr; });
  refuse(incomplete, [](Variants &v) { v.rows[2].unload = nullptr; });
}

} // namespace
