#!/usr/bin/env python3
"""Writes docs/measured/cuda.md from the results of the bundle for GPUs.

usage: report.py --output FILE [--results DIR]

Each table has all its rows: a row without a result says "not measured". Results of the emulated GPU are refused,
because it knows no time.
"""
import argparse
import collections
import json
import os
import sys

import networks

NOT_MEASURED = "not measured"
CHECKED = {"kernels": "random shapes of kernels", "nodes": "ONNX's node tests", "families": "small models",
           "models": "ResNet-50 and BERT-Base, against the CPU"}
RIGHT, WRONG = ("equal", "close"), ("differs", "failed", "crashed", "hung")
CEILINGS = ("copy within GPU memory, read and written", "copy from pinned host memory to the GPU",
            "copy from the GPU to pinned host memory", "launches behind each other, each",
            "launch of an empty kernel, until it is done")
PRECISIONS = ("fp32", "fp16")
INTRODUCTION = """# Code for GPUs on a GPU

Written by `make gpu-check` and `make gpu-bench` from the results of the [bundle](../testing.md#on-real-gpus).
"Not measured" rows were not reached, or no GPU has run the bundle yet.
"""


def read(folder, part):
    """Returns a part's document, or one without rows."""
    path = os.path.join(folder, part + ".json") if folder else ""
    if not os.path.exists(path):
        return {"status": NOT_MEASURED, "rows": []}
    with open(path) as f:
        return json.load(f)


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def number(value, digits=3):
    return NOT_MEASURED if value is None else f"{value:.{digits}g}"


def device_text(folder):
    path = os.path.join(folder, "device.json") if folder else ""
    if not os.path.exists(path):
        return "GPU: not measured.\n"
    with open(path) as f:
        device = json.load(f)
    if device["emulated"]:
        raise ValueError(f"{folder} has results of the emulated GPU, which knows no time")
    return (f"GPU: {device['name']}, {device['level']}, {device['multiprocessors']} multiprocessors, "
            f"{device['memory_bytes'] / 2**30:.0f} GiB, driver for CUDA {device['driver_for_cuda']}.\n")


def checked(folder):
    rows = []
    for part, text in CHECKED.items():
        count = collections.Counter(row["status"] for row in read(folder, part)["rows"])
        wrong = sum(count[s] for s in WRONG)
        rows.append([text, count["equal"], count["close"], wrong, count[NOT_MEASURED]] if count else
                    [text, *[NOT_MEASURED] * 4])
    sanitizer = {row["name"]: row["status"] for row in read(folder, "sanitizer")["rows"]}
    tools = [[f"`compute-sanitizer --tool {t}`", sanitizer.get(t, NOT_MEASURED)]
             for t in ("memcheck", "racecheck", "synccheck", "initcheck")]
    return (table(["cases", "equal bits", "within the tolerance", "wrong", NOT_MEASURED], rows) + "\n" +
            table(["tool", "result"], tools))


def failures(folder):
    lines = [f"- {part}, {row['name']}: {row['status']}{': ' if 'message' in row else ''}{row.get('message', '')}"
             for part in ("images", *CHECKED, "sanitizer", "ceilings", "profiles", "sweep")
             for row in read(folder, part)["rows"] if row["status"] in WRONG]
    return "\n## Failures\n\n" + "\n".join(lines) + "\n" if lines else ""


def images(folder):
    rows = [[row["name"], row["status"], number(row.get("load_ms")), row.get("most_registers", ""),
             row.get("most_local_bytes", "")] for row in read(folder, "images")["rows"]]
    return table(["image", "result", "load, ms", "most registers", "bytes of local memory"],
                 rows or [["PTX", NOT_MEASURED, "", "", ""], ["cubin", NOT_MEASURED, "", "", ""]])


def ceilings(folder):
    found = {row["name"]: row for row in read(folder, "ceilings")["rows"]}
    # Rows that older runners do not measure come last.
    rows = [[name, number(found.get(name, {}).get("value")), found.get(name, {}).get("unit", "")]
            for name in dict.fromkeys([*CEILINGS, *found])]
    return table(["ceiling", "value", "unit"], rows)


def models(folder):
    own = {(row["name"]): row for row in read(folder, "models")["rows"]}
    turns = {(row["name"], row["precision"]): row for row in read(folder, "turns")["rows"]}
    rows = []
    for model in networks.ALL:
        for batch in networks.BATCHES:
            name = f"{model} batch {batch}"
            cells = [model, batch, number(own.get(name, {}).get("median_ms"))]
            for precision in PRECISIONS:
                turn = turns.get((name, precision), {})
                cells.append(number(turn.get("pytorch_ms")))
            ours, peer = (turns.get((name, "fp32"), {}).get(k) for k in ("ingot_ms", "pytorch_ms"))
            cells.append(number(peer / ours) if ours and peer else NOT_MEASURED)
            rows.append(cells)
    return table(["model", "batch", "Ingot fp32, ms", *[f"PyTorch {p}, ms" for p in PRECISIONS],
                  "speed against PyTorch fp32, in turns"], rows)


def sweep(folder):
    rows = [[row["group"], row["name"].removeprefix(row["group"]).strip(), row["status"], number(row.get("median_ms"))]
            for row in read(folder, "sweep")["rows"]]
    return table(["problem", "schedule", "result", "median, ms"], rows or [["", "", NOT_MEASURED, ""]])


def page(folder):
    parts = [("Results", checked), ("Images", images), ("Ceilings", ceilings), ("Models", models),
             ("Schedules", sweep)]
    text = INTRODUCTION + "\n" + device_text(folder)
    for title, make in parts:
        text += f"\n## {title}\n\n{make(folder)}"
    text += ("\nLatencies are medians of single runs with inputs and outputs in GPU memory. PyTorch's models are "
             "compiled and replay CUDA graphs.\n")
    return text + failures(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", required=True, help="page to write")
    parser.add_argument("--results", default="", help="folder that run.sh wrote")
    args = parser.parse_args()
    try:
        text = page(args.results)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"report.py: error: {error}")
    with open(args.output, "w") as f:
        f.write(text)


if __name__ == "__main__":
    main()
