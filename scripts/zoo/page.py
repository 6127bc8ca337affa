"""Writes the page of the zoo, docs/measured/zoo.md, and reads the results from it."""
import datetime
import os
import re
import statistics
import sys

import registry

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import measure  # noqa: E402

FORMS = ("fixed", "open")


def summary(row):
    if "export" in row:
        return "not exported: " + row["export"]
    parts = []
    for form in FORMS:
        if form in row:
            found = row[form]
            parts.append(f"{form} {found['status']} {found['cpu']:.1f}s" + (f" ({found['message']})" if "message" in found else ""))
    return ", ".join(parts)


def ratio(row, form):
    """Returns the faster peer's time divided by Ingot's; None if either was not measured."""
    if "ratio" in row:
        return row["ratio"].get(form)
    ms = row.get("speed", {}).get("ms", {})
    peers = [ms[p] for p in ("onnxruntime", "openvino" if form == "fixed" else "openvino-open") if p in ms]
    return min(peers) / ms[form] if peers and form in ms else None


def open_to_fixed(row):
    if "ratio" in row:
        return row["ratio"].get("open to fixed")
    ms = row.get("speed", {}).get("ms", {})
    return ms["open"] / ms["fixed"] if "open" in ms and "fixed" in ms else None


def shown(number):
    return "–" if number is None else f"{number:.2f}"


def speed_summary(speed):
    row = {"speed": speed}
    parts = [f"{form} {shown(ratio(row, form))}" for form in FORMS] + [f"open/fixed {shown(open_to_fixed(row))}"]
    return ", ".join(parts) + "  " + ", ".join(f"{k} {v:.2f} ms" for k, v in speed["ms"].items())


def cell(row, form):
    """Returns three cells: result of the comparison, compile time, and speed relative to the faster peer."""
    found = row.get(form)
    if not found:
        return ["–", "–", "–"]
    return [found["status"] if found["status"] == "right" else f"**{found['status']}**", f"{found['cpu']:.1f}",
            shown(ratio(row, form))]


def table(names, rows):
    lines = ["| model | exported by | fixed | compiled in | × peer | open | compiled in | × peer | open against fixed |",
             "|---|---|---|---|---|---|---|---|---|"]
    for key in names:
        name, _, variant = key.partition(".")
        cells = [name, variant, *cell(rows[key], "fixed"), *cell(rows[key], "open"), shown(open_to_fixed(rows[key]))]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def results(rows):
    """Counts the models by their results."""
    lines = ["| sizes | models | right | refused | wrong, failed, stopped |", "|---|---|---|---|---|"]
    for form in FORMS:
        statuses = [r[form]["status"] for r in rows.values() if form in r]
        lines.append(f"| {form} | {len(statuses)} | {statuses.count('right')} | {statuses.count('refused')} | "
                     f"{sum(s in ('wrong', 'failed', 'stopped') for s in statuses)} |")
    return lines


def speeds(rows, entries):
    """Summarizes the speed relative to the faster peer for each kind of model. Kinds are not averaged, because a
    tabular model mostly measures the cost of a call."""
    lines = ["| kind | sizes | measured | median | minimum | slowest against the peer | below 0.9 |", "|---|---|---|---|---|---|---|"]
    for kind in registry.KINDS:
        for form in FORMS:
            found = {key: r for key, row in rows.items()
                     if entries[key.partition(".")[0]].kind == kind and (r := ratio(row, form)) is not None}
            if found:
                least = min(found, key=found.get)
                lines.append(f"| {kind} | {form} | {len(found)} | {statistics.median(found.values()):.2f} | {found[least]:.2f} | "
                             f"{least.partition('.')[0]} | {sum(r < 0.9 for r in found.values())} |")
    return lines


def reasons(rows):
    found = []
    for key, row in rows.items():
        texts = {row[form]["message"] for form in FORMS if "message" in row.get(form, {})}
        found += [f"- {key}: " + " / ".join(sorted(texts))] if texts else []
    return found


