#!/usr/bin/env python3
"""Lets calls of the C library fail while Assay runs, one run for each call, and looks at how it ends.

Usage: inject.py ASSAY_BINARY FAILING_CALLS_LIBRARY [--programs N] [--engines LIST] [--each N] [--seed S]
                 [--only REGEX] [--kinds LIST] [--share K/N] [--scenarios REGEX] [--plugin LIB]
                 [--libraries FOLDER] [--python PYTHON] [--window-plugin LIB]

The programs are those of golden/programs and goldens that the seed draws, N in all, run by each engine; the
scenarios are other commands, the Python package, JAX on the plugin, and two processes under mpirun
(scenarios.py). A first run counts the calls of each kind: memory (malloc and its kin), map, open, read,
write, rename, process, library and thread. Then --each N of the calls of a kind (0: all) fail, once and from
there on; read and write also move one byte only, and are interrupted. A run must end in time and by itself,
with one of the exit codes 0 to 5; with another code than without a fault there is a message, and with the
same one the output is the same; each file is whole or not there, and no other file is left. It fails where a
run does not.
"""

import argparse
import collections
import errno
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from scenarios import Scenario, all_scenarios

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60
# How calls of a kind fail: HOW and the error.
HOWS = {
    'memory': [('once', errno.ENOMEM), ('ever', errno.ENOMEM)],
    'map': [('once', errno.ENOMEM), ('ever', errno.ENOMEM)],
    'open': [('once', errno.EMFILE), ('ever', errno.EMFILE), ('once', errno.EINTR)],
    'read': [('once', errno.EIO), ('ever', errno.EIO), ('once', errno.EINTR), ('short', 0)],
    'write': [('once', errno.ENOSPC), ('ever', errno.ENOSPC), ('once', errno.EINTR), ('short', 0)],
    # EINVAL: a file system without the flags of renameat2.
    'rename': [('once', errno.EACCES), ('ever', errno.EIO), ('once', errno.EINVAL)],
    'process': [('once', errno.EAGAIN), ('ever', errno.EAGAIN)],
    'library': [('once', errno.ENOENT), ('ever', errno.ENOENT)],
    'thread': [('once', errno.EAGAIN), ('ever', errno.EAGAIN)],
}
# What a caller has to go on from.
HARMLESS = {('read', 'short'), ('write', 'short'), ('read', errno.EINTR), ('write', errno.EINTR)}
# The C library ends the process where it has no memory to note the destructor of a thread's variable, or for
# the variables that a thread has of a library that was opened at run time.
OF_THE_LIBRARY = re.compile('failed to register TLS destructor|cannot allocate memory for thread-local data')


class Case:
    """A scenario, in a folder of its own."""

    def __init__(self, options, scenario, folder):
        self.scenario, self.name, self.out = scenario, scenario.name, os.path.join(folder, 'out')
        self.environment = {**os.environ, **scenario.environment}
        if scenario.preload:
            self.environment['LD_PRELOAD'] = options.library
        counts = os.path.join(folder, 'counts')
        first, self.written = self.run({'ASSAY_FAULT_COUNTS': counts})
        if not os.path.exists(counts):
            words = first.stderr.decode()[-2000:]
            raise RuntimeError(f'{self.name}: exit code {first.returncode}: {words}')
        with open(counts, encoding='ascii') as file:
            self.calls = {kind: int(count) for kind, count in map(str.split, file)}
        self.code, self.printed = first.returncode, first.stdout

    def run(self, more):
        """The process that ended, and the files that it left, by name."""
        os.mkdir(self.out)
        try:
            self.scenario.prepare(self.out)
            process = subprocess.run(self.scenario.arguments(self.out), env={**self.environment, **more},
                                     stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                                     check=False)
            files = {str(path.relative_to(self.out)): path.read_bytes()
                     for path in pathlib.Path(self.out).rglob('*') if path.is_file()}
        finally:
            shutil.rmtree(self.out)
        return process, files

    def varies(self, name):
        return any(name.endswith(end) for end in self.scenario.varying)

    def trouble_with_files(self, code, files):
        for name, content in files.items():
            if name not in self.written:
                return f'leaves {re.sub("[0-9]+", "N", name)}'
            given = self.scenario.given and os.path.join(self.scenario.given, name)
            old = given and os.path.exists(given) and pathlib.Path(given).read_bytes() == content
            if self.scenario.degrades and code == self.code:
                continue
            if not old and not self.varies(name) and content != self.written[name]:
                return 'writes another output' if code == 0 else 'leaves half an output'
        return ''

    def trouble(self, kind, number, how, error):
        """What is wrong with a run in which the call fails, or ''."""
        try:
            run, files = self.run({'ASSAY_FAULT': f'{kind}:{number}:{how}:{error}'})
        except subprocess.TimeoutExpired:
            return 'does not end'
        code, message = run.returncode, run.stderr.decode(errors='replace')
        own = OF_THE_LIBRARY.search(message)
        if own is not None:
            return own[0]
        if code < 0:
            return f'ends by signal {-code}: {message.strip()[-200:]}'
        if code not in range(6):
            return f'exit code {code}: {message.strip()[-200:]}'
        trouble = self.trouble_with_files(code, files)
        if trouble:
            return trouble
        same = run.stdout == self.printed and set(files) == set(self.written)
        if code == self.code and not same and not self.scenario.varying and not self.scenario.degrades:
            return 'prints something else'
        if code != self.code and not message.strip() and (kind, how) != ('write', 'ever'):
            return f'exit code {code} without a message'
        if code != self.code and {(kind, how), (kind, error)} & HARMLESS:
            return f'exit code {code} by what is no error: {message.strip()[-200:]}'
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


