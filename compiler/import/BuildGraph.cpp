//===- BuildGraph.cpp - a prepared model to the onnx dialect --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/BuildGraph.h"
#include "compiler/import/Message.h"

#include "compiler/import/TensorData.h"
#include "compiler/import/Types.h"
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/StringList.h"
#include "dialects/nn/NodeScope.h"
#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot::importer {
namespace {

using llvm::Error;
using llvm::Expected;

/// The values and types of one graph, by name, and a link to the surrounding
/// graph.
struct Scope {
  Scope(const pb::GraphProto &graph, Block &block, Scope *parent)
      : block(block), parent(parent) {
    for (const pb::ValueInfoProto &info : graph.value_info())
      types[info.name()] = &info.type();
    for (const pb::ValueInfoProto &info : graph.output())
      if (info.has_type())
        types[info.name()] = &info.type();
    for (const pb::TensorProto &tensor : graph.initializer())
      initializers[tensor.name()] = &tensor;
  }

  Block &block;
  Scope *parent;
  llvm::StringMap<const pb::TypeProto *> types;
  llvm::StringMap<const pb::TensorProto *> initializers;
  llvm::StringMap<Value> values;
  /// The last constant that was made from an initializer. These constants are
  /// at the start of the block.
  Operation *lastConstant = nullptr;
};

class GraphBuilder {
public:
  GraphBuilder(const Model &model, const llvm::StringSet<> &dimNames,
               MLIRContext &context)
      : model(model), dimNames(dimNames), context(&context), builder(&context) {
  }

  Expected<OwningOpRef<ModuleOp>> run(StringRef fileName);

private:
  Error buildFunction(ModuleOp module);
  Error buildNodes(const pb::GraphProto &graph, Scope &scope);
  Error buildNode(const pb::NodeProto &node, Scope &scope);
  Error buildConstant(const pb::NodeProto &node, Scope &scope);
  Expected<Attribute> buildAttribute(const pb::AttributeProto &attr);
  Expected<Attribute> buildTensor(const pb::TensorProto &tensor,
                                  StringRef name);
  Error buildRegion(const pb::GraphProto &graph, Region &region, Scope &parent);

  Expected<Value> lookup(StringRef name, Scope &scope);
  Expected<Value> makeInitializer(const pb::TensorProto &tensor, Scope &scope);
  Expected<Operation *> createConstant(const pb::TensorProto &tensor,
                                       StringRef name, Location loc);
  Type typeOf(StringRef name, const Scope &scope);
  /// Returns the names of a value's dimensions that the file states.
  ArrayAttr dimNamesOf(const pb::ValueInfoProto &value);
  Location nodeLoc(const pb::NodeProto &node) {
    const std::string name = nodeName(node);
    return nodeLocation(builder.getStringAttr(name), model.scopes.lookup(name));
  }
  Location nameLoc(StringRef name) {
    return NameLoc::get(builder.getStringAttr(name));
  }