HEAD = """# Model zoo

<!-- Written by `make zoo`; do not edit. -->

Measured on {machine}, one thread. Page written {date}.

The project makes most of these models itself, with random weights from a fixed seed. Others come with packages of PyPI.
Each is compiled for the measuring machine, once with the sizes of its example and once with open sizes.
Outputs are compared with those of ONNX Runtime; with open sizes, at two sizes.

| column | meaning |
|---|---|
| exported by | PyTorch's older exporter (`script`), its newer one (`dynamo`), or skl2onnx (`sklearn`), with the operator set |
| compiled in | CPU seconds of `ingot compile` |
| × peer | time of the faster of ONNX Runtime and OpenVINO divided by Ingot's, each at its best turn; above 1, Ingot is faster |
| open against fixed | Ingot's time with open sizes divided by its time with fixed ones, at the same size |
| unknown | ONNX Runtime gives no result to compare with, or one that rounding decides |

Engines take turns of 0.2 s in processes of their own. With open sizes, OpenVINO's sizes are open, too.
Peers are called from Python (ONNX Runtime: `session.run`; OpenVINO: an infer request whose inputs are set before), Ingot from
C++ by `ingot bench`. The peers' times include the call from Python, which weighs most in small models. Tabular models are
the smallest, so their ratios compare calls rather than arithmetic.
"""


def read(path):
    """Parses a page. Returns rows like those of results.json, with ratios instead of times, and the machine and the date."""
    with open(path) as file:
        text = file.read()
    rows, place = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            place = line[3:]
        cells = [c.strip() for c in line.strip("|").split("|")]
        if place == "Not exported" and (found := re.match(r"- ([^:]+): (.*)", line)):
            rows[found[1]] = {"export": found[2]}
        elif place == "Not right, and why" and (found := re.match(r"- ([^:]+): (.*)", line)):
            for form in FORMS:
                if rows[found[1]].get(form, {}).get("status", "right") != "right":
                    rows[found[1]][form]["message"] = found[2]
        elif len(cells) == 9 and cells[0] not in ("model", "---"):
            row = rows[f"{cells[0]}.{cells[1]}"] = {"ratio": {}}
            for form, (status, cpu, times) in zip(FORMS, (cells[2:5], cells[5:8])):
                if status != "–":
                    row[form] = {"status": status.strip("*"), "cpu": float(cpu)}
                if times != "–":
                    row["ratio"][form] = float(times)
            if cells[8] != "–":
                row["ratio"]["open to fixed"] = float(cells[8])
    machine, date = re.search(r"on (.*), one thread\. Page written ([-\d]+)\.$", text, re.M).groups()
    return rows, machine, date


def write(path, rows, entries, machine=None, date=None):
    rows = {key: row for key, row in rows.items() if key.partition(".")[0] in entries}
    made = {key: row for key, row in rows.items() if "export" not in row}
    lines = HEAD.format(machine=machine or measure.cpu_name(), date=date or datetime.date.today()).splitlines()
    lines += ["", "## Results", "", *results(made), "", "## Speed by kind", "",
              "Times the faster peer. Kinds are not averaged with one another.", "", *speeds(made, entries)]
    families = {}
    for name, entry in entries.items():
        families.setdefault(entry.family, []).extend(
            key for variant in (*registry.TORCH, *registry.SKLEARN, "shipped") if (key := f"{name}.{variant}") in made)
    for family, names in families.items():
        if names:
            lines += ["", f"## {family[0].upper() + family[1:]}", "", *table(names, made)]
    lines += ["", "## Not right, and why", "", *(reasons(made) or ["Nothing."])]
    lost = [f"- {key}: {row['export']}" for key, row in rows.items() if "export" in row]
    if lost:
        lines += ["", "## Not exported", "", "The exporter gave up:", "", *lost]
    with open(path + ".part", "w") as file:
        file.write("\n".join(lines) + "\n")
    os.rename(path + ".part", path)
