//===- ListsTest.cpp - lists of tensors that grow in a run ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SupportHosts.h"

#include <gtest/gtest.h>

#include <cstring>

/// Rows of any strides become contiguous, and no memory is left.
TEST(Lists, Grow) {
  LeakHost host;
  EXPECT_EQ(ingot_support_run(
                &host.call,
                [](ingot_abi_call *call) {
                  void *list = ingot_support_list(call);
                  const int64_t dims[] = {2, 3}, strides[] = {1, 2};
                  for (int i = 0; i < 100; ++i) {
                    const int32_t data[] = {i, 1, 2, 3, 4, 5};
                    ingot_support_append(call, list, 4, 2, dims, strides, data,
                                         "no");
                  }
                  int64_t sizes[3] = {-1, 2, -1};
                  auto *all = static_cast<int32_t *>(
                      ingot_support_stack(call, list, 2, sizes));
                  EXPECT_EQ(sizes[0], 100);
                  EXPECT_EQ(sizes[1], 2);
                  EXPECT_EQ(sizes[2], 3);
                  for (int i = 0; i < 100; ++i) {
                    const int32_t row[] = {i, 2, 4, 1, 3, 5};
                    EXPECT_EQ(memcmp(all + 6 * i, row, sizeof row), 0);
                  }
                  ingot_support_release(call, all);
                  // If the list is empty, its unknown sizes are 0.
                  int64_t none[] = {-1, 4, -1};
                  ingot_support_release(
                      call, ingot_support_stack(call, ingot_support_list(call),
                                                2, none));
                  EXPECT_EQ(none[0], 0);
                  EXPECT_EQ(none[1], 4);
                  EXPECT_EQ(none[2], 0);
                  // Rows without elements, and a scalar.
                  list = ingot_support_list(call);
                  const int64_t empty[] = {INT64_MAX, 0};
                  ingot_support_append(call, list, 4, 2, empty, strides,
                                       nullptr, "no");
                  int64_t left[] = {-1, -1, -1};
                  ingot_support_stack(call, list, 2, left);
                  EXPECT_EQ(left[0], 1);
                  EXPECT_EQ(left[2], 0);
                }),
            INGOT_ABI_OK);
  EXPECT_EQ(host.live, 0);
}

/// A row of other sizes, or one that exceeds memory, ends the run.
TEST(Lists, RefuseRows) {
  static int64_t second;
  auto body = [](ingot_abi_call *call) {
    void *list = ingot_support_list(call);
    int64_t dims[] = {1}, strides[] = {1};
    const float data[2] = {};
    ingot_support_append(call, list, 4, 1, dims, strides, data, "rows differ");
    dims[0] = second;
    ingot_support_append(call, list, 4, 1, dims, strides, data, "rows differ");
  };
  LeakHost host;
  second = 2;
  EXPECT_EQ(ingot_support_run(&host.call, body), INGOT_ABI_RUNTIME_CHECK);
  EXPECT_STREQ(host.error, "rows differ");
  EXPECT_EQ(host.live, 0);
  LeakHost small;
  EXPECT_EQ(ingot_support_run(
                &small.call,
                [](ingot_abi_call *call) {
                  const int64_t dims[] = {INT64_MAX / 2, 8}, strides[] = {8, 1};
                  ingot_support_append(call, ingot_support_list(call), 4, 2,
                                       dims, strides, nullptr, "no");
                }),
            INGOT_ABI_OUT_OF_MEMORY);
  EXPECT_EQ(small.live, 0);
}
