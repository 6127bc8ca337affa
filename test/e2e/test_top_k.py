"""Tests TopK against a stable sort: few and many, ties, NaN, both zeros, all types and axes, k and sizes of the run."""
from support import Case, TensorProto, helper, make_model, np

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def order(x, axis, largest):
    """Returns the indices of a stable sort, the best first; NaN is greater than all numbers."""
    ranks = np.searchsorted(np.unique(x), x)  # NaN is last, -0 and 0 are equal
    return np.argsort(-ranks if largest else ranks, axis=axis, kind="stable")


class TopK(Case):
    def check(self, given, k, axis=-1, opens=False, computes_k=False):
        """Checks `given`, inputs of one rank; the model is compiled once for largest and smallest."""
        x = given[0]
        dims = [f"d{i}" if opens else d for i, d in enumerate(x.shape)]
        element = helper.np_dtype_to_tensor_dtype(x.dtype)
        nodes = [helper.make_node("TopK", ["x", "k"], [f"v{largest}", f"i{largest}"], axis=axis, largest=largest)
                 for largest in (0, 1)]
        inputs = [("x", dims, element)] + ([("k", [1], I64)] if computes_k else [])
        outputs = [(f"{name}{largest}", None, kind) for largest in (0, 1) for name, kind in (("v", element), ("i", I64))]
        model = make_model(nodes, inputs, outputs, {} if computes_k else {"k": np.array([k])})
        artifact = self.compile(model)
        for x in given:
            for count in (k if computes_k else [k]):
                got = self.run_model(artifact, {"x": x, **({"k": np.array([count])} if computes_k else {})})
                for largest in (0, 1):
                    want = np.take(order(x, axis, largest), range(count), axis)
                    np.testing.assert_array_equal(got[f"i{largest}"], want, f"{x.dtype} {x.shape} {count} {largest}")
                    values = np.take_along_axis(x, want, axis)
                    self.assertEqual(got[f"v{largest}"].tobytes(), values.tobytes())

    def test_sizes(self):
        """Sizes around the limits of insertion, of a block and of a buffer."""
        rng = np.random.default_rng(1)
        for n, k in ((1, 1), (31, 3), (32, 16), (33, 17), (64, 64), (100, 17), (257, 256), (1000, 16), (3000, 40),
                     (3000, 2999)):
            x = rng.standard_normal((3, n)).astype(np.float32)
            rising = np.arange(3 * n, dtype=np.float32).reshape(3, n)
            with self.subTest(n=n, k=k):
                self.check([x, rising, -rising, np.zeros_like(x), np.round(x)], k)

    def test_odd_numbers(self):
        """Both zeros are equal, and a NaN of any sign is greatest."""
        rng = np.random.default_rng(2)
        numbers = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1, 3e38, -3e38, 1e-37], np.float32)
        x = rng.choice(numbers, (4, 500))
        for k in (1, 7, 30, 500):
            for dtype in (np.float32, np.float64):
                with self.subTest(k=k, dtype=dtype):
                    self.check([x.astype(dtype), np.full((4, 500), np.nan, dtype)], k)

    def test_types(self):
        rng = np.random.default_rng(3)
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            x = rng.integers(low, high, (5, 300), dtype, endpoint=True)
            x[:, ::7], x[:, 3::50] = low, high
            for k in (5, 100):
                with self.subTest(dtype=dtype, k=k):
                    self.check([x, x // 2, x // 32], k)
        x = rng.standard_normal((5, 300)).astype(np.float16)
        self.check([x], 5)
        self.check([x], 100)

    def test_axes(self):
        rng = np.random.default_rng(4)
        x = np.round(rng.standard_normal((50, 6, 40)), 1).astype(np.float32)
        for axis, k in ((0, 4), (0, 30), (1, 6), (2, 20), (-2, 1)):
            for opens in (False, True):
                with self.subTest(axis=axis, k=k, opens=opens):
                    self.check([x, x[:, :, :30]] if opens else [x], k, axis, opens)
        self.check([x[:, :1, :1]], 20, 0)

    def test_computed_counts(self):
        x = np.round(np.random.default_rng(5).standard_normal((3, 200)), 1).astype(np.float32)
        for opens in (False, True):
            with self.subTest(opens=opens):
                self.check([x, x[:, :190], x[:0]] if opens else [x], [0, 1, 16, 17, 64, 190], opens=opens, computes_k=True)
