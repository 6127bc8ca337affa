"""Tests --json of every command: the document and the lines, also if something goes wrong."""
import json
import os
import re
import subprocess
import unittest

import jsonschema
import onnx

import families
from support import BIN, ROOT, Case, conv_model, helper, make_model, np, relu_model, tool

SCHEMAS = os.path.join(ROOT, "docs/reference/json")
QUICK = ["--duration=0", "--warm-up=0", "--iterations=2"]


def close(schema):
    """Makes unknown members an error: a reader ignores them, but a member without a description is a mistake here."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def validator(name):
    with open(os.path.join(SCHEMAS, name + ".schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    return jsonschema.Draft202012Validator(schema)


def has_json(command):
    return "--json" in tool("ingot", command, "--help").stdout


class JsonCase(Case):
    def lines(self, text):
        """Returns the objects of standard error, each of which follows the schema."""
        line = validator("line")
        found = [json.loads(one) for one in text.splitlines()]
        for one in found:
            line.validate(one)
        return found

    def messages(self, text, severity=None):
        return [one for one in self.lines(text)
                if one["type"] == "message" and severity in (None, one["severity"])]

    def document(self, command, *arguments, code=0):
        """Runs a command. Returns its document, which follows the schema, and the lines of standard error."""
        done = tool("ingot", command, *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(list(document)[:3], ["schema", "version", "ingot"])
        validator(command).validate(document)
        return document, self.lines(done.stderr)

    def assert_one_error(self, done, *words, code=1):
        """Asserts that a command failed with one line, an error that has these words, and wrote no document."""
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        error, = self.messages(done.stderr)
        self.assertEqual(error["severity"], "error")
        for word in words:
            self.assertIn(word, json.dumps(error))
        return error


class Documents(JsonCase):
    def test_compile(self):
        model = self.save(families.ALL["resnet"]()[0])
        out = self.path("m.so")
        document, lines = self.document("compile", model, "-o", out, "--weights=file", "--decisions", self.path("d.json"))
        self.assertEqual((document["model"], document["output"], document["header"]), (model, out, self.path("m.h")))
        self.assertEqual(document["weights_file"], self.weights_of(out))
        self.assertEqual(document["decisions"], self.path("d.json"))
        shown, _ = self.document("inspect", out)
        self.assertEqual(document["weights_bytes"], shown["weights_bytes"])
        self.assertEqual(document["arena_bytes"], shown["arena_bytes"])
        self.assertEqual(document["model_sha256"], shown["metadata"]["ingot.model_sha256"])
        self.assertEqual(document["layers"]["count"], len(shown["layers"]))
        self.assertEqual(document["levels"][0]["code_bytes"], shown["variants"][0]["code_bytes"])
        fractions = [line["fraction"] for line in lines]
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual((lines[0]["phase"], lines[-1]["phase"]), ("import", "link"))
        self.assertGreater(fractions[-1], 0.8)

    def test_compile_for_several_levels(self):
        model = self.save(conv_model())
        document, lines = self.document("compile", model, "-o", self.path("m.so"), "--target=x86-64-v3,x86-64-v4")
        self.assertEqual([one["level"] for one in document["levels"]], ["x86-64-v3", "x86-64-v4"])
        fractions = [line["fraction"] for line in lines]
        self.assertEqual(fractions, sorted(fractions))

    def test_compile_other_outputs(self):
        model = self.save(relu_model())
        for emit in ("mlir-onnx", "mlir-nn", "mlir-llvm", "llvm", "asm", "obj"):
            with self.subTest(emit):
                document, lines = self.document("compile", model, f"--emit={emit}", "-o", self.path("out"))
                self.assertEqual(document["emit"], emit.split("-")[0])
                self.assertNotIn("levels", document)
                fractions = [line["fraction"] for line in lines]
                self.assertEqual(fractions, sorted(fractions))
        document, _ = self.document("compile", model, "--print-pipeline")
        self.assertEqual(len(document["pipelines"]), 1)
        self.assertIn("builtin.module(", document["pipelines"][0])
        document, _ = self.document("compile", model, "--timing", "-o", self.path("m.so"))
        self.assertIn("import", json.dumps(document["timing"]))

    def test_compile_shows_what_the_text_shows(self):
        """The document has a member for every number that the terminal's summary shows."""
        model = self.save(conv_model())
        text = tool("ingot", "compile", model, "-o", self.path("m.so"))
        document, _ = self.document("compile", model, "-o", self.path("m.so"))
        for shown, member in (("weights", "weights_bytes"), ("lower bound", "arena_lower_bound_bytes"),
                              ("weights of the model", "model_weights_bytes")):
            found = re.search(rf"{shown} ([0-9]+) B", text.stdout)
            if found:
                self.assertEqual(int(found.group(1)), document[member], shown)
        self.assertIn(document["levels"][0]["level"] + " code", text.stdout)

    def test_quiet(self):
        """--quiet leaves out progress, but not the result."""
        document, lines = self.document("compile", self.save(conv_model()), "-o", self.path("m.so"), "-q")
        self.assertEqual(lines, [])
        self.assertEqual(document["warnings"], [])

    def test_run(self):
        artifact = self.compile(relu_model())
        np.save(self.path("x.npy"), np.array([[1, -2, np.inf, 0.25]], np.float32))
        document, lines = self.document("run", artifact, "--input", self.path("x.npy"), "--output-dir", self.path("out"))
        output, = document["outputs"]
        self.assertEqual(output["first_values"], [1, 0, None, 0.25])
        self.assertEqual((output["shape"], output["dtype"], output["max"]), ([1, 4], "float32", 1))
        self.assertEqual(np.load(output["file"]).tolist(), [[1, 0, np.inf, 0.25]])
        warning, = [line for line in lines if line["type"] == "message"]
        self.assertEqual((warning["severity"], warning["text"]), ("warning", document["warnings"][0]))
        document, _ = self.document("run", artifact, "--input=random")
        self.assertIsNone(document["outputs"][0]["file"])

    def test_bench(self):
        artifact = self.compile(conv_model())
        document, lines = self.document("bench", artifact, *QUICK)
        self.assertGreaterEqual(document["runs"], 2)
        self.assertNotIn("layers", document)
        self.assertIn("loading", [line.get("phase") for line in lines])
        document, _ = self.document("bench", artifact, *QUICK, "--profile", "--percentile=50,99.9")
        self.assertGreater(len(document["layers"]), 0)
        self.assertIn("p99.9", document["latency_ms"])
        document, lines = self.document("bench", artifact, "--duration=1500ms", "--warm-up=0")
        fractions = [line["fraction"] for line in lines if line["type"] == "progress"]
        self.assertEqual(fractions, sorted(fractions))
        self.assertGreater(fractions[-1], 0.5)

    def test_bench_at_several_sizes(self):
        artifact = self.compile(make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", ["n", 4])], [("y", ["n", 4])]))
        document, lines = self.document("bench", artifact, "--shape", "x=(1:3:+1)x4", *QUICK)
        self.assertEqual([point["shapes"] for point in document["points"]], ["x=1x4", "x=2x4", "x=3x4"])
        self.assertTrue(any("2 of 3" in line.get("phase", "") for line in lines), lines)

    def test_bench_against(self):
        artifact = self.compile(relu_model())
        document, _ = self.document("bench", artifact, self.path("model.onnx"), "--against=onnxruntime", "--rounds=1", *QUICK)
        self.assertEqual([engine["name"] for engine in document["engines"]], ["ingot", "onnxruntime"])

    def test_inspect(self):
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m\"\n\\")], [("x", ["n", 4])],
                           [("y", ["n", 4])], {"w": np.ones((4, 4), np.float32)})
        artifact = self.compile(model, "--dim=n=1:2:8")
        document, lines = self.document("inspect", artifact, "--verify")
        self.assertEqual(document["layers"][-1]["nodes"], ["m\"\n\\"])
        self.assertEqual(document["shape_profiles"][0][0]["usual"], 2)
        self.assertEqual((document["verified"], lines), (True, []))
        self.assertEqual([one["bytes"] for one in document["inputs"] + document["outputs"]], [None, None])
        fixed, _ = self.document("inspect", self.compile(model, "--dim=n=2", name="fixed"))
        self.assertEqual([one["bytes"] for one in fixed["inputs"] + fixed["outputs"]], [32, 32])
        document, _ = self.document("inspect", artifact, "--dim=n=3")
        self.assertEqual(document["inferred"]["outputs"], [[3, 4]])


    def test_help(self):
        """The document has all members that the reference page describes."""
        document, lines = self.document("help")
        self.assertEqual(lines, [])
        for command in document["commands"]:
            text = tool("ingot", command["name"], "--help-all").stdout
            shown = set(re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+)", text)) - {"help", "version"}
            self.assertEqual({option["name"] for option in command["options"]}, shown)
        one, _ = self.document("help", "compile")
        self.assertEqual([command["name"] for command in one["commands"]], ["compile"])
        one, _ = self.document("help", "--weight-bits")
        option, = one["commands"][0]["options"]
        self.assertEqual((option["words"], option["default"], option["needs"]),
                         (["auto", "7", "8"], "auto", "--precision=int8, int8-dynamic and auto"))
        one, _ = self.document("help", "shapes")
        self.assertEqual({option["topic"] for command in one["commands"] for option in command["options"]}, {"shapes"})
        self.assert_one_error(tool("ingot", "help", "shape_", "--json"), "did you mean shape", code=2)

    def test_progress_ends(self):
        """The last fraction of each command is 1."""
        model, data, artifact = self.save(conv_model()), self.path("x.npz"), self.path("m.so")
        shape = [d.dim_value for d in onnx.load(model).graph.input[0].type.tensor_type.shape.dim]
        np.savez(data, x=np.ones(shape, np.float32))
        for command in (["compile", model, "-o", artifact], ["compile", model, "-o", self.path("t"), "--compile-to=nn"],
                        ["compile", model, "-o", self.path("t"), "--emit=asm"], ["run", artifact, "--input=random"],
                        ["bench", artifact, *QUICK], ["bench", artifact, "--duration=300ms"],
                        ["bench", artifact, model, "--against=onnxruntime", "--rounds=1", *QUICK],
                        ["calibrate", model, "--data", data, "-o", self.path("c.json")],
                        ["compare", artifact, model, "--data", data]):
            with self.subTest(" ".join(command)):
                _, lines = self.document(*command)
                fractions = [line["fraction"] for line in lines if "fraction" in line]
                self.assertEqual(fractions, sorted(fractions))
                self.assertEqual(fractions[-1], 1)


