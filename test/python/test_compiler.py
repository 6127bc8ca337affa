"""The compiler as functions of Python."""
import importlib.metadata
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from unittest import mock

import numpy as np
import onnx
from onnx import TensorProto, helper

import ingot
import ingot_compiler
from support import Case, add_one, make, node, slow

X = np.arange(4, dtype=np.float32).reshape(1, 4)


class Compiling(Case):
    def setUp(self):
        super().setUp()
        self.path = self.at("model.onnx")
        onnx.save(add_one(), self.path)

    def test_paths_bytes_and_protos(self):
        model = add_one()
        for value in (self.path, model, model.SerializeToString()):
            self.assertTrue(np.array_equal(ingot.compile(value, self.at("model.so"))(X), X + 1))
        self.assertEqual(sorted(os.listdir(self.folder)), ["model.onnx", "model.so"])

    def test_options(self):
        steps = []
        model = ingot.compile(make([node("MatMul", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, ("n", 256))],
                                   [("y", TensorProto.FLOAT, ("n", 256))],
                                   [onnx.numpy_helper.from_array(np.random.default_rng(0).random((256, 256), np.float32), "w")]),
                              self.at("fp16.so"), precision="fp16", keep="*=fp16", shape={"x": (64, 256)},
                              header=True, winograd=False, limit={"nodes": 1000}, progress=steps.append)
        self.assertEqual(model.inputs[0].shape, (64, 256))
        self.assertIn("float16", model.info.precisions)
        self.assertTrue(os.path.exists(self.at("fp16.h")))
        self.assertEqual(steps[-1].fraction, 1)
        self.assertRegex(str(steps[0]), r"\d+% \w+")

    def test_errors(self):
        error = self.assert_fails(ingot.CompileError, "Nonsense", ingot.compile,
                                  make([node("Nonsense", ["x"], ["y"], name="odd")], [("x", TensorProto.FLOAT, (1,))],
                                       [("y", TensorProto.FLOAT, (1,))]), self.at("model.so"))
        self.assertEqual((error.diagnostics[0].node, error.diagnostics[0].operator), ("odd", "Nonsense"))
        self.assertEqual(pickle.loads(pickle.dumps(error)).diagnostics, error.diagnostics)
        self.assertIn("compile", error.command)
        self.assertFalse(os.path.exists(self.at("model.so")))
        wrong = [
            (ingot.InvalidArgument, "unknown --precision=fp7", ingot.compile, self.path, {"precision": "fp7"}),
            (ingot.InvalidArgument, "no option 'speed'; the options are absent", ingot.compile, self.path, {"speed": 1}),
            (ingot.CompileError, "no input named 'q'", ingot.compile, self.path, {"shape": {"q": (1,)}}),
            (ingot.CompileError, "not an ONNX model", ingot.compile, b"text", {}),
            (FileNotFoundError, "none.onnx", ingot.compile, self.at("none.onnx"), {}),
            (TypeError, "expected the path or bytes of an ONNX model.*but got int", ingot.compile, 3, {}),
            (ValueError, "timeout: expected seconds", ingot.compile, self.path, {"timeout": -1}),
            (ingot.CompileError, "none", ingot.compile, self.path, {"output": self.at("none/model.so")}),
        ]
        for kind, pattern, function, model, options in wrong:
            with self.subTest(pattern):
                self.assert_fails(kind, pattern, function, model, **{"output": self.at("model.so"), **options})

    def test_files_of_other_kinds(self):
        compiled, samples, array, text = (self.at(name) for name in ("m.so", "s.npz", "s.npy", "s.json"))
        ingot.compile(self.path, compiled)
        np.savez(samples, x=X)
        np.save(array, X)
        with open(text, "w") as file:
            file.write('{"x": 1}')
        already = "compiled model already.*ingot.load"
        for path, kind, pattern in ((compiled, ingot.CompileError, already), (samples, ingot.CompileError, "npz"),
                                    (array, ingot.CompileError, "NumPy"), (text, ingot.CompileError, "JSON"),
                                    (self.folder, ingot.InvalidArgument, "is a folder")):
            for call in (lambda: ingot.compile(path), lambda: ingot.compile(path, self.at("new.so")),
                         lambda: ingot.calibrate(path, samples, self.at("new.json")),
                         lambda: ingot.compare(compiled, path, samples)):
                with self.subTest(path):
                    self.assert_fails(kind, pattern, call)
        with open(compiled, "rb") as file:
            self.assert_fails(ingot.CompileError, already, ingot.compile, file.read())
        for path in (self.path, samples, array, text):
            with self.subTest(path):
                self.assert_fails(ingot.BadArtifact, "compile one with: ingot compile", ingot.load, path)
                for function in ingot.inspect, ingot.bench:
                    self.assert_fails(ingot.CompileError, "compile one with: ingot compile", function, path)
        self.assertEqual(sorted(os.listdir(self.folder)), ["m.so", "model.onnx", "s.json", "s.npy", "s.npz"])

    def test_models_in_memory_and_open_files(self):
        with open(self.path, "rb") as file:
            for path in f"/proc/self/fd/{file.fileno()}", f"/dev/fd/{file.fileno()}":
                file.seek(0)
                np.testing.assert_array_equal(ingot.compile(path, self.at("model.so"))(X), X + 1)
        out, into = os.pipe()
        self.addCleanup(os.close, out)
        with open(self.path, "rb") as file, open(into, "wb") as pipe:
            pipe.write(file.read())
        np.testing.assert_array_equal(ingot.compile(f"/proc/self/fd/{out}", self.at("model.so"))(X), X + 1)
        # A model in memory has no file.
        error = self.assert_fails(ingot.CompileError, "^not an ONNX model", ingot.compile, b"text")
        self.assertEqual(error.diagnostics[0].file, "")

    def test_a_program_without_standard_streams(self):
        script = textwrap.dedent("""
            import os, sys
            for descriptor in range(3):
                os.close(descriptor)
            import ingot
            with open(sys.argv[1], "rb") as file:
                content = file.read()
            ingot.compile(content, sys.argv[2])
            """)
        done = subprocess.run([sys.executable, "-c", script, self.path, self.at("model.so")])
        self.assertEqual(done.returncode, 0)
        np.testing.assert_array_equal(ingot.load(self.at("model.so"))(X), X + 1)

    def test_unknown_domains(self):
        model = make([helper.make_node("Foo", ["x"], ["y"], domain="com.acme", name="odd")],
                     [("x", TensorProto.FLOAT, (1,))], [("y", TensorProto.FLOAT, (1,))])
        self.assert_fails(ingot.CompileError, "the model imports no opset of domain 'com.acme': add it to opset_import",
                          ingot.compile, model)
        model.opset_import.append(helper.make_opsetid("com.acme", 1))
        error = self.assert_fails(ingot.CompileError, "com.acme::Foo .* is not supported; domain 'com.acme' is unknown: add a "
                                  "function for the operator to the model", ingot.compile, model)
        self.assertEqual((error.diagnostics[0].node, error.diagnostics[0].file), ("odd", ""))

    def test_timeout_and_interrupt_leave_no_file(self):
        start = time.monotonic()
        self.assert_fails((ingot.Timeout, TimeoutError), "longer than 0.05 s", ingot.compile, slow(), self.at("a.so"),
                          timeout=0.05)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while time.monotonic() < start + 60:
                ingot.compile(slow(), self.at("a.so"))
                os.unlink(self.at("a.so"))
        timer.join()
        self.assertEqual(os.listdir(self.folder), ["model.onnx"])

    def test_a_compiler_that_is_missing_ends_or_differs(self):
        def program(text):
            with open(self.at("ingot"), "w") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(self.at("ingot"), 0o755)
            return mock.patch.dict(os.environ, INGOT_COMPILER=self.at("ingot"))

        with mock.patch.dict(os.environ, INGOT_COMPILER=self.at("none")):
            self.assert_fails(ingot.NotFound, "INGOT_COMPILER", ingot.compile, self.path, self.at("a.so"))
        with program("echo last words >&2; kill -SEGV $$"):
            self.assert_fails(ingot.CompileError, "ended by SIGSEGV: last words", ingot.compile, self.path,
                              self.at("a.so"))
        # A program that ignores the ends of its children does not get their exit codes.
        former = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            self.assert_fails(ingot.CompileError, "no input named 'q'", ingot.compile, self.path, self.at("a.so"),
                              shape={"q": (1,)})
            np.testing.assert_array_equal(ingot.compile(self.path, self.at("b.so"))(X), X + 1)
        finally:
            signal.signal(signal.SIGCHLD, former)
        with program("kill -KILL $$"):
            self.assert_fails(ingot.CompileError, "ended by SIGKILL", ingot.compile, self.path, self.at("a.so"))
        with program("exit 0"):
            self.assert_fails(ingot.CompileError, "printed no result", ingot.compile, self.path, self.at("a.so"))
        with program("""echo '{"schema": "ingot.compile", "version": 99}'"""):
            self.assert_fails(ingot.CompileError, "another version", ingot.compile, self.path, self.at("a.so"))

    def test_no_llvm_in_this_process(self):
        ingot.compile(self.path, self.at("model.so"))
        with open("/proc/self/maps") as file:
            self.assertNotRegex(file.read(), "(?i)llvm|mlir")

    def test_other_results(self):
        model = ingot.compile(self.path, self.at("model.so"))
        found = ingot.inspect(model, shape={"x": (1, 4)})
        self.assertEqual(found.inputs[0].shape, [1, 4])
        self.assertEqual(found.variants[0].target, model.info.target)
        np.save(self.at("x.npy"), X)
        same = ingot.compare(model, self.path, input="x=" + self.at("x.npy"))
        self.assertEqual(same.outputs[0].name, "y")
        times = ingot.bench(model, duration="20ms", warm_up="1ms", iterations=5)
        self.assertGreater(times.latency_ms.median, 0)
        self.assertEqual(ingot_compiler.compile_to(self.path, self.at("b.so"), target="x86-64-v3").levels[0].level,
                         "x86-64-v3")

    def test_calibration(self):
        rng = np.random.default_rng(1)
        weights = onnx.numpy_helper.from_array(rng.normal(size=(16, 16)).astype(np.float32), "w")
        path = self.at("product.onnx")
        onnx.save(make([node("MatMul", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, (4, 16))],
                       [("y", TensorProto.FLOAT, (4, 16))], [weights]), path)
        np.savez(self.at("samples.npz"), x=rng.normal(size=(8, 4, 16)).astype(np.float32))
        found = ingot.calibrate(path, self.at("samples.npz"), self.at("ranges.json"))
        self.assertEqual(found.calibration, self.at("ranges.json"))
        model = ingot.compile(path, self.at("int8.so"), precision="int8", calibration=found.calibration, keep="*=int8")
        self.assertIn("int8", model.info.precisions)

    def test_metrics(self):
        """A function gets outputs and labels, and its number is the score. What it raises is raised."""
        rng = np.random.default_rng(1)
        weights = onnx.numpy_helper.from_array(rng.normal(size=(16, 3)).astype(np.float32), "w")
        path = self.at("product.onnx")
        onnx.save(make([node("MatMul", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, ("n", 16))],
                       [("y", TensorProto.FLOAT, ("n", 3))], [weights]), path)
        x, labels = rng.normal(size=(20, 16)).astype(np.float32), np.arange(20) % 3
        np.savez(self.at("eval.npz"), x=x, labels=labels)
        np.savez(self.at("x.npz"), x=x)
        model = ingot.compile(path, self.at("model.so"))
        seen = []

        def judge(outputs, labels):
            seen.append((outputs, labels))
            return float((outputs["y"].argmax(1) == labels).sum())
        score = ingot.compare(model, path, self.at("eval.npz"), metric=judge).score
        self.assertEqual(score.percent, (model(x).argmax(1) == labels).sum())
        self.assertEqual(score.reference_percent, score.percent)
        self.assertEqual(len(seen), 2)
        self.assertTrue(np.array_equal(seen[0][1], labels))
        # Without labels, the function gets the outputs of fp32.
        score = ingot.compare(model, path, self.at("x.npz"),
                              metric=lambda outputs, wanted: -np.abs(outputs["y"] - wanted["y"]).max()).score
        self.assertEqual(score.percent, 0)
        result = ingot_compiler.compile_to(path, self.at("auto.so"), precision="auto", max_drop=100, eval=self.at("x.npz"),
                                           metric=lambda outputs, wanted: 1)
        self.assertEqual(result.precision_study.chosen_percent, 1)

        def fails(outputs, labels):
            raise KeyError("no such class")
        with self.assertRaisesRegex(KeyError, "no such class"):
            ingot.compare(model, path, self.at("x.npz"), metric=fails)
        for result in (np.nan, -np.inf):
            self.assert_fails(ingot.InvalidArgument, f"to return a finite number, but got {result}$", ingot.compare,
                              model, path, self.at("x.npz"), metric=lambda *_: result)
        for result in (None, (1, 2), np.ones(2), "high"):
            self.assert_fails(ingot.InvalidType, f"to return one number, but got {type(result).__name__}$",
                              ingot.compare, model, path, self.at("x.npz"), metric=lambda *_: result)
        self.assert_fails(ingot.InvalidArgument, "pass output=", ingot.compile, path, metric=fails)
        # A metric that a signal ends, with and without last words.
        for metric, pattern in (("kill -9 $$;", r"it was ended by signal 9 \(Killed\)$"),
                                ("echo last words >&2; kill -SEGV $$;", r"ended by signal 11 \(Segmentation fault\): last words"),
                                ("exit 137;", r"exit code 137, which stands for signal 9 \(Killed\)$"),
                                ("exit 3;", "exit code 3$")):
            self.assert_fails(ingot.CompileError, pattern, ingot.compare, model, path, self.at("x.npz"), metric=metric)

    def test_labels_are_no_input(self):
        path = self.at("product.onnx")
        weights = onnx.numpy_helper.from_array(np.ones((2, 2), np.float32), "w")
        onnx.save(make([node("MatMul", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, ("n", 2))],
                       [("y", TensorProto.FLOAT, ("n", 2))], [weights]), path)
        np.savez(self.at("labels.npz"), labels=np.zeros((4, 2), np.float32))
        for function, *arguments in ((ingot.calibrate, path, self.at("labels.npz"), self.at("ranges.json")),
                                     (ingot.compare, ingot.compile(path), path, self.at("labels.npz"))):
            self.assert_fails(ingot.CompileError, "'.*labels.npz': it has no array for input 'x': it has labels", function,
                              *arguments)
        np.savez(self.at("one.npz"), anything=np.zeros((4, 2), np.float32))
        self.assertEqual(ingot.compare(ingot.compile(path), path, self.at("one.npz")).outputs[0].name, "y")


