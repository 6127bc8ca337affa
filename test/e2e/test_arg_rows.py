"""Tests ArgMax and ArgMin along rows against numpy: rows of one block and of several, fixed and open, with equal elements,
NaN and infinities. The last block of a row overlaps the one before it."""
import numpy as np

from support import Case, TensorProto, helper, make_model

LENGTHS = (1, 2, 17, 100, 2047, 2048, 2049, 4095, 4097, 5000, 6145)


def expected(x, axis, is_max, last):
    """Returns the first or last place of the best element; NaN is the best of all."""
    find = np.argmax if is_max else np.argmin
    if not last:
        return find(x, axis)
    return x.shape[axis] - 1 - find(np.flip(x, axis), axis)


def rows_of(dtype, length, seed):
    """Returns rows with many equal elements. Some have NaN or infinities at the ends of blocks."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, (6, length)).astype(dtype)
    x[1] = 3
    for row, at in ((2, 0), (3, length - 1), (4, min(2048, length - 1)), (5, max(length - 2048, 0))):
        x[row, at] = 9 if row % 2 else 0
    if np.dtype(dtype).kind == "f":
        x[0] = -np.inf
        x[2, length // 2] = x[2, -1] = np.nan
        x[4, length // 3] = -np.inf
        x[5, :] = np.where(x[5] == 0, np.float32(-0.0), x[5])
    return x


class Rows(Case):
    def check(self, dtype, axis, lengths, opens, others=()):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        for length in lengths if not opens else [None]:
            dims = ["n", "k", *others] if opens else [6, length, *others]
            nodes, outputs = [], []
            for op in ("ArgMax", "ArgMin"):
                for last in (0, 1):
                    outputs.append((f"{op}{last}", None, TensorProto.INT64))
                    nodes.append(helper.make_node(op, ["x"], [f"{op}{last}"], axis=axis, keepdims=0,
                                                  select_last_index=last))
            artifact = self.compile(make_model(nodes, [("x", dims, element)], outputs))
            for real in lengths if opens else [length]:
                x = rows_of(dtype, real, real).reshape(6, real, *others)
                got = self.run_model(artifact, {"x": x})
                for op in ("ArgMax", "ArgMin"):
                    for last in (0, 1):
                        with self.subTest(dtype=dtype, length=real, opens=opens, op=op, last=last):
                            np.testing.assert_array_equal(got[f"{op}{last}"],
                                                          expected(x, axis, op == "ArgMax", last))

    def test_open_rows(self):
        for dtype in (np.float32, np.float64, np.float16, np.uint8, np.int8, np.int32, np.int64, np.uint64):
            self.check(dtype, 1, LENGTHS, opens=True)

    def test_fixed_rows(self):
        for dtype, lengths in ((np.float32, LENGTHS), (np.uint8, (17, 2049)), (np.float16, (40, 5000)),
                               (np.float64, (10, 2049)), (np.int64, (100, 6145))):
            self.check(dtype, 1, lengths, opens=False)

    def test_dimensions_of_one_behind_rows(self):
        self.check(np.float32, 1, (17, 5000), opens=False, others=(1, 1))
        self.check(np.int32, 1, (17, 5000), opens=True, others=(1,))

    def test_all_elements_of_a_vector(self):
        x = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
        node = helper.make_node("ArgMax", ["x"], ["y"], axis=0, keepdims=1)
        for dims in ([10_000], ["n"]):
            artifact = self.compile(make_model([node], [("x", dims)], [("y", None, TensorProto.INT64)]))
            np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], [x.argmax()])

    def test_one_hot_of_the_best(self):
        """The rows are not searched again for each element of the one-hot vectors."""
        x = np.random.default_rng(1).standard_normal((4, 3000)).astype(np.float32)
        nodes = [helper.make_node("ArgMax", ["x"], ["at"], axis=1, keepdims=0),
                 helper.make_node("OneHot", ["at", "depth", "values"], ["y"])]
        artifact = self.compile(make_model(nodes, [("x", [4, 3000])], [("y", None)],
                                           {"depth": np.array(3000), "values": np.float32([0, 1])}))
        want = np.zeros((4, 3000), np.float32)
        want[np.arange(4), x.argmax(1)] = 1
        np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], want)
