#!/usr/bin/env python3
# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a detector of text on a picture of any size, and prints the boxes that it finds.

usage: detector.py MODEL.onnx PICTURE       needs ingot-compiler and pillow

MODEL is a detector of PaddleOCR: its input is 1 x 3 x height x width, its output the share of text at each pixel. `make
demo` writes such a model and a picture into build/demo.
"""
import sys

import numpy as np
from PIL import Image

import ingot

STEP = 32  # The model halves the picture five times.


def read(path):
    """Returns a picture as the model takes it, with sides that are multiples of STEP."""
    picture = Image.open(path).convert("RGB")
    width, height = (max(STEP, round(side / STEP) * STEP) for side in picture.size)
    pixels = np.asarray(picture.resize((width, height)), np.float32) / 255
    pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32)


def boxes(shares, limit=0.3):
    """Yields (left, top, right, bottom) of each line of text: rows of pixels above the limit, joined if they touch."""
    rows = np.flatnonzero((shares > limit).any(1))
    for group in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
        if len(group):
            columns = np.flatnonzero((shares[group] > limit).any(0))
            yield int(columns[0]), int(group[0]), int(columns[-1]) + 1, int(group[-1]) + 1


def main():
    path, picture = sys.argv[1:]
    model = ingot.compile(path)
    x = read(picture)
    y = model(x)
    print(f"picture {x.shape[3]} × {x.shape[2]}")
    for box in boxes(y[0, 0]):
        print("text at", *box)


if __name__ == "__main__":
    main()
