//===- Decode.h - from opcodes to functions ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_DECODE_H
#define INGOT_TOOLS_EMUGPU_DECODE_H

#include "tools/emugpu/Machine.h"

#include <map>

namespace emugpu {

/// Reads the parts of an opcode from left to right. If a part is not taken, the
/// instruction is unknown.
class Opcode {
public:
  explicit Opcode(const std::vector<std::string> &parts) : parts(parts) {}

  /// Takes the next part if it is `name`. Returns true if it was.
  bool take(const char *name) {
    if (at >= parts.size() || parts[at] != name)
      return false;
    ++at;
    return true;
  }
  /// Takes the next part if it is a type. Returns the type.
  Type takeType() {
    Type type = at < parts.size() ? typeNamed(parts[at]) : Type::none;
    at += type != Type::none;
    return type;
  }
  /// Takes the next part if it is in `names`. Returns its index, or -1.
  int takeOneOf(std::initializer_list<const char *> names) {
    int index = 0;
    for (const char *name : names) {
      if (take(name))
        return index;
      ++index;
    }
    return -1;
  }
  bool isAtEnd() const { return at == parts.size(); }

private:
  const std::vector<std::string> &parts;
  size_t at = 1;
};

/// Sets the function that executes an instruction. Returns false if the
/// instruction is unknown.
using Decoder = bool (*)(Opcode &opcode, Instruction &instruction);
using Decoders = std::map<std::string, Decoder>;

void addArithmetic(Decoders &decoders);
void addConversions(Decoders &decoders);
void addMemory(Decoders &decoders);
void addAtomics(Decoders &decoders);
void addBits(Decoders &decoders);
void addFunctions(Decoders &decoders);
void addControl(Decoders &decoders);
void addCollectives(Decoders &decoders);
void addBarriers(Decoders &decoders);
void addMatrices(Decoders &decoders);

/// Returns true if the operands have the given kinds. `kinds` has a letter
/// each:
/// | r  a data register, or a sink
/// | p  a predicate register, or a sink
/// | v  a value to read
/// | q  a predicate to read
/// | a  an address
/// | l  a label
/// | {  a vector
/// | i  a number
bool haveKinds(const Instruction &instruction, const char *kinds);

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_DECODE_H
