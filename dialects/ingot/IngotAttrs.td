//===- IngotAttrs.td - attributes of the ingot dialect -----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes that phases of a compilation use to exchange facts. The dialect's
// list of discardable attributes defines their names on operations.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_INGOTATTRS_TD
#define INGOT_DIALECTS_INGOT_INGOTATTRS_TD

include "dialects/ingot/TargetAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

def Ingot_BackendName : Ingot_Attr<"BackendName", "backend"> {
  let summary = "backend that computes an operation";
  let description = [{
    The name of a backend. `nn-assign-backends` sets it and refuses unknown
    names. An operation without it may go to any backend that accepts it.

    Example:
    ```mlir
    %y = nn.relu %x {ingot.backend = #ingot.backend<native>} : tensor<4xf32>
    ```
  }];
  let parameters = (ins Ingot_BackendWord:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Ingot_Library : Ingot_Attr<"Library", "library"> {
  let summary = "a library that the model's code calls";
  let description = [{
    The library's name in the artifact's table of dependencies. With
    `own_threads` the library computes with its own threads, not with those of
    the host.

    Example:
    ```mlir
    module attributes {
      ingot.libraries = [#ingot.library<"blas", own_threads = true>]}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
      DefaultValuedParameter<"bool", "false">:$ownThreads);
  let assemblyFormat = "`<` $name (`,` `own_threads` `=` $ownThreads^)? `>`";
}

def Ingot_Declined : Ingot_Attr<"Declined", "declined"> {
  let summary = "reason why a backend does not compute a node of the model";
  let description = [{
    The ONNX node, the backend that declined it before another one took it, and
    the reason, half a sentence about the node.

    Example:
    ```mlir
    #ingot.declined<"Conv_0", native, "has weights that are not constant">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$node,
      Ingot_BackendWord:$backend,
      StringRefParameter<>:$reason);
  let assemblyFormat = "`<` $node `,` $backend `,` $reason `>`";
}

def Ingot_Precision : I32EnumAttr<"Precision", "what a product multiplies", [
    I32EnumAttrCase<"fp32", 0>,
    I32EnumAttrCase<"bf16", 1>,
    I32EnumAttrCase<"int8", 2>,
    I32EnumAttrCase<"fp16", 3>,
    I32EnumAttrCase<"w8", 4>,
    I32EnumAttrCase<"w4", 5>,
    I32EnumAttrCase<"w2", 6>,
    I32EnumAttrCase<"int16", 7>,
    I32EnumAttrCase<"binary", 8>,
    I32EnumAttrCase<"tf32", 9>]> {
  let cppNamespace = "::ingot";
  let genSpecializedAttr = 0;
}

def Ingot_PrecisionAttr
    : EnumAttr<Ingot_Dialect, Ingot_Precision, "precision"> {
  let summary =
      "element type of products, and of storage between products";
  let description = [{
    Sums are i32 for int8, int16 and binary, which multiplies signs, and f32
    otherwise. Only passes set int16 and binary; no option names them. With
    fp16, constant weights are stored as f16. They are multiplied as f32, or as
    f16 if `nn-to-cpu` is told that all CPU levels can. With w8, w4 and w2,
    weights are stored in 8, 4 or 2 bits and multiplied as f32. With tf32, f32
    is rounded to 10 bits of fraction just before it is multiplied.

    Example:
    ```mlir
    %y = nn.matmul %a, %b {ingot.precision = #ingot.precision<bf16>}
      : (tensor<5x7xf32>, tensor<7x16xf32>) -> tensor<5x16xf32>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Facts about the model
//===----------------------------------------------------------------------===//

def Ingot_Tensor : Ingot_Attr<"Tensor", "tensor"> {
  let summary = "an input or an output of the model";
  let description = [{
    The name, the type with signs, and the names of dimensions. A dimension
    without a name has an empty one. The list is empty if no dimension has a
    name.

    Constraints:
    - C1: as many names as dimensions, or none

    Example:
    ```mlir
    #ingot.tensor<"x" : tensor<?x3xui8>, dims = "N", "">
    ```
  }];
  let parameters = (ins
      StringRefParameter<>:$name, "::mlir::RankedTensorType":$type,
      OptionalArrayRefParameter<"::mlir::StringAttr">:$dimNames);
  let assemblyFormat = [{
    `<` $name `:` $type (`,` `dims` `=` $dimNames^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Ingot_PrecisionFlag : Ingot_Attr<"PrecisionFlag", "precision_flag"> {
  let summary = "run-time precision flag of products, for int8";
  let description = [{
    The index in `ingot.observed` of the tensor that the first product reads,
    and the ONNX nodes of the products. The index is -1 if the tensor is in a
    loop or a branch; then each run finds its scale.

    Example:
    ```mlir
    #ingot.precision_flag<3, nodes = "Conv_0", "Conv_1">
    ```
  }];
  let parameters = (ins "int64_t":$tensor,
      ArrayRefParameter<"::mlir::StringAttr">:$nodes);
  let assemblyFormat = "`<` $tensor `,` `nodes` `=` $nodes `>`";
}

def Ingot_TensorRange : Ingot_Attr<"TensorRange", "tensor_range"> {
  let summary = "quantization of a tensor to bytes";
  let description = [{
    An element is `(byte - zero_point) * scale`. `min` and `max` are the
    smallest and the largest element that calibration saw.

    Constraints:
    - C1: `min` and `max` are finite, and `min` <= `max`
    - C2: `scale` is a normal number above 0
    - C3: `zero_point` is from 0 to 255

    Example:
    ```mlir
    #ingot.tensor_range<"x", min = -1.0, max = 2.0, scale = 0.0125,
                        zero_point = 80>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
      APFloatParameter<"">:$min, APFloatParameter<"">:$max,
      APFloatParameter<"">:$scale, "int64_t":$zeroPoint);
  let assemblyFormat = [{
    `<` $name `,` `min` `=` custom<Float>($min) `,` `max` `=`
    custom<Float>($max) `,` `scale` `=` custom<Float>($scale) `,` `zero_point`
    `=` $zeroPoint `>`
  }];
  let genVerifyDecl = 1;
}

def Ingot_ChannelValues : Ingot_Attr<"ChannelValues", "channel_values"> {
  let summary = "a value for each channel of an operation's result";
  let description = [{
    The name consists of the ONNX nodes of the operation, joined by ` + `.

    Constraints:
    - C1: the values are finite

    Example:
    ```mlir
    #ingot.channel_values<"relu", [16.0, 1.0]>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
      "::mlir::DenseF32ArrayAttr":$values);
  let assemblyFormat = "`<` $name `,` custom<Floats>($values) `>`";
  let genVerifyDecl = 1;
}

def Ingot_WeightRounding : Ingot_Attr<"WeightRounding", "weight_rounding"> {
  let summary = "direction in which each weight of a product is rounded";
  let description = [{
    Holds a bit for each weight, which is set if the weight is rounded up to the
    next byte. The weights of the first output come first, the lowest bit of a
    byte first. A weight without a bit is rounded down.

    Constraints:
    - C1: the bits are bytes in one dimension

    Example:
    ```mlir
    #ingot.weight_rounding<"fc1", dense_resource<rounding> : tensor<1xi8>>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
      "::mlir::DenseResourceElementsAttr":$up);
  let assemblyFormat = "`<` $name `,` $up `>`";
  let extraClassDeclaration = [{
    /// Returns the bytes that hold the bits; none if there is no such resource.
    ::llvm::ArrayRef<char> getBytes() const;
    /// Returns the bit of a weight.
    static bool isUp(::llvm::ArrayRef<char> bytes, size_t weight) {
      return (bytes[weight / 8] >> (weight % 8) & 1) != 0;
    }
  }];
  let genVerifyDecl = 1;
}

def Ingot_Calibration : Ingot_Attr<"Calibration", "calibration"> {
  let summary = "results of a calibration of the model";
  let description = [{
    `file` is the calibration's file, for messages. `tensors` are ranges of
    tensors. The other lists repair the model. `equalize` is true if the weights
    of neighboring products are scaled to equal size. `channels` are the largest
    magnitudes of the channels that products read. `biases` say how much
    too large the results of products in bytes are on average. `rounding` are
    the weights that are not rounded to nearest.

    Constraints:
    - C1: no name occurs twice in one list
    - C2: no magnitude of `channels` is below 0

    Example:
    ```mlir
    module attributes {
      ingot.calibration = #ingot.calibration<"model.json" tensors = [
        <"x", min = -1.0, max = 2.0, scale = 0.0125, zero_point = 80>]
        equalize = true biases = [<"conv", [0.25, -0.25]>]>}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$file,
      OptionalArrayRefParameter<"::ingot::TensorRangeAttr">:$tensors,
      DefaultValuedParameter<"bool", "false">:$equalize,
      OptionalArrayRefParameter<"::ingot::ChannelValuesAttr">:$channels,
      OptionalArrayRefParameter<"::ingot::ChannelValuesAttr">:$biases,
      OptionalArrayRefParameter<"::ingot::WeightRoundingAttr">:$rounding);
  let assemblyFormat = [{
    `<` $file (`tensors` `=` `[` $tensors^ `]`)? (`equalize` `=` $equalize^)?
    (`channels` `=` `[` $channels^ `]`)? (`biases` `=` `[` $biases^ `]`)?
    (`rounding` `=` `[` $rounding^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Ingot_SizeRules : Ingot_Attr<"SizeRules", "size_rules"> {
  let summary = "numbers of size rules that were proved, and that runs check";
  let parameters = (ins "int64_t":$proved, "int64_t":$checked);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Ingot_SizeRange : Ingot_Attr<"SizeRange", "size_range"> {
  let summary = "sizes that a dimension of an input may have in a run";
  let description = [{
    Sizes from `min` to `max` that are multiples of `multiple`. Code is
    optimized for `usual`, or -1 if there is no such size.

    Constraints:
    - C1: 0 <= `min` <= `max`, and `multiple` is at least 1
    - C2: `usual` is -1 or one of these sizes
  }];
  let parameters = (ins "int64_t":$input, "int64_t":$dim, "int64_t":$min,
      "int64_t":$usual, "int64_t":$max, "int64_t":$multiple);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Ingot_ShapeProfile : Ingot_Attr<"ShapeProfile", "shape_profile"> {
  let summary = "sizes of inputs that may occur together in a run";
  let description = [{
    A dimension without a range may have any size.

    Example:
    ```mlir
    #ingot.shape_profile<
      #ingot.size_range<input = 0, dim = 3, min = 64, usual = 320, max = 2048,
                        multiple = 1>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::ingot::SizeRangeAttr">:$ranges);
  let assemblyFormat = "`<` $ranges `>`";
  let extraClassDeclaration = [{
    /// Returns true if there is a usual size, which has a separate body.
    bool hasUsual() const;
  }];
}

def Ingot_Body : Ingot_Attr<"Body", "body"> {
  let summary = "a function that computes the usual sizes of a profile";
  let description = [{
    The index of the profile, and the inputs and outputs at its usual sizes.

    Example:
    ```mlir
    #ingot.body<@forward_1 of 0, inputs = [#ingot.tensor<"x" : tensor<4xf32>>],
                outputs = [#ingot.tensor<"y" : tensor<4xf32>>]>
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$function,
      "int64_t":$profile, "::mlir::ArrayAttr":$inputs,
      "::mlir::ArrayAttr":$outputs);
  let assemblyFormat = [{
    `<` $function `of` $profile `,` `inputs` `=` $inputs `,` `outputs` `=`
    $outputs `>`
  }];
}

def Ingot_Layer : Ingot_Attr<"Layer", "layer"> {
  let summary = "a part of the run that profiles show as one row";
  let description = [{
    The kind of the layer, its backend, and the reason why no better backend
    computes it (empty if none was asked). The element type of its products if
    it is not f32. Its arithmetic and traffic; 0 if only a run knows them. The
    profile whose usual sizes it belongs to; -1 if it serves all sizes. The ONNX
    nodes that it computes. With `in_loop` no kernel computes it, although it
    has more than a hundredth of the model's arithmetic.

    Example:
    ```mlir
    #ingot.layer<"convolution" by native, flops = 1024, bytes = 640,
                 nodes = "Conv_0", "Relu_1">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$kind,
      Ingot_BackendWord:$backend,
      OptionalParameter<"::mlir::StringAttr">:$reason,
      OptionalParameter<"::ingot::PrecisionAttr">:$precision,
      "int64_t":$flops, "int64_t":$bytes,
      DefaultValuedParameter<"int64_t", "-1">:$usualOf,
      DefaultValuedParameter<"bool", "false">:$inLoop,
      OptionalArrayRefParameter<"::mlir::StringAttr">:$nodes);
  let assemblyFormat = [{
    `<` $kind `by` $backend `,` (`reason` `=` $reason^ `,`)?
    (`precision` `=` $precision^ `,`)? (`usual_of` `=` $usualOf^ `,`)?
    (`in_loop` `=` $inLoop^ `,`)?
    `flops` `=` $flops `,` `bytes` `=` $bytes (`,` `nodes` `=` $nodes^)? `>`
  }];
}

def Ingot_Statistics : Ingot_Attr<"Statistics", "statistics"> {
  let summary = "counts that passes made in the model";
  let description = [{
    Counts of channels, bytes and zeros, which the artifact's metadata contains.
    Their names are those of `INGOT_METADATA_NUMBER` in
    `ingot/abi/metadata_keys.inc`. A count that no pass set is absent.

    Constraints:
    - C1: no count is negative

    Example:
    ```mlir
    module attributes {
      ingot.statistics = #ingot.statistics<weights = 14, zero_weights = 4>}
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$values);
  let assemblyFormat = "`<` custom<Statistics>($values) `>`";
  let extraClassDeclaration = [{
    /// Value of a count that no pass has set.
    static constexpr int64_t kUnset = -1;
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

def Ingot_RunOperand : I32EnumAttr<"RunOperand", "what a run is handed", [
    I32EnumAttrCase<"weights", 0>,
    I32EnumAttrCase<"arena", 1>,
    I32EnumAttrCase<"call", 2>]> {
  let cppNamespace = "::ingot";
  let genSpecializedAttr = 0;
}

def Ingot_RunOperandAttr
    : EnumAttr<Ingot_Dialect, Ingot_RunOperand, "operand"> {
  let summary = "role of an argument of the run's function, besides inputs and "
                "outputs";
  let description = [{
    `weights` are the constants, `arena` the memory of intermediate tensors, and
    `call` points to the `ingot_abi_call` of the host.

    Example:
    ```mlir
    func.func @forward(
        %w: memref<?xi8> {ingot.operand = #ingot.operand<weights>})
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Ingot_Weight : Ingot_Attr<"Weight", "weight"> {
  let summary = "a constant, and its offset in the weights in bytes";
  let parameters = (ins "int64_t":$offset, "::mlir::ElementsAttr":$value);
  let assemblyFormat = "`<` $offset `,` $value `>`";
}

def Ingot_Slot : Ingot_Attr<"Slot", "slot"> {
  let summary = "offset and lifetime of a buffer in the arena";
  let description = [{
    `first` and `last` are the indices of the first and the last operation that
    use it.
  }];
  let parameters = (ins "int64_t":$offset, "int64_t":$bytes, "int64_t":$first,
      "int64_t":$last);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // INGOT_DIALECTS_INGOT_INGOTATTRS_TD
