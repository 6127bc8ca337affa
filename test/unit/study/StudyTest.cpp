//===- StudyTest.cpp - studies as another program calls them --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/Calibrate.h"
#include "compiler/study/compare/Comparison.h"
#include "compiler/study/precision/PrecisionStudy.h"
#include "compiler/study/report/Report.h"
#include "test/unit/base/Folder.h"

#include "mlir/IR/MLIRContext.h"

#include <random>
#include <string.h>

using namespace ingot;
using namespace ingot::study;

namespace {

std::string numbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(normal(random));
  return text;
}

/// Records steps and messages. Cancels when it is asked for the time number
/// `cancelAt`.
struct Listener {
  std::vector<std::string> phases;
  std::vector<double> fractions;
  std::vector<Message> messages;
  size_t asked = 0, cancelAt = SIZE_MAX;

  Progress progress() {
    Progress result;
    result.onStep = [this](const std::string &phase, double fraction) {
      phases.push_back(phase);
      fractions.push_back(fraction);
    };
    result.onMessage = [this](const Message &message) {
      messages.push_back(message);
    };
    result.isCancelled = [this] { return ++asked >= cancelAt; };
    return result;
  }
};

/// Has a model and samples. Checks that nothing is printed, and that no
/// temporary folder is left.
class Study : public test::Folder {
protected:
  void SetUp() override {
    write("model.onnx",
          "<ir_version: 8, opset_import: [\"\" : 17]>\n"
          "convolutions (float[1,16,8,8] x) => (float[1,16,8,8] y)\n"
          "<float[16,16,3,3] w = {" +
              numbers(16 * 16 * 9, 1) + "}, float[16,16,1,1] v = {" +
              numbers(16 * 16, 2) +
              "}>\n{\n  c = Conv <pads = [1,1,1,1]> (x, w)\n"
              "  r = Relu (c)\n  y = Conv (r, v)\n}\n");
    writeSamples("samples.npy", 12);
    std::filesystem::create_directory(at("tmp"));
    setenv("TMPDIR", at("tmp").c_str(), /*overwrite=*/1);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }

  void TearDown() override {
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_TRUE(std::filesystem::is_empty(at("tmp")));
    unsetenv("TMPDIR");
  }

  void writeSamples(const std::string &name, int64_t count) const {
    tools::Array array;
    array.dtype = INGOT_FLOAT;
    array.dims = {count, 16, 8, 8};
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count * 16 * 8 * 8; ++i) {
      const float value = normal(random);
      const auto *bytes = reinterpret_cast<const unsigned char *>(&value);
      array.data.insert(array.data.end(), bytes, bytes + sizeof(value));
    }
    ASSERT_EQ(tools::writeNpy(at(name), array), "");
  }

  CalibrateOptions calibrateOptions() const {
    CalibrateOptions options;
    options.model = at("model.onnx");
    options.data.paths = {at("samples.npy")};
    options.repairs = {/*isAutomatic=*/false, {}};
    options.threads = 1;
    return options;
  }

  /// Writes a calibration, and an artifact of it.
  void compileInt8() {
    llvm::Expected<Calibration> found = calibrate(calibrateOptions(), {});
    ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
    ASSERT_EQ(textOf(writeCalibration(*found, at("calib.json"))), "");
    CompileOptions options;
    options.input = at("model.onnx");
    options.output = at("model.so");
    options.pipeline.calibration = at("calib.json");
    std::unique_ptr<mlir::MLIRContext> context = createContext();
    ASSERT_TRUE(succeeded(compileModel(options, *context)));
  }

  static std::string textOf(llvm::Error error) {
    return llvm::toString(std::move(error));
  }
};

TEST_F(Study, Calibrates) {
  Listener listener;
  llvm::Expected<Calibration> found =
      calibrate(calibrateOptions(), listener.progress());
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->file.model, "model.onnx");
  EXPECT_EQ(found->file.samples, 12u);
  ASSERT_EQ(found->file.tensors.size(), 2u);
  EXPECT_EQ(found->file.tensors[0].name, "x");
  EXPECT_LT(found->file.tensors[0].min, 0);
  EXPECT_TRUE(found->trials.empty());
  EXPECT_FALSE(found->outcome);
  EXPECT_TRUE(listener.messages.empty());
  EXPECT_FALSE(std::filesystem::exists(at("calib.json")));
  ASSERT_EQ(textOf(writeCalibration(*found, at("calib.json"))), "");
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(at("calib.json"));
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(toText(*read), toText(found->file));
}

