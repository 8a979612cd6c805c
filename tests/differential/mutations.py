"""Faults that are planted into instructions of HLO text: each rewrites one line,
which keeps its name and shape."""
import re

MARK = 'op_name="fault"'
# Three groups: name with ROOT, shape, and the rest.
LINE = re.compile(r'^(\s*(?:ROOT )?)%(\S+) = (\([^=]*\)|\S+) ([\w-]+)\((.*)$')
FLOATS = ('f32', 'f64', 'f16', 'bf16')


class Line:
    """An instruction in a line of text: `ROOT %name = shape op(operands), attributes`."""

    def __init__(self, text):
        self.head, self.name, self.shape, self.op, rest = LINE.match(text).groups()
        depth, end = 1, 0
        while depth:
            depth += {'(': 1, ')': -1, '{': 1, '}': -1}.get(rest[end], 0)
            end += 1
        inside, self.attributes = rest[:end - 1], rest[end:]
        self.inside = inside
        self.operands = re.findall(r'%[^\s,()]+', inside)
        found = re.match(r'(\w+)\[([\d,]*)\]', self.shape)
        self.type = found.group(1) if found else ''
        self.sizes = [int(n) for n in found.group(2).split(',') if n] if found else []
        self.extra = []

    def add(self, shape, op, operands, attributes=''):
        name = f'{self.name}.f{len(self.extra)}'
        self.extra.append(f'  %{name} = {shape} {op}({", ".join(operands)}){attributes}')
        return '%' + name

    def constant(self, value, element=None, sizes=None):
        element = element or self.type
        scalar = self.add(f'{element}[]', 'constant', [str(value)])
        sizes = self.sizes if sizes is None else sizes
        if not sizes:
            return scalar
        return self.add(self.array(element, sizes), 'broadcast', [scalar], ', dimensions={}')

    @staticmethod
    def array(element, sizes):
        return f'{element}[{",".join(map(str, sizes))}]'

    def result(self, op, operands, attributes=''):
        return '\n'.join([*self.extra, f'{self.head}%{self.name} = {self.shape} {op}({", ".join(operands)}){attributes}'])

    def original(self, **replaced):
        """The instruction itself, under another name."""
        return self.add(self.shape, self.op, [self.inside], replaced.get('attributes', self.attributes))


def rest_of(line, op=None, operands=None, attributes=None):
    return line.result(op or line.op, operands or [line.inside],
                       line.attributes if attributes is None else attributes)


KINDS = {}


def fault(ops, types=None):
    def add(function):
        KINDS[function.__name__.replace('_', '-')] = (ops, types, function)
        return function

    return add


def register_functions():
    for op in ('tanh', 'exponential', 'log', 'rsqrt', 'sine', 'cosine', 'logistic', 'power', 'erf'):

        def off(line, _, op=op):
            scale = {'f32': 1 + 20 * 2**-23, 'f64': 1 + 20 * 2**-52}[line.type]
            return line.result('multiply', [line.original(), line.constant(repr(scale))])

        KINDS[f'{op}-20-ulps'] = ((op,), ('f32', 'f64'), off)


register_functions()


def rounded(line, operand, shape, bits=7):
    return line.add(shape, 'reduce-precision', [operand], f', exponent_bits=8, mantissa_bits={bits}')


@fault(('add', 'subtract', 'multiply', 'divide'), ('f32',))
def bf16_result(line, _):
    return line.result('reduce-precision', [line.original()], ', exponent_bits=8, mantissa_bits=7')


@fault(('dot', 'convolution'), ('f32',))
def tf32_operands(line, shapes):
    return rest_of(line, operands=[rounded(line, o, shapes[o], 10) for o in line.operands])


@fault(('dot', 'convolution'), ('f32',))
def bf16_operands(line, shapes):
    return rest_of(line, operands=[rounded(line, o, shapes[o]) for o in line.operands])


