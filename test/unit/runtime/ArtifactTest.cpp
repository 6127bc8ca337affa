//===- ArtifactTest.cpp - artifacts that contradict themselves ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "ingot/abi/device.h"
#include "runtime/core/Artifact.h"

#include <functional>

using namespace ingot::test;
using namespace ingot::rt;

namespace {

void expectRefused(const std::string &part,
                   const std::function<void(ingot_abi_artifact &)> &spoil,
                   ingot_status status = INGOT_BAD_ARTIFACT) {
  ingot_abi_artifact artifact = *linked_static_artifact();
  spoil(artifact);
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = nullptr;
  EXPECT_EQ(ingot_model_attach(&artifact, nullptr, &model, &error), status);
  expectOneLine(error.message);
  EXPECT_NE(std::string(error.message).find(part), std::string::npos)
      << error.message;
}

TEST(Artifact, MissingPieces) {
  expectRefused("incomplete", [](auto &a) { a.name = nullptr; });
  expectRefused("incomplete", [](auto &a) { a.compiler = nullptr; });
}

/// Tables without rows, or with rows that are shorter than those of version 2,
/// too far apart, or misaligned.
TEST(Artifact, BadTables) {
  struct {
    ingot_abi_table ingot_abi_artifact::*table;
    const char *message;
  } tables[] = {
      {&ingot_abi_artifact::inputs, "no inputs or outputs"},
      {&ingot_abi_artifact::outputs, "no inputs or outputs"},
      {&ingot_abi_artifact::metadata, "metadata is missing"},
      {&ingot_abi_artifact::uses, "list of what it uses is missing"},
      {&ingot_abi_artifact::variants, "table of its variants is invalid"},
      {&ingot_abi_artifact::layers, "layers are missing"},
      {&ingot_abi_artifact::shape_profiles, "shape profiles are missing"},
  };
  for (const auto &[table, message] : tables) {
    auto refuse = [table = table, message = message](
                      const std::function<void(ingot_abi_table &)> &spoil) {
      expectRefused(message, [&](ingot_abi_artifact &a) {
        (a.*table).count = 1;
        spoil(a.*table);
      });
    };
    refuse([](ingot_abi_table &t) { t.rows = nullptr; });
    // Shorter than rows of version 2.
    refuse([](ingot_abi_table &t) { t.row_bytes -= 24; });
    refuse([](ingot_abi_table &t) { t.row_bytes += 4; });
    refuse([](ingot_abi_table &t) { t.row_bytes = 0; });
    refuse([](ingot_abi_table &t) { t.row_bytes = UINT32_MAX - 7; });
    refuse([](ingot_abi_table &t) {
      t.rows =
          reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(t.rows) + 1);
    });
  }
}

TEST(Artifact, DeviceFunctions) {
  static ingot_abi_device device;
  static ingot_abi_variant variant;
  const ingot_abi_device whole = {
      sizeof(ingot_abi_device),
      0,
      [](void *, void **, char *, uint64_t) { return int32_t(0); },
      [](void *, void *) {},
      [](void *, void *, char *, uint64_t) { return int32_t(0); },
      [](void *, uint32_t, uint64_t, void **, char *, uint64_t) {
        return int32_t(0);
      },
      [](void *, uint32_t, void *) {},
      [](void *, const ingot_abi_copy *, char *, uint64_t) {
        return int32_t(0);
      },
      [](void *, const void *, uint32_t *) { return uint32_t(0); }};
  auto refuse = [&](const std::function<void()> &spoil) {
    expectRefused(
        "one of its variants is incomplete", [&](ingot_abi_artifact &a) {
          variant = *static_cast<const ingot_abi_variant *>(a.variants.rows);
          device = whole;
          spoil();
          variant.device_functions = &device;
          a.variants = {&variant, 1, sizeof(variant)};
        });
  };
  refuse([] { device.struct_size = 48; });
  refuse([] { device.open = nullptr; });
  refuse([] { device.close = nullptr; });
  refuse([] { device.wait = nullptr; });
  refuse([] { device.allocate = nullptr; });
  refuse([] { device.release = nullptr; });
  refuse([] { device.copy = nullptr; });
}