class Studies(JsonCase):
    """The commands that run a model on samples."""

    def setUp(self):
        super().setUp()
        if not has_json("calibrate"):
            self.skipTest("ingot calibrate has no --json")
        self.model = self.save(conv_model())
        x = np.random.default_rng(2).standard_normal((4, *self.shape())).astype(np.float32)
        np.savez(self.path("x.npz"), x=x)

    def shape(self):
        value = onnx.load(self.model).graph.input[0].type.tensor_type.shape
        return [d.dim_value for d in value.dim][1:]

    def int8(self, calibration):
        """Compiles the model in int8, also for a CPU on which this does not pay."""
        return self.compile(self.model, "--precision=int8", f"--calibration={calibration}", "--keep=*=int8", name="int8")

    def test_calibrate_and_compare(self):
        calibration = self.path("m.calib.json")
        document, lines = self.document("calibrate", self.model, "--data", self.path("x.npz"), "-o", calibration)
        self.assertEqual((document["calibration"], document["samples"]), (calibration, 4))
        fractions = [line["fraction"] for line in lines if "fraction" in line]
        self.assertEqual(fractions, sorted(fractions))
        artifact = self.int8(calibration)
        data = ["--data", self.path("x.npz")]
        document, _ = self.document("compare", artifact, self.model, *data, "--per-layer", "--sensitivity",
                                    f"--calibration={calibration}", "--keep=*=int8")
        self.assertEqual((document["samples"], document["precision"]), (4, "int8"))
        self.assertGreater(len(document["sensitivity"]["layers"]), 0)
        document, _ = self.document("compare", artifact, self.model, *data, "--max-error=0", code=3)
        self.assertIs(document["within_tolerance"], False)

    def test_comparison_shows_what_the_text_shows(self):
        """The document has the bounds, the outputs that exceed them, and the first violation of each output."""
        calibration = self.path("m.calib.json")
        self.document("calibrate", self.model, "--data", self.path("x.npz"), "-o", calibration)
        artifact = self.int8(calibration)
        command = [artifact, self.model, "--data", self.path("x.npz")]
        text = tool("ingot", "compare", *command, "--atol=1e-6", "--rtol=1e-5").stdout
        shown = re.search(r"'(.*)': (\d+) of (\d+) elements are beyond the tolerance, the first is element (\d+) of (.*): "
                          r"(\S+), but (\S+) in", text)
        document, _ = self.document("compare", *command, "--atol=1e-6", "--rtol=1e-5", code=3)
        self.assertEqual(document["tolerance"], {"atol": 1e-6, "rtol": 1e-5, "max_error": None})
        output, = document["outputs"]
        first = output["first_beyond"]
        self.assertEqual((output["name"], output["elements_beyond"], output["elements"], first["element"], first["sample"]),
                         (shown[1], int(shown[2]), int(shown[3]), int(shown[4]), shown[5]))
        np.testing.assert_allclose((first["value"], first["reference"]), (float(shown[6]), float(shown[7])), rtol=1e-6)
        self.assertIs(output["within_tolerance"], False)
        document, _ = self.document("compare", *command, "--atol=1000")
        self.assertNotIn("first_beyond", document["outputs"][0])
        self.assertIs(document["outputs"][0]["within_tolerance"], True)
        text = tool("ingot", "compare", *command, "--per-layer", "--sensitivity").stdout
        document, _ = self.document("compare", *command, "--per-layer", "--sensitivity")
        for tensor in document["tensors"]:
            if tensor["signal_to_noise_db"] is not None:
                self.assertIn(f"{tensor['signal_to_noise_db']:.1f} dB", text)
        kept = re.search(r"to keep the worst (\d+) in fp32", text)
        self.assertEqual(document["sensitivity"]["suggested_layers"], int(kept[1]) if kept else None)

    def test_warnings(self):
        """Warnings that were printed as JSON lines are also in the document."""
        calibration = self.path("m.calib.json")
        for command in (["calibrate", self.model, "--data", self.path("x.npz"), "-o", calibration],
                        ["compile", self.model, "-o", self.path("m.so"), "--precision=int8", f"--calibration={calibration}"],
                        ["compare", self.path("m.so"), self.model, "--data", self.path("x.npz")],
                        ["run", self.path("m.so"), "--input=random"], ["inspect", self.path("m.so")],
                        ["bench", self.path("m.so"), "--duration=100ms"]):
            with self.subTest(command[0]):
                document, lines = self.document(*command)
                self.assertEqual(document["warnings"], [one["text"] for one in lines if one.get("severity") == "warning"])
                if command[0] == "calibrate":
                    self.assertGreater(len(document["warnings"]), 0)


