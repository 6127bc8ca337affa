//===- ScalarBodies.cpp - what elementwise ops compute --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

namespace {

/// Builds the scalar form of one op. Float arithmetic is in `type`, at least
/// f32; integer arithmetic takes its sign from the op's operand type.
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
    // Comparisons in this order keep NaN.
    Value atLeast = std::isinf(low) ? v : max(v, c(low));
    return std::isinf(high) ? atLeast : min(atLeast, c(high));
  }
  Value power(Value base, Value exponent);
  Value intPower(Value base, Value exponent);
  Value mod(Value l, Value r, bool fmod);
  Value gelu(bool tanhApproximation);

  Value floatUnary(Operation *op);
  Value intUnary(Operation *op);
  Value common(Operation *op);
};

} // namespace

Value Scalar::intPower(Value base, Value exponent) {
  // Through f64, exact for what fits; the field's runtimes do the same.
  Type f64 = b.getF64Type();
  Value l = convertScalar(b, loc, base, f64, isUnsigned, false);
  Value r = convertScalar(b, loc, exponent, f64, isUnsigned, false);
  return convertScalar(b, loc, make<math::PowFOp>(l, r), type, false,
                       isUnsigned);
}

Value Scalar::power(Value base, Value exponent) {
  return isFloat ? make<math::PowFOp>(base, exponent)
                 : intPower(base, exponent);
}

Value Scalar::mod(Value l, Value r, bool fmod) {
  if (isFloat) {
    Value rest = make<arith::RemFOp>(l, r);
    if (fmod)
      return rest;
    Value wrong = make<arith::AndIOp>(
        make<arith::CmpFOp>(arith::CmpFPredicate::ONE, rest, c(0)),
        make<arith::XOrIOp>(less(rest, c(0)), less(r, c(0))));
    return select(wrong, add(rest, r), rest);
  }
  if (isUnsigned)
    return make<arith::RemUIOp>(l, r);
  Value rest = make<arith::RemSIOp>(l, r);
  if (fmod)
    return rest;
  Value wrong = make<arith::AndIOp>(
      make<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, c(0)),
      make<arith::XOrIOp>(less(rest, c(0)), less(r, c(0))));
  return select(wrong, add(rest, r), rest);
}

Value Scalar::gelu(bool tanhApproximation) {
  Value half = mul(x(), c(0.5));
  Value inner;
  if (tanhApproximation) {
    Value cube = mul(mul(x(), x()), x());
    Value sum = add(x(), mul(c(0.044715), cube));
    inner = make<math::TanhOp>(mul(c(0.7978845608028654), sum));
  } else {
    inner = make<math::ErfOp>(mul(x(), c(0.7071067811865476)));
  }
  return mul(half, add(c(1), inner));
}

