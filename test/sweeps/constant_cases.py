"""Operators with constants that are positions, axes, sizes, counts or steps: at the limits of valid values, and just
beyond.

ONNX's specification defines the valid values. `constants.py --judge` compares them with other implementations.
"""
import collections
import dataclasses

import numpy as np
from onnx import TensorProto

F, I64, I32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
I64_MAX, I64_MIN, I32_MAX, I32_MIN = 2**63 - 1, -2**63, 2**31 - 1, -2**31


@dataclasses.dataclass
class Case:
    """A model of one node."""
    name: str
    op: str
    data: dict  # {input: (shape, element type)}: inputs of the run
    constants: dict  # {input: array}
    order: list  # names of the inputs; "" is absent
    attributes: dict
    words: tuple = ()  # words that a refusal must contain; none: the model is valid
    outputs: int = 1
    opset: int = 18

    @property
    def valid(self):
        return not self.words


class Family:
    """Cases of one operator."""
    numbers = collections.Counter()

    def __init__(self, op, order, data, opset=18, outputs=1, **attributes):
        self.op, self.order, self.data, self.opset, self.outputs = op, order, data, opset, outputs
        self.attributes, self.cases = attributes, []

    def case(self, label, constants, words, attributes):
        constants = {n: np.asarray(v, None if isinstance(v, np.ndarray) else
                                   np.float32 if isinstance(np.ravel(v)[:1].tolist()[:1] and
                                                            np.ravel(v)[0].item(), float) else np.int64)
                     for n, v in constants.items()}
        order = [n if n in self.data or n in constants else "" for n in self.order]
        while order and not order[-1]:
            order.pop()
        Family.numbers[self.op] += 1
        self.cases.append(Case(f"{self.op}-{Family.numbers[self.op]}-{label}", self.op, self.data, constants, order,
                               {**self.attributes, **(attributes or {})}, words, self.outputs, self.opset))

    def good(self, label, attributes=None, **constants):
        self.case(label, constants, (), attributes)

    def bad(self, label, words, attributes=None, **constants):
        self.case(label, constants, tuple(map(str, words)), attributes)


def put(shape, value, place, dtype=np.int64):
    array = np.zeros(shape, dtype)
    array[place] = value
    return array


def beyond(size, dtype=np.int64):
    limits = np.iinfo(dtype)
    return [-size - 1, size, limits.min, limits.max, 99, -99]


def beyond_attribute(size):
    """Returns invalid axes. The importer limits attributes to 32 bits."""
    return [-size - 1, size, -I32_MAX, I32_MAX, 99, -99]


def at(place):
    return f"[{', '.join(map(str, place))}]"


