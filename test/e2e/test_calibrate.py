# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot calibrate`: compares ranges with those of ONNX Runtime's calibrators, and tries wrong uses."""
import contextlib
import hashlib
import io
import json
import os
import signal
import time

import numpy as np
from onnx import TensorProto, helper

import families
from support import Case, make_model, start, tool


def one_conv(shape=(1, 3, 4, 4), batch=None, name="x"):
    """A model that reads its input in bytes, and a second convolution."""
    rng = np.random.default_rng(3)
    dims = ["n" if batch is None else batch, *shape[1:]]
    nodes = [helper.make_node("Conv", [name, "w"], ["c"], "conv0", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"], "relu0"),
             helper.make_node("Conv", ["r", "v"], ["y"], "conv1")]
    weights = {"w": rng.standard_normal((4, shape[1], 3, 3)).astype(np.float32),
               "v": rng.standard_normal((2, 4, 1, 1)).astype(np.float32)}
    return make_model(nodes, [(name, dims)], [("y", [dims[0], 2, *shape[2:]])], weights)


class Calibrating(Case):
    def calibrate(self, model, *options, output="out.calib.json"):
        """Calibrates and returns the content of the written file."""
        source = model if isinstance(model, str) else self.save(model)
        done = tool("ingot", "calibrate", source, "--repair=none", *options, "-o", self.path(output))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path(output)) as f:
            return json.load(f)

    def data(self, name="x.npz", **arrays):
        (np.savez_compressed if "small" in name else np.savez)(self.path(name), **arrays)
        return self.path(name)

    def refuses(self, model, *words, options=()):
        source = model if isinstance(model, str) else self.save(model)
        out = self.path("none.json")
        done = tool("ingot", "calibrate", source, "-o", out, *options)
        self.assert_one_line(done, *words)
        self.assertFalse(os.path.exists(out), "something was left behind")


