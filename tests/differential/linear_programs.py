"""Reductions, windows, contractions, transforms, solvers and normalisation with
random shapes and attributes."""

import numpy as np
from program import EXACT, Rule, shape
from values import COMPLEX, NUMPY, cast, is_float, plain


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def text_list(values):
    return '{' + ','.join(str(int(v)) for v in values) + '}'


def small_dims(rng, rank, empty=0.05):
    return tuple(0 if rng.random() < empty else int(rng.integers(1, 6)) for _ in range(rank))


def inexact(element):
    return is_float(element) or element in COMPLEX


def scalar_computation(program, name, element, op):
    s = f'{element}[]'
    program.computation(f'{name} {{\n  a = {s} parameter(0)\n  b = {s} parameter(1)\n  ROOT r = {s} {op}(a, b)\n}}')
    return name


def reducer(rng, program):
    """An element type and a combiner with the rule its results obey for `count` terms."""
    element = pick(rng, ['s8', 's32', 'u16', 'u64', 'f32', 'f32', 'f64', 'bf16', 'f16', 'c64', 'pred'])
    ops = {'pred': ['and', 'or', 'xor'],
           'c64': ['add']}.get(element, ['add', 'add', 'maximum', 'minimum', 'multiply'])
    op = pick(rng, ops)

    def rule(count):
        if not inexact(element) or op in ('maximum', 'minimum'):
            return EXACT
        return Rule('sum', count + 3) if op == 'add' else Rule('ulps', 2 * count + 2)

    return element, op, scalar_computation(program, 'combine', element, op), rule


def reducing(rng, program):
    element, op, name, rule = reducer(rng, program)
    dims = small_dims(rng, int(rng.integers(0, 5)))
    axes = [int(d) for d in rng.permutation(len(dims))[:int(rng.integers(0, len(dims) + 1))]]
    scale = 1.0 if op == 'multiply' else 4.0
    x = program.arg(plain(rng, element, dims, scale), element)
    start = program.arg(plain(rng, element, ()), element)
    kept = [size for d, size in enumerate(dims) if d not in axes]
    count = int(np.prod([dims[d] for d in axes]))
    value = program.op(element, kept, f'reduce({x}, {start}), dimensions={text_list(axes)}, to_apply={name}')
    program.out(value, f'reduce-{op}', rule(count), (x,))


def arg_reducing(rng, program):
    element = pick(rng, ['f32', 's32', 'f64', 'u8'])
    dims = small_dims(rng, int(rng.integers(1, 4)), 0)
    axis = int(rng.integers(len(dims)))
    x = program.arg(plain(rng, element, dims), element)
    n = program.op('s32', dims, f'iota(), iota_dimension={axis}')
    start = program.arg(cast(np.array(0), element), element)
    zero = program.op('s32', (), 'constant(-1)')
    e = f'{element}[]'
    program.computation(f'best {{\n  a = {e} parameter(0)\n  i = s32[] parameter(1)\n  b = {e} parameter(2)\n'
                        '  j = s32[] parameter(3)\n  better = pred[] compare(b, a), direction=GT\n'
                        f'  v = {e} select(better, b, a)\n  k = s32[] select(better, j, i)\n'
                        f'  ROOT r = ({e}, s32[]) tuple(v, k)\n}}')
    kept = [size for d, size in enumerate(dims) if d != axis]
    program.raw('found', f'({shape(element, kept)}, {shape("s32", kept)})',
                f'reduce({x}, {n}, {start}, {zero}), dimensions={{{axis}}}, to_apply=best')
    for k, kind in enumerate((element, 's32')):
        program.out(program.op(kind, kept, f'get-tuple-element(found), index={k}'), 'reduce-variadic', EXACT,
                    (x,))


def dilated(size, factor):
    return 0 if size == 0 else (size - 1) * factor + 1


