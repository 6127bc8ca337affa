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
    One op is one kernel of generated code, in destination-passing style, on
    tensors or, after bufferization, on memrefs. Spatial data is channels-last
    (`N, D1, …, Dn, C`).

    **Packed weights.** The output channels of constant weights lie in panels of
    `P` channels (16, 32 or 64; zeros behind the last), so that a kernel loads
    them as whole vectors, one after the other, whatever its vectors' length:
    `[panel][K1]…[Kn][C][P]`. A panel never spans two groups.

    **Types.** src and weights are of one type, which says what the sum is of:
    f32 or bf16: f32; i8: i32, src being unsigned and weights signed. bf16 and
    i8 are packed in groups of g = 2 or 4 channels, zeros behind the last:
    `[panel][K1]…[Kn][C / g][P][g]`, since one instruction multiplies and adds
    up a group. What is stored is of any type that the epilogue yields.

    **Epilogue.** The region computes what is stored from what was summed up,
    while that still is in registers. Its first argument is the sum, the others
    are one element of each epilogue operand: an operand has the rank of dst,
    and in each dimension its size or 1.

    **Schedule.** How a kernel is tiled and split is its attribute `schedule`
    (`#cpu.schedule`), which the pass `cpu-schedule` sets where there is none.
    What splits kernels and what writes their code read it.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // INGOT_DIALECTS_CPU_CPUDIALECT_TD