class Ranges(Calibrating):
    DISTRIBUTIONS = ("normal", "laplace", "positive", "uniform")

    def samples(self, count=64):
        rng = np.random.default_rng(11)
        shape = (count, 2, 8, 8)
        made = {"normal": rng.standard_normal(shape), "laplace": rng.laplace(0.3, 2, shape),
                "positive": np.maximum(rng.standard_normal(shape), 0) ** 3, "uniform": rng.uniform(-1, 3, shape)}
        return {name: made[name].astype(np.float32) for name in self.DISTRIBUTIONS}

    def model(self):
        """A convolution reads each input, so the observed values are the given ones, to the bit."""
        nodes, outputs = [], []
        for name in self.DISTRIBUTIONS:
            nodes.append(helper.make_node("Conv", [name, "w"], [name + "_y"], name + "_conv"))
            outputs.append((name + "_y", ["n", 3, 8, 8]))
        return make_model(nodes, [(name, ["n", 2, 8, 8]) for name in self.DISTRIBUTIONS], outputs,
                          {"w": np.ones((3, 2, 1, 1), np.float32)})

    def onnxruntimes(self, method, data, **options):
        """Returns {input: (low, high)} of ONNX Runtime's calibrator, which sees all data at once."""
        from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, create_calibrator

        class Reader(CalibrationDataReader):
            left = [data]

            def get_next(self):
                return self.left.pop() if self.left else None
        with contextlib.redirect_stdout(io.StringIO()):
            calibrator = create_calibrator(self.save(self.model(), "theirs.onnx"), ["Conv"],
                                           self.path("augmented.onnx"), CalibrationMethod[method],
                                           extra_options=options)
            calibrator.collect_data(Reader())
            found = calibrator.compute_data().data
        return {name: found[name].range_value for name in self.DISTRIBUTIONS}

    @staticmethod
    def ends(tensor):
        return (-tensor["zero_point"] * tensor["scale"], (255 - tensor["zero_point"]) * tensor["scale"])

    def ours(self, method, data, *options):
        found = self.calibrate(self.model(), "--data", self.data(**data), "--method", method, *options)
        self.assertEqual([t["name"] for t in found["tensors"]], list(self.DISTRIBUTIONS))
        return {t["name"]: t for t in found["tensors"]}

    def test_minmax_is_onnxruntimes(self):
        from onnxruntime.quantization.quant_utils import compute_scale_zp
        data = self.samples()
        ours, theirs = self.ours("minmax", data), self.onnxruntimes("MinMax", data)
        for name, (low, high) in theirs.items():
            zero_point, scale = compute_scale_zp(np.array(low, np.float32), np.array(high, np.float32),
                                                 np.array(0, np.uint8), np.array(255, np.uint8))
            self.assertEqual(np.float32(ours[name]["min"]), np.float32(low))
            self.assertEqual(np.float32(ours[name]["max"]), np.float32(high))
            self.assertEqual(np.float32(ours[name]["scale"]), np.float32(scale), name)
            self.assertEqual(ours[name]["zero_point"], np.asarray(zero_point).item(), name)

    def agree(self, ours, theirs, data, exempt=()):
        """The ends of ranges differ by at most one of 2048 bins, plus one step because the zero point is rounded."""
        for name, (low, high) in theirs.items():
            most = np.abs(data[name]).max()
            near = 2 * most / 2048 + ours[name]["scale"] / 2 + 1e-6
            got = self.ends(ours[name])
            self.assertLessEqual(abs(got[0] - min(low, 0)), near, f"{name} low: {got}, not {low, high}")
            self.assertLessEqual(abs(got[1] - max(high, 0)), near, f"{name} high: {got}, not {low, high}")

    def test_percentile_is_within_one_bin(self):
        data = self.samples()
        for percentile in (99.999, 99.9, 99):
            self.agree(self.ours("percentile", data, "--percentile", str(percentile)),
                       self.onnxruntimes("Percentile", data, num_bins=2048, percentile=percentile,
                                         symmetric=False), data)

    def test_entropy_is_within_one_bin(self):
        data = self.samples()
        self.agree(self.ours("entropy", data),
                   self.onnxruntimes("Entropy", data, num_bins=2048, num_quantized_bins=128), data)

    def test_moving_average_follows_the_order(self):
        data = self.samples()
        low, high = {}, {}
        for name, values in data.items():
            for sample in values:
                low[name] = low[name] + 0.01 * (sample.min() - low[name]) if name in low else float(sample.min())
                high[name] = high[name] + 0.01 * (sample.max() - high[name]) if name in high else float(sample.max())
        ours = self.ours("moving-average", data)
        for name in data:
            self.assertAlmostEqual(self.ends(ours[name])[1] - self.ends(ours[name])[0],
                                   max(high[name], 0) - min(low[name], 0), delta=1e-5)
        turned = self.ours("moving-average", {name: values[::-1] for name, values in data.items()})
        self.assertNotEqual([t["scale"] for t in turned.values()], [t["scale"] for t in ours.values()])

    def test_mse_beats_all_of_the_range(self):
        data = self.samples()
        found, everything = self.ours("mse", data), self.ours("minmax", data)

        def error(values, tensor):
            steps = np.clip(np.rint(values / tensor["scale"]) + tensor["zero_point"], 0, 255) - tensor["zero_point"]
            return float(((steps * tensor["scale"] - values.astype(np.float64)) ** 2).mean())
        for name, values in data.items():
            self.assertLessEqual(error(values, found[name]), 1.001 * error(values, everything[name]), name)
        self.assertLess(error(data["laplace"], found["laplace"]), 0.96 * error(data["laplace"], everything["laplace"]))


