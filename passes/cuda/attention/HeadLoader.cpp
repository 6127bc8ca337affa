//===- HeadLoader.cpp - copies of heads to shared memory ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/attention/HeadLoader.h"

#include "passes/cuda/products/TileLoader.h"
#include "passes/cuda/schedule/Machine.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

HeadLoader::HeadLoader(Code &code, const Attention &attention,
                       const Source &source, const Place &place)
    : code(code), layout(source.layout), pieceBytes(source.pieceBytes),
      numRows(source.numRows), threads(attention.schedule().getThreads()),
      rowBytes(attention.rowBytes(layout.sizes[3].known())),
      thread(place.thread), address(code.addressOf(source.memref)),
      base(code.add(code.multiply(place.batch, layout.strides[0]),
                    code.multiply(place.head, layout.strides[2]))) {}

void HeadLoader::copyPiece(Value piece, Value firstRow, Value tile) const {
  const int64_t elements = pieceBytes / layout.elementBytes(),
                piecesOfRow = layout.sizes[3].known() / elements;
  Value row = code.divide(piece, piecesOfRow);
  Value inRow = code.remainder(piece, piecesOfRow);
  Value place =
      code.add(code.multiply(row, rowBytes), code.multiply(inRow, pieceBytes));
  Value number = code.add(firstRow, row);
  Value isRow;
  if (!layout.sizes[1].isMultipleOf(numRows))
    isRow = code.isWithin(number, layout.sizes[1]);
  Value offset = code.add(
      code.add(base, code.multiply(number, layout.strides[1])),
      code.multiply(inRow, code.product({elements, layout.strides[3]})));
  copyToShared(code, {address, layout.element, offset}, {tile, place}, isRow,
               pieceBytes);
}

void HeadLoader::load(Value firstRow, Value tile) const {
  OpBuilder::InsertionGuard guard(code.b);
  const int64_t elements = pieceBytes / layout.elementBytes();
  const int64_t total = numRows * (layout.sizes[3].known() / elements);
  if (total > kUnrolledCopies * threads) {
    auto loop = scf::ForOp::create(code.b, code.loc, thread, code.number(total),
                                   code.number(threads));
    code.b.setInsertionPointToStart(loop.getBody());
    return copyPiece(loop.getInductionVar(), firstRow, tile);
  }
  for (int64_t at = 0; at < total; at += threads) {
    Value piece = code.add(thread, at);
    if (at + threads > total) {
      auto branch =
          scf::IfOp::create(code.b, code.loc, code.isWithin(piece, total),
                            /*withElseRegion=*/false);
      code.b.setInsertionPoint(branch.thenYield());
    }
    copyPiece(piece, firstRow, tile);
  }
}