class Cache(Case):
    def entries(self):
        return sorted(os.listdir(os.environ["INGOT_CACHE"]))

    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, INGOT_CACHE=self.at("cache"))
        patch.start()
        self.addCleanup(patch.stop)

    def test_entries(self):
        with mock.patch("ingot_compiler._commands.run", side_effect=ingot_compiler._commands.run) as run:
            for _ in range(2):
                self.assertTrue(np.array_equal(ingot.compile(add_one())(X), X + 1))
            self.assertEqual(run.call_count, 1)
            ingot.compile(add_one(), optimize="size")
            ingot.compile(add_one((2, 4)))
            self.assertEqual(run.call_count, 3)
        self.assertEqual(len(self.entries()), 3)

    def test_external_data_is_part_of_the_key(self):
        path = self.at("model.onnx")
        for value in (1, 2):
            constant = onnx.numpy_helper.from_array(np.full((64, 64), value, np.float32), "c")
            onnx.save(make([node("Add", ["x", "c"], ["y"])], [("x", TensorProto.FLOAT, (64, 64))],
                           [("y", TensorProto.FLOAT, (64, 64))], [constant]), path, save_as_external_data=True,
                      location="model.data", size_threshold=0)
            self.assertEqual(ingot.compile(path)(np.zeros((64, 64), np.float32))[0, 0], value)
            os.unlink(self.at("model.data"))

    def test_damaged_entries_are_made_again(self):
        ingot.compile(add_one())
        entry, = self.entries()
        with open(os.path.join(self.at("cache"), entry), "r+b") as file:
            file.truncate(1000)
        self.assertTrue(np.array_equal(ingot.compile(add_one())(X), X + 1))

    def test_entries_of_another_version_are_made_again(self):
        ingot.compile(add_one())
        entry, = self.entries()
        with open(os.path.join(self.at("cache"), entry), "r+b") as file:
            content = file.read()
            file.seek(0)
            file.write(content.replace(b"ingot_artifact_v2", b"ingot_artifact_v9"))
        self.assertTrue(np.array_equal(ingot.compile(add_one())(X), X + 1))

    def test_a_use_does_not_change_an_entry(self):
        first = ingot.compile(add_one())
        ingot.compile(add_one())
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(first))(X), X + 1)

    def test_an_entry_that_another_process_removes(self):
        add = ingot_compiler._cache.add

        def add_and_remove(made, path):
            add(made, path)
            os.unlink(path)
        with mock.patch("ingot_compiler._cache.add", add_and_remove):
            np.testing.assert_array_equal(ingot.compile(add_one())(X), X + 1)

    def test_what_killed_compilations_leave(self):
        for name in "new-old", "new-young":
            os.makedirs(self.at(f"cache/{name}"))
        os.utime(self.at("cache/new-old"), (0, 0))
        ingot.compile(add_one())
        self.assertEqual([name for name in self.entries() if not name.endswith(".so")], ["new-young"])

    def test_a_user_without_a_home(self):
        with mock.patch.dict(os.environ, XDG_CACHE_HOME="relative"), mock.patch("os.path.expanduser", lambda path: path):
            del os.environ["INGOT_CACHE"]
            self.assert_fails(ingot_compiler.CacheError, "no home folder.*INGOT_CACHE", ingot.compile, add_one())

    def test_the_oldest_entries_go(self):
        with mock.patch.dict(os.environ, INGOT_CACHE_BYTES="40000"):
            for size in range(1, 5):
                ingot.compile(add_one((1, size)))
        self.assertEqual(len(self.entries()), 1)

    def test_a_full_cache(self):
        os.mkdir(self.at("cache"))
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", self.at("cache")],
                                 capture_output=True)
        if mounted.returncode:
            self.skipTest("a file system of 16 KiB needs the right to mount one")
        self.addCleanup(subprocess.run, ["umount", self.at("cache")], check=True)
        self.assert_fails(ingot.CompileError, "No space left", ingot.compile, add_one())
        self.assertEqual(self.entries(), [])

    def test_several_processes(self):
        script = textwrap.dedent("""
            import sys; sys.path.insert(0, sys.argv[1])
            import ingot, numpy as np
            from support import add_one
            assert ingot.compile(add_one((1, 7)))(np.zeros((1, 7), np.float32))[0, 0] == 1
            """)
        here = os.path.dirname(os.path.abspath(__file__))
        started = [subprocess.Popen([sys.executable, "-c", script, here]) for _ in range(4)]
        self.assertEqual([process.wait() for process in started], [0] * 4)
        self.assertEqual(len(self.entries()), 1)

    def test_what_is_not_cached(self):
        self.assert_fails(ingot.InvalidArgument, "pass output=", ingot.compile, add_one(), header=True)
        self.assert_fails(ingot.InvalidArgument, "need output=", ingot.compile, add_one(), weights="file")
        with open(self.at("file"), "w"):
            pass
        with mock.patch.dict(os.environ, INGOT_CACHE=self.at("file/cache")):
            self.assert_fails((ingot_compiler.CacheError, OSError), "cannot use the cache folder", ingot.compile,
                              add_one())


