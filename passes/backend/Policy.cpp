//===- Policy.cpp - what a device without a policy likes ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Policy.h"

#include "dialects/nn/Constants.h"
#include "passes/backend/Backend.h"
#include "passes/support/Shapes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace ingot;

static constexpr char kNoPolicy[] = "is for a device without a policy";

Policy::~Policy() = default;

const Policy &Policy::of(Operation *op) {
  static const Policy none;
  StringRef device = TargetsAttr::of(op).getDevice();
  for (const Backend *backend : BackendList::of(op->getContext()))
    if (backend->device().name == device)
      if (const Policy *policy = backend->policy())
        return *policy;
  return none;
}

Answer<bool> Policy::multiplyBytes(Operation *, const ByteSite &) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyDynamicBytes(Operation *) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyBytesInLoop(Operation *, int64_t) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyBytesAsFloats(nn::ConvOp) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyWords(Operation *, OptimizeFor) const {
  return {false, kNoPolicy};
}
HalfForm Policy::halfForm(Operation *, Precision asked) const {
  return asked == Precision::bf16 ? HalfForm::bf16 : HalfForm::f16Weights;
}
bool Policy::prefersBF16(Operation *) const { return false; }
Answer<bool> Policy::multiplyBF16(Operation *) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::storeHalfWeights(Operation *, int64_t) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyF16(Operation *) const {
  return {false, kNoPolicy};
}
Answer<std::optional<int64_t>> Policy::fitPairs(Operation *) const {
  return {std::nullopt, kNoPolicy};
}
Answer<bool> Policy::roundRows(nn::PackedMatMulOp) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::padChannels(nn::ConvOp) const {
  return {false, kNoPolicy};
}

int64_t ingot::countProductWeights(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *op) {
    if (isa<nn::ConvOp, nn::MatMulOp>(op) && nn::getConstant(op->getOperand(1)))
      count += support::productOf(support::shapeOf(op->getOperand(1)));
  });
  return count;
}

void ingot::record(Operation *op, Question question, StringRef choice,
                   StringRef reason, ArrayRef<Alternative> alternatives) {
  MLIRContext *context = op->getContext();
  if (!context->getRemarkEngine())
    return;
  SmallVector<AlternativeAttr> weighed;
  for (const Alternative &alternative : alternatives)
    weighed.push_back(
        AlternativeAttr::get(context, alternative.name, alternative.cycles));
  auto decision = DecisionAttr::get(context, question, choice, weighed, reason);
  remark::analysis(op->getLoc(),
                   remark::RemarkOpts::name(op->getName().getStringRef())
                       .category(kDecisionCategory))
      << remark::detail::Remark::Arg("Decision", decision);
}
