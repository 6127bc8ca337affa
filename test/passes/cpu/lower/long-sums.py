# In a sum of thousands of products, each product fuses its addition. The time grows linearly with their number.
# RUN: %python %s
import resource
import subprocess

SECONDS = 60  # of CPU time; a few are needed, and one that grows with the square takes minutes


def module(n):
    """`n` products of one input, and a chain of additions behind all of them."""
    lines = ["func.func @sum(%a: tensor<5x7xf32>, %w: tensor<1x7x16xf32>, %d: tensor<5x9xf32>) -> tensor<5x9xf32> {"]
    for i in range(n):
        lines += [f"  %p{i} = cpu.matmul ins(%a, %w : tensor<5x7xf32>, tensor<1x7x16xf32>)"
                  " outs(%d : tensor<5x9xf32>) {",
                  "  ^bb0(%sum: f32):", "    cpu.yield %sum : f32", "  } -> tensor<5x9xf32>"]
    last = "%p0"
    for i in range(1, n):
        lines.append(f"  %s{i} = nn.add {last}, %p{i} : tensor<5x9xf32>, tensor<5x9xf32> -> tensor<5x9xf32>")
        last = f"%s{i}"
    return "\n".join(lines + [f"  return {last} : tensor<5x9xf32>", "}"])


def check(n):
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # noqa: E731
    done = subprocess.run(["ingot-opt", "--pass-pipeline=builtin.module(func.func(kernel-fuse-epilogues))"],
                          input=module(n), capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 0, f"{n} products: exit code {done.returncode}: {done.stderr[:500]}"
    assert done.stdout.count("cpu.matmul") == n, done.stdout.count("cpu.matmul")
    assert done.stdout.count("arith.addf") == n - 1 and "nn.add" not in done.stdout, f"{n} products: additions are left"


check(3)
check(30000)