class Messages(JsonCase):
    def test_errors_name_the_node(self):
        model = make_model([helper.make_node("Relu", ["x"], ["r"], name="fine"),
                            helper.make_node("Unheard", ["r"], ["y"], name="n\"1", domain="some.where")],
                           [("x", [1, 4])], [("y", [1, 4])])
        model.opset_import.append(helper.make_opsetid("some.where", 1))
        done = tool("ingot", "compile", self.save(model), "-o", self.path("m.so"), "--json")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        errors = self.messages(done.stderr, "error")
        self.assertTrue(any(error.get("node") == "n\"1" and error.get("operator") == "Unheard" and
                            error["file"] == self.path("model.onnx") for error in errors), errors)
        self.assertFalse(os.path.exists(self.path("m.so")))

    def test_errors_of_the_import(self):
        """All commands that read a model name the file, the node and the operator."""
        model = make_model([helper.make_node("Relu", ["nothing"], ["y"], name="r")], [("x", [1, 4])], [("y", [1, 4])])
        unheard = make_model([helper.make_node("Unheard", ["x"], ["y"], name="r", domain="some.where")], [("x", [1, 4])],
                             [("y", [1, 4])])
        unheard.opset_import.append(helper.make_opsetid("some.where", 1))
        artifact = self.compile(relu_model(), name="fine")
        np.save(self.path("x.npy"), np.ones((1, 4), np.float32))
        for model, operator in ((self.save(model, "undefined.onnx"), "Relu"), (self.save(unheard, "unheard.onnx"), "Unheard")):
            for command in (["compile", model], ["calibrate", model, "--data", self.path("x.npy")],
                            ["compare", artifact, model, "--data", self.path("x.npy")]):
                with self.subTest(operator=operator, command=command[0]):
                    error = self.assert_one_error(tool("ingot", *command, "--json", cwd=self.dir))
                    self.assertEqual((error["file"], error["node"], error["operator"]), (model, "r", operator))
                    done = tool("ingot", *command, cwd=self.dir)
                    self.assert_one_line(done, f"ingot {command[0]}: error: {os.path.basename(model)}: node 'r'")
                    self.assertEqual(done.stderr.count("node 'r'"), 1)
        for name, text in (("junk.onnx", b"junk"), ("none.onnx", None)):
            if text:
                self.save(text, name)
            for command in (["compile"], ["calibrate", "--data", self.path("x.npy")]):
                error = self.assert_one_error(tool("ingot", *command, self.path(name), "--json", cwd=self.dir))
                self.assertEqual(error["file"], self.path(name))
                self.assertNotIn(name, error["text"])

    def test_hints(self):
        """Each wrong use has a hint."""
        model = self.save(relu_model())
        for arguments in (["--precision=int8"], ["--symbol=1"], ["--general=keep"], ["--limit=a=1"], ["--target=z80"],
                          ["--emit=asm", "--weights=file"]):
            error = self.assert_one_error(tool("ingot", "compile", model, *arguments, "--json"), code=2)
            self.assertEqual(error["hint"], "see: ingot compile --help")

    def test_remarks(self):
        """The JSON lines contain everything that --remarks prints on a terminal."""
        model = make_model([helper.make_node("Conv", ["x", "w"], ["y"], name="computed")],
                           [("x", [1, 3, 9, 9]), ("w", ["o", 3, 3, 3])], [("y", [1, "o", 7, 7])])
        path = self.save(model)
        text = tool("ingot", "compile", path, "-o", self.path("m.so"), "--remarks")
        done = tool("ingot", "compile", path, "-o", self.path("m.so"), "--remarks", "--json")
        remarks = self.messages(done.stderr, "remark")
        self.assertGreater(len(remarks), 0)
        self.assertEqual(len(text.stderr.splitlines()), len(remarks), text.stderr)
        for line, remark in zip(text.stderr.splitlines(), remarks):
            self.assertTrue(line.endswith(remark["text"]), (line, remark))
        self.assertEqual((remarks[0]["node"], remarks[0]["operator"]), ("computed", "Conv"))

    def test_wrong_use(self):
        """The flag is found wherever it stands."""
        model = self.save(relu_model())
        artifact = self.compile(relu_model(), name="a")
        for arguments, words in ((["compile", model, "--nonsense"], ["unknown option"]),
                                 (["compile"], ["no model.onnx"]),
                                 (["compile", model, "--precision=int3"], ["--precision"]),
                                 (["compile", model, "-o", "-", "--emit=asm"], ["-o -"]),
                                 (["compile", model, "--dump-after=all"], ["--dump-after"]),
                                 (["run", artifact, "--nonsense"], ["unknown option"]),
                                 (["run"], ["no model.so"]),
                                 (["bench", artifact, "--iterations=x"], ["must be a number"]),
                                 (["inspect", artifact, "--weights=x"], ["--verify"]),
                                 (["calibrate", model], ["--data"]),
                                 (["compare", artifact], ["no model.onnx"]),
                                 (["unheard"], ["unknown command"])):
            if arguments[0] == "calibrate" and not has_json("calibrate"):
                continue
            with self.subTest(" ".join(arguments[:1] + words)):
                self.assert_one_error(tool("ingot", *arguments, "--json"), *words, code=2)

    def test_files_that_cannot_be_read(self):
        missing = self.path("missing")
        for command in ("compile", "run", "bench", "inspect"):
            with self.subTest(command):
                self.assert_one_error(tool("ingot", command, missing, "--json"), "missing")

    def test_names_that_are_no_text(self):
        """Bytes that are no UTF-8, quotes and line breaks stay inside of strings."""
        name = os.fsencode(self.path("")) + b"\xff\"\n\x1b.onnx"
        done = subprocess.run([os.path.join(BIN, "ingot").encode(), b"compile", name, b"--json"], capture_output=True)
        self.assertEqual(done.returncode, 1)
        error, = self.messages(done.stderr.decode("utf-8"))
        self.assertIn(".onnx", error["text"] + error.get("file", ""))


if __name__ == "__main__":
    unittest.main()
