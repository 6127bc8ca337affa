//===- CpuCount.cpp - CPUs that this process may use ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/host/CpuCount.h"

#include "ingot/ingot.h"

#include <fcntl.h>
#include <initializer_list>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::rt;

uint32_t ingot::rt::countAffinityCpus() {
  // Tries larger masks, because the kernel's mask may be larger than cpu_set_t.
  // The kernel reports EINVAL for a mask that is too small.
  for (int cpus = 1024; cpus <= 1 << 17; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      break;
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    int count = 0;
    if (sched_getaffinity(0, bytes, set) == 0)
      count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count > 0)
      return uint32_t(count);
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? uint32_t(online) : 1;
}

/// Reads a small file. Returns false if it does not exist.
static bool readSmallFile(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  size_t used = 0;
  while (used + 1 < room) {
    ssize_t got = read(fd, text + used, room - 1 - used);
    if (got <= 0)
      break;
    used += size_t(got);
  }
  close(fd);
  text[used] = 0;
  return used > 0;
}

/// Returns the number of whole CPUs in a limit of `quota` microseconds per
/// `period`.
static uint32_t wholeCpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0)
    return UINT32_MAX;
  long long cpus = quota / period;
  return cpus < 1 ? 1 : cpus > UINT32_MAX ? UINT32_MAX : uint32_t(cpus);
}

static uint32_t readV2(const char *directory) {
  char path[768], text[128];
  long long quota, period;
  snprintf(path, sizeof(path), "%s/cpu.max", directory);
  // Without a limit, the file contains "max 100000".
  if (!readSmallFile(path, text, sizeof(text)) ||
      sscanf(text, "%lld %lld", &quota, &period) != 2)
    return UINT32_MAX;
  return wholeCpus(quota, period);
}

static uint32_t readV1(const char *directory) {
  char path[768], quota[64], period[64];
  snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", directory);
  if (!readSmallFile(path, quota, sizeof(quota)))
    return UINT32_MAX;
  snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", directory);
  if (!readSmallFile(path, period, sizeof(period)))
    return UINT32_MAX;
  return wholeCpus(atoll(quota), atoll(period));
}

/// Returns the smallest limit of `group` and all its parents. Inside a
/// container, `group` may be a path of the host that does not exist. The walk
/// then reaches the mount point, which is the container's own group.
static uint32_t walkUp(const char *mount, const char *group,
                       uint32_t (*read)(const char *directory)) {
  char directory[704];
  int length = snprintf(directory, sizeof(directory), "%s%s", mount, group);
  if (length < 0 || size_t(length) >= sizeof(directory))
    return read(mount);
  uint32_t least = UINT32_MAX;
  size_t mountLength = strlen(mount);
  for (;;) {
    uint32_t here = read(directory);
    if (here < least)
      least = here;
    if (strlen(directory) <= mountLength)
      return least;
    *strrchr(directory, '/') = 0;
  }
}

/// Returns true if `list`, for example "cpu,cpuacct", contains "cpu".
static bool listsCpu(const char *list) {
  for (const char *at = list; (at = strstr(at, "cpu")); at += 3)
    if ((at == list || at[-1] == ',') && (at[3] == 0 || at[3] == ','))
      return true;
  return false;
}

uint32_t ingot::rt::countCgroupCpus(const char *root) {
  char path[512], text[8192];
  snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
  if (!readSmallFile(path, text, sizeof(text)))
    return UINT32_MAX;

  uint32_t least = UINT32_MAX;
  char *next = text;
  while (char *line = strsep(&next, "\n")) {
    // Format: hierarchy-ID:controller-list:path
    strsep(&line, ":");
    char *controllers = line ? strsep(&line, ":") : nullptr;
    if (!line || *line != '/')
      continue;
    uint32_t limit = UINT32_MAX;
    if (*controllers == 0) {
      // Version 2 is mounted at the top, or as `unified` beside version 1.
      for (const char *at : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        snprintf(path, sizeof(path), "%s%s", root, at);
        uint32_t here = walkUp(path, line, readV2);
        limit = here < limit ? here : limit;
      }
    } else if (listsCpu(controllers)) {
      snprintf(path, sizeof(path), "%s/sys/fs/cgroup/%.64s", root,
               controllers);
      limit = walkUp(path, line, readV1);
      snprintf(path, sizeof(path), "%s/sys/fs/cgroup/cpu", root);
      uint32_t here = walkUp(path, line, readV1);
      limit = here < limit ? here : limit;
    }
    least = limit < least ? limit : least;
  }
  return least;
}

uint32_t ingot::rt::countCpus() {
  uint32_t affinity = countAffinityCpus(), cgroup = countCgroupCpus("");
  return affinity < cgroup ? affinity : cgroup;
}

uint32_t ingot_cpu_count(void) { return countCpus(); }
