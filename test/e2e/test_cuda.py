"""Code for GPUs: levels, devices, assembler, failures, and ops that the CPU computes."""
import json
import os
import signal
import subprocess

from emulated import EMULATOR, Emulated, classifier, environment
from support import (BUILD, ROOT, TensorProto, helper, is_running, make_model, np, relu_model, start, tool,
                     wait_until)


class Cuda(Emulated):
    """Compile, load and run."""

    def test_both_devices_agree(self):
        artifact = self.compile(classifier(), "--target=x86-64-v3,cuda")
        x = np.random.default_rng(1).standard_normal((2, 3, 12, 12)).astype(np.float32)
        with_cpu = self.run_model(artifact, {"x": x})["y"]
        first = self.emulate(artifact, {"x": x}, seed=0)["y"]
        np.testing.assert_allclose(first, with_cpu, rtol=1e-5, atol=1e-6)
        for seed in range(1, 5):
            np.testing.assert_array_equal(self.emulate(artifact, {"x": x}, seed=seed)["y"], first)

    def test_same_bytes(self):
        for target in ("cuda", "multi,cuda"):
            files = []
            for _ in range(2):
                with open(self.compile(classifier(), f"--target={target}"), "rb") as f:
                    files.append(f.read())
            self.assertTrue(files[0] == files[1], f"{target}: two compilations differ")

    def test_levels(self):
        model = self.save(relu_model())
        for target, words in {"sm_80,sm_80": ["sm_80 is listed twice"], "cuda,sm_90": ["sm_90 is listed twice"],
                              "sm_75": ["unknown target 'sm_75'", "sm_80"], "cuda:x": ["unknown target 'cuda:x'"],
                              "cuda:sm_90,native,x86-64-v3": ["'native' stands alone"],
                              "cuda,l2=2M": ["l2 of the target is a number of CPUs", "native,cuda"]}.items():
            self.assert_refuses(model, *words, options=[f"--target={target}"])
        for target in ("cuda:sm_90", "sm_120,sm_80", "x86-64-v4,cuda:sm_100,x86-64-v3", "native,cuda,l2=2M"):
            self.compile(model, f"--target={target}")

    def test_what_is_refused(self):
        model = self.save(relu_model())
        self.assert_refuses(model, "float32", options=["--target=cuda", "--precision=int8-dynamic"])
        self.assert_refuses(model, "--precision=auto measures code for CPUs only", options=[
            "--target=cuda,native", "--precision=auto", "--eval=none.npz", "--max-drop=1%"])
        self.assert_refuses(model, "--kernels=auto", options=["--target=cuda,native", "--kernels=auto"])

    def test_devices(self):
        both = self.compile(relu_model(), "--target=x86-64-v3,cuda", name="both")
        gpu = self.compile(relu_model(), "--target=cuda", name="gpu")
        cpu = self.compile(relu_model(), "--target=x86-64-v3", name="cpu")
        # The CPU takes the place of a GPU only if nobody names a device.
        self.assertEqual(self.run_on(both).returncode, 0)
        for artifact in (both, gpu):
            self.assertEqual(self.run_on(artifact, "emulated").returncode, 0)
        self.assertEqual(self.run_on(both, "cpu").returncode, 0)
        self.assert_one_line(self.run_on(gpu, "cpu"), "compiled for cuda")
        self.assert_one_line(self.run_on(cpu, "emulated"), "no code for GPUs", "--target=cuda")
        for wrong in ("gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CUDA"):
            self.assert_one_line(self.run_on(both, wrong), "INGOT_DEVICE", wrong, "emulated")

    def test_bench(self):
        """The report names the GPU, and compares no layer with the peak performance of the CPU."""
        artifact = self.compile(relu_model(), "--target=cuda")
        quick = ["--iterations=1", "--duration=0", "--warm-up=0", "--profile"]
        env = {"INGOT_DEVICE": "emulated", "INGOT_EMULATED_DRIVER": EMULATOR}
        text = tool("ingot", "bench", artifact, *quick, env=env).stdout
        self.assertRegex(text, "(?m)^Machine: .*, device cuda$")
        self.assertNotIn("Roofline", text)
        found = json.loads(tool("ingot", "bench", artifact, *quick, "--json", env=env).stdout)
        self.assertEqual((found["device"], found["roofline"]), ("cuda", None))

    def test_machines(self):
        artifact = self.compile(relu_model(), "--target=x86-64-v3,cuda")
        self.assertEqual(self.run_on(artifact, "emulated", level=120).returncode, 0)
        self.assert_one_line(self.run_on(artifact, "emulated", level=75), "sm_75", "sm_80")
        self.assert_one_line(self.run_on(artifact, "emulated", level=0), "CUDA")
        self.assert_one_line(self.run_on(artifact, "emulated", driver=11080), "driver", "525")

    def test_no_memory(self):
        artifact = self.compile(classifier(), "--target=cuda")
        self.assert_one_line(self.run_on(artifact, "emulated", memory=100), "weights", "bytes")
        self.assert_one_line(self.run_on(artifact, "emulated", memory=6000), "for weights", "for a run", "6000 free")

    def test_each_call_fails(self):
        # If the driver refuses the machine code, it compiles the PTX instead.
        artifact = self.compile(classifier(), "--target=cuda", "--ptxas=none")
        for call in ("cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                     "cuCtxPushCurrent_v2", "cuModuleLoadData", "cuModuleGetFunction", "cuMemGetInfo_v2",
                     "cuMemAlloc_v2", "cuStreamCreate", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize",
                     "cuStreamDestroy_v2", "cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags",
                     "cuGraphLaunch", "cuMemcpyDtoHAsync_v2"):
            done = self.run_on(artifact, "emulated", fail=f"{call}:1")
            self.assert_one_line(done, call.removesuffix("_v2"))
        done = self.run_on(artifact, "emulated", fail="cuGraphAddKernelNode_v2:1")
        self.assert_one_line(done, "kernel", "node 'stem'")

    def test_example(self):
        """examples/cuda: two contexts, a stream of the program, DLPack."""
        source, program = os.path.join(ROOT, "examples", "cuda", "pipeline.cpp"), self.path("pipeline")
        built = subprocess.run(["c++", "-std=c++17", "-Wall", "-Werror", source, f"-I{ROOT}/runtime/include",
                                f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lingot", "-ldl", "-o", program],
                               capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        artifact = self.compile(classifier(), "--target=cuda", "--ptxas=none")
        for seed in range(3):
            done = subprocess.run([program, artifact], capture_output=True, text=True, env={
                **os.environ, "LD_LIBRARY_PATH": os.path.dirname(EMULATOR), "INGOT_EMUGPU": f"seed={seed}"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, "4 batches of 80 bytes\n")

    def test_ops_on_the_cpu(self):
        # A sort and an op without code for GPUs, between ops that have code.
        nodes = [helper.make_node("Relu", ["x"], ["r"], name="before"),
                 helper.make_node("TopK", ["r", "k"], ["t", "i"], name="sort"),
                 helper.make_node("Det", ["t"], ["d"], name="det"),
                 helper.make_node("Sinh", ["d"], ["y"], name="after")]
        model = make_model(nodes, [("x", [3, 4, 20])], [("y", [3]), ("i", [3, 4, 4], TensorProto.INT64)],
                           {"k": np.array([4], np.int64)})
        artifact = self.compile(model, "--target=x86-64-v3,cuda")
        x = np.random.default_rng(1).standard_normal((3, 4, 20)).astype(np.float32)
        want, got = self.run_model(artifact, {"x": x}), self.emulate(artifact, {"x": x})
        np.testing.assert_allclose(got["y"], want["y"], rtol=1e-5)
        np.testing.assert_array_equal(got["i"], want["i"])
        done = tool("ingot", "compile", self.save(model), "-o", self.path("m.so"), "--target=cuda", "--remarks")
        self.assertIn("node 'det': is computed on the CPU, between copies of 2 buffers", done.stderr)
        self.assertEqual(done.stderr.count("is computed on the CPU"), 1, done.stderr)
        det = make_model([helper.make_node("Det", ["x"], ["y"], name="det")], [("x", [4, 4])], [("y", [])])
        self.assert_refuses(det, "node 'det'", "is not computed on GPUs", "needs its data on the host",
                            options=["--target=cuda", "--cuda-fallback=error"])

    def test_values_for_the_host(self):
        """A remark names what the host needs: an input, or the result of a node."""
        options = ("--target=cuda", "--ptxas=none", "--remarks")

        def remarks(nodes, inputs, shape):
            model = make_model(nodes, inputs, [("y", shape)])
            done = tool("ingot", "compile", self.save(model), "-o", self.path("m.so"), *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr

        scan = helper.make_node("CumSum", ["x", "axis"], ["y"], name="scan")
        self.assertIn("node 'scan': is computed on the CPU, between copies of 1 buffer: it needs input 'axis' on the host",
                      remarks([scan], [("x", [4, 5]), ("axis", [], TensorProto.INT64)], [4, 5]))
        resize = helper.make_node("Resize", ["x", "", "scales"], ["y"], name="resize")
        shown = remarks([resize], [("x", [1, 1, 4, 4]), ("scales", [4])], list("abcd"))
        self.assertIn("needs input 'scales' on the host", shown)
        self.assertIn("uses a value that only the host knows, from input 'scales'", shown)
        count = [helper.make_node("ReduceSum", ["x"], ["s"], name="sum", keepdims=0),
                 helper.make_node("Cast", ["s"], ["i"], name="sum", to=TensorProto.INT64),
                 helper.make_node("Reshape", ["i", "one"], ["k"], name="reshape"),
                 helper.make_node("Expand", ["x", "k"], ["y"], name="expand")]
        model = make_model(count, [("x", [1])], [("y", ["n"])], {"one": np.array([1], np.int64)})
        done = tool("ingot", "compile", self.save(model), "-o", self.path("m.so"), *options)
        self.assertIn("needs the result of node 'sum' on the host", done.stderr)

    def test_ptxas(self):
        model = self.save(relu_model())
        sizes = {}
        for name, options in {"none": ["--ptxas=none"], "one": ["--target=sm_90"], "four": []}.items():
            sizes[name] = os.path.getsize(self.compile(model, "--target=cuda" if name != "one" else "-q", *options))
        self.assertLess(sizes["none"], sizes["one"])
        self.assertLess(sizes["one"], sizes["four"])
        for content, words in {"#!/bin/sh\necho out of luck\nexit 3\n": "out of luck",
                               "#!/bin/sh\nexit 0\n": "no machine code"}.items():
            path = self.path("ptxas")
            with open(path, "w") as f:
                f.write(content)
            os.chmod(path, 0o755)
            self.assert_refuses(model, "ptxas", words, options=["--target=cuda", f"--ptxas={path}"])
        self.assert_refuses(model, "ptxas", "cannot be run", options=["--target=cuda", f"--ptxas={self.path('none')}"])

    def test_interrupted_ptxas(self):
        """A signal also ends ptxas with its programs, and removes its files."""
        model, path = self.save(relu_model()), self.path("ptxas")
        pids, scratch = self.path("pids"), self.path("scratch")
        os.mkdir(scratch)
        with open(path, "w") as f:
            f.write("#!/bin/sh\ncase $1 in --version) exit 0;; esac\n"
                    f"sleep 100 &\necho $$ $! > {pids}.new; mv {pids}.new {pids}; sleep 100\n")
        os.chmod(path, 0o755)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with environment(TMPDIR=scratch):
                running = start("ingot", "compile", model, "-o", self.path("m.so"), "--target=cuda", f"--ptxas={path}")
            self.assertTrue(wait_until(lambda: os.path.exists(pids)))
            running.send_signal(number)
            self.assertEqual(running.wait(20), -number)
            for pid in open(pids).read().split():
                self.assertTrue(wait_until(lambda: not is_running(pid)), f"{pid} runs after {number}")
            self.assertEqual(os.listdir(scratch), [])
            self.assertFalse(os.path.exists(self.path("m.so")))
            os.remove(pids)

    def test_open_sizes(self):
        model = make_model([helper.make_node("Exp", ["x"], ["y"], name="exp")], [("x", ["n", 4])], [("y", ["n", 4])])
        artifact = self.compile(model, "--target=cuda")
        for n in (3, 0, 5):
            x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
            np.testing.assert_allclose(self.emulate(artifact, {"x": x})["y"], np.exp(x), rtol=1e-5)

    def test_library(self):
        with_gpu = self.compile(relu_model(), "--target=x86-64-v3,cuda", name="with")
        without = self.compile(relu_model(), "--target=x86-64-v3", name="without")
        needed = subprocess.run(["readelf", "-d", with_gpu], capture_output=True, text=True).stdout
        self.assertNotIn("cuda", needed.replace("with.so", ""))
        self.assertLess(os.path.getsize(with_gpu) - os.path.getsize(without), 80 << 10)
        shown = tool("ingot", "inspect", with_gpu).stdout
        self.assertIn("x86-64-v3", shown)
        self.assertIn("cuda", shown)
