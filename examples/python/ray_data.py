#!/usr/bin/env python3
# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies a model to a table with Ray Data, in several processes that share its weights.

usage: ray_data.py MODEL.so     needs ingot-runtime and ray[data]; the model takes x: n x 4
"""
import sys

import numpy as np
import ray

import ingot.ray


def main():
    rows = [{"id": i, "x": np.full(4, i, np.float32)} for i in range(1000)]
    table = ray.data.from_items(rows)
    table = table.map_batches(ingot.ray.Predictor, fn_constructor_args=[sys.argv[1]], num_cpus=1, batch_size=256,
                              compute=ray.data.ActorPoolStrategy(size=1))
    print("rows:", table.count(), "columns:", *sorted(table.schema().names))


if __name__ == "__main__":
    main()
