#!/usr/bin/env python3
"""Draws docs/measured/benchmarks.svg, the picture of the README, from the one-thread table of docs/measured/benchmarks.md.

usage: benchmark-picture.py [--check]     --check only says whether the picture is up to date (exit code 1 if not)
"""
import os
import re
import sys
from xml.sax.saxutils import escape

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "measured")
ENGINES = (("Ingot", "ingot"), ("ONNX Runtime", "ort"), ("OpenVINO", "ov"))
NAMES = {"resnet50": "ResNet-50", "repvgg_a0": "RepVGG-A0", "acnet": "ACNet", "mobilenet_v2": "MobileNetV2",
         "shufflenet_v2_x1_0": "ShuffleNetV2", "vit_tiny_patch16_224": "ViT-tiny", "bert6": "BERT, 6 layers",
         "ppocr_det": "PP-OCR detector", "ppocr_rec": "PP-OCR recognizer", "ppocr_cls": "PP-OCR classifier"}
WIDTH, LEFT, BAR, GAP, TOP, LONGEST = 600, 146, 13, 12, 66, 3.0

STYLE = """
  .back { fill: #ffffff } .text { fill: #1f2328 } .soft { fill: #59636e } .axis { stroke: #d1d9e0 }
  .ingot { fill: #0969da } .ort { fill: #b1bac4 } .ov { fill: #6e7781 }
  text { font-family: -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; font-size: 13px }
  .small { font-size: 11px } .bold { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } .text { fill: #f0f6fc } .soft { fill: #9198a1 } .axis { stroke: #3d444d }
    .ingot { fill: #4493f8 } .ort { fill: #59636e } .ov { fill: #8b949e }
  }"""


def read():
    """Returns rows of (model, Ingot's ms, [times of each engine relative to Ingot's]), and the lines about machine, date and versions."""
    with open(os.path.join(FOLDER, "benchmarks.md"), encoding="utf-8") as file:
        text = file.read()
    table = re.search(r"## Latency, 1 thread\n\n(.*?)\n\n", text, re.S).group(1).splitlines()[2:]
    rows = []
    for line in table:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows.append((cells[0], float(cells[1]), [1.0, *[float(cell.split()[0]) for cell in cells[4:6]]]))
    cpu, cpus, date, versions = re.search(r"in place\)\. (.*), (\d+) CPUs, ([-\d]+)\. (.*?)\.\n", text).groups()
    return rows, (f"{cpu}, one thread, fp32, batch 1, {date}.",
                  f"Engines take turns; medians over the turns. {versions[0].upper() + versions[1:]}.")


def draw():
    rows, notes = read()
    scale = (WIDTH - LEFT - 66) / LONGEST
    height = TOP + len(rows) * (len(ENGINES) * BAR + GAP) + 48
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
           'aria-label="Latency of ten models relative to Ingot">', f"<style>{STYLE}\n</style>",
           f'<rect class="back" width="{WIDTH}" height="{height}" rx="6"/>',
           '<text class="text bold" x="16" y="24">Time of one run, relative to Ingot (shorter is better)</text>']
    x = 16
    for name, style in ENGINES:
        out += [f'<rect class="{style}" x="{x}" y="36" width="12" height="12" rx="2"/>', f'<text class="text" x="{x + 18}" y="47">{name}</text>']
        x += 44 + 8 * len(name)
    out.append(f'<line class="axis" x1="{LEFT}" y1="{TOP - 6}" x2="{LEFT}" y2="{height - 46}"/>')
    y = TOP
    for model, own, ratios in rows:
        out.append(f'<text class="text" x="{LEFT - 10}" y="{y + 22}" text-anchor="end">{escape(NAMES.get(model, model))}</text>')
        for (_, style), ratio in zip(ENGINES, ratios):
            length = min(ratio, LONGEST) * scale
            out.append(f'<rect class="{style}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 1}" rx="2"/>')
            label = f"{own:.2f} ms" if style == "ingot" else f"{ratio:.2f} ×"
            out.append(f'<text class="soft small" x="{LEFT + length + 6:.1f}" y="{y + BAR - 2}">{label}'
                       f'{" →" if ratio > LONGEST else ""}</text>')
            y += BAR
        y += GAP
    for place, note in zip((height - 26, height - 11), notes):
        out.append(f'<text class="soft small" x="16" y="{place}">{escape(note)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    path = os.path.join(FOLDER, "benchmarks.svg")
    picture = draw()
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="utf-8") as file:
            if file.read() == picture:
                return 0
        print("benchmark-picture.py: docs/measured/benchmarks.svg is out of date; run scripts/benchmark-picture.py", file=sys.stderr)
        return 1
    if sys.argv[1:]:
        print("usage: benchmark-picture.py [--check]", file=sys.stderr)
        return 2
    with open(path, "w", encoding="utf-8") as file:
        file.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
