//===- EvaluateElementwise.cpp - elementwise ops on constants -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats are computed in double and rounded once; integers exactly, wrapping to
// their width.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/EvaluateImpl.h"
#include "dialects/nn/NNDialect.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

/// Functions of the operands' elements at one position.
using FloatFn = std::function<double(const double *)>;
using FloatPredicate = std::function<bool(const double *)>;
/// nullopt where the result is undefined (a division by zero).
using IntFn = std::function<std::optional<int64_t>(const int64_t *)>;

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

static double gelu(double x, bool tanhApproximation) {
  if (tanhApproximation) {
    double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
  }
  return 0.5 * x * std::erfc(-x * M_SQRT1_2);
}

static double floorMod(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static FloatFn unaryFloatFn(Operation *op) {
  using Fn = double (*)(double);
  auto fn = llvm::TypeSwitch<Operation *, Fn>(op)
                .Case([](AbsOp) -> Fn { return std::fabs; })
                .Case([](NegOp) -> Fn { return [](double x) { return -x; }; })
                .Case([](CeilOp) -> Fn { return std::ceil; })
                .Case([](FloorOp) -> Fn { return std::floor; })
                .Case([](RoundOp) -> Fn { return std::nearbyint; })
                .Case([](SqrtOp) -> Fn { return std::sqrt; })
                .Case([](ExpOp) -> Fn { return std::exp; })
                .Case([](LogOp) -> Fn { return std::log; })
                .Case([](SinOp) -> Fn { return std::sin; })
                .Case([](CosOp) -> Fn { return std::cos; })
                .Case([](TanOp) -> Fn { return std::tan; })
                .Case([](AsinOp) -> Fn { return std::asin; })
                .Case([](AcosOp) -> Fn { return std::acos; })
                .Case([](AtanOp) -> Fn { return std::atan; })
                .Case([](SinhOp) -> Fn { return std::sinh; })
                .Case([](CoshOp) -> Fn { return std::cosh; })
                .Case([](TanhOp) -> Fn { return std::tanh; })
                .Case([](AsinhOp) -> Fn { return std::asinh; })
                .Case([](AcoshOp) -> Fn { return std::acosh; })
                .Case([](AtanhOp) -> Fn { return std::atanh; })
                .Case([](ErfOp) -> Fn { return std::erf; })
                .Case([](SigmoidOp) -> Fn { return sigmoid; })
                .Case([](SignOp) -> Fn {
                  return [](double x) {
                    return std::isnan(x) ? x : double((x > 0) - (x < 0));
                  };
                })
                .Case([](ReluOp) -> Fn {
                  return [](double x) { return x < 0 ? 0.0 : x; };
                })
                .Case([](ReciprocalOp) -> Fn {
                  return [](double x) { return 1 / x; };
                })
                .Case([](SoftplusOp) -> Fn {
                  return [](double x) {
                    return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
                  };
                })
                .Case([](HardSwishOp) -> Fn {
                  return [](double x) {
                    return x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1);
                  };
                })
                .Default([](Operation *) -> Fn { return nullptr; });
  if (!fn)
    return {};
  return [fn](const double *x) { return fn(x[0]); };
}

/// Unary functions with attributes.
static FloatFn parametricFloatFn(Operation *op) {
  return llvm::TypeSwitch<Operation *, FloatFn>(op)
      .Case([](GeluOp op) -> FloatFn {
        return [approximate = op.getTanhApproximation()](const double *x) {
          return gelu(x[0], approximate);
        };
      })
      .Case([](EluOp op) -> FloatFn {
        return [alpha = op.getAlpha().convertToDouble()](const double *x) {
          return x[0] > 0 ? x[0] : alpha * std::expm1(x[0]);
        };
      })
      .Case([](LeakyReluOp op) -> FloatFn {
        return [alpha = op.getAlpha().convertToDouble()](const double *x) {
          return x[0] >= 0 ? x[0] : alpha * x[0];
        };
      })
      .Case([](HardSigmoidOp op) -> FloatFn {
        return [alpha = op.getAlpha().convertToDouble(),
                beta = op.getBeta().convertToDouble()](const double *x) {
          return std::fmax(0, std::fmin(1, alpha * x[0] + beta));
        };
      })
      .Case([](SwishOp op) -> FloatFn {
        return [alpha = op.getAlpha().convertToDouble()](const double *x) {
          return x[0] * sigmoid(alpha * x[0]);
        };
      })
      .Case([](ClampOp op) -> FloatFn {
        return [lo = op.getMin().convertToDouble(),
                hi = op.getMax().convertToDouble()](const double *x) {
          double v = x[0] < lo ? lo : x[0];
          return v > hi ? hi : v;
        };
      })
      .Default([](Operation *) { return FloatFn(); });
}

