"""Tests outputs: each option that names a file refuses anything but a regular file, and does not change it."""
import ctypes
import os
import resource
import shutil
import stat
import subprocess
import threading

from support import BIN, Case, conv_model, helper, make_model, np, relu_model, tool

NOT_REGULAR, DIRECTORY = "it is not a regular file", "it is a directory"


class Kinds(Case):
    """Tests every option that names an output, with every kind of file in its place."""

    def setUp(self):
        super().setUp()
        self.model = self.save(conv_model(), "m.onnx")
        np.savez(self.path("d.npz"), x=np.random.default_rng(1).standard_normal((12, 3, 8, 8)).astype(np.float32))
        self.artifact = self.compile(self.model, name="good")
        self.ranges = self.path("good.json")
        done = tool("ingot", "calibrate", self.model, "--data", self.path("d.npz"), "--repair=none", "-o", self.ranges)
        self.assertEqual(done.returncode, 0, done.stderr)

    def kinds(self):
        """Returns {name: (function that makes it, message)} for each kind of file that an output must not replace."""
        made = {"fifo": (os.mkfifo, NOT_REGULAR), "directory": (os.mkdir, DIRECTORY)}
        # Creates nodes in the folder of the test: a mistake must not damage the machine's /dev.
        for name, kind, numbers in (("character device", stat.S_IFCHR, (1, 3)), ("block device", stat.S_IFBLK, (7, 255))):
            made[name] = (lambda path, kind=kind, numbers=numbers: os.mknod(path, kind | 0o666, os.makedev(*numbers)),
                          NOT_REGULAR)
        for name, (make, words) in list(made.items()):
            def link(path, make=make):
                make(path + ".target")
                os.symlink(os.path.basename(path) + ".target", path)
            made["link to " + name] = (link, words)
        return made

    def sweep(self, output, *command, streams=False):
        """Puts each kind of file where a command writes `output`; `streams`: text goes into pipes and devices."""
        folder = self.path("sweep")
        for kind, (make, words) in self.kinds().items():
            with self.subTest(kind=kind, command=command, output=output):
                shutil.rmtree(folder, ignore_errors=True)
                path = os.path.join(folder, output)
                os.makedirs(os.path.dirname(path))
                try:
                    make(path)
                except PermissionError:
                    continue  # only root can create devices
                if streams and "character device" in kind:
                    words = None
                if streams and "fifo" in kind:
                    words = "no process reads this pipe"
                before = self.look(folder)
                done = tool("ingot", *command, cwd=folder, timeout=60)
                if words:
                    self.assert_one_line(done, words, os.path.basename(output))
                else:
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.look(folder), before)

    @staticmethod
    def look(folder):
        """Returns the contents of a folder for comparison."""
        return sorted((path, name, os.lstat(os.path.join(path, name)).st_mode, os.lstat(os.path.join(path, name)).st_ino)
                      for path, folders, files in os.walk(folder) for name in folders + files)

    def test_compile(self):
        self.sweep("m.so", "compile", self.model, "-q", "-o", "m.so")
        self.sweep("m.h", "compile", self.model, "-q", "-o", "m.so")
        self.sweep("m.kernels.json", "compile", self.model, "-q", "-o", "m.so", "--kernels=auto")
        self.sweep("m.mlir", "compile", self.model, "-q", "-o", "m.mlir", "--emit=mlir-nn", streams=True)

    def test_separate_weights(self):
        """The name of the weights file contains their checksum, so that it is known only at the end."""
        tool("ingot", "compile", self.model, "-q", "-o", self.path("m.so"), "--weights=file")
        name = os.path.basename(self.weights_of(self.path("m.so")))
        self.sweep(name, "compile", self.model, "-q", "-o", "m.so", "--weights=file")

    def test_report(self):
        int8 = ["compile", self.model, "-q", "-o", "m.so", "--precision=int8", f"--calibration={self.ranges}",
                f"--data={self.path('d.npz')}", "--report=r.html"]
        self.sweep("r.html", *int8)
        self.sweep("r.json", *int8)

    def test_calibrate(self):
        calibrate = ["calibrate", self.model, "--data", self.path("d.npz"), "--repair=none"]
        self.sweep("c.json", *calibrate, "-o", "c.json")

    def test_run(self):
        self.sweep("out/y.npy", "run", self.artifact, "--input", "random", "--output-dir", "out")
        os.mkfifo(self.path("pipe"))
        for name in ("pipe", "pipe/below", "good.so"):
            with self.subTest(name):
                self.assert_one_line(tool("ingot", "run", self.artifact, "--input", "random", "--output-dir",
                                          self.path(name), timeout=60), name)

    def test_bench(self):
        for option in ("times", "profile", "layer-info", "trace"):
            self.sweep("b.json", "bench", self.artifact, f"--export-{option}=b.json", "--iterations=1", "--duration=0",
                       "--warm-up=0", streams=True)

    def writers(self):
        """Returns commands that each write a file into the folder "to"."""
        return {"m.so": ["compile", self.model, "-q", "-o", "to/m.so"],
                "m.s": ["compile", self.model, "-q", "-o", "to/m.s", "--emit=asm"],
                "c.json": ["calibrate", self.model, "--data", self.path("d.npz"), "--repair=none", "-o", "to/c.json"],
                "r.html": ["compile", self.model, "-q", "-o", "r.so", "--precision=int8", "--report=to/r.html",
                           f"--calibration={self.ranges}", f"--data={self.path('d.npz')}"],
                "y.npy": ["run", self.artifact, "--input", "random", "--output-dir", "to"],
                "b.json": ["bench", self.artifact, "--export-times=to/b.json", "--iterations=1", "--duration=0",
                           "--warm-up=0"]}

    def limited(self, command, limit):
        """Runs a command in the test's folder, in a separate process that first calls `limit`."""
        return subprocess.run([os.path.join(BIN, "ingot"), *command], cwd=self.dir, capture_output=True, text=True,
                              timeout=120, preexec_fn=limit)

    def test_folder_that_cannot_be_written_to(self):
        """Root needs no permission, unless a program starts without these two capabilities."""
        libc = ctypes.CDLL(None)

        def limit():
            for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
                libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
        os.mkdir(self.path("to"))
        os.chmod(self.path("to"), 0o555)
        for name, command in self.writers().items():
            with self.subTest(name):
                self.assert_one_line(self.limited(command, limit), "Permission denied")
                self.assertEqual(os.listdir(self.path("to")), [])
                self.assertFalse(os.path.exists(self.path("r.so")))

    def test_no_room(self):
        """A file may have 20 bytes, which simulates a full disk."""
        os.mkdir(self.path("to"))
        for name, command in self.writers().items():
            with self.subTest(name):
                done = self.limited(command, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
                self.assert_one_line(done, "File too large")
                self.assertEqual(os.listdir(self.path("to")), [])


class Races(Case):
    def test_two_compilations_into_one_name(self):
        """After both have ended, one of the two complete pairs exists."""
        models = []
        for scale in (1, 2):
            w = np.full((64, 64), scale, np.float32)
            models.append(self.save(make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [1, 64])],
                                               [("y", [1, 64])], {"w": w}), f"{scale}.onnx"))
        os.mkdir(self.path("o"))
        target = self.path("o/m.so")
        for race in range(15):
            done = [None, None]

            def build(i):
                done[i] = subprocess.run([os.path.join(BIN, "ingot"), "compile", models[i], "-o", target, "-q",
                                          "--weights=file"], capture_output=True, text=True, timeout=120)
            threads = [threading.Thread(target=build, args=(i,)) for i in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for one in done:
                self.assertEqual((one.returncode, one.stderr), (0, ""), race)
            weights = os.path.basename(self.weights_of(target))
            self.assertEqual(sorted(os.listdir(self.path("o"))), sorted(["m.h", "m.so", weights]), race)
            loaded = tool("ingot", "run", target, "--input", "random")
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
