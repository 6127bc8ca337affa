//===- ChainImages.cpp - chain-images -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "passes/memory/BatchImages.h"
#include "passes/memory/Passes.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {
#define GEN_PASS_DEF_CHAINIMAGES
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// An op that computes each image independently.
struct Layer {
  Operation *op;
  SmallVector<ImageUse> uses;

  /// Returns the bytes of one image, or of buffers that all images share.
  int64_t bytes(bool ofImage) const {
    int64_t sum = 0;
    for (const ImageUse &use : uses)
      if (use.isPart == ofImage)
        sum += use.bytes;
    return sum;
  }
};

/// Consecutive layers, and the ops between them that take no time.
struct Run {
  explicit Run(OpFoldResult count) : images(count) {}

  /// Adds an op. Fails if the op would read results of another image.
  bool add(Operation *op);

  BatchImages images;
  SmallVector<Layer> layers;
  /// Ops between layers, each with the number of layers before it.
  SmallVector<std::pair<size_t, Operation *>> between;

private:
  /// The use of each buffer by the layers so far.
  llvm::SmallDenseMap<Value, ImageUse> known;
};

/// Writes the body of a loop: the layers, on the images of one chunk.
class ChunkBody {
public:
  ChunkBody(OpBuilder &builder, const BatchImages &images, Value first,
            Value size, const llvm::SetVector<Value> &own)
      : builder(builder), images(images), first(first), size(size), own(own) {}

  void add(const Layer &layer);

private:
  Value partOf(Value memref);
  Value partOfBuffer(Value memref);
  Value partOfCollapse(memref::CollapseShapeOp view);
  Value partOfExpand(memref::ExpandShapeOp view);
  Value partOfSlice(memref::SubViewOp view);
  bool hasRowDim(Value memref) const { return *images.rowsOf(memref) != 1; }
  /// Returns the sizes of a chunk, given the sizes of all dimensions but the
  /// first.
  SmallVector<OpFoldResult> sizesOf(Value memref, ArrayRef<OpFoldResult> rest);

  OpBuilder &builder;
  const BatchImages &images;
  Value first, size;
  const llvm::SetVector<Value> &own;
  DenseMap<Value, Value> parts;
};

struct ChainImagesPass : ingot::impl::ChainImagesBase<ChainImagesPass> {
  void runOnOperation() override;

private:
  void visit(ArrayRef<Operation *> ops, Value call);
  void visit(const Run &run, Value call);
  void chain(const Run &run, size_t begin, size_t end, int64_t perThread,
             Value call);
};

} // namespace

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> ChunkBody::sizesOf(Value memref,
                                             ArrayRef<OpFoldResult> rest) {
  SmallVector<OpFoldResult> sizes{size};
  if (int64_t rows = *images.rowsOf(memref); rows != 1)
    sizes.push_back(builder.getIndexAttr(rows));
  llvm::append_range(sizes, rest);
  return sizes;
}

static SmallVector<OpFoldResult> staticSizesBehindFirst(OpBuilder &b,
                                                        Value memref) {
  return getAsIndexOpFoldResult(
      b.getContext(),
      cast<MemRefType>(memref.getType()).getShape().drop_front());
}

/// Takes the chunk's part of a buffer that is used outside of the loop.
/// Allocates other buffers inside of the loop.
Value ChunkBody::partOfBuffer(Value memref) {
  Location loc = memref.getLoc();
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> sizes =
      sizesOf(memref, staticSizesBehindFirst(builder, memref));
  if (own.contains(memref)) {
    SmallVector<int64_t> shape;
    SmallVector<Value> open;
    dispatchIndexOpFoldResults(sizes, open, shape);
    return memref::AllocOp::create(
        builder, loc, MemRefType::get(shape, type.getElementType()), open,
        memref.getDefiningOp<memref::AllocOp>().getAlignmentAttr());
  }
  Value all = memref;
  if (hasRowDim(memref)) {
    int64_t rows = *images.rowsOf(memref);
    SmallVector<int64_t> shape(type.getShape());
    shape.front() /= rows;
    shape.insert(shape.begin() + 1, rows);
    SmallVector<ReassociationIndices> groups{{0, 1}};
    for (int64_t dim = 2; dim < int64_t(shape.size()); ++dim)
      groups.push_back({dim});
    all = memref::ExpandShapeOp::create(builder, loc, shape, memref, groups);
  }
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  offsets.front() = first;
  return memref::SubViewOp::create(builder, loc, all, offsets, sizes, strides);
}

Value ChunkBody::partOfCollapse(memref::CollapseShapeOp view) {
  SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
  Value part = partOf(view.getSrc());
  int64_t more = hasRowDim(view.getSrc());
  int64_t inFirst = groups.front().size() + more;
  for (ReassociationIndices &group : groups)
    for (int64_t &dim : group)
      dim += more;
  groups.front() = llvm::to_vector<2>(llvm::seq<int64_t>(0, inFirst));
  // Keep the dimension of rows separate from the dimension of images.
  if (hasRowDim(view)) {
    groups.front() = {0};
    groups.insert(groups.begin() + 1,
                  llvm::to_vector<2>(llvm::seq<int64_t>(1, inFirst)));
  }
  return memref::CollapseShapeOp::create(builder, view.getLoc(), part, groups);
}

