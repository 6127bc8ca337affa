//===- ReadPtx.cpp - from PTX text to a module ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/PtxReader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace emugpu;

/// The most bytes of a variable, because modules are not trusted.
static constexpr uint64_t kMostVariableBytes = uint64_t(1) << 31;

Type emugpu::typeNamed(const std::string &name) {
  static const std::map<std::string, Type> types = {
      {"pred", Type::pred}, {"b8", Type::b8},       {"b16", Type::b16},
      {"b32", Type::b32},   {"b64", Type::b64},     {"b128", Type::b128},
      {"u8", Type::u8},     {"u16", Type::u16},     {"u32", Type::u32},
      {"u64", Type::u64},   {"s8", Type::s8},       {"s16", Type::s16},
      {"s32", Type::s32},   {"s64", Type::s64},     {"f16", Type::f16},
      {"bf16", Type::bf16}, {"tf32", Type::tf32},   {"f32", Type::f32},
      {"f64", Type::f64},   {"f16x2", Type::f16x2}, {"bf16x2", Type::bf16x2}};
  auto found = types.find(name);
  return found == types.end() ? Type::none : found->second;
}

unsigned emugpu::bytesOf(Type type) {
  switch (type) {
  case Type::none:
  case Type::pred:
    return 0;
  case Type::b8:
  case Type::u8:
  case Type::s8:
    return 1;
  case Type::b16:
  case Type::u16:
  case Type::s16:
  case Type::f16:
  case Type::bf16:
    return 2;
  case Type::b64:
  case Type::u64:
  case Type::s64:
  case Type::f64:
    return 8;
  case Type::b128:
    return 16;
  default:
    return 4;
  }
}

uint64_t Reader::integer(uint64_t most) {
  bool isNegative = takeMark("-");
  uint64_t value;
  if (lexer.peek().kind != Token::number ||
      !parseNumber(lexer.peek().text, value))
    fail("expected a number, but got '" + lexer.peek().text + "'");
  if (!isNegative && value > most)
    fail("the number " + lexer.peek().text + " is above the limit of " +
         std::to_string(most));
  lexer.next();
  return isNegative ? -value : value;
}

void Reader::skipTo(const char *mark) {
  while (!isMark(mark)) {
    if (lexer.peek().kind == Token::end)
      fail(std::string("expected '") + mark + "' before the end of the text");
    lexer.next();
  }
  lexer.next();
}

void Reader::readAll() {
  for (;;) {
    if (lexer.peek().kind == Token::end)
      return;
    std::string first = word("a directive");
    if (first == ".version") {
      std::string number = lexer.next().text; // 8.0 is one token
      unsigned major = 0, minor = 0;
      if (sscanf(number.c_str(), "%u.%u", &major, &minor) != 2)
        fail("expected a version such as 8.0, but got '" + number + "'");
      module.version = major * 10 + minor;
    } else if (first == ".target") {
      std::string name = word("a target");
      unsigned target = 0;
      if (sscanf(name.c_str(), "sm_%u", &target) != 1)
        fail("expected a target such as sm_80, but got '" + name + "'");
      module.target = target;
      while (takeMark(","))
        word("a target option");
    } else if (first == ".address_size") {
      if (integer(64) != 64)
        fail("only addresses of 64 bits are supported");
    } else if (first == ".file") {
      integer(UINT32_MAX);
      word("a file name");
    } else if (first == ".section") {
      return; // debug information, which is always at the end
    } else if (first == ".visible" || first == ".weak" || first == ".extern" ||
               first == ".common") {
      bool isExternal = first == ".extern";
      std::string second = word("a directive");
      if (second == ".entry")
        readKernel();
      else
        for (auto &[name, symbol] : readVariable(second, nullptr)) {
          Symbol found = symbol;
          found.isDynamic = isExternal && symbol.space == Space::shared;
          if (isExternal && !found.isDynamic)
            fail("'" + name + "' is external, but only shared memory may be");
          symbols[name] = found;
        }
    } else if (first == ".entry") {
      readKernel();
    } else {
      for (auto &[name, symbol] : readVariable(first, nullptr))
        symbols[name] = symbol;
    }
  }
}

/// Returns the contents of braces as bytes. Each element has type `type`.
void Reader::readInitializer(Type type, std::vector<uint8_t> &data) {
  size_t offset = 0;
  const unsigned bytes = bytesOf(type);
  auto readOne = [&] {
    uint64_t value = integer(UINT64_MAX);
    if (offset + bytes > data.size())
      fail("there are more initial values than elements");
    memcpy(data.data() + offset, &value, std::min(bytes, 8u));
    offset += bytes;
  };
  if (!takeMark("{"))
    return readOne();
  if (takeMark("}"))
    return;
  do
    readOne();
  while (takeMark(","));
  expect("}");
}

