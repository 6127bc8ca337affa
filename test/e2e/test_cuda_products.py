"""Convolutions and matrix products on the emulated GPU."""
from emulated import Emulated, classifier, drawn_products, eighths, kernels_of
from support import TensorProto, helper, make_model, np


class CudaProducts(Emulated):
    """Convolutions and matrix products with drawn sizes, schedules and orders of threads."""

    def check(self, seed, *options, share=0):
        """Results differ by at most `share` of the largest one."""
        model, feeds = drawn_products(seed, 6)
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for schedule in (0, seed + 1):
            artifact = self.compile(model, "--target=sm_80", f"--schedule-seed={schedule}", *options, name="gpu")
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                np.testing.assert_allclose(got[name], array, 0, share * np.abs(array).max(),
                                           err_msg=f"{seed=}, {schedule=}, {name=}")

    def test_float32(self):
        for seed in range(4):
            self.check(seed)

    def test_float16(self):
        for seed in range(4, 8):
            self.check(seed, "--precision=fp16")

    def test_parts(self):
        """A small result with a large depth is computed in parts, whose sum has the epilogue."""
        rng = np.random.default_rng(6)
        weights = {"w": eighths(rng, 72, 256, 3, 3), "b": eighths(rng, 72), "m": eighths(rng, 2000, 10)}
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1] * 4),
                 helper.make_node("Add", ["c", "r"], ["a"]), helper.make_node("Relu", ["a"], ["y"]),
                 helper.make_node("MatMul", ["v", "m"], ["z"], name="product")]
        inputs = [("x", [1, 256, 7, 7]), ("r", [1, 72, 7, 7]), ("v", [3, 2000])]
        model = make_model(nodes, inputs, [("y", [1, 72, 7, 7]), ("z", [3, 10])], weights)
        feeds = {name: eighths(rng, *shape) for name, shape in inputs}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for options, share in ([], 0), (["--precision=fp16"], 2 ** -11), (["--precision=bf16"], 2 ** -7):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", *options, name="gpu")
            self.assertEqual(kernels_of(artifact)[-2:], ["sum_parts"] * 2)
            first = self.emulate(artifact, feeds, seed=0)
            for name, array in want.items():
                np.testing.assert_allclose(first[name], array, 0, share * np.abs(array).max(), err_msg=f"{options}")
            for seed in (1, 2):
                for name, array in self.emulate(artifact, feeds, seed=seed).items():
                    np.testing.assert_array_equal(array, first[name])

    def check_depthwise(self, seed, images, channels, size, taps, strides, dilations, pads, multiplier=1, halves=False):
        rng = np.random.default_rng(seed)
        room = [s + pads[k] + pads[k + len(taps)] - (t - 1) * d - 1
                for k, (s, t, d) in enumerate(zip(size, taps, dilations))]
        results = channels * multiplier
        shape = [images, results] + [r // s + 1 for r, s in zip(room, strides)]
        weights = {"w": eighths(rng, results, 1, *taps), "b": eighths(rng, results)}
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", strides=strides, pads=pads,
                                  dilations=dilations, group=channels),
                 helper.make_node("Add", ["c", "r"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
        inputs = [("x", [images, channels] + size), ("r", shape)]
        model = make_model(nodes, inputs, [("y", shape)], weights)
        feeds = {name: eighths(rng, *sizes) for name, sizes in inputs}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)["y"]
        for options, share in [([], 0)] + ([(["--precision=fp16"], 2 ** -11), (["--precision=bf16"], 2 ** -7)] if halves
                                           else []):
            with self.subTest(seed=seed, options=options):
                artifact = self.compile(model, "--target=sm_80", "--ptxas=none", *options, name="gpu")
                self.assertIn("depthwise_conv", kernels_of(artifact))
                got = self.emulate(artifact, feeds, seed=seed)["y"]
                np.testing.assert_allclose(got, want, 0, share * np.abs(want).max())

    def test_depthwise(self):
        """Channels by vectors and one by one; few pixels, and enough for blocks of two and four."""
        for seed, case in enumerate([
                (2, 24, [9, 11], [3, 3], [1, 1], [1, 1], [1, 1, 1, 1]), (1, 10, [12, 9], [5, 2], [2, 1], [1, 2], [2, 0, 1, 3]),
                (1, 7, [17], [4], [3], [2], [0, 2]), (1, 8, [5, 6, 7], [3, 1, 2], [1, 2, 1], [1, 1, 1], [1, 0, 1, 0, 0, 1]),
                (2, 16, [85, 87], [3, 3], [1, 1], [1, 1], [1, 1, 1, 1]), (1, 5, [150, 151], [2, 3], [1, 1], [1, 1], [0, 1, 1, 0])]):
            self.check_depthwise(seed, *case, halves=seed == 0)

    def test_channel_multiplier(self):
        """A channel gives fewer results than a vector has, as many, more, or a number that fits no vector."""
        for seed, (channels, multiplier) in enumerate([(24, 2), (6, 4), (3, 8), (8, 3), (5, 2), (2, 16)]):
            self.check_depthwise(seed, 2, channels, [9, 11], [3, 3], [1, 2], [1, 1], [1, 1, 1, 1], multiplier, halves=True)

    def test_product_beside_open_sizes(self):
        # The steps of a loop read parts of a sequence of open length, which is in host memory.
        rng = np.random.default_rng(3)
        body = helper.make_graph(
            [helper.make_node("MatMul", ["s", "w"], ["m"], name="product"), helper.make_node("Add", ["m", "x"], ["t"]),
             helper.make_node("Identity", ["t"], ["y"])], "body",
            [helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 6]),
             helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])],
            [helper.make_tensor_value_info("t", TensorProto.FLOAT, [1, 6]),
             helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6])])
        nodes = [helper.make_node("Scan", ["start", "xs"], ["end", "ys"], body=body, num_scan_inputs=1)]
        model = make_model(nodes, [("start", [1, 6]), ("xs", ["n", 1, 6])], [("end", [1, 6]), ("ys", ["n", 1, 6])],
                           {"w": eighths(rng, 6, 6)})
        feeds = {"start": eighths(rng, 1, 6), "xs": eighths(rng, 3, 1, 6)}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        got = self.emulate(self.compile(model, "--target=sm_80", name="gpu"), feeds, seed=1)
        for name, array in want.items():
            np.testing.assert_allclose(got[name], array, 1e-6)

    def test_tf32(self):
        for seed in range(10, 12):
            self.check(seed, "--precision=tf32")
        self.assert_refuses(self.save(classifier()), "tf32", "--target=cuda", options=["--precision=tf32"])

    def test_bfloat16(self):
        for seed in range(8, 10):
            # A product is stored with 8 bits, and its sum with an operand again: two
            # errors of 2^-8 at most.
            self.check(seed, "--precision=bf16", share=2 ** -7)
