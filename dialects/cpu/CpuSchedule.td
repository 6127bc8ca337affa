//===- CpuSchedule.td - schedules of kernels ---------------*- tablegen -*-===//
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
  let summary = "a register tile, which a kernel computes at a time";
  let description = [{
    Rows (for example pixels) times columns (output channels), each an
    accumulator. Columns are counted in elements; the target determines the
    number of vectors.

    `product` is one of [the products](products.md): element types, instructions
    and registers of a micro-kernel.

    Constraints:
    - C1: rows and columns are at least 1
    - C2: with AMX, `amx_rows` is 1 to 16, and rows are from `amx_rows` to twice
      `amx_rows`; without AMX, `amx_rows` is 0

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
  let summary = "split of a kernel's result into tasks";
  let description = [{
    Rows times column tiles of a task. The last task may have fewer.
    For convolutions and pooling, a row is an index of `dst` without its last
    two dimensions. For products it is a row of a matrix. For other kernels it
    is a range that is normalized or reduced as a whole.

    Tasks of neighboring indices have the same column tiles, or with
    `rows_outside` the same rows. If rows would be split into more than
    `row_blocks` blocks, tasks take a multiple of `rows`; this is for sizes that
    only a run knows. 0 means no such limit. If `whole_from` is not 0 and there
    are at least so many rows, tasks have all column tiles, and rows are split
    into more blocks.

    Constraints:
    - C1: rows and tiles are at least 1, `row_blocks` and `whole_from` at least
      0
    - C2: if `whole_from` is not 0, `row_blocks` is not 0

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
  let summary = "tiling and split of a kernel";
  let description = [{
    The pass `cpu-schedule` sets a schedule where there is none. Passes that
    split kernels into tasks or generate code read it. The parts of a schedule
    depend on the kernel:

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

    - `prefetch`: each pass over a panel prefetches a part of the next panel
    - `depth_block`: number of groups of a tap's channels whose weights are
      multiplied with all rows of a task at a time, while partial sums are on
      the stack; 0 for all channels and taps at once. Rows of `cpu.matmul` must
      then be static
    - `across_rows`: pixels are numbered through all rows, and a tile continues
      in the next row; the grid splits pixels. Otherwise a tile has pixels of
      one row, and the grid splits whole rows
    - `tile_block`: number of column tiles that pass through all rows of a task
      before the next ones; 0 for all. In `cpu.winograd_conv`: number of
      register tiles whose pixels are transformed before they are multiplied
    - `winograd`: 2 or 4; a `cpu.conv` of bytes is computed as a
      `cpu.winograd_conv` with tiles of this many times this many pixels. These
      tiles are its rows, and it has a `tile_block`; the weights of a
      `depth_block` are transformed at a time

    Constraints, which the ops verify:
    - C1: the schedule has the parts of the kernel, and no others
    - C2: the product is for the weights' element type; `int8_pairs` needs
      weights with `pairs`; `signs` does not go `across_rows`
    - C3: columns of a tile divide a panel (products, `cpu.recurrent`), and are
      whole groups (`cpu.group_norm`); tiles of `cpu.pool` and `cpu.group_norm`
      have one row
    - C4: rows of a task are whole tiles for `cpu.matmul` and
      `cpu.winograd_conv`, and one for `cpu.group_norm`; tasks have one column
      tile for a `cpu.conv` with groups and for kernels of rows; with
      `dst_signs` the column tiles of a task are whole pairs of i32 elements, or
      all tiles, which they must be if there may be zeros
    - C5: with AMX, each tile of a row of pixels or of a matrix has at least
      `amx_rows` rows
    - C6: a convolution with rows of dynamic size goes `across_rows`, and then
      the rows of a task are whole tiles
    - C7: partial sums of a `depth_block` take at most 64 KiB, and their product
      is of vectors and does not copy rows; a `tile_block` of
      `cpu.winograd_conv` takes at most 304 KiB of stack
    - C8: `winograd` is at most `exact_tiles` of the format, with product
      `int8_wide`; transformed weights of a `depth_block` take at most 96 KiB

    `cpu-schedule` and the passes that generate code verify that the target of
    the module has the room and the instructions.

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