@fault(('dot', 'convolution', 'reduce', 'reduce-window'), ('f32',))
def bf16_accumulated(line, _):
    return line.result('reduce-precision', [line.original()], ', exponent_bits=8, mantissa_bits=7')


@fault(('reduce',), ('f32', 's32'))
def dropped_term(line, shapes):
    dimension = int(re.search(r'dimensions=\{(\d+)', line.attributes).group(1))
    return sliced(line, shapes, line.operands[0], dimension)


def sliced(line, shapes, operand, dimension):
    """The last of the dimension is left out."""
    element, sizes = shape_of(shapes[operand])
    if sizes[dimension] < 2:
        return None
    sizes[dimension] -= 1
    ranges = ', '.join(f'[0:{n}]' for n in sizes)
    shorter = line.add(Line.array(element, sizes), 'slice', [operand], f', slice={{{ranges}}}')
    return rest_of(line, operands=[shorter, *line.operands[1:]])


def shape_of(text):
    found = re.match(r'(\w+)\[([\d,]*)\]', text)
    return found.group(1), [int(n) for n in found.group(2).split(',') if n]


@fault(('dot',), ('f32',))
def dot_without_last_term(line, shapes):
    operands = list(line.operands)
    for k, side in enumerate(('lhs', 'rhs')):
        dimension = int(re.search(side + r'_contracting_dims=\{(\d+)', line.attributes).group(1))
        element, sizes = shape_of(shapes[operands[k]])
        if sizes[dimension] < 2:
            return None
        sizes[dimension] -= 1
        operands[k] = line.add(Line.array(element, sizes), 'slice', [operands[k]],
                               ', slice={' + ', '.join(f'[0:{n}]' for n in sizes) + '}')
    return rest_of(line, operands=operands)


@fault(('reduce', 'reduce-window'), ('f32', 's32'))
def init_used_twice(line, shapes):
    if len(line.operands) != 2:
        return None
    init = line.operands[1]
    if line.sizes:
        init = line.add(line.shape, 'broadcast', [init], ', dimensions={}')
    return line.result('add', [line.original(), init])


@fault(('convolution',))
def filter_reversed(line, shapes):
    filter_shape = shapes[line.operands[1]]
    labels = re.search(r'dim_labels=\w+_(\w+)->', line.attributes).group(1)
    spatial = ','.join(str(k) for k, c in enumerate(labels) if c.isdigit())
    turned = line.add(filter_shape, 'reverse', [line.operands[1]], f', dimensions={{{spatial}}}')
    return rest_of(line, operands=[line.operands[0], turned])


@fault(('convolution', 'reduce-window'))
def window_off_by_one(line, _):
    found = re.search(r'pad=(\d+)_(\d+)', line.attributes)
    if not found or found.group(2) == '0':
        return None
    moved = f'pad={int(found.group(1)) + 1}_{int(found.group(2)) - 1}'
    return rest_of(line, attributes=line.attributes.replace(found.group(0), moved, 1))


@fault(('slice',))
def slice_off_by_one(line, shapes):
    ranges = re.findall(r'\[(\d+):(\d+)(?::(\d+))?\]', line.attributes)
    _, sizes = shape_of(shapes[line.operands[0]])
    for k, (begin, end, step) in enumerate(ranges):
        shift = 1 if int(end) < sizes[k] else -1 if int(begin) > 0 else 0
        if shift:
            ranges[k] = (int(begin) + shift, int(end) + shift, step)
            text = ', '.join(f'[{b}:{e}:{s}]' if s else f'[{b}:{e}]' for b, e, s in ranges)
            return rest_of(line, attributes=re.sub(r'slice=\{.*?\}', f'slice={{{text}}}', line.attributes))
    return None


@fault(('gather', 'scatter'))
def index_off_by_one(line, shapes):
    element, sizes = shape_of(shapes[line.operands[1]])
    one = line.constant(1, element, sizes)
    indices = line.add(Line.array(element, sizes), 'add', [line.operands[1], one])
    return rest_of(line, operands=[line.operands[0], indices, *line.operands[2:]])


