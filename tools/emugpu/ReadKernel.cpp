//===- ReadKernel.cpp - the body of a kernel ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/PtxReader.h"

#include <algorithm>

using namespace emugpu;

/// Limits on a kernel, because modules are not trusted.
static constexpr unsigned kMostRegisters = 1 << 16, kMostStatements = 1 << 22,
                          kMostNesting = 64;

static const std::map<std::string, Special> &specialRegisters() {
  static const std::map<std::string, Special> names = {
      {"%tid.x", Special::tidX},
      {"%tid.y", Special::tidY},
      {"%tid.z", Special::tidZ},
      {"%ntid.x", Special::ntidX},
      {"%ntid.y", Special::ntidY},
      {"%ntid.z", Special::ntidZ},
      {"%ctaid.x", Special::ctaidX},
      {"%ctaid.y", Special::ctaidY},
      {"%ctaid.z", Special::ctaidZ},
      {"%nctaid.x", Special::nctaidX},
      {"%nctaid.y", Special::nctaidY},
      {"%nctaid.z", Special::nctaidZ},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%lanemask_lt", Special::lanemaskLt},
      {"%lanemask_le", Special::lanemaskLe},
      {"%lanemask_gt", Special::lanemaskGt},
      {"%lanemask_ge", Special::lanemaskGe},
      {"%lanemask_eq", Special::lanemaskEq},
      {"%clock", Special::clock},
      {"%clock64", Special::clock64},
      {"%dynamic_smem_size", Special::dynamicSharedBytes},
      {"%total_smem_size", Special::totalSharedBytes}};
  return names;
}

void Reader::readBody(Kernel &kernel) {
  local.clear();
  uses.clear();
  scopes.clear();
  do {
    if (takeMark("{")) {
      if (scopes.size() == kMostNesting)
        fail("blocks are nested too deeply");
      scopes.emplace_back();
    } else if (takeMark("}")) {
      resolveLabels(kernel, scopes.back());
      scopes.pop_back();
    } else if (isMark("@")) {
      readStatement(kernel);
    } else {
      std::string first = lexer.peek().text;
      if (lexer.peek().kind != Token::word)
        fail("expected an instruction, but got '" + first + "'");
      if (first == ".reg") {
        lexer.next();
        readRegisters(kernel);
      } else if (first == ".shared" || first == ".local") {
        lexer.next();
        for (auto &[name, symbol] : readVariable(first, &kernel))
          local[name] = symbol;
      } else if (first == ".pragma") {
        skipTo(";");
      } else if (first == ".loc") {
        lexer.next();
        for (int i = 0; i < 3; ++i)
          integer(UINT32_MAX);
        if (isMark(","))
          fail("inlined locations are not supported");
      } else {
        readStatement(kernel);
      }
    }
    if (kernel.code.size() > kMostStatements)
      fail("'" + kernel.name + "' has too many instructions");
  } while (!scopes.empty());
  if (!uses.empty())
    throw Fault{uses.front().line, "unknown name '" + uses.front().name + "'"};
}

void Reader::readRegisters(Kernel &kernel) {
  std::string type = word("a type");
  if (typeNamed(type.substr(1)) == Type::none)
    fail("unknown type '" + type + "' of registers");
  const bool isPredicate = type == ".pred";
  unsigned &used = isPredicate ? kernel.numPredicates : kernel.numRegisters;
  auto declare = [&](const std::string &name) {
    if (used == kMostRegisters)
      fail("'" + kernel.name + "' has too many registers");
    scopes.back().registers[name] = {isPredicate, int32_t(used++)};
  };
  do {
    std::string name = word("a register");
    if (!takeMark("<")) {
      declare(name);
      continue;
    }
    uint64_t count = integer(kMostRegisters);
    expect(">");
    for (uint64_t i = 0; i < count; ++i)
      declare(name + std::to_string(i));
  } while (takeMark(","));
  expect(";");
}

const Scope::Register *Reader::findRegister(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->registers.find(name);
        found != scope->registers.end())
      return &found->second;
  return nullptr;
}

const Symbol *Reader::findSymbol(const std::string &name) const {
  for (const auto *table : {&local, &symbols})
    if (auto found = table->find(name); found != table->end())
      return &found->second;
  return nullptr;
}

static std::vector<std::string> splitOpcode(const std::string &text) {
  std::vector<std::string> parts;
  size_t first = 0;
  for (size_t i = 0; i <= text.size(); ++i)
    if (i == text.size() || text[i] == '.') {
      parts.push_back(text.substr(first, i - first));
      first = i + 1;
    }
  return parts;
}

