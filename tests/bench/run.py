"""Times this project and PyTorch side by side, on one thread, and judges the ratios.

    python tests/bench/run.py [--only NAME ...] [--repeat N] [--json FILE] [--strict]

Two worker processes, one a library, stay alive together and take turns in short rounds, so both see the same machine.
Times are medians over the rounds, and the ratio is the median of the rounds' ratios, which a busy machine disturbs
least. Before it is timed, a workload has to give the same numbers in both.
Then the time to import tensor, transforms and modules beyond NumPy (fresh processes), and the size of what is
installed.
Prints a Markdown table; with --strict, exits with 1 when a target is missed.
"""

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROUNDS = 15  # of one workload, at least
ROUND_SECONDS = 0.006  # in one library; at least one call
WORKLOAD_SECONDS = 2.0  # more rounds, as long as they fit
OURS, PEER = "tensorplay", "torch"

# ratio of our time to PyTorch's that a workload may take
TARGETS = {
    "a + b, 8 floats": 0.6,
    "gradient through 30 small operators": 0.2,
    "Hessian of a 32-64-1 network": 0.2,
    "per-sample gradients, 64-64-10, batch 64": 0.25,
    "per-sample gradients, 784-512-10, batch 256": 0.5,
    "matrix product, 1024": 1.2,
    "exp, 1e6 floats": 1.2,
    "sin, 1e6 floats": 1.2,
    "tanh, 1e6 floats": 1.2,
    "add, 1e6 floats": 1.2,
    "sum over rows, 1000x1000": 1.2,
    "sum over columns, 1000x1000": 1.2,
    "amax over rows, 1000x1000": 1.2,
    "amax over columns, 1000x1000": 1.2,
    "var over columns, 1000x1000": 1.2,
    "cumsum, 1e6": 1.2,
    "sort, 1e6": 1.2,
    "topk 100, 1e6": 1.2,
    "gather, 1e6": 1.2,
    "scatter_add, 1e6": 1.2,
    "transposed copy, 1024x1024": 1.2,
    "cat, 2 of 5e5": 1.2,
    "stack, 2 of 5e5": 1.2,
    "masked_fill, 1000x1000": 1.2,
    "softmax, 2048x1000": 1.2,
    "erf, 1e6 floats": 1.1,
    "lgamma, 1e6 positive floats": 1.1,
    "digamma, 1e6 positive floats": 1.1,
    "rfft, 4096x1024": 1.1,
    "irfft, 4096x513": 1.1,
    "fft2, 512x512 complex": 1.1,
    "fft, 10007 complex": 1.1,
    "fft, 20000x16 complex": 1.1,
    "cholesky, 512x512": 1.1,
    "cholesky, 1000 of 16x16": 1.1,
    "solve, 512x512": 1.1,
    "solve, 1000 of 16x16": 1.1,
    "eigh, 512x512": 1.1,
    "eigh, 1000 of 16x16": 1.1,
    "svd, 512x512": 1.1,
    "svd, 1000 of 16x16": 1.1,
    "per-sample gradients, two convolutions, batch 16": 0.5,
    "ensemble of ten 784-128-128-10, batch 64": 0.7,
    "gradients of an ensemble of ten, batch 64": 0.7,
    "layer_norm, 2048x1024": 1.0,
    "conv2d, 16x32x28x28, 64 filters 3x3": 1.1,
}
IMPORT, SIZE = "import beyond NumPy, with func and nn", "installed, with func and nn"
IMPORT_SECONDS, SIZE_MEGABYTES = 0.15, 40


# -- the work -----------------------------------------------------------------------------------------


