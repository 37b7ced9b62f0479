"""libtp's BLAS and threads beside those of NumPy, SciPy and PyTorch in one process, loaded in either order.

Each case is a process of its own. Several OpenBLAS are mapped then, and two or three pools of threads; results, thread
counts and forks have to be each library's own. PyTorch's cases run where it is installed (`nox -s peer`).
"""

import importlib.util
import itertools
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys, threading
loaded = {}
def load(name):
    if name == "numpy":
        import numpy as module
    elif name == "scipy":
        import scipy.linalg as module
    elif name == "torch":
        import torch as module
        module.set_num_threads(2)
    else:
        import tensorplay as module
        module.set_num_threads(2)
    loaded[name] = module

def product(name, a):
    # The first call of each starts its threads.
    module = loaded[name]
    if name == "numpy":
        return module.matmul(a, a), module.linalg.cholesky(a)
    if name == "scipy":
        return module.blas.dgemm(1.0, a, a), module.cholesky(a, lower=True)
    t = module.from_numpy(a)
    return module.matmul(t, t).numpy(), module.linalg.cholesky(t).numpy()

order = sys.argv[1].split(",")
for name in order:
    load(name)
import numpy as np
rng = np.random.default_rng(0)
m = rng.standard_normal((160, 160))
a = m @ m.T / 160 + np.eye(160)
exact = np.einsum("ik,kj->ij", a.astype(np.longdouble), a.astype(np.longdouble)).astype(float)

def check(name):
    square, factor = product(name, a)
    assert np.abs(square - exact).max() < 1e-12 * np.abs(exact).max(), name
    assert np.abs(factor @ factor.T - a).max() < 1e-12, name
    assert np.abs(np.triu(factor, 1)).max() == 0, name

for name in order:
    check(name)

faults = []
def often(name):
    try:
        for _ in range(3):
            check(name)
    except BaseException as e:
        faults.append((name, repr(e)))

threads = [threading.Thread(target=often, args=(name,)) for name in order * 2]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not faults, faults

import tensorplay as tp
assert tp.get_num_threads() == 2
assert os.path.dirname(tp.__file__) in tp.blas_library(), tp.blas_library()  # its own, not one of the others
if "torch" in loaded:
    assert loaded["torch"].get_num_threads() == 2
else:
    # PyTorch's OpenMP does not survive a fork once it has threads.
    child = os.fork()
    if not child:
        try:
            check("tensorplay")
            check("numpy")
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("right")
"""

OTHERS = [("numpy",), ("numpy", "scipy"), ("torch",), ("numpy", "scipy", "torch")]
ORDERS = sorted({order for others in OTHERS for order in itertools.permutations((*others, "tensorplay"))
                 if order[0] == "tensorplay" or order[-1] == "tensorplay"})


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
def test_in_one_process(order):
    for name in order:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"no {name}")
    names = order if "numpy" in order else (*order, "numpy")
    done = subprocess.run([sys.executable, "-c", PROGRAM, ",".join(names)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "right\n", done.stderr[-3000:]
