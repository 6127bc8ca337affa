//===- ScalarBodies.cpp - bodies of elementwise ops -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "dialects/nn/TinyFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

namespace {

/// Builder of a scalar body. Float arithmetic is in `type`, which is f32 or
/// wider. The op's operand type defines the sign of integer arithmetic.
struct Scalar {
  OpBuilder &b;
  Location loc;
  Type type;
  bool isFloat, isUnsigned;
  SmallVector<Value> args;

  Value x() { return args[0]; }
  Value c(double value) { return scalar(b, loc, type, value); }
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  template <typename FloatOp, typename IntOp> Value binary(Value l, Value r) {
    return isFloat ? make<FloatOp>(l, r) : make<IntOp>(l, r);
  }
  template <typename FloatOp, typename SignedOp, typename UnsignedOp>
  Value binary(Value l, Value r) {
    if (isFloat)
      return make<FloatOp>(l, r);
    return isUnsigned ? make<UnsignedOp>(l, r) : make<SignedOp>(l, r);
  }
  Value add(Value l, Value r) {
    return binary<arith::AddFOp, arith::AddIOp>(l, r);
  }
  Value sub(Value l, Value r) {
    return binary<arith::SubFOp, arith::SubIOp>(l, r);
  }
  Value mul(Value l, Value r) {
    return binary<arith::MulFOp, arith::MulIOp>(l, r);
  }
  Value max(Value l, Value r) {
    return binary<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(l, r);
  }
  Value min(Value l, Value r) {
    return binary<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(l, r);
  }
  Value select(Value condition, Value l, Value r) {
    return make<arith::SelectOp>(condition, l, r);
  }
  Value compare(arith::CmpFPredicate f, arith::CmpIPredicate s,
                arith::CmpIPredicate u, Value l, Value r) {
    if (isFloat)
      return make<arith::CmpFOp>(f, l, r);
    return make<arith::CmpIOp>(isUnsigned ? u : s, l, r);
  }
  Value less(Value l, Value r) {
    return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt,
                   arith::CmpIPredicate::ult, l, r);
  }
  Value lessOrEqual(Value l, Value r) {
    return compare(arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle,
                   arith::CmpIPredicate::ule, l, r);
  }
  Value equal(Value l, Value r) {
    return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq,
                   arith::CmpIPredicate::eq, l, r);
  }
  Value sigmoid(Value v) {
    Value negated = make<arith::NegFOp>(v);
    Value sum = add(c(1), make<math::ExpOp>(negated));
    return make<arith::DivFOp>(c(1), sum);
  }
  Value clamp(Value v, double low, double high) {
    // Comparisons in this order propagate NaN.
    Value atLeast = std::isinf(low) ? v : max(v, c(low));
    return std::isinf(high) ? atLeast : min(atLeast, c(high));
  }
  Value intPower(Value base, Value exponent);
  Value mod(Value l, Value r, bool fmod);
};

} // namespace

Value Scalar::intPower(Value base, Value exponent) {
  // Computes in f64, which is exact for values that fit, because other runtimes
  // also do so.
  Type f64 = b.getF64Type();
  Value l = convertScalar(b, loc, base, f64, isUnsigned, false);
  Value r = convertScalar(b, loc, exponent, f64, isUnsigned, false);
  return convertScalar(b, loc, make<math::PowFOp>(l, r), type, false,
                       isUnsigned);
}

Value Scalar::mod(Value l, Value r, bool fmod) {
  Value rest = binary<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(l, r);
  if (fmod || isUnsigned)
    return rest;
  Value wrong = make<arith::AndIOp>(
      compare(arith::CmpFPredicate::ONE, arith::CmpIPredicate::ne,
              arith::CmpIPredicate::ne, rest, c(0)),
      make<arith::XOrIOp>(less(rest, c(0)), less(r, c(0))));
  return select(wrong, add(rest, r), rest);
}

