"""Tries one model: makes it, compiles it with fixed and with open sizes, runs it, compares and measures."""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import measure  # noqa: E402

# Limits of CPU seconds: for a compilation, and for any other process.
COMPILE_LIMIT, OTHER_LIMIT = 240, 900


def run(command, limit, cwd=None):
    """Runs a command. Returns (exit code, or None if it was stopped, error output, CPU seconds, megabytes)."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err, preexec_fn=bound, cwd=cwd)
        until, status = time.monotonic() + 4 * limit, None
        while status is None:
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                status = os.waitstatus_to_exitcode(code)
            elif time.monotonic() > until:
                process.kill()
                until += 60
            else:
                time.sleep(0.02)
        process.returncode = status
        err.seek(0)
        text = err.read().decode(errors="replace").strip()
    cpu = usage.ru_utime + usage.ru_stime
    return (None if cpu >= limit - 1 and status < 0 else status), text, cpu, usage.ru_maxrss / 1024


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


def make(entry, variant, folder):
    """Writes the model unless it exists. Returns the last line of an error, or nothing."""
    if os.path.exists(os.path.join(folder, "model.onnx")):
        return None
    os.makedirs(folder, exist_ok=True)
    code, text, _, _ = run([sys.executable, os.path.join(HERE, "export.py"), entry.name, variant, folder], OTHER_LIMIT)
    with open(os.path.join(folder, "export.log"), "w") as file:
        file.write(text)
    return last_line(text) if code else None


def difference(got, want, tolerance):
    """Returns why two results differ, or nothing; and the largest error relative to the largest value."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}", None
    if not want.size:
        return None, 0.0
    if want.dtype.kind != "f":
        count = int((got != want).sum())
        return (f"{count} of {want.size} elements differ" if count > tolerance * want.size else None), count / want.size
    got, want = got.astype(np.float64), want.astype(np.float64)
    if (np.isnan(got) != np.isnan(want)).any():
        return f"{int(np.isnan(got).sum())} NaN instead of {int(np.isnan(want).sum())}", None
    same = (got == want) | np.isnan(want)
    with np.errstate(invalid="ignore"):
        error = float(np.where(same, 0, np.abs(got - want)).max())
    finite = want[np.isfinite(want)]
    error /= max(float(np.abs(finite).max()) if finite.size else 1, 1e-30)
    return (None if error <= tolerance else f"off by {error:.1e} of the largest"), error


def input_files(folder, which):
    """Returns {input: .npy file} for the model's inputs. Exporters leave out unused inputs."""
    import onnx
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    known, files = {i.name for i in model.graph.input}, {}
    for n, (name, value) in enumerate(np.load(os.path.join(folder, f"inputs{which}.npz")).items()):
        if name in known:
            files[name] = os.path.join(folder, f"input{which}_{n}.npy")
            np.save(files[name], value)
    return files


def open_inputs(folder):
    """Returns the inputs with a dynamic size."""
    import onnx
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    weights = {i.name for i in model.graph.initializer}
    found = set()
    for value in model.graph.input:
        kind = value.type.tensor_type
        if value.name not in weights and not (kind.HasField("shape") and all(d.dim_value > 0 for d in kind.shape.dim)):
            found.add(value.name)
    return found


def reference(folder, which, *options):
    """Returns (file with ONNX Runtime's outputs, error)."""
    file = os.path.join(folder, f"want{which}{''.join(options)}.npz")
    if os.path.exists(file):
        return file, None
    code, text, _, _ = run([sys.executable, os.path.join(HERE, "reference.py"), os.path.join(folder, "model.onnx"),
                            os.path.join(folder, f"inputs{which}.npz"), file, *options], OTHER_LIMIT)
    return file, "ONNX Runtime: " + last_line(text) if code else None


def hangs_on_rounding(folder, which, tolerance):
    """Returns True if ONNX Runtime's results change without its optimizations, or with inputs that differ by 1e-5. Then
    the last bits decide, for example about boxes with nearly equal scores."""
    results = {key: value for key, value in np.load(reference(folder, which)[0]).items() if value.dtype.kind != "U"}
    for option in ("--as-written", "--nudged"):
        file, why = reference(folder, which, option)
        if why:
            continue
        other = np.load(file)
        if any(difference(other[key], want, tolerance)[0] for key, want in results.items()):
            return True
    return False


