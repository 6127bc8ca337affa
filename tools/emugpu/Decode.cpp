//===- Decode.cpp - from opcodes to functions -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"

#include <cstring>

using namespace emugpu;

static bool isKind(const Operand &operand, char kind) {
  using Kind = Operand::Kind;
  switch (kind) {
  case 'r':
    return operand.kind == Kind::data || operand.kind == Kind::sink;
  case 'p':
    return operand.kind == Kind::predicate || operand.kind == Kind::sink;
  case 'q':
    return operand.kind == Kind::predicate || operand.kind == Kind::immediate;
  case 'v':
    return operand.kind == Kind::data || operand.kind == Kind::immediate ||
           operand.kind == Kind::special || operand.kind == Kind::dynamicShared;
  case 'a':
    return operand.kind == Kind::address ||
           operand.kind == Kind::dynamicAddress;
  case 'l':
    return operand.kind == Kind::label;
  case '{':
    return operand.kind == Kind::vector;
  case 'i':
    return operand.kind == Kind::immediate;
  }
  return false;
}

bool emugpu::haveKinds(const Instruction &instruction, const char *kinds) {
  if (instruction.numOperands() != strlen(kinds))
    return false;
  for (size_t i = 0; kinds[i]; ++i)
    if (!isKind(instruction.operand(i), kinds[i]))
      return false;
  return true;
}

static const Decoders &allDecoders() {
  static const Decoders decoders = [] {
    Decoders all;
    addArithmetic(all);
    addConversions(all);
    addBits(all);
    addFunctions(all);
    addMemory(all);
    addAtomics(all);
    addControl(all);
    addCollectives(all);
    addBarriers(all);
    addMatrices(all);
    return all;
  }();
  return decoders;
}

std::string emugpu::decode(const Kernel &kernel, unsigned target,
                           Program &program) {
  program.kernel = &kernel;
  for (const Statement &statement : kernel.code) {
    Instruction instruction;
    instruction.source = &statement;
    Opcode opcode(statement.opcode);
    auto found = allDecoders().find(statement.opcode.front());
    if (found == allDecoders().end() || !found->second(opcode, instruction) ||
        !opcode.isAtEnd() || !instruction.execute) {
      std::string name;
      for (const std::string &part : statement.opcode)
        name += (name.empty() ? "" : ".") + part;
      return "PTX line " + std::to_string(statement.line) +
             ": the emulated GPU does not know '" + name +
             "' with these operands";
    }
    program.code.push_back(instruction);
  }
  (void)target;
  return "";
}
