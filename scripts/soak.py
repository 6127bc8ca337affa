#!/usr/bin/env python3
"""Runs many contexts of three models in many threads, and watches results, memory and descriptors.

usage: soak.py [--bin DIR] [--seconds N]

Compiles a convolutional network, a recurrent one and one of open size, and hands them to ingot-soak, which says what it
does: see test/soak/Soak.cpp. Exit code: 0 if every result had the right bits and nothing grew, else 1.
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
MODELS = ("resnet", "ocr_lstm", "mlp_dynamic")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: scripts/soak.py --seconds 30")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--seconds", type=float, default=180, help="how long")
    args = parser.parse_args()
    import families
    import onnx
    with tempfile.TemporaryDirectory(prefix="ingot-soak-") as folder:
        artifacts = []
        for name in MODELS:
            source = os.path.join(folder, name + ".onnx")
            onnx.save(families.ALL[name]()[0], source)
            artifacts.append(os.path.join(folder, name + ".so"))
            subprocess.run([os.path.join(args.bin, "ingot"), "compile", source, "-o", artifacts[-1]], check=True)
        return subprocess.run([os.path.join(args.bin, "ingot-soak"), str(args.seconds), *artifacts]).returncode


if __name__ == "__main__":
    sys.exit(main())
