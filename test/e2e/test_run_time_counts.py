"""Tests counts and sizes that are scalars or short lists of a run, for every operator that has some. A count that the
operator does not allow ends in one line that names the node, at run time and, as a constant, when compiling."""
import os

import numpy as np

from support import Case, TensorProto, helper, make_model, tool

I64, F32 = TensorProto.INT64, TensorProto.FLOAT
LEAST, HUGE = -2**63, 2**62


def scalar(value):
    return np.array(value, np.int64)


class Operator:
    """An operator, its inputs in order, and how the input `count` is made from a number. `good` numbers give a result;
    `bad` ones are refused."""

    def __init__(self, op, inputs, count, good, bad, make=scalar, opset=18, outputs=1, **attributes):
        self.op, self.inputs, self.count, self.good, self.bad = op, inputs, count, good, bad
        self.make, self.opset, self.outputs, self.attributes = make, opset, outputs, attributes

    def model(self, constant=None):
        names = [f"x{i}" if value is not None else "" for i, value in enumerate(self.inputs)]
        node = helper.make_node(self.op, names, [f"y{i}" for i in range(self.outputs)], name="odd", **self.attributes)
        given = list(self.inputs)
        given[self.count] = self.make(self.good[0])
        # A size of 1 stays known, because it may say that numbers are real.
        values = [(n, [f"{n}_{d}" if i != self.count and s != 1 else s for d, s in enumerate(v.shape)],
                   helper.np_dtype_to_tensor_dtype(v.dtype))
                  for i, (n, v) in enumerate(zip(names, given)) if n and (i != self.count or constant is None)]
        outputs = [(f"y{i}", None, 0 if self.op == "SplitToSequence" else I64 if (self.op, i) in
                    (("TopK", 1), ("NonMaxSuppression", 0)) else F32) for i in range(self.outputs)]
        held = {} if constant is None else {names[self.count]: constant}
        return make_model([node], values, outputs, held, opset=self.opset)

    def feeds(self, number):
        given = list(self.inputs)
        given[self.count] = self.make(number)
        return {f"x{i}": v for i, v in enumerate(given) if v is not None}


def floats(*shape):
    return np.random.default_rng(0).random(shape).astype(np.float32)


def first_of(*others):
    return lambda number: np.array([number, *others], np.int64)


COUNT = object()  # the input that a case changes


