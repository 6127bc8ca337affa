# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests shape profiles: the sizes that a run may have, and the bodies for usual sizes."""
import json

from support import Case, TensorProto, helper, make_model, np, tool


def net():
    """Convolutions, a mean over dynamic H and W, a product; named dimensions n, h and w."""
    rng = np.random.default_rng(0)
    weights = {"w1": rng.standard_normal((8, 3, 3, 3)), "w2": rng.standard_normal((8, 8, 3, 3)),
               "w3": rng.standard_normal((8, 5))}
    nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="first", pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("Relu", ["a"], ["b"], name="relu"),
             helper.make_node("Conv", ["b", "w2"], ["c"], name="second", pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["c", "b"], ["map"], name="sum"),
             helper.make_node("ReduceMean", ["map"], ["m"], name="mean", axes=[2, 3], keepdims=0),
             helper.make_node("MatMul", ["m", "w3"], ["y"], name="head")]
    return make_model(nodes, [("x", ["n", 3, "h", "w"])], [("map", ["n", 8, "oh", "ow"]), ("y", ["n", 5])],
                      {k: v.astype(np.float32) for k, v in weights.items()})


def image(*shape):
    return {"x": np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)}


class ShapeProfiles(Case):
    def inspect(self, artifact):
        done = tool("ingot", "inspect", artifact, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_runs(self, artifact, *shapes):
        for shape in shapes:
            with self.subTest(shape=shape):
                self.assert_agrees(net(), artifact, image(*shape))

    def assert_outside(self, artifact, shape, *words):
        np.save(self.path("x.npy"), image(*shape)["x"])
        self.assert_one_line(tool("ingot", "run", artifact, "--input", f"x={self.path('x.npy')}"), *words)

    def test_usual_within_and_outside(self):
        artifact = self.compile(net(), "--shape", "x=1x3x(8:16:40)x(8:24:64:8k)")
        self.assert_runs(artifact, (1, 3, 16, 24), (1, 3, 16, 32), (1, 3, 9, 24), (1, 3, 40, 64))
        self.assert_outside(artifact, (1, 3, 41, 24), "input 'x' has 41 in dimension 2, not 8 to 40")
        self.assert_outside(artifact, (1, 3, 16, 20), "has 20 in dimension 3, not 8 to 64 in steps of 8")
        self.assert_outside(artifact, (1, 3, 7, 72), "has 7 in dimension 2")
        told = self.inspect(artifact)
        self.assertFalse(told["takes_general"])
        self.assertEqual(told["shape_profiles"],
                         [[{"input": "x", "dim": 2, "min": 8, "usual": 16, "max": 40, "multiple": 1},
                           {"input": "x", "dim": 3, "min": 8, "usual": 24, "max": 64, "multiple": 8}]])
        # Each body has all layers; layers of usual sizes know their arithmetic.
        bodies = [[l for l in told["layers"] if l["usual_of"] == n] for n in (0, 1)]
        for body in bodies:
            names = {n for layer in body for n in layer["nodes"]}
            self.assertLessEqual({"first", "second", "mean", "head"}, names)

    def test_named_dimensions_and_profiles(self):
        artifact = self.compile(net(), "--profile", "n=1:1:3,h=8:16:20,w=8:16:20",
                                "--profile", "n=4:8:8,h=16,w=16")
        self.assert_runs(artifact, (1, 3, 16, 16), (3, 3, 8, 20), (8, 3, 16, 16), (5, 3, 16, 16))
        self.assert_outside(artifact, (5, 3, 17, 16), "profile 1: input 'x' has 5 in dimension 0, not 1 to 3",
                            "profile 2: input 'x' has 17 in dimension 2, not 16")
        self.assertEqual({layer["usual_of"] for layer in self.inspect(artifact)["layers"]}, {0, 1, 2})
        # Inputs without a file are random, at the usual sizes.
        done = tool("ingot", "run", artifact, "--input", "random")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1x8x8x8", done.stdout)

    def test_general(self):
        artifact = self.compile(net(), "--dim", "h=8:16:16", "--dim", "w=8:16:16", "--general=keep")
        self.assert_runs(artifact, (1, 3, 16, 16), (2, 3, 16, 16), (1, 3, 30, 5))
        self.assertTrue(self.inspect(artifact)["takes_general"])

    def test_multiples(self):
        artifact = self.compile(net(), "--dim", "w=4k")
        self.assert_runs(artifact, (1, 3, 9, 4), (2, 3, 5, 12))
        self.assert_outside(artifact, (1, 3, 9, 6), "has 6 in dimension 3, not a multiple of 4")
        self.assertEqual({layer["usual_of"] for layer in self.inspect(artifact)["layers"]}, {0})

    def test_profile_shows_the_body_that_ran(self):
        artifact = self.compile(net(), "--shape", "x=1x3x(8:16:40)x24")
        for size in (16, 20):
            done = tool("ingot", "bench", artifact, "--shape", f"x=1x3x{size}x24", "--duration", "10ms", "--profile",
                        "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            layers = json.loads(done.stdout)["layers"]
            self.assertEqual(sum("second" in str(layer) for layer in layers), 1, layers)

    def test_sweep(self):
        artifact = self.compile(net(), "--shape", "x=1x3x(8:16:40)x(8:16:40)")
        def sweep(shapes, *options):
            return tool("ingot", "bench", artifact, "--shape", shapes, "--duration", "5ms", "--warm-up", "1ms", *options)
        done = sweep("x=1x3x(8:16:+4)x(8:16:+4)", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        points = json.loads(done.stdout)["points"]
        self.assertEqual([p["shapes"] for p in points], ["x=1x3x8x8", "x=1x3x12x12", "x=1x3x16x16"])
        self.assertTrue(all(p["latency_ms"] >= p["best_ms"] > 0 for p in points), points)
        done = sweep("x=1x3x(8:16:40)x(9:20:+11)")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:]],
                         [f"x=1x3x{h}x{w}" for h in (8, 16, 40) for w in (9, 20)], done.stdout)
        for shapes, words in (("x=1x3x(8:16)x8", ["'(8:16)' is no range"]), ("x=1x3x(8:16:+0)x8", ["no range"]),
                              ("x=1x3x(16:8:+1)x8", ["no range"]), ("x=1x3x(8:16:9)x8", ["no range"]),
                              ("x=1x3x(8:40:+1)x(9:40:+1)", ["more than 1000"]),
                              ("x=1x3x(8:44:+36)x8", ["at x=1x3x44x8", "has 44 in dimension 2, not 8 to 40"]),
                              ("x=1x3x(8:16", ["no range"])):
            with self.subTest(shapes=shapes):
                self.assert_one_line(sweep(shapes), *words)
        self.assert_one_line(sweep("x=1x3x(8:16:40)x8", "--profile"), "exclude", "--profile")

    def test_two_inputs_of_one_name(self):
        node = helper.make_node("Concat", ["a", "b"], ["y"], name="cat", axis=1)
        model = make_model([node], [("a", ["n", 2]), ("b", ["n", "m"])], [("y", ["n", "k"])])
        artifact = self.compile(model, "--profile", "a=(1:4:9)x2,m=1:3:5")
        self.assert_agrees(model, artifact, {"a": np.ones((4, 2), "f"), "b": np.zeros((4, 3), "f")})
        self.assert_agrees(model, artifact, {"a": np.ones((5, 2), "f"), "b": np.zeros((5, 1), "f")})

    def test_sizes_that_data_decide(self):
        """Results of a body for usual sizes may still be dynamic."""
        nodes = [helper.make_node("NonZero", ["x"], ["y"], name="nonzero")]
        model = make_model(nodes, [("x", ["n", 4])], [("y", [2, "k"], TensorProto.INT64)])
        artifact = self.compile(model, "--dim", "n=1:3:9")
        for n in (3, 5):
            self.assert_agrees(model, artifact, {"x": (np.arange(4 * n).reshape(n, 4) % 3).astype(np.float32)})

    def test_wrong_options(self):
        for options, words in (
                (["--shape", "x=1x3x(8:50:40)x8"], ["usual size 50 is not within 8 to 40"]),
                (["--shape", "x=1x3x(40:20:8)x8"], ["MIN:USUAL:MAX"]),
                (["--shape", "x=1x3x(8:16)x8"], ["cannot be read"]),
                (["--shape", "x=1x3x(8:16:99999999999999999999)x8"], ["larger than 9223372036854775807"]),
                (["--dim", "h=8:17:40:4k"], ["17 is no multiple of 4"]),
                (["--dim", "h=0k"], ["multiple of 0"]),
                (["--dim", "h=8", "--dim", "h=8:9:10"], ["given twice"]),
                (["--profile", ""], ["option --profile is empty"]),
                (["--profile", "h=1:2:3,h=1:2:3"], ["'h' is given twice"]),
                (["--profile", "h=1:2:3", "--dim", "w=1:2:3"], ["put all ranges into --profile"]),
                (["--general=maybe", "--dim", "w=1:2:3"], ["unknown --general"]),
                (["--general=keep"], ["no range is given"]),
                (["--profile", "q=1:2:3"], ["no open dimension named 'q'", "'n', 'h', 'w'"]),
                (["--profile", "z=1x(1:2:3)"], ["no input named 'z'"]),
                (["--profile", "x=1x3x(1:2:3)"], ["3 dimensions, but the model's has 4"]),
                (["--profile", "x=1x4x(1:2:3)x?"], ["makes dimension 1 4, but the model's is 3"]),
                (["--profile", "x=1x3x(1:2:3)x?,h=1:2:4"], ["dimension 'h' is"]),
                (["--profile", "x=?x3x?x?"], ["no range to an open dimension"]),
                (["--profile", "h=1:2:10", "--profile", "h=10:12:14"], ["profiles 1 and 2 overlap"]),
                (["--profile", "h=1:2:10", "--profile", "w=1:2:10"], ["profiles 1 and 2 overlap"]),
                (["--dim", "h=1:2:9000000000000000000"], ["more than", "elements at the largest sizes"])):
            with self.subTest(options=options):
                self.assert_refuses(net(), *words, options=options)