@fault(('dynamic-slice', 'dynamic-update-slice'))
def start_off_by_one(line, shapes):
    first = 1 if line.op == 'dynamic-slice' else 2
    element, _ = shape_of(shapes[line.operands[first]])
    moved = line.add(f'{element}[]', 'add', [line.operands[first], line.constant(1, element, [])])
    return rest_of(line, operands=[*line.operands[:first], moved, *line.operands[first + 1:]])


@fault(('round-nearest-even',))
def ties_away_from_zero(line, _):
    return rest_of(line, 'round-nearest-afz')


@fault(('round-nearest-afz',))
def ties_to_even(line, _):
    return rest_of(line, 'round-nearest-even')


@fault(('maximum', 'minimum'), FLOATS)
def nan_is_lost(line, shapes):
    direction = 'GT' if line.op == 'maximum' else 'LT'
    larger = line.add(Line.array('pred', line.sizes), 'compare', line.operands, f', direction={direction}')
    return line.result('select', [larger, *line.operands])


@fault(('multiply', 'divide'), ('f32',))
def subnormals_flushed(line, _):
    value = line.original()
    size = line.add(line.shape, 'abs', [value])
    small = line.add(Line.array('pred', line.sizes), 'compare', [size, line.constant('1.17549435e-38')],
                     ', direction=LT')
    return line.result('select', [small, line.constant(0), value])


@fault(('convert',), ('s32', 's8', 'u8', 's16', 's64'))
def convert_rounds(line, shapes):
    if shape_of(shapes[line.operands[0]])[0] not in FLOATS:
        return None
    return rest_of(line, operands=[line.add(shapes[line.operands[0]], 'round-nearest-even', line.operands)])


@fault(('convert',), ('bf16',))
def convert_truncates(line, shapes):
    if shape_of(shapes[line.operands[0]])[0] != 'f32':
        return None
    bits = line.add(Line.array('u32', line.sizes), 'bitcast-convert', line.operands)
    high = line.add(Line.array('u32', line.sizes), 'shift-right-logical', [bits, line.constant(16, 'u32')])
    half = line.add(Line.array('u16', line.sizes), 'convert', [high])
    return line.result('bitcast-convert', [half])


@fault(('convert',), ('s8', 'u8', 's16'))
def convert_wraps(line, shapes):
    element = shape_of(shapes[line.operands[0]])[0]
    if element not in FLOATS:
        return None
    return rest_of(line, operands=[line.add(Line.array('s32', line.sizes), 'convert', line.operands)])


@fault(('add', 'multiply', 'tanh', 'select', 'dot', 'transpose', 'broadcast', 'reduce', 'reshape', 'copy',
        'gather'),
       (*FLOATS, 's32'))
def stale_element(line, _):
    if not line.sizes or not all(line.sizes):
        return None
    first = line.add(Line.array('s32', line.sizes), 'iota', [], f', iota_dimension={len(line.sizes) - 1}')
    stale = line.add(Line.array('pred', line.sizes), 'compare',
                     [first, line.constant(line.sizes[-1] - 1, 's32')], ', direction=EQ')
    return line.result('select', [stale, line.constant(7), line.original()])


@fault(('clamp',))
def clamp_without_lower_end(line, shapes):
    high = line.operands[2]
    if shape_of(shapes[high])[1] != line.sizes:
        high = line.add(line.shape, 'broadcast', [high], ', dimensions={}')
    return line.result('minimum', [line.operands[1], high])


@fault(('add',), ('s32', 'u32'))
def carry_lost(line, _):
    high, low = (line.constant(v) for v in ((-65536, 65535) if line.type == 's32' else (4294901760, 65535)))
    parts = [line.add(line.shape, 'and', [o, high]) for o in line.operands]
    above = line.add(line.shape, 'add', parts)
    below = line.add(line.shape, 'and', [line.original(), low])
    return line.result('or', [above, below])


