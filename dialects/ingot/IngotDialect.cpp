//===- IngotDialect.cpp - ingot dialect -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"

#include "dialects/ingot/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;

#include "dialects/ingot/IngotDialect.cpp.inc"
#include "dialects/ingot/IngotEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/ingot/IngotAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/ingot/IngotOps.cpp.inc"

void IngotDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/ingot/IngotAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/ingot/IngotOps.cpp.inc"
      >();
}

LogicalResult RequireOp::verify() {
  if (getValues().size() > 2)
    return emitOpError("expects at most 2 values, but got ")
           << getValues().size();
  return success();
}

LogicalResult RequireOp::canonicalize(RequireOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getHolds(), m_One()))
    return rewriter.notifyMatchFailure(op, "not known to hold");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult BufferOp::verify() {
  if (int64_t number = getNumber(); number < 0)
    return emitOpError("expects a number that is not negative, but got ")
           << number;
  if (!cast<MemRefType>(getType()).getLayout().isIdentity())
    return emitOpError("expects a result without gaps, but got ") << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef level, int64_t l1, int64_t l2) {
  if (!findLevel(level))
    return emitError() << "unknown CPU level '" << level << "': use one of "
                       << levelNames();
  for (int64_t bytes : {l1, l2})
    if (bytes < kLeastCache || bytes > kMostCache)
      return emitError() << "expects caches of " << kLeastCache << " to "
                         << kMostCache << " bytes, but got l1 = " << l1
                         << ", l2 = " << l2;
  return success();
}

uint64_t TargetAttr::getFeatures() const {
  return findLevel(getLevel())->features;
}

TargetAttr TargetAttr::of(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  IngotDialect::TargetAttrHelper helper(op->getContext());
  if (TargetAttr target = module ? helper.getAttr(module) : TargetAttr())
    return target;
  return TargetAttr::get(op->getContext(), "x86-64-v3", kUsualL1, kUsualL2);
}

LogicalResult TensorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, RankedTensorType type,
                                 ArrayRef<StringAttr> dimNames) {
  if (!dimNames.empty() && int64_t(dimNames.size()) != type.getRank())
    return emitError() << "expects names for the " << type.getRank()
                       << " dimensions of '" << name << "', but got "
                       << dimNames.size();
  return success();
}

//===----------------------------------------------------------------------===//
// Where attributes stand
//===----------------------------------------------------------------------===//

namespace {
/// Where an attribute may stand.
enum class Place { module, argument, operation };

struct Fact {
  StringLiteral name;
  Place place;
  bool (*isValid)(Attribute);
};
} // namespace

template <typename T> static bool isOne(Attribute value) {
  return isa<T>(value);
}

template <typename T> static bool isList(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<T>);
}

/// The list of discardable attributes in IngotDialect.td, with its types.
static ArrayRef<Fact> facts() {
  using D = IngotDialect;
  static const Fact list[] = {
      {D::TargetAttrHelper::getNameStr(), Place::module, isOne<TargetAttr>},
      {D::ModelNameAttrHelper::getNameStr(), Place::module, isOne<StringAttr>},
      {D::MetadataAttrHelper::getNameStr(), Place::module, isOne<DictionaryAttr>},
      {D::InputsAttrHelper::getNameStr(), Place::module, isList<TensorAttr>},
      {D::OutputsAttrHelper::getNameStr(), Place::module, isList<TensorAttr>},
      {D::SizeRulesAttrHelper::getNameStr(), Place::module, isOne<SizeRulesAttr>},
      {D::WeightsAttrHelper::getNameStr(), Place::module, isList<WeightAttr>},
      {D::WeightsBytesAttrHelper::getNameStr(), Place::module, isOne<IntegerAttr>},
      {D::ArenaBytesAttrHelper::getNameStr(), Place::module, isOne<IntegerAttr>},
      {D::ArenaLowerBoundAttrHelper::getNameStr(), Place::module, isOne<IntegerAttr>},
      {D::MemoryPlanAttrHelper::getNameStr(), Place::module, isList<SlotAttr>},
      {D::LayersAttrHelper::getNameStr(), Place::module, isList<LayerAttr>},
      {D::NeedsOnednnAttrHelper::getNameStr(), Place::module, isOne<UnitAttr>},
      {D::NameAttrHelper::getNameStr(), Place::argument, isOne<StringAttr>},
      {D::DimNamesAttrHelper::getNameStr(), Place::argument, isList<StringAttr>},
      {D::TypeAttrHelper::getNameStr(), Place::argument, isOne<TypeAttr>},
      {D::OperandAttrHelper::getNameStr(), Place::argument, isOne<RunOperandAttr>},
      {D::BackendAttrHelper::getNameStr(), Place::operation, isOne<BackendAttr>},
      {D::PrecisionAttrHelper::getNameStr(), Place::operation, isOne<PrecisionAttr>},
      {D::KindAttrHelper::getNameStr(), Place::operation, isOne<StringAttr>},
      {D::FlopsAttrHelper::getNameStr(), Place::operation, isOne<IntegerAttr>},
      {D::KernelAttrHelper::getNameStr(), Place::operation, isOne<UnitAttr>},
      {D::ScratchAttrHelper::getNameStr(), Place::operation, isOne<StringAttr>},
  };
  return list;
}

static LogicalResult verifyFact(Operation *op, NamedAttribute attribute,
                                Place place) {
  StringRef name = attribute.getName();
  const Fact *fact = llvm::find_if(
      facts(), [&](const Fact &fact) { return fact.name == name; });
  if (fact == facts().end())
    return op->emitError() << "no fact is called '" << name << "'";
  if (fact->place != place)
    return op->emitError() << "'" << name << "' does not belong here";
  if (!fact->isValid(attribute.getValue()))
    return op->emitError() << "'" << name << "' has a value of another type";
  return success();
}

LogicalResult IngotDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  return verifyFact(op, attribute,
                    isa<ModuleOp>(op) ? Place::module : Place::operation);
}

LogicalResult IngotDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attribute) {
  return verifyFact(op, attribute, Place::argument);
}

LogicalResult IngotDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyFact(op, attribute, Place::argument);
}

BlockArgument ingot::findRunOperand(FunctionOpInterface function,
                                    RunOperand which) {
  StringRef name = IngotDialect::OperandAttrHelper::getNameStr();
  for (unsigned i = 0, n = function.getNumArguments(); i < n; ++i) {
    auto mark = function.getArgAttrOfType<RunOperandAttr>(i, name);
    if (mark && mark.getValue() == which)
      return function.getArgument(i);
  }
  return {};
}

void ingot::setRunOperand(BlockArgument argument, RunOperand which) {
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  function.setArgAttr(argument.getArgNumber(),
                      IngotDialect::OperandAttrHelper::getNameStr(),
                      RunOperandAttr::get(function.getContext(), which));
}

bool ingot::isBF16(Operation *op) {
  PrecisionAttr precision =
      IngotDialect::PrecisionAttrHelper(op->getContext()).getAttr(op);
  return precision && precision.getValue() == Precision::bf16;
}