def workloads(library):
    """{name: (function, arguments)}: the same code for both libraries."""
    import numpy as np

    tp = importlib.import_module(library)
    func = importlib.import_module(f"{library}.func")
    nn = importlib.import_module(f"{library}.nn.functional")
    tp.set_num_threads(1)
    rng = np.random.default_rng(2)

    def floats(*shape):
        return tp.from_numpy(rng.normal(0, 0.1, shape).astype(np.float32))

    def layers(*widths):
        return [(floats(i, o), floats(o)) for i, o in zip(widths, widths[1:])]

    def network(layers, x):
        *hidden, (weight, bias) = layers
        for w, b in hidden:
            x = tp.tanh(x @ w + b)
        return x @ weight + bias

    def chain(x):  # sin, product, sum: three operators a turn
        for _ in range(10):
            x = tp.sin(x) * x + x
        return x.sum()

    def sample_loss(layers, x, y):
        return nn.cross_entropy(network(layers, x).unsqueeze(0), y.unsqueeze(0))

    def per_sample(batch, *widths):
        labels = tp.from_numpy(rng.integers(0, widths[-1], batch))
        return (func.vmap(func.grad(sample_loss), in_dims=(None, 0, 0)),
                (layers(*widths), floats(batch, widths[0]), labels))

    small, large = layers(32, 64, 1), floats(1_000_000)
    positive = tp.from_numpy(rng.uniform(0.05, 20, 1_000_000).astype(np.float32))
    return {
        "a + b, 8 floats": (lambda a, b: a + b, (floats(8), floats(8))),
        "gradient through 30 small operators": (func.grad(chain), (floats(8),)),
        "Hessian of a 32-64-1 network": (func.hessian(lambda x: network(small, x).sum()), (floats(32),)),
        "per-sample gradients, 64-64-10, batch 64": per_sample(64, 64, 64, 10),
        "per-sample gradients, 784-512-10, batch 256": per_sample(256, 784, 512, 10),
        "matrix product, 1024": (lambda a, b: a @ b, (floats(1024, 1024), floats(1024, 1024))),
        "exp, 1e6 floats": (tp.exp, (large,)),
        "sin, 1e6 floats": (tp.sin, (large,)),
        "tanh, 1e6 floats": (tp.tanh, (large,)),
        "add, 1e6 floats": (lambda a, b: a + b, (large, floats(1_000_000))),
        "erf, 1e6 floats": (tp.erf, (large,)),
        "lgamma, 1e6 positive floats": (tp.lgamma, (positive,)),
        "digamma, 1e6 positive floats": (tp.digamma, (positive,)),
        **array_workloads(tp, rng, floats),
        **fourier_workloads(tp, floats),
        **decomposition_workloads(tp, floats),
        **network_workloads(tp, func, nn, rng, floats),
    }


def network_workloads(tp, func, nn, rng, floats):
    def classes(n):
        return tp.from_numpy(rng.integers(0, 10, n))

    def convolutions(params, x):
        (w1, b1), (w2, b2), (w3, b3), (w4, b4) = params
        x = nn.relu(nn.conv2d(nn.relu(nn.conv2d(x.unsqueeze(0), w1, b1)), w2, b2))
        return nn.relu(nn.max_pool2d(x, 2).reshape(-1) @ w3 + b3) @ w4 + b4

    def sample_loss(params, x, y):
        return nn.cross_entropy(convolutions(params, x).unsqueeze(0), y.unsqueeze(0))

    def dense(params, x):
        *hidden, (weight, bias) = params
        for w, b in hidden:
            x = nn.relu(x @ w + b)
        return x @ weight + bias

    def batch_loss(params, x, y):
        return nn.cross_entropy(dense(params, x), y)

    filters = [(floats(32, 1, 3, 3), floats(32)), (floats(64, 32, 3, 3), floats(64)), (floats(9216, 128), floats(128)),
               (floats(128, 10), floats(10))]
    ten = [(floats(10, i, o), floats(10, o)) for i, o in ((784, 128), (128, 128), (128, 10))]
    images, labels = floats(64, 784), classes(64)
    return {
        "per-sample gradients, two convolutions, batch 16": (
            func.vmap(func.grad(sample_loss), in_dims=(None, 0, 0)), (filters, floats(16, 1, 28, 28), classes(16))),
        "ensemble of ten 784-128-128-10, batch 64": (func.vmap(dense, in_dims=(0, None)), (ten, images)),
        "gradients of an ensemble of ten, batch 64": (
            func.vmap(func.grad(batch_loss), in_dims=(0, None, None)), (ten, images, labels)),
        "layer_norm, 2048x1024": (
            lambda x, w, b: nn.layer_norm(x, (1024,), w, b), (floats(2048, 1024), floats(1024), floats(1024))),
        "conv2d, 16x32x28x28, 64 filters 3x3": (nn.conv2d, (floats(16, 32, 28, 28), floats(64, 32, 3, 3))),
    }


def fourier_workloads(tp, floats):
    def points(*shape):
        return tp.complex(floats(*shape), floats(*shape))

    return {
        "rfft, 4096x1024": (tp.fft.rfft, (floats(4096, 1024),)),
        "irfft, 4096x513": (tp.fft.irfft, (points(4096, 513),)),
        "fft2, 512x512 complex": (tp.fft.fft2, (points(512, 512),)),
        "fft, 10007 complex": (tp.fft.fft, (points(10007),)),
        "fft, 20000x16 complex": (tp.fft.fft, (points(20000, 16),)),
    }


