"""Tests system failures: the n-th allocation, write, rename, fsync, mmap, open or thread fails, for every n.

test/faults/faults.c, preloaded, causes the failures. After each failure: exit code 1 and one line, or success. No
crash, no hang, no leftovers, and the previous pair of files still runs.
"""
import concurrent.futures
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import families

from support import BIN, BUILD, CRASH_MARKS, ROOT, Case, np, tool

sys.path.insert(0, os.path.join(ROOT, "test/faults"))
import trials  # noqa: E402

FAULTS = os.path.join(BUILD, "lib", "ingot-faults.so")
KINDS = {"alloc": errno.ENOMEM, "write": errno.ENOSPC, "read": errno.EIO, "rename": errno.EACCES, "fsync": errno.EIO,
         "mmap": errno.ENOMEM, "open": errno.EMFILE, "thread": errno.EAGAIN}
MOST = int(os.environ.get("FAULTS_MOST", 60))  # limit on runs of one kind; beyond it calls are sampled


def snapshot(folder):
    """Returns {name: contents} of a folder, with sizes in place of large contents."""
    found = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            found[name] = sorted(os.listdir(path))
        else:
            with open(path, "rb") as f:
                found[name] = f.read()
    return found


def choose(count, most):
    """Returns all of 1…count, or the first and last ones and some between."""
    if count <= most:
        return list(range(1, count + 1))
    dense, steps = most // 4, most - 2 * (most // 4)
    between = {dense + 1 + (count - 2 * dense - 1) * i // max(1, steps - 1) for i in range(steps)}
    return sorted(set(range(1, dense + 1)) | between | set(range(count - dense + 1, count + 1)))


@unittest.skipUnless(os.path.exists(FAULTS), "built without ingot-faults")
def is_error(line, command):
    """Returns true if a line is an error in the form that the command asks for."""
    if "--json" not in command:
        return line.startswith("ingot ")
    try:
        return json.loads(line)["severity"] == "error"
    except (ValueError, KeyError):
        return False


class Faults(Case):
    """Fails calls of one command; the files in `self.dir` must not change."""

    def setUp(self):
        super().setUp()
        model, runs = families.ALL["repvgg"]()
        self.inputs = runs[0]
        self.source = self.save(model)
        # An equal model with other weights: the previous artifact.
        for initializer in model.graph.initializer:
            if initializer.data_type == 1 and initializer.raw_data:
                initializer.raw_data = (np.frombuffer(initializer.raw_data, np.float32) * 0.5).tobytes()
        self.old = self.save(model, "old.onnx")
        np.save(self.path("x.npy"), self.inputs["input"])

    def run_with(self, command, **faults):
        return subprocess.run([os.path.join(BIN, "ingot"), *command], capture_output=True, text=True, errors="replace",
                              timeout=120, env={**os.environ, "LD_PRELOAD": FAULTS, **faults})

    def count(self, kind, command, folder):
        with tempfile.NamedTemporaryFile() as counted:
            done = self.run_with(command(folder), FAULT_KIND=kind, FAULT_COUNT=counted.name)
            self.assertEqual(done.returncode, 0, done.stderr)
            return int(counted.read() or 0)

    def one(self, kind, n, all_after, prepare, command, check):
        folder = tempfile.mkdtemp(dir=self.dir)
        prepare(folder)
        before = snapshot(folder)
        label = f"{kind} {n}{' and all after' if all_after else ''}"
        try:
            done = self.run_with(command(folder), FAULT_KIND=kind, FAULT_AT=str(n), FAULT_ERRNO=str(KINDS[kind]),
                                 FAULT_ALL=str(int(all_after)))
        except subprocess.TimeoutExpired:
            return [f"{label}: no end"]
        problems = []
        if done.returncode == 0:
            problems += check(folder)
        else:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            if done.returncode != 1 or len(lines) != 1 or not is_error(lines[0], command(folder)):
                problems.append(f"exit code {done.returncode}, {done.stderr!r}")
            if snapshot(folder) != before:
                problems.append(f"{sorted(before)} became {sorted(snapshot(folder))}")
        problems += [f"it says {mark!r}" for mark in CRASH_MARKS if mark in done.stderr]
        shutil.rmtree(folder)
        return [f"{label}: {p}" for p in problems]

    def sweep(self, kind, prepare, command, check, most=MOST):
        folder = tempfile.mkdtemp(dir=self.dir)
        prepare(folder)
        total = self.count(kind, command, folder)
        shutil.rmtree(folder)
        tasks = [(n, False) for n in choose(total, most)]
        if kind in ("alloc", "write", "open", "mmap"):
            tasks += [(n, True) for n in choose(total, most // 3)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda t: self.one(kind, t[0], t[1], prepare, command, check), tasks))
        problems = [p for some in found for p in some]
        self.assertFalse(problems, f"{len(problems)} of {len(tasks)} (of {total} calls):\n" + "\n".join(problems[:20]))
        return total


class Compile(Faults):
    """Compiles in a folder with an older artifact with separate weights."""

    def prepare(self, folder):
        if not hasattr(self, "prepared"):
            self.prepared = self.path("prepared")
            os.makedirs(self.prepared)
            done = tool("ingot", "compile", self.old, "-o", os.path.join(self.prepared, "m.so"), "--weights=file")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = tool("ingot", "run", os.path.join(self.prepared, "m.so"), "--input", "random")
            self.assertEqual(done.returncode, 0, done.stderr)
        shutil.copytree(self.prepared, folder, dirs_exist_ok=True)

    def command(self, folder):
        return ["compile", self.source, "-o", os.path.join(folder, "m.so"), "--weights=file", "-q"]

    def check(self, folder):
        """After success all files are complete."""
        done = tool("ingot", "run", os.path.join(folder, "m.so"), "--input", "random")
        temporaries = [name for name in os.listdir(folder) if name.startswith(".")]
        return ([done.stderr] if done.returncode else []) + temporaries

    def fails(self, kind, **options):
        self.assertGreater(self.sweep(kind, self.prepare, self.command, self.check, **options), 0)

    def test_alloc(self):
        """Fails the n-th allocation alone, and all allocations from the n-th on."""
        self.fails("alloc", most=40)

    def test_alloc_in_children(self):
        """Children allocate much more, mostly at the end, where files are written; `make faults` tries each allocation.
        """
        folder = tempfile.mkdtemp(dir=self.dir)
        self.prepare(folder)
        total = self.count("alloc", self.command, folder)
        tried = 0
        for first, step in ((1, 499), (total - 2000, 5)):
            command = [os.path.join(BIN, "ingot"), *self.command(folder)]
            problems, some, went_on = trials.trials(FAULTS, command, folder, first, step)
            for n in went_on:
                problems += self.one("alloc", n, False, self.prepare, self.command, self.check)
            self.assertEqual(problems, [])
            self.assertEqual(self.check(folder), [])
            tried += some
        self.assertGreater(tried, 1000)

    def test_alloc_while_publishing(self):
        """Once all files have their names, the compilation succeeds, and the weights of the old library are removed."""
        for after in (1, 2, 3):
            with self.subTest(after=after):
                folder = tempfile.mkdtemp(dir=self.dir)
                self.prepare(folder)
                before = set(os.listdir(folder))
                done = self.run_with(self.command(folder), FAULT_KIND="alloc", FAULT_AFTER=str(after), FAULT_AT="1",
                                     FAULT_ERRNO=str(errno.ENOMEM), FAULT_ALL="1")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.check(folder), [])
                now = set(os.listdir(folder))
                self.assertEqual((len(now), len(now & before)), (3, 2), now)

    def test_write(self):
        self.fails("write")

    def test_read(self):
        self.fails("read")

    def test_rename(self):
        self.fails("rename")

    def test_fsync(self):
        self.fails("fsync")

    def test_mmap(self):
        self.fails("mmap")

    def test_open(self):
        self.fails("open")

    def test_thread(self):
        self.fails("thread")

    def test_killed(self):
        """Kills the process before each rename and flush, and during writing. The old or the new pair runs, and the
        next compilation leaves only its own files."""
        for kind in ("rename", "fsync", "write"):
            folder = tempfile.mkdtemp(dir=self.dir)
            self.prepare(folder)
            for n in choose(self.count(kind, self.command, folder), 8):
                with self.subTest(kind, n=n):
                    shutil.rmtree(folder)
                    os.makedirs(folder)
                    self.prepare(folder)
                    done = self.run_with(self.command(folder), FAULT_KIND=kind, FAULT_AT=str(n), FAULT_KILL="1")
                    self.assertEqual(done.returncode, -signal.SIGKILL)
                    done = tool("ingot", "run", os.path.join(folder, "m.so"), "--input", "random")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    done = tool("ingot", *self.command(folder))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(self.check(folder), [])
                    self.assertEqual(len(os.listdir(folder)), 3, os.listdir(folder))


class Embedded(Compile):
    """Compiles with the weights in the library."""

    def command(self, folder):
        return ["compile", self.source, "-o", os.path.join(folder, "m.so"), "-q"]

    # Skips the tests in which the weights' place makes no difference.
    test_alloc = test_alloc_in_children = test_alloc_while_publishing = test_mmap = None
    test_read = test_thread = test_open = test_killed = None


class Run(Faults):
    """Loads and runs, with results written over older ones."""

    def setUp(self):
        super().setUp()
        self.artifact = self.compile(self.source, "--weights=file")

    def prepare(self, folder):
        np.save(os.path.join(folder, "output.npy"), np.zeros(3))

    def command(self, folder):
        return ["run", self.artifact, "--input", f"input={self.path('x.npy')}", "--output-dir", folder, "--threads",
                "3"]

    def check(self, folder):
        got = np.load(os.path.join(folder, "output.npy"))
        return [] if got.shape == (1, 10) and os.listdir(folder) == ["output.npy"] else [f"{got.shape}"]

    def fails(self, kind):
        return self.sweep(kind, self.prepare, self.command, self.check, max(MOST, 200))

    def test_alloc(self):
        self.assertGreater(self.fails("alloc"), 50)

    def test_files(self):
        for kind in ("write", "read", "rename", "fsync", "open", "mmap"):
            with self.subTest(kind):
                self.assertGreater(self.fails(kind), 0)

    def test_thread(self):
        self.assertEqual(self.fails("thread"), 2)

    def test_other_commands(self):
        """Commands that write nothing."""
        for words in (["inspect", self.artifact], ["inspect", "--json", self.artifact],
                      ["bench", self.artifact, "--iterations=1", "--warm-up=0", "--duration=0"]):
            for kind in ("alloc", "open", "mmap", "read"):
                with self.subTest(words[0], kind=kind):
                    self.sweep(kind, lambda folder: None, lambda folder: words, lambda folder: [], most=40)


class Limits(Case):
    """Limits of the process instead of single failures."""

    def setUp(self):
        super().setUp()
        self.source = self.save(families.ALL["repvgg"]()[0])
        os.makedirs(self.path("out"))

    def limited(self, limit, value, *command):
        return subprocess.run([os.path.join(BIN, "ingot"), *command], capture_output=True, text=True, errors="replace",
                              timeout=120, preexec_fn=lambda: resource.setrlimit(limit, (value, value)))

    def test_file_size(self):
        """Simulates a full disk: the file ends within the weights, within the code, or at the first byte."""
        for options in ([], ["--weights=file"], ["--emit=llvm"], ["--emit=obj"]):
            for size in (0, 1, 1000, 5000) if "obj" in str(options) else (0, 1, 1000, 5000, 30000):
                with self.subTest(options, size=size):
                    done = self.limited(resource.RLIMIT_FSIZE, size, "compile", self.source, "-o",
                                        self.path("out/m.so"), *options)
                    self.assert_one_line(done, "m.so", "file too large")
                    self.assertEqual(os.listdir(self.path("out")), [])

    def test_file_size_of_results(self):
        artifact = self.compile(self.source)
        done = self.limited(resource.RLIMIT_FSIZE, 10, "run", artifact, "--input", "random", "--output-dir",
                            self.path("out"))
        self.assert_one_line(done, "output.npy", "file too large")
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_address_space(self):
        """Limits of memory, from less than the libraries need to more than enough."""
        outcomes = set()
        for megabytes in (*range(200, 420, 7), 500, 1000):
            with self.subTest(megabytes=megabytes):
                done = self.limited(resource.RLIMIT_AS, megabytes << 20, "compile", self.source, "-o",
                                    self.path("out/m.so"), "-q")
                outcomes.add(done.returncode)
                if done.returncode == 127:  # code of the dynamic linker
                    self.assertIn("error while loading shared libraries", done.stderr)
                elif done.returncode:
                    self.assert_one_line(done)
                self.assertEqual(len(os.listdir(self.path("out"))), 0 if done.returncode else 2)
                for name in os.listdir(self.path("out")):
                    os.remove(self.path("out/" + name))
        self.assertIn(0, outcomes)
        self.assertIn(1, outcomes)

    def test_one_arena(self):
        """jemalloc crashes if a thread's first allocation finds no memory for the thread's own arena."""
        done = subprocess.run([os.path.join(BIN, "ingot"), "compile", self.source, "-o", self.path("out/m.so"), "-q"],
                              capture_output=True, text=True, env={**os.environ, "MALLOC_CONF": "stats_print:true"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("opt.narenas: 1\n", done.stderr)

    def test_threads(self):
        """The process may not start another thread."""
        if os.geteuid() == 0:
            self.skipTest("the limit is not for root")
        done = self.limited(resource.RLIMIT_NPROC, 0, "compile", self.source, "-o", self.path("out/m.so"))
        self.assert_one_line(done, "thread")

    def test_descriptors(self):
        for count in range(3, 12):
            with self.subTest(count=count):
                done = self.limited(resource.RLIMIT_NOFILE, count, "compile", self.source, "-o", self.path("out/m.so"),
                                    "-q")
                if done.returncode == 127:
                    continue
                if done.returncode:
                    self.assert_one_line(done)
                    self.assertEqual(os.listdir(self.path("out")), [])
