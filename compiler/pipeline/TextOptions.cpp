//===- TextOptions.cpp - phases as pipelines in text ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Pipeline.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace ingot;

namespace {

/// Option modifier without effect.
struct NoModifier {
  template <typename T>
  void apply(T &) const {}
};

} // namespace

template <typename T>
static llvm::cl::initializer<T> initialOf(const T &value) {
  return llvm::cl::init(value);
}
static NoModifier initialOf(const std::vector<std::string> &) { return {}; }

template <typename T>
static NoModifier valuesOf(const T &) {
  return {};
}
static llvm::cl::ValuesClass valuesOf(Precision) {
  return llvm::cl::values(
      clEnumValN(Precision::fp32, "fp32", "32-bit floats"),
      clEnumValN(Precision::bf16, "bf16", "bfloat16"),
      clEnumValN(Precision::fp16, "fp16", "float32 by weights of float16"),
      clEnumValN(Precision::tf32, "tf32", "float32 with 10 bits of fraction"));
}
static llvm::cl::ValuesClass valuesOf(Quantization) {
  return llvm::cl::values(
      clEnumValN(Quantization::none, "none", "nothing"),
      clEnumValN(Quantization::int8Dynamic, "int8-dynamic",
                 "weights, and data by the range that they have in a run"),
      clEnumValN(Quantization::w8, "w8", "weights of products, to 8 bits"),
      clEnumValN(Quantization::w4, "w4", "weights of products, to 4 bits"));
}
static llvm::cl::ValuesClass valuesOf(quantize::Int8Weights) {
  return quantize::int8WeightsValues();
}
static llvm::cl::ValuesClass valuesOf(OptimizeFor) {
  return optimizeForValues();
}

namespace {

/// PipelineOptions as text, e.g. `--ingot-linalg="precision=bf16"`.
struct TextOptions : PassPipelineOptions<TextOptions> {
  template <typename T>
  using OptionOf =
      std::conditional_t<std::is_same_v<T, std::vector<std::string>>,
                         ListOption<std::string>, Option<T>>;

#define INGOT_PIPELINE_OPTION(FIELD, NAME, SUMMARY)                            \
  OptionOf<decltype(PipelineOptions::FIELD)> FIELD{                            \
      *this, NAME, llvm::cl::desc(SUMMARY),                                    \
      initialOf(PipelineOptions().FIELD), valuesOf(PipelineOptions().FIELD)};
#include "base/options/Pipeline.inc"
#undef INGOT_PIPELINE_OPTION

  PipelineOptions get() const {
    PipelineOptions options;
#define INGOT_PIPELINE_OPTION(FIELD, NAME, SUMMARY)                            \
  assign(options.FIELD, FIELD);
#include "base/options/Pipeline.inc"
#undef INGOT_PIPELINE_OPTION
    return options;
  }

private:
  template <typename T>
  static void assign(T &field, const Option<T> &given) {
    field = given;
  }
  static void assign(std::vector<std::string> &field,
                     const ListOption<std::string> &given) {
    field.assign(given.begin(), given.end());
  }
};

} // namespace

void ingot::registerPipelines() {
  for (const Phase &phase : getPhases())
    PassPipelineRegistration<TextOptions>(
        std::string("ingot-") + phase.name, phase.description,
        [&phase](OpPassManager &passes, const TextOptions &options) {
          phase.build(passes, options.get());
        });
}
