"""Reductions, softmax and norms of rows on the emulated GPU."""
from emulated import Emulated, kernels_of
from support import TensorProto, helper, make_model, np, peer


class CudaRows(Emulated):
    """Reductions by warps and blocks."""

    def test_rows(self):
        rng = np.random.default_rng(5)
        for rows, depth in ([5, 3], 40), ([300], 33), ([2], 1500):
            shape = rows + [depth]
            axes = np.array([-1], np.int64)
            weights = {"axes": axes, "scale": rng.standard_normal(depth).astype(np.float32),
                       "shift": rng.standard_normal(depth).astype(np.float32)}
            nodes = [helper.make_node(op, ["x"], [op], keepdims=0, axes=[-1])
                     for op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2", "ReduceSumSquare")]
            outputs = [(node.output[0], rows) for node in nodes]
            nodes += [helper.make_node("Softmax", ["x"], ["Softmax"]), helper.make_node("LogSoftmax", ["x"], ["Log"]),
                      helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["Norm"]),
                      helper.make_node("ReduceProd", ["p"], ["Prod"], axes=[-1]),
                      helper.make_node("ReduceSum", ["i", "axes"], ["Integers"], keepdims=0)]
            outputs += [("Softmax", shape), ("Log", shape), ("Norm", shape), ("Prod", rows + [1]),
                        ("Integers", rows, TensorProto.INT32)]
            inputs = [("x", shape), ("p", shape), ("i", shape, TensorProto.INT32)]
            model = make_model(nodes, inputs, outputs, weights)
            feeds = {"x": rng.standard_normal(shape).astype(np.float32),
                     "p": rng.choice([-1, 1], shape).astype(np.float32),
                     "i": rng.integers(-2 ** 31, 2 ** 31, shape).astype(np.int32)}
            feeds["x"].flat[7] = np.nan
            want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
            gpu = self.compile(model, "--target=sm_80", name="gpu")
            first = self.emulate(gpu, feeds, seed=0)
            for name, array in want.items():
                np.testing.assert_allclose(first[name], array, 2e-6, 2e-6, err_msg=f"{shape}, {name}")
            for seed in (1, 2):
                for name, array in self.emulate(gpu, feeds, seed=seed).items():
                    np.testing.assert_array_equal(array, first[name], f"{shape}, {name}, {seed=}")


def row_model(rows, depth):
    """Softmax and norms of rows of `depth` elements, with elementwise ops behind them."""
    shape = rows + [depth]
    rng = np.random.default_rng(depth)
    weights = {"scale": rng.standard_normal(depth).astype(np.float32),
               "shift": rng.standard_normal(depth).astype(np.float32)}
    nodes = [helper.make_node("Softmax", ["x"], ["p"], axis=-1, name="softmax"),
             helper.make_node("Mul", ["p", "scale"], ["softmax"]),
             helper.make_node("LogSoftmax", ["x"], ["log"], axis=-1, name="log_softmax"),
             helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["n"], name="norm"),
             helper.make_node("Add", ["n", "r"], ["norm"]),
             helper.make_node("RMSNormalization", ["x", "scale"], ["rms"], name="rms_norm")]
    outputs = ["softmax", "log", "norm", "rms"]
    model = make_model(nodes, [("x", shape), ("r", shape)], [(name, shape) for name in outputs], weights, opset=23)
    return model, shape, outputs