def indices():
    """Positions in dimensions."""
    for axis, size in ((0, 3), (1, 4), (-1, 4)):
        family = Family("Gather", ["data", "indices"], {"data": ([3, 4], F)}, axis=axis)
        for dtype in (np.int64, np.int32):
            for value in (-size, size - 1):
                family.good(f"{value}", indices=put([2, 2], value, (1, 0), dtype))
            for value in beyond(size, dtype):
                family.bad(f"{value}", ("'indices'", value, at((1, 0)), f"[{-size}, {size - 1}]"),
                           indices=put([2, 2], value, (1, 0), dtype))
        family.good("scalar", indices=np.array(size - 1))
        family.bad("scalar", ("'indices'", size, f"[{-size}, {size - 1}]"), indices=np.array(size))
        family.good("empty", indices=np.zeros([0], np.int64))
        family.good("many", indices=put([6000], size - 1, 5999))
        family.bad("many", ("'indices'", size, at((5999,)), f"[{-size}, {size - 1}]"), indices=put([6000], size, 5999))
        yield family

        family = Family("GatherElements", ["data", "indices"], {"data": ([3, 4], F)}, axis=axis)
        shape = [2, 4] if axis == 0 else [3, 2]
        for value in (-size, size - 1):
            family.good(f"{value}", indices=put(shape, value, (1, 1)))
        for value in beyond(size):
            family.bad(f"{value}", ("'indices'", value, at((1, 1)), f"[{-size}, {size - 1}]"),
                       indices=put(shape, value, (1, 1)))
        yield family

        for op in ("ScatterElements", "Scatter"):
            data = {"data": ([3, 4], F), "updates": (shape, F)}
            family = Family(op, ["data", "indices", "updates"], data, 18 if op == "ScatterElements" else 9, axis=axis)
            for value in (-size, size - 1):
                family.good(f"{value}", indices=put(shape, value, (1, 1)))
            for value in beyond(size):
                family.bad(f"{value}", ("'indices'", value, at((1, 1)), f"[{-size}, {size - 1}]"),
                           indices=put(shape, value, (1, 1)))
            for reduction in ("add", "mul", "max", "min") if op == "ScatterElements" else ():
                family.bad(f"{reduction}", ("'indices'", size, at((0, 0)), f"[{-size}, {size - 1}]"),
                           {"reduction": reduction}, indices=put(shape, size, (0, 0)))
            yield family

    for batch, shape, sizes in ((0, [2, 2], (3, 4)), (0, [2, 1], (3,)), (1, [3, 2], (4, 5)), (1, [3, 2, 1], (4,)),
                                (0, [3], (3, 4, 5)), (2, [3, 4, 1], (5,))):
        family = Family("GatherND", ["data", "indices"], {"data": ([3, 4, 5], F)}, batch_dims=batch)
        for i, size in enumerate(sizes):
            place = tuple([1] * (len(shape) - 1)) + (i,)
            for value in (-size, size - 1):
                family.good(f"{value}", indices=put(shape, value, place))
            for value in beyond(size):
                family.bad(f"{value}", ("'indices'", value, at(place), f"[{-size}, {size - 1}]"),
                           indices=put(shape, value, place))
        family.bad("tuples", ("rank",), indices=np.zeros([2, 4], np.int64))
        yield family

    for shape, updates, sizes in (([2, 2], [2, 5], (3, 4)), ([2, 1], [2, 4, 5], (3,)), ([3], [], (3, 4, 5))):
        family = Family("ScatterND", ["data", "indices", "updates"],
                        {"data": ([3, 4, 5], F), "updates": (updates, F)})
        for i, size in enumerate(sizes):
            place = tuple([1] * (len(shape) - 1)) + (i,)
            for value in (-size, size - 1):
                family.good(f"{value}", indices=put(shape, value, place))
            for value in beyond(size):
                for reduction in ("none", "add"):
                    family.bad(f"{value}", ("'indices'", value, at(place), f"[{-size}, {size - 1}]"),
                               {"reduction": reduction}, indices=put(shape, value, place))
        yield family

    # Windows of 2 x 2: there are 16 positions in all channels together.
    family = Family("MaxUnpool", ["X", "I"], {"X": ([1, 1, 2, 2], F)}, kernel_shape=[2, 2], strides=[2, 2])
    for value in (0, 15):
        family.good(f"{value}", I=put([1, 1, 2, 2], value, (0, 0, 1, 0)))
    for value in (16, 99, I64_MAX, I64_MIN, -17):
        family.bad(f"{value}", ("'I'", value, at((0, 0, 1, 0)), "[0, 15]"),
                   I=put([1, 1, 2, 2], value, (0, 0, 1, 0)))
    yield family

    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        names = ["input", "target"] if op[0] == "N" else ["scores", "labels"]
        for more, attributes in (([], {}), ([], {"ignore_index": 7}), ([], {"reduction": "none"}), (["weight"], {})):
            data = {names[0]: ([2, 5], F)} | ({m if op[0] == "N" else "weights": ([5], F) for m in more})
            family = Family(op, names + [m if op[0] == "N" else "weights" for m in more], data, **attributes)
            for value in (0, 4) + ((7,) if "ignore_index" in attributes else ()):
                family.good(f"{value}", **{names[1]: put([2], value, 1)})
            for value in (5, 99, I64_MAX, I64_MIN, -6, -1):
                family.bad(f"{value}", (f"'{names[1]}'", value, "[1]", "[0, 4]"), **{names[1]: put([2], value, 1)})
            yield family

    data = {"X": ([1, 3, 2, 4], F), "cos_cache": ([8, 2], F), "sin_cache": ([8, 2], F)}
    family = Family("RotaryEmbedding", [*data, "position_ids"], data, 23)
    for value in (0, 7):
        family.good(f"{value}", position_ids=put([1, 2], value, (0, 1)))
    for value in (8, -1, -8, 99, I64_MAX, I64_MIN):
        family.bad(f"{value}", ("'position_ids'", value, at((0, 1)), "[0, 7]"),
                   position_ids=put([1, 2], value, (0, 1)))
    yield family

    family = Family("ReverseSequence", ["input", "sequence_lens"], {"input": ([4, 3], F)}, time_axis=0, batch_axis=1)
    for value in (0, 1, 4):
        family.good(f"{value}", sequence_lens=put([3], value, 2))
    for value in (5, -1, 99, I64_MAX, I64_MIN):
        family.bad(f"{value}", ("'sequence_lens'", value, "[2]", "[0, 4]"), sequence_lens=put([3], value, 2))
    yield family

    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        data = {"X": ([4, 2, 3], F), "W": ([1, gates * 5, 3], F), "R": ([1, gates * 5, 5], F)}
        family = Family(op, ["X", "W", "R", "B", "sequence_lens"], data, 14, hidden_size=5)
        for value in (1, 4):
            family.good(f"{value}", sequence_lens=put([2], value, 1, np.int32))
        for value in (5, -1, 99, I32_MAX, I32_MIN):
            family.bad(f"{value}", ("'sequence_lens'", value, "[1]", "[0, 4]"),
                       sequence_lens=put([2], value, 1, np.int32))
        yield family

    family = Family("Compress", ["input", "condition"], {"input": ([3, 4], F)}, axis=1)
    family.good("as-long", condition=np.ones(4, bool))
    family.good("shorter", condition=np.ones(3, bool))
    family.bad("longer", ("'condition'", 5, 4), condition=np.ones(5, bool))
    yield family
    family = Family("Compress", ["input", "condition"], {"input": ([3, 4], F)})
    family.good("as-long", condition=np.ones(12, bool))
    family.bad("longer", ("'condition'", 13, 12), condition=np.ones(13, bool))
    yield family


