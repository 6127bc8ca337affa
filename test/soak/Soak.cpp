//===- Soak.cpp - many contexts of several models for minutes -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ingot-soak SECONDS MODEL.so...
//
// Runs models for a long time. Eight threads run their own contexts of each
// model, in random order, with varying sizes of dynamic dimensions. From time
// to time a thread recreates its context, loads the model again, trims memory,
// or makes a call that must fail. Every result must have the bits of a run on
// one thread. After the first of six parts neither memory nor descriptors may
// grow. With a sanitizer, which keeps memory itself, only descriptors are
// checked.
//
//===----------------------------------------------------------------------===//
#include "ingot/ingot.hpp"

#include <atomic>
#include <chrono>
#include <dirent.h>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <random>
#include <string.h>
#include <thread>
#include <unistd.h>

namespace {

constexpr int numThreads = 8, numParts = 6;
/// Number of sizes of a dynamic dimension.
constexpr int numSizes = 3;

using Bytes = std::vector<char>;

struct Tensor {
  ingot_tensor_info info;
  std::vector<int64_t> dims;
  Bytes data;

  Tensor(const ingot_tensor_info &info, int64_t size)
      : info(info), dims(info.dims, info.dims + info.rank) {
    uint64_t count = 1;
    for (int64_t &dim : dims) {
      if (dim == INGOT_ABI_DYNAMIC)
        dim = size;
      count *= uint64_t(dim);
    }
    data.resize((count * ingot_dtype_bits(info.dtype) + 7) / 8);
  }
};

/// Fills the tensor with small values of the input's type.
void fill(Tensor &tensor, uint32_t seed) {
  std::mt19937 random(seed);
  if (tensor.info.dtype == INGOT_FLOAT) {
    auto *values = reinterpret_cast<float *>(tensor.data.data());
    for (size_t i = 0; i < tensor.data.size() / sizeof(float); ++i)
      values[i] = float(random() % 2001) / 1000 - 1;
  } else {
    uint32_t width = ingot_dtype_size(tensor.info.dtype);
    for (size_t i = 0; i < tensor.data.size(); i += width)
      tensor.data[i] = char(random() % 2);
  }
}

class Subject {
public:
  explicit Subject(const char *path) : path(path), model(load()) {
    for (int size = 0; size < numSizes; ++size) {
      std::vector<Tensor> tensors;
      for (uint32_t i = 0; i < model.info().num_inputs; ++i) {
        tensors.emplace_back(model.inputInfo(i), size + 1);
        fill(tensors.back(), uint32_t(7 * size) + i);
      }
      inputs.push_back(std::move(tensors));
    }
    ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
    options.num_threads = 1;
    ingot::Context context(model, options);
    for (int size = 0; size < numSizes; ++size)
      expected.push_back(run(context, size));
  }

  ingot::Model load() const { return ingot::Model::load(path); }

  /// Returns the bytes of all outputs.
  Bytes run(ingot::Context &context, int size) const {
    std::vector<ingot_input> in;
    for (const Tensor &tensor : inputs[size_t(size)])
      in.push_back(ingot_input_make(
          tensor.data.data(), tensor.data.size(), tensor.dims.data(),
          uint32_t(tensor.dims.size()), tensor.info.dtype));
    std::vector<Tensor> outputs;
    for (uint32_t i = 0; i < model.info().num_outputs; ++i)
      outputs.emplace_back(model.outputInfo(i), size + 1);
    std::vector<ingot_output> out;
    for (Tensor &tensor : outputs)
      out.push_back(ingot_output_make(
          tensor.data.data(), tensor.data.size(), tensor.dims.data(),
          uint32_t(tensor.dims.size()), tensor.info.dtype));
    context.run(in, out);
    Bytes all;
    for (const Tensor &tensor : outputs)
      all.insert(all.end(), tensor.data.begin(), tensor.data.end());
    return all;
  }

