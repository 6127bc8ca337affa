"""Makes the model zoo, compiles each model with fixed and with open sizes, and compares it with ONNX Runtime.

usage: python scripts/zoo [NAME ...] [--variants script17,dynamo23,...] [--again] [--speed] [--output FILE]
       python scripts/zoo --rewrite FILE

A NAME is a model, NAME.VARIANT or a family. Each model is made and tried in processes of its own, so that the failure of
one stops nothing; what was found goes to DIR/results.json as soon as it is known, and a second call goes on where the first
one ended. --again tries anew what was tried, --speed measures what is right against the peers, in turns.
--rewrite writes a page anew from its own tables, in the form of today, and measures nothing.
"""
import argparse
import os
import sys

import page
import registry
import trial
from results import Results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def chosen(args, parser):
    """Returns the (entry, variant) pairs that the command line names."""
    variants = args.variants.split(",") if args.variants else registry.USUAL
    every = registry.load_all()
    known = {v for e in every.values() for v in e.variants}
    for variant in set(variants) - known - set(registry.USUAL):
        parser.error(f"no variant {variant}: there are {', '.join(sorted(known))}")
    if not args.names:
        return registry.pairs(variants)
    found = []
    for name in args.names:
        stem, _, variant = name.partition(".")
        entries = [e for e in every.values() if stem in (e.name, e.family)]
        if not entries:
            parser.error(f"no model or family {stem}: there are {', '.join(every)}")
        found += [(e, v) for e in entries for v in e.variants if v == variant or not variant and v in (*variants, "shipped")]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: zoo swin_t.script17 transformers --speed")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models, MODEL.VARIANT or families (default: all)")
    parser.add_argument("--variants", help=f"what exports them (default: {','.join(registry.USUAL)})")
    parser.add_argument("--directory", default=os.path.join(ROOT, "build", "zoo"), help="where models and results go")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--again", action="store_true", help="try anew what was tried, with models as they were written")
    parser.add_argument("--speed", action="store_true", help="measure what is right beside the peers")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each engine (default: 5)")
    parser.add_argument("--output", help="write the table there (Markdown)")
    parser.add_argument("--rewrite", metavar="FILE", help="write this page anew from its own tables; measure nothing")
    args = parser.parse_args()
    if args.rewrite:
        rows, machine, date = page.read(args.rewrite)
        page.write(args.rewrite, rows, registry.load_all(), machine, date)
        return 0
    os.makedirs(args.directory, exist_ok=True)
    results = Results(os.path.join(args.directory, "results.json"))
    wrong = 0
    for entry, variant in chosen(args, parser):
        key = f"{entry.name}.{variant}"
        row = results.rows.get(key)
        if args.again or not row:
            row = trial.attempt(entry, variant, args.directory, args.bin)
            results.put(key, row)
            print(f"{key:40} {page.summary(row)}", flush=True)
        if args.speed and (args.again or "speed" not in row):
            speed = trial.speed(entry, variant, row, args.directory, args.bin, args.rounds)
            if speed:
                results.put(key, {**row, "speed": speed})
                print(f"{key:40} {page.speed_summary(speed)}", flush=True)
        wrong += any(row.get(form, {}).get("status") in ("wrong", "failed", "stopped") for form in ("fixed", "open"))
    if args.output:
        page.write(args.output, results.rows, registry.load_all())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
