#!/usr/bin/env python3
"""Whether `assay fuzz` finds planted faults, and makes them small.

Usage: fuzz_faults.py ASSAY [--faults NAME,...] [--seconds 600] [--instructions 5]

For each fault of planted_faults.py: a campaign against that backend must find it within --seconds, and the
program that is kept must have at most --instructions instructions besides parameters, constants and the root
tuple, and must show the fault again by the command of its README. A last line counts.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import planted_faults  # noqa: E402


def operations(program):
    """Instructions of the program that compute something."""
    found = re.findall(r'%[\w.\-]+ = [^\n]*?[\]})] ([\w\-]+)\(', program)
    return [op for op in found if op not in ('parameter', 'constant', 'tuple', 'get-tuple-element')]


def backend_of(fault, assay):
    script = shlex.quote(str(HERE / 'planted_faults.py'))
    return f'python3 -S -E {script} {fault} {shlex.quote(assay)} {{program}} {{inputs}} {{outputs}}'


def campaign(fault, options, folder):
    """What went wrong; empty: the fault was found and is small."""
    start = time.monotonic()
    done = subprocess.run([
        options.assay, 'fuzz', '--backend', backend_of(fault, options.assay), '--profile', 'strict',
        '--output', str(folder), '--seconds', str(options.seconds), '--findings', '1', '--json'
    ], capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 1):
        return f'exit code {done.returncode}: {done.stderr.strip()[:300]}'
    result = json.loads(done.stdout)
    if not result['findings']:
        return f'not found by {result["programs"]} programs in {seconds:.0f} s'
    finding = result['findings'][0]
    text = (pathlib.Path(finding['folder']) / 'program.hlo').read_text()
    ops = operations(text)
    print(f'{fault}: {finding["kind"]} {finding["cause"]}, program {result["programs"]}, {seconds:.1f} s, '
          f'{len(ops)} operations', flush=True)
    if len(ops) > options.instructions:
        return f'{len(ops)} operations: {", ".join(ops)}'
    readme = (pathlib.Path(finding['folder']) / 'README.md').read_text()
    command = re.search(r'^    (assay diff .*)$', readme, re.M)[1]
    again = subprocess.run(shlex.split(command.replace('assay', options.assay, 1)), capture_output=True,
                           text=True)
    expected = 5 if finding['kind'] == 'crash' else 1
    if again.returncode != expected:
        return f'the command of its README ends with {again.returncode}, expected {expected}'
    return ''


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--faults', default=','.join(planted_faults.FAULTS))
    parser.add_argument('--seconds', type=int, default=600)
    parser.add_argument('--instructions', type=int, default=5)
    options = parser.parse_args()
    options.assay = str(pathlib.Path(options.assay).resolve())
    faults = options.faults.split(',')
    failed = 0
    for fault in faults:
        with tempfile.TemporaryDirectory() as directory:
            wrong = campaign(fault, options, pathlib.Path(directory) / 'campaign')
        if wrong:
            failed += 1
            print(f'{fault}: {wrong}', flush=True)
    print(f'{len(faults) - failed} of {len(faults)} faults were found and made small')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
