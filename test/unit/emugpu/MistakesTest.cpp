//===- MistakesTest.cpp - planted mistakes are found ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case is a correct kernel and a change that plants a mistake. The kernel
// must run without a report, and the mistake must be found, with every seed.
//
//===----------------------------------------------------------------------===//
#include "test/unit/emugpu/TestGpu.h"

#include <gtest/gtest.h>

using namespace emugpu;
using namespace emugpu::test;

namespace {
constexpr uint64_t kSeeds = 16;

struct Case {
  const char *name;
  unsigned blocks, threads;
  /// The body of the correct kernel.
  const char *body;
  /// The text that is replaced, and the text of the mistake.
  const char *right, *wrong;
  /// A part of the report.
  const char *report;
};

// Each thread writes its word of shared memory and reads the word of the
// thread `distance` behind it.
#define INGOT_EXCHANGE(DISTANCE, BARRIER)                                      \
  "  st.shared.u32 [%r5], %r0;\n"                                              \
  "  " BARRIER "\n"                                                            \
  "  add.u32 %r6, %r0, " DISTANCE ";\n"                                        \
  "  mov.u32 %r8, %ntid.x;\n"                                                  \
  "  rem.u32 %r6, %r6, %r8;\n"                                                 \
  "  shl.b32 %r6, %r6, 2;\n"                                                   \
  "  add.u32 %r6, %r4, %r6;\n"                                                 \
  "  ld.shared.u32 %r7, [%r6];\n"                                              \
  "  st.global.u32 [%d4], %r7;\n"

#define INGOT_COPY                                                             \
  "  shl.b32 %r10, %r0, 4;\n"                                                  \
  "  add.u32 %r11, %r4, %r10;\n"                                               \
  "  cvt.u64.u32 %d5, %r10;\n"                                                 \
  "  add.u64 %d6, %d0, %d5;\n"                                                 \
  "  cp.async.cg.shared.global [%r11], [%d6], 16;\n"                           \
  "  cp.async.commit_group;\n"                                                 \
  "  cp.async.wait_group 0;\n"                                                 \
  "  bar.sync 0;\n"                                                            \
  "  ld.shared.u32 %r7, [%r5];\n"                                              \
  "  st.global.u32 [%d4], %r7;\n"

// Thread 0 writes data that thread 32 reads. An mbarrier orders them.
#define INGOT_MBARRIER                                                         \
  "  setp.eq.u32 %p0, %r0, 0;\n"                                               \
  "  @%p0 mbarrier.init.shared.b64 [s], 1;\n"                                  \
  "  bar.sync 0;\n"                                                            \
  "  @%p0 st.shared.u32 [s+64], 7;\n"                                          \
  "  @%p0 mbarrier.arrive.shared.b64 %d7, [s];\n"                              \
  "  setp.ne.u32 %p1, %r0, 32;\n"                                              \
  "  @%p1 bra DONE;\n"                                                         \
  "WAIT:\n"                                                                    \
  "  mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;\n"                       \
  "  @!%p2 bra WAIT;\n"                                                        \
  "  ld.shared.u32 %r7, [s+64];\n"                                             \
  "  st.global.u32 [%d4], %r7;\n"                                              \
  "DONE:\n"

// Block 0 writes data and then a flag; block 1 waits for the flag.
#define INGOT_FLAG                                                             \
  "  setp.ne.u32 %p0, %r0, 0;\n"                                               \
  "  @%p0 bra DONE;\n"                                                         \
  "  setp.ne.u32 %p1, %r1, 0;\n"                                               \
  "  @%p1 bra WAIT;\n"                                                         \
  "  st.global.u32 [%d0+64], 5;\n"                                             \
  "  membar.gl;\n"                                                             \
  "  atom.global.exch.b32 %r8, [%d0], 1;\n"                                    \
  "  bra DONE;\n"                                                              \
  "WAIT:\n"                                                                    \
  "  atom.global.or.b32 %r8, [%d0], 0;\n"                                      \
  "  setp.ne.u32 %p2, %r8, 1;\n"                                               \
  "  @%p2 bra WAIT;\n"                                                         \
  "  membar.gl;\n"                                                             \
  "  ld.global.u32 %r7, [%d0+64];\n"                                           \
  "  st.global.u32 [%d1], %r7;\n"                                              \
  "DONE:\n"

#define INGOT_LOOP                                                             \
  "  mov.u32 %r20, 0;\n"                                                       \
  "LOOP:\n" INGOT_EXCHANGE("33",                                               \
                           "bar.sync 0;") "  barrier.sync 1;\n"                \
                                          "  add.u32 %r20, %r20, 1;\n"         \
                                          "  setp.lt.u32 %p3, %r20, 3;\n"      \
                                          "  @%p3 bra LOOP;\n"

#define INGOT_MATRIX                                                           \
  "  and.b32 %r21, %r0, 31;\n"                                                 \
  "  shl.b32 %r21, %r21, 4;\n"                                                 \
  "  add.u32 %r21, %r4, %r21;\n"                                               \
  "  st.shared.v4.u32 [%r21], {1, 1, 1, 1};\n"                                 \
  "  bar.warp.sync -1;\n"                                                      \
  "  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r22, %r23}, [%r21];\n"         \
  "  mov.f32 %f0, 0f00000000;\n"                                               \
  "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, " \
  "{%r22, %r23, %r22, %r23}, {%r22, %r23}, {%f0, %f0, %f0, %f0};\n"            \
  "  st.global.f32 [%d4], %f1;\n"

constexpr Case cases[] = {
    {"BarrierIsMissing", 1, 64, INGOT_EXCHANGE("32", "bar.sync 0;"),
     "bar.sync 0;", "", "shared memory"},
    {"BarrierOfTheWarpIsMissing", 1, 32,
     INGOT_EXCHANGE("1", "bar.warp.sync -1;"), "bar.warp.sync -1;", "",
     "shared memory"},
    {"BarrierOfTheWarpIsTooSmall", 1, 64, INGOT_EXCHANGE("32", "bar.sync 0;"),
     "bar.sync 0;", "bar.warp.sync -1;", "shared memory"},
    {"SecondBarrierOfALoopIsMissing", 1, 64, INGOT_LOOP, "  barrier.sync 1;\n",
     "", "race: shared memory"},
    {"BarrierInOneWarpOnly", 1, 64,
     "  bar.sync 0;\n  setp.lt.u32 %p0, %r0, 32;\n  bar.sync 1;\n",
     "  bar.sync 1;\n", "  @%p0 bar.sync 1;\n  @!%p0 bar.sync 2;\n",
     "deadlock"},
    {"BarrierWithTooManyThreads", 1, 64, "  bar.sync 1, 64;\n", "64", "96",
     "deadlock"},
    {"BarrierWithDifferentCounts", 1, 64, "  bar.sync 1, 64;\n",
     "  bar.sync 1, 64;\n",
     "  setp.lt.u32 %p0, %r0, 32;\n  @%p0 bar.sync 1, 64;\n"
     "  @!%p0 bar.sync 1, 96;\n",
     "expects"},
    {"CopyIsNotAwaited", 1, 64, INGOT_COPY, "  cp.async.wait_group 0;\n", "",
     "asynchronous copy"},
    {"CopyIsAwaitedTooEarly", 1, 64, INGOT_COPY, "wait_group 0", "wait_group 1",
     "asynchronous copy"},
    {"CopyOfOtherWarpsIsNotAwaited", 1, 64, INGOT_COPY, "  bar.sync 0;\n", "",
     "shared memory"},
    {"CopyIsLeftOpen", 1, 64, INGOT_COPY,
     "  cp.async.wait_group 0;\n  bar.sync 0;\n  ld.shared.u32 %r7, [%r5];\n",
     "  mov.u32 %r7, 0;\n", "has not waited"},
    {"CopyIsMisaligned", 1, 32, INGOT_COPY, "[%d6], 16", "[%d6+8], 16",
     "not aligned"},
    {"SharedMemoryIsNeverWritten", 1, 32,
     "  st.shared.u32 [%r5], %r0;\n  ld.shared.u32 %r7, [%r5];\n",
     "ld.shared.u32 %r7, [%r5]", "ld.shared.u32 %r7, [%r5+256]",
     "nobody wrote it"},
    {"GlobalMemoryIsNeverWritten", 1, 32, "  ld.global.u32 %r7, [%d3];\n",
     "%d3", "%d4", "nobody wrote it"},
    {"LocalMemoryIsNeverWritten", 1, 32,
     "  .local .align 4 .b8 l[16];\n  st.local.u32 [l], %r0;\n"
     "  ld.local.u32 %r7, [l];\n",
     "ld.local.u32 %r7, [l]", "ld.local.u32 %r7, [l+4]", "nobody wrote it"},
    {"GlobalMemoryIsTooSmall", 1, 64, "  st.global.u32 [%d4], %r0;\n", "%d4",
     "%d4+7940", "is in no allocation"},
    {"SharedMemoryIsTooSmall", 1, 32, "  st.shared.u32 [%r5], %r0;\n", "%r5",
     "%r5+4000", "out of bounds"},
    {"HostPointer", 1, 32, "  ld.global.u32 %r7, [%d3];\n", "[%d3]",
     "[%d2+4096]", "is in no allocation"},
    {"LoadIsMisaligned", 1, 32,
     "  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d0];\n", "[%d0]", "[%d0+8]",
     "not aligned"},
    {"LanesWriteTheSameWord", 1, 32, "  st.global.u32 [%d4], %r0;\n", "%d4",
     "%d1", "race: global memory"},
    {"BlocksWriteTheSameWord", 2, 32,
     "  shl.b32 %r6, %r1, 7;\n  cvt.u64.u32 %d5, %r6;\n"
     "  add.u64 %d5, %d4, %d5;\n  st.global.u32 [%d5], %r0;\n",
     "[%d5], %r0", "[%d4], %r0", "race: global memory"},
    {"BlocksReadAndWriteTheSameWord", 2, 32,
     "  ld.global.u32 %r7, [%d3];\n  shl.b32 %r6, %r1, 7;\n"
     "  cvt.u64.u32 %d5, %r6;\n  add.u64 %d5, %d4, %d5;\n"
     "  st.global.u32 [%d5], %r0;\n",
     "[%d5], %r0", "[%d3], %r0", "race: global memory"},
    {"BlockWritesWhatAnotherHasRead", 2, 32,
     "  ld.global.u32 %r7, [%d3];\n  bar.sync 0;\n"
     "  ld.global.u32 %r7, [%d3];\n  setp.eq.u32 %p1, %r1, 1;\n"
     "  @%p1 st.global.u32 [%d4], %r0;\n",
     "[%d4], %r0", "[%d3], %r0", "race: global memory"},
    // Two warps read 16 bytes. Thread 0 then writes parts of them.
    {"PartIsWrittenBeforeAllHaveRead", 1, 64,
     "  setp.eq.u32 %p0, %r0, 0;\n"
     "  @%p0 st.shared.v4.u32 [s], {1, 1, 1, 1};\n  bar.sync 0;\n"
     "  ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [s];\n"
     "  ld.shared.u32 %r7, [s+8];\n  bar.sync 0;\n"
     "  @%p0 st.shared.u32 [s], 2;\n  bar.sync 0;\n"
     "  ld.shared.u32 %r7, [s];\n  @%p0 st.shared.u32 [s+4], 3;\n",
     "  bar.sync 0;\n  @%p0 st.shared.u32 [s], 2;\n",
     "  @%p0 st.shared.u32 [s], 2;\n", "race: shared memory"},
    {"FlagWithoutFence", 2, 32, INGOT_FLAG, "  membar.gl;\n  atom", "  atom",
     "race: global memory"},
    {"FlagWithoutAtomic", 2, 32, INGOT_FLAG,
     "  atom.global.exch.b32 %r8, [%d0], 1;\n", "  st.global.u32 [%d0], 1;\n",
     "race: global memory"},
    {"ShuffleWithoutSomeLanes", 1, 32,
     "  shfl.sync.bfly.b32 %r7, %r0, 1, 31, -1;\n", "  shfl",
     "  setp.lt.u32 %p0, %r0, 16;\n  @%p0 bra DONE;\n  shfl", "lanes"},
    {"ShuffleInABranch", 1, 32,
     "  shfl.sync.bfly.b32 %r7, %r0, 1, 31, -1;\n  bar.warp.sync -1;\n",
     "  shfl", "  setp.lt.u32 %p0, %r0, 16;\n  @%p0 shfl", "deadlock"},
    {"ShuffleFromALaneOutside", 1, 32,
     "  setp.lt.u32 %p0, %r0, 16;\n"
     "  @%p0 shfl.sync.down.b32 %r7, %r0, 1, 15, 0xffff;\n",
     "1, 15, 0xffff", "1, 31, 0xffff", "does not take part"},
    {"LaneIsNotInItsMask", 1, 32, "  shfl.sync.bfly.b32 %r7, %r0, 1, 31, -1;\n",
     "-1", "0xffff", "is not in its mask"},
    {"MatrixOfHalfAWarp", 1, 32, INGOT_MATRIX, "  ldmatrix",
     "  setp.lt.u32 %p0, %r0, 16;\n  @%p0 ret;\n  ldmatrix", "matrix"},
    {"MatrixRowIsMisaligned", 1, 32, INGOT_MATRIX, "{%r22, %r23}, [%r21]",
     "{%r22, %r23}, [%r21+8]", "not aligned"},
    {"MatrixIsNotAwaited", 1, 32, INGOT_MATRIX, "  bar.warp.sync -1;\n", "",
     "shared memory"},
    {"MBarrierIsNotInitialized", 1, 64, INGOT_MBARRIER,
     "  @%p0 mbarrier.init.shared.b64 [s], 1;\n", "", "nobody wrote it"},
    {"MBarrierExpectsTooMuch", 1, 64, INGOT_MBARRIER, "[s], 1;", "[s], 2;",
     "deadlock"},
    {"MBarrierIsNotAwaited", 1, 64, INGOT_MBARRIER,
     "  mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;\n"
     "  @!%p2 bra WAIT;\n",
     "", "shared memory"},
    {"MBarrierIsInitializedTooLate", 1, 64, INGOT_MBARRIER, "  bar.sync 0;\n",
     "", "shared memory"},
    {"LoopHasNoEnd", 1, 32, "  mov.u32 %r20, 0;\n", "mov.u32 %r20, 0;\n",
     "mov.u32 %r20, 0;\nFOREVER:\n  bra FOREVER;\n", "without end"},
    {"Trap", 1, 32, "  mov.u32 %r20, 0;\n", "mov.u32 %r20, 0;", "trap;",
     "traps"},
    {"UnknownInstruction", 1, 32, "  mov.u32 %r20, 0;\n", "mov.u32 %r20, 0;",
     "wgmma.fence.sync.aligned;", "does not know 'wgmma"},
    {"UnknownModifier", 1, 32, "  add.f32 %f1, %f0, %f0;\n", "add.f32",
     "add.rz.f32", "does not know 'add.rz.f32'"},
};

class Mistakes : public testing::TestWithParam<Case> {};
} // namespace