def axes():
    """Indices of dimensions."""
    for op in ("CumSum",):
        family = Family(op, ["x", "axis"], {"x": ([3, 4], F)}, 14)
        for value in (-2, 1):
            family.good(f"{value}", axis=np.array(value))
            family.good(f"{value}", axis=np.array(value, np.int32))
        for value in beyond(2):
            family.bad(f"{value}", ("'axis'", value, "[-2, 1]"), axis=np.array(value))
        yield family

    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
               "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
        family = Family(op, ["data", "axes"], {"data": ([2, 3, 4], F)})
        for value in ([-3], [2], [0, 2], []):
            family.good(f"{value}", axes=np.array(value, np.int64))
        for value in beyond(3):
            family.bad(f"{value}", ("'axes'", value, "[1]", "[-3, 2]"), axes=[0, value])
        family.bad("twice", ("'axes'", "twice", -3), axes=[0, -3])
        yield family

    family = Family("Squeeze", ["data", "axes"], {"data": ([1, 3, 1], F)}, 13)
    for value in ([0], [-1], [0, 2], [-3, -1]):
        family.good(f"{value}", axes=value)
    for value in beyond(3):
        family.bad(f"{value}", ("'axes'", value, "[1]", "[-3, 2]"), axes=[0, value])
    family.bad("twice", ("'axes'", "twice", -3), axes=[0, -3])
    family.bad("not-one", ("'axes'", "dimension 1", 3), axes=[1])
    yield family

    family = Family("Unsqueeze", ["data", "axes"], {"data": ([3, 4], F)}, 13)
    for value in ([0], [-1], [2], [0, 3], [-4, -1], [3, 0]):
        family.good(f"{value}", axes=value)
    for value in beyond(4):
        family.bad(f"{value}", ("'axes'", value, "[1]", "[-4, 3]"), axes=[0, value])
    family.bad("twice", ("'axes'", "twice", -4), axes=[0, -4])
    yield family

    family = Family("DFT", ["input", "dft_length", "axis"], {"input": ([1, 6, 4, 2], F)}, 20)
    for value in (1, 2, -2, -4):
        family.good(f"{value}", axis=np.array(value))
    for value in [3, -1] + beyond(4):
        family.bad(f"{value}", ("'axis'", value), axis=np.array(value))
    for value in (1, 4, 9):
        family.good(f"{value}", dft_length=np.array(value))
    for value in (0, -1, I64_MIN):
        family.bad(f"{value}", ("'dft_length'", value, "at least 1"), dft_length=np.array(value))
    yield family


