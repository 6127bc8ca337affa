//===- CpuSchedule.td - how a kernel is tiled and split ----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUSCHEDULE_TD
#define INGOT_DIALECTS_CPU_CPUSCHEDULE_TD

include "dialects/cpu/CpuDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Cpu_Attr<string name, string mnemonicName> : AttrDef<Cpu_Dialect, name> {
  let mnemonic = mnemonicName;
  let genVerifyDecl = 1;
}

def Cpu_Tile : Cpu_Attr<"Tile", "tile"> {
  let summary = "a register tile: what a kernel computes at a time";
  let description = [{
    Rows (pixels, of products) times columns (output channels), each an
    accumulator. Columns are counted in elements: how many vectors they are
    depends on the target.

    `product` is one of [the products](products.md): element types, instructions
    and registers of a micro-kernel.

    Constraints:
    - C1: rows and columns are at least 1
    - C2: with AMX, `amx_rows` are 1 to 16, and rows are as many, or up to twice
      as many; `amx_rows` is 0 otherwise

    Example:
    ```mlir
    #cpu.tile<14x32>
    #cpu.tile<28x32, product = bf16_tiles, amx_rows = 14>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
      DefaultValuedParameter<"::ingot::cpu::Product",
                             "::ingot::cpu::Product::f32">:$product,
      DefaultValuedParameter<"int64_t", "0">:$amx_rows);
  let assemblyFormat = [{
    `<` custom<Size>($rows, $columns)
    (`,` struct($product, $amx_rows)^)? `>`
  }];
}

def Cpu_Grid : Cpu_Attr<"Grid", "grid"> {
  let summary = "how the result of a kernel is split into tasks";
  let description = [{
    Rows times column tiles of a task; the last of either may have fewer. A row
    is one of `dst`, all its dimensions but the last two (convolutions,
    pooling), a row of each matrix (products), or what is normalized or reduced
    at once.

    Tasks of neighbouring numbers have the same column tiles; with
    `rows_outside` the same rows. Where rows would be split into more than
    `row_blocks`, tasks take a multiple of `rows`: that many of a size that only
    a run knows. 0 is for no such limit. From `whole_from` rows on, if it is not
    0, tasks have all column tiles, and rows are split into as many blocks more.

    Constraints:
    - C1: both are at least 1, `row_blocks` and `whole_from` at least 0
    - C2: `row_blocks` is not 0 where `whole_from` is not

    Example:
    ```mlir
    #cpu.grid<28x4, rows_outside = true>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$tiles,
      DefaultValuedParameter<"bool", "false">:$rows_outside,
      DefaultValuedParameter<"int64_t", "0">:$row_blocks,
      DefaultValuedParameter<"int64_t", "0">:$whole_from);
  let assemblyFormat = [{
    `<` custom<Size>($rows, $tiles)
    (`,` struct($rows_outside, $row_blocks, $whole_from)^)? `>`
  }];
}

def Cpu_Schedule : Cpu_Attr<"Schedule", "schedule"> {
  let summary = "how a kernel is tiled and split";
  let description = [{
    Set once by the pass `cpu-schedule`, or by whoever knows better; splitting
    into tasks and code generation read it. Which parts there are depends on the
    kernel:

    | kernel | `tile` | `grid` | besides |
    |---|---|---|---|
    | `cpu.matmul` | rows × columns | yes | `prefetch`, `depth_block` |
    | `cpu.packed_matmul` | rows × columns; of rounded src `int8_dot` or `int8_pairs` | yes | |
    | `cpu.conv` | pixels × output channels | yes | `prefetch`, `depth_block` or `across_rows`; `winograd`, `tile_block`, `depth_block` |
    | `cpu.depthwise_conv` | pixels of a row × channels: a vector, with `int8_wide` two or four, with `int8_dot` 64 | yes | `tile_block` |
    | `cpu.winograd_conv` | tiles of m × m pixels × output channels | yes | `tile_block` |
    | `cpu.recurrent` | sequences × columns | sequences × 1 | |
    | `cpu.attention` | queries × elements of a value | no: a block of queries of a head is a task | `scores`: keys × queries of a task |
    | `cpu.reduce` with channels | rows side by side × channels | yes | |
    | `cpu.pool`, `cpu.group_norm` | 1 × channels | yes | |
    | `cpu.reduce` of rows, `cpu.softmax`, `cpu.row_norm`, `cpu.resample`, `cpu.band_matmul`, `cpu.round_blocks`, `cpu.pack_signs` | no | rows × 1 | |

    - `prefetch`: passes over a panel prefetch parts of the next one
    - `depth_block`: of so many groups of a tap's channels, the weights are
      multiplied with all rows of a task, whose sums wait on the stack; 0 for
      all channels and taps at once. Rows of `cpu.matmul` are of known number
      then
    - `across_rows`: pixels are counted through all rows, and a tile goes on in
      the next row; the grid splits pixels. Otherwise a tile has pixels of one
      row, of which the grid splits whole ones
    - `tile_block`: so many column tiles are taken through all rows of a task
      before the next ones; 0 for all. Of `cpu.winograd_conv`: the pixels of so
      many register tiles are transformed before they are multiplied
    - `winograd`: a `cpu.conv` of bytes goes as a `cpu.winograd_conv` with tiles
      of so many times so many pixels, 2 or 4, which are its rows then, and has
      a `tile_block`; weights of a `depth_block` are transformed at a time

    Constraints, which the ops verify:
    - C1: there are the parts that the kernel has, and no others
    - C2: the product is one of the weights' element type, `int8_pairs` of ops
      that have `pairs`; `signs` do not go `across_rows`
    - C3: columns of a tile divide a panel (products, `cpu.recurrent`), and are
      whole groups (`cpu.group_norm`); tiles of `cpu.pool` and `cpu.group_norm`
      have one row
    - C4: rows of a task of `cpu.matmul` and `cpu.winograd_conv` are whole
      tiles, those of
      `cpu.group_norm` one; tasks of a `cpu.conv` with groups have one column
      tile, those of rows too; with `dst_signs` their column tiles are whole
      pairs of words, or all, as they are where words may have zeros
    - C5: with AMX, tiles that a row of pixels or a matrix is split into have
      `amx_rows` or more
    - C6: a convolution whose rows are of open size goes `across_rows`, for
      which the rows of a task are whole tiles
    - C7: sums that wait for a `depth_block` are no more than 64 KiB, of
      products of vectors that need no copy of the rows; what a `tile_block` of
      `cpu.winograd_conv` keeps no more than 304 KiB
    - C8: `winograd` is no more than what is proved of the op, with `int8_wide`;
      transformed weights of a `depth_block` are no more than 96 KiB

    What the target of the module has room and instructions for, `cpu-schedule`
    and the passes that write code verify.

    Example:
    ```mlir
    #cpu.schedule<tile = <14x32>, grid = <28x4, rows_outside = true>,
                  prefetch = true>
    ```
  }];
  let parameters = (ins
      OptionalParameter<"::ingot::cpu::TileAttr">:$tile,
      OptionalParameter<"::ingot::cpu::GridAttr">:$grid,
      OptionalParameter<"::ingot::cpu::TileAttr">:$scores,
      DefaultValuedParameter<"int64_t", "0">:$depth_block,
      DefaultValuedParameter<"int64_t", "0">:$tile_block,
      DefaultValuedParameter<"bool", "false">:$prefetch,
      DefaultValuedParameter<"bool", "false">:$across_rows,
      DefaultValuedParameter<"int64_t", "0">:$winograd);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // INGOT_DIALECTS_CPU_CPUSCHEDULE_TD