def compare(bin_dir, folder, artifact, which, tolerance):
    """Returns ("right" | "wrong" | "failed" | "refused" | "unknown", one line of text, error)."""
    want_file, why = reference(folder, which)
    if why:
        return "unknown", why, None
    out = os.path.join(folder, f"out{which}")
    shutil.rmtree(out, ignore_errors=True)
    options = [o for name, file in input_files(folder, which).items() for o in ("--input", f"{name}={file}")]
    code, text, _, _ = run([os.path.join(bin_dir, "ingot"), "run", artifact, *options, "--output-dir", out, "--threads", "2"],
                           OTHER_LIMIT)
    if code:
        return ("failed" if code != 1 else "refused"), f"exit code {code}: {last_line(text)}", None
    worst = 0.0
    for key, want in np.load(want_file).items():
        name = key.partition(":")[2]
        got = np.load(os.path.join(out, re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy"))
        if want.dtype.kind == "U":
            # String labels are stored as indices into a list.
            told = subprocess.run([os.path.join(bin_dir, "ingot"), "inspect", artifact, "--metadata", "labels." + name],
                                  capture_output=True, text=True, check=True)
            got = np.array(json.loads(told.stdout))[got].astype(want.dtype)
        why, error = difference(got, want, tolerance)
        if why:
            why = f"output {name}: {why}"
            if hangs_on_rounding(folder, which, tolerance):
                return "unknown", f"{why}, which hangs on rounding: ONNX Runtime disagrees with itself as much", error
            return "wrong", why, error
        worst = max(worst, error)
    shutil.rmtree(out, ignore_errors=True)
    return "right", "", worst


def compile_and_compare(entry, form, bin_dir, folder):
    artifact = os.path.join(folder, form + ".so")
    shapes = []
    if form == "fixed":
        values = np.load(os.path.join(folder, "inputs0.npz"))
        for name in sorted(open_inputs(folder)):
            if name in values:
                shapes += ["--shape", f"{name}={'x'.join(map(str, values[name].shape))}"]
    code, text, cpu, memory = run([os.path.join(bin_dir, "ingot"), "compile", os.path.join(folder, "model.onnx"), "-o",
                                   artifact, "--target=native", "--quiet", *shapes], COMPILE_LIMIT)
    row = {"cpu": round(cpu, 2), "mb": round(memory)}
    if code is None:
        return {**row, "status": "stopped", "message": f"not compiled in {COMPILE_LIMIT} s of CPU"}
    if code:
        lines = [re.sub(r"^.*?model\.onnx: ", "", line) for line in text.splitlines() if "error" in line or "not supported" in line]
        status = "refused" if code == 1 else "failed"
        return {**row, "status": status, "message": "; ".join(lines)[:600] if code == 1 else f"exit code {code}: {last_line(text)}"}
    row["errors"] = []
    for which in (0, 1) if form == "open" else (0,):
        status, message, error = compare(bin_dir, folder, artifact, which, entry.tolerance)
        row["errors"].append(error)
        if status != "right":
            return {**row, "status": status, "message": f"size {which}: {message}"}
    return {**row, "status": "right"}


def attempt(entry, variant, directory, bin_dir):
    folder = os.path.join(directory, f"{entry.name}.{variant}")
    why = make(entry, variant, folder)
    if why:
        return {"export": why}
    row = {"fixed": compile_and_compare(entry, "fixed", bin_dir, folder)}
    if open_inputs(folder):
        row["open"] = compile_and_compare(entry, "open", bin_dir, folder)
    return row


def speed(entry, variant, row, directory, bin_dir, rounds):
    """Measures a model with right results. Takes the fastest turn of each engine in ms, because other load slows single
    turns down."""
    folder = os.path.join(directory, f"{entry.name}.{variant}")
    forms = [form for form in ("fixed", "open") if row.get(form, {}).get("status") == "right"]
    if not forms:
        return None
    files, seconds = input_files(folder, 0), 0.2
    peer = [sys.executable, os.path.join(os.path.dirname(HERE), "measure_peer.py")]
    model = os.path.join(folder, "model.onnx")
    pairs = [f"{name}={file}" for name, file in files.items()]
    commands = {form: [os.path.join(bin_dir, "ingot"), "bench", os.path.join(folder, form + ".so"), "--threads=1",
                       f"--warm-up={seconds / 4}s", f"--duration={seconds}s", "--turns", "--iterations=2",
                       *[f"--input={name}={file}" for name, file in files.items()]] for form in forms}
    commands["onnxruntime"] = [*peer, "onnxruntime", model, "1", str(seconds), *pairs, "--turns"]
    commands["openvino"] = [*peer, "openvino", model, "1", str(seconds), *pairs, "--turns"]
    if "open" in forms:
        commands["openvino-open"] = [*commands["openvino"], "--open"]
    failed = {}
    turns = measure.take_turns(commands, rounds, failed)
    result = {"failed": failed, "ms": {name: min(t["median_ms"] for t in found) for name, found in turns.items()}}
    return result
