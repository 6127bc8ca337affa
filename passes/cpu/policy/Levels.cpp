//===- Levels.cpp - facts about all CPU levels ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Levels.h"

#include "dialects/ingot/TargetInfo.h"

using namespace mlir;
using namespace ingot;

static bool multipliesBF16(const TargetInfo &info) {
  return info.multipliesBF16();
}

static bool hasFP16(const TargetInfo &info) { return info.hasFP16; }

static bool hasByteDots(const TargetInfo &info) { return info.hasByteDots(); }

static bool hasTiles(const TargetInfo &info) { return info.hasTiles(); }

TargetInfo cpu::lowestLevel(Operation *op) {
  auto orderOf = [](TargetAttr target) {
    return findLevel(target.getLevel()) - getLevels().begin();
  };
  ArrayRef<TargetAttr> sure = TargetsAttr::of(op).getSure();
  TargetAttr lowest = *llvm::min_element(sure, [&](TargetAttr a, TargetAttr b) {
    return orderOf(a) < orderOf(b);
  });
  return lowest.getInfo();
}

bool cpu::someMultiplyBF16(Operation *op) {
  return TargetsAttr::of(op).any(multipliesBF16);
}

bool cpu::allMultiplyBF16(Operation *op) {
  return TargetsAttr::of(op).all(multipliesBF16);
}

bool cpu::addsF16Sums(Operation *op, Precision asked) {
  return asked == Precision::fp16 && TargetsAttr::of(op).all(hasFP16);
}

bool cpu::multipliesAsInt16(Operation *op) {
  return !TargetsAttr::of(op).anySure(hasByteDots);
}

bool cpu::addsByteDots(Operation *op) {
  return TargetsAttr::of(op).all(hasByteDots);
}

bool cpu::someHaveTiles(Operation *op) {
  return TargetsAttr::of(op).any(hasTiles);
}
