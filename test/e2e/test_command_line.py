"""Tests common parts of commands: help with an example, version, exit codes, silence, file names that stay in a folder.
"""
import json
import os
import re
import signal
import subprocess
import time

import families

from support import BIN, Case, TensorProto, have, helper, make_model, np, relu_model, start, tool

COMMANDS = [["ingot"], ["ingot", "compile"], ["ingot", "run"], ["ingot", "bench"], ["ingot", "inspect"], ["ingot-opt"],
            ["ingot-import"], ["ingot-ocr"]]


class EveryCommand(Case):
    """All commands behave equally."""
    sanitize = True

    def each(self, commands=COMMANDS):
        for command in commands:
            if have(command[0]):
                with self.subTest(" ".join(command)):
                    yield command

    def test_help(self):
        for command in self.each():
            done = tool(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("usage: " + " ".join(command), done.stdout.replace("USAGE", "usage"))
            self.assertIn("example", done.stdout.lower())
            if command != ["ingot-opt"]:
                self.assertIn("exit codes: 0 ", done.stdout.lower())

    def test_version(self):
        wanted = tool("ingot", "--version").stdout.split()[1]
        for command in self.each():
            done = tool(*command, "--version")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, f"{command[0]} {wanted}\n")

    def test_wrong_use(self):
        for command in self.each([c for c in COMMANDS if c[0] in ("ingot", "ingot-import")]):
            done = tool(*command, "--frobnicate")
            self.assert_one_line(done, " ".join(command) + ": error: ", "--frobnicate")
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, "")

    def test_file_that_is_missing(self):
        for command in self.each([c for c in COMMANDS if len(c) > 1 or c == ["ingot-import"]]):
            done = tool(*command, self.path("nothing"))
            self.assert_one_line(done, " ".join(command) + ": error: ", "nothing")
            self.assertEqual(done.returncode, 1)