@fault(('compare',))
def compare_takes_equal(line, _):
    swapped = {'LT': 'LE', 'LE': 'LT', 'GT': 'GE', 'GE': 'GT', 'EQ': 'NE', 'NE': 'EQ'}
    found = re.search(r'direction=(\w+)', line.attributes)
    return rest_of(line,
                   attributes=line.attributes.replace(found.group(0), 'direction=' + swapped[found.group(1)]))


@fault(('compare',))
def compare_turned_round(line, _):
    return rest_of(line, operands=[line.operands[1], line.operands[0]])


@fault(('compare',), ('pred',))
def compare_without_sign(line, shapes):
    if shape_of(shapes[line.operands[0]])[0] != 's32':
        return None
    whole = [line.add(Line.array('u32', shape_of(shapes[o])[1]), 'bitcast-convert', [o])
             for o in line.operands]
    return rest_of(line, operands=whole)


@fault(('iota',))
def iota_of_other_dimension(line, _):
    dimension = int(re.search(r'iota_dimension=(\d+)', line.attributes).group(1))
    others = [k for k in range(len(line.sizes)) if k != dimension and line.sizes[k] > 1]
    if not others:
        return None
    return rest_of(line,
                   attributes=re.sub(r'iota_dimension=\d+', f'iota_dimension={others[0]}', line.attributes))


@fault(('pad',), ('f32', 's32'))
def pad_of_another_value(line, _):
    value = line.add(f'{line.type}[]', 'add', [line.operands[1], line.constant(1, sizes=[])])
    return rest_of(line, operands=[line.operands[0], value])


@fault(('reverse',))
def not_reversed(line, _):
    return line.result('copy', line.operands)


@fault(('shift-right-arithmetic',))
def shift_without_sign(line, _):
    return rest_of(line, 'shift-right-logical')


@fault(('divide',), ('s32',))
def division_rounds_down(line, _):
    quotient, rest = line.original(), line.add(line.shape, 'remainder', line.operands)
    sign = line.add(line.shape, 'shift-right-arithmetic',
                    [line.add(line.shape, 'xor', line.operands), line.constant(31)])
    exact = line.add(Line.array('pred', line.sizes), 'compare', [rest, line.constant(0)], ', direction=EQ')
    return line.result('add', [quotient, line.add(line.shape, 'select', [exact, line.constant(0), sign])])


@fault(('remainder',), ('s32', 'f32'))
def remainder_of_the_divisor_s_sign(line, _):
    rest = line.original()
    negative = line.add(Line.array('pred', line.sizes), 'compare', [rest, line.constant(0)], ', direction=LT')
    return line.result('select', [negative, line.add(line.shape, 'add', [rest, line.operands[1]]), rest])


@fault(('select',))
def select_swapped(line, _):
    return rest_of(line, operands=[line.operands[0], line.operands[2], line.operands[1]])


@fault(('transpose',))
def not_transposed(line, shapes):
    if shape_of(shapes[line.operands[0]])[1] != line.sizes:
        return line.result('reshape', line.operands)
    return line.result('copy', line.operands)


@fault(('concatenate',))
def parts_in_reverse(line, shapes):
    if len(line.operands) < 2:
        return None
    return rest_of(line, operands=line.operands[::-1])


@fault(('broadcast',))
def broadcast_along_another_dimension(line, shapes):
    found = re.search(r'dimensions=\{(\d+)\}', line.attributes)
    if not found:
        return None
    here = int(found.group(1))
    others = [k for k, n in enumerate(line.sizes) if k != here and n == line.sizes[here] and n > 1]
    if not others:
        return None
    return rest_of(line, attributes=line.attributes.replace(found.group(0), f'dimensions={{{others[0]}}}'))


@fault(('subtract', 'atan2', 'power'), ('f32', 's32'))
def operands_swapped(line, _):
    return rest_of(line, operands=line.operands[::-1])


@fault(('abs',))
def sign_kept(line, _):
    return line.result('copy', line.operands)