@unittest.skipIf(os.environ.get("INGOT_COMPILER"), "the program is not that of the wheel")
class Installed(Case):
    def test_command(self):
        start = time.perf_counter()
        done = subprocess.run([ingot_compiler.executable(), "--version"], capture_output=True, text=True)
        self.assertLess(time.perf_counter() - start, 5)
        self.assertEqual(done.stdout, f"ingot {ingot.__version__}\n")
        self.assertEqual(importlib.metadata.version("ingot-compiler"), ingot.__version__)

    def test_module(self):
        done = subprocess.run([sys.executable, "-m", "ingot", "--version"], capture_output=True, text=True)
        self.assertEqual(done.stdout, f"ingot {ingot.__version__}\n")

    def test_without_llvm(self):
        """The program starts and compiles where the machine has no library of LLVM, in a name space of its own."""
        hide = ('mount --make-rprivate / && [ ! -e /usr/lib/llvm-22 ] || mount -t tmpfs none /usr/lib/llvm-22 && '
                'for file in /usr/lib/x86_64-linux-gnu/lib*LLVM* /usr/lib/x86_64-linux-gnu/libMLIR*; do '
                '[ ! -e "$file" ] || mount --bind /dev/null "$file" || exit 9; done; exec "$@"')
        if subprocess.run(["unshare", "-m", "sh", "-c", hide, "sh", "true"], capture_output=True).returncode:
            self.skipTest("hiding LLVM needs the right to mount")
        onnx.save(add_one(), self.at("model.onnx"))
        script = ("import ingot, numpy; model = ingot.compile('model.onnx', 'model.so'); "
                  "print(model(numpy.zeros((1, 4), 'f')).sum())")
        done = subprocess.run(["unshare", "-m", "sh", "-c", hide, "sh", sys.executable, "-c", script], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "4.0\n"), done.stderr)

    def test_artifacts_are_those_of_the_source_build(self):
        built = os.environ.get("INGOT_BUILT", "")
        if not os.path.exists(built):
            self.skipTest("no program of a source build")
        onnx.save(slow(64, 4), self.at("model.onnx"))
        for name, program in (("a", ingot_compiler.executable()), ("b", built)):
            os.mkdir(self.at(name))
            subprocess.run([program, "compile", "../model.onnx", "-o", "model.so", "-q"], cwd=self.at(name), check=True)
        with open(self.at("a/model.so"), "rb") as a, open(self.at("b/model.so"), "rb") as b:
            self.assertEqual(a.read(), b.read())