  const Model &model;
  const llvm::StringSet<> &dimNames;
  MLIRContext *context;
  OpBuilder builder;
  StringList strings;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the type of a value. If inference has found no type, returns the
/// unknown type. The legalizer then derives the type from the operands.
Type GraphBuilder::typeOf(StringRef name, const Scope &scope) {
  if (name.empty())
    return builder.getNoneType();
  if (const pb::TypeProto *type = scope.types.lookup(name))
    return getType(*type, context);
  return onnx::OpaqueType::get(context, "");
}

Expected<Operation *>
GraphBuilder::createConstant(const pb::TensorProto &tensor, StringRef name,
                             Location loc) {
  if (tensor.data_type() == pb::TensorProto::STRING) {
    SmallVector<int32_t> places;
    for (const std::string &text : tensor.string_data())
      places.push_back(int32_t(strings.placeOf(text)));
    SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
    if (getNumElements(tensor.dims()) != int64_t(places.size()))
      return makeError("tensor " + quote(name) + " has " +
                       Twine(places.size()) +
                       " strings, which its shape does not");
    auto type = RankedTensorType::get(shape, stringType(context));
    return arith::ConstantOp::create(builder, loc, type,
                                     DenseElementsAttr::get(type,
                                                            ArrayRef(places)))
        .getOperation();
  }
  Expected<ElementsAttr> elements = makeElements(model, tensor, name, context);
  if (!elements)
    return elements.takeError();
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(*elements))
      .getOperation();
}

Expected<Value> GraphBuilder::makeInitializer(const pb::TensorProto &tensor,
                                              Scope &scope) {
  OpBuilder::InsertionGuard guard(builder);
  if (scope.lastConstant)
    builder.setInsertionPointAfter(scope.lastConstant);
  else
    builder.setInsertionPointToStart(&scope.block);
  Expected<Operation *> op =
      createConstant(tensor, tensor.name(), nameLoc(tensor.name()));
  if (!op)
    return op.takeError();
  scope.lastConstant = *op;
  return (*op)->getResult(0);
}

Expected<Value> GraphBuilder::lookup(StringRef name, Scope &scope) {
  for (Scope *s = &scope; s; s = s->parent) {
    if (Value value = s->values.lookup(name))
      return value;
    if (const pb::TensorProto *tensor = s->initializers.lookup(name)) {
      Expected<Value> value = makeInitializer(*tensor, *s);
      if (value)
        s->values[name] = *value;
      return value;
    }
  }
  return makeError("value " + quote(name) + " is used but not defined");
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Converts a tensor to an attribute. Strings have no tensor type, so they
/// become an array.
Expected<Attribute> GraphBuilder::buildTensor(const pb::TensorProto &tensor,
                                              StringRef name) {
  if (tensor.data_type() == pb::TensorProto::STRING) {
    SmallVector<Attribute> strings;
    for (const std::string &text : tensor.string_data())
      strings.push_back(builder.getStringAttr(text));
    return builder.getArrayAttr(strings);
  }
  Expected<ElementsAttr> elements = makeElements(model, tensor, name, context);
  if (!elements)
    return elements.takeError();
  return *elements;
}

Expected<Attribute>
GraphBuilder::buildAttribute(const pb::AttributeProto &attr) {
  using pb::AttributeProto;
  switch (attr.type()) {
  case AttributeProto::FLOAT:
    return builder.getF32FloatAttr(attr.f());
  case AttributeProto::INT:
    return builder.getI64IntegerAttr(attr.i());
  case AttributeProto::STRING:
    return builder.getStringAttr(attr.s());
  case AttributeProto::FLOATS:
    return builder.getDenseF32ArrayAttr(
        ArrayRef<float>(attr.floats().data(), size_t(attr.floats_size())));
  case AttributeProto::INTS: {
    SmallVector<int64_t> ints(attr.ints().begin(), attr.ints().end());
    return builder.getDenseI64ArrayAttr(ints);
  }
  case AttributeProto::STRINGS: {
    SmallVector<Attribute> strings;
    for (const std::string &text : attr.strings())
      strings.push_back(builder.getStringAttr(text));
    return builder.getArrayAttr(strings);
  }
  case AttributeProto::TENSOR:
    return buildTensor(attr.t(), attr.name());
  case AttributeProto::TENSORS: {
    SmallVector<Attribute> tensors;
    for (const pb::TensorProto &tensor : attr.tensors()) {
      Expected<Attribute> elements = buildTensor(tensor, attr.name());
      if (!elements)
        return elements;
      tensors.push_back(*elements);
    }
    return builder.getArrayAttr(tensors);
  }
  case AttributeProto::TYPE_PROTO:
    return TypeAttr::get(getType(attr.tp(), context));
  case AttributeProto::TYPE_PROTOS: {
    SmallVector<Attribute> types;
    for (const pb::TypeProto &type : attr.type_protos())
      types.push_back(TypeAttr::get(getType(type, context)));
    return builder.getArrayAttr(types);
  }
  default:
    return makeError("attribute " + quote(attr.name()) + " has a type (" +
                     Twine(int(attr.type())) + ") that is not supported");
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Returns the tensor that a Constant node defines, or nullopt if its value is
/// not numeric.
static std::optional<pb::TensorProto>
getConstantTensor(const pb::AttributeProto &attr) {
  pb::TensorProto tensor;
  if (attr.name() == "value" && attr.has_t())
    return attr.t();
  if (attr.name() == "value_float" || attr.name() == "value_floats") {
    tensor.set_data_type(pb::TensorProto::FLOAT);
    *tensor.mutable_float_data() = attr.floats();
    if (attr.type() == pb::AttributeProto::FLOAT)
      tensor.add_float_data(attr.f());
    else
      tensor.add_dims(attr.floats_size());
    return tensor;
  }
  if (attr.name() == "value_int" || attr.name() == "value_ints") {
    tensor.set_data_type(pb::TensorProto::INT64);
    *tensor.mutable_int64_data() = attr.ints();
    if (attr.type() == pb::AttributeProto::INT)
      tensor.add_int64_data(attr.i());
    else
      tensor.add_dims(attr.ints_size());
    return tensor;
  }
  if (attr.name() == "value_string" || attr.name() == "value_strings") {
    tensor.set_data_type(pb::TensorProto::STRING);
    *tensor.mutable_string_data() = attr.strings();
    if (attr.type() == pb::AttributeProto::STRING)
      tensor.add_string_data(attr.s());
    else
      tensor.add_dims(attr.strings_size());
    return tensor;
  }
  return std::nullopt;
}

Error GraphBuilder::buildConstant(const pb::NodeProto &node, Scope &scope) {
  if (node.attribute_size() != 1 || node.output_size() != 1)
    return makeError("a Constant must have one value and one output");
  std::optional<pb::TensorProto> tensor = getConstantTensor(node.attribute(0));
  if (!tensor)
    return makeError("attribute " + quote(node.attribute(0).name()) +
                     " gives no value");
  Expected<Operation *> op =
      createConstant(*tensor, node.output(0), nodeLoc(node));
  if (!op)
    return op.takeError();
  scope.values[node.output(0)] = (*op)->getResult(0);
  return Error::success();
}

Error GraphBuilder::buildNode(const pb::NodeProto &node, Scope &scope) {
  if (node.domain().empty() && node.op_type() == "Constant")
    return buildConstant(node, scope);
  Location loc = nodeLoc(node);
  int numInputs = node.input_size();
  while (numInputs > 0 && node.input(numInputs - 1).empty())
    --numInputs;
  SmallVector<Value> inputs;
  for (int i = 0; i < numInputs; ++i) {
    if (node.input(i).empty()) {
      inputs.push_back(
          onnx::AbsentOp::create(builder, loc, builder.getNoneType()));
      continue;
    }
    Expected<Value> value = lookup(node.input(i), scope);
    if (!value)
      return value.takeError();
    inputs.push_back(*value);
  }
  SmallVector<Type> types;
  for (const std::string &output : node.output())
    types.push_back(typeOf(output, scope));

  NamedAttrList attrs;
  SmallVector<const pb::GraphProto *> graphs;
  SmallVector<Attribute> graphNames;
  auto addGraph = [&](const pb::AttributeProto &attr,
                      const pb::GraphProto &graph) {
    graphs.push_back(&graph);
    graphNames.push_back(builder.getStringAttr(attr.name()));
  };
  for (const pb::AttributeProto &attr : node.attribute()) {
    if (attr.name().empty())
      return makeError("an attribute has no name");
    if (attr.type() == pb::AttributeProto::GRAPH) {
      addGraph(attr, attr.g());
      continue;
    }
    if (attr.type() == pb::AttributeProto::GRAPHS) {
      for (const pb::GraphProto &graph : attr.graphs())
        addGraph(attr, graph);
      continue;
    }
    Expected<Attribute> value = buildAttribute(attr);
    if (!value)
      return value.takeError();
    attrs.set(attr.name(), *value);
  }
  auto op = onnx::NodeOp::create(
      builder, loc, TypeRange(types), node.op_type(), node.domain(), inputs,
      attrs.getDictionary(context),
      graphs.empty() ? ArrayAttr() : builder.getArrayAttr(graphNames),
      unsigned(graphs.size()));
  for (auto [graph, region] : llvm::zip_equal(graphs, op->getRegions()))
    if (Error error = buildRegion(*graph, region, scope))
      return error;
  for (auto [name, result] : llvm::zip_equal(node.output(), op->getResults()))
    if (!name.empty())
      scope.values[name] = result;
  return Error::success();
}

Error GraphBuilder::buildNodes(const pb::GraphProto &graph, Scope &scope) {
  for (const pb::NodeProto &node : graph.node())
    if (Error error = buildNode(node, scope)) {
      std::string message = toString(std::move(error));
      // The error of a node in a subgraph already starts with the node's name.
      return makeError(StringRef(message).starts_with("node '")
                           ? message
                           : describe(node) + ": " + message);
    }
  return Error::success();
}

Error GraphBuilder::buildRegion(const pb::GraphProto &graph, Region &region,
                                Scope &parent) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  Scope scope(graph, *block, &parent);
  for (const pb::ValueInfoProto &input : graph.input()) {
    Type type = getType(input.type(), context);
    scope.values[input.name()] =
        block->addArgument(type, nameLoc(input.name()));
  }
  if (Error error = buildNodes(graph, scope))
    return error;
  SmallVector<Value> results;
  for (const pb::ValueInfoProto &output : graph.output()) {
    Expected<Value> value = lookup(output.name(), scope);
    if (!value)
      return value.takeError();
    results.push_back(*value);
  }
  onnx::YieldOp::create(builder, region.getLoc(), results);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The function and the module
//===----------------------------------------------------------------------===//

ArrayAttr GraphBuilder::dimNamesOf(const pb::ValueInfoProto &value) {
  using Dim = pb::TensorShapeProto::Dimension;
  const auto &inferred = value.type().tensor_type();
  const pb::TypeProto &type = model.statedOutputs.lookup(value.name());
  const auto &stated = type.tensor_type();
  // Inference may find no rank, or one that the file states wrongly.
  bool isStated = stated.has_shape() &&
                  (!inferred.has_shape() ||
                   inferred.shape().dim_size() == stated.shape().dim_size());
  SmallVector<StringRef> names;
  for (const Dim &dim :
       (inferred.has_shape() ? inferred : stated).shape().dim())
    names.push_back(dimNames.contains(dim.dim_param())
                        ? StringRef(dim.dim_param())
                        : StringRef());
  if (isStated)
    for (auto [i, dim] : llvm::enumerate(stated.shape().dim()))
      if (names[i].empty() && dim.dim_param() != "?" &&
          !(inferred.has_shape() && inferred.shape().dim(i).has_dim_value()))
        names[i] = dim.dim_param();
  return builder.getStrArrayAttr(names);
}

Error GraphBuilder::buildFunction(ModuleOp module) {
  const pb::GraphProto &graph = model.proto.graph();
  SmallVector<Type> inputTypes;
  for (const pb::ValueInfoProto &input : graph.input())
    inputTypes.push_back(getType(input.type(), context));
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), kForward,
                                       builder.getFunctionType(inputTypes, {}));
  Block *block = function.addEntryBlock();
  Scope scope(graph, *block, nullptr);
  // Sets all argument attributes at once. Each list of attributes is kept as
  // long as the context, so few lists should be made.
  auto describe = [&](const pb::ValueInfoProto &value) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(IngotDialect::NameAttrHelper::getNameStr(),
                              builder.getStringAttr(value.name())),
         builder.getNamedAttr(IngotDialect::DimNamesAttrHelper::getNameStr(),
                              dimNamesOf(value))});
  };
  SmallVector<DictionaryAttr> inputAttrs, outputAttrs;
  for (auto [i, input] : llvm::enumerate(graph.input())) {
    Value argument = block->getArgument(unsigned(i));
    argument.setLoc(nameLoc(input.name()));
    scope.values[input.name()] = argument;
    inputAttrs.push_back(describe(input));
  }
  function.setAllArgAttrs(inputAttrs);
  builder.setInsertionPointToEnd(block);
  if (Error error = buildNodes(graph, scope))
    return error;

  SmallVector<Value> results;
  SmallVector<Type> resultTypes;
  for (const pb::ValueInfoProto &output : graph.output()) {
    Expected<Value> value = lookup(output.name(), scope);
    if (!value)
      return value.takeError();
    results.push_back(*value);
    resultTypes.push_back(value->getType());
  }
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(inputTypes, resultTypes));
  for (const pb::ValueInfoProto &output : graph.output())
    outputAttrs.push_back(describe(output));
  function.setAllResultAttrs(outputAttrs);
  return Error::success();
}

