//===- Watch.cpp - what runs show of their tensors ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/ranges/Watch.h"

#include "compiler/study/runs/WorkTime.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string.h>
#include <thread>

using namespace ingot;
using namespace ingot::study;

/// Threads that help the calling thread.
class Watch::Helpers {
public:
  explicit Helpers(size_t count) {
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([this, i] { serve(i + 1); });
  }

  ~Helpers() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isOver = true;
    }
    hasWork.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  /// Runs part 0 on the calling thread. Returns when all parts are done.
  void run(const std::function<void(size_t part)> &given) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      work = &given;
      left = threads.size();
      ++round;
    }
    hasWork.notify_all();
    given(0);
    std::unique_lock<std::mutex> lock(mutex);
    isDone.wait(lock, [this] { return left == 0; });
  }

private:
  void serve(size_t part) {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      hasWork.wait(lock, [&] { return isOver || round != seen; });
      if (isOver)
        return;
      seen = round;
      const std::function<void(size_t)> &given = *work;
      lock.unlock();
      given(part);
      lock.lock();
      if (--left == 0)
        isDone.notify_one();
    }
  }

  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable hasWork, isDone;
  const std::function<void(size_t)> *work = nullptr;
  size_t left = 0;
  uint64_t round = 0;
  bool isOver = false;
};

Watch::Watch(size_t numTensors, const Options &given)
    : tensors(numTensors), seen(numTensors), options(given) {
  // Each thread has its own counts, so memory limits the number of threads.
  constexpr size_t kMostBytes = 64 << 20;
  const size_t bytes =
      std::max<size_t>(numTensors, 1) * quantize::Histogram::mostBytes();
  const auto threads = unsigned(
      std::clamp<size_t>(kMostBytes / bytes, 1, std::max(options.threads, 1u)));
  for (Tensor &tensor : tensors)
    tensor.parts.resize(threads);
  if (threads > 1)
    helpers = std::make_unique<Helpers>(threads - 1);
}

Watch::~Watch() = default;

void Watch::count(Tensor &tensor, const float *values, size_t count) {
  /// The least number of values for which it pays to use other threads.
  constexpr size_t kLeastShared = 1 << 15;
  auto add = [&](size_t part, const float *from, size_t size) {
    quantize::Histogram &histogram = tensor.parts[part];
    if (options.fillsBins)
      histogram.add(from, size);
    else
      histogram.addRange(from, size);
  };
  if (!helpers || count < kLeastShared)
    return add(0, values, count);
  const size_t parts = tensor.parts.size();
  helpers->run([&](size_t part) {
    const size_t begin = count * part / parts, end = count * (part + 1) / parts;
    add(part, values + begin, end - begin);
  });
}

/// Returns the bits of the largest magnitude. The bits of floats without their
/// sign have the order of the magnitudes.
static uint32_t largestBits(const float *values, size_t count) {
  uint32_t largest = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, values + i, sizeof(bits));
    largest = std::max(largest, bits & 0x7fffffffu);
  }
  return largest;
}

void Watch::add(size_t number, const ingot_tensor_view &view) {
  Tensor &tensor = tensors[number];
  uint32_t bits = 0;
  // The weight of a run in the moving average.
  constexpr double kWeight = 0.01;
  bool isFirst = true;
  float low = 0, high = 0;
  forEachPiece(view, gathered, [&](const float *values, size_t size) {
    count(tensor, values, size);
    bits = std::max(bits, largestBits(values, size));
    if (!options.averages)
      return;
    auto [least, largest] = std::minmax_element(values, values + size);
    low = isFirst ? *least : std::min(low, *least);
    high = isFirst ? *largest : std::max(high, *largest);
    isFirst = false;
  });
  float magnitude;
  memcpy(&magnitude, &bits, sizeof(magnitude));
  if (std::isfinite(magnitude))
    seen.see(number, double(magnitude));
  if (isFirst)
    return;
  const double weight = tensor.hasAverage ? kWeight : 1;
  tensor.averageMin += weight * (low - tensor.averageMin);
  tensor.averageMax += weight * (high - tensor.averageMax);
  tensor.hasAverage = true;
}

ingot_status Watch::observe(void *user, uint64_t number,
                            const ingot_tensor_view *view) {
  auto &self = *static_cast<Watch *>(user);
  if (number >= self.tensors.size() || view->dtype != INGOT_FLOAT)
    return INGOT_OK;
  const Tensor &tensor = self.tensors[number];
  const WorkTime time;
  self.add(number, *view);
  self.spent += time.seconds();
  if (tensor.countNotFinite() == tensor.numForgotten ||
      self.firstNotFinite >= 0)
    return INGOT_OK;
  self.firstNotFinite = int64_t(number);
  return INGOT_CANCELLED;
}

uint64_t Watch::Tensor::countNotFinite() const {
  uint64_t count = 0;
  for (const quantize::Histogram &part : parts)
    count += part.countNotFinite();
  return count;
}

void Watch::forgetNotFinite() {
  firstNotFinite = -1;
  for (Tensor &tensor : tensors)
    tensor.numForgotten = tensor.countNotFinite();
}

quantize::WatchedTensor Watch::result(size_t number) const {
  const Tensor &tensor = tensors[number];
  quantize::WatchedTensor result;
  for (const quantize::Histogram &part : tensor.parts)
    result.histogram.merge(part);
  result.averageMin = tensor.averageMin;
  result.averageMax = tensor.averageMax;
  return result;
}
