//===- Turns.cpp - models that are timed in turns -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Turns.h"

#include "client/Execute.h"
#include "client/measure/Distribution.h"

#include <algorithm>
#include <chrono>
#include <limits>

using namespace ingot;
using namespace ingot::study;

/// The least milliseconds of measured runs in a turn.
static constexpr double kTurnMs = 4;
/// The milliseconds of a run from which it needs no run before it that warms
/// the caches.
static constexpr double kLongRunMs = 5 * kTurnMs;
/// The least and the most turns of each model, and the milliseconds from which
/// a model needs no more than the least.
static constexpr int kLeastTurns = 12, kMostTurns = 60;
static constexpr double kEnoughMs = 1000;
/// The share of the turns, in percent, that are at most as long as the result.
/// Other programs do not disturb the shortest turns.
static constexpr double kPercent = 10;

namespace {

/// A model with a context of its own, whose threads wait actively as those of
/// applications do.
class Timed {
public:
  Timed(const ScratchModel &model, const std::vector<Array> &sample)
      : model(model), inputs(sample) {}

  llvm::Error prepare(ingot_pool *pool);
  llvm::Error takeTurn();

  double result() const {
    return tools::Distribution(turns).percentile(kPercent);
  }

private:
  /// Runs once and sets `lastMs`.
  llvm::Error runOnce();

  const ScratchModel &model;
  const std::vector<Array> &inputs;
  std::vector<Array> outputs;
  ContextHandle context;
  /// The time of the last run, and that of the shortest run in each turn.
  double lastMs = 0;
  std::vector<double> turns;
};

} // namespace

llvm::Error Timed::prepare(ingot_pool *pool) {
  if (llvm::Error error =
          errorIf(tools::createContext(model.handle(), pool, context)))
    return error;
  // The first run makes room for the outputs.
  ingot_error error = INGOT_ERROR_INIT;
  return errorIf(
      tools::runToFit(model.handle(), context.get(), inputs, outputs, error)
          ? std::string(error.message)
          : "");
}

llvm::Error Timed::runOnce() {
  const std::vector<ingot_input> in = tools::inputViews(inputs);
  const std::vector<ingot_output> out = tools::outputViews(outputs);
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  const auto start = std::chrono::steady_clock::now();
  if (ingot_context_run(context.get(), in.data(), uint32_t(in.size()),
                        out.data(), uint32_t(out.size()), &options, &error))
    return makeError(error.message);
  const std::chrono::duration<double, std::milli> taken =
      std::chrono::steady_clock::now() - start;
  lastMs = taken.count();
  return llvm::Error::success();
}

llvm::Error Timed::takeTurn() {
  if (lastMs < kLongRunMs)
    if (llvm::Error error = runOnce())
      return error;
  double shortest = std::numeric_limits<double>::infinity();
  for (double total = 0; total < kTurnMs; total += lastMs) {
    if (llvm::Error error = runOnce())
      return error;
    shortest = std::min(shortest, lastMs);
  }
  turns.push_back(shortest);
  return llvm::Error::success();
}

llvm::Expected<std::vector<double>>
ingot::study::timeInTurns(llvm::ArrayRef<const ScratchModel *> models,
                          const std::vector<Array> &sample,
                          const Progress &progress) {
  PoolHandle pool;
  if (llvm::Error error = errorIf(tools::createPool(/*threads=*/0, pool)))
    return std::move(error);
  std::vector<Timed> timed;
  timed.reserve(models.size());
  for (const ScratchModel *model : models) {
    timed.emplace_back(*model, sample);
    if (llvm::Error error = timed.back().prepare(pool.get()))
      return std::move(error);
  }
  const auto start = std::chrono::steady_clock::now();
  const double mostMs = kEnoughMs * double(models.size());
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (turn >= kLeastTurns && taken.count() > mostMs)
      break;
    progress.step(
        "measuring the models in turns",
        std::clamp(taken.count() / mostMs, turn / double(kMostTurns), 1.0));
    for (Timed &model : timed) {
      if (llvm::Error error = checkCancelled(progress))
        return std::move(error);
      if (llvm::Error error = model.takeTurn())
        return std::move(error);
    }
  }
  std::vector<double> results;
  for (const Timed &one : timed)
    results.push_back(one.result());
  return results;
}
