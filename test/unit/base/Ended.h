//===- Ended.h - processes that have ended ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_BASE_ENDED_H
#define INGOT_TEST_UNIT_BASE_ENDED_H

#include <fstream>
#include <string>
#include <sys/types.h>
#include <time.h>

namespace ingot::test {

/// Returns true if a process ends within a second. A process whose parent has
/// not asked for its exit code has ended, too.
inline bool hasEnded(pid_t process) {
  for (int i = 0; i < 100; ++i) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    if (!(file >> number >> name >> state) || state == "Z" || state == "X")
      return true;
    const timespec pause = {0, 10000000};
    nanosleep(&pause, nullptr);
  }
  return false;
}

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_BASE_ENDED_H
