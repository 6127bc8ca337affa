//===- RecurrentActivations.cpp - activations of RNN, GRU, LSTM -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/rnn/Recurrent.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {
enum class Kind {
  Relu, Tanh, Sigmoid, Softsign, Softplus,
  Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Unknown
};

struct Parameters {
  Kind kind;
  float alpha = 0, beta = 0;
};
} // namespace

static Kind kindOf(StringRef name) {
  return llvm::StringSwitch<Kind>(name)
      .CaseLower("Relu", Kind::Relu)
      .CaseLower("Tanh", Kind::Tanh)
      .CaseLower("Sigmoid", Kind::Sigmoid)
      .CaseLower("Softsign", Kind::Softsign)
      .CaseLower("Softplus", Kind::Softplus)
      .CaseLower("Affine", Kind::Affine)
      .CaseLower("LeakyRelu", Kind::LeakyRelu)
      .CaseLower("ThresholdedRelu", Kind::ThresholdedRelu)
      .CaseLower("ScaledTanh", Kind::ScaledTanh)
      .CaseLower("HardSigmoid", Kind::HardSigmoid)
      .CaseLower("Elu", Kind::Elu)
      .Default(Kind::Unknown);
}

static Value scaled(Node &node, Value x, float factor) {
  return binary<nn::MulOp>(node, x,
                           scalar(node, typeOf(x).getElementType(), factor));
}

static Value inferred(FailureOr<Value> value) {
  return failed(value) ? Value() : *value;
}

static Value apply(Node &node, const Parameters &f, Value x) {
  Type type = typeOf(x).getElementType();
  switch (f.kind) {
  case Kind::Relu:
    return unary<nn::ReluOp>(node, x);
  case Kind::Tanh:
    return unary<nn::TanhOp>(node, x);
  case Kind::Sigmoid:
    return unary<nn::SigmoidOp>(node, x);
  case Kind::Softplus:
    return unary<nn::SoftplusOp>(node, x);
  case Kind::Softsign:
    return binary<nn::DivOp>(
        node, x,
        binary<nn::AddOp>(node, unary<nn::AbsOp>(node, x),
                          scalar(node, type, 1)));
  case Kind::Affine:
    return binary<nn::AddOp>(node, scaled(node, x, f.alpha),
                             scalar(node, type, f.beta));
  case Kind::LeakyRelu:
    return inferred(
        node.infer<nn::LeakyReluOp>(x, llvm::APFloat(f.alpha)));
  case Kind::ThresholdedRelu:
    return select(node,
                  binary<nn::GreaterOp>(node, x, scalar(node, type, f.alpha)),
                  x, scalar(node, type, 0));
  case Kind::ScaledTanh:
    return scaled(node, unary<nn::TanhOp>(node, scaled(node, x, f.beta)),
                  f.alpha);
  case Kind::HardSigmoid:
    return inferred(node.infer<nn::HardSigmoidOp>(x, llvm::APFloat(f.alpha),
                                                  llvm::APFloat(f.beta)));
  case Kind::Elu:
    return inferred(node.infer<nn::EluOp>(x, llvm::APFloat(f.alpha)));
  case Kind::Unknown:
    break;
  }
  return {};
}

static bool takesAlpha(Kind kind) { return kind >= Kind::Affine; }
static bool takesBeta(Kind kind) {
  return kind == Kind::Affine || kind == Kind::ScaledTanh ||
         kind == Kind::HardSigmoid;
}

FailureOr<SmallVector<Activation>>
legalize::readActivations(Node &node, int64_t d, ArrayRef<StringRef> defaults,
                          int64_t directions) {
  SmallVector<StringRef> names;
  if (auto given = node.op.getNodeAttrs().getAs<ArrayAttr>("activations")) {
    for (Attribute name : given)
      if (auto text = dyn_cast<StringAttr>(name))
        names.push_back(text.getValue());
  }
  if (names.empty())
    for (int64_t i = 0; i < directions; ++i)
      llvm::append_range(names, defaults);
  size_t count = defaults.size();
  if (names.size() != count * directions)
    return node.invalid("activations needs " + Twine(count * directions) +
                        " elements, but has " + Twine(names.size()));
  SmallVector<float> alphas =
      node.getFloats("activation_alpha").value_or(SmallVector<float>());
  SmallVector<float> betas =
      node.getFloats("activation_beta").value_or(SmallVector<float>());
  // Take an element of a parameter list only for an activation that has the
  // parameter.
  size_t nextAlpha = 0, nextBeta = 0;
  auto take = [](ArrayRef<float> list, size_t &next, float otherwise) {
    return next < list.size() ? list[next++] : otherwise;
  };
  SmallVector<Parameters> parameters;
  for (StringRef name : names) {
    Parameters f{kindOf(name)};
    if (f.kind == Kind::Unknown)
      return node.unsupported("activation " + name);
    float alpha = f.kind == Kind::LeakyRelu     ? 0.01f
                  : f.kind == Kind::HardSigmoid ? 0.2f
                                                : 1.0f;
    float beta = f.kind == Kind::HardSigmoid  ? 0.5f
                 : f.kind == Kind::ScaledTanh ? 1.0f
                                              : 0.0f;
    if (takesAlpha(f.kind))
      f.alpha = take(alphas, nextAlpha, alpha);
    if (takesBeta(f.kind))
      f.beta = take(betas, nextBeta, beta);
    parameters.push_back(f);
  }
  float clip = node.getFloat("clip", 0);
  if (node.hasAttr("clip") && !(clip > 0))
    return node.badElement("clip", std::nullopt, std::to_string(clip),
                           "above 0");
  SmallVector<Activation> result;
  for (auto [i, f] :
       llvm::enumerate(ArrayRef(parameters).slice(d * count, count))) {
    // Do not clip the operand of an LSTM's third activation, which is the cell
    // state. ONNX Runtime does not clip it either.
    bool clips = clip > 0 && i < 2;
    result.push_back([=, f = f](Node &node, Value x) -> Value {
      if (clips)
        x = inferred(node.infer<nn::ClampOp>(x, llvm::APFloat(double(-clip)),
                                             llvm::APFloat(double(clip))));
      return x ? apply(node, f, x) : Value();
    });
  }
  return result;
}
