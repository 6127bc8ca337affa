//===- WorkTime.h - the time of work ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_WORKTIME_H
#define INGOT_COMPILER_STUDY_RUNS_WORKTIME_H

#include "base/Progress.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace ingot::study {

/// The time of work. Counts wall-clock time, or the CPU time of the process
/// where that is less: on a busy machine, work waits for other programs.
class WorkTime {
public:
  /// Returns the seconds since the start.
  double seconds() const {
    const std::chrono::duration<double> wall = Clock::now() - start;
    const double cpu =
        double(std::clock() - startOfCpu) / double(CLOCKS_PER_SEC);
    return std::min(wall.count(), cpu);
  }

  /// Returns a progress that also cancels the work after `most` seconds since
  /// the start.
  Progress limit(const Progress &progress, double most) const {
    Progress result = progress;
    result.isCancelled = [progress, most, time = *this] {
      return time.seconds() >= most || progress.cancelled();
    };
    return result;
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  std::clock_t startOfCpu = std::clock();
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_WORKTIME_H