void Reader::readStatement(Kernel &kernel) {
  Statement statement;
  if (takeMark("@")) {
    statement.isGuardNegated = takeMark("!");
    std::string name = word("a predicate");
    const Scope::Register *found = findRegister(name);
    if (!found || !found->isPredicate)
      fail("'" + name + "' is no predicate");
    statement.guard = found->index;
  }
  statement.line = lexer.peek().line;
  std::string first = word("an instruction");
  if (statement.guard < 0 && takeMark(":")) {
    if (!scopes.back()
             .labels.emplace(first, int32_t(kernel.code.size()))
             .second)
      fail("two labels have the name '" + first + "'");
    return;
  }
  statement.opcode = splitOpcode(first);
  if (!takeMark(";")) {
    do {
      statement.operands.push_back(readOperand(kernel));
      // `%p|%q`: two predicates, or a value and a predicate.
      if (takeMark("|"))
        statement.operands.push_back(readOperand(kernel));
    } while (takeMark(","));
    expect(";");
  }
  kernel.code.push_back(std::move(statement));
}

Operand Reader::namedOperand(Kernel &kernel, const std::string &name) {
  Operand operand;
  if (name == "_")
    return operand;
  if (const Scope::Register *found = findRegister(name)) {
    operand.kind =
        found->isPredicate ? Operand::Kind::predicate : Operand::Kind::data;
    operand.index = found->index;
    return operand;
  }
  if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::immediate;
    operand.value = 32;
    return operand;
  }
  if (name[0] == '%') {
    auto found = specialRegisters().find(name);
    if (found == specialRegisters().end())
      fail("unknown register '" + name + "'");
    operand.kind = Operand::Kind::special;
    operand.index = int32_t(found->second);
    return operand;
  }
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.name == name) {
      operand.kind = Operand::Kind::immediate;
      operand.value = parameter.offset;
      return operand;
    }
  if (const Symbol *symbol = findSymbol(name)) {
    operand.kind = symbol->isDynamic ? Operand::Kind::dynamicShared
                                     : Operand::Kind::immediate;
    operand.value = int64_t(symbol->address);
    return operand;
  }
  operand.kind = Operand::Kind::label;
  uses.push_back(
      {kernel.code.size(), 0, scopes.size(), name, lexer.peek().line});
  return operand;
}

Operand Reader::readAddress(Kernel &kernel) {
  Operand operand;
  operand.kind = Operand::Kind::address;
  if (lexer.peek().kind == Token::number) {
    operand.value = int64_t(integer(UINT64_MAX));
  } else {
    Operand base = namedOperand(kernel, word("an address"));
    switch (base.kind) {
    case Operand::Kind::data:
      operand.index = base.index;
      break;
    case Operand::Kind::immediate:
      operand.value = base.value;
      break;
    case Operand::Kind::dynamicShared:
      operand.kind = Operand::Kind::dynamicAddress;
      break;
    default:
      fail("an address is no register and no variable");
    }
  }
  if (takeMark("+"))
    operand.value += int64_t(integer(UINT64_MAX));
  else if (isMark("-"))
    operand.value += int64_t(integer(UINT64_MAX));
  expect("]");
  return operand;
}

Operand Reader::readOperand(Kernel &kernel) {
  if (takeMark("["))
    return readAddress(kernel);
  if (takeMark("{")) {
    Operand vector;
    vector.kind = Operand::Kind::vector;
    do {
      if (isMark("{") || isMark("["))
        fail("an operand in braces is a register or a number");
      vector.elements.push_back(readOperand(kernel));
      if (vector.elements.back().kind == Operand::Kind::label)
        fail("unknown name in braces");
    } while (takeMark(","));
    expect("}");
    return vector;
  }
  if (takeMark("!")) {
    Operand operand = namedOperand(kernel, word("a predicate"));
    if (operand.kind != Operand::Kind::predicate)
      fail("'!' is for predicates");
    operand.isNegated = true;
    return operand;
  }
  if (lexer.peek().kind == Token::number || isMark("-")) {
    Operand operand;
    operand.kind = Operand::Kind::immediate;
    operand.value = int64_t(integer(UINT64_MAX));
    return operand;
  }
  return namedOperand(kernel, word("an operand"));
}

/// Resolves the uses of labels in `scope` at its end.
void Reader::resolveLabels(Kernel &kernel, const Scope &scope) {
  std::vector<LabelUse> left;
  for (LabelUse &use : uses) {
    auto found = use.depth >= scopes.size() ? scope.labels.find(use.name)
                                            : scope.labels.end();
    if (found == scope.labels.end()) {
      use.depth = std::min(use.depth, scopes.size() - 1);
      left.push_back(use);
      continue;
    }
    for (Operand &operand : kernel.code[use.statement].operands)
      if (operand.kind == Operand::Kind::label)
        operand.index = found->second;
  }
  uses = std::move(left);
}
