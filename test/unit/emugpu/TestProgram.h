//===- TestProgram.h - programs on the emulated driver ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program runs in a process of its own, since a process has one driver.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_EMUGPU_TESTPROGRAM_H
#define INGOT_TEST_UNIT_EMUGPU_TESTPROGRAM_H

#include "test/unit/emugpu/TestGpu.h"
#include "tools/emugpu/driver/Calls.h"

#include <functional>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace emugpu::test {

struct Outcome {
  int code;
  std::string errors;
};

/// Runs `program` in a child with these settings. Returns its exit code and
/// what it printed to standard error.
inline Outcome run(const std::string &settings,
                   const std::function<int()> &program) {
  int ends[2];
  if (pipe(ends))
    return {-1, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("INGOT_EMUGPU", settings.c_str(), 1);
    exit(program());
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, size_t(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

/// Thrown by a program whose call failed.
struct Failed {
  cuda::Result result;
};
inline void check(cuda::Result result) {
  if (result)
    throw Failed{result};
}

/// A program with a context, a stream and a kernel that adds 1 to 64 words.
class Session {
public:
  Session() {
    check(cuInit(0));
    cuda::Device device;
    check(cuDeviceGet(&device, 0));
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxPushCurrent_v2(context));
    const std::string text =
        kernelOf("  ld.global.u32 %r7, [%d3];\n  add.u32 %r7, %r7, 1;\n"
                 "  st.global.u32 [%d4], %r7;");
    check(cuModuleLoadData(&module, text.c_str()));
    check(cuModuleGetFunction(&function, module, "k"));
    check(cuStreamCreate(&stream, cuda::streamNonBlocking));
    check(cuMemAlloc_v2(&x, 256));
    check(cuMemAlloc_v2(&y, 256));
  }
  void launch(cuda::DevicePointer from, cuda::DevicePointer to,
              cuda::Stream on) {
    void *parameters[] = {&from, &to};
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, on, parameters,
                         nullptr));
  }
  void close() {
    check(cuMemFree_v2(x));
    check(cuMemFree_v2(y));
    check(cuStreamDestroy_v2(stream));
    check(cuModuleUnload(module));
    cuda::Context popped;
    check(cuCtxPopCurrent_v2(&popped));
    check(cuDevicePrimaryCtxRelease_v2(0));
  }

  cuda::Context context;
  cuda::Module module;
  cuda::Function function;
  cuda::Stream stream;
  cuda::DevicePointer x, y;
  std::vector<uint32_t> words = std::vector<uint32_t>(64, 41);
};

/// Runs a program that throws Failed; then the exit code is its result, at
/// most 250.
inline std::function<int()> guarded(const std::function<void()> &program) {
  return [=] {
    try {
      program();
    } catch (const Failed &failed) {
      return std::min(failed.result, 250);
    }
    return 0;
  };
}

constexpr unsigned kSeeds = 16;
inline std::string withSeed(unsigned seed) {
  return "seed=" + std::to_string(seed);
}

} // namespace emugpu::test

#endif // INGOT_TEST_UNIT_EMUGPU_TESTPROGRAM_H
