#!/usr/bin/env python3
"""Counts the instructions of kernels under Valgrind and holds them against callgrind.txt.

usage: callgrind.py [WORD ...] [--fast] [--update] [--json RESULT]

Instruction counts do not depend on the machine's load, so small models and short runs show a slower kernel. The models
of kernels.py are compiled for x86-64-v3, the highest level that Valgrind runs everywhere. Each model is run once on one
thread. A count more than 3 % above or below its baseline fails; `--update` accepts the present counts. The counts
depend on LLVM's version, which the baseline names. With another version all kernels are skipped. The last line is `N
passed, N failed, N skipped`; exit code 0 if nothing failed, else 1.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import cases
import kernels

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BASELINE = os.path.join(HERE, "callgrind.txt")
TARGET = "x86-64-v3"
TOLERANCE = 3  # percent
# For long copies glibc uses `rep movsb`, for which Valgrind counts an instruction per byte. The tunables prevent this.
TUNABLES = "glibc.cpu.x86_rep_movsb_threshold=0x40000000:glibc.cpu.x86_rep_stosb_threshold=0x40000000"


def count(program, listing):
    """Returns {kernel: instructions}."""
    with tempfile.TemporaryDirectory(prefix="ingot-callgrind-") as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--error-exitcode=9",
                               f"--callgrind-out-file={folder}/out", program, listing], capture_output=True, text=True,
                              env={**os.environ, "GLIBC_TUNABLES": TUNABLES})
        if done.returncode:
            raise cases.BenchError((done.stderr.strip() or "valgrind failed").splitlines()[-1])
        counts = {}
        for path in glob.glob(f"{folder}/out*"):
            with open(path) as f:
                text = f.read()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
            if name and total:
                counts[name.group(1)] = int(total.group(1))
        return counts


def read_baseline():
    """Returns (LLVM's version, {kernel: instructions})."""
    if not os.path.exists(BASELINE):
        return "", {}
    with open(BASELINE) as f:
        lines = [line.rstrip("\n") for line in f if not line.startswith("#")]
    return lines[0], {name: int(number) for number, name in (line.split(None, 1) for line in lines[1:])}


def write_baseline(version, counts):
    with open(BASELINE, "w") as f:
        f.write(f"# Instructions of one run of each kernel, by callgrind, compiled for {TARGET} with:\n{version}\n")
        f.write("".join(f"{number:>9} {name}\n" for name, number in counts.items()))


def compare(got, want):
    """Returns (status, message)."""
    if want is None:
        return "failed", f"{got} instructions, and callgrind.txt has none; accept them with --update"
    change = 100 * (got - want) / want
    text = f"{got} instructions, {change:+.1f} % from {want}"
    if abs(change) <= TOLERANCE:
        return "passed", text
    return "failed", text + ("" if change > 0 else ": fewer; accept them with --update")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: callgrind.py softmax")
    parser.add_argument("only", nargs="*", metavar="WORD", help="kernels whose names contain a WORD (default: all)")
    parser.add_argument("--fast", action="store_true", help="only one of each family of micro-kernels")
    parser.add_argument("--update", action="store_true", help="write the counts into callgrind.txt")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models compiled at a time")
    parser.add_argument("--json", help="write the outcome of each kernel here")
    args = parser.parse_args()

    known = list(kernels.counted())
    try:
        chosen = cases.choose(known[:kernels.FAST] if args.fast else known, args.only)
        try:
            program = cases.program(args.bin, "ingot-kernel-count", "valgrind")
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
            skipped = ""
        except cases.BenchError as error:
            if not args.json:
                raise
            version, skipped = "", str(error)  # Valgrind is optional, because other suites do not need it
        wanted_version, baseline = read_baseline()
        if not skipped and not args.update and version != wanted_version:
            skipped = f"counted with {version}, but the baseline with {wanted_version}"
        if skipped:
            results = [(kernel.name, "skipped", skipped) for kernel in chosen]
        else:
            with tempfile.TemporaryDirectory(prefix="ingot-callgrind-") as folder:
                counts = count(program, cases.compile_all(args.bin, chosen, folder, TARGET, args.jobs))
            if args.update:
                merged = {**(baseline if version == wanted_version else {}), **counts}
                write_baseline(version, {k.name: merged[k.name] for k in known if k.name in merged})
                baseline = merged
            results = [(k.name, *(compare(counts[k.name], baseline.get(k.name)) if k.name in counts else
                                  ("failed", "was not counted"))) for k in chosen]
    except (cases.BenchError, OSError) as error:
        print(f"callgrind.py: error: {error}", file=sys.stderr)
        return 1
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": [{"name": n, "status": s, "detail": d} for n, s, d in results]}, f)
    for name, status, detail in results:
        print(f"{status:7} {name}: {detail}")
    total = {status: sum(r[1] == status for r in results) for status in ("passed", "failed", "skipped")}
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
