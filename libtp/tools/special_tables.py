"""Writes kernels/special_tables.h: Chebyshev coefficients of special functions, from mpmath in 40 digits.

python libtp/tools/special_tables.py > libtp/src/kernels/special_tables.h

A table has a row a piece; kernels/special.h evaluates a row by Clenshaw's recurrence. Needs mpmath.
"""

import sys

import mpmath as mp

mp.mp.dps = 40
NODES = 48


def chebyshev(f, a, b):
    """Coefficients of the interpolant of f at Chebyshev nodes of [a, b], cut where they stop to count."""
    a, b = mp.mpf(a), mp.mpf(b)
    angles = [mp.pi * (k + mp.mpf(1) / 2) / NODES for k in range(NODES)]
    values = [f((a + b) / 2 + (b - a) / 2 * mp.cos(t)) for t in angles]
    c = [2 * sum(v * mp.cos(j * t) for v, t in zip(values, angles, strict=True)) / NODES for j in range(NODES)]
    c[0] /= 2
    size = max(abs(v) for v in c)
    n = max(j for j in range(NODES) if abs(c[j]) > size * mp.mpf(2) ** -58) + 1
    return c[:n]


def table(name, f, edges):
    write(name, [chebyshev(f, a, b) for a, b in zip(edges, edges[1:], strict=False)])


def write(name, rows):
    width = max(map(len, rows))
    out = [f"static const double {name}[{len(rows)}][{width}] = {{"]
    for r in rows:
        r = [float(v).hex() for v in r] + ["0"] * (width - len(r))
        lines, line = [], "    {"
        for k, v in enumerate(r):
            item = v + (", " if k < width - 1 else "},")
            if len(line) + len(item) > 118:
                lines.append(line.rstrip())
                line = "     "
            line += item
        out += [*lines, line]
    out.append("};")
    print("\n".join(out))
    print(name, width, file=sys.stderr, flush=True)


def root(f, x):
    """Newton's method on log erfc."""
    for _ in range(60):
        e = mp.erfc(x)
        step = (mp.log(e) - f) / (-2 / mp.sqrt(mp.pi) * mp.exp(-x * x) / e)
        x -= step
        if abs(step) < mp.mpf(10) ** -36 * abs(x):
            break
    return x


def inverse_tail(t):
    """erfcinv(exp(-t^2)) / t"""
    return root(-t * t, t * (1 - mp.mpf("0.3") / (1 + t))) / t


def erfcx_scaled(u):
    x = mp.mpf("3.75") * (1 + u) / (1 - u)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def airy_wave(which):
    """P, Q, R, S of DLMF 9.7(ii) over v = 1 / zeta."""

    def f(v):
        zeta = 1 / v
        z = (zeta * mp.mpf(3) / 2) ** (mp.mpf(2) / 3)
        theta, root4 = zeta - mp.pi / 4, z ** mp.mpf("0.25")
        c, s = mp.cos(theta), mp.sin(theta)
        if which in "PQ":
            a, b = mp.airyai(-z) * root4, mp.airybi(-z) * root4
            return mp.sqrt(mp.pi) * (a * c - b * s if which == "P" else (a * s + b * c) / v)
        a, b = mp.airyai(-z, derivative=1) / root4, mp.airybi(-z, derivative=1) / root4
        return mp.sqrt(mp.pi) * (a * s + b * c if which == "R" else (-a * c + b * s) / v)

    return f


def zeta_of(x):
    return 2 * x ** mp.mpf("1.5") / 3


def temme(orders, size):
    """Taylor coefficients in eta of c_k, DLMF 8.12: c_0 = 1 / mu - 1 / eta, c_k = c_(k-1)' / eta + g / mu, where g
    takes the pole away. mu mu' = eta (1 + mu)."""
    n = size + 2 * orders + 4
    a = [mp.mpf(0), mp.mpf(1)]
    for m in range(2, n):
        # coefficient of eta^m in mu mu'
        known = sum(a[i] * (m + 1 - i) * a[m + 1 - i] for i in range(2, m))
        a.append((a[m - 1] - known) / (m + 1))
    inverse = [mp.mpf(1)]  # eta / mu
    for m in range(1, n - 1):
        inverse.append(-sum(a[i + 1] * inverse[m - i] for i in range(1, m + 1)))
    c = inverse[1:]
    rows = [c]
    for _ in range(1, orders):
        d = [(k + 1) * v for k, v in enumerate(c[1:])]
        g = -d[0]
        c = [x + g * y for x, y in zip(d[1:], inverse[1:], strict=False)]
        rows.append(c)
    return [r[:size] for r in rows]


