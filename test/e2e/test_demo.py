"""Runs the steps of `make demo` with a small model in place of the trained one, and with few short measurements."""
import contextlib
import io
import os
import re
import sys

from support import BUILD, ROOT, Case
from test_guide import recognizer

sys.path.append(os.path.join(ROOT, "scripts"))

import demo  # noqa: E402 -- beside the script that measures

ROWS = ["latency, 1 thread", "latency, 2 threads", "opening to first answer", "memory, above the bare process",
        "to be shipped"]


class Demo(Case):

    def setUp(self):
        super().setUp()
        demo.BUILD, demo.WORK = BUILD, self.dir
        demo.ROUNDS, demo.FIRST_ROUNDS = 2, 1
        # If this file exists, the demo downloads no model.
        self.save(recognizer(), "ppocr_rec.onnx")

    def test_every_step(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = demo.main(["--text", "abc", "--seconds=0.02"])
        text = printed.getvalue()
        self.assertEqual(code, 0, text)
        read = [re.search(rf"^{who} +(.*)$", text, re.M).group(1) for who in ("Ingot reads", "ONNX Runtime")]
        self.assertEqual(*read)
        self.assertTrue(read[0].strip(), "the model reads nothing, so the texts say little")
        rows = ROWS if len(os.sched_getaffinity(0)) > 1 else ROWS[:1] + ROWS[2:]
        for row in rows:
            with self.subTest(row):
                self.assertRegex(text, rf"(?m)^.*{row} .*[0-9]\.[0-9] M?[Bms]+ .* [0-9.]+ x")
        self.assertTrue(os.path.exists(self.path("line.png")))
