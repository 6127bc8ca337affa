"""Tests sizes that a run computes. For any numbers, the result is right or a one-line error names the node."""
import os

import numpy as np

from support import Case, TensorProto, helper, make_model, tool

I64, F32 = TensorProto.INT64, TensorProto.FLOAT
LEAST, LARGEST = -2**63, 2**63 - 1


def node(op, inputs, **attributes):
    return helper.make_node(op, inputs, ["y"], name="odd", **attributes)


class Computed(Case):
    sanitize = True

    def refuses(self, artifact, inputs, *words):
        arguments = []
        for name, array in inputs.items():
            np.save(self.path(f"{name}.npy"), array)
            arguments += ["--input", f"{name}={self.path(name)}.npy"]
        done = tool("ingot", "run", artifact, "--output-dir", self.path("refused"), *arguments)
        self.assert_one_line(done, "node 'odd'", *words)
        self.assertFalse(os.path.exists(self.path("refused/y.npy")))

    def range_of(self, kind):
        return self.compile(make_model([node("Range", ["a", "b", "c"])], [(n, [], kind) for n in "abc"],
                                       [("y", ["n"], kind)]))

    def test_range_of_integers(self):
        artifact = self.range_of(I64)
        for bounds in ((0, 5, 1), (0, 5, 2), (5, 0, -2), (5, 0, 2), (3, 3, 1), (-4, 5, 3), (7, -8, -7),
                       (2**60, 2**60 + 3, 1), (2**60, 2**61 + 1, 2**59), (0, 1, LEAST + 1), *self.EXTREMES):
            feeds = dict(zip("abc", (np.array(v, np.int64) for v in bounds)))
            np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], list(range(*bounds)))
        for bounds, word in (((0, 5, 0), "delta is 0"), ((LEAST, LARGEST, 1), "too many elements"),
                             ((LARGEST, LEAST, -1), "too many elements"), ((0, LARGEST, 1), "out of memory")):
            self.refuses(artifact, dict(zip("abc", (np.array(v, np.int64) for v in bounds))), word)

    # Ranges of few elements between numbers whose differences or sums exceed 64 bits.
    EXTREMES = ((2**62, 2**62 + 3, 1), (LARGEST - 2, LARGEST, 1), (LEAST, LARGEST, 2**62), (LARGEST, LEAST, LEAST),
                (LEAST, LARGEST, LARGEST), (LARGEST, LEAST, 1), (LEAST, LARGEST, -1), (LEAST, LEAST + 3, 2),
                (LEAST + 5, LEAST, -2), (0, LARGEST, 2**62), (-2**62, 2**62 + 1, 2**61))

    def test_range_of_known_integers(self):
        """Each of start, limit and delta is either a constant or an input."""
        for bounds, known in [(e, "c") for e in self.EXTREMES] + list(zip(self.EXTREMES, ("a", "bc", "abc", "ac"))):
            with self.subTest(bounds=bounds, known=known):
                values = dict(zip("abc", (np.array(v, np.int64) for v in bounds)))
                feeds = {n: v for n, v in values.items() if n not in known}
                artifact = self.compile(make_model([node("Range", ["a", "b", "c"])], [(n, [], I64) for n in feeds],
                                                   [("y", ["n"], I64)], {n: values[n] for n in known}))
                np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], list(range(*bounds)))

    def test_range_of_floats(self):
        artifact = self.range_of(F32)
        for bounds in ((0, 5, 1.5), (5, 0, -2), (5, 0, 2), (0, -1e18, 1)):
            feeds = dict(zip("abc", (np.array(v, np.float32) for v in bounds)))
            np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], np.arange(*bounds, dtype=np.float32))
        for bounds, word in (((0, 5, 0), "delta is 0"), ((0, 0, -0.0), "delta is 0"), ((0, np.nan, 1), "number of steps"),
                             ((0, np.inf, 1), "number of steps"), ((-np.inf, 0, 1), "number of steps"),
                             ((0, 1, np.nan), "number of steps"), ((0, 1e30, 1), "number of steps"),
                             ((0, 1e13, 1), "out of memory")):
            self.refuses(artifact, dict(zip("abc", (np.array(v, np.float32) for v in bounds))), word)

    def test_depth(self):
        for kind, given in ((np.int64, (0, -1, LEAST, 2**31)), (np.float32, (np.nan, np.inf, -np.inf, 0.5, -3))):
            artifact = self.compile(make_model(
                [node("OneHot", ["i", "d", "v"])],
                [("i", ["n"], I64), ("d", [], helper.np_dtype_to_tensor_dtype(np.dtype(kind))), ("v", [2], F32)],
                [("y", ["n", "d"], F32)]))
            feeds = {"i": np.array([1, -1]), "v": np.array([0, 1], np.float32)}
            got = self.run_model(artifact, {**feeds, "d": np.array(3, kind)})["y"]
            np.testing.assert_array_equal(got, np.float32([[0, 1, 0], [0, 0, 1]]))
            for depth in given:
                self.refuses(artifact, {**feeds, "d": np.array(depth, kind)}, "depth")

    def test_negative_beside_empty(self):
        x = np.zeros((0, 1), np.float32)
        expand = self.compile(make_model([node("Expand", ["x", "s"])], [("x", ["n", "m"]), ("s", [2], I64)],
                                         [("y", ["a", "b"])]))
        self.assertEqual(self.run_model(expand, {"x": x, "s": np.array([0, 7])})["y"].shape, (0, 7))
        self.refuses(expand, {"x": x, "s": np.array([0, -1])}, "dimension 1", "-1")
        fill = self.compile(make_model([node("ConstantOfShape", ["s"])], [("s", [2], I64)], [("y", ["a", "b"])]))
        self.assertEqual(self.run_model(fill, {"s": np.array([0, 7])})["y"].shape, (0, 7))
        self.refuses(fill, {"s": np.array([0, -1])}, "dimension 1", "-1")
        tile = self.compile(make_model([node("Tile", ["x", "s"])], [("x", ["n", "m"]), ("s", [2], I64)],
                                       [("y", ["a", "b"])]))
        self.assertEqual(self.run_model(tile, {"x": x, "s": np.array([3, 7])})["y"].shape, (0, 7))
        self.refuses(tile, {"x": x, "s": np.array([3, -1])}, "-1")
        self.refuses(tile, {"x": np.zeros((0, 4), np.float32), "s": np.array([1, 2**62])}, "too large")

    def test_pads_that_wrap(self):
        artifact = self.compile(make_model([node("Pad", ["x", "p"])], [("x", ["n"]), ("p", [2], I64)],
                                           [("y", ["a"])]))
        x = np.float32([1, 2, 3])
        np.testing.assert_array_equal(self.run_model(artifact, {"x": x, "p": np.array([1, -2])})["y"], [0, 1])
        for pads in ((LARGEST, LARGEST), (LEAST, LEAST), (LARGEST, -LARGEST), (2**62, 2**62)):
            self.refuses(artifact, {"x": x, "p": np.array(pads)}, "too large")

    def test_skips_beyond_the_row(self):
        """No two tokens have such a distance. The compiler must not enumerate 2^40 distances."""
        attributes = dict(mode="TF", min_gram_length=2, max_gram_length=2, ngram_counts=[0, 0], ngram_indexes=[0, 1],
                          pool_int64s=[1, 2, 1, 3])
        x = np.array([1, 2, 3, 1, 3, 2])
        for skips, want in ((0, [1, 1]), (2**40, [3, 3]), (LARGEST, [3, 3])):
            model = make_model([node("TfIdfVectorizer", ["x"], max_skip_count=skips, **attributes)],
                               [("x", ["n"], I64)], [("y", [2])])
            np.testing.assert_array_equal(self.run_model(self.compile(model), {"x": x})["y"], want)