class Repeatable(Calibrating):
    """The file does not depend on the order and grouping of the data."""

    def test_order_threads_batches_and_files(self):
        model = families.ALL["resnet"]()[0]
        x = np.random.default_rng(5).standard_normal((24, 3, 64, 64)).astype(np.float32)
        wanted = self.calibrate(model, "--data", self.data(input=x))
        self.assertEqual(wanted["samples"], 24)
        self.assertEqual(self.calibrate(model, "--data", self.data(input=x[::-1]), "--threads", "1"), wanted)
        self.assertEqual(self.calibrate(model, "--data", self.data("small.npz", input=x)), wanted)
        os.mkdir(self.path("folder"))
        np.save(self.path("folder/a.npy"), x[:5])
        np.save(self.path("folder/b.npy"), x[5:6].astype(">f4"))
        np.savez(self.path("folder/c.npz"), anything=x[6:])
        self.assertEqual(self.calibrate(model, "--data", self.path("folder")), wanted)

    def test_only_zeros(self):
        """Every method finds a range for a relu whose outputs are all 0."""
        nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["g"], "gemm"), helper.make_node("Relu", ["g"], ["r"], "relu"),
                 helper.make_node("MatMul", ["r", "v"], ["y"], "matmul")]
        weights = {"w": np.ones((4, 4), np.float32), "b": np.full(4, -1000, np.float32), "v": np.ones((4, 3), np.float32)}
        model = make_model(nodes, [("x", [2, 4])], [("y", [2, 3])], weights)
        x = np.random.default_rng(5).standard_normal((12, 4)).astype(np.float32)
        for method in ("minmax", "percentile", "mse", "entropy", "moving-average", "best"):
            with self.subTest(method=method):
                tensors = self.calibrate(model, "--data", self.data(x=x), "--method", method)["tensors"]
                self.assertEqual([t["max"] for t in tensors if t["name"] != "x"], [0])

    def test_open_and_fixed_batches(self):
        x = np.random.default_rng(5).standard_normal((12, 3, 4, 4)).astype(np.float32)
        found = {}
        for method in ("minmax", "percentile", "mse", "entropy"):
            for batch in (None, 1, 4):
                got = self.calibrate(one_conv(batch=batch), "--data", self.data(x=x), "--method", method)
                found[batch] = [(t["name"], t["scale"], t["zero_point"]) for t in got["tensors"]]
            self.assertEqual(found[None], found[1], method)
            self.assertEqual(found[1], found[4], method)
        self.assertEqual(self.calibrate(one_conv(), "--data", self.data(x=x), "--method", method, "--dim", "n=4")["tensors"],
                         got["tensors"])

    def test_the_file_names_its_model(self):
        path = self.save(one_conv())
        x = np.random.default_rng(5).standard_normal((12, 3, 4, 4)).astype(np.float32)
        found = self.calibrate(path, "--data", self.data(x=x), "--method", "minmax")
        with open(path, "rb") as f:
            self.assertEqual(found["model_sha256"], hashlib.sha256(f.read()).hexdigest())
        self.assertEqual((found["ingot_calibration"], found["model"], found["method"], found["samples"]),
                         (1, "model.onnx", "minmax", 12))
        self.assertEqual([t["name"] for t in found["tensors"]], ["x", "relu0"])

    def test_several_inputs_and_outputs_of_any_size(self):
        """Outputs whose sizes depend on data, a scalar for all samples, and an integer input."""
        nodes = [helper.make_node("MatMul", ["x", "w"], ["m"], "product"),
                 helper.make_node("Mul", ["m", "factor"], ["s"], "scale"),
                 helper.make_node("NonZero", ["index"], ["z"], "nonzero"),
                 helper.make_node("MatMul", ["s", "w"], ["y"], "last")]
        model = make_model(nodes, [("x", ["n", 4]), ("factor", []), ("index", [5], TensorProto.INT64)],
                           [("y", ["n", 4]), ("z", [1, "k"], TensorProto.INT64)],
                           {"w": np.eye(4, dtype=np.float32)})
        x = np.random.default_rng(5).standard_normal((12, 4)).astype(np.float32)
        index = np.arange(60).reshape(12, 5) % 3
        found = self.calibrate(model, "--data", self.data(x=x, factor=np.float32(3), index=index),
                               "--method", "minmax")
        tensors = {t["name"]: t for t in found["tensors"]}
        self.assertEqual(found["samples"], 12)
        self.assertEqual(np.float32(tensors["scale"]["max"]), 3 * x.max())
        self.assertEqual(np.float32(tensors["x"]["min"]), x.min())