def random_window(rng, sizes, extents, dilation=True, negative=True):
    """Text and result sizes of a window of `extents` over `sizes`."""
    stride, pad, base, spread, result = [], [], [], [], []
    for size, extent in zip(sizes, extents):
        stride.append(int(rng.integers(1, 3)))
        base.append(int(rng.integers(1, 3)) if dilation else 1)
        spread.append(int(rng.integers(1, 3)) if dilation else 1)
        low, high = (int(v) for v in rng.integers(-1 if negative else 0, 3, 2))
        if low + dilated(size, base[-1]) + high < 0:
            low, high = 0, 0
        pad.append(f'{low}_{high}')
        padded, reach = low + dilated(size, base[-1]) + high, dilated(extent, spread[-1])
        result.append(0 if padded == 0 or reach > padded else (padded - reach) // stride[-1] + 1)
    if not sizes:
        return '', []
    join = lambda values: 'x'.join(map(str, values))
    text = f'size={join(extents)} stride={join(stride)} pad={join(pad)}'
    if dilation:
        text += f' lhs_dilate={join(base)} rhs_dilate={join(spread)}'
    return text, result


def windowing(rng, program):
    element, op, name, rule = reducer(rng, program)
    dims = small_dims(rng, int(rng.integers(1, 4)))
    extents = [int(rng.integers(1, 4)) for _ in dims]
    window, result = random_window(rng, dims, extents)
    x = program.arg(plain(rng, element, dims, 1.0 if op == 'multiply' else 4.0), element)
    start = program.arg(plain(rng, element, ()), element)
    value = program.op(element, result, f'reduce-window({x}, {start}), window={{{window}}}, to_apply={name}')
    program.out(value, f'reduce-window-{op}', rule(int(np.prod(extents))), (x,))


def selecting(rng, program):
    element = pick(rng, ['f32', 's32', 'f64', 's8'])
    dims = small_dims(rng, int(rng.integers(1, 4)), 0)
    extents = [int(rng.integers(1, min(3, size) + 1)) for size in dims]
    window, result = random_window(rng, dims, extents, dilation=False, negative=False)
    x = program.arg(plain(rng, element, dims), element)
    program.signed_args.add(x.number)
    source = program.arg(plain(rng, element, result), element)
    start = program.arg(plain(rng, element, ()), element)
    e = f'{element}[]'
    direction = pick(rng, ['GE', 'LE'])
    program.computation(f'better {{\n  a = {e} parameter(0)\n  b = {e} parameter(1)\n'
                        f'  ROOT r = pred[] compare(a, b), direction={direction}\n}}')
    add = scalar_computation(program, 'combine', element, 'add')
    text = f'select-and-scatter({x}, {source}, {start}), window={{{window}}}, select=better, scatter={add}'
    value = program.op(element, dims, text)
    count = int(np.prod(result)) + 3
    program.out(value, 'select-and-scatter', Rule('sum', count) if is_float(element) else EXACT,
                (x, source, start), text=f'{text}, by {direction}')


def mapping(rng, program):
    element = pick(rng, ['f32', 's32', 'f64', 'u8', 's16'])
    dims = small_dims(rng, int(rng.integers(0, 4)))
    a, b = (program.arg(plain(rng, element, dims), element) for _ in range(2))
    e = f'{element}[]'
    program.computation(f'f {{\n  a = {e} parameter(0)\n  b = {e} parameter(1)\n  m = {e} maximum(a, b)\n'
                        f'  d = {e} subtract(a, b)\n  s = {e} multiply(d, d)\n'
                        f'  ROOT r = {e} divide(m, s)\n}}')
    value = program.op(element, dims, f'map({a}, {b}), dimensions={text_list(range(len(dims)))}, to_apply=f')
    program.out(value, 'map', EXACT, (a, b), elementwise=True)


def contraction_type(rng):
    source = pick(rng,
                  ['f32', 'f32', 'f64', 'bf16', 'f16', 's32', 's8', 'u8', 's64', 'c64', 'c128', 'f8e4m3fn'])
    widened = {'s8': 's32', 'u8': 'u32', 'bf16': 'f32', 'f16': 'f32', 'f8e4m3fn': 'f32'}
    if source == 'f8e4m3fn' or source in widened and rng.random() < 0.5:
        return source, widened[source]
    return source, source


def contracting(rng, program):
    source, target = contraction_type(rng)
    batch, inner = small_dims(rng, int(rng.integers(0, 3)),
                              0.03), small_dims(rng, int(rng.integers(0, 3)), 0.03)
    sides = []
    for _ in range(2):
        free = small_dims(rng, int(rng.integers(0, 3)))
        labelled = [('b', k, s) for k, s in enumerate(batch)] + [('c', k, s) for k, s in enumerate(inner)]
        labelled += [('f', k, s) for k, s in enumerate(free)]
        labelled = [labelled[k] for k in rng.permutation(len(labelled))]
        x = program.arg(plain(rng, source, [s for _, _, s in labelled]), source)
        at = {(kind, k): place for place, (kind, k, _) in enumerate(labelled)}
        sides.append((x, [at['b', k] for k in range(len(batch))], [at['c', k] for k in range(len(inner))],
                      [s for kind, _, s in labelled if kind == 'f']))
    (a, ab, ac, af), (b, bb, bc, bf) = sides
    batches = f'lhs_batch_dims={text_list(ab)}, rhs_batch_dims={text_list(bb)}, ' if batch else ''
    value = program.op(target, list(batch) + af + bf,
                       f'dot({a}, {b}), {batches}lhs_contracting_dims={text_list(ac)}, '
                       f'rhs_contracting_dims={text_list(bc)}')
    count = int(np.prod(inner)) * (2 if source in COMPLEX else 1)
    program.out(value, 'dot', Rule('sum', count + 4) if inexact(target) else EXACT, (a, b))


def convolving(rng, program):
    source, target = contraction_type(rng)
    spatial = int(rng.integers(0, 3))
    features, batches = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    groups, batch_groups = pick(rng, [(1, 1), (1, 1), (2, 1), (1, 2)])
    sizes = [int(rng.integers(1, 7)) for _ in range(spatial)]
    kernel = [int(rng.integers(1, 4)) for _ in range(spatial)]
    window, result = random_window(rng, sizes, kernel)
    if spatial and rng.random() < 0.4:
        window += ' rhs_reversal=' + 'x'.join(str(int(v)) for v in rng.integers(0, 2, spatial))
    outputs = int(rng.integers(1, 3)) * groups * batch_groups
    labels, shapes = [], []
    for first, second, extents, n1, n2 in (('b', 'f', sizes, batches * batch_groups, features * groups),
                                           ('o', 'i', kernel, outputs, features),
                                           ('b', 'f', result, batches, outputs)):
        dims = {first: n1, second: n2, **{str(k): s for k, s in enumerate(extents)}}
        order = [list(dims)[k] for k in rng.permutation(spatial + 2)]
        labels.append(''.join(order))
        shapes.append([dims[c] for c in order])
    a, b = program.arg(plain(rng, source, shapes[0]),
                       source), program.arg(plain(rng, source, shapes[1]), source)
    window = f', window={{{window}}}' if window else ''
    extra = (f', feature_group_count={groups}' if groups > 1 else '') + \
        (f', batch_group_count={batch_groups}' if batch_groups > 1 else '')
    value = program.op(target, shapes[2],
                       f'convolution({a}, {b}){window}, dim_labels={labels[0]}_{labels[1]}->{labels[2]}{extra}')
    count = features * int(np.prod(kernel)) * (2 if source in COMPLEX else 1)
    program.out(value, 'convolution', Rule('sum', count + 4) if inexact(target) else EXACT, (a, b))


def transforming(rng, program):
    kind = pick(rng, ['FFT', 'IFFT', 'RFFT', 'IRFFT'])
    wide = bool(rng.integers(2))
    real, cplx = ('f64', 'c128') if wide else ('f32', 'c64')
    rank = int(rng.integers(1, 4))
    lengths = [int(pick(rng, [1, 2, 3, 4, 5, 7, 8, 12])) for _ in range(rank)]
    batch = [int(v) for v in rng.integers(1, 3, int(rng.integers(0, 2)))]
    half = lengths[:-1] + [lengths[-1] // 2 + 1]
    before, after = {'RFFT': (lengths, half), 'IRFFT': (half, lengths)}.get(kind, (lengths, lengths))
    source, target = {'RFFT': (real, cplx), 'IRFFT': (cplx, real)}.get(kind, (cplx, cplx))
    x = program.arg(plain(rng, source, batch + before), source)
    value = program.op(target, batch + after, f'fft({x}), fft_type={kind}, fft_length={text_list(lengths)}')
    program.out(value, 'fft', Rule('norm', 4 * int(np.prod(lengths)) + 8), (x,))


def solving(rng, program):
    element = pick(rng, ['f32', 'f64', 'c64', 'c128'])
    n, m = int(rng.integers(0, 6)), int(rng.integers(1, 4))
    batch = [int(v) for v in rng.integers(1, 3, int(rng.integers(0, 2)))]
    a = plain(rng, element, batch + [n, n], 1.0).astype('c16' if element in COMPLEX else 'f8')
    lower = str(bool(rng.integers(2))).lower()
    hermitian = a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(n)
    x = program.arg(cast(hermitian, element), element)
    program.out(program.op(element, x.dims, f'cholesky({x}), lower={lower}'), 'cholesky',
                Rule('norm', 40 * (n + 1)))
    left = bool(rng.integers(2))
    t = program.arg(cast(a * 0.3 + 2 * np.eye(n), element), element)
    b = program.arg(plain(rng, element, batch + ([n, m] if left else [m, n])), element)
    unit = str(bool(rng.integers(2))).lower()
    transpose = pick(rng, ['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])
    value = program.op(element, b.dims,
                       f'triangular-solve({t}, {b}), left_side={str(left).lower()}, lower={lower}, '
                       f'unit_diagonal={unit}, transpose_a={transpose}')
    program.out(value, 'triangular-solve', Rule('norm', 60 * (n + 1)))


def normalising(rng, program):
    element = pick(rng, ['f32', 'f64', 'f32'])
    dims = tuple(int(v) for v in rng.integers(2, 6, int(rng.integers(2, 5))))
    feature = int(rng.integers(len(dims)))
    x, g = (program.arg(plain(rng, element, dims, 2.0), element) for _ in range(2))
    scale, offset, mean = (program.arg(plain(rng, element, dims[feature:feature + 1], 1.0), element)
                           for _ in range(3))
    variance = program.arg(np.abs(plain(rng, element, dims[feature:feature + 1], 1.0)) + NUMPY[element](0.5),
                           element)
    tail = f'epsilon=0.125, feature_index={feature}'
    small = scale.shape
    program.raw('train', f'({x.shape}, {small}, {small})',
                f'batch-norm-training({x}, {scale}, {offset}), {tail}')
    program.raw('grad', f'({x.shape}, {small}, {small})',
                f'batch-norm-grad({x}, {scale}, {mean}, {variance}, {g}), {tail}')
    rule = Rule('norm', 16 * (int(np.prod(dims)) // dims[feature]) + 64)
    for name, op in (('train', 'batch-norm-training'), ('grad', 'batch-norm-grad')):
        for k, result in enumerate((dims, scale.dims, scale.dims)):
            program.out(program.op(element, result, f'get-tuple-element({name}), index={k}'), op, rule, (x,))
    value = program.op(element, dims,
                       f'batch-norm-inference({x}, {scale}, {offset}, {mean}, {variance}), {tail}')
    program.out(value, 'batch-norm-inference', rule)


RANDOM = [
    reducing, arg_reducing, windowing, windowing, selecting, mapping, contracting, contracting, convolving,
    convolving, transforming, solving, normalising
]