class Options(Case):
    """A wrong option gives one line in the words of all commands, exit code 2, and no files."""

    def setUp(self):
        super().setUp()
        self.model = self.save(relu_model())
        self.artifact = self.compile(self.model)
        data = self.path("x.npy")
        np.save(data, np.ones((2, 3), np.float32))
        out = self.path("made")
        # For each command: a valid command line, its options with values, an option with a number, and a switch.
        self.commands = {
            "compile": ([self.model, "-o", out], ["--target", "--shape", "--emit", "--calibration"], None, "--timing"),
            "calibrate": ([self.model, "--data", data, "-o", out], ["--method", "--shape"], "--threads", None),
            "compare": ([self.artifact, self.model, "--data", data], ["--reference", "--atol", "--dim"], "--threads",
                        "--json"),
            "run": ([self.artifact, "--input", "random"], ["--output-dir", "--shape", "--dim"], "--threads", None),
            "bench": ([self.artifact, "--duration=0"], ["--warm-up", "--shape", "--export-times"], "--iterations",
                      "--json"),
            "inspect": ([self.artifact], ["--shape", "--dim"], None, "--json"),
        }
        self.before = sorted(os.listdir(self.dir))

    def refuses(self, command, arguments, *words):
        with self.subTest(" ".join([command, *arguments])):
            done = tool("ingot", command, *self.commands[command][0], *arguments)
            self.assert_one_line(done, f"ingot {command}: error: ", *words, f"; see: ingot {command} --help")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(sorted(os.listdir(self.dir)), self.before)

    def test_every_command_is_here(self):
        listed = re.findall(r"(?m)^  (\w+) ", tool("ingot", "--help").stdout.split("commands:")[1].split("\n\n")[0])
        self.assertEqual(sorted(listed), sorted(self.commands))

    def test_unknown(self):
        for command, (_, valued, _, _) in self.commands.items():
            self.refuses(command, ["--frobnicate"], "unknown option '--frobnicate'; see")
            # The compiler does not accept options of LLVM's libraries.
            self.refuses(command, ["--inline-threshold=3"], "unknown option '--inline-threshold'")
            for option in valued:
                swapped = option[:3] + option[4] + option[3] + option[5:]
                self.refuses(command, [swapped + "=1"], f"unknown option '{swapped}' (did you mean {option}?)")
        self.assert_one_line(tool("ingot", "complie"), "unknown command 'complie' (did you mean compile?)")

    def test_value_is_missing(self):
        for command, (_, valued, number, _) in self.commands.items():
            for option in [*valued, *([number] if number else [])]:
                self.refuses(command, [option], f"option {option} needs a value, ")
                self.refuses(command, [option, "--dim=n=1" if command != "calibrate" else "--shape=x=1"],
                             f"option {option} needs a value, ")

    def test_value_of_a_switch(self):
        for command, (_, _, _, switch) in self.commands.items():
            if switch:
                self.refuses(command, [f"{switch}=maybe"], f"option {switch} takes no value")
            self.refuses(command, ["--help=1"], "option --help takes no value")
        self.refuses("compile", ["--winograd=maybe"], "option --winograd must be true or false, not 'maybe'")

    def test_no_number(self):
        for command, (_, _, number, _) in self.commands.items():
            for value in ("many", "-1", "1e3", "99999999999999999999", "0x10", "1.5", " 1") if number else ():
                self.refuses(command, [f"{number}={value}"], f"option {number} must be a number from 1 to", f"'{value}'")
        self.refuses("compile", ["--schedule-seed=-1"], "option --schedule-seed must be a number, not '-1'")

    def test_no_size(self):
        for command in ("compare", "run", "bench", "inspect"):
            for value in ("n", "n=", "=3", "n=-1", "n=1.5", "n=x", "n=2x3", "n=9223372036854775808"):
                self.refuses(command, [f"--dim={value}"], "option --dim must be NAME=N, e.g. batch=1", f"'{value}'")
            for value in ("x", "x=", "x=-1x3", "x=2,3", "x=2x3x", "x=2X3"):
                self.refuses(command, [f"--shape={value}"], "option --shape must be NAME=AxB", f"'{value}'")

    def test_empty_value(self):
        for command, (_, valued, *_) in self.commands.items():
            for option in valued:
                self.refuses(command, [f"{option}="], f"option {option} is empty")

    def test_given_twice(self):
        for command, option, values in (("compile", "--target", ("x86-64-v3", "x86-64-v4")),
                                        ("compile", "--optimize", ("speed", "size")),
                                        ("calibrate", "--method", ("minmax", "entropy")),
                                        ("compare", "--reference", ("fp32", "onnxruntime")),
                                        ("run", "--threads", ("1", "2")), ("bench", "--threads", ("1", "2"))):
            self.refuses(command, [f"{option}={value}" for value in values],
                         f"option {option} is given twice: '{values[0]}' and '{values[1]}'")
        done = tool("ingot", "compile", self.model, "-q", "-q", "-o", self.artifact, "--target=x86-64-v3",
                    "--target=x86-64-v3")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_no_model_and_two(self):
        for command, (arguments, *_) in self.commands.items():
            kind = "onnx" if command in ("compile", "calibrate") else "so"
            done = tool("ingot", command)
            self.assert_one_line(done, f"ingot {command}: error: no model.{kind} is given")
            self.assertEqual(done.returncode, 2)
            done = tool("ingot", command, *arguments, "third", "fourth")
            self.assert_one_line(done, "unexpected argument")
            self.assertEqual(done.returncode, 2)


