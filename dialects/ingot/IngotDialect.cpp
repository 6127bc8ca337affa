//===- IngotDialect.cpp - ingot dialect -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"

#include "dialects/ingot/StringList.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;

#include "dialects/ingot/IngotDialect.cpp.inc"
#include "dialects/ingot/IngotEnums.cpp.inc"

/// Parses the numbers that differ from the defaults: `, l2 = 524288`.
static mlir::ParseResult parseNumbers(AsmParser &parser,
                                      TargetNumbers &numbers) {
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    int64_t value = 0;
    if (parser.parseKeyword(&name))
      return failure();
    int64_t *number = findNumber(numbers, name);
    if (!number)
      return parser.emitError(at, "unknown property '")
             << name << "' of a target: use one of " << numberNames();
    if (parser.parseEqual() || parser.parseInteger(value))
      return failure();
    *number = value;
  }
  return success();
}

static void printNumbers(AsmPrinter &printer, const TargetNumbers &numbers) {
  for (StringRef text : numbers.texts()) {
    auto [name, value] = text.split('=');
    printer << ", " << name << " = " << value;
  }
}

static mlir::ParseResult parseFloat(AsmParser &parser,
                                    FailureOr<APFloat> &number) {
  number = APFloat(0.0f);
  return parser.parseFloat(APFloat::IEEEsingle(), *number);
}

static void printFloat(AsmPrinter &printer, const APFloat &number) {
  printer.printFloat(number);
}

/// Parses `[1.0, 2.0]`. MLIR's own printer of such a list keeps only six
/// digits.
static mlir::ParseResult parseFloats(AsmParser &parser,
                                     DenseF32ArrayAttr &numbers) {
  SmallVector<float> parsed;
  auto parseOne = [&]() -> mlir::ParseResult {
    FailureOr<APFloat> number = failure();
    if (parseFloat(parser, number))
      return failure();
    parsed.push_back(number->convertToFloat());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  numbers = DenseF32ArrayAttr::get(parser.getContext(), parsed);
  return success();
}

static void printFloats(AsmPrinter &printer, DenseF32ArrayAttr numbers) {
  printer << "[";
  llvm::interleaveComma(numbers.asArrayRef(), printer, [&](float number) {
    printer.printFloat(APFloat(number));
  });
  printer << "]";
}

static constexpr StringLiteral kStatistics[] = {
#define INGOT_METADATA_NUMBER(NAME, KEY, MEANING) #NAME,
#include "runtime/include/ingot/abi/metadata_keys.inc"
};

/// Parses the counts that are set: `weights = 14, zero_weights = 4`.
static mlir::ParseResult parseStatistics(AsmParser &parser,
                                         SmallVector<int64_t> &values) {
  values.assign(std::size(kStatistics), StatisticsAttr::kUnset);
  return parser.parseCommaSeparatedList([&]() -> mlir::ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const auto *found = llvm::find(kStatistics, name);
    if (found == std::end(kStatistics))
      return parser.emitError(at, "unknown count '") << name << "'";
    return parser.parseInteger(values[found - kStatistics]);
  });
}

static void printStatistics(AsmPrinter &printer, ArrayRef<int64_t> values) {
  StringRef separator = "";
  for (auto [name, value] : llvm::zip_equal(kStatistics, values))
    if (value != StatisticsAttr::kUnset) {
      printer << separator << name << " = " << value;
      separator = ", ";
    }
}

static FailureOr<std::string> parseWord(AsmParser &parser) {
  std::string word;
  if (parser.parseKeywordOrString(&word))
    return failure();
  return word;
}

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

LogicalResult ObserveOp::verify() {
  if (int64_t number = getNumber(); number < 0)
    return emitOpError("expects a number that is not negative, but got ")
           << number;
  return success();
}

bool ObserveOp::bufferizesToMemoryRead(OpOperand &,
                                       const bufferization::AnalysisState &) {
  return true;
}

bool ObserveOp::bufferizesToMemoryWrite(OpOperand &,
                                        const bufferization::AnalysisState &) {
  return false;
}

bufferization::AliasingValueList
ObserveOp::getAliasingValues(OpOperand &,
                             const bufferization::AnalysisState &) {
  return {};
}

