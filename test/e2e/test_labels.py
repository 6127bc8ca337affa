# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what labels do that cannot judge: those that the model reads, those by which fp32 is never right, and those with
nothing in them."""
import json
import os
import tempfile

import numpy as np
from onnx import TensorProto, helper

from support import Case, make_model, tool

SAMPLES = 32


class Labeled(Case):
    def model_of(self, x):
        """Returns a model whose output is its input, by a product that int8 can compute."""
        size = x.shape[-1]
        shape = [6, size] if size == 6 and x.ndim == 2 else ["n", *x.shape[1:]]
        node = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
        return self.save(make_model([node], [("x", shape)], [("y", shape)], {"w": np.eye(size, dtype=np.float32)}))

    def compare(self, artifact, model, *options):
        return tool("ingot", "compare", artifact, model, "--data", self.path("eval.npz"), *options)

    def auto(self, model, *options):
        with tempfile.TemporaryDirectory(dir=self.dir) as folder:
            done = tool("ingot", "compile", model, "--precision=auto", "--max-drop=100", "--eval", self.path("eval.npz"), "-o",
                        os.path.join(folder, "auto.so"), *options)
            self.assertEqual(bool(os.listdir(folder)), done.returncode == 0)
        return done

    def study(self, model, *options):
        done = self.auto(model, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["precision_study"]


def draw(*shape):
    return np.random.default_rng(7).uniform(0.01, 0.99, shape).astype(np.float32)


def boxes(shift=0):
    """Returns the rows x1, y1, x2, y2, score, class of six boxes in each sample."""
    rows = np.zeros((SAMPLES, 6, 6), np.float32)
    rows[:, :, 0] = rows[:, :, 1] = np.arange(6) * 10 + shift
    rows[:, :, 2:4] = rows[:, :, :2] + 8
    rows[:, :, 4] = 0.9
    return rows


def steps(classes):
    """Returns scores of four classes for each step. Class 0 is the blank."""
    return np.eye(4, dtype=np.float32)[np.broadcast_to(classes, (SAMPLES, 5))]


def units(*shape):
    rows = draw(*shape) - 0.5
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def never_right():
    """Yields for each metric samples and labels by which fp32 is never right, and the metric that labels choose."""
    scores = draw(SAMPLES, 5) * 8
    yield "argmax", scores, scores.argmin(1), "argmax"
    bits = draw(SAMPLES, 4)
    yield "multilabel", bits, (bits <= 0.5).astype(np.int64), "multilabel"
    yield "sequence", steps([1, 1, 0, 2, 1]), np.full((SAMPLES, 3), 3), "sequence"
    far = np.concatenate([boxes(1000)[:, :, :4], boxes()[:, :, 5:]], 2)
    yield "detection", boxes().reshape(-1, 6), far, "detection"
    yield "retrieval", units(SAMPLES, 8), np.arange(SAMPLES), "retrieval"
    yield "cosine", units(SAMPLES, 8), -units(SAMPLES, 8), "regression"
    yield "regression", scores, -10 * scores, "regression"
    yield "regression", scores, scores + 1e9 * draw(SAMPLES, 5), "regression"
    yield "regression", scores, np.zeros_like(scores), "regression"


def nothing():
    """Yields for each metric samples in which there is nothing to count, and labels or None."""
    none = np.concatenate([boxes()[:, :, :4], np.full((SAMPLES, 6, 1), -1)], 2)
    yield "detection", boxes().reshape(-1, 6), none
    unsure = boxes()
    unsure[:, :, 4] = 0.2
    yield "detection", unsure.reshape(-1, 6), None
    yield "multilabel", draw(SAMPLES, 4) / 4, np.zeros((SAMPLES, 4), np.int64)
    yield "multilabel", draw(SAMPLES, 4) / 4, None
    yield "sequence", steps([0]), np.zeros((SAMPLES, 3), np.int64)
    yield "sequence", steps([0]), None


class NeverRight(Labeled):
    """No decision is made by labels that cannot judge. `ingot compare` without --metric reports errors, and says in a
    warning that nothing is judged."""

    def refuses(self, model, *words, options=()):
        self.assert_one_line(self.auto(model, *options), "eval.npz", *words)
        if options:
            self.assert_one_line(self.compare(self.compile(model), model, *options), "eval.npz", *words)

    def test_refused(self):
        for metric, x, labels, chosen in never_right():
            with self.subTest(metric=metric):
                np.savez(self.path("eval.npz"), x=x, labels=labels)
                model = self.model_of(x)
                self.refuses(model, "fp32 is never right by the metric " + metric, options=[f"--metric={metric}"])
                self.refuses(model, "fp32 is never right by the metric " + chosen)

    def test_warned(self):
        for metric, x, labels, chosen in never_right():
            with self.subTest(metric=metric):
                np.savez(self.path("eval.npz"), x=x, labels=labels)
                model = self.model_of(x)
                artifact = self.compile(model)
                done = self.compare(artifact, model)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, "^ingot compare: warning: no metric judges the outputs: '.*eval.npz': fp32 is "
                                              f"never right by the metric {chosen}[^\n]*\n$")
                self.assertNotIn("--metric", done.stdout)
                done = self.compare(artifact, model, "--json")
                self.assertNotIn("score", json.loads(done.stdout))

    def test_nothing(self):
        for metric, x, labels in nothing():
            with self.subTest(metric=metric, labels=labels is not None):
                np.savez(self.path("eval.npz"), x=x, **({} if labels is None else {"labels": labels}))
                self.refuses(self.model_of(x), f"the metric {metric}", "finds nothing in " + ("fp32" if labels is None else
                                                                                             "the labels"),
                             options=[f"--metric={metric}"])

    def test_calibration_ignores_labels(self):
        x = draw(SAMPLES, 5) * 8
        model = self.model_of(x)
        found = []
        for labels in ({}, {"labels": x.argmin(1)}):
            np.savez(self.path("eval.npz"), x=x, **labels)
            done = tool("ingot", "calibrate", model, "--data", self.path("eval.npz"), "-o", self.path("c.json"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(self.path("c.json")) as file:
                found.append(file.read())
        self.assertEqual(*found)


class ReadByTheModel(Labeled):
    """Labels that are an input of the model judge nothing, unless --metric names a metric."""

    def setUp(self):
        super().setUp()
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Sub", ["a", "labels"], ["y"])]
        self.model = self.save(make_model(nodes, [("x", ["n", 4]), ("labels", ["n", 3])], [("y", ["n", 3])],
                                          {"w": np.ones((4, 3), np.float32)}))
        self.x, self.labels = draw(SAMPLES, 4), 0.5 * draw(SAMPLES, 3)

    def write(self, **arrays):
        np.savez(self.path("eval.npz"), **{"x": self.x, "labels": self.labels, **arrays})

    def test_judged_against_fp32(self):
        self.write()
        study = self.study(self.model)
        self.assertEqual((study["labels"], study["fp32_percent"]), ("fp32", 100))
        done = self.compare(self.compile(self.model), self.model)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("--metric", done.stdout)

    def test_named_metric(self):
        """A model may return classes beside a loss. Then labels also judge."""
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("GatherElements", ["y", "labels"], ["z"], axis=1)]
        model = self.save(make_model(nodes, [("x", ["n", 4]), ("labels", ["n", 1], TensorProto.INT64)],
                                     [("z", ["n", 1]), ("y", ["n", 4])], {"w": np.eye(4, dtype=np.float32)}))
        right = self.x.argmax(1)
        right[:8] = self.x[:8].argmin(1)
        self.write(labels=right[:, None])
        study = self.study(model, "--metric=argmax@y")
        self.assertEqual((study["labels"], study["fp32_percent"]), ("labels", 75))
        score = json.loads(self.compare(self.compile(model), model, "--metric=argmax@y", "--json").stdout)["score"]
        self.assertEqual((score["labels"], score["reference_percent"]), ("labels", 75))
        self.assertEqual(self.study(model)["labels"], "fp32")

    def test_strings(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Identity", ["labels"], ["z"])]
        model = self.save(make_model(nodes, [("x", ["n", 4]), ("labels", ["m"], TensorProto.STRING)],
                                     [("y", ["n", 3]), ("z", ["m"], TensorProto.STRING)], {"w": np.ones((4, 3), np.float32)}))
        self.write(labels=np.array([f"name {i}" for i in range(SAMPLES)]))
        self.assertEqual(self.study(model)["labels"], "fp32")
        self.assert_one_line(self.auto(model, "--metric=regression"), "'labels' has strings", "numbers of classes")

    def test_refused(self):
        """Arrays that do not fit to the input are one line."""
        artifact = self.compile(self.model)

        def refuses(*words, **arrays):
            self.write(**arrays)
            self.assert_one_line(self.compare(artifact, self.model), "eval.npz", *words)
            self.assert_one_line(self.auto(self.model), "eval.npz", *words)
        refuses("'labels' has 31 samples, but another has 32", labels=self.labels[:31])
        refuses("'labels'", "is int64, but input 'labels' is float32", labels=self.labels.astype(np.int64))
        refuses("'labels'", "string", labels=self.labels.astype(str))
        refuses("'labels'", "32x2", "3", labels=self.labels[:, :2])
        np.savez(self.path("eval.npz"), x=self.x)
        self.assert_one_line(self.auto(self.model), "no array for input 'labels'", "it has x")
