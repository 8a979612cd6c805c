#!/usr/bin/env python3
"""Lets calls of the C library fail while `assay run` runs, one run for each call, and looks at how it ends.

Usage: inject.py ASSAY_BINARY FAILING_CALLS_LIBRARY [--programs N] [--engines LIST] [--each N] [--seed S]
                 [--only REGEX] [--kinds LIST] [--share K/N]

The programs are those of golden/programs and goldens that the seed draws, N in all, by each engine. A first
run counts the calls of each kind: memory (malloc and its kin), map, open, read, write, rename, process,
library and thread. Then --each N of the calls of a kind (0: all) fail, once and from there on; read and write
also move one byte only, and are interrupted. A run must end in time and by itself, with one of the exit codes
0 to 5; with another code than 0 there is a message, and with 0 the output is what it is without a fault; the
output file is whole or not there, and no other file is left. It fails where a run does not.
"""

import argparse
import collections
import errno
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60
# How calls of a kind fail: HOW and the error.
HOWS = {
    'memory': [('once', errno.ENOMEM), ('ever', errno.ENOMEM)],
    'map': [('once', errno.ENOMEM), ('ever', errno.ENOMEM)],
    'open': [('once', errno.EMFILE), ('ever', errno.EMFILE), ('once', errno.EINTR)],
    'read': [('once', errno.EIO), ('ever', errno.EIO), ('once', errno.EINTR), ('short', 0)],
    'write': [('once', errno.ENOSPC), ('ever', errno.ENOSPC), ('once', errno.EINTR), ('short', 0)],
    'rename': [('once', errno.EACCES), ('ever', errno.EIO)],
    'process': [('once', errno.EAGAIN), ('ever', errno.EAGAIN)],
    'library': [('once', errno.ENOENT), ('ever', errno.ENOENT)],
    'thread': [('once', errno.EAGAIN), ('ever', errno.EAGAIN)],
}
# What a caller has to go on from.
HARMLESS = {('read', 'short'), ('write', 'short'), ('read', errno.EINTR), ('write', errno.EINTR)}
# The C library ends the process where it has no memory to note the destructor of a thread's variable.
OF_THE_LIBRARY = 'failed to register TLS destructor'


class Case:
    """A program by an engine, in a folder of its own."""

    def __init__(self, options, name, program, inputs, engine, folder):
        self.name, self.folder, self.output = f'{name} by {engine}', folder, os.path.join(folder, 'out.npz')
        self.environment = {**os.environ, 'LD_PRELOAD': options.library}
        arguments = ['--inputs', inputs] if inputs else ['--random-inputs', '7']
        self.command = [options.assay, 'run', program, *arguments, '--engine', engine,
                        '--output', self.output]
        counts = os.path.join(folder, 'counts')
        first = self.run({'ASSAY_FAULT_COUNTS': counts})
        with open(counts, encoding='ascii') as file:
            self.calls = {kind: int(count) for kind, count in map(str.split, file)}
        os.remove(counts)
        self.code, self.printed, self.written = first.returncode, first.stdout, self.take_output()

    def run(self, more):
        return subprocess.run(self.command, env={**self.environment, **more}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=SECONDS, check=False)

    def take_output(self):
        """The bytes of the output file, which is removed; None: there is none."""
        try:
            with open(self.output, 'rb') as file:
                written = file.read()
        except FileNotFoundError:
            return None
        os.remove(self.output)
        return written

    def trouble(self, kind, number, how, error):
        """What is wrong with a run in which the call fails, or ''."""
        try:
            run = self.run({'ASSAY_FAULT': f'{kind}:{number}:{how}:{error}'})
        except subprocess.TimeoutExpired:
            self.take_output()
            return 'does not end'
        written, code, message = self.take_output(), run.returncode, run.stderr.decode(errors='replace')
        left = os.listdir(self.folder)
        for name in left:
            os.remove(os.path.join(self.folder, name))
        if OF_THE_LIBRARY in message:
            return OF_THE_LIBRARY
        if code < 0:
            return f'ends by signal {-code}: {message.strip()[-200:]}'
        if code not in range(6):
            return f'exit code {code}'
        if left:
            return f'leaves {left}'
        if written is not None and written != self.written:
            return 'writes another output' if code == 0 else 'leaves half an output'
        if code == self.code and (run.stdout, written) != (self.printed, self.written):
            return 'prints something else'
        if code != self.code and not message.strip() and (kind, how) != ('write', 'ever'):
            return f'exit code {code} without a message'
        if code != self.code and {(kind, how), (kind, error)} & HARMLESS:
            return f'exit code {code} by what is no error'
        return ''