Value ChunkBody::partOfExpand(memref::ExpandShapeOp view) {
  SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
  Value part = partOf(view.getSrc());
  int64_t more = hasRowDim(view);
  int64_t inFirst = groups.front().size() + more;
  for (ReassociationIndices &group : groups)
    for (int64_t &dim : group)
      dim += more;
  groups.front() = llvm::to_vector<2>(llvm::seq<int64_t>(0, inFirst));
  if (hasRowDim(view.getSrc())) {
    groups.front() = {0};
    groups.insert(groups.begin() + 1,
                  llvm::to_vector<2>(llvm::seq<int64_t>(1, inFirst)));
  }
  SmallVector<OpFoldResult> sizes =
      sizesOf(view, staticSizesBehindFirst(builder, view));
  SmallVector<int64_t> shape;
  SmallVector<Value> open;
  dispatchIndexOpFoldResults(sizes, open, shape);
  return memref::ExpandShapeOp::create(builder, view.getLoc(), shape, part,
                                       groups, sizes);
}

Value ChunkBody::partOfSlice(memref::SubViewOp view) {
  auto withRows = [&](SmallVector<OpFoldResult> values, int64_t first,
                      OpFoldResult ofRows) {
    values.front() = builder.getIndexAttr(first);
    if (hasRowDim(view))
      values.insert(values.begin() + 1, ofRows);
    return values;
  };
  Value part = partOf(view.getSource());
  SmallVector<OpFoldResult> sizes =
      sizesOf(view, ArrayRef<OpFoldResult>(view.getMixedSizes()).drop_front());
  return memref::SubViewOp::create(
      builder, view.getLoc(), part,
      withRows(view.getMixedOffsets(), 0, builder.getIndexAttr(0)), sizes,
      withRows(view.getMixedStrides(), 1, builder.getIndexAttr(1)));
}

Value ChunkBody::partOf(Value memref) {
  if (Value part = parts.lookup(memref))
    return part;
  Value part;
  if (auto collapse = memref.getDefiningOp<memref::CollapseShapeOp>())
    part = partOfCollapse(collapse);
  else if (auto expand = memref.getDefiningOp<memref::ExpandShapeOp>())
    part = partOfExpand(expand);
  else if (auto slice = memref.getDefiningOp<memref::SubViewOp>())
    part = partOfSlice(slice);
  else
    part = partOfBuffer(memref);
  return parts[memref] = part;
}

/// Adds a dimension of size 1 for images to a matrix that all images share.
static Value withImageDim(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> groups{{0, 1}};
  for (int64_t dim = 2; dim < int64_t(shape.size()); ++dim)
    groups.push_back({dim});
  return memref::ExpandShapeOp::create(builder, loc, shape, memref, groups);
}

void ChunkBody::add(const Layer &layer) {
  Operation *copy = builder.clone(*layer.op);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  bool hasRows = false;
  for (const ImageUse &use : layer.uses)
    if (use.isPart) {
      Value operand = layer.op->getOperand(use.operand);
      hasRows |= hasRowDim(operand);
      copy->setOperand(use.operand, partOf(operand));
    }
  if (!hasRows)
    return;
  auto product = cast<kernel::EpilogueOpInterface>(copy);
  for (OpOperand &operand : product.getEpilogueOperandsMutable())
    if (!llvm::any_of(layer.uses, [&](const ImageUse &use) {
          return use.isPart && use.operand == operand.getOperandNumber();
        }))
      operand.set(withImageDim(builder, copy->getLoc(), operand.get()));
}

//===----------------------------------------------------------------------===//
// Runs of layers
//===----------------------------------------------------------------------===//

/// Returns true if an op takes no time and may move before any layer.
static bool isFree(Operation *op) {
  return isa<memref::AllocOp, RoomOp>(op) ||
         (op->getNumRegions() == 0 && isPure(op));
}

bool Run::add(Operation *op) {
  if (isFree(op)) {
    between.push_back({layers.size(), op});
    return true;
  }
  std::optional<SmallVector<ImageUse>> uses = images.usesOf(op);
  if (!uses)
    return false;
  auto merged = known;
  for (const ImageUse &use : *uses) {
    ImageUse &all = merged.try_emplace(use.root, use).first->second;
    all.isPart &= use.isPart;
    all.isWritten |= use.isWritten;
    if (all.isWritten && !all.isPart)
      return false;
  }
  known = std::move(merged);
  layers.push_back({op, std::move(*uses)});
  return true;
}

/// Returns true if only the layers use the buffer or its views.
static bool isOwn(Value memref,
                  const llvm::SmallPtrSetImpl<Operation *> &layers) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    return isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1
               ? isOwn(user->getResult(0), layers)
               : layers.contains(user);
  });
}

