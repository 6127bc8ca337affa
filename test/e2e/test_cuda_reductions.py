"""Poolings, reductions, softmax and norms along columns on the emulated GPU, with drawn schedules and orders of threads."""
from emulated import Emulated, eighths, kernels_of
from support import TensorProto, helper, make_model, np, peer

# The largest error of a result that is stored with 16 bits, as a share of the largest result.
HALVES = {"fp16": 2 ** -10, "bf16": 2 ** -7}


class CudaReductions(Emulated):
    def check(self, model, feeds, kernels, tolerance, *options, seed=0):
        """Compares with the CPU's code. The GPU's has `kernels`, or one of "a|b". Bits do not depend on the order of
        threads."""
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for schedule in (0, seed + 1, seed + 2):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            for kernel in kernels:
                self.assertTrue(set(kernel.split("|")) & set(kernels_of(artifact)), kernel)
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                bound = np.nan_to_num(np.abs(array), posinf=0, neginf=0).max(initial=0)
                np.testing.assert_allclose(got[name], array, rtol=tolerance, atol=tolerance * bound,
                                           err_msg=f"{name}, schedule {schedule}")
            for name, array in self.emulate(artifact, feeds, seed=seed + 1).items():
                np.testing.assert_array_equal(array, got[name], f"{name}, schedule {schedule}")
        return want

    # (images, channels), pixels, taps, strides, dilations, pads
    POOLS = [((2, 24), [9, 11], [3, 3], [2, 2], [1, 1], [1, 1, 1, 1]),
             ((1, 10), [12, 9], [5, 2], [2, 1], [1, 2], [2, 0, 1, 1]),
             ((1, 7), [17], [4], [3], [2], [0, 2]),
             ((3, 8), [5, 6, 7], [3, 1, 2], [1, 2, 1], [1, 1, 1], [1, 0, 1, 0, 0, 1]),
             ((1, 40), [15, 14], [14, 14], [1, 1], [1, 1], [0, 0, 0, 0]),
             ((1, 16), [40, 31], [20, 17], [3, 5], [1, 1], [9, 3, 4, 8]),
             ((2, 1), [30], [2], [2], [1], [0, 0])]

    def pools(self, shape, size, taps, strides, dilations, pads):
        """Returns a model with a maximum and two means, with ops behind them that epilogues take."""
        room = [s + pads[k] + pads[k + len(taps)] - (t - 1) * d - 1
                for k, (s, t, d) in enumerate(zip(size, taps, dilations))]
        result = list(shape) + [r // s + 1 for r, s in zip(room, strides)]
        window = {"kernel_shape": taps, "strides": strides, "pads": pads, "dilations": dilations}
        nodes = [helper.make_node("MaxPool", ["x"], ["m"], name="maximum", **window),
                 helper.make_node("Add", ["m", "r"], ["max"]),
                 helper.make_node("AveragePool", ["x"], ["mean"], name="mean", **window),
                 helper.make_node("AveragePool", ["x"], ["w"], name="padded", count_include_pad=1, **window),
                 helper.make_node("Relu", ["w"], ["padded_mean"])]
        inputs = [("x", list(shape) + size), ("r", result)]
        outputs = [(name, result) for name in ("max", "mean", "padded_mean")]
        return make_model(nodes, inputs, outputs, opset=19), inputs

    def test_pools(self):
        for seed, pool in enumerate(self.POOLS):
            with self.subTest(pool=pool):
                model, inputs = self.pools(*pool)
                rng = np.random.default_rng(seed)
                feeds = {name: eighths(rng, *shape) for name, shape in inputs}
                want = self.check(model, feeds, ["pool"], 1e-6, seed=seed)
                for name, array in zip(want, peer(model).run(list(want), feeds)):
                    np.testing.assert_allclose(array, want[name], 1e-5, 1e-6)

    def test_special_values(self):
        """A NaN passes, an infinity is no padding, and a window of padding alone has no elements."""
        model, inputs = self.pools((1, 8), [9, 9], [3, 3], [1, 1], [1, 1], [2, 2, 2, 2])
        rng = np.random.default_rng(3)
        feeds = {name: eighths(rng, *shape) for name, shape in inputs}
        feeds["x"][0, 0, 4, 4] = np.nan
        feeds["x"][0, 1, 0, 0] = -np.inf
        feeds["x"][0, 2, 8, 8] = np.inf
        feeds["x"][0, 3] = -np.inf
        want = self.check(model, feeds, ["pool"], 1e-6)
        self.assertTrue(np.isnan(want["max"][0, 0, 4:7, 4:7]).all())
        self.assertTrue(np.isneginf(want["max"][0, 3]).all())

    def test_halves(self):
        """Results of convolutions are stored, pooled and multiplied with 16 bits."""
        rng = np.random.default_rng(8)
        weights = {"w": eighths(rng, 16, 8, 3, 3), "v": eighths(rng, 8, 16, 1, 1)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="before", pads=[1] * 4),
                 helper.make_node("MaxPool", ["c"], ["p"], name="pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
                 helper.make_node("Conv", ["p", "v"], ["d"], name="behind"),
                 helper.make_node("GlobalAveragePool", ["d"], ["y"], name="mean")]
        model = make_model(nodes, [("x", [2, 8, 13, 14])], [("y", [2, 8, 1, 1])], weights)
        for precision, tolerance in HALVES.items():
            self.check(model, {"x": eighths(rng, 2, 8, 13, 14)}, ["pool", "reduce"], 4 * tolerance,
                       f"--precision={precision}")

    def test_reductions(self):
        kinds = ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL2", "ReduceSumSquare")
        for seed, (shape, axes) in enumerate([([5, 40, 24], [1]), ([300, 10], [0]), ([3, 9, 11, 16], [1, 2]),
                                              ([2, 8, 3, 5], [1]), ([2, 2000, 8], [1]), ([64, 8, 20], [1])]):
            rng = np.random.default_rng(seed)
            for keep in (0, 1):
                result = [1 if i in axes else size for i, size in enumerate(shape) if keep or i not in axes]
                nodes = [helper.make_node(kind, ["x", "axes"], [kind], keepdims=keep) for kind in kinds]
                nodes += [helper.make_node("ReduceProd", ["p", "axes"], ["Prod"], keepdims=keep),
                          helper.make_node("Sigmoid", ["ReduceMean"], ["Sigmoid"])]
                outputs = [(name, result) for name in (*kinds, "Prod", "Sigmoid")]
                model = make_model(nodes, [("x", shape), ("p", shape)], outputs, {"axes": np.array(axes, np.int64)},
                                   opset=18)
                feeds = {"x": eighths(rng, *shape), "p": rng.choice([-1, 1], shape).astype(np.float32)}
                if keep:
                    feeds["x"].flat[7] = np.nan
                with self.subTest(shape=shape, axes=axes, keep=keep):
                    self.check(model, feeds, ["reduce"], 2e-6, seed=seed)

    def test_softmax_of_columns(self):
        for seed, (shape, axis) in enumerate([([5, 40, 24], 1), ([300, 10], 0), ([3, 9, 4, 16], 1), ([2, 3, 5], 1),
                                              ([1, 5000, 6], 1), ([2, 21, 33, 32], 1)]):
            nodes = [helper.make_node("Softmax", ["x"], ["p"], axis=axis, name="softmax"),
                     helper.make_node("Mul", ["p", "r"], ["softmax"]),
                     helper.make_node("LogSoftmax", ["x"], ["log"], axis=axis, name="log_softmax")]
            model = make_model(nodes, [("x", shape), ("r", shape)], [("softmax", shape), ("log", shape)])
            rng = np.random.default_rng(seed)
            feeds = {name: rng.standard_normal(shape).astype(np.float32) for name in ("x", "r")}
            if seed % 2:
                feeds["x"].flat[[3, 8, 14]] = np.nan, np.inf, -np.inf
            with self.subTest(shape=shape, axis=axis):
                self.check(model, feeds, ["softmax"], 4e-6, seed=seed)

    def test_instance_norm(self):
        for seed, shape in enumerate([[2, 16, 9, 7], [1, 5, 130], [3, 24, 5, 6, 4], [1, 8, 90, 70], [2, 3, 1]]):
            rng = np.random.default_rng(seed)
            channels = shape[1]
            draw = lambda *sizes: rng.standard_normal(sizes).astype(np.float32)
            weights = {"w": draw(channels, channels, *[1] * (len(shape) - 2)), "scale": draw(channels),
                       "shift": draw(channels)}
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                     helper.make_node("InstanceNormalization", ["c", "scale", "shift"], ["n"], name="norm"),
                     helper.make_node("Add", ["n", "x"], ["y"])]
            model = make_model(nodes, [("x", shape)], [("y", shape)], weights)
            with self.subTest(shape=shape):
                self.check(model, {"x": draw(*shape)}, ["group_norm|moments"], 2e-5, seed=seed)

    def test_top_k(self):
        """Short rows, rows that fill a block, and longer ones; equal elements, zeros of both signs, and NaN."""
        rng = np.random.default_rng(9)
        for seed, (shape, k) in enumerate([([5, 3, 20], 4), ([7], 7), ([3, 1000], 1), ([2, 8192], 300), ([2, 30000], 70),
                                           ([1, 9000], 4096)]):
            weights = {"k": np.array([k], np.int64)}
            nodes = [helper.make_node("TopK", ["x", "k"], ["most", "at"], name="largest"),
                     helper.make_node("TopK", ["x", "k"], ["least", "where"], name="smallest", largest=0)]
            result = shape[:-1] + [k]
            outputs = [("most", result), ("at", result, TensorProto.INT64), ("least", result),
                       ("where", result, TensorProto.INT64)]
            model = make_model(nodes, [("x", shape)], outputs, weights)
            x = rng.integers(-20, 21, shape).astype(np.float32) if seed % 2 else rng.standard_normal(shape)
            x = x.astype(np.float32)
            x.flat[:5] = 0, -0.0, np.nan, np.inf, -np.inf
            want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), {"x": x})
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", "--cuda-fallback=error", name="gpu")
            self.assertEqual(kernels_of(artifact), ["top_k"] * 2)
            for other in range(3 if x.size < 5000 else 1):
                with self.subTest(shape=shape, k=k, other=other):
                    got = self.emulate(artifact, {"x": x}, seed=other)
                    for name, array in want.items():
                        np.testing.assert_array_equal(got[name], array, name)

    def test_split_rows(self):
        """Few long rows are computed in parts. Another kernel combines them."""
        rng = np.random.default_rng(7)
        draw = lambda *sizes: rng.standard_normal(sizes).astype(np.float32)
        for shape, groups in ([1, 8, 96, 128], 8), ([1, 24, 120, 64], 4), ([1, 12, 16384], 3):
            channels = shape[1]
            weights = {"w": draw(channels, channels, *[1] * (len(shape) - 2)), "scale": draw(channels),
                       "shift": draw(channels)}
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                     helper.make_node("GroupNormalization", ["c", "scale", "shift"], ["n"], num_groups=groups,
                                      name="norm"),
                     helper.make_node("Relu", ["n"], ["r"]), helper.make_node("Add", ["r", "c"], ["y"])]
            model = make_model(nodes, [("x", shape)], [("y", shape)], weights, opset=21)
            for tolerance, options in (2e-5, []), (8e-3, ["--precision=fp16"]):
                with self.subTest(shape=shape, groups=groups, options=options):
                    feeds = {"x": draw(*shape) + 3}
                    want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)["y"]
                    artifact = self.compile(model, "--target=sm_80", "--ptxas=none", *options)
                    self.assertLessEqual({"moments", "normalize"}, set(kernels_of(artifact)))
                    self.check(model, feeds, [], tolerance, *options, seed=groups)
                    got = self.emulate(artifact, feeds)["y"]
                    np.testing.assert_allclose(got, want, 0, tolerance * np.abs(want).max())
        model = make_model([helper.make_node("ReduceSumSquare", ["x", "axes"], ["y"], keepdims=0)],
                           [("x", [30000, 8])], [("y", [8])], {"axes": np.array([0], np.int64)}, opset=18)
        self.assertEqual(kernels_of(self.compile(model, "--target=sm_80", "--ptxas=none")), ["reduce"] * 2)
        self.check(model, {"x": eighths(rng, 30000, 8)}, ["reduce"], 2e-6, seed=1)

    def test_open_sizes(self):
        """Images, pixels and the length of columns are known to a run alone."""
        nodes = [helper.make_node("MaxPool", ["x"], ["m"], name="pool", kernel_shape=[3, 2], strides=[2, 1],
                                  pads=[1, 0, 1, 1]),
                 helper.make_node("AveragePool", ["m"], ["a"], name="mean", kernel_shape=[2, 2], pads=[1] * 4),
                 helper.make_node("Softmax", ["a"], ["s"], axis=1, name="softmax"),
                 helper.make_node("GlobalAveragePool", ["s"], ["y"], name="global")]
        images = make_model(nodes, [("x", ["n", 12, "h", "w"])], [("y", ["n", 12, 1, 1])])
        tokens = make_model([helper.make_node("ReduceMean", ["x", "axes"], ["y"], name="mean", keepdims=0)],
                            [("x", ["n", "t", 20])], [("y", ["n", 20])], {"axes": np.array([1], np.int64)}, opset=18)
        for model, kernels, shapes in ((images, ["pool"], [(2, 12, 9, 8), (1, 12, 1, 2), (0, 12, 5, 5)]),
                                       (tokens, ["reduce"], [(2, 7, 20), (1, 1, 20), (3, 300, 20), (0, 4, 20)])):
            session = peer(model)
            for schedule in (0, 3):
                artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}")
                for kernel in kernels:
                    self.assertIn(kernel, kernels_of(artifact))
                for seed, shape in enumerate(shapes):
                    feeds = {"x": eighths(np.random.default_rng(seed), *shape)}
                    np.testing.assert_allclose(self.emulate(artifact, feeds, seed=seed)["y"],
                                               session.run(None, feeds)[0], 1e-5, 1e-6, err_msg=f"{shape} {schedule}")
