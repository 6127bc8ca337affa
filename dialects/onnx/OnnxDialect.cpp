//===- OnnxDialect.cpp - onnx dialect -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::onnx;

#include "dialects/onnx/OnnxDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxOps.cpp.inc"

void OnnxDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/onnx/OnnxTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// NodeOp
//===----------------------------------------------------------------------===//

// onnx.node ["domain"::]"OpType"(%inputs) [{attributes}]
//   [graphs "name" {...}, "name" {...}] : functional-type

ParseResult NodeOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  std::string first, second;
  if (parser.parseString(&first))
    return failure();
  bool hasDomain = succeeded(parser.parseOptionalColon());
  if (hasDomain && (parser.parseColon() || parser.parseString(&second)))
    return failure();
  result.addAttribute(getOpTypeAttrName(result.name),
                      builder.getStringAttr(hasDomain ? second : first));
  result.addAttribute(getDomainAttrName(result.name),
                      builder.getStringAttr(hasDomain ? first : ""));

  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SMLoc inputsLoc = parser.getCurrentLocation();
  NamedAttrList attributes;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(attributes))
    return failure();
  result.addAttribute(getNodeAttrsAttrName(result.name),
                      attributes.getDictionary(parser.getContext()));

  if (succeeded(parser.parseOptionalKeyword("graphs"))) {
    SmallVector<StringRef> names;
    SmallVector<std::string> storage;
    auto parseGraph = [&]() -> ParseResult {
      storage.emplace_back();
      return failure(
          parser.parseString(&storage.back()) ||
          parser.parseRegion(*result.addRegion(), /*arguments=*/{},
                             /*enableNameShadowing=*/false));
    };
    if (parser.parseCommaSeparatedList(parseGraph))
      return failure();
    names.assign(storage.begin(), storage.end());
    result.addAttribute(getRegionNamesAttrName(result.name),
                        builder.getStrArrayAttr(names));
  }

  FunctionType type;
  return failure(parser.parseColonType(type) ||
                 parser.resolveOperands(inputs, type.getInputs(), inputsLoc,
                                        result.operands) ||
                 parser.addTypesToList(type.getResults(), result.types));
}

void NodeOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (!getDomain().empty()) {
    printer.printString(getDomain());
    printer << "::";
  }
  printer.printString(getOpType());
  printer << '(' << getInputs() << ')';
  printer.printOptionalAttrDict(getNodeAttrs().getValue());
  if (getRegionNames()) {
    printer << " graphs ";
    llvm::interleaveComma(
        llvm::zip_equal(getRegionNames()->getAsValueRange<StringAttr>(),
                        getGraphs()),
        printer, [&](auto graph) {
          printer.printString(std::get<0>(graph));
          printer << ' ';
          printer.printRegion(std::get<1>(graph));
        });
  }
  printer << " : ";
  printer.printFunctionalType(getOperation());
}

LogicalResult NodeOp::verify() {
  size_t names = getRegionNames() ? getRegionNames()->size() : 0;
  if (names != getNumRegions())
    return emitOpError("expects a name for each graph, but got ")
           << names << " names for " << getNumRegions() << " graphs";
  return success();
}
