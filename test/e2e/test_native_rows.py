"""Tests native kernels of reductions, softmax, norms and pooling: odd sizes, 1 and 2 threads, against ONNX Runtime or
numpy."""
import itertools
import unittest

import numpy as np
from onnx import helper

import support
from support import make_model

TOLERANCE = 2e-6  # relative to the largest absolute output
LEVELS = ("x86-64-v3", "x86-64-v4")


def supported_levels():
    with open("/proc/cpuinfo") as f:
        flags = f.read()
    return [level for level in LEVELS if level != "x86-64-v4" or "avx512vl" in flags]


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output], name=output, **attributes)


class NativeRows(support.Case):
    def check(self, cases, inputs, initializers=(), dynamic=False, opset=17, tolerance=TOLERANCE):
        """Makes a model with one output per case: (node type, input, attributes, further inputs). Inputs are {name:
        array}."""
        nodes, outputs = [], []
        for i, (kind, x, attributes, *more) in enumerate(cases):
            nodes.append(node(kind, [x, *more], f"y{i}", **attributes))
            outputs.append((f"y{i}", None))
        infos = [(n, [f"{n}_{i}" if dynamic and i < dynamic else s for i, s in enumerate(a.shape)])
                 for n, a in inputs.items()]
        model = make_model(nodes, infos, outputs, initializers, opset=opset)
        for level in supported_levels():
            artifact = self.compile(model, "--kernels=native", f"--target={level}")
            one = self.assert_agrees(model, artifact, inputs, tolerance)
            two = self.run_model(artifact, inputs, "--threads", "2")
            for name, want in one.items():
                np.testing.assert_array_equal(two[name], want, f"{name} with 2 threads")

    def data(self, *shape, offset=0.0):
        return (np.random.default_rng(sum(shape)).standard_normal(shape) + offset).astype(np.float32)

    def test_rows(self):
        lengths = (1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 511, 1023, 2000)
        inputs = {f"x{n}": self.data(3, 5, n) for n in lengths}
        factors = {f"{k}{n}": self.data(n) for n in lengths for k in "sb"}
        cases = []
        for n in lengths:
            x = f"x{n}"
            cases += [("Softmax", x, {"axis": -1}), ("LogSoftmax", x, {"axis": -1}),
                      ("LayerNormalization", x, {"axis": -1}, f"s{n}", f"b{n}"),
                      ("ReduceMean", x, {"axes": [2], "keepdims": 0}), ("ReduceMax", x, {"axes": [2]}),
                      ("ReduceSumSquare", x, {"axes": [1, 2]}), ("ReduceMin", x, {"axes": [0, 1, 2]})]
        self.check(cases, inputs, factors)

    def test_pixels_of_few_channels(self):
        """Elementwise ops with a value per channel: rows of any length, of static and dynamic sizes, in place, after
        images."""
        lengths = (1, 2, 3, 5, 7, 8, 11, 12, 15, 16, 17, 20, 24, 31, 32, 40, 77, 127, 128)
        pixels = {n: 9 if n == 12 else 531 for n in lengths}
        inputs = {f"x{n}": self.data(2, pixels[n], n) for n in lengths}
        inputs |= {f"c{n}": self.data(2, 1, n) for n in lengths} | {f"d{n}": self.data(n) for n in lengths}
        nodes = [n for i in lengths for n in (
            node("Mul", [f"x{i}", f"c{i}"], f"y{i}"), node("Greater", [f"x{i}", f"d{i}"], f"more{i}"),
            node("Where", [f"more{i}", f"y{i}", f"d{i}"], f"z{i}"))]
        for dynamic in (False, True):
            sizes = {"x": ["n", "{}p", "c{}"], "c": ["n", 1, "c{}"], "d": ["c{}"]}
            infos = [(name, [str(d).format(name[1:]) if isinstance(d, str) else d for d in sizes[name[0]]]
                      if dynamic else array.shape) for name, array in inputs.items()]
            model = make_model(nodes, infos, [(f"{k}{i}", None) for i in lengths for k in "yz"])
            for level in supported_levels():
                artifact = self.compile(model, f"--target={level}")
                one = self.assert_agrees(model, artifact, inputs, TOLERANCE)
                two = self.run_model(artifact, inputs, "--threads", "2")
                for name, want in one.items():
                    np.testing.assert_array_equal(two[name], want, f"{name} with 2 threads")

    def test_without_convolutions(self):
        """Models that only pool or normalize, with long and short rows."""
        inputs = {"long": self.data(2, 6, 9, 45), "short": self.data(2, 6, 45, 9)}
        factors = {"s": self.data(6), "b": self.data(6), "v": np.abs(self.data(6)) + 0.5}
        cases = [case for x in inputs for case in (
            ("MaxPool", x, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ("AveragePool", x, {"kernel_shape": [3, 2], "strides": [1, 2]}),
            ("InstanceNormalization", x, {}, "s", "b"),
            ("BatchNormalization", x, {}, "s", "b", "b", "v"), ("LRN", x, {"size": 3}))]
        for dynamic in (False, 4):
            self.check(cases, inputs, factors, dynamic)

    def test_rows_dynamic(self):
        lengths = (1, 7, 16, 65, 130, 1023)
        inputs = {f"x{n}": self.data(2, 4, n) for n in lengths}
        cases = [(kind, f"x{n}", {"axis": -1}) for n in lengths for kind in ("Softmax", "LogSoftmax")]
        cases += [("ReduceMean", f"x{n}", {"axes": [2]}) for n in lengths]
        self.check(cases, inputs, dynamic=3)

    def test_columns(self):
        inputs, cases = {}, []
        for i, (channels, size) in enumerate(itertools.product((1, 3, 8, 16, 17, 33, 64, 70), (1, 5, 12))):
            inputs[f"x{i}"] = self.data(2, size, size + 3, channels)
            cases += [("ReduceMean", f"x{i}", {"axes": [1, 2], "keepdims": i % 2}),
                      ("ReduceMax", f"x{i}", {"axes": [1, 2]})]
        self.check(cases, inputs)

    def test_one_open_column(self):
        """A single column is computed as a row, if its elements are contiguous."""
        shapes = [(n, 1) for n in (1, 7, 8, 16, 17, 130, 1000)] + [(3, n, 1) for n in (1, 9, 33)] + [(2, 50, 2), (4, 20, 70)]
        inputs = {f"x{i}": self.data(*shape) for i, shape in enumerate(shapes)}
        cases = [case for i, shape in enumerate(shapes) for axis in range(len(shape) - 1)
                 for case in [("Softmax", f"x{i}", {"axis": axis}), ("LogSoftmax", f"x{i}", {"axis": axis})] +
                 [(f"Reduce{kind}", f"x{i}", {"axes": [axis]}) for kind in ("Mean", "Max", "SumSquare")]]
        self.check(cases, inputs, dynamic=3)
        factors = [node("Softmax", ["x"], "s", axis=1), node("Mul", ["s", "f"], "y"), node("Relu", ["s"], "r")]
        model = make_model(factors, [("x", ["a", "b", "c"]), ("f", ["c"])], [("y", None), ("r", None)])
        parts = [node("Slice", ["x", "start", "end", "axes"], "z"), node("Softmax", ["z"], "s", axis=1),
                 node("ReduceMax", ["z"], "m", axes=[1])]
        apart = make_model(parts, [("x", ["a", "b", "c"]), ("end", [1], helper.TensorProto.INT64)],
                           [("s", None), ("m", None)], {"start": np.array([0]), "axes": np.array([2])})
        artifact, other = self.compile(model, name="factors"), self.compile(apart, name="apart")
        for shape in ((2, 30, 1), (2, 30, 3), (1, 5, 1)):
            x = self.data(*shape)
            self.assert_agrees(model, artifact, {"x": x, "f": self.data(shape[2])}, TOLERANCE)
            self.assert_agrees(apart, other, {"x": x, "end": np.array([1])}, TOLERANCE)

    def test_group_norm(self):
        inputs, factors, cases = {}, {}, []
        for i, channels in enumerate((1, 3, 8, 17, 64, 70, 130)):
            inputs[f"x{i}"] = self.data(2, channels, 5, 7)
            factors.update({f"s{i}": self.data(channels), f"b{i}": self.data(channels)})
            cases.append(("InstanceNormalization", f"x{i}", {}, f"s{i}", f"b{i}"))
        self.check(cases, inputs, factors)
        inputs, factors, cases = {}, {}, []
        for i, (channels, groups) in enumerate(((6, 2), (12, 3), (64, 4), (70, 7), (96, 1), (320, 2), (96, 32))):
            inputs[f"x{i}"] = self.data(2, channels, 4, 3, offset=5)
            factors.update({f"s{i}": self.data(channels), f"b{i}": self.data(channels)})
            cases.append(("GroupNormalization", f"x{i}", {"num_groups": groups}, f"s{i}", f"b{i}"))
        self.check(cases, inputs, factors, opset=21, tolerance=1e-5)

    def test_pool(self):
        rng = np.random.default_rng(7)
        inputs, cases = {}, []
        for i in range(60):
            kernel = [int(k) for k in rng.integers(1, 6, 2)]
            size = [int(s) for s in rng.integers(6, 30, 2)]
            channels = int(rng.integers(1, 71))
            pads = [int(rng.integers(0, kernel[d % 2])) for d in range(4)]
            attributes = {"kernel_shape": kernel, "pads": pads, "strides": [int(s) for s in rng.integers(1, 4, 2)]}
            inputs[f"x{i}"] = self.data(1 + i % 2, channels, *size)
            if i % 3 == 0:
                attributes["ceil_mode"] = i % 2
                cases.append(("MaxPool", f"x{i}", attributes))
            else:
                cases.append(("AveragePool", f"x{i}", {**attributes, "count_include_pad": i % 3 - 1}))
        self.check(cases[:30], {k: inputs[k] for _, k, _ in cases[:30]})
        self.check(cases[30:], {k: inputs[k] for _, k, _ in cases[30:]}, dynamic=1)

    def test_pool_dilated_and_other_ranks(self):
        inputs = {"a": self.data(2, 19, 40), "b": self.data(1, 20, 9, 8, 7), "c": self.data(1, 5, 20, 20)}
        self.check([("MaxPool", "a", {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
                    ("AveragePool", "a", {"kernel_shape": [4], "pads": [1, 2]}),
                    ("MaxPool", "b", {"kernel_shape": [3, 2, 3], "pads": [1, 0, 1, 0, 1, 1]}),
                    ("AveragePool", "b", {"kernel_shape": [2, 3, 2], "pads": [0, 1, 1, 1, 1, 0]}),
                    ("MaxPool", "c", {"kernel_shape": [3, 3], "dilations": [2, 3], "pads": [2, 2, 1, 2]})], inputs)

    def test_long_sums(self):
        """The relative error is at most 1e-6 over 100,000 elements of like sign, against sums in double precision."""
        n = 100_000
        inputs = {"tenth": np.full((1, n), 0.1, np.float32),
                  "positive": np.random.default_rng(1).random((1, n), np.float32),
                  "image": np.random.default_rng(2).random((1, 250, 400, 5), np.float32)}
        cases = [("ReduceSum", "tenth", 1), ("ReduceSum", "positive", 1), ("ReduceMean", "image", (1, 2)),
                 ("ReduceSumSquare", "positive", 1)]
        nodes = [node(kind, [x] + ([f"a{i}"] if kind == "ReduceSum" else []), f"y{i}", keepdims=0,
                      **({} if kind == "ReduceSum" else {"axes": list(np.atleast_1d(axis).tolist())}))
                 for i, (kind, x, axis) in enumerate(cases)]
        axes = {f"a{i}": np.array([axis]) for i, (kind, _, axis) in enumerate(cases) if kind == "ReduceSum"}
        model = make_model(nodes, [(k, v.shape) for k, v in inputs.items()],
                           [(f"y{i}", None) for i in range(len(cases))], axes)
        for level in supported_levels():
            got = self.run_model(self.compile(model, "--kernels=native", f"--target={level}"), inputs)
            for i, (kind, x, axis) in enumerate(cases):
                exact = inputs[x].astype(np.float64)
                exact = {"ReduceSum": exact.sum, "ReduceMean": exact.mean,
                         "ReduceSumSquare": np.square(exact).sum}[kind](axis=axis)
                np.testing.assert_allclose(got[f"y{i}"], exact, rtol=1e-6, atol=0, err_msg=f"{kind} {x} {level}")

    def test_slices_with_steps(self):
        """A kernel reads contiguous elements; strided ones are copied."""
        slices = {"start": np.array([0, 1]), "end": np.array([3, 40]), "axes": np.array([0, 1]),
                  "steps": np.array([1, 2])}
        model = make_model([helper.make_node("Slice", ["x", *slices], ["z"]), node("Softmax", ["z"], "y", axis=-1),
                            helper.make_node("MatMul", ["z", "w"], ["p"])],
                           [("x", [3, 40])], [("y", None), ("p", None)], {**slices, "w": self.data(20, 9)})
        self.assert_agrees(model, self.compile(model, "--kernels=native"), {"x": self.data(3, 40)}, TOLERANCE)

    def test_rows_of_slices_with_steps(self):
        """Tests rows with a further dimension of size 1. A strided row must not be taken for a contiguous one."""
        for start, step in ((5, 2), (0, 3), (1, 5)):
            slices = {"start": np.array([start]), "end": np.array([40]), "axes": np.array([1]),
                      "steps": np.array([step])}
            model = make_model([helper.make_node("Slice", ["x", *slices], ["z"])] +
                               [node(f"Reduce{kind}", ["z"], kind, axes=[1], keepdims=0)
                                for kind in ("Min", "Max", "Mean", "L2")],
                               [("x", [8, 40])], [(kind, None) for kind in ("Min", "Max", "Mean", "L2")], slices)
            self.assert_agrees(model, self.compile(model, "--kernels=native"), {"x": self.data(8, 40)}, TOLERANCE)

    def test_wide_softmax(self):
        """Probabilities over many classes sum to 1."""
        x = self.data(3, 18_710)
        model = make_model([node("Softmax", ["x"], "y", axis=-1)], [("x", x.shape)], [("y", x.shape)])
        y = self.run_model(self.compile(model, "--kernels=native"), {"x": x})["y"].astype(np.float64)
        exact = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
        np.testing.assert_allclose(y, exact / exact.sum(-1, keepdims=True), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
