#!/usr/bin/env python3
"""What verdicts of `assay diff --profile xla-cpu` cost, as a table in Markdown.

Usage: verdicts.py ASSAY VERDICTS_BENCH [DIRECTORY...] [--samples 16] [--before FILE] [--json FILE]

For each directory with program.hlo and inputs.npz (by default golden/programs): the time of a plain run; a
run with bounds, plus the second one with forms of loops where there is one, and N samples, as multiples of
that, all with warm plans; and `diff --isolate` as a multiple
of `diff`, both as processes, the backend being the command itself. All are processor time, the least of some
runs, so that other work on the machine changes little. --json keeps the figures, --before shows such a file's
beside them. VERDICTS_BENCH is bench/verdicts_bench of a build with -DASSAY_BENCH=ON. * marks programs of
which bounds decide all elements, so that `diff` runs no samples.
"""

import argparse
import json
import pathlib
import resource
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
KINDS = ('proofs', 'samples', 'isolate')


def processor_time(command):
    """Of the command and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f'{shlex.join(command)}: exit code {done.returncode}: {done.stderr.strip()[:300]}')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def isolate_ratio(assay, directory, runs=5):
    backend = f'{shlex.quote(assay)} run {{program}} --inputs {{inputs}} --output {{outputs}}'
    diff = [assay, 'diff', str(directory / 'program.hlo'), '--inputs', str(directory / 'inputs.npz'),
            '--backend', backend, '--profile', 'xla-cpu']
    times = [min(processor_time(diff + more) for _ in range(runs)) for more in ([], ['--isolate'])]
    return times[1] / times[0]


def measured(options, directory):
    done = subprocess.run([options.bench, 'xla-cpu', str(options.samples), str(directory)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f'{directory}: {done.stderr.strip()[:300]}')
    row = json.loads(done.stdout)
    for kind in ('proofs', 'forms', 'samples'):
        row[kind] /= row['plain']
    row['isolate'] = isolate_ratio(options.assay, directory)
    return row


def cells(row, before):
    text = [row['program'], f'{row["plain"] * 1e3:.3g}']
    for kind in KINDS:
        note = '' if kind != 'samples' or row['needed'] else ' *'
        if kind == 'proofs' and row['forms']:
            note = f' + {row["forms"]:.3g}'
        text.append((f'{before[kind]:.3g} → ' if kind in before else '') + f'{row[kind]:.3g}{note}')
    return '| ' + ' | '.join(text) + ' |'


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('bench')
    parser.add_argument('directories', nargs='*', type=pathlib.Path)
    parser.add_argument('--samples', type=int, default=16)
    parser.add_argument('--before', type=pathlib.Path)
    parser.add_argument('--json', type=pathlib.Path)
    options = parser.parse_args()
    kept = json.loads(options.before.read_text()) if options.before else []
    before = {row['program']: row for row in kept}
    directories = options.directories or sorted(
        program.parent for program in (ROOT / 'golden/programs').glob('*/program.hlo'))
    print(f'| program | plain run, ms | with bounds | {options.samples} samples | diff --isolate |')
    print('|---|---|---|---|---|')
    rows = []
    for directory in directories:
        rows.append(measured(options, directory))
        print(cells(rows[-1], before.get(rows[-1]['program'], {})))
        sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + '\n')


if __name__ == '__main__':
    main()
