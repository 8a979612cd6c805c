#!/usr/bin/env python3
"""Damages one output of what XLA:CPU gave for a program, and asks `assay diff --profile xla-cpu` whether that
shows.

Usage: damages.py ASSAY_BINARY [--seed S] [--samples N] [--inputs N] [--drawn N] [--generated N] [--share K/N]
                               [--state FILE] [--only REGEX]

The programs are those of golden/programs that draw no random numbers, with XLA:CPU's own outputs beside them:
four damages each, of an element or array that the seed chooses: an element 1 % larger (of integers at least
by 1), of the other sign (truth values negated), NaN (of integers a high bit flipped), and an array whose
elements are shifted by one. --drawn N: N more, of the twelve kinds of damage_kinds.py, each of a program, an
output and an element that the seed draws; two thirds of them of these programs, the others of --generated M
programs, which jaxlib runs.

A damage counts where it changes a value by more than 16 times the spread that sampled backends have there:
less is what a correct backend may give. Of those that count it is told which are found, proven ("outside")
or estimated ("implausible"), and which are missed. It fails where less than 95 % of those that count are
found, or an undamaged output is outside or implausible. --inputs N asks that of N more inputs of each
program.

--state FILE keeps what was found, so that a run that was ended goes on where it was; --share 3/10 runs the
third of ten parts of the work.
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

import numpy as np
from damage_kinds import FIRST_KINDS, KINDS, MULTIPLE, RAW, damage, excess, first_damage

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE_WANTED = 0.95
WORDS = ('inside', 'outside', 'plausible', 'implausible', 'undecided')


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


def diff(options, program, inputs, actual, *more):
    command = [options.assay, 'diff', program, '--inputs', inputs, '--actual', actual, '--profile',
               'xla-cpu', '--json', '--samples', str(options.samples), *more]
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=600)
    if done.returncode not in (0, 1):
        raise RuntimeError(f'{program}: exit code {done.returncode}: {done.stderr.strip()[:300]}')
    return json.loads(done.stdout)


def word(report):
    outputs = report['outputs'].values()
    if any(output['outside'] for output in outputs):
        return 'outside'
    return 'implausible' if any(output['implausible'] for output in outputs) else '-'


class Subject:
    """A program with its inputs and XLA:CPU's outputs, as files."""

    def __init__(self, name, program, inputs, exact):
        self.name, self.program, self.inputs, self.exact = name, str(program), str(inputs), exact
        self.spreads, self.undamaged = None, None

    def prepare(self, options, directory):
        """Spreads of all elements, and the verdict on the outputs as they are."""
        if self.spreads is not None:
            return
        actual, tolerances = (os.path.join(directory, n) for n in ('undamaged.npz', 'tolerances.npz'))
        np.savez(actual, **self.exact)
        self.undamaged = diff(options, self.program, self.inputs, actual, '--tolerances', tolerances)
        with np.load(tolerances) as stored:
            self.spreads = {k.removeprefix('spread/'): stored[k] for k in stored if k.startswith('spread/')}


def real_subjects(options):
    subjects = []
    for directory in sorted((ROOT / 'golden/programs').iterdir()):
        if not directory.is_dir() or directory.name == 'random_draws' or not re.search(options.only,
                                                                                       directory.name):
            continue
        text = (directory / 'program.hlo').read_text()
        exact = read(directory / 'xla_cpu.npz', types_of(text, 'out'))
        subjects.append(Subject(directory.name, directory / 'program.hlo', directory / 'inputs.npz', exact))
    return subjects


