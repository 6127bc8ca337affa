//===- AsyncTest.cpp - asynchronous runs, memory and DLPack ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model computes y = 2 x on the emulated GPU, and y = 3 x on a CPU. Each
// test on the GPU runs in a child process, because a process opens its drivers
// only once.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "ingot/ingot.hpp"

#include <array>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ingot::test;

namespace {

constexpr uint64_t numBytes = 32 * sizeof(int32_t);

/// Runs a program in a child with these settings of the emulated GPU. Returns
/// its exit code, 100 after an exception, and expects no report.
int onGpu(const std::string &settings,
          const std::function<int(ingot::Model &)> &program) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("INGOT_EMUGPU", settings.c_str(), 1);
    setenv("INGOT_EMULATED_DRIVER", INGOT_TEST_EMULATED_DRIVER, 1);
    try {
      ingot_model_options options = ingot::Model::defaults();
      options.device = "emulated";
      ingot::Model model =
          ingot::Model::load(artifactPath("cuda_or_cpu"), options);
      _exit(program(model));
    } catch (const ingot::Error &error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(100);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ingot::Model onCpu() {
  ingot_model_options options = ingot::Model::defaults();
  options.device = "cpu";
  return ingot::Model::load(artifactPath("cuda_or_cpu"), options);
}

/// Inputs and outputs in memory of one kind, and a context.
struct Job {
  Job(const ingot::Model &model, ingot_memory kind)
      : context(model), x(model, kind, numBytes), y(model, kind, numBytes) {}

  void start(int32_t value,
             const ingot_run_options &options = ingot::Context::runDefaults()) {
    first = value;
    int32_t elements[32];
    for (int32_t i = 0; i < 32; ++i)
      elements[i] = value + i;
    x.copyFrom(elements);
    context.runAsync({x.asInput(INGOT_INT32, dims)},
                     {y.asOutput(INGOT_INT32, written)}, options);
  }
  /// Waits, and returns true if y is `factor` times x.
  bool finish(int32_t factor) {
    context.wait();
    int32_t elements[32];
    y.copyTo(elements);
    for (int32_t i = 0; i < 32; ++i)
      if (elements[i] != factor * (first + i))
        return false;
    return written[0] == 32;
  }

  ingot::Context context;
  ingot::Memory x, y;
  std::vector<int64_t> dims = {32}, written = {0};
  int32_t first = 0;
};

/// Returns the message of a call that must fail with this status.
template <typename Function>
std::string messageOf(ingot_status status, Function function) {
  ingot_error error = INGOT_ERROR_INIT;
  if (function(&error) != status || error.status != status)
    return "another status: " + std::string(error.message);
  return error.message;
}

} // namespace

TEST(Async, OnGpu) {
  for (int seed = 0; seed < 8; ++seed)
    EXPECT_EQ(
        onGpu(
            "seed=" + std::to_string(seed),
            [](ingot::Model &model) {
              if (model.info().device_memory != INGOT_MEMORY_CUDA)
                return 1;
              for (ingot_memory kind : {INGOT_MEMORY_HOST, INGOT_MEMORY_CUDA}) {
                Job a(model, kind), b(model, kind);
                for (int32_t value : {1, -4}) {
                  a.start(value);
                  b.start(10 * value);
                  if (!a.finish(2) || !b.finish(2))
                    return 2;
                }
                a.context.trim();
                a.start(7);
                if (!a.finish(2))
                  return 3;
                // The context that is released waits.
                b.start(8);
              }
              return 0;
            }),
        0)
        << seed;
}

TEST(Async, OnCpu) {
  ingot::Model model = onCpu();
  EXPECT_EQ(model.info().device_memory, uint32_t(INGOT_MEMORY_HOST));
  Job job(model, INGOT_MEMORY_HOST);
  for (int32_t value : {1, -4}) {
    job.start(value);
    EXPECT_TRUE(job.finish(3));
  }
  job.context.wait();
  job.start(1);
}

/// Until the wait, the context is busy.
TEST(Async, BusyUntilTheWait) {
  ingot::Model model = onCpu();
  Job job(model, INGOT_MEMORY_HOST);
  job.start(1);
  const ingot_input input = job.x.asInput(INGOT_INT32, job.dims);
  const ingot_output output = job.y.asOutput(INGOT_INT32, job.written);
  for (auto *run : {ingot_context_run, ingot_context_run_async})
    EXPECT_EQ(messageOf(INGOT_BUSY,
                        [&](ingot_error *error) {
                          return run(job.context.get(), &input, 1, &output, 1,
                                     nullptr, error);
                        }),
              "an earlier run of the context is under way; call "
              "ingot_context_wait first");
  // Another thread may wait.
  std::thread([&] { job.context.wait(); }).join();
  job.start(2);
  EXPECT_TRUE(job.finish(3));
}

TEST(Async, StartThatFailsNeedsNoWait) {
  ingot::Model model = onCpu();
  Job job(model, INGOT_MEMORY_HOST);
  ingot::Profile profile(model);
  ingot_run_options options = ingot::Context::runDefaults();
  options.profile = profile.get();
  try {
    job.start(1, options);
    FAIL();
  } catch (const ingot::Error &error) {
    EXPECT_STREQ(error.what(),
                 "ingot_run_options.profile measures whole runs; leave it "
                 "null, or call ingot_context_run");
  }
  job.start(2);
  EXPECT_TRUE(job.finish(3));
  EXPECT_EQ(ingot_context_wait(nullptr, nullptr), INGOT_INVALID_ARGUMENT);
}

TEST(Memory, OfACpu) {
  ingot::Model model = onCpu();
  void *pointer = nullptr;
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        return ingot_memory_allocate(model.get(),
                                                     INGOT_MEMORY_CUDA, 64,
                                                     &pointer, error);
                      }),
            "the code in use (x86-64) has no CUDA memory");
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        return ingot_memory_allocate(model.get(), 9, 64,
                                                     &pointer, error);
                      }),
            "the code in use (x86-64) has no such memory");
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        char bytes[2] = {};
                        return ingot_memory_copy(model.get(), INGOT_MEMORY_HOST,
                                                 bytes, INGOT_MEMORY_HOST,
                                                 bytes + 1, 1, &model, error);
                      }),
            "the code in use (x86-64) has no streams; leave stream null");
  EXPECT_EQ(pointer, nullptr);
  ingot_memory_release(nullptr, INGOT_MEMORY_HOST, nullptr);
  ingot_memory_release(model.get(), INGOT_MEMORY_HOST, nullptr);
}

