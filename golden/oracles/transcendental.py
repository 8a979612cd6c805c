#!/usr/bin/env python3
"""Goldens of the transcendental element-wise ops: golden/elementwise/<opcode>_<case>.hlo.

Expected values come from mpmath with many digits, rounded once to the element type by comparing exact
rational numbers; two runs with different precision must round alike. Special values
(zeros, infinities, NaN, branch cuts, where the sign of a zero decides and mpmath has no signed zeros) are
tables written down from the specification and C99. Nothing here calls Assay.

    transcendental.py [--dry-run]      writes the goldens
    transcendental.py --table FILE     writes the table for tests/evaluator/scalar/complex_test.cc
"""
import os
import random
import sys
from fractions import Fraction

import mpmath

import written
from transcendental_calls import CALL_HARD, CALLS, CALLS2, INF, NAN, POLES, literal, mp, number

# name: (precision, smallest normal exponent, largest exponent, largest finite, overflow)
FORMATS = {
    'f64': (53, -1022, 1023, Fraction(2**53 - 1) * Fraction(2)**971, INF),
    'f32': (24, -126, 127, Fraction(2**24 - 1) * Fraction(2)**104, INF),
    'bf16': (8, -126, 127, Fraction(2**8 - 1) * Fraction(2)**120, INF),
    'f16': (11, -14, 15, Fraction(65504), INF),
    'f8e4m3fn': (4, -6, 8, Fraction(448), NAN),
}
COMPONENT = {'c64': 'f32', 'c128': 'f64'}


def exact(x):
    """An mpf as a rational number."""
    sign, mantissa, exponent, _ = mp.mpf(x)._mpf_
    value = Fraction(int(mantissa)) * Fraction(2)**exponent
    return -value if sign else value


def round_once(value, type_name):
    """The double that RN of the format gives for a nonzero rational."""
    precision, min_exponent, _, largest, overflow = FORMATS[type_name]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2)**exponent > magnitude:
        exponent -= 1
    unit = Fraction(2)**(max(exponent, min_exponent) - precision + 1)
    count, rest = divmod(magnitude, unit)
    if rest * 2 > unit or (rest * 2 == unit and count % 2 == 1):
        count += 1
    rounded = count * unit
    result = overflow if rounded > largest else float(rounded)
    return -result if value < 0 else result


def round_double(x, type_name):
    if x != x or x in (INF, -INF) or x == 0:
        return x
    return round_once(Fraction(x), type_name)


def stable(compute, type_name):
    """compute() evaluated with growing precision until its rounding is settled. Zero is the caller's case."""
    previous = None
    # Near x, f(x) = x + x^3/3 differs from a midpoint of f64's subnormals in the 650th digit.
    for digits in (700, 1500, 3000) if type_name == 'f64' else (120, 300, 1200):
        mp.dps = digits
        value = compute()
        if value == 0:
            continue
        current = round_once(exact(value), type_name)
        if previous is not None and (current == previous or (current != current and previous != previous)):
            return current
        previous = current
    raise ArithmeticError('not settled')


def resolve(entry, type_name):
    """An entry of a special table: a number, or multiples of pi as 'pi', '-pi/2', '3pi/4'."""
    if not isinstance(entry, str):
        return float(entry)
    negative = entry.startswith('-')
    factor, _, divisor = entry.lstrip('-').partition('/')
    factor = Fraction(int(factor[:-2] or 1), int(divisor or 1))
    value = stable(lambda: mp.pi * factor.numerator / factor.denominator, type_name)
    return -value if negative else value


