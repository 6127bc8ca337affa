//===- NameSizes.cpp - nn-name-sizes --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"
#include "passes/shape/SameSizes.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/Builders.h"

namespace ingot {
#define GEN_PASS_DEF_NAMESIZES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// A dimension of an argument that has a name in the model.
struct NamedDim {
  Value argument;
  int64_t dim;
  StringRef name;
};

struct NameSizesPass : ingot::impl::NameSizesBase<NameSizesPass> {
  void runOnOperation() override;
};

/// Names the dimensions of one function's results.
class Namer {
public:
  explicit Namer(func::FuncOp function) : function(function) {}

  void readArguments();
  /// Returns the number of dimensions that it names.
  int64_t nameResult(unsigned index, Value result);

private:
  bool isOfArgument(StringRef name) const;
  const NamedDim *find(Value result, int64_t dim);

  func::FuncOp function;
  SmallVector<NamedDim> named;
  /// The analysis, created for the first dimension that needs it.
  std::optional<shape::SameSizes> sizes;
};

} // namespace

static StringRef dimNamesAttr() {
  return IngotDialect::DimNamesAttrHelper::getNameStr();
}

/// Returns the names of a value's dimensions. Returns an empty list if the
/// number of names does not fit the type.
static SmallVector<StringRef> namesOf(ArrayAttr attr, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !attr || int64_t(attr.size()) != type.getRank())
    return {};
  return SmallVector<StringRef>(attr.getAsValueRange<StringAttr>());
}

static bool isOpen(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).isDynamicDim(dim);
}

void Namer::readArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto attr = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                     dimNamesAttr());
    for (auto [dim, name] : llvm::enumerate(namesOf(attr, argument)))
      if (isOpen(argument, dim) && !name.empty())
        named.push_back({argument, int64_t(dim), name});
  }
}

bool Namer::isOfArgument(StringRef name) const {
  return llvm::any_of(
      named, [&](const NamedDim &other) { return other.name == name; });
}

/// Returns the first named dimension of an argument that has the size, or null.
const NamedDim *Namer::find(Value result, int64_t dim) {
  if (named.empty())
    return nullptr;
  if (!sizes)
    sizes.emplace(function);
  const auto *found = llvm::find_if(named, [&](const NamedDim &other) {
    return sizes->isSame(result, dim, other.argument, other.dim);
  });
  return found == named.end() ? nullptr : found;
}

int64_t Namer::nameResult(unsigned index, Value result) {
  SmallVector<StringRef> names = namesOf(
      function.getResultAttrOfType<ArrayAttr>(index, dimNamesAttr()), result);
  int64_t count = 0;
  for (auto [dim, name] : llvm::enumerate(names)) {
    if (!isOpen(result, dim) || isOfArgument(name))
      continue;
    const NamedDim *same = find(result, dim);
    if (!same)
      continue;
    name = same->name;
    ++count;
  }
  if (count)
    function.setResultAttr(
        index, dimNamesAttr(),
        Builder(function.getContext()).getStrArrayAttr(names));
  return count;
}

void NameSizesPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  Namer namer(function);
  namer.readArguments();
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(end->getOperands()))
    numNamed += namer.nameResult(unsigned(i), result);
}
