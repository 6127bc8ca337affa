//===- TypedModelTest.cpp - models that are linked without libingot -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the support functions of a generated header.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/support.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

//===----------------------------------------------------------------------===//
// The choice of the code
//===----------------------------------------------------------------------===//

/// Returns a dense buffer in host memory.
ingot_abi_buffer buffer(void *data, int64_t *dims, uint64_t bytes) {
  return {data,    dims, nullptr, bytes, INGOT_ABI_MEMORY_HOST, 0,
          nullptr, 0,    nullptr};
}

/// Returns code for a CPU of this kind.
ingot_abi_variant variant(const char *target, uint64_t features,
                          uint32_t priority,
                          int32_t (*run)(ingot_abi_call *call)) {
  ingot_abi_variant row = {};
  row.target = target;
  row.device = INGOT_ABI_DEVICE_CPU;
#if defined(__aarch64__)
  row.architecture = INGOT_ABI_ARCHITECTURE_AARCH64;
#else
  row.architecture = INGOT_ABI_ARCHITECTURE_X86_64;
#endif
  row.features = features;
  row.priority = priority;
  row.memories = 1u << INGOT_ABI_MEMORY_HOST;
  row.run = run;
  return row;
}

template <int level> int32_t runLevel(ingot_abi_call *call) {
  *static_cast<int *>(call->inputs[0].data) = level;
  return *static_cast<int *>(call->state) == level ? INGOT_ABI_OK
                                                   : INGOT_ABI_BACKEND_ERROR;
}
template <int level>
int32_t loadLevel(ingot_abi_load *call) {
  call->state = new int(level);
  return INGOT_ABI_OK;
}
void unloadLevel(const ingot_abi_host *, void *state) {
  delete static_cast<int *>(state);
}

/// Returns the level that runs under a cap, or -1 with a message.
int levelUnder(const char *cap, const ingot_abi_artifact &artifact,
               char (&error)[256]) {
  setenv("INGOT_MAX_ISA", cap, 1);
  ingot_support_model *model =
      ingot_support_create(&artifact, nullptr, 0, 1, error, sizeof error);
  unsetenv("INGOT_MAX_ISA");
  if (!model)
    return -1;
  int ran = -2;
  ingot_abi_buffer input = buffer(&ran, nullptr, sizeof ran);
  EXPECT_EQ(ingot_support_call(model, &input, nullptr, error, sizeof error),
            INGOT_ABI_OK);
  ingot_support_destroy(model);
  return ran;
}

TEST(TypedModel, CreateChoosesTheCode) {
  ingot_abi_variant rows[] = {variant("x86-64-v2", 0x1, 1, runLevel<0>),
                              variant("x86-64-v3", 0x3f, 2, runLevel<1>),
                              variant("future", ~uint64_t(0), 3, runLevel<2>)};
  rows[0].load = loadLevel<0>, rows[1].load = loadLevel<1>;
  rows[2].load = loadLevel<2>;
  for (ingot_abi_variant &row : rows)
    row.unload = unloadLevel;
  ingot_abi_artifact artifact = {};
  artifact.struct_size = sizeof artifact;
  artifact.variants = {rows, 3, sizeof(ingot_abi_variant)};
  char error[256] = "";
  if (levelUnder("x86-64-v2", artifact, error) == -1)
    GTEST_SKIP() << "this CPU is below x86-64-v2: " << error;
  EXPECT_EQ(levelUnder("x86-64-v2", artifact, error), 0);
  bool hasV3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  EXPECT_EQ(levelUnder("sapphirerapids", artifact, error), hasV3 ? 1 : 0);

  artifact.variants = {rows + 1, 2, sizeof(ingot_abi_variant)};
  EXPECT_EQ(levelUnder("x86-64-v2", artifact, error), -1);
  EXPECT_NE(strstr(error, "compiled for x86-64-v3, future and needs at least "
                          "avx, avx2, fma, f16c, bmi2, which "
                          "INGOT_MAX_ISA=x86-64-v2 rules out"),
            nullptr)
      << error;
}

//===----------------------------------------------------------------------===//
// Threads and arguments
//===----------------------------------------------------------------------===//

const int64_t kFixed[] = {2, 3}, kOpen[] = {INGOT_ABI_DYNAMIC, 3};
const char *const kNoNames[] = {"", ""};
const ingot_abi_tensor kInputs[] = {
    {"x", INGOT_ABI_FLOAT, 2, kFixed, kNoNames},
    {"n", INGOT_ABI_FLOAT, 2, kOpen, kNoNames}};
