//===- StringsTest.cpp - indices for strings ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SupportHosts.h"

#include "runtime/format/StringHash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace {

using Words = std::vector<std::string>;

/// A dictionary in the compiler's layout.
struct Dictionary {
  explicit Dictionary(const Words &words, uint64_t size = 8) : slots(size) {
    abi.mask = size - 1;
    abi.count = words.size();
    for (size_t i = 0; i < words.size(); ++i) {
      uint64_t at =
          ingot_string_hash(words[i].data(), words[i].size()) & abi.mask;
      while (slots[at])
        at = (at + 1) & abi.mask;
      slots[at] = uint32_t(i + 1);
      text += words[i];
      offsets.push_back(text.size());
    }
    abi.text = text.data();
    abi.offsets = offsets.data();
    abi.slots = slots.data();
  }

  std::string text;
  std::vector<uint64_t> offsets{0};
  std::vector<uint32_t> slots;
  ingot_support_dictionary abi = {};
};

/// A tensor of strings in memory of exactly its size, so that sanitizers see
/// reads beyond it.
struct Strings {
  explicit Strings(const Words &words) : dims{int64_t(words.size())} {
    for (const std::string &word : words) {
      text.insert(text.end(), word.begin(), word.end());
      offsets.push_back(int64_t(text.size()));
    }
  }
  /// Makes room for `count` strings of `bytes` bytes.
  Strings(size_t count, size_t bytes)
      : dims{-1}, offsets(count + 1, 77), text(bytes, 'x') {}

  ingot_abi_buffer buffer() {
    ingot_abi_buffer made = {};
    made.data = offsets.data();
    made.dims = dims.data();
    made.bytes = offsets.size() * sizeof(int64_t);
    made.text = text.data();
    made.text_bytes = text.size();
    made.text_used = &used;
    return made;
  }
  Words read() const {
    Words words;
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
      words.emplace_back(text.data() + offsets[i],
                         text.data() + offsets[i + 1]);
    return words;
  }

  std::vector<int64_t> dims;
  std::vector<int64_t> offsets{0};
  std::vector<char> text;
  uint64_t used = 0;
};

constexpr int64_t open1[] = {INGOT_ABI_DYNAMIC}, fixed2[] = {2};
const ingot_abi_tensor twoInputs[] = {
    {"x", INGOT_ABI_STRING, 1, open1, nullptr},
    {"y", INGOT_ABI_STRING, 1, fixed2, nullptr},
};
const ingot_abi_tensor oneOutput[] = {
    {"z", INGOT_ABI_STRING, 1, open1, nullptr}};

ingot_abi_artifact makeArtifact() {
  ingot_abi_artifact artifact = {};
  artifact.inputs = {twoInputs, 2, sizeof(ingot_abi_tensor)};
  artifact.outputs = {oneOutput, 1, sizeof(ingot_abi_tensor)};
  return artifact;
}

const ingot_abi_artifact artifact = makeArtifact();
const ingot_support_dictionary *dictionary;
std::vector<int32_t> numbers;

/// Puts the indices of both inputs into `numbers`. Writes the strings of both,
/// x first, to the output.
void joinInputs(ingot_abi_call *call) {
  ingot_support_read_strings(call, &artifact, dictionary);
  auto *x = static_cast<const int32_t *>(call->inputs[0].data),
       *y = static_cast<const int32_t *>(call->inputs[1].data);
  numbers.assign(x, x + call->inputs[0].dims[0]);
  numbers.insert(numbers.end(), y, y + 2);
  const int64_t dims[] = {int64_t(numbers.size())};
  ingot_support_store_strings(call, 0, 1, uintptr_t(dims),
                              uintptr_t(numbers.data()), 32);
}

int32_t join(LeakHost &host, Strings &x, Strings &y, Strings &z) {
  const ingot_abi_buffer inputs[] = {x.buffer(), y.buffer()},
                         output = z.buffer();
  host.call.inputs = inputs;
  host.call.outputs = &output;
  int32_t status = ingot_support_run(&host.call, joinInputs);
  EXPECT_EQ(host.live, 0);
  return status;
}

