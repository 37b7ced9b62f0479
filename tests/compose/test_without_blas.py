"""A process that finds no BLAS: products on libtp's own kernels are right, what needs LAPACK says so."""

import os
import subprocess
import sys

PROGRAM = """
import numpy as np, tensorplay as tp
assert tp.blas_library() == "built-in"
rng = np.random.default_rng(0)
for dtype in ("float32", "float64", "complex64", "complex128"):
    for m, k, n in ((1, 1, 1), (3, 5, 7), (64, 1, 64), (130, 257, 33), (5, 0, 4)):
        a = rng.standard_normal((2, m, k)).astype(dtype)
        b = rng.standard_normal((2, k, n)).astype(dtype)
        if dtype.startswith("complex"):
            a, b = a * (1 + 2j), b * (3 - 1j)
        tolerance = (1e-4 if dtype in ("float32", "complex64") else 1e-11) * max(k, 1)
        for x, y in ((a, b), (a[0], b[0]), (a[0], b[0][:, 0]), (a.transpose(0, 2, 1).conj(), a)):
            got = tp.matmul(tp.from_numpy(x), tp.from_numpy(y)).numpy()
            assert got.dtype == dtype and np.abs(got - x @ y).max(initial=0) <= tolerance * 10, (dtype, m, k, n)
a = tp.from_numpy(rng.standard_normal((4, 4)))
x = a.clone().requires_grad_()
tp.matmul(x, x).sum().backward()
ones = np.ones((4, 4))
assert np.allclose(x.grad.numpy(), ones @ a.numpy().T + a.numpy().T @ ones)
posed = tp.matmul(a, a.t()) + tp.eye(4)
for name in ("cholesky", "inv", "det", "slogdet", "qr", "eigh", "eigvals", "svd", "lu", "pinv", "lstsq", "solve"):
    try:
        getattr(tp.linalg, name)(*(posed,) * (2 if name in ("lstsq", "solve") else 1))
    except RuntimeError as e:
        assert "needs LAPACK" in str(e) and "install OpenBLAS" in str(e) and str(e).startswith("linalg."), e
    else:
        raise AssertionError(name)
assert abs(tp.linalg.norm(a).item() - np.linalg.norm(a.numpy())) < 1e-12
print("right")
"""


def test_without_blas():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                          env=os.environ | {"TP_BLAS": "built-in"})
    assert done.returncode == 0 and done.stdout == "right\n", done.stderr[-3000:]
