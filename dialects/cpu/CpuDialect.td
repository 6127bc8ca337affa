//===- CpuDialect.td - cpu dialect -------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUDIALECT_TD
#define INGOT_DIALECTS_CPU_CPUDIALECT_TD

include "mlir/IR/OpBase.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::ingot::cpu";
  let summary = "Operations that have a native kernel";
  let description = [{
    An op is a kernel of generated code, in destination-passing style. It works
    on tensors or, after bufferization, on memrefs. Spatial data is
    channels-last (`N, D1, …, Dn, C`).

    **Packed weights.** The output channels of constant weights are in panels of
    `P` channels (16, 32 or 64; zeros behind the last):
    `[panel][K1]…[Kn][C][P]`. So a kernel loads whole contiguous vectors, at any
    vector length. A panel never spans two groups.

    **Types.** src and weights have one type, which determines the type of the
    sum: f32 for f32 and bf16, and i32 for i8, where src is unsigned and weights
    are signed. bf16 and i8 are packed in groups of g = 2 or 4 channels, because
    one instruction multiplies and adds a group: `[panel][K1]…[Kn][C /
    g][P][g]`, with zeros behind the last. The stored type is any type that the
    epilogue yields.

    **Epilogue.** The region computes the stored value from the sum while the
    sum is still in registers. Its first argument is the sum. The others are an
    element of each epilogue operand. An operand has the rank of dst, and in
    each dimension its size or 1.

    **Schedule.** The attribute `schedule` (`#cpu.schedule`) says how a kernel
    is tiled and split. The pass `cpu-schedule` sets it where it is missing.
    Passes that split kernels and that generate their code read it.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // INGOT_DIALECTS_CPU_CPUDIALECT_TD
