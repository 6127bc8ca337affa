//===- RoiAlign.cpp - RoiAlign -------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Sampling.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using support::Scalars;

namespace {

/// The bins of a region along one dimension, as f32 and index values.
struct RegionBins {
  Value start, bin, samples;
};

} // namespace

static LogicalResult legalizeRoiAlign(Node &node) {
  if (node.has(1))
    pinInput(node, 1, {ShapedType::kDynamic, 4}, "rois");
  if (!node.has(0) || !node.has(1) || !node.has(2) || node.rank(0) != 4 ||
      node.rank(1) != 2 || node.rank(2) != 1 || node.shape(1)[1] != 4)
    return node.invalid("X of rank 4, rois (regions, 4) and batch_indices "
                        "(regions) are needed");
  StringRef mode = node.getString("mode", "avg");
  StringRef coordinates = node.getString(
      "coordinate_transformation_mode",
      node.opset < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max")
    return node.invalid("mode is " + mode);
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return node.invalid("coordinate_transformation_mode is " + coordinates);
  bool isShifted = coordinates == "half_pixel";
  int64_t height = node.getInt("output_height", 1),
          width = node.getInt("output_width", 1),
          ratio = node.getInt("sampling_ratio", 0);
  constexpr nn::Range kSizes = {1, int64_t(1) << 16},
                      kRatios = {0, int64_t(1) << 10};
  for (auto [name, value, range] :
       {std::tuple<StringRef, int64_t, nn::Range>("output_height", height,
                                                  kSizes),
        {"output_width", width, kSizes},
        {"sampling_ratio", ratio, kRatios}})
    if (!range.contains(value))
      return node.badElement(name, std::nullopt, Twine(value),
                             nn::describeRange(range));
  Value x = node.input(0), rois = castTo(node, node.input(1),
                                         node.builder.getF32Type());
  OpFoldResult count = sizeOf(node, rois, 0);
  if (failed(requireSpatial(node, x)) ||
      failed(requireFit(node, nn::SizeRelation::equal,
                        sizeOf(node, node.input(2), 0), count,
                        "there are {0} batch_indices for {1} regions")) ||
      failed(requireElements(node, 2, "batch_indices",
                             {sizeOf(node, x, 0), /*includesCount=*/false,
                              "batches"})))
    return failure();
  float scale = node.getFloat("spatial_scale", 1);
  // Describes the bins of region r along dimension `d`, 0 or 1.
  auto regionOf = [&](Scalars s, Value r, int64_t d, Value most) -> RegionBins {
    Value shift = s.f(isShifted ? 0.5 : 0);
    auto edge = [&](int64_t at) {
      return s.sub(s.mul(floatAt(s, rois, ValueRange{r, s.n(at)}),
                         s.f(scale)),
                   shift);
    };
    Value start = edge(1 - d), length = s.sub(edge(3 - d), start);
    if (!isShifted)
      length = arith::MaximumFOp::create(s.b, s.loc, length, s.f(1));
    Value bin = s.div(length, s.f(d == 0 ? height : width));
    Value samples = s.n(ratio);
    if (!ratio) {
      Value held = arith::MinNumFOp::create(
          s.b, s.loc,
          arith::MaxNumFOp::create(s.b, s.loc, s.ceil(bin), s.f(0)),
          s.f(2147483648.0));
      samples = s.toIndex(held);
      if (most)
        samples = arith::MinSIOp::create(s.b, s.loc, samples, most);
    }
    return {start, bin, samples};
  };
  // The largest region determines the number of samples in a bin.
  SmallVector<OpFoldResult> most(2, sizeAttr(node, ratio));
  constexpr int64_t kMaxSamples = 4096;
  for (int64_t d = 0; d < 2 && !ratio; ++d) {
    Value samples = generate(
        node, node.builder.getI64Type(), {count},
        [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          Scalars s{b, loc};
          return asI64(s, regionOf(s, at[0], d, Value()).samples);
        });
    requireEach(node, samples, "a region's bin",
                {sizeAttr(node, kMaxSamples), /*includesCount=*/true,
                 "samples in a bin at most"});
    Value largest = node.create<nn::ReduceOp>(
        samples, nn::ReduceKind::max, ArrayRef<int64_t>{0},
        /*keep_dims=*/false);
    Value number = tensor::ExtractOp::create(node.builder, node.loc(), largest,
                                             ValueRange());
    Value index = node.create<arith::IndexCastOp>(
        node.builder.getIndexType(), number);
    // Limits the number to at least 1, because the maximum without regions is
    // the lowest integer.
    most[d] = minSizes(node, maxSizes(node, index, sizeAttr(node, 1)),
                       sizeAttr(node, kMaxSamples));
  }
  OpFoldResult taps =
      mulSizes(node, sizeAttr(node, 4), mulSizes(node, most[0], most[1]));
  Value rows = indexValue(node, most[0]), columns = indexValue(node, most[1]);
  SmallVector<Value> sizes = {indexValue(node, sizeOf(node, x, 2)),
                              indexValue(node, sizeOf(node, x, 3))};
  auto sampleOf = [&](Scalars s, ValueRange at, Value &divisor,
                      Value &isSample) -> Corner {
    Value corner = arith::RemUIOp::create(s.b, s.loc, at[0], s.n(4));
    Value sample = arith::DivUIOp::create(s.b, s.loc, at[0], s.n(4));
    Value index[2] = {arith::DivUIOp::create(s.b, s.loc, sample, columns),
                      arith::RemUIOp::create(s.b, s.loc, sample, columns)};
    Value bin[2] = {
        arith::DivUIOp::create(s.b, s.loc, at[2], s.n(width)),
        arith::RemUIOp::create(s.b, s.loc, at[2], s.n(width))};
    Value limits[2] = {rows, columns};
    SmallVector<Value> point;
    divisor = s.n(1);
    isSample = arith::ConstantIntOp::create(s.b, s.loc, 1, 1);
    for (int64_t d : {0, 1}) {
      RegionBins region = regionOf(s, at[1], d, limits[d]);
      Value isOne = arith::CmpIOp::create(
          s.b, s.loc, arith::CmpIPredicate::slt, index[d], region.samples);
      isSample = arith::AndIOp::create(s.b, s.loc, isSample, isOne);
      // For an index past the end, repeat the last sample, because this does
      // not change a maximum.
      index[d] = s.clamp(index[d], s.n(0), s.sub(region.samples, s.n(1)));
      Value share = s.div(s.mul(s.add(s.toFloat(index[d]), s.f(0.5)),
                                region.bin),
                          s.toFloat(region.samples));
      Value p = s.add(s.add(region.start,
                            s.mul(s.toFloat(bin[d]), region.bin)),
                      share);
      // Samples more than one element outside of the data read nothing. Others
      // are clamped to the edge.
      Value extent = s.toFloat(sizes[d]);
      auto compare = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
        return arith::CmpFOp::create(s.b, s.loc, predicate, p, bound);
      };
      Value isNear = arith::AndIOp::create(
          s.b, s.loc, compare(arith::CmpFPredicate::OGE, s.f(-1)),
          compare(arith::CmpFPredicate::OLE, extent));
      Value held = arith::MaxNumFOp::create(s.b, s.loc, p, s.f(0));
      held = arith::MinNumFOp::create(s.b, s.loc, held,
                                      s.sub(extent, s.f(1)));
      point.push_back(
          arith::SelectOp::create(s.b, s.loc, isNear, held, s.f(-4)));
      divisor = s.mul(divisor, region.samples);
    }
    return cornerOf(s, corner, point, sizes);
  };
  Sizes shape = {taps, count, sizeAttr(node, height * width)};
  bool isMax = mode == "max";
  Taps all;
  all.at = generate(
      node, node.builder.getI64Type(), shape,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Scalars s{b, loc};
        Value divisor, isSample;
        Value flat = sampleOf(s, at, divisor, isSample).at;
        if (isMax)
          return asI64(s, flat);
        return asI64(s, arith::SelectOp::create(b, loc, isSample, flat,
                                                s.n(-1)));
      });
  all.weights = generate(
      node, node.builder.getF32Type(), shape,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Scalars s{b, loc};
        Value divisor, isSample;
        Value weight = sampleOf(s, at, divisor, isSample).weight;
        if (isMax)
          return weight;
        Value least = arith::MaxSIOp::create(b, loc, divisor, s.n(1));
        return s.div(weight, s.toFloat(least));
      });
  Type element = node.elementType(0);
  Value data =
      flattenSpatial(node, castTo(node, x, node.builder.getF32Type()));
  Value y = sumOfTaps(node, data,
                      castTo(node, node.input(2), node.builder.getI64Type()),
                      all, isMax);
  return node.replace(
      castTo(node,
             reshape(node, y,
                     {count, sizeOf(node, x, 1), sizeAttr(node, height),
                      sizeAttr(node, width)}),
             element));
}

void legalize::populateRoiAlign(Legalizers &legalizers) {
  legalizers.add("RoiAlign", legalizeRoiAlign);
}
