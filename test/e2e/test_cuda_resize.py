"""Resizes on the emulated GPU, with drawn schedules and orders of threads, against ONNX Runtime and the CPU's code."""
from emulated import Emulated, eighths, kernels_of
from support import helper, make_model, np, peer

COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
# The largest error of a result that is stored with 16 bits, as a share of the largest result.
HALVES = {"fp16": 2 ** -10, "bf16": 2 ** -7}


def forms(*modes):
    """Returns the attributes of each combination of a mode and a mapping of positions."""
    found = []
    for at, coordinates in enumerate(COORDINATES):
        for mode in modes:
            attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
            if mode == "nearest":
                found += [{**attributes, "nearest_mode": rounding} for rounding in ROUNDINGS]
            elif mode == "cubic" and at % 2:
                found.append({**attributes, "exclude_outside": 1, "cubic_coeff_a": -0.5})
            else:
                found.append(attributes)
    return found


def resizes(shape, scales, attributes, dims=None):
    """Makes a model with a Resize for each element of `attributes`. Every third one has an epilogue."""
    result = [int(size * scale) for size, scale in zip(shape, scales)]
    nodes, outputs = [], []
    for i, each in enumerate(attributes):
        nodes.append(helper.make_node("Resize", ["x", "", "scales"], [f"r{i}"], name=f"resize{i}", **each))
        outputs.append(f"r{i}")
        if i % 3 == 1:
            nodes += [helper.make_node("Mul", [f"r{i}", "r"], [f"m{i}"]), helper.make_node("Relu", [f"m{i}"], [f"y{i}"])]
            outputs[-1] = f"y{i}"
    names = dims or shape
    results = [name if isinstance(name, str) and scale == 1 else f"{name}_" if isinstance(name, str) else size
               for name, scale, size in zip(names, scales, result)]
    rest = [1] * (len(shape) - 1) + [result[-1] if not isinstance(names[-1], str) else 1]
    return make_model(nodes, [("x", names), ("r", rest)], [(name, results) for name in outputs],
                      {"scales": np.array(scales, np.float32)}, opset=19), rest