def decomposition_workloads(tp, floats):
    """One large matrix, and many small ones. Values alone are compared: the signs of vectors are a choice."""
    table = {}
    for label, a in (("512x512", floats(512, 512)), ("1000 of 16x16", floats(1000, 16, 16))):
        definite = a @ a.mT + a.shape[-1] * tp.eye(a.shape[-1])
        table |= {
            f"cholesky, {label}": (tp.linalg.cholesky, (definite,)),
            f"solve, {label}": (tp.linalg.solve, (definite, a)),
            f"eigh, {label}": (lambda x: tp.linalg.eigh(x)[0], (a + a.mT,)),
            f"svd, {label}": (lambda x: tp.linalg.svd(x)[1], (a,)),
        }
    return table


def array_workloads(tp, rng, floats):
    """Reductions, orders, places and moves of about a million elements."""
    square, line = floats(1000, 1000), floats(1_000_000)
    index = tp.from_numpy(rng.integers(0, 1_000_000, 1_000_000))
    halves = [floats(500_000), floats(500_000)]
    mask = tp.from_numpy(rng.random((1000, 1000)) < 0.5)
    return {
        "sum over rows, 1000x1000": (lambda x: x.sum(0), (square,)),
        "sum over columns, 1000x1000": (lambda x: x.sum(1), (square,)),
        "amax over rows, 1000x1000": (lambda x: tp.amax(x, 0), (square,)),
        "amax over columns, 1000x1000": (lambda x: tp.amax(x, 1), (square,)),
        "var over columns, 1000x1000": (lambda x: x.var(1), (square,)),
        "cumsum, 1e6": (lambda x: x.cumsum(0), (line,)),
        "sort, 1e6": (lambda x: tp.sort(x)[0], (line,)),
        "topk 100, 1e6": (lambda x: tp.topk(x, 100)[0], (line,)),
        "gather, 1e6": (lambda x, i: tp.gather(x, 0, i), (line, index)),
        "scatter_add, 1e6": (lambda x, i: tp.scatter_add(x, 0, i, x), (line, index)),
        "transposed copy, 1024x1024": (lambda x: x.t().contiguous(), (floats(1024, 1024),)),
        "cat, 2 of 5e5": (lambda a, b: tp.cat([a, b]), halves),
        "stack, 2 of 5e5": (lambda a, b: tp.stack([a, b]), halves),
        "masked_fill, 1000x1000": (lambda x, m: x.masked_fill(m, 0.0), (square, mask)),
        "softmax, 2048x1000": (lambda x: tp.softmax(x, 1), (floats(2048, 1000),)),
    }


def leaves(result):
    if isinstance(result, (list, tuple)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result.numpy().astype("float64").ravel()]


def digest(result):
    """A few numbers by which two results of the same work are compared."""
    import numpy as np

    flat = np.concatenate(leaves(result))
    return [flat.size, float(np.sqrt((flat * flat).sum())), float(flat @ np.cos(np.arange(flat.size)))]


