"""Rows of a table: a public function, the arguments it is called with, and what is called.

A signature lists the arguments: CLASS[sizes] with an optional :DOMAIN and an optional * for special values.
`R[3,4] R[4]:pos` is two arrays of one real type. The classes are those of CLASSES below, or the name of one
element type (`s32`). All arguments of one class have the same element type in a program.
"""

import dataclasses
import importlib
import re
from typing import Callable

# The element types of each class, without x64 and with it.
CLASSES = {
    'A': (['f32', 's32', 'pred', 'c64', 'bf16', 's8'], ['f64', 's64', 'c128', 'u64']),
    'N': (['f32', 's32', 'c64', 'f16', 'u16'], ['f64', 's64', 'c128']),
    'R': (['f32', 's32', 'bf16', 'u8'], ['f64', 's64']),
    'F': (['f32', 'bf16', 'f16'], ['f64', 'f32']),
    'X': (['f32', 'c64', 'bf16'], ['f64', 'c128']),
    'I': (['s32', 'u8', 's16', 'u32'], ['s64', 'u64']),
    'U': (['u32', 'u8'], ['u64']),
    'Z': (['s32', 'pred', 'u16'], ['s64', 'u64']),
    'B': (['pred'], ['pred']),
    'C': (['c64'], ['c128']),
    'K': (['threefry2x32', 'rbg', 'unsafe_rbg'], ['threefry2x32', 'rbg']),
}
ARGUMENT = re.compile(r'(?P<kind>\w+)\[(?P<dims>[\d,]*)\](:(?P<domain>\w+))?(?P<special>\*)?$')


@dataclasses.dataclass
class Argument:
    kind: str  # a class or an element type
    dims: tuple
    domain: str
    special: bool


def parse(signature):
    arguments = []
    for word in signature.split():
        found = ARGUMENT.match(word)
        if not found:
            raise ValueError(f'not an argument: {word!r} of {signature!r}')
        dims = tuple(int(d) for d in found['dims'].split(',') if d)
        arguments.append(Argument(found['kind'], dims, found['domain'] or '', bool(found['special'])))
    return arguments


@dataclasses.dataclass
class Row:
    module: str
    name: str
    number: int  # among the rows of this function
    arguments: list
    call: Callable  # (function, *arrays) -> result
    transformed: bool  # under grad and vmap too

    @property
    def label(self):
        return f'{self.module}.{self.name}.{self.number}'

    def function(self):
        """What is called, with arrays as its only arguments."""
        function = getattr(importlib.import_module(self.module), self.name, None)
        return lambda *arrays: self.call(function, *arrays)

    def types(self, x64):
        """Each choice of element types: a dictionary class -> type. The first class varies,
        the others follow it."""
        kinds = list(dict.fromkeys(a.kind for a in self.arguments if a.kind in CLASSES))
        lists = [CLASSES[k][x64] for k in kinds]
        return [{k: l[i % len(l)] for k, l in zip(kinds, lists)}
                for i in range(max(map(len, lists), default=1))]


def plainly(function, *arrays):
    return function(*arrays)


class Table:

    def __init__(self, module):
        self.module, self.rows, self.left_out = module, [], {}

    def add(self, name, signature, *calls, transformed=True):
        """A row for each call; without one the function is called with the arrays."""
        for call in calls or (plainly,):
            number = sum(r.name == name for r in self.rows)
            self.rows.append(Row(self.module, name, number, parse(signature), call, transformed))

    def each(self, names, *signatures, call=plainly):
        for name in names.split():
            for signature in signatures:
                self.add(name, signature, call)

    def leave_out(self, reason, names):
        for name in names.split():
            self.left_out[name] = reason

    def missing(self):
        """Public functions that have neither a row nor a reason to be left out."""
        module = importlib.import_module(self.module)
        named = {r.name for r in self.rows} | set(self.left_out)
        public = [n for n in dir(module) if not n.startswith('_')]
        return [n for n in public if callable(getattr(module, n)) and not isinstance(getattr(module, n), type)
                and n not in named]
