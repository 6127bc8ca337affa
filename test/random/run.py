#!/usr/bin/env python3
"""Compiles and runs random graphs between guard pages, and holds them against ONNX Runtime and ONNX's reference.

usage: run.py [SEED ...] [--count N] [--first SEED] [--jobs N] [--bin DIR] [--target LEVEL] [--fitting] [--keep DIR]
              [--json FILE]

A number identifies a graph: 5 to 50 nodes of all families, of all element types. Graphs with odd numbers have dynamic
dimensions. They run at three sets of sizes, including 0 and 1, and at one set of contradicting sizes. Each run is on
one thread and on two, twice. Results are compared with ONNX Runtime's. If it has none, or different ones, they are
compared with those of ONNX's reference implementation. A graph that fails is reduced to the nodes that matter, and
printed.

examples: run.py                     the first 500
          run.py --count 10000
          run.py 17 18 -v            these two again
"""
import argparse
import collections
import json
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "test", "sweeps")]
import drawing  # noqa: E402
import engine  # noqa: E402
import shrink  # noqa: E402
import trial  # noqa: E402
from graph import SETS  # noqa: E402

# Kinds of results of a model or a run; failures come last.
PASSED = ("equal", "refused", "not compared", "unsupported")
FAILED = ("wrong", "refused though valid", "fault", "hang", "compile-error", "crash", "timeout", "broken")


class Trial:
    """Tries one graph after another; see engine.crew."""

    def __init__(self, args, folder):
        self.ingot, self.args = engine.Ingot(args.bin, folder, args.target), args

    def close(self):
        self.ingot.close()

    def __call__(self, seed):
        try:
            return self.attempt(seed)
        except Exception:  # an error of the tests themselves is a failure, too
            return {"nodes": 0, "open": False, "results": [("broken", "", traceback.format_exc()[-600:])]}

    def attempt(self, seed):
        g = drawing.draw(seed)
        model = g.model()
        sets = [g.arrays(number) for number in range(SETS + (not self.args.fitting) if g.is_open else 1)]
        case = trial.Case(model, sets, {v.name: trial.tolerance(v) for v in g.outputs}, SETS, g.one_name)
        results = trial.attempt(self.ingot, case)
        answer = {"nodes": len(model.graph.node), "open": g.is_open, "results": results,
                  "operators": sorted({n.op_type for n in model.graph.node})}
        bad = next((r for r in results if r[0] in FAILED), None)
        if bad:
            case.tolerances = {v.name: trial.tolerance(v) for v in g.values}
            small, result = shrink.shrink(self.ingot, case, bad)
            answer["text"] = shrink.text(small, result)
            if self.args.keep:
                shrink.keep(os.path.join(self.args.keep, str(seed)), small, result)
        return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: run.py 17 18 --verbose")
    parser.add_argument("seeds", nargs="*", type=int, help="graphs to try (default: --count of them)")
    parser.add_argument("--count", type=int, default=500, help="how many (default: 500)")
    parser.add_argument("--first", type=int, default=0, help="the first one's number (default: 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="graphs at a time")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--target", default="native", help="CPU level, as for `ingot compile`")
    parser.add_argument("--fitting", action="store_true", help="leave out sizes that contradict each other")
    parser.add_argument("--keep", help="write what remains of graphs that fail there")
    parser.add_argument("--json", help="write one entry a graph there")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each graph")
    args = parser.parse_args()

    start = time.monotonic()
    seeds = args.seeds or range(args.first, args.first + args.count)
    count, graphs, tests, operators = collections.Counter(), collections.Counter(), [], collections.Counter()
    for seed, answer in engine.crew(args.jobs, lambda folder: Trial(args, folder), seeds, seconds=2000):
        if isinstance(answer, engine.Run):  # ONNX Runtime crashes on some graphs
            count["peer died"] += 1
            graphs["peer died"] += 1
            tests.append({"name": f"random/{seed}", "status": "skipped", "detail": answer.detail})
            continue
        operators.update(answer.get("operators", ()))
        count.update(kind for kind, *_ in answer["results"])
        bad = [f"{kind} ({where}): {detail}" for kind, where, detail in answer["results"] if kind in FAILED]
        refused = any(kind == "unsupported" for kind, *_ in answer["results"])
        graphs["failed" if bad else "unsupported" if refused else "open" if answer["open"] else "fixed"] += 1
        tests.append({"name": f"random/{seed}", "status": "failed" if bad else "skipped" if refused else "passed",
                      "detail": "\n".join([*bad, answer.get("text", "")]) if bad else ""})
        if bad:
            print(f"FAILED {seed} ({answer['nodes']} nodes): {bad[0][:400]}\n{answer.get('text', '')}\n", flush=True)
        elif args.verbose:
            print(f"{seed} ({answer['nodes']} nodes{', open' if answer['open'] else ''}): " + "; ".join(
                f"{kind} {detail[:200]}" for kind, _, detail in answer["results"]), flush=True)
        engine.say(f"{len(tests)}/{len(seeds)}")
    engine.say("")
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": tests}, f)
    if args.verbose:
        print("operators:", ", ".join(f"{op} {n}" for op, n in operators.most_common()))
    print(f"{len(tests)} graphs: {', '.join(f'{k} {n}' for k, n in sorted(graphs.items()))}")
    print(f"{sum(count.values())} runs: {', '.join(f'{k} {n}' for k, n in sorted(count.items()))}   "
          f"({time.monotonic() - start:.0f} s)")
    status = collections.Counter(t["status"] for t in tests)
    print(f"{status['passed']} passed, {status['failed']} failed, {status['skipped']} skipped")
    return 1 if status["failed"] or not status["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
