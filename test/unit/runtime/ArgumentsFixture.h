//===- ArgumentsFixture.h - calls with wrong arguments ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests calls with one wrong argument. Such a call must fail with a status and
// a one-line message, change no other argument, and leave its objects usable.
// Sized structs and plain values take all special values: null, zero, one, the
// largest, and their neighbors.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_RUNTIME_ARGUMENTSFIXTURE_H
#define INGOT_TEST_UNIT_RUNTIME_ARGUMENTSFIXTURE_H

#include "TestSupport.h"

#include <functional>
#include <string.h>

namespace ingot::test {

inline const uint32_t special32[] = {0,          1,          2,          3,
                              7,          8,          9,          63,
                              64,         65,         255,        4095,
                              4096,       4097,       0x7fffffff, 0x80000000,
                              0xfffffffe, 0xffffffff};
inline const uint64_t special64[] = {0,
                              1,
                              63,
                              64,
                              uint64_t(1) << 31,
                              uint64_t(1) << 32,
                              uint64_t(1) << 47,
                              (uint64_t(1) << 63) - 1,
                              uint64_t(1) << 63,
                              ~uint64_t(0) - 63,
                              ~uint64_t(0)};

inline int calls = 0;

/// Checks the common properties of failures. Returns true if the call failed.
inline bool refused(const std::function<ingot_status(ingot_error *)> &call) {
  ++calls;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status = call(&error);
  // A message is optional.
  ++calls;
  EXPECT_EQ(call(nullptr), status);
  // A struct without a whole message is also accepted, and not written behind
  // its size.
  for (uint32_t size : {0u, 7u, 8u, 9u, 12u}) {
    ++calls;
    ingot_error small;
    memset(&small, 0x5a, sizeof(small));
    small.struct_size = size;
    EXPECT_EQ(call(&small), status);
    const auto *bytes = reinterpret_cast<const char *>(&small);
    for (size_t i = size < 8 ? 4 : size; i < sizeof(small); ++i)
      if (bytes[i] != 0x5a) {
        ADD_FAILURE() << "byte " << i << " behind a struct of " << size;
        break;
      }
  }
  if (status == INGOT_OK) {
    EXPECT_EQ(error.status, INGOT_OK);
    EXPECT_STREQ(error.message, "");
    return false;
  }
  EXPECT_EQ(error.status, status);
  expectOneLine(error.message);
  EXPECT_STRNE(ingot_status_describe(status), "unknown status");
  return true;
}

class Arguments : public testing::Test {
protected:
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeContext(model);

  void TearDown() override {
    // The refused calls have not changed the objects.
    StaticRun run;
    EXPECT_EQ(run(context.get()), INGOT_OK) << run.error.message;
    EXPECT_TRUE(run.right());
    EXPECT_GT(calls, 0);
  }

  /// Tries every struct_size, and garbage in each 8 bytes behind it, in a
  /// struct that is only read.
  template <typename T>
  void sweepOptions(const T &right,
                    const std::function<ingot_status(const T *, ingot_error *)>
                        &call) {
    for (uint32_t size : special32) {
      struct {
        T known;
        char behind[4096];
      } given;
      memset(&given, 0, sizeof(given));
      given.known = right;
      given.known.struct_size = size;
      bool isSize = size >= 8 && size <= 4096;
      EXPECT_EQ(refused([&](ingot_error *error) {
                  return call(&given.known, error);
                }),
                !isSize)
          << "struct_size " << size;
      if (isSize && size > sizeof(T)) {
        given.behind[size - sizeof(T) - 1] = 1;
        EXPECT_TRUE(refused([&](ingot_error *error) {
          return call(&given.known, error);
        })) << "a field that nobody knows";
      }
    }
  }

  /// Checks that a struct is written up to its size and no further.
  template <typename T>
  void sweepInfo(const T &init,
                 const std::function<ingot_status(T *, ingot_error *)> &call) {
    EXPECT_TRUE(refused([&](ingot_error *error) {
      return call(nullptr, error);
    }));
    for (uint32_t size : special32) {
      struct {
        T known;
        char behind[4200];
      } given;
      bool isSize = size >= 8 && size <= 4096;
      bool failed = refused([&](ingot_error *error) {
        memset(&given, 0x5a, sizeof(given));
        given.known.struct_size = size;
        return call(&given.known, error);
      });
      EXPECT_EQ(failed, !isSize) << "struct_size " << size;
      const auto *bytes = reinterpret_cast<const char *>(&given);
      for (size_t i = isSize ? size : 4; i < sizeof(given); ++i)
        if (bytes[i] != 0x5a) {
          ADD_FAILURE() << "byte " << i << " of a struct of " << size;
          break;
        }
    }
    T right = init;
    EXPECT_FALSE(refused([&](ingot_error *error) {
      return call(&right, error);
    }));
  }
};

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_RUNTIME_ARGUMENTSFIXTURE_H
