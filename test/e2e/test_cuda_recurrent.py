"""RNN, GRU and LSTM on the emulated GPU: a launch for each step, with drawn schedules and orders of threads."""
import json

from emulated import Emulated
from support import TensorProto, helper, make_model, np, peer, tool

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS = 5
# The largest error of a state, as a share of the largest one. Functions and sums of f32 differ in their last places.
# Weights of 16 bits, and the factors of the input's product for tf32, are rounded.
TOLERANCES = {"fp32": 1e-5, "tf32": 2e-3, "fp16": 2e-3, "bf16": 2e-2}


class CudaRecurrent(Emulated):
    @staticmethod
    def net(op, batch, hidden, rng, direction="forward", width=6, shown=(0, 1), inputs=("B",), steps=STEPS,
            **attributes):
        """Returns a model with the outputs `shown`, and its inputs. `batch` and `steps` may be names."""
        directions = 2 if direction == "bidirectional" else 1
        normal = lambda scale, *shape: (scale * rng.standard_normal(shape)).astype(np.float32)
        weights = {"W": normal(width ** -0.5, directions, GATES[op] * hidden, width),
                   "R": normal(hidden ** -0.5, directions, GATES[op] * hidden, hidden)}
        if "B" in inputs:
            weights["B"] = normal(0.5, directions, 2 * GATES[op] * hidden)
        if "P" in inputs:
            weights["P"] = normal(0.5, directions, 3 * hidden)
        given = [("X", [steps, batch, width])]
        if "lengths" in inputs:
            given.append(("lengths", [batch], TensorProto.INT32))
        given += [(name, [directions, batch, hidden]) for name in ("h", "c") if name in inputs]
        order = ["X", "W", "R", "B", "lengths", "h", "c", "P"]
        present = [name if name in ("X", "W", "R", *inputs) else "" for name in order[:6 if op != "LSTM" else 8]]
        shapes = {0: [steps, directions, batch, hidden], 1: [directions, batch, hidden], 2: [directions, batch, hidden]}
        names = [f"y{i}" if i in shown else "" for i in range(max(shown) + 1)]
        node = helper.make_node(op, present, names, name="net", hidden_size=hidden, direction=direction, **attributes)
        return make_model([node], given, [(f"y{i}", shapes[i]) for i in shown], weights, opset=14), given

    def compile_gpu(self, model, *options):
        return self.compile(model, "--target=sm_80", "--ptxas=none", *options, name="gpu")

    def launches(self, artifact):
        """Returns {kind of kernel: launches of a run} of the kernels of steps."""
        gpu = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)["gpu"]
        found = {}
        for kernel in gpu["kernels"]:
            kind = kernel["name"].rsplit("_", 1)[0]
            if kind.startswith("recurrent"):
                found[kind] = found.get(kind, 0) + kernel["launches"]
        return found

    def check(self, model, given, precision="fp32", seed=0, lengths=None, launches=None, **sizes):
        """Compares with ONNX Runtime. Bits do not depend on the order of threads. `sizes` has those of names."""
        rng = np.random.default_rng(seed + 100)
        feeds = {}
        for name, shape, *_ in given:
            shape = [sizes.get(size, size) for size in shape]
            feeds[name] = (np.array(lengths, np.int32) if name == "lengths"
                           else rng.standard_normal(shape).astype(np.float32))
        outputs = [output.name for output in model.graph.output]
        want = dict(zip(outputs, peer(model).run(outputs, feeds)))
        for schedule in (0, seed + 1):
            artifact = self.compile_gpu(model, f"--precision={precision}", f"--schedule-seed={schedule}")
            self.assertEqual(self.launches(artifact), launches or {"recurrent": STEPS})
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                bound = TOLERANCES[precision] * np.abs(array).max()
                np.testing.assert_allclose(got[name], array, rtol=0, atol=bound,
                                           err_msg=f"{name}, schedule {schedule}")
            for name, array in self.emulate(artifact, feeds, seed=seed + 1).items():
                np.testing.assert_array_equal(array, got[name], f"{name}, schedule {schedule}")

    def test_lstm(self):
        for seed, (batch, hidden, direction) in enumerate([(1, 20, "forward"), (3, 33, "reverse"),
                                                           (3, 64, "bidirectional"), (1, 130, "forward"), (9, 3, "forward")]):
            with self.subTest(batch=batch, hidden=hidden, direction=direction):
                rng = np.random.default_rng(seed)
                inputs = ("B", "h", "c", "P") if seed % 2 else ("B",)
                self.check(*self.net("LSTM", batch, hidden, rng, direction, shown=(0, 1, 2), inputs=inputs), seed=seed)

    def test_gru(self):
        """If the reset comes before the product, each step has two launches."""
        for seed, (batch, hidden, direction) in enumerate([(1, 20, "bidirectional"), (3, 33, "forward"), (2, 64, "reverse")]):
            for resets_after in (0, 1):
                with self.subTest(batch=batch, hidden=hidden, direction=direction, resets_after=resets_after):
                    rng = np.random.default_rng(seed)
                    inputs = ("B", "h") if seed % 2 else ("B",)
                    model, given = self.net("GRU", batch, hidden, rng, direction, inputs=inputs,
                                            linear_before_reset=resets_after)
                    launches = {"recurrent": STEPS}
                    if not resets_after:
                        launches["recurrent_reset"] = STEPS
                    self.check(model, given, seed=seed, launches=launches)

    def test_rnn(self):
        """One output is enough, and there may be no bias."""
        for seed, (shown, activation) in enumerate([((0,), "Tanh"), ((1,), "Sigmoid"), ((0, 1), "Relu")]):
            with self.subTest(shown=shown, activation=activation):
                rng = np.random.default_rng(seed)
                self.check(*self.net("RNN", 2, 37, rng, shown=shown, inputs=(), activations=[activation]), seed=seed)

    def test_activations(self):
        rng = np.random.default_rng(3)
        self.check(*self.net("LSTM", 2, 24, rng, activations=["HardSigmoid", "Softsign", "Sigmoid"], input_forget=0))
        self.check(*self.net("GRU", 2, 24, rng, "bidirectional", linear_before_reset=1,
                             activations=["Sigmoid", "Softsign"] * 2))

    def test_lengths(self):
        """Outputs behind the end of a sequence are zero, and its final state is that of its last step."""
        for op, seed in (("LSTM", 1), ("GRU", 2)):
            with self.subTest(op=op):
                rng = np.random.default_rng(seed)
                model, given = self.net(op, 3, 20, rng, "bidirectional", inputs=("B", "lengths", "h"),
                                        **({"linear_before_reset": 1} if op == "GRU" else {}))
                self.check(model, given, lengths=[5, 1, 3], seed=seed)

    def test_open_batch(self):
        for op, direction in (("LSTM", "bidirectional"), ("GRU", "forward")):
            model, given = self.net(op, "batch", 20, np.random.default_rng(5), direction, inputs=("B", "h"),
                                    **({"linear_before_reset": 1} if op == "GRU" else {}))
            for batch in (1, 3, 10):
                with self.subTest(op=op, batch=batch):
                    self.check(model, given, batch=batch)

    def test_open_steps(self):
        """One launch in a loop takes both directions."""
        model, given = self.net("LSTM", "batch", 20, np.random.default_rng(6), "bidirectional", steps="steps")
        for steps in (1, 4, 7):
            with self.subTest(steps=steps):
                self.check(model, given, launches={"recurrent": 1}, steps=steps, batch=2)

    def test_precisions(self):
        for seed, precision in enumerate(("fp16", "bf16", "tf32")):
            for op, hidden in (("LSTM", 33), ("GRU", 64)):
                with self.subTest(precision=precision, op=op):
                    rng = np.random.default_rng(seed)
                    model, given = self.net(op, 3, hidden, rng, "bidirectional",
                                            **({"linear_before_reset": 1} if op == "GRU" else {}))
                    self.check(model, given, precision=precision, seed=seed)

    def test_many_sequences(self):
        """Matrix units are faster for many sequences, so the loop keeps its products."""
        model, _ = self.net("LSTM", 256, 64, np.random.default_rng(7))
        self.assertEqual(self.launches(self.compile_gpu(model)), {"recurrent": STEPS})
        self.assertEqual(self.launches(self.compile_gpu(model, "--precision=fp16")), {"recurrent": STEPS})
        model, _ = self.net("LSTM", 512, 256, np.random.default_rng(7))
        self.assertEqual(self.launches(self.compile_gpu(model, "--precision=fp16")), {})
