//===- CpuWeights.td - formats of stored weights -----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUWEIGHTS_TD
#define INGOT_DIALECTS_CPU_CPUWEIGHTS_TD

include "dialects/cpu/CpuDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Cpu_WeightsKind : I32Enum<"WeightsKind", "how weights are stored", [
    I32EnumCase<"panels", 0>, I32EnumCase<"blocks", 1>,
    I32EnumCase<"bits", 2>, I32EnumCase<"signs", 3>,
    I32EnumCase<"winograd", 4>]> {
  let cppNamespace = "::ingot::cpu";
}

def Cpu_Weights : AttrDef<Cpu_Dialect, "Weights"> {
  let mnemonic = "weights";
  let genVerifyDecl = 1;
  let summary = "format of the weights of a product";
  let description = [{
    Says how a product's weights are stored, and therefore which operands the
    product has beside them.

    | kind | weights | further operands |
    |---|---|---|
    | `panels` | all elements, in panels | `pairs` if the attribute says so |
    | `blocks` | the blocks of k of a panel that are not all zero | `blocks` |
    | `bits<B>` | integers of B bits in i32 elements | `scales`, maybe `zero_points` |
    | `signs<C>` | signs of C channels in i32 elements | |
    | `winograd<M>` | transformed for tiles of M x M outputs | |

    The ops describe the layout of each kind.

    - `block_size`: number of neighboring k with one scale, for `bits`
    - `pairs`: the op has an operand that says which bytes can be added in pairs
      as int16
    - `pair_counts`: number of groups with a direct pairing, only a crossed one,
      and none: for 16 columns, then for whole panels. `cpu-schedule` drops them
    - `exact_tiles`: 2 or 4 if Winograd convolution by tiles of up to so many
      outputs has exact sums. The run transforms the weights

    Constraints:
    - C1: B is 2, 4 or 8, C at least 1, M is 2 or 4; other kinds have no size
    - C2: `block_size` is at least 1 for `bits`, and absent for other kinds
    - C3: `pairs` and `exact_tiles` belong to `panels`, `pair_counts` to `pairs`
    - C4: there are 6 `pair_counts`, and `exact_tiles` is 2 or 4

    Example:
    ```mlir
    #cpu.weights<panels>
    #cpu.weights<panels, pairs = true, exact_tiles = 4>
    #cpu.weights<bits<4>, block_size = 32>
    ```
  }];
  let parameters = (ins
      EnumParameter<Cpu_WeightsKind>:$kind,
      DefaultValuedParameter<"int64_t", "0">:$size,
      DefaultValuedParameter<"int64_t", "0">:$block_size,
      DefaultValuedParameter<"bool", "false">:$pairs,
      OptionalParameter<"::mlir::DenseI64ArrayAttr">:$pair_counts,
      DefaultValuedParameter<"int64_t", "0">:$exact_tiles);
  let builders = [
    AttrBuilder<(ins "::ingot::cpu::WeightsKind":$kind,
                     CArg<"int64_t", "0">:$size,
                     CArg<"int64_t", "0">:$blockSize), [{
      return $_get($_ctxt, kind, size, blockSize, false,
                   ::mlir::DenseI64ArrayAttr(), 0);
    }]>
  ];
  let constBuilderCall = "::ingot::cpu::WeightsAttr::get("
                         "$_builder.getContext(), $0)";
  let extraClassDeclaration = [{
    bool isBlocks() const { return getKind() == WeightsKind::blocks; }
    bool isSigns() const { return getKind() == WeightsKind::signs; }
    /// Returns the number of bits of a weight.
    int64_t getBits() const;
    /// Returns the number of channels whose signs are stored.
    int64_t getSignChannels() const;
    /// Returns the number of outputs in a tile, for weights that are
    /// transformed for tiles.
    int64_t getOutputs() const;
    /// Returns true if the format requires the operand `name` in addition to
    /// the weights. If the op has scales, it may also have zero points.
    bool implies(::llvm::StringRef name) const;
    /// Returns this format with pairs, for panels.
    WeightsAttr withPairs(::llvm::ArrayRef<int64_t> counts) const;
    WeightsAttr withoutPairCounts() const;
    /// Returns this format with `exact_tiles` of `outputs`, for panels.
    WeightsAttr withExactTiles(int64_t outputs) const;
    /// Returns this format without statements about the weights' values.
    WeightsAttr withoutStatements() const;
  }];
  let assemblyFormat = [{
    `<` custom<WeightsKind>($kind, $size)
    (`,` struct($block_size, $pairs, $pair_counts, $exact_tiles)^)? `>`
  }];
}

/// An argument for the format. The default is `panels`.
def Cpu_Format
    : DefaultValuedAttr<Cpu_Weights, "::ingot::cpu::WeightsKind::panels">;

#endif // INGOT_DIALECTS_CPU_CPUWEIGHTS_TD