TEST(Memory, WrongArguments) {
  ingot::Model model = onCpu();
  ingot_model_options options = ingot::Model::defaults();
  options.flags = INGOT_MODEL_DESCRIBE_ONLY;
  ingot::Model described =
      ingot::Model::load(artifactPath("cuda_or_cpu"), options);
  void *pointer = nullptr;
  char bytes[2] = {};
  const int64_t dims[] = {3, -1};
  ingot_dlpack_managed *tensor = nullptr;
  auto allocate = [&](ingot_model *from, void **to) {
    return messageOf(INGOT_INVALID_ARGUMENT, [&](ingot_error *error) {
      return ingot_memory_allocate(from, INGOT_MEMORY_HOST, 64, to, error);
    });
  };
  auto create = [&](uint32_t rank, ingot_dtype dtype,
                    ingot_dlpack_managed **to) {
    return messageOf(INGOT_INVALID_ARGUMENT, [&](ingot_error *error) {
      return ingot_dlpack_create(model.get(), INGOT_MEMORY_HOST, dtype, dims,
                                 rank, to, error);
    });
  };
  EXPECT_EQ(allocate(nullptr, &pointer), "model is null");
  EXPECT_EQ(allocate(model.get(), nullptr), "pointer is null");
  EXPECT_EQ(allocate(described.get(), &pointer),
            "the model was opened with INGOT_MODEL_DESCRIBE_ONLY and has no "
            "memory");
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        return ingot_memory_copy(model.get(), INGOT_MEMORY_HOST,
                                                 nullptr, INGOT_MEMORY_HOST,
                                                 bytes, 1, nullptr, error);
                      }),
            "to or from is null");
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        return ingot_context_run_async(
                            nullptr, nullptr, 0, nullptr, 0, nullptr, error);
                      }),
            "context is null");
  EXPECT_EQ(create(1, INGOT_FLOAT, nullptr), "dims or tensor is null");
  EXPECT_EQ(create(2, INGOT_FLOAT, &tensor),
            "the sizes are negative or impossibly large");
  EXPECT_EQ(create(1, INGOT_STRING, &tensor),
            "DLPack has no element type string");
  EXPECT_EQ(tensor, nullptr);
  EXPECT_EQ(pointer, nullptr);
}

/// A model of an older compiler has no functions of its device.
TEST(Memory, OfAnOlderModel) {
  ingot::Model model = ingot::Model::load(artifactPath("device"));
  void *pointer = nullptr;
  EXPECT_EQ(messageOf(INGOT_VERSION_MISMATCH,
                      [&](ingot_error *error) {
                        return ingot_memory_allocate(model.get(),
                                                     INGOT_MEMORY_CUDA, 64,
                                                     &pointer, error);
                      }),
            "the compiler of the model did not know ingot_memory_...; compile "
            "the model again");
}

