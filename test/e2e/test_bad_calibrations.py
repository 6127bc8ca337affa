# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests bad calibrations: damaged and foreign files, data without values, and repairs that are interrupted."""
import json
import os
import signal
import subprocess

import numpy as np

import digits
from support import Case, start, tool


class BadFiles(Case):
    """A calibration file that is not whole or is of something else is one line, and nothing is written."""

    def setUp(self):
        super().setUp()
        self.model = self.save(digits.Network(0).model())
        np.savez(self.path("x.npz"), x=digits.render(20, 3)[0])
        done = tool("ingot", "calibrate", self.model, "--data", self.path("x.npz"), "-o", self.path("good.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("good.json"), "rb") as f:
            self.whole = f.read()

    def refuses(self, content, *words):
        with open(self.path("bad.json"), "wb") as f:
            f.write(content)
        before = set(os.listdir(self.dir))
        for precision in (["--precision=int8"], ["--precision=auto", "--max-drop=1", "--eval", self.path("x.npz")]):
            done = tool("ingot", "compile", self.model, *precision, "--calibration=" + self.path("bad.json"), "-o",
                        self.path("none.so"))
            self.assert_one_line(done, "bad.json", *words)
        done = tool("ingot", "compare", self.compile(self.model), self.model, "--data", self.path("x.npz"), "--sensitivity",
                    "--calibration=" + self.path("bad.json"))
        self.assert_one_line(done, "bad.json", *words)
        self.assertEqual(set(os.listdir(self.dir)) - {"model.so", "model.h"}, before - {"model.so", "model.h"})

    def test_truncated(self):
        for size in np.linspace(0, len(self.whole.rstrip()) - 1, 9).astype(int):
            self.refuses(self.whole[:size], "not a whole JSON file")

    def test_foreign(self):
        with open(self.model, "rb") as f:
            self.refuses(f.read(), "JSON")
        self.refuses(b'{"a": 1}', "not a file of ingot calibrate")
        self.refuses(b"[1]", "not a file of ingot calibrate")

    def test_changed(self):
        def changed(change):
            content = json.loads(self.whole)
            change(content)
            return json.dumps(content).encode()
        first = lambda key, value: changed(lambda content: content["tensors"][0].update({key: value}))
        self.refuses(first("scale", 0), "'x'", "scale")
        self.refuses(first("scale", "wide"), "'x'", "scale")
        self.refuses(first("zero_point", 999), "'x'", "zero_point")
        self.refuses(first("name", 3), "name")
        self.refuses(changed(lambda content: content.update(model_sha256="0" * 64)), "model.onnx")
        self.refuses(changed(lambda content: content.update(ingot_calibration=99)), "version 99", "calibrate again")
        self.refuses(changed(lambda content: content.pop("tensors")), "tensors")
        self.refuses(changed(lambda content: content.update(tensors=[])), "ranges of no tensor", "calibrate again")
        self.refuses(changed(lambda content: content.update(tensors=[dict(content["tensors"][0], name="z")])),
                     "range of tensor 'z'")
        self.refuses(changed(lambda content: content["tensors"].append(content["tensors"][0])), "'x' is there twice")


class BadData(Case):
    def test_constant_and_empty(self):
        """Constant tensors are quantized with a warning. Data without samples is one line."""
        model = self.save(digits.Network(0).model())
        for value in (0.0, 0.5):
            np.savez(self.path("x.npz"), x=np.full((20, 1, 16, 16), value, np.float32))
            done = tool("ingot", "calibrate", model, "--data", self.path("x.npz"), "-o", self.path("c.json"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"warning: tensor 'x' was always {value:g}", done.stderr)
            artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("c.json"))
            self.assertTrue(np.isfinite(self.run_model(artifact, {"x": np.full((1, 1, 16, 16), value, np.float32)})["y"]).all())
        np.savez(self.path("x.npz"), x=np.zeros((0, 1, 16, 16), np.float32))
        self.assert_one_line(tool("ingot", "calibrate", model, "--data", self.path("x.npz"), "-o", self.path("none.json")),
                             "x.npz", "no samples")
        self.assertFalse(os.path.exists(self.path("none.json")))


class InterruptedRepairs(Case):
    def test_nothing_is_left(self):
        """A signal during a repair leaves neither a file nor a folder."""
        model = self.save(digits.Network(0).model())
        np.savez(self.path("x.npz"), x=digits.render(400, 3)[0])
        os.mkdir(self.path("tmp"))
        before = set(os.listdir(self.dir))
        for repair, number in (("round", signal.SIGTERM), ("keep", signal.SIGINT)):
            os.environ["TMPDIR"] = self.path("tmp")
            try:
                process = start("ingot", "calibrate", model, "--data", self.path("x.npz"), "--repair=" + repair, "--json", "-o",
                                self.path("y.json"), stderr=subprocess.PIPE)
            finally:
                del os.environ["TMPDIR"]
            # The ranges take less than the first half. The repair follows.
            for line in process.stderr:
                if json.loads(line).get("fraction", 0) > 0.8:
                    break
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0, "it was done before it was interrupted")
            self.assertEqual(set(os.listdir(self.dir)), before)
            self.assertEqual(os.listdir(self.path("tmp")), [])
