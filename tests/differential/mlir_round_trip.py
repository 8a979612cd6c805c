#!/usr/bin/env python3
"""Checks what `assay print --to mlir` writes: jaxlib's StableHLO accepts it, it computes the same, it is a
fixed point.

Usage: mlir_round_trip.py ASSAY_BINARY [--generated N] PATH...

A PATH is a directory of goldens, or of real programs in several forms beside an inputs.npz. --generated adds
generated programs of the differential test. For each program that `assay verify` accepts:

  * jaxlib parses and verifies the text;
  * reading and printing it gives the same text, and going by way of HLO text and a proto, which order
    instructions anew,
    does so from the second time on;
  * it gives the results of the program: of a golden those in its header, of a real program what the program
    gives.

Programs that the printer refuses by name (exit code 4) are counted and listed by operation.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile

from stablehlo_reader import Reader

WORKERS = 2
REAL_FORMS = ('.hlo', '.pb', '.mlir', '.mlirbc')


def call(*command):
    return subprocess.run(command, capture_output=True, timeout=120)


def has_free_sizes(text):
    """Whether a type of the text has a size '?' without a bound."""
    return any(b'?' in t and b'bounds' not in t for t in re.findall(rb'tensor<[^>]*(?:<[^>]*>)?[^>]*>', text))


class Failure(Exception):
    pass


class Checker:

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.numbers = itertools.count()
        self.goldens = []  # (converted, original) for one run of `assay golden check`
        self.readers = queue.SimpleQueue()
        for _ in range(WORKERS):
            self.readers.put(Reader())

    def print(self, path, form):
        return call(self.binary, 'print', str(path), '--to', form)

    def file(self, suffix, content):
        path = self.directory / f'{next(self.numbers)}{suffix}'
        path.write_bytes(content)
        return path

    def by_way_of(self, text, forms):
        """The text printed in each form after the other."""
        for before, form in zip(['mlir'] + forms, forms):
            path = self.file('.' + before, text)
            done = self.print(path, form)
            path.unlink()
            if done.returncode != 0:
                raise Failure(f'its text as {form}: {done.stderr.decode(errors="replace")[:400]}')
            text = done.stdout
        return text

    def check_fixed_points(self, text):
        again = self.by_way_of(text, ['mlir'])
        if has_free_sizes(text):  # printed as it was read, in the generic form; HLO and protos want shapes
            if self.by_way_of(again, ['mlir']) != again:
                raise Failure('no fixed point: ' + first_difference(again, self.by_way_of(again, ['mlir'])))
            return
        if again != text:
            raise Failure('no fixed point: ' + first_difference(text, again))
        once = self.by_way_of(text, ['hlo', 'pb', 'mlir'])
        twice = self.by_way_of(once, ['hlo', 'pb', 'mlir'])
        if once != twice:
            raise Failure('no fixed point by way of HLO: ' + first_difference(once, twice))

    def jaxlib_error(self, text):
        reader = self.readers.get()
        try:
            return reader.error(text)
        finally:
            self.readers.put(reader)

    def check(self, path):
        """(passed | failed | refused | skipped, why)"""
        if call(self.binary, 'verify', str(path)).returncode != 0:
            return 'skipped', ''
        done = self.print(path, 'mlir')
        if done.returncode == 4:
            return 'refused', reason(done.stderr.decode(errors='replace'))
        if done.returncode != 0:
            return 'failed', f'exit code {done.returncode}: {done.stderr.decode(errors="replace")[:400]}'
        why = self.jaxlib_error(done.stdout.decode())
        if why is None:
            return 'failed', 'jaxlib ends its process'
        if why:
            return 'failed', 'jaxlib refuses it: ' + re.sub(r'\s+', ' ', why)[:400]
        try:
            self.check_fixed_points(done.stdout)
        except Failure as failure:
            return 'failed', str(failure)
        if has_free_sizes(done.stdout):
            return 'passed', ''  # another program: its sizes are refined, and HLO's are not
        inputs = path.parent / 'inputs.npz'
        if inputs.exists():
            return self.compare_runs(path, done.stdout, ('--inputs', str(inputs)))
        if path.suffix == '.hlo' and path.read_bytes().startswith(b'//'):
            self.add_golden(path, done.stdout)
            return 'passed', ''
        return self.compare_runs(path, done.stdout, ('--random-inputs', '1'))

    def compare_runs(self, path, text, flags):
        printed, wanted, got = self.file('.mlir', text), self.file('_w.npz', b''), self.file('_g.npz', b'')
        runs = [call(self.binary, 'run', str(p), *flags, '--output', str(o))
                for p, o in ((path, wanted), (printed, got))]
        codes = [r.returncode for r in runs]
        same = codes[0] == codes[1] and wanted.read_bytes() == got.read_bytes()
        for file in (printed, wanted, got):
            file.unlink()
        return ('passed', '') if same else ('failed',
                                            f'other results; exit codes {codes}: {runs[1].stderr[:300]}')

    def add_golden(self, path, text):
        """The text below the golden's header, with the files that the header names."""
        header = b''.join(l for l in path.read_bytes().splitlines(True) if l.startswith(b'//'))
        directory = self.directory / 'goldens' / str(next(self.numbers))
        directory.mkdir(parents=True)
        for name in re.findall(rb'^// (?:in|out)puts: (\S+)', header, re.MULTILINE):
            shutil.copy(path.parent / name.decode(), directory)
        (directory / path.name).write_bytes(header + text)
        self.goldens.append((directory / path.name, path))

    def check_goldens(self):
        """[(original, why)] of the goldens whose printed program gives something else."""
        if not self.goldens:
            return []
        done = call_long(self.binary, 'golden', 'check', str(self.directory / 'goldens'))
        originals = {str(converted): original for converted, original in self.goldens}
        output = done.stdout.decode(errors='replace')
        failed = [(originals[m[1]], m[2])
                  for m in re.finditer(r'^FAILED (\S+?):?\n((?:  .*\n)*)', output, re.MULTILINE)]
        if done.returncode != 0 and not failed:
            failed = [(self.directory, output[-500:] + done.stderr.decode(errors='replace')[-500:])]
        return failed