class Compiled(Case):
    def test_dimensions(self):
        """libingot loads no artifact whose outputs have more than 64 dimensions."""
        def model(count):
            return make_model([node("Unsqueeze", ["x", "axes"])], [("x", [2])], [("y", None)],
                              {"axes": np.arange(count)})
        self.compile(model(63))
        self.assert_refuses(model(64), "node 'odd'", "65 dimensions", "64")

    def test_large_tables(self):
        """A run makes the positions and weights of 4 million rows, because the compiler would take long and write large
        constants."""
        model = make_model([node("Resize", ["x", "", "s"], mode="linear")], [("x", [1, 1, 4, 4])], [("y", None)],
                           {"s": np.float32([1, 1, 1e6, 1])})
        self.assertLess(os.path.getsize(self.compile(model)), 1 << 20)

    def test_long_windows(self):
        """The compiler does not compute a value for each of 10^8 elements."""
        model = make_model([node("HannWindow", ["s"])], [], [("y", None)], {"s": np.array(10**8)})
        self.compile(model)

    def test_names_are_escaped(self):
        model = make_model([node("Relu", ["x"])], [("x", ["a\nerror: b\x1b[31m" + "c" * 5000, 2])], [("y", None)])
        done = tool("ingot", "run", self.compile(model), "--input", "random")
        self.assert_one_line(done, "<a\\nerror: b\\x1B[31mccc")
        self.assertLess(len(done.stderr), 500)
        path = self.save(model)
        for options in (["--shape", "x=(1:2:4\n)x?"], ["--symbol=\x1b[31m"], ["--shape", "x=" + "(" * 5000],
                        ["--target=\x1b[31m\n"], ["--precision=a\nb"], ["--kernels=a\nb\x1b"], ["--weights=\na"]):
            done = tool("ingot", "compile", path, *options)
            self.assert_one_line(done)
            self.assertNotIn("\x1b", done.stderr)
            self.assertLess(len(done.stderr), 2500)
        for command in (["\x1b[31m\n"], ["run", "a\n\x1b.so"], ["inspect", "a\n\x1b.so"], ["bench", "a\n\x1b.so"],
                        ["run", "m.so", "--threads", "\x1b\n"], ["inspect", "--\x1b\nx"]):
            done = tool("ingot", *command)
            self.assert_one_line(done)
            self.assertNotIn("\x1b", done.stderr)
