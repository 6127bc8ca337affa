# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot inspect --shape`: sizes of outputs, and memory of a run, without a run. Tests with guard pages check
these numbers for all kinds of models."""
import json

from support import Case, TensorProto, helper, make_model, np, tool


def net():
    """A convolution, a pool, a product; the sizes of one output data decide."""
    rng = np.random.default_rng(0)
    weights = {"w1": rng.standard_normal((8, 3, 3, 3)).astype(np.float32),
               "w2": rng.standard_normal((8, 5)).astype(np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="conv", pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("MaxPool", ["a"], ["b"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("ReduceMean", ["b"], ["m"], name="mean", axes=[2, 3], keepdims=0),
             helper.make_node("MatMul", ["m", "w2"], ["y"], name="head")]
    return make_model(nodes, [("x", ["n", 3, "h", "w"])], [("b", ["n", 8, "oh", "ow"]), ("y", ["n", 5])], weights)


def found():
    nodes = [helper.make_node("NonZero", ["x"], ["where"], name="found")]
    return make_model(nodes, [("x", ["n", 3])], [("where", [2, "k"], TensorProto.INT64)])


class Infer(Case):
    def infer(self, artifact, shape):
        done = tool("ingot", "inspect", artifact, "--shape", shape, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["inferred"]

    def test_sizes_and_memory(self):
        artifact = self.compile(net())
        small, large = (self.infer(artifact, f"x=2x3x{s}x{s + 5}") for s in (16, 160))
        self.assertEqual(small["inputs"], [[2, 3, 16, 21]])
        self.assertEqual(small["outputs"], [[2, 8, 4, 5], [2, 5]])
        self.assertEqual(large["outputs"], [[2, 8, 40, 41], [2, 5]])
        # Needs at least the results of the convolution and of the pool, with 4 bytes per element.
        self.assertGreater(large["arena_bytes"], 4 * (2 * 8 * 80 * 83 + 2 * 8 * 40 * 41))
        self.assertLess(large["arena_bytes"], 3 * 4 * (2 * 3 * 160 * 165 + 2 * 8 * 80 * 83))
        text = tool("ingot", "inspect", artifact, "--shape", "x=2x3x16x21").stdout
        for line in ("at        x=2x3x16x21", "makes     b=2x8x4x5", "          y=2x5", "takes     "):
            self.assertIn(line, text)

    def test_fixed_sizes_and_profiles(self):
        fixed = self.compile(net(), "--shape", "x=1x3x32x32")
        told = self.infer(fixed, "x=1x3x32x32")
        arena = json.loads(tool("ingot", "inspect", fixed, "--json").stdout)["arena_bytes"]
        self.assertEqual((told["outputs"], told["arena_bytes"]), ([[1, 8, 8, 8], [1, 5]], arena))
        ranged = self.compile(net(), "--shape", "x=1x3x(16:32:64)x(16:32:64)")
        arena = json.loads(tool("ingot", "inspect", ranged, "--json").stdout)["arena_bytes"]
        for size, pooled in ((32, 8), (48, 12)):
            told = self.infer(ranged, f"x=1x3x{size}x{size}")
            # All buffers are planned for the largest sizes.
            self.assertEqual((told["outputs"], told["arena_bytes"]), ([[1, 8, pooled, pooled], [1, 5]], arena))
        self.assert_one_line(tool("ingot", "inspect", ranged, "--shape", "x=1x3x65x32"), "has 65 in dimension 2")

    def test_sizes_in_lists(self):
        """Tests reshapes that cannot be views. Their sizes are read from a tensor."""
        for kind, outputs in (("DepthToSpace", [[2, 1, 8, 10]]), ("SpaceToDepth", [[2, 16, 2, 2]])):
            with self.subTest(kind):
                node = helper.make_node(kind, ["x"], ["y"], blocksize=2)
                artifact = self.compile(make_model([node], [("x", list("nchw"))], [("y", list("abde"))]))
                shape = "2x4x4x5" if kind == "DepthToSpace" else "2x4x4x4"
                self.assertEqual(self.infer(artifact, f"x={shape}")["outputs"], outputs)
                huge = "1x4x0x4611686018427387904" if kind == "DepthToSpace" else "1x4611686018427387904x0x2"
                self.assert_one_line(tool("ingot", "inspect", artifact, "--shape", f"x={huge}"), kind, "too large")

    def test_what_data_decide(self):
        artifact = self.compile(found())
        self.assertEqual(self.infer(artifact, "x=7x3"),
                         {"inputs": [[7, 3]], "outputs": [[2, -1]], "arena_bytes": None})
        self.assertIn("takes     memory whose size depends on data", tool("ingot", "inspect", artifact, "--shape", "x=7x3").stdout)

    def test_sizes_that_do_not_fit(self):
        artifact = self.compile(net())
        self.assert_one_line(tool("ingot", "inspect", artifact, "--shape", "x=2x3x1x9"), "node 'pool'")
        self.assert_one_line(tool("ingot", "inspect", artifact, "--shape", "x=2x4x8x9"), "cannot have the shape 2x4x8x9")
        self.assert_one_line(tool("ingot", "inspect", artifact, "--shape", "z=2"), "--shape z=2 names no input")
        self.assert_one_line(tool("ingot", "inspect", artifact, "--shape", "x=1x3x2000000000x2000000000"),
                             "input 'x'", "impossibly large")
