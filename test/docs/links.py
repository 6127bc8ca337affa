# RUN: %python %s %ingot_src
# Every relative link of the documentation leads to a file, and to a heading where it names one.
import glob
import os
import re
import sys

ROOT = sys.argv[1]


def anchors(path):
    """Headings as GitHub names them."""
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
listed = os.path.join(ROOT, "docs", "README.md")
with open(listed) as f:
    index = f.read()
broken += [f"docs/README.md does not list {os.path.basename(page)}"
           for page in glob.glob(os.path.join(ROOT, "docs", "*.md"))
           if page != listed and f"({os.path.basename(page)})" not in index]
print("\n".join(broken), file=sys.stderr)
sys.exit(bool(broken) or seen < 20)
