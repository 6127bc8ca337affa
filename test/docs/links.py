# RUN: %python %s %ingot_src
# Every relative link of the documentation leads to a file, and to a heading where it names one. The index lists every page.
import glob
import os
import re
import sys

ROOT = sys.argv[1]


def anchors(path):
    """Returns the anchors of a page's headings, as GitHub makes them."""
    with open(path) as f:
        text = re.sub(r"```.*?```", "", f.read(), flags=re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*?)\s*$", text, re.M)}


pages = [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
pages += glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
broken, seen = [], 0
for page in pages:
    with open(page) as f:
        text = re.sub(r"```.*?```|`[^`]*`", "", f.read(), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        seen += 1
        target, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        where = f"{os.path.relpath(page, ROOT)}: {link}"
        if not os.path.exists(path):
            broken.append(f"{where}: no such file")
        elif anchor and anchor not in anchors(path):
            broken.append(f"{where}: no such heading")
docs = os.path.join(ROOT, "docs")
listed = os.path.join(docs, "README.md")
with open(listed) as f:
    index = f.read()
# Largest number of lines of a page, by folder. A longer decision or step should be two pages.
LINES = {"guide": 150, "design": 200}
for page in glob.glob(os.path.join(docs, "**", "*.md"), recursive=True):
    name = os.path.relpath(page, docs)
    if page != listed and f"({name})" not in index:
        broken.append(f"docs/README.md does not list {name}")
    with open(page) as f:
        count = len(f.readlines())
    if count > LINES.get(os.path.dirname(name), count):
        broken.append(f"docs/{name} has {count} lines, but at most {LINES[os.path.dirname(name)]} are allowed")
print("\n".join(broken), file=sys.stderr)
sys.exit(bool(broken) or seen < 20)
