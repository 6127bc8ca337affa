//===- SessionTest.cpp - sessions, streams and memory of the caller -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <memory>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::test;

namespace {

/// A model with a session, and pinned memory for an input and an output.
struct Session {
  explicit Session(TestModel &model) : model(model) {
    if (callDevice(model, device.open, &session))
      exit(101);
    void *made[2];
    for (void *&pointer : made)
      if (callDevice(model, device.allocate, INGOT_ABI_MEMORY_HOST, numBytes,
                     &pointer))
        exit(102);
    x = static_cast<int32_t *>(made[0]);
    y = static_cast<int32_t *>(made[1]);
  }
  ~Session() {
    device.close(model.state, session);
    for (void *pointer : {x, y})
      device.release(model.state, INGOT_ABI_MEMORY_HOST, pointer);
  }

  int32_t start(int32_t value) {
    first = value;
    for (uint64_t i = 0; i < numElements; ++i)
      x[i] = value + int32_t(i);
    model.session = session;
    const int32_t status = model.run(value, bufferOf(x), bufferOf(y));
    model.session = nullptr;
    return status;
  }
  int32_t wait() { return callDevice(model, device.wait, session); }
  bool isRight() const {
    for (uint64_t i = 0; i < numElements; ++i)
      if (y[i] != 2 * (first + int32_t(i) + int32_t(3 * i)))
        return false;
    return true;
  }

  TestModel &model;
  const ingot_abi_device &device = ingot_cuda_device;
  void *session = nullptr;
  int32_t *x, *y;
  int32_t first = 0;
};

} // namespace

TEST(Session, RunsWithoutWaiting) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    {
      Session session(model);
      for (int32_t value : {3, -7, 1 << 20})
        if (session.start(value) || session.wait() || !session.isRight())
          return 2;
      // Nothing is under way.
      if (session.wait())
        return 3;
      // A session that is closed waits for its work.
      if (session.start(9))
        return 4;
    }
    model.unload();
    return 0;
  });
}

/// A host that is older has no sessions, so a run waits.
TEST(Session, OlderHost) {
  expectSuccess([] {
    TestModel model;
    model.callBytes = INGOT_ABI_CALL_BYTES_V2;
    model.session = &model;
    if (model.load() || model.run())
      return 1;
    model.unload();
    return 0;
  });
}

TEST(Session, TwoAtOnce) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    {
      Session a(model), b(model);
      for (int32_t value = 0; value < 4; ++value) {
        if (a.start(value) || b.start(100 + value))
          return 2;
        if (a.wait() || !a.isRight() || b.wait() || !b.isRight())
          return 3;
      }
    }
    model.unload();
    return 0;
  });
}

/// The run follows the caller's work, and the caller's work follows the run.
TEST(Session, StreamOfTheCaller) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    {
      Caller caller;
      Session session(model);
      cuda::Stream stream;
      cuda::DevicePointer onGpu[2];
      if (caller.cuStreamCreate(&stream, 0))
        return 2;
      for (cuda::DevicePointer &pointer : onGpu)
        caller.cuMemAlloc_v2(&pointer, numBytes);
      for (uint64_t i = 0; i < numElements; ++i)
        session.x[i] = int32_t(5 + i);
      session.first = 5;
      caller.cuMemcpyHtoDAsync_v2(onGpu[0], session.x, numBytes, stream);
      auto bufferAt = [](cuda::DevicePointer pointer) {
        return bufferOf(reinterpret_cast<void *>(uintptr_t(pointer)),
                        INGOT_ABI_MEMORY_CUDA);
      };
      for (bool hasSession : {true, false}) {
        model.stream = stream;
        model.session = hasSession ? session.session : nullptr;
        if (model.run(0, bufferAt(onGpu[0]), bufferAt(onGpu[1])))
          return 3;
        ingot_abi_copy copy = {};
        copy.struct_size = sizeof(copy);
        copy.from_memory = INGOT_ABI_MEMORY_CUDA;
        copy.from = reinterpret_cast<void *>(uintptr_t(onGpu[1]));
        copy.to = session.y;
        copy.bytes = numBytes;
        copy.stream = stream;
        if (callDevice(model, ingot_cuda_device.copy, &copy))
          return 4;
        if (hasSession && session.wait())
          return 5;
        caller.cuStreamSynchronize(stream);
        if (!session.isRight())
          return 6;
      }
      model.session = model.stream = nullptr;
      for (cuda::DevicePointer pointer : onGpu)
        caller.cuMemFree_v2(pointer);
      caller.cuStreamDestroy_v2(stream);
    }
    model.unload();
    return 0;
  });
}

