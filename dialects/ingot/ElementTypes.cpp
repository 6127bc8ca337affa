//===- ElementTypes.cpp - numbers of element types ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"

#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;

/// Returns the tiny float type with this number in ingot/abi/element_types.inc.
static Type tinyFloatOf(int32_t number, MLIRContext *context) {
  switch (number) {
#define INGOT_TINY_FLOAT(NAME, FORMAT, EXPONENT, FRACTION, BIAS, ENDS)         \
  case INGOT_ABI_##NAME:                                                       \
    return FORMAT##Type::get(context);
#include "runtime/include/ingot/abi/element_types.inc"
  default:
    return {};
  }
}

static Type signedOf(unsigned bits, MLIRContext *context) {
  return IntegerType::get(context, bits);
}

static Type unsignedOf(unsigned bits, MLIRContext *context) {
  return IntegerType::get(context, bits, IntegerType::Unsigned);
}

Type ingot::stringType(MLIRContext *context) {
  return IntegerType::get(context, 32, IntegerType::Signed);
}

bool ingot::isString(Type type) {
  return getElementTypeOrSelf(type).isSignedInteger(32);
}

Type ingot::elementTypeOf(int32_t number, MLIRContext *context) {
#define ELEMENT_FLOAT(BITS)                                                    \
  (BITS == 64 ? Type(Float64Type::get(context))                                \
              : Type(Float32Type::get(context)))
#define ELEMENT_HALF(BITS) Float16Type::get(context)
#define ELEMENT_BRAIN(BITS) BFloat16Type::get(context)
#define ELEMENT_TINY(BITS) tinyFloatOf(number, context)
#define ELEMENT_SIGNED(BITS) signedOf(BITS, context)
#define ELEMENT_UNSIGNED(BITS) unsignedOf(BITS, context)
#define ELEMENT_BOOL(BITS) signedOf(1, context)
#define STORED_COMPLEX(BITS, FORMAT)                                           \
  ComplexType::get(FORMAT##Type::get(context))
  switch (number) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return ELEMENT_##KIND(8 * BYTES);
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  case NUMBER:                                                                 \
    return ELEMENT_##KIND(BITS);
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT)                                  \
  case NUMBER:                                                                 \
    return stringType(context);
#define INGOT_STORED_TYPE(NAME, NUMBER, KIND, BITS, FORMAT)                    \
  case NUMBER:                                                                 \
    return STORED_##KIND(BITS, FORMAT);
#include "runtime/include/ingot/abi/element_types.inc"
  default:
    return {};
  }
}

uint32_t ingot::elementNumberOf(Type type) {
  if (isString(type))
    return INGOT_ABI_STRING;
  if (type.isSignedInteger())
    type = signedOf(type.getIntOrFloatBitWidth(), type.getContext());
  if (type.isUnsignedInteger(1))
    type = signedOf(1, type.getContext());
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  if (type == elementTypeOf(NUMBER, type.getContext()))                        \
    return NUMBER;
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  if (type == elementTypeOf(NUMBER, type.getContext()))                        \
    return NUMBER;
#include "runtime/include/ingot/abi/element_types.inc"
  return 0;
}

int64_t ingot::elementBitsOf(int32_t number) {
  switch (number) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return 8 * BYTES;
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  case NUMBER:                                                                 \
    return BITS;
#define INGOT_STORED_TYPE(NAME, NUMBER, KIND, BITS, FORMAT)                    \
  case NUMBER:                                                                 \
    return BITS;
#include "runtime/include/ingot/abi/element_types.inc"
  default:
    return 0;
  }
}
