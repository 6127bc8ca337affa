//===- TabulateBytes.cpp - nn-tabulate-bytes ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Evaluate.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

namespace ingot {
#define GEN_PASS_DEF_TABULATEBYTES
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

/// The entries of a table, one for each byte.
static constexpr int64_t kEntries = 256;

/// The maximum number of ops to tabulate. Quantized activations take fewer.
static constexpr size_t kMaxOps = 64;

static bool isByte(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().isUnsignedInteger(8) ||
                  type.getElementType().isSignlessInteger(8));
}

/// Returns the gather if `value` is already the result of a lookup in a table
/// of bytes.
static nn::GatherOp getLookup(Value value) {
  auto gather = value.getDefiningOp<nn::GatherOp>();
  if (!gather || !isByte(gather.getIndices()) || !isByte(gather.getX()) ||
      typeOf(gather.getX()).getShape() != ArrayRef<int64_t>(kEntries))
    return {};
  return gather;
}

/// Returns true if the op costs about as much as an addition in an epilogue.
/// Other ops become polynomials.
static bool isCheap(Operation *op) {
  return isa<nn::AbsOp, nn::AddOp, nn::CastOp, nn::ClampOp, nn::DivOp,
             nn::GatherOp, nn::HardSigmoidOp, nn::HardSwishOp, nn::LeakyReluOp,
             nn::MaxOp, nn::MinOp, nn::MulOp, nn::NegOp, nn::ReluOp,
             nn::RoundOp, nn::SubOp, nn::XorOp>(op);
}

namespace {

/// Elementwise ops that compute bytes from one tensor of bytes and constants.
struct Cone {
  SmallVector<Operation *> ops; // Operands before their users.
  Value source;
};

/// Walks from a result up to the tensors of bytes that it depends on.
class Finder {
public:
  explicit Finder(Operation *root) : root(root) {}