/// Moves the layers into a loop over chunks of images.
void ChainImagesPass::chain(const Run &run, size_t begin, size_t end,
                            int64_t perThread, Value call) {
  ArrayRef<Layer> layers = ArrayRef(run.layers).slice(begin, end - begin);
  llvm::SmallPtrSet<Operation *, 16> ops;
  for (const Layer &layer : layers)
    ops.insert(layer.op);
  llvm::SetVector<Value> own;
  for (const Layer &layer : layers)
    for (const ImageUse &use : layer.uses)
      if (use.root.getDefiningOp<memref::AllocOp>() && use.isPart &&
          isOwn(use.root, ops))
        own.insert(use.root);
  if (own.empty())
    return;

  Operation *first = layers.front().op;
  SmallVector<Operation *> between;
  for (auto [place, op] : run.between)
    if (place > begin && place < end)
      between.push_back(op);
  for (Operation *op : between)
    op->moveBefore(first);

  OpBuilder builder(first);
  Location loc = getOperation().getLoc();
  Value count =
      getValueOrCreateConstantIndexOp(builder, loc, run.images.getCount());
  Value step = ChunkOp::create(builder, loc, builder.getIndexType(), call,
                               count, perThread);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  // Run one step for an empty batch, because an observer expects to see its
  // layers.
  Value steps = count;
  if (!getConstantIntValue(run.images.getCount()))
    steps = arith::MaxUIOp::create(
        builder, loc, count, arith::ConstantIndexOp::create(builder, loc, 1));
  auto loop = scf::ForOp::create(builder, loc, zero, steps, step);
  builder.setInsertionPointToStart(loop.getBody());
  Value place = loop.getInductionVar();
  Value rest = arith::SubIOp::create(builder, loc, count, place);
  Value size = arith::MinUIOp::create(builder, loc, rest, step);
  ChunkBody body(builder, run.images, place, size, own);
  for (const Layer &layer : layers)
    body.add(layer);

  for (const Layer &layer : layers)
    layer.op->erase();
  ++numChains;
  numLayers += layers.size();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Finds the layers that gain from chunks. They gain because images stay in a
/// cache. They lose because weights are loaded again for each chunk.
void ChainImagesPass::visit(const Run &run, Value call) {
  // Decide with the target's numbers, because all levels share the memory plan.
  const int64_t cacheBytes =
      threshold::chainedImages(TargetsAttr::of(getOperation()).getNumbers());
  std::optional<int64_t> count = getConstantIntValue(run.images.getCount());
  if (count && *count < 2)
    return;
  ArrayRef<Layer> layers = run.layers;
  for (size_t begin = 0; begin < layers.size();) {
    int64_t sum = 0, best = 0;
    size_t end = begin + 1;
    for (size_t i = begin; i < layers.size() && sum >= 0; ++i) {
      sum += layers[i].bytes(/*ofImage=*/true) -
             layers[i].bytes(/*ofImage=*/false);
      if (sum > best) {
        best = sum;
        end = i + 1;
      }
    }
    int64_t most = 1;
    for (const Layer &layer : layers.slice(begin, end - begin))
      most = std::max(most, layer.bytes(/*ofImage=*/true));
    int64_t perThread = std::max<int64_t>(1, cacheBytes / most);
    if (best > 0 && end - begin > 1 && (!count || *count > perThread))
      chain(run, begin, end, perThread, call);
    begin = end;
  }
}

void ChainImagesPass::visit(ArrayRef<Operation *> ops, Value call) {
  // For each op, the number of images of the next op with windows.
  SmallVector<OpFoldResult> counts(ops.size());
  OpFoldResult next;
  for (size_t i = ops.size(); i-- > 0;) {
    if (OpFoldResult count = BatchImages::countOf(ops[i]))
      next = count;
    counts[i] = next;
  }
  for (size_t begin = 0; begin < ops.size() && counts[begin];) {
    Run run(counts[begin]);
    size_t end = begin;
    while (end < ops.size() && run.add(ops[end]))
      ++end;
    visit(run, call);
    begin = std::max(end, begin + 1);
  }
}

void ChainImagesPass::runOnOperation() {
  func::FuncOp function = getOperation();
  BlockArgument call = findRunOperand(function, RunOperand::call);
  if (!call || !function.getBody().hasOneBlock())
    return;
  SmallVector<SmallVector<Operation *>> stretches(1);
  for (Operation &op : function.getBody().front()) {
    bool isLayer =
        op.getNumResults() == 0 && isa<DestinationStyleOpInterface>(op);
    if (isLayer || isFree(&op))
      stretches.back().push_back(&op);
    else if (!stretches.back().empty())
      stretches.emplace_back();
  }
  for (ArrayRef<Operation *> ops : stretches)
    visit(ops, call);
  // Erase the old buffers and views, because the chains have their own. The old
  // ones may stand before an earlier run of layers.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