REAL = {
    # opcode: (function, special values: list of (x, f(x)), ordinary arguments)
    'cbrt': (lambda x: mp.cbrt(x) if x > 0 else -mp.cbrt(-x),
             [(-INF, -INF), (INF, INF), (0.0, 0.0), (-0.0, -0.0), (27, 3), (-8, -2), (1, 1), (-0.125, -0.5)],
             [2, 0.5, -3, 10, 100.5, 1e-3, -7.25]),
    'rsqrt': (lambda x: 1 / mp.sqrt(x),
              [(-INF, NAN), (INF, 0.0), (0.0, INF), (-0.0, -INF), (-1, NAN), (4, 0.5), (0.25, 2), (1, 1)],
              [2, 0.5, 3, 10, 100.5, 1e-3, 7.25]),
    'sqrt': (mp.sqrt,
             [(-INF, NAN), (INF, INF), (0.0, 0.0), (-0.0, -0.0), (-1, NAN), (4, 2), (2.25, 1.5), (1, 1)],
             [2, 0.5, 3, 10, 100.5, 1e-3, 7.25]),
    'exponential': (mp.exp,
                    [(-INF, 0.0), (INF, INF), (0.0, 1), (-0.0, 1)],
                    [0.5, -0.5, 1, 2, -3, 5.5, 1e-3, -7.25]),
    'exponential-minus-one': (lambda x: mp.expm1(x),
                              [(-INF, -1), (INF, INF), (0.0, 0.0), (-0.0, -0.0)],
                              [0.5, -0.5, 1, 2, -3, 5.5, 1e-3, -20]),
    'log': (mp.log,
            [(-INF, NAN), (INF, INF), (0.0, -INF), (-0.0, -INF), (1, 0.0), (-2, NAN)],
            [0.5, 2, 3, 10, 0.99, 1.01, 1e-3, 100.5]),
    'log-plus-one': (lambda x: mp.log1p(x),
                     [(-INF, NAN), (INF, INF), (0.0, 0.0), (-0.0, -0.0), (-1, -INF), (-2, NAN)],
                     [0.5, -0.5, 1, 2, -0.99, 10, 1e-3, 100.5]),
    'logistic': (lambda x: 1 / (1 + mp.exp(-x)),
                 [(-INF, 0.0), (INF, 1), (0.0, 0.5), (-0.0, 0.5)],
                 [0.5, -0.5, 1, 2, -3, 5.5, 20, -20]),
    'sine': (mp.sin,
             [(-INF, NAN), (INF, NAN), (0.0, 0.0), (-0.0, -0.0)],
             [0.5, -0.5, 1, 2, -3, 22, 1e-3, 100.5]),
    'cosine': (mp.cos,
               [(-INF, NAN), (INF, NAN), (0.0, 1), (-0.0, 1)],
               [0.5, -0.5, 1, 2, -3, 22, 1e-3, 100.5]),
    'tan': (mp.tan,
            [(-INF, NAN), (INF, NAN), (0.0, 0.0), (-0.0, -0.0)],
            [0.5, -0.5, 1, 2, -3, 22, 1e-3, 11]),
    'tanh': (mp.tanh,
             [(-INF, -1), (INF, 1), (0.0, 0.0), (-0.0, -0.0)],
             [0.5, -0.5, 1, 2, -3, 5.5, 1e-3, 20]),
    'sinh': (mp.sinh,
             [(-INF, -INF), (INF, INF), (0.0, 0.0), (-0.0, -0.0)],
             [0.5, -0.5, 1, 2, -3, 5.5, 1e-3, 20]),
    'cosh': (mp.cosh,
             [(-INF, INF), (INF, INF), (0.0, 1), (-0.0, 1)],
             [0.5, -0.5, 1, 2, -3, 5.5, 1e-3, 20]),
    'asin': (mp.asin,
             [(-INF, NAN), (INF, NAN), (0.0, 0.0), (-0.0, -0.0), (1, 'pi/2'), (-1, '-pi/2'), (2, NAN)],
             [0.5, -0.5, 0.25, 0.99, -0.75, 1e-3]),
    'acos': (mp.acos,
             [(-INF, NAN), (INF, NAN), (0.0, 'pi/2'), (-0.0, 'pi/2'), (1, 0.0), (-1, 'pi'), (-2, NAN)],
             [0.5, -0.5, 0.25, 0.99, -0.75, 1e-3]),
    'asinh': (mp.asinh,
              [(-INF, -INF), (INF, INF), (0.0, 0.0), (-0.0, -0.0)],
              [0.5, -0.5, 1, 2, -3, 100.5, 1e-3]),
    'acosh': (mp.acosh,
              [(-INF, NAN), (INF, INF), (0.0, NAN), (-0.0, NAN), (1, 0.0), (0.5, NAN)],
              [1.5, 2, 3, 10, 100.5, 1.125]),
    'atanh': (mp.atanh,
              [(-INF, NAN), (INF, NAN), (0.0, 0.0), (-0.0, -0.0), (1, INF), (-1, -INF), (1.5, NAN)],
              [0.5, -0.5, 0.25, 0.99, -0.75, 1e-3]),
    'erf': (mp.erf,
            [(-INF, -1), (INF, 1), (0.0, 0.0), (-0.0, -0.0)],
            [0.5, -0.5, 1, 2, -3, 1e-3, 3.9]),
}
DOMAIN = {  # where the ordinary random arguments may lie
    'rsqrt': (0, 1e9), 'sqrt': (0, 1e9), 'log': (0, 1e9), 'log-plus-one': (-1, 1e9), 'asin': (-1, 1),
    'acos': (-1, 1), 'acosh': (1, 1e9), 'atanh': (-1, 1), 'chlo.erf_inv': (-1, 1),
    'chlo.bessel_i1e': (-INF, INF),
}
# Arguments for f64 whose results lie near a rounding boundary, near under- or overflow, or reduce badly.
HARD = {
    'exponential': ['0x1.62e42fefa39efp+9', '0x1.62e42fefa39fp+9', '-0x1.74910d52d3051p+9', '0x1p-60',
                    '-0x1.6232bdd7abcd2p+9', '-0x1.ed318efb627eap-27'],
    'exponential-minus-one': ['0x1p-60', '-0x1p-1074', '0x1.62e42fefa39efp+9', '-40'],
    'log': ['0x1.62a88613629b6p+678', '0x1.0000000000001p+0', '0x1.fffffffffffffp-1', '0x1p-1074'],
    'log-plus-one': ['-0x1.fffffffffffffp-1', '0x1p-1074', '0x1.fffffffffffffp+1023', '-0x1p-60'],
    'logistic': ['-745', '-745.2', '36.75', '-0x1.6232bdd7abcd2p+9', '0x1p-60'],
    'sine': ['0x1.6ac5b262ca1ffp+849', '0x1.921fb54442d18p+1', '0x1.fffffffffffffp+1023', '0x1p-1074'],
    'cosine': ['0x1.6ac5b262ca1ffp+849', '0x1.921fb54442d18p+0', '0x1.fffffffffffffp+1023', '0x1p-27'],
    'tan': ['0x1.6ac5b262ca1ffp+849', '0x1.921fb54442d18p+0', '0x1.fffffffffffffp+1023', '0x1p-1074'],
    'tanh': ['19.0625', '0x1p-600', '-0x1p-1074', '1e308'],
    'sinh': ['0x1.633ce8fb9f87dp+9', '0x1.633ce8fb9f87ep+9', '0x1p-1074', '-30'],
    'cosh': ['0x1.633ce8fb9f87dp+9', '0x1.633ce8fb9f87ep+9', '0x1p-27', '0x1p-1074'],
    'asin': ['0x1.fffffffffffffp-1', '-0x1p-1074', '0x1p-27'],
    'acos': ['0x1.fffffffffffffp-1', '-0x1.fffffffffffffp-1', '0x1p-1074'],
    'asinh': ['0x1.fffffffffffffp+1023', '0x1p-1074', '-0x1p-27'],
    'acosh': ['0x1.0000000000001p+0', '0x1.fffffffffffffp+1023'],
    'atanh': ['0x1.fffffffffffffp-1', '0x1p-1074', '-0x1p-27'],
    'erf': ['5.9', '0x1.7afb48dc96626p+2', '1e-300', '-0x1p-1074', '1e300'],
    'cbrt': ['0x1p-1074', '-0x1.fffffffffffffp+1023', '0x1.0000000000001p+0'],
    'rsqrt': ['0x1p-1074', '0x1.fffffffffffffp+1023', '0x1.0000000000001p+0'],
    'sqrt': ['0x1p-1074', '0x1.fffffffffffffp+1023', '0x1.fffffffffffffp-1'],
}

