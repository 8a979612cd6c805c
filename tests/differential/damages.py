#!/usr/bin/env python3
"""Damages one output of what XLA:CPU gave for a real program, and asks `assay diff --profile xla-cpu` whether
that shows.

Usage: damages.py ASSAY_BINARY [--seed S] [--samples N] [--inputs N] [--only REGEX]

The programs are those of golden/programs that draw no random numbers, with XLA:CPU's own outputs beside them.
Four damages each, of an element or array that the seed chooses: an element 1 % larger (of integers at least
by 1), of the other sign (truth values negated), NaN (of integers a high bit flipped), and an array whose
elements are shifted by one. The table says what is found: proven ("outside") or estimated ("implausible"). It
fails where an undamaged output is either. --inputs N asks that of N more inputs of each program, which jaxlib
runs. Behind the counts of undamaged elements stands the largest distance of a plausible one, in spreads of
the samples, or in sixteenths of what the last instruction is allowed where that is more: where false alarms
would begin.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ('percent', 'sign', 'nan', 'shift')
RAW = {'bf16': ml_dtypes.bfloat16, 'f8e4m3fn': ml_dtypes.float8_e4m3fn, 'f8e5m2': ml_dtypes.float8_e5m2}


def types_of(text, what):
    """Element types of the entry computation's parameters ("arg") or of the leaves of its result ("out"), by
    key."""
    head = next(line for line in text.splitlines() if line.startswith('ENTRY'))
    parameters, result = head.split('->', 1)
    return {f'{what}{k}': t for k, t in enumerate(re.findall(r'(\w+)\[',
                                                             parameters if what == 'arg' else result))}


def read(path, types):
    """The arrays of an .npz file: raw bytes are of the types given."""
    with np.load(path) as stored:
        return {key: stored[key].view(RAW[types[key]]) if stored[key].dtype.kind == 'V' else stored[key]
                for key in stored}


def chosen(array, rng):
    """An element that is not small."""
    flat = np.abs(array.reshape(-1).astype(np.complex128 if array.dtype.kind == 'c' else np.float64))
    candidates = np.flatnonzero((flat >= np.median(flat)) & (flat > 0))
    return int(rng.choice(candidates if candidates.size else np.arange(flat.size)))


def is_float(array):
    return array.dtype.kind in 'fc' or array.dtype in RAW.values()


def damaged(array, kind, rng):
    """The array with the damage; None where it has no element that this changes."""
    flat = array.reshape(-1).copy()
    at = chosen(array, rng)
    value = flat[at]
    if kind == 'shift':
        flat = np.roll(flat, 1)
    elif array.dtype == np.bool_:
        flat[at] = not value
    elif is_float(array):
        flat[at] = {'percent': value * array.dtype.type(1.01), 'sign': -value, 'nan': np.nan}[kind]
    else:
        more = max(1, abs(int(value)) // 100)
        info = np.iinfo(array.dtype)
        new = {'percent': int(value) + (more if int(value) + more <= info.max else -more),
               'sign': -int(value),
               'nan': int(value) ^ (1 << (info.bits - 2))}[kind]
        flat[at] = new if info.min <= new <= info.max else int(value) ^ 1
    return None if flat.tobytes() == array.tobytes() else flat.reshape(array.shape)


def diff(options, program, inputs, actual, samples):
    command = [options.assay, 'diff', program, '--inputs', inputs, '--actual', actual, '--profile',
               'xla-cpu', '--json',
               '--samples', str(samples)]
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=600)
    if done.returncode not in (0, 1):
        raise SystemExit(f'{program}: exit code {done.returncode}: {done.stderr.strip()[:300]}')
    return json.loads(done.stdout)


def word(report):
    outputs = report['outputs'].values()
    if any(output['outside'] for output in outputs):
        return 'outside'
    return 'implausible' if any(output['implausible'] for output in outputs) else '-'


def others(directory, options):
    """XLA:CPU's outputs for other inputs."""
    from bounds_against_xla import varied
    from xla import Runner
    text = (directory / 'program.hlo').read_text()
    types = types_of(text, 'arg')
    stored = read(directory / 'inputs.npz', types)
    runner = Runner()
    try:
        for number in range(1, options.inputs + 1):
            arrays = varied(stored, np.random.default_rng(options.seed + number))
            values = [arrays[key] for key in types]
            status, results = runner.run(text, [values])
            if status == 'refused':
                print(f'{directory.name}: inputs {number}: {results}')
                continue
            yield arrays, {f'out{k}': a for k, a in enumerate(results[0])}
    finally:
        runner.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--samples', type=int, default=16)
    parser.add_argument('--inputs', type=int, default=0)
    parser.add_argument('--only', default='')
    options = parser.parse_args()
    counts, alarms, runs = collections.Counter(), 0, 0
    directories = [path for path in sorted((ROOT / 'golden/programs').iterdir())
                   if path.is_dir() and path.name != 'random_draws' and re.search(options.only, path.name)]
    print(f'{"program":24}' + ''.join(f'{kind:14}' for kind in KINDS) + 'undamaged')
    with tempfile.TemporaryDirectory() as temporary:
        path, given = os.path.join(temporary, 'out.npz'), os.path.join(temporary, 'in.npz')
        for directory in directories:
            program, inputs = str(directory / 'program.hlo'), str(directory / 'inputs.npz')
            exact = read(directory / 'xla_cpu.npz', types_of((directory / 'program.hlo').read_text(), 'out'))
            rng = np.random.default_rng([options.seed, sum(directory.name.encode())])
            line = f'{directory.name:24}'
            for kind in KINDS:
                damage = None
                for _ in range(50):
                    key = str(rng.choice(sorted(exact)))
                    damage = damaged(exact[key], kind, rng) if exact[key].size else None
                    if damage is not None:
                        break
                if damage is None:  # a rotation that changes nothing: one number, or equal ones
                    line += f'{"none":14}'
                    continue
                np.savez(path, **{**exact, key: damage})
                before = word(diff(options, program, inputs, path, 0))
                after = before if before == 'outside' else word(diff(options, program, inputs, path,
                                                                     options.samples))
                counts['all'] += 1
                counts['before'] += before == 'outside'
                counts['after'] += after != '-'
                line += f'{after:14}'
            np.savez(path, **exact)
            reports = [diff(options, program, inputs, path, options.samples)]
            for arrays, results in others(directory, options) if options.inputs else ():
                np.savez(given, **arrays)
                np.savez(path, **results)
                reports.append(diff(options, program, given, path, options.samples))
            runs += len(reports)
            words = [word(report) for report in reports]
            alarms += sum(w != '-' for w in words)
            totals = collections.Counter()
            for report in reports:
                for output in report['outputs'].values():
                    totals.update({k: output[k] for k in ('inside', 'outside', 'plausible', 'implausible',
                                                          'undecided')})
            line += ', '.join(f'{n} {k}' for k, n in totals.items() if n)
            farthest = max(r['multiple'] * output['largest_plausible_share']
                           for r in reports for output in r['outputs'].values())
            line += f'; farthest {farthest:.2g}' if totals['plausible'] else ''
            print(line, flush=True)
    print(f"{counts['before']} of {counts['all']} damages proven, {counts['after']} proven or implausible; "
          f'{alarms} alarms on {runs} undamaged runs')
    return 1 if alarms or not counts['all'] else 0


if __name__ == '__main__':
    sys.exit(main())
