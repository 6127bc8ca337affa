//===- CheckSizes.cpp - ingot-check-sizes ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that sizes do not overflow 64 bits. A result and its intermediate
// values fit if the magnitude of the result does (Magnitudes.h). The magnitude
// is computed in f64, which does not wrap around.
//
// Most sizes depend only on the sizes of inputs. The pass finds a power of two
// such that no magnitude is too large if all dimensions of inputs are below it.
// So a run usually makes one comparison. Only if an input is larger, it checks
// each magnitude that no other one covers.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/BufferSizes.h"
#include "passes/memory/Magnitudes.h"
#include "passes/memory/Passes.h"
#include "passes/memory/SizeChecks.h"
#include "passes/memory/SizePolynomials.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace ingot {
#define GEN_PASS_DEF_CHECKSIZES
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Limit of magnitudes that fit in 64 bits, with room for rounding errors of
/// f64.
static constexpr double kLimit = 0x1.fffp62;
/// Largest and smallest power of two to compare inputs with.
static constexpr int kMaxBits = 40, kMinBits = 12;
static constexpr StringLiteral kMessage =
    "a size is too large: it does not fit into 64 bits";

bool ingot::holdsChecksOnly(Operation *op) {
  if (!isa<scf::IfOp>(op) || op->getNumResults() != 0)
    return false;
  return !op->walk([&](Operation *inner) {
              bool fits = inner == op || isa<RequireOp, scf::YieldOp>(inner) ||
                          (inner->getNumRegions() == 0 && isPure(inner));
              return fits ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

namespace {

struct CheckSizesPass : ingot::impl::CheckSizesBase<CheckSizesPass> {
  void runOnOperation() override;
  void check(func::FuncOp function, ArrayRef<ShapeProfileAttr> profiles);
};

/// A domain of upper bounds for magnitudes.
class Bounds {
public:
  Bounds(ArrayRef<ShapeProfileAttr> profiles, double most)
      : profiles(profiles), most(most) {}

  using Number = double;
  double constant(double value) { return value; }
  double add(double a, double b) { return a + b; }
  double multiply(double a, double b) { return a * b; }
  double larger(double a, double b) { return std::max(a, b); }
  double sizeOf(BlockArgument input, int64_t dim) {
    double size = 0;
    for (ShapeProfileAttr profile : profiles)
      size = std::max(size, mostOf(profile, input.getArgNumber(), dim));
    return std::min(most, profiles.empty() ? most : size);
  }
  std::optional<double> other(Value) { return 0x1p63; }

private:
  static double mostOf(ShapeProfileAttr profile, unsigned input, int64_t dim) {
    for (SizeRangeAttr range : profile.getRanges())
      if (range.getInput() == input && range.getDim() == dim)
        return double(range.getMax());
    return 0x1p63;
  }

  ArrayRef<ShapeProfileAttr> profiles;
  double most;
};

/// Dimensions of inputs, and their sizes.
using InputSizes = llvm::MapVector<std::pair<BlockArgument, int64_t>, Value>;

/// A domain that creates code to compute magnitudes. `sizes` holds sizes that
/// are computed already.
class Code {
public:
  Code(OpBuilder &builder, Location loc, const InputSizes &sizes = {})
      : builder(builder), loc(loc), sizes(sizes) {}

  using Number = Value;
  Value constant(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value larger(Value a, Value b) {
    Value isLess =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
    return arith::SelectOp::create(builder, loc, isLess, b, a);
  }
  Value sizeOf(BlockArgument input, int64_t dim) {
    if (Value size = sizes.lookup({input, dim}))
      return toFloat(size);
    return toFloat(memref::DimOp::create(builder, loc, input, dim));
  }
  std::optional<Value> other(Value size) {
    Value number = toFloat(size);
    Value minus = arith::NegFOp::create(builder, loc, number);
    return larger(number, minus);
  }

private:
  Value toFloat(Value size) {
    if (size.getType().isIndex())
      size =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
    return arith::SIToFPOp::create(builder, loc, builder.getF64Type(), size);
  }

  OpBuilder &builder;
  Location loc;
  InputSizes sizes;
};

} // namespace

/// Returns the ops that need a check of their magnitude. Excludes ops that are
/// a part of another such op. In loops and branches, only ops that compute
/// buffer sizes count.
static SmallVector<Operation *> findResults(Block &body, bool isTop) {
  SmallVector<Operation *> results;
  for (Operation &op : body) {
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      for (Region &region : op.getRegions())
        for (Block &block : region)
          llvm::append_range(results, findResults(block, /*isTop=*/false));
      continue;
    }
    if (!isSizeArithmetic(&op) || !op.getResult(0).getType().isIndex())
      continue;
    auto isResultFor = [&](Operation *user) {
      return isTop ? !isSizeArithmetic(user)
                   : isa<memref::AllocOp, RoomOp>(user);
    };
    if (llvm::any_of(op.getUsers(), isResultFor))
      results.push_back(&op);
  }
  return results;
}

/// Adds the dimensions of inputs that `value` depends on.
static void addInputs(Value value, InputSizes &sizes) {
  struct Collector : Bounds {
    Collector(InputSizes &sizes) : Bounds({}, 0), sizes(sizes) {}
    double sizeOf(BlockArgument input, int64_t dim) {
      sizes.insert({{input, dim}, Value()});
      return 0;
    }
    InputSizes &sizes;
  } collector(sizes);
  (void)magnitudeOfInputs(collector, value);
}

/// Removes an op if its magnitude is at most that of another op for all sizes
/// of inputs.
static void dropCovered(SmallVectorImpl<Operation *> &ops) {
  SizePolynomials domain;
  Magnitudes<SizePolynomials> magnitudes(domain, /*ofInputs=*/true);
  SmallVector<std::pair<Operation *, SizePolynomials::Number>> kept;
  for (Operation *op : ops) {
    auto found = magnitudes.of(op->getResult(0));
    SizePolynomials::Number own = found ? *found : std::nullopt;
    if (own) {
      if (llvm::any_of(kept, [&](const auto &other) {
            return other.second && own->isAtMost(*other.second);
          }))
        continue;
      llvm::erase_if(kept, [&](const auto &other) {
        return other.second && other.second->isAtMost(*own);
      });
    }
    kept.push_back({op, std::move(own)});
  }
  ops.assign(llvm::make_first_range(kept).begin(),
             llvm::make_first_range(kept).end());
}

static void requireMagnitude(OpBuilder &builder, Location loc,
                             Value magnitude) {
  Value limit =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(kLimit));
  Value fits = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                     magnitude, limit);
  require(builder, loc, fits, kMessage);
}

void CheckSizesPass::check(func::FuncOp function,
                           ArrayRef<ShapeProfileAttr> profiles) {
  Block &body = function.getBody().front();
  SmallVector<Operation *> early;
  for (Operation *op : findResults(body, /*isTop=*/true)) {
    Value size = op->getResult(0);
    Bounds any(profiles, 0x1p63), ofOne(profiles, 1);
    std::optional<double> bound = magnitudeOfInputs(any, size);
    if (bound && *bound < kLimit)
      continue;
    // If the magnitude depends only on inputs, check it at the start of the
    // run. Add no check if constants alone exceed the limit, because constants
    // alone must never make a run fail.
    if (bound && *magnitudeOfInputs(ofOne, size) < kLimit) {
      early.push_back(op);
      continue;
    }
    // The size depends on data, so check it where it is computed.
    if (magnitudeOf(any, size) < kLimit)
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Code code(builder, op->getLoc());
    requireMagnitude(builder, op->getLoc(), magnitudeOf(code, size));
    ++numChecked;
  }
  dropCovered(early);
  if (early.empty())
    return;
  int bits = kMaxBits;
  auto isProved = [&](Operation *op) {
    Bounds small(profiles, std::ldexp(1.0, bits));
    return *magnitudeOfInputs(small, op->getResult(0)) < kLimit;
  };
  while (bits > kMinBits && !llvm::all_of(early, isProved))
    --bits;
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = function.getLoc();
  InputSizes sizes;
  for (Operation *op : early)
    addInputs(op->getResult(0), sizes);
  Value all;
  for (auto &[dim, size] : sizes) {
    size = memref::DimOp::create(builder, loc, dim.first, dim.second);
    all =
        all ? arith::OrIOp::create(builder, loc, all, size).getResult() : size;
  }
  Value most = arith::ConstantIndexOp::create(builder, loc, int64_t(1) << bits);
  Value isLarge =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, all, most);
  auto branch = scf::IfOp::create(builder, loc, isLarge,
                                  /*withElseRegion=*/false);
  OpBuilder inside = branch.getThenBodyBuilder();
  for (Operation *op : early) {
    OpBuilder &place = isProved(op) ? inside : builder;
    Code code(place, op->getLoc(), sizes);
    requireMagnitude(place, op->getLoc(),
                     *magnitudeOfInputs(code, op->getResult(0)));
    ++numChecked;
  }
}

void CheckSizesPass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<ShapeProfileAttr> profiles;
  ArrayAttr all =
      IngotDialect::ShapeProfilesAttrHelper(&getContext()).getAttr(module);
  // Ignore profiles if there is a general body, because inputs of this body may
  // have any sizes.
  if (all && !IngotDialect::TakesGeneralAttrHelper(&getContext())
                  .isAttrPresent(module))
    llvm::append_range(profiles, all.getAsRange<ShapeProfileAttr>());
  for (auto function : module.getOps<func::FuncOp>())
    if (findRunOperand(function, RunOperand::call) &&
        findRunOperand(function, RunOperand::arena) &&
        function.getBody().hasOneBlock())
      check(function, profiles);
}
