//===- ScalarProgram.cpp - runs scalar bodies on constants ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ScalarProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace ingot::nn;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static unsigned widthOf(Value value) {
  Type type = value.getType();
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// Returns the low `width` bits as an unsigned number.
static uint64_t bitsOf(int64_t value, unsigned width) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

/// Rounds `value` to `type` and returns the result as a double.
static double roundTo(FloatType type, double value) {
  if (type.isF32())
    return float(value);
  APFloat number(value);
  bool lossy;
  for (const llvm::fltSemantics *semantics :
       {&type.getFloatSemantics(), &APFloat::IEEEdouble()})
    number.convert(*semantics, APFloat::rmNearestTiesToEven, &lossy);
  return number.convertToDouble();
}

/// Returns the larger value, or NaN if either is NaN. 0 counts as larger than
/// -0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

/// Results of a comparison, as bits of a predicate.
enum Order : unsigned { kEqual = 1, kLess = 2, kGreater = 4, kUnordered = 8 };

template <typename T> static Order orderOf(T a, T b) {
  return a == b ? kEqual : a < b ? kLess : a > b ? kGreater : kUnordered;
}

static unsigned acceptedOrders(arith::CmpIPredicate predicate) {
  auto holds = [&](uint64_t a, uint64_t b) {
    return arith::applyCmpPredicate(predicate, APInt(8, a), APInt(8, b));
  };
  return holds(0, 0) * kEqual | holds(0, 1) * kLess | holds(1, 0) * kGreater;
}
static unsigned acceptedOrders(arith::CmpFPredicate predicate) {
  auto holds = [&](double a, double b) {
    return arith::applyCmpPredicate(predicate, APFloat(a), APFloat(b));
  };
  return holds(0, 0) * kEqual | holds(0, 1) * kLess | holds(1, 0) * kGreater |
         holds(NAN, 0) * kUnordered;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

/// Computes the column of an op's result from the columns of its operands.
/// Returns false if a result is undefined.
using Kernel =
    std::function<bool(Lane *out, const Lane *const *in, size_t count)>;

// Kernels of scalar functions. Each has its own loop, which the compiler can
// vectorize.

template <typename F> Kernel perLane(F f) {
  return [f](Lane *out, const Lane *const *in, size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (!f(out[i], in, i))
        return false;
    return true;
  };
}

/// Reads a lane as a double, or as a signed or unsigned integer of `width`
/// bits.
template <typename T> T read(Lane lane, unsigned width) {
  if constexpr (std::is_same_v<T, double>)
    return lane.f;
  else if constexpr (std::is_same_v<T, int64_t>)
    return lane.i;
  else
    return bitsOf(lane.i, width);
}

template <typename F> Kernel floats(F f) {
  return perLane([f](Lane &out, auto *in, size_t i) {
    if constexpr (std::is_invocable_v<F, double>)
      out.f = f(in[0][i].f);
    else
      out.f = f(in[0][i].f, in[1][i].f);
    return true;
  });
}
/// Makes a kernel on integers that wraps results to `width` bits. `f` may
/// return no value.
template <typename T, typename F> Kernel ints(unsigned width, F f) {
  return perLane([f, width](Lane &out, auto *in, size_t i) {
    std::optional<int64_t> y =
        f(read<T>(in[0][i], width), read<T>(in[1][i], width));
    out.i = signExtend(y.value_or(0), width);
    return y.has_value();
  });
}
template <typename T> Kernel compare(unsigned width, unsigned accepted) {
  return perLane([=](Lane &out, auto *in, size_t i) {
    out.i = (orderOf(read<T>(in[0][i], width), read<T>(in[1][i], width)) &
             accepted) != 0;
    return true;
  });
}
/// Makes a kernel that converts between types.
template <typename F> Kernel convert(F f) {
  return perLane(
      [f](Lane &out, auto *in, size_t i) { return f(out, in[0][i]); });
}

} // namespace