LogicalResult
ObserveOp::bufferize(RewriterBase &rewriter,
                     const bufferization::BufferizationOptions &options,
                     bufferization::BufferizationState &state) {
  FailureOr<Value> buffer =
      bufferization::getBuffer(rewriter, getX(), options, state);
  if (failed(buffer))
    return failure();
  rewriter.replaceOpWithNewOp<ObserveOp>(*this, getNumberAttr(), *buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

bool AppendOp::bufferizesToMemoryRead(OpOperand &,
                                      const bufferization::AnalysisState &) {
  return true;
}

bool AppendOp::bufferizesToMemoryWrite(OpOperand &,
                                       const bufferization::AnalysisState &) {
  return false;
}

bufferization::AliasingValueList
AppendOp::getAliasingValues(OpOperand &, const bufferization::AnalysisState &) {
  return {};
}

LogicalResult
AppendOp::bufferize(RewriterBase &rewriter,
                    const bufferization::BufferizationOptions &options,
                    bufferization::BufferizationState &state) {
  FailureOr<Value> buffer =
      bufferization::getBuffer(rewriter, getX(), options, state);
  if (failed(buffer))
    return failure();
  rewriter.replaceOpWithNewOp<AppendOp>(*this, getList(), *buffer,
                                        getMessageAttr());
  return success();
}

bool StackOp::bufferizesToAllocation(Value) { return true; }

bool StackOp::resultBufferizesToMemoryWrite(
    OpResult, const bufferization::AnalysisState &) {
  return true;
}

bufferization::AliasingOpOperandList
StackOp::getAliasingOpOperands(Value, const bufferization::AnalysisState &) {
  return {};
}

FailureOr<bufferization::BufferLikeType>
StackOp::getBufferType(Value value, const bufferization::BufferizationOptions &,
                       const bufferization::BufferizationState &,
                       SmallVector<Value> &) {
  auto type = cast<RankedTensorType>(value.getType());
  return cast<bufferization::BufferLikeType>(
      MemRefType::get(type.getShape(), type.getElementType()));
}

LogicalResult
StackOp::bufferize(RewriterBase &rewriter,
                   const bufferization::BufferizationOptions &,
                   bufferization::BufferizationState &) {
  auto type = cast<RankedTensorType>(getAll().getType());
  auto buffer = StackOp::create(
      rewriter, getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), getList());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this,
                                               buffer->getResults());
  return success();
}

/// Verifies an op that represents an input or output of the run: the number is
/// valid, and the memref has no gaps.
template <typename Op> static LogicalResult verifyNumbered(Op op) {
  if (int64_t number = op.getNumber(); number < 0)
    return op.emitOpError("expects a number that is not negative, but got ")
           << number;
  auto type = dyn_cast<MemRefType>(op.getType());
  if (!type || !type.getLayout().isIdentity())
    return op.emitOpError("expects a result without gaps, but got ")
           << op.getType();
  return success();
}

LogicalResult BufferOp::verify() { return verifyNumbered(*this); }

LogicalResult RoomOp::verify() {
  if (failed(verifyNumbered(*this)))
    return failure();
  int64_t open = cast<MemRefType>(getType()).getNumDynamicDims();
  if (int64_t(getDynamicSizes().size()) != open)
    return emitOpError("expects ")
           << open << " open sizes, but got " << getDynamicSizes().size();
  return success();
}

SmallVector<OpFoldResult> RoomOp::getMixedSizes() {
  Builder builder(getContext());
  return getMixedValues(cast<MemRefType>(getType()).getShape(),
                        getDynamicSizes(), builder);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult
StatisticsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                       ArrayRef<int64_t> values) {
  if (values.size() != std::size(kStatistics))
    return emitError() << "expects " << std::size(kStatistics) << " counts";
  if (llvm::any_of(values, [](int64_t value) { return value < kUnset; }))
    return emitError() << "expects counts that are not negative";
  return success();
}

LogicalResult
SizeRangeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      int64_t input, int64_t dim, int64_t min, int64_t usual,
                      int64_t max, int64_t multiple) {
  if (input < 0 || dim < 0)
    return emitError() << "expects numbers of an input and a dimension, but "
                          "got "
                       << input << " and " << dim;
  if (min < 0 || max < min || multiple < 1)
    return emitError() << "expects 0 <= min <= max and a positive multiple, "
                          "but got "
                       << min << ", " << max << " and " << multiple;
  if (usual != -1 && (usual < min || usual > max || usual % multiple != 0))
    return emitError() << "expects a usual size from " << min << " to " << max
                       << ", a multiple of " << multiple << ", or -1, but got "
                       << usual;
  return success();
}

