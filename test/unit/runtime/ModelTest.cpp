//===- ModelTest.cpp - loading and describing models --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <filesystem>
#include <fstream>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::test;

namespace {

void writeFile(const std::string &path, const void *data, size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char *>(data), std::streamsize(size));
}

const float goodWeights[6] = {1, 2, 3, 4, 5, 6};

TEST(Model, LoadsAndDescribes) {
  ModelPtr model = load(artifactPath("dynamic"));
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ASSERT_EQ(ingot_model_describe(model.get(), &info, nullptr), INGOT_OK);
  EXPECT_STREQ(info.name, "hand written");
  EXPECT_STREQ(info.compiler, "ingot test");
  EXPECT_STREQ(info.target, "x86-64");
  EXPECT_EQ(info.num_inputs, 1u);
  EXPECT_EQ(info.num_outputs, 2u);
  EXPECT_EQ(info.num_metadata, 2u);
  EXPECT_EQ(info.abi_version, INGOT_ABI_VERSION);
  EXPECT_EQ(info.code_bytes, 128u);
  EXPECT_EQ(info.separate_weights, 0u);

  ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
  ASSERT_EQ(ingot_model_input_describe(model.get(), 0, &tensor, nullptr),
            INGOT_OK);
  EXPECT_STREQ(tensor.name, "x");
  EXPECT_EQ(tensor.dtype, uint32_t(INGOT_FLOAT));
  ASSERT_EQ(tensor.rank, 2u);
  EXPECT_EQ(tensor.dims[0], INGOT_ABI_DYNAMIC);
  EXPECT_EQ(tensor.dims[1], 4);
  EXPECT_STREQ(tensor.dim_names[0], "batch");
  EXPECT_STREQ(tensor.dim_names[1], "");
  EXPECT_EQ(tensor.is_dynamic, 1u);
  EXPECT_EQ(tensor.bytes, 0u);
  ASSERT_EQ(ingot_model_output_describe(model.get(), 1, &tensor, nullptr),
            INGOT_OK);
  EXPECT_STREQ(tensor.name, "count");
  EXPECT_EQ(tensor.rank, 0u);
  EXPECT_EQ(tensor.bytes, 8u);
}

TEST(Model, FindsByName) {
  ModelPtr model = load(artifactPath("static"));
  uint32_t index = 77;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_input_find(model.get(), "b", &index, &error), INGOT_OK);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(ingot_model_output_find(model.get(), "y", &index, &error),
            INGOT_OK);
  EXPECT_EQ(index, 0u);
  index = 77;
  EXPECT_EQ(ingot_model_output_find(model.get(), "z", &index, &error),
            INGOT_NOT_FOUND);
  EXPECT_STREQ(error.message, "the model has no output 'z'");
  EXPECT_EQ(index, 77u);
}