/// Returns the kernel of a function of floats.
static Kernel floatKernel(Operation *op) {
  using Unary = double (*)(double);
  auto unary =
      llvm::TypeSwitch<Operation *, Unary>(op)
          .Case([](math::AbsFOp) -> Unary { return std::fabs; })
          .Case([](math::CeilOp) -> Unary { return std::ceil; })
          .Case([](math::FloorOp) -> Unary { return std::floor; })
          .Case([](math::RoundEvenOp) -> Unary { return std::nearbyint; })
          .Case([](math::SqrtOp) -> Unary { return std::sqrt; })
          .Case([](math::ExpOp) -> Unary { return std::exp; })
          .Case([](math::LogOp) -> Unary { return std::log; })
          .Case([](math::Log1pOp) -> Unary { return std::log1p; })
          .Case([](math::SinOp) -> Unary { return std::sin; })
          .Case([](math::CosOp) -> Unary { return std::cos; })
          .Case([](math::TanOp) -> Unary { return std::tan; })
          .Case([](math::AsinOp) -> Unary { return std::asin; })
          .Case([](math::AcosOp) -> Unary { return std::acos; })
          .Case([](math::AtanOp) -> Unary { return std::atan; })
          .Case([](math::SinhOp) -> Unary { return std::sinh; })
          .Case([](math::CoshOp) -> Unary { return std::cosh; })
          .Case([](math::TanhOp) -> Unary { return std::tanh; })
          .Case([](math::AsinhOp) -> Unary { return std::asinh; })
          .Case([](math::AcoshOp) -> Unary { return std::acosh; })
          .Case([](math::AtanhOp) -> Unary { return std::atanh; })
          .Case([](math::ErfOp) -> Unary { return std::erf; })
          .Case([](arith::NegFOp) -> Unary {
            return [](double x) { return -x; };
          })
          .Default([](Operation *) -> Unary { return nullptr; });
  if (unary)
    return floats(unary);
  using Pair = double (*)(double, double);
  return llvm::TypeSwitch<Operation *, Kernel>(op)
      .Case([](arith::AddFOp) { return floats(std::plus<double>()); })
      .Case([](arith::SubFOp) { return floats(std::minus<double>()); })
      .Case([](arith::MulFOp) { return floats(std::multiplies<double>()); })
      .Case([](arith::DivFOp) { return floats(std::divides<double>()); })
      .Case([](arith::RemFOp) { return floats(Pair(std::fmod)); })
      .Case([](math::PowFOp) { return floats(Pair(std::pow)); })
      .Case([](arith::MaximumFOp) { return floats(maximum); })
      .Case([](arith::MinimumFOp) {
        return floats([](double a, double b) { return -maximum(-a, -b); });
      })
      .Case([](math::FmaOp op) -> Kernel {
        // The result is rounded once.
        if (!op.getType().isF32())
          return Kernel();
        return perLane([](Lane &out, auto *in, size_t i) {
          out.f = std::fma(float(in[0][i].f), float(in[1][i].f),
                           float(in[2][i].f));
          return true;
        });
      })
      .Case([](arith::CmpFOp op) {
        return compare<double>(64, acceptedOrders(op.getPredicate()));
      })
      .Default([](Operation *) { return Kernel(); });
}

/// Returns the kernel with results rounded to `type`.
static Kernel rounded(Kernel kernel, FloatType type) {
  return [kernel = std::move(kernel), type](Lane *out, const Lane *const *in,
                                            size_t count) {
    if (!kernel(out, in, count))
      return false;
    for (size_t i = 0; i < count; ++i)
      out[i].f = roundTo(type, out[i].f);
    return true;
  };
}