static std::string run(const std::string &body, const Case &one,
                       uint64_t seed) {
  TestGpu gpu;
  std::vector<uint32_t> data(512), flags(512);
  const uint64_t x = gpu.upload(data), y = gpu.memory.allocate(2048);
  return gpu.run(kernelOf(body + "DONE:\n"), {one.blocks}, {one.threads},
                 {x, y}, seed);
}

/// Returns the body with the mistake. A label of the test ends the body.
static std::string plant(const Case &one) {
  std::string body = one.body;
  const size_t at = body.find(one.right);
  EXPECT_NE(at, std::string::npos) << "the case does not change its kernel";
  if (at != std::string::npos)
    body.replace(at, strlen(one.right), one.wrong);
  return body;
}

/// Removes the label DONE of the body, because the test adds it again.
static std::string withoutEnd(std::string body) {
  const std::string label = "DONE:\n";
  if (body.size() >= label.size() &&
      body.compare(body.size() - label.size(), label.size(), label) == 0)
    body.resize(body.size() - label.size());
  return body;
}

TEST_P(Mistakes, CorrectKernelHasNoReport) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    ASSERT_EQ(run(withoutEnd(GetParam().body), GetParam(), seed), "")
        << "seed " << seed;
}

TEST_P(Mistakes, MistakeIsFound) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string report =
        run(withoutEnd(plant(GetParam())), GetParam(), seed);
    ASSERT_NE(report.find(GetParam().report), std::string::npos)
        << "seed " << seed << ": '" << report << "'";
    // A report names a line, except if no thread can execute any more.
    const bool isStuck = report.find("deadlock") != std::string::npos ||
                         report.find("without end") != std::string::npos;
    ASSERT_TRUE(isStuck || report.find("PTX line") != std::string::npos)
        << report;
  }
}

INSTANTIATE_TEST_SUITE_P(Planted, Mistakes, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.name);
                         });
