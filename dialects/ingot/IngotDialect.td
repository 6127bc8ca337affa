//===- IngotDialect.td - ingot dialect ---------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_INGOTDIALECT_TD
#define INGOT_DIALECTS_INGOT_INGOTDIALECT_TD

include "mlir/IR/OpBase.td"

def Ingot_Dialect : Dialect {
  let name = "ingot";
  let cppNamespace = "::ingot";
  let summary = "Operations and attributes of all phases";
  let description = [{
    Operations that exist from legalization to code generation, independent of
    the dialects around them. Attributes that hand facts from phase to phase: no
    other attribute may have a name `ingot.…`, and each has one type.

    | attribute | of | meaning |
    |---|---|---|
    | `ingot.targets` | module | the device, and all machines that the artifact has code for |
    | `ingot.target` | module | the machine that code is for, in phases for one level |
    | `ingot.model_name`, `ingot.metadata` | module | the model's name and metadata |
    | `ingot.statistics` | module | counts of passes, for the artifact's metadata |
    | `ingot.strings` | module | list of strings, the empty one first: a tensor of strings holds indices in this list, si32 |
    | `ingot.inputs`, `ingot.outputs` | module | `#ingot.tensor`s in order |
    | `ingot.shape_profiles` | module | `#ingot.shape_profile`s: the sizes that a run may have |
    | `ingot.takes_general` | module | a run may also have sizes outside of the profiles |
    | `ingot.bodies` | module | `#ingot.body`s: the functions that compute usual sizes |
    | `ingot.usual_of` | function | index of the profile whose usual sizes alone the function computes |
    | `ingot.infers` | function | the function whose sizes this function computes |
    | `ingot.size_rules` | module | numbers of size rules that are proved and checked |
    | `ingot.weights`, `ingot.weights_bytes` | module | `#ingot.weight`s, and their total size |
    | `ingot.arena_bytes`, `ingot.arena_lower_bound`, `ingot.memory_plan` | module | the arena and its `#ingot.slot`s |
    | `ingot.layers` | module | `#ingot.layer`s in the order of the run |
    | `ingot.calibration` | module | results of `ingot calibrate` |
    | `ingot.observed` | module | names of the tensors that `ingot.observe` shows, by index |
    | `ingot.precision_flags` | module | `#ingot.precision_flag`s: run-time precision flags that `nn-insert-precision-flags` adds |
    | `ingot.libraries` | module | `#ingot.library`s that the code calls |
    | `ingot.name`, `ingot.dim_names`, `ingot.type` | arguments and results of `@forward` | its name and dimension names in the model, and its type with signs |
    | `ingot.operand` | arguments of the run's function | role of the argument: the weights, the arena or the call |
    | `ingot.declined` | module | `#ingot.declined`s: backends that declined a node, with reasons |
    | `ingot.backend`, `ingot.precision` | operation | backend and element type of the operation |
    | `ingot.kind`, `ingot.flops` | operation | kind and arithmetic of its layer, in place of the computed ones |
    | `ingot.kernel` | function | a kernel that was outlined |
    | `ingot.most_bytes` | alloc of dynamic size | its bytes at the largest sizes of a run |
    | `ingot.scratch` | alloca | name of the memory on the stack |
  }];
  let discardableAttrs = (ins
    "::ingot::TargetsAttr":$targets,
    "::ingot::TargetAttr":$target,
    "::mlir::StringAttr":$model_name,
    "::mlir::DictionaryAttr":$metadata,
    "::ingot::StatisticsAttr":$statistics,
    "::mlir::ArrayAttr":$inputs,
    "::mlir::ArrayAttr":$outputs,
    "::mlir::ArrayAttr":$shape_profiles,
    "::mlir::UnitAttr":$takes_general,
    "::mlir::ArrayAttr":$bodies,
    "::mlir::IntegerAttr":$usual_of,
    "::mlir::FlatSymbolRefAttr":$infers,
    "::ingot::SizeRulesAttr":$size_rules,
    "::mlir::ArrayAttr":$weights,
    "::mlir::IntegerAttr":$weights_bytes,
    "::mlir::IntegerAttr":$arena_bytes,
    "::mlir::IntegerAttr":$arena_lower_bound,
    "::mlir::ArrayAttr":$memory_plan,
    "::mlir::ArrayAttr":$layers,
    "::mlir::ArrayAttr":$declined,
    "::ingot::CalibrationAttr":$calibration,
    "::mlir::ArrayAttr":$observed,
    "::mlir::ArrayAttr":$precision_flags,
    "::mlir::ArrayAttr":$libraries,
    "::mlir::StringAttr":$name,
    "::mlir::ArrayAttr":$dim_names,
    "::mlir::TypeAttr":$type,
    "::ingot::RunOperandAttr":$operand,
    "::ingot::BackendNameAttr":$backend,
    "::ingot::PrecisionAttr":$precision,
    "::mlir::StringAttr":$kind,
    "::mlir::IntegerAttr":$flops,
    "::mlir::UnitAttr":$kernel,
    "::mlir::IntegerAttr":$most_bytes,
    "::mlir::StringAttr":$scratch);
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // INGOT_DIALECTS_INGOT_INGOTDIALECT_TD
