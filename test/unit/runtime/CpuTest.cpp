//===- CpuTest.cpp - CPU features and CPU counts ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/host/CpuCount.h"
#include "runtime/cpu/CpuFeatures.h"

#include <filesystem>
#include <fstream>
#include <sched.h>

using namespace ingot::test;
using namespace ingot::rt;
namespace fs = std::filesystem;

namespace {

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

TEST(CpuFeatures, AgreeWithTheKernel) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, flags;
  while (flags.empty() && std::getline(cpuinfo, line))
    if (line.rfind("flags", 0) == 0)
      flags = line.substr(line.find(':') + 1) + " ";
  if (flags.empty())
    GTEST_SKIP() << "no flags in /proc/cpuinfo";
  const std::pair<uint64_t, const char *> names[] = {
      {SSE42, "sse4_2"},         {AVX, "avx"},
      {AVX2, "avx2"},            {FMA, "fma"},
      {F16C, "f16c"},            {BMI2, "bmi2"},
      {AVX512F, "avx512f"},      {AVX512BW, "avx512bw"},
      {AVX512CD, "avx512cd"},    {AVX512DQ, "avx512dq"},
      {AVX512VL, "avx512vl"},    {AVX512VNNI, "avx512_vnni"},
      {AVX512BF16, "avx512_bf16"}, {AVX512FP16, "avx512_fp16"},
      {AMX_TILE, "amx_tile"},    {AMX_INT8, "amx_int8"},
      {AMX_BF16, "amx_bf16"},    {AVX512VPOPCNTDQ, "avx512_vpopcntdq"},
      {AVXVNNI, "avx_vnni"}};
  uint64_t present = detectCpuFeatures();
  for (auto [bit, name] : names)
    EXPECT_EQ((present & bit) != 0,
              flags.find(" " + std::string(name) + " ") != std::string::npos)
        << name;
}

TEST(CpuFeatures, Levels) {
  uint64_t bits = 0;
  EXPECT_TRUE(findCpuLevel("x86-64-v3", bits));
  EXPECT_EQ(bits, 0x3fu);
  EXPECT_FALSE(findCpuLevel("pentium", bits));
  EXPECT_STREQ(highestCpuLevel(0), "x86-64");
  EXPECT_STREQ(highestCpuLevel(0x3f), "x86-64-v3");
  EXPECT_STREQ(highestCpuLevel(0x7fe), "x86-64");
  // Neither AVX-VNNI nor AVX-512 contains the other.
  EXPECT_TRUE(findCpuLevel("alderlake", bits));
  EXPECT_EQ(bits, 0x3fu | AVXVNNI);
  EXPECT_STREQ(highestCpuLevel(0x3f | AVXVNNI), "alderlake");
  EXPECT_STREQ(highestCpuLevel(0x7ff), "x86-64-v4");
  EXPECT_STREQ(highestCpuLevel(0x7ff | AVXVNNI), "x86-64-v4");
  EXPECT_STREQ(highestCpuLevel(0x3ffff | AVXVNNI), "sapphirerapids");
  // FP16 without AMX, as virtual machines report it.
  EXPECT_STREQ(highestCpuLevel(0x23fff), "avx512fp16");
  EXPECT_STREQ(highestCpuLevel(0x3ffff), "sapphirerapids");
}

// The kernel grants the tile registers on CPUs that have them, any number of
// times, and refuses on others.
TEST(CpuFeatures, PermissionForAmx) {
  ScopedEnv env("INGOT_MAX_ISA", nullptr);
  Cpu cpu;
  ASSERT_EQ(readCpu(cpu, nullptr), INGOT_OK);
  bool hasTiles = cpu.features & AMX_TILE;
  EXPECT_EQ(cpu.requestAmx(), hasTiles);
  EXPECT_EQ(cpu.requestAmx(), hasTiles);
}

TEST(CpuFeatures, PermissionIsForTiles) {
  EXPECT_TRUE(needsAmx(AMX_TILE | AMX_BF16));
  EXPECT_TRUE(needsAmx(AMX_TILE | AVX512F));
  EXPECT_FALSE(needsAmx(AVX512BF16 | AVX512VNNI | AVX512FP16));
}

