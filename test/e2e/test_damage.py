"""Tests damaged artifacts. With checksums, no damaged artifact runs. No tool crashes."""
import json
import os
import random
import struct
import subprocess

import families

from support import Case, np, tool

PAGE = 4096


def xxh64(data):
    """Computes XXH64 with seed 0, from its specification."""
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)
    mask = 2**64 - 1
    rotate = lambda x, n: (x << n | x >> (64 - n)) & mask
    mix = lambda lane, word: rotate((lane + word * p2) & mask, 31) * p1 & mask
    at = 0
    if len(data) >= 32:
        lanes = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        while at + 32 <= len(data):
            lanes = [mix(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        total = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & mask
        for lane in lanes:
            total = ((total ^ mix(0, lane)) * p1 + p4) & mask
    else:
        total = p5
    total = (total + len(data)) & mask
    while at + 8 <= len(data):
        total = (rotate(total ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= len(data):
        total = (rotate(total ^ struct.unpack_from("<I", data, at)[0] * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * p5 & mask, 11) * p1 & mask
    total = (total ^ total >> 33) * p2 & mask
    total = (total ^ total >> 29) * p3 & mask
    return total ^ total >> 32


class Damage(Case):
    """Pages of zeros, changed bits, truncated files, swapped files: hundreds of each."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(11)
        self.counts = {"damaged": 0, "harmless": 0}

    def read(self, path):
        with open(path, "rb") as f:
            return f.read()

    def mapped(self, artifact):
        """Returns the ranges [start, end) of the file that a run can see."""
        listing = subprocess.run(["llvm-readelf-22", "-lW", artifact], capture_output=True, text=True,
                                 check=True).stdout
        rows = [line.split() for line in listing.splitlines() if line.strip().startswith("LOAD")]
        return [(int(row[1], 16), int(row[1], 16) + int(row[4], 16)) for row in rows]

    def damages(self, data, pages, flips, cuts):
        """Yields damaged versions of a file: (name, bytes)."""
        zeros = list(range(0, len(data), PAGE))
        for at in self.random.sample(zeros, min(pages, len(zeros))):
            yield f"zeros at {at}", data[:at] + bytes(min(PAGE, len(data) - at)) + data[at + PAGE:]
        for _ in range(flips):
            at, bit = self.random.randrange(len(data)), 1 << self.random.randrange(8)
            yield f"bit {bit} at {at}", data[:at] + bytes([data[at] ^ bit]) + data[at + 1:]
        for _ in range(cuts):
            at = self.random.randrange(len(data))
            yield f"cut at {at}", data[:at]
        for _ in range(cuts):
            at, size = self.random.randrange(len(data)), self.random.randrange(1, 3 * PAGE)
            other = self.random.randrange(len(data))
            yield f"a piece of elsewhere at {at}", (data[:at] + data[other:other + size] + data[at + size:])[:len(data)]

    def verify(self, what, artifact, is_harmless):
        """A change in a part that a run sees is refused; other changes are harmless."""
        done = tool("ingot", "inspect", "--verify", artifact)
        with self.subTest(what):
            if is_harmless and done.returncode == 0:
                self.counts["harmless"] += 1
                return
            self.counts["damaged"] += 1
            self.assert_one_line(done, os.path.basename(artifact))

    def sweep(self, artifact, pages, flips, cuts, options=()):
        good = self.read(artifact)
        done = tool("ingot", "run", artifact, "--input", "random", "--verify", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        mapped = self.mapped(artifact)
        broken = self.path("broken.so")
        for i, (what, data) in enumerate(self.damages(good, pages, flips, cuts)):
            if data == good:
                continue
            with open(broken, "wb") as f:
                f.write(data)
            # Bytes that a run does not read: the position of the section headers, and the linker's notes.
            header = lambda d: d[:40] + bytes(8) + d[48:58] + bytes(6) + d[64:]
            seen = [header(d)[start:end] for d in (good, data) for start, end in mapped]
            self.verify(what, broken, seen[:len(mapped)] == seen[len(mapped):])
            if i % 4 == 0:  # a run checks code and tables, and weights only on request
                with self.subTest("run, " + what):
                    done = tool("ingot", "run", broken, "--input", "random", "--verify", *options)
                    self.assertEqual(done.returncode == 0, seen[:len(mapped)] == seen[len(mapped):] and
                                     tool("ingot", "inspect", "--verify", broken).returncode == 0)
                    if done.returncode:
                        self.assert_one_line(done, "broken.so")

    def test_weights_inside(self):
        artifact = self.compile(families.ALL["repvgg"]()[0])
        self.sweep(artifact, pages=60, flips=120, cuts=40)
        self.assertGreater(self.counts["damaged"], 180)

    def test_several_levels(self):
        artifact = self.compile(families.ALL["mlp_dynamic"]()[0], "--target=x86-64-v3,x86-64-v4")
        self.sweep(artifact, pages=60, flips=80, cuts=25, options=("--shape", "input=3x20"))
        self.assertGreater(self.counts["damaged"], 90)

    def test_weights_beside(self):
        """Damages only the weights file, in each way."""
        artifact = self.compile(families.ALL["resnet"]()[0], "--weights=file")
        self.sweep(artifact, pages=40, flips=40, cuts=15)
        name, = [n for n in os.listdir(self.dir) if n.endswith(".weights")]
        good = self.read(self.path(name))
        for what, data in self.damages(good, pages=30, flips=40, cuts=15):
            if data == good:
                continue
            with open(self.path("broken.weights"), "wb") as f:
                f.write(data)
            for command in (["inspect", "--verify"], ["run", "--input", "random"]):
                with self.subTest(what, command=command[0]):
                    done = tool("ingot", *command, artifact, "--weights", self.path("broken.weights"))
                    self.assert_one_line(done, "broken.weights")
        done = tool("ingot", "inspect", "--verify", artifact, "--weights", self.path(name))
        self.assertEqual(done.returncode, 0, done.stderr)


class Verify(Case):
    """Tests `ingot inspect --verify` and its output."""

    def test_whole(self):
        for options in ((), ("--weights=file",), ("--kernels=onednn",)):
            with self.subTest(options=options):
                artifact = self.compile(families.ALL["resnet"]()[0], *options)
                done = tool("ingot", "inspect", "--verify", artifact)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("verified", done.stdout)
                self.assertIs(json.loads(tool("ingot", "inspect", "--verify", "--json", artifact).stdout)["verified"],
                              True)
                self.assertNotIn("verified", tool("ingot", "inspect", artifact).stdout)

    def test_checksums_are_what_the_abi_says(self):
        """Computes the checksums independently, as docs/reference/artifact-abi.md and artifact.h define them."""
        self.assertEqual((xxh64(b""), xxh64(b"abc")), (0xEF46DB3751D8E999, 0x44BC2CF5AD770999))
        for options in ((), ("--weights=file",)):
            with self.subTest(options=options):
                with open(self.compile(families.ALL["repvgg"]()[0], *options), "rb") as f:
                    data = f.read()
                note = data.index(struct.pack("<3I6s", 6, 40, 1, b"Ingot")) + 20
                size, _, address, count, weights_hash, rest_hash = struct.unpack_from("<2I4Q", data, note)
                self.assertEqual(size, 40)
                hidden = bytearray(data)
                hidden[note:note + 40] = bytes(40)
                hidden[40:48], hidden[58:64] = bytes(8), bytes(6)
                headers, = struct.unpack_from("<Q", data, 32)
                number, = struct.unpack_from("<H", data, 56)
                rest, weights = b"", b""
                for i in range(number):
                    kind, flags, offset, virtual, _, file_bytes, memory_bytes, _ = struct.unpack_from(
                        "<2I6Q", data, headers + 56 * i)
                    if kind != 1:
                        continue
                    rest += struct.pack("<4Q", virtual, memory_bytes, file_bytes, flags)
                    content = bytes(hidden[offset:offset + file_bytes])
                    if count and virtual <= address < virtual + file_bytes:
                        weights = content[address - virtual:][:count]
                        content = content[:address - virtual] + content[address - virtual + count:]
                    rest += content
                self.assertEqual((len(weights), bool(count)), (count, not options))
                self.assertEqual((xxh64(weights), xxh64(rest)), (weights_hash, rest_hash))

    def test_weights_only_when_asked(self):
        """Only --verify finds damaged weights; every load finds damaged code."""
        artifact = self.compile(families.ALL["resnet"]()[0])
        listing = subprocess.run(["llvm-readelf-22", "-SW", artifact], capture_output=True, text=True,
                                 check=True).stdout
        offsets = {}
        for line in listing.splitlines():
            row = line.partition("]")[2].split()
            if row and row[0] in (".text", ".ingot.weights", ".data.rel.ro"):
                offsets[row[0]] = int(row[3], 16), int(row[4], 16)
        good = open(artifact, "rb").read()
        for section, (offset, size) in offsets.items():
            at = offset + size // 2
            with open(self.path("broken.so"), "wb") as f:
                f.write(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
            is_weight = section == ".ingot.weights"
            for command, must_fail in ((["inspect"], not is_weight), (["inspect", "--verify"], True),
                                       (["run", "--input", "random"], not is_weight),
                                       (["run", "--input", "random", "--verify"], True)):
                with self.subTest(section, command=command):
                    done = tool("ingot", command[0], self.path("broken.so"), *command[1:])
                    if must_fail:
                        self.assert_one_line(done, "is damaged: its " + ("weights" if is_weight else "code"))
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_stripped(self):
        """Tools that strip unused parts change nothing."""
        artifact = self.compile(families.ALL["resnet"]()[0])
        for strip in ("strip", "llvm-strip-22"):
            with self.subTest(strip):
                subprocess.run([strip, "-o", self.path("small.so"), artifact], check=True)
                self.assertLess(os.path.getsize(self.path("small.so")), os.path.getsize(artifact))
                for command in (["inspect", "--verify"], ["run", "--verify", "--input", "random"]):
                    done = tool("ingot", command[0], self.path("small.so"), *command[1:])
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_usage(self):
        artifact = self.compile(families.ALL["repvgg"]()[0])
        self.assert_one_line(tool("ingot", "inspect", artifact, "--weights=w"), "--weights is for --verify, --shape and --dim")
        self.assert_one_line(tool("ingot", "inspect", "--verify", artifact, "--weights=w"), "no separate weights")
