//===- FusePostOps.cpp - dnnl-fuse-post-ops -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/dnnl/lower/Passes.h"
#include "passes/kernel/EpilogueFusion.h"
#include "passes/support/Producers.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_FUSEPOSTOPS
#include "passes/dnnl/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using dnnl::EltwiseKind;
using support::typeOf;

/// The most post-ops of a primitive, which is more than models need. oneDNN
/// allows 32.
static constexpr size_t kMaxPostOps = 8;

//===----------------------------------------------------------------------===//
// Functions of one value
//===----------------------------------------------------------------------===//

static dnnl::EltwiseAttr eltwise(MLIRContext *context, EltwiseKind kind) {
  return dnnl::EltwiseAttr::get(context, kind, FloatAttr(), FloatAttr());
}

static dnnl::EltwiseAttr eltwise(MLIRContext *context, EltwiseKind kind,
                                 double alpha, double beta) {
  Builder builder(context);
  return dnnl::EltwiseAttr::get(context, kind,
                                builder.getF32FloatAttr(float(alpha)),
                                builder.getF32FloatAttr(float(beta)));
}

static double real(const APFloat &value) { return value.convertToDouble(); }

/// Returns the post-op that computes the unary `op`, or null.
static Attribute unaryPostOp(Operation *op) {
  MLIRContext *context = op->getContext();
  auto plain = [&](EltwiseKind kind) { return eltwise(context, kind); };
  return TypeSwitch<Operation *, Attribute>(op)
      .Case([&](nn::ReluOp) { return plain(EltwiseKind::relu); })
      .Case([&](nn::TanhOp) { return plain(EltwiseKind::tanh); })
      .Case([&](nn::AbsOp) { return plain(EltwiseKind::abs); })
      .Case([&](nn::SqrtOp) { return plain(EltwiseKind::sqrt); })
      .Case([&](nn::SigmoidOp) { return plain(EltwiseKind::sigmoid); })
      .Case([&](nn::ExpOp) { return plain(EltwiseKind::exp); })
      .Case([&](nn::LogOp) { return plain(EltwiseKind::log); })
      .Case([&](nn::NegOp) {
        return eltwise(context, EltwiseKind::linear, -1, 0);
      })
      .Case([&](nn::SoftplusOp) {
        return eltwise(context, EltwiseKind::softplus, 1, 0);
      })
      .Case([&](nn::LeakyReluOp leaky) {
        return eltwise(context, EltwiseKind::relu, real(leaky.getAlpha()), 0);
      })
      .Case([&](nn::EluOp elu) {
        return eltwise(context, EltwiseKind::elu, real(elu.getAlpha()), 0);
      })
      .Case([&](nn::GeluOp gelu) {
        return plain(gelu.getTanhApproximation() ? EltwiseKind::gelu_tanh
                                                 : EltwiseKind::gelu_erf);
      })
      .Case([&](nn::SwishOp swish) {
        return eltwise(context, EltwiseKind::swish, real(swish.getAlpha()), 0);
      })
      .Case([&](nn::HardSigmoidOp hard) {
        return eltwise(context, EltwiseKind::hard_sigmoid,
                       real(hard.getAlpha()), real(hard.getBeta()));
      })
      .Case([&](nn::HardSwishOp) {
        return eltwise(context, EltwiseKind::hard_swish, 1.0 / 6, 0.5);
      })
      .Case([&](nn::ClampOp clamp) {
        return eltwise(context, EltwiseKind::clip, real(clamp.getMin()),
                       real(clamp.getMax()));
      })
      .Default([](Operation *) { return Attribute(); });
}

/// Returns the post-op that computes `op` of x and the constant `c`, or null.
/// `swapped` is true if x is the second operand.
static Attribute scalarPostOp(Operation *op, double c, bool swapped) {
  MLIRContext *context = op->getContext();
  auto linear = [&](double scale, double shift) {
    return eltwise(context, EltwiseKind::linear, scale, shift);
  };
  if (!std::isfinite(c))
    return {};
  if (isa<nn::AddOp>(op))
    return linear(1, c);
  if (isa<nn::MulOp>(op))
    return linear(c, 0);
  if (isa<nn::SubOp>(op))
    return swapped ? linear(-1, c) : linear(1, -c);
  if (isa<nn::DivOp>(op) && !swapped && c != 0)
    return linear(1 / c, 0);
  if (isa<nn::MaxOp>(op))
    return eltwise(context, EltwiseKind::clip, c, INFINITY);
  if (isa<nn::MinOp>(op))
    return eltwise(context, EltwiseKind::clip, -INFINITY, c);
  if (isa<nn::PReluOp>(op) && !swapped)
    return eltwise(context, EltwiseKind::relu, c, 0);
  return {};
}

//===----------------------------------------------------------------------===//
// Functions of two tensors
//===----------------------------------------------------------------------===//