TEST(Artifact, WhatItUses) {
  static const ingot_abi_use nameless[] = {{INGOT_ABI_USE_LIBRARY, 0, nullptr}};
  expectRefused("list of what it uses is incomplete", [](auto &a) {
    a.uses = {nameless, 1, sizeof(ingot_abi_use)};
  });
  // A kind that this version does not know is described like others.
  static const ingot_abi_use newer[] = {{99, ~0u, "fast-math"}};
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.uses = {newer, 1, sizeof(ingot_abi_use)};
  ingot_model *raw = nullptr;
  ASSERT_EQ(ingot_model_attach(&artifact, nullptr, &raw, nullptr), INGOT_OK);
  ModelPtr model(raw);
  ingot_use_info info = INGOT_USE_INFO_INIT;
  ASSERT_EQ(ingot_model_use_describe(raw, 0, &info, nullptr), INGOT_OK);
  EXPECT_EQ(info.kind, 99u);
  EXPECT_STREQ(info.name, "fast-math");
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_use_describe(raw, 1, &info, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "use 1 was asked for, but the model has 1");
}

TEST(Artifact, ShapeProfiles) {
  static ingot_abi_size_range ranges[] = {{0, 0, 1, 4, 8, 2}};
  static const ingot_abi_shape_profile profiles[] = {
      {{ranges, 1, sizeof(ingot_abi_size_range)}}};
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.shape_profiles = {profiles, 1, sizeof(ingot_abi_shape_profile)};
  auto attach = [&](ingot_error *error) {
    ingot_model *raw = nullptr;
    ingot_status status = ingot_model_attach(&artifact, nullptr, &raw, error);
    return std::pair(status, ModelPtr(raw));
  };
  auto [status, model] = attach(nullptr);
  ASSERT_EQ(status, INGOT_OK);
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  EXPECT_EQ(info.num_shape_profiles, 1u);
  ingot_shape_profile_info profile = INGOT_SHAPE_PROFILE_INFO_INIT;
  ASSERT_EQ(ingot_model_shape_profile_describe(model.get(), 0, &profile,
                                               nullptr),
            INGOT_OK);
  EXPECT_EQ(profile.num_ranges, 1u);
  ingot_size_range_info range = INGOT_SIZE_RANGE_INFO_INIT;
  ASSERT_EQ(ingot_model_size_range_describe(model.get(), 0, 0, &range, nullptr),
            INGOT_OK);
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.usual, 4);
  EXPECT_EQ(range.max, 8);
  EXPECT_EQ(range.multiple, 2);
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_shape_profile_describe(model.get(), 1, &profile,
                                               &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message,
               "shape profile 1 was asked for, but the model has 1");
  EXPECT_EQ(ingot_model_size_range_describe(model.get(), 0, 1, &range, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message,
               "range 1 was asked for, but shape profile 0 has 1");

  for (ingot_abi_size_range bad :
       {ingot_abi_size_range{9, 0, 1, 4, 8, 1}, {0, 9, 1, 4, 8, 1},
        {0, 0, 1, 4, 8, 0}}) {
    ranges[0] = bad;
    EXPECT_EQ(attach(&error).first, INGOT_BAD_ARTIFACT);
    EXPECT_NE(std::string(error.message).find("belongs to no input"),
              std::string::npos);
  }
  // An older compiler's description ends before these fields.
  artifact.struct_size = INGOT_ABI_ARTIFACT_BYTES_V2;
  auto [older, without] = attach(nullptr);
  ASSERT_EQ(older, INGOT_OK);
  ingot_model_describe(without.get(), &info, nullptr);
  EXPECT_EQ(info.num_shape_profiles, 0u);
}

TEST(Artifact, SizesOfBuffers) {
  for (uint32_t bytes : {0u, 32u, 41u, 44u, 5000u, UINT32_MAX})
    expectRefused("size of its buffers is invalid",
                  [&](auto &a) { a.buffer_bytes = bytes; });
}

TEST(Artifact, FlagsThatNobodyKnows) {
  expectRefused(
      "needs something that this libingot", [](auto &a) { a.flags = 0x80; },
      INGOT_VERSION_MISMATCH);
}

