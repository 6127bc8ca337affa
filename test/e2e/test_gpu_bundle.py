"""Tests the bundle for machines with a GPU: writes it in a small form, and runs it on the emulated GPU."""
import ctypes
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from support import BIN, BUILD, ROOT, Case, np, relu_model, tool

SCRIPTS = os.path.join(ROOT, "scripts", "gpu")
EMULATED = {"INGOT_DEVICE": "emulated", "INGOT_EMULATED_DRIVER": os.path.join(BUILD, "lib", "emugpu", "libcuda.so.1"),
            "INGOT_EMUGPU": "checks=off"}
# Parts of the bundle's small form, which are measured on the emulated GPU.
MEASURED = ("images", "kernels", "families", "ceilings", "sweep")
MISSING = ("nodes", "sanitizer", "models", "profiles", "turns")


class GpuBundle(Case):
    """Write, run, stop and continue, damage, report."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="ingot-test-")
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.written = os.path.join(cls.scratch, "gpu")
        sweep = os.path.join(cls.scratch, "sweep")
        cls.write_sweep(os.path.join(sweep, "relu"))
        done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "bundle.py"), "--output", cls.written, "--bin",
                               BIN, "--small", "--jobs", "2", "--sweep", sweep], capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, done.stderr
        cls.summary = done.stdout

    @staticmethod
    def write_sweep(folder):
        """Writes a problem with two schedules, which are equal here."""
        os.makedirs(folder)
        model = os.path.join(folder, "model.onnx")
        with open(model, "wb") as f:
            f.write(relu_model().SerializeToString())
        done = tool("ingot", "compile", model, "-o", os.path.join(folder, "narrow.so"), "--target=sm_90", "-q")
        assert done.returncode == 0, done.stderr
        shutil.copy(os.path.join(folder, "narrow.so"), os.path.join(folder, "wide.so"))
        with open(os.path.join(folder, "inputs.txt"), "w") as f:
            f.write("random:1\n")

    def setUp(self):
        super().setUp()
        self.bundle = self.path("gpu")
        shutil.copytree(self.written, self.bundle)

    def command(self, *options):
        return [os.path.join(self.bundle, "run.sh"), "--seconds", "600", *options]

    def run_bundle(self, *options, **env):
        settings = {**os.environ, **EMULATED, **env}
        settings = {name: value for name, value in settings.items() if value is not None}
        return subprocess.run(self.command(*options), capture_output=True, text=True, timeout=300, env=settings)

    def read(self, part):
        with open(os.path.join(self.bundle, "results", part + ".json")) as f:
            return json.load(f)

    def statuses(self, part):
        return [row["status"] for row in self.read(part)["rows"]]

    def write_manifest(self):
        """Makes the bundle's checksums those of its files."""
        with open(os.path.join(self.bundle, "MANIFEST")) as f:
            names = [line.split(maxsplit=1)[1].strip() for line in f]
        with open(os.path.join(self.bundle, "MANIFEST"), "w") as f:
            for name in names:
                with open(os.path.join(self.bundle, name), "rb") as content:
                    f.write(f"{hashlib.sha256(content.read()).hexdigest()}  {name}\n")

    def expected_of(self, part):
        return sorted(glob.glob(os.path.join(self.bundle, "expected", part + "-*", "*.npy")))[0]

    def test_size(self):
        self.assertRegex(self.summary, r"MiB of at most 40 .*kernels 9")

    def test_killed_and_continued(self):
        process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, **EMULATED}, start_new_session=True)
        images = os.path.join(self.bundle, "results", "images.json")
        end = time.monotonic() + 60
        while not os.path.exists(images) and time.monotonic() < end:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertFalse(os.path.exists(os.path.join(self.bundle, "results", "sweep.json")))
        before = os.stat(images).st_mtime_ns

        done = self.run_bundle()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(os.stat(images).st_mtime_ns, before, "a part that had ended ran again")
        for part in MEASURED:
            self.assertIn(f"{part}: passed\n", done.stdout)
        for part in MISSING:
            self.assertIn(f"{part}: not measured\n", done.stdout)
        self.assertEqual(set(self.statuses("kernels") + self.statuses("families")), {"equal"})
        self.assertEqual(self.statuses("images"), ["loaded", *["other level"] * 4])
        for row in self.read("families")["rows"]:
            self.assertEqual(row["ways"], ["again", "two threads", "tensors in GPU memory", "asynchronous"])

    def test_too_little_time(self):
        self.run_bundle("--parts", "ceilings")  # expands the compiled models
        # With the search for races, the emulated GPU needs seconds for the first case.
        done = subprocess.run([os.path.join(self.bundle, "bin", "ingot-gpu"), "cases",
                               os.path.join(self.bundle, "kernels.json"), "--seconds", "0.1"], capture_output=True,
                              text=True, env={**os.environ, **EMULATED, "INGOT_EMUGPU": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["status"] for row in json.loads(done.stdout)["rows"]][1:], ["not measured"] * 8)

    def test_damage(self):
        path = self.expected_of("kernels")
        with open(path, "r+b") as f:
            f.seek(-1, os.SEEK_END)
            byte = f.read(1)[0]
            f.seek(-1, os.SEEK_END)
            f.write(bytes([byte ^ 0x40]))
        self.assert_one_line(self.run_bundle(), "the bundle is damaged", os.path.relpath(path, self.bundle))
        # The checksums fit the damaged file, so only the comparison of results finds the changed bits.
        self.write_manifest()
        done = self.run_bundle("--parts", "kernels,ceilings")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kernels: failed\nceilings: passed\n", done.stdout)
        self.assertEqual(sorted(self.statuses("kernels")), ["differs", *["equal"] * 8])

        os.remove(path)
        self.assert_one_line(self.run_bundle(), "the bundle is damaged")

    def test_tolerance(self):
        path = os.path.join(self.bundle, "kernels.json")
        with open(path) as f:
            items = json.load(f)
        item = next(i for i in items if i["name"].startswith("exact product"))
        expected = os.path.join(self.bundle, item["expected"], "0.npy")
        values = np.load(expected)
        values.flat[0] += 1e-3 * np.abs(values).max()
        np.save(expected, values)
        items = [{**item, "tolerance": {"scale": scale}} for scale in (1e-2, 1e-4)]
        with open(path, "w") as f:
            json.dump(items, f)
        self.write_manifest()
        self.run_bundle("--parts", "kernels")
        self.assertEqual(self.statuses("kernels"), ["close", "differs"])
        self.assertEqual([row["different"] for row in self.read("kernels")["rows"]], [1, 1])

    def test_failures_stay_in_their_row(self):
        path = os.path.join(self.bundle, "kernels.json")
        with open(path) as f:
            items = json.load(f)
        # The first item has no artifact, which ends its process. The second one cannot be loaded.
        items = [{"name": "none"}, {**items[0], "artifact": "run.sh"}, items[2]]
        with open(path, "w") as f:
            json.dump(items, f)
        self.write_manifest()
        done = self.run_bundle("--parts", "kernels")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.statuses("kernels"), ["crashed", "failed", "equal"])

    def test_no_device(self):
        self.assert_one_line(self.run_bundle(INGOT_EMUGPU="level=0"), "run.sh", "no CUDA device")
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            self.assert_one_line(self.run_bundle(INGOT_DEVICE=None), "run.sh", "no CUDA driver")

    def test_wrong_use(self):
        self.assert_one_line(self.run_bundle("--fast", "x"), "unknown option '--fast'")
        self.assert_one_line(self.run_bundle("--parts", "kernel"), "there is no part 'kernel'")
        self.assert_one_line(self.run_bundle("--seconds", "soon"), "--seconds")

    def test_other_results(self):
        self.run_bundle("--parts", "ceilings")
        self.assert_one_line(self.run_bundle(INGOT_EMUGPU="level=90"), "results of another device")
        with open(os.path.join(self.bundle, "MANIFEST"), "a") as f:
            f.write(f"{hashlib.sha256(b'').hexdigest()}  empty\n")
        open(os.path.join(self.bundle, "empty"), "w").close()
        self.assert_one_line(self.run_bundle(), "results of another bundle")

    def test_report(self):
        self.run_bundle("--parts", ",".join(MEASURED))
        page, results = self.path("cuda.md"), os.path.join(self.bundle, "results")
        command = [sys.executable, os.path.join(SCRIPTS, "report.py"), "--output", page]
        self.assert_one_line(subprocess.run([*command, "--results", results], capture_output=True, text=True),
                             "emulated")
        path = os.path.join(results, "device.json")
        with open(path) as f:
            device = json.load(f)
        with open(path, "w") as f:
            json.dump({**device, "emulated": False}, f)
        subprocess.run([*command, "--results", results], check=True)
        with open(page) as f:
            text = f.read()
        self.assertIn("| random shapes of kernels | 9 | 0 | 0 | 0 |", text)
        self.assertRegex(text, r"\| relu \| narrow \| equal \| [0-9.e+-]+ \|\n\| relu \| wide \| equal \|")
        self.assertIn("| ONNX's node tests | not measured |", text)
        self.assertIn("| resnet50 | 1 | not measured |", text)
        self.assertRegex(text, r"\| launches behind each other, each \| [0-9.e+-]+ \| us \|")
