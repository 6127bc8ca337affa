"""Scatters, running sums and sorts on the emulated GPU, with drawn orders of threads: the CPU's bits where sums have its
order, and kernels instead of the CPU."""
from emulated import Emulated, kernels_of
from support import TensorProto, helper, make_model, np, peer

TYPES = {np.dtype(name): number for name, number in
         [("float32", TensorProto.FLOAT), ("float16", TensorProto.FLOAT16), ("float64", TensorProto.DOUBLE),
          ("int32", TensorProto.INT32), ("int64", TensorProto.INT64), ("int8", TensorProto.INT8),
          ("uint8", TensorProto.UINT8)]}
REDUCTIONS = ("none", "add", "mul", "max", "min")


def drawn(rng, shape, dtype="float32"):
    """Draws numbers whose sums depend on their order if they are floats."""
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0 if np.dtype(dtype).kind == "u" else -9, 10, shape).astype(dtype)


class CudaScatter(Emulated):
    def check(self, model, feeds, kernels, tolerance=0, others=2, runs=(), fallback="error"):
        """Compares with the CPU's code: equal bits without a tolerance. The GPU's code has `kernels`, and no node on the
        CPU unless `fallback` is "cpu". `runs` are further inputs. Bits do not depend on the order of threads."""
        cpu = self.compile(model, "--target=x86-64-v3", name="cpu")
        gpu = self.compile(model, "--target=sm_80", "--ptxas=none", f"--cuda-fallback={fallback}", name="gpu")
        self.assertLessEqual(set(kernels), set(kernels_of(gpu)))
        for feeds in (feeds, *runs):
            want = self.run_model(cpu, feeds)
            first = self.emulate(gpu, feeds, seed=0)
            for name, array in want.items():
                if tolerance:
                    bound = np.abs(array).max(initial=0)
                    np.testing.assert_allclose(first[name], array, rtol=0, atol=tolerance * bound, err_msg=name)
                else:
                    np.testing.assert_array_equal(first[name], array, name)
            for seed in range(1, others):
                for name, array in self.emulate(gpu, feeds, seed=seed).items():
                    np.testing.assert_array_equal(array, first[name], name)
        return want

    def scatter(self, kind, x, indices, updates, sizes=None, **attributes):
        """Returns a model with all reductions, and its inputs. `sizes` are those of x, indices and updates."""
        feeds = {"x": x, "i": indices, "u": updates}
        nodes = [helper.make_node(kind, ["x", "i", "u"], [name], name=name, reduction=name, **attributes)
                 for name in REDUCTIONS]
        sizes = sizes or [list(array.shape) for array in feeds.values()]
        inputs = [(name, size, TYPES[array.dtype]) for (name, array), size in zip(feeds.items(), sizes)]
        outputs = [(name, sizes[0], TYPES[x.dtype]) for name in REDUCTIONS]
        return make_model(nodes, inputs, outputs, opset=18), feeds

    # (x, axis, indices)
    ELEMENTS = [([5, 7, 3], 1, [4, 20, 2]), ([40], 0, [300]), ([9, 4], 0, [64, 4]), ([3, 50], 1, [3, 65]),
                ([2, 6], -1, [1, 1]), ([2, 3000], 1, [2, 2500])]

    def test_elements(self):
        for seed, (shape, axis, indices) in enumerate(self.ELEMENTS):
            for dtype in ("float32", "int32", "uint8")[:3 if seed == 0 else 1]:
                with self.subTest(shape=shape, axis=axis, indices=indices, dtype=dtype):
                    rng = np.random.default_rng(seed)
                    at = rng.integers(-shape[axis], shape[axis], indices)
                    model, feeds = self.scatter("ScatterElements", drawn(rng, shape, dtype), at,
                                                drawn(rng, indices, dtype), axis=axis)
                    sorts = indices[axis] > 64
                    want = self.check(model, feeds, ["scatter", *["sort"] * sorts])
                    if seed == 4:
                        for name, array in zip(want, peer(model).run(list(want), feeds)):
                            np.testing.assert_allclose(array, want[name], 1e-5, 1e-5)

    # (x, indices without the last dimension, depth)
    SLICES = [([6, 5, 4], [3, 7], 2), ([50, 8], [4], 1), ([30], [500], 1), ([7, 6], [100], 1), ([4, 3, 2], [9000], 3),
              ([3, 4], [], 1)]

    def test_nd(self):
        for seed, (shape, outer, depth) in enumerate(self.SLICES):
            for dtype in ("float32", "float16", "int64", "int8")[:4 if seed == 2 else 1]:
                with self.subTest(shape=shape, outer=outer, dtype=dtype):
                    rng = np.random.default_rng(seed)
                    at = np.stack([rng.integers(-size, size, outer) for size in shape[:depth]], -1)
                    at = at.reshape(outer + [depth])
                    model, feeds = self.scatter("ScatterND", drawn(rng, shape, dtype), at,
                                                drawn(rng, outer + shape[depth:], dtype))
                    count = int(np.prod(outer))
                    kernels = ["scatter"] + ["sort"] * (count > 64) + ["merge"] * (count > 4096)
                    self.check(model, feeds, kernels, others=1 if count > 1000 else 2)

    def test_masks(self):
        rng = np.random.default_rng(12)
        model = make_model([helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], name="mask", axis=1)],
                           [("x", [3, 40], TensorProto.BOOL), ("i", [3, 5], TensorProto.INT64),
                            ("u", [3, 5], TensorProto.BOOL)], [("y", [3, 40], TensorProto.BOOL)], opset=18)
        self.check(model, {"x": rng.random((3, 40)) > 0.5, "i": rng.integers(-40, 40, (3, 5)),
                           "u": rng.random((3, 5)) > 0.5}, ["scatter"])

    def test_half_precision(self):
        """Updates and sums between products that store 16 bits."""
        rng = np.random.default_rng(13)
        nodes = [helper.make_node("MatMul", ["a", "w"], ["b"], name="before"),
                 helper.make_node("ScatterND", ["x", "i", "b"], ["s"], name="scatter", reduction="add"),
                 helper.make_node("CumSum", ["s", "axis"], ["c"], name="sum"),
                 helper.make_node("MatMul", ["c", "w"], ["y"], name="behind")]
        model = make_model(nodes, [("a", [4, 16]), ("x", [20, 16]), ("i", [4, 1], TensorProto.INT64)], [("y", [20, 16])],
                           {"w": drawn(rng, [16, 16]), "axis": np.array(0, np.int64)}, opset=18)
        feeds = {"a": drawn(rng, [4, 16]), "x": drawn(rng, [20, 16]), "i": np.array([[3], [3], [0], [-1]])}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)["y"]
        for precision, tolerance in ("fp16", 2 ** -8), ("bf16", 2 ** -5):
            gpu = self.compile(model, "--target=sm_80", "--ptxas=none", f"--precision={precision}",
                               "--cuda-fallback=error", name="gpu")
            self.assertLessEqual({"scatter", "scan"}, set(kernels_of(gpu)))
            np.testing.assert_allclose(self.emulate(gpu, feeds)["y"], want, 0, tolerance * np.abs(want).max())

    def test_one_position(self):
        """All updates are of one element, whose sum has the order of the updates."""
        rng = np.random.default_rng(4)
        updates = (rng.standard_normal(1000) * 10.0 ** rng.integers(-6, 6, 1000)).astype(np.float32)
        model, feeds = self.scatter("ScatterND", drawn(rng, [3]), np.ones([1000, 1], np.int64), updates)
        feeds["u"][500] = np.nan
        self.check(model, feeds, ["sort", "scatter"])

    def test_open_sizes(self):
        rng = np.random.default_rng(5)

        def feeds(rows, count):
            # A product of hundreds of small factors would be denormal, which only GPUs take for a number.
            factors = rng.choice([-1, 1], [count, 3]) * rng.uniform(0.5, 1.5, [count, 3])
            return {"x": drawn(rng, [rows, 3]), "i": rng.integers(-rows, rows, [count, 1]),
                    "u": factors.astype(np.float32)}
        first = feeds(4, 3)
        model, _ = self.scatter("ScatterND", *first.values(), sizes=[["n", 3], ["k", 1], ["k", 3]])
        self.check(model, first, ["sort", "merge", "scatter"], others=1,
                   runs=[feeds(9, 100), feeds(50, 5000), feeds(2, 0)])

    def test_all_sizes_open(self):
        rng = np.random.default_rng(11)

        def slices(rows, width, count):
            return {"x": drawn(rng, [rows, width]), "i": rng.integers(-rows, rows, [count, 1]),
                    "u": drawn(rng, [count, width])}

        def elements(rows, width, count):
            return {"x": drawn(rng, [rows, width]), "i": rng.integers(-width, width, [rows, count]),
                    "u": drawn(rng, [rows, count])}
        for kind, feeds, sizes, options in (
                ("ScatterND", slices, [["n", "m"], ["k", 1], ["k", "m"]], {}),
                ("ScatterElements", elements, [["n", "m"], ["n", "k"], ["n", "k"]], {"axis": 1})):
            first, *runs = [feeds(*shape) for shape in ((4, 3, 5), (9, 17, 100), (3, 2, 0), (7, 1, 1))]
            model, _ = self.scatter(kind, *first.values(), sizes=sizes, **options)
            with self.subTest(kind=kind):
                self.check(model, first, ["sort", "scatter"], others=1, runs=runs)

    def test_wrong_indices(self):
        """An index outside of the dimension ends the run with the CPU's message, and changes no other memory."""
        rng = np.random.default_rng(6)
        for kind, shape, at in (("ScatterND", [4, 2], [[1], [4]]), ("ScatterND", [4, 2], [[-5]] * 70),
                                ("ScatterElements", [4, 2], [[0, 1], [3, -5]])):
            at = np.array(at, np.int64)
            model, feeds = self.scatter(kind, drawn(rng, shape), at, drawn(rng, [len(at), 2]))
            gpu = self.compile(model, "--target=sm_80", "--ptxas=none", name="gpu")
            with self.subTest(kind=kind), self.assertRaisesRegex(AssertionError, r"an index is outside of \[-4, 3\]"):
                self.emulate(gpu, feeds)

    # (shape, axis)
    SCANS = [([3, 500], 1), ([2, 5], 1), ([1, 3000], 1), ([4, 6, 10], 1), ([2000, 3], 0), ([7], 0), ([5, 64], 1)]

    def test_running_sums(self):
        for seed, (shape, axis) in enumerate(self.SCANS):
            for dtype in ("float32", "int32", "float16", "int64")[:4 if seed < 2 else 2]:
                with self.subTest(shape=shape, axis=axis, dtype=dtype):
                    rng = np.random.default_rng(seed)
                    names = [(e, r) for e in (0, 1) for r in (0, 1)]
                    nodes = [helper.make_node("CumSum", ["x", "axis"], [f"y{e}{r}"], name=f"y{e}{r}", exclusive=e,
                                              reverse=r) for e, r in names]
                    model = make_model(nodes, [("x", shape, TYPES[np.dtype(dtype)])],
                                       [(f"y{e}{r}", shape, TYPES[np.dtype(dtype)]) for e, r in names],
                                       {"axis": np.array(axis, np.int64)}, opset=14)
                    x = drawn(rng, shape, dtype)
                    tolerance = {"float32": 1e-5, "float16": 2e-3}.get(dtype, 0)
                    self.check(model, {"x": x}, ["scan"], tolerance)

    def test_running_sums_of_open_size(self):
        model = make_model([helper.make_node("CumSum", ["x", "axis"], ["y"], name="rows"),
                            helper.make_node("CumSum", ["x", "first"], ["z"], name="columns")],
                           [("x", ["n", "m"])], [("y", ["n", "m"]), ("z", ["n", "m"])],
                           {"axis": np.array(1, np.int64), "first": np.array(0, np.int64)}, opset=14)
        rng = np.random.default_rng(3)
        shapes = [(3, 7), (1, 2500), (0, 4), (5, 0)]
        first, *runs = [{"x": drawn(rng, shape)} for shape in shapes]
        self.check(model, first, ["scan"], 1e-5, runs=runs)

    def sorts(self, shape, size, k, axis, dtype):
        """Returns a model with the largest and the smallest elements. A run computes k if it is None."""
        number = TYPES[np.dtype(dtype)]
        nodes = [helper.make_node("TopK", ["x", "k"], [f"v{s}", f"i{s}"], name=f"top{s}", axis=axis, largest=s)
                 for s in (0, 1)]
        result = list(size)
        result[axis] = "k" if k is None else k
        outputs = [(f"v{s}", result, number) for s in (0, 1)] + [(f"i{s}", result, TensorProto.INT64) for s in (0, 1)]
        inputs = [("x", size, number)] + ([("k", [1], TensorProto.INT64)] if k is None else [])
        return make_model(nodes, inputs, outputs, {} if k is None else {"k": np.array([k], np.int64)}, opset=11)

    def test_top_k_of_types(self):
        for seed, dtype in enumerate(("int32", "int64", "int8", "uint8", "float16", "float64")):
            for shape, k in (([3, 90], 5), ([2, 9000], 40))[:2 if dtype in ("int64", "int32") else 1]:
                with self.subTest(dtype=dtype, shape=shape):
                    rng = np.random.default_rng(seed)
                    x = drawn(rng, shape, dtype)
                    if dtype in ("int32", "int64", "int8"):
                        x.flat[[3, 8]] = np.iinfo(dtype).min, np.iinfo(dtype).max
                    opset = self.sorts(shape, shape, k, -1, dtype)
                    self.check(opset, {"x": x}, ["top_k"], others=2 if x.size < 1000 else 1)

    def test_top_k_of_other_dimensions(self):
        for axis in (0, 1):
            x = drawn(np.random.default_rng(axis), [30, 12, 4])
            self.check(self.sorts(x.shape, list(x.shape), 7, axis, "float32"), {"x": x}, ["top_k"])

    def test_top_k_of_run_time_counts(self):
        rng = np.random.default_rng(2)
        runs = [{"x": drawn(rng, [3, 50]), "k": np.array([k], np.int64)} for k in (1, 9, 50, 0)]
        self.check(self.sorts([3, 50], [3, 50], None, 1, "float32"), runs[0], ["top_k"], runs=runs[1:],
                   fallback="cpu")

    def test_top_k_of_open_rows(self):
        rng = np.random.default_rng(8)
        runs = [{"x": drawn(rng, shape)} for shape in ([3, 50], [1, 5000], [2, 6], [0, 9])]
        self.check(self.sorts([3, 50], ["n", "m"], 6, 1, "float32"), runs[0], ["top_k"], others=1, runs=runs[1:])

    def test_positions_of_extremes(self):
        """Long rows with equal elements, zeros of both signs, and NaN."""
        rng = np.random.default_rng(7)
        nodes = [helper.make_node("ArgMax", ["x"], ["most"], name="most", axis=2, keepdims=0),
                 helper.make_node("ArgMin", ["x"], ["least"], name="least", axis=-1)]
        for dtype in ("float32", "int32", "uint8"):
            number = TYPES[np.dtype(dtype)]
            model = make_model(nodes, [("x", ["n", 2, 3000], number)],
                               [("most", ["n", 2], TensorProto.INT64), ("least", ["n", 2, 1], TensorProto.INT64)])
            x = drawn(rng, [3, 2, 3000], dtype)
            if dtype == "float32":
                x = np.round(x)
                x[0, 0], x[0, 1, 1234], x[1, 0, 7:9] = np.where(np.arange(3000) % 2, 0.0, -0.0), np.nan, np.inf
            with self.subTest(dtype=dtype):
                self.check(model, {"x": x}, ["top_k"], others=1)
