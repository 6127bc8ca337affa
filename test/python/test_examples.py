"""The programs of examples/python: each runs in a process of its own, where its packages are installed."""
import importlib.util
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto

import ingot
from support import Case, add_one, make, node

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")


class Examples(Case):
    def need(self, *packages):
        missing = [name for name in packages if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"{', '.join(missing)} is not installed")

    def run_example(self, name, *arguments):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, name), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_encoder(self):
        self.need("torch", "onnxscript", "transformers")
        self.assertEqual(self.run_example("encoder.py"),
                         "1 × 7: (1, 7, 64)\n3 × 40: (3, 40, 64)\n2 × 128: (2, 128, 64)\n")

    def test_detector(self):
        self.need("PIL")
        from PIL import Image
        # A detector that finds dark pixels.
        weights = onnx.numpy_helper.from_array(np.full((1, 3, 1, 1), -1, np.float32), "w")
        sizes = ("n", 3, "height", "width")
        onnx.save(make([node("Conv", ["x", "w"], ["a"]), node("Sigmoid", ["a"], ["y"])], [("x", TensorProto.FLOAT, sizes)],
                       [("y", TensorProto.FLOAT, ("n", 1, "height", "width"))], [weights]), self.at("model.onnx"))
        picture = np.full((64, 96, 3), 255, np.uint8)
        picture[8:20, 10:80] = picture[40:50, 30:60] = 0
        Image.fromarray(picture).save(self.at("picture.png"))
        self.assertEqual(self.run_example("detector.py", self.at("model.onnx"), self.at("picture.png")),
                         "picture 96 × 64\ntext at 10 8 80 20\ntext at 30 40 60 50\n")

    def test_table(self):
        self.need("sklearn", "skl2onnx")
        self.assertEqual(self.run_example("table.py", "20000"), "20000 rows, shares add up to 1.000 at least\n")

    def test_service(self):
        self.need("fastapi", "httpx")
        from fastapi.testclient import TestClient
        ingot.compile(add_one(("n", 4)), self.at("model.so"))
        os.environ["MODEL"] = self.at("model.so")
        sys.path.insert(0, EXAMPLES)
        self.addCleanup(sys.path.remove, EXAMPLES)
        import service
        with TestClient(service.app) as client:
            answer = client.post("/predict", json={"x": [[1, 2, 3, 4]]})
            self.assertEqual((answer.status_code, answer.json()), (200, {"y": [[2, 3, 4, 5]]}))
            for wrong, text in (({"z": [[1]]}, "expected the input 'x'"), ({"x": [[1, 2]]}, "expected shape"),
                                ({"x": [["a"]]}, "could not convert"), ({"x": [{}]}, "float")):
                answer = client.post("/predict", json=wrong)
                self.assertEqual(answer.status_code, 400)
                self.assertIn(text, answer.text)

    def test_ray_data(self):
        self.need("ray", "pyarrow")
        ingot.compile(add_one(("n", 4)), self.at("model.so"))
        self.assertIn("rows: 1000 columns: id x y", self.run_example("ray_data.py", self.at("model.so")))