TEST(Artifact, BadTensors) {
  static const int64_t dims[] = {2}, negative[] = {-2},
                       huge[] = {int64_t(1) << 62, 4};
  static const char *const names[] = {"", ""};
  auto withOutput = [](const ingot_abi_tensor &tensor) {
    return [&tensor](ingot_abi_artifact &a) {
      a.outputs = {&tensor, 1, sizeof(tensor)};
    };
  };
  ingot_abi_tensor tensor = {"y", INGOT_ABI_FLOAT, 1, dims, names};
  tensor.name = nullptr;
  expectRefused("has no name", withOutput(tensor));
  tensor = {"y", 999, 1, dims, names};
  expectRefused("output 'y' has element type 999", withOutput(tensor),
                INGOT_VERSION_MISMATCH);
  tensor = {"y", INGOT_ABI_FLOAT, 1, nullptr, names};
  expectRefused("has no sizes", withOutput(tensor));
  tensor = {"y", INGOT_ABI_FLOAT, 1, dims, nullptr};
  expectRefused("has no sizes", withOutput(tensor));
  tensor = {"y", INGOT_ABI_FLOAT, 4000000000u, dims, names};
  expectRefused("has no sizes", withOutput(tensor));
  tensor = {"y", INGOT_ABI_FLOAT, 1, negative, names};
  expectRefused("invalid size", withOutput(tensor));
  tensor = {"y", INGOT_ABI_FLOAT, 2, huge, names};
  expectRefused("impossibly large", withOutput(tensor));
}

TEST(Artifact, TensorBytes) {
  uint64_t bytes = 7;
  int64_t huge[] = {INT64_MAX, INT64_MAX, 0};
  EXPECT_TRUE(tensorBytes(INGOT_FLOAT, huge, 3, bytes));
  EXPECT_EQ(bytes, 0u);
  EXPECT_FALSE(tensorBytes(INGOT_FLOAT, huge, 2, bytes));
  EXPECT_FALSE(tensorBytes(INGOT_FLOAT, huge, 1, bytes));
  int64_t negative[] = {-1};
  EXPECT_FALSE(tensorBytes(INGOT_FLOAT, negative, 1, bytes));
  EXPECT_TRUE(tensorBytes(INGOT_DOUBLE, nullptr, 0, bytes));
  EXPECT_EQ(bytes, 8u);
  int64_t odd[] = {3, 5};
  for (auto [dtype, expected] :
       {std::pair(INGOT_INT4, 8u), std::pair(INGOT_UINT2, 4u),
        std::pair(INGOT_FLOAT6E2M3, 12u), std::pair(INGOT_FLOAT8E8M0, 15u)}) {
    EXPECT_TRUE(tensorBytes(dtype, odd, 2, bytes));
    EXPECT_EQ(bytes, expected);
  }
  EXPECT_TRUE(tensorBytes(INGOT_INT2, nullptr, 0, bytes));
  EXPECT_EQ(bytes, 1u);
  int64_t most[] = {INT64_MAX - 1};
  EXPECT_TRUE(tensorBytes(INGOT_INT4, most, 1, bytes));
  EXPECT_EQ(bytes, uint64_t(INT64_MAX / 2));
  EXPECT_FALSE(tensorBytes(INGOT_INT4, huge, 2, bytes));
}

TEST(Artifact, DTypes) {
  EXPECT_STREQ(ingot_dtype_name(INGOT_BFLOAT16), "bfloat16");
  EXPECT_EQ(ingot_dtype_size(INGOT_BFLOAT16), 2u);
  int known = 0;
  for (uint32_t i = 0; i < 64; ++i)
    known += ingot_dtype_size(i) != 0;
  EXPECT_EQ(known, 26);
  // Several elements in a byte, and a last byte that is not full.
  EXPECT_EQ(ingot_dtype_bits(INGOT_INT4), 4u);
  EXPECT_EQ(ingot_dtype_size(INGOT_INT4), 1u);
  EXPECT_EQ(ingot_dtype_bits(INGOT_FLOAT8E5M2), 8u);
  EXPECT_EQ(ingot_dtype_bits(INGOT_FLOAT), 32u);
  EXPECT_EQ(ingot_dtype_bits(0), 0u);
  EXPECT_EQ(ingot_dtype_bits(32), 0u);
  EXPECT_EQ(INGOT_UINT64, 13); // ONNX's numbers
  EXPECT_EQ(INGOT_ABI_BFLOAT16, 16);
  EXPECT_STREQ(ingot_dtype_name(14), "unknown"); // complex64
  EXPECT_EQ(ingot_dtype_size(14), 0u);
  EXPECT_STREQ(ingot_dtype_name(INGOT_STRING), "string");
  // bytes of an offset
  EXPECT_EQ(ingot_dtype_size(INGOT_STRING), sizeof(int64_t));
}

TEST(Artifact, StatusNames) {
  for (int status = INGOT_OK; status <= INGOT_CANCELLED; ++status)
    EXPECT_STRNE(ingot_status_describe(status), "unknown status");
  EXPECT_STREQ(ingot_status_describe(12345), "unknown status");
  EXPECT_STRNE(ingot_version_get(), "");
}

} // namespace
