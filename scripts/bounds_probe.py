"""Measures one number of one engine in this fresh process, and prints it as JSON: see python_bounds.py.

usage: bounds_probe.py NAME ENGINE FOLDER SECONDS
"""
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np

# Probes whose largest value is the best.
LARGER_IS_BETTER = {"counter_run", "counter_load", "counter_compile", "threads_per_s", "threads_c_per_s", "ray_speed"}


# Models -----------------------------------------------------------------------

def resnet50():
    """Returns ResNet-50 with random weights, as exported: BatchNorm in place."""
    from onnx import TensorProto, helper, numpy_helper
    rng, nodes, weights = np.random.default_rng(0), [], []

    def constant(values):
        weights.append(numpy_helper.from_array(values.astype(np.float32), f"w{len(weights)}"))
        return weights[-1].name

    def add(operator, inputs, **attributes):
        nodes.append(helper.make_node(operator, inputs, [f"t{len(nodes)}"], **attributes))
        return f"t{len(nodes) - 1}"

    def conv(x, fan_in, fan_out, size, stride, relu=True):
        w = constant(rng.normal(size=(fan_out, fan_in, size, size)) * (2 / (fan_in * size * size)) ** 0.5)
        y = add("Conv", [x, w], kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4)
        y = add("BatchNormalization", [y, *(constant(one) for one in (np.full(fan_out, 0.7), np.zeros(fan_out),
                                                                      np.zeros(fan_out), np.ones(fan_out)))])
        return add("Relu", [y]) if relu else y

    x = add("MaxPool", [conv("x", 3, 64, 7, 2)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    width = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = conv(conv(x, width, inner, 1, 1), inner, inner, 3, stride)
            y = conv(y, inner, 4 * inner, 1, 1, relu=False)
            x = x if block else conv(x, width, 4 * inner, 1, stride, relu=False)
            x, width = add("Relu", [add("Add", [x, y])]), 4 * inner
    x = add("Flatten", [add("GlobalAveragePool", [x])])
    nodes.append(helper.make_node("Gemm", [x, constant(rng.normal(size=(2048, 1000)) / 45), constant(np.zeros(1000))],
                                  ["y"]))
    return make(nodes, (1, 3, 224, 224), (1, 1000), weights)


def make(nodes, shape, result, weights):
    from onnx import TensorProto, helper
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in (("x", shape), ("y", result))]
    return helper.make_model(helper.make_graph(nodes, "model", values[:1], values[1:], weights),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def write_models(folder):
    """Writes a small model and ResNet-50 into a folder, and compiles them."""
    import onnx
    from onnx import TensorProto, helper
    import ingot
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1])
    onnx.save(make([helper.make_node("Add", ["x", "one"], ["y"])], (1, 4), (1, 4), [one]), f"{folder}/add.onnx")
    onnx.save(resnet50(), f"{folder}/resnet50.onnx")
    for name in ("add", "resnet50"):
        ingot.compile(f"{folder}/{name}.onnx", f"{folder}/{name}.so")


def shape_of(name):
    return (1, 4) if name == "add" else (1, 3, 224, 224)


def open_model(engine, folder, name):
    """Returns a function that runs a model on an array, with one thread."""
    if engine == "ingot":
        import ingot
        model = ingot.load(f"{folder}/{name}.so")
        return model if name == "add" else lambda x: model.run({"x": x}, threads=1)["y"]
    if engine == "onnxruntime":
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx", options, providers=["CPUExecutionProvider"])
        return lambda x: session.run(None, {"x": x})[0]
    import openvino
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(f"{folder}/{name}.onnx"), "CPU",
                                  {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1})
    return lambda x: compiled(x)[0]


# Probes -----------------------------------------------------------------------

def import_ms(engine, folder, seconds):
    start = time.perf_counter()
    __import__(engine)
    return (time.perf_counter() - start) * 1e3


def import_mb(engine, folder, seconds):
    before = status_mb("VmRSS:")
    __import__(engine)
    return status_mb("VmRSS:") - before


def status_mb(key, process="self"):
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key)) / 1024


def microseconds(function, seconds):
    """Returns the time of a call, in the fastest of 50 groups of calls."""
    for _ in range(200):
        function()
    best, until = 1e9, time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        for _ in range(500):
            function()
        best = min(best, (time.perf_counter() - start) / 500)
    return best * 1e6


def call_us(engine, folder, seconds):
    run, x = open_model(engine, folder, "add"), np.zeros((1, 4), np.float32)
    return microseconds(lambda: run(x), seconds)


