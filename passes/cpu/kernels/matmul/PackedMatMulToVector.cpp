//===- PackedMatMulToVector.cpp - cpu-packed-matmul-to-vector -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with weights that are packed in a few bits. If there are not many
// rows, weights are unpacked in registers:
//
//     for batch, column tile
//       for block of k
//         for k of the block: sums += src[row, k] * value[k, column]
//         accumulators += scale * (sums - zero point * sum of src[row, k])
//       epilogue, store
//
// With many rows, each panel is unpacked for all rows of a task:
//
//     for batch, block of rows, column tile
//       for block of k that fits into the cache as f32
//         unpack it
//         for row tile: accumulators += src[row, k] * weights[k, column]
//       epilogue, store
//
// PackedBytes.cpp handles rows that are rounded to int8.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/matmul/PackedTiles.h"
#include "passes/cpu/kernels/matmul/UnpackWeights.h"
#include "passes/cpu/policy/Thresholds.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_PACKEDMATMULTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of words that a step of the loop unpacks.
static const int64_t &kWordsAtOnce = cpu::threshold::packedWords;

namespace {

/// The scales and zero points of a block, for each vector; `zeros` is empty if
/// there are none.
struct BlockScales {
  SmallVector<Value> scales, zeros;
};

struct Emitter : PackedTiles {
  Emitter(OpBuilder &builder, cpu::PackedMatMulOp op)
      : PackedTiles(builder, op), perWord(op.perWord()), depth(op.depth()),
        block(std::min<int64_t>(op.getFormat().getBlockSize(), depth)),
        unpacker(b, plan.target.lanes, op.getFormat().getBits()) {}

  void emit(Value task);
  void emitColumns(const Tile &tile, ArrayRef<Index> batch, Index columnTile,
                   const TaskRange &range);
  void emitDirect(const Tile &tile, const PackedColumns &columns, Index row);
  void emitUnpacked(const Tile &tile, const PackedColumns &columns,
                    const TaskRange &range);
  Accumulators addBlock(const Tile &tile, const PackedColumns &columns,
                        Index row, Index number, int64_t size,
                        const Accumulators &sums);
  /// The first `count` values of a word. They multiply the elements of src from
  /// k on.
  struct Word {
    Index at, k;
    int64_t count;
  };
  /// Sums of products, in several chains for each row and vector. With zero
  /// points, `totals` are the sums of the elements of src.
  struct WordSums {
    MutableArrayRef<Value> chains, totals;
  };
  void addWord(const Tile &tile, const PackedColumns &columns, Index row,
               const Word &word, const BlockScales &scales, WordSums sums);
  BlockScales loadScales(const Tile &tile, const PackedColumns &columns,
                         Index number);
  Value scaleNumber(Value number, const BlockScales &loaded, int64_t v);
  Accumulators scaleSums(const Tile &tile, const PackedColumns &columns,
                         const Accumulators &sums);
  void unpack(const Tile &tile, const PackedColumns &columns, Index from,
              int64_t count, Value scratch);
  Value loadNumber(const Tile &tile, const PackedColumns &columns, Index word,
                   int64_t v, int64_t i, Value &words);

  int64_t perWord, depth, block;
  Unpacker unpacker;
};

/// Emits a task for rows of floats or of bytes.
struct AnyEmitter {
  AnyEmitter(OpBuilder &builder, cpu::PackedMatMulOp op)
      : builder(builder), op(op) {}

  void emit(Value task) {
    if (op.hasRoundedSrc())
      emitPackedBytes(builder, op, task);
    else
      Emitter(builder, op).emit(task);
  }

  OpBuilder &builder;
  cpu::PackedMatMulOp op;
};

struct PackedMatMulToVectorPass
    : ingot::impl::PackedMatMulToVectorBase<PackedMatMulToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    PackedMatMulToVectorBase::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::PackedMatMulOp, AnyEmitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  forEachProductTile(b, task, op.getDst(), plan,
                     lastTile(plan.target, plan.tile, plan.columns),
                     [&](const Tile &tile, ArrayRef<Index> batch,
                         Index columnTile, const TaskRange &range) {
                       emitColumns(tile, batch, columnTile, range);
                     });
}