/// Reads the rest of a variable's declaration, which begins with `first`. Adds
/// the size of shared and local memory to `kernel`.
std::map<std::string, Symbol> Reader::readVariable(const std::string &first,
                                                   Kernel *kernel) {
  static const std::map<std::string, Space> spaces = {
      {".global", Space::global},
      {".const", Space::constant},
      {".shared", Space::shared},
      {".local", Space::local}};
  auto space = spaces.find(first);
  if (first == ".func")
    fail("functions are not supported: inline them");
  if (space == spaces.end())
    fail("unknown directive '" + first + "'");
  Variable variable;
  variable.isConstant = space->second == Space::constant;
  Type type = Type::none;
  while (lexer.peek().kind == Token::word && lexer.peek().text[0] == '.') {
    std::string attribute = lexer.next().text;
    if (attribute == ".align")
      variable.align = unsigned(integer(1 << 12));
    else if (typeNamed(attribute.substr(1)) != Type::none)
      type = typeNamed(attribute.substr(1));
    else
      fail("unknown attribute '" + attribute + "' of a variable");
  }
  if (!bytesOf(type))
    fail("a variable has no type");
  if (!variable.align || (variable.align & (variable.align - 1)))
    fail("an alignment is no power of two");
  variable.align = std::max(variable.align, bytesOf(type));
  variable.name = word("a name");
  uint64_t count = 1;
  bool isOpen = false;
  while (takeMark("[")) {
    if (takeMark("]")) {
      isOpen = true;
      continue;
    }
    count *= integer(kMostVariableBytes);
    if (count > kMostVariableBytes)
      fail("'" + variable.name + "' is too large");
    expect("]");
  }
  const uint64_t bytes = isOpen ? 0 : count * bytesOf(type);
  if (bytes > kMostVariableBytes)
    fail("'" + variable.name + "' is too large");
  Symbol symbol{space->second, 0};
  auto reserve = [&](unsigned &used) {
    symbol.address =
        (used + variable.align - 1) / variable.align * uint64_t(variable.align);
    if (symbol.address + bytes > (1 << 20))
      fail("'" + variable.name + "' exceeds the memory of a block or thread");
    used = unsigned(symbol.address + bytes);
  };
  if (space->second == Space::shared || space->second == Space::local) {
    if (kernel)
      reserve(space->second == Space::shared ? kernel->sharedBytes
                                             : kernel->localBytes);
    else if (!isOpen)
      fail("'" + variable.name +
           "' is shared by all kernels: declare it inside of one");
  } else {
    variable.data.resize(bytes);
    if (takeMark("="))
      readInitializer(type, variable.data);
    symbol.address = variable.address = home.place(variable);
    module.variables[variable.name] = variable;
  }
  expect(";");
  return {{variable.name, symbol}};
}

void Reader::readParameters(Kernel &kernel) {
  if (takeMark(")"))
    return;
  do {
    if (word("a parameter") != ".param")
      fail("expected .param");
    unsigned align = 0;
    Type type = Type::none;
    bool isPointer = false;
    while (lexer.peek().kind == Token::word && lexer.peek().text[0] == '.') {
      std::string attribute = lexer.next().text;
      if (attribute == ".ptr") {
        isPointer = true;
      } else if (attribute == ".align") {
        // After .ptr, this is the alignment of the memory that the parameter
        // points to.
        unsigned given = unsigned(integer(1 << 12));
        align = isPointer ? align : given;
      } else if (typeNamed(attribute.substr(1)) != Type::none) {
        type = typeNamed(attribute.substr(1));
      } else if (attribute != ".global" && attribute != ".shared" &&
                 attribute != ".const" && attribute != ".local") {
        fail("unknown attribute '" + attribute + "' of a parameter");
      }
    }
    if (!bytesOf(type))
      fail("a parameter has no type");
    Parameter parameter{word("a name"), 0, bytesOf(type)};
    if (takeMark("[")) {
      parameter.bytes *= unsigned(integer(4096));
      expect("]");
    }
    align = std::max(align, bytesOf(type));
    parameter.offset = (kernel.parameterBytes + align - 1) / align * align;
    kernel.parameterBytes = parameter.offset + parameter.bytes;
    if (kernel.parameterBytes > 4096)
      fail("the parameters of '" + kernel.name + "' exceed 4096 bytes");
    kernel.parameters.push_back(parameter);
  } while (takeMark(","));
  expect(")");
}

void Reader::readKernel() {
  Kernel kernel;
  kernel.name = word("a name");
  if (module.kernels.count(kernel.name))
    fail("two kernels have the name '" + kernel.name + "'");
  if (takeMark("("))
    readParameters(kernel);
  while (!isMark("{")) {
    std::string attribute = word("an attribute of a kernel");
    if (attribute != ".maxntid" && attribute != ".reqntid" &&
        attribute != ".minnctapersm" && attribute != ".maxnreg" &&
        attribute != ".noreturn")
      fail("unknown attribute '" + attribute + "' of a kernel");
    uint64_t product = 1;
    if (attribute != ".noreturn")
      do
        product *= integer(1024);
      while (takeMark(","));
    if (attribute == ".maxntid" || attribute == ".reqntid")
      kernel.maxThreads = unsigned(product);
  }
  readBody(kernel);
  module.kernels.emplace(kernel.name, std::move(kernel));
}

std::string emugpu::readModule(const std::string &text, VariableHome &home,
                               Module &module) {
  try {
    Reader(text, home, module).readAll();
  } catch (const Fault &fault) {
    return "PTX line " + std::to_string(fault.line) + ": " + fault.text;
  }
  if (!module.version || !module.target)
    return "PTX line 1: .version and .target are missing";
  return "";
}