class ExitCodes(Case):
    """Exit code 2 means that the command line is wrong for any files, 1 that a file is wrong or lacks something."""

    def test_every_kind(self):
        model = self.save(make_model([helper.make_node("Conv", ["x", "w"], ["y"], name="conv")], [("x", ["n", 1, 4, 4])],
                                     [("y", ["n", 1, 4, 4])], {"w": np.ones((1, 1, 1, 1), np.float32)}))
        artifact = self.compile(model, name="m")
        data, junk = self.path("x.npy"), self.path("junk.json")
        np.save(data, np.ones((2, 1, 4, 4), np.float32))
        for name in ("junk.json", "junk.npy", "junk.so", "junk.onnx"):
            with open(self.path(name), "w") as f:
                f.write("junk")
        kept = ["--precision=fp16"]
        commands = {"compile": [model, "-o", self.path("made.so")], "calibrate": [model, "--data", data, "-o", self.path("c.json")],
                    "compare": [artifact, model, "--data", data], "run": [artifact, "--input=random", "--dim=n=1"],
                    "bench": [artifact, "--duration=0", "--warm-up=0"], "inspect": [artifact]}
        # For each command: options with wrong texts, and options that do not fit the files.
        table = {
            "compile": ([["--target=z80"], ["--shape=x=1y2"], ["--dim=n"], ["--value=n"], ["--limit=a=1"], ["--kernels=none"],
                         [*kept, "--keep=conv"], ["--emulate-on=foo"], ["--ptxas=none"],
                         ["--cuda-fallback=error"], ["--report=r.html", "--precision=int8", f"--calibration={junk}", "--value=n=1"],
                         ["--precision=auto", f"--eval={data}", "--max-drop=much"], ["--symbol=1"],
                         ["--profile=n"], ["--length=x=y"], ["--precision=int8"], ["--general=keep"]],
                        [["--shape=z=1"], ["--dim=z=1"], ["--value=z=1"], ["--length=z=1"], ["--absent=z"], ["--free-dim=z"],
                         ["--profile=z=1:2:3"], ["--kernels=none.json"], [f"--kernels={junk}"], [*kept, "--keep=z=fp32"],
                         [*kept, "--rules=none.json"], [*kept, f"--rules={junk}"],
                         ["--precision=int8", "--calibration=none.json"], ["--precision=int8", f"--calibration={junk}"],
                         ["--precision=auto", "--eval=none.npz", "--max-drop=1"], ["-o", model]]),
            "calibrate": ([["--shape=x=1y2"], ["--dim=n"], ["--dim=n=1:2:3"], ["--method=z"], ["--repair=z"]],
                          [["--shape=z=1"], ["--dim=z=1"], ["--rules=none.json"], [f"--rules={junk}"], ["--data=none.npz"],
                           ["--data", self.path("junk.npy")]]),
            "compare": ([["--shape=x=1y2"], ["--dim=n"], ["--device=gpu"], ["--atol=x"], ["--dim=n=1:2:3"]],
                        [["--dim=z=1"], ["--data=none.npz"], ["--per-layer", "--calibration=none.json"],
                         ["--per-layer", "--rules=none.json"]]),
            "run": ([["--shape=x=1y2"], ["--dim=n"], ["--device=cuda:"], ["--input=random:x"], ["--shape=x=?x1x4x4"], ["--dim=n=1:2:3"]],
                    [["--shape=z=1"], ["--dim=z=1"], ["--input=x=none.npy"], ["--weights=none"]]),
            "bench": ([["--shape=x=1y2"], ["--dim=n"], ["--device=cuda:65536"], ["--input=random:x"], ["--dim=n=(4:2:+1)"], ["--duration=x"]],
                      [["--shape=z=1"], ["--dim=z=1"], ["--input=x=none.npy"], ["--export-times=none/t"]]),
            "inspect": ([["--shape=x=1y2"], ["--dim=n"], ["--dim=n=1:2:3"]], [["--shape=z=1"], ["--dim=z=1"], ["--metadata=z"]]),
        }
        for command, kinds in table.items():
            for code, lines in zip((2, 1), kinds):
                for options in lines:
                    with self.subTest(" ".join([command, *options])):
                        known = [one for one in commands[command] if "--dim=n" not in options[0] or "--dim" not in one]
                        done = tool("ingot", command, *(known[:1] if "-o" in options else known), *options, cwd=self.dir)
                        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                        self.assert_one_line(done, f"ingot {command}: error: ")
                        self.assertEqual("; see: ingot" in done.stderr, code == 2)
            for name, code in (("none", 1), ("junk.so", 1)):
                done = tool("ingot", command, name, *commands[command][1:], cwd=self.dir)
                self.assertEqual(done.returncode, code, done.stderr)