/// Returns true if each row tile unpacks the weights again. With tiles of one
/// vector there are registers for the sums of a block, and multiply-adds only
/// scale these sums. For many rows, unpacking once takes less time.
static bool unpacksInRegisters(const PackedMatMulPlan &plan) {
  return plan.tile.vectors == 1 && plan.target.numRegisters == 32 &&
         plan.rows <= cpu::threshold::packedDirectRows;
}

void Emitter::emitColumns(const Tile &tile, ArrayRef<Index> batch,
                          Index columnTile, const TaskRange &range) {
  PackedColumns at = columnsAt(batch, columnTile);
  // Does not unpack to the stack for a single row tile, because it reads each
  // weight once.
  bool isDirect = !ShapedType::isDynamic(plan.rows) &&
                  (plan.rows <= tile.rows || unpacksInRegisters(plan));
  auto direct = [&] {
    forEachRowTile(
        isDirect ? tile
                 : tile.withRows(std::min(cpu::threshold::fewRows, tile.rows)),
        range, [&](const Tile &part, Index row) { emitDirect(part, at, row); });
  };
  if (!ShapedType::isDynamic(plan.rows)) {
    if (isDirect || plan.rows <= cpu::threshold::fewRows)
      direct();
    else
      emitUnpacked(tile, at, range);
    return;
  }
  Index count = b.sub(range.endRow, range.firstRow);
  b.branch(b.compare(arith::CmpIPredicate::ule, count, cpu::threshold::fewRows),
           direct, [&] { emitUnpacked(tile, at, range); });
}

/// Returns value `i` of a vector of words. The words for the previous value
/// were loaded into `words`.
Value Emitter::loadNumber(const Tile &tile, const PackedColumns &columns,
                          Index word, int64_t v, int64_t i, Value &words) {
  Index column = b.add(columns.inPanel, v * tile.lanes);
  int64_t count = tile.lanes;
  if (unpacker.readsBytes()) {
    // Addresses int8 by rows of 16 columns. Such a row is as long as four
    // words.
    Index block = b.div(column, cpu::kByteColumns),
          inBlock = b.rem(column, cpu::kByteColumns);
    column = b.add(b.add(b.mul(block, cpu::kByteColumns),
                         i * cpu::kByteColumns / perWord),
                   b.div(inBlock, perWord));
    count /= perWord;
  } else if (i != 0) {
    return unpacker.unpack(b, words, i);
  }
  words = vector::LoadOp::create(
      b.b, b.loc, VectorType::get({count}, b.b.getI32Type()), weights.data,
      b.get(weights.at(b, {columns.panel, word, column})));
  return unpacker.unpack(b, words, i);
}

BlockScales Emitter::loadScales(const Tile &tile, const PackedColumns &columns,
                                Index number) {
  BlockScales loaded;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    loaded.scales.push_back(
        loadOfBlock(tile, columns, scales, number, v, 1 / unpacker.factor()));
    if (zeros)
      loaded.zeros.push_back(
          loadOfBlock(tile, columns, *zeros, number, v, unpacker.factor()));
  }
  return loaded;
}

/// Subtracts the zero point from a value, and scales it, if `loaded` has them.
Value Emitter::scaleNumber(Value number, const BlockScales &loaded, int64_t v) {
  if (!loaded.zeros.empty())
    number = arith::SubFOp::create(b.b, b.loc, number, loaded.zeros[v]);
  if (!loaded.scales.empty())
    number = arith::MulFOp::create(b.b, b.loc, number, loaded.scales[v]);
  return number;
}

Accumulators Emitter::scaleSums(const Tile &tile, const PackedColumns &columns,
                                const Accumulators &sums) {
  if (op.blocks() != 1)
    return sums;
  BlockScales loaded = loadScales(tile, columns, 0);
  Accumulators scaled;
  for (auto [i, sum] : llvm::enumerate(sums))
    scaled.push_back(arith::MulFOp::create(
        b.b, b.loc, sum, loaded.scales[i % tile.vectors]));
  return scaled;
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

/// Adds the products of a word, whose values are scaled by `scales`.
void Emitter::addWord(const Tile &tile, const PackedColumns &columns, Index row,
                      const Word &word, const BlockScales &scales,
                      WordSums sums) {
  auto [chains, totals] = sums;
  int64_t perSum = chains.size() / (tile.rows * tile.vectors);
  SmallVector<Value> words(tile.vectors);
  // Prefetches long before the multiplication, because the words come from
  // memory.
  prefetchWords(columns, word.at);
  for (int64_t i : unpacker.order(word.count)) {
    SmallVector<Value> numbers;
    for (auto [v, loaded] : llvm::enumerate(words)) {
      Value number = loadNumber(tile, columns, word.at, v, i, loaded);
      numbers.push_back(scaleNumber(number, scales, v));
    }
    for (int64_t r = 0; r < tile.rows; ++r) {
      Value element = memref::LoadOp::create(
          b.b, b.loc, src.data,
          b.get(srcAt(columns, b.add(row, r), b.add(word.k, i))));
      Value x = vector::BroadcastOp::create(b.b, b.loc, realVector(tile),
                                            element);
      if (!totals.empty())
        totals[r] = arith::AddFOp::create(b.b, b.loc, totals[r], x);
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = chains[(r * tile.vectors + v) * perSum + i % perSum];
        sum = multiplyAddVectors(b, tile.hasFMA, x, numbers[v], sum);
      }
    }
  }
}

