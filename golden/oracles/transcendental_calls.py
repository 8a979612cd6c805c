"""The functions that are custom calls, as CHLO has them: mpmath's, special values from the specification,
and arguments."""
import sys

import mpmath

mp = mpmath.mp
INF, NAN = float('inf'), float('nan')
LARGEST = sys.float_info.max


def bessel_i1e(x):
    """e^-|x| I1(x); for huge x by Hankel's expansion, whose third term is below all digits asked for."""
    if abs(x) < 1e6:
        return mp.besseli(1, x) * mp.exp(-abs(x))
    return mp.sign(x) * (1 - 3 / (8 * abs(x)) - 15 / (128 * x**2)) / mp.sqrt(2 * mp.pi * abs(x))


def hurwitz(s, q):
    """The sum of (q + k)^-s; for negative q, where s is whole, by the polygamma function's reflection."""
    if q < 0:
        n = int(s) - 1
        # psi_n(1 - x) + (-1)^(n+1) psi_n(x) = (-1)^n pi d^n/dx^n cot(pi x)
        return (-1)**(n + 1) * polygamma(n, q) / mp.factorial(n)
    if q > 1e20:  # Euler and Maclaurin's formula without any term before it
        return q**(1 - s) / (s - 1) + q**-s / 2 + s * q**(-s - 1) / 12 - s * (s + 1) * (s + 2) * q**(
            -s - 3) / 720
    if s > 2000:  # few terms: the next ones are as (1 + k/q)^-s
        total = term = q**-s
        while term > total * mp.eps:
            q += 1
            term = q**-s
            total += term
        return total
    return mp.zeta(s, q)


def polygamma(n, x):
    """The n-th derivative of digamma; left of 0 by its recurrence from the right."""
    n = int(n)
    total = mp.mpf(0)
    while x < 0:
        # psi_n(x) = psi_n(x + 1) - (-1)^n n! x^(-n-1)
        total -= (-1)**n * mp.factorial(n) * x**(-n - 1)
        x += 1
    if n == 0:
        return total + mp.digamma(x)
    return total + (-1)**(n + 1) * mp.factorial(n) * hurwitz(mp.mpf(n + 1), x)


