"""Transforms in several threads at once."""

import gc
import queue
import threading

import pytest

import tensorplay as tp
from tensorplay._clib import lib
from tensorplay.func import grad, hessian, jacfwd, jvp, vjp, vmap
from tensorplay.testing import assert_close


def run(n, work):
    """work(i) in n threads that start together; raises what a thread raised, returns the results."""
    barrier, results, errors = threading.Barrier(n), [None] * n, []

    def body(i):
        try:
            barrier.wait()
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
    return results


def test_eight_threads_have_each_their_own_result():
    tp.manual_seed(0)
    w = tp.randn(6, 6, dtype=tp.float64)
    x = tp.randn(8, 5, 6, dtype=tp.float64)

    def f(v):
        return ((w @ v).tanh() * v).sum()

    def work(i, repeats=30):
        out = None
        for _ in range(repeats):
            g = vmap(grad(f))(x[i])
            h = vmap(hessian(f))(x[i])
            j = jacfwd(vmap(lambda v: (w @ v).sin()))(x[i])
            t = jvp(lambda b: vmap(f)(b), (x[i],), (x[i],))[1]
            out = (g, h, j, t)
        return out

    got = run(8, work)
    for i in range(8):
        for a, b in zip(got[i], work(i, 1)):
            assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_levels_are_per_thread():
    def work(i):
        assert lib.tp_level_depth() == 0
        seen = []

        def f(x):
            seen.append(lib.tp_level_depth())
            return (x * i).sum()

        for _ in range(50):
            assert_close(grad(f)(tp.ones(3)), tp.full((3,), float(i)))
        assert set(seen) == {seen[0]}
        return lib.tp_level_depth()

    assert run(8, work) == [0] * 8


def test_a_tensor_is_released_on_another_thread():
    gc.collect()
    before = lib.tp_live_tensors()
    q = queue.Queue()

    def consume():
        while True:
            t = q.get()
            if t is None:
                return
            del t

    thread = threading.Thread(target=consume)
    thread.start()
    for _ in range(300):
        x = tp.ones(3, requires_grad=True)
        y = (x * 2).sin()
        q.put(y)
        q.put(vjp(lambda t: t.cos(), tp.ones(2))[1])
        del x, y
    q.put(None)
    thread.join()
    gc.collect()
    assert lib.tp_live_tensors() <= before + 4


def test_a_tensor_of_another_threads_transform_is_recognised():
    kept = []
    ready, done = threading.Event(), threading.Event()
    errors = []

    def holder():
        def f(x):
            kept.append(x * 2)
            ready.set()
            done.wait(10)
            return x.sum()

        grad(f)(tp.ones(3))

    thread = threading.Thread(target=holder)
    thread.start()
    ready.wait(10)
    try:
        kept[0] + 1
    except RuntimeError as error:
        errors.append(str(error))
    finally:
        done.set()
        thread.join()
    assert errors and "\n" not in errors[0] and "thread" in errors[0]


def test_backward_in_threads_over_one_leaf():
    """Each thread has its own graph over a shared leaf; reading it is safe."""
    w = tp.tensor([1.0, 2.0], dtype=tp.float64, requires_grad=True)

    def work(i):
        for _ in range(50):
            (g,) = tp.autograd.grad(((w * i) ** 2).sum(), w)
            assert_close(g, 2.0 * i * i * w.detach())

    run(8, work)


def test_functions_written_in_python_in_threads():
    class Cube(tp.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    def work(i):
        x = tp.full((4,), float(i + 1), dtype=tp.float64)
        for _ in range(20):
            assert_close(vmap(grad(lambda v: Cube.apply(v).sum()))(x), 3 * x * x)

    run(8, work)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_results_do_not_depend_on_the_number_of_threads(n):
    old = tp.get_num_threads()
    tp.manual_seed(1)
    x = tp.randn(300, 257)
    want = (x @ x.t()).softmax(1).sum(0), vmap(grad(lambda r: (r.sin() * r).sum()))(x)
    try:
        tp.set_num_threads(n)
        got = (x @ x.t()).softmax(1).sum(0), vmap(grad(lambda r: (r.sin() * r).sum()))(x)
    finally:
        tp.set_num_threads(old)
    assert_close(got[0], want[0], rtol=1e-5, atol=1e-5)
    assert_close(got[1], want[1], rtol=0, atol=0)
