"""Quantizing a model with a large table takes little more memory than compiling it in fp32."""
import os
import subprocess
import sys

import support
from support import Case, helper, make_model, np

# The table has 64 MB. A copy in double precision would have 128.
ROWS, COLUMNS = 131072, 128
MEGABYTES = 100
# The layers have 34 MB. All of them in double precision would have 67, besides the new ones.
LAYERS, SIZE, MEGABYTES_OF_LAYERS = 8, 1024, 75

# Linux counts the memory of the process that forks as its child's. A small process starts the command, therefore.
RUN = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
       "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)")


class Memory(Case):
    def megabytes(self, *arguments):
        done = subprocess.run([sys.executable, "-SEc", RUN, os.path.join(support.BIN, "ingot"), *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout) * 1024 / 1e6

    def test_table(self):
        rng = np.random.default_rng(4)
        weights = {"table": rng.standard_normal((ROWS, COLUMNS)).astype(np.float32),
                   "w": rng.standard_normal((COLUMNS, 64)).astype(np.float32)}
        nodes = [helper.make_node("Gather", ["table", "ids"], ["rows"]), helper.make_node("MatMul", ["rows", "w"], ["y"])]
        source = self.save(make_model(nodes, [("ids", [32], support.TensorProto.INT64)], [("y", [32, 64])], weights))
        np.savez(self.path("samples.npz"), ids=rng.integers(0, ROWS, 32 * 16))
        out, ranges = self.path("out.so"), self.path("ranges.json")
        floats = self.megabytes("compile", source, "-o", out, "-q")
        calibrate = self.megabytes("calibrate", source, "--data", self.path("samples.npz"), "-o", ranges)
        self.assertLess(calibrate, floats + MEGABYTES)
        int8 = self.megabytes("compile", source, "--precision=int8", f"--calibration={ranges}", "-o", out, "-q")
        self.assertLess(int8, floats + MEGABYTES)

    def test_equalize(self):
        rng = np.random.default_rng(5)
        weights, nodes, x = {}, [], "x"
        for i in range(LAYERS):
            # Rows of very different size, which equalizing moves into the layer before.
            weights[f"w{i}"] = (rng.standard_normal((SIZE, SIZE)) / 32 * np.exp(rng.standard_normal((SIZE, 1)))).astype(np.float32)
            nodes += [helper.make_node("MatMul", [x, f"w{i}"], [f"m{i}"]), helper.make_node("Relu", [f"m{i}"], [f"r{i}"])]
            x = f"r{i}"
        source = self.save(make_model(nodes, [("x", [8, SIZE])], [(x, [8, SIZE])], weights))
        np.savez(self.path("samples.npz"), x=rng.standard_normal((64, SIZE)).astype(np.float32))
        out, ranges = self.path("out.so"), self.path("ranges.json")
        floats = self.megabytes("compile", source, "-o", out, "-q")
        calibrate = self.megabytes("calibrate", source, "--data", self.path("samples.npz"), "-o", ranges, "--repair=equalize")
        self.assertLess(calibrate, floats + MEGABYTES_OF_LAYERS)