TEST_F(Study, ReportsRisingFractions) {
  Listener listener;
  CalibrateOptions options = calibrateOptions();
  options.repairs = {false, {RepairKind::equalize, RepairKind::bias}};
  options.method.method = quantize::Method::best;
  llvm::Expected<Calibration> found =
      calibrate(std::move(options), listener.progress());
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_GT(listener.phases.size(), 50u);
  EXPECT_TRUE(
      std::is_sorted(listener.fractions.begin(), listener.fractions.end()));
  EXPECT_GE(listener.fractions.front(), 0);
  EXPECT_EQ(listener.fractions.back(), 1);
}

TEST_F(Study, TriesRepairs) {
  CalibrateOptions options = calibrateOptions();
  options.repairs = {false, {RepairKind::round, RepairKind::bias}};
  llvm::Expected<Calibration> found = calibrate(std::move(options), {});
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  ASSERT_EQ(found->trials.size(), 2u);
  EXPECT_EQ(found->trials[0].name, "round");
  EXPECT_GT(found->trials[0].before, 0);
  EXPECT_EQ(found->trials[0].isKept, !found->file.rounding.empty());
  EXPECT_EQ(found->trials[1].isKept, !found->file.biases.empty());
}

TEST_F(Study, MeasuresWhatRepairsAreNeeded) {
  CalibrateOptions options = calibrateOptions();
  options.repairs = {};
  llvm::Expected<Calibration> found = calibrate(std::move(options), {});
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  ASSERT_TRUE(found->outcome.has_value());
  const MeasuredError &error = found->outcome->after;
  // All samples were run, so that the error is exact.
  EXPECT_EQ(error.samples, found->file.samples);
  EXPECT_GT(error.error, 0);
  EXPECT_LT(error.error, ErrorMeter::kMostError);
  EXPECT_EQ(error.low, error.error);
  EXPECT_EQ(error.high, error.error);
  EXPECT_FALSE(error.output.empty());
}

TEST_F(Study, StopsWhereverItIsCancelled) {
  CalibrateOptions options = calibrateOptions();
  options.repairs = {false, {RepairKind::equalize, RepairKind::bias}};
  Listener all;
  ASSERT_TRUE(bool(calibrate(options, all.progress())));
  ASSERT_GT(all.asked, 20u);
  for (size_t cancelAt : {size_t(1), size_t(2), size_t(5), all.asked / 3,
                          all.asked / 2, all.asked - 1, all.asked}) {
    Listener listener;
    listener.cancelAt = cancelAt;
    llvm::Expected<Calibration> found = calibrate(options, listener.progress());
    ASSERT_FALSE(bool(found)) << "at " << cancelAt;
    llvm::Error error = found.takeError();
    EXPECT_TRUE(error.isA<Cancelled>());
    EXPECT_EQ(textOf(std::move(error)), "cancelled");
    EXPECT_TRUE(std::filesystem::is_empty(at("tmp")));
    EXPECT_LT(listener.fractions.empty() ? 0 : listener.fractions.back(), 1);
  }
  EXPECT_EQ(names(), (test::Names{"model.onnx", "samples.npy", "tmp"}));
}

TEST_F(Study, WarnsThroughTheCallback) {
  writeSamples("few.npy", 2);
  CalibrateOptions options = calibrateOptions();
  options.data.paths = {at("few.npy")};
  Listener listener;
  ASSERT_TRUE(bool(calibrate(std::move(options), listener.progress())));
  ASSERT_EQ(listener.messages.size(), 1u);
  EXPECT_EQ(listener.messages[0].severity, Severity::warning);
  EXPECT_EQ(listener.messages[0].text, "there are 2 samples: ranges may be too "
                                       "narrow; 100 to 500 are usual");
}

TEST_F(Study, NamesTheNodeOfAnError) {
  write("wrong.onnx", "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                      "wrong (float[1,3,8,8] x) => (float[1,2,8,8] y)\n"
                      "<float[2,5,1,1] w = {" +
                          numbers(10, 1) + "}>\n{\n  y = Conv (x, w)\n}\n");
  CalibrateOptions options = calibrateOptions();
  options.model = at("wrong.onnx");
  const std::string model = options.model;
  llvm::Expected<Calibration> found = calibrate(std::move(options), {});
  ASSERT_FALSE(bool(found));
  llvm::handleAllErrors(found.takeError(), [&](const StudyError &error) {
    EXPECT_FALSE(error.isUsage());
    ASSERT_FALSE(error.messages().empty());
    EXPECT_EQ(error.messages()[0].severity, Severity::error);
    EXPECT_EQ(error.messages()[0].file, model);
    EXPECT_NE(error.messages()[0].node, "");
    EXPECT_EQ(error.messages()[0].op, "Conv");
    EXPECT_NE(error.messages()[0].text, "");
  });
}

