"""The Python blocks of the README, of docs/guide/python.md and python-more.md, and what they print."""
import contextlib
import io
import os
import re
import warnings

import numpy as np
import onnx
from onnx import TensorProto

from support import Case, make, node

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GUIDE = os.path.join(ROOT, "docs", "guide")
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)


def classifier():
    """A small network with the names of the page."""
    rng = np.random.default_rng(0)
    weights = [onnx.numpy_helper.from_array(rng.normal(size=shape).astype(np.float32) / 8, name)
               for name, shape in (("conv", (16, 3, 3, 3)), ("head", (16, 10)))]
    nodes = [node("Conv", ["image", "conv"], ["a"], pads=[1, 1, 1, 1]), node("Relu", ["a"], ["b"]),
             node("GlobalAveragePool", ["b"], ["c"]), node("Flatten", ["c"], ["d"]),
             node("MatMul", ["d", "head"], ["scores"])]
    return make(nodes, [("image", TensorProto.FLOAT, ("batch", 3, 32, 32))],
                [("scores", TensorProto.FLOAT, ("batch", 10))], weights)


class Guide(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def test_readme(self):
        onnx.save(classifier(), "model.onnx")
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            (kind, text), = BLOCK.findall(file.read())
        names = {"x": np.zeros((2, 3, 32, 32), np.float32)}
        exec(compile(text, "README.md", "exec"), names)
        self.assertEqual(names["y"].shape, (2, 10))
        self.assertEqual((kind, sorted(os.listdir("."))), ("python", ["model.onnx", "model.so"]))

    def test_page(self):
        onnx.save(classifier(), "classifier.onnx")
        blocks = []
        for page in "python.md", "python-more.md":
            with open(os.path.join(GUIDE, page), encoding="utf-8") as file:
                blocks += BLOCK.findall(file.read())
        self.assertGreater(len(blocks), 10)
        names, printed = {"__name__": "page"}, io.StringIO()
        for kind, text in blocks:
            if kind == "python":
                self.assertEqual(printed.getvalue(), "", "output that the page does not show")
                with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    exec(compile(text, "page", "exec"), names)
            else:
                self.assertEqual(printed.getvalue(), text)
                printed.truncate(0)
                printed.seek(0)