/// Returns `sums` plus the products of the `size` elements of block `number`.
Accumulators Emitter::addBlock(const Tile &tile, const PackedColumns &columns,
                               Index row, Index number, int64_t size,
                               const Accumulators &sums) {
  int64_t count = tile.rows * tile.vectors;
  BlockScales loaded = loadScales(tile, columns, number);
  // True if unpacked values are scaled before they are multiplied. Otherwise
  // the sums of each block are scaled, which needs registers for these sums in
  // addition to the total sums.
  bool scalesNumbers =
      op.blocks() > 1 && 2 * count > plan.target.numRegisters;
  // With more rows than vectors, fewer instructions subtract zero points from
  // weights than add up src.
  bool addsTotals = zeros && !scalesNumbers && tile.rows <= tile.vectors;
  // Uses several chains of sums, so that no sum waits for the previous one.
  int64_t perSum =
      std::clamp<int64_t>(plan.target.sumsInFlight() / count, 1, 4);
  BlockScales ofWeights = loaded;
  if (addsTotals)
    ofWeights.zeros.clear();
  if (!scalesNumbers)
    ofWeights.scales.clear();
  Accumulators carried = sums;
  if (!scalesNumbers)
    carried.assign(count * perSum + (addsTotals ? tile.rows : 0),
                   zeroAccumulators(b, tile.withRows(1)).front());
  int64_t chains = scalesNumbers ? count : count * perSum;
  int64_t words = llvm::divideCeil(block, perWord), whole = size / perWord;
  auto add = [&](Index word, int64_t numbers, Accumulators &sums) {
    MutableArrayRef<Value> all(sums);
    addWord(tile, columns, row,
            {b.add(b.mul(number, words), word),
             b.add(b.mul(number, block), b.mul(word, perWord)), numbers},
            ofWeights, {all.take_front(chains), all.drop_front(chains)});
  };
  carried = forEachBlock(
      b, whole, kWordsAtOnce, carried,
      [&](Index from, int64_t count, const Accumulators &before) {
        Accumulators next = before;
        for (int64_t w = 0; w < count; ++w)
          add(b.add(from, w), perWord, next);
        return next;
      });
  if (size % perWord != 0)
    add(whole, size % perWord, carried);

  if (scalesNumbers)
    return carried;

  Accumulators result;
  for (int64_t i = 0; i < count; ++i) {
    int64_t v = i % tile.vectors;
    Value sum = carried[i * perSum];
    for (int64_t c = 1; c < perSum; ++c)
      sum = arith::AddFOp::create(b.b, b.loc, sum, carried[i * perSum + c]);
    if (addsTotals) {
      Value less = arith::MulFOp::create(
          b.b, b.loc, carried[chains + i / tile.vectors], loaded.zeros[v]);
      sum = arith::SubFOp::create(b.b, b.loc, sum, less);
    }
    result.push_back(
        multiplyAddVectors(b, tile.hasFMA, sum, loaded.scales[v], sums[i]));
  }
  return result;
}

void Emitter::emitDirect(const Tile &tile, const PackedColumns &columns,
                         Index row) {
  Accumulators sums = zeroAccumulators(b, tile);
  if (depth >= block)
    sums = forEach(b, 0, depth / block, sums,
                   [&](Value number, const Accumulators &before) {
                     return addBlock(tile, columns, row, Index(number), block,
                                     before);
                   });
  if (depth % block != 0)
    sums = addBlock(tile, columns, row, depth / block, depth % block, sums);
  store(tile, sums, columns, row);
}