COMPLEX = {
    # opcode: (function, special values). Ordinary arguments keep off the axes.
    'exponential': (mp.exp, [((0.0, 0.0), (1, 0.0)), ((-INF, 1), (0.0, 0.0)),
                             ((INF, 0.0), (INF, 0.0)), ((INF, 2), (-INF, INF)), ((0.0, INF), (NAN, NAN)),
                             ((NAN, 0.0), (NAN, 0.0)), ((NAN, 1), (NAN, NAN))]),
    'exponential-minus-one': (lambda z: mp.exp(z) - 1,
                              [((0.0, 0.0), (0.0, 0.0)), ((-0.0, -0.0), (-0.0, -0.0)), ((-INF, 1), (-1, 0.0)),
                               ((INF, 0.0), (INF, 0.0)), ((INF, 2), (-INF, INF)), ((0.0, INF), (NAN, NAN))]),
    'log': (mp.log, [((-1, 0.0), (0.0, 'pi')), ((-1, -0.0), (0.0, '-pi')), ((0.0, 0.0), (-INF, 0.0)),
                     ((-0.0, 0.0), (-INF, 'pi')), ((INF, INF), (INF, 'pi/4')), ((-INF, 1), (INF, 'pi')),
                     ((-INF, -INF), (INF, '-3pi/4')), ((2, INF), (INF, 'pi/2')), ((NAN, INF), (INF, NAN)),
                     ((NAN, 1), (NAN, NAN)), ((1, 0.0), (0.0, 0.0))]),
    'log-plus-one': (lambda z: mp.log(1 + z),
                     [((-2, 0.0), (0.0, 'pi')), ((-2, -0.0), (0.0, '-pi')), ((-1, 0.0), (-INF, 0.0)),
                      ((0.0, -0.0), (0.0, -0.0)), ((-INF, 1), (INF, 'pi')), ((-1, 1), (0.0, 'pi/2'))]),
    'logistic': (lambda z: 1 / (1 + mp.exp(-z)),
                 [((0.0, 0.0), (0.5, 0.0)), ((0.0, -0.0), (0.5, -0.0)), ((INF, 1), (1, 0.0)),
                  ((-INF, 1), (0.0, 0.0)),
                  ((-INF, 2), (-0.0, 0.0)), ((0.0, INF), (NAN, NAN)), ((NAN, 1), (NAN, NAN))]),
    'sine': (mp.sin, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, -0.0), (-0.0, -0.0)), ((0.0, INF), (0.0, INF)),
                      ((1, INF), (INF, INF)), ((INF, 1), (NAN, NAN)), ((NAN, 1), (NAN, NAN))]),
    'cosine': (mp.cos, [((0.0, 0.0), (1, -0.0)), ((0.0, -0.0), (1, 0.0)), ((1, INF), (INF, -INF)),
                        ((INF, 1), (NAN, NAN)), ((NAN, 1), (NAN, NAN))]),
    'tan': (mp.tan, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, -0.0), (-0.0, -0.0)), ((1, INF), (0.0, 1)),
                     ((2, -INF), (-0.0, -1)), ((INF, 1), (NAN, NAN)), ((NAN, 1), (NAN, NAN))]),
    'tanh': (mp.tanh, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, 0.0), (-0.0, 0.0)), ((INF, 1), (1, 0.0)),
                       ((-INF, 2), (-1, -0.0)), ((1, INF), (NAN, NAN)), ((NAN, 0.0), (NAN, 0.0))]),
    'sinh': (mp.sinh, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, 0.0), (-0.0, 0.0)), ((INF, 0.0), (INF, 0.0)),
                       ((INF, 2), (-INF, INF)), ((-INF, 1), (-INF, INF)), ((1, INF), (NAN, NAN)),
                       ((NAN, 1), (NAN, NAN))]),
    'cosh': (mp.cosh, [((0.0, 0.0), (1, 0.0)), ((0.0, -0.0), (1, -0.0)), ((INF, 0.0), (INF, 0.0)),
                       ((INF, 2), (-INF, INF)), ((1, INF), (NAN, NAN)), ((NAN, 1), (NAN, NAN))]),
    'asin': (mp.asin, [((0.0, 0.0), (0.0, 0.0)), ((1, 0.0), ('pi/2', 0.0)), ((1, -0.0), ('pi/2', -0.0)),
                       ((INF, 1), ('pi/2', INF)), ((1, INF), (0.0, INF)), ((INF, INF), ('pi/4', INF)),
                       ((NAN, 1), (NAN, NAN))]),
    'acos': (mp.acos, [((0.0, 0.0), ('pi/2', -0.0)), ((0.0, -0.0), ('pi/2', 0.0)), ((1, 0.0), (0.0, -0.0)),
                       ((-INF, 1), ('pi', -INF)), ((INF, 1), (0.0, -INF)), ((-INF, INF), ('3pi/4', -INF)),
                       ((1, INF), ('pi/2', -INF)), ((NAN, 1), (NAN, NAN))]),
    'asinh': (mp.asinh, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, 0.0), (-0.0, 0.0)), ((INF, 1), (INF, 0.0)),
                         ((INF, INF), (INF, 'pi/4')), ((1, INF), (INF, 'pi/2')), ((NAN, 0.0), (NAN, 0.0)),
                         ((NAN, 1), (NAN, NAN))]),
    'acosh': (mp.acosh, [((0.0, 0.0), (0.0, 'pi/2')), ((-0.0, -0.0), (0.0, '-pi/2')), ((1, 0.0), (0.0, 0.0)),
                         ((-INF, 1), (INF, 'pi')), ((INF, 1), (INF, 0.0)), ((-INF, INF), (INF, '3pi/4')),
                         ((NAN, 1), (NAN, NAN))]),
    'atanh': (mp.atanh, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, 0.0), (-0.0, 0.0)), ((1, 0.0), (INF, 0.0)),
                         ((INF, 1), (0.0, 'pi/2')), ((2, INF), (0.0, 'pi/2')), ((2, -INF), (0.0, '-pi/2')),
                         ((NAN, 1), (NAN, NAN))]),
    # C17: atan z = -i atanh(iz)
    'chlo.atan': (mp.atan, [((0.0, 0.0), (0.0, 0.0)), ((-0.0, 0.0), (-0.0, 0.0)), ((0.0, -0.0), (0.0, -0.0)),
                            ((0.0, 1), (0.0, INF)), ((0.0, -1), (0.0, -INF)), ((INF, 1), ('pi/2', 0.0)),
                            ((1, INF), ('pi/2', 0.0)), ((-1, INF), ('-pi/2', 0.0)),
                            ((1, -INF), ('pi/2', -0.0)),
                            ((INF, INF), ('pi/2', 0.0)), ((-INF, -2), ('-pi/2', -0.0)),
                            ((NAN, INF), (NAN, 0.0)),
                            ((NAN, 0.0), (NAN, 0.0)), ((0.0, NAN), (NAN, NAN)), ((NAN, 1), (NAN, NAN)),
                            ((1, NAN), (NAN, NAN))]),
    'sqrt': (mp.sqrt,
             [((-4, 0.0), (0.0, 2)), ((-4, -0.0), (0.0, -2)), ((3, 4), (2, 1)), ((0.0, -0.0), (0.0, -0.0)),
                       ((-0.0, 0.0), (0.0, 0.0)), ((1, INF), (INF, INF)), ((NAN, -INF), (INF, -INF)),
                       ((-INF, 1), (0.0, INF)), ((INF, 1), (INF, 0.0)), ((NAN, 1), (NAN, NAN))]),
    'rsqrt': (lambda z: 1 / mp.sqrt(z),
              [((4, 0.0), (0.5, -0.0)), ((-4, 0.0), (0.0, -0.5)), ((-4, -0.0), (0.0, 0.5)),
               ((0.0, 0.5), (1, -1)),
               ((0.0, 0.0), (INF, NAN)), ((INF, 1), (0.0, -0.0)), ((1, -INF), (0.0, 0.0)),
               ((NAN, 1), (NAN, NAN))]),
}
# The side of a branch cut that the sign of the zero picks: computed with a part this far off the axis.
CUT_POINTS = {
    'asin': [(2, 0.0), (2, -0.0), (-3, 0.0), (-3, -0.0)],
    'acos': [(2, 0.0), (2, -0.0), (-3, 0.0), (-3, -0.0)],
    'acosh': [(0.5, 0.0), (0.5, -0.0), (-3, 0.0), (-3, -0.0)],
    'atanh': [(2, 0.0), (2, -0.0), (-3, 0.0), (-3, -0.0)],
    'asinh': [(0.0, 2), (-0.0, 2), (0.0, -3), (-0.0, -3)],
    'chlo.atan': [(0.0, 2), (-0.0, 2), (0.0, -3), (-0.0, -3)],
}