class Refused(Calibrating):
    """The command fails with one line and writes no file."""

    def good(self):
        return np.random.default_rng(5).standard_normal((12, 3, 4, 4)).astype(np.float32)

    def test_data(self):
        model = self.save(one_conv())

        def with_data(path, *words):
            self.refuses(model, *words, options=["--data", path])
        self.refuses(model, "--data is missing")
        with_data(self.path("gone.npz"), "gone.npz", "no such file")
        os.mkdir(self.path("empty"))
        with_data(self.path("empty"), "empty", "holds no")
        with_data(model, "model.onnx", "no .npz")
        x = self.good()
        with_data(self.data("n.npz", x=x[:0]), "n.npz", "no samples")
        with_data(self.data("s.npz", x=x[:, :, :3]), "s.npz", "'x'", "12x3x3x4", "?x3x4x4")
        with_data(self.data("t.npz", x=x.astype(np.float64)), "t.npz", "float64", "'x'", "float32")
        with_data(self.data("w.npz", a=x, b=x), "w.npz", "'x'", "a, b")
        np.savez(self.path("o.npz"))
        with_data(self.path("o.npz"), "o.npz", "'x'", "empty")
        np.save(self.path("f.npy"), np.asfortranarray(x))
        with_data(self.path("f.npy"), "f.npy", "Fortran", "ascontiguousarray")
        for value in (np.nan, np.inf, -np.inf):
            bad = x.copy()
            bad[7, 1, 2, 3] = value
            with_data(self.data("b.npz", x=bad), "b.npz", "'x'", "infinite or not a number", "sample 8 of 12: leave it out")
        bad[[9, 11], 0, 0, 0] = np.nan
        with_data(self.data("b.npz", x=bad), "sample 8 of 12, and 2 others are alike: leave them out")

    def test_broken_archives(self):
        model = self.save(one_conv())
        good = self.data("small.npz", x=self.good())
        with open(good, "rb") as f:
            whole = f.read()
        rng = np.random.default_rng(9)
        for i in range(60):
            broken = bytearray(whole)
            if i < 20:
                broken = broken[:len(whole) * i // 20]
            else:
                for at in rng.integers(0, len(whole), 1 + i % 3):
                    broken[at] ^= 1 << int(rng.integers(0, 8))
            with open(self.path("broken.npz"), "wb") as f:
                f.write(broken)
            done = tool("ingot", "calibrate", model, "--data", self.path("broken.npz"), "-o", self.path("none.json"))
            if done.returncode:
                self.assert_one_line(done, "broken.npz")
                self.assertFalse(os.path.exists(self.path("none.json")))
            else:
                os.remove(self.path("none.json"))
            if i < 20:
                self.assertNotEqual(done.returncode, 0, "a part of a file")

    def test_inputs_by_name(self):
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv0"), helper.make_node("Add", ["c", "z"], ["y"], "add")]
        model = self.save(make_model(nodes, [("x", [1, 3, 4, 4]), ("z", [1, 2, 4, 4])], [("y", [1, 2, 4, 4])],
                                     {"w": np.ones((2, 3, 1, 1), np.float32)}))
        x, z = self.good(), np.zeros((12, 2, 4, 4), np.float32)
        np.save(self.path("x.npy"), x)
        self.refuses(model, "x.npy", "2 inputs", ".npz", options=["--data", self.path("x.npy")])
        self.refuses(model, "'z'", options=["--data", self.data(x=x)])
        self.refuses(model, "'z'", "11", "12", options=["--data", self.data(x=x, z=z[:11])])
        self.assertEqual(self.calibrate(model, "--data", self.data(x=x, z=z))["samples"], 12)

    def test_batches(self):
        self.refuses(one_conv(batch=5), "12 samples", "5 at a time", options=["--data", self.data(x=self.good())])

    def test_what_becomes_infinite(self):
        nodes = [helper.make_node("Exp", ["x"], ["e"], "exp0"), helper.make_node("Conv", ["e", "w"], ["y"], "conv0")]
        model = make_model(nodes, [("x", ["n", 3, 4, 4])], [("y", ["n", 2, 4, 4])],
                           {"w": np.ones((2, 3, 1, 1), np.float32)})
        x = self.good()
        x[2] += 100
        self.refuses(model, "'exp0'", "infinite", "sample 3 of", "x.npz': leave it out", options=["--data", self.data(x=x)])
        x[[5, 9]] += 100
        self.refuses(model, "'exp0'", "sample 3 of", "x.npz', and 2 others are alike: leave them out",
                     options=["--data", self.data(x=x)])

    def test_use(self):
        model, data = self.save(one_conv()), self.data(x=self.good())
        self.refuses(model, "--method", "entropy", options=["--data", data, "--method", "median"])
        self.refuses(model, "--percentile", options=["--data", data, "--percentile", "20"])
        self.refuses(self.path("gone.onnx"), "gone.onnx", options=["--data", data])
        relu = make_model([helper.make_node("Relu", ["x"], ["y"], "relu0")], [("x", [1, 3, 4, 4])],
                          [("y", [1, 3, 4, 4])])
        self.refuses(relu, "no convolution or matrix product", options=["--data", data])
        # No calibration sees values in branches.
        then = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["z"], "inner")], "then", [],
                                 [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
        other = helper.make_graph([helper.make_node("Relu", ["x"], ["z"], "relu0")], "other", [],
                                  [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
        nodes = [helper.make_node("ReduceMax", ["x"], ["most"], "most", keepdims=0),
                 helper.make_node("Greater", ["most", "zero"], ["yes"], "yes"),
                 helper.make_node("If", ["yes"], ["y"], "if0", then_branch=then, else_branch=other)]
        inner = make_model(nodes, [("x", [1, 3, 4, 4])], [("y", [1, 3, 4, 4])],
                           {"zero": np.float32(0), "w": np.ones((3, 3, 1, 1), np.float32)}, opset=17)
        self.refuses(inner, "--precision=int8-dynamic quantizes products in loops", options=["--data", data])
        for output, words in ((self.dir, "is a directory"), (model, "the model itself"), (data, "it is read as"),
                              (self.path("no/such/x.json"), "no such file")):
            done = tool("ingot", "calibrate", model, "--data", data, "-o", output)
            self.assert_one_line(done, "cannot write", words)
        done = tool("ingot", "calibrate")
        self.assert_one_line(done, "no model.onnx")

    def test_warnings(self):
        model = self.save(one_conv())
        done = tool("ingot", "calibrate", model, "--data", self.data(x=np.full((3, 3, 4, 4), 2, np.float32)), "-o",
                    self.path("a.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: there are 3 samples", done.stderr)
        self.assertIn("warning: tensor 'x' was always 2", done.stderr)
        # Numbers that no sensor measures.
        tiny = self.save(make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", ["n", 8])], [("y", ["n", 4])],
                                    {"w": np.full((8, 4), 1e-3, np.float32)}), "tiny.onnx")
        done = tool("ingot", "calibrate", tiny, "--data", self.data(x=np.full((12, 8), 3e38, np.float32)), "-o", self.path("a.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: tensor 'x' reaches 3e+38 in sample 1: layers of such ranges may stay in fp32; scale the data, or "
                      "leave the sample out if it is wrong\n", done.stderr)
        done = tool("ingot", "calibrate", model, "--data", self.data(x=self.good()), "-o", self.path("a.json"))
        self.assertEqual(done.stderr, "")

    def test_interrupted(self):
        """An interrupted calibration leaves no part of the file or of its artifact."""
        model = self.save(families.ALL["resnet"]()[0])
        # So many samples that the command is still running when it is interrupted. The sparse file needs no disk space.
        shape = (1 << 20, 3, 64, 64)
        samples = np.lib.format.open_memmap(self.path("x.npy"), "w+", np.float32, shape)
        del samples
        os.mkdir(self.path("tmp"))
        before = set(os.listdir(self.dir))
        for number, wait in ((signal.SIGINT, 0.3), (signal.SIGTERM, 2.5)):
            os.environ["TMPDIR"] = self.path("tmp")
            try:
                process = start("ingot", "calibrate", model, "--data", self.path("x.npy"), "-o", self.path("y.json"))
            finally:
                del os.environ["TMPDIR"]
            time.sleep(wait)
            process.send_signal(number)
            self.assertNotEqual(process.wait(60), 0, "it was done before it was interrupted")
            self.assertEqual(set(os.listdir(self.dir)), before)
            self.assertEqual(os.listdir(self.path("tmp")), [])


class Json(Calibrating):
    def run_json(self, *options):
        self.save(one_conv(), "m.onnx")
        data = self.data(x=np.random.default_rng(1).standard_normal((12, 3, 4, 4)).astype(np.float32))
        done = tool("ingot", "calibrate", self.path("m.onnx"), "--data", data, "-o", self.path("m.json"), "--json", *options)
        return done, [json.loads(line) for line in done.stderr.splitlines()]

    def test_result_is_one_document_and_progress_is_lines(self):
        done, lines = self.run_json("--repair=equalize,bias")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(list(found)[:3], ["schema", "version", "ingot"])
        self.assertEqual(found["schema"], "ingot.calibrate")
        with open(self.path("m.json")) as f:
            written = json.load(f)
        self.assertEqual(found["calibration"], self.path("m.json"))
        self.assertEqual(found["tensors"], len(written["tensors"]))
        self.assertEqual((found["samples"], found["method"]), (12, "mse"))
        self.assertEqual([r["name"] for r in found["repairs"]], ["equalize", "bias"])
        steps = [line for line in lines if line["type"] == "progress"]
        fractions = [line["fraction"] for line in steps]
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual(fractions[-1], 1)
        self.assertGreater(len({line["phase"] for line in steps}), 10)

    def test_measured_error_is_a_member(self):
        done, _ = self.run_json()
        found = json.loads(done.stdout)["int8"]
        self.assertLess(found["relative_error"], found["relative_error_limit"])

    def test_error_is_a_line(self):
        done, lines = self.run_json("--shape", "x=1x3x4x4", "--data", self.path("none.npz"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(lines[-1]["severity"], "error")
        self.assertIn("none.npz", lines[-1]["text"])
