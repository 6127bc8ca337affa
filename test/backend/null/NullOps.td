//===- NullOps.td - null ops -------------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_BACKEND_NULL_NULLOPS_TD
#define INGOT_TEST_BACKEND_NULL_NULLOPS_TD

include "dialects/kernel/KernelInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Null_Dialect : Dialect {
  let name = "null";
  let cppNamespace = "::ingot::null";
  let summary = "Operations of a device that exists in tests only";
}

def Null_Value
    : AnyTypeOf<[RankedTensorOf<[AnyType]>, StridedMemRefOf<[AnyType]>],
                "ranked tensor or memref">;

def Null_ReluOp : Op<Null_Dialect, "relu", [
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<KernelOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "max(x, 0) of each element x";
  let arguments = (ins Null_Value:$src, Null_Value:$dst);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)`
    attr-dict (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
  }];
}

#endif // INGOT_TEST_BACKEND_NULL_NULLOPS_TD
