"""Programs of ops that move, order, reduce, contract or control, with random shapes and dimension numbers."""

import itertools

import linear_programs
import numpy as np
from program import EXACT, MOVES, Program, Rule, shape
from values import (ALL, COMMON, COMPLEX, HALF_FLOATS, INTEGERS, WIDE_FLOATS, is_float, plain,
                    random_bits)


def text_list(values):
    return '{' + ','.join(str(int(v)) for v in values) + '}'


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def random_dims(rng, rank=None, sizes=(1, 2, 3, 4, 5, 7), empty=0.06):
    rank = int(rng.integers(0, 5)) if rank is None else rank
    return tuple(0 if rng.random() < empty else int(pick(rng, sizes)) for _ in range(rank))


def subset(rng, values, count=None):
    """A random subset, in random order."""
    values = list(values)
    count = int(rng.integers(0, len(values) + 1)) if count is None else count
    return [values[k] for k in rng.permutation(len(values))[:count]]


def any_arg(program, rng, dims, element=None):
    element = element or pick(rng, COMMON + ['f8e4m3fn', 's4', 'u4'])
    return program.arg(random_bits(rng, element, dims), element)


def moved(program, rng, operand, op, dims, expression):
    program.out(program.op(operand.element, dims, expression), op, MOVES, (operand,))


def reshaping(rng, program):
    x = any_arg(program, rng, random_dims(rng))
    rank = len(x.dims)
    order = rng.permutation(rank)
    moved(program, rng, x, 'transpose', [x.dims[k] for k in order],
          f'transpose({x}), dimensions={text_list(order)}')
    moved(program, rng, x, 'reshape', (int(np.prod(x.dims)), 1), f'reshape({x})')
    chosen = sorted(subset(rng, range(rank)))
    moved(program, rng, x, 'reverse', x.dims, f'reverse({x}), dimensions={text_list(chosen)}')
    kept = iter(x.dims)
    places = sorted(subset(rng, range(rank + 2), rank))
    dims = [next(kept) if k in places else int(rng.integers(0, 4)) for k in range(rank + 2)]
    moved(program, rng, x, 'broadcast', dims, f'broadcast({x}), dimensions={text_list(places)}')