struct StringsRun : testing::Test {
  void SetUp() override { dictionary = &known.abi; }
  Dictionary known{{"", "red", "green"}};
  LeakHost host;
};

/// Equal strings have one index, in any input. Indices of the model's strings
/// come first. A string may have any bytes.
TEST_F(StringsRun, Number) {
  const std::string null("a\0b", 3);
  Strings x({"green", "a", "", "violet", null, "red"}), y({"violet", "gree"}),
      z(8, 64);
  ASSERT_EQ(join(host, x, y, z), INGOT_ABI_OK) << host.error;
  EXPECT_EQ(numbers, (std::vector<int32_t>{2, 3, 0, 4, 5, 1, 4, 6}));
  EXPECT_EQ(z.dims[0], 8);
  EXPECT_EQ(z.used, 28u);
  z.text.resize(z.used);
  EXPECT_EQ(z.read(), (Words{"green", "a", "", "violet", null, "red", "violet",
                             "gree"}));
}

/// Many strings, nearly all of which collide in their tables.
TEST_F(StringsRun, Many) {
  Words all;
  for (int i = 0; i < 20000; ++i)
    all.push_back(std::to_string(i % 7000));
  Strings x(all), y({"0", "-1"}), z(20002, 200000);
  ASSERT_EQ(join(host, x, y, z), INGOT_ABI_OK) << host.error;
  for (int i = 0; i < 20000; ++i)
    ASSERT_EQ(numbers[size_t(i)], 3 + i % 7000);
  EXPECT_EQ(numbers[20000], 3);
  EXPECT_EQ(numbers[20001], 7003);
  all.insert(all.end(), {"0", "-1"});
  EXPECT_EQ(z.read(), all);
}

/// Offsets exist even without strings; text may start anywhere.
TEST_F(StringsRun, FewAndFar) {
  Strings x(Words{}), y({"red", "so"}), z(2, 5);
  y.text.insert(y.text.begin(), {'.', '.'});
  for (int64_t &offset : y.offsets)
    offset += 2;
  y.text.insert(y.text.end(), 100, '.');
  ASSERT_EQ(join(host, x, y, z), INGOT_ABI_OK) << host.error;
  EXPECT_EQ(z.read(), (Words{"red", "so"}));
  EXPECT_EQ(z.offsets[0], 0);
}

/// Offsets come from the caller, and none is followed outside of the text.
TEST_F(StringsRun, RefuseOffsets) {
  struct Wrong {
    std::vector<int64_t> offsets;
    const char *message;
  };
  constexpr int64_t least = std::numeric_limits<int64_t>::min(),
                    most = std::numeric_limits<int64_t>::max();
  const Wrong all[] = {
      {{0, 3, 6}, "string 1 goes from 3 to 6"},
      {{-1, 3, 5}, "string 0 goes from -1 to 3"},
      {{0, -1, 5}, "string 0 goes from 0 to -1"},
      {{3, 2, 5}, "string 0 goes from 3 to 2"},
      {{0, most, 5}, "string 0 goes from 0 to 9223372036854775807"},
      {{least, most, 5}, "string 0 goes from -9223372036854775808 to 9"},
      {{0, 5, least}, "string 1 goes from 5 to -9223372036854775808"},
  };
  static char error[200];
  host.call.error = error;
  host.call.error_bytes = sizeof error;
  for (const Wrong &wrong : all) {
    Strings x({"a"}), y({"red", "so"}), z(3, 20);
    y.offsets = wrong.offsets;
    EXPECT_EQ(join(host, x, y, z), INGOT_ABI_INVALID_ARGUMENT);
    EXPECT_NE(strstr(error, "input 'y': "), nullptr) << error;
    EXPECT_NE(strstr(error, wrong.message), nullptr) << error;
    EXPECT_NE(strstr(error, "not within its 5 bytes of text"), nullptr);
    EXPECT_EQ(z.offsets[0], 77);
    EXPECT_EQ(z.text[0], 'x');
  }
}