@fault(('reduce',), ('f32', 's32'))
def result_not_below_zero(line, _):
    return line.result('maximum', [line.original(), line.constant(0)])


@fault(('sine', 'cosine'), ('f32',))
def argument_cut(line, shapes):
    return rest_of(line, operands=[rounded(line, line.operands[0], line.shape, 12)])


@fault(('floor',), FLOATS)
def floor_truncates(line, _):
    size = line.add(line.shape, 'floor', [line.add(line.shape, 'abs', line.operands)])
    return line.result('multiply', [line.add(line.shape, 'sign', line.operands), size])


@fault(('sqrt',), ('f32',))
def sqrt_by_rsqrt(line, _):
    return line.result('multiply', [line.operands[0], line.add(line.shape, 'rsqrt', line.operands)])


@fault(('popcnt',), ('s32', 'u32'))
def bits_above_16_lost(line, _):
    return rest_of(line, operands=[line.add(line.shape, 'and', [line.operands[0], line.constant(65535)])])


@fault(('and',), ('s32', 'pred'))
def and_is_or(line, _):
    return rest_of(line, 'or')


@fault(('is-finite',))
def infinity_is_finite(line, shapes):
    return line.result('compare', [line.operands[0], line.operands[0]], ', direction=EQ')


@fault(('exponential', 'log', 'tanh'), ('f32',))
def large_arguments_only(line, _):
    value = line.original()
    size = line.add(line.shape, 'abs', line.operands)
    large = line.add(Line.array('pred', line.sizes), 'compare', [size, line.constant(2)], ', direction=GT')
    wrong = line.add(line.shape, 'multiply', [value, line.constant('1.00001')])
    return line.result('select', [large, wrong, value])


@fault(('scatter', 'dynamic-update-slice'))
def nothing_updated(line, _):
    return line.result('copy', line.operands[:1])


@fault(('add',), ('f32',))
def absolute_error_of_1e_4(line, _):
    return line.result('add', [line.original(), line.constant('1e-4')])


def shapes_of(text):
    return {'%' + m.group(2): m.group(3) for m in map(LINE.match, text.splitlines()) if m}


def plant(text, kind):
    """The text with the fault in each marked instruction."""
    shapes = shapes_of(text)
    lines = []
    for line in text.splitlines():
        if MARK in line and LINE.match(line):
            planted = KINDS[kind][2](Line(line), shapes)
            line = planted if planted is not None else line
        lines.append(line)
    return '\n'.join(lines) + '\n'


def places(text, kind):
    """Names of instructions that the fault fits."""
    ops, types, function = KINDS[kind]
    shapes = shapes_of(text)
    for line in text.splitlines():
        found = LINE.match(line)
        if not found or found.group(4) not in ops or found.group(3).startswith('('):
            continue
        parsed = Line(line)
        if types and parsed.type not in types:
            continue
        try:
            if function(parsed, shapes) is not None:
                yield parsed.name
        except (AttributeError, KeyError, IndexError):
            continue


def marked(text, name):
    """The text with the mark on an instruction, and no other metadata."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r', metadata=\{[^{}]*\}', '', line)
        found = LINE.match(line)
        if found and found.group(2) == name:
            line += f', metadata={{{MARK}}}'
        lines.append(line)
    return '\n'.join(lines) + '\n'


def right_names(text, name):
    """The instruction, and those that call the computation it is in for elements:
    of these the result is judged."""
    names, computation = {name}, ''
    for line in text.splitlines():
        opened = re.match(r'(?:ENTRY )?%(\S+) \(.*\{$', line)
        if opened:
            computation = opened.group(1)
        found = LINE.match(line)
        if found and found.group(2) == name:
            break
    for line in text.splitlines():
        found = LINE.match(line)
        if found and found.group(4) != 'call' and re.search(r'to_apply=%' + re.escape(computation)
                                                            + r'(,|\s|$)', line):
            names.add(found.group(2))
    return names
