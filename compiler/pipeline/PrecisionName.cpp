//===- PrecisionName.cpp - precisions as users name them ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/PrecisionName.h"

#include "llvm/ADT/STLExtras.h"

using namespace ingot;

namespace {

struct Named {
  llvm::StringLiteral name;
  Precision precision;
  /// Level of bf16: selects which other values are stored as bf16, too. 0
  /// without bf16.
  int level;
  Quantization quantization;
};

} // namespace

/// Names of precisions. If several names mean the same, the first is printed.
static constexpr Named kNames[] = {
    {"fp32", Precision::fp32, 0, Quantization::none},
    {"O0", Precision::fp32, 0, Quantization::none},
    {"int8", Precision::fp32, 0, Quantization::none},
    {"auto", Precision::fp32, 0, Quantization::none},
    {"bf16", Precision::bf16, 1, Quantization::none},
    {"O1", Precision::bf16, 1, Quantization::none},
    {"O2", Precision::bf16, 2, Quantization::none},
    {"O3", Precision::bf16, 3, Quantization::none},
    {"fp16", Precision::fp16, 0, Quantization::none},
    {"tf32", Precision::tf32, 0, Quantization::none},
    {"int8-dynamic", Precision::fp32, 0, Quantization::int8Dynamic},
    {"w8", Precision::fp32, 0, Quantization::w8},
    {"w4", Precision::fp32, 0, Quantization::w4},
};

bool ingot::setPrecision(llvm::StringRef name, PipelineOptions &options) {
  auto named = llvm::find_if(
      kNames, [&](const Named &named) { return named.name == name; });
  if (named == std::end(kNames))
    return false;
  options.precision = named->precision;
  if (named->level)
    options.precisionLevel = named->level;
  options.quantization = named->quantization;
  return true;
}

std::string ingot::precisionName(const PipelineOptions &options) {
  if (options.precision == Precision::fp32 && !options.calibration.empty())
    return "int8";
  auto named = llvm::find_if(kNames, [&](const Named &named) {
    return named.precision == options.precision &&
           (!named.level || named.level == options.precisionLevel) &&
           named.quantization == options.quantization;
  });
  assert(named != std::end(kNames) && "a precision of several kinds");
  return named->name.str();
}

PipelineOptions ingot::withoutPrecision(PipelineOptions options) {
  const PipelineOptions usual;
  options.precision = usual.precision;
  options.precisionLevel = usual.precisionLevel;
  options.quantization = usual.quantization;
  options.calibration = usual.calibration;
  options.repairs = usual.repairs;
  options.keep = usual.keep;
  options.keepFromInt8 = usual.keepFromInt8;
  return options;
}

llvm::StringRef ingot::narrowName(const PipelineOptions &options) {
  if (options.quantization == Quantization::w8)
    return stringifyPrecision(Precision::w8);
  if (options.quantization == Quantization::w4)
    return stringifyPrecision(Precision::w4);
  return stringifyPrecision(options.precision == Precision::fp32
                                ? Precision::int8
                                : options.precision);
}