def complex_value(opcode, point, type_name):
    """Both components off the axes, or on an axis where mpmath's zero imaginary part is not in question."""
    function = COMPLEX[opcode][0]

    def part(name):
        return stable(lambda: getattr(mp.mpc(function(mp.mpc(*point))), name), type_name)

    return part('real'), part('imag')


def cut_value(opcode, point, type_name):
    """On a cut: the limit from the side of the zero's sign, by symmetry from mpmath's values near it."""
    nudge = mpmath.mpf(2)**-9000
    shifted = [mp.mpf(v) if v != 0 else (-nudge if str(v) == '-0.0' else nudge) for v in point]
    function = COMPLEX[opcode][0]
    result = []
    for name in ('real', 'imag'):
        mp.dps = 6000
        value = getattr(mp.mpc(function(mp.mpc(*shifted))), name)
        if abs(value) < mpmath.mpf(2)**-8000:
            result.append(-0.0 if value < 0 else 0.0)
        else:
            result.append(round_once(exact(value), type_name))
    return tuple(result)


def write(script, opcode, case, type_name, arguments, results, decision=None, shape=None):
    name = '%s_%s' % (opcode.replace('-', '_').replace('.', '_'), case)
    dims = shape or '[%d]' % len(results)
    lines = ['// oracle: mpmath']
    if decision:
        lines.append('// decision: ' + decision)
    for i, values in enumerate(arguments):
        lines.append('// arg%d: %s%s %s' % (i, type_name, dims, literal(values) if shape is None else '{}'))
    lines.append('// out0: %s%s %s' % (type_name, dims, literal(results) if shape is None else '{}'))
    lines += ['HloModule ' + name, '', 'ENTRY main {']
    names = ['x', 'y'][:len(arguments)]
    for i, operand in enumerate(names):
        lines.append('  %s = %s%s parameter(%d)' % (operand, type_name, dims, i))
    call = 'custom-call(%s), custom_call_target="' + opcode + '"' if opcode.startswith(
        'chlo.') else opcode + '(%s)'
    lines.append('  ROOT r = %s%s %s' % (type_name, dims, call % ', '.join(names)))
    lines.append('}')
    script.write('elementwise', name, '\n'.join(lines) + '\n')


