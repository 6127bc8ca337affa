# Each pass runs in a phase of its folder, as the table of docs/architecture.md says.
# RUN: %python %s %ingot_src
"""Asks ingot-opt for the passes of each phase, with options that add passes, and compares with the table."""
import os
import re
import subprocess
import sys

SOURCE = sys.argv[1]
OPTIONS = {
    "nn": ["levels=x86-64-v3"],
    "graph": [""],
    "quantize": ["", "calibration=f", "calibration=f precision=fp16", "repairs=f precision-flags=true",
                 "observe=true observe-channels=true observe-grams=true", "quantization=int8-dynamic", "quantization=w4"],
    "linalg": ["", "kernels=onednn", "kernels=cuda", "kernels=mixed", "precision=bf16 precision-level=3", "precision=fp16",
               "quantization=int8-dynamic"],
    "kernels": ["", "level=x86-64-v4", "kernels=cuda"],
    "llvm": ["", "kernels=onednn", "kernels=cuda", "emulate-on=x86-64-v2"],
    "memory": ["", "kernels=onednn"],
}
PHASES = ("nn", "graph", "quantize", "layout", "linalg", "memory", "kernels", "llvm")


def read_table():
    """The phases of folders, and of single passes that run elsewhere as well."""
    folders, passes = {}, {}
    with open(os.path.join(SOURCE, "docs/architecture.md"), encoding="utf-8") as f:
        rows = f.read().split("| folder of `passes` |")[1].split("\n\n")[0].splitlines()[2:]
    for row in rows:
        names, phases = row.strip("| ").split(" | ")
        usual, *others = phases.split("; ")
        for folder in re.findall("`(.+?)`", names):
            folders[folder] = set(re.findall("`(.+?)`", usual))
        for also in others:
            name, *more = re.findall("`(.+?)`", also)
            passes[name] = set(more)
    return folders, passes


def folders_of_passes():
    found = {}
    root = os.path.join(SOURCE, "passes")
    for folder, _, names in os.walk(root):
        if "Passes.td" in names:
            with open(os.path.join(folder, "Passes.td"), encoding="utf-8") as f:
                for flag in re.findall(r'^def \w+\s*:\s*\w+\s*<"([^"]+)"', f.read(), re.M):
                    found[flag] = os.path.relpath(folder, root)
    return found


def passes_of(phase, options):
    command = ["ingot-opt", "-", f"--ingot-{phase}={options}", "--dump-pass-pipeline", "-o", os.devnull]
    done = subprocess.run(command, input="module {}", capture_output=True, text=True)
    assert "Pass Manager" in done.stderr, (command, done.stderr)
    return set(re.findall(r"[a-z][a-z0-9-]+", done.stderr))


allowed, exceptions = read_table()
where = folders_of_passes()
unseen = {(folder, phase) for folder, phases in allowed.items() for phase in phases}
assert set(where.values()) == set(allowed), set(where.values()) ^ set(allowed)
for phase in PHASES:
    assert phase in {p for phases in allowed.values() for p in phases}, phase
    for options in OPTIONS.get(phase, [""]):
        for flag in passes_of(phase, options) & set(where):
            unseen.discard((where[flag], phase))
            ok = phase in allowed[where[flag]] | exceptions.get(flag, set())
            assert ok, f"{flag} of passes/{where[flag]} runs in phase {phase}"
assert not unseen, f"no pass of the folder runs in the phase: {sorted(unseen)}"
