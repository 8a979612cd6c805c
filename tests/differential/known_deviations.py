#!/usr/bin/env python3
"""Which findings of `assay fuzz` against XLA:CPU are deviations that docs/found.md explains.

Usage: known_deviations.py CAMPAIGN...   (folders that `assay fuzz --output` wrote)

A table of causes, with the number of programs and the line of docs/found.md, and what is not explained. The
exit code is 1 if something is not.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
from typing import Callable

FOUND = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'found.md'


@dataclasses.dataclass(frozen=True)
class Operation:
    is_called: bool  # in a computation that the entry computation calls
    opcode: str
    operands: tuple[str, ...]  # element types
    result: str


@dataclasses.dataclass
class Finding:
    kind: str  # wrong, crash or meaning
    cause: str
    count: int  # programs
    folder: str
    text: str = ''  # of the program that was made smaller
    actual: str = ''  # the element that is shown, as the backend gave it
    operations: tuple[Operation, ...] = ()

    def of(self, *opcodes, called=None):
        return [op for op in self.operations
                if op.opcode in opcodes and (called is None or op.is_called == called)]


def operations_of(cause):
    operations = []
    for signature in cause.split('; '):
        called = signature.startswith('in a computation ')
        match = re.fullmatch(r'(?:in a computation )?([\w-]+)\(([^)]*)\)->(\S+)', signature)
        if match:
            operations.append(Operation(called, match[1], tuple(match[2].split(',')), match[3]))
    return tuple(operations)


def finding_in(folder, kind, cause, count):
    finding = Finding(kind, cause, count, str(folder), operations=operations_of(cause))
    finding.text = (folder / 'program.hlo').read_text()
    shown = re.search(r'element \{[^}]*\} is (.*?), exactly ', (folder / 'README.md').read_text())
    finding.actual = shown[1] if shown else ''
    return finding


def findings_of(campaign):
    """The findings in the journal of a campaign."""
    kinds = ('wrong', 'crash', 'meaning')
    for line in (pathlib.Path(campaign) / 'journal.txt').read_text().splitlines():
        match = re.fullmatch(r'finding (\d) (\d+) (\S+) (.*)', line)
        if match:
            yield finding_in(pathlib.Path(campaign) / match[3], kinds[int(match[1])], match[4], int(match[2]))


def is_complex(op):
    return op.result in ('c64', 'c128') or any(t in ('c64', 'c128') for t in op.operands)


def is_integer(element):
    return re.fullmatch(r'[su]\d+', element) is not None


# Functions of complex numbers that XLA:CPU computes by formulas of real and imaginary parts.
COMPLEX = ('exponential', 'exponential-minus-one', 'logistic', 'power', 'atan2', 'sine', 'cosine', 'tan',
           'tanh', 'cosh', 'sinh', 'asin', 'acos', 'asinh', 'acosh', 'atanh', 'divide', 'log', 'log-plus-one',
           'sqrt', 'rsqrt', 'cbrt', 'abs', 'sign')


@dataclasses.dataclass(frozen=True)
class Deviation:
    name: str
    row: str  # what its line in docs/found.md has
    kind: str
    fits: Callable[[Finding], bool]


def window_has(f, padding):
    return any(re.search(padding, window) for window in re.findall(r'window=\{[^}]*\}', f.text))


DEVIATIONS = (
    Deviation('a fusion of a dot that contracts nothing', 'f32[] dot(a, b), lhs_contracting_dims={}', 'crash',
              lambda f: f.of('fusion') and f.of('dot', called=True) and 'lhs_contracting_dims={}' in f.text),
    Deviation('a fusion of a convolution', 'pad=2_1x0_0}, dim_labels=b01f_01io->b01f', 'crash',
              lambda f: f.of('fusion') and f.of('convolution', called=True)),
    Deviation('a fusion that returns its parameter', 'fusion(c), kind=kLoop', 'crash',
              lambda f: f.of('fusion') and not any(op.is_called for op in f.operations)),
    Deviation('a fusion of two results', '(f32[1,1] rsqrt(a), f32[1,1] b)', 'crash',
              lambda f: any(op.result == 'tuple' for op in f.of('fusion'))),
    Deviation('a fusion of a gather', 's32[1] gather(a, indices)', 'crash',
              lambda f: f.of('fusion') and f.of('gather', called=True)),
    Deviation('a function of complex numbers in a fusion', 'c64[] asin(x)', 'crash',
              lambda f: any(is_complex(op) for op in f.of('asin', 'acos', 'asinh', 'acosh', 'atanh', 'sinh',
                                                          'cosh'))),
    Deviation('an integer remainder by zero', 's32[] remainder(0, 0)', 'crash',
              lambda f: any(is_integer(op.result) for op in f.of('remainder'))),
    Deviation('a conversion of complex numbers to truth values', 'pred[] convert(c64', 'crash',
              lambda f: any(op.result == 'pred' and is_complex(op) for op in f.of('convert'))),
    Deviation('negative padding of windows of one element', 'pad=-1_-1x-1_-1x-1_-1', 'crash',
              lambda f: f.of('reduce-window') and window_has(f, r'[=_x]-\d')),
    Deviation('a complex constant with a NaN', '(nan, -0)})`', 'wrong',
              lambda f: not f.operations and re.search(r'c(64|128)\S* constant\(.*nan', f.text)),
    Deviation('groups of a convolution in a fusion', 'convolution(a, b)` of ones', 'wrong',
              lambda f: f.of('fusion') and f.of('convolution', called=True) and
              'batch_group_count=' in f.text),
    Deviation('a fusion that returns its parameters', 'its two parameters', 'wrong',
              lambda f: any(op.result == 'tuple' for op in f.of('fusion'))),
    Deviation('negative padding in a fusion', 'pad=1_2x-1_2}, dim_labels=b01f_01io->b01f', 'wrong',
              lambda f: f.of('fusion') and f.of('convolution', called=True) and window_has(f, r'[=_x]-\d')),
    Deviation('a convolution of bytes that saturates', 'u8[1,1,2,2] convolution', 'wrong',
              lambda f: any(op.result in ('u8', 's8') for op in f.of('convolution', called=False)) and
              f.actual in ('255', '127', '-128')),
    Deviation('groups of a convolution and an infinity', 'bf0, batch_group_count=2', 'wrong',
              lambda f: f.of('convolution') and 'nan' in f.actual and
              re.search(r'group_count=[2-9]', f.text)),
    Deviation('integer powers', 'power({5, 3}, {100, 65})', 'wrong',
              lambda f: any(is_integer(op.result) for op in f.of('power'))),
    Deviation('popcnt of types of 4 bits', 's4[] popcnt(-1)', 'wrong',
              lambda f: any(op.operands[0] in ('s4', 'u4') for op in f.of('popcnt'))),
    Deviation('maxima of complex numbers', 'maximum((0, 0), (0, 1))', 'wrong',
              lambda f: any(is_complex(op) for op in f.of('maximum', 'minimum'))),
    Deviation('functions of complex numbers', 'exponential((-inf, inf))', 'wrong',
              lambda f: any(is_complex(op) for op in f.of(*COMPLEX))),
    Deviation('windows with padding in another order', 'window={size=2x2 pad=0_0x0_1}', 'wrong',
              lambda f: f.of('select-and-scatter', 'reduce-window') and window_has(f, r'pad=')),
)


def deviation_of(finding):
    """None: it is not explained."""
    return next((d for d in DEVIATIONS if d.kind == finding.kind and d.fits(finding)), None)


def table(findings):
    """The table as text, and the findings that no deviation explains."""
    counts, unexplained = collections.Counter(), []
    for finding in findings:
        known = deviation_of(finding)
        if known is None:
            unexplained.append(finding)
        else:
            counts[known] += finding.count
    lines = ['| cause | programs | in docs/found.md |', '|---|---|---|']
    lines += [f'| {d.name} | {count} | `{d.row}` |' for d, count in counts.most_common()]
    lines += [f'not explained: {f.kind}: {f.cause} ({f.count}), {f.folder}' for f in unexplained]
    lines.append(f'{len(unexplained)} not explained')
    return '\n'.join(lines), unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('campaigns', nargs='+')
    text, unexplained = table([f for c in parser.parse_args().campaigns for f in findings_of(c)])
    print(text)
    sys.exit(1 if unexplained else 0)


if __name__ == '__main__':
    main()