/// More strings than indices: the offsets are not read.
TEST_F(StringsRun, RefuseTooMany) {
  for (int64_t size : {int64_t(1) << 31, (int64_t(1) << 31) - 5,
                       std::numeric_limits<int64_t>::max()}) {
    Strings x(Words{}), y({"red", "so"}), z(1, 1);
    x.dims[0] = size;
    EXPECT_EQ(join(host, x, y, z), INGOT_ABI_INVALID_ARGUMENT);
    EXPECT_STREQ(host.error, "inputs have more than 2147483644 strings");
  }
}

/// If there is too little room for offsets or text, the required size is
/// reported and nothing is written.
TEST_F(StringsRun, TellWhatIsNeeded) {
  for (auto [count, bytes] :
       {std::pair<size_t, size_t>{2, 20}, {3, 8}, {0, 0}}) {
    Strings x({"violet"}), y({"", "red"}), z(count, bytes);
    EXPECT_EQ(join(host, x, y, z), INGOT_ABI_BUFFER_TOO_SMALL);
    EXPECT_EQ(z.dims[0], 3);
    EXPECT_EQ(z.used, 9u);
    EXPECT_EQ(z.offsets, std::vector<int64_t>(count + 1, 77));
    EXPECT_EQ(z.text, std::vector<char>(bytes, 'x'));
  }
  Strings x({"violet"}), y({"", "red"}), z(3, 9);
  EXPECT_EQ(join(host, x, y, z), INGOT_ABI_OK);
  EXPECT_EQ(z.read(), (Words{"violet", "", "red"}));
}

TEST_F(StringsRun, OutOfMemory) {
  host.hasMemory = false;
  Strings x({"a"}), y({"red", "so"}), z(3, 20);
  EXPECT_EQ(join(host, x, y, z), INGOT_ABI_OUT_OF_MEMORY);
}

/// A run requests the memory that inference reports.
TEST_F(StringsRun, Reserve) {
  struct Asked : LeakHost {
    uint64_t bytes = 0;
  } asked;
  asked.abi.user = static_cast<Host *>(&asked);
  asked.abi.allocate = [](void *user, uint64_t bytes, uint64_t) -> void * {
    static_cast<Asked *>(static_cast<Host *>(user))->bytes += bytes;
    return malloc(bytes);
  };
  asked.abi.release = [](void *, void *pointer) { free(pointer); };
  Strings x({"a", "b", "c"}), y({"red", "so"}), z(5, 20);
  ASSERT_EQ(join(asked, x, y, z), INGOT_ABI_OK);
  const uint64_t taken = std::exchange(asked.bytes, 0);
  asked.abi.allocate = [](void *user, uint64_t bytes, uint64_t) -> void * {
    static_cast<Asked *>(static_cast<Host *>(user))->bytes += bytes;
    return user;
  };
  ingot_abi_buffer inputs[2] = {};
  inputs[0].dims = x.dims.data();
  asked.call.inputs = inputs;
  ASSERT_EQ(ingot_support_run(&asked.call,
                              [](ingot_abi_call *call) {
                                ingot_support_reserve_strings(call, &artifact,
                                                              dictionary);
                              }),
            INGOT_ABI_OK);
  EXPECT_EQ(asked.bytes, taken);
}

/// Artifacts depend on this hash. CPython has the same hash for str with
/// PYTHONHASHSEED=0.
TEST(StringHash, IsSipHash13) {
  auto hash = [](const char *text) {
    return ingot_string_hash(text, strlen(text));
  };
  EXPECT_EQ(hash(""), 0xd1fba762150c532cu);
  EXPECT_EQ(hash("hello world"), 0xb1b1f2e707e4ac8au);
  EXPECT_EQ(hash("12345678"), 0x3489982430560a87u);
}

} // namespace