def windows():
    """Slices, splits and pads."""
    family = Family("Slice", ["data", "starts", "ends", "axes", "steps"], {"data": ([3, 4], F)}, 13)
    for value in (0, 1, 99, -99, I64_MAX, I64_MIN):
        family.good(f"start{value}", starts=[0, value], ends=[3, 4])
        family.good(f"end{value}", starts=[0, 0], ends=[3, value])
    for value in (1, -1, 99, I64_MAX, I64_MIN, I64_MIN + 1):
        family.good(f"step{value}", starts=[0, 0], ends=[3, 4], axes=[0, 1], steps=[1, value])
    family.bad("step", ("'steps'", 0, "[1]", "other than 0"), starts=[0, 0], ends=[3, 4], axes=[0, 1], steps=[1, 0])
    for value in (-2, 1):
        family.good(f"axis{value}", starts=[0], ends=[3], axes=[value])
    for value in beyond(2):
        family.bad(f"axis{value}", ("'axes'", value, "[1]", "[-2, 1]"), starts=[0, 0], ends=[3, 4], axes=[0, value])
    family.bad("lengths", ("'ends'", 1, 2), starts=[0, 0], ends=[3])
    family.bad("lengths", ("'axes'", 1, 2), starts=[0, 0], ends=[3, 4], axes=[0])
    family.bad("lengths", ("'steps'", 3, 2), starts=[0, 0], ends=[3, 4], axes=[0, 1], steps=[1, 1, 1])
    family.bad("too-many", ("'starts'", 3, 2), starts=[0, 0, 0], ends=[1, 1, 1])
    yield family

    family = Family("Split", ["input", "split"], {"input": ([6, 4], F)}, 13, outputs=2)
    for value in ([6, 0], [0, 6], [2, 4]):
        family.good(f"{value}", split=value)
    for value in ([7, -1], [-1, 7]):
        i = value.index(-1)
        family.bad(f"{value}", ("'split'", -1, f"[{i}]", "at least 0"), split=value)
    for value in ([3, 4], [3, 2], [0, 0]):
        family.bad(f"{value}", ("'split'", sum(value), 6), split=value)
    family.bad("wraps", ("'split'",), split=[I64_MAX, 7])
    family.bad("wraps", ("'split'",), split=[2**62, 2**62])
    family.bad("lengths", ("'split'", 3, 2), split=[2, 2, 2])
    family.bad("lengths", ("'split'", 1, 2), split=[6])
    yield family

    for mode in ("constant", "edge", "reflect", "wrap"):
        family = Family("Pad", ["data", "pads", "constant_value", "axes"], {"data": ([3, 4], F)}, 19, mode=mode)
        family.good("none", pads=[0, 0, 0, 0])
        family.good("some", pads=[2, 3, 1, 2])
        family.good("cut", pads=[-1, 0, -1, 0])
        family.good("axes", pads=[1, 1], axes=[-1])
        family.bad("cut", ("'pads'", "dimension 0", 3), pads=[-2, 0, -2, 0])
        if mode != "constant":
            family.bad("cut", ("'pads'", -4, "[0]"), pads=[-4, 0, 0, 0])
        family.bad("cut", ("'pads'",), pads=[I64_MIN, 0, 0, 0])
        family.bad("huge", ("'pads'", I64_MAX, "[1]"), pads=[0, I64_MAX, 0, 0])
        family.bad("lengths", ("'pads'", 3, 4), pads=[0, 0, 0])
        family.bad("lengths", ("'pads'", 4, 2), pads=[0, 0, 0, 0], axes=[0])
        for value in beyond(2):
            family.bad(f"axis{value}", ("'axes'", value, "[-2, 1]"), pads=[1, 1], axes=[value])
        if mode == "reflect":
            family.bad("far", ("'pads'", 3, "[0]"), pads=[3, 0, 0, 0])
            family.bad("far", ("'pads'", 4, "[3]"), pads=[0, 0, 0, 4])
        yield family
    for mode in ("edge", "reflect", "wrap"):
        family = Family("Pad", ["data", "pads"], {"data": ([0, 4], F)}, 19, mode=mode)
        family.good("none", pads=[0, 1, 0, 1])
        family.bad("empty", ("'pads'", 1, "[0]"), pads=[1, 0, 0, 0])
        yield family

    family = Family("CenterCropPad", ["input_data", "shape"], {"input_data": ([3, 4], F)})
    for value in ([0, 4], [1, 9], [3, 4]):
        family.good(f"{value}", shape=value)
    for value in (-1, I64_MIN, I64_MAX):
        family.bad(f"{value}", ("'shape'", value, "[1]"), shape=[3, value])
    family.bad("lengths", ("'shape'", 3, 2), shape=[3, 4, 5])
    yield family


