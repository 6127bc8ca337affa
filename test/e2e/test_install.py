"""What `cmake --install` puts in place works from there."""
import os
import subprocess

import families

from support import BUILD, Case


class Install(Case):
    """The tools of a fresh prefix; embed.sh tries the libraries."""

    def setUp(self):
        super().setUp()
        self.prefix = self.path("prefix")
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix, "--component", "tools"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def installed(self, name, *args):
        done = subprocess.run([os.path.join(self.prefix, "bin", name), *args], capture_output=True, text=True,
                              cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done

    def test_tools(self):
        model, _ = families.ALL["repvgg"]()
        want = self.compile(model)
        os.makedirs(self.path("out"))
        self.installed("ingot", "compile", "model.onnx", "-o", "out/model.so")
        with open(want, "rb") as built, open(self.path("out/model.so"), "rb") as got:
            self.assertTrue(built.read() == got.read(), "another artifact than the one from the build tree")
        self.installed("ingot", "run", "out/model.so", "--input", "random", "--output-dir", "out")
        self.installed("ingot-opt", "--version")