TEST(Session, RefusesStreams) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    if (model.load())
      return 1;
    auto refuses = [&](cuda::Stream stream) {
      model.stream = stream;
      const int32_t status = model.run();
      model.stream = nullptr;
      fprintf(stderr, "%s\n", model.message);
      return status == INGOT_ABI_INVALID_ARGUMENT && !model.run();
    };
    Caller caller;
    cuda::Stream stream;
    caller.cuStreamCreate(&stream, 0);
    cuda::Graph graph;
    auto *begin = caller.find<cuda::Result(cuda::Stream, cuda::CaptureMode)>(
        "cuStreamBeginCapture_v2");
    auto *end = caller.find<cuda::Result(cuda::Stream, cuda::Graph *)>(
        "cuStreamEndCapture");
    if (begin(stream, cuda::captureRelaxed) || !refuses(stream) ||
        end(stream, &graph))
      return 2;
    model.stream = stream;
    if (model.run())
      return 3;
    auto *create = caller.find<cuda::Result(cuda::Context *, unsigned, int)>(
        "cuCtxCreate_v2");
    auto *destroy = caller.find<cuda::Result(cuda::Context)>("cuCtxDestroy_v2");
    cuda::Context other;
    cuda::Stream foreign;
    if (create(&other, 0, 0) || caller.cuStreamCreate(&foreign, 0) ||
        !refuses(foreign))
      return 4;
    // The caller's context is as it was.
    cuda::Context current;
    caller.cuCtxGetCurrent(&current);
    if (current != other)
      return 5;
    destroy(other);
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors,
            "the stream captures a graph, but work of a model cannot be "
            "captured; end the capture first\n"
            "the stream does not belong to the primary context of CUDA device "
            "0, which the model uses\n");
}

/// A capture of the caller goes on while a model allocates memory.
TEST(Session, LeavesCapturesAlone) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    Caller caller;
    auto *begin = caller.find<cuda::Result(cuda::Stream, cuda::CaptureMode)>(
        "cuStreamBeginCapture_v2");
    auto *end = caller.find<cuda::Result(cuda::Stream, cuda::Graph *)>(
        "cuStreamEndCapture");
    cuda::Stream stream;
    cuda::Graph graph;
    if (caller.cuStreamCreate(&stream, 0) || begin(stream, cuda::captureGlobal))
      return 2;
    // The first run allocates its memory.
    if (model.run() || end(stream, &graph))
      return 3;
    // The thread's own mode is as it was.
    cuda::DevicePointer pointer;
    if (begin(stream, cuda::captureGlobal) ||
        caller.cuMemAlloc_v2(&pointer, 64) != cuda::captureUnsupported)
      return 4;
    end(stream, &graph);
    model.unload();
    return 0;
  });
}

