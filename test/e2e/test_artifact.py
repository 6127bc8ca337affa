"""Tests the output of `ingot compile`: it is reproducible and self-contained, has a small interface and planned memory.
"""
import hashlib
import json
import os
import re
import subprocess

import families

from support import BUILD, ROOT, Case, np, tool

ABI = os.path.join(ROOT, "runtime", "include")


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def exports(path):
    """Returns the symbols that a library exports."""
    listing = subprocess.run(["llvm-nm-22", "-D", "--defined-only", "--just-symbol-name", path],
                             capture_output=True, text=True, check=True).stdout
    return sorted(listing.split())


class Files(Case):
    """Tests the files themselves."""
    sanitize = True

    def test_same_input_same_bytes(self):
        for name in ("resnet", "bert", "mlp_dynamic"):
            with self.subTest(name):
                source = self.save(families.ALL[name]()[0])
                found = set()
                for i in range(2):
                    os.makedirs(self.path(str(i)), exist_ok=True)
                    target = self.path(f"{i}/model.so")
                    done = tool("ingot", "compile", source, "-o", target, cwd=self.path(str(i)))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found.add(digest(target))
                self.assertEqual(len(found), 1)

    def test_nothing_but_the_results(self):
        artifact = self.compile(families.ALL["repvgg"]()[0])
        self.assertEqual(sorted(os.listdir(self.dir)), ["model.h", "model.onnx", "model.so"])
        self.assertTrue(os.access(artifact, os.R_OK))

    def test_weights_file(self):
        artifact = self.compile(families.ALL["repvgg"]()[0], "--weights=file")
        self.assertEqual(os.path.basename(self.weights_of(artifact)),
                         f"model.so.{digest(self.weights_of(artifact))[:16]}.weights")

    def test_hashes_of_weights_and_model(self):
        model = families.ALL["resnet"]()[0]
        separate = self.compile(model, "--weights=file", name="separate")
        wanted = digest(self.weights_of(separate))
        for artifact in (separate, self.compile(model)):
            info = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)
            self.assertEqual(info["weights_sha256"], wanted)
            self.assertEqual(info["metadata"]["ingot.model_sha256"], digest(self.path("model.onnx")))
            self.assertIn("SHA-256 " + wanted, tool("ingot", "inspect", artifact).stdout)

    def test_options_and_commit(self):
        """The metadata records the command line and the commit; files are recorded without their folders."""
        with open(self.path("rules.json"), "w") as f:
            f.write('{"ingot_rules": 1, "rules": []}')
        artifact = self.compile(families.ALL["resnet"]()[0], "--target", "x86-64-v3,l2=2M", "--quiet", "--optimize=size",
                                "--limit", "nodes=5000", "--limit=nesting=20", "--precision", "bf16", f"--rules={self.path('rules.json')}")
        found = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)["metadata"]
        self.assertEqual(json.loads(found["ingot.options"]),
                         ["--limit=nodes=5000", "--limit=nesting=20", "--optimize=size", "--precision=bf16",
                          "--rules=rules.json", "--target=l2=2M"])
        self.assertEqual(json.loads(found["ingot.precision"])["precision"], "bf16")
        self.assertRegex(found["ingot.commit"], r"^[0-9a-f]{12}(-dirty)?$")
        plain = json.loads(tool("ingot", "inspect", self.compile(families.ALL["resnet"]()[0], "-q"), "--json").stdout)["metadata"]
        self.assertNotIn("ingot.options", plain)
        self.assertEqual(json.loads(plain["ingot.precision"]), {"precision": "fp32"})

    def test_library_name(self):
        """Programs that link the library search it by its file name, for any output folder."""
        artifact = self.compile(families.ALL["repvgg"]()[0], name="some model")
        dynamic = subprocess.run(["llvm-readelf-22", "-d", artifact], capture_output=True, text=True, check=True).stdout
        self.assertRegex(dynamic, r"\(SONAME\)\s+Library soname: \[some model\.so\]")

    def test_silent_when_piped(self):
        """Standard error is empty; standard output has the summary."""
        done = tool("ingot", "compile", self.save(families.ALL["repvgg"]()[0]), "-o", self.path("model.so"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("arena", "weights", "code"):
            self.assertIn(word, done.stdout)

    def test_exports(self):
        """The library exports only the versioned query symbol and the typed entry points."""
        artifact = self.compile(families.ALL["repvgg"]()[0])
        with open(os.path.join(ROOT, "test", "e2e", "exports.golden")) as f:
            self.assertEqual(exports(artifact), sorted(f.read().split()))

    def test_libraries(self):
        """The library depends on libc. It depends on oneDNN only if its code calls oneDNN."""
        listing = lambda path: re.findall(r"\(NEEDED\).*\[(.*?)\]", subprocess.run(
            ["llvm-readelf-22", "-d", path], capture_output=True, text=True, check=True).stdout)
        allowed = re.compile(r"(libc|libm|libdnnl|libgomp|ld-linux.*)\.so")
        artifact = self.compile(families.ALL["resnet"]()[0], "--kernels=onednn")
        self.assertTrue(listing(artifact))
        for library in listing(artifact):
            self.assertRegex(library, allowed)
        plain = self.compile(families.ALL["resnet"]()[0], name="plain")
        self.assertFalse([n for n in listing(plain) if re.search("dnnl|gomp", n)])

    def test_sections_are_not_writable_and_executable(self):
        artifact = self.compile(families.ALL["repvgg"]()[0])
        headers = subprocess.run(["llvm-readelf-22", "-lW", artifact], capture_output=True, text=True).stdout
        for line in headers.splitlines():
            if line.strip().startswith(("LOAD", "GNU_STACK")):
                self.assertNotIn("RWE", line.replace(" ", ""))


    def test_weights_are_shared_between_processes(self):
        """The weights are in a read-only section at the start of a page, and no other data is in their pages."""
        artifact = self.compile(families.ALL["resnet"]()[0])
        listing = subprocess.run(["llvm-readelf-22", "-SlW", artifact], capture_output=True, text=True,
                                 check=True).stdout
        section = re.search(r"\] (\S*weights\S*)\s+PROGBITS\s+(\w+)\s+(\w+)\s+(\w+)\s+\w+\s+(\w+)", listing)
        self.assertIsNotNone(section, listing)
        address, offset, size = (int(section.group(i), 16) for i in (2, 3, 4))
        self.assertEqual((address % 4096, offset % 4096), (0, 0))
        self.assertNotIn("W", section.group(5))
        info = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
        self.assertEqual(size, info["weights_bytes"])
        segments = re.findall(r"LOAD\s+0x(\w+) 0x\w+ 0x\w+ 0x(\w+) 0x\w+ ([RWE ]{3})", listing)
        holding = [flags for start, length, flags in segments
                   if int(start, 16) <= offset < int(start, 16) + int(length, 16)]
        self.assertEqual([flags.strip() for flags in holding], ["R"])


class Emit(Case):
    """Tests --emit: the module can be printed after each phase."""

    def emit(self, kind, *options, output="-"):
        done = tool("ingot", "compile", self.save(families.ALL["repvgg"]()[0]), f"--emit={kind}", "-o", output,
                    *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    # For each phase: a text that the module contains after it, and a text that it no longer contains.
    PHASES = {"onnx": ("onnx.node", "nn."), "nn": ("nn.batch_norm", "onnx.node"), "graph": ("nn.conv", "nn.batch_norm"),
              "layout": ("channels_last", "nn.batch_norm"), "linalg": ("linalg.generic", "nn."),
              "memory": ("memref.view", "tensor.empty"), "kernels": ("cpu.launch", "tensor.empty"),
              "llvm": ("llvm.func", "memref.")}

    def test_phases(self):
        """--emit=mlir-PHASE and --compile-to=PHASE write equal modules."""
        for phase, (there, gone) in self.PHASES.items():
            with self.subTest(phase):
                text = self.emit("mlir-" + phase)
                self.assertTrue(re.search(rf"\b{re.escape(there)}", text), f"no {there}")
                self.assertFalse(re.search(rf"\b{re.escape(gone)}", text), f"{gone} is still there")
                done = tool("ingot", "compile", self.path("model.onnx"), f"--compile-to={phase}", "-o", "-")
                self.assertTrue(done.returncode == 0 and done.stdout == text, done.stderr)

    def test_resume(self):
        """ingot-opt runs the next phase on the output of a phase."""
        with open(self.path("graph.mlir"), "w") as f:
            f.write(self.emit("mlir-graph"))
        done = tool("ingot-opt", "--ingot-layout", self.path("graph.mlir"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("channels_last", done.stdout)

    def test_dump_after(self):
        source = self.save(families.ALL["repvgg"]()[0])
        done = tool("ingot", "compile", source, "-o", self.path("model.so"), "--dump-after=nn-merge-branches")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nn.conv", done.stderr)
        self.assertNotIn("channels_last", done.stderr)
        done = tool("ingot", "compile", source, "-o", "-", "--emit=mlir-graph", "--dump-after=all")
        self.assertIn("(nn-fold-pad)", done.stderr)
        self.assertIn("(nn-merge-convs)", done.stderr)

    def test_llvm(self):
        self.assertIn("define ", self.emit("llvm"))

    def test_assembly(self):
        self.assertIn(".text", self.emit("asm"))

    def test_object(self):
        self.emit("obj", output=self.path("model.o"))
        with open(self.path("model.o"), "rb") as f:
            self.assertEqual(f.read(4), b"\x7fELF")

    def test_unknown(self):
        done = tool("ingot", "compile", self.save(families.ALL["repvgg"]()[0]), "--emit=poetry", "-o", "-")
        self.assert_one_line(done, "poetry")


class Header(Case):
    """model.h is plain C and needs no dlopen."""

    def test_compiles_as_c_and_cpp(self):
        self.compile(families.ALL["repvgg"]()[0])
        with open(self.path("use.c"), "w") as f:
            f.write('#include "model.h"\nint main(void) { return 0; }\n')
        for compiler, language, standard in (("cc", "c", "c11"), ("c++", "c++", "c++17")):
            with self.subTest(standard):
                done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra",
                                       "-Werror", f"-I{ABI}", "-fsyntax-only", self.path("use.c")],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)


    def test_direct_linking(self):
        """C and C++ programs link the model like any library, and get the result of `ingot run`, from any folder."""
        model, runs = families.ALL["repvgg"]()
        artifact = self.compile(model)
        want = self.run_model(artifact, runs[0])["output"]
        with open(self.path("use.c"), "w") as f:
            f.write("""#include "model.h"
#include <stdio.h>
static float in[3 * 32 * 32], out[10];
int main(void) {
  char error[256] = "";
  FILE *file = fopen("in.bin", "rb");
  model *m = model_create(NULL, 1, error, sizeof error);
  if (!m || !file || fread(in, sizeof in, 1, file) != 1 || model_run(m, in, out, error, sizeof error)) {
    fprintf(stderr, "%s\\n", error);
    return 1;
  }
  fclose(file);
  model_destroy(m);
  file = fopen("out.bin", "wb");
  return !file || fwrite(out, sizeof out, 1, file) != 1 || fclose(file);
}
""")
        for compiler, language, standard in (("cc", "c", "c11"), ("c++", "c++", "c++17")):
            with self.subTest(standard):
                # The header needs no include path of Ingot.
                built = subprocess.run([compiler, "-x", language, f"-std={standard}", "use.c", "-x", "none",
                                        "./model.so", "-Wl,-rpath,$ORIGIN", "-o", "use"], cwd=self.dir,
                                       capture_output=True, text=True)
                self.assertEqual(built.returncode, 0, built.stderr)
                for folder in (self.dir, self.path("elsewhere")):
                    os.makedirs(folder, exist_ok=True)
                    np.ascontiguousarray(runs[0]["input"]).tofile(os.path.join(folder, "in.bin"))
                    done = subprocess.run([self.path("use")], cwd=folder, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    got = np.fromfile(os.path.join(folder, "out.bin"), np.float32).reshape(want.shape)
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
                    os.remove(os.path.join(folder, "out.bin"))


class Memory(Case):
    """Tests the arena: no two live buffers overlap, and it is hardly larger than necessary."""

    def plan(self, name):
        """Returns (arena bytes, lower bound, [(offset, bytes, first, last)]) of a family."""
        done = tool("ingot", "compile", self.save(families.ALL[name]()[0]), "--emit=mlir-memory", "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        number = lambda key: int(re.search(rf"{key} = (\d+) : i64", done.stdout).group(1))
        rows = re.search(r"ingot\.memory_plan = \[(.*?)\]", done.stdout).group(1)
        rows = [tuple(map(int, re.findall(r"= (\d+)", row))) for row in re.findall(r"#ingot.slot<([^>]*)>", rows)]
        return number("ingot.arena_bytes"), number("ingot.arena_lower_bound"), rows

    def check(self, name):
        arena, bound, rows = self.plan(name)
        for i, (offset, size, first, last) in enumerate(rows):
            self.assertEqual(offset % 64, 0)
            self.assertLessEqual(offset + size, arena)
            for other, other_size, other_first, other_last in rows[:i]:
                if first <= other_last and other_first <= last:
                    self.assertTrue(offset + size <= other or other + other_size <= offset,
                                    f"{name}: live buffers overlap at {offset} and {other}")
        live = max((sum(s for _, s, f, l in rows if f <= t <= l) for t in {r[2] for r in rows}), default=0)
        # The bound counts each buffer rounded up to its alignment.
        self.assertLessEqual(live, bound)
        self.assertLessEqual(bound, live + 64 * len(rows))
        if bound > 100_000:  # below that, alignment dominates
            self.assertLessEqual(arena, 1.1 * bound, name)

    def test_arena_is_reported(self):
        artifact = self.compile(families.ALL["resnet"]()[0])
        done = tool("ingot", "inspect", "--json", artifact)
        self.assertEqual(done.returncode, 0, done.stderr)
        info = json.loads(done.stdout)
        self.assertEqual(info["arena_bytes"], self.plan("resnet")[0])
        self.assertGreater(info["weights_bytes"], 0)


def plan_test(name):
    return lambda self: self.check(name)


for _name in families.ALL:
    setattr(Memory, "test_plan_" + _name, plan_test(_name))


class Embedding(Case):
    """Tests the examples of the embedding guide, built with the system's compiler and run on a real model."""

    def test_plain_dlopen(self):
        source = os.path.join(ROOT, "examples", "embed_c", "app.c")
        if not os.path.exists(source):
            self.skipTest("examples/embed_c is not there")
        artifact = self.compile(families.ALL["repvgg"]()[0])
        program = self.path("app")
        built = subprocess.run(["cc", source, f"-I{ABI}", "-ldl", "-o", program], capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        done = subprocess.run([program, artifact], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_bench(self):
        """Checks the values that the benchmark scripts read."""
        model, runs = families.ALL["repvgg"]()
        artifact = self.compile(model)
        np.ascontiguousarray(runs[0]["input"]).tofile(self.path("x.bin"))
        done = tool("ingot", "bench", artifact, "--json", "--threads=1", "--iterations=1", "--warm-up=0",
                    "--duration=0", f"--input=input={self.path('x.bin')}")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        for key in ("load_ms", "first_answer_ms", "peak_rss_mb", "throughput"):
            self.assertGreater(result[key], 0, key)
        self.assertEqual(sorted(result["latency_ms"]), ["max", "mean", "median", "min", "p90", "p95", "p99"])

    def test_runtime_is_small(self):
        library = os.path.join(BUILD, "lib", "libingot.so")
        stripped = self.path("libingot.so")
        subprocess.run(["llvm-strip-22", "-o", stripped, library], check=True)
        self.assertLess(os.path.getsize(stripped), 300_000)


class Help(Case):
    """Every command has a help text."""

    def test_help_and_version(self):
        for command in ([], ["compile"], ["run"], ["bench"], ["inspect"]):
            with self.subTest(" ".join(command)):
                done = tool("ingot", *command, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                if command:
                    self.assertIn("xample", done.stdout)
        self.assertRegex(tool("ingot", "--version").stdout, r"\d+\.\d+")
