"""Measures the accuracy of compiled models with trained weights on held-out labels, in each precision.

usage: python scripts/accuracy [MODEL ...] [--seeds N] [--first SEED] [--extras] [--again] [--bin BIN] [--results DIR]
                               [--output FILE]

MODEL is a name in scripts/accuracy/models, by default all. Results are kept as DIR/MODEL.SEED.json. A model and a seed
with results are not measured again.
"""
import argparse
import json
import os
import sys
import tempfile

# Trainings are small, and threads that wait for each other slow them down on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import page  # noqa: E402
import tasks  # noqa: E402
import trial  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(tasks.HERE))


def measure(name, seed, args):
    """Returns the results of a model with a seed, from the file if there is one."""
    path = os.path.join(args.results, f"{name}.{seed}.json")
    if os.path.exists(path) and not args.again:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    with tempfile.TemporaryDirectory(prefix="ingot-accuracy-") as folder:
        found = trial.Trial(name, seed, args.bin, folder).measure(
            trial.EXTRAS if args.extras and seed == args.first else ())
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
    os.replace(path + ".part", path)
    print_result(found)
    return found


def print_result(found):
    rows = found["rows"]
    cells = [f"{precision} {row['held']:.2f}" if "held" in row else f"{precision} refused" for precision, row in
             rows.items()]
    print(f"{found['task']} {found['seed']}: {', '.join(cells)}; {found['seconds']:.0f} s", flush=True)


def main():
    if sys.argv[1:2] == ["--judge"]:
        return trial.judge(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", choices=[[], *tasks.names()], metavar="MODEL", help="default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--extras", action="store_true", help=f"also {', '.join(trial.EXTRAS)} with the first seed")
    parser.add_argument("--again", action="store_true", help="measure what has results, too")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--results", default=os.path.join(ROOT, "build", "accuracy"))
    parser.add_argument("--output", help="write the page with all results there")
    parser.add_argument("--page", action="store_true", help="measure nothing, and write the page of what is there")
    args = parser.parse_args()
    os.makedirs(args.results, exist_ok=True)
    names, seeds = args.models or tasks.names(), range(args.first, args.first + args.seeds)
    if not args.page:
        for seed in seeds:
            for name in names:
                measure(name, seed, args)
    if args.output:
        by_task = {}
        for name in tasks.names():
            paths = [os.path.join(args.results, f"{name}.{seed}.json") for seed in seeds]
            found = [json.load(open(path, encoding="utf-8")) for path in paths if os.path.exists(path)]
            if found:
                by_task[name] = found
        with open(args.output + ".part", "w", encoding="utf-8") as file:
            file.write(page.write(by_task))
        os.replace(args.output + ".part", args.output)
    return None


if __name__ == "__main__":
    sys.exit(main())