  /// Returns the ops and their single source. If there are several sources,
  /// returns nullopt and sets `reason`.
  std::optional<Cone> run(StringRef &reason) {
    if (!add(root, reason))
      return std::nullopt;
    // Looks through a lookup, because its result is also a function of the same
    // bytes.
    for (size_t i = 0; i < kMaxOps; ++i) {
      auto lookup = llvm::find_if(
          sources, [](Value source) { return bool(getLookup(source)); });
      if (lookup == sources.end())
        break;
      Value looked = *lookup;
      sources.remove(looked);
      ops.insert(looked.getDefiningOp());
      sources.insert(getLookup(looked).getIndices());
    }
    if (sources.size() != 1) {
      reason = "depends on several tensors, or on none";
      return std::nullopt;
    }
    Cone cone{ops.takeVector(), sources.front()};
    llvm::sort(cone.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    return cone;
  }

private:
  bool add(Operation *op, StringRef &reason) {
    if (!isa<nn::ElementwiseOpInterface>(op) ||
        op->getBlock() != root->getBlock() ||
        typeOf(op->getResult(0)).getShape() !=
            typeOf(root->getResult(0)).getShape()) {
      reason = "depends on an op that is not elementwise";
      return false;
    }
    if (!ops.insert(op))
      return true;
    if (ops.size() > kMaxOps) {
      reason = "depends on too many ops";
      return false;
    }
    for (Value operand : op->getOperands()) {
      if (nn::getSplat(operand))
        continue;
      if (isByte(operand) && typeOf(operand).getShape() ==
                                 typeOf(root->getResult(0)).getShape()) {
        sources.insert(operand);
        continue;
      }
      Operation *before = operand.getDefiningOp();
      if (!before || nn::getConstant(operand)) {
        reason = "depends on numbers that are not bytes";
        return false;
      }
      if (!add(before, reason))
        return false;
    }
    return true;
  }

  Operation *root;
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> sources;
};

} // namespace

/// Returns true if a kernel's epilogue stores `bytes` and no other op reads
/// them. The epilogue could then continue with the values in its registers.
static bool isInEpilogue(Value bytes) {
  SmallVector<Value> work{bytes};
  for (size_t i = 0; i < work.size() && i < kMaxOps; ++i) {
    Operation *op = work[i].getDefiningOp();
    if (!op || !work[i].hasOneUse())
      continue;
    if (cpu::isCpuKind(op))
      return true;
    if (isa<nn::ElementwiseOpInterface>(op))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Says why a loop or an epilogue of floats is as fast as a table, or faster.
static std::optional<StringRef> whyNot(const Cone &cone, Operation *root) {
  if (llvm::none_of(cone.ops, [](Operation *op) {
        return llvm::any_of(op->getOperands(), [](Value operand) {
          return isa<FloatType>(typeOf(operand).getElementType());
        });
      }))
    return "computes integers";
  bool isSimple = llvm::all_of(cone.ops, isCheap);
  auto hasInnerUsers = [&](Operation *op) {
    return op == root || llvm::all_of(op->getUsers(), [&](Operation *user) {
             return llvm::is_contained(cone.ops, user);
           });
  };
  if (llvm::any_of(cone.ops, [&](Operation *op) {
        return !isCheap(op) && !hasInnerUsers(op);
      }))
    return "has an intermediate result with other users";
  // An epilogue can continue with a result that only the function reads. It
  // computes expensive ops only if they are a chain.
  const bool isInner = llvm::all_of(cone.ops, hasInnerUsers);
  const bool isChain = llvm::all_of(
      cone.ops, [&](Operation *op) { return op == root || op->hasOneUse(); });
  if (!(isSimple ? isInner : isChain) || !isInEpilogue(cone.source))
    return std::nullopt;
  RankedTensorType type = typeOf(cone.source);
  if (isSimple)
    return "costs little in an epilogue";
  if (type.hasStaticShape() &&
      type.getNumElements() < cpu::threshold::tabulatedElements)
    return "has few elements";
  return std::nullopt;
}

/// Returns a table with the result of the ops for each byte. Returns null if an
/// op has no constant value.
static Value makeTable(OpBuilder &builder, const Cone &cone, Operation *root) {
  Type byte = typeOf(cone.source).getElementType();
  auto all = RankedTensorType::get({kEntries}, byte);
  std::vector<char> bytes(kEntries);
  std::iota(bytes.begin(), bytes.end(), 0);
  IRMapping values;
  auto makeBytes = [&](ElementsAttr attr) {
    return arith::ConstantOp::create(builder, root->getLoc(),
                                     cast<TypedAttr>(attr));
  };
  values.map(cone.source, makeBytes(nn::makeConstantAttr(all, bytes)));
  for (Operation *op : cone.ops) {
    // Replaces splat constants by scalars that broadcast. A constant that is a
    // table stays unchanged.
    for (Value operand : op->getOperands())
      if (std::optional<double> number = nn::getSplat(operand);
          number && !values.contains(operand) && !isa<nn::GatherOp>(op))
        values.map(operand, nn::makeScalar(builder, op->getLoc(),
                                           typeOf(operand).getElementType(),
                                           *number));
    Operation *copy = builder.clone(*op, values);
    RankedTensorType type = typeOf(op->getResult(0));
    copy->getResult(0).setType(
        RankedTensorType::get({kEntries}, type.getElementType()));
    ElementsAttr computed = nn::evaluate(copy, kEntries);
    copy->erase();
    if (!computed)
      return {};
    values.map(op->getResult(0), makeBytes(computed));
  }
  return values.lookup(root->getResult(0));
}

namespace {

/// Replaces f(bytes) by gather(table of f, bytes).
struct Tabulate : RewritePattern {
  Tabulate(MLIRContext *context, Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        count(count) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<nn::ElementwiseOpInterface>(op) || !isByte(op->getResult(0)))
      return rewriter.notifyMatchFailure(op, "computes no bytes");
    StringRef reason;
    std::optional<Cone> cone = Finder(op).run(reason);
    if (!cone)
      return rewriter.notifyMatchFailure(op, reason);
    if (std::optional<StringRef> why = whyNot(*cone, op))
      return rewriter.notifyMatchFailure(op, *why);
    Value table = makeTable(rewriter, *cone, op);
    if (!table)
      return rewriter.notifyMatchFailure(op, "has a value that is not known");
    rewriter.replaceOpWithNewOp<nn::GatherOp>(op, op->getResult(0).getType(),
                                              table, cone->source, /*axis=*/0);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct TabulateBytesPass
    : ingot::impl::TabulateBytesBase<TabulateBytesPass> {
  using TabulateBytesBase::TabulateBytesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Tabulate>(&getContext(), numTables);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    // Erase the ops that tables replaced, users before operands.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumRegions() == 0)
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace
