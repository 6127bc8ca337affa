//===- Col2Im.cpp - Col2Im, TensorScatter ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Sampling.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

using support::Scalars;

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

namespace {

/// The blocks of Col2Im's input, which are added up in an image.
struct Blocks {
  OpFoldResult batch, channels;
  /// Sizes of each spatial dimension, and the number of blocks along it.
  Sizes image, block, counts;
  SmallVector<int64_t> strides, dilations, pads;
};

} // namespace

/// Returns the number of elements of a block, if it is small enough to unroll.
static std::optional<int64_t> fewTaps(const Blocks &blocks) {
  constexpr int64_t kMaxTaps = 64;
  int64_t taps = 1;
  for (OpFoldResult size : blocks.block) {
    auto known = getConstantIntValue(size);
    if (!known || *known > kMaxTaps)
      return std::nullopt;
    taps *= *known;
  }
  return taps <= kMaxTaps ? std::optional(taps) : std::nullopt;
}

/// Adds element k of all blocks at once, for each k. Their positions are a
/// strided slice of the padded image.
static Value addTaps(Node &node, const Blocks &blocks, int64_t taps) {
  auto n = [&](int64_t value) { return sizeAttr(node, value); };
  size_t spatial = blocks.image.size();
  Type type = node.elementType(0);
  Sizes lead = {blocks.batch, blocks.channels, n(1)}, padded = lead,
        cropped = lead, size = lead, none(lead.size() + spatial, n(0)),
        from = none, steps(none.size(), n(1)),
        all = {blocks.batch, blocks.channels, n(taps)},
        result = {blocks.batch, blocks.channels};
  for (size_t d = 0; d < spatial; ++d) {
    int64_t low = blocks.pads[d], high = blocks.pads[spatial + d];
    padded.push_back(addSizes(node, blocks.image[d], n(low + high)));
    from[lead.size() + d] = n(low);
    steps[lead.size() + d] = n(blocks.strides[d]);
  }
  for (Sizes *sizes : {&cropped, &result})
    llvm::append_range(*sizes, blocks.image);
  for (Sizes *sizes : {&size, &all})
    llvm::append_range(*sizes, blocks.counts);
  Value y = filled(node, type, 0, padded),
        x = reshape(node, node.input(0), all);
  for (int64_t tap = 0; tap < taps; ++tap) {
    Sizes read = none, at = none;
    read[2] = n(tap);
    int64_t left = tap;
    for (size_t d = spatial; d-- > 0;) {
      int64_t width = *getConstantIntValue(blocks.block[d]);
      at[lead.size() + d] = n(left % width * blocks.dilations[d]);
      left /= width;
    }
    Value before = tensor::ExtractSliceOp::create(
        node.builder, node.loc(),
        RankedTensorType::get(staticShape(size), type), y, at, size, steps);
    Value sum = binary<nn::AddOp>(node, before, takePart(node, x, read, size));
    y = tensor::InsertSliceOp::create(node.builder, node.loc(), sum, y, at,
                                      size, steps);
  }
  return reshape(node, takePart(node, y, from, cropped), result);
}

/// Legalizes Col2Im: an element of the image is the sum over all blocks that
/// cover it.
static LogicalResult legalizeCol2Im(Node &node) {
  if (!node.has(0) || !node.has(1) || !node.has(2) || node.rank(0) != 3)
    return node.invalid("input of rank 3, image_shape and block_shape are "
                        "needed");
  if (isa<ComplexType>(node.elementType(0)))
    return node.unsupported("input of complex numbers");
  pinInput(node, 1, node.shape(2), "image_shape");
  pinInput(node, 2, node.shape(1), "block_shape");
  auto image = elementsOf(node, node.input(1)),
       block = elementsOf(node, node.input(2));
  if (failed(image) || failed(block))
    return failure();
  int64_t spatial = image->size();
  if (spatial < 1 || int64_t(block->size()) != spatial)
    return node.badLength("block_shape", block->size(),
                          Twine(spatial) + " like image_shape");
  auto readInts = [&](StringRef name, int64_t count, int64_t otherwise,
                      int64_t least) -> FailureOr<SmallVector<int64_t>> {
    auto values =
        node.getInts(name).value_or(SmallVector<int64_t>(count, otherwise));
    if (int64_t(values.size()) != count)
      return node.badLength(name, values.size(), Twine(count));
    nn::Range range = {least, nn::kMostElements};
    for (auto [i, value] : llvm::enumerate(values))
      if (!range.contains(value))
        return node.badElement(name, i, Twine(value), nn::describeRange(range));
    return values;
  };
  auto strides = readInts("strides", spatial, 1, 1),
       dilations = readInts("dilations", spatial, 1, 1),
       pads = readInts("pads", 2 * spatial, 0, 0);
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  auto n = [&](int64_t value) { return sizeAttr(node, value); };
  Value x = node.input(0);
  OpFoldResult taps = n(1), blocks = n(1), pixels = n(1);
  Sizes counts;
  for (int64_t d = 0; d < spatial; ++d) {
    for (auto [name, sizes] :
         {std::pair<StringRef, Sizes *>("image_shape", &*image),
          {"block_shape", &*block}}) {
      OpFoldResult &size = (*sizes)[d];
      if (failed(requireFit(node, nn::SizeRelation::atLeast, size, n(1),
                            "element " + Twine(d) + " of " + name +
                                " is {0}, but must be at least 1")) ||
          failed(requireFit(node, nn::SizeRelation::atLeast,
                            n(nn::kMostElements), size,
                            "element " + Twine(d) + " of " + name +
                                " is {1}, more than {0}")))
        return failure();
      // Clamps refused sizes, so that later code does not divide by 0 or
      // overflow.
      if (!getConstantIntValue(size))
        size = minSizes(node, maxSizes(node, size, n(1)), n(nn::kMostElements));
    }
    OpFoldResult span = addSizes(
        node,
        mulSizes(node, subSizes(node, (*block)[d], n(1)), n((*dilations)[d])),
        n(1));
    OpFoldResult padded =
        addSizes(node, (*image)[d], n((*pads)[d] + (*pads)[spatial + d]));
    if (failed(requireFit(node, nn::SizeRelation::atLeast, padded, span,
                          "the dilated block is larger than the padded image: "
                          "{1} against {0} in spatial dimension " +
                              Twine(d))))
      return failure();
    counts.push_back(addSizes(
        node, divSizes(node, subSizes(node, padded, span), n((*strides)[d])),
        n(1)));
    taps = mulSizes(node, taps, (*block)[d]);
    blocks = mulSizes(node, blocks, counts[d]);
    pixels = mulSizes(node, pixels, (*image)[d]);
  }
  if (failed(requireFit(node, nn::SizeRelation::equal, sizeOf(node, x, 2),
                        blocks,
                        "input has {0} columns, but the image has {1} "
                        "blocks")) ||
      failed(requireFit(node, nn::SizeRelation::multipleOf, sizeOf(node, x, 1),
                        taps,
                        "input has {0} rows, no multiple of the {1} "
                        "elements of a block")))
    return failure();
  OpFoldResult batch = sizeOf(node, x, 0),
               channels = divSizes(node, sizeOf(node, x, 1), taps);
  Blocks over = {batch,  channels, *image,     *block,
                 counts, *strides, *dilations, *pads};
  auto few = fewTaps(over);
  if (few && !support::isKnownEmpty(node.shape(0)))
    return node.replace(addTaps(node, over, *few));
  SmallVector<Value> width, height, most;
  for (int64_t d = 0; d < spatial; ++d) {
    width.push_back(indexValue(node, (*block)[d]));
    height.push_back(indexValue(node, (*image)[d]));
    most.push_back(indexValue(node, counts[d]));
  }
  Value columns = indexValue(node, blocks);
  Value at = generate(
      node, node.builder.getI64Type(), {taps, batch, pixels},
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Indices i{b, loc};
        Value tap = indices[0], pixel = indices[2], column = i.n(0),
              stride = i.n(1);
        Value isHit = arith::ConstantIntOp::create(b, loc, 1, 1);
        for (int64_t d = spatial - 1; d >= 0; --d) {
          Value k = i.rem(tap, width[d]), p = i.rem(pixel, height[d]);
          tap = i.div(tap, width[d]);
          pixel = i.div(pixel, height[d]);
          // The start of the block in which the pixel is element k.
          Value start =
              i.sub(i.add(p, i.n((*pads)[d])), i.mul(k, i.n((*dilations)[d])));
          Value own = i.div(start, i.n((*strides)[d]));
          isHit = i.both(isHit, i.equal(i.mul(own, i.n((*strides)[d])), start));
          isHit = i.both(isHit,
                         i.both(i.less(i.n(-1), start), i.less(own, most[d])));
          column = i.add(column, i.mul(own, stride));
          stride = i.mul(stride, most[d]);
        }
        Value place = i.add(i.mul(indices[0], columns), column);
        return arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                          i.choose(isHit, place, i.n(-1)));
      });
  Value data =
      reshape(node, x, {batch, channels, mulSizes(node, taps, blocks)});
  Value y = sumOfTaps(node, data, Value(), {at, Value()});
  Sizes result = {batch, channels};
  llvm::append_range(result, *image);
  return node.replace(reshape(node, y, result));
}

