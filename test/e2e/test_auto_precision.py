# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot compile --precision=auto` and `--report`: the accuracy budget, the content of the page, and wrong
uses."""
import html.parser
import json
import os
import re
import signal
import time
import xml.etree.ElementTree

import numpy as np
from onnx import helper

import digits
import families
from support import Case, make_model, start, tool


class Page(html.parser.HTMLParser):
    """Checks that opened tags are closed, and collects the content."""
    VOID = {"meta", "link", "br", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.tags, self.plots = [], [], [], []
        self.feed(text)
        assert not self.open, self.open
        at = 0
        while (at := text.find("<svg", at)) >= 0:
            end = text.index("</svg>", at) + 6
            self.plots.append(xml.etree.ElementTree.fromstring(text[at:end]))
            at = end

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)


class Studied(Case):
    def report(self):
        with open(self.path("report.json")) as f:
            found = json.load(f)
        with open(self.path("report.html"), encoding="utf-8") as f:
            return found, Page(f.read())

    def calibrate(self, model, *options):
        done = tool("ingot", "calibrate", model, "--data", self.path("x.npz"), "-o", self.path("r.json"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("r.json")

    def compile_reported(self, model, *options, name="model"):
        artifact = self.path(name + ".so")
        done = tool("ingot", "compile", model, "-o", artifact, *options, "--report", self.path("report.html"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.printed = done.stdout
        return artifact


class Reports(Studied):
    def test_numbers(self):
        """The report has the same numbers as the artifact, `ingot compare` and the calibration."""
        model = self.save(families.ALL["resnet"]()[0])
        x = np.random.default_rng(4).standard_normal((12, 3, 64, 64)).astype(np.float32)
        np.savez(self.path("x.npz"), input=x)
        ranges = self.calibrate(model, "--method", "minmax")
        int8 = ["--precision=int8", f"--calibration={ranges}"]
        artifact = self.compile_reported(model, *int8, "--data", self.path("x.npz"), "--keep=/Gemm*=fp32",
                                         "--keep=*=int8")
        found, page = self.report()
        self.assertEqual((found["ingot_report"], found["model"]), (1, "model.onnx"))
        self.assertEqual(found["calibration"], {"method": "minmax", "samples": 12})
        self.assertAlmostEqual(found["chosen"]["bytes"], os.path.getsize(artifact), delta=200)
        self.assertLess(found["chosen"]["bytes"], found["fp32"]["bytes"])
        with open(ranges) as f:
            tensors = {t["name"]: t for t in json.load(f)["tensors"]}
        layers = found["layers"]
        self.assertEqual({layer["precision"] for layer in layers}, {"int8", "fp32"})
        for layer in layers:
            self.assertEqual(np.float32(layer["scale"]), np.float32(tensors[layer["tensor"]]["scale"]))
            self.assertEqual(layer["method"], "minmax")
            self.assertGreater(layer["fp32_ms"], 0)
            if layer["precision"] == "fp32":
                self.assertTrue(any("Gemm" in node for node in layer["nodes"]), layer)
                self.assertRegex(layer["reason"], "^the (gemm|matmul) is kept in float32 by a rule$")
                self.assertNotIn("int8_ms", layer)
            else:
                self.assertGreater(layer["int8_ms"], 0)
                self.assertGreater(layer["relative_error"], 0)
        done = tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--json")
        # The report uses the first 8 samples, this command uses all samples.
        wanted = json.loads(done.stdout)["outputs"][0]["relative_error"]
        self.assertAlmostEqual(found["outputs"][0]["relative_error"], wanted, delta=0.3 * wanted)
        # The page has the whole report.
        text = "".join(page.text)
        for layer in layers:
            for node in layer["nodes"]:
                self.assertIn(node, text)
            self.assertIn(layer["tensor"], text)
        for kept in found["sensitivity"]["kept"]:
            self.assertIn(kept["arguments"], text)
        narrow = sum(layer["precision"] == "int8" for layer in layers)
        self.assertIn(f"model.onnx: {narrow} of {len(layers)} layers in int8", text)
        self.check_table(page, layers)
        self.assertGreaterEqual(len(page.plots), 4)
        for plot in page.plots:
            bars = [r for r in plot.iter("rect") if r.get("class") in ("bar", "cut")]
            self.assertGreater(len(bars), 10)
            self.assertTrue(all(float(r.get("height")) >= 0 and 0 <= float(r.get("x")) <= 480 for r in bars))
        self.assertFalse([t for t in page.tags if t[0] in ("script", "link", "img", "iframe") or "src" in t[1] or
                          "href" in t[1]], "it stands alone")

    def check_table(self, page, layers):
        """The layers that take longest come first, with shares of the time of all, and the page explains its terms."""
        text = "".join(page.text)
        table = text[text.index("error alone"):text.index("Terms")]
        self.assertLess(table.index("why"), table.index("reads"))
        times = {layer["nodes"][0]: layer.get("int8_ms", layer["fp32_ms"]) for layer in layers}
        rows = [t for t in page.text if t in times]
        self.assertEqual(len(rows), len(layers))
        shown = [times[row] for row in rows]
        self.assertEqual(shown, sorted(shown, reverse=True))
        shares = [float(t.split()[0]) for t in page.text[page.text.index(rows[0]):page.text.index("Terms")] if
                  t.endswith(" %")]
        self.assertEqual(len(shares), len(layers))
        self.assertAlmostEqual(sum(shares), 100, delta=0.06 * len(layers))
        for row, share in zip(rows, shares):
            self.assertAlmostEqual(share, 100 * times[row] / sum(times.values()), delta=0.2)
        meanings = text[text.index("Terms"):]
        for term in ("layer", "ms", "share", "relative error", "error alone", "why", "reads", "scale, zero point"):
            self.assertIn(term, meanings)

    def test_without_data(self):
        """Without data, errors are absent, and times are only reported for known sizes. The page counts the same layers as
        the command, also those that this CPU computes in floats."""
        network = digits.Network(0)
        model = self.save(network.model())
        np.savez(self.path("x.npz"), x=digits.render(12, 1)[0])
        ranges = self.calibrate(model)
        int8 = ["--precision=int8", f"--calibration={ranges}"]
        self.compile_reported(model, *int8)
        found, page = self.report()
        counted = re.search(r"\d+ of \d+ layers in int8", self.printed)[0]
        self.assertIn("model.onnx: " + counted, "".join(page.text))
        self.assertNotIn("machine", found)
        self.assertTrue(all("fp32_ms" not in layer and "relative_error" not in layer for layer in found["layers"]))
        self.assertEqual(page.plots, [])
        self.compile_reported(model, *int8, "--dim=n=1")
        found, _ = self.report()
        self.assertTrue(all(layer["fp32_ms"] > 0 for layer in found["layers"]))

    def test_names_from_models(self):
        """Markup in names is escaped."""
        names = ["<script>alert(1)</script>", "a\"b'c&d", "</td></table>{{cards}}", "\x01\x7f\u202e"]
        rng = np.random.default_rng(3)
        nodes, last = [], "<b>x</b>"
        for i, name in enumerate(names):
            nodes += [helper.make_node("Conv", [last, f"w{i}"], [f"c{i}"], name),
                      helper.make_node("Relu", [f"c{i}"], [f"y{i}"], f"{name}relu")]
            last = f"y{i}"
        model = self.save(make_model(nodes, [("<b>x</b>", [1, 4, 5, 5])], [(last, [1, 4, 5, 5])], {
            f"w{i}": rng.standard_normal((4, 4, 1, 1)).astype(np.float32) for i in range(len(names))}))
        np.savez(self.path("x.npz"), **{"<b>x</b>": rng.standard_normal((12, 4, 5, 5)).astype(np.float32)})
        self.compile_reported(model, "--precision=int8", "--keep=*=int8", "--calibration=" + self.calibrate(model),
                              "--data", self.path("x.npz"))
        found, page = self.report()
        text = "".join(page.text)
        for name in names[:3]:
            self.assertIn(name, text)
        self.assertIn("<b>x</b>", text)
        self.assertFalse([t for t in page.tags if t[0] in ("script", "b") and t[1]] +
                         [t for t in page.tags if t[0] == "script"])
        self.assertNotIn("\x01", text)
        self.assertEqual({n for layer in found["layers"] for n in layer["nodes"]} & set(names[:3]), set(names[:3]))

    def test_refused(self):
        model = self.save(digits.Network(0).model())
        np.savez(self.path("x.npz"), x=digits.render(12, 1)[0])
        ranges = self.calibrate(model)
        int8 = ["--precision=int8", f"--calibration={ranges}"]

        def refuses(*options, words):
            self.assert_refuses(model, *words, options=options)
        refuses("--report=x.html", words=["--report is for --precision=int8 and auto"])
        refuses(*int8, "--data=x", words=["--data is for --report"])
        refuses(*int8, "--preprocess=resize=3", words=["--preprocess is for --data and --eval"])
        refuses(*int8, "--report", self.path("g.html"), "--emit=mlir-nn", words=["--report is for", "--emit=so"])
        refuses(*int8, "--report", self.path("x.json"), words=["x.json", "is a page"])
        refuses(*int8, "--report", self.path("no/r.html"), words=["r.html", "no such file"])
        refuses(*int8, "--report", model, words=["the model itself"])
        refuses(*int8, "--report", self.path("r.html"), "--decisions=" + self.path("./r.html"),
                words=["r.html", "--decisions"])
        refuses(*int8, "--report", self.path("g.html"), "--data", self.path("gone.npz"), words=["gone.npz"])
        bad = digits.render(12, 1)[0]
        bad[3] = np.nan
        np.savez(self.path("bad.npz"), x=bad)
        refuses(*int8, "--report", self.path("h.html"), "--data", self.path("bad.npz"), words=["sample 4", "number"])
        self.assertFalse(os.path.exists(self.path("h.html")))


class Auto(Studied):
    def network(self):
        x, labels = digits.render(1200, 1)
        network = digits.Network(0)
        network.train(x, labels, seed=0)
        return self.save(network.model())

    def auto(self, model, drop, *options, eval="eval.npz"):
        artifact = self.compile_reported(model, "--precision=auto", f"--max-drop={drop}", "--eval", self.path(eval),
                                         *options)
        return artifact, self.report()[0]

    def percent_of(self, artifact, model, chosen, percent, metric="argmax"):
        """Returns the score of an artifact: `percent()`, which may run a batch. Ranges of int8-dynamic are those of each run,
        so `ingot compare` runs it sample by sample, as the search did."""
        if chosen != "int8-dynamic":
            return percent()
        done = tool("ingot", "compare", artifact, model, "--data", self.path("eval.npz"), "--metric", metric, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["score"]["percent"]

    def test_budget(self):
        """The error is within the budget, in the artifact itself. A larger budget has at least as many int8 layers."""
        model = self.network()
        tx, wanted = digits.render(600, 2)
        np.savez(self.path("eval.npz"), x=tx, labels=wanted)

        def accuracy(artifact):
            return 100 * float((self.run_model(artifact, {"x": tx})["y"].argmax(1) == wanted).mean())
        floats = accuracy(self.compile(model, name="fp32"))
        for drop in ("5%", "0.2"):
            artifact, found = self.auto(model, drop)
            search = found["search"]
            chosen = [layer["precision"] for layer in found["layers"]]
            self.assertIn(f": {chosen.count('int8')} of {len(chosen)} layers in int8, {chosen.count('bf16')} in bf16: ",
                          self.printed)
            self.assertIn(f" times as fast); {search['chosen_percent']:.2f} % right, fp32 {floats:.2f} %\n", self.printed)
            self.assertEqual((search["labels"], search["rows"]), ("labels", 600))
            self.assertAlmostEqual(search["fp32_percent"], floats, places=6)
            found_percent = self.percent_of(artifact, model, search["chosen"], lambda: accuracy(artifact))
            self.assertAlmostEqual(search["chosen_percent"], found_percent, places=6)
            self.assertGreaterEqual(search["chosen_percent"], floats - float(drop.strip("%")) - 1e-9)
            # The models with one precision were tried, too.
            tried = {one["name"]: one for one in search["candidates"]}
            # All times come from one measurement, so the chosen model is the fastest one apart from noise.
            self.assertLessEqual(tried[search["chosen"]]["ms"], 1.03 * min(one["ms"] for one in search["candidates"]
                                                                            if one["within_budget"]))
            self.assertLessEqual({"fp32", "int8", "int8-dynamic"}, set(tried))
            self.assertTrue(tried[search["chosen"]]["within_budget"])
            for one in tried.values():
                self.assertEqual(one["within_budget"], one["percent"] >= floats - float(drop.strip("%")) - 1e-9, one)
                self.assertEqual("ms" in one, one["within_budget"], one)
            # The other layers use bf16 if it is fast enough.
            if any(layer["precision"] == "bf16" for layer in found["layers"]):
                self.assertEqual(search["bf16_percent"], search["chosen_percent"])
                self.assertGreater(search["bf16_speedup"], 1)
            for layer in found["layers"]:
                if layer["precision"] == "int8" and search["chosen"].startswith("mixed"):
                    self.assertLess(layer["int8_ms"], layer["fp32_ms"])
                self.assertNotEqual(layer["reason"], "")

    def test_widened(self):
        """A layer whose range is much too narrow is widened first; then the budget holds."""
        model = self.network()
        tx, _ = digits.render(300, 2)
        np.savez(self.path("eval.npz"), x=tx)
        np.savez(self.path("x.npz"), x=tx)
        ranges = self.calibrate(model)
        with open(ranges) as f:
            text = json.load(f)
        # Makes the range of the last tensor too narrow, so that its product cannot become int8.
        text["tensors"][-1]["scale"] /= 60
        with open(ranges, "w") as f:
            json.dump(text, f)
        _, found = self.auto(model, "3%", f"--calibration={ranges}")
        search = found["search"]
        self.assertEqual((search["labels"], search["fp32_percent"]), ("fp32", 100))
        worst = [layer for layer in found["layers"] if layer["tensor"] == text["tensors"][-1]["name"]]
        self.assertEqual(len(worst), 1)
        self.assertNotEqual(worst[0]["precision"], "int8")
        if "not faster" not in worst[0]["reason"]:
            self.assertLess(search["int8_percent"], 97)
        self.assertGreaterEqual(search["chosen_percent"], 97)

    def test_without_report(self):
        """Errors of layers are measured only if layers must be widened. The budget holds in the artifact, whose code
        comes from the trials."""
        model = self.network()
        tx, wanted = digits.render(300, 2)
        np.savez(self.path("eval.npz"), x=tx, labels=wanted)
        np.savez(self.path("x.npz"), x=tx)
        good = self.calibrate(model)
        with open(good) as f:
            text = json.load(f)
        text["tensors"][-1]["scale"] /= 60
        bad = self.path("bad.json")
        with open(bad, "w") as f:
            json.dump(text, f)
        floats = self.run_model(self.compile(model, name="fp32"), {"x": tx})["y"].argmax(1) == wanted
        artifact = self.path("model.so")
        for ranges in (good, bad):
            done = tool("ingot", "compile", model, "--precision=auto", "--max-drop=3%", "--eval", self.path("eval.npz"),
                        f"--calibration={ranges}", "--timing", "-o", artifact)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("link and write", done.stderr)
            self.assertNotIn("optimize LLVM IR", done.stderr)
            chosen = done.stdout.split(": took ")[1].split(" of ")[0]
            right = self.percent_of(artifact, model, chosen, lambda: 100 * float(
                (self.run_model(artifact, {"x": tx})["y"].argmax(1) == wanted).mean()))
            self.assertGreaterEqual(right, 100 * floats.mean() - 3 - 1e-9)
            self.assertIn(f"; {right:.2f} % right, fp32 {100 * floats.mean():.2f} %\n", done.stdout)

    def test_unreachable(self):
        """The command fails with one line and writes no file."""
        model = self.network()
        tx, _ = digits.render(300, 2)
        np.savez(self.path("eval.npz"), x=tx)
        np.savez(self.path("x.npz"), x=tx)
        ranges = self.calibrate(model)
        with open(ranges) as f:
            text = json.load(f)
        for tensor in text["tensors"]:
            tensor["scale"] /= 500
        with open(ranges, "w") as f:
            json.dump(text, f)
        done = tool("ingot", "compile", model, "--precision=auto", "--max-drop=0.1%", "--eval", self.path("eval.npz"),
                    f"--calibration={ranges}", "-o", self.path("none.so"), "--report", self.path("none.html"))
        # On a machine where int8 is not faster, there is no budget to reach.
        if "faster in int8 on this machine" not in done.stderr:
            self.assert_one_line(done, "--max-drop=0.1%", "in int8", "budget", "points too few", "give --max-drop=")
            self.assertFalse([f for f in os.listdir(self.dir) if f.startswith("none")])

    def test_refused(self):
        model = self.save(digits.Network(0).model())
        tx, labels = digits.render(30, 2)

        def refuses(*options, words, **arrays):
            np.savez(self.path("eval.npz"), **(arrays or {"x": tx}))
            self.assert_refuses(model, *words, options=["--precision=auto", *options])
        given = ["--eval", self.path("eval.npz")]
        refuses(words=["--precision=auto needs --eval"])
        refuses(*given, words=["--max-drop"])
        refuses(*given, "--max-drop=x", words=["--max-drop=x", "percentage"])
        refuses(*given, "--max-drop=101%", words=["0% to 100%"])
        refuses(*given, "--max-drop=1%", "--emit=mlir-nn", words=["shared library"])
        refuses(*given, "--max-drop=1%", "--data=x", words=["--data is for --report"])
        refuses(*given, "--max-drop=1%", "--kernels=onednn", words=["native kernels"])
        refuses(*given, "--max-drop=1%", words=["30 rows", "7 labels"], x=tx, labels=labels[:7])
        refuses(*given, "--max-drop=1%", words=["labels", ".5"], x=tx, labels=labels + 0.5)
        refuses(*given, "--max-drop=1%", words=["labels", "has 10", "10 classes"], x=tx, labels=np.where(labels == labels[3], 10, labels))
        refuses(*given, "--max-drop=1%", words=["labels", "classes"], x=tx, labels=np.full(30, 1e300))
        refuses("--eval", self.path("gone.npz"), "--max-drop=1%", words=["gone.npz"])
        self.assert_refuses(model, "--eval is for --precision=auto", options=given)
        self.assert_refuses(model, "--max-drop is for --precision=auto", options=["--max-drop=1"])
        one = self.save(make_model([helper.make_node("Conv", ["x", "w"], ["y"], "c")], [("x", [1, 3, 4, 1])],
                                   [("y", [1, 2, 4, 1])], {"w": np.ones((2, 3, 1, 1), np.float32)}), "one.onnx")
        np.savez(self.path("eval.npz"), x=np.random.default_rng(0).standard_normal((12, 3, 4, 1)).astype(np.float32))
        self.assert_refuses(one, "1x2x4x1", "one number", options=["--precision=auto", *given, "--max-drop=1%", "--metric=argmax"])
        self.assert_refuses(one, "--metric=accuracy", "argmax:AXIS", options=["--precision=auto", *given, "--max-drop=1%", "--metric=accuracy"])
        self.assert_refuses(one, "no dimension 4", options=["--precision=auto", *given, "--max-drop=1%", "--metric=argmax:4"])
        self.assert_refuses(model, "--metric is for --precision=auto", options=["--metric=argmax"])
        # Labels of which fp32 has none right cannot measure a loss.
        network = self.network()
        with_labels = self.run_model(self.compile(network, name="fp32"), {"x": tx})["y"].argmin(1)
        np.savez(self.path("eval.npz"), x=tx, labels=with_labels)
        self.assert_refuses(network, "fp32 is never right", "argmax", options=["--precision=auto", *given, "--max-drop=1%"])

    def heads(self, output, activation=None, seed=11):
        """A convolution and a product that gives `output` numbers for each picture."""
        rng = np.random.default_rng(seed)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "c", pads=[1] * 4), helper.make_node("Relu", ["a"], ["b"], "r"),
                 helper.make_node("Conv", ["b", "v"], ["d"], "e", pads=[1] * 4), helper.make_node("Relu", ["d"], ["f"], "s"),
                 helper.make_node("GlobalAveragePool", ["f"], ["g"], "p"), helper.make_node("Flatten", ["g"], ["h"], "fl"),
                 helper.make_node("Gemm", ["h", "u"], ["z" if activation else "y"], "fc")]
        if activation:
            nodes.append(helper.make_node(activation, ["z"], ["y"], "act"))
        model = self.save(make_model(nodes, [("x", ["n", 16, 24, 24])], [("y", ["n", output])],
                                     {"w": draw(32, 16, 3, 3) / 12, "v": draw(32, 32, 3, 3) / 17, "u": draw(32, output)}))
        scale = np.exp(rng.uniform(-1, 1, (48, 16, 1, 1)))
        return model, (draw(48, 16, 24, 24) * scale).astype(np.float32)

    def test_metrics(self):
        """The metric follows from the output and the labels, is printed, and its score is that of the artifact."""
        cases = ((1, None, None, "regression"), (3, None, None, "regression"), (6, "Sigmoid", None, "multilabel"),
                 (5, "Softmax", None, "argmax"), (64, None, None, "argmax"), (3, None, "values", "regression"),
                 (6, "Sigmoid", "bits", "multilabel"), (6, None, "classes", "argmax"))
        for output, activation, given, metric in cases:
            with self.subTest(output=output, activation=activation, labels=given):
                model, x = self.heads(output, activation)
                y = self.run_model(self.compile(model, name="fp32"), {"x": x})["y"].astype(np.float64)
                rng = np.random.default_rng(12)
                labels = {"values": y + rng.standard_normal(y.shape) * y.std(0), "bits": (y > 0.5) ^ (rng.random(y.shape) < 0.1),
                          "classes": np.where(rng.random(len(y)) < 0.2, 0, y.argmax(1))}.get(given)
                np.savez(self.path("eval.npz"), x=x, **({} if labels is None else {"labels": labels}))
                artifact, found = self.auto(model, "20%")
                search = found["search"]
                shown = "argmax:1" if metric == "argmax" else metric
                self.assertEqual((search["metric"], search["metric_output"], search["labels"]),
                                 (shown, "y", "fp32" if labels is None else "labels"))
                self.assertIn(f"accuracy by --metric={shown}, output 'y' against ", self.printed)

                def score(got):
                    want = y if labels is None else labels
                    if metric == "regression":
                        return 100 * (1 - ((got - want) ** 2).sum(0) / ((want - want.mean(0)) ** 2).sum(0)).min()
                    if metric == "multilabel":
                        want, got = want > 0.5, got > 0.5
                        return 200 * (want & got).sum() / (want.sum() + got.sum())
                    return 100 * (got.argmax(1) == (want.argmax(1) if labels is None else want)).mean()
                self.assertAlmostEqual(search["fp32_percent"], score(y), delta=1e-3)
                got = lambda: score(self.run_model(artifact, {"x": x})["y"].astype(np.float64))
                self.assertAlmostEqual(search["chosen_percent"], self.percent_of(artifact, model, search["chosen"], got, shown),
                                       delta=1e-3)

    def test_interrupted(self):
        model = self.save(families.ALL["resnet"]()[0])
        shape = (1 << 20, 3, 64, 64)
        samples = np.lib.format.open_memmap(self.path("x.npy"), "w+", np.float32, shape)
        del samples
        os.mkdir(self.path("tmp"))
        before = set(os.listdir(self.dir))
        os.environ["TMPDIR"] = self.path("tmp")
        try:
            process = start("ingot", "compile", model, "--precision=auto", "--max-drop=1%", "--eval",
                            self.path("x.npy"), "-o", self.path("y.so"), "--report", self.path("y.html"))
        finally:
            del os.environ["TMPDIR"]
        time.sleep(2.5)
        process.send_signal(signal.SIGTERM)
        self.assertNotEqual(process.wait(60), 0, "it was done before it was interrupted")
        self.assertEqual(set(os.listdir(self.dir)), before)
        self.assertEqual(os.listdir(self.path("tmp")), [])
