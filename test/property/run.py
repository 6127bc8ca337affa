#!/usr/bin/env python3
"""Tests native kernels with random (transposed) convolutions, matrix products, resizing, recurrent nets and
attentions, and the placement of transposes with graphs of ops that move dimensions, compared with ONNX Runtime.

usage: run.py [--cases N] [--seed S] [--targets LEVEL[,LEVEL...]] [--draw-schedules] [KIND[:NUMBER] ...]

Every case is compiled for every level and run on one and two threads, between guard pages; all runs must give equal
bytes. KIND is conv, window, filter (3x3 taps), signs, deconv, matmul, resize, recurrent, sequence, attention, block,
layout or shape (any operator). NUMBER is one case of the kind. With --draw-schedules kernels are tiled and split at
random, differently in each batch of cases. The last line is `N passed, N failed, 0 skipped`.
"""
import argparse
import concurrent.futures
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import cases as drawing  # noqa: E402
import harness  # noqa: E402

BATCH = 16  # cases per model


def chosen(args):
    """Returns (kind, number) of each case."""
    for kind in drawing.KINDS:
        wanted = [w.partition(":") for w in args.only if w.partition(":")[0] == kind]
        numbers = {int(n) for _, _, n in wanted if n}
        if not args.only or any(not n for _, _, n in wanted):
            numbers |= set(range(args.cases))
        yield from ((kind, n) for n in sorted(numbers))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: run.py conv:17 --cases 100")
    parser.add_argument("only", nargs="*", metavar="KIND[:NUMBER]", help="what to run (default: all kinds)")
    parser.add_argument("--cases", type=int, default=1000, help="cases of each kind (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="draws other cases (default: 0)")
    parser.add_argument("--targets", default="x86-64-v2,x86-64-v3,native", help="CPU levels, comma-separated")
    parser.add_argument("--draw-schedules", action="store_true", help="tile and split kernels at random")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models at a time")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the cases")
    args = parser.parse_args()
    for word in args.only:
        kind, colon, number = word.partition(":")
        if kind not in drawing.KINDS or (colon and not number.isdigit()):
            parser.error(f"no such case: {word}")

    start = time.monotonic()
    numbers = list(chosen(args))
    batches = [numbers[i:i + BATCH] for i in range(0, len(numbers), BATCH)]
    failed, done = 0, 0

    def one(work):
        target, batch = work
        options = [f"--schedule-seed={1 + batch[0][1]}"] if args.draw_schedules else []
        drawn = [drawing.draw(kind, number, args.seed) for kind, number in batch]
        return " ".join([target, *options]), drawn, harness.check(args.bin, drawn, target, options)

    works = [(target, batch) for batch in batches for target in args.targets.split(",")]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for target, drawn, wrong in pool.map(one, works):
            if args.verbose:
                print("\n".join(f"{case.name} {case.text}" for case in drawn))
            for case, what in wrong:
                print(f"FAILED {case.name} {target}: {what}\n  {case.text}", flush=True)
            failed += len({case.name for case, _ in wrong})
            done += len(drawn)
            if sys.stderr.isatty():
                print(f"\r\033[K{done}/{len(numbers) * len(args.targets.split(','))}", end="", file=sys.stderr,
                      flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(f"{done - failed} passed, {failed} failed, 0 skipped   ({time.monotonic() - start:.0f} s)")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
