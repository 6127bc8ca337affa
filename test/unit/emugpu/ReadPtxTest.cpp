//===- ReadPtxTest.cpp - PTX text that is right, and that is not ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/emugpu/TestGpu.h"

#include <gtest/gtest.h>

using namespace emugpu;
using namespace emugpu::test;

static std::string errorOf(const std::string &text) {
  TestGpu gpu;
  Module module;
  return readModule(text, gpu, module);
}

static const std::string kHead =
    ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(ReadPtx, Module) {
  TestGpu gpu;
  Module module;
  ASSERT_EQ(readModule(kHead + R"(
// A comment.
.global .align 4 .u32 table[4] = {1, 2, 0x3};
.const .f32 one = 0f3F800000;
.visible .entry k(
  .param .u64 .ptr .global .align 16 k_param_0,
  .param .u32 k_param_1,
  .param .align 8 .b8 k_param_2[12]
)
.reqntid 128, 1, 1
{
  .reg .pred %p<2>;
  .reg .b32 a, b;
  .shared .align 16 .b8 tile[100];
  .shared .u32 last;
$L__BB0_0: /* a label */
  { .reg .b32 a; mov.u32 a, 1; }
  @!%p1 bra $L__BB0_0;
  ret;
}
)",
                       gpu, module),
            "");
  EXPECT_EQ(module.version, 80u);
  EXPECT_EQ(module.target, 80u);
  EXPECT_EQ(gpu.download<uint32_t>(module.variables.at("table").address, 4),
            (std::vector<uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(gpu.download<float>(module.variables.at("one").address, 1)[0],
            1.0f);
  const Kernel &kernel = module.kernels.at("k");
  EXPECT_EQ(kernel.maxThreads, 128u);
  EXPECT_EQ(kernel.sharedBytes, 104u);
  ASSERT_EQ(kernel.parameters.size(), 3u);
  EXPECT_EQ(kernel.parameters[1].offset, 8u);
  EXPECT_EQ(kernel.parameters[2].offset, 16u);
  EXPECT_EQ(kernel.parameterBytes, 28u);
  EXPECT_EQ(kernel.numRegisters, 3u);
  ASSERT_EQ(kernel.code.size(), 3u);
  EXPECT_TRUE(kernel.code[1].isGuardNegated);
  EXPECT_EQ(kernel.code[1].operands[0].index, 0);
  EXPECT_EQ(kernel.code[1].line, 21u);
}

TEST(ReadPtx, Errors) {
  auto has = [](const std::string &text, const char *part) {
    const std::string error = errorOf(text);
    EXPECT_NE(error.find(part), std::string::npos)
        << "'" << error << "' for " << text;
    EXPECT_EQ(error.rfind("PTX line ", 0), 0u) << error;
  };
  auto inKernel = [](const std::string &body) {
    return kHead + ".entry k() {\n .reg .b32 %r<4>; .reg .pred %p<2>;\n" +
           body + "\n}";
  };
  has("", "missing");
  has(".version x", "expected a version");
  has(".version 8.0\n.target gfx90", "expected a target");
  has(kHead + ".address_size 32", "only addresses of 64 bits");
  has(kHead + ".func f() {}", "functions are not supported");
  has(kHead + ".global .u32 a[99999999999];", "limit");
  has(kHead + ".global .u32 a[2] = {1, 2, 3};", "more initial values");
  has(kHead + ".global .align 3 .u32 a;", "power of two");
  has(kHead + ".entry k() {", "expected an instruction");
  has(kHead + ".entry k() {}\n.entry k() {}", "two kernels");
  has(inKernel("mov.u32 %r9, 1;"), "unknown register '%r9'");
  has(inKernel("bra NOWHERE;"), "unknown name 'NOWHERE'");
  has(inKernel("A: A: ret;"), "two labels");
  has(inKernel("@%r1 ret;"), "is no predicate");
  has(inKernel("ld.global.u32 %r1, [%p1];"), "is no register");
  has(inKernel("mov.u32 %r1, 1"), "expected ';'");
  has(inKernel("mov.u32 %r1, {{{{1}}}};"), "in braces");
  has(inKernel("mov.u32 %r1, 0f12;"), "expected a number");
  has(inKernel(".reg .b32 %q<99999999>;"), "limit");
  has(inKernel(".shared .b8 big[2000000];"), "exceeds the memory");
  has(inKernel(std::string(1000, '{')), "nested too deeply");
}

/// Truncates a module at each byte, and changes each byte. The reader must
/// return a message or a module, and never end the process.
TEST(ReadPtx, Damage) {
  const std::string text = kernelOf("  bar.sync 0;\n  ld.global.v4.u32 {%r8, "
                                    "%r9, %r10, %r11}, [%d0+16];\n");
  for (size_t i = 0; i < text.size(); ++i) {
    errorOf(text.substr(0, i));
    for (char c : {'\0', '{', '}', '%', '9', '"', '.', ';', '[', '-'}) {
      std::string changed = text;
      changed[i] = c;
      TestGpu gpu;
      Module module;
      Program program;
      if (readModule(changed, gpu, module).empty() && module.kernels.count("k"))
        decode(module.kernels.at("k"), module.target, program);
    }
  }
}
