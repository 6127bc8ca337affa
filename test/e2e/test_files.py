"""Tests file names, and the objects that may exist where a file is read or written."""
import os
import subprocess
import tempfile
import threading

from support import Case, TensorProto, helper, make_model, np, numpy_helper, relu_model, tool

# Stems of outputs. Each is a legal file name, though an unusual one.
STEMS = ["-x", "--help", "a%s", "%%%%%%", "$x", "@response", "a b", " ", "tab\there", "new\nline", "quote\"d", "it's",
         "back\\slash", "semi;colon", "*", "?", "[a]", "{b}", "~", "#", "!", "&", "|", "<>", "a.b.c", ".hidden", "..x",
         "9lives", "_", "__", "ünïcode", "模型", "emoji😀", "a" * 252, "é" * 126, "model", "M", "trailing.",
         # words of C and C++
         "int", "class", "new", "namespace", "auto", "_Bool", "and", "constexpr", "main", "this", "typeof", "NULL",
         # names in libraries
         "free", "malloc", "printf", "stdin", "errno", "linux", "unix", "I", "div", "y0", "index", "exit", "FILE",
         "size_t", "int32_t", "timer", "pthread", "sem", "thrd", "mtx", "assert", "bool", "EOF", "signal", "std",
         # Ingot's own names
         "ingot", "ingot_support", "ingot_context", "ingot_artifact_v2", "ingot_run", "error", "weights", "forward",
         # Names that the header uses itself.
         "in0", "in0_x", "out0_y", "threads", "error_bytes"]

PROGRAM = """#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pthread.h>
#include <HEADER>
int main(void) {
  const float program_in[4] = {-1, 2, -3, 4};
  float program_out[4];
  char program_error[256] = "";
  NAME *program_model = NAME_create(NULL, 1, program_error, sizeof program_error);
  if (!program_model || NAME_run(program_model, program_in, program_out, program_error, sizeof program_error)) {
    fprintf(stderr, "%s\\n", program_error);
    return 1;
  }
  NAME_destroy(program_model);
  return program_out[0] != 0 || program_out[1] != 2 || program_out[2] != 0 || program_out[3] != 4;
}
"""


