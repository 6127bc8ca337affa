//===- DriverTest.cpp - programs on the emulated driver -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/emugpu/TestProgram.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string.h>

using namespace emugpu;
using namespace emugpu::test;

static void addOne() {
  Session p;
  check(cuMemcpyHtoDAsync_v2(p.x, p.words.data(), 256, p.stream));
  p.launch(p.x, p.y, p.stream);
  std::vector<uint32_t> result(64);
  check(cuMemcpyDtoHAsync_v2(result.data(), p.y, 256, p.stream));
  check(cuStreamSynchronize(p.stream));
  for (uint32_t value : result)
    if (value != 42)
      exit(251);
  p.close();
}

TEST(Driver, Program) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = run(withSeed(seed), guarded(addOne));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
  }
}

TEST(Driver, SettingsAndMachines) {
  auto code = [](const char *settings) {
    return run(settings, guarded(addOne)).code;
  };
  EXPECT_EQ(code("level=0"), cuda::noDevice);
  EXPECT_EQ(code("level=75"), cuda::noBinaryForGpu);
  EXPECT_EQ(code("level=120"), 0);
  EXPECT_EQ(code("driver=11080"), cuda::unsupportedPtxVersion);
  EXPECT_EQ(code("driver=13000"), 0);
  EXPECT_EQ(code("memory=300"), cuda::outOfMemory);
  for (const char *wrong :
       {"sed=3", "seed=", "seed=-1", "seed=x", "memory=99999999G",
        "fail=cuInit", "fail=cuInit:0", "checks=maybe", "log=/nowhere/log"}) {
    Outcome outcome = run(wrong, guarded(addOne));
    EXPECT_EQ(outcome.code, 250) << wrong;
    EXPECT_NE(outcome.errors.find("INGOT_EMUGPU"), std::string::npos) << wrong;
  }
}

TEST(Driver, EachCallCanFail) {
  for (const char *name :
       {"cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
        "cuCtxPushCurrent_v2", "cuModuleLoadData", "cuModuleGetFunction",
        "cuStreamCreate", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2",
        "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize",
        "cuMemFree_v2", "cuStreamDestroy_v2", "cuModuleUnload",
        "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2"})
    EXPECT_EQ(run("fail=" + std::string(name) + ":1", guarded(addOne)).code,
              250)
        << name;
  EXPECT_EQ(run("fail=cuMemAlloc_v2:3", guarded(addOne)).code, 0);
}

TEST(Driver, PinnedMemoryIsPoisonUntilTheWait) {
  bool wasPoison = false;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome =
        run(withSeed(seed), guarded([] {
              Session p;
              void *pinned;
              check(cuMemHostAlloc(&pinned, 256, 0));
              check(cuMemcpyHtoDAsync_v2(p.x, p.words.data(), 256, p.stream));
              check(cuMemcpyDtoHAsync_v2(pinned, p.x, 256, p.stream));
              const uint32_t early = *static_cast<uint32_t *>(pinned);
              check(cuStreamSynchronize(p.stream));
              const uint32_t late = *static_cast<uint32_t *>(pinned);
              check(cuMemFreeHost(pinned));
              p.close();
              exit(late != 41 ? 251 : early == 41 ? 2 : early == ~0u ? 1 : 251);
            }));
    EXPECT_EQ(outcome.errors, "");
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.code;
    wasPoison |= outcome.code == 1;
  }
  EXPECT_TRUE(wasPoison);
}

TEST(Driver, CopiesOfOneStreamHaveAnOrder) {
  // The first copy reads pinned memory before the second copy overwrites it.
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome =
        run(withSeed(seed), guarded([] {
              Session p;
              void *pinned;
              check(cuMemHostAlloc(&pinned, 256, 0));
              memcpy(pinned, p.words.data(), 256);
              check(cuMemcpyHtoDAsync_v2(p.x, pinned, 256, p.stream));
              check(cuMemcpyDtoHAsync_v2(pinned, p.x, 256, p.stream));
              check(cuStreamSynchronize(p.stream));
              const bool isRight = !memcmp(pinned, p.words.data(), 256);
              check(cuMemFreeHost(pinned));
              p.close();
              exit(isRight ? 0 : 251);
            }));
    EXPECT_EQ(outcome.code, 0) << "seed " << seed << ": " << outcome.errors;
  }
}

TEST(Driver, NobodyWaits) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome =
        run(withSeed(seed), guarded([] {
              Session p;
              check(cuMemcpyHtoDAsync_v2(p.x, p.words.data(), 256, p.stream));
              check(cuDevicePrimaryCtxRelease_v2(0));
            }));
    EXPECT_NE(outcome.errors.find("nobody waited"), std::string::npos)
        << outcome.errors;
  }
}

TEST(Driver, RaceOfStreams) {
  auto program = [](bool waits, bool writes) {
    return guarded([=] {
      Session p;
      cuda::Stream other;
      cuda::Event event;
      check(cuStreamCreate(&other, 0));
      check(cuEventCreate(&event, cuda::eventDisableTiming));
      check(cuMemcpyHtoDAsync_v2(p.x, p.words.data(), 256, p.stream));
      check(cuEventRecord(event, p.stream));
      if (waits)
        check(cuStreamWaitEvent(other, event, 0));
      if (writes)
        check(cuMemsetD8Async(p.x, 0, 256, other));
      else
        p.launch(p.x, p.y, other);
      check(cuCtxSynchronize());
      check(cuEventDestroy_v2(event));
      check(cuStreamDestroy_v2(other));
      p.close();
    });
  };
  for (unsigned seed = 0; seed < kSeeds; ++seed)
    for (bool writes : {false, true}) {
      Outcome right = run(withSeed(seed), program(true, writes));
      EXPECT_EQ(right.code, 0) << right.errors;
      EXPECT_EQ(right.errors, "");
      Outcome wrong = run(withSeed(seed), program(false, writes));
      EXPECT_NE(wrong.code, 0) << "seed " << seed;
      EXPECT_TRUE(wrong.errors.find("race") != std::string::npos ||
                  wrong.errors.find("nobody wrote it") != std::string::npos)
          << wrong.errors;
    }
}