class CudaResize(Emulated):
    def check(self, model, feeds, tolerance, *options, seed=0, kernel="resample"):
        """Compares with the CPU's code, which it returns the results of. Bits do not depend on the order of threads."""
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for schedule in (0, seed + 1):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            if kernel:
                self.assertIn(kernel, kernels_of(artifact))
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                bound = np.abs(array).max(initial=0)
                np.testing.assert_allclose(got[name], array, rtol=tolerance, atol=tolerance * bound,
                                           err_msg=f"{name}, schedule {schedule}")
            for name, array in self.emulate(artifact, feeds, seed=seed + 1).items():
                np.testing.assert_array_equal(array, got[name], f"{name}, schedule {schedule}")
        return want

    def test_epilogue_of_joined_channels(self):
        """The dimensions behind the resized one are joined, and the op behind them is an epilogue."""
        model = make_model([helper.make_node("Resize", ["x", "", "scales"], ["r"], mode="linear"),
                            helper.make_node("Relu", ["r"], ["y"])], [("x", [2, 9, 7, 3])], [("y", [2, 18, 7, 3])],
                           {"scales": np.array([1, 2, 1, 1], np.float32)}, opset=19)
        self.check(model, {"x": eighths(np.random.default_rng(1), 2, 9, 7, 3)}, 1e-6)
        self.assertEqual(kernels_of(self.compile(model, "--target=sm_80", "--ptxas=none")), ["resample"])

    def check_first(self, shape, scales, attributes, seed=0, dims=None):
        """Resizes dimensions behind the channels, and compares with ONNX Runtime, too."""
        model, rest = resizes(shape, scales, attributes, dims)
        rng = np.random.default_rng(seed)
        feeds = {"x": eighths(rng, *shape), "r": eighths(rng, *rest)}
        want = self.check(model, feeds, 1e-5, seed=seed)
        for name, array in zip(want, peer(model).run(list(want), feeds)):
            np.testing.assert_allclose(want[name], array, 1e-4, 1e-4, err_msg=name)

    def check_last(self, shape, scales, attributes, seed=0):
        """Resizes dimensions before the channels. The peer has the channels first."""
        model, rest = resizes(shape, scales, attributes)
        rng = np.random.default_rng(seed)
        feeds = {"x": eighths(rng, *shape), "r": eighths(rng, *rest)}
        want = self.check(model, feeds, 1e-5, seed=seed)
        order = [0, len(shape) - 1, *range(1, len(shape) - 1)]
        back = [0, *range(2, len(shape)), 1]
        other, _ = resizes([shape[i] for i in order], [scales[i] for i in order], attributes)
        other.graph.input[1].CopyFrom(helper.make_tensor_value_info("r", 1, [rest[i] for i in order]))
        moved = {name: np.ascontiguousarray(array.transpose(order)) for name, array in feeds.items()}
        for name, array in zip(want, peer(other).run(list(want), moved)):
            np.testing.assert_allclose(want[name], array.transpose(back), 1e-4, 1e-4, err_msg=name)

    def test_one_dimension(self):
        self.check_first([2, 3, 11], [1, 1, 2.5], forms("nearest"))
        self.check_first([1, 2, 9, 7], [1, 1, 1, 1.7], forms("linear", "cubic"), seed=1)
        # The dimension behind the resized one is one of channels.
        self.check_first([1, 3, 5, 24], [1, 1, 3, 1], forms("linear", "cubic"), seed=2)

    def test_two_dimensions(self):
        self.check_first([2, 3, 5, 7], [1, 1, 1.7, 0.6], forms("nearest", "linear", "cubic"))
        self.check_first([1, 1, 30, 40], [1, 1, 2, 2], forms("linear"), seed=1)

    def test_three_dimensions(self):
        self.check_first([1, 2, 3, 4, 5], [1, 1, 2, 1.5, 0.8], forms("nearest", "linear"))

    def test_channels_last(self):
        for seed, channels in enumerate((32, 6, 1)):
            self.check_last([2, 5, 6, channels], [1, 1.7, 2, 1], forms("nearest", "linear", "cubic"), seed=seed)
        self.check_last([1, 3, 4, 2, 20], [1, 2, 1.5, 2, 1], forms("nearest", "linear"), seed=3)

    def test_open(self):
        """An open batch, open pictures, and channels whose number is open."""
        attributes = forms("linear")[:2] + forms("nearest")[:2] + forms("cubic")[:1]
        for seed, dims in enumerate((["n", 3, 5, 7], ["n", 3, "h", "w"])):
            self.check_first([2, 3, 5, 7], [1, 1, 2, 1.5], attributes, seed=seed, dims=dims)
        model, rest = resizes([2, 5, 7, 6], [1, 2, 1.5, 1], attributes, dims=["n", "h", "w", "c"])
        rng = np.random.default_rng(2)
        for shape in ([2, 5, 7, 6], [1, 3, 4, 1], [0, 3, 4, 8]):
            self.check(model, {"x": eighths(rng, *shape), "r": eighths(rng, *rest)}, 1e-5)

    def test_halves(self):
        """Results of convolutions are stored, resized and multiplied with 16 bits."""
        rng = np.random.default_rng(8)
        weights = {"w": eighths(rng, 16, 8, 3, 3), "v": eighths(rng, 8, 16, 1, 1),
                   "scales": np.array([1, 1, 2, 2], np.float32)}
        for mode in ("nearest", "linear", "cubic"):
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="before", pads=[1] * 4),
                     helper.make_node("Resize", ["c", "", "scales"], ["r"], name="resize", mode=mode),
                     helper.make_node("Relu", ["r"], ["p"]),
                     helper.make_node("Conv", ["p", "v"], ["y"], name="behind")]
            model = make_model(nodes, [("x", [2, 8, 7, 6])], [("y", [2, 8, 14, 12])], weights)
            for precision, tolerance in HALVES.items():
                self.check(model, {"x": eighths(rng, 2, 8, 7, 6)}, 4 * tolerance, f"--precision={precision}")

    def test_other_kernels(self):
        """Loops resize a part of the picture, dimensions that are not neighbors, and many taps."""
        rng = np.random.default_rng(9)
        nodes = [helper.make_node("Resize", ["x", "roi", "scales"], ["a"], name="part", mode="linear",
                                  coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.0),
                 helper.make_node("Resize", ["x", "", "apart"], ["b"], name="apart", mode="linear")]
        weights = {"roi": np.array([0, 0, 0.2, 0.1, 1, 1, 0.9, 1.2], np.float32),
                   "scales": np.array([1, 1, 1.5, 2], np.float32), "apart": np.array([1, 2, 1, 2], np.float32)}
        model = make_model(nodes, [("x", [1, 2, 6, 5])], [("a", [1, 2, 9, 10]), ("b", [1, 4, 6, 10])], weights, opset=19)
        self.check(model, {"x": eighths(rng, 1, 2, 6, 5)}, 1e-5, kernel=None)

    def test_nan_in_a_filter(self):
        """A filter multiplies by matrices. A NaN reaches all results that have a weight for it, but no other channel."""
        x = eighths(np.random.default_rng(10), 1, 2, 8, 9)
        spot = np.zeros_like(x)
        spot[0, 0, 3, 4] = 1
        for mode, size in (("linear", [5, 7]), ("cubic", [3, 4])):
            model = make_model([helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode=mode, antialias=1)],
                               [("x", x.shape)], [("y", [1, 2, *size])], {"sizes": np.array([1, 2, *size])}, opset=19)
            cpu = self.compile(model, "--target=x86-64-v3", name="cpu")
            gpu = self.compile(model, "--target=sm_80", "--ptxas=none", name="gpu")
            for run in (lambda x: self.run_model(cpu, {"x": x})["y"], lambda x: self.emulate(gpu, {"x": x})["y"]):
                numbers, weighted = run(x), run(spot)[0, 0] != 0
                for odd in (np.nan, np.inf):
                    y = run(np.where(spot, np.float32(odd), x))
                    self.assertFalse(np.isfinite(y[0, 0][weighted]).any())
                    np.testing.assert_array_equal(y[0, 1], numbers[0, 1])
