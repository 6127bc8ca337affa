"""Attentions on the emulated GPU."""
from emulated import Emulated, attention_model
from support import np, peer


class CudaAttention(Emulated):
    """Attentions in one kernel, against ONNX Runtime, with drawn schedules and orders of threads."""

    # Batch, heads, queries, keys, size of a head, size of a value; shape of the mask.
    SHAPES = [((1, 2, 7, 9, 16, 32), None), ((2, 3, 33, 70, 48, 16), (2, 1, 1, 70)), ((1, 1, 1, 1, 16, 16), (1,)),
              ((1, 2, 65, 64, 64, 64), (65, 64)), ((2, 2, 20, 130, 128, 128), (2, 2, 20, 130)),
              ((1, 3, 16, 17, 80, 112), (3, 16, 17))]

    def feeds(self, rng, inputs, hide=0.3):
        """Draws inputs. Some elements of a mask are large negative numbers or -inf, but not all of a row."""
        feeds = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in inputs}
        if "mask" in feeds:
            mask = feeds["mask"]
            hidden = np.where(rng.random(mask.shape) < 0.5, np.float32(-np.inf), np.float32(-3e38))
            mask[..., 1:] = np.where(rng.random(mask[..., 1:].shape) < hide, hidden[..., 1:], mask[..., 1:])
        return feeds

    def check(self, model, feeds, tolerance, *options, seed=0):
        want = peer(model).run(["y"], feeds)[0]
        for schedule in (0, seed + 1, seed + 2):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            got = self.emulate(artifact, feeds, seed=seed)["y"]
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=f"schedule {schedule}")
        with open(artifact, "rb") as f:
            self.assertIn(b".entry attention_0", f.read())

    def check_shapes(self, tolerance, *options):
        for seed, (sizes, mask) in enumerate(self.SHAPES):
            with self.subTest(sizes=sizes):
                model, inputs = attention_model(*sizes, mask=mask, residual=seed % 2 == 1)
                self.check(model, self.feeds(np.random.default_rng(seed), inputs), tolerance, *options, seed=seed)

    def test_float32(self):
        self.check_shapes(2e-6)

    def test_float16(self):
        # A factor has 11 significant bits, so that its relative error is at most 2^-12.
        self.check_shapes(4e-3, "--precision=fp16")

    def test_bfloat16(self):
        # A factor has 8 bits.
        self.check_shapes(3e-2, "--precision=bf16")

    def test_hidden_queries(self):
        # The first query has no key: NaN, or zeros if NaN is replaced.
        for options, tolerance in (((), 2e-6), (("--precision=fp16",), 4e-3)):
            for safe in (False, True):
                model, inputs = attention_model(1, 2, 20, 40, 32, 32, mask=(1, 1, 20, 40), safe=safe)
                feeds = self.feeds(np.random.default_rng(3), inputs)
                feeds["mask"][0, 0, 0, :] = -np.inf
                # All keys of the first steps are hidden from the second query.
                feeds["mask"][0, 0, 1, :33] = -np.inf
                self.check(model, feeds, tolerance, *options)

    def test_special_values(self):
        model, inputs = attention_model(1, 1, 6, 20, 16, 16)
        feeds = self.feeds(np.random.default_rng(4), inputs)
        feeds["q"][0, 1, 0, 3] = np.nan
        feeds["q"][0, 2, 0, :] = 0
        feeds["q"][0, 3, 0, :] = 300
        feeds["v"][0, 5, 0, 2] = np.inf
        self.check(model, feeds, 2e-6)

    def test_large_heads(self):
        # A kernel holds heads of up to 128 elements.
        model, inputs = attention_model(1, 2, 5, 6, 144, 16)
        feeds = self.feeds(np.random.default_rng(5), inputs)
        got = self.emulate(self.compile(model, "--target=sm_80"), feeds)["y"]
        np.testing.assert_allclose(got, peer(model).run(["y"], feeds)[0], rtol=2e-6, atol=2e-6)