/// Functions of one float.
Value Scalar::floatUnary(Operation *op) {
  using namespace nn;
  return TypeSwitch<Operation *, Value>(op)
      .Case<AbsOp>([&](auto) { return make<math::AbsFOp>(x()); })
      .Case<NegOp>([&](auto) { return make<arith::NegFOp>(x()); })
      .Case<SignOp>([&](auto) {
        Value positive = select(less(c(0), x()), c(1), x());
        return select(less(x(), c(0)), c(-1), positive);
      })
      .Case<CeilOp>([&](auto) { return make<math::CeilOp>(x()); })
      .Case<FloorOp>([&](auto) { return make<math::FloorOp>(x()); })
      .Case<RoundOp>([&](auto) { return make<math::RoundEvenOp>(x()); })
      .Case<SqrtOp>([&](auto) { return make<math::SqrtOp>(x()); })
      .Case<ExpOp>([&](auto) { return make<math::ExpOp>(x()); })
      .Case<LogOp>([&](auto) { return make<math::LogOp>(x()); })
      .Case<SinOp>([&](auto) { return make<math::SinOp>(x()); })
      .Case<CosOp>([&](auto) { return make<math::CosOp>(x()); })
      .Case<TanOp>([&](auto) { return make<math::TanOp>(x()); })
      .Case<AsinOp>([&](auto) { return make<math::AsinOp>(x()); })
      .Case<AcosOp>([&](auto) { return make<math::AcosOp>(x()); })
      .Case<AtanOp>([&](auto) { return make<math::AtanOp>(x()); })
      .Case<SinhOp>([&](auto) { return make<math::SinhOp>(x()); })
      .Case<CoshOp>([&](auto) { return make<math::CoshOp>(x()); })
      .Case<TanhOp>([&](auto) { return make<math::TanhOp>(x()); })
      .Case<AsinhOp>([&](auto) { return make<math::AsinhOp>(x()); })
      .Case<AcoshOp>([&](auto) { return make<math::AcoshOp>(x()); })
      .Case<AtanhOp>([&](auto) { return make<math::AtanhOp>(x()); })
      .Case<ErfOp>([&](auto) { return make<math::ErfOp>(x()); })
      .Case<SigmoidOp>([&](auto) { return sigmoid(x()); })
      .Case<ReciprocalOp>(
          [&](auto) { return make<arith::DivFOp>(c(1), x()); })
      .Case<SoftplusOp>([&](auto) {
        // max(x, 0) + ln(1 + e^-|x|) does not overflow.
        Value negated = make<arith::NegFOp>(make<math::AbsFOp>(x()));
        Value tail = make<math::Log1pOp>(make<math::ExpOp>(negated));
        return add(max(x(), c(0)), tail);
      })
      .Case<GeluOp>([&](GeluOp gelu) {
        return this->gelu(gelu.getTanhApproximation());
      })
      .Case<EluOp>([&](EluOp elu) {
        Value scaled = mul(c(elu.getAlpha().convertToFloat()),
                           sub(make<math::ExpOp>(min(x(), c(0))), c(1)));
        return select(less(c(0), x()), x(), scaled);
      })
      .Case<LeakyReluOp>([&](LeakyReluOp leaky) {
        Value scaled = mul(c(leaky.getAlpha().convertToFloat()), x());
        return select(less(x(), c(0)), scaled, x());
      })
      .Case<HardSigmoidOp>([&](HardSigmoidOp hard) {
        Value line = add(mul(c(hard.getAlpha().convertToFloat()), x()),
                         c(hard.getBeta().convertToFloat()));
        return clamp(line, 0, 1);
      })
      .Case<HardSwishOp>([&](auto) {
        Value line = add(mul(c(1.0 / 6), x()), c(0.5));
        return mul(x(), clamp(line, 0, 1));
      })
      .Case<SwishOp>([&](SwishOp swish) {
        return mul(x(),
                   sigmoid(mul(c(swish.getAlpha().convertToFloat()), x())));
      })
      .Default([](Operation *) { return Value(); });
}

/// Functions of one integer.
Value Scalar::intUnary(Operation *op) {
  using namespace nn;
  return TypeSwitch<Operation *, Value>(op)
      .Case<AbsOp>([&](auto) {
        return isUnsigned ? x() : make<math::AbsIOp>(x());
      })
      .Case<NegOp>([&](auto) { return sub(c(0), x()); })
      .Case<SignOp>([&](auto) {
        Value positive = select(less(c(0), x()), c(1), c(0));
        return select(less(x(), c(0)), c(-1), positive);
      })
      .Case<CeilOp, FloorOp, RoundOp>([&](auto) { return x(); })
      .Case<NotOp>([&](auto) { return make<arith::XOrIOp>(x(), c(-1)); })
      .Default([](Operation *) { return Value(); });
}

