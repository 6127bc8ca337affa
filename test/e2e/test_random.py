"""Tests random numbers of a run: their distribution, and that they are equal in every run."""
from support import Case, TensorProto, helper, make_model, np


class Random(Case):
    def draw(self, op, inputs, dims=None, element=TensorProto.FLOAT, **attributes):
        """Returns the equal results of two runs."""
        node = helper.make_node(op, list(inputs), ["y"], name="node", **attributes)
        artifact = self.compile(make_model([node], [(n, dims or x.shape) for n, x in inputs.items()],
                                           [("y", None, element)]))
        first, second = (self.run_model(artifact, inputs)["y"] for _ in range(2))
        np.testing.assert_array_equal(first, second)
        return first

    def test_classes(self):
        """Each class is drawn as often as its probability says; one without probability is never drawn."""
        rng = np.random.default_rng(0)
        logits = rng.standard_normal((3, 50)).astype(np.float32)
        logits[0, [0, 7, 49]] = -np.inf
        logits[1] += 80
        logits[2, 5:] = -200
        samples = 40000
        chances = np.exp(logits - logits.max(1, keepdims=True), dtype=np.float64)
        chances /= chances.sum(1, keepdims=True)
        for dims in (None, ["b", "c"]):
            got = self.draw("Multinomial", {"x": logits}, dims, TensorProto.INT64, sample_size=samples, dtype=TensorProto.INT64,
                            seed=3.0)
            self.assertEqual(got.shape, (3, samples))
            for row, chance in zip(got, chances):
                shares = np.bincount(row, minlength=50) / samples
                self.assertLess(np.abs(shares - chance).max(), 5 * 0.5 / np.sqrt(samples))
                self.assertEqual(shares[chance == 0].sum(), 0)

    def test_odd_chances(self):
        """A single class is always drawn, and invalid probabilities still draw an existing class."""
        got = self.draw("Multinomial", {"x": np.zeros((2, 1), np.float32)}, None, TensorProto.INT32, sample_size=5)
        np.testing.assert_array_equal(got, np.zeros((2, 5)))
        for value in (np.nan, np.inf, -np.inf, 3e38):
            got = self.draw("Multinomial", {"x": np.full((1, 6), value, np.float32)}, None, TensorProto.INT32, sample_size=50)
            self.assertTrue(((got >= 0) & (got < 6)).all(), value)

    def test_moments(self):
        count = 100000
        x = np.zeros(count, np.float32)
        normal = self.draw("RandomNormalLike", {"x": x}, mean=1.0, scale=2.0).astype(np.float64)
        self.assertLess(abs(normal.mean() - 1), 0.05)
        self.assertLess(abs(normal.std() - 2), 0.05)
        self.assertLess(abs((((normal - 1) / 2) ** 4).mean() - 3), 0.2)
        uniform = self.draw("RandomUniformLike", {"x": x}, low=-1.0, high=3.0)
        self.assertTrue(((uniform >= -1) & (uniform < 3)).all())
        self.assertLess(np.abs(np.histogram(uniform, 20, (-1, 3))[0] / count - 0.05).max(), 0.005)
