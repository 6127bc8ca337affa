//===- LifeTest.cpp - loading, sharing, dynamic sizes, failures -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/dnnl/Harness.h"

#include <gtest/gtest.h>

#include <thread>

using namespace ingot::test;

static ConvolutionSpec specOfBatch(int64_t batch) {
  return {{batch, 4, 4, 4}, {8, 4, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
}

static View result(const OperationSpec &operation) {
  return operation.operands.back().view;
}

TEST(Life, OneModelManyOperationsManyThreads) {
  std::vector<OperationSpec> operations;
  std::vector<View> want;
  for (int64_t channels : {8, 16, 24}) {
    ConvolutionSpec spec{{1, channels, 9, 9}, {32, channels, 3, 3}, 1, {1, 1},
                         {1, 1},              {1, 1},               {1, 1}};
    operations.push_back(spec.make());
    want.push_back(spec.reference(operations.back()));
  }
  Model model(operations);
  ASSERT_EQ(model.load(), INGOT_ABI_OK) << model.error();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        size_t index = size_t(round + t) % operations.size();
        OperationSpec mine = operations[index];
        // Each thread may use another number of threads.
        ASSERT_EQ(model.run(index, mine, 1 + t % 2), INGOT_ABI_OK);
        expectNear(result(mine), want[index]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Life, RunsWithOtherThreadCountsThanLoaded) {
  OperationSpec operation = specOfBatch(1).make();
  View want = specOfBatch(1).reference(operation);
  Model model({operation});
  ASSERT_EQ(model.load(1), INGOT_ABI_OK);
  for (uint32_t numThreads : {1, 2, 3, 1}) {
    ASSERT_EQ(model.run(0, operation, numThreads), INGOT_ABI_OK);
    expectNear(result(operation), want);
  }
}

TEST(Life, DynamicBatch) {
  OperationSpec first = specOfBatch(1).make();
  first.dynamicBatch = true;
  Model model({first});
  ASSERT_EQ(model.load(), INGOT_ABI_OK) << model.error();
  // Runs more sizes than are kept, twice, and an empty one.
  for (int round = 0; round < 2; ++round)
    for (int64_t batch = 0; batch < 20; ++batch) {
      OperationSpec operation = specOfBatch(batch).make();
      operation.dynamicBatch = true;
      ASSERT_EQ(model.run(0, operation), INGOT_ABI_OK) << model.error();
      expectNear(result(operation), specOfBatch(batch).reference(operation));
    }
}

TEST(Life, FailsWithTheNodesName) {
  OperationSpec operation = specOfBatch(1).make();
  operation.name = "conv_of_block_3";
  operation.operands.back().view.dims[2] = 17;
  Model model({operation});
  EXPECT_EQ(model.load(), INGOT_ABI_BACKEND_ERROR);
  EXPECT_EQ(model.error(), "node 'conv_of_block_3': oneDNN cannot create the "
                           "operation: invalid arguments");
}

TEST(Life, DynamicFailureNamesTheNode) {
  OperationSpec operation = specOfBatch(2).make();
  operation.dynamicBatch = true;
  Model model({operation});
  ASSERT_EQ(model.load(), INGOT_ABI_OK);
  operation.operands.back().view.dims[0] = 3;
  EXPECT_EQ(model.run(0, operation), INGOT_ABI_BACKEND_ERROR);
  EXPECT_EQ(
      model.error(),
      "node 'node': oneDNN cannot create the operation: invalid arguments");
}

TEST(Life, RefusesDamagedTables) {
  OperationSpec operation = specOfBatch(1).make();
  {
    Model model({operation});
    model.table[0] = 77;
    EXPECT_EQ(model.load(), INGOT_ABI_BAD_ARTIFACT);
  }
  Model whole({operation});
  for (size_t i = 3; i < whole.table.size(); ++i) {
    Model model({operation});
    model.table[2] = i;
    EXPECT_EQ(model.load(), INGOT_ABI_BAD_ARTIFACT);
    EXPECT_EQ(model.error(),
              "oneDNN operations are described by a damaged table");
  }
}
