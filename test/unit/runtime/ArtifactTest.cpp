//===- ArtifactTest.cpp - artifacts that contradict themselves ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
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
  expectRefused("incomplete", [](auto &a) { a.target = nullptr; });
  expectRefused("incomplete", [](auto &a) { a.run = nullptr; });
  expectRefused("incomplete", [](auto &a) { a.unload = nullptr; });
  expectRefused("metadata is missing", [](auto &a) { a.metadata = nullptr; });
  expectRefused("no inputs or outputs", [](auto &a) { a.inputs = nullptr; });
  expectRefused("no inputs or outputs", [](auto &a) { a.outputs = nullptr; });
}

TEST(Artifact, BadTensors) {
  static const int64_t dims[] = {2}, negative[] = {-2},
                       huge[] = {int64_t(1) << 62, 4};
  static const char *const names[] = {"", ""};
  auto withOutput = [](const ingot_abi_tensor &tensor) {
    return [&tensor](ingot_abi_artifact &a) { a.outputs = &tensor; };
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
}

TEST(Artifact, DTypes) {
  EXPECT_STREQ(ingot_dtype_name(INGOT_BFLOAT16), "bfloat16");
  EXPECT_EQ(ingot_dtype_size(INGOT_BFLOAT16), 2u);
  EXPECT_STREQ(ingot_dtype_name(8), "unknown"); // string
  EXPECT_EQ(ingot_dtype_size(8), 0u);
}

TEST(Artifact, StatusNames) {
  for (int status = INGOT_OK; status <= INGOT_BUSY; ++status)
    EXPECT_STRNE(ingot_status_describe(status), "unknown status");
  EXPECT_STREQ(ingot_status_describe(12345), "unknown status");
  EXPECT_STRNE(ingot_version_get(), "");
}

} // namespace
