#!/usr/bin/env python3
"""Reads a line of text in a picture with the PP-OCRv6 recogniser, compiled by Ingot, and measures it beside ONNX
Runtime in the same run.

usage: demo.py [--text TEXT | --picture FILE] [--seconds S]

The trained model comes from the PyPI package rapidocr 3.10.0; its dictionary is in the model's metadata.
Everything is written to build/demo.
"""
import argparse
import glob
import os
import subprocess
import sys
import time
import zipfile

import numpy as np

import measure

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
WORK = os.path.join(BUILD, "demo")
WHEEL = "rapidocr==3.10.0"
ROUNDS, FIRST_ROUNDS = 11, 5
MODEL = "rapidocr/models/PP-OCRv6_rec_small.onnx"
TEXT = "Ingot 0.1: models, ahead of time"
SHAPE = "x=1x3x48x320"


def program(name):
    return os.path.join(BUILD, "bin", name)


def fetch_model():
    path = os.path.join(WORK, "ppocr_rec.onnx")
    if not os.path.exists(path):
        print(f"demo: fetching the recogniser ({WHEEL})", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                        "-d", WORK, WHEEL], check=True)
        with zipfile.ZipFile(glob.glob(os.path.join(WORK, "rapidocr-*.whl"))[0]) as wheel:
            data = wheel.read(MODEL)
        with open(path + ".part", "wb") as f:
            f.write(data)
        os.rename(path + ".part", path)
    return path


def draw_line(text):
    """Draws a line of text like a photograph: grey, slightly blurred and noisy."""
    from PIL import Image, ImageDraw, ImageFilter, ImageFont
    font = ImageFont.load_default(size=40)
    left, top, right, bottom = font.getbbox(text)
    picture = Image.new("RGB", (right - left + 32, bottom - top + 28), (226, 222, 212))
    ImageDraw.Draw(picture).text((16 - left, 14 - top), text, font=font, fill=(38, 36, 48))
    picture = picture.filter(ImageFilter.GaussianBlur(0.7))
    noise = np.random.default_rng(0).normal(0, 6, (picture.height, picture.width, 3))
    return Image.fromarray(np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8))


def load_picture(args):
    from PIL import Image
    picture = Image.open(args.picture).convert("RGB") if args.picture else draw_line(args.text)
    picture.save(os.path.join(WORK, "line.png"))
    picture.save(os.path.join(WORK, "line.ppm"))
    return os.path.join(WORK, "line.ppm")


def greedy_decode(scores, dictionary):
    characters = ["", *dictionary.split("\n"), " "]
    best = scores[0].argmax(-1)
    return "".join(characters[c] for c, before in zip(best, [0, *best[:-1]]) if c and c != before)


def file_mb(path):
    return os.path.getsize(os.path.realpath(path)) / 1e6


def needed_libraries(artifact):
    """Returns the shared libraries beside libc that the artifact needs."""
    listing = subprocess.run(["ldd", artifact], capture_output=True, text=True).stdout
    libc = ("libc.so", "libm.so", "libpthread.so", "libdl.so", "ld-linux", "linux-vdso")
    found = [line.split("=>")[1].split()[0] for line in listing.splitlines() if "=> /" in line]
    return [path for path in found if not os.path.basename(path).startswith(libc)]


def shipped(artifact, model):
    """(Ingot's, ONNX Runtime's) files to ship, as {name: MB}."""
    import onnxruntime
    library = glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), "capi", "onnxruntime_pybind11_state*"))[0]
    stripped = os.path.join(WORK, "libingot.so")
    subprocess.run(["llvm-strip-22", "-o", stripped, os.path.join(BUILD, "lib", "libingot.so")], check=True)
    ours = {"model": file_mb(artifact), "libingot": file_mb(stripped)}
    for path in needed_libraries(artifact):
        ours[os.path.basename(path).split(".so")[0]] = file_mb(path)
    return ours, {"model": file_mb(model), "libonnxruntime": file_mb(library)}


