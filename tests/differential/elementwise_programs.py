"""Programs of one elementwise op each, over edges and ordinary values of its element types."""

import numpy as np
from program import EXACT, MOVES, Program, Rule
from values import (ALL, COMMON, COMPLEX, COMPONENT, EIGHT_BITS, FLOATS, HALF_FLOATS, INTEGERS, ODD_FLOATS,
                    SIGNED,
                    SUB_BYTE, UNSIGNED, WIDE_FLOATS, edges, is_float, is_integer, pairs, random_bits, width)

TRANSCENDENTAL = [
    'cbrt', 'rsqrt', 'exponential', 'exponential-minus-one', 'log', 'log-plus-one', 'logistic', 'sine',
    'cosine', 'tan', 'tanh', 'erf', 'sinh', 'cosh', 'asin', 'acos', 'asinh', 'acosh', 'atanh'
]
EXACT_UNARY = ['abs', 'negate', 'sign', 'ceil', 'floor', 'round-nearest-afz', 'round-nearest-even', 'sqrt']
# Types compared in one program: XLA:CPU compiles them together, and a refusal names one group.
FLOAT_GROUPS = [['f32'], ['f64'], HALF_FLOATS, EIGHT_BITS]
INTEGER_GROUPS = [SIGNED, UNSIGNED, SUB_BYTE]


def basic_rule(element):
    """Of the basic operations: IEEE for f32 and f64; XLA:CPU rounds the narrow ones through another type."""
    if element in COMPLEX:
        return Rule('ulps', 4)
    return EXACT if not is_float(element) or element in WIDE_FLOATS else Rule('ulps', 2)


def transcendental_rule(element):
    if element in COMPLEX:
        return Rule('ulps', 16)
    return Rule('ulps', 4 if element in WIDE_FLOATS else 2)


def unary(rng):
    for op in EXACT_UNARY + TRANSCENDENTAL:
        groups = list(FLOAT_GROUPS)
        if op in ('abs', 'negate', 'sign'):
            groups += [SIGNED, ['s4', 's2']] + ([UNSIGNED, ['u4', 'u2']] if op == 'negate' else [])
        if op not in ('ceil', 'floor', 'round-nearest-afz', 'round-nearest-even', 'cbrt', 'erf'):
            groups.append(COMPLEX)
        for group in groups:
            program = Program(f'{op}_{"_".join(group[:2])}')
            for element in group:
                x = program.arg(edges(rng, element, 83), element)
                result = COMPONENT.get(element, element) if op == 'abs' else element
                rule = transcendental_rule if op in TRANSCENDENTAL else basic_rule
                y = program.op(result, x.dims, f'{op}({x})')
                program.out(y, op, rule(element), (x,), elementwise=True)
            yield program


def bit_counts(rng):
    for op in ('not', 'popcnt', 'count-leading-zeros'):
        for group in INTEGER_GROUPS:
            program = Program(f'{op}_{group[0]}')
            for element in group + (['pred'] if op == 'not' else []):
                x = program.arg(edges(rng, element, 40), element)
                program.out(program.op(element, x.dims, f'{op}({x})'), op, EXACT, (x,), elementwise=True)
            yield program


def predicates_and_parts(rng):
    for group in FLOAT_GROUPS:
        program = Program(f'is_finite_{group[0]}')
        for element in group:
            x = program.arg(edges(rng, element, 40), element)
            program.out(program.op('pred', x.dims, f'is-finite({x})'), 'is-finite', EXACT, (x,),
                        elementwise=True)
        yield program
    program = Program('complex_parts')
    for element in COMPLEX:
        part = COMPONENT[element]
        x = program.arg(edges(rng, element, 90), element)
        a = program.arg(edges(rng, part, 30), part)
        b = program.arg(edges(rng, part, 30)[::-1].copy(), part)
        for op in ('real', 'imag'):
            program.out(program.op(part, x.dims, f'{op}({x})'), op, MOVES, (x,), elementwise=True)
        program.out(program.op(element, a.dims, f'complex({a}, {b})'), 'complex', MOVES, (a, b),
                    elementwise=True)
    yield program


def binary(rng):
    arithmetic = ['add', 'subtract', 'multiply', 'divide', 'remainder', 'maximum', 'minimum', 'power']
    for op in arithmetic + ['atan2', 'and', 'or', 'xor', 'shift-left', 'shift-right-arithmetic',
                            'shift-right-logical']:
        groups = [] if op == 'atan2' else list(INTEGER_GROUPS)
        if op in arithmetic + ['atan2']:
            groups += FLOAT_GROUPS
        if op in ('add', 'subtract', 'multiply', 'divide', 'power', 'atan2'):
            groups.append(COMPLEX)
        if op in ('add', 'multiply', 'maximum', 'minimum', 'and', 'or', 'xor'):
            groups.append(['pred'])
        for group in groups:
            program = Program(f'{op}_{"_".join(group[:2])}')
            for element in group:
                left, right = pairs(rng, element, 40)
                a, b = program.arg(left, element), program.arg(right, element)
                hard = op in ('power', 'atan2') and not is_integer(element)
                rule = transcendental_rule(element) if hard else basic_rule(element)
                if op in ('maximum', 'minimum', 'remainder'):
                    rule = EXACT
                program.out(program.op(element, a.dims, f'{op}({a}, {b})'), op, rule, (a, b),
                            elementwise=True)
            yield program


