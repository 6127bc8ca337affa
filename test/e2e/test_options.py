"""Tests what comes from the table of options: help, options files, shell completion, the man page."""
import json
import os
import re
import shutil
import subprocess

from support import BIN, BUILD, ROOT, Case, helper, make_model, np, relu_model, tool

COMMANDS = ["compile", "calibrate", "compare", "run", "bench", "inspect"]
TOPICS = ["output", "shapes", "inputs", "target", "precision", "quantization", "measuring", "debugging", "general"]


def option_names(command):
    """Returns the options of a command, without those that all commands have."""
    text = tool("ingot", command, "--help-all").stdout
    names = re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+)", text)
    return [name for name in names if name not in ("help", "version")]


class Help(Case):
    """Help is short at first, and complete on request."""

    def test_usual_options(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = tool("ingot", command, "--help").stdout
                options = text.split("options:\n")[1].split("\n\nexample")[0]
                found = re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+)", options)
                self.assertLessEqual(len(found), 12)
                self.assertLessEqual(set(found) - {"help", "version"}, set(option_names(command)))
                self.assertLessEqual(max(map(len, options.splitlines())), 80)

    def test_topics(self):
        listed = tool("ingot", "help").stdout
        for topic in TOPICS + COMMANDS:
            with self.subTest(topic):
                done = tool("ingot", "help", topic)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"  {topic} ", listed)
        text = tool("ingot", "help", "quantization").stdout
        for words in ("calibration file", "ingot compile:", "--weight-bits auto|7|8", "ingot calibrate:", "--method"):
            self.assertIn(words, text)
        for name in ("weight-bits", "--weight-bits"):
            self.assertIn("CPUs without VNNI", tool("ingot", "help", name).stdout)

    def test_wrong_topic(self):
        done = tool("ingot", "help", "quantisation")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done, "ingot help: error: unknown topic 'quantisation' (did you mean quantization?)")
        self.assertEqual(tool("ingot", "help", "a", "b").returncode, 2)

    def test_closed_pipe(self):
        """A reader that ends early stops the command, without a message."""
        for arguments in (["help", "quantization"], ["compile", "--help-all"]):
            with self.subTest(" ".join(arguments)):
                done = subprocess.run(f"{BIN}/ingot {' '.join(arguments)} | true", shell=True, capture_output=True, text=True)
                self.assertEqual((done.returncode, "Assertion" in done.stderr), (0, False))
                self.assertLessEqual(done.stderr.count("\n"), 1)
                with open("/dev/full", "w") as full:
                    done = subprocess.run([f"{BIN}/ingot", *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("standard output", done.stderr)


class OptionsFile(Case):
    """Tests `--save-options` and `@FILE.json`."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        weights = {"w": rng.standard_normal((8, 4, 3, 3)).astype(np.float32),
                   "m": rng.standard_normal((8, 8)).astype(np.float32)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
                 helper.make_node("GlobalAveragePool", ["c"], ["p"], name="pool"),
                 helper.make_node("Flatten", ["p"], ["f"], name="flatten"),
                 helper.make_node("MatMul", ["f", "m"], ["g"], name="product"),
                 helper.make_node("Mul", ["g", "s"], ["y"], name="scale")]
        self.model = self.save(make_model(nodes, [("x", ["n", 4, "h", "h"]), ("s", [1])], [("y", ["n", 8])], weights))
        self.options = self.path("options.json")
        self.out = self.path("out")

    def written(self, arguments):
        """Compiles, and returns the result and all files, without times."""
        shutil.rmtree(self.out, ignore_errors=True)
        os.mkdir(self.out)
        done = tool("ingot", "compile", *arguments, cwd=self.dir)
        files = {}
        for name in sorted(os.listdir(self.out)):
            with open(os.path.join(self.out, name), "rb") as f:
                files[name] = f.read()
        errors = "" if "--timing" in arguments or "timing" in self.kept else done.stderr
        return done.returncode, done.stdout, errors, files

    def test_round_trip(self):
        """Every option is saved, and the file has the same effect."""
        fixed = ["--dim=n=1", "--dim=h=16"]
        of = {"weights": ["file"], "header": "false", "symbol": ["net"], "quiet": None, "shape": ["s=1", "x=1x4x16x16"],
              "dim": ["h=8"], "free-dim": ["h"], "profile": ["n=1:2:4,h=8:16:32", "n=1:1:2,h=4:4:8"], "general": ["keep"],
              "value": ["s=2"], "length": ["s=1"], "absent": ["s"], "target": ["x86-64-v3,l2=2M"], "kernels": ["native"],
              "ptxas": ["none"], "cuda-fallback": ["error"],
              "optimize": ["size"], "winograd": "false", "precision": ["w8"], "keep": ["conv=fp32"], "rules": ["no.json"],
              "eval": ["no.npz"], "max-drop": ["1%"], "metric": ["argmax:1"], "metric-limit": ["9"], "calibration": ["no.json"], "weight-bits": ["7"], "report": ["r.html"],
              "data": ["no.npz"], "preprocess": ["crop=8"], "emit": ["asm"], "compile-to": ["nn"], "dump-after": ["cse"],
              "print-pipeline": None, "timing": None, "remarks": None, "decisions": ["out/d.json"], "limit": ["nodes=1000"]}
        besides = {"keep": ["--precision=bf16"], "rules": ["--precision=bf16"], "eval": ["--precision=auto", "--max-drop=1"],
                   "max-drop": ["--precision=auto", "--eval=no.npz"],
                   "metric": ["--precision=auto", "--eval=no.npz", "--max-drop=1"],
                   "metric-limit": ["--precision=auto", "--eval=no.npz", "--max-drop=1", "--metric=./score"], "calibration": ["--precision=int8"],
                   "weight-bits": ["--precision=int8-dynamic"], "report": ["--precision=int8", "--calibration=no.json"],
                   "data": ["--precision=int8", "--calibration=no.json", "--report=r.html"],
                   "preprocess": ["--precision=auto", "--eval=no.npz", "--max-drop=1"], "general": ["--dim=h=8:16:32"],
                   "ptxas": ["--target=sm_80"], "cuda-fallback": ["--target=sm_80"]}
        self.assertEqual(sorted(of), sorted(set(option_names("compile")) - {"output", "save-options", "json"}))
        compiled = 0
        for name, values in of.items():
            with self.subTest(name):
                given = [f"--{name}"] if values is None else [f"--{name}={value}" for value in
                                                               ([values] if isinstance(values, str) else values)]
                output = ["-o", "out/text" if name in ("emit", "compile-to") else "out/model.so"]
                given = [self.model, *(output if name != "print-pipeline" else []), *given, *besides.get(name, [])]
                if name not in ("shape", "dim", "free-dim", "profile", "general"):
                    given += fixed
                self.kept = {name}
                if os.path.exists(self.options):
                    os.remove(self.options)
                want = self.written([*given, f"--save-options={self.options}"])
                if not os.path.exists(self.options):
                    # A wrong combination is not saved.
                    self.assertNotEqual(want[0], 0)
                    continue
                with open(self.options) as f:
                    self.assertIn(name, json.load(f))
                self.assertEqual(self.written(["@" + self.options]), want)
                self.assertEqual(self.written([*given]), want)
                compiled += want[0] == 0
        self.assertGreaterEqual(compiled, 22)

    def refuses(self, text, *words, more=(), code=2):
        with self.subTest(text):
            with open(self.options, "w") as f:
                f.write(text)
            before = sorted(os.listdir(self.dir))
            done = tool("ingot", "compile", "@" + self.options, *more, cwd=self.dir)
            self.assert_one_line(done, "ingot compile: error: ", *words)
            self.assertEqual(done.returncode, code)
            self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_wrong_files(self):
        self.refuses('{"model": "m", "weightbits": "7"}', "unknown key 'weightbits' (did you mean weight-bits?)")
        self.refuses('{"model": "m", "target": "native", "target": "native"}', "key 'target' is given twice")
        self.refuses('{"model": "m", "target": "native"}', "--target is given twice: 'native' and 'multi'", more=["--target=multi"])
        self.refuses('{"model": "m", "emit": "asm", "compile-to": "nn"}', "--compile-to and --emit exclude each other")
        self.refuses('{"model": "m", "weight-bits": "7"}', "--weight-bits is for --precision=int8")
        self.refuses('{"model": "m"}', "unexpected argument 'n'", more=["n"])
        self.refuses('{"model": "m", "shape": "x=1"}', "the value of 'shape' must be an array of strings")
        self.refuses('{"model": "m", "quiet": 1}', "the value of 'quiet' must be true or false")
        for value, words in (("7", "a string, not the number 7"), ("true", "a string, not true"), ("null", "not null"),
                             ("1.5", "not the number 1.5"), ('["7"]', "a string, not an array of strings"),
                             ('{"a": [1]}', "a string, not an object")):
            self.refuses(f'{{"model": "m", "weight-bits": {value}}}', "the value of 'weight-bits' must be", words)
        for value, words in (("[1]", "not an array with the number 1"), ('["x=1", [2]]', "not an array of arrays")):
            self.refuses(f'{{"model": "m", "shape": {value}}}', "'shape' must be an array of strings", words)
        self.refuses('{"model": "m", "schedule-seed": "7"}', "must be a whole number, not a string")
        for text in ("", "[1]", "{", '{"a"', "\x00", '{"model": "m"} x'):
            self.refuses(text, "options.json")
        done = tool("ingot", "compile", "@" + self.path("nothing.json"))
        self.assert_one_line(done, "nothing.json")
        self.assertEqual(done.returncode, 1)

    def test_file_of_another_command(self):
        artifact = self.compile(relu_model())
        with open(self.options, "w") as f:
            json.dump({"model": artifact, "input": ["random"], "threads": 1}, f)
        done = tool("ingot", "run", "@" + self.options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_where_it_is_saved(self):
        """No other file of the compilation is overwritten."""
        fixed = [self.model, "--dim=n=1", "--dim=h=8", "-o", self.path("m.so")]
        for path, words in ((self.model, ["the model itself"]), (self.path("m.so"), ["another output"]),
                            (self.path("m.h"), ["another output"]), (self.path("no/o.json"), ["No such file"])):
            with self.subTest(path):
                done = tool("ingot", "compile", *fixed, f"--save-options={path}")
                self.assert_one_line(done, path, *words)
                self.assertNotEqual(done.returncode, 0)
        self.assertGreater(os.path.getsize(self.model), 100)
        # The library removes weights files that have its name.
        weights = self.path("m.so.0123456789abcdef.weights")
        for option in ("--save-options", "--decisions"):
            for more in ([], ["--weights=file"]):
                done = tool("ingot", "compile", *fixed, f"{option}={weights}", *more)
                self.assert_one_line(done, weights, "another output")
                self.assertNotEqual(done.returncode, 0)
                self.assertFalse(os.path.exists(self.path("m.so")))

    def test_outputs_do_not_replace_it(self):
        artifact = self.compile(relu_model(), name="relu")
        for command, content, option in (
                ("compile", {"model": self.model, "emit": "asm"}, "output"),
                ("compile", {"model": self.model, "dim": ["n=1", "h=8"], "output": self.path("m.so")}, "decisions"),
                ("calibrate", {"model": self.model, "data": [self.path("x.npz")]}, "output"),
                ("bench", {"model": artifact, "duration": "0"}, "export-times"),
                ("bench", {"model": artifact, "duration": "0"}, "export-trace")):
            with self.subTest(command=command, option=option):
                with open(self.options, "w") as f:
                    json.dump(content, f)
                done = tool("ingot", command, "@" + self.options, f"--{option}={self.options}")
                self.assert_one_line(done, f"option --{option} would replace the options file")
                self.assertEqual(done.returncode, 2)
                with open(self.options) as f:
                    self.assertEqual(json.load(f), content)


class Requirements(Case):
    """Each option is refused in one line where it would have no effect, as the table says."""

    # An example value for each placeholder in the options' help texts.
    VALUES = {"NAME=AxB...": "x=1", "INPUT=AxBxC": "x=1", "NAME=N": "n=1", "GLOB=fp32": "a=fp32", "N": "1", "P": "99",
              "P,...": "50", "PERCENT": "1%", "STEPS": "crop=8", "SECONDS": "9", "[NAME=]SOURCE": "zeros", "X": "1"}

    def table(self, command):
        """Returns {option: (form of the value or None, text)} from the reference page."""
        with open(os.path.join(ROOT, "docs/reference/command-line.md"), encoding="utf-8") as f:
            part = f.read().split(f"\n## ingot {command}\n")[1].split("\n## ")[0]
        rows = re.findall(r"(?m)^\| `(?:-\w, )?--([a-z-]+)(?:[ =](.*?))?` \| (.*) \|$", part.replace("\\|", "\x00"))
        return {name: (form.replace("\x00", "|") or None, text.replace("\x00", "|")) for name, form, text in rows}

    def conditions(self, text):
        """Splits `--a, --b=x, y and z with --c or --d`, without `with`, into [(name, values)]."""
        found = []
        for word in re.split(r", | and | or ", text):
            name, _, value = word.partition("=")
            if name.startswith("--"):
                found.append((name[2:], [value] if value else []))
            else:
                found[-1][1].append(word)
        return found

    def spelled(self, rows, name, values=(), others=False):
        """Returns the option with one of the values, or with a word that is not one of them."""
        form = rows[name][0]
        if form is None:
            return f"--{name}"
        words = form.split("|")
        if len(words) > 1 and words[0].islower() or words[0].isalnum() and not words[0].isupper():
            chosen = [word for word in words if not word.isupper() and (word in values) != others] if values else words
            return f"--{name}={chosen[0]}" if chosen else None
        return f"--{name}={self.VALUES.get(form, 'name')}"

    def refuses(self, command, *arguments, words):
        with self.subTest(" ".join([command, *arguments])):
            done = tool("ingot", command, "no-model", *(["no.onnx"] if command == "compare" else []), *arguments, cwd=self.dir)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assert_one_line(done, *words)
            self.assertEqual(os.listdir(self.dir), [])

    def test_exclusions(self):
        tried = 0
        for command in COMMANDS:
            rows = self.table(command)
            self.assertEqual(sorted(rows), sorted(option_names(command)))
            for name, (_, text) in rows.items():
                excluded = re.search(r" Not with (--.*?)\.(?= |$)", " " + text)
                for other, values in self.conditions(excluded.group(1)) if excluded else []:
                    both = [self.spelled(rows, name), self.spelled(rows, other, values)]
                    for arguments in (both, both[::-1]):
                        self.refuses(command, *arguments, words=["--" + name, "--" + other])
                        tried += 1
        self.assertGreater(tried, 60)

    def test_needs(self):
        tried = 0
        for command in COMMANDS:
            rows = self.table(command)
            for name, (_, text) in rows.items():
                needed = re.search(r" Only for (--.*?)\.(?= |$)", " " + text)
                if not needed:
                    continue
                # Violates the requirement: gives the options that it names other values, or omits them.
                lacks = [self.spelled(rows, other, values, others=True)
                         for group in needed.group(1).split(" with ") for other, values in self.conditions(group) if values]
                self.refuses(command, self.spelled(rows, name), *filter(None, lacks), words=[f"--{name} is for --"])
                tried += 1
        self.assertGreater(tried, 20)

    def test_contents(self):
        """Combinations that are wrong only for some values or files are refused, too."""
        model = self.save(relu_model())
        artifact, random = self.compile(model), os.path.join(self.dir, "x.npy")
        np.save(random, np.ones((1, 4), np.float32))
        for arguments, words in (
                (["compile", model, "--limit=nodes=10", "--limit=nodes=20"], ["--limit is given twice for 'nodes'"]),
                (["run", artifact, "--input=zeros", "--input=random"], ["--input", "zeros", "random"]),
                (["run", artifact, "--input=x=zeros", "--input=random", "--input=random:3"], ["--input", "random:3"]),
                (["bench", artifact, "--input=zeros", "--input=random"], ["--input", "zeros", "random"]),
                (["run", artifact, "--input", random, "--preprocess=scale=1"], ["--preprocess", "picture"]),
                (["bench", artifact, "--preprocess=scale=1"], ["--preprocess", "picture"]),
                (["compare", artifact, model, "--input", random, "--preprocess=scale=1"], ["--preprocess", "picture"]),
                (["compare", artifact, model, "--data", random, "--preprocess=scale=1"], ["--preprocess", "picture"]),
                (["calibrate", model, "--data", random, "--preprocess=scale=1"], ["--preprocess", "picture"]),
                (["compare", artifact, model, "--data", random, "--reference=onnxruntime", "--dim=n=1"], ["--dim", "no effect"]),
                (["bench", artifact, "--shape=x=(1:3:+1)x4", "--percentile=50"], ["--percentile"]),
                (["run", artifact, "--device=CUDA"], ["option --device must be cpu, cuda, cuda:N or emulated, not 'CUDA'"]),
                (["compile", model, "--ptxas=none"], ["--ptxas is for code for GPUs", "--target=cuda"]),
                (["compile", model, "--cuda-fallback=cpu", "--target=multi"], ["--cuda-fallback is for code for GPUs"]),
                *((["compile", model, "--target=sm_80", option],
                   [option.split("=")[0] + " is for code for CPUs", "--target=native,cuda"])
                  for option in ("--kernels=onednn", "--kernels=auto", "--winograd=false"))):
            with self.subTest(" ".join(words + arguments[:1])):
                self.assert_one_line(tool("ingot", *arguments, cwd=self.dir), *words)


class Paths(Case):
    """`-` is standard output for `ingot compile -o` only, and no value begins with two dashes by accident."""

    def test_dash(self):
        tried = 0
        for command in COMMANDS:
            done = tool("ingot", command, "-", cwd=self.dir)
            self.assert_one_line(done, f"ingot {command}: error: a model is a file, not standard input")
            self.assertEqual(done.returncode, 2)
            for name, (form, _) in Requirements.table(self, command).items():
                if not re.search("FILE|DIR|PATH|SOURCE", form or "") or (command, name) == ("compile", "output"):
                    continue
                values = ["-", "x=-"] if "SOURCE" in form else ["-"]
                for arguments in ([f"--{name}={value}"] if value != "-" else ["--" + name, "-"] for value in values):
                    with self.subTest(" ".join([command, *arguments])):
                        done = tool("ingot", command, "no-model", *arguments, cwd=self.dir)
                        self.assert_one_line(done, f"option --{name} needs the name of a file or folder, not '-'")
                        self.assertEqual(done.returncode, 2)
                        tried += 1
        self.assertGreater(tried, 20)

    def test_two_dashes(self):
        model = self.save(relu_model())
        for arguments in (["-o", "--bogus"], ["--output", "--bogus"], ["-o", "--"], ["-o"], ["-o", "--help"], ["-o", "-q"]):
            with self.subTest(" ".join(arguments)):
                done = tool("ingot", "compile", model, *arguments, cwd=self.dir)
                self.assert_one_line(done, f"option {arguments[0]} needs a value, FILE")
                self.assertEqual((done.returncode, os.listdir(self.dir)), (2, ["model.onnx"]))
        done = tool("ingot", "compile", model, "-o=--bogus", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--bogus", os.listdir(self.dir))

    def test_standard_output(self):
        done = tool("ingot", "compile", self.save(relu_model()), "-o", "-", "--emit=mlir-nn", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("nn.relu", done.stdout)
        self.assertEqual(os.listdir(self.dir), ["model.onnx"])


class Generated(Case):
    """Tests the completion of shells and the man page, as they are installed."""

    def setUp(self):
        super().setUp()
        folder = os.path.join(BUILD, "tools", "option-docs")
        self.bash, self.zsh, self.man = (os.path.join(folder, name) for name in ("ingot.bash", "_ingot", "ingot.1"))

    def complete(self, *words):
        script = f"""source {self.bash}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ingot; printf '%s\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash(self):
        with open(self.path("m.onnx"), "w"):
            pass
        for words, want in ((["c"], ["calibrate", "compare", "compile"]), (["compile", "--weight-b"], ["--weight-bits"]),
                            (["compile", "--precision", "=", "int"], ["int8", "int8-dynamic"]),
                            (["compile", "--precision", "w"], ["w4", "w8"]), (["compile", "m"], ["m.onnx"]),
                            (["compile", "-o", "m."], ["m.onnx"]), (["compile", "@m"], ["@m.onnx"]),
                            (["compile", "--kernels=", "o"], []), (["compile", "--kernels", "=", "o"], ["onednn"]),
                            (["compile", "--target", "n"], []), (["help", "quant"], ["quantization"]),
                            (["compile", "--winograd", "="], ["false", "true"]), (["compile", "--winograd", "m"], ["m.onnx"])):
            with self.subTest(" ".join(words)):
                self.assertEqual(sorted(self.complete("ingot", *words)), want)
        for command in COMMANDS:
            with self.subTest(command):
                found = self.complete("ingot", command, "--")
                self.assertEqual(sorted(found), sorted(["--" + name for name in option_names(command)] +
                                                       ["--help", "--help-all", "--version"]))

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh")
        script = """_arguments() { print -rl -- "$@" }; _describe() { print -rl -- $commands }; compdef() { : }
                    source $1; words=(ingot ${@[2,-1]}); CURRENT=$(($# + 1)); _ingot"""
        for command in COMMANDS:
            with self.subTest(command):
                done = subprocess.run(["zsh", "-f", "-c", script, "zsh", self.zsh, command], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                found = re.findall(r"(?m)^(?:\*|\(-\w --[a-z-]+\))?--([a-z-]+)[=\[-]", done.stdout)
                self.assertEqual(sorted(set(name.rstrip("-") for name in found) - {"help", "help-all", "version"}),
                                 sorted(option_names(command)))

    def test_man_page(self):
        with open(self.man) as f:
            text = f.read()
        for command in COMMANDS:
            self.assertIn(f".SH INGOT {command.upper()}", text)
            for name in option_names(command):
                self.assertIn("\\-\\-" + name.replace("-", "\\-"), text)
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", self.man], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