def real_value(opcode, x, type_name):
    function, special, _ = REAL.get(opcode) or CALLS[opcode]
    for argument, result in special:
        if str(float(argument)) == str(float(x)):
            return round_double(resolve(result, type_name), type_name)
    if x != x:
        return NAN
    return stable(lambda: function(mp.mpf(x)), type_name)


def in_domain(opcode, x):
    low, high = DOMAIN.get(opcode, (-1e300, 1e300))
    return low < x < high


def random_reals(opcode, type_name, count):
    source = random.Random(opcode + type_name)
    largest = {'f8e4m3fn': 4, 'f16': 10, 'bf16': 40, 'f32': 40, 'f64': 200}[type_name]
    values = []
    while len(values) < count:
        x = source.uniform(-1, 1) * source.choice([1, largest, 0.01])
        x = round_double(x, type_name)
        if x != 0 and in_domain(opcode, x) and x not in values:
            values.append(x)
    return values


def write_real(script, opcode):
    _, special, ordinary = REAL[opcode]

    def emit(case, type_name, values):
        write(script, opcode, case, type_name, [values], [real_value(opcode, x, type_name) for x in values])

    emit('f32', 'f32', [round_double(float(x), 'f32') for x in ordinary] + random_reals(opcode, 'f32', 6))
    emit('special_f32', 'f32', [float(x) for x, _ in special] + [NAN])
    emit('f64', 'f64', [float(x) for x in ordinary] + random_reals(opcode, 'f64', 4) +
         [float.fromhex(x) if 'x' in x else float(x) for x in HARD[opcode]])
    emit('special_f64', 'f64', [float(x) for x, _ in special] + [NAN])
    for type_name in ('bf16', 'f16', 'f8e4m3fn'):
        values = [round_double(float(x), type_name) for x in ordinary] + random_reals(opcode, type_name, 10)
        values = [x for x in values if x == x and in_domain(opcode, x)]
        emit(type_name, type_name, values + [0.0, -0.0, NAN])
    if opcode != 'acosh':
        tiny = [2.0**-149, 2.0**-126, 3 * 2.0**-148]
        tiny += [] if opcode in ('rsqrt', 'sqrt', 'log') else [-x for x in tiny]
        emit('subnormal_f32', 'f32', tiny)
    write(script, opcode, 'zero_size', 'f32', [[]], [], shape='[0]')


