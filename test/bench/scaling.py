#!/usr/bin/env python3
"""Time and memory that `ingot compile` takes against the number of nodes, and the exponent of the growth.

usage: scaling.py [FAMILY ...] [--from N] [--to N] [--seconds S] [--instructions] [--phases] [--json FILE] [--list]

Compiles models of each family of scaling_models.py at sizes that double from --from (1000) to --to (64000), until one
takes more than --seconds (600) of CPU time. The exponent is the slope of a line through the logarithms of nodes and of
CPU time less that of an empty model: 1 is linear. CPU time depends on other load only through the caches.
`--instructions` counts millions of instructions under Valgrind instead, which is slow but independent of load.
`--phases` prints the share of each phase at the largest size, as --timing does. The exit code is 1 if an exponent is
above 1.1 or a compilation fails.
"""
import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

import scaling_models

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST = 1.1


def compile_once(ingot, family, n, seconds, folder, counts=False):
    """Returns (CPU seconds or millions of instructions, MiB, {phase: share}), or an error text."""
    source, errors = os.path.join(folder, "model.onnx"), os.path.join(folder, "errors")
    scaling_models.write(family, n, source)

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    command = [ingot, "compile", source, "-o", os.path.join(folder, "model.so"), "-q", "--timing"]
    if counts:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    with open(errors, "w") as log:
        process = subprocess.Popen(command, stderr=log, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(errors) as log:
        text = log.read()
    if process.returncode:
        over = process.returncode in (-9, -24)
        return f"more than {seconds} s" if over else (text.strip().splitlines() or ["no message"])[0]
    shares = {name: float(share) for share, name in re.findall(r"^ {1,4}[\d.]+ \( *([\d.]+)%\)  (\S.*)$", text, re.M)}
    if counts:
        return int(re.search(r"^==\d+== Collected : (\d+)", text, re.M)[1]) / 1e6, usage.ru_maxrss / 1024, shares
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, shares


def exponent(points, empty):
    """Returns the slope of log(time) over log(nodes), by least squares."""
    logs = [(math.log(n), math.log(max(time - empty, 1e-3))) for n, time in points]
    x, y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    parser.add_argument("--ingot", default=os.path.join(ROOT, "build", "bin", "ingot"))
    parser.add_argument("--from", dest="first", type=int, default=1000)
    parser.add_argument("--to", dest="last", type=int, default=64000)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        for name, function in scaling_models.FAMILIES.items():
            print(f"{name:16} {function.__doc__}")
        return 0
    unknown = [name for name in args.families if name not in scaling_models.FAMILIES]
    if unknown:
        parser.error(f"no family {unknown[0]}: see --list")
    found, good = {}, True
    with tempfile.TemporaryDirectory(prefix="ingot-scaling-") as folder:
        unit = "million instructions" if args.instructions else "s"
        # The first compilation reads the compiler from disk.
        empty = min(compile_once(args.ingot, "neg", 1, args.seconds, folder, args.instructions)[0] for _ in range(3))
        for family in args.families or scaling_models.FAMILIES:
            points, n = [], args.first
            row = found[family] = {"points": points}
            while n <= args.last:
                result = compile_once(args.ingot, family, n, args.seconds, folder, args.instructions)
                if isinstance(result, str):
                    row["error"] = f"{n} nodes: {result}"
                    good = False
                    break
                seconds, megabytes, shares = result
                points.append((n, seconds))
                row["megabytes"] = megabytes
                print(f"{family:16} {n:7} nodes {seconds:10.2f} {unit} {megabytes:7.0f} MiB", flush=True)
                n *= 2
            if len(points) > 1:
                row["exponent"] = exponent(points, empty)
                good &= row["exponent"] <= MOST
                print(f"{family:16} exponent {row['exponent']:.2f}", flush=True)
            if "error" in row:
                print(f"{family:16} {row['error']}", flush=True)
            elif args.phases:
                for name, share in sorted(shares.items(), key=lambda item: -item[1])[:12]:
                    print(f"    {share:5.1f} %  {name}")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(found, f, indent=1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
