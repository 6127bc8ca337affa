//===- PtxReader.h - reads PTX text -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_PTXREADER_H
#define INGOT_TOOLS_EMUGPU_PTXREADER_H

#include "tools/emugpu/Ptx.h"

namespace emugpu {

/// An error in the text. readModule returns it as a message.
struct Fault {
  unsigned line;
  std::string text;
};

struct Token {
  enum Kind { end, word, number, mark } kind = end;
  /// An identifier with its dots, `%` and `$`, a number as written, or one
  /// character of punctuation.
  std::string text;
  unsigned line = 0;
};

class Lexer {
public:
  explicit Lexer(const std::string &text) : text(text) { advance(); }

  const Token &peek() const { return current; }
  Token next() {
    Token token = current;
    advance();
    return token;
  }

private:
  void skipSpace();
  void advance();

  const std::string &text;
  size_t at = 0;
  unsigned line = 1;
  Token current;
};

/// A block in braces, and the names that it declares.
struct Scope {
  struct Register {
    bool isPredicate;
    int32_t index;
  };
  std::map<std::string, Register> registers;
  std::map<std::string, int32_t> labels;
};

/// A name of a variable in memory.
struct Symbol {
  Space space;
  uint64_t address;
  /// True for the external array of shared memory.
  bool isDynamic = false;
};

class Reader {
public:
  Reader(const std::string &text, VariableHome &home, Module &module)
      : lexer(text), home(home), module(module) {}

  void readAll();

private:
  [[noreturn]] void fail(const std::string &message) const {
    throw Fault{lexer.peek().line, message};
  }
  bool isMark(const char *mark) const {
    return lexer.peek().kind == Token::mark && lexer.peek().text == mark;
  }
  bool takeMark(const char *mark) {
    if (!isMark(mark))
      return false;
    lexer.next();
    return true;
  }
  void expect(const char *mark) {
    if (!takeMark(mark))
      fail(std::string("expected '") + mark + "', but got '" +
           lexer.peek().text + "'");
  }
  std::string word(const char *meaning) {
    if (lexer.peek().kind != Token::word)
      fail(std::string("expected ") + meaning + ", but got '" +
           lexer.peek().text + "'");
    return lexer.next().text;
  }
  uint64_t integer(uint64_t most);
  void skipTo(const char *mark);
  std::map<std::string, Symbol> readVariable(const std::string &first,
                                             Kernel *kernel);
  void readInitializer(Type type, std::vector<uint8_t> &data);
  void readParameters(Kernel &kernel);
  void readKernel();
  void readBody(Kernel &kernel);
  void readRegisters(Kernel &kernel);
  void readStatement(Kernel &kernel);
  Operand readOperand(Kernel &kernel);
  Operand readAddress(Kernel &kernel);
  Operand namedOperand(Kernel &kernel, const std::string &name);
  const Scope::Register *findRegister(const std::string &name) const;
  const Symbol *findSymbol(const std::string &name) const;
  void resolveLabels(Kernel &kernel, const Scope &scope);

  Lexer lexer;
  VariableHome &home;
  Module &module;
  std::map<std::string, Symbol> symbols, local;
  std::vector<Scope> scopes;
  /// A use of a label that is not resolved yet.
  struct LabelUse {
    size_t statement, operand, depth;
    std::string name;
    unsigned line;
  };
  std::vector<LabelUse> uses;
};

/// Parses an integer or the bits of a float. Returns false if it is malformed.
bool parseNumber(const std::string &text, uint64_t &value);

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_PTXREADER_H
