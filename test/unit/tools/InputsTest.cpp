//===- InputsTest.cpp - --input and --shape -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Inputs.h"
#include "client/Handles.h"
#include "client/Values.h"

#include <gtest/gtest.h>

#include <fstream>

#include <string.h>
#include <unistd.h>

using namespace ingot::tools;

namespace {

using Strings = std::vector<std::string>;

class Inputs : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/ingot-test-XXXXXX";
    close(mkstemp(name));
    path = name;
  }
  void TearDown() override { remove(path.c_str()); }

  ModelHandle open(const char *name) {
    ingot_model *model = nullptr;
    ingot_error error = INGOT_ERROR_INIT;
    std::string file = std::string(INGOT_TEST_ARTIFACTS) + name + ".so";
    EXPECT_EQ(ingot_model_load(file.c_str(), nullptr, &model, &error), INGOT_OK)
        << error.message;
    return ModelHandle(model);
  }
  std::string make(const char *model, const Strings &inputs,
                   const Strings &shapes = {}, const Strings &dims = {}) {
    arrays.clear();
    InputSpecs specs;
    specs.inputs = inputs;
    specs.shapes = shapes;
    specs.dims = dims;
    return makeInputs(open(model).get(), specs, arrays);
  }
  void write(ingot_dtype dtype, std::vector<int64_t> dims) {
    Array array;
    array.dtype = dtype;
    array.dims = dims;
    uint64_t bytes;
    ASSERT_TRUE(denseBytes(dims, dtype, bytes));
    array.data.resize(bytes);
    ASSERT_EQ(writeNpy(path, array), "");
  }
  std::string path;
  std::vector<Array> arrays;
};

TEST_F(Inputs, RandomForAll) {
  ASSERT_EQ(make("static", {"random"}), "");
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(arrays[1].data.size(), 4u);
  EXPECT_NE(memcmp(arrays[0].data.data(), arrays[1].data.data(), 4), 0);
  std::vector<unsigned char> first = arrays[0].data;
  ASSERT_EQ(make("static", {"random:0"}), "");
  EXPECT_EQ(arrays[0].data, first);
  ASSERT_EQ(make("static", {"random:1"}), "");
  EXPECT_NE(arrays[0].data, first);
}

TEST_F(Inputs, FileAndRandom) {
  write(INGOT_FLOAT, {2, 3});
  ASSERT_EQ(make("static", {"random:7", "x=" + path}), "");
  EXPECT_EQ(arrays[0].data, std::vector<unsigned char>(24, 0));
  ASSERT_EQ(make("static", {"x=" + path, "b=random:7"}), "");
  write(INGOT_FLOAT, {5, 4});
  ASSERT_EQ(make("dynamic", {path}), "");
  EXPECT_EQ(arrays[0].dims, (std::vector<int64_t>{5, 4}));
}

TEST_F(Inputs, Shapes) {
  ASSERT_EQ(make("dynamic", {"random"}, {"x=3x4"}), "");
  EXPECT_EQ(arrays[0].dims, (std::vector<int64_t>{3, 4}));
  ASSERT_EQ(make("dynamic", {"random"}, {"x=0x4"}), "");
  EXPECT_EQ(make("dynamic", {"random"}),
            "input 'x' (float32 <batch>x4) has sizes that only you know; add "
            "--shape x=1x4");
  EXPECT_EQ(make("dynamic", {"random"}, {"x=3x5"}),
            "input 'x' (float32 <batch>x4) cannot have the shape 3x5 of "
            "--shape");
  EXPECT_EQ(make("dynamic", {"random"}, {"x=4"}),
            "input 'x' (float32 <batch>x4) cannot have the shape 4 of --shape");
  EXPECT_EQ(make("dynamic", {"random"}, {"x=3xx4"}),
            "--shape x=3xx4: '3xx4' is no shape; write sizes with x between "
            "them, e.g. 1x3x48x320");
  EXPECT_EQ(make("dynamic", {"random"}, {"x=-3x4"}),
            "--shape x=-3x4: '-3x4' is no shape; write sizes with x between "
            "them, e.g. 1x3x48x320");
  EXPECT_EQ(make("dynamic", {"random"}, {"z=3x4"}),
            "--shape z=3x4 names no input of the model; give NAME=AxB..., "
            "where NAME is one of 'x'");
  EXPECT_EQ(make("dynamic", {"random"}, {"x=1x4", "x=1x4"}),
            "--shape for input 'x' is given twice");
  EXPECT_EQ(make("dynamic", {"random"}, {"x=9223372036854775807x4"}),
            "input 'x' (float32 <batch>x4) of shape 9223372036854775807x4 does "
            "not fit into memory");
  write(INGOT_FLOAT, {5, 4});
  EXPECT_EQ(make("dynamic", {"x=" + path}, {"x=3x4"}),
            "input 'x' (float32 <batch>x4): --shape contradicts '" + path +
                "', whose shape is 5x4");
}

