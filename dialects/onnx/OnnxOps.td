//===- OnnxOps.td - onnx dialect ---------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_ONNX_ONNXOPS_TD
#define INGOT_DIALECTS_ONNX_ONNXOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::ingot::onnx";
  let summary = "An ONNX graph in its original form";
  let description = [{
    A generic op represents every ONNX node, so that import loses nothing and
    needs no knowledge of operators. The graph is a `func.func`. Its module has
    the attribute `onnx.opset_import`, a dictionary from domain (`ai.onnx`, …)
    to version. If ONNX's own operators were converted to another version,
    `onnx.stated_opset` is the version that the file states. Initializers are
    `arith.constant`s. The location of each op has the name of its node.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Onnx_Op<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits>;

def Onnx_OpaqueType : TypeDef<Onnx_Dialect, "Opaque"> {
  let mnemonic = "opaque";
  let summary = "a sequence, optional, map or sparse tensor";
  let description = [{
    Types that are not tensor types, in ONNX's spelling:
  }];
  let parameters = (ins StringRefParameter<>:$text);
  let assemblyFormat = "`<` $text `>`";
}

def Onnx_NodeOp : Onnx_Op<"node"> {
  let summary = "any ONNX operator";
  let description = [{
    Attributes are in `node_attrs`: int as i64, float as f32, string, tensor as
    elements attribute, and arrays of these. Subgraphs are the regions, in the
    order of `region_names`. An absent optional operand is an `onnx.absent`.
    Example:

    ```mlir
    %y = onnx.node "Relu"(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %z = onnx.node "com.acme"::"Foo"(%x) {alpha = 1.0 : f32}
      : (tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op_type,
                       DefaultValuedStrAttr<StrAttr, "">:$domain,
                       Variadic<AnyType>:$inputs,
                       DictionaryAttr:$node_attrs,
                       OptionalAttr<StrArrayAttr>:$region_names);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$graphs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Onnx_AbsentOp : Onnx_Op<"absent", [Pure]> {
  let summary = "an optional operand that is left out";
  let results = (outs NoneType:$none);
  let assemblyFormat = "attr-dict";
}

def Onnx_SequenceOp : Onnx_Op<"sequence", [Pure]> {
  let summary = "a sequence whose elements are known at compile time";
  let description = [{
    Represents a sequence in legalization until all of its users are legalized.
    Example:

    ```mlir
    %s = onnx.sequence(%x, %y : tensor<4xf32>, tensor<?xf32>) : <"seq">
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs Onnx_OpaqueType:$sequence);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$elements), [{
    build($_builder, $_state,
          OpaqueType::get($_builder.getContext(), "seq"), elements);
  }]>];
  let assemblyFormat = [{
    `(` ($elements^ `:` type($elements))? `)` attr-dict `:` type($sequence)
  }];
}

def Onnx_RowsOp : Onnx_Op<"rows", [Pure]> {
  let summary = "a sequence whose length only the run knows";
  let description = [{
    The elements are the rows of a tensor along dimension 0, so they have one
    shape. Exists until all of its users are legalized, as `onnx.sequence` does.
    Example:

    ```mlir
    %s = onnx.rows(%x : tensor<?x4xf32>) : <"seq">
    ```
  }];
  let arguments = (ins AnyType:$tensor);
  let results = (outs Onnx_OpaqueType:$sequence);
  let builders = [OpBuilder<(ins "::mlir::Value":$tensor), [{
    build($_builder, $_state,
          OpaqueType::get($_builder.getContext(), "seq"), tensor);
  }]>];
  let assemblyFormat = [{
    `(` $tensor `:` type($tensor) `)` attr-dict `:` type($sequence)
  }];
}

def Onnx_YieldOp : Onnx_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "results of a subgraph";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // INGOT_DIALECTS_ONNX_ONNXOPS_TD
