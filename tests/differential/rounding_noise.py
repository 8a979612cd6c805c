"""Variants of a program that show what rounding does to its results.

A program whose every floating-point step is off by one unit in the last place, up or down by chance, has
results as far from its own as rounding alone may bring an evaluator that rounds otherwise
(in wider formats, in another order, by polynomials). A program whose steps flush subnormal numbers to zero
has the results of a processor in that mode.
"""

import re

import numpy as np
from values import COMPONENT, epsilon, tiny

INSTRUCTION = re.compile(r'^(?P<indent>\s+)(?P<root>ROOT )?(?P<name>%?[\w.-]+) = '
                         r'(?P<type>f64|f32|f16|bf16|c64|c128)\[(?P<dims>[\d,]*)\](?:\{[^}]*\})? (?P<op>[\w-]+)\(')
OPERANDS = re.compile(r'^(%?[\w.-]+ = \S+ [\w-]+)\(([^)]*)\)(.*)$')
# Operations that move, select or make values: they do not round.
EXACT = set('''parameter constant tuple get-tuple-element reshape broadcast transpose slice concatenate reverse pad copy iota
bitcast bitcast-convert select clamp maximum minimum gather dynamic-slice dynamic-update-slice while call conditional sort
abs negate sign floor ceil round-nearest-afz round-nearest-even reduce-precision real imag complex custom-call optimization-barrier topk
reduce reduce-window scatter select-and-scatter map scan'''.split())
CONTRACTIONS = ('dot', 'convolution', 'fft', 'ragged-dot', 'scaled-dot', 'triangular-solve', 'cholesky')
LARGEST_PATTERN = 4096


def rounded_otherwise(text, seed):
    """The program with an error of one unit in the last place, of random sign,
    behind each step that rounds."""
    rng = np.random.default_rng(seed)
    return _rewritten(text, lambda found, line, shapes: _with_errors(found, line, shapes, rng))


def flushed(text):
    """The program with subnormal operands and results of steps replaced by zeros of their sign."""
    return _rewritten(text, lambda found, line, shapes: _with_zeros(found, line))


def _rewritten(text, rewrite):
    """`rewrite` answers the lines that stand for an instruction, the last of which has its name, or None."""
    lines, shapes = [], {}
    for line in text.splitlines():
        found = INSTRUCTION.match(line)
        new = None
        if found:
            dims = tuple(int(d) for d in found['dims'].split(',') if d)
            shapes[found['name']] = found['type'], dims
            new = rewrite(found, line.strip().removeprefix('ROOT '), shapes)
        elif line.startswith('}'):
            shapes = {}
        if new is None:
            lines.append(line)
            continue
        lines += [found['indent'] + l for l in new[:-1]]
        lines.append(found['indent'] + (found['root'] or '') + new[-1])
    return '\n'.join(lines) + '\n'


def _renamed(line, name):
    return line.replace(f'{name} = ', f'{name}_raw = ', 1)


def _pattern(rng, element, dims):
    """A literal of numbers next to one."""
    unit = epsilon(element)
    signs = rng.choice([-1, 1], (2, int(np.prod(dims, dtype=int))))

    def number(k):
        if element in COMPONENT:
            return f'({1 + float(signs[0, k]) * unit!r}, {float(signs[1, k]) * unit!r})'
        return repr(1 + float(signs[0, k]) * unit)

    def nested(start, sizes):
        if not sizes:
            return number(start)
        step = int(np.prod(sizes[1:], dtype=int))
        return '{' + ', '.join(nested(start + k * step, sizes[1:]) for k in range(sizes[0])) + '}'

    return nested(0, list(dims))


def _errors(name, raw, element, dims, rng):
    """Lines that make `name` of `raw` by a factor next to one for each element,
    or one for all of a large array."""
    text = ','.join(map(str, dims))
    if np.prod(dims, dtype=int) <= LARGEST_PATTERN:
        factor = [f'{name}_near_one = {element}[{text}] constant({_pattern(rng, element, dims)})']
    else:
        factor = [f'{name}_scalar = {element}[] constant({_pattern(rng, element, ())})',
                  f'{name}_near_one = {element}[{text}] broadcast({name}_scalar), dimensions={{}}']
    return factor + [f'{name} = {element}[{text}] multiply({raw}, {name}_near_one)']


def _with_errors(found, line, shapes, rng):
    if found['op'] in EXACT:
        return None
    name, before = found['name'], []
    if found['op'] in CONTRACTIONS:
        line, before = _with_operand_errors(found, line, shapes, rng)
    element, dims = shapes[name]
    return before + [_renamed(line, name)] + _errors(name, name + '_raw', element, dims, rng)


def _with_operand_errors(found, line, shapes, rng):
    """Sums of products cancel: their operands are off as well, which stands for the
    rounding of each product."""
    head, operands, tail = OPERANDS.match(line).groups()
    before, names = [], []
    for number, operand in enumerate(operands.split(', ')):
        if operand not in shapes:
            names.append(operand)
            continue
        names.append(f"{found['name']}_operand{number}")
        before += _errors(names[-1], operand, *shapes[operand], rng)
    return f"{head}({', '.join(names)}){tail}", before


def _with_zeros(found, line):
    element, dims, name = found['type'], found['dims'], found['name']
    if element == 'f16' or found['op'] in ('constant', 'tuple', 'get-tuple-element', 'while', 'call',
                                           'conditional'):
        return None
    line = _renamed(line, name)
    if element not in COMPONENT:
        return [line] + _zeros(name, f'{name}_raw', element, dims)
    part = COMPONENT[element]
    return [line, f'{name}_re = {part}[{dims}] real({name}_raw)',
            f'{name}_im = {part}[{dims}] imag({name}_raw)',
            *_zeros(f'{name}_ref', f'{name}_re', part, dims),
            *_zeros(f'{name}_imf', f'{name}_im', part, dims),
            f'{name} = {element}[{dims}] complex({name}_ref, {name}_imf)']


def _zeros(name, raw, element, dims):
    shape = f'{element}[{dims}]'
    return [f'{name}_normal = {element}[] constant({tiny(element)!r})',
            f'{name}_normals = {shape} broadcast({name}_normal), dimensions={{}}',
            f'{name}_zero = {element}[] constant(0)',
            f'{name}_zeros = {shape} broadcast({name}_zero), dimensions={{}}',
            f'{name}_signed = {shape} multiply({raw}, {name}_zeros)',
            f'{name}_size = {shape} abs({raw})',
            f'{name}_small = pred[{dims}] compare({name}_size, {name}_normals), direction=LT',
            f'{name} = {shape} select({name}_small, {name}_signed, {raw})']
