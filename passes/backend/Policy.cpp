//===- Policy.cpp - what a device without a policy likes ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Policy.h"

#include "passes/backend/Backend.h"

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
Answer<bool> Policy::multiplyWords(Operation *, OptimizeFor) const {
  return {false, kNoPolicy};
}
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
Answer<bool> Policy::roundRows(Operation *, int64_t, int64_t) const {
  return {false, kNoPolicy};
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