def report(case, seconds, sizes):
    engines = ["ingot", "onnxruntime"]
    folder = os.path.join(BUILD, "bin")
    one = measure.latencies(engines, case, 1, seconds / ROUNDS, ROUNDS, folder)
    cpus = len(os.sched_getaffinity(0))
    two = measure.latencies(engines, case, 2, seconds / ROUNDS, ROUNDS, folder) if cpus > 1 else None
    first = measure.first_answers(engines, case, min(cpus, 2), FIRST_ROUNDS, folder)

    def row(text, results, key, unit, minus=None):
        value = [measure.middle(results[e], key) - (measure.middle(results[e], minus) if minus else 0)
                 for e in ("ingot", "onnxruntime")]
        return [text, f"{value[0]:.1f} {unit}", f"{value[1]:.1f} {unit}", f"{value[1] / max(value[0], 1e-9):.2f} x"]

    def latency(text, results):
        cells = row(text, results, "median_ms", "ms")
        return cells[:-1] + [f"{measure.ratio(results, ['onnxruntime'])[0]:.2f} x"]

    rows = [["", "Ingot", "ONNX Runtime", "better by"], latency("latency, 1 thread", one)]
    if two:
        rows.append(latency("latency, 2 threads", two))
    rows.append(row("opening to first answer", first, "first_ms", "ms"))
    rows.append(row("memory, above the bare process", first, "peak_mb", "MB", "base_mb"))
    ours, theirs = (sum(s.values()) for s in sizes)
    rows.append(["to be shipped", f"{ours:.1f} MB", f"{theirs:.1f} MB", f"{theirs / ours:.2f} x"])
    print()
    measure.print_table(rows)
    import onnxruntime
    listed = [", ".join(f"{name} {mb:.1f}" for name, mb in s.items()) for s in sizes]
    print(f"\nIngot ships {listed[0]} MB; ONNX Runtime {listed[1]} MB.")
    print(f"fp32, 1x3x48x320, medians over {ROUNDS} turns each, on {measure.cpu_name()}; "
          f"onnxruntime {onnxruntime.__version__}.")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: scripts/demo.py --text 'Hello, world'")
    parser.add_argument("--text", default=TEXT, help="what to draw and read")
    parser.add_argument("--picture", help="read this picture of a text line instead")
    parser.add_argument("--seconds", type=float, default=1.5, help="time for each latency")
    args = parser.parse_args(arguments)
    if args.picture and not os.path.exists(args.picture):
        parser.error(f"no picture {args.picture}")
    os.makedirs(WORK, exist_ok=True)

    model, artifact = fetch_model(), os.path.join(WORK, "ppocr_rec.so")
    picture = load_picture(args)
    start = time.monotonic()
    compiled = subprocess.run([program("ingot"), "compile", model, "-o", artifact, "--shape", SHAPE],
                              capture_output=True, text=True)
    if compiled.returncode:
        sys.exit(f"demo: {compiled.stderr.strip() or compiled.stdout.strip()}")
    print(f"compiled {os.path.relpath(model, ROOT)} ({file_mb(model):.1f} MB) to {os.path.relpath(artifact, ROOT)} "
          f"in {time.monotonic() - start:.1f} s")

    dumped = os.path.join(WORK, "input.bin")
    read = subprocess.run([program("ingot-ocr"), artifact, picture, "--dump-input", dumped],
                          capture_output=True, text=True)
    if read.returncode:
        sys.exit(f"demo: {read.stderr.strip()}")
    print(f"picture        {os.path.relpath(os.path.join(WORK, 'line.png'), ROOT)}")
    if not args.picture:
        print(f"text drawn     {args.text}")
    print(f"Ingot reads    {read.stdout.rstrip(chr(10))}")

    import onnx
    values = {"x": np.fromfile(dumped, np.float32).reshape(1, 3, 48, 320)}
    case = measure.Case(WORK, "input", model, artifact, values)
    scores = os.path.join(WORK, "scores.npy")
    measure.measure_first("onnxruntime", case, 1, os.path.join(BUILD, "bin"), save=scores)
    dictionary = {p.key: p.value for p in onnx.load(model).metadata_props}["character"]
    peer = greedy_decode(np.load(scores), dictionary)
    print(f"ONNX Runtime   {peer}")
    report(case, args.seconds, shipped(artifact, model))
    return 0 if read.stdout.rstrip("\n") == peer else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (measure.MeasureError, subprocess.CalledProcessError) as error:
        sys.exit(f"demo: {error}")