/// Builds the body of `op`. `args` have the type of the computation. The result
/// has the storage type.
template <typename Op, typename Body>
static Value buildBody(OpBuilder &b, Op op, ValueRange args, Body body) {
  Location loc = op.getLoc();
  auto elementOf = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  SmallVector<Value> numbers;
  for (auto [arg, operand] : llvm::zip_equal(args, op->getOperands()))
    numbers.push_back(load(b, loc, arg, elementOf(operand)));
  Type stored = numbers[0].getType(), type = computeType(stored);
  if (!isa<FloatType, IntegerType, IndexType>(type))
    return {};
  Scalar s{b, loc, type, isa<FloatType>(type),
           isUnsigned(op->getOperand(0).getType()), {}};
  for (auto [i, arg] : llvm::enumerate(numbers))
    s.args.push_back(convertScalar(b, loc, arg, type,
                                   isUnsigned(op->getOperand(i).getType()),
                                   s.isUnsigned));
  Value result = body(s);
  if (!result || result.getType() != type)
    return result;
  result = convertScalar(b, loc, result, stored, false, false);
  return store(b, loc, result, elementOf(op->getResult(0)));
}

/// Defines the value that OP computes from its scalar operands `s`.
#define SCALAR(OP)                                                             \
  static Value bodyOf(OP op, Scalar &s);                                       \
  Value OP::buildScalar(OpBuilder &builder, ValueRange args) {                 \
    return buildBody(builder, *this, args,                                     \
                 [&](Scalar &s) { return bodyOf(*this, s); });                 \
  }                                                                            \
  static Value bodyOf([[maybe_unused]] OP op, Scalar &s)

/// Defines the bodies of ops on floats, and the bodies of ops on integers and
/// i1.
#define FLOAT_SCALAR(OP)                                                       \
  static Value floatBodyOf(OP op, Scalar &s);                                  \
  SCALAR(OP) { return s.isFloat ? floatBodyOf(op, s) : Value(); }              \
  static Value floatBodyOf([[maybe_unused]] OP op, Scalar &s)
#define FLOAT_FUNCTION(OP, FUNCTION)                                           \
  FLOAT_SCALAR(OP) { return s.make<FUNCTION>(s.x()); }
#define BITWISE(OP, FUNCTION)                                                  \
  SCALAR(OP) {                                                                 \
    return isa<IntegerType>(s.type) ? s.make<FUNCTION>(s.args[0], s.args[1])   \
                                    : Value();                                 \
  }

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

FLOAT_FUNCTION(SqrtOp, math::SqrtOp)
FLOAT_FUNCTION(ExpOp, math::ExpOp)
FLOAT_FUNCTION(LogOp, math::LogOp)
FLOAT_FUNCTION(SinOp, math::SinOp)
FLOAT_FUNCTION(CosOp, math::CosOp)
FLOAT_FUNCTION(TanOp, math::TanOp)
FLOAT_FUNCTION(AsinOp, math::AsinOp)
FLOAT_FUNCTION(AcosOp, math::AcosOp)
FLOAT_FUNCTION(AtanOp, math::AtanOp)
FLOAT_FUNCTION(SinhOp, math::SinhOp)
FLOAT_FUNCTION(CoshOp, math::CoshOp)
FLOAT_FUNCTION(TanhOp, math::TanhOp)
FLOAT_FUNCTION(AsinhOp, math::AsinhOp)
FLOAT_FUNCTION(AcoshOp, math::AcoshOp)
FLOAT_FUNCTION(AtanhOp, math::AtanhOp)
FLOAT_FUNCTION(ErfOp, math::ErfOp)

SCALAR(CeilOp) { return s.isFloat ? s.make<math::CeilOp>(s.x()) : s.x(); }
SCALAR(FloorOp) { return s.isFloat ? s.make<math::FloorOp>(s.x()) : s.x(); }
SCALAR(RoundOp) { return s.isFloat ? s.make<math::RoundEvenOp>(s.x()) : s.x(); }
SCALAR(AbsOp) {
  if (s.isFloat)
    return s.make<math::AbsFOp>(s.x());
  return s.isUnsigned ? s.x() : s.make<math::AbsIOp>(s.x());
}
SCALAR(NegOp) {
  return s.isFloat ? s.make<arith::NegFOp>(s.x()) : s.sub(s.c(0), s.x());
}
SCALAR(SignOp) {
  // x - x is NaN for a NaN and 0 for zeros. For denormal values it is 0, too,
  // because a run treats them as zeros in comparisons.
  Value rest = s.isFloat ? s.sub(s.x(), s.x()) : s.c(0);
  Value positive = s.select(s.less(s.c(0), s.x()), s.c(1), rest);
  return s.select(s.less(s.x(), s.c(0)), s.c(-1), positive);
}
SCALAR(NotOp) {
  return s.isFloat ? Value() : s.make<arith::XOrIOp>(s.x(), s.c(-1));
}
SCALAR(ReluOp) { return s.max(s.x(), s.c(0)); }
SCALAR(ClampOp) {
  return s.clamp(s.x(), op.getMin().convertToDouble(),
                 op.getMax().convertToDouble());
}
SCALAR(IsNaNOp) {
  if (!s.isFloat)
    return scalar(s.b, s.loc, s.b.getI1Type(), 0);
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, s.x(), s.x());
}
SCALAR(IsInfOp) {
  double inf = std::numeric_limits<double>::infinity();
  Value none = scalar(s.b, s.loc, s.b.getI1Type(), 0);
  Value high = op.getDetectPositive() ? s.equal(s.x(), s.c(inf)) : none;
  Value low = op.getDetectNegative() ? s.equal(s.x(), s.c(-inf)) : none;
  return s.make<arith::OrIOp>(high, low);
}