class Names(Case):
    """Any legal file name gives a library that loads and a header that compiles and links."""

    def build(self, folder, compiler, language, standard, *options):
        """Builds `use.c`, which includes `header.h`, in a folder with plain names."""
        done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror",
                               "-D_DEFAULT_SOURCE", "use.c", *options], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{standard}: {done.stderr}")

    def link(self, library, symbol):
        """Links a C program with the library and runs it; the program is also valid C++."""
        with tempfile.TemporaryDirectory(dir=self.dir) as folder:
            os.link(library[:-3] + ".h", os.path.join(folder, "header.h"))
            with open(os.path.join(folder, "use.c"), "w") as f:
                f.write(PROGRAM.replace("<HEADER>", '"header.h"').replace("NAME", symbol))
            self.build(folder, "c++", "c++", "c++17", "-fsyntax-only")
            self.build(folder, "cc", "c", "c11", "-x", "none", library, "-o", "use")
            done = subprocess.run(["./use"], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)})
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_outputs(self):
        source = self.save(relu_model((4,)))
        linked = set()
        for stem in STEMS:
            with self.subTest(stem):
                folder = tempfile.mkdtemp(dir=self.dir)
                # Relative and bare: a leading dash must not become an option. A name that begins with two dashes looks
                # like a forgotten value, so it stands behind an equals sign.
                output = [f"-o={stem}.so"] if stem.startswith("--") else ["-o", stem + ".so"]
                done = tool("ingot", "compile", source, "-q", *output, cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sorted(os.listdir(folder)), sorted([stem + ".so", stem + ".h"]))
                done = tool("ingot", "run", "--input", "random", "--", stem + ".so", cwd=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                library = os.path.join(folder, stem + ".so")
                with open(library[:-3] + ".h") as f:
                    symbol = next(line.split()[-1].rstrip(";") for line in f if line.startswith("typedef struct"))
                self.assertRegex(symbol, "^[A-Za-z][A-Za-z0-9_]*$")
                if symbol not in linked:
                    self.link(library, symbol)
                linked.add(symbol)

    def test_names_that_the_dynamic_linker_reads(self):
        source = self.save(relu_model((4,)))
        for stem in ("$ORIGIN", "a${LIB}", "$PLATFORM"):
            with self.subTest(stem):
                done = tool("ingot", "compile", source, "-q", "-o", self.path(stem + ".so"))
                self.assertEqual(done.returncode, 0, done.stderr)
                done = tool("ingot", "run", "--input", "random", self.path(stem + ".so"))
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_folders(self):
        """Odd names of folders, and weights beside the library."""
        source = self.save(relu_model((4,)))
        for name in ("a%b", "-dir", "sp ace", "@x", "x" * 255):
            with self.subTest(name):
                os.makedirs(self.path(name))
                done = tool("ingot", "compile", source, "-q", "-o", os.path.join(name, "m.so"), cwd=self.dir)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_too_long(self):
        source = self.save(relu_model((4,)))
        done = tool("ingot", "compile", source, "-o", self.path("a" * 253 + ".so"))
        self.assert_one_line(done, "256 bytes", "255")
        done = tool("ingot", "compile", source, "-o", self.path("a" * 255))
        self.assert_one_line(done, "257 bytes", "255")

    def test_symbols(self):
        source = self.save(relu_model((4,)))
        for symbol in ("int", "free", "timer", "pthread", "ingot_x", "class", "errno"):
            with self.subTest(symbol):
                done = tool("ingot", "compile", source, "-o", self.path("m.so"), f"--symbol={symbol}")
                self.assert_one_line(done, symbol)
                self.assertEqual(done.returncode, 2)
        for symbol in ("Model", "_x", "a__b", "x" * 300):
            with self.subTest(symbol):
                done = tool("ingot", "compile", source, "-q", "-o", self.path("m.so"), f"--symbol={symbol}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.link(self.path("m.so"), symbol)

    def test_inputs_and_outputs(self):
        """Any names of tensors and dimensions give a header that is C and C++."""
        odd = ["int", "*/ int x; /*", "a\nb", "\\", "??/", "ünï", "error", "model", "x" * 5000, "%s", '"', "1", "",
               "in0"]
        for name in odd:
            with self.subTest(name[:40]):
                node = helper.make_node("Relu", [name + "."], [name + "!"])
                model = make_model([node], [(name + ".", [name + "d"])], [(name + "!", [name + "d"])], name=name or "g")
                self.compile(model, "-q", name="m")
                for compiler, language, standard in (("cc", "c", "c11"), ("c++", "c++", "c++17")):
                    done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-pedantic", "-Wall",
                                           "-Wextra", "-Werror", "-fsyntax-only", "-"], capture_output=True, text=True,
                                          input='#include "m.h"\nint main(void) { return 0; }\n', cwd=self.dir)
                    self.assertEqual(done.returncode, 0, done.stderr)


class Victims(Case):
    """Tests files that must not be overwritten."""

    def external(self):
        """A model whose weights are in `w.so`, which a user may also choose as the library."""
        tensor = numpy_helper.from_array(np.arange(64, dtype=np.float32), "w")
        model = make_model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", [64])], [("y", [64])])
        with open(self.path("w.so"), "wb") as f:
            f.write(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "w.so"
        model.graph.initializer.append(tensor)
        return self.save(model)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_external_data(self):
        source = self.external()
        before = self.read("w.so")
        os.symlink("w.so", self.path("link.so"))
        for options in (["-o", "w.so"], ["-o", "w.so", "--emit=llvm"], ["-o", "w.so", "--emit=mlir-nn"],
                        ["-o", "link.so", "--emit=mlir-onnx"]):
            with self.subTest(options):
                done = tool("ingot", "compile", source, *options, cwd=self.dir)
                self.assert_one_line(done, "external data")
                self.assertEqual(self.read("w.so"), before)

    def test_results_follow_no_link(self):
        artifact = self.compile(relu_model((4,)))
        os.makedirs(self.path("out"))
        with open(self.path("victim"), "w") as f:
            f.write("precious")
        os.symlink("../victim", self.path("out/y.npy"))
        done = tool("ingot", "run", artifact, "--input", "random", "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("victim"), b"precious")
        self.assertFalse(os.path.islink(self.path("out/y.npy")))
        self.assertEqual(np.load(self.path("out/y.npy")).shape, (4,))

    def test_replaced_while_loading(self):
        """Compilations replace a pair of files repeatedly while others load it."""
        models = []
        for scale in (1, 2):
            w = np.full((64, 64), scale, np.float32)
            models.append(self.save(make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [1, 64])],
                                               [("y", [1, 64])], {"w": w}), f"{scale}.onnx"))
        target, stop, failures = self.path("m.so"), threading.Event(), []
        self.assertEqual(tool("ingot", "compile", models[0], "-o", target, "--weights=file").returncode, 0)

        def load():
            while not stop.is_set():
                done = tool("ingot", "run", target, "--input", "random")
                if done.returncode:
                    failures.append(done.stderr)
        threads = [threading.Thread(target=load) for _ in range(2)]
        for thread in threads:
            thread.start()
        for i in range(20):
            done = tool("ingot", "compile", models[i % 2], "-o", target, "--weights=file")
            self.assertEqual(done.returncode, 0, done.stderr)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.weights_of(target)


