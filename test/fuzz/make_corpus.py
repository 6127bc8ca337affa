"""Writes the seed corpus of the import fuzzer.

    python3 test/fuzz/make_corpus.py build-fuzz/corpus

Seeds are the small models of ONNX's own backend tests, which cover every
operator, and the text models of the importer's tests.
"""
import hashlib
import os
import shutil
import sys
import warnings

MAX_BYTES = 4096


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    count = 0
    warnings.simplefilter("ignore")
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.model is None:
            continue
        data = case.model.SerializeToString()
        if len(data) <= MAX_BYTES:
            name = hashlib.sha1(data).hexdigest()[:16]
            with open(os.path.join(out, name), "wb") as f:
                f.write(data)
            count += 1
    tests = os.path.join(os.path.dirname(__file__), "..", "compiler", "import")
    for name in sorted(os.listdir(tests)):
        if name.endswith(".onnxtxt"):
            shutil.copy(os.path.join(tests, name), out)
            count += 1
    print(f"{count} seeds in {out}")


if __name__ == "__main__":
    main()
