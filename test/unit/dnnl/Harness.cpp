//===- Harness.cpp - builds tables and runs them through the glue ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/dnnl/Harness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace ingot::test {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static View ordered(const Dims &dims, const Dims &order) {
  View view{dims, Dims(dims.size()), {}};
  int64_t stride = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    view.strides[*it] = stride;
    stride *= dims[*it];
  }
  view.data.resize(stride);
  return view;
}

View plain(const Dims &dims) {
  Dims order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  return ordered(dims, order);
}

View channelsLast(const Dims &dims) {
  Dims order{0};
  for (size_t i = 2; i < dims.size(); ++i)
    order.push_back(i);
  order.push_back(1);
  return ordered(dims, order);
}

View transposed(const Dims &dims) {
  Dims order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return ordered(dims, order);
}

View random(View view, unsigned seed) {
  uint32_t x = seed * 2654435761u + 12345;
  for (float &value : view.data) {
    x = x * 1664525u + 1013904223u;
    value = float(int32_t(x >> 8) % 2001 - 1000) / 1000.0f;
  }
  return view;
}

float &View::at(const Dims &index) {
  return data[std::inner_product(index.begin(), index.end(), strides.begin(),
                                 int64_t(0))];
}

float View::broadcast(const Dims &index) const {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i)
    offset += dims[i] == 1 ? 0 : index[i] * strides[i];
  return data[offset];
}

void forEach(const Dims &dims, const std::function<void(const Dims &)> &body) {
  for (int64_t dim : dims)
    if (dim == 0)
      return;
  Dims index(dims.size(), 0);
  while (true) {
    body(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

static int64_t bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof(word));
  return word;
}

/// Appends dims and strides, as `record` declares them or as a call gives them.
static void addShape(const OperationSpec &operation, const OperandSpec &operand,
                     Dims *declared, Dims *dynamic) {
  const View &view = operand.view;
  bool isDynamic = operation.dynamicBatch && !operand.constant;
  for (size_t i = 0; i < view.dims.size(); ++i) {
    bool varies = isDynamic && i == 0;
    if (declared)
      declared->push_back(varies ? INGOT_DNNL_DYNAMIC : view.dims[i]);
    if (dynamic && varies)
      dynamic->push_back(view.dims[i]);
  }
  if (declared)
    declared->insert(declared->end(), view.strides.begin(), view.strides.end());
}

Model::Model(const std::vector<OperationSpec> &operations) {
  table = {INGOT_DNNL_TABLE_VERSION, int64_t(operations.size()), 0};
  for (const OperationSpec &operation : operations)
    add(operation);
  table[2] = table.size();
}

void Model::add(const OperationSpec &operation) {
  Dims record{0, operation.kind, int64_t(names.size()),
              int64_t(operation.params.size())};
  names += operation.name;
  names += '\0';
  record.insert(record.end(), operation.params.begin(), operation.params.end());
  record.push_back(operation.operands.size());
  for (const OperandSpec &operand : operation.operands) {
    int64_t offset = INGOT_DNNL_ARGUMENT;
    if (operand.constant) {
      weights.resize((weights.size() + 63) / 64 * 64);
      offset = weights.size();
      auto *bytes = reinterpret_cast<const char *>(operand.view.data.data());
      weights.insert(weights.end(), bytes,
                     bytes + operand.view.data.size() * sizeof(float));
    }
    record.insert(record.end(), {operand.role, INGOT_ABI_FLOAT, offset,
                                 int64_t(operand.view.dims.size())});
    addShape(operation, operand, &record, nullptr);
  }
  record.push_back(operation.postOps.size());
  for (const PostOpSpec &postOp : operation.postOps)
    record.insert(record.end(), {postOp.kind, postOp.algorithm,
                                 bits(postOp.alpha), bits(postOp.beta),
                                 postOp.tensor});
  record[0] = record.size();
  table.insert(table.end(), record.begin(), record.end());
}

ingot_abi_host Model::host(uint32_t numThreads) {
  ingot_abi_host host{};
  host.struct_size = sizeof(host);
  host.num_threads = numThreads;
  host.user = this;
  host.allocate = [](void *user, uint64_t size, uint64_t alignment) {
    auto *self = static_cast<Model *>(user);
    ++self->scratchAllocations;
    ++self->scratchLive;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment *
                                        alignment);
  };
  host.release = [](void *user, void *pointer) {
    --static_cast<Model *>(user)->scratchLive;
    free(pointer);
  };
  host.parallel_for = [](void *, void (*task)(void *, int64_t), void *argument,
                         int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      task(argument, i);
  };
  return host;
}

Model::~Model() {
  ingot_abi_host services = host(1);
  ingot_dnnl_unload(&services, state);
  EXPECT_EQ(scratchLive.load(), 0);
}