static FloatFn binaryFloatFn(Operation *op) {
  using Fn = double (*)(const double *);
  if (auto mod = dyn_cast<ModOp>(op)) {
    if (mod.getFmod())
      return [](const double *v) { return std::fmod(v[0], v[1]); };
    return [](const double *v) { return floorMod(v[0], v[1]); };
  }
  return llvm::TypeSwitch<Operation *, Fn>(op)
      .Case([](AddOp) -> Fn { return [](auto *v) { return v[0] + v[1]; }; })
      .Case([](SubOp) -> Fn { return [](auto *v) { return v[0] - v[1]; }; })
      .Case([](MulOp) -> Fn { return [](auto *v) { return v[0] * v[1]; }; })
      .Case([](DivOp) -> Fn { return [](auto *v) { return v[0] / v[1]; }; })
      .Case([](PowOp) -> Fn {
        return [](auto *v) { return std::pow(v[0], v[1]); };
      })
      .Case([](MaxOp) -> Fn {
        return [](auto *v) {
          return std::isnan(v[0]) || v[0] > v[1] ? v[0] : v[1];
        };
      })
      .Case([](MinOp) -> Fn {
        return [](auto *v) {
          return std::isnan(v[0]) || v[0] < v[1] ? v[0] : v[1];
        };
      })
      .Case([](PReluOp) -> Fn {
        return [](auto *v) { return v[0] >= 0 ? v[0] : v[0] * v[1]; };
      })
      .Default([](Operation *) -> Fn { return nullptr; });
}

static FloatPredicate floatPredicate(Operation *op) {
  using Fn = bool (*)(const double *);
  if (auto isInf = dyn_cast<IsInfOp>(op))
    return [negative = isInf.getDetectNegative(),
            positive = isInf.getDetectPositive()](const double *v) {
      return std::isinf(v[0]) && (v[0] < 0 ? negative : positive);
    };
  return llvm::TypeSwitch<Operation *, Fn>(op)
      .Case([](IsNaNOp) -> Fn {
        return [](const double *v) { return std::isnan(v[0]); };
      })
      .Case([](EqualOp) -> Fn { return [](auto *v) { return v[0] == v[1]; }; })
      .Case([](LessOp) -> Fn { return [](auto *v) { return v[0] < v[1]; }; })
      .Case([](LessOrEqualOp) -> Fn {
        return [](auto *v) { return v[0] <= v[1]; };
      })
      .Case([](GreaterOp) -> Fn { return [](auto *v) { return v[0] > v[1]; }; })
      .Case([](GreaterOrEqualOp) -> Fn {
        return [](auto *v) { return v[0] >= v[1]; };
      })
      .Default([](Operation *) -> Fn { return nullptr; });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// a / b toward zero; nullopt where C leaves it undefined.
static std::optional<int64_t> divide(int64_t a, int64_t b, bool isUnsigned) {
  if (b == 0)
    return std::nullopt;
  if (isUnsigned)
    return int64_t(uint64_t(a) / uint64_t(b));
  return b == -1 ? int64_t(-uint64_t(a)) : a / b;
}

static std::optional<int64_t> remainder(int64_t a, int64_t b, bool isUnsigned,
                                        bool signOfDividend) {
  if (b == 0)
    return std::nullopt;
  if (isUnsigned)
    return int64_t(uint64_t(a) % uint64_t(b));
  int64_t r = b == -1 ? 0 : a % b;
  return !signOfDividend && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static std::optional<int64_t> power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0)
      return std::nullopt;
    if (base != 1 && base != -1)
      return 0;
    return exponent % 2 ? base : 1;
  }
  uint64_t result = 1, square = uint64_t(base);
  for (; exponent; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return int64_t(result);
}