TEST(Driver, DefaultStreamHasTwoHandles) {
  auto legacy = reinterpret_cast<cuda::Stream>(1);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome =
        run(withSeed(seed), guarded([=] {
              Session p;
              cuda::Context context;
              check(cuStreamGetCtx(legacy, &context));
              check(cuMemcpyHtoDAsync_v2(p.x, p.words.data(), 256, nullptr));
              p.launch(p.x, p.y, legacy);
              check(cuStreamSynchronize(legacy));
              p.close();
            }));
    EXPECT_EQ(outcome.code, 0) << "seed " << seed << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
  }
}

TEST(Driver, FaultsEndTheContext) {
  Outcome freed =
      run("", guarded([] {
            Session p;
            check(cuMemFree_v2(p.x));
            p.launch(p.x, p.y, p.stream);
            const cuda::Result first = cuStreamSynchronize(p.stream);
            if (first != cuda::launchFailed || cuMemFree_v2(p.y) != first)
              exit(251);
          }));
  EXPECT_EQ(freed.code, 0) << freed.errors;
  EXPECT_NE(freed.errors.find("is in no allocation"), std::string::npos)
      << freed.errors;

  Outcome undefined =
      run("", guarded([] {
            Session p;
            std::vector<uint32_t> result(64);
            check(cuMemcpyDtoHAsync_v2(result.data(), p.x, 256, p.stream));
          }));
  EXPECT_EQ(undefined.code, 250);
  EXPECT_NE(undefined.errors.find("nobody wrote it"), std::string::npos);

  Outcome module = run(
      "", guarded([] {
        Session p;
        cuda::Module broken;
        if (cuModuleLoadData(&broken, "\x7f"
                                      "ELF...") != cuda::noBinaryForGpu ||
            cuModuleLoadData(&broken, ".version 8.0\n.target sm_80\n.entry k() "
                                      "{ wgmma.x; }") != cuda::invalidPtx ||
            cuModuleLoadData(&broken, "hello") != cuda::invalidPtx)
          exit(251);
        p.close();
      }));
  EXPECT_EQ(module.code, 0) << module.errors;
}

TEST(Driver, WrongArguments) {
  Outcome outcome = run(
      "", guarded([] {
        cuda::DevicePointer pointer;
        if (cuMemAlloc_v2(&pointer, 4) != cuda::notInitialized)
          exit(240);
        Session p;
        void *parameters[] = {&p.x, &p.y};
        auto launches = [&](unsigned grid, unsigned block, unsigned bytes) {
          return cuLaunchKernel(p.function, grid, 1, 1, block, 1, 1, bytes,
                                p.stream, parameters, nullptr);
        };
        cuda::Function function;
        unsigned type;
        const bool areRefused =
            launches(0, 32, 0) == cuda::invalidValue &&
            launches(1, 2048, 0) == cuda::invalidValue &&
            launches(1, 32, 1 << 20) == cuda::invalidValue &&
            cuMemAlloc_v2(&pointer, 0) == cuda::invalidValue &&
            cuMemFree_v2(p.x + 4) == cuda::invalidValue &&
            cuMemFreeHost(&p) == cuda::invalidValue &&
            cuMemcpyHtoDAsync_v2(p.x, &p, 257, p.stream) ==
                cuda::invalidValue &&
            cuModuleGetFunction(&function, p.module, "none") ==
                cuda::notFound &&
            cuPointerGetAttribute(&type, cuda::pointerMemoryType,
                                  reinterpret_cast<cuda::DevicePointer>(&p)) ==
                cuda::invalidValue;
        if (!areRefused)
          exit(241);
        check(cuPointerGetAttribute(&type, cuda::pointerMemoryType, p.x));
        if (type != cuda::memoryDevice)
          exit(242);
        cuda::Context popped;
        check(cuCtxPopCurrent_v2(&popped));
        if (cuMemFree_v2(p.x) != cuda::invalidContext)
          exit(243);
        check(cuCtxPushCurrent_v2(p.context));
        p.close();
      }));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

TEST(Driver, LogOfCalls) {
  char name[] = "/tmp/emugpu-log-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  EXPECT_EQ(run("log=" + std::string(name), guarded(addOne)).code, 0);
  std::string text(1 << 12, '\0');
  text.resize(size_t(std::max<ssize_t>(read(file, &text[0], text.size()), 0)));
  close(file);
  unlink(name);
  EXPECT_EQ(text.rfind("cuInit\ncuDeviceGet\n", 0), 0u) << text;
  EXPECT_LT(text.find("cuLaunchKernel\n"), text.find("  executes k\n"));
}

/// The library has all functions under the name that programs open.
TEST(Driver, Library) {
  void *library = dlopen(INGOT_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
#define INGOT_FIND(NAME, TYPES) EXPECT_TRUE(dlsym(library, #NAME)) << #NAME;
  INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_FIND)
  INGOT_CUDA_GRAPH_FUNCTIONS(INGOT_FIND)
#undef INGOT_FIND
}
