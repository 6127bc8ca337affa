//===- ShapeProfiles.cpp - the sizes that runs may have -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/ShapeProfiles.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

bool SizeRange::operator==(const SizeRange &other) const {
  return min == other.min && usual == other.usual && max == other.max &&
         multiple == other.multiple;
}

std::string SizeRange::describe() const {
  if (min == max)
    return std::to_string(min);
  std::string steps = std::to_string(multiple);
  if (max == INT64_MAX)
    return "a multiple of " + steps;
  std::string text = std::to_string(min) + " to " + std::to_string(max);
  return multiple == 1 ? text : text + " in steps of " + steps;
}

namespace {

/// An input of the model.
struct Input {
  StringRef name;
  RankedTensorType type;
  SmallVector<StringRef> dimNames;
};

/// Reads one profile and checks it against the model's inputs.
class Reader {
public:
  Reader(ArrayRef<Input> inputs, const ShapeProfile &profile)
      : inputs(inputs), profile(profile) {}

  llvm::Expected<ShapeProfileAttr> read(MLIRContext *context,
                                        int64_t maxTensorElements);

private:
  llvm::Error readShapes();
  llvm::Error readDims();
  llvm::Error name(StringRef dim, const SizeRange &range);
  std::optional<SizeRange> rangeOf(const Input &input, size_t dim) const;

  ArrayRef<Input> inputs;
  const ShapeProfile &profile;
  /// The ranges of all dimensions of a name.
  llvm::StringMap<SizeRange> named;
};

} // namespace

static std::string listNames(const llvm::SetVector<StringRef> &names,
                             StringRef what) {
  if (names.empty())
    return ("it has no " + what).str();
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "'" : ", '") + printable(name) + "'";
  return ("its " + what + " are " + text).str();
}

/// Sets the range of a name. All ranges of one name must be equal.
llvm::Error Reader::name(StringRef dim, const SizeRange &range) {
  auto [known, isNew] = named.try_emplace(dim, range);
  if (isNew || known->second == range)
    return llvm::Error::success();
  // The short form omits the usual size. If only the usual sizes differ, the
  // message must name them.
  if (range.describe() == known->second.describe())
    return makeError("dimension '" + printable(dim) + "' is usually " +
                     Twine(range.usual) + " in one place, but " +
                     Twine(known->second.usual) + " in another");
  return makeError("dimension '" + printable(dim) + "' is " + range.describe() +
                   " in one place, but " + known->second.describe() +
                   " in another");
}

