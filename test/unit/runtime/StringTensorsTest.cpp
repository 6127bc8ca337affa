//===- StringTensorsTest.cpp - inputs and outputs of strings --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "ingot/ingot.hpp"

using namespace ingot::test;

namespace {

using Words = std::vector<std::string>;

Words read(const ingot::Strings &strings) {
  Words words;
  for (size_t i = 0; i < strings.size(); ++i)
    words.emplace_back(strings[i]);
  return words;
}

/// A valid run, in which tests change one thing.
struct JoinRun {
  ingot::Strings a{{3}, {"cat", "", "dog"}}, b{{2}, {"dog", "bird"}};
  ingot::Strings joined{{5}, 13}, first{{2}, 3};
  ingot_input inputs[2] = {ingot::input(a), ingot::input(b)};
  ingot_output outputs[2] = {ingot::output(joined), ingot::output(first)};
  ingot_error error = INGOT_ERROR_INIT;

  ingot_status operator()(ingot_context *context) {
    return ingot_context_run(context, inputs, 2, outputs, 2, nullptr, &error);
  }
};

struct StringTensors : testing::Test {
  ModelPtr model = load(artifactPath("strings"));
  ContextPtr context = makeContext(model);

  template <typename Break>
  void refuses(Break breakIt, const char *message,
               ingot_status status = INGOT_INVALID_ARGUMENT) {
    JoinRun run;
    breakIt(run);
    EXPECT_EQ(run(context.get()), status);
    EXPECT_STREQ(run.error.message, message);
    EXPECT_EQ(run.joined.text, std::string(13, '\0'));
    EXPECT_EQ(run.joined.offsets, std::vector<int64_t>(6));
  }
};

TEST_F(StringTensors, Run) {
  JoinRun run;
  ASSERT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  EXPECT_EQ(read(run.joined), (Words{"cat", "", "dog", "dog", "bird"}));
  EXPECT_EQ(run.joined.textUsed, 13u);
  EXPECT_EQ(read(run.first), (Words{"cat", ""}));
  EXPECT_EQ(run.first.textUsed, 3u);
}

TEST_F(StringTensors, Describe) {
  ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
  ASSERT_EQ(ingot_model_input_describe(model.get(), 1, &info, nullptr),
            INGOT_OK);
  EXPECT_EQ(info.dtype, ingot_dtype(INGOT_STRING));
  EXPECT_EQ(info.bytes, 3 * sizeof(int64_t));
}

TEST_F(StringTensors, Wrapper) {
  ingot::Model wrapped = ingot::Model::load(artifactPath("strings"));
  ingot::Context runs(wrapped);
  ingot::Strings a({1}, {"cat"}), b({2}, {"dog", "bird"}), joined({3}),
      first({2});
  auto tryRun = [&] {
    return runs.tryRun({ingot::input(b, "b"), ingot::input(a, "a")},
                       {ingot::output(first, "first"),
                        ingot::output(joined, "joined")});
  };
  EXPECT_FALSE(tryRun());
  joined.text.resize(joined.textUsed);
  first.text.resize(first.textUsed);
  EXPECT_TRUE(tryRun());
  EXPECT_EQ(read(joined), (Words{"cat", "dog", "bird"}));
  EXPECT_EQ(read(first), (Words{"cat", "dog"}));
}

TEST_F(StringTensors, Refuse) {
  refuses([](JoinRun &run) { run.inputs[1].bytes = 16; },
          "input 'b' of shape 2 needs 24 bytes, but 16 were given");
  refuses([](JoinRun &run) { run.inputs[1].text = nullptr; },
          "input 'b' has null text");
  refuses([](JoinRun &run) { run.inputs[1].text_bytes = 6; },
          "input 'b': string 1 goes from 3 to 7, which is not within its 6 "
          "bytes of text");
  refuses([](JoinRun &run) { run.a.offsets[1] = -1; },
          "input 'a': string 0 goes from 0 to -1, which is not within its 6 "
          "bytes of text");
  refuses([](JoinRun &run) { run.outputs[0].text = nullptr; },
          "output 'joined' has null text");
  refuses([](JoinRun &run) { run.outputs[1].text = run.a.text.data() + 5; },
          "output 'first' overlaps input 'a' in memory");
  refuses(
      [](JoinRun &run) {
        run.outputs[1].text = reinterpret_cast<char *>(run.b.offsets.data());
      },
      "output 'first' overlaps input 'b' in memory");
  refuses([](JoinRun &run) { run.outputs[1].text = run.joined.text.data(); },
          "output 'first' overlaps output 'joined' in memory");
  refuses([](JoinRun &run) { run.outputs[1].data = run.joined.text.data(); },
          "output 'first' overlaps output 'joined' in memory");
  refuses(
      [](JoinRun &run) {
        run.outputs[1].text =
            reinterpret_cast<char *>(run.first.offsets.data());
      },
      "output 'first' has text that overlaps its offsets in memory");
}

/// The required size is reported: for fixed sizes before the run, and for text
/// by the run.
TEST_F(StringTensors, TooSmall) {
  refuses([](JoinRun &run) { run.outputs[0].text_bytes = 12; },
          "output 'joined' needs 13 bytes of text, but there is room for 12",
          INGOT_BUFFER_TOO_SMALL);
  refuses([](JoinRun &run) { run.outputs[0].bytes = 40; },
          "output 'joined' of shape 5 needs 48 bytes, but there is room for 40",
          INGOT_BUFFER_TOO_SMALL);
  refuses([](JoinRun &run) { run.outputs[1].bytes = 16; },
          "output 'first' needs 24 bytes, but there is room for 16",
          INGOT_BUFFER_TOO_SMALL);
}

/// Other types have no text, and older callers have no room for text.
TEST(StringBuffers, OfNumbers) {
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);
  StaticRun run;
  run.inputs[0].text_bytes = 1;
  EXPECT_EQ(run(context.get()), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(run.error.message, "input 'x' is float32, which has no text");
  StaticRun other;
  char text[8];
  other.outputs[0].text = text;
  EXPECT_EQ(other(context.get()), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(other.error.message, "output 'y' is float32, which has no text");
}

TEST(StringBuffers, WithoutRoom) {
  expectLoadFails(artifactPath("strings_short_buffers"), INGOT_BAD_ARTIFACT,
                  "its buffers have no room for strings");
}

/// An artifact from before strings, whose buffers are shorter.
TEST(StringBuffers, OfOlderArtifacts) {
  ingot_abi_artifact artifact = *linked_static_artifact();
  artifact.buffer_bytes = INGOT_ABI_BUFFER_BYTES_V2;
  ingot_abi_variant variant =
      *static_cast<const ingot_abi_variant *>(artifact.variants.rows);
  static const ingot_abi_variant *original;
  original = static_cast<const ingot_abi_variant *>(artifact.variants.rows);
  variant.run = [](ingot_abi_call *call) -> int32_t {
    auto *rows = reinterpret_cast<const char *>(call->inputs);
    ingot_abi_buffer inputs[2] = {};
    for (size_t i = 0; i < 2; ++i)
      memcpy(&inputs[i], rows + i * INGOT_ABI_BUFFER_BYTES_V2,
             INGOT_ABI_BUFFER_BYTES_V2);
    ingot_abi_call inner = *call;
    inner.inputs = inputs;
    return original->run(&inner);
  };
  artifact.variants.rows = &variant;
  ingot_model *raw = nullptr;
  ASSERT_EQ(ingot_model_attach(&artifact, nullptr, &raw, nullptr), INGOT_OK);
  ModelPtr model(raw);
  ContextPtr context = makeContext(model);
  StaticRun run;
  EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
  EXPECT_TRUE(run.right());
}

} // namespace