def call_long(*command):
    return subprocess.run(command, capture_output=True, timeout=1200)


def reason(message):
    line = message.splitlines()[0] if message else ''
    return re.sub(r"'%[^']*' ", '', re.sub(r'^.*error: ', '', line))


def first_difference(one, two):
    for a, b in zip(one.splitlines(), two.splitlines()):
        if a != b:
            return f'{a.strip().decode()[:300]}\n    again: {b.strip().decode()[:300]}'
    return 'one text is longer'


def programs_below(path):
    """Goldens, or the forms of real programs."""
    return sorted(p for p in pathlib.Path(path).rglob('*')
                  if p.suffix == '.hlo' or (p.suffix in REAL_FORMS and (p.parent / 'inputs.npz').exists()))


def generated(count, directory):
    import against_xla
    paths = []
    for program in against_xla.generate(count, 20):
        paths.append(directory / (program.name + '.hlo'))
        paths[-1].write_text(program.text())
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('paths', nargs='*')
    parser.add_argument('--generated', type=int, default=0, help='generated programs to add')
    parser.add_argument('--verbose', action='store_true', help='name the programs that were refused')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        (directory / 'generated').mkdir()
        paths = [p for path in options.paths for p in programs_below(path)]
        if options.generated:
            paths += generated(options.generated, directory / 'generated')
        checker = Checker(options.assay, directory)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            results = dict(zip(paths, pool.map(checker.check, paths)))
        for _ in range(WORKERS):
            checker.readers.get().stop()
        results.update((path, ('failed', why)) for path, why in checker.check_goldens())
    refused = collections.defaultdict(list)
    count = collections.Counter(status for status, _ in results.values())
    for path, (status, why) in results.items():
        if status == 'failed':
            print(f'{path}: {why}')
        elif status == 'refused':
            refused[why].append(os.path.basename(path))
    for why, names in sorted(refused.items()):
        print(f'refused ({len(names)}): {why}: {", ".join(names if options.verbose else names[:4])}')
    print(f'{count["passed"]} passed, {count["refused"]} refused by name, {count["failed"]} failed, '
          f'{count["skipped"]} not legal')
    return 1 if count['failed'] or not count['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