# Functions that are custom calls of these names.
CALLS = {
    'chlo.erfc': (mp.erfc,
                  [(-INF, 2), (INF, 0.0), (0.0, 1), (-0.0, 1)],
                  [0.5, -0.5, 1, 2, -3, 5.5, 1e-3, 9]),
    'chlo.lgamma': (lambda x: mp.log(abs(mp.gamma(x))),
                    [(-INF, INF), (INF, INF), (0.0, INF), (-0.0, INF), (-1, INF), (-7, INF), (1, 0.0),
                     (2, 0.0)],
                    [0.5, -0.5, 1.5, 3, -3.25, 5.5, 1e-3, 100.5]),
    'chlo.digamma': (mp.digamma,
                     [(-INF, NAN), (INF, INF), (0.0, NAN), (-0.0, NAN), (-1, NAN), (-7, NAN)],
                     [0.5, -0.5, 1, 1.5, -3.25, 5.5, 1e-3, 100.5]),
    'chlo.erf_inv': (mp.erfinv,
                     [(1, INF), (-1, -INF), (0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-2, NAN), (INF, NAN),
                      (-INF, NAN)],
                     [0.5, -0.5, 0.25, 0.99, -0.75, 1e-3, 1 - 2.0**-10, 2.0**-24 - 1]),
    'chlo.bessel_i1e': (bessel_i1e,
                        [(-INF, -0.0), (INF, 0.0), (0.0, 0.0), (-0.0, -0.0)],
                        [0.5, -0.5, 1, 1.5, -3.25, 5.5, 1e-3, 100.5, 8, -95.5, 97, 240]),
}
POLES = ('chlo.lgamma', 'chlo.digamma')
CALL_HARD = {  # arguments for f64
    'chlo.erf_inv': ['0x1.fffffffffffffp-1', '-0x1.ffffffffffffep-1', '0x1p-1074', '-0x1p-1022', '0x1p-30',
                     '0x1.0000000000001p-1', '0x1.fffffffffffffp-2'],
    'chlo.bessel_i1e': ['0x1p-1074', '0x1.8p-1073', '-0x1.0000000000001p-1022', '0x1p-40', '1000.5', '1e5',
                        '1e300', '-0x1.fffffffffffffp+1023'],
}
# Of two arguments: (function, special values, ordinary arguments, arguments for f64).
CALLS2 = {
    'chlo.zeta': (hurwitz,
                  [(1, 2, INF), (1, -0.5, INF), (1, INF, INF), (0.5, 2, NAN), (-3, 2, NAN), (-INF, 2, NAN),
                   (2, 0.0, INF), (2, -0.0, INF), (2, -3, INF), (3, 0.0, NAN), (3, -3, NAN), (2.5, 0.0, NAN),
                   (2.5, -1, NAN), (2.5, -0.5, NAN), (NAN, 1, NAN), (2, NAN, NAN), (1, NAN, NAN),
                   (INF, 2, 0.0),
                   (INF, 1, 1), (INF, 0.5, INF), (INF, -0.5, NAN), (INF, 0.0, NAN), (2, INF, 0.0),
                   (2.5, INF, 0.0), (INF, INF, 0.0), (2, -INF, NAN)],
                  [(2, 0.5), (2, 1), (3, 2), (1.5, 0.25), (2, -0.5), (3, -0.5), (3, -2.75), (5, -1.25),
                   (1.125, 3), (20, 1.5), (2.5, 100.5), (8, 10), (6, -3.5), (40, 1), (1.5, 7)],
                  [(1 + 2.0**-52, 1), (1 + 2.0**-52, 1e300), (2, 1e300), (2, 2.0**600), (1075, 2), (1074, 2),
                   (700, 0.5),
                   (1e6, 1), (3, -1000.5), (7, -100.25), (2, -2.0**-40), (3, 2.0**-300), (1e300, 1),
                   (1e300, 0.5),
                   (1e300, 1e300), (300.5, 200.25), (1.5, 4.0**200), (LARGEST, 2), (LARGEST, 0.5),
                   (LARGEST, 1), (LARGEST, LARGEST), (3000, 1e-3), (1e6, 1e5)]),
    'chlo.polygamma': (polygamma,
                       [(1, 0.0, INF), (1, -0.0, INF), (2, 0.0, NAN), (1, -3, INF), (2, -3, NAN),
                        (0.0, 0.0, NAN),
                        (0.0, -2, NAN), (-1, 2, NAN), (0.5, 2, NAN), (NAN, 1, NAN), (1, NAN, NAN),
                        (INF, 2, NAN),
                        (-INF, 1, NAN), (1, INF, 0.0), (2, INF, -0.0), (0.0, INF, INF), (-0.0, INF, INF),
                        (1, -INF, NAN), (0.0, -INF, NAN)],
                       [(0.0, 0.5), (-0.0, 1.5), (1, 0.5), (1, 1), (2, 1), (3, 2), (1, -0.5), (2, -0.5),
                        (2, -2.75),
                        (5, -0.25), (10, 1.5), (4, 100.5), (1, 2.0**-7), (20, 3), (7, -3.5), (2, 30)],
                       [(170, 1), (171, 1), (100, 30.25), (5000, 1845.5), (4096, 1512.25), (4097, 1512.25),
                        (1, 1e300),
                        (2, 2.0**500), (1, -1000.25), (2, -100.5), (1, 2.0**-600), (300, 1e5), (1000, 1e5),
                        (LARGEST, 2), (LARGEST, LARGEST), (1e15, 367879441171449.5), (1e9, 367879448.0)]),
}


def number(x):
    if x != x:
        return 'nan'
    if x in (INF, -INF):
        return 'inf' if x > 0 else '-inf'
    if x == 0:
        return '-0.0' if str(x) == '-0.0' else '0'
    text = float(x).hex()
    head, _, exponent = text.partition('p')
    head = head.rstrip('0').rstrip('.') if '.' in head else head
    return head + 'p' + exponent


def literal(values):
    return '{' + ', '.join(
        '(%s, %s)' % tuple(number(p) for p in v) if isinstance(v, tuple) else number(v) for v in values) + '}'