//===----------------------------------------------------------------------===//
// Many rows
//===----------------------------------------------------------------------===//

/// Unpacks `count` rows of weights, beginning with row `from`, to `scratch`.
/// Scales them unless the sums are scaled.
void Emitter::unpack(const Tile &tile, const PackedColumns &columns, Index from,
                     int64_t count, Value scratch) {
  int64_t rowSize = tile.vectors * tile.lanes;
  auto unpackWord = [&](Index word, Index inScratch, int64_t numbers,
                        const BlockScales &loaded) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value words;
      for (int64_t i = 0; i < numbers; ++i) {
        Value weight = scaleNumber(
            loadNumber(tile, columns, word, v, i, words), loaded, v);
        Index at = b.add(b.mul(b.add(inScratch, i), rowSize), v * tile.lanes);
        vector::StoreOp::create(b.b, b.loc, weight, scratch, b.get(at));
      }
    }
  };
  // Unpacks rows of one block, beginning with row `inBlock` of it.
  auto unpackRows = [&](Index number, Index inBlock, Index inScratch,
                        int64_t count) {
    BlockScales loaded = loadScales(tile, columns, number);
    // The sums of a single block are scaled instead.
    if (op.blocks() == 1)
      loaded.scales.clear();
    Index first = b.add(b.mul(number, llvm::divideCeil(block, perWord)),
                        b.div(inBlock, perWord));
    forEachBlock(b, count / perWord, kWordsAtOnce,
                 [&](Index word, int64_t words) {
                   for (int64_t w = 0; w < words; ++w) {
                     Index at = b.add(word, w);
                     unpackWord(b.add(first, at),
                                b.add(inScratch, b.mul(at, perWord)), perWord,
                                loaded);
                   }
                 });
    // Unpacks a partial word, which only the last block may have.
    if (int64_t rest = count % perWord)
      unpackWord(b.add(first, count / perWord),
                 b.add(inScratch, count - rest), rest, loaded);
  };
  if (count <= block) {
    Index number = b.div(from, block);
    unpackRows(number, b.rem(from, block), 0, count);
    return;
  }
  forEachBlock(b, count, block, [&](Index inScratch, int64_t size) {
    unpackRows(b.div(b.add(from, inScratch), block), 0, inScratch, size);
  });
}

void Emitter::emitUnpacked(const Tile &tile, const PackedColumns &columns,
                           const TaskRange &range) {
  int64_t rowSize = tile.vectors * tile.lanes;
  int64_t size = unpackedAtOnce(op, plan, rowSize);
  Type real = b.b.getF32Type();
  Value scratch = createScratch(b, size * rowSize, real), waiting;
  Index stride = src.strides[src.strides.size() - 2];
  auto multiply = [&](const Tile &tile, Index row, Index from, int64_t count,
                      const Accumulators &sums) {
    SrcRows rows(b, src.data, srcAt(columns, row, from), stride, tile.rows);
    return multiplyAddWhole(b, {tile, scratch, 0, rowSize}, rows, count, sums);
  };
  if (size == depth) {
    unpack(tile, columns, 0, depth, scratch);
    forEachRowTile(tile, range, [&](const Tile &tile, Index row) {
      store(tile,
            scaleSums(tile, columns,
                      multiply(tile, row, 0, depth, zeroAccumulators(b, tile))),
            columns, row);
    });
    return;
  }
  waiting = createScratch(b, plan.grid.rowsPerTask * rowSize, real);
  auto waitingAt = [&](Index row) {
    return b.mul(b.sub(row, range.firstRow), rowSize);
  };
  forEachRowTile(tile, range, [&](const Tile &tile, Index row) {
    spill(b, tile, zeroAccumulators(b, tile), waiting, waitingAt(row));
  });
  forEachBlock(b, depth, size, [&](Index from, int64_t count) {
    unpack(tile, columns, from, count, scratch);
    forEachRowTile(tile, range, [&](const Tile &tile, Index row) {
      Accumulators sums = reload(b, tile, waiting, waitingAt(row));
      spill(b, tile, multiply(tile, row, from, count, sums), waiting,
            waitingAt(row));
    });
  });
  forEachRowTile(tile, range, [&](const Tile &tile, Index row) {
    store(tile,
          scaleSums(tile, columns, reload(b, tile, waiting, waitingAt(row))),
          columns, row);
  });
}