bool ShapeProfileAttr::hasUsual() const {
  return llvm::any_of(getRanges(), [](SizeRangeAttr range) {
    return range.getUsual() >= 0;
  });
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
// Places of attributes
//===----------------------------------------------------------------------===//

namespace {
/// The kind of object that has the attribute.
enum class Place { module, argument, operation };

struct Fact {
  StringLiteral name;
  Place place;
  bool (*isValid)(Attribute);
};
} // namespace

/// Makes the table entry for an attribute. `Helper` is the generated class with
/// its name and its type.
template <typename Helper> static Fact one(Place place) {
  using T = decltype(std::declval<Helper>().getAttr(nullptr));
  return {Helper::getNameStr(), place,
          [](Attribute value) { return isa<T>(value); }};
}

template <typename T> static bool isListOf(Attribute value) {
  auto elements = dyn_cast<ArrayAttr>(value);
  return elements && llvm::all_of(elements, llvm::IsaPred<T>);
}

/// Makes the table entry for an attribute that is a list of elements of type T.
template <typename Helper, typename T> static Fact list(Place place) {
  return {Helper::getNameStr(), place, isListOf<T>};
}

/// Returns entries for the discardable attributes of IngotDialect.td and for
/// the list of strings.
static ArrayRef<Fact> facts() {
  using D = IngotDialect;
  static const Fact all[] = {
      one<D::TargetsAttrHelper>(Place::module),
      one<D::TargetAttrHelper>(Place::module),
      one<D::ModelNameAttrHelper>(Place::module),
      one<D::MetadataAttrHelper>(Place::module),
      {kStringsAttr, Place::module, isListOf<StringAttr>},
      list<D::InputsAttrHelper, TensorAttr>(Place::module),
      list<D::OutputsAttrHelper, TensorAttr>(Place::module),
      list<D::ShapeProfilesAttrHelper, ShapeProfileAttr>(Place::module),
      one<D::TakesGeneralAttrHelper>(Place::module),
      list<D::BodiesAttrHelper, BodyAttr>(Place::module),
      one<D::UsualOfAttrHelper>(Place::operation),
      one<D::InfersAttrHelper>(Place::operation),
      one<D::SizeRulesAttrHelper>(Place::module),
      one<D::StatisticsAttrHelper>(Place::module),
      list<D::WeightsAttrHelper, WeightAttr>(Place::module),
      one<D::WeightsBytesAttrHelper>(Place::module),
      one<D::ArenaBytesAttrHelper>(Place::module),
      one<D::ArenaLowerBoundAttrHelper>(Place::module),
      list<D::MemoryPlanAttrHelper, SlotAttr>(Place::module),
      list<D::LayersAttrHelper, LayerAttr>(Place::module),
      list<D::DeclinedAttrHelper, DeclinedAttr>(Place::module),
      one<D::CalibrationAttrHelper>(Place::module),
      list<D::ObservedAttrHelper, StringAttr>(Place::module),
      list<D::PrecisionFlagsAttrHelper, PrecisionFlagAttr>(Place::module),
      list<D::LibrariesAttrHelper, LibraryAttr>(Place::module),
      one<D::NameAttrHelper>(Place::argument),
      list<D::DimNamesAttrHelper, StringAttr>(Place::argument),
      one<D::TypeAttrHelper>(Place::argument),
      one<D::OperandAttrHelper>(Place::argument),
      one<D::BackendAttrHelper>(Place::operation),
      one<D::PrecisionAttrHelper>(Place::operation),
      one<D::KindAttrHelper>(Place::operation),
      one<D::FlopsAttrHelper>(Place::operation),
      one<D::KernelAttrHelper>(Place::operation),
      one<D::MostBytesAttrHelper>(Place::operation),
      one<D::ScratchAttrHelper>(Place::operation),
  };
  return all;
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

std::optional<int64_t> ingot::usualOf(Operation *function) {
  IngotDialect::UsualOfAttrHelper helper(function->getContext());
  if (IntegerAttr profile = helper.getAttr(function))
    return profile.getInt();
  return std::nullopt;
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

static bool isOf(Operation *op, Precision wanted) {
  PrecisionAttr precision =
      IngotDialect::PrecisionAttrHelper(op->getContext()).getAttr(op);
  return precision && precision.getValue() == wanted;
}

bool ingot::isBF16(Operation *op) { return isOf(op, Precision::bf16); }

bool ingot::isFP16(Operation *op) { return isOf(op, Precision::fp16); }

bool ingot::isTF32(Operation *op) { return isOf(op, Precision::tf32); }
