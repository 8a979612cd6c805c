#!/usr/bin/env python3
"""Looks for a backend that conforms and whose results lie outside of the bounds: there must be none.

Usage: bounds_sampling.py ASSAY_BINARY [--programs N] [--samples N] [--seed S] [--only REGEX] [--plant ULPS]
                          [--kept DIR]

The backends are the exact engine on programs whose every step is off by one unit in the last place, up or
down by chance (rounding_noise.py): within two ulps, which is what the profile here says. Conversions, which
are exact where they widen, stay as they are, and programs with complex numbers are left out: their errors
make NaNs of infinities. The programs are generated ones and those of golden/programs. With --plant the
profile says so many ulps instead: with 0.25 violations have to be found.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import rounding_noise
from against_xla import generate

ROOT = pathlib.Path(__file__).resolve().parents[2]
# rounding_noise moves each operand of a dot by one unit in the last place: of a sum of two terms that is more
# than its own rounding.
DOT_OPERANDS = 'dot_input_bits f32 24\ndot_input_bits f64 53\ndot_input_bits f16 11\ndot_input_bits bf16 8\n'


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=300)
    return done.returncode, done.stdout, done.stderr


def rounded_otherwise(text, seed):
    """The variant, in which reducers stay as they are: a sum may be off by half a unit a term."""
    reducers = {name for line in text.splitlines() if ' call(' not in line
                for name in re.findall(r'(?:to_apply|scatter|select)=%?([\w.-]+)', line)}
    blocks = []
    for number, block in enumerate(re.split(r'(?<=\n\})\n', text)):
        head = re.search(r'^(?:ENTRY )?%?([\w.-]+) .*\{$', block, re.M)
        is_reducer = head is not None and head[1] in reducers
        blocks.append(block if is_reducer
                      else rounding_noise.rounded_otherwise(block, seed + number).rstrip('\n'))
    return '\n'.join(blocks)


def programs(options, directory):
    if options.kept:
        for path in sorted(pathlib.Path(options.kept).glob('*.hlo')):
            if re.search(options.only, path.stem):
                yield path.stem, path.read_text(), str(path.with_name(path.stem + '_in.npz'))
        return
    for path in sorted((ROOT / 'golden/programs').iterdir()):
        if path.is_dir() and re.search(options.only, path.name):
            yield path.name, (path / 'program.hlo').read_text(), str(path / 'inputs.npz')
    for program in generate(options.programs, options.seed):
        if not re.search(options.only, program.name):
            continue
        inputs = os.path.join(directory, 'in.npz')
        np.savez(inputs, **{f'arg{k}': a for k, a in enumerate(program.args)})
        yield program.name, program.text(), inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--programs', type=int, default=100)
    parser.add_argument('--samples', type=int, default=3)
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--only', default='')
    parser.add_argument('--kept')
    parser.add_argument('--plant', type=float, default=2.0)
    options = parser.parse_args()
    rounding_noise.EXACT |= {'convert', 'fusion'}  # what a fusion computes rounds inside
    failures = checked = undecided = count = with_forms = 0
    with tempfile.TemporaryDirectory() as directory:
        exact, other, output, profile = (os.path.join(directory, n)
                                         for n in ('e.hlo', 'o.hlo', 'o.npz', 'p.profile'))
        with open(profile, 'w') as file:
            file.write(f'inherit strict\nulps * * {options.plant}\nstores_dots yes\n')
            file.write('stores_loop_state yes\n')
            file.write(DOT_OPERANDS)
        for name, text, inputs in programs(options, directory):
            if re.search(r'\bc(64|128)\[', text):
                continue
            pathlib.Path(exact).write_text(text)
            for sample in range(options.samples):
                pathlib.Path(other).write_text(rounded_otherwise(text, options.seed + sample))
                code, _, error = run([options.assay, 'run', other, '--inputs', inputs, '--output', output])
                if code:
                    continue  # what the variant makes of some programs is none
                code, found, error = run([options.assay, 'diff', exact, '--inputs', inputs, '--actual',
                                          output, '--profile',
                                          profile, '--samples', '0', '--json'])
                if code not in (0, 1):
                    print(f'{name}: exit code {code}: {error.strip()[:300]}')
                    failures += code != 4
                    continue
                count += 1
                report = json.loads(found)
                with_forms += bool(report['loops_with_forms'])
                for key, result in report['outputs'].items():
                    checked += result['inside'] + result['outside']
                    undecided += result['undecided']
                    if result['outside']:
                        failures += 1
                        print(f"{name} sample {sample} {key}: {result['outside']} outside, as {result['worst'][0]}")
    print(f'{count} runs, {with_forms} of them with forms of loops, {checked} elements checked, {undecided} undecided, {failures} failures')
    return 1 if failures or not checked else 0


if __name__ == '__main__':
    sys.exit(main())