//===----------------------------------------------------------------------===//
// TensorScatter
//===----------------------------------------------------------------------===//

/// Writes new entries of each batch element into a cache, from an index on.
static LogicalResult legalizeTensorScatter(Node &node) {
  if (!node.has(0) || !node.has(1) || node.rank(0) < 2 ||
      node.rank(1) != node.rank(0))
    return node.invalid("past_cache and update of one rank, at least 2, are "
                        "needed");
  Value past = node.input(0), update = node.input(1);
  int64_t rank = node.rank(0);
  auto axis = node.normalizeAxis(node.getInt("axis", -2), rank);
  StringRef mode = node.getString("mode", "linear");
  if (failed(axis))
    return failure();
  if (mode != "linear" && mode != "circular")
    return node.invalid("mode is " + mode);
  if (*axis == 0)
    return node.badElement("axis", std::nullopt, "0",
                           "other than that of batches");
  Sizes sizes = sizesOf(node, past);
  for (int64_t d = 0; d < rank; ++d) {
    OpFoldResult own = sizeOf(node, update, d);
    std::string what = "dimension " + std::to_string(d) +
                       " of past_cache is {0}, but that of update {1}";
    auto relation =
        d == *axis ? nn::SizeRelation::atLeast : nn::SizeRelation::equal;
    if (failed(requireFit(node, relation, sizes[d], own, what)))
      return failure();
  }
  OpFoldResult length = sizes[*axis], count = sizeOf(node, update, *axis);
  Value starts;
  if (node.has(2)) {
    starts = castTo(node, node.input(2), node.builder.getI64Type());
    if (node.rank(2) != 1)
      return node.invalid("write_indices of rank 1 are needed");
    bool wraps = mode == "circular";
    if (failed(requireFit(node, nn::SizeRelation::equal,
                          sizeOf(node, starts, 0), sizes[0],
                          "there are {0} write_indices for {1} batches")) ||
        failed(requireElements(node, 2, "write_indices",
                               {wraps ? length : subSizes(node, length, count),
                                /*includesCount=*/!wraps,
                                "places that leave room"})))
      return failure();
  }
  Value extent = indexValue(node, length), many = indexValue(node, count);
  return node.replace(generate(
      node, node.elementType(0), sizes,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        Value offset = at[*axis];
        if (starts)
          offset = i.sub(offset,
                         arith::IndexCastOp::create(
                             b, loc, b.getIndexType(),
                             tensor::ExtractOp::create(b, loc, starts, at[0])));
        if (mode == "circular")
          offset = i.wrap(offset, extent);
        Value isNew = i.both(i.less(i.n(-1), offset), i.less(offset, many));
        auto chosen = scf::IfOp::create(
            b, loc, isNew,
            [&](OpBuilder &b, Location loc) {
              SmallVector<Value> place(at);
              place[*axis] = offset;
              Value read = tensor::ExtractOp::create(b, loc, update, place);
              scf::YieldOp::create(b, loc, read);
            },
            [&](OpBuilder &b, Location loc) {
              Value read = tensor::ExtractOp::create(b, loc, past, at);
              scf::YieldOp::create(b, loc, read);
            });
        return chosen.getResult(0);
      }));
}

void legalize::populateCol2Im(Legalizers &legalizers) {
  legalizers.add("Col2Im", legalizeCol2Im);
  legalizers.add("TensorScatter", legalizeTensorScatter);
}