class WrittenOverRead(Case):
    """No result replaces a file that the command reads, under any name."""

    def setUp(self):
        super().setUp()
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [1, 4])], [("y", [1, 4])],
                           {"w": np.ones((4, 4), np.float32)})
        self.model = self.save(model)
        self.artifact = self.compile(self.model)
        os.makedirs(self.path("data"))
        np.save(self.path("data/y.npy"), np.ones((1, 4), np.float32))
        os.symlink("data", self.path("link"))
        with open(self.path("rules.json"), "w") as f:
            f.write('{"ingot_rules": 1, "rules": []}')

    def refuses(self, victim, *arguments, words=("it is read as",)):
        with self.subTest(" ".join(arguments)):
            before = open(self.path(victim), "rb").read()
            self.assert_one_line(tool("ingot", *arguments), "cannot write", *words)
            self.assertEqual(open(self.path(victim), "rb").read(), before)

    def test_exports(self):
        quick = ["--duration=0", "--iterations=1", "--warm-up=0"]
        sample = self.path("data/y.npy")
        for kind in ("times", "profile", "layer-info", "trace"):
            self.refuses("model.so", "bench", self.artifact, *quick, f"--export-{kind}={self.path('./data/../model.so')}")
            self.refuses("data/y.npy", "bench", self.artifact, *quick, f"--input=x={sample}",
                         f"--export-{kind}={self.path('link/y.npy')}")
        self.refuses("model.so", "bench", self.artifact, *quick, f"--export-times={self.path('t')}",
                     f"--export-profile={self.path('./t')}", words=["two --export options"])
        self.assertFalse(os.path.exists(self.path("t")))

    def test_outputs(self):
        for source in ("y.npy", "./y.npy"):
            self.refuses("data/y.npy", "run", self.artifact, f"--input={self.path('data/' + source)}",
                         f"--output-dir={self.path('link')}")

    def test_samples_and_rules(self):
        data = self.path("data")
        self.refuses("data/y.npy", "calibrate", self.model, f"--data={data}/y.npy", "-o", self.path("link/y.npy"))
        self.refuses("data/y.npy", "calibrate", self.model, f"--data={data}", "-o", self.path("link/y.npy"),
                     words=["a sample of --data"])
        self.refuses("rules.json", "calibrate", self.model, f"--data={data}", f"--rules={self.path('rules.json')}",
                     "-o", self.path("rules.json"))
        # The output of the first command, in the same folder, is not read as a sample.
        for _ in range(2):
            done = tool("ingot", "calibrate", self.model, f"--data={data}", "-o", self.path("data/x.calib.json"))
            self.assertEqual(done.returncode, 0, done.stderr)


class Reading(Case):
    """Reads objects that are not finite files."""

    def setUp(self):
        super().setUp()
        self.artifact = self.compile(relu_model((4,)))
        os.mkfifo(self.path("fifo"))

    def refuses(self, *command):
        done = tool(*command, timeout=20, cwd=self.dir)
        self.assert_one_line(done, "not a regular file")

    def test_inputs(self):
        for path in ("fifo", "/dev/zero", "/dev/null"):
            with self.subTest(path):
                self.refuses("ingot", "run", self.artifact, "--input", f"x={path}")
                self.refuses("ingot", "bench", self.artifact, f"--input=x={path}")

    def test_models_and_kernels(self):
        for path in ("fifo", "/dev/zero"):
            with self.subTest(path):
                self.refuses("ingot", "compile", path, "-o", "n.so")
                self.refuses("ingot", "run", path)
        os.mkfifo(self.path("k.json"))
        self.refuses("ingot", "compile", self.save(relu_model()), "-o", "n.so", "--kernels=k.json")

    def test_sizes_are_looked_at_first(self):
        """A sparse file of 1 TB. Its header states that the file has less data, or that all of it is data."""
        for shape, words in (((4,), "bytes of data"), ((1 << 38,), "shape")):
            with self.subTest(shape=shape):
                header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
                with open(self.path("big.npy"), "wb") as f:
                    f.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
                    f.truncate(len(header) + 10 + (1 << 40))
                done = tool("ingot", "run", self.artifact, "--input", f"x={self.path('big.npy')}", timeout=20)
                self.assert_one_line(done, words)
