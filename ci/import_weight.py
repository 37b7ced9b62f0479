"""Measures what `import tensorplay, tensorplay.func, tensorplay.nn` costs beyond NumPy, and what is installed.

Fails beyond 0.15 s, beyond 40 MB, when an optional dependency is imported, or when a thread is started or BLAS loaded.
Each figure is the median of fresh processes, NumPy alone and with the packages by turns.
"""

import pathlib
import statistics
import subprocess
import sys

RUNS = 11
SECONDS, MEGABYTES = 0.15, 40
OPTIONAL = ("scipy", "matplotlib", "torch", "sklearn", "pytest", "tqdm", "cffi.api", "pycparser")

NUMPY = "import time, numpy; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
OURS = "import tensorplay, tensorplay.func, tensorplay.nn"
STATE = f"""
import os, sys, numpy
threads = len(os.listdir('/proc/self/task'))
{OURS}
print([name for name in {OPTIONAL!r} if name in sys.modules], len(os.listdir('/proc/self/task')) - threads,
      any('tensorplay/lib/libscipy_openblas' in line for line in open('/proc/self/maps')))
print(os.path.dirname(tensorplay.__file__))
"""


def python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def main():
    state, folder = python(STATE).split("\n")
    if state != "[] 0 False":
        sys.exit(f"import_weight: optional modules, threads started, BLAS loaded: {state}")
    python(NUMPY.format(OURS))  # fills the caches of bytecode and files
    seconds = statistics.median(float(python(NUMPY.format(OURS))) for _ in range(RUNS))
    size = sum(p.stat().st_size for p in pathlib.Path(folder).rglob("*") if p.is_file()) / 1e6
    print(f"import_weight: {seconds * 1e3:.0f} ms beyond NumPy (at most {SECONDS * 1e3:.0f}), "
          f"{size:.1f} MB installed (at most {MEGABYTES})")
    if seconds > SECONDS or size > MEGABYTES:
        sys.exit(1)


main()
