#!/usr/bin/env python3
"""Checks that shardings survive `assay print`: what it writes of a sharded program is to MLIR the program
that was read.

Usage: sharding_round_trip.py ASSAY_BINARY DIR

For every NAME.canonical.mlir in the directory (tests/corpus/sharding): the StableHLO that Assay prints of
NAME.mlir must parse and verify with jaxlib's Shardy dialect, and MLIR must print its meshes, shardings and
operations of that dialect as those of that file. So must, but for their order, what Assay prints of its own
HLO text and of its proto of the program; and of NAME.mlirbc.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir


def canonical(text):
    """As MLIR prints it."""
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        module.operation.verify()
        return module.operation.get_asm(enable_debug_info=False)


def assay_print(binary, path, form):
    done = subprocess.run([binary, 'print', '--to', form, path], capture_output=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f'assay print --to {form} {path}: {done.stderr.decode()[:400]}')
    return done.stdout


def through(binary, path, form):
    """The StableHLO of what Assay prints of the file in another form."""
    with tempfile.NamedTemporaryFile(suffix='.' + form) as file:
        file.write(assay_print(binary, path, form))
        file.flush()
        return assay_print(binary, file.name, 'mlir').decode()


def first_difference(wanted, text):
    for a, b in zip(wanted, text):
        if a != b:
            return f'wanted: {a[:400]}\n    found:  {b[:400]}'
    return 'one text is longer'


def shardings(text, in_order):
    """The lines that say something of shardings, without names of values and of functions: HLO has its own,
    as it has its own order, and constants are folded."""
    lines = [re.sub(r'%\w+(?:#\d+)?|@(?!mesh)\w+', '_', line).strip()
             for line in text.splitlines() if 'sdy.' in line or 'func.func' in line]
    # Of operations of StableHLO, the attributes from there on: configurations have several spellings.
    lines = [line[line.index('sdy.'):].partition(' : (')[0] if 'stablehlo.custom_call' in line else line
             for line in lines]
    return lines if in_order else sorted(lines)


def main():
    binary, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    failures = 0
    paths = sorted(directory.glob('*.canonical.mlir'))
    for path in paths:
        name = path.name.removesuffix('.canonical.mlir')
        wanted = canonical(path.read_text())
        program = str(directory / (name + '.mlir'))
        artifact = str(directory / (name + '.mlirbc'))
        for how in ('mlir', 'hlo', 'pb', 'mlirbc'):
            try:
                if how == 'mlir':
                    found = assay_print(binary, program, 'mlir').decode()
                elif how == 'mlirbc':
                    found = assay_print(binary, artifact, 'mlir').decode()
                else:
                    found = through(binary, program, how)
                found = canonical(found)
            except Exception as error:  # jaxlib raises several kinds
                failures += 1
                print(f'{name} ({how}): {str(error)[:600]}')
                continue
            one, other = (shardings(text, how in ('mlir', 'mlirbc')) for text in (wanted, found))
            if one != other:
                failures += 1
                print(f'{name} ({how}): {first_difference(one, other)}')
    print(f'sharding_round_trip: {len(paths)} programs, {failures} differences')
    return 1 if failures or not paths else 0


if __name__ == '__main__':
    sys.exit(main())
