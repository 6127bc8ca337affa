#!/usr/bin/env python3
# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits a pipeline of scikit-learn, compiles it, and applies it to a table.

usage: table.py [ROWS]      needs ingot-compiler[sklearn]; ROWS is 1000000 by default
"""
import sys
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ingot


class Compiled:
    """A compiled pipeline with the methods of scikit-learn's classifiers."""

    def __init__(self, pipeline, rows):
        self.model = ingot.compile(pipeline, args=rows)

    def predict(self, rows):
        return self.model(rows)[0]

    def predict_proba(self, rows):
        return self.model(rows)[1]


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    table = rng.normal(size=(rows, 8)).astype(np.float32)
    labels = (table[:, 0] * table[:, 1] > table[:, 2]).astype(np.int64)
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(20, max_depth=6, random_state=0))
    pipeline.fit(table[:5000], labels[:5000])

    model = Compiled(pipeline, table[:1])
    start = time.perf_counter()
    found = model.predict(table)
    print(f"{rows} rows in {time.perf_counter() - start:.2f} s", file=sys.stderr)
    start = time.perf_counter()
    expected = pipeline.predict(table)
    print(f"scikit-learn: {time.perf_counter() - start:.2f} s", file=sys.stderr)
    # Shares that are equal but for rounding may give another label.
    same = np.mean(found == expected)
    shares = model.predict_proba(table)
    assert same > 0.9999 and shares.shape == (rows, 2)
    print(f"{rows} rows, shares add up to {shares.sum(1).min():.3f} at least")


if __name__ == "__main__":
    main()