def slicing(rng, program):
    x = any_arg(program, rng, random_dims(rng, int(rng.integers(1, 5))))
    ranges, dims = [], []
    for size in x.dims:
        start = int(rng.integers(0, size + 1))
        limit = int(rng.integers(start, size + 1))
        stride = int(rng.integers(1, 4))
        ranges.append(f'[{start}:{limit}:{stride}]')
        dims.append(-(-(limit - start) // stride))
    moved(program, rng, x, 'slice', dims, f'slice({x}), slice={{{", ".join(ranges)}}}')
    axis = int(rng.integers(len(x.dims)))
    others = []
    for _ in range(int(rng.integers(0, 3))):
        dims = list(x.dims)
        dims[axis] = int(rng.integers(0, 4))
        others.append(any_arg(program, rng, dims, x.element))
    dims = list(x.dims)
    dims[axis] += sum(o.dims[axis] for o in others)
    names = ', '.join(str(o) for o in [x] + others)
    moved(program, rng, x, 'concatenate', dims, f'concatenate({names}), dimensions={{{axis}}}')


def padding(rng, program):
    x = any_arg(program, rng, random_dims(rng, int(rng.integers(1, 4))))
    value = any_arg(program, rng, (), x.element)
    parts, dims = [], []
    for size in x.dims:
        inner = int(rng.integers(0, 3))
        spread = size + max(size - 1, 0) * inner
        low, high = int(rng.integers(-3, 4)), int(rng.integers(-3, 4))
        if low + spread + high < 0:
            low, high = 0, 0
        parts.append(f'{low}_{high}_{inner}')
        dims.append(low + spread + high)
    moved(program, rng, x, 'pad', dims, f'pad({x}, {value}), padding={"x".join(parts)}')


def dynamic_slicing(rng, program):
    x = any_arg(program, rng, random_dims(rng, int(rng.integers(1, 5))))
    index_type = pick(rng, ['s32', 's64', 'u32', 'u8', 's8', 'u64'])
    sizes = [int(rng.integers(0, size + 1)) for size in x.dims]
    low = 0 if index_type[0] == 'u' else -3
    starts = [program.arg(
        np.array(rng.integers(low, 9)).astype(f'{"u" if low == 0 else "i"}{int(index_type[1:]) // 8}'),
                          index_type) for _ in x.dims]
    names = ', '.join(str(s) for s in starts)
    moved(program, rng, x, 'dynamic-slice', sizes,
          f'dynamic-slice({x}, {names}), dynamic_slice_sizes={text_list(sizes)}')
    update = any_arg(program, rng, sizes, x.element)
    moved(program, rng, x, 'dynamic-update-slice', x.dims, f'dynamic-update-slice({x}, {update}, {names})')


def gather_layout(rng, operand_dims):
    """Random dimension numbers of a gather; a scatter is read off the same numbers."""
    rank = len(operand_dims)
    batching = sorted(subset(rng, range(rank), int(rng.integers(0, min(2, rank)))))
    rest = [d for d in range(rank) if d not in batching]
    collapsed = sorted(d for d in subset(rng, rest) if operand_dims[d] > 0)
    sizes = [1 if d in batching or d in collapsed else int(rng.integers(0, operand_dims[d] + 1))
             for d in range(rank)]
    index_map = subset(rng, rest, int(rng.integers(1, len(rest) + 1)))
    extra = [(None, int(rng.integers(0, 5))) for _ in range(int(rng.integers(0, 3)))]
    batches = subset(rng, [(d, operand_dims[d]) for d in batching] + extra, len(batching) + len(extra))
    vector = int(rng.integers(0, len(batches) + 1))
    index_dims = [size for _, size in batches]
    positions = {d: k + (k >= vector) for k, (d, _) in enumerate(batches) if d is not None}
    if len(index_map) > 1 or vector < len(batches) or rng.random() < 0.5:
        index_dims.insert(vector, len(index_map))
    window = [sizes[d] for d in rest if d not in collapsed]
    offsets = sorted(subset(rng, range(len(window) + len(batches)), len(window)))
    windows, others = iter(window), iter(size for _, size in batches)
    result = [next(windows) if k in offsets else next(others) for k in range(len(window) + len(batches))]
    return dict(batching=batching, collapsed=collapsed, sizes=sizes, index_map=index_map, vector=vector,
                index_dims=index_dims, index_batching=[positions[d] for d in batching], offsets=offsets,
                result=result)


def index_arg(rng, program, dims, high):
    element = pick(rng, ['s32', 's32', 's64', 'u32', 's8', 'u8'])
    low = 0 if element[0] == 'u' else -1
    values = rng.integers(low, high + 1, dims)
    return program.arg(values.astype(f'{"u" if low == 0 else "i"}{int(element[1:]) // 8}'), element)


def gathering(rng, program):
    x = any_arg(program, rng, random_dims(rng, int(rng.integers(1, 5)), (1, 2, 3, 4), 0))
    g = gather_layout(rng, x.dims)
    indices = index_arg(rng, program, g['index_dims'], 4)
    batching = ''
    if g['batching']:
        batching = (f', operand_batching_dims={text_list(g["batching"])}'
                    f', start_indices_batching_dims={text_list(g["index_batching"])}')
    moved(program, rng, x, 'gather', g['result'],
          f'gather({x}, {indices}), offset_dims={text_list(g["offsets"])}, '
          f'collapsed_slice_dims={text_list(g["collapsed"])}, start_index_map={text_list(g["index_map"])}{batching}, '
          f'index_vector_dim={g["vector"]}, slice_sizes={text_list(g["sizes"])}')


def combiner(program, element, op, name):
    scalar = f'{element}[]'
    root = f'ROOT r = {scalar} {op}(a, b)' if op != 'second' else f'ROOT r = {scalar} copy(b)'
    program.computation(f'{name} {{\n  a = {scalar} parameter(0)\n  b = {scalar} parameter(1)\n  {root}\n}}')
    return name


def scattering(rng, program):
    element = pick(rng, ['s32', 's8', 'u16', 'u64', 'f32', 'f64', 'bf16', 'c64', 'pred'])
    ops = {'pred': ['and', 'or'],
           'c64': ['add', 'second']}.get(element, ['add', 'multiply', 'maximum', 'second'])
    op = pick(rng, ops)
    dims = random_dims(rng, int(rng.integers(1, 5)), (1, 2, 3, 4), 0)
    g = gather_layout(rng, dims)
    x = program.arg(plain(rng, element, dims), element)
    indices = index_arg(rng, program, g['index_dims'], 4)
    updates = program.arg(plain(rng, element, g['result']), element)
    batching = ''
    if g['batching']:
        batching = (f', input_batching_dims={text_list(g["batching"])}'
                    f', scatter_indices_batching_dims={text_list(g["index_batching"])}')
    text = (f'scatter({x}, {indices}, {updates}), update_window_dims={text_list(g["offsets"])}, '
            f'inserted_window_dims={text_list(g["collapsed"])}, '
            f'scatter_dims_to_operand_dims={text_list(g["index_map"])}{batching}, index_vector_dim={g["vector"]}, '
            f'to_apply={combiner(program, element, op, "combine")}')
    value = program.op(element, dims, text)
    inexact = op in ('add', 'multiply') and (is_float(element) or element in COMPLEX)
    rule = EXACT
    if inexact:
        count = int(np.prod(g['result'])) + 2
        rule = Rule('sum', count) if op == 'add' else Rule('ulps', 2 * count)
    program.out(value, f'scatter-{op}', rule, (x, indices, updates), text=text)


def sorting(rng, program):
    dims = random_dims(rng, int(rng.integers(1, 4)), (1, 2, 5, 9, 33), 0.05)
    elements = [pick(rng, INTEGERS + WIDE_FLOATS + HALF_FLOATS + ['pred'])
                for _ in range(int(rng.integers(1, 4)))]
    operands = [program.arg((plain if rng.random() < 0.5 else random_bits)(rng, e, dims), e)
                for e in elements]
    lines = []
    for k, element in enumerate(elements):
        lines += [f'  a{k} = {element}[] parameter({2 * k})', f'  b{k} = {element}[] parameter({2 * k + 1})']
    total = ', type=TOTALORDER' if is_float(elements[0]) else ''
    lines.append(f'  ROOT r = pred[] compare(a0, b0), direction={pick(rng, ["LT", "GT"])}{total}')
    program.computation('order {\n' + '\n'.join(lines) + '\n}')
    axis = int(rng.integers(len(dims)))
    tail = f'({", ".join(map(str, operands))}), dimensions={{{axis}}}, is_stable=true, to_apply=order'
    if len(operands) == 1:
        program.out(program.op(elements[0], dims, 'sort' + tail), 'sort', MOVES, operands)
        return
    program.raw('sorted', '(' + ', '.join(o.shape for o in operands) + ')', 'sort' + tail)
    for k, element in enumerate(elements):
        value = program.op(element, dims, f'get-tuple-element(sorted), index={k}')
        program.out(value, 'sort', MOVES, operands)


def topping(rng, program):
    dims = random_dims(rng, int(rng.integers(1, 3)), (1, 5, 9, 33), 0)
    element = pick(rng, ['f32', 's32', 'bf16', 'f64', 'u8'])
    x = program.arg(plain(rng, element, dims), element)
    k = int(rng.integers(1, dims[-1] + 1))
    result = dims[:-1] + (k,)
    program.raw('top', f'({shape(element, result)}, {shape("s32", result)})',
                f'topk({x}), k={k}, largest=true')
    for number, kind in enumerate((element, 's32')):
        program.out(program.op(kind, result, f'get-tuple-element(top), index={number}'), 'topk', MOVES, (x,))


def counting(rng, program):
    for element in subset(rng, [e for e in ALL if e != 'pred'], 6):
        dims = random_dims(rng, int(rng.integers(1, 4)), (1, 3, 9), 0.05)
        axis = int(rng.integers(len(dims)))
        program.out(program.op(element, dims, f'iota(), iota_dimension={axis}'), 'iota', EXACT)


def random_drawing(rng, program):
    algorithm = pick(rng, ['rng_default', 'rng_three_fry', 'rng_philox'])
    words = 2 if algorithm == 'rng_three_fry' else int(rng.integers(2, 4))
    state = program.arg(rng.integers(0, 2**64, words, np.uint64, False), 'u64')
    element = pick(rng, ['u8', 'u16', 'u32', 'u64', 'u32', 'u64'])
    dims = random_dims(rng, None, (1, 2, 3, 5, 8), 0)
    program.raw('drawn', f'({state.shape}, {shape(element, dims)})',
                f'rng-bit-generator({state}), algorithm={algorithm}')
    program.out(program.op('u64', state.dims, 'get-tuple-element(drawn), index=0'), 'rng-bit-generator',
                EXACT)
    program.out(program.op(element, dims, 'get-tuple-element(drawn), index=1'), 'rng-bit-generator', EXACT)


def control(rng, program):
    """A while loop, both forms of conditional, a call and a fusion over one array."""
    element = pick(rng, INTEGERS + WIDE_FLOATS)
    dims = random_dims(rng, None, (1, 2, 3, 5), 0.05)
    x = program.arg(plain(rng, element, dims), element)
    steps = program.arg(np.array(rng.integers(-1, 6), np.int32), 's32')
    state, array = f'(s32[], s32[], {x.shape})', x.shape
    program.computation(f'more {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n'
                        '  n = s32[] get-tuple-element(s), index=1\n'
                        '  ROOT r = pred[] compare(i, n), direction=LT\n}')
    program.computation(f'step {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n'
                        f'  n = s32[] get-tuple-element(s), index=1\n  x = {array} get-tuple-element(s), index=2\n'
                        f'  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = {array} add(x, x)\n'
                        f'  z = {array} subtract(y, x)\n  w = {array} multiply(z, y)\n'
                        f'  ROOT r = {state} tuple(j, n, w)\n}}')
    for name, op in (('twice', 'add'), ('square', 'multiply'), ('none', 'subtract'), ('fused', 'multiply')):
        program.computation(f'{name} {{\n  x = {array} parameter(0)\n  ROOT r = {array} {op}(x, x)\n}}')
    program.raw('zero', 's32[]', 'constant(0)')
    program.raw('start', state, f'tuple(zero, {steps}, {x})')
    program.raw('end', state, 'while(start), condition=more, body=step')
    program.out(program.op('s32', (), 'get-tuple-element(end), index=0'), 'while', EXACT)
    program.out(program.op(element, dims, 'get-tuple-element(end), index=2'), 'while', EXACT)
    choice = program.arg(np.array(rng.integers(2), bool), 'pred')
    program.out(program.op(element, dims, f'conditional({choice}, {x}, {x}), true_computation=twice, '
                                          'false_computation=square'), 'conditional', EXACT)
    program.out(program.op(element, dims, f'conditional({steps}, {x}, {x}, {x}), '
                                          'branch_computations={twice, square, none}'), 'conditional', EXACT)
    program.out(program.op(element, dims, f'call({x}), to_apply=square'), 'call', EXACT)
    program.out(program.op(element, dims, f'fusion({x}), kind=kLoop, calls=fused'), 'fusion', EXACT)


RANDOM = [
    reshaping, slicing, padding, dynamic_slicing, gathering, scattering, gathering, scattering, sorting,
    topping, counting, random_drawing, control
]


def random_programs(rng):
    families = itertools.cycle(RANDOM + linear_programs.RANDOM)
    for number, family in enumerate(families):
        program = Program(f'{family.__name__}_{number}')
        family(rng, program)
        yield program