int32_t Model::load(uint32_t numThreads) {
  ingot_abi_host services = host(numThreads);
  char text[256] = "";
  ingot_abi_load call{};
  call.struct_size = sizeof(call);
  call.host = &services;
  call.weights = weights.data();
  call.weights_bytes = weights.size();
  call.error = text;
  call.error_bytes = sizeof(text);
  int32_t status = ingot_dnnl_load(&call, table.data(), names.c_str());
  state = call.state;
  message = text;
  return status;
}

int32_t Model::run(int64_t index, OperationSpec &spec, uint32_t numThreads) {
  ingot_abi_host services = host(numThreads);
  char text[256] = "";
  ingot_abi_call call{};
  call.struct_size = sizeof(call);
  call.host = &services;
  call.weights = weights.data();
  call.state = state;
  call.error = text;
  call.error_bytes = sizeof(text);
  std::vector<void *> arguments;
  Dims dynamic;
  for (OperandSpec &operand : spec.operands) {
    if (!operand.constant)
      arguments.push_back(operand.view.data.data());
    addShape(spec, operand, nullptr, &dynamic);
  }
  ingot_dnnl_execute(&call, index, arguments.data(), dynamic.data());
  message = text;
  return call.status;
}

View evaluate(OperationSpec operation, uint32_t numThreads) {
  Model model({operation});
  EXPECT_EQ(model.load(numThreads), INGOT_ABI_OK) << model.error();
  EXPECT_EQ(model.run(0, operation, numThreads), INGOT_ABI_OK)
      << model.error();
  for (OperandSpec &operand : operation.operands)
    if (operand.role == INGOT_DNNL_DST)
      return operand.view;
  return {};
}

void expectNear(const View &got, const View &want, double tolerance) {
  ASSERT_EQ(got.dims, want.dims);
  double largest = 1e-6, error = 0;
  forEach(want.dims, [&](const Dims &index) {
    largest = std::max<double>(largest, std::fabs(want.broadcast(index)));
    double difference =
        std::fabs(double(got.broadcast(index)) - want.broadcast(index));
    if (!(difference <= error))
      error = difference;
  });
  EXPECT_LE(error, tolerance * largest);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

OperationSpec ConvolutionSpec::make() const {
  size_t n = x.size() - 2;
  Dims y{x[0], w[0]}, logical = w;
  for (size_t i = 0; i < n; ++i)
    y.push_back((x[i + 2] + padsBegin[i] + padsEnd[i] -
                 dilations[i] * (w[i + 2] - 1) - 1) /
                    strides[i] +
                1);
  if (groups > 1) {
    logical[0] /= groups;
    logical.insert(logical.begin(), groups);
  }
  OperationSpec operation{INGOT_DNNL_CONVOLUTION, {}, {}};
  for (const Dims &part : {strides, dilations, padsBegin, padsEnd})
    operation.params.insert(operation.params.end(), part.begin(), part.end());
  operation.operands = {
      {INGOT_DNNL_SRC, random(channelsLast(x), 1)},
      {INGOT_DNNL_WEIGHTS, random(plain(logical), 2), constant}};
  if (bias)
    operation.operands.push_back(
        {INGOT_DNNL_BIAS, random(plain({w[0]}), 3), constant});
  operation.operands.push_back({INGOT_DNNL_DST, random(channelsLast(y), 4)});
  return operation;
}

View ConvolutionSpec::reference(const OperationSpec &operation) const {
  size_t n = x.size() - 2;
  View input = operation.operands[0].view;
  View filter = operation.operands[1].view;
  View result = operation.operands.back().view;
  Dims kernel(w.begin() + 2, w.end());
  int64_t outPerGroup = w[0] / groups;
  forEach(result.dims, [&](const Dims &out) {
    double sum = bias ? operation.operands[2].view.data[out[1]] : 0.0;
    int64_t group = out[1] / outPerGroup;
    for (int64_t c = 0; c < w[1]; ++c)
      forEach(kernel, [&](const Dims &tap) {
        Dims from{out[0], group * w[1] + c};
        for (size_t i = 0; i < n; ++i) {
          from.push_back(out[i + 2] * strides[i] + tap[i] * dilations[i] -
                         padsBegin[i]);
          if (from.back() < 0 || from.back() >= x[i + 2])
            return;
        }
        Dims at = groups > 1 ? Dims{group, out[1] % outPerGroup, c}
                             : Dims{out[1], c};
        at.insert(at.end(), tap.begin(), tap.end());
        sum += double(input.at(from)) * filter.at(at);
      });
    result.at(out) = float(sum);
  });
  return result;
}

} // namespace ingot::test