def compare(rng):
    for element in ALL:
        program = Program(f'compare_{element}')
        left, right = pairs(rng, element, 40)
        a, b = program.arg(left, element), program.arg(right, element)
        directions = ['EQ', 'NE'] + ([] if element in COMPLEX else ['LT', 'LE', 'GT', 'GE'])
        for kind in ['', ', type=TOTALORDER'] if is_float(element) else ['']:
            for direction in directions:
                value = program.op('pred', a.dims, f'compare({a}, {b}), direction={direction}{kind}')
                op = 'compare' + ('-total' if kind else '')
                program.out(value, op, EXACT, (a, b), f'{op} {direction} {element}', True)
        yield program


def convert(rng):
    for source in ALL:
        for part, targets in enumerate((['pred'] + INTEGERS + SUB_BYTE, FLOATS + ODD_FLOATS + COMPLEX)):
            if source in COMPLEX:
                targets = [t for t in targets if t in COMPLEX]
            if not targets:
                continue
            program = Program(f'convert_{source}_{part}')
            x = program.arg(edges(rng, source, 90), source)
            for target in targets:
                value = program.op(target, x.dims, f'convert({x})')
                rule = MOVES if source == target else EXACT
                program.out(value, 'convert', rule, (x,), f'convert {source} -> {target}', True)
            yield program


def bitcast_convert(rng):
    by_width = {}
    for element in COMMON + EIGHT_BITS:
        if element not in COMPLEX and element != 'pred':
            by_width.setdefault(width(element), []).append(element)
    for bits, elements in by_width.items():
        for target_bits, targets in by_width.items():
            program = Program(f'bitcast_convert_{bits}_{target_bits}')
            ratio = max(bits, target_bits) // min(bits, target_bits)
            for k, target in enumerate(targets):
                source = elements[k % len(elements)]
                dims = (3, 5, ratio) if target_bits > bits else (3, 5)
                x = program.arg(random_bits(rng, source, dims), source)
                result = (3, 5) if target_bits >= bits else (3, 5, ratio)
                value = program.op(target, result, f'bitcast-convert({x})')
                program.out(value, 'bitcast-convert', MOVES, (x,), f'bitcast-convert {source} -> {target}')
            yield program


def reduce_precision(rng):
    for element in WIDE_FLOATS + HALF_FLOATS:
        program = Program(f'reduce_precision_{element}')
        x = program.arg(edges(rng, element, 150), element)
        for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (2, 1), (1, 1), (11, 52), (3, 0), (8, 0),
                                   (8, 23)):
            value = program.op(element, x.dims, f'reduce-precision({x}), exponent_bits={exponent}, '
                                                f'mantissa_bits={mantissa}')
            program.out(value, 'reduce-precision', EXACT, (x,),
                        f'reduce-precision {exponent},{mantissa} {element}', True)
        yield program


def select_and_clamp(rng):
    for group in (['pred'] + SIGNED, UNSIGNED, SUB_BYTE, WIDE_FLOATS + HALF_FLOATS, EIGHT_BITS + ODD_FLOATS,
                  COMPLEX):
        program = Program(f'select_clamp_{group[-1]}')
        for element in group:
            left, right = pairs(rng, element, 20)
            a, b = program.arg(left, element), program.arg(right, element)
            p = program.arg(random_bits(rng, 'pred', a.dims), 'pred')
            q = program.arg(np.array(bool(rng.integers(2))), 'pred')
            for chooser in (p, q):
                value = program.op(element, a.dims, f'select({chooser}, {a}, {b})')
                operands = (p, a, b) if chooser is p else (a, b)
                program.out(value, 'select', MOVES, operands, elementwise=True)
            if element in COMPLEX or element in ODD_FLOATS:
                continue
            c = program.arg(left[rng.permutation(len(left))], element)
            value = program.op(element, a.dims, f'clamp({a}, {c}, {b})')
            program.out(value, 'clamp', EXACT, (a, c, b), elementwise=True)
        yield program


def all_programs(rng):
    for family in (unary, bit_counts, predicates_and_parts, binary, compare, convert, bitcast_convert,
                   reduce_precision, select_and_clamp):
        yield from family(rng)
