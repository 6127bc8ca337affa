"""The page with the results of all tasks and seeds."""
import collections
import re

import numpy as np

import tasks
import trial

# The most that `auto` may be slower than the fastest model within the budget, which is the noise of measuring twice.
SPEED_NOISE = 1.05

HEAD = """# Accuracy of trained models

<!-- Written by `make accuracy`; do not edit. -->

Models that others have trained, from packages, and models that the measurement trains itself, anew for each seed.
A seed also chooses the samples for calibration, for `--eval` and for the score. All scores are of labels that neither
calibration nor `auto` has seen.

- **int8**: `ingot calibrate` without options, then `--precision=int8`. Bound: at most {bound} points below fp32.
- **auto**: `--precision=auto --eval --max-drop={bound}%` with the same calibration. Bounds: at most {bound} points
  below fp32 on held-out labels, and not slower than the fastest of fp32, int8 and int8-dynamic that keeps the budget on
  `--eval`.
- **±**: the standard error of the mean drop that follows from the number of labels. A drop above the bound by less
  than two standard errors is *within noise*: so few labels cannot tell.

"""


def mean(values):
    return float(np.mean(values)) if values else float("nan")


def drops(results, precision):
    """Returns [(drop, its standard error)] of all seeds in which the precision has a score."""
    return [(r["rows"]["fp32"]["held"] - row["held"], row["noise"]) for r in results
            if "held" in (row := r["rows"].get(precision, {}))]


def summary(pairs):
    """Returns (mean drop, worst drop, standard error of the mean). Seeds share labels, so their errors may agree."""
    values = [drop for drop, _ in pairs]
    spread = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0
    return mean(values), max(values), max(mean([noise for _, noise in pairs]) / len(values) ** 0.5, float(spread))


def verdict(pairs):
    if not pairs:
        return "refused"
    average, _, error = summary(pairs)
    beyond = [drop for drop, noise in pairs if drop > trial.MAX_DROP + 2 * noise]
    if average <= trial.MAX_DROP and not beyond:
        return "yes"
    if average - 2 * error <= trial.MAX_DROP and not beyond:
        return "within noise"
    return "**no**"


def taken(results):
    """Returns the names of the models that `auto` took, with the number of seeds."""
    names = collections.Counter()
    for result in results:
        names[result["rows"].get("auto", {}).get("search", {}).get("chosen", "refused")] += 1
    return ", ".join(f"{count} × {name}" for name, count in names.most_common())


def speed(results):
    """Returns, for each seed, the time of `auto` over that of the fastest model that keeps the budget."""
    ratios = []
    for result in results:
        rows = result["rows"]
        if "ms" not in rows.get("auto", {}):
            continue
        within = {one["name"] for one in rows["auto"]["search"]["candidates"] if one["within_budget"]}
        best = min(rows[name]["ms"] for name in within & {"fp32", "int8", "int8-dynamic"} if "ms" in rows.get(name, {}))
        ratios.append(rows["auto"]["ms"] / best)
    return ratios


def drop_cells(pairs):
    if not pairs:
        return ["", "", ""]
    average, worst, error = summary(pairs)
    return [f"{average:+.2f} ± {error:.2f}", f"{worst:+.2f}", verdict(pairs)]


def overview(name, results):
    int8, auto, ratios = drops(results, "int8"), drops(results, "auto"), speed(results)
    ratio = float(np.median(ratios)) if ratios else float("nan")
    quick = "" if not ratios else f"{ratio:.2f}" if ratio <= SPEED_NOISE else f"**{ratio:.2f}**"
    inside = sum(drop <= trial.MAX_DROP for drop, _ in auto)
    wide = mean([r["rows"]["fp32"]["held"] for r in results])
    return [name, str(len(results)), str(results[0]["held"]), f"{wide:.2f}", *drop_cells(int8), *drop_cells(auto),
            f"{inside} of {len(auto)}", taken(results), quick]


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def precisions(name, results):
    """Returns the rows of one task for all precisions."""
    rows = []
    wide = mean([r["rows"]["fp32"].get("ms", float("nan")) for r in results])
    for precision in ("fp32", "bf16", "int8", "int8 unrepaired", "int8-dynamic", "w4", "auto"):
        with_row = [r["rows"][precision] for r in results if "held" in r["rows"].get(precision, {})]
        if not with_row:
            continue
        pairs = drops(results, precision)
        times = [row["ms"] for row in with_row if "ms" in row]
        rows.append([name, precision, f"{mean([row['held'] for row in with_row]):.2f}",
                     f"{mean([drop for drop, _ in pairs]):+.2f}",
                     f"{mean([row['bytes'] for row in with_row]) / 1e6:.2f}",
                     f"{mean(times) / wide:.2f}" if times else ""])
    return rows


def notes(results):
    """Returns what Ingot said where it refused a precision, or warned of its error."""
    lines = []
    for result in results:
        warned = re.search(r"the error is above.*", result["rows"]["int8"].get("calibrate", ""))
        if warned:
            lines.append(f"- `{result['task']}`, seed {result['seed']}, calibrate: {warned.group()}\n")
        for precision, row in result["rows"].items():
            if "refused" in row:
                lines.append(f"- `{result['task']}`, seed {result['seed']}, {precision}: {row['refused']}\n")
    return lines


def write(by_task):
    seconds = sum(r["seconds"] for results in by_task.values() for r in results)
    cpus = sorted({r.get("cpu", "an unnamed CPU") for results in by_task.values() for r in results})
    text = HEAD.format(bound=trial.MAX_DROP)
    text += "".join(f"- `{name}`: {tasks.load(name).about}\n" for name in by_task)
    text += "\n## Bounds\n\n" + table(
        ["model", "seeds", "labels", "fp32, %", "int8 drop", "worst", "holds", "auto drop", "worst", "holds",
         "seeds in budget", "taken", "auto / fastest, time"], [overview(*item) for item in by_task.items()])
    text += "\n## Precisions\n\n"
    text += "Means of the seeds. bf16, int8 without repairs and w4 are measured with the first seed only.\n\n"
    text += table(["model", "precision", "score, %", "drop", "artifact, MB", "time / fp32"],
                  [row for item in by_task.items() for row in precisions(*item)])
    missing = [name for name in tasks.names() if name not in by_task]
    if missing:
        text += f"\nNot measured yet: {', '.join(f'`{name}`' for name in missing)}.\n"
    refused = [line for results in by_task.values() for line in notes(results)]
    if refused:
        text += "\n## Refused and warned\n\n" + "".join(refused)
    return text + f"\nAll of it took {seconds / 60:.0f} minutes on {' and '.join(cpus)}.\n"
