//===- FailureTest.cpp - machines and calls that fail ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::test;

/// Changes a model before it is loaded.
using Change = std::function<void(TestModel &)>;

static Outcome live(
    const std::string &settings, const Change &change = [](TestModel &) {}) {
  return inChild(settings, [&] {
    TestModel model;
    change(model);
    return lifeOf(model);
  });
}

static void expectFailure(const Outcome &outcome, int status,
                          const std::string &message) {
  EXPECT_EQ(outcome.code, status) << outcome.errors;
  EXPECT_EQ(outcome.errors, message + "\n");
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

TEST(Machine, WithoutDriver) {
  Outcome outcome = live(
      "", [](TestModel &model) { model.driver = "/nowhere/libcuda.so.1"; });
  EXPECT_EQ(outcome.code, INGOT_ABI_UNSUPPORTED_DEVICE);
  EXPECT_EQ(outcome.errors.rfind("no CUDA driver: /nowhere/libcuda.so.1: ", 0),
            0u)
      << outcome.errors;
  outcome = live("", [](TestModel &model) { model.driver = "libm.so.6"; });
  expectFailure(outcome, INGOT_ABI_UNSUPPORTED_DEVICE,
                "the CUDA driver 'libm.so.6' has no function cuInit; driver "
                "525 or later is needed");
}

TEST(Machine, DriverVersions) {
  EXPECT_EQ(live("driver=12000").code, 0);
  EXPECT_EQ(live("driver=13000").code, 0);
  expectFailure(live("driver=11080"), INGOT_ABI_UNSUPPORTED_DEVICE,
                "the CUDA driver is for CUDA 11.8; driver 525 or later, for "
                "CUDA 12.0, is needed");
}

TEST(Machine, Devices) {
  expectFailure(live("level=0"), INGOT_ABI_UNSUPPORTED_DEVICE,
                "this machine has no CUDA device: cuInit failed: "
                "CUDA_ERROR_NO_DEVICE");
  expectFailure(live("", [](TestModel &model) { model.device = 1; }),
                INGOT_ABI_UNSUPPORTED_DEVICE,
                "there is no CUDA device 1: this machine has 1");
  for (const char *level : {"80", "86", "89", "90", "100", "120"})
    EXPECT_EQ(live(std::string("level=") + level).code, 0) << level;
}

/// An older host passes a struct without the driver's field.
TEST(Machine, OlderHost) {
  Outcome outcome = live("", [](TestModel &model) {
    model.driver = "/nowhere/libcuda.so.1";
    model.loadBytes = INGOT_ABI_LOAD_BYTES_V2;
  });
  EXPECT_EQ(outcome.errors.find("/nowhere"), std::string::npos)
      << outcome.errors;
}

TEST(Machine, Images) {
  static const char cubin[] = "\x7f"
                              "ELF of another world";
  auto addCubin = [](TestModel &model) {
    for (uint32_t level : {80, 90})
      model.images.push_back({INGOT_CUDA_CUBIN, level, cubin, sizeof(cubin)});
  };
  // The emulator refuses cubins, so the driver compiles the PTX.
  for (const char *level : {"80", "86", "90", "120"}) {
    Outcome outcome = live(std::string("level=") + level, addCubin);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
  }
  expectFailure(live("level=75", addCubin), INGOT_ABI_UNSUPPORTED_DEVICE,
                "CUDA device 0 is sm_75, but the model has code for sm_80, "
                "sm_90");
  expectFailure(live("level=86",
                     [&](TestModel &model) {
                       model.images.clear();
                       addCubin(model);
                     }),
                INGOT_ABI_UNSUPPORTED_DEVICE,
                "cuModuleLoadData failed: CUDA_ERROR_NO_BINARY_FOR_GPU; a "
                "newer driver may load the model's code");
  Outcome broken =
      live("", [](TestModel &model) { model.images[0].data = "hello"; });
  EXPECT_EQ(broken.code, INGOT_ABI_BACKEND_ERROR);
  EXPECT_NE(broken.errors.find("cuModuleLoadData failed: CUDA_ERROR_INVALID_"
                               "PTX\n"),
            std::string::npos)
      << broken.errors;
}

TEST(Machine, Programs) {
  expectFailure(
      live("", [](TestModel &model) { model.kernels[0].name = "none"; }),
      INGOT_ABI_BACKEND_ERROR,
      "cuModuleGetFunction failed for kernel 'none': CUDA_ERROR_NOT_FOUND");
  expectFailure(
      live("", [](TestModel &model) { model.kernels[0].num_parameters = 513; }),
      INGOT_ABI_BAD_ARTIFACT,
      "too many parameters for kernel 'add': 513, but at most 512");
  expectFailure(
      live("",
           [](TestModel &model) { model.kernels[0].shared_bytes = 100 << 20; }),
      INGOT_ABI_BACKEND_ERROR,
      "cuFuncSetAttribute failed for kernel 'add': "
      "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(
      live("",
           [](TestModel &model) { model.kernels[0].shared_bytes = 99 << 10; })
          .code,
      0);
  expectFailure(
      live("", [](TestModel &model) { model.program.weights_offset = 1028; }),
      INGOT_ABI_BAD_ARTIFACT, "the weights of the kernels are not in the file");
}

TEST(Machine, Memory) {
  expectFailure(live("memory=1500"), INGOT_ABI_OUT_OF_MEMORY,
                "the model needs 1024 bytes for weights and 1024 for a run, "
                "but CUDA device 0 has 1500 of 1500 free");
  expectFailure(live("memory=2500"), INGOT_ABI_OUT_OF_MEMORY,
                "cuMemAlloc_v2 failed for input 0 of 1024 bytes: "
                "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(live("memory=64K").code, 0);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Fails each driver call of a load, run and unload, one at a time. The failure
/// is reported in one line, unless it comes from a release. A model that is
/// loaded afterwards works.
TEST(Calls, EachCanFail) {
  static const struct {
    const char *name;
    unsigned count;
    bool isRelease;
  } calls[] = {{"cuInit", 1, false},
               {"cuDeviceGetCount", 1, false},
               {"cuDeviceGet", 1, false},
               {"cuDeviceGetAttribute", 2, false},
               {"cuDevicePrimaryCtxRetain", 1, false},
               {"cuCtxPushCurrent_v2", 2, false},
               {"cuModuleLoadData", 1, false},
               {"cuModuleGetFunction", 2, false},
               {"cuMemGetInfo_v2", 1, false},
               {"cuMemAlloc_v2", 4, false},
               {"cuStreamCreate", 2, false},
               {"cuMemcpyHtoDAsync_v2", 2, false},
               {"cuStreamSynchronize", 2, false},
               {"cuGraphCreate", 1, false},
               {"cuGraphAddKernelNode_v2", 2, false},
               {"cuGraphInstantiateWithFlags", 1, false},
               {"cuGraphLaunch", 1, false},
               {"cuGraphExecDestroy", 1, true},
               {"cuGraphDestroy", 1, true},
               {"cuMemcpyDtoHAsync_v2", 1, false},
               {"cuStreamDestroy_v2", 2, true},
               {"cuMemFree_v2", 4, true},
               {"cuModuleUnload", 1, true},
               {"cuDevicePrimaryCtxRelease_v2", 1, true}};
  for (const auto &call : calls)
    for (unsigned number = 1; number <= call.count; ++number) {
      const std::string settings =
          "fail=" + std::string(call.name) + ":" + std::to_string(number);
      Outcome outcome = inChild(settings, [] {
        TestModel first, second;
        const int status = lifeOf(first);
        return lifeOf(second) ? 101 : status;
      });
      if (call.isRelease && outcome.code == 0)
        continue;
      EXPECT_TRUE(outcome.code == INGOT_ABI_BACKEND_ERROR ||
                  outcome.code == INGOT_ABI_UNSUPPORTED_DEVICE)
          << settings << ": " << outcome.code << " " << outcome.errors;
      EXPECT_EQ(outcome.errors.rfind(std::string(call.name) + " failed", 0), 0u)
          << settings << ": " << outcome.errors;
      EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'),
                1)
          << settings << ": " << outcome.errors;
    }
}

/// A run that fails leaves a model that runs.
TEST(Calls, RunsContinue) {
  for (const char *fail :
       {"cuGraphCreate:1", "cuGraphAddKernelNode_v2:1",
        "cuGraphAddKernelNode_v2:2", "cuGraphInstantiateWithFlags:1",
        "cuGraphLaunch:1", "cuMemcpyDtoHAsync_v2:1", "cuMemcpyHtoDAsync_v2:2",
        "cuMemAlloc_v2:2", "cuMemAlloc_v2:4", "cuStreamCreate:2",
        "cuCtxPushCurrent_v2:2"}) {
    Outcome outcome = inChild(std::string("fail=") + fail, [] {
      TestModel model;
      if (model.load())
        return 1;
      const int32_t status = model.run();
      if (model.run(11))
        return 2;
      model.unload();
      return status == INGOT_ABI_BACKEND_ERROR ? 0 : 3;
    });
    EXPECT_EQ(outcome.code, 0) << fail;
    EXPECT_EQ(outcome.errors, "") << fail;
  }
}

/// If the status of checks cannot be cleared, the run does not read it. The
/// next run clears it.
TEST(Calls, StatusOfChecks) {
  Outcome outcome = inChild("fail=cuMemcpyHtoDAsync_v2:2", [] {
    static const char *const checks[] = {"never fails"};
    TestModel model;
    model.program.checks = checks;
    model.program.num_checks = 1;
    if (model.load())
      return 1;
    if (model.run() != INGOT_ABI_BACKEND_ERROR)
      return 2;
    if (std::string(model.message)
            .rfind("cuMemcpyHtoDAsync_v2 failed for checks", 0) != 0)
      return 3;
    if (model.run(11))
      return 4;
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
}

TEST(Calls, MessageOfALaunch) {
  expectFailure(live("fail=cuGraphAddKernelNode_v2:1"), INGOT_ABI_BACKEND_ERROR,
                "cuGraphAddKernelNode_v2 failed in kernel 'add' of node 'node "
                "of add': CUDA_ERROR_UNKNOWN");
  expectFailure(live("fail=cuGraphLaunch:1"), INGOT_ABI_BACKEND_ERROR,
                "cuGraphLaunch failed for a graph of 2 nodes, from kernel "
                "'add' of node 'node of add' to node 'node of add': "
                "CUDA_ERROR_UNKNOWN");
  // A single kernel is no graph.
  expectFailure(live("fail=cuLaunchKernel:1",
                     [](TestModel &model) {
                       model.body = [](ingot_abi_call *call) {
                         const uint64_t words[] = {
                             uint64_t(call->inputs[0].data),
                             uint64_t(call->weights),
                             uint64_t(call->outputs[0].data)};
                         ingot_cuda_launch(call, addKernel, 1, words);
                       };
                     }),
                INGOT_ABI_BACKEND_ERROR,
                "cuLaunchKernel failed in kernel 'add' of node 'node of add': "
                "CUDA_ERROR_UNKNOWN");
  expectFailure(live("",
                     [](TestModel &model) {
                       model.body = [](ingot_abi_call *call) {
                         const uint64_t words[3] = {};
                         ingot_cuda_launch(call, addKernel, uint64_t(1) << 31,
                                           words);
                         // A launch has no effect after a failure of its run.
                         ingot_cuda_launch(call, faultKernel, 1, words);
                       };
                     }),
                INGOT_ABI_BACKEND_ERROR,
                "too many blocks in kernel 'add' of node 'node of add'");
}

TEST(Calls, FaultsEndTheModel) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      const uint64_t words[] = {uint64_t(call->inputs[0].data),
                                uint64_t(call->weights), 0};
      ingot_cuda_launch(call, faultKernel, 1, words);
    };
    if (model.load())
      return 1;
    if (model.run() != INGOT_ABI_BACKEND_ERROR)
      return 2;
    const std::string first = model.message;
    if (model.run() != INGOT_ABI_BACKEND_ERROR)
      return 3;
    if (first.find("failed in kernel 'fault' of node 'node of fault': "
                   "CUDA_ERROR_LAUNCH_FAILED") == std::string::npos)
      return 4;
    if (model.message != "the GPU failed in an earlier run: " + first)
      return 5;
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

/// The message of a fault names the kernels that it may come from: those since
/// the last wait. A run with an observer waits after each layer, but one with a
/// profile does so only if CUDA_LAUNCH_BLOCKING is set.
TEST(Calls, FaultsNameKernels) {
  auto fail = [](const char *launches, const ingot_abi_observer *observer) {
    static const char *kernels;
    kernels = launches;
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      for (const char *kernel = kernels; *kernel; ++kernel) {
        const uint64_t words[] = {uint64_t(call->inputs[0].data),
                                  uint64_t(call->weights),
                                  uint64_t(call->outputs[0].data)};
        ingot_cuda_launch(call, *kernel == 'f' ? faultKernel : addKernel, 1,
                          words);
        if (call->observer && !call->status)
          call->status =
              call->observer->layer_end(call->observer->user, 0, 0, 0);
      }
    };
    if (model.load())
      return 1;
    if (model.run(7, bufferOf(), bufferOf(), observer) !=
        INGOT_ABI_BACKEND_ERROR)
      return 2;
    fprintf(stderr, "%s\n", model.message);
    model.unload();
    return 0;
  };
  auto messageOf = [&](const char *launches,
                       const ingot_abi_observer *observer = nullptr) {
    Outcome outcome = inChild("", [&] { return fail(launches, observer); });
    EXPECT_EQ(outcome.code, 0) << launches;
    return outcome.errors;
  };
  EXPECT_NE(messageOf("ff").find(
                " failed in one of 2 kernels of node 'node of fault': "),
            std::string::npos);
  EXPECT_NE(messageOf("aaf").find(
                " failed in one of 3 kernels from node 'node of add' to node "
                "'node of fault' (a run with a profile and "
                "CUDA_LAUNCH_BLOCKING=1 names the layer): "),
            std::string::npos);
  ingot_abi_observer observer = {};
  observer.struct_size = sizeof(observer);
  observer.layer_end = [](void *, uint64_t, uint64_t, uint64_t) -> int32_t {
    return INGOT_ABI_OK;
  };
  const char *exact = " failed in kernel 'fault' of node 'node of fault': ";
  EXPECT_NE(messageOf("aaf", &observer).find(exact), std::string::npos);
  observer.layer_time = [](void *, uint64_t, uint64_t, uint64_t, uint64_t,
                           uint64_t) {};
  EXPECT_NE(messageOf("aaf", &observer).find("in one of 3 kernels"),
            std::string::npos);
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_NE(messageOf("aaf", &observer).find(exact), std::string::npos);
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

TEST(Calls, ForkAfterLoad) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    if (model.load() || model.run())
      return 1;
    const pid_t child = fork();
    if (child == 0) {
      const int32_t status = model.run();
      fprintf(stderr, "%s\n", model.message);
      model.unload();
      _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != INGOT_ABI_BACKEND_ERROR)
      return 2;
    if (model.run())
      return 3;
    model.unload();
    return 0;
  });
  expectFailure(outcome, 0,
                "the model was loaded on a GPU before a fork; load it in the "
                "new process");
}