FLOAT_SCALAR(SigmoidOp) { return s.sigmoid(s.x()); }
FLOAT_SCALAR(ReciprocalOp) { return s.make<arith::DivFOp>(s.c(1), s.x()); }
FLOAT_SCALAR(SoftplusOp) {
  // max(x, 0) + ln(1 + e^-|x|) does not overflow.
  Value negated = s.make<arith::NegFOp>(s.make<math::AbsFOp>(s.x()));
  Value tail = s.make<math::Log1pOp>(s.make<math::ExpOp>(negated));
  return s.add(s.max(s.x(), s.c(0)), tail);
}
FLOAT_SCALAR(GeluOp) {
  Value half = s.mul(s.x(), s.c(0.5));
  Value inner;
  if (op.getTanhApproximation()) {
    Value cube = s.mul(s.mul(s.x(), s.x()), s.x());
    Value sum = s.add(s.x(), s.mul(s.c(0.044715), cube));
    inner = s.make<math::TanhOp>(s.mul(s.c(0.7978845608028654), sum));
  } else {
    inner = s.make<math::ErfOp>(s.mul(s.x(), s.c(0.7071067811865476)));
  }
  return s.mul(half, s.add(s.c(1), inner));
}
FLOAT_SCALAR(EluOp) {
  Value scaled =
      s.mul(s.c(op.getAlpha().convertToFloat()),
            s.sub(s.make<math::ExpOp>(s.min(s.x(), s.c(0))), s.c(1)));
  // Returns x for both zeros, so that -0 is preserved.
  return s.select(s.less(s.x(), s.c(0)), scaled, s.x());
}
FLOAT_SCALAR(LeakyReluOp) {
  Value scaled = s.mul(s.c(op.getAlpha().convertToFloat()), s.x());
  return s.select(s.less(s.x(), s.c(0)), scaled, s.x());
}
FLOAT_SCALAR(HardSigmoidOp) {
  Value line = s.add(s.mul(s.c(op.getAlpha().convertToFloat()), s.x()),
                     s.c(op.getBeta().convertToFloat()));
  return s.clamp(line, 0, 1);
}
FLOAT_SCALAR(HardSwishOp) {
  Value line = s.add(s.mul(s.c(1.0 / 6), s.x()), s.c(0.5));
  return s.mul(s.x(), s.clamp(line, 0, 1));
}
FLOAT_SCALAR(SwishOp) {
  return s.mul(s.x(),
               s.sigmoid(s.mul(s.c(op.getAlpha().convertToFloat()), s.x())));
}

Value CastOp::buildScalar(OpBuilder &builder, ValueRange args) {
  Location loc = getLoc();
  Type from = getElementTypeOrSelf(getX().getType());
  Type to = getElementTypeOrSelf(getY().getType());
  // Converts small floats from all of their bits. Some of their values are
  // denormal in f32, but a cast to i1 must not treat them as zero.
  Value x = load(builder, loc, args[0], from, to.isF64() || to.isInteger(1));
  bool fromUnsigned = isUnsigned(getX().getType());
  if (std::optional<TinyFloat> format = tinyFloatOf(to)) {
    if (!x.getType().isF64())
      x = convertScalar(builder, loc, x, builder.getF32Type(), fromUnsigned,
                        /*toUnsigned=*/false);
    return encodeTiny(builder, loc, x, *format, getSaturate(), getRounding());
  }
  Type number = signless(to);
  if (auto whole = dyn_cast<IntegerType>(number);
      getInRange() && whole && whole.getWidth() <= 32 &&
      (x.getType().isF32() || x.getType().isInteger(32))) {
    if (x.getType().isF32())
      x = arith::FPToSIOp::create(builder, loc, builder.getI32Type(), x);
    if (whole.getWidth() < 32)
      x = arith::TruncIOp::create(builder, loc, whole, x,
                                  isUnsigned(to)
                                      ? arith::IntegerOverflowFlags::nuw
                                      : arith::IntegerOverflowFlags::nsw);
    return x;
  }
  return convertScalar(builder, loc, x, number, fromUnsigned,
                       isUnsigned(getY().getType()));
}

