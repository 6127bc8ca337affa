"""Fails each allocation of a compilation in turn, in a child process: see trials.c.

usage: trials.py --ingot build/bin/ingot [--step N] [--jobs N] [MODEL ...]

Without models: one of the generated families. Prints how many allocations were tried; exit code 1 if one of them did
not end in one line, or left files. With --step only every N-th is tried.
"""
import argparse
import concurrent.futures
import errno
import os
import re
import subprocess
import sys
import tempfile


def trials(library, command, folder, first=1, step=1, timeout=600):
    """Fails the allocations first, first + step, … of `command`, which writes into `folder`, each in a forked child.
    Returns (problems, number of tries, numbers of allocations whose children continued and need a try alone)."""
    with tempfile.NamedTemporaryFile("r") as results:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout,
                              env={**os.environ, "LD_PRELOAD": library, "FAULT_KIND": "alloc", "FAULT_AT": str(first),
                                   "FAULT_STEP": str(step), "FAULT_ERRNO": str(errno.ENOMEM), "FAULT_FOLDER": folder,
                                   "FAULT_TRIALS": results.name})
        lines = results.read().splitlines()
    if done.returncode or not lines:
        return [f"exit code {done.returncode}: {done.stderr}"], 0, []
    tried, wanted, went_on = map(int, re.fullmatch(r"(\d+) tried, (\d+) as wanted, (\d+) went on", lines[-1]).groups())
    numbers = [int(line.split(": ")[1]) for line in lines if line.startswith("went on: ")]
    problems = [line for line in lines[:-1] if not line.startswith("went on: ")]
    if not problems and (wanted + went_on != tried or len(numbers) != went_on):
        problems = [lines[-1]]
    return problems, tried, numbers


def family(folder):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
    import families
    import onnx
    path = os.path.join(folder, "repvgg.onnx")
    onnx.save(families.ALL["repvgg"]()[0], path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--ingot", default="build/bin/ingot")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    library = os.path.join(os.path.dirname(args.ingot), "../lib/ingot-faults.so")
    library = os.path.abspath(library)
    bad = False
    with tempfile.TemporaryDirectory(prefix="ingot-faults-") as scratch:
        for model in args.models or [family(scratch)]:
            for weights in ("file", "embed"):
                def part(job):
                    folder = tempfile.mkdtemp(dir=scratch)
                    command = [args.ingot, "compile", model, "-o", os.path.join(folder, "m.so"), f"--weights={weights}", "-q"]
                    return trials(library, command, folder, 1 + job * args.step, args.jobs * args.step, timeout=36000)
                with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                    found = list(pool.map(part, range(args.jobs)))
                problems = [problem for some in found for problem in some[0]]
                went_on = sorted(number for some in found for number in some[2])
                print(f"{os.path.basename(model)}, --weights={weights}: {sum(some[1] for some in found)} allocations "
                      f"failed, {len(problems)} problems, {len(went_on)} went on", *map(str, went_on[:20]), flush=True)
                for problem in problems[:20]:
                    print(f"  {problem}")
                bad |= bool(problems)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
