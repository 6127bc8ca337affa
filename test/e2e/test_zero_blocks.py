"""Tests matrices with blocks of zeros: these are neither stored nor multiplied, and other results do not change."""
import json
import os
import sys

from support import ROOT, Case, helper, make_model, np, tool

sys.path.insert(0, os.path.join(ROOT, "test", "property"))
import integer  # noqa: E402

# Levels that this machine runs.
LEVELS = (*integer.supported(("x86-64-v2", "x86-64-v3", "x86-64-v4")), "native")
# AMX tiles multiply bytes and bf16 with whole panels.
WITHOUT_TILES = LEVELS if not integer.supported(("sapphirerapids",)) else (*LEVELS[:-1], "cascadelake")
# K, N, and k and columns of a block: some divide K and N, some do not.
SHAPES = ((64, 64, 8, 32), (100, 70, 4, 16), (77, 33, 16, 16), (130, 48, 32, 32), (1024, 32, 16, 16))


def prune(weights, k, columns, share, rng):
    """Sets a share of the blocks of weights to zero."""
    grid = [-(-size // block) for size, block in zip(weights.shape, (k, columns))]
    kept = rng.permutation(grid[0] * grid[1]) >= round(share * grid[0] * grid[1])
    mask = np.repeat(np.repeat(kept.reshape(grid), k, 0), columns, 1)
    return weights * mask[:weights.shape[0], :weights.shape[1]]


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def pruned(rng, k, n, block_k=16, block_n=32, share=0.7):
    return prune(normal(rng, k, n) / np.float32(k) ** np.float32(0.5), block_k, block_n, share, rng)


def product(weights, rows, transposed=False):
    node = (helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="product", transB=1) if transposed else
            helper.make_node("MatMul", ["x", "w"], ["y"], name="product"))
    tensors = {"w": weights.T.copy() if transposed else weights}
    if transposed:
        tensors["b"] = np.arange(weights.shape[1], dtype=np.float32)
    return make_model([node], [("x", [rows, weights.shape[0]])], [("y", [rows, weights.shape[1]])], tensors)


class Blocks(Case):
    def inspect(self, artifact):
        return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)

    def stored(self, artifact):
        """Returns the bytes of matrices with blocks and without; nothing if there are no blocks."""
        metadata = self.inspect(artifact)["metadata"]
        return tuple(int(metadata[key]) for key in ("ingot.block_bytes", "ingot.whole_bytes") if key in metadata)

    def calibrate(self, model, inputs):
        np.savez(self.path("data.npz"), **inputs)
        done = tool("ingot", "calibrate", self.save(model), "--data", self.path("data.npz"), "-o", self.path("c.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return ("--precision=int8", "--calibration=" + self.path("c.json"))


class Floats(Blocks):
    def test_shapes_and_levels(self):
        rng = np.random.default_rng(0)
        for k, n, *block in SHAPES:
            weights = pruned(rng, k, n, *block)
            for rows in (1, 3, 30):
                model, inputs = product(weights, rows, rows == 3), {"x": normal(rng, rows, k)}
                for level in LEVELS:
                    with self.subTest(k=k, n=n, block=block, rows=rows, level=level):
                        artifact = self.compile(model, f"--target={level}")
                        after, before = self.stored(artifact)
                        self.assertLess(after, 0.85 * before)
                        self.assert_agrees(model, artifact, inputs)

    def test_open_rows(self):
        rng = np.random.default_rng(1)
        for columns in (16, 32):
            weights = pruned(rng, 96, 160, 8, columns)
            model = product(weights, "n")
            for level in LEVELS:
                artifact = self.compile(model, f"--target={level}")
                self.assertTrue(self.stored(artifact))
                for rows in (1, 2, 5, 17, 29, 200):
                    with self.subTest(columns=columns, level=level, rows=rows):
                        self.assert_agrees(model, artifact, {"x": normal(rng, rows, 96)})

    def test_pointwise_convolution(self):
        rng = np.random.default_rng(2)
        weights = pruned(rng, 128, 96, 16, 16).T.reshape(96, 128, 1, 1).copy()
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
        model = make_model(nodes, [("x", ["n", 128, 7, 9])], [("y", ["n", 96, 7, 9])],
                           {"w": weights, "b": normal(rng, 96)})
        artifact = self.compile(model)
        self.assertTrue(self.stored(artifact))
        for batch in (1, 3):
            self.assert_agrees(model, artifact, {"x": normal(rng, batch, 128, 7, 9)})

    def test_zero_panels_and_matrices(self):
        """A panel without a block, at the beginning, inside and at the end, and a matrix of zeros, whose result is an
        output of the graph."""
        rng = np.random.default_rng(3)
        for zeros in ([slice(0, 32)], [slice(32, 64)], [slice(64, 96)], [slice(0, 96)]):
            weights = normal(rng, 64, 96)
            for columns in zeros:
                weights[:, columns] = 0
            weights[5, 40] = 0
            for rows in (1, 20):
                model = product(weights, rows, transposed=True)
                artifact = self.compile(model)
                with self.subTest(zeros=zeros, rows=rows):
                    self.assertTrue(self.stored(artifact))
                    self.assert_agrees(model, artifact, {"x": normal(rng, rows, 64)})

    def test_halves(self):
        rng = np.random.default_rng(4)
        weights = pruned(rng, 256, 64, 32, 32)
        model, inputs = product(weights, 20), {"x": normal(rng, 20, 256)}
        for precision, tolerance in (("bf16", 2e-2), ("fp16", 2e-3)):
            for level in WITHOUT_TILES if precision == "bf16" else LEVELS:
                with self.subTest(precision=precision, level=level):
                    artifact = self.compile(model, f"--precision={precision}", f"--target={level}")
                    self.assertTrue(self.stored(artifact))
                    self.assert_agrees(model, artifact, inputs, tolerance)

    def test_the_same_bits_on_two_threads(self):
        rng = np.random.default_rng(5)
        model = product(pruned(rng, 512, 512), 200)
        artifact, inputs = self.compile(model), {"x": normal(rng, 200, 512)}
        one = self.run_model(artifact, inputs, "--threads", "1")["y"]
        np.testing.assert_array_equal(one, self.run_model(artifact, inputs, "--threads", "2")["y"])

    def test_usual_sizes_share_weights(self):
        rng = np.random.default_rng(6)
        model = product(pruned(rng, 256, 256), "n")
        usual, general = self.compile(model, "--shape", "x=(1:8:64)x256"), self.compile(model, name="general")
        self.assertEqual(self.stored(usual), self.stored(general))
        for rows in (8, 9):
            self.assert_agrees(model, usual, {"x": normal(rng, rows, 256)})
        self.assertLess(self.inspect(usual)["weights_bytes"], 1.2 * self.inspect(general)["weights_bytes"])


class Bytes(Blocks):
    def test_shapes_and_levels(self):
        """Results with and without zero blocks are equal: quantization is equal, and sums are exact."""
        rng = np.random.default_rng(7)
        for k, n, *block in ((128, 64, 16, 32), (150, 70, 16, 16), (201, 33, 32, 32)):
            model = product(pruned(rng, k, n, *block), 40)
            inputs = {"x": normal(rng, 40, k) + 1}
            options = self.calibrate(model, inputs)
            results = []
            for level in WITHOUT_TILES:
                # Fixes 8 bits, because levels without VNNI otherwise get other scales.
                artifact = self.compile(model, *options, f"--target={level}", "--weight-bits=8")
                after, before = self.stored(artifact)
                self.assertLess(after, 0.85 * before)
                results.append(self.assert_agrees(model, artifact, inputs, 0.05)["y"])
            for result in results[1:]:
                np.testing.assert_array_equal(result, results[0])

    def test_one_row_and_open_rows(self):
        rng = np.random.default_rng(8)
        model = product(pruned(rng, 128, 96), "n")
        options = self.calibrate(model, {"x": normal(rng, 64, 128) + 1})
        artifact = self.compile(model, *options, f"--target={WITHOUT_TILES[-1]}")
        self.assertTrue(self.stored(artifact))
        for rows in (1, 15, 29):
            self.assert_agrees(model, artifact, {"x": normal(rng, rows, 128) + 1}, 0.06)

    def test_amx_multiplies_whole_panels(self):
        rng = np.random.default_rng(9)
        model = product(pruned(rng, 128, 96), 16)
        options = self.calibrate(model, {"x": normal(rng, 16, 128)})
        for target in ("multi", "sapphirerapids", "x86-64-v3,sapphirerapids"):
            source, artifact = self.save(model), self.path("amx.so")
            done = tool("ingot", "compile", source, "-o", artifact, *options, f"--target={target}", "--remarks")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("AMX multiplies whole panels", done.stderr)
            self.assertEqual(self.stored(artifact), ())
        # There are no tiles for f32.
        self.assertTrue(self.stored(self.compile(model, "--target=x86-64-v3,sapphirerapids")))


class Reports(Blocks):
    def test_sizes_and_remarks(self):
        rng = np.random.default_rng(10)
        dense = normal(rng, 512, 512)
        weights = prune(dense, 16, 32, 0.75, rng)
        artifact = self.path("model.so")
        done = tool("ingot", "compile", self.save(product(weights, 8)), "-o", artifact, "--remarks")
        self.assertEqual(done.returncode, 0, done.stderr)
        after, before = self.stored(artifact)
        self.assertEqual(before, dense.nbytes)
        self.assertLess(after, 0.27 * before)
        self.assertIn(f"node 'product': {after} of {before} bytes are stored of its weights, the rest are blocks of zeros",
                      done.stderr)
        self.assertRegex(tool("ingot", "inspect", artifact).stdout, fr"blocks +.*\({after} bytes\) stored of 1.0 MiB "
                         r"\(1048576 bytes\) of weights, the rest are blocks of zeros\n")
        self.assertLess(self.inspect(artifact)["weights_bytes"],
                        0.3 * self.inspect(self.compile(product(dense, 8), name="dense"))["weights_bytes"])

    def test_what_stays(self):
        """Blocks are not skipped if zeros are scattered, blocks are few, or the matrix is small. oneDNN and loops skip
        none."""
        rng = np.random.default_rng(11)
        dense = normal(rng, 128, 128)
        scattered = dense * (rng.random(dense.shape) < 0.4)
        models = {"dense": dense, "scattered": scattered.astype(np.float32),
                  "few": prune(dense, 16, 32, 0.1, rng), "small": prune(dense[:16, :16], 8, 16, 0.5, rng)}
        for name, weights in models.items():
            model = product(weights, 4)
            artifact = self.compile(model, name=name)
            self.assertEqual(self.stored(artifact), (), name)
            self.assertNotIn("blocks", tool("ingot", "inspect", artifact).stdout)
            self.assert_agrees(model, artifact, {"x": normal(rng, 4, weights.shape[0])})
        half = prune(dense, 16, 32, 0.5, rng)
        self.assertEqual(self.stored(self.compile(product(half, 4), "--kernels=onednn")), ())
        self.assertTrue(self.stored(self.compile(product(half, 4))))


if __name__ == "__main__":
    import unittest
    unittest.main()
