//===- System.cpp - what the machine says about a measurement -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/System.h"

#include <fstream>
#include <sstream>
#include <stdlib.h>
#include <time.h>

using namespace ingot::tools;

uint64_t ingot::tools::nowNs() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

/// Returns the text after `key` and a colon. The file consists of such lines.
static std::string findValue(const char *path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, key.size(), key) == 0)
      if (size_t colon = line.find(':'); colon != std::string::npos)
        return line.substr(colon + 1);
  return "";
}

std::string ingot::tools::cpuName() {
  std::istringstream words(findValue("/proc/cpuinfo", "model name"));
  std::string name;
  for (std::string word; words >> word;)
    name += (name.empty() ? "" : " ") + word;
  return name.empty() ? "unknown CPU" : name;
}

double ingot::tools::residentMb(const char *key) {
  return strtod(findValue("/proc/self/status", key).c_str(), nullptr) / 1024;
}

uint64_t ingot::tools::cgroupThrottled() {
  std::string group = findValue("/proc/self/cgroup", "0:");
  if (!group.empty() && group[0] == ':')
    group.erase(0, 1);
  for (const std::string &place : {group, std::string()}) {
    std::ifstream file("/sys/fs/cgroup" + place + "/cpu.stat");
    std::string key;
    for (uint64_t value; file >> key >> value;)
      if (key == "nr_throttled")
        return value;
  }
  return 0;
}

uint64_t ingot::tools::levelFeatures(const std::string &level) {
  static constexpr struct {
    const char *name;
    uint64_t features;
  } levels[] = {
#define INGOT_CPU_LEVEL(NAME, MASK) {NAME, MASK},
#include "ingot/abi/cpu_features.inc"
  };
  for (const auto &known : levels)
    if (level == known.name)
      return known.features;
  return 0;
}
