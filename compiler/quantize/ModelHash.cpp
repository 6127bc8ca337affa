//===- ModelHash.cpp - which model a calibration is of --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/ModelHash.h"

#include "base/InputFile.h"
#include "runtime/format/Sha256.h"

#include <algorithm>
#include <vector>

using namespace ingot;

std::string quantize::hashModel(const std::string &path, std::string &sha256) {
  InputFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    return problem;
  rt::Sha256 hash;
  std::vector<char> piece(1 << 20);
  for (uint64_t left = file.size(); left;) {
    const uint64_t bytes = std::min<uint64_t>(left, piece.size());
    problem = file.read(piece.data(), bytes);
    if (!problem.empty())
      return problem;
    hash.update(piece.data(), bytes);
    left -= bytes;
  }
  uint8_t digest[32];
  hash.finish(digest);
  sha256.clear();
  for (uint8_t byte : digest)
    for (int shift : {4, 0})
      sha256 += "0123456789abcdef"[byte >> shift & 15];
  return "";
}