class Generated:
    """Generated programs, run by jaxlib when they are first asked for."""

    def __init__(self, options, directory):
        self.options, self.directory, self.runner, self.subjects = options, directory, None, {}

    def subject(self, number):
        if number in self.subjects:
            return self.subjects[number]
        if self.runner is None:
            from against_xla import generate
            from xla import Runner
            self.runner, self.programs = Runner(), generate(self.options.generated, self.options.seed)
        program = self.programs[number % len(self.programs)]
        status, results = self.runner.run(program.text(), [program.args])
        subject = None
        if status != 'refused':
            path = os.path.join(self.directory, f'generated_{number}')
            pathlib.Path(path + '.hlo').write_text(program.text())
            np.savez(path + '.npz', **{f'arg{k}': a for k, a in enumerate(program.args)})
            subject = Subject(program.name, path + '.hlo', path + '.npz',
                              {f'out{k}': a for k, a in enumerate(results[0])})
        self.subjects[number] = subject
        return subject

    def stop(self):
        if self.runner is not None:
            self.runner.stop()


class Bench:

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.real, self.generated = real_subjects(options), Generated(options, directory)
        self.done = {}
        if options.state and os.path.exists(options.state):
            for line in pathlib.Path(options.state).read_text().splitlines():
                outcome = json.loads(line)
                self.done[outcome['work']] = outcome

    def works(self):
        """Names of all damages, in order."""
        for subject in self.real:
            for kind in FIRST_KINDS:
                yield f'first/{subject.name}/{kind}'
        for number in range(self.options.drawn):
            yield f'drawn/{number}'

    def take(self, work):
        """What became of a damage: kept in the state file, or done now."""
        if work not in self.done:
            try:
                found = self.first(work) if work.startswith('first/') else self.drawn(work)
                outcome = {'work': work, **found}
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                outcome = {'work': work, 'failed': str(error)[:300]}
            self.done[work] = outcome
            if self.options.state:
                with open(self.options.state, 'a') as file:
                    file.write(json.dumps(outcome) + '\n')
        return self.done[work]

    def first(self, work):
        _, name, kind = work.split('/')
        subject = next(s for s in self.real if s.name == name)
        rng = np.random.default_rng([self.options.seed, sum(work.encode())])
        for _ in range(50):
            key = str(rng.choice(sorted(subject.exact)))
            damaged = first_damage(subject.exact[key], kind, rng) if subject.exact[key].size else None
            if damaged is not None:
                return self.judge(subject, key, kind, damaged)
        return {'none': True}  # a rotation that changes nothing: one number, or equal ones

    def drawn(self, work):
        number = int(work.split('/')[1])
        rng = np.random.default_rng([self.options.seed, 1000, number])
        for _ in range(100):
            kind = str(rng.choice(KINDS))
            if self.options.generated and rng.random() < 1 / 3:
                subject = self.generated.subject(int(rng.integers(self.options.generated)))
            else:
                subject = self.real[int(rng.integers(len(self.real)))]
            if subject is None:
                continue
            key, other = (str(rng.choice(sorted(subject.exact))) for _ in range(2))
            subject.prepare(self.options, self.directory)
            if key not in subject.spreads or word(subject.undamaged) != '-':
                continue  # what is wrong before it is damaged says nothing
            damaged = damage(subject.exact[key], kind, rng, {'spread': subject.spreads[key],
                                                             'other': subject.exact[other]})
            if damaged is not None:
                return self.judge(subject, key, kind, damaged)
        return {'none': True}

    def judge(self, subject, key, kind, damaged):
        subject.prepare(self.options, self.directory)
        path = os.path.join(self.directory, 'damaged.npz')
        np.savez(path, **{**subject.exact, key: damaged})
        report = diff(self.options, subject.program, subject.inputs, path)
        spreads = excess(subject.exact[key], damaged, subject.spreads[key])
        return {'program': subject.name, 'output': key, 'kind': kind, 'found': word(report),
                'spreads': spreads if np.isfinite(spreads) else 'inf', 'counts': spreads > MULTIPLE,
                'undecided': report['outputs'][key]['undecided']}


def others(subject, options):
    """XLA:CPU's outputs of a real program for other inputs."""
    from bounds_against_xla import varied
    from xla import Runner
    text = pathlib.Path(subject.program).read_text()
    types = types_of(text, 'arg')
    stored = read(subject.inputs, types)
    runner = Runner()
    try:
        for number in range(1, options.inputs + 1):
            arrays = varied(stored, np.random.default_rng(options.seed + number))
            values = [arrays[key] for key in types]
            status, results = runner.run(text, [values])
            if status == 'refused':
                print(f'{subject.name}: inputs {number}: {results}')
                continue
            yield arrays, {f'out{k}': a for k, a in enumerate(results[0])}
    finally:
        runner.stop()