def call_out_us(engine, folder, seconds):
    x, y = np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32)
    if engine == "ingot":
        import ingot
        model, inputs, out = ingot.load(f"{folder}/add.so"), {"x": x}, {"y": y}
        return microseconds(lambda: model.run(inputs, out=out), seconds)
    if engine == "openvino":
        return None
    import onnxruntime
    session = onnxruntime.InferenceSession(f"{folder}/add.onnx", providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_ortvalue_output("y", onnxruntime.OrtValue.ortvalue_from_numpy(y))
    return microseconds(lambda: session.run_with_iobinding(binding), seconds)


def bench(folder, name, seconds, **options):
    import ingot
    return ingot.bench(f"{folder}/{name}.so", threads=1, duration=f"{int(seconds * 1000)}ms", **options)


def call_c_us(engine, folder, seconds):
    return bench(folder, "add", seconds).latency_ms.min * 1e3


def stay_on_one_cpu():
    """Keeps this process and its children on one CPU, since a move between CPUs costs more than the bound."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def first_answer_ms(engine, folder, seconds):
    stay_on_one_cpu()
    __import__(engine)
    # A run would map memory that was never touched. The probe of C fills its input, too.
    x = np.ones(shape_of("resnet50"), np.float32)
    start = time.perf_counter()
    open_model(engine, folder, "resnet50")(x)
    return (time.perf_counter() - start) * 1e3


def first_answer_c_ms(engine, folder, seconds):
    stay_on_one_cpu()
    return bench(folder, "resnet50", 0.1).first_answer_ms  # with the load


def counter(work, seconds):
    """Returns the speed of a thread that counts while another works, in percent of its speed alone."""
    def count(until):
        number = 0
        while time.perf_counter() < until:
            number += 1
        return number

    alone = count(time.perf_counter() + seconds)
    is_over = threading.Event()

    def repeat():
        while not is_over.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    beside = count(time.perf_counter() + seconds)
    is_over.set()
    thread.join()
    return 100 * beside / alone


def counter_run(engine, folder, seconds):
    run, x = open_model(engine, folder, "resnet50"), np.zeros(shape_of("resnet50"), np.float32)
    run(x)
    return counter(lambda: run(x), seconds)


def counter_load(engine, folder, seconds):
    open_model(engine, folder, "resnet50")
    return counter(lambda: open_model(engine, folder, "resnet50"), seconds)


def counter_compile(engine, folder, seconds):
    import ingot
    return counter(lambda: ingot.compile(f"{folder}/resnet50.onnx", f"{folder}/again-{os.getpid()}.so"), seconds)


def threads_per_s(engine, folder, seconds):
    run, x = open_model(engine, folder, "resnet50"), np.zeros(shape_of("resnet50"), np.float32)
    run(x)
    return in_threads(lambda until: runs_until(run, x, until), seconds)


def runs_until(run, x, until):
    count = 0
    while time.perf_counter() < until:
        run(x)
        count += 1
    return count


def in_threads(work, seconds, threads=8):
    """Returns how many runs a second 8 threads do."""
    counts, start = [], time.perf_counter()
    until = start + 4 * seconds

    def one():
        counts.append(work(until))

    made = [threading.Thread(target=one) for _ in range(threads)]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def threads_c_per_s(engine, folder, seconds):
    return bench(folder, "resnet50", 4 * seconds, contexts=8).throughput


def loop_ms(engine, folder, seconds):
    import asyncio
    import ingot
    model = ingot.load(f"{folder}/add.so")
    x = np.zeros((1, 4), np.float32)

    async def main():
        gaps, is_over = [], False

        async def watch():
            while not is_over:
                start = time.perf_counter()
                await asyncio.sleep(0)
                gaps.append(time.perf_counter() - start)

        await model.run_async(x)
        watcher = asyncio.create_task(watch())
        await asyncio.sleep(0)
        runs = [asyncio.create_task(model.run_async(x)) for _ in range(1000)]
        answers = [await run for run in runs]
        is_over = True
        await watcher
        # Behind the measurement, because a comparison of NumPy takes longer than a run.
        for answer in answers:
            np.testing.assert_array_equal(answer, 1)
        return max(gaps) * 1e3

    return asyncio.run(main())


def ray_speed(engine, folder, seconds):
    """Returns the speed of two actors of one CPU in terms of the speed of one."""
    actors = make_actors(folder, 2)
    if actors is None:
        return None
    import ray
    rates = []
    for count in (1, 2):
        rates.append(sum(ray.get([actor.rate.remote(4 * seconds) for actor in actors[:count]])))
    return rates[1] / rates[0]


def ray_memory(engine, folder, seconds):
    """Returns the memory for ResNet-50's weights in four actors, in terms of that in one."""
    actors = make_actors(folder, 4)
    if actors is None:
        return None
    import ray
    shares = []
    for count in (1, 4):
        ray.get([actor.rate.remote(0) for actor in actors[:count]])
        shares.append(sum(ray.get([actor.weights_mb.remote() for actor in actors[:count]])))
    return shares[1] / shares[0]


def make_actors(folder, count):
    try:
        import ray
    except ImportError:
        return None
    ray.init(num_cpus=max(count, 2), include_dashboard=False, log_to_driver=False, configure_logging=False)
    path = f"{folder}/resnet50.so"

    @ray.remote(num_cpus=1)
    class Actor:
        """A process with the model, which it loads in its first run."""

        def rate(self, seconds):
            import ingot
            import numpy as np
            x = np.zeros((1, 3, 224, 224), np.float32)
            self.model = ingot.load(path)
            self.model.run({"x": x}, threads=1)
            count, start = 0, time.perf_counter()
            while time.perf_counter() < start + seconds:
                self.model.run({"x": x}, threads=1)
                count += 1
            return count / max(seconds, 1e-9)

        def weights_mb(self):
            """Returns this process's share of the memory that the model's file takes."""
            total, is_model = 0, False
            with open("/proc/self/smaps") as file:
                for line in file:
                    if "-" in line.split()[0] and not line[0].isupper():
                        is_model = path in line
                    elif is_model and line.startswith("Pss:"):
                        total += int(line.split()[1])
            return total / 1024

    return [Actor.remote() for _ in range(count)]


def version_ms(engine, folder, seconds):
    import ingot_compiler
    program = ingot_compiler.executable()
    start = time.perf_counter()
    subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def main():
    name, engine, folder, seconds = sys.argv[1:]
    print(json.dumps(globals()[name](engine, folder, float(seconds))))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
