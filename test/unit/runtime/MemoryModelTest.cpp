//===- MemoryModelTest.cpp - models that are loaded from memory -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <elf.h>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace ingot::test;

namespace {

std::string readArtifact(const std::string &name) {
  std::ifstream in(artifactPath(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Bytes at the end of their memory, so that AddressSanitizer sees each read
/// beyond them, at `shift` bytes from any alignment.
struct Buffer {
  Buffer(const std::string &bytes, size_t shift)
      : memory(static_cast<char *>(malloc(bytes.size() + shift))),
        bytes(memory + shift) {
    memcpy(this->bytes, bytes.data(), bytes.size());
  }
  ~Buffer() { free(memory); }

  char *memory, *bytes;
};

ingot_status loadBytes(const std::string &bytes, ModelPtr &model,
                       ingot_error &error, size_t shift = 0,
                       const ingot_model_options *options = nullptr) {
  Buffer buffer(bytes, shift);
  ingot_model *raw = nullptr;
  ingot_status status = ingot_model_load_memory(buffer.bytes, bytes.size(),
                                                options, &raw, &error);
  EXPECT_EQ(raw != nullptr, status == INGOT_OK);
  model.reset(raw);
  // The caller may change its bytes.
  memset(buffer.bytes, 0x55, bytes.size());
  return status;
}

void expectRefused(const std::string &bytes, ingot_status status,
                   const std::string &part,
                   const ingot_model_options *options = nullptr) {
  ModelPtr model;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(loadBytes(bytes, model, error, 0, options), status);
  EXPECT_NE(std::string(error.message).find(part), std::string::npos)
      << error.message;
  expectOneLine(error.message);
}

void expectRuns(const ModelPtr &model, float sign) {
  StaticRun run;
  run.b[0] = 0;
  ASSERT_EQ(run(makeContext(model).get()), INGOT_OK) << run.error.message;
  EXPECT_EQ(run.y[0], sign);
}

TEST(MemoryModel, LoadsAndRuns) {
  const std::string bytes = readArtifact("static");
  for (size_t shift : {0, 1, 7}) {
    ModelPtr model;
    ingot_error error = INGOT_ERROR_INIT;
    ASSERT_EQ(loadBytes(bytes, model, error, shift), INGOT_OK) << error.message;
    expectRuns(model, 1);
  }
}

// Each load is a separate library, in any order of loading and releasing.
TEST(MemoryModel, ManyAtOnce) {
  const std::string bytes[] = {readArtifact("static"),
                               readArtifact("static_v2")};
  std::vector<ModelPtr> models(600);
  for (size_t i = 0; i < models.size(); ++i) {
    ingot_error error = INGOT_ERROR_INIT;
    ASSERT_EQ(loadBytes(bytes[i % 2], models[i], error), INGOT_OK)
        << i << ": " << error.message;
  }
  for (size_t i = 0; i < models.size(); i += 7)
    expectRuns(models[i], i % 2 ? -1 : 1);
  for (size_t i = 0; i < models.size(); i += 2)
    models[i].reset();
  for (size_t i = 1; i < models.size(); i += 70)
    expectRuns(models[i], -1);
}

TEST(MemoryModel, FromSeveralThreads) {
  const std::string bytes = readArtifact("static");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        ModelPtr model;
        ingot_error error = INGOT_ERROR_INIT;
        ASSERT_EQ(loadBytes(bytes, model, error), INGOT_OK) << error.message;
        expectRuns(model, 1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(MemoryModel, LeavesNoDescriptorOpen) {
  const int before = dup(0);
  close(before);
  ModelPtr model;
  ingot_error error = INGOT_ERROR_INIT;
  ASSERT_EQ(loadBytes(readArtifact("static"), model, error), INGOT_OK);
  expectRefused(readArtifact("static").substr(0, 5000), INGOT_BAD_ARTIFACT, "");
  const int after = dup(0);
  close(after);
  EXPECT_EQ(before, after);
}

TEST(MemoryModel, RefusesWhatIsNoWholeArtifact) {
  const std::string whole = readArtifact("static");
  for (size_t size = 1; size < whole.size(); size += 1 + size / 8)
    expectRefused(whole.substr(0, size), INGOT_BAD_ARTIFACT,
                  "'model in memory' is ");
  expectRefused(whole.substr(0, whole.size() - 1), INGOT_BAD_ARTIFACT,
                "truncated or damaged");
  expectRefused("no ELF file, but long enough for one", INGOT_BAD_ARTIFACT,
                "is not a compiled model");
  expectRefused(readArtifact("not_a_model"), INGOT_BAD_ARTIFACT,
                "is a shared object but not a compiled model");

  expectRefused(readArtifact("future_symbol"), INGOT_VERSION_MISMATCH,
                "has ABI version 12");
  expectRefused(readArtifact("bad_magic"), INGOT_BAD_ARTIFACT,
                "wrong magic number");

  // Headers that claim more than there is.
  Elf64_Ehdr header;
  memcpy(&header, whole.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    std::string changed = whole;
    Elf64_Phdr segment;
    char *to = changed.data() + header.e_phoff + i * sizeof(segment);
    memcpy(&segment, to, sizeof(segment));
    if (!segment.p_filesz)
      continue;
    segment.p_filesz = segment.p_memsz = whole.size() + 1;
    memcpy(to, &segment, sizeof(segment));
    expectRefused(changed, INGOT_BAD_ARTIFACT, "reach past the end");
  }
}

TEST(MemoryModel, Arguments) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = nullptr;
  EXPECT_EQ(ingot_model_load_memory(nullptr, 10, nullptr, &model, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_load_memory("x", 0, nullptr, &model, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_model_load_memory("x", 1, nullptr, nullptr, &error),
            INGOT_INVALID_ARGUMENT);
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.flags = 1u << 31;
  EXPECT_EQ(ingot_model_load_memory("x", 1, &options, &model, &error),
            INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(model, nullptr);
  options.flags = INGOT_MODEL_VERIFY;
  expectRefused(readArtifact("static"), INGOT_BAD_ARTIFACT,
                "'model in memory' has no checksums", &options);
}

// Models in memory have no folder to look in.
TEST(MemoryModel, SeparateWeightsNeedAPath) {
  expectRefused(readArtifact("separate"), INGOT_INVALID_ARGUMENT,
                "name it in ingot_model_options.weights_path");
}

} // namespace
