//===- LargePagesTest.cpp - the heap in large pages -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/LargePages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr size_t kHeap = size_t(256) << 20;
enum Outcome { kAsWanted, kWrong, kNotThere };

/// What the kernel says of the mapping that `address` lies in.
std::string flagsAt(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool isInside = false;
  while (std::getline(maps, line)) {
    unsigned long begin, end;
    if (sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      isInside = uintptr_t(address) >= begin && uintptr_t(address) < end;
    if (isInside && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return "";
}

bool hasLargePages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  return std::getline(file, line) && line.find("[never]") == std::string::npos;
}

/// In a process of its own, for the heap stays as it is.
int inLargePages() {
  if (!ingot::takeHeapFromLargePages(kHeap))
    return kNotThere;
  // All of the heap that is taken from then on, in blocks of any size.
  std::vector<char *> blocks;
  size_t taken = 0;
  for (size_t size = 64; taken < kHeap / 2; size = size * 3 % 1'000'003) {
    blocks.push_back(static_cast<char *>(malloc(size + 1)));
    memset(blocks.back(), 1, size + 1);
    taken += size;
  }
  if (flagsAt(blocks.back()).find(" hg ") == std::string::npos)
    return kWrong;
  for (char *block : blocks)
    free(block);
  return kAsWanted;
}

int withLittleAddressSpace() {
  rlimit limit = {size_t(kHeap), size_t(kHeap)};
  setrlimit(RLIMIT_AS, &limit);
  void *before = sbrk(0);
  if (ingot::takeHeapFromLargePages(kHeap))
    return kWrong;
  // Allocations go on.
  void *block = malloc(100'000);
  bool isGood = block && before == sbrk(0);
  free(block);
  return isGood ? kAsWanted : kWrong;
}

TEST(LargePagesDeathTest, HeapGrowsInThem) {
  if (!hasLargePages())
    GTEST_SKIP() << "the system has no transparent huge pages";
#if defined(__SANITIZE_ADDRESS__) ||                                           \
    (defined(__has_feature) && __has_feature(address_sanitizer))
  GTEST_SKIP() << "AddressSanitizer has an allocator of its own";
#endif
  EXPECT_EXIT(exit(inLargePages()), testing::ExitedWithCode(kAsWanted), "");
}

TEST(LargePagesDeathTest, LimitsAreKept) {
  EXPECT_EXIT(exit(withLittleAddressSpace()),
              testing::ExitedWithCode(kAsWanted), "");
}

} // namespace