def drawn_programs(options):
    """(name, program, inputs)."""
    programs = [(d.name, str(d / 'program.hlo'), str(d / 'inputs.npz'))
                for d in sorted((ROOT / 'golden/programs').iterdir()) if d.is_dir()]
    programs = [p for p in programs if os.path.exists(p[1]) and os.path.exists(p[2])]
    folders = ('elementwise', 'shape', 'linalg', 'control', 'random', 'quantized', 'stablehlo')
    goldens = sorted(p for folder in folders for p in (ROOT / 'golden' / folder).rglob('*')
                     if p.suffix in ('.hlo', '.mlir'))
    random.Random(options.seed).shuffle(goldens)
    programs += [(str(p.relative_to(ROOT / 'golden')), str(p), '') for p in goldens]
    return [p for p in programs if re.search(options.only, p[0])][:options.programs]


def numbers(count, each, rng):
    if each == 0 or count <= each:
        return range(1, count + 1)
    # The first and the last calls are those of opening and writing.
    ends = set(range(1, each // 4 + 1)) | set(range(count - each // 4 + 1, count + 1))
    return sorted(ends | set(rng.sample(range(1, count + 1), each - len(ends))))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay', type=os.path.abspath)
    parser.add_argument('library', type=os.path.abspath)
    parser.add_argument('--programs', type=int, default=50)
    parser.add_argument('--engines', default='reference,exact,fast')
    parser.add_argument('--each', type=int, default=40, help='calls of a kind that fail, of each program')
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--only', default='')
    parser.add_argument('--kinds', default=','.join(HOWS))
    parser.add_argument('--share', default='1/1', help='3/10: the third of ten parts')
    options = parser.parse_args()
    part, parts = (int(n) for n in options.share.split('/'))
    rng = random.Random(options.seed)
    faults, findings = collections.Counter(), collections.defaultdict(list)
    os.chdir(ROOT)
    works = [(p, e) for p in drawn_programs(options) for e in options.engines.split(',')][part - 1::parts]
    for program, engine in works:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(options, *program, engine, folder)
            for kind in options.kinds.split(','):
                for number in numbers(case.calls[kind], options.each, rng):
                    for how, error in HOWS[kind]:
                        faults[kind] += 1
                        trouble = case.trouble(kind, number, how, error)
                        if trouble == OF_THE_LIBRARY:
                            faults[OF_THE_LIBRARY] += 1
                        elif trouble:
                            findings[f'{kind} {how}: {trouble}'].append(f'{case.name}, call {number}')
    for trouble, places in sorted(findings.items()):
        print(f'{trouble}\n  {len(places)} times, as {places[0]}')
    ends = faults.pop(OF_THE_LIBRARY, 0)
    if ends:
        print(f'{ends} times {OF_THE_LIBRARY}, which ends the process')
    print(f'{len(works)} runs, {sum(faults.values())} faults: ' +
          ', '.join(f'{count} of {kind}' for kind, count in sorted(faults.items())))
    print(f'{sum(map(len, findings.values()))} runs end in another way than they should')
    return 1 if findings or not faults else 0


if __name__ == '__main__':
    sys.exit(main())
