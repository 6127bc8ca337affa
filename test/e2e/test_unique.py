"""Tests Unique against numpy: elements and rows, few columns and many, all types, in both orders."""
from support import Case, TensorProto, helper, make_model, np

I64 = TensorProto.INT64


class Unique(Case):
    def check(self, given, axis=None, opens=False):
        x = given[0]
        dims = [f"d{i}" if opens else d for i, d in enumerate(x.shape)]
        element = helper.np_dtype_to_tensor_dtype(x.dtype)
        attributes = {} if axis is None else {"axis": axis}
        nodes = [helper.make_node("Unique", ["x"], [f"{name}{order}" for name in "yfic"], sorted=order, **attributes)
                 for order in (0, 1)]
        outputs = [(f"{name}{order}", None, element if name == "y" else I64) for order in (0, 1) for name in "yfic"]
        artifact = self.compile(make_model(nodes, [("x", dims, element)], outputs))
        for x in given:
            got = self.run_model(artifact, {"x": x})
            want = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
            first = np.argsort(want[1])  # in the order of occurrence
            for order, places in ((1, np.arange(len(first))), (0, first)):
                expected = {"y": np.take(want[0], places, axis or 0), "f": want[1][places],
                            "i": np.argsort(places)[want[2].reshape(-1)], "c": want[3][places]}
                for name, value in expected.items():
                    np.testing.assert_array_equal(got[f"{name}{order}"], value, f"{name}{order} {x.dtype} {x.shape}")

    def test_elements(self):
        rng = np.random.default_rng(1)
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            x = rng.integers(low, high, 300, dtype, endpoint=True)
            x[::7], x[3::50] = low, high
            with self.subTest(dtype=dtype):
                self.check([x, x // 32 * 32])
        for dtype in (np.float16, np.float32, np.float64):
            with self.subTest(dtype=dtype):
                self.check([np.round(rng.standard_normal((20, 30)), 1).astype(dtype), np.zeros((20, 30), dtype)])
        self.check([rng.random((4, 9)) < 0.5])

    def test_odd_numbers(self):
        """Both zeros are equal, and so are all NaN, which come last."""
        x = np.random.default_rng(2).choice(np.array([1, -1, np.nan, -np.nan, np.inf, -np.inf, 2], np.float32), 100)
        self.check([x])
        artifact = self.compile(make_model([helper.make_node("Unique", ["x"], ["y"])], [("x", [4])], [("y", None)]))
        got = self.run_model(artifact, {"x": np.array([0.0, -0.0, 1, -0.0], np.float32)})["y"]
        np.testing.assert_array_equal(got, [0, 1])

    def test_rows(self):
        rng = np.random.default_rng(3)
        for shape, axis in (((200, 1), 0), ((200, 3), 0), ((3, 200), 1), ((200, 8), 0), ((200, 9), 0), ((5, 100, 2), 1),
                            ((100, 4, 4), 0)):
            for opens in (False, True):
                with self.subTest(shape=shape, opens=opens):
                    x = rng.integers(-1, 2, shape)
                    x = x.astype(np.float32) if opens else x
                    self.check([x, np.zeros_like(x)], axis, opens)
        self.check([rng.integers(0, 9, (7, 2)), np.zeros((1, 2), np.int64)], 0, True)
