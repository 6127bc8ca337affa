"""Tests the output streams of commands: closed pipes, full disks, interruptions and terminals."""
import json
import os
import pty
import select
import signal
import subprocess
import time

import onnx

import families
from support import BIN, conv_model, helper, make_model, np, relu_model, tool
from test_json import QUICK, JsonCase, has_json, validator


class Commands(JsonCase):
    """Commands that cannot write what they print, and commands that are interrupted."""

    def commands(self):
        model = self.save(conv_model())
        artifact = self.compile(conv_model(), name="a")
        return (["compile", model, "-o", self.path("m.so")], ["run", artifact, "--input=random"],
                ["bench", artifact, *QUICK], ["inspect", artifact])

    def test_closed_pipe(self):
        for command in self.commands():
            with self.subTest(command[0]):
                end, pipe = os.pipe()
                os.close(end)
                done = subprocess.run([os.path.join(BIN, "ingot"), *command, "--json"], stdout=pipe,
                                      stderr=subprocess.PIPE, text=True)
                os.close(pipe)
                error, = self.messages(done.stderr, "error")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("standard output", error["text"])

    def test_full_disk(self):
        for command in self.commands():
            with self.subTest(command[0]), open("/dev/full", "w") as full:
                done = subprocess.run([os.path.join(BIN, "ingot"), *command, "--json"], stdout=full,
                                      stderr=subprocess.PIPE, text=True)
                error, = self.messages(done.stderr, "error")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("standard output", error["text"])

    def slow_commands(self):
        """Returns commands that take minutes, and the files that they leave."""
        graph = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("MatMul", ["s", "w"], ["s2"])], "body",
            [helper.make_tensor_value_info(*v) for v in (("i", 7, []), ("c", 9, []), ("s", 1, [512, 512]))],
            [helper.make_tensor_value_info(*v) for v in (("c2", 9, []), ("s2", 1, [512, 512]))])
        loop = make_model([helper.make_node("Loop", ["n", "", "x"], ["y"], body=graph)], [("x", [512, 512])],
                          [("y", [512, 512])], {"w": np.eye(512, dtype=np.float32), "n": np.array(10**6, np.int64)})
        slow = self.compile(loop, name="loop")
        model = self.save(families.ALL["resnet"]()[0])
        samples = self.path("x.npy")
        # So many samples that the command is still running when it is interrupted. The sparse file needs no disk space.
        del_me = np.lib.format.open_memmap(samples, "w+", np.float32, (1 << 20, 3, 64, 64))
        del del_me
        quick = self.compile(model, name="resnet")
        yield ["compile", model, "-o", self.path("new.so"), "--target=multi", "--optimize=speed"]
        yield ["run", slow, "--input=random", "--output-dir", self.path("new")]
        yield ["bench", quick, "--duration=1000s", "--export-times", self.path("new.json")]
        yield ["calibrate", model, "--data", samples, "-o", self.path("new.json")]
        yield ["compare", quick, model, "--data", samples]

    def check_interrupted(self, command, flags, number, word, is_silent=True):
        """Interrupts a command that runs for minutes."""
        process = subprocess.Popen(
            [os.path.join(BIN, "ingot"), *command, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": self.path("tmp")},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(0.5)
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -number, errors)
        if is_silent:
            self.assertEqual(out, "")
        if flags:
            error, = self.messages(errors)
            self.assertEqual((error["severity"], error["text"]), ("error", word))
        else:
            line, = errors.splitlines()
            self.assertTrue(line.startswith(f"ingot {command[0]}: error: {word}"), line)

    SIGNALS = ((signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated"))

    def test_interrupted(self):
        """Each command ends by the signal, says so in one line, and leaves no part of a file."""
        os.mkdir(self.path("tmp"))
        for command in self.slow_commands():
            before = set(os.listdir(self.dir))
            for number, word in self.SIGNALS:
                for flags in ([], ["--json"]) if has_json(command[0]) else ([],):
                    with self.subTest(command=command[0], signal=word, flags=flags):
                        self.check_interrupted(command, flags, number, word)
                        self.assertEqual(set(os.listdir(self.dir)), before)
                        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_interrupted_while_it_prints(self):
        """`ingot inspect` ends at once. It can be interrupted only while nobody reads its output."""
        model = conv_model()
        onnx.helper.set_model_props(model, {"text": "x" * (1 << 18)})
        artifact = self.compile(model)
        for number, word in self.SIGNALS:
            for arguments, flags in ((["--metadata=text"], []), ([], ["--json"])):
                with self.subTest(signal=word, flags=flags):
                    self.check_interrupted(["inspect", artifact, *arguments], flags, number, word, is_silent=False)


class Terminal(JsonCase):
    def on_terminal(self, *arguments, shows_output=False):
        """Runs a command with a terminal as standard error, and as standard output if the terminal shows that, too.
        Returns what the terminal got, and standard output."""
        master, slave = pty.openpty()
        process = subprocess.Popen([os.path.join(BIN, "ingot"), *arguments], stderr=slave,
                                   stdout=slave if shows_output else subprocess.PIPE)
        os.close(slave)
        shown = b""
        while process.poll() is None or select.select([master], [], [], 0)[0]:
            if not select.select([master], [], [], 0.1)[0]:
                continue
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
        out = b""
        if not shows_output:
            out = process.stdout.read()
            process.stdout.close()
        self.assertEqual(process.wait(), 0, shown)
        os.close(master)
        return shown.decode(), out.decode()

    def test_progress(self):
        """A terminal shows phase, fraction and remaining time, and is clean at the end."""
        model = self.save(families.ALL["resnet"]()[0])
        artifact = self.path("m.so")
        for arguments, phase, is_long in (
                (["compile", model, "-o", artifact], "code generation for", False),
                (["run", artifact, "--input=random"], "running", False),
                (["bench", artifact, "--duration=3s", "--warm-up=10ms"], "measuring", True)):
            with self.subTest(arguments[0]):
                shown, out = self.on_terminal(*arguments)
                self.assertIn(phase, shown)
                self.assertRegex(shown, r"\d+ %")
                if is_long:
                    self.assertRegex(shown, r"\d s left")
                self.assertNotIn("…", shown.split("\r\x1b[K")[-1])
                self.assertNotIn("\x1b", out)
        quiet, _ = self.on_terminal("compile", model, "-o", artifact, "-q")
        self.assertEqual(quiet, "")

    def test_text_on_a_terminal(self):
        """A status line never interrupts another line of text."""
        model = self.save(families.ALL["resnet"]()[0])
        for emit in ("asm", "mlir-nn"):
            shown, _ = self.on_terminal("compile", model, "-o", "-", f"--emit={emit}", shows_output=True)
            self.assertGreater(len(shown), 1000)
            self.assertFalse("\x1b" in shown or "…" in shown)

    def test_lines_are_not_for_people(self):
        shown, out = self.on_terminal("compile", self.save(relu_model()), "-o", self.path("m.so"), "--json")
        self.assertNotIn("\x1b", shown)
        self.assertGreater(len(self.lines(shown.replace("\r\n", "\n"))), 5)
        validator("compile").validate(json.loads(out))

    def test_nothing_when_piped(self):
        model = self.save(conv_model())
        artifact = self.compile(model)
        for arguments in (["compile", model, "-o", artifact], ["run", artifact, "--input=random"],
                          ["bench", artifact, "--duration=1s"]):
            with self.subTest(arguments[0]):
                self.assertNotRegex(tool("ingot", *arguments).stderr, "…|\r|left")