const ingot_abi_tensor kOutputs[] = {
    {"y", INGOT_ABI_FLOAT, 2, kFixed, kNoNames},
    {"z", INGOT_ABI_FLOAT, 2, kOpen, kNoNames}};

struct ThreadCount {
  std::mutex lock;
  std::set<std::thread::id> ids;
  uint32_t wanted = 1;
};
ThreadCount *threadCount;

/// Leaves when the wanted number of threads has entered.
void countThread(void *, int64_t) {
  {
    std::lock_guard<std::mutex> guard(threadCount->lock);
    threadCount->ids.insert(std::this_thread::get_id());
  }
  for (int i = 0; i < 5000; ++i) {
    {
      std::lock_guard<std::mutex> guard(threadCount->lock);
      if (threadCount->ids.size() >= threadCount->wanted)
        return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

const ingot_abi_variant kThreaded[] = {
    variant("x86-64", 0, 1, [](ingot_abi_call *call) {
      return ingot_support_run(call, [](ingot_abi_call *call) {
        ingot_support_parallel(call, countThread, nullptr, 8);
      });
    })};

ingot_abi_artifact threadedArtifact() {
  ingot_abi_artifact artifact = {};
  artifact.struct_size = sizeof artifact;
  artifact.inputs = {kInputs, 2, sizeof(ingot_abi_tensor)};
  artifact.outputs = {kOutputs, 2, sizeof(ingot_abi_tensor)};
  artifact.variants = {kThreaded, 1, sizeof(ingot_abi_variant)};
  return artifact;
}

struct Typed {
  char error[256] = "";
  ingot_abi_artifact artifact = threadedArtifact();
  ingot_support_model *model;
  float x[6] = {}, n[6] = {}, y[6] = {}, z[6] = {};
  int64_t nDims[2] = {2, 3}, zDims[2] = {-7, -7};
  ingot_abi_buffer inputs[2] = {buffer(x, nullptr, INT64_MAX),
                                buffer(n, nDims, INT64_MAX)};
  ingot_abi_buffer outputs[2] = {buffer(y, nullptr, INT64_MAX),
                                 buffer(z, zDims, sizeof z)};

  explicit Typed(int32_t threads)
      : model(ingot_support_create(&artifact, nullptr, 0, threads, error,
                                   sizeof error)) {
    EXPECT_NE(model, nullptr) << error;
  }
  ~Typed() { ingot_support_destroy(model); }
  int32_t run() {
    return ingot_support_call(model, inputs, outputs, error, sizeof error);
  }
  void refuses(const char *message) {
    EXPECT_EQ(run(), INGOT_ABI_INVALID_ARGUMENT);
    EXPECT_STREQ(error, message);
  }
};

TEST(TypedModel, UsesItsThreads) {
  for (int32_t threads : {INT32_MIN, -1, 0, 1, 2, 5}) {
    Typed typed(threads);
    for (int repeat = 0; repeat < 3; ++repeat) {
      ThreadCount count;
      count.wanted = threads < 1 ? 1 : uint32_t(threads);
      threadCount = &count;
      EXPECT_EQ(typed.run(), INGOT_ABI_OK) << typed.error;
      EXPECT_EQ(count.ids.size(), count.wanted);
    }
  }
}

/// Starts a run inside of another run, which stands for a run of another
/// thread.
TEST(TypedModel, ASecondRunIsBusy) {
  static Typed *typed;
  static int32_t inner;
  static char message[256];
  const ingot_abi_variant row = variant("x86-64", 0, 1, [](ingot_abi_call *) {
    inner = ingot_support_call(typed->model, typed->inputs, typed->outputs,
                               message, sizeof message);
    return int32_t(INGOT_ABI_OK);
  });
  Typed outer(1);
  ingot_support_destroy(outer.model);
  outer.artifact.variants = {&row, 1, sizeof row};
  outer.model = ingot_support_create(&outer.artifact, nullptr, 0, 1,
                                     outer.error, sizeof outer.error);
  ASSERT_NE(outer.model, nullptr) << outer.error;
  typed = &outer;
  for (int repeat = 0; repeat < 2; ++repeat) {
    inner = -1;
    EXPECT_EQ(outer.run(), INGOT_ABI_OK);
    EXPECT_EQ(inner, INGOT_ABI_BUSY);
    EXPECT_STREQ(message, "the model is running in another thread; make one "
                          "handle for each thread");
  }
}

TEST(TypedModel, SeparateWeightsHaveTheirSize) {
  alignas(64) static char weights[64];
  Typed typed(1);
  ingot_support_destroy(typed.model);
  typed.artifact.weights_bytes = 40;
  char error[256];
  for (uint64_t bytes : {uint64_t(0), uint64_t(39), uint64_t(41), UINT64_MAX}) {
    EXPECT_EQ(ingot_support_create(&typed.artifact, weights, bytes, 1, error,
                                   sizeof error),
              nullptr);
    EXPECT_EQ(std::string(error),
              "the weights have " + std::to_string(bytes) +
                  " bytes, but this model needs 40: the file is truncated or "
                  "belongs to another model");
  }
  typed.model = ingot_support_create(&typed.artifact, weights, 40, 1, error,
                                     sizeof error);
  EXPECT_NE(typed.model, nullptr) << error;
}

TEST(TypedModel, WorksInAForkedChild) {
  Typed typed(3);
  ThreadCount count;
  count.wanted = 3;
  threadCount = &count;
  EXPECT_EQ(typed.run(), INGOT_ABI_OK);
  pid_t child = fork();
  if (!child) {
    // Destroys the model after a run in the child, and without a run in the
    // grandchild.
    ThreadCount own;
    own.wanted = 3;
    threadCount = &own;
    int wrong = typed.run() != INGOT_ABI_OK || own.ids.size() != 3;
    pid_t grandchild = fork();
    if (grandchild) {
      int status = 0;
      waitpid(grandchild, &status, 0);
      wrong += status != 0;
    }
    ingot_support_destroy(typed.model);
    _exit(wrong);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TypedModel, ChecksWhatItIsGiven) {
  ThreadCount count;
  threadCount = &count;
  {
    char error[64];
    EXPECT_EQ(ingot_support_call(nullptr, nullptr, nullptr, error, 64),
              INGOT_ABI_INVALID_ARGUMENT);
    EXPECT_STREQ(error, "the model is null");
    EXPECT_EQ(ingot_support_call(nullptr, nullptr, nullptr, nullptr, 0),
              INGOT_ABI_INVALID_ARGUMENT);
    ingot_support_destroy(nullptr);
  }
  Typed typed(1);
  EXPECT_EQ(typed.run(), INGOT_ABI_OK);
  auto with = [&](ingot_abi_buffer &place, ingot_abi_buffer wrong,
                  const char *message) {
    ingot_abi_buffer right = place;
    place = wrong;
    typed.refuses(message);
    place = right;
  };
  auto *odd = reinterpret_cast<char *>(typed.x) + 1;
  int64_t negative[] = {-1, 3}, other[] = {2, 4}, huge[] = {INT64_MAX / 2, 3};
  with(typed.inputs[0], buffer(nullptr, nullptr, INT64_MAX),
       "input 'x' is null");
  with(typed.inputs[0], buffer(odd, nullptr, INT64_MAX),
       "input 'x' is not aligned to its element type");
  with(typed.inputs[1], buffer(typed.n, nullptr, INT64_MAX),
       "input 'n' has no dims");
  for (int64_t *dims : {negative, other})
    with(typed.inputs[1], buffer(typed.n, dims, INT64_MAX),
         "input 'n' has dims that do not fit the model");
  with(typed.inputs[1], buffer(typed.n, huge, INT64_MAX),
       "input 'n' is impossibly large");
  with(typed.outputs[0], buffer(nullptr, nullptr, INT64_MAX),
       "output 'y' is null");
  with(typed.outputs[1], buffer(nullptr, typed.zDims, 4), "output 'z' is null");
  with(typed.outputs[1], buffer(typed.z, nullptr, 4), "output 'z' has no dims");
  with(typed.outputs[1], buffer(odd, typed.zDims, 4),
       "output 'z' is not aligned to its element type");
  // Empty tensors need no memory.
  int64_t none[] = {0, 3};
  typed.inputs[1] = buffer(nullptr, none, INT64_MAX);
  typed.outputs[1] = buffer(nullptr, typed.zDims, 0);
  EXPECT_EQ(typed.run(), INGOT_ABI_OK) << typed.error;
}

} // namespace
