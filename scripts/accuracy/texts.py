"""Texts with labels: descriptions of Debian packages and their sections."""
import random
import subprocess


def descriptions(sections, texts_of_each):
    """Returns [(section, text)] of the sections with most packages; the choice is deterministic."""
    done = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    texts = {}
    for package in done.stdout.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in package.splitlines() if ": " in line and line[0] != " ")
        section, text = fields.get("Section", "").split("/")[-1], fields.get("Description-en") or fields.get(
            "Description", "")
        if section and text:
            texts.setdefault(section, set()).add(text)
    largest = sorted(texts, key=lambda s: (-len(texts[s]), s))[:sections]
    draw = random.Random(0)
    chosen = [(s, t) for s in largest for t in draw.sample(sorted(texts[s]), min(texts_of_each, len(texts[s])))]
    draw.shuffle(chosen)
    return chosen