def main():
    eighth = mp.mpf(1) / 8
    print("/* Written by libtp/tools/special_tables.py: Chebyshev coefficients, a row a piece. */")
    table("ERFCX", erfcx_scaled, [-1, 0, 1])
    table("ERFINV", lambda w: mp.erfinv(mp.sqrt(w)) / mp.sqrt(w), [0, mp.mpf("0.0625"), mp.mpf("0.25")])
    table("ERFCINV", inverse_tail, [mp.mpf("0.8325"), mp.mpf("1.5"), 3, mp.mpf("6.5"), 13, 28])
    table("I0E", lambda x: mp.exp(-x) * mp.besseli(0, x), [0, 2, 4, 8])
    table("I1E", lambda x: mp.exp(-x) * mp.besseli(1, x) / x, [0, 2, 4, 8])
    table("I0E_FAR", lambda v: mp.exp(-1 / v) * mp.besseli(0, 1 / v) / mp.sqrt(v), [0, eighth])
    table("I1E_FAR", lambda v: mp.exp(-1 / v) * mp.besseli(1, 1 / v) / mp.sqrt(v), [0, eighth])
    table("I0_NEAR", lambda w: mp.besseli(0, mp.sqrt(w)), [0, 1])
    table("I1_NEAR", lambda w: mp.besseli(1, mp.sqrt(w)) / mp.sqrt(w), [0, 1])
    table("K0_NEAR", lambda w: mp.besselk(0, mp.sqrt(w)) + mp.log(mp.sqrt(w) / 2) * mp.besseli(0, mp.sqrt(w)), [0, 1])
    table(
        "K1_NEAR",
        lambda w: (mp.besselk(1, mp.sqrt(w)) - mp.log(mp.sqrt(w) / 2) * mp.besseli(1, mp.sqrt(w))) * mp.sqrt(w),
        [0, 1],
    )
    table("K0E", lambda x: mp.exp(x) * mp.besselk(0, x) * mp.sqrt(x), [1, 2, 4, 8])
    table("K1E", lambda x: mp.exp(x) * mp.besselk(1, x) * mp.sqrt(x), [1, 2, 4, 8])
    table("K0E_FAR", lambda v: mp.exp(1 / v) * mp.besselk(0, 1 / v) / mp.sqrt(v), [0, eighth])
    table("K1E_FAR", lambda v: mp.exp(1 / v) * mp.besselk(1, 1 / v) / mp.sqrt(v), [0, eighth])
    near = [mp.mpf(k) for k in range(-8, 2)]
    table("AIRY", mp.airyai, near)
    table("AIRY_PRIME", lambda x: mp.airyai(x, derivative=1), near)
    quarter = mp.mpf("0.25")
    table("AIRY_MID", lambda x: mp.exp(zeta_of(x)) * mp.airyai(x) * x**quarter, [1, 2, 4, 8])
    table("AIRY_PRIME_MID", lambda x: mp.exp(zeta_of(x)) * mp.airyai(x, derivative=1) / x**quarter, [1, 2, 4, 8])

    def far(derivative, sign):
        def f(v):
            x = (mp.mpf(3) / 2 / v) ** (mp.mpf(2) / 3)
            return mp.exp(1 / v) * mp.airyai(x, derivative=derivative) * x ** (sign * quarter)

        return f

    edge = 1 / zeta_of(mp.mpf(8))
    table("AIRY_FAR", far(0, 1), [0, edge])
    table("AIRY_PRIME_FAR", far(1, -1), [0, edge])
    table("LGAMMA1P", lambda a: mp.loggamma(1 + a) / a, [0, 1])
    write("TEMME", temme(12, 22))
    for which in "PQRS":
        table("AIRY_" + which, airy_wave(which), [0, edge])


main()
