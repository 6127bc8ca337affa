"""Tests `ingot compile --decisions`: the decisions about each operation, their alternatives and reasons."""
import json
import os
import subprocess

from support import BIN, Case, TensorProto, helper, make_model, np, relu_model, tool

ROW = {"nodes", "scope", "operation", "sizes", "question", "choice", "alternatives", "reason", "device", "level", "profile"}


def small_model():
    """A convolution, a product, and a product that no kernel takes."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((8, 3, 3, 3)).astype(np.float32),
               "m": rng.standard_normal((8, 16)).astype(np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="stem"),
             helper.make_node("GlobalAveragePool", ["c"], ["p"], name="pool"),
             helper.make_node("Flatten", ["p"], ["f"], name="flatten"),
             helper.make_node("MatMul", ["f", "m"], ["y"], name="head 1"),
             helper.make_node("MatMul", ["a", "a"], ["b"], name="head 10")]
    numbers = [[4, 4], TensorProto.INT64]
    return make_model(nodes, [("x", [1, 3, 10, 10]), ("a", *numbers)], [("y", [1, 16]), ("b", *numbers)], weights)


class Decisions(Case):
    """The file, its rows, and what --remarks takes from the same record."""
    sanitize = True

    def decide(self, model, *options, name="decisions.json"):
        source = model if isinstance(model, str) else self.save(model)
        file = self.path(name)
        done = tool("ingot", "compile", source, "-q", "-o", self.path("model.so"), f"--decisions={file}", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(file, encoding="utf-8") as f:
            return json.load(f)

    def test_rows(self):
        found = self.decide(small_model(), "--target=x86-64-v3,x86-64-v4", "--optimize=speed")
        self.assertEqual(found["ingot_decisions"], 1)
        self.assertEqual(found["model"], "model.onnx")
        self.assertEqual(found["options"], ["--optimize=speed"])
        self.assertRegex(found["compiler"], r"^ingot \d")
        rows = found["decisions"]
        for row in rows:
            self.assertEqual(set(row), ROW)
            self.assertTrue(row["nodes"] and row["choice"] and row["reason"], row)
            self.assertEqual(row["device"], "cpu")
            self.assertLessEqual(set(row["nodes"]), {"stem", "pool", "flatten", "head 1", "head 10"})
            for one in row["alternatives"]:
                self.assertEqual(set(one), {"name", "cycles"})
        by = {(row["nodes"][0], row["question"], row["level"]): row for row in rows}
        self.assertEqual(by["stem", "backend", None]["choice"], "native")
        declined = by["head 10", "backend", None]
        self.assertEqual(declined["choice"], "loops")
        self.assertEqual([one["name"] for one in declined["alternatives"]], ["native", "loops"])
        self.assertEqual(declined["reason"], "native: computes int64[4,4], where kernels compute float32")
        self.assertEqual(by["stem", "layout", None]["choice"], "channels last")
        self.assertRegex(by["head 1", "packing", None]["choice"], r"^panels of 16 columns, float32$")
        self.assertEqual(by["head 1", "packing", None]["sizes"], "1x16")
        for level in ("x86-64-v3", "x86-64-v4"):
            self.assertRegex(by["stem", "schedule", level]["choice"], r"^f32 tiles of \d+x\d+, tasks of ")
        # Numbers in names are sorted by their value, so that node2 comes before node10.
        nodes = [row["nodes"][0] for row in rows]
        self.assertEqual(sorted(set(nodes), key=nodes.index)[:2], ["head 1", "head 10"])

    def test_precision_and_winograd(self):
        rng = np.random.default_rng(0)
        weights = {"w": rng.standard_normal((64, 64, 3, 3)).astype(np.float32),
                   "m": rng.standard_normal((256, 256)).astype(np.float32)}
        model = self.save(make_model([helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
                                      helper.make_node("MatMul", ["a", "m"], ["b"], name="product")],
                                     [("x", [1, 64, 28, 28]), ("a", [64, 256])],
                                     [("c", [1, 64, 28, 28]), ("b", [64, 256])], weights))

        def ask(question, node, *options):
            rows = self.decide(model, *options)["decisions"]
            return [row for row in rows if row["question"] == question and row["nodes"] == [node]]

        [tiles] = ask("winograd", "conv", "--target=x86-64-v4", "--optimize=speed")
        cycles = {one["name"]: one["cycles"] for one in tiles["alternatives"]}
        self.assertEqual(set(cycles), {"direct", "winograd 2x2", "winograd 4x4"})
        self.assertEqual(tiles["choice"], min(cycles, key=cycles.get))
        [direct] = ask("winograd", "conv", "--target=x86-64-v4,l2=64K", "--optimize=speed")
        self.assertIsNone({one["name"]: one["cycles"] for one in direct["alternatives"]}["winograd 4x4"])
        [half] = ask("precision", "product", "--target=znver4", "--precision=bf16")
        self.assertEqual(half["choice"], "bfloat16")
        self.assertEqual({one["name"] for one in half["alternatives"]}, {"float32", "bfloat16"})
        [scales] = ask("scales", "product", "--target=x86-64-v3", "--precision=int8-dynamic", "--weight-bits=auto")
        self.assertEqual(scales["choice"], "for pairs of weights")
        [panels] = ask("packing", "product", "--target=x86-64-v3", "--precision=int8-dynamic", "--weight-bits=auto")
        self.assertRegex(panels["choice"], "^panels of ")
        [byte] = ask("precision", "product", "--target=cascadelake", "--precision=int8-dynamic")
        self.assertEqual(byte["choice"], "int8")
        self.assertLess(*[{one["name"]: one["cycles"] for one in byte["alternatives"]}[name]
                          for name in ("int8", "float32")])

    def test_no_row_twice(self):
        rows = self.decide(small_model(), "--target=x86-64-v3,x86-64-v4")["decisions"]
        keys = [(*row["nodes"], row["operation"], row["sizes"], row["question"], row["level"]) for row in rows]
        self.assertEqual(len(keys), len(set(keys)))

    def test_devices_have_rows_of_their_own(self):
        """The rows for two devices are the rows for each of them."""
        def key(row):
            return json.dumps(row, sort_keys=True)

        both = self.decide(small_model(), "--target=x86-64-v3,cuda")["decisions"]
        for device, target in (("cpu", "x86-64-v3"), ("cuda", "cuda")):
            alone = self.decide(small_model(), f"--target={target}")["decisions"]
            self.assertEqual({row["device"] for row in alone}, {device})
            self.assertEqual([key(row) for row in both if row["device"] == device], [key(row) for row in alone])
        self.assertTrue(any(row["question"] == "schedule" and row["device"] == "cuda" for row in both))
        self.assertEqual({row["level"] for row in both if row["device"] == "cuda"}, {None})

    def test_profiles_have_rows_of_their_own(self):
        weights = {"m": np.ones((8, 16), np.float32)}
        model = make_model([helper.make_node("MatMul", ["x", "m"], ["y"], name="head")], [("x", ["n", 8])],
                           [("y", ["n", 16])], weights)
        rows = self.decide(model, "--dim=n=1:4:8")["decisions"]
        self.assertEqual({(row["profile"], row["sizes"]) for row in rows if row["question"] == "packing"},
                         {(None, "?x16"), (1, "4x16")})

    def test_same_bytes(self):
        """The decisions are the same on one processor, where the levels are compiled by one thread."""
        source = self.save(small_model())
        texts = []
        for i, processors in enumerate((None, None, 1)):
            only = set(list(os.sched_getaffinity(0))[:processors])
            file = self.path(f"{i}.json")
            subprocess.run([os.path.join(BIN, "ingot"), "compile", source, "-q", "-o", self.path("model.so"),
                            "--target=x86-64-v3,x86-64-v4", f"--decisions={file}"], check=True,
                           preexec_fn=lambda only=only: os.sched_setaffinity(0, only))
            with open(file, "rb") as f:
                texts.append(f.read())
        self.assertEqual(len(set(texts)), 1)

    def test_artifact_is_the_same(self):
        source = self.save(small_model())
        library = []
        for options in ([], [f"--decisions={self.path('d.json')}", "--remarks"]):
            tool("ingot", "compile", source, "-q", "-o", self.path("model.so"), *options)
            with open(self.path("model.so"), "rb") as f:
                library.append(f.read())
        self.assertEqual(library[0], library[1])

    def test_every_output(self):
        """A compilation that stops after a phase writes the decisions that were made until then."""
        source = self.save(small_model())
        questions = {}
        for emit in ("mlir-onnx", "mlir-layout", "mlir-linalg", "mlir-kernels", "asm", "obj"):
            for output in (self.path("out"), "-") if emit.startswith("mlir") else (self.path("out"),):
                with self.subTest(emit=emit, output=output):
                    file = self.path("d.json")
                    done = tool("ingot", "compile", source, "-q", "-o", output, f"--emit={emit}",
                                f"--decisions={file}", "--target=x86-64-v3")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    with open(file, encoding="utf-8") as f:
                        questions[emit] = {row["question"] for row in json.load(f)["decisions"]}
        self.assertEqual(questions["mlir-onnx"], set())
        self.assertIn("layout", questions["mlir-layout"])
        self.assertNotIn("schedule", questions["mlir-linalg"])
        self.assertIn("packing", questions["mlir-linalg"])
        self.assertIn("schedule", questions["mlir-kernels"])
        self.assertEqual(questions["asm"], questions["mlir-kernels"])

    def test_another_folder(self):
        os.mkdir(self.path("other"))
        self.decide(small_model(), name="other/decisions.json")
        self.assertEqual(os.listdir(self.path("other")), ["decisions.json"])

    def test_remarks(self):
        """--remarks prints a line for each unusual decision, and nothing for the others."""
        source = self.save(small_model())
        done = tool("ingot", "compile", source, "-q", "-o", self.path("model.so"), "--remarks")
        self.assertEqual(done.stderr, "ingot compile: remark: model.onnx: node 'head 10': 'native' does not compute it: "
                                      "it computes int64[4,4], where kernels compute float32\n")
        nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="open", group=16)]
        model = make_model(nodes, [("x", ["n", "c", 8, 8]), ("w", ["o", "i", 3, 3])], [("y", ["n", "o", 6, 6])])
        done = tool("ingot", "compile", self.save(model), "-q", "-o", self.path("model.so"), "--remarks")
        self.assertIn("ingot compile: remark: model.onnx: node 'open': layout: channels first, because the conv has many "
                      "groups, with an open number of channels\n", done.stderr)


class DecisionFiles(Case):
    """File names that are refused. Nothing is written."""
    sanitize = True

    def refuses(self, file, *words, options=(), code=1):
        with self.subTest(file):
            before = sorted(os.listdir(self.dir))
            done = tool("ingot", "compile", self.source, "-o", self.path("model.so"), f"--decisions={file}", *options,
                        cwd=self.dir)
            self.assert_one_line(done, *words)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertEqual(sorted(os.listdir(self.dir)), before)

    def setUp(self):
        super().setUp()
        self.source = self.save(relu_model())

    def test_names_of_other_files(self):
        for name in ("model.so", "./model.so", "model.h", self.path("model.so"), self.path("model.h")):
            self.refuses(name, name, "is the name of another output")
        self.refuses("model.onnx", "model.onnx", "it is the model itself")
        os.symlink("model.onnx", self.path("link.json"))
        self.refuses("link.json", "link.json", "it is the model itself")
        with open(self.path("own.kernels.json"), "w", encoding="utf-8") as f:
            json.dump({"ingot_kernels": 1, "kernels": "native", "layers": []}, f)
        self.refuses("own.kernels.json", "own.kernels.json", options=["--kernels=own.kernels.json"])

    def test_no_files(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("pipe"))
        self.refuses("folder", "folder")
        self.refuses("pipe", "pipe", "regular file")
        self.refuses("/dev/null", "/dev/null", "regular file")
        self.refuses("missing/d.json", "missing/d.json")

    def test_wrong_use(self):
        self.refuses("", "option --decisions is empty", code=2)
        self.refuses("d.json", "--print-pipeline and --", options=["--print-pipeline"], code=2)

    def test_failing_compilation_leaves_none(self):
        with open(self.path("d.json"), "w", encoding="utf-8") as f:
            f.write("before")
        nodes = [helper.make_node("Unheard", ["x"], ["y"], name="node")]
        self.source = self.save(make_model(nodes, [("x", [1])], [("y", [1])]), "bad.onnx")
        done = tool("ingot", "compile", self.source, "-o", self.path("bad.so"), f"--decisions={self.path('d.json')}")
        self.assertEqual(done.returncode, 1)
        with open(self.path("d.json"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "before")