/// The failure of a kernel is the status of the wait.
TEST(Session, FaultAtTheWait) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      const uint64_t words[] = {uint64_t(call->inputs[0].data),
                                uint64_t(call->weights), 0};
      ingot_cuda_launch(call, faultKernel, 1, words);
    };
    // The copy of the output does not wait.
    if (model.load())
      return 1;
    auto held = std::make_unique<Session>(model);
    Session &session = *held;
    if (session.start(1))
      return 2;
    if (session.wait() != INGOT_ABI_BACKEND_ERROR)
      return 3;
    const std::string first = model.message;
    if (first != "cuStreamSynchronize failed in kernel 'fault' of node 'node "
                 "of fault': CUDA_ERROR_LAUNCH_FAILED")
      return 4;
    if (session.start(1) != INGOT_ABI_BACKEND_ERROR ||
        model.message != "the GPU failed in an earlier run: " + first)
      return 5;
    held.reset();
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

/// Each call fails once: the failure is one line, and the model runs again.
TEST(Session, EachCallCanFail) {
  for (const char *name :
       {"cuEventCreate:1", "cuEventRecord:1", "cuEventSynchronize:1",
        "cuStreamGetCtx:1", "cuStreamIsCapturing:1", "cuMemHostAlloc:1",
        "cuMemHostAlloc:2", "cuStreamCreate:2"}) {
    Outcome outcome = inChild(std::string("fail=") + name, [] {
      TestModel model;
      if (model.load())
        return 1;
      {
        Caller caller;
        unsigned failures = 0;
        const ingot_abi_device &device = ingot_cuda_device;
        for (int i = 0; i < 2; ++i) {
          void *session = nullptr, *pinned[2] = {};
          cuda::Stream stream = nullptr;
          int32_t status = callDevice(model, device.open, &session);
          for (void *&pointer : pinned)
            if (!status)
              status = callDevice(model, device.allocate, INGOT_ABI_MEMORY_HOST,
                                  numBytes, &pointer);
          if (!status && caller.cuStreamCreate(&stream, 0))
            return 2;
          if (!status) {
            memset(pinned[0], 0, numBytes);
            model.stream = stream;
            model.session = session;
            status = model.run(0, bufferOf(pinned[0]), bufferOf(pinned[1]));
            model.stream = model.session = nullptr;
          }
          if (!status)
            status = callDevice(model, device.wait, session);
          failures += status != 0;
          if (stream)
            caller.cuStreamSynchronize(stream);
          if (session)
            device.close(model.state, session);
          for (void *pointer : pinned)
            device.release(model.state, INGOT_ABI_MEMORY_HOST, pointer);
        }
        if (failures != 1)
          return 3;
      }
      if (model.run())
        return 4;
      model.unload();
      return 0;
    });
    EXPECT_EQ(outcome.code, 0) << name;
    EXPECT_EQ(outcome.errors, "") << name;
  }
}

TEST(Session, ForkAfterOpen) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    if (model.load())
      return 1;
    auto held = std::make_unique<Session>(model);
    Session &session = *held;
    if (session.start(1) || session.wait())
      return 2;
    void *onGpu = nullptr;
    if (callDevice(model, ingot_cuda_device.allocate, INGOT_ABI_MEMORY_CUDA, 64,
                   &onGpu))
      return 5;
    const pid_t child = fork();
    if (child == 0) {
      // The child asks the driver nothing.
      uint32_t owner = 0;
      if (ingot_cuda_device.locate(model.state, onGpu, &owner) !=
          INGOT_ABI_MEMORY_HOST)
        _exit(2);
      void *other = nullptr;
      const int32_t statuses[] = {
          session.start(1), session.wait(),
          callDevice(model, ingot_cuda_device.open, &other),
          callDevice(model, ingot_cuda_device.allocate, INGOT_ABI_MEMORY_CUDA,
                     64, &other)};
      ingot_cuda_device.close(model.state, session.session);
      for (int32_t status : statuses)
        if (status != INGOT_ABI_BACKEND_ERROR)
          _exit(1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status)
      return 3;
    if (session.start(2) || session.wait() || !session.isRight())
      return 4;
    ingot_cuda_device.release(model.state, INGOT_ABI_MEMORY_CUDA, onGpu);
    held.reset();
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
}
