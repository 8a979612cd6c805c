"""Programs of jax_programs' rows: which there are, and how JAX lowers one."""

import dataclasses
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.export._export import _module_to_bytecode
from jax_programs.arguments import KEY_WORDS, make
from jax_programs.rows import all_rows

BATCH = 3
INEXACT = ('f32', 'f64', 'bf16', 'f16', 'c64', 'c128')
FORMS = {'stablehlo': 'mlir', 'hlo': 'hlo', 'bytecode': 'mlirbc', 'proto': 'pb'}


@dataclasses.dataclass(frozen=True)
class Case:
    """A row at one choice of element types, with or without x64, as it is or transformed."""
    row: int
    label: str
    types: tuple  # pairs (class, element type)
    x64: bool
    transformation: str  # plain, grad, vmap, vmap_grad
    form: str

    @property
    def name(self):
        types = '_'.join(t for _, t in self.types)
        return '.'.join(filter(None, [self.label, types, 'x64' if self.x64 else '', self.transformation]))


def shuffled(items, seed):
    return [items[i] for i in np.random.default_rng(seed).permutation(len(items))]


def cases_of(number, row, seed):
    """All cases of a row, plain ones and transformed ones in turn."""
    plain, transformed = [], []
    for x64 in (False, True):
        for types in row.types(x64):
            types = tuple(types.items())
            plain.append((types, x64, 'plain'))
            if not row.transformed or not row.arguments:
                continue
            transformed.append((types, x64, 'vmap'))
            if any(element_of(a, types) in INEXACT for a in row.arguments):
                transformed += [(types, x64, 'grad'), (types, x64, 'vmap_grad')]
    mixed = []
    seed = zlib.crc32(f'{seed} {row.label}'.encode())
    for pair in zip(shuffled(plain, seed), shuffled(transformed, seed)):
        mixed += pair
    both = shuffled(plain, seed) + shuffled(transformed, seed)
    mixed += [v for v in both if v not in mixed]
    forms = list(FORMS)
    return [Case(number, row.label, *variant, forms[(seed + k) % len(forms)])
            for k, variant in enumerate(mixed)]


def element_of(argument, types):
    return dict(types).get(argument.kind, argument.kind)


def all_cases(seed):
    """In rounds: the first case of each row, then the second of each, and so on."""
    by_row = [cases_of(number, row, seed) for number, row in enumerate(all_rows())]
    rounds = max(map(len, by_row))
    return [cases[k] for k in range(rounds) for cases in by_row if k < len(cases)]


def total(results):
    """The sum of all that a gradient can be of, each element with a weight of its own."""
    terms = [jnp.zeros((), jnp.float32)]
    for leaf in jax.tree_util.tree_leaves(results):
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.inexact):
            continue
        for part in ((leaf.real, leaf.imag) if jnp.iscomplexobj(leaf) else (leaf,)):
            weights = 1 + jnp.arange(part.size, dtype=part.dtype).reshape(part.shape) / 8
            terms.append(jnp.sum(part * weights))
    return sum(terms)


class Lowered:
    """The function that JAX lowers, its arguments and the program; needs the x64 mode of the case."""

    def __init__(self, case, seed):
        row = all_rows()[case.row]
        rng = np.random.default_rng(zlib.crc32(f'{seed} {case.name}'.encode()))
        elements = [element_of(a, case.types) for a in row.arguments]
        batched = case.transformation.startswith('vmap')
        in_axes = [0 if k == 0 or rng.integers(3) else None for k in range(len(elements))] if batched else []
        arguments = [dataclasses.replace(a, dims=(BATCH,) + a.dims) if batched and in_axes[k] == 0 else a
                     for k, a in enumerate(row.arguments)]
        self.elements = ['u32' if e in KEY_WORDS else e for e in elements]
        self.args = [make(rng, a, e) for a, e in zip(arguments, elements)]
        self.function = transform(row, case, elements, in_axes)
        self.lowered = jax.jit(self.function, keep_unused=True).lower(*self.args)

    def program(self, form):
        if form == 'stablehlo':
            return self.lowered.as_text().encode()
        if form == 'bytecode':
            return _module_to_bytecode(self.lowered.compiler_ir('stablehlo'))
        computation = self.lowered.compiler_ir('hlo')
        if form == 'proto':
            return computation.as_serialized_hlo_module_proto()
        return computation.as_hlo_text(print_large_constants=True).encode()


def transform(row, case, elements, in_axes):
    function = row.function()

    def with_keys(*arrays):
        return function(*[jax.random.wrap_key_data(a, impl=e) if e in KEY_WORDS else jnp.asarray(a)
                          for a, e in zip(arrays, elements)])

    transformed = with_keys
    if case.transformation.endswith('grad'):
        numbers = tuple(k for k, e in enumerate(elements) if e in INEXACT)
        transformed = jax.grad(lambda *arrays: total(with_keys(*arrays)), numbers)
    if case.transformation.startswith('vmap'):
        transformed = jax.vmap(transformed, tuple(in_axes))
    return lambda *arrays: transformed(*arrays)