TEST(CpuFeatures, UnsupportedCpu) {
  ScopedEnv env("INGOT_MAX_ISA", nullptr);
  expectLoadFails(artifactPath("needs_future"), INGOT_UNSUPPORTED_DEVICE,
                  "was compiled for future and needs features newer than this "
                  "libingot, which this CPU");
}

TEST(CpuFeatures, CappedByEnvironment) {
  ScopedEnv env("INGOT_MAX_ISA", "x86-64-v2");
  EXPECT_TRUE(std::string(ingot_cpu_level()) == "x86-64-v2" ||
              std::string(ingot_cpu_level()) == "x86-64");
  expectLoadFails(artifactPath("needs_v4"), INGOT_UNSUPPORTED_DEVICE,
                  "was compiled for x86-64-v4 and needs avx, avx2, fma, f16c, "
                  "bmi2, avx512f, avx512bw, avx512cd, avx512dq, avx512vl, "
                  "which INGOT_MAX_ISA=x86-64-v2 rules out; compile it with "
                  "--target=");
  load(artifactPath("static"));
}

TEST(CpuFeatures, UnknownLevelInEnvironment) {
  ScopedEnv env("INGOT_MAX_ISA", "avx2");
  expectLoadFails(artifactPath("static"), INGOT_INVALID_ARGUMENT,
                  "INGOT_MAX_ISA=avx2 names no CPU level; known are x86-64-v2, "
                  "x86-64-v3, alderlake, x86-64-v4, cascadelake, znver4, "
                  "avx512fp16, sapphirerapids");
}

TEST(CpuFeatures, EmptyEnvironmentMeansNoCap) {
  ScopedEnv env("INGOT_MAX_ISA", "");
  load(artifactPath("static"));
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// A fake /proc and /sys.
class CpuCount : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/ingot-test-XXXXXX";
    root = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    fs::path full = root + path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  uint32_t count() { return countCgroupCpus(root.c_str()); }
  std::string root;
};

TEST_F(CpuCount, NoCgroups) { EXPECT_EQ(count(), UINT32_MAX); }

TEST_F(CpuCount, VersionTwo) {
  write("/proc/self/cgroup", "0::/app/worker\n");
  EXPECT_EQ(count(), UINT32_MAX);
  write("/sys/fs/cgroup/app/worker/cpu.max", "max 100000\n");
  EXPECT_EQ(count(), UINT32_MAX);
  write("/sys/fs/cgroup/app/worker/cpu.max", "450000 100000\n");
  EXPECT_EQ(count(), 4u);
  write("/sys/fs/cgroup/app/cpu.max", "250000 100000\n");
  EXPECT_EQ(count(), 2u);
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(count(), 1u);
}

TEST_F(CpuCount, VersionTwoInsideContainer) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(count(), 3u);
}

TEST_F(CpuCount, VersionOne) {
  write("/proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/12ab\n");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/12ab/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/12ab/cpu.cfs_period_us",
        "100000\n");
  EXPECT_EQ(count(), UINT32_MAX);
  write("/sys/fs/cgroup/cpu,cpuacct/docker/12ab/cpu.cfs_quota_us", "600000\n");
  EXPECT_EQ(count(), 6u);
}

TEST_F(CpuCount, VersionOneInsideContainer) {
  // The path is the host's; the mount has the container's own group.
  write("/proc/self/cgroup", "4:cpuacct,cpu:/docker/12ab\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(count(), 2u);
}

TEST_F(CpuCount, Garbage) {
  write("/proc/self/cgroup", "\n::\n0:\nx\n0::relative\n9:cpu\n0::/a\n");
  write("/sys/fs/cgroup/a/cpu.max", "lots\n");
  EXPECT_EQ(count(), UINT32_MAX);
  write("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
  EXPECT_EQ(count(), UINT32_MAX);
}

TEST(CpuAffinity, FollowsTheMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(countAffinityCpus(), uint32_t(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &before)) {
      CPU_SET(i, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(countAffinityCpus(), 1u);
  EXPECT_EQ(ingot_cpu_count(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

} // namespace