static std::optional<dnnl::BinaryKind> binaryKind(Operation *op, bool swapped) {
  if (swapped && !op->hasTrait<OpTrait::IsCommutative>())
    return std::nullopt;
  return TypeSwitch<Operation *, std::optional<dnnl::BinaryKind>>(op)
      .Case([](nn::AddOp) { return dnnl::BinaryKind::add; })
      .Case([](nn::MulOp) { return dnnl::BinaryKind::mul; })
      .Case([](nn::SubOp) { return dnnl::BinaryKind::sub; })
      .Case([](nn::DivOp) { return dnnl::BinaryKind::div; })
      .Case([](nn::MaxOp) { return dnnl::BinaryKind::max; })
      .Case([](nn::MinOp) { return dnnl::BinaryKind::min; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns true if oneDNN's fast kernels can read the broadcast operand. It
/// must have the full shape, one row along the last dimension (channels,
/// columns), or one element.
static bool isFastOperand(RankedTensorType type, RankedTensorType dst) {
  if (type == dst)
    return true;
  if (!type.hasStaticShape() || type.getRank() > dst.getRank() ||
      type.getElementType() != dst.getElementType())
    return false;
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.empty())
    return true;
  int64_t last = shape.back();
  return llvm::all_of(shape.drop_back(), [](int64_t n) { return n == 1; }) &&
         (last == 1 || last == dst.getShape().back());
}

/// Returns true if no op after `user` reads `value`, so that `value` may be
/// overwritten.
static bool diesAt(Value value, Operation *user, const support::Order &order) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != user->getBlock() ||
      matchPattern(value, m_Constant()))
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *other) {
    return other == user || (other->getBlock() == user->getBlock() &&
                             order.isBefore(other, user));
  });
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

namespace {

/// The form of epilogues as lists of post-ops. Each step is one post-op.
class PostOpsForm : public kernel::EpilogueForm {
public:
  bool isKernel(Operation *op) const override {
    return isa<dnnl::PostOpInterface>(op);
  }
  bool holds(Operation *, Type element) const override {
    return element.isF32();
  }
  bool append(const kernel::EpilogueSteps &steps,
              support::Order &order) override;

private:
  Attribute postOpOf(dnnl::PostOpInterface kernel, OpOperand &operand,
                     support::Order &order);
};

struct FusePostOpsPass : ingot::impl::FusePostOpsBase<FusePostOpsPass> {
  void runOnOperation() override {
    PostOpsForm form;
    fused += kernel::fuseEpilogues(getOperation(), form);
  }
};

} // namespace

/// Returns the post-op that computes the owner of `operand`, the result of
/// `kernel`. Returns null if there is none. Makes the op's other operand an
/// operand of `kernel`.
Attribute PostOpsForm::postOpOf(dnnl::PostOpInterface kernel,
                                OpOperand &operand, support::Order &order) {
  Operation *op = operand.getOwner();
  RankedTensorType type = typeOf(operand.get());
  if (op->getNumOperands() == 1)
    return unaryPostOp(op);
  if (op->getNumOperands() != 2)
    return {};
  bool swapped = operand.getOperandNumber() == 1;
  Value other = op->getOperand(swapped ? 0 : 1);
  if (std::optional<double> c = nn::getSplat(other))
    if (Attribute postOp = scalarPostOp(op, *c, swapped))
      return postOp;
  std::optional<dnnl::BinaryKind> kind = binaryKind(op, swapped);
  if (!kind || !isFastOperand(typeOf(other), type))
    return {};
  auto destination = cast<DestinationStyleOpInterface>(*kernel);
  OpOperand &init = *destination.getDpsInitOperand(0);
  if (isa<nn::AddOp>(op) && other.getType() == type && !dnnl::hasSum(kernel) &&
      init.get().getDefiningOp<tensor::EmptyOp>() && diesAt(other, op, order)) {
    Operation *empty = init.get().getDefiningOp();
    init.set(other);
    if (empty->use_empty())
      order.erase(empty);
    return dnnl::SumAttr::get(op->getContext());
  }
  OpBuilder builder(op);
  int64_t index = kernel.getPostOperands().size();
  kernel.getPostOperandsMutable().append(
      support::expandRank(builder, other, type.getRank()));
  return dnnl::BinaryAttr::get(op->getContext(), *kind, index);
}

bool PostOpsForm::append(const kernel::EpilogueSteps &steps,
                         support::Order &order) {
  auto kernel = cast<dnnl::PostOpInterface>(steps.kernel);
  Value result = steps.getResult();
  if (!result.hasOneUse() ||
      steps.getLast()->getResult(0).getType() != result.getType() ||
      kernel.getPostOps().size() >= kMaxPostOps)
    return false;
  Attribute postOp = postOpOf(kernel, *result.use_begin(), order);
  if (!postOp)
    return false;
  SmallVector<Attribute> postOps(kernel.getPostOps().getValue());
  postOps.push_back(postOp);
  kernel.setPostOpsAttr(Builder(kernel->getContext()).getArrayAttr(postOps));
  return true;
}