TEST_F(Inputs, Dims) {
  ASSERT_EQ(make("dynamic", {"zeros"}, {}, {"batch=3"}), "");
  EXPECT_EQ(arrays[0].dims, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(arrays[0].data, std::vector<unsigned char>(48, 0));
  ASSERT_EQ(make("dynamic", {"zeros"}, {"x=3x4"}, {"batch=3"}), "");
  EXPECT_EQ(make("dynamic", {"zeros"}, {"x=2x4"}, {"batch=3"}),
            "input 'x' (float32 <batch>x4) cannot have the shape 2x4 of "
            "--shape: --dim says otherwise");
  EXPECT_EQ(make("dynamic", {"zeros"}, {}, {"height=3"}),
            "the model has no open dimension 'height'; its open dimensions are "
            "'batch'");
  EXPECT_EQ(make("static", {"zeros"}, {}, {"batch=3"}),
            "the model has no open dimension 'batch'; it has none");
  EXPECT_EQ(make("dynamic", {"zeros"}, {}, {"batch=3", "batch=4"}),
            "--dim is given twice for 'batch'");
  for (const char *text : {"batch", "batch=", "=3", "batch=3x4", "batch=?",
                           "batch=-1", "batch=1:2:3"})
    EXPECT_EQ(make("dynamic", {"zeros"}, {}, {text}),
              std::string("--dim ") + text +
                  " cannot be read: write it as --dim batch=1");
  write(INGOT_FLOAT, {5, 4});
  EXPECT_EQ(make("dynamic", {path}, {}, {"batch=3"}),
            "input 'x' (float32 <batch>x4) cannot have the shape 5x4 of '" +
                path + "': --dim says otherwise");
}

TEST_F(Inputs, ElementsAlone) {
  std::ofstream(path) << std::string(48, 'a');
  ASSERT_EQ(make("dynamic", {path}, {"x=3x4"}), "");
  EXPECT_EQ(arrays[0].data, std::vector<unsigned char>(48, 'a'));
  EXPECT_EQ(make("dynamic", {path}, {"x=4x4"}),
            "cannot read '" + path +
                "' for input 'x': it is no picture, .npy or .npz file, and has "
                "48 bytes, not those of float32 4x4");
  EXPECT_EQ(make("dynamic", {path}),
            "cannot read '" + path +
                "' for input 'x': it is no picture, .npy or .npz file, and the "
                "shape of its elements is not known: input 'x' (float32 "
                "<batch>x4) has sizes that only you know; add --shape x=1x4");
}

TEST_F(Inputs, WrongNames) {
  EXPECT_EQ(make("static", {"random", "z=" + path}),
            "the model has no input 'z'; its inputs are 'x', 'b'");
  EXPECT_EQ(make("static", {path}),
            "--input " + path + " must say which input it is for, NAME=" +
                path + "; the model's inputs are 'x', 'b'");
  EXPECT_EQ(make("static", {"x=random"}),
            "input 'b' (float32 1) is not given; add --input b=FILE or "
            "--input random");
  EXPECT_EQ(make("static", {"x=random", "x=random"}),
            "input 'x' (float32 2x3) is given twice");
  EXPECT_EQ(make("static", {"x="}),
            "--input x= names no file; give NAME=FILE, NAME=random[:SEED] or "
            "NAME=zeros");
  EXPECT_EQ(make("static", {"random:abc"}),
            "--input random:abc: the seed must be a whole number");
}

TEST_F(Inputs, NamesWithSlashes) {
  ASSERT_EQ(make("types", {"in/float32=random:3", "random:3"}), "");
  EXPECT_EQ(arrays.size(), 25u);
}

TEST_F(Inputs, WrongFiles) {
  EXPECT_EQ(make("dynamic", {"/no/such.npy"}),
            "cannot read '/no/such.npy' for input 'x': No such file or "
            "directory");
  write(INGOT_DOUBLE, {5, 4});
  EXPECT_EQ(make("dynamic", {path}),
            "input 'x' (float32 <batch>x4) cannot take float64 from '" + path +
                "'; convert it with numpy's astype");
  write(INGOT_FLOAT, {5, 3});
  EXPECT_EQ(make("dynamic", {path}),
            "input 'x' (float32 <batch>x4) cannot have the shape 5x3 of '" +
                path + "'");
}

} // namespace