static IntFn intFn(Operation *op, bool isUnsigned, unsigned width) {
  using Opt = std::optional<int64_t>;
  auto less = [isUnsigned](int64_t a, int64_t b) {
    return isUnsigned ? uint64_t(a) < uint64_t(b) : a < b;
  };
  return llvm::TypeSwitch<Operation *, IntFn>(op)
      .Case([](AddOp) -> IntFn {
        return [](auto *v) -> Opt { return uint64_t(v[0]) + uint64_t(v[1]); };
      })
      .Case([](SubOp) -> IntFn {
        return [](auto *v) -> Opt { return uint64_t(v[0]) - uint64_t(v[1]); };
      })
      .Case([](MulOp) -> IntFn {
        return [](auto *v) -> Opt { return uint64_t(v[0]) * uint64_t(v[1]); };
      })
      .Case([=](DivOp) -> IntFn {
        return [=](auto *v) { return divide(v[0], v[1], isUnsigned); };
      })
      .Case([=](ModOp op) -> IntFn {
        return [=, fmod = op.getFmod()](auto *v) {
          return remainder(v[0], v[1], isUnsigned, fmod);
        };
      })
      .Case([](PowOp) -> IntFn {
        return [](auto *v) { return power(v[0], v[1]); };
      })
      .Case([=](AbsOp) -> IntFn {
        return [=](auto *v) -> Opt {
          return less(v[0], 0) ? int64_t(-uint64_t(v[0])) : v[0];
        };
      })
      .Case([](NegOp) -> IntFn {
        return [](auto *v) -> Opt { return int64_t(-uint64_t(v[0])); };
      })
      .Case([=](SignOp) -> IntFn {
        return [=](auto *v) -> Opt { return less(0, v[0]) - less(v[0], 0); };
      })
      .Case([=](ReluOp) -> IntFn {
        return [=](auto *v) -> Opt { return less(v[0], 0) ? 0 : v[0]; };
      })
      .Case([=](MaxOp) -> IntFn {
        return [=](auto *v) -> Opt { return less(v[0], v[1]) ? v[1] : v[0]; };
      })
      .Case([=](MinOp) -> IntFn {
        return [=](auto *v) -> Opt { return less(v[1], v[0]) ? v[1] : v[0]; };
      })
      .Case([](AndOp) -> IntFn {
        return [](auto *v) -> Opt { return v[0] & v[1]; };
      })
      .Case([](OrOp) -> IntFn {
        return [](auto *v) -> Opt { return v[0] | v[1]; };
      })
      .Case([](XorOp) -> IntFn {
        return [](auto *v) -> Opt { return v[0] ^ v[1]; };
      })
      .Case([=](NotOp) -> IntFn {
        return [=](auto *v) -> Opt { return width == 1 ? !v[0] : ~v[0]; };
      })
      .Case([=](ShiftLeftOp) -> IntFn {
        return [=](auto *v) -> Opt {
          return v[1] < 0 || v[1] >= width ? 0 : int64_t(uint64_t(v[0]) << v[1]);
        };
      })
      .Case([=](ShiftRightOp) -> IntFn {
        return [=](auto *v) -> Opt {
          if (v[1] < 0 || v[1] >= width)
            return isUnsigned || v[0] >= 0 ? 0 : -1;
          return isUnsigned ? int64_t(uint64_t(v[0]) >> v[1]) : v[0] >> v[1];
        };
      })
      .Case([](EqualOp) -> IntFn {
        return [](auto *v) -> Opt { return v[0] == v[1]; };
      })
      .Case([=](LessOp) -> IntFn {
        return [=](auto *v) -> Opt { return less(v[0], v[1]); };
      })
      .Case([=](LessOrEqualOp) -> IntFn {
        return [=](auto *v) -> Opt { return !less(v[1], v[0]); };
      })
      .Case([=](GreaterOp) -> IntFn {
        return [=](auto *v) -> Opt { return less(v[1], v[0]); };
      })
      .Case([=](GreaterOrEqualOp) -> IntFn {
        return [=](auto *v) -> Opt { return !less(v[0], v[1]); };
      })
      .Default([](Operation *) { return IntFn(); });
}

//===----------------------------------------------------------------------===//
// Applying them
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(ElementsAttr attr) {
  return cast<RankedTensorType>(attr.getType());
}

/// Calls `visit(elements)` at every position of `shape` in order; stops when it
/// returns false.
template <typename T, typename Visit>
static bool forEachPosition(ArrayRef<int64_t> shape,
                            ArrayRef<ElementsAttr> operands,
                            ArrayRef<ArrayRef<T>> values, Visit visit) {
  SmallVector<StridedOffset> offsets;
  for (ElementsAttr operand : operands)
    offsets.emplace_back(shape,
                         broadcastStrides(typeOf(operand).getShape(), shape));
  SmallVector<T> at(operands.size());
  for (int64_t i = 0, e = ShapedType::getNumElements(shape); i < e; ++i) {
    for (auto [k, offset] : llvm::enumerate(offsets)) {
      at[k] = values[k][*offset];
      ++offset;
    }
    if (!visit(at.data()))
      return false;
  }
  return true;
}

static ElementsAttr evaluateFloats(Operation *op, ArrayRef<ElementsAttr> operands,
                                   RankedTensorType type) {
  FloatPredicate predicate = floatPredicate(op);
  FloatFn fn;
  if (!predicate)
    fn = unaryFloatFn(op);
  if (!predicate && !fn)
    fn = parametricFloatFn(op);
  if (!predicate && !fn)
    fn = binaryFloatFn(op);
  if (!predicate && !fn)
    return {};
  SmallVector<std::vector<double>> storage;
  SmallVector<ArrayRef<double>> values;
  for (ElementsAttr operand : operands) {
    std::optional<std::vector<double>> read = readDoubles(operand);
    if (!read)
      return {};
    storage.push_back(std::move(*read));
  }
  for (auto &elements : storage)
    values.push_back(elements);
  std::vector<double> out;
  out.reserve(type.getNumElements());
  forEachPosition<double>(type.getShape(), operands, values,
                          [&](const double *at) {
                            out.push_back(fn ? fn(at) : double(predicate(at)));
                            return true;
                          });
  return makeConstantAttr(type, out);
}

