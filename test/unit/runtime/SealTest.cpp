//===- SealTest.cpp - damaged files and tables --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/Artifact.h"
#include "runtime/core/ElfFile.h"
#include "runtime/format/ElfImage.h"
#include "runtime/format/Seal.h"
#include "runtime/format/XxHash64.h"

#include <fstream>
#include <iterator>
#include <random>
#include <string.h>
#include <sys/mman.h>

using namespace ingot::test;
using namespace ingot::rt;

namespace {

/// The test model with a seal. The second half of the bytes behind the ELF
/// header in its first segment serves as weights.
struct Sealed {
  std::string bytes;
  uint64_t weightsAt, weightsBytes;

  Sealed() {
    std::ifstream in(artifactPath("sealed"), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    ElfImage image = view();
    Elf64_Phdr first = {};
    for (unsigned i = 0; i < image.numSegments() && !first.p_filesz; ++i)
      if (image.segment(i).p_type == PT_LOAD)
        first = image.segment(i);
    EXPECT_EQ(first.p_offset, 0u);
    weightsBytes = first.p_filesz / 2;
    weightsAt = first.p_filesz - weightsBytes;
    XxHash64 hash;
    hash.update(bytes.data() + weightsAt, weightsBytes);
    EXPECT_TRUE(makeSeal(reinterpret_cast<unsigned char *>(bytes.data()),
                         bytes.size(), first.p_vaddr + weightsAt, weightsBytes,
                         hash.digest()));
  }
  ElfImage view() const {
    return {reinterpret_cast<const unsigned char *>(bytes.data()),
            bytes.size()};
  }
};

/// Copies the image into a buffer of exactly its size, so that ASan sees each
/// read beyond it.
ingot_status check(const std::string &image, uint32_t flags,
                   std::string *message = nullptr) {
  std::vector<unsigned char> bytes(image.begin(), image.end());
  bytes.shrink_to_fit();
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status =
      checkElfImage(bytes.data(), bytes.size(), "m.so", &error);
  if (!status)
    status = checkSeal(bytes.data(), bytes.size(), "m.so", flags, &error);
  if (status)
    expectOneLine(error.message);
  if (message)
    *message = error.message;
  return status;
}

TEST(Seal, Whole) {
  Sealed sealed;
  for (uint32_t flags : {0u, uint32_t(INGOT_MODEL_VERIFY),
                         uint32_t(INGOT_MODEL_TRUST_FILE)})
    EXPECT_EQ(check(sealed.bytes, flags), INGOT_OK);
}

TEST(Seal, FilesWithoutOne) {
  std::ifstream in(artifactPath("static"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {}), message;
  EXPECT_EQ(check(bytes, 0), INGOT_OK);
  EXPECT_EQ(check(bytes, INGOT_MODEL_VERIFY, &message), INGOT_BAD_ARTIFACT);
  EXPECT_EQ(message, "'m.so' has no checksums to verify; compile it again");
}

/// Changes every mapped byte, and sets every page to zeros. Each change is
/// found, and unmapped bytes do not matter.
TEST(Seal, EveryByteCounts) {
  Sealed sealed;
  ElfImage image = sealed.view();
  std::vector<char> isMapped(sealed.bytes.size());
  for (unsigned i = 0; i < image.numSegments(); ++i) {
    Elf64_Phdr segment = image.segment(i);
    if (segment.p_type == PT_LOAD)
      std::fill_n(isMapped.begin() + long(segment.p_offset), segment.p_filesz,
                  1);
  }
  std::fill_n(isMapped.begin() + offsetof(Elf64_Ehdr, e_shoff), 8, 0);
  std::fill(isMapped.begin() + offsetof(Elf64_Ehdr, e_shentsize),
            isMapped.begin() + sizeof(Elf64_Ehdr), 0);
  // A larger struct_size would be a newer seal. Nobody reads the field behind
  // it.
  ingot_abi_seal seal;
  uint64_t sealAt;
  ASSERT_TRUE(findSeal(image, seal, sealAt));
  int found = 0, let = 0;
  for (size_t i = 0; i < sealed.bytes.size(); ++i) {
    std::string damaged = sealed.bytes;
    damaged[i] = char(damaged[i] ^ (1 << (i % 8)));
    bool isWeight =
        i >= sealed.weightsAt && i < sealed.weightsAt + sealed.weightsBytes;
    // Section headers outside of the file mean a truncated file.
    if ((!isMapped[i] && i < sizeof(Elf64_Ehdr)) ||
        (i >= sealAt && i < sealAt + 8))
      continue;
    ASSERT_EQ(check(damaged, INGOT_MODEL_VERIFY) == INGOT_OK, !isMapped[i])
        << i;
    found += isMapped[i];
    // Without INGOT_MODEL_VERIFY weights are not checked, and a damaged note
    // counts as no seal.
    if (check(damaged, 0) == INGOT_OK)
      let += isMapped[i] && !isWeight;
  }
  EXPECT_GT(found, 3000);
  // Only changes of the note's type, owner, sizes and position are let through.
  EXPECT_LT(let, 120);
  std::string message;
  for (size_t page = 0; page < sealed.bytes.size(); page += 4096) {
    std::string damaged = sealed.bytes;
    size_t length = std::min<size_t>(4096, damaged.size() - page);
    std::fill_n(damaged.begin() + long(page), length, 0);
    bool isChanged = false;
    for (size_t i = page; i < page + length; ++i)
      isChanged |= isMapped[i] && sealed.bytes[i];
    EXPECT_EQ(check(damaged, INGOT_MODEL_VERIFY, &message) != INGOT_OK,
              isChanged)
        << page;
  }
  std::string damaged = sealed.bytes;
  damaged[sealed.weightsAt] ^= 1;
  EXPECT_EQ(check(damaged, INGOT_MODEL_VERIFY, &message), INGOT_BAD_ARTIFACT);
  EXPECT_NE(message.find("its weights are not what was compiled"),
            std::string::npos)
      << message;
}

TEST(Seal, DamagedHeadersNeverReadBeyondTheEnd) {
  Sealed sealed;
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = sealed.bytes;
    for (int k = 0; k < 3; ++k)
      damaged[random() % 900] = char(random());
    if (i % 3 == 0)
      damaged.resize(random() % damaged.size());
    check(damaged, i % 2 ? INGOT_MODEL_VERIFY : 0);
  }
}

TEST(Seal, Load) {
  Sealed sealed;
  char path[] = "/tmp/ingot-test-XXXXXX";
  close(mkstemp(path));
  auto put = [&](const std::string &bytes) {
    std::string other = std::string(path) + ".new";
    std::ofstream(other, std::ios::binary) << bytes;
    rename(other.c_str(), path);
  };
  ingot_model_options verify = INGOT_MODEL_OPTIONS_INIT;
  verify.flags = INGOT_MODEL_VERIFY;
  put(sealed.bytes);
  EXPECT_TRUE(load(path, &verify));
  std::string damaged = sealed.bytes;
  // The byte belongs to the unwinder's tables, which nobody reads at load.
  damaged[sealed.weightsAt + sealed.weightsBytes - 1] ^= 1;
  put(damaged);
  EXPECT_TRUE(load(path));
  expectLoadFails(path, INGOT_BAD_ARTIFACT, "its weights are not", &verify);
  verify.flags |= INGOT_MODEL_DESCRIBE_ONLY;
  expectLoadFails(path, INGOT_BAD_ARTIFACT, "its weights are not", &verify);
  // No code reads this field of a library.
  damaged = sealed.bytes;
  damaged[offsetof(Elf64_Ehdr, e_entry)] ^= 1;
  put(damaged);
  expectLoadFails(path, INGOT_BAD_ARTIFACT, "its code and tables are not");
  ingot_model_options trusting = INGOT_MODEL_OPTIONS_INIT;
  trusting.flags = INGOT_MODEL_TRUST_FILE;
  EXPECT_TRUE(load(path, &trusting));
  trusting.flags |= INGOT_MODEL_VERIFY;
  expectLoadFails(path, INGOT_INVALID_ARGUMENT, "excludes", &trusting);
  remove(path);

  for (uint32_t flag : {INGOT_MODEL_VERIFY, INGOT_MODEL_TRUST_FILE}) {
    ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
    options.flags = flag;
    ingot_model *model = nullptr;
    ingot_error error = INGOT_ERROR_INIT;
    EXPECT_EQ(ingot_model_attach(linked_static_artifact(), &options, &model,
                                 &error),
              INGOT_INVALID_ARGUMENT);
    expectOneLine(error.message);
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Tables of an artifact on separate pages between guard pages, like segments
/// of a library.
class Tables : public testing::Test {
protected:
  static constexpr size_t page = 4096, size = 3 * page;

  void SetUp() override {
    void *memory = mmap(nullptr, size + 2 * page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    reserved = static_cast<char *>(memory);
    start = reserved + page;
    ASSERT_EQ(mprotect(start, size, PROT_READ | PROT_WRITE), 0);
    segments[0].p_type = PT_LOAD;
    segments[0].p_flags = PF_R;
    segments[0].p_vaddr = page;
    segments[0].p_memsz = size - page;
    segments[1].p_type = PT_LOAD;
    segments[1].p_flags = PF_X;
    segments[1].p_vaddr = page + size - page;
    segments[1].p_memsz = page;
    mapping = Mapping(segments, 2, reinterpret_cast<uintptr_t>(reserved));
    fill();
  }
  void TearDown() override { munmap(reserved, size + 2 * page); }

  /// Allocates bytes behind the used part.
  template <typename T> T *take(size_t count) {
    used = (used + alignof(T) - 1) / alignof(T) * alignof(T);
    T *room = reinterpret_cast<T *>(start + used);
    used += count * sizeof(T);
    EXPECT_LE(used, size - page);
    return room;
  }
  const char *text(const char *words, size_t bytes) {
    char *copy = take<char>(bytes);
    memcpy(copy, words, bytes);
    return copy;
  }
  const char *text(const char *words) { return text(words, strlen(words) + 1); }
  template <typename T> T code(size_t i) {
    return reinterpret_cast<T>(start + size - page + 16 * i);
  }

  void fill() {
    used = 0;
    memset(start, 0, size);
    artifact = take<ingot_abi_artifact>(1);
    artifact->magic = INGOT_ABI_MAGIC;
    artifact->abi_version = INGOT_ABI_VERSION;
    artifact->struct_size = sizeof(*artifact);
    artifact->compiler = text("ingot test");
    artifact->name = text("tables");
    artifact->buffer_bytes = sizeof(ingot_abi_buffer);
    for (auto list : {&artifact->inputs, &artifact->outputs}) {
      auto *tensors = take<ingot_abi_tensor>(2);
      for (int i = 0; i < 2; ++i) {
        auto *dims = take<int64_t>(3);
        auto *names = take<const char *>(3);
        for (int d = 0; d < 3; ++d) {
          dims[d] = d ? 4 : INGOT_ABI_DYNAMIC;
          names[d] = text(d ? "" : "batch");
        }
        tensors[i] = {text("tensor"), INGOT_ABI_FLOAT, 3, dims, names};
      }
      *list = {tensors, 2, sizeof(*tensors)};
    }
    auto *metadata = take<ingot_abi_metadata>(2);
    metadata[0] = {text("key"), text("value")};
    metadata[1] = {text("other"), text("")};
    artifact->metadata = {metadata, 2, sizeof(*metadata)};
    auto *uses = take<ingot_abi_use>(1);
    uses[0] = {INGOT_ABI_USE_LIBRARY, 0, text("onednn")};
    artifact->uses = {uses, 1, sizeof(*uses)};
    artifact->weights = take<char>(100);
    artifact->weights_bytes = 100;
    static const char names[] = "matmul\0first\0second\0add\0third";
    auto *layers = take<ingot_abi_layer>(2);
    layers[0] = {0, 7, 2, 0, 1, 1, 0, 0, 0, 0};
    layers[1] = {20, 24, 1, 0, 1, 1, 0, 0, 0, 0};
    artifact->layers = {layers, 2, sizeof(*layers)};
    artifact->layer_text = text(names, sizeof(names));
    artifact->layer_text_bytes = sizeof(names);
    variants = take<ingot_abi_variant>(3);
    for (int i = 0; i < 3; ++i) {
      ingot_abi_variant &variant = variants[i];
      variant.target = text("level");
      variant.device = INGOT_ABI_DEVICE_CPU;
      variant.architecture = INGOT_ABI_ARCHITECTURE_X86_64;
      variant.run = code<decltype(variant.run)>(0);
      variant.load = code<decltype(variant.load)>(1);
      variant.unload = code<decltype(variant.unload)>(2);
    }
    artifact->variants = {variants, 3, sizeof(*variants)};
  }
  ingot_status check() {
    ingot_error error = INGOT_ERROR_INIT;
    ingot_status status = checkArtifact(artifact, mapping, "m.so", &error);
    if (status)
      expectOneLine(error.message);
    return status;
  }
  /// Reads everything that later code reads.
  void readAll() {
    size_t sum = strlen(artifact->compiler) + strlen(artifact->name);
    Rows<ingot_abi_variant> code = variantsOf(*artifact);
    for (uint32_t i = 0; i < code.count(); ++i)
      sum += strlen(code[i].target);
    Rows<ingot_abi_metadata> metadata = metadataOf(*artifact);
    for (uint32_t i = 0; i < metadata.count(); ++i)
      sum += strlen(metadata[i].key) + strlen(metadata[i].value);
    Rows<ingot_abi_use> uses = usesOf(*artifact);
    for (uint32_t i = 0; i < uses.count(); ++i)
      sum += strlen(uses[i].name);
    auto readTensors = [&](Rows<ingot_abi_tensor> list) {
      for (uint32_t i = 0; i < list.count(); ++i) {
        sum += strlen(list[i].name);
        for (uint32_t d = 0; d < list[i].rank; ++d)
          sum += strlen(list[i].dim_names[d]) + size_t(list[i].dims[d]);
      }
    };
    readTensors(inputsOf(*artifact));
    readTensors(outputsOf(*artifact));
    Rows<ingot_abi_layer> layers = layersOf(*artifact);
    for (uint32_t i = 0; i < layers.count(); ++i) {
      const char *name = artifact->layer_text + layers[i].nodes;
      for (uint32_t n = 0; n < layers[i].num_nodes; ++n) {
        sum += strlen(name);
        name += strlen(name) + 1;
      }
      sum += strlen(artifact->layer_text + layers[i].kind);
    }
    for (uint64_t i = 0; artifact->weights && i < artifact->weights_bytes; ++i)
      sum += size_t(static_cast<const char *>(artifact->weights)[i]);
    checksum = sum;
  }

  char *reserved, *start;
  size_t used = 0;
  ElfW(Phdr) segments[2] = {};
  Mapping mapping;
  ingot_abi_artifact *artifact;
  ingot_abi_variant *variants;
  volatile size_t checksum;
};

TEST_F(Tables, Whole) {
  EXPECT_EQ(check(), INGOT_OK);
  readAll();
}

TEST_F(Tables, PointersThatLeadAstray) {
  std::mt19937_64 random(5);
  auto wrong = [&]() -> uint64_t {
    auto base = reinterpret_cast<uint64_t>(start);
    switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return random();
    case 2:
      return base + size - random() % 16; // the end, or code
    case 3:
      return base - 1 - random() % 64;
    case 4:
      return base + size - page - random() % 64; // nearly the end
    case 5:
      return base + random() % size;
    case 6:
      return random() % 64;
    default:
      return ~uint64_t(0) - random() % 64;
    }
  };
  int refused = 0;
  for (int i = 0; i < 100000; ++i) {
    fill();
    for (uint64_t k = 0; k <= random() % 2; ++k) {
      uint64_t value = wrong();
      memcpy(start + random() % (used / 8) * 8, &value, sizeof(value));
    }
    if (check() == INGOT_OK)
      readAll();
    else
      ++refused;
  }
  EXPECT_GT(refused, 10000);
}

TEST_F(Tables, StringsWithoutAnEnd) {
  // Fills the segment with text up to its last byte.
  memset(start + used, 'x', size - page - used);
  artifact->name = start + used;
  EXPECT_EQ(check(), INGOT_BAD_ARTIFACT);
  start[size - page - 1] = 0;
  EXPECT_EQ(check(), INGOT_OK);
  readAll();
}

TEST_F(Tables, FunctionsThatAreData) {
  variants[1].run = reinterpret_cast<decltype(variants->run)>(start);
  EXPECT_EQ(check(), INGOT_BAD_ARTIFACT);
}

TEST_F(Tables, DescriptionsThatEndTooSoon) {
  auto *last = reinterpret_cast<ingot_abi_artifact *>(start + size - page -
                                                      sizeof(*artifact));
  memcpy(last, artifact, sizeof(*artifact));
  artifact = last;
  EXPECT_EQ(check(), INGOT_OK);
  artifact->struct_size += 8;
  EXPECT_EQ(check(), INGOT_BAD_ARTIFACT);
  for (size_t bytes = 8; bytes < sizeof(*artifact); bytes += 8) {
    artifact = reinterpret_cast<ingot_abi_artifact *>(
        reinterpret_cast<char *>(last) + bytes);
    EXPECT_EQ(check(), INGOT_BAD_ARTIFACT);
  }
}

} // namespace