def operators():
    def case(op, inputs, good, bad, **more):
        place = [i for i, v in enumerate(inputs) if v is COUNT][0]
        return Operator(op, [v if v is not COUNT else scalar(0) for v in inputs], place, good, bad, **more)

    for window in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield case(window, [COUNT], (9, 0, 1), (-1, -5, LEAST))
    signal = floats(1, 16, 1)
    yield case("DFT", [signal, COUNT], (16, 4, 31), (0, -1, LEAST, HUGE), opset=17)
    yield case("DFT", [signal, COUNT, scalar(1)], (16, 4, 31), (0, -1, LEAST, HUGE), opset=20)
    yield case("STFT", [signal, scalar(4), None, COUNT], (8, 1, 16), (0, -1, LEAST, HUGE))
    yield case("STFT", [signal, COUNT, None, scalar(8)], (4, 1, 99), (0, -1, LEAST))
    hertz = [np.float32(20), np.float32(4000)]
    yield case("MelWeightMatrix", [COUNT, scalar(16), scalar(8000), *hertz], (8, 1), (0, -1, LEAST, HUGE))
    yield case("MelWeightMatrix", [scalar(8), COUNT, scalar(8000), *hertz], (16, 1), (0, -1, LEAST, HUGE))
    yield case("MelWeightMatrix", [scalar(8), scalar(16), COUNT, *hertz], (8000,), (0, -1, LEAST))
    yield case("TopK", [floats(3, 5), COUNT], (3, 0, 5), (-1, LEAST, 6, HUGE), make=first_of(), outputs=2)
    yield case("Tile", [floats(2, 3), COUNT], (2, 0, 1), (-1, LEAST, HUGE), make=first_of(2))
    yield case("Expand", [floats(1, 3), COUNT], (4, 0, 1), (-1, LEAST, HUGE), make=first_of(3))
    yield case("ConstantOfShape", [COUNT], (4, 0), (-1, LEAST, HUGE), make=first_of(3))
    yield case("Reshape", [floats(2, 3), COUNT], (3, -1), (-2, LEAST, HUGE, 7), make=first_of(2))
    yield case("CenterCropPad", [floats(2, 3), COUNT], (3, 1, 0), (-1, LEAST, HUGE), make=first_of(3))
    for mode in ("nearest", "linear", "cubic"):
        for antialias in (0, 1):
            yield case("Resize", [floats(4, 6), None, None, COUNT], (8, 2, 1), (0, -1, LEAST, HUGE), make=first_of(3),
                       mode=mode, antialias=antialias)
    yield case("Split", [floats(5, 2), COUNT], (2, 0, 5), (-1, LEAST, 6),
               make=lambda n: np.array([n, 5 - n if 0 <= n <= 5 else 1], np.int64), outputs=2)
    yield case("MaxUnpool", [floats(1, 1, 2, 2), np.arange(4).reshape(1, 1, 2, 2), COUNT], (5, 4), (-1, LEAST, HUGE),
               make=lambda n: np.array([1, 1, n, 4]), kernel_shape=[2, 2], strides=[2, 2])
    yield case("Col2Im", [floats(1, 4, 9), COUNT, np.array([2, 2])], (4,), (-1, 0, LEAST, HUGE), make=first_of(4))
    yield case("Col2Im", [floats(1, 4, 9), np.array([4, 4]), COUNT], (2,), (-1, 0, LEAST, HUGE), make=first_of(2))
    yield case("AffineGrid", [floats(1, 2, 3), COUNT], (4, 1), (-1, LEAST, HUGE),
               make=lambda n: np.array([1, 1, n, 4]), opset=20)
    yield case("OneHot", [np.array([1, -1]), COUNT, np.float32([0, 1])], (3,), (-1, 0, LEAST, HUGE))
    yield case("Pad", [floats(2, 3), COUNT], (2, 0, -1), (-3, LEAST, HUGE), make=first_of(0, 0, 0))
    yield case("Upsample", [floats(2, 3), COUNT], (2, 1), (0, -1, HUGE, np.nan, np.inf),
               make=lambda n: np.float32([n, 1]), opset=9)
    yield case("Slice", [floats(4, 3), np.array([0]), np.array([4]), np.array([0]), COUNT], (2, 1, -1, LEAST, HUGE),
               (0,), make=first_of())


class Counts(Case):
    sanitize = True

    def test_counts_of_a_run(self):
        for at, operator in enumerate(operators()):
            with self.subTest(op=operator.op, at=at):
                self.check_counts(operator, at)

    def check_counts(self, operator, at):
        artifact = self.compile(operator.model(), name=f"m{at}")
        for number in operator.good:
            with self.subTest(op=operator.op, at=at, good=number):
                self.assertTrue(self.run_model(artifact, operator.feeds(number)))
        for number in operator.bad:
            with self.subTest(op=operator.op, at=at, bad=number):
                arguments = []
                for name, array in operator.feeds(number).items():
                    np.save(self.path(f"{name}.npy"), array)
                    arguments += ["--input", f"{name}={self.path(name)}.npy"]
                results = self.path(f"{at}_{number}")
                done = tool("ingot", "run", artifact, "--output-dir", results, *arguments)
                self.assert_one_line(done, "node 'odd'")
                self.assertFalse(os.path.exists(results))

    def test_counts_that_are_constant(self):
        """A constant that no data allow is refused when compiling."""
        for at, operator in enumerate(operators()):
            for number in operator.bad:
                if number < 0 and operator.op != "Pad":
                    with self.subTest(op=operator.op, at=at, number=number):
                        self.assert_refuses(operator.model(operator.make(number)), "node 'odd'")

    def test_shapes_in_attributes(self):
        for op, attributes in (("RandomNormal", {}), ("RandomUniform", {})):
            for shape in ([2, -1], [LEAST, 2], [HUGE, HUGE]):
                with self.subTest(op=op, shape=shape):
                    model = make_model([helper.make_node(op, [], ["y"], name="odd", shape=shape, **attributes)], [],
                                       [("y", None)])
                    self.assert_refuses(model, "node 'odd'")
        for size in (-1, 0):
            model = make_model([helper.make_node("Multinomial", ["x"], ["y"], name="odd", sample_size=size)],
                               [("x", [2, 3])], [("y", None, TensorProto.INT32)])
            with self.subTest(op="Multinomial", size=size):
                self.assert_refuses(model, "node 'odd'")
