# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests operators whose legalization depends on a size, if this size is open. One artifact runs at several sizes."""
import numpy as np

from support import Case, TensorProto, helper, make_model, tool


SIZES = [(1, 7, 8), (2, 8, 9), (1, 9, 12), (2, 12, 7)]


class OpenForms(Case):
    def check(self, model, sizes, shape, name="x"):
        """Runs one artifact with each of `sizes` for the dynamic dimensions of `shape`, and compares with ONNX Runtime.
        """
        artifact = self.compile(model)
        rng = np.random.default_rng(0)
        for given in sizes:
            left = iter(given)
            drawn = [d if isinstance(d, int) else next(left) for d in shape]
            with self.subTest(drawn=drawn):
                self.assert_agrees(model, artifact, {name: rng.standard_normal(drawn).astype(np.float32)})
        return artifact

    def window(self, kind, rank=2, shape=None, sizes=None, outputs=("y",), weights=None, **attributes):
        shape = shape or ["n", 3, "h", "w"][:rank + 2]
        node = helper.make_node(kind, ["x"] + sorted(weights or {}, reverse=True), list(outputs), name="node",
                                **attributes)
        types = [TensorProto.FLOAT, TensorProto.INT64]
        model = make_model([node], [("x", shape)],
                           [(o, list("abcd")[:rank + 2], t) for o, t in zip(outputs, types)], weights or {}, opset=22)
        self.check(model, sizes or [s[:rank + 1] for s in SIZES], shape)

    def test_auto_pad(self):
        rng = np.random.default_rng(1)
        w = {"w": rng.standard_normal((4, 3, 3, 2)).astype(np.float32)}
        for auto in ("SAME_UPPER", "SAME_LOWER"):
            with self.subTest(auto=auto):
                self.window("Conv", weights=w, auto_pad=auto, strides=[2, 3])
                self.window("Conv", weights=w, auto_pad=auto, strides=[5, 1])
                self.window("MaxPool", kernel_shape=[3, 2], auto_pad=auto, strides=[2, 2])
                self.window("AveragePool", kernel_shape=[3, 2], auto_pad=auto, strides=[2, 2])
                self.window("AveragePool", kernel_shape=[3, 2], auto_pad=auto, strides=[2, 2], count_include_pad=1)
                self.window("LpPool", kernel_shape=[3, 2], auto_pad=auto, strides=[2, 2], p=2)
                self.window("Conv", weights={"w": w["w"][:, :, :, 0]}, rank=1, auto_pad=auto, strides=[2])

    def test_one_side_open(self):
        w = {"w": np.random.default_rng(2).standard_normal((4, 3, 3, 3)).astype(np.float32)}
        sizes = [(n,) for n in (5, 6, 7)]
        self.window("Conv", shape=[1, 3, 6, "w"], sizes=sizes, weights=w, auto_pad="SAME_UPPER", strides=[2, 2])
        self.window("AveragePool", shape=[1, 3, 6, "w"], sizes=sizes, kernel_shape=[3, 3], auto_pad="SAME_UPPER",
                    strides=[2, 2])

    def test_long_windows(self):
        """The form of a spectrogram: few pixels, each with many taps of one channel, and partial tiles."""
        w = {"w": np.random.default_rng(5).standard_normal((34, 1, 64)).astype(np.float32) / 8}
        for pads in ([0, 0], [40, 24]):
            with self.subTest(pads=pads):
                self.window("Conv", rank=1, shape=["n", 1, "h"], sizes=[(1, 160), (3, 161), (1, 64), (2, 700)], weights=w,
                            strides=[32], pads=pads)

    def test_dilated(self):
        """Taps that are in the padding of some pixels of a tile, and of all, as in segmentation heads."""
        w = {"w": np.random.default_rng(3).standard_normal((16, 32, 3, 3)).astype(np.float32) / 16}
        for dilations in ([2, 2], [6, 6], [3, 20]):
            with self.subTest(dilations=dilations):
                self.window("Conv", shape=["n", 32, "h", "w"], weights=w, dilations=dilations,
                            pads=dilations + dilations)

    def test_ceil_mode(self):
        for pads, kernel, strides in (([0] * 4, [3, 3], [2, 2]), ([1] * 4, [3, 3], [2, 2]), ([0] * 4, [2, 2], [2, 2]),
                                      ([1] * 4, [2, 2], [3, 2]), ([1, 0, 1, 1], [3, 2], [3, 3])):
            with self.subTest(pads=pads, kernel=kernel, strides=strides):
                common = {"kernel_shape": kernel, "strides": strides, "pads": pads, "ceil_mode": 1}
                self.window("MaxPool", **common)
                self.window("MaxPool", outputs=("y", "i"), **common)
                self.window("AveragePool", **common)
                self.window("AveragePool", count_include_pad=1, **common)

    def test_output_shape(self):
        rng = np.random.default_rng(3)
        weights = {"w": rng.standard_normal((3, 4, 3, 3)).astype(np.float32),
                   "b": rng.standard_normal(4).astype(np.float32)}
        for attributes in ({}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"output_padding": [1, 0]}):
            with self.subTest(**attributes):
                self.window("ConvTranspose", shape=["n", 3, "h", "w"], weights=weights, strides=[2, 2],
                            output_shape=[12, 13], sizes=[(1, 6, 6), (2, 6, 7)], **attributes)

    def test_slice_by_data(self):
        """Starts and ends at the limits of int64 mean the first and last position."""
        low, high = -2**63, 2**63 - 1
        model = make_model([helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"], name="node"),
                            helper.make_node("Slice", ["x", "s", "e", "a", "back"], ["z"]),
                            helper.make_node("Slice", ["x", "s", "e", "a", "step"], ["w"])],
                           [("x", ["n"]), *((name, [1], TensorProto.INT64) for name in ("s", "e", "step"))],
                           [(name, [name]) for name in "yzw"],
                           {"a": np.array([0]), "t": np.array([2]), "back": np.array([-1])})
        artifact = self.compile(model)
        x = np.arange(5, dtype=np.float32)
        for start in (low, -high, -2, 1, high):
            for end, step in ((low, low), (-high, -2), (-1, 1), (3, high), (high, 3)):
                with self.subTest(start=start, end=end, step=step):
                    feeds = {name: np.array([value]) for name, value in (("s", start), ("e", end), ("step", step))}
                    got = self.run_model(artifact, {"x": x, **feeds})
                    for name, by in (("y", 2), ("z", -1), ("w", step)):
                        # ONNX clamps the start to x, also backward.
                        np.testing.assert_array_equal(got[name], x[max(start, -5):end:by])

    def test_computed_pads(self):
        """Pads to the size of another input, as PyTorch's older exporter writes it. The list is reversed as a matrix,
        and two of its four dimensions are known. Channels stay static for the following ops."""
        rng = np.random.default_rng(5)
        weights = {"w": rng.standard_normal((4, 3, 3, 3)).astype(np.float32), "to": np.array([20, 23], np.int64),
                   "at": np.array([2, 3], np.int64), "two": np.array(2, np.int64), "none": np.zeros(4, np.int64),
                   "pairs": np.array([-1, 2], np.int64), "flat": np.array([-1], np.int64), "first": np.array([0], np.int64),
                   "end": np.array([-2**63 + 1], np.int64), "h": np.array([0], np.int64), "v": np.array([1], np.int64)}
        nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Gather", ["shape", "at"], ["own"]),
                 helper.make_node("Sub", ["to", "own"], ["more"]), helper.make_node("Div", ["more", "two"], ["low"]),
                 helper.make_node("Sub", ["more", "low"], ["high"]),
                 *[helper.make_node("Gather", [side, i], [f"{side}.{i}"]) for side in ("low", "high") for i in ("h", "v")],
                 helper.make_node("Concat", ["low.v", "high.v", "low.h", "high.h", "none"], ["list"], axis=0),
                 helper.make_node("Reshape", ["list", "pairs"], ["rows"]),
                 helper.make_node("Slice", ["rows", "flat", "end", "first", "flat"], ["back"]),
                 helper.make_node("Transpose", ["back"], ["turned"], perm=[1, 0]),
                 helper.make_node("Reshape", ["turned", "flat"], ["pads"])]
        for mode, sizes in (("constant", [(1, 7, 8), (2, 20, 23), (1, 25, 30)]), ("reflect", [(1, 12, 14), (2, 19, 20)]),
                            ("edge", [(1, 7, 8), (2, 22, 30)])):
            with self.subTest(mode=mode):
                model = make_model([*nodes, helper.make_node("Pad", ["x", "pads"], ["p"], name="pad", mode=mode),
                                    helper.make_node("Conv", ["p", "w"], ["y"], name="node")],
                                   [("x", ["n", 3, "h", "w"])], [("y", ["n", 4, "a", "b"])], weights)
                self.check(model, sizes, ["n", 3, "h", "w"])

    def test_open_channels(self):
        """Weights determine the number of channels; a run with another number ends before it computes."""
        rng = np.random.default_rng(6)
        w = {"w": rng.standard_normal((6, 4, 3, 3)).astype(np.float32)}
        for kind, channels in (("Conv", 4), ("ConvTranspose", 6)):
            with self.subTest(kind=kind):
                self.window(kind, shape=["n", "c", "h", "w"], sizes=[(1, channels, 7, 8), (2, channels, 9, 5)], weights=w)
        b = {"w": rng.standard_normal((5, 6)).astype(np.float32)}
        for node, shape in ((helper.make_node("MatMul", ["x", "w"], ["y"], name="node"), ["a", "b", "c"]),
                            (helper.make_node("Gemm", ["x", "w"], ["y"], name="node", transA=1), ["b", "c"])):
            with self.subTest(node=node.op_type):
                model = make_model([node], [("x", shape)], [("y", list("pqr")[:len(shape)])], b)
                sizes = [(2, 3, 5), (1, 7, 5)] if len(shape) == 3 else [(5, 3), (5, 8)]
                self.check(model, sizes, shape)
                np.save(self.path("wrong.npy"), np.zeros([4] * len(shape), np.float32))
                done = tool("ingot", "run", self.compile(model), "--output-dir", self.path("out"), "--input",
                            f"x={self.path('wrong.npy')}")
                self.assert_one_line(done, "node 'node'", "4", "5")

    def test_nothing(self):
        """Empty dimensions beside dynamic ones."""
        self.window("MaxPool", shape=[0, 3, "h", 4], sizes=[(5,), (6,)], kernel_shape=[3, 3], strides=[2, 2],
                    auto_pad="SAME_UPPER")
        model = make_model([helper.make_node("Split", ["x"], ["a", "b"], name="node", axis=1)], [("x", [0, "n"])],
                           [("a", ["a", "b"]), ("b", ["c", "d"])])
        self.check(model, [(4,), (0,)], [0, "n"])

    def test_scatter(self):
        """Only `updates` has a static size. A run checks that `indices` has the same size."""
        node = helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], name="node", axis=0)
        model = make_model([node], [("x", [5, 4]), ("i", ["n", 4], TensorProto.INT64), ("u", [3, 4])], [("y", [5, 4])])
        artifact = self.compile(model)
        values = {"x": np.zeros((5, 4), np.float32), "i": np.arange(12).reshape(3, 4) % 5,
                  "u": np.arange(12, dtype=np.float32).reshape(3, 4)}
        self.assert_agrees(model, artifact, values)
        values["i"] = values["i"][:2]
        arguments = []
        for name, value in values.items():
            np.save(self.path(name + ".npy"), value)
            arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
        self.assert_one_line(tool("ingot", "run", artifact, *arguments), "node 'node'", "3", "2")

    def test_too_small(self):
        """A window that does not fit ends the run with an error that names the node. With ceil_mode, a window that only
        partly fits is allowed.

        The two elements that ceil_mode adds for a stride of 3 count as padding.
        """
        for kind in ("MaxPool", "AveragePool"):
            node = helper.make_node(kind, ["x"], ["y"], name="node", kernel_shape=[5], strides=[3], ceil_mode=1)
            model = make_model([node], [("x", [1, 1, "n"])], [("y", None)])
            for n in (3, 4, 5, 6):
                self.check(make_model([node], [("x", [1, 1, n])], [("y", None)]), [()], [1, 1, n])
            artifact = self.check(model, [(3,), (4,), (5,), (6,), (7,)], [1, 1, "n"])
            for n, why in ((0, "has 0"), (1, "5 against 3"), (2, "5 against 4")):
                np.save(self.path("x.npy"), np.zeros((1, 1, n), np.float32))
                self.assert_one_line(tool("ingot", "run", artifact, "--input", "x=" + self.path("x.npy")),
                                     "node 'node'", why)

    def test_split(self):
        for count, more in ((3, {}), (3, {"num_outputs": 3}), (4, {"num_outputs": 4})):
            with self.subTest(count=count, more=more):
                names = [f"y{i}" for i in range(count)]
                model = make_model([helper.make_node("Split", ["x"], names, name="node", axis=1, **more)],
                                   [("x", [2, "n", "m"])], [(n, list("abc")) for n in names],
                                   opset=18 if more else 13)
                sizes = [(n, 1 + n % 4) for n in ((6, 9) if not more else (5, 8, 12))]
                if more and count == 4:
                    sizes = [(7, 2), (8, 3), (16, 1)]
                self.check(model, sizes, [2, "n", "m"])
        artifact = self.compile(make_model([helper.make_node("Split", ["x"], ["a", "b"], name="node")],
                                           [("x", ["n"])], [("a", None), ("b", None)], opset=13))
        np.save(self.path("x.npy"), np.zeros(5, np.float32))
        self.assert_one_line(tool("ingot", "run", artifact, "--input", "x=" + self.path("x.npy")),
                             "node 'node'", "5 elements do not split into 2 equal parts")

    def test_hardmax(self):
        self.check(make_model([helper.make_node("Hardmax", ["x"], ["y"], axis=1)], [("x", ["n", "m", 3])],
                              [("y", list("abc"))]), [(2, 3), (1, 1), (3, 9)], ["n", "m", 3])

    def test_reverse_sequence(self):
        model = make_model([helper.make_node("ReverseSequence", ["x", "l"], ["y"], name="node", time_axis=1,
                                             batch_axis=0)],
                           [("x", ["n", "t"]), ("l", ["n"], TensorProto.INT64)], [("y", list("ab"))])
        artifact = self.compile(model)
        for lengths, steps in (([3, 0, 5], 5), ([1], 1)):
            x = np.random.default_rng(0).standard_normal((len(lengths), steps)).astype(np.float32)
            self.assert_agrees(model, artifact, {"x": x, "l": np.array(lengths, np.int64)})
        np.save(self.path("x.npy"), np.zeros((1, 4), np.float32))
        np.save(self.path("l.npy"), np.array([5]))
        self.assert_one_line(tool("ingot", "run", artifact, "--input", "x=" + self.path("x.npy"), "--input",
                                  "l=" + self.path("l.npy")), "node 'node'", "there are 4 steps")

    def test_squeeze(self):
        model = make_model([helper.make_node("Squeeze", ["x"], ["y"], name="node")], [("x", ["n", 1, 4, 1, "m"])],
                           [("y", list("abc"))])
        self.check(model, [(2, 3), (5, 2)], ["n", 1, 4, 1, "m"])
        artifact = self.compile(model)
        np.save(self.path("x.npy"), np.zeros((2, 1, 4, 1, 1), np.float32))
        self.assert_one_line(tool("ingot", "run", artifact, "--input", "x=" + self.path("x.npy")),
                             "node 'node'", "open dimension 4 has 1 element", "--shape")

    def test_quantized(self):
        """A convolution of bytes pads with its zero point, known or not."""
        rng = np.random.default_rng(4)
        for dtype in (np.uint8, np.int8):
            for known in (False, True):
                with self.subTest(dtype=dtype, known=known):
                    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
                    zero = np.array(7, dtype)
                    w = {"w": rng.integers(-100, 100, (4, 3, 3, 3), np.int8)}
                    node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], name="node", strides=[2, 2],
                                            auto_pad="SAME_UPPER")
                    inputs = [("x", [1, 3, "h", "w_"], kind)] + ([] if known else [("z", [], kind)])
                    model = make_model([node], inputs, [("y", list("abcd"), TensorProto.INT32)],
                                       {**w, **({"z": zero} if known else {})})
                    artifact = self.compile(model)
                    for h in (5, 6):
                        info = np.iinfo(dtype)
                        x = rng.integers(info.min, info.max, (1, 3, h, 8), dtype, endpoint=True)
                        padded = self.pad(x.astype(np.int64) - int(zero), 3, 2)
                        got = self.run_model(artifact, {"x": x} if known else {"x": x, "z": zero})["y"]
                        np.testing.assert_array_equal(got, self.convolve(padded, w["w"].astype(np.int64), 2))

    def pad(self, x, kernel, stride):
        """Pads explicitly, like SAME_UPPER."""
        totals = [max(0, (-(-n // stride) - 1) * stride + kernel - n) for n in x.shape[2:]]
        return np.pad(x, [(0, 0), (0, 0)] + [(t // 2, t - t // 2) for t in totals])

    def convolve(self, x, w, stride):
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
        return np.einsum("nchwij,ocij->nohw", windows, w)


class Imports(Case):
    """Tests headers of models that ONNX Runtime accepts."""

    def test_imports(self):
        x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
        for imports in ([("", 11), ("", 13)], [("", 13), ("ai.onnx", 11)], [("ai.onnx", 11), ("", 13), ("", 13)],
                        [("unknown", 3), ("", 13), ("unknown", 99999)]):
            with self.subTest(imports=imports):
                # In opset 11, Softmax combines the last two axes.
                model = make_model([helper.make_node("Softmax", ["x"], ["y"])], [("x", [2, 3, 4])],
                                   [("y", [2, 3, 4])])
                del model.opset_import[:]
                model.opset_import.extend(helper.make_opsetid(d, v) for d, v in imports)
                self.assert_agrees(model, self.compile(model), {"x": x})

    def test_metadata(self):
        model = make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", [2])], [("y", [2])])
        helper.set_model_props(model, {"long": "v" * 5_000_000, **{f"key{i}": "v" for i in range(20_000)}})
        self.assert_agrees(model, self.compile(model), {"x": np.array([-1, 1], np.float32)})