TEST(Model, IndexOutOfRange) {
  ModelPtr model = load(artifactPath("static"));
  ingot_error error = INGOT_ERROR_INIT;
  ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
  EXPECT_EQ(ingot_model_input_describe(model.get(), 2, &tensor, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 2 was asked for, but the model has 2");
  EXPECT_EQ(
      ingot_model_metadata_get(model.get(), 2, nullptr, nullptr, &error),
      INGOT_INVALID_ARGUMENT);
}

TEST(Model, Metadata) {
  ModelPtr model = load(artifactPath("static"));
  const char *key = nullptr, *value = nullptr;
  EXPECT_EQ(ingot_model_metadata_get(model.get(), 1, &key, &value, nullptr),
            INGOT_OK);
  EXPECT_STREQ(key, "labels");
  EXPECT_STREQ(value, "cat\ndog");
  EXPECT_STREQ(ingot_model_metadata_find(model.get(), "author"), "nobody");
  EXPECT_EQ(ingot_model_metadata_find(model.get(), "missing"), nullptr);
}

TEST(Model, NullArguments) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = nullptr;
  EXPECT_EQ(ingot_model_load(nullptr, nullptr, &model, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_load("x", nullptr, nullptr, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_attach(nullptr, nullptr, &model, &error),
            INGOT_BAD_ARTIFACT);
  EXPECT_EQ(ingot_model_describe(nullptr, nullptr, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_metadata_find(nullptr, "a"), nullptr);
  EXPECT_EQ(ingot_model_load(nullptr, nullptr, &model, nullptr),
            INGOT_INVALID_ARGUMENT);
  ingot_model_release(nullptr);
  ingot_context_release(nullptr);
  ingot_pool_release(nullptr);
}

TEST(Model, SizedStructs) {
  ingot_model_options forgotten = {};
  expectLoadFails(artifactPath("static"), INGOT_INVALID_ARGUMENT,
                  "struct_size is 0", &forgotten);
  forgotten.struct_size = 0xdeadbeef;
  expectLoadFails(artifactPath("static"), INGOT_INVALID_ARGUMENT,
                  "struct_size is 3735928559", &forgotten);

  // A newer caller's struct is accepted if its new fields are zero.
  struct {
    ingot_model_options known = INGOT_MODEL_OPTIONS_INIT;
    uint64_t added = 0;
  } newer;
  newer.known.struct_size = sizeof(newer);
  load(artifactPath("static"), &newer.known);
  newer.added = 1;
  expectLoadFails(artifactPath("static"), INGOT_VERSION_MISMATCH,
                  "does not know", &newer.known);

  ingot_model_options reserved = INGOT_MODEL_OPTIONS_INIT;
  reserved.reserved[2] = 1;
  expectLoadFails(artifactPath("static"), INGOT_INVALID_ARGUMENT,
                  "reserved fields", &reserved);

  // An older caller's error struct gets the text that fits.
  ingot_error small = INGOT_ERROR_INIT;
  small.struct_size = 8 + 10;
  memset(small.message, '#', sizeof(small.message));
  ingot_model *model = nullptr;
  EXPECT_EQ(ingot_model_load("/no/such/file", nullptr, &model, &small),
            INGOT_NOT_FOUND);
  EXPECT_STREQ(small.message, "cannot op");
  EXPECT_EQ(small.message[10], '#');
}

TEST(Model, FilesThatAreNoModels) {
  expectLoadFails("/no/such/file.so", INGOT_NOT_FOUND,
                  "cannot open model file '/no/such/file.so': No such file");
  expectLoadFails("/tmp", INGOT_BAD_ARTIFACT, "not a regular file");
  expectLoadFails("/no/such\n\x1b[1mfile.so", INGOT_NOT_FOUND,
                  "/no/such??[1mfile.so");
  expectLoadFails("/etc/passwd", INGOT_BAD_ARTIFACT,
                  "not an ELF shared object");
  expectLoadFails(artifactPath("not_a_model"), INGOT_BAD_ARTIFACT,
                  "no symbol ingot_artifact_v2");
}

TEST(Model, OtherVersions) {
  expectLoadFails(artifactPath("bad_magic"), INGOT_BAD_ARTIFACT,
                  "wrong magic number 0x1234");
  expectLoadFails(artifactPath("future_abi"), INGOT_VERSION_MISMATCH,
                  "has ABI version 9, but this libingot");
  expectLoadFails(artifactPath("future_abi"), INGOT_VERSION_MISMATCH,
                  "update libingot");
  expectLoadFails(artifactPath("old_abi"), INGOT_VERSION_MISMATCH,
                  "compile the model again");
  // The version is checked before any code is mapped as executable.
  expectLoadFails(artifactPath("old_symbol"), INGOT_VERSION_MISMATCH,
                  "has ABI version 1, but this libingot (");
  expectLoadFails(artifactPath("old_symbol"), INGOT_VERSION_MISMATCH,
                  ") reads version 2; compile the model again");
  expectLoadFails(artifactPath("future_symbol"), INGOT_VERSION_MISMATCH,
                  "has ABI version 12, but this libingot");
  expectLoadFails(artifactPath("future_symbol"), INGOT_VERSION_MISMATCH,
                  "update libingot");
  expectLoadFails(artifactPath("unknown_flag"), INGOT_VERSION_MISMATCH,
                  "needs something that this libingot");
  expectLoadFails(artifactPath("for_cuda"), INGOT_UNSUPPORTED_DEVICE,
                  "was compiled for sm_90, and holds no code for this CPU");
  expectLoadFails(artifactPath("short_struct"), INGOT_BAD_ARTIFACT,
                  "its description is too short");
}

TEST(Model, LoadStepFails) {
  expectLoadFails(artifactPath("failing_load"), INGOT_BACKEND_ERROR,
                  "could not be loaded: Conv 'stem': could not create");
}

TEST(Model, LoadStepOutOfMemory) {
  CountingAllocator allocator;
  allocator.fail = true;
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.allocator = &allocator.api;
  expectLoadFails(artifactPath("static"), INGOT_OUT_OF_MEMORY,
                  "out of memory", &options);
}

TEST(Model, LoadStepUsesAllocator) {
  CountingAllocator allocator;
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.allocator = &allocator.api;
  ModelPtr model = load(artifactPath("static"), &options);
  EXPECT_EQ(allocator.live, 1);
  model.reset();
  EXPECT_EQ(allocator.live, 0);
}

TEST(Model, DescribeOnly) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.flags = INGOT_MODEL_DESCRIBE_ONLY;
  // The CPU, the load step and the missing weights do not matter.
  load(artifactPath("needs_future"), &options);
  load(artifactPath("separate"), &options);
  ModelPtr model = load(artifactPath("failing_load"), &options);
  ingot_context *context = nullptr;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_context_create(model.get(), nullptr, &context, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_NE(strstr(error.message, "DESCRIBE_ONLY"), nullptr);
}

TEST(Model, LoadTwiceAndReleaseInAnyOrder) {
  ModelPtr first = load(artifactPath("static"));
  ModelPtr second = load(artifactPath("static"));
  ContextPtr a = makeContext(first), b = makeContext(second);
  first.reset();
  StaticRun runA, runB;
  EXPECT_EQ(runA(a.get()), INGOT_OK);
  a.reset();
  EXPECT_EQ(runB(b.get()), INGOT_OK);
  EXPECT_TRUE(runA.right());
  EXPECT_TRUE(runB.right());
  second.reset();
  b.reset();
  for (int i = 0; i < 50; ++i) {
    StaticRun run;
    EXPECT_EQ(run(makeContext(load(artifactPath("static"))).get()), INGOT_OK);
    EXPECT_TRUE(run.right());
  }
}

TEST(Model, LoadsFromTheWorkingDirectory) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
  ASSERT_EQ(chdir(INGOT_TEST_ARTIFACTS), 0);
  load("static.so");
  ASSERT_EQ(chdir(before), 0);
}

TEST(Model, Attach) {
  ingot_model *model = nullptr;
  ingot_error error = INGOT_ERROR_INIT;
  ASSERT_EQ(ingot_model_attach(linked_static_artifact(), nullptr, &model,
                               &error),
            INGOT_OK)
      << error.message;
  ModelPtr owner(model);
  StaticRun run;
  EXPECT_EQ(run(makeContext(owner).get()), INGOT_OK);
  EXPECT_TRUE(run.right());
}

//===----------------------------------------------------------------------===//
// Separate weights
//===----------------------------------------------------------------------===//

class SeparateWeights : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/ingot-test-XXXXXX";
    directory = mkdtemp(name);
    path = directory + "/w.bin";
    options.weights_path = path.c_str();
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  /// Copies the artifact to a directory of this test. Other tests, which run at
  /// the same time, would see files beside the shared artifact.
  std::string ownArtifact() {
    std::string copy = directory + "/separate.so";
    std::filesystem::copy_file(artifactPath("separate"), copy);
    return copy;
  }

  std::string directory, path;
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
};

TEST_F(SeparateWeights, GivenPath) {
  writeFile(path, goodWeights, sizeof(goodWeights));
  ModelPtr model = load(artifactPath("separate"), &options);
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  EXPECT_EQ(info.separate_weights, 1u);
  EXPECT_EQ(info.weights_bytes, 24u);
  StaticRun run;
  EXPECT_EQ(run(makeContext(model).get()), INGOT_OK);
  EXPECT_TRUE(run.right());
}

TEST_F(SeparateWeights, DefaultPath) {
  std::string artifact = ownArtifact();
  for (const char *beside : {".weights", ".24ae2dfe8df57c1b.weights"}) {
    std::string weights = artifact + beside;
    writeFile(weights, goodWeights, sizeof(goodWeights));
    load(artifact);
    remove(weights.c_str());
  }
  expectLoadFails(artifact, INGOT_NOT_FOUND,
                  "separate.so.24ae2dfe8df57c1b.weights': No such file");
}

TEST_F(SeparateWeights, HashedNameComesFirst) {
  std::string artifact = ownArtifact(),
              hashed = artifact + ".24ae2dfe8df57c1b.weights";
  writeFile(artifact + ".weights", "old", 3);
  writeFile(hashed, goodWeights, sizeof(goodWeights));
  load(artifact);
  remove(hashed.c_str());
  expectLoadFails(artifact, INGOT_BAD_ARTIFACT, "has 3 bytes, but");
}

const void *addressOf(const ModelPtr &model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  return info.name;
}

/// Loads names in which the dynamic linker replaces tokens.
TEST(Model, LoadsAnyName) {
  char folder[] = "/tmp/ingot-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::ifstream source(artifactPath("static"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(source), {});
  for (const char *name : {"$ORIGIN.so", "${LIB}.so", "$PLATFORM", "a$ORIGINb",
                           "-x.so", "%s.so", "new\nline.so"}) {
    std::string path = std::string(folder) + "/" + name;
    writeFile(path, bytes.data(), bytes.size());
    ModelPtr first = load(path);
    // Two such files are not confused.
    std::string other = path + "$LIB";
    writeFile(other, bytes.data(), bytes.size());
    ModelPtr second = load(other);
    ASSERT_TRUE(first && second) << name;
    EXPECT_NE(addressOf(first), addressOf(second)) << name;
    remove(path.c_str());
    remove(other.c_str());
  }
  rmdir(folder);
}

TEST_F(SeparateWeights, Missing) {
  expectLoadFails(artifactPath("separate"), INGOT_NOT_FOUND,
                  "cannot open weights file", &options);
}

TEST_F(SeparateWeights, Truncated) {
  writeFile(path, goodWeights, 20);
  expectLoadFails(artifactPath("separate"), INGOT_BAD_ARTIFACT,
                  "has 20 bytes, but", &options);
  writeFile(path, goodWeights, 0);
  expectLoadFails(artifactPath("separate"), INGOT_BAD_ARTIFACT,
                  "has 0 bytes, but", &options);
}

TEST_F(SeparateWeights, Swapped) {
  float wrong[6] = {1, 2, 3, 4, 6, 5};
  writeFile(path, wrong, sizeof(wrong));
  expectLoadFails(artifactPath("separate"), INGOT_BAD_ARTIFACT,
                  "SHA-256 differs", &options);
  // The sum is equal, so the test model accepts these weights if nobody checks
  // them.
  options.flags = INGOT_MODEL_TRUST_WEIGHTS;
  load(artifactPath("separate"), &options);
}

TEST_F(SeparateWeights, AttachedNeedsPath) {
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.weights = nullptr;
  ingot_model *model = nullptr;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_model_attach(&artifact, nullptr, &model, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_NE(strstr(error.message, "weights_path"), nullptr) << error.message;
}

} // namespace