TEST_F(Study, TellsWhatIsWrong) {
  CalibrateOptions options = calibrateOptions();
  options.data.paths = {at("none.npy")};
  EXPECT_EQ(textOf(calibrate(options, {}).takeError()),
            "cannot read '" + at("none.npy") + "': No such file or directory");
  options = calibrateOptions();
  options.numSamples = 3;
  llvm::handleAllErrors(
      calibrate(options, {}).takeError(),
      [](const StudyError &error) { EXPECT_TRUE(error.isUsage()); });
}

TEST_F(Study, Compares) {
  compileInt8();
  CompareOptions options;
  options.artifact = at("model.so");
  options.model = at("model.onnx");
  options.data = {at("samples.npy")};
  options.perLayer = options.sensitivity = true;
  options.tolerance.output = 0.5;
  options.threads = 1;
  Listener listener;
  llvm::Expected<Comparison> found = compare(options, listener.progress());
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->samples, 12u);
  EXPECT_EQ(found->precision, "int8");
  ASSERT_EQ(found->outputs.size(), 1u);
  EXPECT_EQ(found->outputs[0].name, "y");
  EXPECT_GT(found->outputs[0].difference.relative(), 0);
  EXPECT_TRUE(found->isWithin());
  ASSERT_TRUE(found->tensors.has_value());
  EXPECT_EQ(found->tensors->size(), 2u);
  ASSERT_TRUE(found->sensitivity.has_value());
  EXPECT_EQ(found->sensitivity->layers.size(), 2u);
  EXPECT_TRUE(
      std::is_sorted(listener.fractions.begin(), listener.fractions.end()));
  EXPECT_EQ(listener.fractions.back(), 1);

  options.tolerance.output = 1e-9;
  options.perLayer = options.sensitivity = false;
  found = compare(options, {});
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_FALSE(found->isWithin());

  Listener cancelled;
  cancelled.cancelAt = 4;
  llvm::Error error = compare(options, cancelled.progress()).takeError();
  EXPECT_TRUE(error.isA<Cancelled>());
  llvm::consumeError(std::move(error));
}

TEST_F(Study, ChoosesPrecisions) {
  StudyOptions options;
  options.model = at("model.onnx");
  options.data.paths = {at("samples.npy")};
  options.maxDrop = 100;
  options.isReported = true;
  Listener listener;
  llvm::Expected<study::Study> found =
      studyPrecision(options, listener.progress());
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->layers.size(), 2u);
  ASSERT_TRUE(found->search.has_value());
  EXPECT_EQ(found->search->rows, 12u * 16 * 8);
  EXPECT_TRUE(found->fp32.latencyMs.has_value());
  EXPECT_TRUE(
      std::is_sorted(listener.fractions.begin(), listener.fractions.end()));
  EXPECT_EQ(listener.fractions.back(), 1);
  PipelineOptions pipeline;
  found->choice.applyTo(pipeline);
  // The calibration is a temporary file of the study and is removed with it.
  if (!pipeline.calibration.empty())
    EXPECT_TRUE(std::filesystem::exists(pipeline.calibration));

  ASSERT_EQ(textOf(writeReport(*found, at("report.html"))), "");
  EXPECT_NE(read("report.json").find("\"ingot_report\": 1"), std::string::npos);
  EXPECT_NE(read("report.html").find("model.onnx"), std::string::npos);
  EXPECT_NE(textOf(writeReport(*found, at("none/report.html"))), "");

  for (size_t cancelAt : {size_t(1), listener.asked / 2, listener.asked}) {
    Listener cancelled;
    cancelled.cancelAt = cancelAt;
    llvm::Error error =
        studyPrecision(options, cancelled.progress()).takeError();
    EXPECT_TRUE(error.isA<Cancelled>()) << "at " << cancelAt;
    llvm::consumeError(std::move(error));
  }
}

TEST_F(Study, RunsTwiceInOneProcess) {
  llvm::Expected<Calibration> first = calibrate(calibrateOptions(), {});
  ASSERT_TRUE(bool(first)) << llvm::toString(first.takeError());
  llvm::Expected<Calibration> second = calibrate(calibrateOptions(), {});
  ASSERT_TRUE(bool(second)) << llvm::toString(second.takeError());
  EXPECT_EQ(toText(first->file), toText(second->file));
}

} // namespace
