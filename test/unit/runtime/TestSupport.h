//===- TestSupport.h - common parts of the runtime's tests --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_RUNTIME_TESTSUPPORT_H
#define INGOT_TEST_UNIT_RUNTIME_TESTSUPPORT_H

#include "ingot/ingot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdlib.h>
#include <string>
#include <vector>

extern "C" const ingot_abi_artifact *linked_static_artifact(void);

namespace ingot::test {

inline std::string artifactPath(const std::string &name) {
  return INGOT_TEST_ARTIFACTS + name + ".so";
}

/// Sets an environment variable for one test.
class ScopedEnv {
public:
  ScopedEnv(const char *name, const char *value) : name(name) {
    if (const char *before = getenv(name))
      old = before, had = true;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~ScopedEnv() {
    had ? setenv(name, old.c_str(), 1) : unsetenv(name);
  }

private:
  const char *name;
  std::string old;
  bool had = false;
};

struct ModelRelease {
  void operator()(ingot_model *model) const { ingot_model_release(model); }
};
struct ContextRelease {
  void operator()(ingot_context *context) const {
    ingot_context_release(context);
  }
};
struct ProfileRelease {
  void operator()(ingot_profile *profile) const {
    ingot_profile_release(profile);
  }
};
struct CancellationRelease {
  void operator()(ingot_cancellation *cancellation) const {
    ingot_cancellation_release(cancellation);
  }
};
using ProfilePtr = std::unique_ptr<ingot_profile, ProfileRelease>;
using CancellationPtr =
    std::unique_ptr<ingot_cancellation, CancellationRelease>;
using ModelPtr = std::unique_ptr<ingot_model, ModelRelease>;
using ContextPtr = std::unique_ptr<ingot_context, ContextRelease>;

inline ModelPtr load(const std::string &path,
                     const ingot_model_options *options = nullptr) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = nullptr;
  EXPECT_EQ(ingot_model_load(path.c_str(), options, &model, &error), INGOT_OK)
      << error.message;
  return ModelPtr(model);
}

inline ContextPtr makeContext(const ModelPtr &model,
                              const ingot_context_options *options = nullptr) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_context *context = nullptr;
  EXPECT_EQ(ingot_context_create(model.get(), options, &context, &error),
            INGOT_OK)
      << error.message;
  return ContextPtr(context);
}

inline ProfilePtr makeProfile(const ModelPtr &model,
                              const ingot_profile_options *options = nullptr) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_profile *profile = nullptr;
  EXPECT_EQ(ingot_profile_create(model.get(), options, &profile, &error),
            INGOT_OK)
      << error.message;
  return ProfilePtr(profile);
}

inline CancellationPtr makeCancellation() {
  ingot_cancellation *cancellation = nullptr;
  EXPECT_EQ(ingot_cancellation_create(&cancellation, nullptr), INGOT_OK);
  return CancellationPtr(cancellation);
}

/// Checks that a message is one line of sensible length, without a final
/// period.
inline void expectOneLine(const std::string &message) {
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.back(), '.') << message;
}

/// Loads an invalid model, and checks status and message.
inline void expectLoadFails(const std::string &path, ingot_status status,
                            const std::string &part,
                            const ingot_model_options *options = nullptr) {
  ingot_error error = INGOT_ERROR_INIT;
  auto *untouched = reinterpret_cast<ingot_model *>(8);
  ingot_model *model = untouched;
  EXPECT_EQ(ingot_model_load(path.c_str(), options, &model, &error), status)
      << error.message;
  EXPECT_EQ(model, untouched);
  EXPECT_EQ(error.status, status);
  expectOneLine(error.message);
  EXPECT_NE(std::string(error.message).find(part), std::string::npos)
      << error.message;
}

/// A valid run of the static test model.
struct StaticRun {
  float x[6] = {1, 2, 3, 4, 5, 6};
  float b[1] = {0.5};
  float y[6] = {};
  int64_t xDims[2] = {2, 3};
  int64_t bDims[1] = {1};
  int64_t yDims[2] = {-7, -7};
  ingot_input inputs[2] = {
      ingot_input_make(x, sizeof(x), xDims, 2, INGOT_FLOAT),
      ingot_input_make(b, sizeof(b), bDims, 1, INGOT_FLOAT)};
  ingot_output outputs[1] = {
      ingot_output_make(y, sizeof(y), yDims, 2, INGOT_FLOAT)};
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  ingot_error error = INGOT_ERROR_INIT;

  ingot_status operator()(ingot_context *context) {
    return ingot_context_run(context, inputs, 2, outputs, 1, &options, &error);
  }
  bool right() const {
    for (int i = 0; i < 6; ++i)
      if (y[i] != float((i + 1) * (i + 1)) + 0.5f)
        return false;
    return yDims[0] == 2 && yDims[1] == 3;
  }
  void expectFails(ingot_context *context, ingot_status status,
                   const std::string &part) {
    EXPECT_EQ((*this)(context), status) << error.message;
    expectOneLine(error.message);
    EXPECT_NE(std::string(error.message).find(part), std::string::npos)
        << error.message;
    for (float value : y)
      EXPECT_EQ(value, 0);
    if (status != INGOT_BUFFER_TOO_SMALL) {
      EXPECT_EQ(yDims[0], -7);
    }
  }
};

/// An allocator that counts, and can be told to fail.
struct CountingAllocator {
  std::atomic<int> allocations{0}, live{0};
  std::atomic<bool> fail{false};
  ingot_allocator api = {
      sizeof(ingot_allocator), 0, this,
      [](void *user, uint64_t bytes, uint64_t alignment) -> void * {
        auto *self = static_cast<CountingAllocator *>(user);
        if (self->fail)
          return nullptr;
        ++self->allocations;
        ++self->live;
        void *memory = nullptr;
        return posix_memalign(&memory, alignment, bytes) ? nullptr : memory;
      },
      [](void *user, void *pointer) {
        --static_cast<CountingAllocator *>(user)->live;
        free(pointer);
      }};
};

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_RUNTIME_TESTSUPPORT_H