class Output(Case):
    """Tests printed and written output."""
    sanitize = True

    def test_remarks(self):
        """Remarks say why a convolution and a product have no kernels, and nothing about an op with a kernel. The
        product is not even tiled."""
        weights = {"v": np.ones((4, 4, 1, 1), np.float32)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="computed one"),
                 helper.make_node("GlobalAveragePool", ["c"], ["p"], name="pool"),
                 helper.make_node("Conv", ["p", "v"], ["y"], name="fixed one"),
                 helper.make_node("MatMul", ["a", "a"], ["b"], name="whole one")]
        numbers = [[512, 512], TensorProto.INT64]
        model = make_model(nodes, [("x", ["n", 3, "h", "w"]), ("w", ["o", 3, 3, 3]), ("a", *numbers)],
                           [("y", ["n", 4, 1, 1]), ("b", *numbers)], weights)
        command = ["ingot", "compile", self.save(model), "-o", self.path("model.so")]
        self.assertEqual(tool(*command, "-q").stderr, "")
        done = tool(*command, "-q", "--remarks")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "ingot compile: remark: model.onnx: node 'computed one': 'native' does not compute it: "
                                      "it has weights of open size: float32[?,3,3,3]\n"
                                      "ingot compile: remark: model.onnx: node 'whole one': 'native' does not compute it: "
                                      "it computes int64[512,512], where kernels compute float32\n")
        # A loop with a large part of the model's arithmetic is reported without --remarks.
        remark = "[1-9][0-9] % of the model's arithmetic runs without a kernel"
        told = tool(*command).stderr
        self.assertRegex(told, rf"(?m)^ingot compile: remark: model.onnx: node 'whole one': {remark}: "
                               r"native: computes int64\[512,512\], where kernels compute float32$")
        self.assertNotIn("computed one", told)
        # The artifact records it, too.
        layers = json.loads(tool("ingot", "inspect", self.path("model.so"), "--json").stdout)["layers"]
        by = {node: (layer["backend"], layer["reason"]) for layer in layers for node in layer["nodes"]}
        self.assertEqual(by["computed one"][0], "loops")
        self.assertEqual(by["computed one"][1], "native: has weights of open size: float32[?,3,3,3]")
        self.assertRegex(by["whole one"][1], rf"^native: computes int64\[512,512\], where kernels compute float32; {remark}$")
        self.assertEqual(by["fixed one"], ("native", ""))
        self.assertEqual({node for layer in layers if layer["in_loop"] for node in layer["nodes"]}, {"whole one"})
        text = tool("ingot", "inspect", self.path("model.so"), "--layers").stdout
        self.assertRegex(text, r"layers +\d+: .*\d+ by native; 2 were declined by a faster backend: --layers tells why\n")
        self.assertRegex(text, f"(?m)^remark    node 'whole one': native: computes .*; {remark}$")
        self.assertRegex(text, r"convolution +loops +.*computed one +native: has weights")
        done = tool("ingot", "bench", self.path("model.so"), "--profile", "--shape", "x=1x3x8x8", "--shape", "w=4x3x3x3", "--shape", "a=512x512", "--iterations=3",
                    "--duration=0", "--warm-up=0", "--threads=1")
        self.assertIn("computed one: native: has weights", done.stdout, done.stderr)

    def test_no_remarks(self):
        """No remarks on an attention and a product of dynamic sizes, which kernels and tiles compute, or on a
        convolution of almost no work."""
        rng = np.random.default_rng(0)
        weights = {"large": rng.standard_normal((512, 512)).astype(np.float32), "ones": np.ones(2, np.int64)}
        nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2], name="turn"),
                 helper.make_node("MatMul", ["q", "kt"], ["s"], name="scores"),
                 helper.make_node("Softmax", ["s"], ["p"], name="softmax", axis=-1),
                 helper.make_node("MatMul", ["p", "v"], ["a"], name="values"),
                 helper.make_node("MatMul", ["l", "r"], ["b"], name="open product"),
                 helper.make_node("MatMul", ["x", "large"], ["c"], name="large product"),
                 helper.make_node("Conv", ["i", "w"], ["d"], name="small convolution")]
        heads = ["n", 4, "t", 64]
        inputs = [("q", heads), *((name, ["n", 4, "s", 64]) for name in "kv"), ("l", ["m", "depth"]), ("r", ["depth", "columns"]), ("x", [256, 512]),
                  ("i", [1, 3, 8, 8]), ("w", [4, 3, 1, 1])]
        model = make_model(nodes, inputs, [("a", heads), ("b", ["m", "columns"]), ("c", [256, 512]), ("d", [1, 4, 8, 8])],
                           weights)
        done = tool("ingot", "compile", self.save(model), "-o", self.path("model.so"))
        self.assertEqual((done.returncode, "remark" in done.stderr), (0, False), done.stderr)
        self.assertNotIn("remark", tool("ingot", "inspect", self.path("model.so")).stdout)

    def test_timing(self):
        done = tool("ingot", "compile", self.save(relu_model()), "-o", self.path("model.so"), "--timing")
        self.assertEqual(done.returncode, 0, done.stderr)
        for step in ("import", "memory", "PlanMemory", "optimize LLVM IR", "emit machine code", "link and write"):
            self.assertEqual(len(re.findall(rf"^ .*%\)\s+{step}$", done.stderr, re.M)), 1, done.stderr)

    def test_quiet(self):
        source, artifact = self.save(relu_model()), self.path("model.so")
        loud = tool("ingot", "compile", source, "-o", artifact)
        self.assertEqual((loud.returncode, loud.stderr), (0, ""))
        self.assertIn("arena", loud.stdout)
        for option in ("-q", "--quiet"):
            with self.subTest(option):
                done = tool("ingot", "compile", source, "-o", artifact, option)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_output_that_is_something_else(self):
        """An output cannot replace the model or a folder, and the library and the header cannot be one file."""
        source = self.save(relu_model())
        os.mkdir(self.path("folder.so"))
        before = sorted(os.listdir(self.dir))
        for name in ("model.onnx", "folder.so", "model.h"):
            with self.subTest(name):
                self.assert_one_line(tool("ingot", "compile", source, "-o", self.path(name)), name)
                self.assertEqual(sorted(os.listdir(self.dir)), before)
        self.assertEqual(os.path.getsize(source), len(relu_model().SerializeToString()))

    def test_output_that_is_no_file(self):
        """An output never replaces a device or a pipe. Text is written into it, and a library is refused."""
        source = self.save(relu_model())
        os.mkfifo(self.path("pipe.so"))
        before = sorted(os.listdir(self.dir))
        self.assert_one_line(tool("ingot", "compile", source, "-o", self.path("pipe.so")), "pipe.so", "regular file")
        self.assertEqual(sorted(os.listdir(self.dir)), before)

        os.symlink("text", self.path("link"))
        done = tool("ingot", "compile", source, "-o", self.path("link"), "--emit=mlir-nn")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(os.path.islink(self.path("link")))
        with open(self.path("text")) as f:
            self.assertIn("nn.relu", f.read())
        done = tool("ingot", "compile", source, "-o", "/dev/stdout", "--emit=mlir-nn")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("nn.relu", done.stdout)
        artifact = self.compile(source)
        done = tool("ingot", "bench", artifact, "--export-times=/dev/stdout", "--iterations=1", "--duration=0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("startComputeMs", done.stdout)

    def test_standard_output_without_room(self):
        """The command fails if it cannot print its output."""
        source = self.save(relu_model())
        artifact = self.compile(source)
        for command in (["compile", source, "-o", "-", "--emit=asm"], ["compile", source, "-o", artifact],
                        ["run", artifact, "--input", "random"], ["inspect", artifact],
                        ["bench", artifact, "--iterations=1", "--duration=0", "--warm-up=0"]):
            with self.subTest(command[0]), open("/dev/full", "w") as full:
                done = subprocess.run([os.path.join(BIN, "ingot"), *command], stdout=full, stderr=subprocess.PIPE,
                                      text=True)
                self.assert_one_line(done, f"ingot {command[0]}: error: cannot write", "standard output")

    def test_folder_that_does_not_exist(self):
        """The error is reported before anything is compiled or measured."""
        source = self.save(relu_model())
        artifact = self.compile(source)
        for command in (["compile", source, "-o", self.path("no/model.so"), "--kernels=auto"],
                        ["bench", artifact, "--duration=1000s", "--export-profile", self.path("no/profile")]):
            with self.subTest(command[0]):
                self.assert_one_line(tool("ingot", *command), self.path("no"), "No such file")

    def test_options_that_would_do_nothing(self):
        source = self.save(relu_model())
        artifact = self.compile(source)
        for command, words in ((["compile", source, "--dump-after=fold"], ["--dump-after=fold", "no pass"]),
                               (["run", artifact, "--weights=nothing"], ["--weights", "no separate weights"]),
                               (["bench", artifact, "--weights=nothing"], ["--weights", "no separate weights"]),
                               (["bench", artifact, "--rounds=2"], ["--rounds", "--against"]),
                               (["bench", artifact, "--python=python3"], ["--python", "--against"]),
                               (["bench", artifact, source, "--against=openvino", "--percentile=50"],
                                ["--against", "--percentile"])):
            with self.subTest(" ".join(words)):
                self.assert_one_line(tool("ingot", *command), *words)

    def test_interrupted(self):
        """A compiler that receives a signal leaves no temporary files."""
        source = self.save(families.ALL["resnet"]()[0])
        os.mkdir(self.path("out"))
        for wait in (0.2, 0.4, 0.6, 0.8, 1.0):
            process = start("ingot", "compile", source, "-o", self.path("out/model.so"), "--quiet")
            time.sleep(wait)
            process.terminate()
            process.wait()
            # The signal may have come too late: after the compilation, or while files were renamed.
            left = set(os.listdir(self.path("out")))
            self.assertLessEqual(left, {"model.h", "model.so"})
            for file in left:
                os.remove(self.path("out/" + file))

    def test_interrupted_in_one_line(self):
        """The shell knows the signal that ended the process."""
        # The program waits for its next turn.
        artifact = self.compile(self.save(relu_model()))
        command = [os.path.join(BIN, "ingot"), "bench", artifact, "--turns"]
        for number, word in ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")):
            with self.subTest(word):
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                process.stdin.write("\n")
                process.stdin.flush()
                process.stdout.readline()
                process.send_signal(number)
                _, errors = process.communicate()
                self.assertEqual((process.returncode, errors), (-number, f"ingot bench: error: {word}\n"))

    def test_names_of_files_are_text(self):
        """No file name writes a line or an escape sequence."""
        name = self.path("n\x1b[31m\nerror: no")
        os.rename(self.save(relu_model()), name + ".onnx")
        for arguments, code in ((["compile", name + ".onnx", "-o", name + ".so"], 0),
                                (["inspect", name + ".so"], 0), (["run", name + ".so", "--input=random"], 0),
                                (["bench", name + ".so", "--duration=0", "--warm-up=0", "--iterations=1"], 0),
                                (["bench", name + ".so", "--duration=0", f"--export-times={name}.so"], 1),
                                (["compile", name + ".onnx", "-o", name + ".onnx"], 1)):
            with self.subTest(" ".join(arguments[:1] + arguments[2:3])):
                done = tool("ingot", *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertNotIn("\x1b", done.stdout + done.stderr)
                self.assertNotIn("\nerror: no", done.stdout + done.stderr)

    def test_output_names_stay_in_the_folder(self):
        """Names of a model's outputs may be anything, but are not used as paths."""
        names = ["../escaped", "/absolute", "a/b/c", "..", ".", "a_b_c", "line\nbreak", "x" * 400]
        nodes = [helper.make_node("Relu", ["x"], [name]) for name in names]
        artifact = self.compile(make_model(nodes, [("x", [2])], [(name, [2]) for name in names]))
        before = sorted(os.listdir(self.dir))
        done = tool("ingot", "run", artifact, "--input", "random", "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(before + ["out"]))
        files = os.listdir(self.path("out"))
        self.assertEqual(len(files), len(names))
        for file in files:
            self.assertTrue(file.endswith(".npy") and not file.startswith("."), file)
            self.assertTrue(os.path.isfile(self.path("out/" + file)))
