# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the metrics of `ingot compare` and `ingot compile --precision=auto`: their scores, commands that score, and
wrong labels."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
from onnx import TensorProto, helper

import digits
from support import ROOT, Case, is_running, make_model, start, tool, wait_until


def score_script(body):
    """Returns a program that loads the outputs of a folder as `y` and its labels as `labels`, and runs `body`."""
    return f"""import glob, json, os, sys
import numpy as np
folder = sys.argv[-1]
about = json.load(open(folder + "/outputs.json"))
files = [one["file"] for one in about["outputs"]]
y = [np.load(f) for f in sorted(glob.glob(folder + "/model.*." + files[0] + ".npy"))]
wanted = [np.load(f) for f in sorted(glob.glob(folder + "/fp32.*." + files[0] + ".npy"))]
assert len(y) == len(wanted) == about["samples"]
y, wanted = np.concatenate(y), np.concatenate(wanted)
labels = np.load(folder + "/labels.npy") if about["labels"] else None
{body}
"""


class Scored(Case):
    def command(self, body, name="score.py"):
        with open(self.path(name), "w") as f:
            f.write(score_script(body))
        return f"{sys.executable} {self.path(name)}"

    def digits(self, count=200):
        """Returns a trained model, samples and labels. Writes the samples as eval.npz."""
        network = digits.Network(0)
        network.train(*digits.render(1200, 1), seed=0)
        x, labels = digits.render(count, 2)
        np.savez(self.path("eval.npz"), x=x, labels=labels)
        np.savez(self.path("x.npz"), x=x)
        return self.save(network.model()), x, labels

    def two_heads(self):
        """Returns a model with values and classes as outputs, and samples."""
        rng = np.random.default_rng(3)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["values"], "a"), helper.make_node("MatMul", ["x", "v"], ["classes"], "b")]
        model = self.save(make_model(nodes, [("x", ["n", 32])], [("values", ["n", 2]), ("classes", ["n", 5])],
                                     {"w": draw(32, 2), "v": draw(32, 5)}))
        return model, draw(12, 32)

    def compare(self, *arguments):
        done = tool("ingot", "compare", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def quantized(self, model, *options):
        return self.compile(model, "--precision=int8-dynamic", *options, name="int8")


class Compared(Scored):
    def test_labels(self):
        """Labels choose a metric. Both scores are those of numpy."""
        model, x, labels = self.digits()
        artifact, floats = self.quantized(model), self.compile(model, name="fp32")
        right = lambda one: 100 * (self.run_model(one, {"x": x})["y"].argmax(1) == labels).mean()
        score = self.compare(artifact, model, "--data", self.path("eval.npz"))["score"]
        self.assertEqual((score["metric"], score["output"], score["labels"], score["rows"]), ("argmax:1", "y", "labels", 200))
        self.assertAlmostEqual(score["percent"], right(artifact))
        self.assertAlmostEqual(score["reference_percent"], right(floats))
        done = tool("ingot", "compare", artifact, model, "--data", self.path("eval.npz"))
        self.assertRegex(done.stdout, f"--metric=argmax:1, output 'y' against labels:\n  int8  {right(artifact):.2f} %; "
                                      f"standard error of drop [0-9.]+ points\n  fp32  {right(floats):.2f} %\n")
        # Without labels, the reference is right.
        score = self.compare(artifact, model, "--data", self.path("x.npz"), "--metric=argmax")["score"]
        wanted, got = (self.run_model(one, {"x": x})["y"].argmax(1) for one in (floats, artifact))
        self.assertAlmostEqual(score["percent"], 100 * (wanted == got).mean())
        self.assertEqual((score["reference_percent"], score["labels"]), (100, "reference"))
        self.assertNotIn("score", self.compare(artifact, model, "--data", self.path("x.npz")))

    def test_outputs_are_named(self):
        model, x = self.two_heads()
        artifact = self.quantized(model)
        np.savez(self.path("x.npz"), x=x)
        one_by_one = lambda artifact: {name: np.concatenate([run[name] for run in runs]) for runs in
                                       [[self.run_model(artifact, {"x": x[i:i + 1]}) for i in range(len(x))]]
                                       for name in ("values", "classes")}
        floats, got = one_by_one(self.compile(model, name="fp32")), one_by_one(artifact)
        score = self.compare(artifact, model, "--data", self.path("x.npz"), "--metric=argmax@classes")["score"]
        self.assertEqual((score["metric"], score["output"]), ("argmax:1", "classes"))
        self.assertAlmostEqual(score["percent"], 100 * (floats["classes"].argmax(1) == got["classes"].argmax(1)).mean())
        score = self.compare(artifact, model, "--data", self.path("x.npz"), "--metric=@values")["score"]
        self.assertEqual((score["metric"], score["output"]), ("regression", "values"))
        error = got["values"].astype(np.float64) - floats["values"]
        details = score["details"]
        self.assertAlmostEqual(details["mean_absolute_error"], np.abs(error).mean(0).max(), places=5)
        self.assertAlmostEqual(details["relative_error"], (np.linalg.norm(error, axis=0) /
                                                           np.linalg.norm(floats["values"], axis=0)).max(), places=5)
        self.assertAlmostEqual(details["correlation"], min(np.corrcoef(got["values"][:, i], floats["values"][:, i])[0, 1]
                                                           for i in range(2)), places=5)
        self.assert_one_line(tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--metric=argmax@gone"),
                             "no output 'gone'", "values, classes")

    def test_detection(self):
        """Boxes come from three outputs or from one. Those that a precision moves out of place are wrong."""
        rng = np.random.default_rng(5)
        corner = np.float32(rng.uniform(0, 50, (6, 2)))
        boxes = np.concatenate([corner, corner + rng.uniform(5, 20, (6, 2))], 1).astype(np.float32)
        classes = rng.integers(0, 3, 6)
        scores = np.linspace(0.9, 0.4, 6).astype(np.float32)
        # Each sample selects boxes by a product: the first number adds to all of their corners.
        nodes = [helper.make_node("Add", ["x", "boxes"], ["out_boxes"], "add"),
                 helper.make_node("Identity", ["scores"], ["out_scores"], "s"), helper.make_node("Identity", ["classes"], ["out_labels"], "c")]
        model = make_model(nodes, [("x", [6, 4])], [("out_boxes", [6, 4]), ("out_scores", [6])],
                           {"boxes": boxes, "scores": scores, "classes": classes.astype(np.int64)})
        model.graph.output.append(helper.make_tensor_value_info("out_labels", TensorProto.INT64, [6]))
        model = self.save(model)
        artifact = self.compile(model, name="fp32")
        labels = np.full((1, 8, 5), -1, np.float32)
        labels[0, :6] = np.concatenate([boxes, classes[:, None]], 1)
        np.savez(self.path("eval.npz"), x=np.zeros((6, 4), np.float32), labels=labels)
        score = self.compare(artifact, model, "--data", self.path("eval.npz"))["score"]
        self.assertEqual((score["metric"], score["output"]), ("detection:0.5", "out_boxes,out_scores,out_labels"))
        self.assertEqual((score["percent"], score["reference_percent"]), (100, 100))
        self.assertAlmostEqual(score["details"]["recall"], 5 / 6)
        # Two of six boxes are elsewhere: of those with the scores 0.9 and 0.4.
        moved = np.zeros((6, 4), np.float32)
        moved[[0, 5]] = 100
        np.savez(self.path("eval.npz"), x=moved, labels=labels)
        score = self.compare(artifact, model, "--data", self.path("eval.npz"), "--metric=detection:0.75")["score"]
        self.assertAlmostEqual(score["percent"], 100 * 4 / 6 * 4 / 5)
        packed = np.concatenate([boxes, scores[:, None], classes[:, None]], 1).astype(np.float32)
        one = self.save(make_model([helper.make_node("Add", ["x", "boxes"], ["y"], "add")], [("x", [6, 6])], [("y", [6, 6])],
                                   {"boxes": packed}), "one.onnx")
        np.savez(self.path("eval.npz"), x=np.zeros((6, 6), np.float32), labels=labels)
        self.assertEqual(self.compare(self.compile(one, name="one"), one, "--data", self.path("eval.npz"))["score"]["percent"], 100)
        refused = lambda *words, labels=labels, options=(): (
            np.savez(self.path("bad.npz"), x=np.zeros((6, 4), np.float32), labels=labels),
            self.assert_one_line(tool("ingot", "compare", artifact, model, "--data", self.path("bad.npz"), "--metric=detection",
                                      *options), *words))
        refused("labels", "1x8x4", "x1, y1, x2, y2, class", labels=labels[:, :, :4])
        refused("labels", "second corner", labels=labels[:, :, [2, 3, 0, 1, 4]])
        refused("40", "80 labels", labels=np.concatenate([labels, labels]))

    def product(self, x):
        """Returns a model of one product, which int8 rounds much, and a function of samples in order to their outputs."""
        size = x.shape[-1]
        rng = np.random.default_rng(9)
        w = np.eye(size) + rng.uniform(-0.02, 0.02, (size, size))
        shape = ["n", *x.shape[1:]]
        model = self.save(make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", shape)], [("y", shape)],
                                     {"w": w.astype(np.float32)}))
        return model, lambda artifact: np.concatenate([self.run_model(artifact, {"x": x[i:i + 1]})["y"] for i in range(len(x))])

    def test_sequences(self):
        """The score is 1 minus the edit distance per label, after greedy CTC."""
        rng = np.random.default_rng(4)
        steps = rng.integers(0, 5, (40, 9))
        x = (np.eye(5)[steps] + rng.uniform(0, 1.3, (40, 9, 5))).astype(np.float32)
        model, outputs = self.product(x)

        def decode(steps):
            return [[c for c, before in zip(row, [0, *row]) if c != 0 and c != before] for row in steps]
        wanted = decode(steps)
        np.savez(self.path("eval.npz"), x=x, labels=[row + [-1] * (9 - len(row)) for row in wanted])

        def distance(a, b):
            table = np.zeros((len(a) + 1, len(b) + 1), int)
            table[:, 0], table[0] = range(len(a) + 1), range(len(b) + 1)
            for i, j in np.ndindex(len(a), len(b)):
                table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + (a[i] != b[j]))
            return table[-1, -1]

        def score(y):
            return 100 * (1 - sum(map(distance, wanted, decode(y.argmax(2)))) / sum(map(len, wanted)))
        artifact = self.quantized(model, "--keep=*=int8")
        found = self.compare(artifact, model, "--data", self.path("eval.npz"))["score"]
        self.assertEqual((found["metric"], found["labels"]), ("sequence", "labels"))
        self.assertTrue(5 < score(outputs(artifact)) < 95)
        self.assertAlmostEqual(found["percent"], score(outputs(artifact)))
        self.assertAlmostEqual(found["reference_percent"], score(outputs(self.compile(model, name="fp32"))))

    def test_average_precision(self):
        """The score is the area below the curve of precision over recall, for boxes of all classes and images."""
        rng = np.random.default_rng(6)
        count, most = 12, 8
        corner = rng.uniform(0, 90, (count, most, 2))
        wanted = np.concatenate([corner, corner + rng.uniform(20, 40, (count, most, 2)), rng.integers(0, 3, (count, most, 1))], 2)
        wanted[rng.random((count, most)) < 0.2, 4] = -1
        x = np.zeros((count, most, 6))
        x[..., :4] = wanted[..., :4] + rng.normal(0, 3, (count, most, 4))
        # Each score has a bin of its own.
        x[..., 4] = (rng.permutation(count * most).reshape(count, most) + 1) * 0.01
        x[..., 5] = np.where(rng.random((count, most)) < 0.8, np.maximum(wanted[..., 4], 0), 2)
        np.savez(self.path("eval.npz"), x=x.astype(np.float32), labels=wanted.astype(np.float32))
        node = helper.make_node("Identity", ["x"], ["y"], "boxes")
        model = self.save(make_model([node], [("x", ["n", most, 6])], [("y", ["n", most, 6])], {}))

        def overlap(a, b):
            width, height = np.minimum(a[2:4], b[2:4]) - np.maximum(a[:2], b[:2])
            both = max(width, 0) * max(height, 0)
            area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
            return both / (area(a) + area(b) - both)

        def score(boxes, least):
            taken, right = set(), []
            for image, i in sorted(np.ndindex(count, most), key=lambda place: -boxes[place][4]):
                box = boxes[image, i]
                fitting = [(overlap(box, one), j) for j, one in enumerate(wanted[image])
                           if one[4] == box[5] and (image, j) not in taken and overlap(box, one) >= least]
                right.append(bool(fitting))
                if fitting:
                    taken.add((image, max(fitting)[1]))
            right = np.array(right)
            precision = np.cumsum(right) / np.arange(1, len(right) + 1)
            best = np.maximum.accumulate(precision[::-1])[::-1]
            return 100 * best[right].sum() / (wanted[..., 4] >= 0).sum()
        artifact = self.compile(model)
        for least in (0.5, 0.75):
            found = self.compare(artifact, model, "--data", self.path("eval.npz"), f"--metric=detection:{least}")["score"]
            self.assertTrue(5 < score(x, least) < 95, score(x, least))
            self.assertAlmostEqual(found["percent"], score(x, least), places=4)
            self.assertEqual(found["rows"], (x[..., 4] >= 0.5).sum())


