//===- GuardedSchemas.cpp - ONNX's operator schemas, bounded --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/GuardedSchemas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace ingot::importer {

/// The largest size of a vector that data propagation follows. Longer vectors
/// are not shapes.
static constexpr int64_t kMaxPropagated = 4096;

static bool isShort(const pb::TypeProto *type) {
  if (!type || !type->has_tensor_type())
    return true;
  const pb::TensorShapeProto &shape = type->tensor_type().shape();
  return shape.dim_size() != 1 || shape.dim(0).dim_value() <= kMaxPropagated;
}

/// Returns true if ONNX's implementation of Slice would loop forever. It adds
/// the step until it reaches the end. If the sum overflows, it never does.
static bool isEndless(const std::string &op,
                      pb::DataPropagationContext &context) {
  if (op != "Slice" || context.getNumInputs() < 5)
    return false;
  const pb::TensorShapeProto *steps = context.getInputData(4);
  return steps && llvm::any_of(steps->dim(), [](const auto &step) {
           return step.dim_value() > INT32_MAX || step.dim_value() < INT32_MIN;
         });
}

/// Returns true if `op` makes one dimension for each element of an operand, and
/// there are more elements than a tensor can have dimensions. The legalizer
/// reports such nodes.
static bool hasEndlessRank(const std::string &op,
                           const pb::InferenceContext &context) {
  bool listsSizes =
      llvm::StringSwitch<bool>(op)
          .Cases({"AffineGrid", "CenterCropPad", "Col2Im", "ConstantOfShape",
                  "Expand", "MaxUnpool", "Pad", "Reshape", "Resize", "Slice",
                  "Squeeze", "Tile", "Unsqueeze", "Upsample"},
                 true)
          .StartsWith("Reduce", true)
          .Default(false);
  if (!listsSizes)
    return false;
  for (size_t i = op == "ConstantOfShape" ? 0 : 1, e = context.getNumInputs();
       i < e; ++i)
    if (!isShort(context.getInputType(i)))
      return true;
  return false;
}

/// Returns true if ONNX's implementation of GatherND would compare too many
/// dimensions, because it does not check the attribute `batch_dims`. The
/// legalizer reports such nodes.
static bool comparesTooMuch(const std::string &op,
                            pb::InferenceContext &context) {
  const pb::AttributeProto *count =
      op == "GatherND" ? context.getAttribute("batch_dims") : nullptr;
  if (!count)
    return false;
  for (size_t i = 0, e = context.getNumInputs(); i < e; ++i)
    if (const pb::TypeProto *type = context.getInputType(i);
        !type || count->i() < 0 ||
        count->i() > type->tensor_type().shape().dim_size())
      return true;
  return false;
}

/// Returns true if ONNX's implementation of Einsum would loop forever. It does
/// so at a character that is neither a letter nor the first ellipsis of a term.
/// The legalizer reports such nodes.
static bool hasEndlessTerm(const std::string &op,
                           const pb::InferenceContext &context) {
  const pb::AttributeProto *equation =
      op == "Einsum" ? context.getAttribute("equation") : nullptr;
  if (!equation)
    return false;
  std::string text = equation->s();
  llvm::erase(text, ' ');
  llvm::SmallVector<llvm::StringRef> terms;
  llvm::StringRef(text).split("->").first.split(terms, ',');
  return llvm::any_of(terms, [](llvm::StringRef term) {
    auto [before, behind] = term.split("...");
    return !llvm::all_of(before, llvm::isAlpha) ||
           !llvm::all_of(behind, llvm::isAlpha);
  });
}

/// Returns the type inference of a schema, or an empty function if it has none.
/// ONNX has no inference for GroupNormalization, so this function adds one.
static pb::InferenceFunction inferenceOf(const pb::OpSchema &schema) {
  if (schema.has_type_and_shape_inference_function())
    return schema.GetTypeAndShapeInferenceFunction();
  if (schema.domain().empty() && schema.Name() == "GroupNormalization")
    return pb::propagateShapeAndTypeFromFirstInput;
  return {};
}

const GuardedSchemas &GuardedSchemas::instance() {
  static const GuardedSchemas schemas;
  return schemas;
}

const pb::OpSchema *
GuardedSchemas::GetSchema(const std::string &name, int version,
                          const std::string &domain) const {
  const pb::OpSchema *schema =
      pb::OpSchemaRegistry::Instance()->GetSchema(name, version, domain);
  if (!schema)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<pb::OpSchema> &copy = guarded[schema];
  if (copy)
    return copy.get();
  copy = std::make_unique<pb::OpSchema>(*schema);
  if (pb::InferenceFunction infer = inferenceOf(*schema))
    copy->TypeAndShapeInferenceFunction(
        [infer, op = schema->Name()](pb::InferenceContext &context) {
          // Keeps the types that were inferred before the exception. The
          // legalizer reports the error in the node.
          try {
            if (!hasEndlessRank(op, context) && !comparesTooMuch(op, context) &&
                !hasEndlessTerm(op, context))
              infer(context);
          } catch (const std::exception &) {
          }
        });
  if (schema->has_data_propagation_function())
    copy->PartialDataPropagationFunction(
        [propagate = schema->GetDataPropagationFunction(),
         op = schema->Name()](pb::DataPropagationContext &context) {
          for (size_t i = 0, e = context.getNumInputs(); i < e; ++i)
            if (!isShort(context.getInputType(i)))
              return;
          try {
            if (isEndless(op, context))
              return;
            propagate(context);
          } catch (const std::exception &) {
          }
        });
  return copy.get();
}

} // namespace ingot::importer