def worker(library):
    """Answers requests, one JSON object a line: {"name", "calls"} -> {"seconds"} or {"digest"} where calls is 0."""
    table = workloads(library)
    print(json.dumps({"version": importlib.import_module(library).__version__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        function, arguments = table[request["name"]]
        if not request["calls"]:
            answer = {"digest": digest(function(*arguments))}
        else:
            turns = range(request["calls"])
            for _ in range(request["calls"] // 8):
                function(*arguments)
            start = time.perf_counter()
            for _ in turns:
                function(*arguments)
            answer = {"seconds": (time.perf_counter() - start) / request["calls"]}
        print(json.dumps(answer), flush=True)


# -- measuring ----------------------------------------------------------------------------------------


def environment():
    """One thread everywhere; no BLAS kernel for another processor than this one; bytecode as after an installation."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "TP")}
    dropped = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
    return {k: v for k, v in os.environ.items() if k not in dropped} | one


class Worker:
    def __init__(self, library):
        self.library = library
        self.process = subprocess.Popen([sys.executable, __file__, "--worker", library], text=True, env=environment(),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version = self.answer()["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench: the worker of {self.library} ended")
        return json.loads(line)

    def __call__(self, name, calls):
        self.process.stdin.write(json.dumps({"name": name, "calls": calls}) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(name, ours, peer, rounds):
    """Medians of seconds a call, ours and the peer's, and of their ratio."""
    a, b = ours(name, 0)["digest"], peer(name, 0)["digest"]
    if a[0] != b[0] or any(abs(x - y) > 1e-3 * max(abs(b[1]), 1e-30) for x, y in zip(a, b)):
        sys.exit(f"bench: {name}: results differ: {OURS} {a}, {PEER} {b}")
    calls, round_seconds = {}, 0
    for side in (ours, peer):
        once = min(side(name, 3)["seconds"] for _ in range(3))
        calls[side] = max(1, round(ROUND_SECONDS / once))
        round_seconds += calls[side] * once
    pairs = []
    for turn in range(max(rounds, min(200, round(WORKLOAD_SECONDS / round_seconds)))):
        took = {side: side(name, calls[side])["seconds"] for side in ((ours, peer) if turn % 2 else (peer, ours))}
        pairs.append((took[ours], took[peer], took[ours] / took[peer]))
    return [statistics.median(column) for column in zip(*pairs)]


def import_seconds(rounds):
    """Seconds to import tensors, transforms and modules where NumPy is imported already: ours, the peer's; medians over
    fresh processes, by turns."""

    def once(library):
        code = (f"import time, numpy; start = time.perf_counter(); import {library}, {library}.func, {library}.nn; "
                "print(time.perf_counter() - start)")
        return float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, env=environment(),
                                    text=True).stdout)

    once(OURS), once(PEER)  # bytecode is written, files are cached
    pairs = [(once(OURS), once(PEER)) for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*pairs)]


def installed_megabytes(library):
    """Size of the installed files of a library; of ours without the testing package, which lies in core's folder."""
    root = pathlib.Path(importlib.util.find_spec(library).origin).parent
    left_out = root / "testing" if library == OURS else None
    return sum(p.stat().st_size for p in root.rglob("*") if p.is_file() and left_out not in p.parents) / 1e6


# -- the table ----------------------------------------------------------------------------------------


def duration(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def row(name, ours, peer, ratio, target, met):
    return f"| {name} | {ours} | {peer} | {ratio} | {target} | {'pass' if met else '**miss**'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="workloads, by how their names begin")
    parser.add_argument("--repeat", type=int, default=ROUNDS, help="rounds a workload, at least")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker)

    everything = (*TARGETS, IMPORT, SIZE)
    wanted = [n for n in everything if not options.only or n.startswith(tuple(options.only))]
    if not wanted:
        sys.exit("bench: no such workload; there are:\n" + "\n".join(everything))
    figures = []
    timed = [n for n in wanted if n in TARGETS]
    if timed:
        ours, peer = Worker(OURS), Worker(PEER)
        print(f"{OURS} {ours.version} beside PyTorch {peer.version}, one thread, medians\n")
    print("| workload | tensorplay | PyTorch | ratio | at most | |\n|---|---|---|---|---|---|", flush=True)
    for name in timed:
        mine, its, ratio = compare(name, ours, peer, options.repeat)
        target = TARGETS[name]
        figures.append({"name": name, "seconds": mine, "peer_seconds": its, "value": ratio, "target": target})
        print(row(name, duration(mine), duration(its), f"{ratio:.2f}", f"{target:g}", ratio <= target), flush=True)
    if timed:
        ours.close()
        peer.close()
    if IMPORT in wanted:
        mine, its = import_seconds(max(3, options.repeat // 2))
        figures.append({"name": IMPORT, "peer_value": its, "value": mine, "target": IMPORT_SECONDS})
        print(row(IMPORT, duration(mine), duration(its), f"{mine / its:.2f}", duration(IMPORT_SECONDS),
                  mine <= IMPORT_SECONDS), flush=True)
    if SIZE in wanted:
        mine, its = installed_megabytes(OURS), installed_megabytes(PEER)
        figures.append({"name": SIZE, "peer_value": its, "value": mine, "target": SIZE_MEGABYTES})
        print(row(SIZE, f"{mine:.1f} MB", f"{its:.0f} MB", f"{mine / its:.2f}", f"{SIZE_MEGABYTES} MB",
                  mine <= SIZE_MEGABYTES), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    missed = [f["name"] for f in figures if f["value"] > f["target"]]
    print(f"\n{len(figures) - len(missed)} of {len(figures)} targets met")
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
