"""A short soak: make soak does it for minutes."""
import os
import subprocess
import sys

from support import BIN, ROOT, Case


class Soak(Case):

    def test_some_seconds(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "soak.py"), "--bin", BIN, "--seconds", "6",
                               "--plain"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("part 6: ", done.stdout)
        self.assertNotIn("part 6: 0 runs", done.stdout)
