//===- CpuDialect.cpp - cpu dialect registration --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::cpu;

#include "dialects/cpu/CpuDialect.cpp.inc"
#include "dialects/cpu/CpuEnums.cpp.inc"
#include "dialects/cpu/CpuInterfaces.cpp.inc"

/// Parses two sizes such as `14x32`.
static ParseResult parseSize(AsmParser &parser, int64_t &first,
                             int64_t &second) {
  SMLoc at = parser.getCurrentLocation();
  SmallVector<int64_t, 2> sizes;
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (sizes.size() != 2)
    return parser.emitError(at, "expects two sizes, as in 14x32, but got ")
           << sizes.size();
  first = sizes[0];
  second = sizes[1];
  return success();
}

static void printSize(AsmPrinter &printer, int64_t first, int64_t second) {
  printer << first << 'x' << second;
}

/// Parses a kind and its optional size, such as `bits<4>`.
static ParseResult parseWeightsKind(AsmParser &parser, WeightsKind &kind,
                                    int64_t &size) {
  SMLoc at = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<WeightsKind> known = symbolizeWeightsKind(name);
  if (!known)
    return parser.emitError(at, "expects a kind of weights, but got ") << name;
  kind = *known;
  size = 0;
  if (failed(parser.parseOptionalLess()))
    return success();
  return failure(parser.parseInteger(size) || parser.parseGreater());
}

static void printWeightsKind(AsmPrinter &printer, WeightsKind kind,
                             int64_t size) {
  printer << stringifyWeightsKind(kind);
  if (size != 0)
    printer << '<' << size << '>';
}

#define GET_ATTRDEF_CLASSES
#include "dialects/cpu/CpuAttrs.cpp.inc"

void CpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/cpu/CpuAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/CpuOps.cpp.inc"
      >();
}
