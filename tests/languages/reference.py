"""The numbers that the programs check against, worked out by NumPy alone, without libtp and without differentiation.

    python tests/languages/reference.py --check     fails when a program holds other numbers
    python tests/languages/reference.py --write     writes them into the programs, between the lines that say so

The network is y = W2 tanh(W1 x + b1) + b2 with 3 inputs, 4 hidden values, 2 outputs; the loss of a sample is half the
squared distance of y from its target. Inputs are multiples of 1/8, which every language writes exactly:
value k of an array is ((a k + b) mod 17 - 8) / 8.
"""

import argparse
import pathlib
import re

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
INPUTS = {"w1": (5, 3, (4, 3)), "b1": (3, 11, (4,)), "w2": (7, 1, (2, 4)), "b2": (9, 4, (2,)), "x": (11, 6, (5, 3)),
          "target": (13, 2, (5, 2)), "v": (4, 9, (4, 3))}
PROGRAMS = ("c/network.c", "cpp/network.cpp", "rust/src/main.rs", "fortran/network.f90", "java/Network.java")


def inputs():
    return {name: ((a * np.arange(np.prod(shape)) + b) % 17 - 8).reshape(shape) / 8.0
            for name, (a, b, shape) in INPUTS.items()}


def numbers():
    """Gradients of every sample by W1 and W2, the Jacobian of y of the first sample by x, the product of the Hessian
    of the summed loss by W1 with v."""
    w1, b1, w2, b2, x, target, v = inputs().values()
    h = np.tanh(x @ w1.T + b1)
    slope = 1 - h * h
    error = h @ w2.T + b2 - target
    back = error @ w2
    delta = back * slope
    moved = (x @ v.T) * slope  # of h, as W1 moves along v
    bent = (moved @ w2.T) @ w2 * slope - 2 * back * h * moved
    return {
        "grad_w1": np.einsum("ni,nj->nij", delta, x),
        "grad_w2": np.einsum("ni,nj->nij", error, h),
        "jacobian_of_y": (w2 * slope[0]) @ w1,
        "hessian_product": bent.T @ x,
    }


def row(values, suffix=""):
    return [f"{v:.15e}{suffix}" for v in values]


def lines(parts, start, width, end=""):
    out, line = [], start
    for part in parts:
        if len(line) + len(part) + 2 > width - len(end):
            out.append(line.rstrip() + end)
            line = start
        line += part + " "
    return "\n".join([*out, line.rstrip()])


def text(suffix):
    """The arrays in the syntax of a language."""
    out = []
    for name, values in numbers().items():
        flat = values.ravel()
        parts = [v + "," for v in row(flat)]
        parts[-1] = parts[-1].rstrip(",")
        if suffix == ".rs":
            out.append(f"const {name.upper()}: [f64; {flat.size}] = [\n{lines(parts, '    ', 100)}\n];")
        elif suffix == ".f90":
            parts = [v.replace("e", "d") for v in parts]
            body = lines(parts, "        ", 110, " &")
            out.append(f"    real(c_double), parameter :: {name}({flat.size}) = [ &\n{body}]")
        elif suffix == ".java":
            out.append(f"    static final double[] {name.upper()} = {{\n{lines(parts, '        ', 110)}\n    }};")
        else:
            head = "static const double" if suffix == ".c" else "const double"
            out.append(f"{head} {name}[{flat.size}] = {{\n{lines(parts, '    ', 110)}\n}};")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale = []
    for name in PROGRAMS:
        path = HERE / name
        old = path.read_text()
        marks = re.compile(r"(^[^\n]*written by reference\.py[^\n]*\n).*?(^[^\n]*end of the numbers)", re.S | re.M)
        if not marks.search(old):
            raise SystemExit(f"reference: {name} has no lines between which the numbers stand")
        new = marks.sub(lambda m, s=path.suffix: m[1] + text(s) + "\n" + m[2], old)
        if new != old:
            stale.append(name)
            if options.write:
                path.write_text(new)
    if stale and not options.write:
        raise SystemExit(f"reference: other numbers in {', '.join(stale)}; run with --write")


main()
