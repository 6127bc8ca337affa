//===- CalibrationFileTest.cpp - errors in calibrations -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/CalibrationFile.h"

#include "dialects/ingot/IngotDialect.h"

#include <gtest/gtest.h>

using namespace ingot::quantize;

namespace {

Calibration makeCalibration() {
  Calibration calibration;
  calibration.model = "a \"model\"\n.onnx";
  calibration.sha256 = std::string(64, 'a');
  calibration.method = "entropy";
  calibration.samples = 12;
  calibration.tensors = {{"x", -1.1f, 0.1f, 1e-30f, 255, ""},
                         {"/layer1/Conv + bn", 0, 0, 1, 0, ""}};
  return calibration;
}

std::string problemOf(llvm::StringRef text) {
  llvm::Expected<Calibration> read = parseCalibration(text);
  return read ? "" : llvm::toString(read.takeError());
}

TEST(CalibrationFile, ReadsTheRepairsThatItWrote) {
  Calibration given = makeCalibration();
  given.equalize = true;
  given.channels = {{"norm", {1.5f, 0}}};
  given.biases = {{"a + b", {-0.25f}}, {"c", {}}};
  given.rounding = {{"fc", {5, -128}}};
  given.keep = {"/block/Conv*[0]", "b"};
  const std::string text = toText(given);
  EXPECT_NE(text.find("\"ingot_calibration\": 3"), std::string::npos);
  llvm::Expected<Calibration> read = parseCalibration(text);
  ASSERT_TRUE(bool(read));
  EXPECT_TRUE(read->equalize);
  ASSERT_EQ(read->channels.size(), 1u);
  EXPECT_EQ(read->channels[0].values, given.channels[0].values);
  ASSERT_EQ(read->biases.size(), 2u);
  EXPECT_EQ(read->biases[0].name, "a + b");
  EXPECT_EQ(read->keep, given.keep);
  ASSERT_EQ(read->rounding.size(), 1u);
  EXPECT_EQ(read->rounding[0].name, "fc");
  EXPECT_EQ(read->rounding[0].up, given.rounding[0].up);
  // The bits are in ascending order.
  const std::vector<char> &up = read->rounding[0].up;
  EXPECT_TRUE(ingot::WeightRoundingAttr::isUp(up, 0));
  EXPECT_FALSE(ingot::WeightRoundingAttr::isUp(up, 1));
  EXPECT_TRUE(ingot::WeightRoundingAttr::isUp(up, 2));
  EXPECT_FALSE(ingot::WeightRoundingAttr::isUp(up, 14));
  EXPECT_TRUE(ingot::WeightRoundingAttr::isUp(up, 15));
  EXPECT_EQ(toText(*read), text);
}

TEST(CalibrationFile, RefusesWrongNodesToKeep) {
  Calibration given = makeCalibration();
  given.keep = {"a", "b"};
  const std::string good = toText(given);
  auto changed = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return problemOf(text);
  };
  EXPECT_EQ(changed("\"b\"", "\"a\""), "'a' of its \"keep\" is there twice");
  EXPECT_EQ(changed("\"b\"", "\"\""),
            "one of its \"keep\" is not a node's name");
  EXPECT_EQ(changed("\"b\"", "1"), "one of its \"keep\" is not a node's name");
}

TEST(CalibrationFile, ReadsWhatItWrote) {
  const Calibration given = makeCalibration();
  const std::string text = toText(given);
  llvm::Expected<Calibration> read = parseCalibration(text);
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->model, given.model);
  EXPECT_EQ(read->sha256, given.sha256);
  EXPECT_EQ(read->method, given.method);
  EXPECT_EQ(read->samples, given.samples);
  ASSERT_EQ(read->tensors.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->tensors[i].name, given.tensors[i].name);
    EXPECT_EQ(read->tensors[i].min, given.tensors[i].min);
    EXPECT_EQ(read->tensors[i].max, given.tensors[i].max);
    EXPECT_EQ(read->tensors[i].scale, given.tensors[i].scale);
    EXPECT_EQ(read->tensors[i].zeroPoint, given.tensors[i].zeroPoint);
  }
  EXPECT_EQ(toText(*read), text);
}

TEST(CalibrationFile, APartOfItIsNone) {
  const std::string text = toText(makeCalibration());
  // Every prefix is invalid, except if only white space is missing.
  for (size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_NE(problemOf(llvm::StringRef(text).take_front(size)), "") << size;
}

TEST(CalibrationFile, SaysWhatIsWrong) {
  const std::string good = toText(makeCalibration());
  auto changed = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return problemOf(text);
  };
  EXPECT_EQ(problemOf("[]"), "it is not a file of ingot calibrate");
  EXPECT_EQ(changed("\"ingot_calibration\": 1", "\"ingot_calibration\": 2"),
            "it has version 2, but this compiler reads version 1 and 3: "
            "calibrate again");
  EXPECT_EQ(changed("\"ingot_calibration\": 1", "\"ingot_calibration\": 3"),
            "it has no object \"repair\"");
  EXPECT_EQ(changed("aaaa", "aaa"), "its \"model_sha256\" is not a SHA-256");
  EXPECT_EQ(changed("aaaa", "aaay"), "its \"model_sha256\" is not a SHA-256");
  EXPECT_EQ(changed("\"samples\": 12", "\"samples\": 0"),
            "it has no number \"samples\" above 0");
  EXPECT_EQ(changed("\"tensors\"", "\"tensor\""),
            "it has no list \"tensors\"");
  EXPECT_EQ(changed("\"name\": \"x\"", "\"nam\": \"x\""),
            "one of its \"tensors\" has no \"name\"");
  EXPECT_EQ(changed("\"name\": \"x\"", "\"name\": \"/layer1/Conv + bn\""),
            "tensor '/layer1/Conv + bn' is there twice");
  EXPECT_EQ(changed("\"zero_point\": 255", "\"zero_point\": 256"),
            "tensor 'x' has no \"zero_point\" from 0 to 255");
  EXPECT_EQ(changed("\"zero_point\": 255", "\"zero_point\": 2.5"),
            "tensor 'x' has no \"zero_point\" from 0 to 255");
  EXPECT_EQ(changed("\"min\": -", "\"min\": "),
            "tensor 'x' has a \"min\" of 1.1 above its \"max\" of 0.1");
  for (const char *scale : {"0", "-1", "1e-40"}) {
    const std::string problem =
        changed("\"scale\": 1,", std::string("\"scale\": ") + scale + ",");
    EXPECT_NE(problem.find("but it must be a normal number above 0"),
              std::string::npos)
        << problem;
  }
  EXPECT_EQ(changed("\"scale\": 1,", "\"scale\": 1e60,"),
            "tensor '/layer1/Conv + bn' has a \"scale\" that is not finite");
  EXPECT_EQ(changed("\"scale\": 1,", "\"scale\": \"1\","),
            "tensor '/layer1/Conv + bn' has no number \"scale\"");
}

} // namespace