def counts():
    """Numbers of elements or outputs."""
    for axis, size in ((0, 3), (1, 4), (-1, 4)):
        family = Family("TopK", ["X", "K"], {"X": ([3, 4], F)}, 11, outputs=2, axis=axis)
        for value in (0, 1, size):
            family.good(f"{value}", K=[value])
        for value in (-1, size + 1, I64_MAX, I64_MIN):
            family.bad(f"{value}", ("'K'", value, f"[0, {size}]"), K=[value])
        yield family

    family = Family("OneHot", ["indices", "depth", "values"], {"indices": ([2, 3], I64), "values": ([2], F)}, 11)
    for value in (1, 9):
        family.good(f"{value}", depth=np.array(value))
        family.good(f"{value}", depth=np.array([value], np.float32))
    for value in (-1, I64_MIN):
        family.bad(f"{value}", ("'depth'", value), depth=np.array(value))
    yield family

    for op, name, shape in (("Tile", "repeats", [3, 4]),):
        family = Family(op, ["input", name], {"input": (shape, F)}, 13)
        for value in ([1, 1], [0, 2], [3, 0]):
            family.good(f"{value}", **{name: value})
        for value in (-1, I64_MIN):
            family.bad(f"{value}", (f"'{name}'", value, "[1]", "at least 0"), **{name: [1, value]})
        family.bad("lengths", (f"'{name}'", 1, 2), **{name: [1]})
        family.bad("lengths", (f"'{name}'", 3, 2), **{name: [1, 1, 1]})
        family.bad("huge", (f"'{name}'",), **{name: [I64_MAX, 2]})
        yield family

    for kind, values in ((np.int64, (1, -1, 5)), (np.int32, (1, -1, 5)), (np.float32, (0.5, -1.0))):
        family = Family("Range", ["start", "limit", "delta"], {}, 11)
        zero, seven = np.array(0, kind), np.array(7, kind)
        for value in values:
            family.good(f"{value}", start=zero, limit=seven, delta=np.array(value, kind))
        family.bad("delta", ("'delta'", 0, "other than 0"), start=zero, limit=seven, delta=np.array(0, kind))
        yield family

    family = Family("STFT", ["signal", "frame_step", "window", "frame_length"], {"signal": ([1, 16, 1], F)}, 17)
    for step, frame in ((1, 1), (16, 16), (4, 8), (99, 16)):
        family.good(f"{step}-{frame}", frame_step=np.array(step), frame_length=np.array(frame))
    for value in (0, -1, I64_MIN):
        family.bad(f"step{value}", ("'frame_step'", value, "at least 1"), frame_step=np.array(value),
                   frame_length=np.array(8))
        family.bad(f"frame{value}", ("'frame_length'", value, "[1, 16]"), frame_step=np.array(4),
                   frame_length=np.array(value))
    family.bad("frame", ("'frame_length'", 17, "[1, 16]"), frame_step=np.array(4), frame_length=np.array(17))
    yield family

    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        family = Family(op, ["size"], {}, 17)
        for value in (0, 1, 9):
            family.good(f"{value}", size=np.array(value))
        for value in (-1, I64_MIN):
            family.bad(f"{value}", ("'size'", value, "at least 0"), size=np.array(value))
        yield family


