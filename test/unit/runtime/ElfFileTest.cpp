//===- ElfFileTest.cpp - damaged files ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/ElfFile.h"

#include <elf.h>
#include <fstream>
#include <iterator>
#include <random>
#include <string.h>
#include <unistd.h>

using namespace ingot::test;
using namespace ingot::rt;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Copies the image into a buffer of exactly its size, so that ASan sees each
/// read beyond it.
ingot_status check(const std::string &image, std::string *message = nullptr) {
  std::vector<unsigned char> bytes(image.begin(), image.end());
  bytes.shrink_to_fit();
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status =
      checkElfImage(bytes.data(), bytes.size(), "m.so", &error);
  if (message)
    *message = error.message;
  return status;
}

TEST(ElfFile, Whole) {
  EXPECT_EQ(check(readFile(artifactPath("static"))), INGOT_OK);
}

TEST(ElfFile, TruncatedAnywhere) {
  std::string image = readFile(artifactPath("static"));
  for (size_t size = 0; size < image.size(); ++size) {
    std::string message;
    ASSERT_EQ(check(image.substr(0, size), &message), INGOT_BAD_ARTIFACT)
        << size;
    expectOneLine(message);
  }
}

TEST(ElfFile, TruncatedFileGivesAMessageFromLoad) {
  std::string image = readFile(artifactPath("static"));
  char path[] = "/tmp/ingot-test-XXXXXX";
  close(mkstemp(path));
  for (size_t size : {size_t(0), size_t(3), size_t(40), size_t(200),
                      image.size() / 2, image.size() - 1}) {
    std::ofstream(path, std::ios::binary) << image.substr(0, size);
    expectLoadFails(path, INGOT_BAD_ARTIFACT, path);
  }
  remove(path);
}

TEST(ElfFile, RandomBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string image(random() % 400, 0);
    for (char &byte : image)
      byte = char(random());
    EXPECT_EQ(check(image), INGOT_BAD_ARTIFACT);
  }
}

TEST(ElfFile, DamagedHeadersNeverReadBeyondTheEnd) {
  std::string image = readFile(artifactPath("static"));
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = image;
    for (int k = 0; k < 4; ++k)
      damaged[random() % 700] = char(random());
    check(damaged); // Both answers are allowed, but not reading outside.
  }
}

TEST(ElfFile, OtherMachine) {
  std::string image = readFile(artifactPath("static")), message;
  auto *header = reinterpret_cast<Elf64_Ehdr *>(image.data());
  header->e_machine = EM_RISCV;
  EXPECT_EQ(check(image, &message), INGOT_BAD_ARTIFACT);
  EXPECT_NE(message.find("another kind of machine"), std::string::npos);
  header->e_machine = EM_X86_64;
  header->e_type = ET_EXEC;
  EXPECT_EQ(check(image, &message), INGOT_BAD_ARTIFACT);
  EXPECT_NE(message.find("not a shared object"), std::string::npos) << message;
}

} // namespace