/// Functions of integers and floats alike.
Value Scalar::common(Operation *op) {
  using namespace nn;
  return TypeSwitch<Operation *, Value>(op)
      .Case<ReluOp>([&](auto) { return max(x(), c(0)); })
      .Case<ClampOp>([&](ClampOp op) {
        return clamp(x(), op.getMin().convertToDouble(),
                     op.getMax().convertToDouble());
      })
      .Case<IsNaNOp>([&](auto) {
        return isFloat ? make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x(), x())
                       : scalar(b, loc, b.getI1Type(), 0);
      })
      .Case<IsInfOp>([&](IsInfOp op) {
        double inf = std::numeric_limits<double>::infinity();
        Value none = scalar(b, loc, b.getI1Type(), 0);
        Value high = op.getDetectPositive() ? equal(x(), c(inf)) : none;
        Value low = op.getDetectNegative() ? equal(x(), c(-inf)) : none;
        return make<arith::OrIOp>(high, low);
      })
      .Case<AddOp>([&](auto) { return add(args[0], args[1]); })
      .Case<SubOp>([&](auto) { return sub(args[0], args[1]); })
      .Case<MulOp>([&](auto) { return mul(args[0], args[1]); })
      .Case<DivOp>([&](auto) {
        return binary<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(args[0],
                                                                     args[1]);
      })
      .Case<PowOp>([&](auto) { return power(args[0], args[1]); })
      .Case<MaxOp>([&](auto) { return max(args[0], args[1]); })
      .Case<MinOp>([&](auto) { return min(args[0], args[1]); })
      .Case<ModOp>(
          [&](ModOp op) { return mod(args[0], args[1], op.getFmod()); })
      .Case<PReluOp>([&](auto) {
        return select(less(x(), c(0)), mul(args[0], args[1]), x());
      })
      .Case<EqualOp>([&](auto) { return equal(args[0], args[1]); })
      .Case<LessOp>([&](auto) { return less(args[0], args[1]); })
      .Case<LessOrEqualOp>(
          [&](auto) { return lessOrEqual(args[0], args[1]); })
      .Case<GreaterOp>([&](auto) { return less(args[1], args[0]); })
      .Case<GreaterOrEqualOp>(
          [&](auto) { return lessOrEqual(args[1], args[0]); })
      .Default([](Operation *) { return Value(); });
}

/// Bitwise functions, of integers and i1.
static Value buildBitwise(OpBuilder &b, Operation *op, ValueRange args) {
  using namespace nn;
  Location loc = op->getLoc();
  if (!isa<IntegerType>(args[0].getType()))
    return {};
  return TypeSwitch<Operation *, Value>(op)
      .Case<AndOp>(
          [&](auto) { return arith::AndIOp::create(b, loc, args[0], args[1]); })
      .Case<OrOp>(
          [&](auto) { return arith::OrIOp::create(b, loc, args[0], args[1]); })
      .Case<XorOp>(
          [&](auto) { return arith::XOrIOp::create(b, loc, args[0], args[1]); })
      .Case<ShiftLeftOp>(
          [&](auto) { return arith::ShLIOp::create(b, loc, args[0], args[1]); })
      .Case<ShiftRightOp>([&](auto) {
        return arith::ShRUIOp::create(b, loc, args[0], args[1]);
      })
      .Default([](Operation *) { return Value(); });
}

Value lower::buildScalar(OpBuilder &b, Operation *op, ValueRange args) {
  Location loc = op->getLoc();
  if (isa<nn::CastOp>(op))
    return convertScalar(
        b, loc, args[0],
        signless(getElementTypeOrSelf(op->getResult(0).getType())),
        isUnsigned(op->getOperand(0).getType()),
        isUnsigned(op->getResult(0).getType()));
  if (isa<nn::SelectOp>(op))
    return arith::SelectOp::create(b, loc, args[0], args[1], args[2]);
  if (Value bitwise = buildBitwise(b, op, args))
    return bitwise;

  Type stored = args[0].getType();
  Type type = computeType(stored);
  if (!isa<FloatType, IntegerType, IndexType>(type))
    return {};
  Scalar body{b, loc, type, isa<FloatType>(type),
              isUnsigned(op->getOperand(0).getType()), {}};
  for (auto [i, arg] : llvm::enumerate(args))
    body.args.push_back(convertScalar(b, loc, arg, type,
                                      isUnsigned(op->getOperand(i).getType()),
                                      body.isUnsigned));
  Value result = body.common(op);
  if (!result)
    result = body.isFloat ? body.floatUnary(op) : body.intUnary(op);
  if (!result || result.getType() != type || type == stored)
    return result;
  return convertScalar(b, loc, result, stored, false, false);
}