def sizes():
    """Sizes of results."""
    family = Family("Reshape", ["data", "shape"], {"data": ([2, 3, 4], F)}, 14)
    for value in ([24], [-1], [0, -1], [2, 3, 4, 1], [4, 6], [0, 0, 0], [-1, 4, 3], [2, 0, -1]):
        family.good(f"{value}", shape=value)
    for value in ([23], [25], [0], [2, 3], [], [1], [2**33, 2**31], [2**32, 2**32, 3]):
        family.bad(f"{value}", ("'shape'", 24), shape=np.array(value, np.int64))
    # Sizes for 24 elements, or for 8 if a 0 keeps a dimension of 3.
    for value, left in (([5, -1], 24), ([7, 0, -1], 8)):
        family.bad(f"{value}", ("'shape'", left), shape=value)
    for value, i in (([-2, 12], 0), ([24, -2], 1), ([I64_MIN, 24], 0)):
        family.bad(f"{value}", ("'shape'", value[i], f"[{i}]"), shape=value)
    family.bad("two", ("'shape'", -1, "[2]"), shape=[-1, 2, -1])
    family.bad("copies", ("'shape'", 0, "[3]"), shape=[2, 3, 4, 0])
    family.bad("zero", ("'shape'", 24), {"allowzero": 1}, shape=[0, 3, 4])
    family.bad("zero-rest", ("'shape'",), {"allowzero": 1}, shape=[0, -1])
    yield family
    family = Family("Reshape", ["data", "shape"], {"data": ([0, 3], F)}, 14)
    family.good("copy", shape=[0, 3])
    family.good("zero", {"allowzero": 1}, shape=[3, 0])
    family.bad("one", ("'shape'", 0, 1), shape=[1])
    yield family

    family = Family("Expand", ["input", "shape"], {"input": ([3, 1], F)}, 13)
    for value in ([3, 4], [1], [2, 3, 1], [3, 0], [1, 1], []):
        family.good(f"{value}", shape=np.array(value, np.int64))
    for value, i in (([2, 4], 0), ([0, 4], 0), ([5, 2, 4], 1), ([4, 4], 0)):
        family.bad(f"{value}", ("'shape'", value[i], f"[{i}]", 3), shape=value)
    for value in (-2, I64_MIN):
        family.bad(f"{value}", ("'shape'", value, "[1]"), shape=[3, value])
    yield family

    family = Family("ConstantOfShape", ["input"], {}, 20)
    for value in ([], [0], [2, 3], [2, 0]):
        family.good(f"{value}", input=np.array(value, np.int64))
    for value in (-1, I64_MIN):
        family.bad(f"{value}", ("'input'", value, "[1]", "at least 0"), input=[2, value])
    family.bad("huge", ("'input'",), input=[2**40, 2**40])
    yield family

    for mode in ("nearest", "linear", "cubic"):
        family = Family("Resize", ["X", "roi", "scales", "sizes"], {"X": ([1, 1, 3, 4], F)}, 18, mode=mode)
        family.good("sizes", sizes=[1, 1, 6, 2])
        for value in (0, -1, I64_MIN, I64_MAX):
            family.bad(f"sizes{value}", ("'sizes'", value, "[2]"), sizes=[1, 1, value, 4])
        family.bad("lengths", ("'sizes'", 3, 4), sizes=[1, 1, 3])
        family.good("scales", scales=[1.0, 1.0, 2.0, 0.5])
        for value in (0.0, -1.0, float("inf"), float("nan")):
            family.bad(f"scales{value}", ("'scales'", "[3]", "positive"), scales=[1.0, 1.0, 1.0, value])
        family.bad("scales", ("'scales'",), scales=[1.0, 1.0, 1.0, 1e30])
        family.bad("lengths", ("'scales'", 3, 4), scales=[1.0, 1.0, 3.0])
        yield family

    for mode in ("nearest", "linear"):
        family = Family("Upsample", ["X", "scales"], {"X": ([1, 1, 3, 4], F)}, 9, mode=mode)
        family.good("some", scales=[1.0, 1.0, 2.0, 1.5])
        for value in (0.0, -1.0, float("inf"), float("nan")):
            family.bad(f"scales{value}", ("'scales'", "[3]", "positive"), scales=[1.0, 1.0, 1.0, value])
        family.bad("lengths", ("'scales'", 5, 4), scales=[1.0] * 5)
        yield family

    family = Family("MaxUnpool", ["X", "I", "output_shape"],
                    {"X": ([1, 1, 2, 2], F), "I": ([1, 1, 2, 2], I64)}, kernel_shape=[2, 2], strides=[2, 2])
    family.good("larger", output_shape=[1, 1, 5, 5])
    family.good("as-large", output_shape=[1, 1, 4, 4])
    for value in (-1, I64_MIN, I64_MAX):
        family.bad(f"{value}", ("'output_shape'", value, "[2]"), output_shape=[1, 1, value, 4])
    family.bad("lengths", ("'output_shape'", 3, 4), output_shape=[1, 1, 4])
    yield family

    for size, theta in (([2, 3, 4, 5], [2, 2, 3]), ([2, 3, 4, 5, 6], [2, 3, 4])):
        family = Family("AffineGrid", ["theta", "size"], {"theta": (theta, F)}, 20)
        family.good("some", size=size)
        for i in range(2, len(size)):
            for value in (-1, I64_MIN):
                family.bad(f"{value}", ("",), size=size[:i] + [value] + size[i + 1:])
        family.bad("batch", ("",), size=[3] + size[1:])
        yield family


