"""A program under construction: HLO text, its inputs, and for each result how it must be compared."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Rule:
    """How a result is compared.

    exact: the same bits (any NaN for any NaN unless `moves`);
    ulps: at most `limit` units in the last place (complex: of the larger component);
    sum: within limit * epsilon * (the same program on absolute values);
    norm: within limit * epsilon * the largest finite magnitude of the result.
    """
    kind: str
    limit: float = 0
    moves: bool = False


EXACT = Rule('exact')
MOVES = Rule('exact', moves=True)


@dataclasses.dataclass
class Value:
    """An instruction: its name, element type and dimensions; for a parameter its number."""
    name: str
    element: str
    dims: tuple
    number: int = -1

    def __str__(self):
        return self.name

    @property
    def shape(self):
        return shape(self.element, self.dims)


def shape(element, dims):
    return f"{element}[{','.join(map(str, dims))}]"


@dataclasses.dataclass
class Check:
    """One result: what was computed from which parameters (elementwise:
    position by position) and the rule."""
    label: str
    op: str
    element: str
    rule: Rule
    operands: tuple
    elementwise: bool
    text: str = ''  # of the operation, where a class of known differences reads it


class Program:

    def __init__(self, name):
        self.name = name
        self.args, self.elements, self.lines, self.computations = [], [], [], []
        self.results, self.checks = [], []
        self.signed_args = set()  # parameters kept as they are when a sum's bound is computed

    def arg(self, values, element):
        values = np.asarray(values)
        value = Value(f'p{len(self.args)}', element, values.shape, len(self.args))
        self.args.append(values)
        self.elements.append(element)
        self.lines.append(f'{value} = {value.shape} parameter({value.number})')
        return value

    def op(self, element, dims, expression):
        value = Value(f'v{len(self.lines)}', element, tuple(int(d) for d in dims))
        self.lines.append(f'{value} = {value.shape} {expression}')
        return value

    def raw(self, name, shape_text, expression):
        self.lines.append(f'{name} = {shape_text} {expression}')
        return name

    def computation(self, text):
        self.computations.append(text)

    def out(self, value, op, rule, operands=(), label='', elementwise=False, text=''):
        self.results.append(value)
        numbers = tuple(o.number for o in operands)
        self.checks.append(
            Check(label or f'{op} {value.element}', op, value.element, rule, numbers, elementwise, text))

    def text(self):
        shapes = ', '.join(v.shape for v in self.results)
        names = ', '.join(v.name for v in self.results)
        body = self.lines + [f'ROOT result = ({shapes}) tuple({names})']
        head = ''.join(c + '\n\n' for c in self.computations)
        lines = '\n'.join('  ' + line for line in body)
        return f'HloModule {self.name}\n\n{head}ENTRY main {{\n{lines}\n}}\n'
