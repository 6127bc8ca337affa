//===- ModelHash.cpp - hash of a calibrated model -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/ModelHash.h"

#include "base/InputFile.h"
#include "runtime/format/Sha256.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <vector>

using namespace ingot;

static std::string finish(rt::Sha256 &hash) {
  uint8_t digest[32];
  hash.finish(digest);
  return llvm::toHex(digest, /*LowerCase=*/true);
}

static std::string hashFile(const std::string &path, std::string &sha256) {
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
  sha256 = finish(hash);
  return "";
}

std::string quantize::hashModel(const std::string &path,
                                std::vector<std::string> locations,
                                std::string &sha256) {
  std::string problem = hashFile(path, sha256);
  if (!problem.empty() || locations.empty())
    return problem;
  std::sort(locations.begin(), locations.end());
  rt::Sha256 all;
  all.update(sha256.data(), sha256.size());
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  for (const std::string &location : locations) {
    std::string digits;
    problem = hashFile(folder + location, digits);
    if (!problem.empty())
      return location + ": " + problem;
    // Includes the terminating NUL, which separates the name from the digest.
    all.update(location.c_str(), location.size() + 1);
    all.update(digits.data(), digits.size());
  }
  sha256 = finish(all);
  return "";
}