/// Returns the kernel of an integer operation.
static Kernel intKernel(Operation *op) {
  unsigned w = widthOf(op->getOperand(0));
  using Result = std::optional<int64_t>;
  auto max = [](auto a, auto b) { return std::max(a, b); };
  auto min = [](auto a, auto b) { return std::min(a, b); };
  // The smallest value divided by -1 wraps, as in a run.
  auto divide = [](int64_t a, int64_t b) -> Result {
    return b == -1 ? -uint64_t(a) : b ? Result(a / b) : std::nullopt;
  };
  auto remainder = [](int64_t a, int64_t b) -> Result {
    return b == -1 ? 0 : b ? Result(a % b) : std::nullopt;
  };
  auto divideBits = [](uint64_t a, uint64_t b) {
    return b ? Result(a / b) : std::nullopt;
  };
  auto remainderBits = [](uint64_t a, uint64_t b) {
    return b ? Result(a % b) : std::nullopt;
  };
  auto shiftLeft = [w](uint64_t a, uint64_t b) {
    return b < w ? Result(a << b) : std::nullopt;
  };
  auto shiftRight = [w](uint64_t a, uint64_t b) {
    return b < w ? Result(a >> b) : std::nullopt;
  };
  using I = int64_t;
  using U = uint64_t;
  return llvm::TypeSwitch<Operation *, Kernel>(op)
      .Case([=](arith::AddIOp) { return ints<U>(w, std::plus<U>()); })
      .Case([=](arith::SubIOp) { return ints<U>(w, std::minus<U>()); })
      .Case([=](arith::MulIOp) { return ints<U>(w, std::multiplies<U>()); })
      .Case([=](arith::AndIOp) { return ints<U>(w, std::bit_and<U>()); })
      .Case([=](arith::OrIOp) { return ints<U>(w, std::bit_or<U>()); })
      .Case([=](arith::XOrIOp) { return ints<U>(w, std::bit_xor<U>()); })
      .Case([=](arith::MaxSIOp) { return ints<I>(w, max); })
      .Case([=](arith::MaxUIOp) { return ints<U>(w, max); })
      .Case([=](arith::MinSIOp) { return ints<I>(w, min); })
      .Case([=](arith::MinUIOp) { return ints<U>(w, min); })
      .Case([=](arith::DivSIOp) { return ints<I>(w, divide); })
      .Case([=](arith::DivUIOp) { return ints<U>(w, divideBits); })
      .Case([=](arith::RemSIOp) { return ints<I>(w, remainder); })
      .Case([=](arith::RemUIOp) { return ints<U>(w, remainderBits); })
      .Case([=](arith::ShLIOp) { return ints<U>(w, shiftLeft); })
      .Case([=](arith::ShRUIOp) { return ints<U>(w, shiftRight); })
      .Case([=](math::AbsIOp) {
        return convert([w](Lane &out, Lane x) {
          out.i = signExtend(x.i < 0 ? -uint64_t(x.i) : x.i, w);
          return true;
        });
      })
      .Case([=](arith::CmpIOp op) {
        unsigned accepted = acceptedOrders(op.getPredicate());
        return op.getPredicate() < arith::CmpIPredicate::ult
                   ? compare<I>(w, accepted)
                   : compare<U>(w, accepted);
      })
      .Default([](Operation *) { return Kernel(); });
}

