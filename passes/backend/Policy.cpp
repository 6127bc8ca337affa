//===- Policy.cpp - a device without a policy -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Policy.h"

#include "dialects/nn/Constants.h"
#include "passes/backend/Backend.h"
#include "passes/support/Shapes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

Answer<bool> Policy::multiplyInt8(Operation *, const Int8Candidate &) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyDynamicBytes(Operation *) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyBytesInLoop(Operation *, int64_t, int64_t) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyGroupsAsFloats(ArrayRef<int64_t>, int64_t) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyBytesAsFloats(nn::ConvOp) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyComputedBytes(nn::MatMulOp) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::fuseByteAttention(Operation *, RankedTensorType,
                                       RankedTensorType,
                                       RankedTensorType) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyInt16(Operation *, OptimizeFor) const {
  return {false, kNoPolicy};
}
HalfPrecisionForm Policy::halfPrecisionForm(Operation *,
                                            Precision asked) const {
  return asked == Precision::bf16 ? HalfPrecisionForm::bf16
                                  : HalfPrecisionForm::f16Weights;
}
bool Policy::prefersBF16(Operation *) const { return false; }
Answer<bool> Policy::multiplyBF16(Operation *) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyTF32(Operation *) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::storeF16Weights(Operation *, int64_t) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::multiplyF16(Operation *) const {
  return {false, kNoPolicy};
}
Answer<Layout> Policy::layOut(Operation *) const {
  return {Layout::channelsLast, kNoPolicy};
}
Answer<bool> Policy::multiplyPatches(nn::ConvOp) const {
  return {false, kNoPolicy};
}
Answer<std::optional<int64_t>> Policy::fitPairs(Operation *) const {
  return {std::nullopt, kNoPolicy};
}
Answer<bool> Policy::packWeights(nn::MatMulOp, const PackCandidate &) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::packWeightsInLoop(nn::MatMulOp, int64_t) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::unpackWeights(nn::PackedMatMulOp, int64_t,
                                   OptimizeFor) const {
  return {false, kNoPolicy};
}
Answer<bool> Policy::packTable(nn::GatherOp) const {
  return {false, kNoPolicy};
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

//===----------------------------------------------------------------------===//
// The decision trace
//===----------------------------------------------------------------------===//

/// Returns the sizes of the result of `op`. The sizes distinguish several ops
/// of one node.
static std::string sizesOf(Operation *op) {
  Value result;
  if (op->getNumResults())
    result = op->getResult(0);
  else if (auto styled = dyn_cast<DestinationStyleOpInterface>(op))
    result = styled.getNumDpsInits() ? styled.getDpsInits().front() : Value();
  auto type = result ? dyn_cast<ShapedType>(result.getType()) : ShapedType();
  if (!type || !type.hasRank())
    return "";
  return support::describeSizes(type.getShape());
}

/// Returns the CPU level that code is generated for. Returns "" in phases that
/// do not depend on the level, and for other devices than CPUs.
static StringRef levelOf(Operation *op) {
  if (TargetsAttr::of(op).getDevice() != kCpu.name)
    return "";
  auto module = op->getParentOfType<ModuleOp>();
  auto target =
      module ? IngotDialect::TargetAttrHelper(op->getContext()).getAttr(module)
             : TargetAttr();
  return target ? target.getLevel() : "";
}

/// Returns the number, from 1, of the shape profile that the function around
/// `op` is specialized for. Returns 0 if the function is for all sizes.
static int64_t profileOf(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto usual =
      function
          ? IngotDialect::UsualOfAttrHelper(op->getContext()).getAttr(function)
          : IntegerAttr();
  return usual ? usual.getInt() + 1 : 0;
}

bool ingot::isRecorded(Operation *op) {
  return op->getContext()->getRemarkEngine() != nullptr;
}

void ingot::record(Operation *op, Question question, StringRef choice,
                   StringRef reason, ArrayRef<Alternative> alternatives) {
  using Arg = remark::detail::Remark::Arg;
  MLIRContext *context = op->getContext();
  if (!isRecorded(op))
    return;
  SmallVector<AlternativeAttr> weighed;
  for (const Alternative &alternative : alternatives)
    weighed.push_back(
        AlternativeAttr::get(context, alternative.name, alternative.cycles));
  auto decision = DecisionAttr::get(context, question, choice, weighed, reason);
  auto remark = remark::analysis(
      op->getLoc(), remark::RemarkOpts::name(op->getName().getStringRef())
                        .category(kDecisionCategory));
  remark << Arg("Decision", decision);
  if (std::string sizes = sizesOf(op); !sizes.empty())
    remark << Arg("Sizes", sizes);
  if (StringRef device = TargetsAttr::of(op).getDevice(); device != kCpu.name)
    remark << Arg("Device", device);
  if (StringRef level = levelOf(op); !level.empty())
    remark << Arg("Level", level);
  if (int64_t profile = profileOf(op))
    remark << Arg("Profile", profile);
  if (llvm::any_of(alternatives, [](const Alternative &alternative) {
        return !alternative.reason.empty();
      }))
    for (const Alternative &alternative : alternatives)
      remark << Arg("WhyNot", alternative.reason);
}