def write_call(script, opcode):
    _, special, ordinary = CALLS[opcode]
    for type_name in ('f32', 'f64', 'bf16', 'f16', 'f8e4m3fn'):
        specials = [float(x) for x, _ in special] + [NAN]
        values = [round_double(float(x), type_name) for x in ordinary] + random_reals(opcode, type_name, 12)
        values += [2.0**-149, -2.0**-126] if type_name == 'f32' else []
        if opcode == 'chlo.digamma':  # next to its positive zero
            values.append(round_double(1.4616321449683623, type_name))
        values += [float.fromhex(x) if 'x' in x else float(x)
                   for x in CALL_HARD.get(opcode, [])] if type_name == 'f64' else []
        values = [x for x in values if x == x and in_domain(opcode, x)]
        values = [x for x in values if not (opcode in POLES and x <= 0 and x == int(x))]
        if type_name == 'f8e4m3fn':
            specials = [x for x in specials if abs(x) != INF]
        arguments = specials + values
        write(script, opcode, type_name, type_name, [arguments],
              [real_value(opcode, x, type_name) for x in arguments])


def write_call2(script, opcode):
    function, special, ordinary, hard = CALLS2[opcode]
    for type_name in ('f32', 'f64', 'bf16', 'f16', 'f8e4m3fn'):
        source = random.Random(opcode + type_name)
        pairs = list(ordinary)
        while len(pairs) < len(ordinary) + 10:
            if opcode == 'chlo.zeta':
                first = source.choice([1 + source.random() * 4, float(source.randint(2, 9))])
            else:
                first = float(source.randint(1, 9))
            second = source.uniform(0.05, 12)
            if first == int(first) and source.random() < 0.4:
                second = -second
            pairs.append((first, second))
        pairs += hard if type_name == 'f64' else []
        pairs = [(round_double(a, type_name), round_double(b, type_name)) for a, b in pairs]
        pairs = [(a, b) for a, b in pairs if a == a and b == b and not (b <= 0 and b == int(b)) and a != 1 or
                 opcode == 'chlo.polygamma' and a == 1 and b == b and not (b <= 0 and b == int(b))]
        results = [far_call2(opcode, a, b, type_name) for a, b in pairs]
        write(script, opcode, type_name, type_name, [[p[0] for p in pairs], [p[1] for p in pairs]], results)
    for type_name in ('f32', 'f64'):
        write(script, opcode, 'special_' + type_name, type_name,
              [[float(row[0]) for row in special], [float(row[1]) for row in special]],
              [float(row[2]) for row in special], decision='zeta-specials')


def far_call2(opcode, a, b, type_name):
    """The value; where it is far beyond every format's range, that is told by its first
    term q^-s or n! x^-(n+1)."""
    mp.dps = 50
    if b > 0 and a > 0:
        s = mp.mpf(a) if opcode == 'chlo.zeta' else mp.mpf(a) + 1
        weight = 0 if opcode == 'chlo.zeta' else mp.loggamma(s)
        first = weight - s * mp.log(mp.mpf(b))
        sign = -1 if opcode == 'chlo.polygamma' and a % 2 == 0 else 1
        if first > 3000:
            return sign * FORMATS[type_name][4]
        if first + mp.log(1 + mp.mpf(b) / (s - 1)) < -3000:
            return sign * 0.0
        if s > 1e5 and b == 1:
            return 1.0  # 1 + 2^-s + ...
    function = CALLS2[opcode][0]
    return stable(lambda: function(mp.mpf(a), mp.mpf(b)), type_name)