  /// Makes a run that must be refused.
  bool refuses(ingot::Context &context) const {
    ingot_input none = INGOT_INPUT_INIT;
    ingot_output nothing = INGOT_OUTPUT_INIT;
    return ingot_context_run(context.get(), &none, 77, &nothing, 1, nullptr,
                             nullptr) == INGOT_INVALID_ARGUMENT;
  }

  std::string path;
  ingot::Model model;
  std::vector<std::vector<Tensor>> inputs;
  std::vector<Bytes> expected;
};

struct Totals {
  std::atomic<uint64_t> runs{0}, contexts{0}, loads{0}, wrong{0};
};

void work(const std::vector<Subject> &subjects, int seed,
          std::chrono::steady_clock::time_point end, Totals &totals) try {
  std::mt19937 random(uint32_t(seed) * 7919u + 1);
  std::vector<ingot::Context> contexts;
  for (const Subject &subject : subjects)
    contexts.emplace_back(subject.model);
  while (std::chrono::steady_clock::now() < end) {
    size_t which = random() % subjects.size();
    const Subject &subject = subjects[which];
    ingot::Context &context = contexts[which];
    switch (random() % 200) {
    case 0:
      context = ingot::Context(subject.model);
      ++totals.contexts;
      break;
    case 1:
      // The context keeps the newly loaded model alive.
      context = ingot::Context(subject.load());
      ++totals.loads;
      break;
    case 2:
      context.trim();
      break;
    case 3:
      totals.wrong += !subject.refuses(context);
      break;
    }
    int size = int(random() % numSizes);
    totals.wrong +=
        subject.run(context, size) != subject.expected[size_t(size)];
    ++totals.runs;
  }
} catch (const std::exception &problem) {
  std::cerr << "ingot-soak: " << problem.what() << '\n';
  ++totals.wrong;
}

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// Quantities that must not grow.
struct Usage {
  size_t resident = 0, allocated = 0, files = 0;

  static Usage now() {
    Usage usage;
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    usage.resident = pages * size_t(sysconf(_SC_PAGESIZE));
    struct mallinfo2 info = mallinfo2();
    usage.allocated = info.uordblks + info.hblkhd;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
      ++usage.files;
    closedir(folder);
    return usage;
  }
};

int soak(double seconds, std::vector<Subject> &subjects) {
  Totals totals;
  Usage first, last;
  for (int part = 0; part < numParts; ++part) {
    auto end = std::chrono::steady_clock::now() +
               std::chrono::microseconds(int64_t(seconds * 1e6 / numParts));
    std::vector<std::thread> threads;
    for (int t = 0; t < numThreads; ++t)
      threads.emplace_back(work, std::cref(subjects), part * numThreads + t,
                           end, std::ref(totals));
    for (std::thread &thread : threads)
      thread.join();
    malloc_trim(0);
    last = Usage::now();
    if (part == 0)
      first = last;
    std::cout << "part " << part + 1 << ": " << totals.runs << " runs, "
              << totals.contexts << " contexts and " << totals.loads
              << " models made anew, " << totals.wrong
              << " wrong; resident " << last.resident / 1024
              << " KiB, allocated " << last.allocated / 1024 << " KiB, "
              << last.files << " descriptors" << std::endl;
  }
  // The memory that malloc keeps for ended threads varies.
  bool memoryGrows = last.allocated > first.allocated + (64 << 10) ||
                     last.resident > first.resident + (8 << 20);
  bool grows = (memoryGrows && !sanitized) || last.files > first.files;
  if (totals.wrong || !totals.runs || grows) {
    std::cerr << "ingot-soak: "
              << (grows ? "memory or descriptors grow" : "wrong results")
              << '\n';
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::cerr << "usage: ingot-soak SECONDS MODEL.so...\n";
    return 2;
  }
  std::vector<Subject> subjects;
  subjects.reserve(size_t(argc));
  for (int i = 2; i < argc; ++i)
    subjects.emplace_back(argv[i]);
  return soak(atof(argv[1]), subjects);
} catch (const std::exception &problem) {
  std::cerr << "ingot-soak: " << problem.what() << '\n';
  return 1;
}
