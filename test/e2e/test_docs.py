"""Runs every command of the README and of the embedding guide as a new user would: in order, in an empty folder."""
import os
import re
import shutil
import subprocess

from PIL import Image

from support import BIN, BUILD, ROOT, Case, helper, make_model, np

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```\n", re.M | re.S)


class Pages(Case):

    def setUp(self):
        super().setUp()
        # Makes a checkout whose build folder is the one under test.
        self.checkout = self.path("checkout")
        os.makedirs(self.checkout)
        for name in ("runtime", "examples", "Makefile", "scripts"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.checkout, name))
        os.symlink(BUILD, os.path.join(self.checkout, "build"))
        self.folder = self.path("empty")
        os.makedirs(self.folder)
        self.environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH")}
        self.environment.update(INGOT=self.checkout, PATH=f"{BIN}:{os.environ['PATH']}")

    def shell(self, commands):
        """Runs commands in one shell, which keeps exported variables; stops at the first command that fails."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, errors="replace", timeout=600)
        self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def run_page(self, page):
        """Writes the files and runs the commands. Returns the number of commands, and their output."""
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            blocks = FENCE.findall(f.read())
        commands = []
        for info, body in blocks:
            language, _, name = info.partition(" ")
            if language == "python":
                continue  # test/python/test_guide.py runs it.
            if language == "sh":
                commands += [line for line in body.splitlines() if line.strip()]
            else:
                # A code block is the content of a file that a command uses.
                self.assertTrue(name, f"{page}: code that no line here runs:\n{body}")
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                    f.write(body)
                self.assertTrue(name == "CMakeLists.txt" or any(name in "".join(b) for i, b in blocks if i == "sh"),
                                f"{page}: no command uses {name}")
        script = []
        for line in commands:
            line = line.replace("/path/to/this/checkout", self.checkout)
            if line.startswith("make "):  # builds, downloads and tests for an hour, so only its start is tested
                line = line.replace("make ", f"make -n -C {self.checkout} ", 1) + " > /dev/null"
            script.append(line)
        return len(commands), self.shell("\n".join(script))

    def stand_in_for_demo(self):
        """Makes the files of `make demo`, but smaller and without a download."""
        os.unlink(os.path.join(self.checkout, "build"))
        demo = os.path.join(self.checkout, "build", "demo")
        os.makedirs(demo)
        os.symlink(BIN, os.path.join(self.checkout, "build", "bin"))
        weights = np.random.default_rng(5).standard_normal((8, 3, 3, 3)).astype(np.float32)
        model = make_model([helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
                            helper.make_node("Relu", ["c"], ["r"]),
                            helper.make_node("ReduceMean", ["r"], ["y"], axes=[2], keepdims=0)],
                           [("x", ["n", 3, 48, "w"])], [("y", ["n", 8, "w"])], {"w": weights})
        shutil.move(self.save(model, "ppocr_rec.onnx"), demo)
        picture = np.random.default_rng(6).integers(0, 256, (60, 300, 3), dtype=np.uint8)
        Image.fromarray(picture).save(os.path.join(demo, "line.png"))
        return os.listdir(demo)

    def test_readme(self):
        """The quick start, with a small model in place of the demo's."""
        with open(os.path.join(ROOT, "scripts/demo.py"), encoding="utf-8") as f:
            script = f.read()
        for name in self.stand_in_for_demo():
            self.assertIn(f'WORK, "{name}"', script, "make demo leaves no such file")
        count, printed = self.run_page("README.md")
        self.assertGreaterEqual(count, 10)
        for words in ("arena", "y       float32  1x8x320", "median"):
            self.assertIn(words, printed)
        self.assertEqual(os.listdir(os.path.join(self.folder, "out")), ["y.npy"])
        with open(os.path.join(self.folder, "ocr.mlir"), encoding="utf-8") as f:
            self.assertIn("nn.conv", f.read())

    def test_demo_builds_what_the_readme_uses(self):
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as f:
            targets = re.search(r"^demo:.*\n\t@ninja .*\$\(JOBS\) (.*)$", f.read(), re.M).group(1).split()
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            used = set(re.findall(r"^(ingot[\w-]*) ", "".join(b for i, b in FENCE.findall(f.read()) if i == "sh"), re.M))
        self.assertTrue(used and used <= set(targets), f"{used} need more than {targets}")

    def test_embedding(self):
        weights = np.random.default_rng(5).standard_normal((1000, 3, 1, 1)).astype(np.float32)
        model = make_model([helper.make_node("GlobalAveragePool", ["x"], ["p"]),
                            helper.make_node("Conv", ["p", "w", "b"], ["c"]), helper.make_node("Flatten", ["c"], ["y"])],
                           [("x", [1, 3, 224, 224])], [("y", [1, 1000])],
                           {"w": weights, "b": np.arange(7, 1007, dtype=np.float32)})
        shutil.move(self.save(model), self.folder)
        count, printed = self.run_page("docs/reference/embedding.md")
        self.assertGreaterEqual(count, 20)
        # Six programs of the guide print the same value.
        self.assertEqual(len(re.findall(r"starts with 7$", printed, re.M)), 6, printed)
        self.assertIn("verified", printed)
        self.assertRegex(printed, r"(?m)^in time: \d+\.\d+ ms$")
