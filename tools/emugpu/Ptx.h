//===- Ptx.h - a parsed PTX module ------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The statements of a PTX module as data structures, before decoding.
// Reference: NVIDIA, Parallel Thread Execution ISA, version 8.0.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_PTX_H
#define INGOT_TOOLS_EMUGPU_PTX_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emugpu {

/// The state spaces of memory. A generic address may refer to any other space.
enum class Space : uint8_t { generic, global, shared, local, constant, param };

/// The fundamental types, and types that only instructions use.
enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  tf32,
  f32,
  f64,
  f16x2,
  bf16x2
};

/// Returns the type with this name, given without its dot, or Type::none.
Type typeNamed(const std::string &name);
/// Returns the bytes of a value; 0 for Type::none and pred.
unsigned bytesOf(Type type);

/// An operand of an instruction.
struct Operand {
  enum class Kind : uint8_t {
    /// `_`: a result that is not stored.
    sink,
    /// A register. `index` is its number.
    data,
    /// A predicate register. `index` is its number.
    predicate,
    /// A constant in `value`.
    immediate,
    /// A special register. `index` is its number.
    special,
    /// Memory at the address in register `index` plus `value`, or at `value`.
    address,
    /// Memory behind the kernel's static shared memory, at the offset `value`.
    dynamicAddress,
    /// The address of dynamic shared memory, used as a number.
    dynamicShared,
    /// Several operands in braces.
    vector,
    /// An instruction. `index` is its number.
    label
  };
  Kind kind = Kind::sink;
  /// True for `!%p`.
  bool isNegated = false;
  int32_t index = -1;
  int64_t value = 0;
  std::vector<Operand> elements;
};

/// An instruction as written.
struct Statement {
  /// The parts of the opcode between dots: "add", "rn", "f32".
  std::vector<std::string> opcode;
  std::vector<Operand> operands;
  /// The predicate register that guards the instruction, or -1.
  int32_t guard = -1;
  bool isGuardNegated = false;
  unsigned line = 0;
};

struct Parameter {
  std::string name;
  unsigned offset, bytes;
};

/// A kernel.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  unsigned parameterBytes = 0;
  /// The bytes of static shared memory, and the bytes of local memory per lane.
  unsigned sharedBytes = 0, localBytes = 0;
  /// The largest number of threads in a block; 0 if it is not limited.
  unsigned maxThreads = 0;
  unsigned numRegisters = 0, numPredicates = 0;
  std::vector<Statement> code;
};

/// A variable in global or constant memory.
struct Variable {
  std::string name;
  unsigned align = 1;
  bool isConstant = false;
  /// The initial contents. Bytes beyond the end are zero.
  std::vector<uint8_t> data;
  /// The address in the emulated device. Set when the module is loaded, before
  /// the kernels are read.
  uint64_t address = 0;
};

/// A parsed module.
struct Module {
  /// The version of PTX as major * 10 + minor.
  unsigned version = 0;
  /// The number of the target: 80 for sm_80.
  unsigned target = 0;
  std::map<std::string, Kernel> kernels;
  std::map<std::string, Variable> variables;
};

/// Allocates device memory for a module's variables. `place` returns an
/// address.
class VariableHome {
public:
  virtual ~VariableHome() = default;
  virtual uint64_t place(const Variable &variable) = 0;
};

/// Reads a module from text. Returns "", or an error message with the line.
std::string readModule(const std::string &text, VariableHome &home,
                       Module &module);

/// The special registers that can be read.
enum class Special : uint8_t {
  tidX,
  tidY,
  tidZ,
  ntidX,
  ntidY,
  ntidZ,
  ctaidX,
  ctaidY,
  ctaidZ,
  nctaidX,
  nctaidY,
  nctaidZ,
  laneid,
  warpid,
  lanemaskLt,
  lanemaskLe,
  lanemaskGt,
  lanemaskGe,
  lanemaskEq,
  clock,
  clock64,
  dynamicSharedBytes,
  totalSharedBytes
};

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_PTX_H
