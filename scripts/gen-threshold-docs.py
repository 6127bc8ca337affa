#!/usr/bin/env python3
"""Writes the page about thresholds to stdout, from the tables of passes/support and passes/cpu/policy.

usage: gen-threshold-docs.py
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLES = (("passes/support/Thresholds.inc", "Shared phases", "these phases know no backend; all numbers were measured on CPUs"),
          ("passes/cpu/policy/Thresholds.inc", "CPU", "what the CPU's policy answers"),
          ("passes/cpu/policy/KernelThresholds.inc", "CPU kernels", "how the CPU's kernels are made"))
COLUMNS = ("name", "value", "unit", "measured on", "meaning")
SECTION = re.compile(r"^//===--- (.*?) -*===//$")
ROW = re.compile(r"^INGOT_(THRESHOLD|CACHE_SHARE)\(")
FIELD = re.compile(r'((?:\s*"[^"]*")+|[^,"]+)(?:,|$)')


def read_table(source):
    """Yields (section, columns) of each row. Raises ValueError with a line number for an incomplete row."""
    section, lines, number = "", source.split("\n"), 0
    while number < len(lines):
        head = SECTION.match(lines[number])
        section = head.group(1) if head else section
        first = number
        if ROW.match(lines[number]):
            while not lines[number].endswith(")"):
                number += 1
                if number == len(lines):
                    raise ValueError(f"line {first + 1}: the row has no end")
            yield section, read_row(" ".join(lines[first:number + 1]), first + 1)
        number += 1


def read_row(text, line):
    kind = ROW.match(text).group(1)
    fields = ["".join(re.findall(r'"([^"]*)"', field)) or field.strip()
              for field in FIELD.findall(text[ROW.match(text).end():-1])]
    count = 5 if kind == "THRESHOLD" else 7
    if len(fields) != count or not all(fields):
        raise ValueError(f"line {line}: the row has {len(fields)} columns, but {count} are needed")
    name, (unit, measured, meaning) = fields[0], fields[-3:]
    value = fields[1]
    if kind == "CACHE_SHARE":
        _, cache, numerator, denominator = fields[:4]
        value = cache if numerator == denominator else f"{numerator}/{denominator} of {cache}"
        if denominator.startswith("target."):
            value = f"{cache} / {denominator.removeprefix('target.')}"
    return f"`{name}`", value, unit, measured, meaning


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip(), file=sys.stderr if sys.argv[1] != "--help" else sys.stdout)
        return 0 if sys.argv[1] == "--help" else 2
    print("# Thresholds\n\nA threshold is a number that decides how fast code is made, measured on a machine. `l1` and `l2` are"
          " the caches of\nthe target, which `--target=l2=2M` changes.")
    for table, title, note in TABLES:
        print(f"\n## {title}\n\n`{table}`: {note}.")
        with open(os.path.join(ROOT, table), encoding="utf-8") as f:
            rows = list(read_table(f.read()))
        for section in dict.fromkeys(section for section, _ in rows):
            print(f"\n### {section}\n")
            for columns in (COLUMNS, ("---",) * len(COLUMNS), *(row for s, row in rows if s == section)):
                print("| " + " | ".join(columns) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
