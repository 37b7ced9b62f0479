"""Writes references.h: the values test_reference.c compares with: arguments that float holds exactly, and the function
as the sum of two doubles, computed by mpmath with 60 digits. Run it after adding a function:

    python make_references.py > references.h
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 60
HALF = mp.mpf(1) / 2
SMALL = [1e-30, 3e-5, 0.2, 0.49, 0.99, 1.3, 2.5, 9.1, 33.3]
BOTH = SMALL + [-x for x in SMALL]
UNIT = [x for x in BOTH if abs(x) < 1]
POSITIVE = SMALL + [1e-42, 1e30, 1.0001, 0.9999]
LARGE = [1e5, -3e7, 1e22, 3e38]


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def tanh_argument(x):
    return 2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)


def tanh_slope(x):
    return 2 * mp.sqrt(2 / mp.pi) * (1 + 3 * mp.mpf("0.044715") * x**2)


UNARY = {
    "exp": (mp.exp, BOTH + [88.5, -87.0, -103.0]),
    "exp2": (lambda x: mp.mpf(2) ** x, BOTH + [127.5, -126.3, -148.0]),
    "expm1": (mp.expm1, BOTH + [88.5]),
    "log": (mp.log, POSITIVE),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (mp.log10, POSITIVE),
    "log1p": (mp.log1p, [x for x in BOTH if x > -1] + [1e30, -0.9999]),
    "sin": (mp.sin, BOTH + LARGE),
    "cos": (mp.cos, BOTH + LARGE),
    "tan": (mp.tan, BOTH + LARGE),
    "sinh": (mp.sinh, BOTH + [89.0, -89.3]),
    "cosh": (mp.cosh, BOTH + [89.0, -89.3]),
    "tanh": (mp.tanh, BOTH),
    "asin": (mp.asin, UNIT),
    "acos": (mp.acos, UNIT),
    "atan": (mp.atan, BOTH + LARGE),
    "asinh": (mp.asinh, BOTH + LARGE),
    "acosh": (mp.acosh, [x for x in POSITIVE if x > 1]),
    "atanh": (mp.atanh, UNIT),
    "erf": (mp.erf, BOTH),
    "erfc": (mp.erfc, BOTH + [9.9]),
    "sqrt": (mp.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), BOTH + POSITIVE),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), SMALL + [-0.49, -2.5, -4.75, 1e30]),
    "digamma": (mp.digamma, SMALL + [-0.2, -4.75, 1e30, 1.46, 1.4616, 1.4617]),
    "sigmoid": (sigmoid, BOTH + [-100.0]),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), BOTH + [-100.0]),
    "silu": (lambda x: x * sigmoid(x), BOTH + [-100.0]),
    "gelu": (lambda x: x * phi(x), BOTH + [-12.5]),
    "gelu_grad": (lambda x: phi(x) + x * density(x), BOTH + [-12.5]),
    "gelu_tanh": (lambda x: x * sigmoid(tanh_argument(x)), BOTH + [-7.5]),
    "gelu_tanh_grad": (
        lambda x: (s := sigmoid(tanh_argument(x))) + x * s * (1 - s) * tanh_slope(x), BOTH + [-7.5]),
}
PAIRS = [(2.5, 3.25), (0.7, -88.0), (33.3, 20.5), (1.0001, 1000.0), (-3.0, 5.0), (-2.5, -4.0), (9.1, 1e-20),
         (0.2, 0.49), (1e-30, 1.25), (1e30, -1.25), (-0.49, 3.0), (80.0, 9.1)]
ANGLES = [(a * y, b * x) for y, x in PAIRS for a in (1, -1) for b in (1, -1)]
QUOTIENTS = [(x, y) for x, y in ANGLES if abs(x) < 1e30]  # mpmath has no signed zeros
BINARY = {
    "pow": (lambda x, y: mp.power(x, y) if x > 0 else mp.power(-x, y) * (-1) ** int(y), PAIRS),
    "atan2": (mp.atan2, ANGLES),
    "hypot": (mp.hypot, PAIRS + [(3e38, 1e38), (1e-40, 3e-40)]),
    "fmod": (lambda x, y: mp.sign(x) * (abs(x) - abs(y) * mp.floor(abs(x) / abs(y))), QUOTIENTS),
    "remainder": (lambda x, y: x - y * mp.floor(x / y), QUOTIENTS),
}


def parts(value):
    hi = float(value)
    return hi, float(value - mp.mpf(hi)) if np.isfinite(hi) else 0.0


def rows(table):
    for name, (function, arguments) in table.items():
        for argument in arguments:
            point = [float(np.float32(x)) for x in (argument if isinstance(argument, tuple) else (argument,))]
            # gamma(x) of large arguments has too many digits for anything but its logarithm
            exact = [mp.mpf(x) for x in point]
            value = mp.loggamma(exact[0]).real if name == "lgamma" and exact[0] > 0 else function(*exact)
            hi, lo = parts(mp.re(value))
            yield "    {" + ", ".join([f'"{name}"', *(x.hex() for x in (*point, hi, lo))]) + "},"


def main():
    print("/* Written by make_references.py: name, arguments, value as the sum of two doubles. */")
    print("static const struct { const char *name; double x, hi, lo; } unary_values[] = {")
    print("\n".join(rows(UNARY)))
    print("};\n\nstatic const struct { const char *name; double x, y, hi, lo; } binary_values[] = {")
    print("\n".join(rows(BINARY)))
    print("};")


if __name__ == "__main__":
    main()