class CudaNorms(Emulated):
    """Softmax and norms in one kernel each, against ONNX Runtime, with drawn schedules and orders of threads."""

    def check(self, model, feeds, tolerance, *options, seed=0, kernels=()):
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for schedule in (0, seed + 1, seed + 2):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                np.testing.assert_allclose(got[name], array, rtol=tolerance, atol=tolerance,
                                           err_msg=f"{name}, schedule {schedule}")
            for other in (1, 2):
                for name, array in self.emulate(artifact, feeds, seed=seed + other).items():
                    np.testing.assert_array_equal(array, got[name], f"{name}, schedule {schedule}")
        if kernels:
            # A drawn number of parts may split a group norm.
            reductions = [kernel.replace("moments", "group_norm") for kernel in kernels_of(artifact)
                          if kernel in ("softmax", "row_norm", "group_norm", "moments", "rows")]
            self.assertEqual(reductions, kernels)
        return want

    def check_rows(self, tolerance, *options):
        for seed, (rows, depth) in enumerate([([5, 3], 40), ([301], 33), ([4], 1), ([2], 1500), ([7, 2], 6),
                                              ([3], 4104), ([1], 34000)]):
            with self.subTest(rows=rows, depth=depth):
                model, shape, _ = row_model(rows, depth)
                rng = np.random.default_rng(seed)
                feeds = {name: rng.standard_normal(shape).astype(np.float32) for name in ("x", "r")}
                self.check(model, feeds, tolerance, *options, seed=seed, kernels=["row_norm"] * 2 + ["softmax"] * 2)

    def test_float32(self):
        self.check_rows(4e-6)

    def test_halves(self):
        """Rows between products are read and stored with 16 bits."""
        for rows, depth in ([2, 9], 48), ([70], 21):
            rng = np.random.default_rng(depth)
            draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
            weights = {"w": draw(depth, depth) * depth ** -0.5, "v": draw(depth, depth), "scale": draw(depth)}
            nodes = [helper.make_node("MatMul", ["x", "w"], ["c"], name="before"),
                     helper.make_node("Softmax", ["c"], ["p"], axis=-1, name="softmax"),
                     helper.make_node("MatMul", ["p", "v"], ["softmax"], name="behind"),
                     helper.make_node("RMSNormalization", ["c", "scale"], ["n"], name="norm"),
                     helper.make_node("MatMul", ["n", "w"], ["rms"], name="behind_too")]
            shape = rows + [depth]
            model = make_model(nodes, [("x", shape)], [("softmax", shape), ("rms", shape)], weights, opset=23)
            # A factor has an error of 2^-12 or 2^-9, and there are three in a row.
            for precision, tolerance in ("fp16", 4e-3), ("bf16", 4e-2):
                self.check(model, {"x": draw(*shape)}, tolerance, f"--precision={precision}", seed=depth)

    def test_special_values(self):
        model, shape, outputs = row_model([10], 100)
        rng = np.random.default_rng(4)
        feeds = {name: rng.standard_normal(shape).astype(np.float32) for name in ("x", "r")}
        x = feeds["x"]
        x[1, 7] = np.nan
        x[2, 99] = np.inf
        x[3, :] = -np.inf
        x[4, 1:] = -np.inf
        x[5, :] = 1e4
        x[6, 3] = 3e38
        x[7, :] = 0
        x[8, ::2] = -1e30
        want = self.check(model, feeds, 4e-6, kernels=["row_norm"] * 2 + ["softmax"] * 2)
        for name, array in zip(outputs, peer(model).run(outputs, feeds)):
            np.testing.assert_array_equal(np.isnan(array), np.isnan(want[name]), name)

    def test_epilogues_of_groups(self):
        """A group norm of pictures joins their dimensions. The ops behind it, with an operand, are its epilogue."""
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"]),
                 helper.make_node("GroupNormalization", ["c", "scale", "shift"], ["n"], num_groups=4),
                 helper.make_node("Sigmoid", ["n"], ["s"]), helper.make_node("Mul", ["n", "s"], ["m"]),
                 helper.make_node("Add", ["m", "c"], ["y"])]
        shape, draw = [2, 16, 9, 7], np.random.default_rng(3).standard_normal
        weights = {"w": draw((16, 16, 1, 1)).astype(np.float32), "scale": draw(16).astype(np.float32),
                   "shift": draw(16).astype(np.float32)}
        model = make_model(nodes, [("x", shape)], [("y", shape)], weights, opset=21)
        self.check(model, {"x": draw(shape).astype(np.float32)}, 2e-5, kernels=["group_norm"])
        artifact = self.compile(model, "--target=sm_80", "--ptxas=none", name="gpu")
        # Two grids change the layout of the input and of the output.
        self.assertEqual(sorted(kernels_of(artifact)), ["conv", "grid", "grid", "group_norm"])

    def test_groups(self):
        for seed, (groups, shape) in enumerate([(4, [2, 16, 9, 7]), (2, [1, 20, 130]), (8, [1, 24, 40, 41])]):
            channels = shape[1]
            rng = np.random.default_rng(seed)
            draw = lambda *sizes: rng.standard_normal(sizes).astype(np.float32)
            weights = {"w": draw(channels, channels, *[1] * (len(shape) - 2)), "scale": draw(channels),
                       "shift": draw(channels)}
            # The convolution has its channels last.
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                     helper.make_node("GroupNormalization", ["c", "scale", "shift"], ["n"], num_groups=groups,
                                      name="norm"),
                     helper.make_node("Sigmoid", ["n"], ["s"]), helper.make_node("Mul", ["n", "s"], ["y"])]
            model = make_model(nodes, [("x", shape)], [("y", shape)], weights, opset=21)
            for tolerance, options in (2e-5, []), (8e-3, ["--precision=fp16"]):
                self.check(model, {"x": draw(*shape)}, tolerance, *options, seed=seed, kernels=["group_norm"])