def check_undamaged(options, subject, directory):
    """Alarms on the outputs as they are, of the program's inputs and of others; how many runs that were."""
    subject.prepare(options, directory)
    reports = [subject.undamaged]
    given, path = os.path.join(directory, 'in.npz'), os.path.join(directory, 'out.npz')
    for arrays, results in others(subject, options) if options.inputs else ():
        np.savez(given, **arrays)
        np.savez(path, **results)
        reports.append(diff(options, subject.program, given, path))
    totals = collections.Counter()
    for report in reports:
        for output in report['outputs'].values():
            totals.update({k: output[k] for k in WORDS})
    farthest = max(r['multiple'] * output['largest_plausible_share']
                   for r in reports for output in r['outputs'].values())
    print(f'{subject.name:24}undamaged: ' + ', '.join(f'{n} {k}' for k, n in totals.items() if n) +
          (f'; farthest {farthest:.2g} spreads' if totals['plausible'] else ''), flush=True)
    return sum(word(report) != '-' for report in reports), len(reports)


def show(outcomes):
    """The table, and whether enough of what counts was found."""
    real = [o for o in outcomes if 'found' in o]
    counted = [o for o in real if o['counts']]
    found = collections.Counter(o['found'] for o in counted)
    for outcome in outcomes:
        if 'failed' in outcome:
            print(f"failed: {outcome['work']}: {outcome['failed']}")
    by_kind = collections.defaultdict(collections.Counter)
    for outcome in counted:
        by_kind[outcome['kind']][outcome['found']] += 1
    for kind, words in sorted(by_kind.items()):
        print(f"  {kind:18}{sum(words.values()):5} counted, {words['outside']:5} outside, "
              f"{words['implausible']:5} implausible, {words['-']:5} missed")
    for outcome in counted:
        if outcome['found'] == '-':
            print(f"  missed: {outcome['kind']} of {outcome['program']} {outcome['output']}, {outcome['spreads']} spreads, "
                  f"{outcome['undecided']} undecided elements ({outcome['work']})")
    hits = found['outside'] + found['implausible']
    small = [o for o in real if not o['counts'] and o['found'] != '-']
    print(f"{len(real)} damages, {len(counted)} count: {found['outside']} outside, {found['implausible']} implausible, "
          f"{found['-']} missed ({hits / max(len(counted), 1):.1%} found); of those that do not count "
          f'{len(small)} of {len(real) - len(counted)} found')
    return bool(counted) and hits >= SHARE_WANTED * len(counted) and not any('failed' in o for o in outcomes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument('--samples', type=int, default=16)
    parser.add_argument('--inputs', type=int, default=0, help='more inputs of undamaged programs')
    parser.add_argument('--drawn', type=int, default=0, help='damages that the seed draws')
    parser.add_argument('--generated', type=int, default=0, help='generated programs to draw from')
    parser.add_argument('--share', default='1/1', help='3/10: the third of ten parts')
    parser.add_argument('--state', default='', help='file of what was found')
    parser.add_argument('--only', default='')
    options = parser.parse_args()
    part, parts = (int(n) for n in options.share.split('/'))
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(options, directory)
        outcomes = [bench.take(work) for k, work in enumerate(bench.works()) if k % parts == part - 1]
        bench.generated.stop()
        alarms = runs = 0
        for subject in bench.real if part == 1 else ():
            found, checked = check_undamaged(options, subject, directory)
            alarms, runs = alarms + found, runs + checked
    fine = show(outcomes)
    print(f'{alarms} alarms on {runs} undamaged runs')
    return 0 if fine and not alarms else 1


if __name__ == '__main__':
    sys.exit(main())