def program_scenarios(options):
    found = []
    for name, program, inputs in drawn_programs(options):
        for engine in options.engines.split(','):
            arguments = ['--inputs', inputs] if inputs else ['--random-inputs', '7']
            command = [options.assay, 'run', program, *arguments, '--engine', engine]
            found.append(Scenario(f'{name} by {engine}', [*command, '--output', '{out}/out.npz']))
    return found


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
    parser.add_argument('--programs', type=int, default=50, help='0: none, only scenarios')
    parser.add_argument('--scenarios', default='', help='a regular expression of whole names (scenarios.py)')
    parser.add_argument('--plugin', type=os.path.abspath, default='', help='libpjrt_assay.so')
    parser.add_argument('--libraries', type=os.path.abspath, default='', help='tests/libraries of the build')
    parser.add_argument('--python', default='', help='a Python that has the package assay')
    parser.add_argument('--window-plugin', type=os.path.abspath, default='', help='window_plugin.so')
    parser.add_argument('--engines', default='reference,exact,fast')
    parser.add_argument('--each', type=int, default=40, help='calls of a kind that fail, of each program')
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--only', default='')
    parser.add_argument('--kinds', default=','.join(HOWS))
    parser.add_argument('--verbose', action='store_true', help='a line for each run')
    parser.add_argument('--share', default='1/1', help='3/10: the third of ten parts')
    options = parser.parse_args()
    part, parts = (int(n) for n in options.share.split('/'))
    rng = random.Random(options.seed)
    faults, ends, findings = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as read:
        works = program_scenarios(options) if options.programs else []
        works += [s for s in all_scenarios(options, read) if re.fullmatch(options.scenarios, s.name)]
        works = works[part - 1::parts]
        for scenario in works:
            with tempfile.TemporaryDirectory() as folder:
                case = Case(options, scenario, folder)
                for kind in [k for k in options.kinds.split(',') if k not in scenario.without]:
                    for number in numbers(case.calls[kind], options.each, rng):
                        for how, error in HOWS[kind]:
                            faults[kind] += 1
                            trouble = case.trouble(kind, number, how, error)
                            if OF_THE_LIBRARY.fullmatch(trouble):
                                ends[trouble] += 1
                            elif trouble:
                                findings[f'{kind} {how}: {trouble}'].append(f'{case.name}, call {number}')
                if options.verbose:
                    print(f'{case.name}: {case.calls}, exit code {case.code}', flush=True)
    for trouble, places in sorted(findings.items()):
        print(f'{trouble}\n  {len(places)} times, as {places[0]}')
    for message, count in ends.items():
        print(f'{count} times {message}, by which the C library ends the process')
    print(f'{len(works)} runs, {sum(faults.values())} faults: ' +
          ', '.join(f'{count} of {kind}' for kind, count in sorted(faults.items())))
    print(f'{sum(map(len, findings.values()))} runs end in another way than they should')
    return 1 if findings or not faults else 0


if __name__ == '__main__':
    sys.exit(main())
