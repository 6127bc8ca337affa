//===- TestGpu.h - runs a kernel on the emulated GPU ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_EMUGPU_TESTGPU_H
#define INGOT_TEST_UNIT_EMUGPU_TESTGPU_H

#include "tools/emugpu/Machine.h"

#include <cstring>
#include <string>
#include <vector>

namespace emugpu::test {

/// An emulated GPU with the memory that tests give to kernels.
class TestGpu : public VariableHome {
public:
  uint64_t place(const Variable &variable) override {
    return upload(variable.data, variable.isConstant);
  }

  template <typename T>
  uint64_t upload(const std::vector<T> &values, bool isConstant = false) {
    const uint64_t bytes = values.size() * sizeof(T);
    const uint64_t address = memory.allocate(bytes, isConstant);
    Memory &target = *memory.find(address, bytes)->memory;
    memcpy(target.data(), values.data(), bytes);
    target.forEachCell(0, bytes, [](Cell &cell) { cell.isDefined = true; });
    return address;
  }

  template <typename T>
  std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    memcpy(values.data(),
           memory.find(address, count * sizeof(T))->memory->data(),
           count * sizeof(T));
    return values;
  }

  /// Launches kernel `k` of `text` with pointers as parameters. Returns "" or
  /// the message of a fault.
  std::string run(const std::string &text, Dimensions grid, Dimensions block,
                  const std::vector<uint64_t> &pointers, uint64_t seed,
                  unsigned dynamicShared = 0,
                  uint64_t mostInstructions = 1 << 21) {
    Module module;
    std::string error = readModule(text, *this, module);
    if (!error.empty())
      return error;
    Program program;
    error = decode(module.kernels.at("k"), module.target, program);
    if (!error.empty())
      return error;
    std::vector<uint8_t> parameters(pointers.size() * 8);
    memcpy(parameters.data(), pointers.data(), parameters.size());
    LaunchOptions options;
    options.seed = seed;
    options.mostInstructions = mostInstructions;
    try {
      counts = launch(program, grid, block, dynamicShared, parameters, memory,
                      options, nextSegment, [](Segment) { return true; });
    } catch (const KernelFault &fault) {
      return fault.text;
    }
    return "";
  }

  DeviceMemory memory{1 << 28};
  LaunchCounts counts;

private:
  Segment nextSegment = 1;
};

/// Returns a module with kernel `k`, which has two pointers and the registers
/// that tests use. On entry, these registers are set:
/// | %r0       the thread
/// | %r1       the block
/// | %r5       the address of the thread's word in shared memory `s`
/// | %d3, %d4  the addresses of its words behind the pointers
inline std::string kernelOf(const std::string &body) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b32 %r<64>;
  .reg .b64 %d<32>;
  .reg .f32 %f<32>;
  .reg .b16 %h<8>;
  .reg .pred %p<8>;
  .shared .align 16 .b8 s[4096];
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  shl.b32 %r3, %r0, 2;
  mov.u32 %r4, s;
  add.u32 %r5, %r4, %r3;
  cvt.u64.u32 %d2, %r3;
  add.u64 %d3, %d0, %d2;
  add.u64 %d4, %d1, %d2;
)" + body +
         "\n  ret;\n}\n";
}

} // namespace emugpu::test

#endif // INGOT_TEST_UNIT_EMUGPU_TESTGPU_H
