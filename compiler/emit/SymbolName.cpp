//===- SymbolName.cpp - names of a model's C functions --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/SymbolName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace ingot;
using namespace llvm;

static StringSet<> readReserved() {
  constexpr StringRef kNames(
#include "compiler/emit/ReservedNames.inc"
  );
  StringSet<> names;
  SmallVector<StringRef, 0> words;
  SplitString(kNames, words);
  for (StringRef word : words)
    names.insert(word);
  return names;
}

bool ingot::isTakenSymbol(StringRef symbol) {
  if (symbol == "ingot" || symbol.starts_with("ingot_"))
    return true;
  const StringSet<> reserved = readReserved();
  for (StringRef suffix :
       {"", "_create", "_create_on", "_run", "_run_async", "_wait", "_destroy"})
    if (reserved.contains((symbol + suffix).str()))
      return true;
  return false;
}

std::string ingot::symbolForFile(StringRef fileName) {
  std::string symbol;
  for (char c : sys::path::stem(fileName))
    symbol += isAlnum(c) ? c : '_';
  if (symbol.empty() || !isAlpha(symbol.front()) || isTakenSymbol(symbol))
    symbol = "model_" + symbol;
  return symbol;
}