/// Returns the kernel of a conversion or of a selection, for any type.
static Kernel conversionKernel(Operation *op) {
  unsigned from = widthOf(op->getOperand(0)), to = widthOf(op->getResult(0));
  auto rounded = dyn_cast<FloatType>(op->getResult(0).getType());
  auto keep = [](Lane &out, Lane x) {
    out = x;
    return true;
  };
  return llvm::TypeSwitch<Operation *, Kernel>(op)
      .Case([&](arith::ExtFOp) { return convert(keep); })
      .Case([&](arith::TruncFOp op) -> Kernel {
        // Skips rounding if the result has no users. The code that makes the
        // tensor then rounds it.
        if (op->use_empty())
          return convert(keep);
        return convert([rounded](Lane &out, Lane x) {
          out.f = roundTo(rounded, x.f);
          return true;
        });
      })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>([=](auto) {
        return convert([to](Lane &out, Lane x) {
          out.i = signExtend(x.i, to);
          return true;
        });
      })
      .Case([=](arith::ExtUIOp) {
        return convert([from](Lane &out, Lane x) {
          out.i = int64_t(bitsOf(x.i, from));
          return true;
        });
      })
      .Case([=](arith::SIToFPOp) {
        return convert([isSingle = rounded.isF32()](Lane &out, Lane x) {
          out.f = isSingle ? float(x.i) : double(x.i);
          return true;
        });
      })
      .Case([=](arith::UIToFPOp) {
        return convert([from, isSingle = rounded.isF32()](Lane &out, Lane x) {
          uint64_t bits = bitsOf(x.i, from);
          out.f = isSingle ? float(bits) : double(bits);
          return true;
        });
      })
      // Beyond the range of the integers, the result is that of the machine's
      // instruction.
      .Case([=](arith::FPToSIOp) {
        double limit = std::ldexp(1.0, int(to) - 1);
        return convert([limit](Lane &out, Lane x) {
          double whole = std::trunc(x.f);
          bool isDefined = whole >= -limit && whole < limit;
          out.i = isDefined ? int64_t(whole) : 0;
          return isDefined;
        });
      })
      .Case([=](arith::FPToUIOp) {
        double limit = std::ldexp(1.0, int(to));
        return convert([to, limit](Lane &out, Lane x) {
          bool isDefined = x.f > -1 && x.f < limit;
          out.i = isDefined ? signExtend(int64_t(uint64_t(x.f)), to) : 0;
          return isDefined;
        });
      })
      .Case([=](arith::BitcastOp op) -> Kernel {
        Type in = op.getIn().getType();
        if (in.isF64())
          return convert([](Lane &out, Lane x) {
            out.i = llvm::bit_cast<int64_t>(x.f);
            return true;
          });
        if (in.isF32())
          return convert([](Lane &out, Lane x) {
            out.i = llvm::bit_cast<int32_t>(float(x.f));
            return true;
          });
        if (!rounded || (to != 32 && to != 64))
          return Kernel();
        return convert([to](Lane &out, Lane x) {
          out.f = to == 64 ? llvm::bit_cast<double>(x.i)
                           : double(llvm::bit_cast<float>(int32_t(x.i)));
          return true;
        });
      })
      .Case([](arith::SelectOp) {
        return perLane([](Lane &out, auto *in, size_t i) {
          out = in[0][i].i ? in[1][i] : in[2][i];
          return true;
        });
      })
      .Default([](Operation *) { return Kernel(); });
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Returns the value of a constant.
static Lane readConstant(arith::ConstantOp op) {
  Lane lane;
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    lane.f = number.getValueAsDouble();
  else
    lane.i = signExtend(
        cast<IntegerAttr>(op.getValue()).getValue().getSExtValue(),
        widthOf(op));
  return lane;
}

std::optional<ScalarProgram> ScalarProgram::create(Block &block, Value result,
                                                   size_t lanes) {
  ScalarProgram program;
  // Reserves all columns first, because steps keep their addresses. A constant
  // operand may be outside of the block.
  size_t most = block.getNumArguments();
  for (Operation &op : block)
    most += 1 + op.getNumOperands();
  program.columns.reserve(most);
  llvm::SmallDenseMap<Value, Lane *> columnOf;
  Lane zero;
  zero.i = 0;
  auto add = [&](Value value, Lane fill) {
    program.columns.emplace_back(lanes, fill);
    return columnOf[value] = program.columns.back().data();
  };
  for (BlockArgument argument : block.getArguments())
    add(argument, zero);
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      add(constant, readConstant(constant));
      continue;
    }
    Kernel kernel = floatKernel(&op);
    auto type = dyn_cast<FloatType>(op.getResult(0).getType());
    if (kernel && type && !type.isF64())
      kernel = rounded(std::move(kernel), type);
    if (!kernel)
      kernel = intKernel(&op);
    if (!kernel)
      kernel = conversionKernel(&op);
    if (!kernel)
      return std::nullopt;
    SmallVector<const Lane *, 3> in;
    for (Value operand : op.getOperands()) {
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      if (constant && !columnOf.contains(operand))
        add(operand, readConstant(constant));
      in.push_back(columnOf.lookup(operand));
      if (!in.back())
        return std::nullopt;
    }
    program.steps.push_back(
        [kernel = std::move(kernel), in, out = add(op.getResult(0), zero)](
            size_t count) { return kernel(out, in.data(), count); });
  }
  program.result = columnOf.lookup(result);
  if (!program.result)
    return std::nullopt;
  return program;
}

const Lane *ScalarProgram::run(size_t count) {
  for (const Step &step : steps)
    if (!step(count))
      return nullptr;
  return result;
}
