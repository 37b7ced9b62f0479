"""The package as such: names, stubs, lazy parts, the command line, threads."""

import ast
import importlib
import importlib.resources
import os
import shlex
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import _ops, config
from tensorplay._clib import lib


def test_names():
    for name in (
        "tensor",
        "zeros",
        "float32",
        "bool",
        "no_grad",
        "autograd",
        "linalg",
        "fft",
        "special",
        "library",
        "pi",
        "nan",
    ):
        assert hasattr(tp, name) and name in dir(tp)
    assert tp.float is tp.float32 and tp.long is tp.int64 and tp.newaxis is None
    for name, function in _ops.FUNCTIONS.items():
        assert callable(getattr(tp, name)) and function.__doc__, name
    for name in _ops.METHODS:
        assert hasattr(tp.Tensor, name), name
    for module, functions in _ops.NAMESPACES.items():
        if not module.startswith("nn"):
            space = importlib.import_module(f"tensorplay.{module}")
            for name, f in functions.items():
                shown = getattr(space, name)
                assert getattr(shown, "__wrapped__", shown) is f
    with pytest.raises(AttributeError, match="nothing"):
        tp.nothing
    assert tp.__version__


def test_parts_that_are_not_installed_are_named():
    code = """
import sys, importlib.abc
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in ("tensorplay.nn", "tensorplay.func"):
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
import tensorplay as tp
for name in ("nn", "func"):
    try:
        getattr(tp, name)
    except ModuleNotFoundError as e:
        assert f"tensorplay-{name}" in str(e) and e.name == f"tensorplay.{name}", e
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def stub_members(module, name):
    text = importlib.resources.files("tensorplay").joinpath(module).read_text()
    found = next(n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == name)
    members = set()
    for n in found.body:
        if isinstance(n, ast.FunctionDef):
            members.add(n.name)
        elif isinstance(n, ast.AnnAssign):
            members.add(n.target.id)
    return members


def test_stubs_are_complete():
    written = stub_members("_tensor.pyi", "Tensor")
    actual = {n for n in vars(tp.Tensor) if n not in _ops.METHODS or n in written}
    private = {n for n in actual if n.startswith("_") and not n.startswith("__")} | {
        "__slots__", "__weakref__", "__doc__", "__module__", "__array_priority__", "__del__", "__repr__",
        "__reduce_ex__", "__dict__",
    }  # fmt: skip
    assert written - {"_make_subclass"} == actual - private
    assert importlib.resources.files("tensorplay").joinpath("py.typed").is_file()


def test_import_is_light():
    code = """
import numpy, sys
before = set(sys.modules)
import tensorplay
new = {m for m in set(sys.modules) - before if not m.startswith("tensorplay")}
heavy = {"inspect", "ctypes", "cffi", "pycparser", "scipy", "optree", "asyncio", "unittest"} & new
assert not heavy, heavy
assert not {"tensorplay.linalg", "tensorplay.library", "tensorplay.func", "tensorplay.nn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_config():
    def run(*args):
        return subprocess.run([sys.executable, "-m", "tensorplay.config", *args], capture_output=True, text=True)

    assert shlex.split(run("--cflags").stdout) == [f"-I{config.include_dir()}"]
    for option, file in (("--cmakedir", "libtpConfig.cmake"), ("--pkgconfigdir", "libtp.pc"), ("--libdir", "libtp.so"),
                         ("--includedir", "tp/tp.h")):  # fmt: skip
        assert os.path.isfile(os.path.join(run(option).stdout.strip(), file)), option
    assert "-ltp" in run("--libs").stdout and run("--libdir").stdout.strip() == config.library_dir()
    assert run("--version").stdout.strip() == tp.__version__ and run().returncode == 2
    assert os.path.isdir(config.library_dir())


def test_config_quotes(tmp_path):
    folder = tmp_path / "a path, with 'spaces'" / "tensorplay"
    folder.mkdir(parents=True)
    shutil.copy(config.__file__, folder)
    (folder / "__init__.py").write_text("")
    (folder / "_version.py").write_text("version = '0'")
    command = [sys.executable, "-m", "tensorplay.config", "--cflags", "--libs"]
    flags = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent, env={}).stdout
    lib = folder / "lib"
    assert shlex.split(flags) == [f"-I{folder / 'include'}", f"-L{lib}", "-ltp", f"-Wl,-rpath,{lib}"]


@pytest.mark.skipif(not shutil.which("cc"), reason="no cc")
@pytest.mark.skipif("TP_SANITIZE" in os.environ, reason="a sanitized library links with sanitized programs alone")
def test_config_builds_programs(tmp_path):
    (tmp_path / "main.c").write_text("""
#include <stdio.h>
#include <tp/tp.h>
int main(void)
{
    int64_t shape[1] = {2};
    tp_tensor *a = tp_from_data((double[2]){3, 4}, TP_FLOAT64, 1, shape), *b = tp_dot(a, a);
    tp_scalar s;
    if (tp_item(b, &s) != TP_OK) return 1;
    printf("%g", s.v.f);
    tp_release(a), tp_release(b);
    return 0;
}
""")
    flags = f"$({shlex.quote(sys.executable)} -m tensorplay.config --cflags --libs)"
    command = f'eval "cc main.c {flags} -o main" && ./main'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "25", done.stderr


def test_threads(transforms):
    """Levels belong to a thread, tensors to none."""
    bad = []
    shared = tp.tensor([1.0, 2.0, 3.0], dtype=tp.float64)

    class Cube(tp.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    def work(k):
        try:
            for r in range(20):
                c = float(k + r)
                f = lambda v: Cube.apply(v) * c
                got = transforms.vmap(transforms.vjp(transforms.vjp(f)))(shared)
                np.testing.assert_allclose(got.numpy(), 6 * c * shared.numpy())
                x = shared.clone().requires_grad_()
                f(x).sum().backward()
                np.testing.assert_allclose(x.grad.numpy(), 3 * c * shared.numpy() ** 2)
                with tp.no_grad():
                    assert not f(x).requires_grad
            assert lib.tp_level_depth() == 0
        except BaseException as e:
            bad.append(repr(e))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad, bad[:2]


def test_settings():
    n = tp.get_num_threads()
    try:
        tp.set_num_threads(1)
        assert tp.get_num_threads() == 1
        for bad, error in ((0, ValueError), (-1, ValueError), (2**40, ValueError), ("a", TypeError)):
            with pytest.raises(error):
                tp.set_num_threads(bad)
    finally:
        tp.set_num_threads(n)
    assert tp.cpu_capability() in ("avx512", "avx2", "neon", "default") and isinstance(tp.blas_library(), str)
    before = tp.memory_stats()["allocated_bytes"]
    x = tp.zeros(1 << 20)
    assert tp.memory_stats()["allocated_bytes"] >= before + (4 << 20)
    del x
    tp.empty_cache()
    assert tp.memory_stats()["peak_bytes"] >= 4 << 20


def test_programs_end_quietly():
    code = """
import threading, time, sys, numpy as np, tensorplay as tp
class F(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.x = x; return x * 1
    @staticmethod
    def backward(ctx, g): return g
x = tp.tensor([1.0], requires_grad=True)
y = F.apply(x); y.register_hook(lambda g: g)
a = tp.from_numpy(np.arange(5.0)).numpy(); capsule = tp.from_numpy(a).__dlpack__()
cycle = [y]; cycle.append(cycle)
def run():
    while True: F.apply(x).sum().backward(); tp.from_numpy(np.zeros(3)).numpy()
threading.Thread(target=run, daemon=True).start()
time.sleep(0.1)
sys.modules["kept"] = y
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