def write_complex(script, opcode):
    source = random.Random('complex' + opcode)
    for type_name, component in COMPONENT.items():
        points = []
        for signs in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            for size in (1, 3, 0.05):
                points.append(tuple(
                    round_double(s * source.uniform(0.1, 1) * size, component) for s in signs))
        far = [(12.0, 0.001), (-0.001, 15.0), (2.0**-70, 2.0**-20), (0.5, -2.0**-60)]
        points += [tuple(round_double(v, component) for v in point) for point in far]
        write(script, opcode, type_name, type_name, [points],
              [complex_value(opcode, p, component) for p in points])
    special = COMPLEX[opcode][1]
    for type_name, component in COMPONENT.items():
        arguments = [tuple(float(v) for v in point) for point, _ in special]
        results = [tuple(resolve(v, component) for v in result) for _, result in special]
        for point in CUT_POINTS.get(opcode, []):
            arguments.append(tuple(float(v) for v in point))
            results.append(cut_value(opcode, point, component))
        write(script, opcode, 'special_' + type_name, type_name, [arguments], results)


POWER_SPECIAL = [(0.0, 0.0, 1), (NAN, 0.0, 1), (1, NAN, 1), (-1, INF, 1), (-8, 1 / 3, NAN), (-0.0, -1, -INF),
                 (-INF, 3, -INF), (-INF, -3, -0.0), (0.5, -INF, INF), (0.5, INF, 0.0), (2, INF, INF),
                 (2, -INF, 0.0), (0.0, -2, INF), (-0.0, -2, INF), (0.0, 3, 0.0), (-0.0, 3, -0.0),
                 (-INF, 2, INF),
                 (INF, -1, 0.0), (NAN, 1, NAN), (2, NAN, NAN), (-2, 3, -8), (2, -149, 2.0**-149),
                 (2, 128, INF), (-1, -INF, 1), (4, 0.5, 2), (2, -1, 0.5)]
ATAN2_SPECIAL = [(0.0, -1, 'pi'), (-0.0, -1, '-pi'), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1, 0.0, 'pi/2'),
                 (1, -1, '3pi/4'), (0.0, -0.0, 'pi'), (-0.0, -0.0, '-pi'), (INF, -INF, '3pi/4'),
                 (INF, INF, 'pi/4'),
                 (-INF, INF, '-pi/4'), (1, INF, 0.0), (-1, INF, -0.0), (1, -INF, 'pi'), (INF, 5, 'pi/2'),
                 (0.0, 2, 0.0), (-0.0, 2, -0.0), (NAN, 1, NAN), (1, NAN, NAN), (-1, 0.0, '-pi/2'),
                 (-1, -0.0, '-pi/2')]


def write_binary(script, opcode, function, special, draw):
    def emit(case, type_name, xs, ys, results):
        write(script, opcode, case, type_name, [xs, ys], results)

    for type_name in ('f32', 'f64', 'bf16', 'f16', 'f8e4m3fn'):
        source = random.Random(opcode + type_name)
        pairs = []
        while len(pairs) < 16:
            x, y = (round_double(v, type_name) for v in draw(source))
            if x != 0 and y != 0 and x == x and y == y:
                pairs.append((x, y))
        if opcode == 'power' and type_name == 'f64':
            pairs += [(1 + 2.0**-52, 2.0**60), (0.9, 7074), (3.0, -678.0), (2.0**-1074, 0.5), (1.5, -1837.25)]
        if opcode == 'atan2' and type_name == 'f64':
            pairs += [(2.0**-1074, 2.0), (1e300, -1e-300), (3 * 2.0**-1074, 2.0), (1e-300, 1e300)]
        values = [stable(lambda a=x, b=y: function(mp.mpf(a), mp.mpf(b)), type_name) for x, y in pairs]
        emit(type_name, type_name, [p[0] for p in pairs], [p[1] for p in pairs], values)
    for type_name in ('f32', 'f64'):
        rows = [r for r in special if type_name == 'f32' or r[1] not in (-149, 128)]
        emit('special_' + type_name, type_name, [round_double(float(r[0]), type_name) for r in rows],
             [round_double(float(r[1]), type_name) for r in rows], [resolve(r[2], type_name) for r in rows])
    write(script, opcode, 'zero_size', 'f64', [[], []], [], shape='[0]')


def complex_pairs(opcode, component):
    source = random.Random('pairs' + opcode + component)
    pairs = []
    for i in range(16):
        signs = [1 if i >> k & 1 else -1 for k in range(4)]
        parts = [round_double(s * source.uniform(0.1, 3), component) for s in signs]
        pairs.append((tuple(parts[:2]), tuple(parts[2:])))
    return pairs


