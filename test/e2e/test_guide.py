"""Follows the guide: every command in order, with small models in place of the real ones, and compares the output.

`make guide` does the same with the real models.
"""
import os
import re
import shutil
import sys
import zipfile

import guide_pages

from support import BUILD, Case, helper, make_model, np

WHEEL = "rapidocr-3.10.0-py3-none-any.whl"
TABLE = re.compile(r"^\|[^\n]*you know", re.M)


def recognizer():
    """A model with the inputs, outputs, dictionary and some node names of PP-OCR's recognizer."""
    draw = np.random.default_rng(5)
    characters = [chr(code) for code in range(33, 127)]

    def weights(*shape):
        return (draw.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    nodes = [helper.make_node("Conv", ["x", "w0"], ["c0"], name="Conv.0", strides=[8, 8]),
             helper.make_node("Relu", ["c0"], ["r0"], name="Relu.0"),
             helper.make_node("Conv", ["r0", "w1"], ["c1"], name="Conv.44"),
             helper.make_node("Relu", ["c1"], ["r1"], name="Relu.1"),
             helper.make_node("Conv", ["r1", "w2"], ["c2"], name="Conv.49"),
             helper.make_node("ReduceMean", ["c2"], ["m"], name="ReduceMean.0", axes=[2], keepdims=0),
             helper.make_node("Transpose", ["m"], ["t"], name="Transpose.0", perm=[0, 2, 1]),
             helper.make_node("MatMul", ["t", "w3"], ["s"], name="MatMul.12"),
             helper.make_node("Softmax", ["s"], ["fetch_name_0"], name="Softmax.0", axis=-1)]
    model = make_model(nodes, [("x", ["DynamicDimension.0", 3, 48, "DynamicDimension.1"])],
                       [("fetch_name_0", ["n", "steps", len(characters) + 2])],
                       {"w0": weights(32, 3, 8, 8), "w1": weights(64, 32, 1, 1), "w2": weights(64, 64, 1, 1),
                        "w3": weights(64, len(characters) + 2)})
    helper.set_model_props(model, {"character": "\n".join(characters)})
    return model


def classifier():
    """A model with the inputs and outputs of the ResNet-50 that the guide exports."""
    draw = np.random.default_rng(6)
    nodes = [helper.make_node("Conv", ["image", "w0"], ["c0"], name="conv1", strides=[16, 16]),
             helper.make_node("Relu", ["c0"], ["r0"], name="relu1"),
             helper.make_node("GlobalAveragePool", ["r0"], ["p"], name="pool"),
             helper.make_node("Flatten", ["p"], ["f"], name="flatten"),
             helper.make_node("MatMul", ["f", "w1"], ["scores"], name="fc")]
    return make_model(nodes, [("image", ["batch", 3, 224, 224])], [("scores", ["batch", 1000])],
                      {"w0": draw.standard_normal((64, 3, 16, 16)).astype(np.float32) / 28,
                       "w1": draw.standard_normal((64, 1000)).astype(np.float32) / 8})


class Guide(Case):

    def setUp(self):
        super().setUp()
        checkout = guide_pages.make_checkout(self.path("checkout"), BUILD)
        stand_ins = self.path("stand-ins")
        os.makedirs(stand_ins)
        with zipfile.ZipFile(os.path.join(stand_ins, WHEEL), "w") as wheel:
            wheel.writestr("rapidocr/models/PP-OCRv6_rec_small.onnx", recognizer().SerializeToString(deterministic=True))
        shutil.move(self.save(classifier(), "resnet50.onnx"), stand_ins)
        folder = self.path("empty")
        os.makedirs(folder)
        replace = [(r"-m pip download .*rapidocr", f"cp {stand_ins}/{WHEEL} ."),
                   (r"python export_resnet50.py", f"cp {stand_ins}/resnet50.onnx ."),
                   *guide_pages.common_replacements(sys.prefix)]
        self.reader = guide_pages.Reader(folder, checkout, guide_pages.clean_environment(), replace, real=False)

    def test_every_command(self):
        problems = []
        for page in guide_pages.pages():
            problems += self.reader.read(page)
        self.assertEqual(problems, [], "\n".join(problems))
        self.assertGreaterEqual(self.reader.commands, 90)


class Pages(Case):

    def test_form(self):
        """Checks that a page has at most 150 lines, a table for users of other runtimes, and a command for each
        output."""
        found = guide_pages.pages()
        self.assertEqual([page.name for page in found],
                         ["1-install.md", "2-compile.md", "3-run-from-c-and-cpp.md", "4-shapes.md", "5-precision.md",
                          "6-quantize.md", "7-measure.md", "8-deploy.md", "9-troubleshoot.md"])
        for page in found:
            with self.subTest(page.name):
                self.assertLessEqual(page.text.count("\n"), 150)
                self.assertRegex(page.text, TABLE)
                self.assertFalse(re.search(r"^```text\n…\n```$", page.text, re.M), "output that says nothing")
                files = re.findall(r'title="([^"]+)"', page.text)
                commands = "".join(b["body"] for p in found for b in p.blocks if b["info"] == "sh")
                for name in files:
                    self.assertTrue(name == "Dockerfile" or name in commands, f"no command uses {name}")

    def test_comparison(self):
        """Tests the comparison: numbers, sizes and levels may differ, words may not."""
        for want, got, exact, same in [
                ("took 1.5 ms", "took 22 ms", False, True), ("took 1.5 ms", "took 22 ms", True, False),
                ("a 3 KiB", "a 17.5 MiB", False, True), ("for znver4", "for x86-64-v3", False, True),
                ("one two", "one three", False, False), ("one … three", "one two two three", False, True),
                ("one\n…\nthree", "one\ntwo\ntwo\nthree", False, True), ("one\n…\nthree", "one\nthree", False, True),
                ("one\nthree", "one\ntwo\nthree", False, False)]:
            with self.subTest(want=want, got=got):
                self.assertEqual(guide_pages.matches(want + "\n", got + "\n", exact), same)