TEST(Memory, FailuresOfTheGpu) {
  EXPECT_EQ(onGpu("memory=64K",
                  [](ingot::Model &model) {
                    try {
                      ingot::Memory memory(model, INGOT_MEMORY_CUDA, 1 << 20);
                    } catch (const ingot::Error &error) {
                      const std::string text =
                          "cuMemAlloc_v2 failed for memory of 1048576 bytes: "
                          "CUDA_ERROR_OUT_OF_MEMORY";
                      return error.what() == text ? 0 : 1;
                    }
                    return 2;
                  }),
            0);
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

namespace {

/// A tensor of another library.
struct Foreign {
  int32_t elements[32] = {1};
  int64_t shape[2] = {32, 1}, strides[2] = {1, 1};
  ingot_dlpack_managed managed = {};

  Foreign() { reset(); }
  Foreign(const Foreign &) = delete;
  void reset() {
    shape[0] = 32;
    strides[0] = 1;
    managed = {};
    managed.major = 1;
    managed.tensor = {elements, INGOT_DLPACK_CPU, 0, 1, INGOT_DLPACK_INT, 32, 1,
                      shape,    strides,          0};
  }
  std::string refusal(ingot_status status = INGOT_INVALID_ARGUMENT) {
    return messageOf(status, [&](ingot_error *error) {
      ingot_input input = INGOT_INPUT_INIT;
      return ingot_dlpack_to_input(&managed, &input, error);
    });
  }
};

} // namespace

TEST(DLPack, ToInput) {
  Foreign tensor;
  ingot_input input = INGOT_INPUT_INIT;
  ASSERT_EQ(ingot_dlpack_to_input(&tensor.managed, &input, nullptr), INGOT_OK);
  EXPECT_EQ(input.data, tensor.elements);
  EXPECT_EQ(input.bytes, numBytes);
  EXPECT_EQ(input.dims, tensor.shape);
  EXPECT_EQ(input.rank, 1u);
  EXPECT_EQ(input.dtype, ingot_dtype(INGOT_INT32));
  EXPECT_EQ(input.memory, ingot_memory(INGOT_MEMORY_HOST));
  EXPECT_EQ(input.strides, nullptr);
  // The first element need not be the first in memory.
  tensor.managed.tensor.byte_offset = 8;
  tensor.managed.tensor.device_type = INGOT_DLPACK_CUDA;
  tensor.managed.tensor.device_id = 2;
  tensor.managed.tensor.ndim = 2;
  ASSERT_EQ(ingot_dlpack_to_input(&tensor.managed, &input, nullptr), INGOT_OK);
  EXPECT_EQ(input.data, tensor.elements + 2);
  EXPECT_EQ(input.memory, ingot_memory(INGOT_MEMORY_CUDA));
  EXPECT_EQ(input.device, 2u);
  EXPECT_EQ(input.rank, 2u);
}

/// Libraries give tensors without elements any strides. The other sizes may be
/// anything, too.
TEST(DLPack, WithoutElements) {
  Foreign tensor;
  tensor.managed.tensor.ndim = 2;
  tensor.managed.tensor.strides = tensor.strides;
  ingot_input input = INGOT_INPUT_INIT;
  for (auto [rows, columns, rowStride, columnStride] :
       {std::array<int64_t, 4>{0, 2, 1, 7},
        {2, 0, 1, 7},
        {0, 3, 0, 0},
        {0, INT64_MAX, INT64_MAX, 1},
        {INT64_MAX, 0, 1, INT64_MAX}}) {
    tensor.shape[0] = rows;
    tensor.shape[1] = columns;
    tensor.strides[0] = rowStride;
    tensor.strides[1] = columnStride;
    ASSERT_EQ(ingot_dlpack_to_input(&tensor.managed, &input, nullptr), INGOT_OK)
        << rows << " x " << columns;
    EXPECT_EQ(input.bytes, 0u);
  }
}

TEST(DLPack, Refusals) {
  Foreign tensor;
  tensor.managed.major = 2;
  EXPECT_EQ(tensor.refusal(INGOT_VERSION_MISMATCH),
            "the tensor is of DLPack 2.0, but version 1 is expected");
  tensor.reset();
  tensor.managed.tensor.type_lanes = 4;
  EXPECT_EQ(tensor.refusal(),
            "the DLPack tensor has element type (code 0, bits 32, lanes 4), "
            "which no model has");
  tensor.reset();
  tensor.managed.tensor.device_type = 10;
  EXPECT_EQ(tensor.refusal(),
            "the DLPack tensor is on a device of type 10; only 1 (CPU), 2 "
            "(CUDA) and 3 (pinned) are known");
  tensor.reset();
  tensor.managed.tensor.strides = tensor.strides;
  tensor.strides[0] = 2;
  EXPECT_EQ(tensor.refusal(), "the DLPack tensor is not dense and row-major; "
                              "make it contiguous first");
  tensor.reset();
  tensor.managed.tensor.ndim = -1;
  EXPECT_EQ(tensor.refusal(),
            "the DLPack tensor has -1 dimensions and no shape for them, or "
            "more than 64");
  tensor.reset();
  tensor.shape[0] = INT64_MAX;
  EXPECT_EQ(tensor.refusal(), "the DLPack tensor is impossibly large");
  tensor.shape[1] = INT64_MAX;
  tensor.managed.tensor.ndim = 2;
  tensor.managed.tensor.strides = tensor.strides;
  EXPECT_EQ(tensor.refusal(), "the DLPack tensor is impossibly large");
  tensor.reset();
  tensor.managed.flags = INGOT_DLPACK_READ_ONLY;
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        ingot_output output = INGOT_OUTPUT_INIT;
                        return ingot_dlpack_to_output(&tensor.managed, &output,
                                                      error);
                      }),
            "the DLPack tensor is read-only and cannot be an output");
  EXPECT_EQ(messageOf(INGOT_INVALID_ARGUMENT,
                      [&](ingot_error *error) {
                        return ingot_dlpack_to_input(nullptr, nullptr, error);
                      }),
            "a tensor is null");
}

