# Thousands of results that are concatenated are computed in place. The time grows linearly with their number.
# The destination of each pair of results stands in front of that pair, not in front of all pairs.
# RUN: %python %s %t
import re
import resource
import subprocess
import sys

SECONDS = 60  # of CPU time; a few are needed, and one that grows with the square takes minutes


def module(n, order):
    """`n` results, then their inserts into one tensor in the order given."""
    lines = [f"func.func @join(%x: tensor<4xf32>, %y: tensor<4xf32>, %out: memref<{4 * n}xf32>) {{",
             "  %e = tensor.empty() : tensor<4xf32>",
             f"  %t = tensor.empty() : tensor<{4 * n}xf32>"]
    for i in range(n):
        lines.append(f"  %r{i} = linalg.exp ins(%{'xy'[i % 2]} : tensor<4xf32>) outs(%e : tensor<4xf32>)"
                     " -> tensor<4xf32>")
    last = "%t"
    for k, i in enumerate(order):
        lines.append(f"  %i{k} = tensor.insert_slice %r{i} into {last}[{4 * i}] [4] [1]"
                     f" : tensor<4xf32> into tensor<{4 * n}xf32>")
        last = f"%i{k}"
    lines += [f"  bufferization.materialize_in_destination {last} in restrict writable %out"
              f" : (tensor<{4 * n}xf32>, memref<{4 * n}xf32>) -> ()",
              "  return", "}"]
    return "\n".join(lines)


def eliminate(n, text):
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # noqa: E731
    done = subprocess.run(["ingot-opt", "--ingot-eliminate-empties"], input=text, capture_output=True, text=True,
                          preexec_fn=limit)
    assert done.returncode == 0, f"{n} results: exit code {done.returncode}: {done.stderr[:500]}"
    return done.stdout


def check(n, order):
    text = eliminate(n, module(n, order))
    slices = dict(re.findall(r"(%\S+) = tensor.extract_slice %\S+\[(\d+)\]", text))
    results = dict(re.findall(r"(%\S+) = linalg.exp .* outs\((%\S+) :", text))
    inserts = re.findall(r"tensor.insert_slice (%\S+) into %\S+\[(\d+)\]", text)
    assert len(results) == n and len(inserts) == n, (len(results), len(inserts))
    # Nothing is copied: each inserted result was computed in place.
    apart = [at for result, at in inserts if slices.get(results[result]) != at]
    assert not apart, f"{n} results: {len(apart)} are not where they belong, e.g. at {apart[0]}"


def check_pairs(n):
    """Makes a chain of `n` ops, each of which concatenates the previous result with itself."""
    lines, last = ["func.func @pairs(%x: tensor<?xf32>, %n: index, %m: index, %out: memref<?xf32>) {"], "%x"
    for i in range(n):
        lines += [f"  %e{i} = tensor.empty(%n) : tensor<?xf32>",
                  f"  %r{i} = linalg.exp ins({last} : tensor<?xf32>) outs(%e{i} : tensor<?xf32>) -> tensor<?xf32>",
                  f"  %f{i} = tensor.extract_slice %r{i}[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>",
                  f"  %t{i} = tensor.empty(%n) : tensor<?xf32>",
                  f"  %i{i} = tensor.insert_slice %f{i} into %t{i}[0] [%m] [1] : tensor<?xf32> into tensor<?xf32>",
                  f"  %j{i} = tensor.insert_slice %f{i} into %i{i}[%m] [%m] [1] : tensor<?xf32> into tensor<?xf32>"]
        last = f"%j{i}"
    lines += [f"  bufferization.materialize_in_destination {last} in restrict writable %out"
              " : (tensor<?xf32>, memref<?xf32>) -> ()",
              "  return", "}"]
    text = eliminate(n, "\n".join(lines)).splitlines()
    for i, line in enumerate(text):
        if empty := re.match(r" *(%\S+) = tensor.empty", line):
            assert re.search(re.escape(empty[1]) + r"\b", text[i + 1]), (line, text[i + 1])
    assert sum("tensor.empty" in line for line in text) >= n


for n in (2, 63, 65, 130):
    check(n, range(n))
    check(n, [i ^ 1 if i ^ 1 < n else i for i in range(n)])
    check(n, range(n - 1, -1, -1))
check(20000, range(20000))
check_pairs(600)
