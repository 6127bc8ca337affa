"""Finds the types of files with the network of the package magika."""
import glob
import hashlib
import json
import os
import random
import sys

import numpy as np
import onnx

import metrics
import tasks

# Names of files by the label of the model. All are on a machine that builds Ingot.
ENDINGS = {"python": "py", "pythonbytecode": "pyc", "elf": "so", "json": "json", "html": "html", "css": "css",
           "javascript": "js", "c": "c", "cpp": "cpp", "png": "png", "gzip": "gz", "perl": "pm", "shell": "sh",
           "xml": "xml", "markdown": "md", "cmake": "cmake", "rst": "rst", "yaml": "yaml", "svg": "svg", "ttf": "ttf",
           "npz": "npz", "ini": "ini", "po": "po", "typescript": "ts", "tcl": "tcl", "toml": "toml", "csv": "csv"}
FOLDERS = (sys.prefix, "/usr/share", "/usr/lib")
OF_EACH, LEAST, SIZE, BLOCK, PADDING = 45, 200, 1024, 4096, 256


def files():
    """Returns {ending: paths}, at most OF_EACH of each, in an order that depends on the names only."""
    found = {ending: [] for ending in ENDINGS.values()}
    for folder in FOLDERS:
        for place, folders, names in os.walk(folder):
            folders.sort()
            for name in names:
                ending = name.rsplit(".", 1)[-1]
                if ending in found and "." in name:
                    found[ending].append(os.path.join(place, name))
    for paths in found.values():
        paths.sort(key=lambda path: hashlib.md5(path.encode()).hexdigest())
    return found


def tokens(content):
    """Returns the first and the last bytes without spaces around them, as the package reads them."""
    first, last = list(content[:BLOCK].lstrip()[:SIZE]), list(content[-BLOCK:].rstrip()[-SIZE:])
    return first + [PADDING] * (SIZE - len(first)) + [PADDING] * (SIZE - len(last)) + last


class Task(tasks.Task):
    about = "The network of magika on files of this machine; right is the type that the name of the file says."
    metric = metrics.Classes()
    batch, has_matrices = 50, True

    def data(self, seed):
        model_path, = glob.glob(tasks.file_of("magika", "models", "standard_*", "model.onnx"))
        with open(os.path.join(os.path.dirname(model_path), "config.min.json"), encoding="utf-8") as file:
            numbers = {name: i for i, name in enumerate(json.load(file)["target_labels_space"])}
        known, rows, labels = files(), [], []
        for label, ending in sorted(ENDINGS.items()):
            taken, seen = 0, set()
            for path in known[ending]:
                if taken == OF_EACH or os.path.islink(path) or os.path.getsize(path) < LEAST:
                    continue
                with open(path, "rb") as file:
                    content = file.read(1 << 20)
                row = tokens(content)
                if tuple(row) in seen:
                    continue
                seen.add(tuple(row))
                rows.append(row)
                labels.append(numbers[label])
                taken += 1
        order = list(range(len(rows)))
        random.Random(6).shuffle(order)
        model = tasks.with_sizes(onnx.load(model_path), {"bytes": (self.batch, 2 * SIZE)})
        return tasks.Data(model, {"bytes": np.array(rows, np.int32)[order]}, np.array(labels)[order])