/// Creates tensors of all types that DLPack has, and reads them back.
TEST(DLPack, EveryElementType) {
  ingot::Model model = onCpu();
  const int64_t dims[] = {3, 5};
  unsigned known = 0;
  for (ingot_dtype dtype = 0; dtype < 40; ++dtype) {
    ingot_dlpack_managed *tensor = nullptr;
    if (ingot_dlpack_create(model.get(), INGOT_MEMORY_HOST, dtype, dims, 2,
                            &tensor, nullptr)) {
      EXPECT_EQ(tensor, nullptr);
      continue;
    }
    ++known;
    ingot_output output = INGOT_OUTPUT_INIT;
    ASSERT_EQ(ingot_dlpack_to_output(tensor, &output, nullptr), INGOT_OK);
    EXPECT_EQ(output.dtype, dtype);
    EXPECT_EQ(output.bytes, 15 * ingot_dtype_size(dtype));
    EXPECT_EQ(output.rank, 2u);
    tensor->deleter(tensor);
  }
  EXPECT_EQ(known, 13u);
}

/// A tensor keeps its model alive.
TEST(DLPack, OutOfARun) {
  EXPECT_EQ(
      onGpu("",
            [](ingot::Model &given) {
              ingot::Model model = std::move(given);
              const int64_t dims[] = {32};
              ingot_dlpack_managed *x, *y;
              for (ingot_dlpack_managed **tensor : {&x, &y})
                if (ingot_dlpack_create(model.get(), INGOT_MEMORY_CUDA,
                                        INGOT_INT32, dims, 1, tensor, nullptr))
                  return 1;
              if (x->tensor.device_type != INGOT_DLPACK_CUDA)
                return 2;
              int32_t elements[32] = {};
              elements[31] = 21;
              if (ingot_memory_copy(model.get(), INGOT_MEMORY_CUDA,
                                    x->tensor.data, INGOT_MEMORY_HOST, elements,
                                    numBytes, nullptr, nullptr))
                return 3;
              ingot_input input = INGOT_INPUT_INIT;
              ingot_output output = INGOT_OUTPUT_INIT;
              if (ingot_dlpack_to_input(x, &input, nullptr) ||
                  ingot_dlpack_to_output(y, &output, nullptr))
                return 4;
              {
                ingot::Context context(model);
                context.run({input}, {output});
              }
              if (ingot_memory_copy(model.get(), INGOT_MEMORY_HOST, elements,
                                    INGOT_MEMORY_CUDA, y->tensor.data, numBytes,
                                    nullptr, nullptr))
                return 5;
              { ingot::Model released = std::move(model); }
              x->deleter(x);
              y->deleter(y);
              return elements[31] == 42 ? 0 : 6;
            }),
      0);
}
