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
  let summary = "What every phase of a compilation may say";
  let description = [{
    Operations that are there from legalization to code generation, whatever
    the dialects around them are, and the facts that phases hand to each other:
    no other attribute may be called `ingot.…`, and each has one type.

    | attribute | of | says |
    |---|---|---|
    | `ingot.targets` | module | the device, and all machines that the artifact has code for |
    | `ingot.target` | module | the machine that code is for, once there is one |
    | `ingot.model_name`, `ingot.metadata` | module | what the model says of itself |
    | `ingot.statistics` | module | what passes counted, for the artifact's metadata |
    | `ingot.strings` | module | the strings that it knows, the empty one first: a tensor of strings is places in this list, si32 |
    | `ingot.inputs`, `ingot.outputs` | module | `#ingot.tensor`s in order |
    | `ingot.shape_profiles` | module | `#ingot.shape_profile`s: the sizes that a run may have |
    | `ingot.takes_general` | module | a run may have other sizes, too |
    | `ingot.bodies` | module | `#ingot.body`s: the functions that compute usual sizes |
    | `ingot.usual_of` | function | the number of the profile whose usual sizes it computes, and no others |
    | `ingot.infers` | function | whose sizes it finds, without computing anything else |
    | `ingot.size_rules` | module | rules proved and checked |
    | `ingot.weights`, `ingot.weights_bytes` | module | `#ingot.weight`s, and the size of all |
    | `ingot.arena_bytes`, `ingot.arena_lower_bound`, `ingot.memory_plan` | module | the arena and its `#ingot.slot`s |
    | `ingot.layers` | module | `#ingot.layer`s in the order of the run |
    | `ingot.calibration` | module | what `ingot calibrate` found out about the model |
    | `ingot.observed` | module | names of the tensors that `ingot.observe` shows, by number |
    | `ingot.switches` | module | `#ingot.switch`es: what `nn-insert-switches` lets a run round |
    | `ingot.libraries` | module | `#ingot.library`s that the code calls |
    | `ingot.name`, `ingot.dim_names`, `ingot.type` | arguments and results of `@forward` | how the model calls it, and its type with signs |
    | `ingot.operand` | arguments of the run's function | the weights, the arena or the call |
    | `ingot.declined` | module | `#ingot.declined`s: which backends did not take a node, and why |
    | `ingot.backend`, `ingot.precision` | operation | who computes it, and how |
    | `ingot.kind`, `ingot.flops` | operation | what a layer's row says instead of what it would find |
    | `ingot.kernel` | function | a kernel that was outlined |
    | `ingot.most_bytes` | alloc of open size | what it takes at the largest sizes of a run |
    | `ingot.scratch` | alloca | which memory on the stack it is |
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
    "::mlir::ArrayAttr":$switches,
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