//===----------------------------------------------------------------------===//
// Functions of several numbers
//===----------------------------------------------------------------------===//

SCALAR(AddOp) { return s.add(s.args[0], s.args[1]); }
SCALAR(SubOp) { return s.sub(s.args[0], s.args[1]); }
SCALAR(MulOp) { return s.mul(s.args[0], s.args[1]); }
SCALAR(DivOp) {
  return s.binary<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(s.args[0],
                                                                 s.args[1]);
}
SCALAR(PowOp) {
  return s.isFloat ? s.make<math::PowFOp>(s.args[0], s.args[1])
                   : s.intPower(s.args[0], s.args[1]);
}
SCALAR(MaxOp) { return s.max(s.args[0], s.args[1]); }
SCALAR(MinOp) { return s.min(s.args[0], s.args[1]); }
SCALAR(ModOp) { return s.mod(s.args[0], s.args[1], op.getFmod()); }
SCALAR(PReluOp) {
  return s.select(s.less(s.x(), s.c(0)), s.mul(s.args[0], s.args[1]), s.x());
}

SCALAR(EqualOp) { return s.equal(s.args[0], s.args[1]); }
SCALAR(LessOp) { return s.less(s.args[0], s.args[1]); }
SCALAR(LessOrEqualOp) { return s.lessOrEqual(s.args[0], s.args[1]); }
SCALAR(GreaterOp) { return s.less(s.args[1], s.args[0]); }
SCALAR(GreaterOrEqualOp) { return s.lessOrEqual(s.args[1], s.args[0]); }

BITWISE(AndOp, arith::AndIOp)
BITWISE(OrOp, arith::OrIOp)
BITWISE(XorOp, arith::XOrIOp)
BITWISE(ShiftLeftOp, arith::ShLIOp)
BITWISE(ShiftRightOp, arith::ShRUIOp)

Value SelectOp::buildScalar(OpBuilder &builder, ValueRange args) {
  return arith::SelectOp::create(builder, getLoc(), args[0], args[1], args[2]);
}

Value RequantizeOp::buildScalar(OpBuilder &builder, ValueRange args) {
  Location loc = getLoc();
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Type wide = getFitsF32() ? f32 : builder.getF64Type();
  bool isUnsigned = nn::isUnsigned(getZeroPoint().getType());
  auto real = [&](Value value, bool fromUnsigned = false) {
    return convertScalar(builder, loc, value, wide, fromUnsigned, false);
  };
  Value x = real(args[0]), scale = real(args[1]);
  Value zero = real(args[2], isUnsigned);
  const auto [least, most] = getBounds();
  auto bounded = [&, least = double(least), most = double(most)](
                     auto max, auto min, Value value) -> Value {
    Type type = value.getType();
    Value atLeast = decltype(max)::create(builder, loc, value,
                                          scalar(builder, loc, type, least));
    return decltype(min)::create(builder, loc, atLeast,
                                 scalar(builder, loc, type, most));
  };
  Value whole;
  if (getFitsF32()) {
    Value shift = arith::AddFOp::create(
        builder, loc, zero, scalar(builder, loc, wide, kWholeSteps));
    Value sum = math::FmaOp::create(builder, loc, x, scale, shift);
    whole = arith::SubIOp::create(
        builder, loc, arith::BitcastOp::create(builder, loc, i32, sum),
        scalar(builder, loc, i32, llvm::bit_cast<int32_t>(kWholeSteps)));
    whole = bounded(arith::MaxSIOp(), arith::MinSIOp(), whole);
  } else {
    Value sum = arith::AddFOp::create(
        builder, loc, arith::MulFOp::create(builder, loc, x, scale), zero);
    sum = bounded(arith::MaximumFOp(), arith::MinimumFOp(), sum);
    whole = arith::FPToSIOp::create(
        builder, loc, i32, math::RoundEvenOp::create(builder, loc, sum));
  }
  return arith::TruncIOp::create(builder, loc, builder.getI8Type(), whole);
}
