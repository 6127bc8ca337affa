//===- TargetAttrs.td - machines and decisions -------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_TARGETATTRS_TD
#define INGOT_DIALECTS_INGOT_TARGETATTRS_TD

include "dialects/ingot/IngotDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Ingot_Attr<string name, string mnemonicName>
    : AttrDef<Ingot_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Ingot_Target : Ingot_Attr<"Target", "target"> {
  let summary = "the machine that code is generated for";
  let description = [{
    A CPU level of `ingot/abi/cpu_features.inc`, which stands for instructions
    and registers. The numbers of `TargetNumbers.inc` that differ from the
    defaults, such as cache sizes, multiply-adds per cycle, and the smallest
    useful task.

    Constraints:
    - C1: the level and the numbers are in these lists
    - C2: numbers are in the range of the list, and `line` is a power of 2

    Example:
    ```mlir
    module attributes {ingot.target = #ingot.target<"znver4", l2 = 524288>}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$level,
                        "::ingot::TargetNumbers":$numbers);
  let assemblyFormat = "`<` $level `` custom<Numbers>($numbers) `>`";
  let extraClassDeclaration = [{
    /// Returns the bits of cpu_features.inc that code for the level may need.
    uint64_t getFeatures() const;
    /// Returns the description of a core of the level.
    ::ingot::TargetInfo getInfo() const;
    /// Returns the target of the module around `op`, or x86-64-v3.
    static TargetAttr of(::mlir::Operation *op);
  }];
  let genVerifyDecl = 1;
}

// The name of a backend, without quotes. The list of backends is not defined
// here, so a new backend needs no change here.
def Ingot_BackendWord : StringRefParameter<"name of a backend"> {
  let parser = [{ parseWord($_parser) }];
  let printer = "$_printer.printKeywordOrString($_self)";
}

def Ingot_Targets : Ingot_Attr<"Targets", "targets"> {
  let summary = "all machines that the artifact has code for";
  let description = [{
    The device and its levels, set at import. An artifact has code for each
    level of `sure`. It gets code for a level of `may` if the model multiplies
    elements that the level multiplies faster. Phases that serve all levels use
    this attribute. In later phases `ingot.target` is the one level.

    Constraints:
    - C1: `sure` is not empty
    - C2: no level is listed twice

    Example:
    ```mlir
    module attributes {ingot.targets = #ingot.targets<cpu,
        [<"x86-64-v3">, <"x86-64-v4">], may = [<"znver4">]>}
    ```
  }];
  let parameters = (ins Ingot_BackendWord:$device,
      ArrayRefParameter<"::ingot::TargetAttr">:$sure,
      OptionalArrayRefParameter<"::ingot::TargetAttr">:$may);
  let assemblyFormat = "`<` $device `,` `[` $sure `]` "
                       "(`,` `may` `=` `[` $may^ `]`)? `>`";
  let extraClassDeclaration = [{
    using Test = ::llvm::function_ref<bool(const ::ingot::TargetInfo &)>;

    /// Returns the targets of the module around `op`. Without the attribute,
    /// returns its `ingot.target`. Without that, returns two common levels:
    /// x86-64-v3 and znver4.
    static TargetsAttr of(::mlir::Operation *op);
    /// Returns true if every sure level passes the test.
    bool all(Test test) const;
    /// Returns true if any sure level passes the test.
    bool anySure(Test test) const;
    /// Returns true if any level, sure or not, passes the test.
    bool any(Test test) const;
    /// Returns the numbers that are equal for all levels, such as the caches of
    /// a core.
    ::ingot::TargetNumbers getNumbers() const {
      return getSure().front().getNumbers();
    }
  }];
  let genVerifyDecl = 1;
}

// An alternative in the record of a decision.
def Ingot_Alternative : Ingot_Attr<"Alternative", "alternative"> {
  let summary = "an alternative that a decision compared";
  let description = [{
    The name, and the estimated time of one run in cycles of one core of the
    target. Without `cycles` the alternative was ruled out or has no estimate.

    Example:
    ```mlir
    #ingot.alternative<"winograd 4x4", cycles = 120000>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
      DefaultValuedParameter<"int64_t", "-1">:$cycles);
  let assemblyFormat = "`<` $name (`,` `cycles` `=` $cycles^)? `>`";
}

def Ingot_Question : I32EnumAttr<"Question", "what a policy decides", [
    I32EnumAttrCase<"backend", 0>,
    I32EnumAttrCase<"precision", 1>,
    I32EnumAttrCase<"winograd", 2>,
    I32EnumAttrCase<"packing", 3>,
    I32EnumAttrCase<"layout", 4>,
    I32EnumAttrCase<"padding", 5>,
    I32EnumAttrCase<"schedule", 6>,
    I32EnumAttrCase<"scales", 7>]> {
  let cppNamespace = "::ingot";
  let genSpecializedAttr = 0;
}

def Ingot_Decision : Ingot_Attr<"Decision", "decision"> {
  let summary = "a decision about an operation, with its reason";
  let description = [{
    The question, the choice, the alternatives, and a reason: half a sentence
    about the operation. A decision is the payload of a remark of the category
    `decision`. `--decisions` and `--remarks` write such remarks.

    Example:
    ```mlir
    #ingot.decision<winograd, "direct", [<"direct", cycles = 90000>,
        <"winograd 4x4", cycles = 120000>], "has few channels">
    ```
  }];
  let parameters = (ins EnumParameter<Ingot_Question>:$question,
      StringRefParameter<>:$choice,
      OptionalArrayRefParameter<"::ingot::AlternativeAttr">:$alternatives,
      StringRefParameter<>:$reason);
  let assemblyFormat = "`<` $question `,` $choice "
                       "(`,` `[` $alternatives^ `]`)? `,` $reason `>`";
}

#endif // INGOT_DIALECTS_INGOT_TARGETATTRS_TD
