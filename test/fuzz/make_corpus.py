"""Writes the seeds of the fuzz targets, a folder for each target.

    python3 test/fuzz/make_corpus.py OUT TARGET [ARTIFACT.so ...]

import: the small models of ONNX's own backend tests, which cover every operator, random graphs, and the text models of
the importer's tests. npy: arrays of all types as numpy writes them. artifact: the given libraries, whole and reduced to
their headers, and descriptions of models. options, shape: lines as people type them.
"""
import glob
import hashlib
import io
import os
import random
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_BYTES = 4096
RANDOM_GRAPHS = 200


def imports(_):
    from onnx.backend.test.case.node import collect_testcases
    warnings.simplefilter("ignore")
    for case in collect_testcases(None):
        if case.model is not None:
            yield case.model.SerializeToString()
    for path in glob.glob(os.path.join(HERE, "..", "compiler", "import", "*.onnxtxt")):
        with open(path, "rb") as f:
            yield f.read()
    sys.path.append(os.path.join(HERE, "..", "random"))
    import drawing
    for seed in range(RANDOM_GRAPHS):
        yield drawing.draw(seed).model().SerializeToString()


def arrays(_):
    import numpy as np
    kinds = ["?", "i1", "u1", "<i2", ">i2", "<i4", "<i8", "<u8", "<f2", "<f4", ">f4", "<f8", "<c8", "S3", "<U2", "V2"]
    for kind in kinds:
        for shape in ((), (0,), (5,), (2, 3), (1, 2, 3, 4)):
            for order in "CF":
                for version in ((1, 0), (2, 0)):
                    file = io.BytesIO()
                    array = np.zeros(shape, kind, order=order)
                    np.lib.format.write_array(file, array, version)
                    yield file.getvalue()
    file = io.BytesIO()
    np.save(file, np.zeros(2, [("a", "<f4"), ("b", "<i8")]))
    yield file.getvalue()


def artifacts(paths):
    for path in paths:
        with open(path, "rb") as f:
            data = f.read()
        for size in (len(data), 64, 512, 4096):
            yield b"\0" + data[:size]
    generator = random.Random(0)
    for size in (20, 60, 120, 250, 400):
        for _ in range(8):  # descriptions with mostly usual values
            yield b"\1" + bytes(generator.choice((0, 1, 2, 3, 97, 98, generator.randrange(256))) for _ in range(size))


def options(_):
    yield from (b"model.so", b"--help", b"--version", b"--profile\nmodel.so", b"--python\ntext\nmodel.so",
                b"--input=random\n--shape=x=2x4\n--shape=ids=3\nmodel.so",
                b"--input\nx=random:7\n--shape\nx:2x4\nmodel.so\nother.so", b"--contexts=8\n--percentile=a\nmodel.so",
                b"--contexts=x\nmodel.so", b"--unknown\nmodel.so", b"--\n--profile")


def shapes(_):
    yield from (b"x=1x3x?x224", b"x:1x3", b"x[1,3,?]", b"batch=8", b"a=b=2x3", b"x=", b"=1x2", b"x=1x-2", b"x[1,2",
                b"x=99999999999999999999", b"nodes=5M", b"tensor-elements=16T", b"nesting=100", b"folded-bytes=1K",
                b"loop-steps=1M")


TARGETS = {"import": imports, "npy": arrays, "artifact": artifacts, "options": options, "shape": shapes}


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in TARGETS:
        sys.exit(__doc__)
    out, count = sys.argv[1], 0
    os.makedirs(out, exist_ok=True)
    for data in TARGETS[sys.argv[2]](sys.argv[3:]):
        if len(data) <= (MAX_BYTES if sys.argv[2] != "artifact" else 1 << 16):
            with open(os.path.join(out, hashlib.sha1(data).hexdigest()[:16]), "wb") as f:
                f.write(data)
            count += 1
    print(f"{count} seeds in {out}")


if __name__ == "__main__":
    main()