COMPLEX2 = {
    'power': lambda z, w: mp.exp(w * mp.log(z)),
    'atan2': lambda y, x: -1j * mp.log((x + 1j * y) / mp.sqrt(x * x + y * y)),
}
COMPLEX2_SPECIAL = {
    'power': [((0.0, 0.0), (0.0, 0.0), (1, 0.0)), ((NAN, 1), (0.0, 0.0), (1, 0.0)),
              ((1, 0.0), (NAN, 3), (1, 0.0)), ((0.0, 0.0), (2, 1), (0.0, 0.0)),
              ((0.0, 0.0), (-1, 0.0), (NAN, NAN)), ((INF, 0.0), (2, 0.0), (INF, 0.0)),
              ((INF, 0.0), (-2, 0.0), (0.0, 0.0))],
    'atan2': [((0.0, 0.0), (0.0, 0.0), (NAN, NAN)), ((1, 0.0), (-1, 0.0), ('3pi/4', 0.0)),
              ((0.0, 0.0), (-1, 0.0), ('pi', 0.0)), ((NAN, 0.0), (1, 0.0), (NAN, NAN))],
}


def complex2_value(opcode, a, b, component):
    function = COMPLEX2[opcode]
    return tuple(
        stable(lambda name=name: getattr(function(mp.mpc(*a), mp.mpc(*b)), name), component)
        for name in ('real', 'imag'))


def write_complex_binary(script, opcode):
    for type_name, component in COMPONENT.items():
        pairs = complex_pairs(opcode, component)
        write(script, opcode, type_name, type_name, [[p[0] for p in pairs], [p[1] for p in pairs]],
              [complex2_value(opcode, a, b, component) for a, b in pairs])
        rows = COMPLEX2_SPECIAL[opcode]
        to_floats = lambda point: tuple(float(v) for v in point)
        write(script, opcode, 'special_' + type_name, type_name,
              [[to_floats(r[0]) for r in rows], [to_floats(r[1]) for r in rows]],
              [tuple(resolve(v, component) for v in r[2]) for r in rows],
              decision='complex-power-specials' if opcode == 'power' else 'complex-atan2')


def write_all(script):
    for opcode in REAL:
        write_real(script, opcode)
    for opcode in CALLS:
        write_call(script, opcode)
    for opcode in CALLS2:
        write_call2(script, opcode)
    for opcode in COMPLEX:
        write_complex(script, opcode)
    write_binary(script, 'power', lambda x, y: mp.power(x, y), POWER_SPECIAL,
                 lambda s: (s.uniform(0.05, 4), s.uniform(-6, 6)))
    write_binary(script, 'atan2', mp.atan2, ATAN2_SPECIAL, lambda s: (s.uniform(-8, 8), s.uniform(-8, 8)))
    for opcode in COMPLEX2:
        write_complex_binary(script, opcode)


def write_table(path):
    """Rows for complex_test.cc: {"opcode", type, re, im, [re, im,] result re, result im}."""
    def c(x):
        return {'nan': 'kNaN', 'inf': 'kInf', '-inf': '-kInf', '0': '0.0'}.get(number(x), number(x))

    rows, pair_rows = [], []
    source = random.Random('table')
    scales = {'f32': (1, 8, 0.01, 2.0**-40), 'f64': (1, 8, 0.01, 2.0**-300)}
    for opcode in COMPLEX:
        for type_name in ('f32', 'f64'):
            for signs in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
                for scale in scales[type_name]:
                    sizes = [scale, source.choice(scales[type_name])]
                    p = tuple(round_double(s * source.uniform(0.3, 1) * k, type_name)
                              for s, k in zip(signs, sizes))
                    r = complex_value(opcode, p, type_name)
                    rows.append((opcode, type_name) + tuple(c(v) for v in p + r))
            for point, result in COMPLEX[opcode][1]:
                rows.append((opcode, type_name) + tuple(c(float(v)) for v in point) +
                            tuple(c(resolve(v, type_name)) for v in result))
            for point in CUT_POINTS.get(opcode, []):
                rows.append((opcode, type_name) + tuple(c(float(v)) for v in point) +
                            tuple(c(v) for v in cut_value(opcode, point, type_name)))
    for opcode in COMPLEX2:
        for type_name in ('f32', 'f64'):
            for a, b in complex_pairs(opcode, type_name):
                pair_rows.append((opcode, type_name)
                                 + tuple(c(v) for v in a + b + complex2_value(opcode, a, b, type_name)))
    with open(path, 'w') as out:
        out.write('// Written by golden/oracles/transcendental.py --table: mpmath, C99 Annex G. Not to be edited.\n')
        out.write('const UnaryRow kUnaryRows[] = {\n')
        for row in rows:
            out.write('    {"%s", ElementType::k%s, %s},\n' % (row[0], row[1].upper(), ', '.join(row[2:])))
        out.write('};\nconst BinaryRow kBinaryRows[] = {\n')
        for row in pair_rows:
            out.write('    {"%s", ElementType::k%s, %s},\n' % (row[0], row[1].upper(), ', '.join(row[2:])))
        out.write('};\n')


if __name__ == '__main__':
    if len(sys.argv) > 2 and sys.argv[1] == '--table':
        write_table(sys.argv[2])
    else:
        dry_run = written.dry_run(__doc__)
        script = written.Script(__file__)
        write_all(script)
        script.finish(dry_run)