Expected<OwningOpRef<ModuleOp>> GraphBuilder::run(StringRef fileName) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, nameLoc(fileName));
  NamedAttrList imports;
  for (const pb::OperatorSetIdProto &import : model.proto.opset_import())
    imports.set(import.domain().empty() ? "ai.onnx" : import.domain(),
                builder.getI64IntegerAttr(import.version()));
  (*module)->setAttr("onnx.opset_import", imports.getDictionary(context));
  Attribute stated = builder.getI64IntegerAttr(model.statedOpset);
  if (model.statedOpset && imports.get("ai.onnx") != stated)
    (*module)->setAttr("onnx.stated_opset", stated);
  IngotDialect::ModelNameAttrHelper(context).setAttr(
      *module, builder.getStringAttr(model.proto.graph().name()));
  NamedAttrList metadata;
  for (const pb::StringStringEntryProto &entry : model.proto.metadata_props())
    if (!entry.key().empty())
      metadata.set(entry.key(), builder.getStringAttr(entry.value()));
  IngotDialect::MetadataAttrHelper(context).setAttr(
      *module, metadata.getDictionary(context));
  if (Error error = buildFunction(*module))
    return std::move(error);
  strings.write(*module);
  return module;
}

} // namespace

Expected<OwningOpRef<ModuleOp>> buildModule(const Model &model,
                                            const llvm::StringSet<> &dimNames,
                                            StringRef fileName,
                                            MLIRContext &context) {
  return GraphBuilder(model, dimNames, context).run(fileName);
}

} // namespace ingot::importer
