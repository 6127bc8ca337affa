//===- PrecisionRecordTest.cpp - how an artifact was quantized ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/PrecisionRecord.h"
#include "compiler/pipeline/PrecisionName.h"

#include "gtest/gtest.h"

#include <fstream>

using namespace ingot;

static std::string recorded(const PipelineOptions &options) {
  llvm::Expected<std::string> text = recordPrecision(options);
  EXPECT_TRUE(bool(text));
  return text ? *text : llvm::toString(text.takeError());
}

TEST(PrecisionRecord, EachPrecisionIsReadAsItWasWritten) {
  for (const char *name :
       {"bf16", "O2", "O3", "fp16", "int8-dynamic", "w8", "w4"}) {
    PipelineOptions options;
    ASSERT_TRUE(setPrecision(name, options));
    options.keep = {"/a \"b\"*=fp32", "/\xff=fp32"};
    options.int8Weights = quantize::Int8Weights::seven;
    llvm::Expected<PrecisionRecord> read =
        PrecisionRecord::parse(recorded(options));
    ASSERT_TRUE(bool(read));
    EXPECT_EQ(read->name, name);
    EXPECT_EQ(precisionName(read->pipeline), name);
    ASSERT_EQ(read->pipeline.keep.size(), 2u);
    EXPECT_EQ(read->pipeline.keep[0], options.keep[0]);
    EXPECT_EQ(read->pipeline.int8Weights, quantize::Int8Weights::seven);
    EXPECT_EQ(read->calibration, "");
  }
}

TEST(PrecisionRecord, FormsOfWeights) {
  const std::pair<quantize::Int8Weights, const char *> forms[] = {
      {quantize::Int8Weights::eight, "{\"precision\":\"w8\"}"},
      {quantize::Int8Weights::seven,
       "{\"precision\":\"w8\",\"weight_bits\":7}"},
      {quantize::Int8Weights::fitted,
       "{\"fit_pairs\":true,\"precision\":\"w8\"}"}};
  for (auto &[form, text] : forms) {
    PipelineOptions options;
    ASSERT_TRUE(setPrecision("w8", options));
    options.int8Weights = form;
    EXPECT_EQ(recorded(options), text);
    llvm::Expected<PrecisionRecord> read = PrecisionRecord::parse(text);
    ASSERT_TRUE(bool(read));
    EXPECT_EQ(read->pipeline.int8Weights, form);
    EXPECT_EQ(quantize::bitsOf(form),
              form == quantize::Int8Weights::seven ? 7 : 8);
  }
}

TEST(PrecisionRecord, Fp32HasNoOptions) {
  PipelineOptions options;
  ASSERT_TRUE(setPrecision("O0", options));
  EXPECT_EQ(recorded(options), "{\"precision\":\"fp32\"}");
  EXPECT_FALSE(setPrecision("int4", options));
}

TEST(PrecisionRecord, OfACalibrationItHasNameAndDigest) {
  const std::string path = testing::TempDir() + "/a.calib.json";
  std::ofstream(path) << "abc";
  PipelineOptions options;
  options.calibration = path;
  options.keepFromInt8 = {"x=fp32"};
  llvm::Expected<PrecisionRecord> read =
      PrecisionRecord::parse(recorded(options));
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->name, "int8");
  EXPECT_EQ(read->calibration, "a.calib.json");
  EXPECT_EQ(read->calibrationSha256, "ba7816bf8f01cfea414140de5dae2223b00361a39"
                                     "6177a9cb410ff61f20015ad");
  EXPECT_EQ(read->pipeline.keepFromInt8, options.keepFromInt8);
  EXPECT_EQ(read->pipeline.calibration, "");
  std::remove(path.c_str());
  llvm::Expected<std::string> gone = recordPrecision(options);
  ASSERT_FALSE(bool(gone));
  EXPECT_NE(llvm::toString(gone.takeError()).find("a.calib.json"),
            std::string::npos);
}

TEST(PrecisionRecord, WhatIsNoRecordIsRefused) {
  for (const char *text :
       {"", "{", "[]", "3", "{}", "{\"precision\": 3}",
        "{\"precision\": \"int9\"}"}) {
    llvm::Expected<PrecisionRecord> read = PrecisionRecord::parse(text);
    EXPECT_FALSE(bool(read)) << text;
    llvm::consumeError(read.takeError());
  }
  // Values of other types are ignored.
  llvm::Expected<PrecisionRecord> read = PrecisionRecord::parse(
      "{\"precision\": \"w4\", \"keep\": [3, null], \"calibration\": []}");
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->calibration, "");
}