llvm::Error Reader::readShapes() {
  for (const auto &entry : profile.shapes) {
    StringRef given = entry.getKey();
    const Input *input = llvm::find_if(
        inputs, [&](const Input &input) { return input.name == given; });
    if (input == inputs.end()) {
      llvm::SetVector<StringRef> names;
      for (const Input &input : inputs)
        names.insert(input.name);
      return makeError("the model has no input named '" + printable(given) +
                       "'; " + listNames(names, "inputs"));
    }
    const auto &ranges = entry.getValue();
    std::string from = "the shape given for input '" + printable(given) + "'";
    if (int64_t(ranges.size()) != input->type.getRank())
      return makeError(from + " has " + Twine(ranges.size()) +
                       " dimensions, but the model's has " +
                       Twine(input->type.getRank()));
    for (auto [d, range] : llvm::enumerate(ranges)) {
      if (!range)
        continue;
      int64_t size = input->type.getDimSize(d);
      if (!ShapedType::isDynamic(size) && !(*range == SizeRange::of(size)))
        return makeError(from + " makes dimension " + Twine(d) + " " +
                         range->describe() + ", but the model's is " +
                         Twine(size));
      if (ShapedType::isDynamic(size) && !input->dimNames[d].empty())
        if (llvm::Error error = name(input->dimNames[d], *range))
          return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error Reader::readDims() {
  llvm::SetVector<StringRef> names;
  for (const Input &input : inputs)
    for (auto [d, name] : llvm::enumerate(input.dimNames))
      if (!name.empty() && input.type.isDynamicDim(d))
        names.insert(name);
  for (const auto &entry : profile.dims) {
    if (!names.contains(entry.getKey()))
      return makeError("the model has no open dimension named '" +
                       printable(entry.getKey()) + "'; " +
                       listNames(names, "open dimensions"));
    if (llvm::Error error = name(entry.getKey(), entry.getValue()))
      return error;
  }
  return llvm::Error::success();
}

std::optional<SizeRange> Reader::rangeOf(const Input &input, size_t dim) const {
  if (!input.type.isDynamicDim(dim))
    return std::nullopt;
  auto byName = named.find(input.dimNames[dim]);
  if (byName != named.end())
    return byName->second;
  auto shape = profile.shapes.find(input.name);
  return shape == profile.shapes.end() ? std::nullopt : shape->second[dim];
}

llvm::Expected<ShapeProfileAttr> Reader::read(MLIRContext *context,
                                              int64_t maxTensorElements) {
  if (llvm::Error error = readShapes())
    return error;
  if (llvm::Error error = readDims())
    return error;
  SmallVector<SizeRangeAttr> ranges;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    int64_t elements = 1;
    for (int64_t d = 0; d < input.type.getRank(); ++d) {
      std::optional<SizeRange> range = rangeOf(input, d);
      int64_t most = range ? range->max : input.type.getDimSize(d);
      bool isKnown = most >= 0 && most != INT64_MAX;
      if (isKnown && (llvm::MulOverflow(elements, most, elements) ||
                      elements > maxTensorElements))
        return makeError("input '" + printable(input.name) +
                         "' has more than " + Twine(maxTensorElements) +
                         " elements at the largest sizes; --limit="
                         "tensor-elements raises the limit");
      if (range)
        ranges.push_back(SizeRangeAttr::get(context, i, d, range->min,
                                            range->usual, range->max,
                                            range->multiple));
    }
  }
  if (ranges.empty())
    return makeError("it gives no range to an open dimension");
  return ShapeProfileAttr::get(context, ranges);
}

//===----------------------------------------------------------------------===//
// Several profiles
//===----------------------------------------------------------------------===//

/// Returns true if the ranges have a size in common.
static bool intersect(SizeRangeAttr a, SizeRangeAttr b) {
  int64_t low = std::max(a.getMin(), b.getMin());
  int64_t high = std::min(a.getMax(), b.getMax());
  int64_t step;
  if (llvm::MulOverflow(a.getMultiple() / std::gcd(a.getMultiple(),
                                                   b.getMultiple()),
                        b.getMultiple(), step))
    return low == 0;
  return low / step + (low % step != 0) <= high / step;
}

/// Returns true if some sizes of a run fit both profiles. This is so if the
/// ranges of every dimension intersect.
static bool overlap(ShapeProfileAttr a, ShapeProfileAttr b) {
  for (SizeRangeAttr x : a.getRanges())
    for (SizeRangeAttr y : b.getRanges())
      if (x.getInput() == y.getInput() && x.getDim() == y.getDim() &&
          !intersect(x, y))
        return false;
  return true;
}

static SmallVector<Input> inputsOf(func::FuncOp forward) {
  SmallVector<Input> inputs;
  for (auto [i, type] : llvm::enumerate(forward.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    auto name = forward.getArgAttrOfType<StringAttr>(
        i, IngotDialect::NameAttrHelper::getNameStr());
    auto dims = forward.getArgAttrOfType<ArrayAttr>(
        i, IngotDialect::DimNamesAttrHelper::getNameStr());
    Input input{name ? name.getValue() : "", tensor, {}};
    for (int64_t d = 0; d < tensor.getRank(); ++d)
      input.dimNames.push_back(
          dims ? cast<StringAttr>(dims[d]).getValue() : StringRef());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

llvm::Error ingot::setShapeProfiles(func::FuncOp forward,
                                    ArrayRef<ShapeProfile> profiles,
                                    int64_t maxTensorElements) {
  MLIRContext *context = forward.getContext();
  SmallVector<Input> inputs = inputsOf(forward);
  SmallVector<Attribute> all;
  for (auto [i, profile] : llvm::enumerate(profiles)) {
    std::string where =
        profiles.size() == 1 ? "" : "profile " + std::to_string(i + 1) + ": ";
    llvm::Expected<ShapeProfileAttr> read =
        Reader(inputs, profile).read(context, maxTensorElements);
    if (!read)
      return makeError(where + llvm::toString(read.takeError()));
    for (auto [j, other] : llvm::enumerate(all))
      if (overlap(*read, cast<ShapeProfileAttr>(other)))
        return makeError("profiles " + Twine(j + 1) + " and " + Twine(i + 1) +
                         " overlap: some sizes fit both; let one range end "
                         "before the other begins");
    all.push_back(*read);
  }
  IngotDialect::ShapeProfilesAttrHelper(context).setAttr(
      forward->getParentOfType<ModuleOp>(), ArrayAttr::get(context, all));
  return llvm::Error::success();
}

void ingot::fixUsualSizes(func::FuncOp forward, size_t profile,
                          ImportOptions &import) {
  auto all = IngotDialect::ShapeProfilesAttrHelper(forward.getContext())
                 .getAttr(forward->getParentOfType<ModuleOp>());
  SmallVector<Input> inputs = inputsOf(forward);
  import.shapes.clear();
  for (const Input &input : inputs) {
    SmallVector<int64_t> sizes;
    for (int64_t size : input.type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
    import.shapes[input.name] = sizes;
  }
  for (SizeRangeAttr range : cast<ShapeProfileAttr>(all[profile]).getRanges())
    import.shapes[inputs[range.getInput()].name][range.getDim()] =
        range.getUsual();
}