static ElementsAttr evaluateInts(Operation *op, ArrayRef<ElementsAttr> operands,
                                 RankedTensorType type) {
  Type element = operands[0].getElementType();
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  IntFn fn = intFn(op, element.isUnsignedInteger(), width);
  if (auto clamp = dyn_cast<ClampOp>(op)) {
    bool isUnsigned = element.isUnsignedInteger();
    if (isUnsigned && width == 64)
      return {};
    fn = [lo = clamp.getMin().convertToDouble(),
          hi = clamp.getMax().convertToDouble()](auto *v) {
      int64_t x = v[0];
      if (double(x) < lo)
        x = int64_t(std::ceil(lo));
      return std::optional<int64_t>(double(x) > hi ? int64_t(std::floor(hi)) : x);
    };
  }
  if (!fn)
    return {};
  SmallVector<SmallVector<int64_t>> storage;
  SmallVector<ArrayRef<int64_t>> values;
  for (ElementsAttr operand : operands) {
    std::optional<SmallVector<int64_t>> read = readInts(operand);
    if (!read)
      return {};
    storage.push_back(std::move(*read));
  }
  for (auto &elements : storage)
    values.push_back(elements);
  std::vector<int64_t> out;
  out.reserve(type.getNumElements());
  bool ok = forEachPosition<int64_t>(type.getShape(), operands, values,
                                     [&](const int64_t *at) {
                                       std::optional<int64_t> y = fn(at);
                                       out.push_back(y.value_or(0));
                                       return y.has_value();
                                     });
  return ok ? makeIntsAttr(type, out) : ElementsAttr();
}

static ElementsAttr evaluateCast(ElementsAttr x, RankedTensorType type) {
  Type from = x.getElementType(), to = type.getElementType();
  bool plainFloat = isa<FloatType>(to) && to.getIntOrFloatBitWidth() >= 16;
  if (plainFloat) {
    std::optional<std::vector<double>> values = readDoubles(x);
    return values ? makeConstantAttr(type, *values) : ElementsAttr();
  }
  if (!to.isIntOrIndex())
    return {};
  if (from.isIntOrIndex()) {
    std::optional<SmallVector<int64_t>> values = readInts(x);
    return values ? makeIntsAttr(type, *values) : ElementsAttr();
  }
  std::optional<std::vector<double>> values = readDoubles(x);
  if (!values)
    return {};
  if (to.isInteger(1))
    return makeConstantAttr(type, *values);
  std::vector<int64_t> out;
  for (double value : *values) {
    // Beyond the range of 64 bits the result is not defined: leave it to the
    // machine.
    if (!(std::fabs(value) < 0x1p63))
      return {};
    out.push_back(int64_t(value));
  }
  return makeIntsAttr(type, out);
}

ElementsAttr nn::evaluateElementwise(Operation *op,
                                     ArrayRef<ElementsAttr> operands,
                                     RankedTensorType type) {
  if (!isa<NNDialect>(op->getDialect()) || !op->hasTrait<nn::Elementwise>() ||
      isa<SelectOp>(op))
    return {};
  // One number everywhere is computed once, and takes no memory.
  if (type.getNumElements() > 1 && llvm::all_of(operands, isSplat)) {
    SmallVector<ElementsAttr> scalars;
    for (ElementsAttr operand : operands)
      scalars.push_back(cast<DenseElementsAttr>(operand).resizeSplat(
          RankedTensorType::get({}, operand.getElementType())));
    ElementsAttr scalar = evaluateElementwise(
        op, scalars, RankedTensorType::get({}, type.getElementType()));
    auto dense = dyn_cast_or_null<DenseElementsAttr>(scalar);
    return dense ? ElementsAttr(dense.resizeSplat(type)) : ElementsAttr();
  }
  if (isa<CastOp>(op))
    return evaluateCast(operands[0], type);
  bool anyFloat = llvm::any_of(operands, [](ElementsAttr attr) {
    return isa<FloatType>(attr.getElementType());
  });
  bool toFloat = isa<FloatType>(type.getElementType());
  if (anyFloat && (toFloat || type.getElementType().isInteger(1)))
    return evaluateFloats(op, operands, type);
  bool allInts = llvm::all_of(operands, [](ElementsAttr attr) {
    return attr.getElementType().isIntOrIndex();
  });
  return allInts && type.getElementType().isIntOrIndex()
             ? evaluateInts(op, operands, type)
             : ElementsAttr();
}
