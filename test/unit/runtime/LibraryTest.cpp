//===- LibraryTest.cpp - replaced files ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/format/ElfImage.h"
#include "runtime/format/Seal.h"

#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <stdio.h>
#include <string.h>
#include <thread>
#include <unistd.h>

using namespace ingot::test;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the model's result for a single 1, before a bias of 0: the sign of
/// its weights.
float signOf(const ModelPtr &model) {
  if (!model)
    return 0;
  StaticRun run;
  run.b[0] = 0;
  EXPECT_EQ(run(makeContext(model).get()), INGOT_OK) << run.error.message;
  return run.y[0];
}

/// A folder with a model that changes; with and without seals.
class Replaced : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    char name[] = "/tmp/ingot-test-XXXXXX";
    directory = mkdtemp(name);
    path = directory + "/m.so";
    oldFile = artifactFor("");
    newFile = artifactFor("_v2");
  }
  void TearDown() override {
    remove(path.c_str());
    rmdir(directory.c_str());
  }
  std::string artifactFor(const std::string &version) {
    std::string bytes =
        readFile(artifactPath((GetParam() ? "sealed" : "static") + version));
    if (GetParam())
      EXPECT_TRUE(ingot::rt::makeSeal(
          reinterpret_cast<unsigned char *>(bytes.data()), bytes.size(), 0, 0,
          0xef46db3751d8e999));
    return bytes;
  }
  /// Replaces the file as a compiler does.
  void put(const std::string &bytes) {
    std::string other = path + ".new";
    std::ofstream(other, std::ios::binary) << bytes;
    ASSERT_EQ(rename(other.c_str(), path.c_str()), 0);
  }

  std::string directory, path, oldFile, newFile;
};

TEST_P(Replaced, ByRename) {
  put(oldFile);
  ModelPtr first = load(path);
  EXPECT_EQ(signOf(first), 1);
  put(newFile);
  ModelPtr second = load(path);
  EXPECT_EQ(signOf(second), -1);
  EXPECT_EQ(signOf(first), 1);
  // Replaces the file again, and back, in any order.
  put(oldFile);
  ModelPtr third = load(path);
  EXPECT_EQ(signOf(third), 1);
  first.reset();
  put(newFile);
  ModelPtr fourth = load(path);
  EXPECT_EQ(signOf(fourth), -1);
  EXPECT_EQ(signOf(second), -1);
  second.reset();
  EXPECT_EQ(signOf(load(path)), -1);
  fourth.reset();
  EXPECT_EQ(signOf(third), 1);
  EXPECT_EQ(signOf(load(path)), -1);
}

TEST_P(Replaced, ManyVersionsAtOnce) {
  std::vector<ModelPtr> models;
  for (int i = 0; i < 40; ++i) {
    put(i % 2 ? newFile : oldFile);
    models.push_back(load(path));
    // An equal file is the same library.
    EXPECT_EQ(signOf(load(path)), i % 2 ? -1 : 1);
  }
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(signOf(models[size_t(i)]), i % 2 ? -1 : 1) << i;
}

TEST_P(Replaced, ByALinkToAnother) {
  std::string versions[] = {directory + "/v1.so", directory + "/v2.so"};
  std::ofstream(versions[0], std::ios::binary) << oldFile;
  std::ofstream(versions[1], std::ios::binary) << newFile;
  std::string link = directory + "/current.so";
  ASSERT_EQ(symlink("v1.so", link.c_str()), 0);
  ModelPtr first = load(link);
  ASSERT_EQ(remove(link.c_str()), 0);
  ASSERT_EQ(symlink("v2.so", link.c_str()), 0);
  ModelPtr second = load(link);
  EXPECT_EQ(signOf(first), 1);
  EXPECT_EQ(signOf(second), -1);
  for (const std::string &file : {versions[0], versions[1], link})
    remove(file.c_str());
}

TEST_P(Replaced, InThatPlace) {
  put(oldFile);
  ModelPtr model = load(path);
  // The new content has the old size and equivalent code, so that the running
  // code is not affected.
  std::string changed = oldFile;
  size_t at = changed.find("hand written");
  ASSERT_NE(at, std::string::npos);
  changed[at] = 'H';
  if (GetParam())
    ASSERT_TRUE(ingot::rt::makeSeal(
        reinterpret_cast<unsigned char *>(changed.data()), changed.size(), 0, 0,
        0xef46db3751d8e999));
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.write(changed.data(), std::streamsize(changed.size()));
  }
  expectLoadFails(path, INGOT_BAD_ARTIFACT,
                  "was overwritten while a model is loaded from it");
  ingot_model *untouched = nullptr;
  EXPECT_EQ(ingot_model_load(path.c_str(), nullptr, &untouched, nullptr),
            INGOT_BAD_ARTIFACT);
  // The next load of the file succeeds.
  model.reset();
  EXPECT_EQ(signOf(load(path)), 1);
}

TEST_P(Replaced, WhatTheProgramHasOpenedItself) {
  put(oldFile);
  void *own = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(own, nullptr) << dlerror();
  ModelPtr first = load(path);
  EXPECT_EQ(signOf(first), 1);
  put(newFile);
  ModelPtr second = load(path);
  EXPECT_EQ(signOf(second), -1);
  first.reset();
  EXPECT_EQ(signOf(load(path)), -1);
  dlclose(own);
  EXPECT_EQ(signOf(load(path)), -1);
}

/// The content at load time is loaded: never a mixture, never a crash.
TEST_P(Replaced, AllTheTime) {
  put(oldFile);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      std::string other = directory + "/other";
      std::ofstream(other, std::ios::binary) << (i % 2 ? oldFile : newFile);
      rename(other.c_str(), path.c_str());
    }
  });
  std::vector<std::thread> readers;
  std::atomic<int> right{0}, refused{0}, wrong{0};
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      for (int i = 0; i < 150; ++i) {
        ingot_error error = INGOT_ERROR_INIT;
        ingot_model *raw = nullptr;
        if (ingot_model_load(path.c_str(), nullptr, &raw, &error)) {
          refused += strstr(error.message, "keep taking its name") != nullptr;
          if (!strstr(error.message, "keep taking its name")) {
            ++wrong;
            ADD_FAILURE() << error.message;
          }
          continue;
        }
        ModelPtr model(raw);
        float sign = signOf(model);
        right += sign == 1 || sign == -1;
        wrong += sign != 1 && sign != -1;
      }
    });
  for (std::thread &reader : readers)
    reader.join();
  stop = true;
  writer.join();
  remove((directory + "/other").c_str());
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 100);
  EXPECT_EQ(right + refused, 450);
}

INSTANTIATE_TEST_SUITE_P(Library, Replaced, testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "Sealed" : "Unsealed";
                         });

} // namespace