class Example(Scored):
    def test_sensors(self):
        """The example of the guide: int8 loses many points, and one layer in fp32 brings them back. `ingot calibrate` finds
        this layer with open sizes, too, and `auto` keeps the budget."""
        done = subprocess.run([sys.executable, os.path.join(ROOT, "examples/quantize/train.py"), self.dir], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        model, data = self.path("sensors.onnx"), self.path("eval.npz")
        scores = {}
        for repair in ("none", "auto"):
            done = tool("ingot", "calibrate", model, "--data", self.path("samples.npz"), "--repair=" + repair, "-o",
                        self.path("c.json"))
            self.assertEqual(done.returncode, 0, done.stderr)
            artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("c.json"))
            scores[repair] = self.compare(artifact, model, "--data", data)["score"]
        self.assertIn("the layer of node 'layer0' stays in fp32", done.stdout)
        floats = scores["none"]["reference_percent"]
        self.assertGreater(floats, 95)
        self.assertLess(scores["none"]["percent"], floats - 5)
        self.assertGreater(scores["auto"]["percent"], floats - 0.5)
        done = tool("ingot", "compile", model, "--precision=auto", "--max-drop=0.5%", "--eval", data, "-o", self.path("auto.so"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.compare(self.path("auto.so"), model, "--data", data)["score"]["percent"], floats - 0.5)


class Retrieval(Scored):
    """Vectors are right if the nearest other one, of all samples, has the same label."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(8)
        self.labels = rng.integers(0, 12, 60) * 100
        centers = rng.standard_normal((12, 64))
        self.x = (centers[self.labels // 100] + 1.2 * rng.standard_normal((60, 64))).astype(np.float32)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["v"], "product"),
                 helper.make_node("LpNormalization", ["v"], ["y"], "norm", axis=1, p=2)]
        self.model = self.save(make_model(nodes, [("x", ["n", 64])], [("y", ["n", 8])],
                                          {"w": rng.standard_normal((64, 8)).astype(np.float32)}))
        np.savez(self.path("eval.npz"), x=self.x, labels=self.labels)

    def right(self, artifact):
        y = self.run_model(artifact, {"x": self.x})["y"].astype(np.float64)
        cosines = y @ y.T
        np.fill_diagonal(cosines, -2)
        return 100 * (self.labels[cosines.argmax(1)] == self.labels).mean()

    def test_scores(self):
        artifact, floats = self.quantized(self.model, "--keep=*=int8"), self.compile(self.model, name="fp32")
        self.assertTrue(5 < self.right(floats) < 95)
        for options in (["--metric=retrieval"], []):
            score = self.compare(artifact, self.model, "--data", self.path("eval.npz"), *options)["score"]
            self.assertEqual((score["metric"], score["labels"], score["rows"]), ("retrieval", "labels", 60))
            self.assertAlmostEqual(score["percent"], self.right(artifact))
            self.assertAlmostEqual(score["reference_percent"], self.right(floats))

    def test_auto(self):
        done = tool("ingot", "calibrate", self.model, "--data", self.path("eval.npz"), "-o", self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tool("ingot", "compile", self.model, "--precision=auto", "--max-drop=5", "--eval", self.path("eval.npz"),
                    "--metric=retrieval", "--calibration", self.path("r.json"), "-o", self.path("auto.so"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(self.right(self.path("auto.so")), self.right(self.compile(self.model, name="fp32")) - 5)

    def test_refused(self):
        artifact = self.compile(self.model)

        def refuses(*words, **arrays):
            np.savez(self.path("bad.npz"), **arrays)
            self.assert_one_line(tool("ingot", "compare", artifact, self.model, "--data", self.path("bad.npz"),
                                      "--metric=retrieval"), *words)
        refuses("--metric=retrieval", "no array 'labels'", x=self.x)
        refuses("59 labels", "60 rows", x=self.x, labels=self.labels[:59])
        refuses("fp32 is never right", x=self.x, labels=np.arange(60))
        self.assert_one_line(tool("ingot", "compare", artifact, self.model, "--data", self.path("eval.npz"),
                                  "--metric=retrieval:3"), "--metric=retrieval:3", "retrieval")


class Commands(Scored):
    def test_scores(self):
        """A command gets the outputs, those of fp32 and the labels, and its number is the score."""
        model, x, labels = self.digits()
        artifact = self.quantized(model)
        score = self.command("print(float((y.argmax(1) == labels).mean()) * 2)")
        found = self.compare(artifact, model, "--data", self.path("eval.npz"), "--metric", score)["score"]
        right = (self.run_model(artifact, {"x": x})["y"].argmax(1) == labels).mean()
        self.assertAlmostEqual(found["percent"], 2 * right, places=6)
        self.assertEqual((found["metric"], found["output"], found["labels"]), (score, None, "labels"))
        # In place of labels, the outputs of fp32.
        score = self.command("assert labels is None; print(-float(np.abs(y - wanted).max()))", "error.py")
        found = self.compare(artifact, model, "--data", self.path("x.npz"), "--metric", score)["score"]
        self.assertEqual(found["reference_percent"], 0)
        self.assertLess(found["percent"], 0)

    def test_auto(self):
        model, x, labels = self.digits()
        score = self.command("print(float((y.argmax(1) == labels).mean()))")
        done = tool("ingot", "compile", model, "--precision=auto", "--max-drop=0.02", "--eval", self.path("eval.npz"),
                    "--metric", score, "-o", self.path("auto.so"))
        self.assertEqual(done.returncode, 0, done.stderr)
        right = self.compare(self.path("auto.so"), model, "--data", self.path("eval.npz"))["score"]["percent"] / 100
        floats = (self.run_model(self.compile(model, name="fp32"), {"x": x})["y"].argmax(1) == labels).mean()
        self.assertGreaterEqual(right, floats - 0.02 - 1e-9)
        self.assertIn(f"; {right:.6g} by the command, fp32 {floats:.6g}\n", done.stdout)
        self.assertIn(f"accuracy by --metric='{score}' against labels\n", done.stdout)

    def test_refused(self):
        """A command that fails, hangs or prints no number is one line. Nothing is written, and no folder is left."""
        model, x = self.two_heads()
        np.savez(self.path("x.npz"), x=x)
        artifact = self.compile(model)
        os.mkdir(self.path("tmp"))
        environment = dict(os.environ, TMPDIR=self.path("tmp"))

        def refuses(command, *words, options=()):
            for arguments in (["compare", artifact, model, "--data", self.path("x.npz")],
                              ["compile", model, "--precision=auto", "--max-drop=1", "--eval", self.path("x.npz"), "-o",
                               self.path("none.so")]):
                done = tool("ingot", *arguments, "--metric", command, *options, env=environment)
                self.assert_one_line(done, *words)
                self.assertEqual(os.listdir(self.path("tmp")), [])
            self.assertFalse([f for f in os.listdir(self.dir) if f.startswith("none")])
        refuses(self.command("print('fine')"), "printed 'fine'", "one finite number")
        refuses(self.command("print(1, 2)"), "printed '1 2'")
        refuses(self.command("print('nan')"), "printed 'nan'")
        refuses("exit 0; true", "printed nothing")
        refuses(self.command("raise ValueError('no such class')"), "failed: ValueError: no such class")
        refuses("/no/such/program", "failed", "not found")
        refuses("exit 3; true", "failed: exit code 3")
        refuses("kill -9 $$; true", "failed: it was ended by signal 9 (Killed)")
        started = time.monotonic()
        refuses("sleep 100; echo", "did not end in 1 s", "--metric-limit", options=["--metric-limit=1"])
        refuses("sleep 100 >/dev/null 2>&1; echo", "did not end in 1 s", options=["--metric-limit=1"])
        self.assertLess(time.monotonic() - started, 60, "the time of the command was not limited")
        self.assert_one_line(tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--metric=f1"),
                             "--metric=f1", "argmax:AXIS", "a command")
        self.assert_one_line(tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--metric-limit=3"),
                             "--metric-limit is for --metric")

    def test_interrupted(self):
        """A signal also ends the command that judges, with all programs that it has started."""
        model, x = self.two_heads()
        np.savez(self.path("x.npz"), x=x)
        artifact = self.compile(model)
        pids = self.path("pids")
        # The program is a grandchild of ingot.
        command = f"(echo $$; {sys.executable} -c 'import os, time; print(os.getpid(), flush=True); time.sleep(100)') > {pids}; echo"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(FileNotFoundError):
                os.remove(pids)
            running = start("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--metric", command)
            self.assertTrue(wait_until(lambda: os.path.exists(pids) and len(open(pids).read().split()) == 2))
            running.send_signal(number)
            self.assertEqual(running.wait(20), -number)
            for pid in open(pids).read().split():
                self.assertTrue(wait_until(lambda: not is_running(pid)), f"{pid} runs after {number}")


class WrongLabels(Scored):
    """Labels that do not fit are one line that names the file once, with a named metric and without one."""

    def test_refused(self):
        model, x, labels = self.digits(30)
        artifact = self.compile(model)

        def refuses(*words, labels, options=("--metric=argmax",)):
            np.savez(self.path("bad.npz"), x=x, labels=labels)
            for command in (["compare", artifact, model, "--data", self.path("bad.npz")],
                            ["compile", model, "--precision=auto", "--max-drop=1", "--eval", self.path("bad.npz"), "-o",
                             self.path("none.so")]):
                for named in (options, ()):
                    done = tool("ingot", *command, *named)
                    self.assert_one_line(done, *words)
                    self.assertEqual(done.stderr.count("bad.npz"), 1, done.stderr)
                    self.assertEqual(done.stdout, "")
            self.assertFalse(os.path.exists(self.path("none.so")))
        refuses("7 labels", "30 rows", labels=labels[:7])
        refuses("strings", "numbers of classes", labels=np.array([str(one) for one in labels]))
        refuses("labels", "has 10", "10 classes", labels=np.where(labels == labels[3], 10, labels))
        refuses("'labels' has -1, but labels are numbers of classes", labels=np.where(labels == labels[3], -1, labels))
        refuses("'labels' has nan", labels=np.where(labels == labels[3], np.nan, labels))
        refuses("empty", labels=labels[:0])
        refuses("labels", labels=np.array([None] * 30, dtype=object))
        # The metric that labels choose may be the wrong one.
        np.savez(self.path("bad.npz"), x=x, labels=np.eye(10, dtype=np.int64)[labels])
        done = tool("ingot", "compare", artifact, model, "--data", self.path("bad.npz"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("--metric", done.stdout)
        self.assertRegex(done.stderr, "warning: no metric judges the outputs: '.*bad.npz': fp32 is never right")
        # A file with damaged labels.
        np.savez(self.path("bad.npz"), x=x, labels=labels)
        with open(self.path("bad.npz"), "rb") as f:
            whole = bytearray(f.read())
        whole[whole.index(b"labels.npy") + 200] ^= 1
        with open(self.path("bad.npz"), "wb") as f:
            f.write(whole)
        self.assert_one_line(tool("ingot", "compare", artifact, model, "--data", self.path("bad.npz"), "--metric=argmax"), "bad.npz")
