//===- DnnlDialect.cpp - dnnl dialect registration ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::dnnl;

#include "dialects/dnnl/DnnlDialect.cpp.inc"
#include "dialects/dnnl/DnnlEnums.cpp.inc"
#include "dialects/dnnl/DnnlInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dnnl/DnnlAttrs.cpp.inc"

void DnnlDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/dnnl/DnnlOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dnnl/DnnlAttrs.cpp.inc"
      >();
}