def places_in_attributes():
    """Attributes that later operator sets turned into inputs."""
    for op, order, data, attributes, size in (
            ("Gather", ["data", "indices"], {"data": ([3, 4], F), "indices": ([2], I64)}, {}, 2),
            ("GatherElements", ["data", "indices"], {"data": ([3, 4], F), "indices": ([3, 4], I64)}, {}, 2),
            ("ScatterElements", ["data", "indices", "updates"],
             {"data": ([3, 4], F), "indices": ([3, 4], I64), "updates": ([3, 4], F)}, {}, 2),
            ("ArgMax", ["data"], {"data": ([3, 4], F)}, {}, 2), ("ArgMin", ["data"], {"data": ([3, 4], F)}, {}, 2),
            ("Concat", ["a", "b"], {"a": ([3, 4], F), "b": ([3, 4], F)}, {}, 2),
            ("Softmax", ["input"], {"input": ([3, 4], F)}, {}, 2),
            ("LogSoftmax", ["input"], {"input": ([3, 4], F)}, {}, 2),
            ("Hardmax", ["input"], {"input": ([3, 4], F)}, {}, 2),
            ("LpNormalization", ["input"], {"input": ([3, 4], F)}, {}, 2),
            ("LayerNormalization", ["X", "Scale"], {"X": ([3, 4], F), "Scale": ([4], F)}, {}, 2),
            ("Split", ["input"], {"input": ([4, 4], F)}, {"num_outputs": 2}, 2),
            ("Compress", ["input", "condition"], {"input": ([3, 4], F), "condition": ([3], BOOL)}, {}, 2),
            ("OneHot", ["indices", "depth", "values"],
             {"indices": ([2, 3], I64), "depth": ([1], I64), "values": ([2], F)}, {}, 3),
            ("TopK", ["X", "K"], {"X": ([3, 4], F), "K": ([1], I64)}, {}, 2)):
        family = Family(op, order, data, outputs=2 if op in ("TopK", "Split") else 1, **attributes)
        good = [-1] if op in ("LayerNormalization", "Compress") else [-size, size - 1]
        for value in good if op != "Compress" else [0]:
            family.good(f"{value}", {"axis": value})
        for value in beyond_attribute(size):
            family.bad(f"{value}", ("axis", value, f"[{-size}, {size - 1}]"), {"axis": value})
        yield family

    family = Family("Transpose", ["data"], {"data": ([2, 3, 4], F)})
    family.good("some", {"perm": [2, 0, 1]})
    for value in ([0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 3]):
        family.bad(f"{value}", ("perm",), {"perm": value})
    yield family


def all_cases():
    for family in (f for source in (indices, axes, windows, counts, sizes, places_in_attributes) for f in source()):
        yield from family.cases
