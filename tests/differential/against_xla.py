#!/usr/bin/env python3
"""Runs generated programs with Assay and with XLA on JAX's platform (JAX_PLATFORMS; cpu) and compares the
results.

Assay's two engines are compared with each other on the way (--crosscheck full), bit for bit.

Usage: against_xla.py ASSAY_BINARY [--programs N] [--seed S] [--keep DIR] [--only REGEX]

Every difference outside the rule of its op must belong to a class in differences.py; any other is a failure,
printed with the program, the inputs and both values. Programs that XLA refuses are listed by reason, not
compared.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import queue
import re
import subprocess
import sys
import tempfile

import elementwise_programs
import numpy as np
import structured_programs
from comparison import classify, differences
from values import NUMPY, is_integer
from xla import Runner

LEAST_COMPARED = 300
SHOWN_PER_PROGRAM = 3


def generate(count, seed):
    """The fixed programs first, then random ones until there are `count`."""
    fixed = list(elementwise_programs.all_programs(np.random.default_rng(seed)))
    endless = structured_programs.random_programs(np.random.default_rng(seed + 2))
    return fixed + list(itertools.islice(endless, max(0, count - len(fixed))))


def run_assay(assay, path, inputs, output, checks):
    command = [assay, 'run', path, '--inputs', inputs, '--output', output, '--crosscheck', 'full']
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=120)
    if done.returncode != 0:
        return None, f'exit code {done.returncode}: {done.stderr.strip()[:600]}'
    with np.load(output) as stored:
        results = [stored[f'out{k}'] for k in range(len(checks))]
    dtypes = [np.dtype(NUMPY[c.element]) for c in checks]
    return [r.view(d) if r.dtype != d else r for r, d in zip(results, dtypes)], ''


def absolutes(program):
    """The arguments with float elements replaced by their magnitudes."""
    return [a if n in program.signed_args or is_integer(e) or e == 'pred' else np.abs(a).astype(a.dtype)
            for n, (a, e) in enumerate(zip(program.args, program.elements))]


class Outcome:

    def __init__(self, program, path):
        self.program, self.path = program, path
        self.refused, self.failures, self.known = '', [], {}


def compare_program(program, assay, runner, directory):
    path = os.path.join(directory, program.name + '.hlo')
    outcome = Outcome(program, path)
    text = program.text()
    with open(path, 'w') as file:
        file.write(text)
    inputs = path[:-4] + '_in.npz'
    np.savez(inputs, **{f'arg{k}': a for k, a in enumerate(program.args)})
    ours, why = run_assay(assay, path, inputs, path[:-4] + '_out.npz', program.checks)
    summed = any(c.rule.kind == 'sum' for c in program.checks)
    status, theirs = runner.run(text, [program.args] + ([absolutes(program)] if summed else []))
    if status == 'refused':
        outcome.refused = theirs
        return outcome
    if ours is None:
        outcome.failures.append(f'assay refuses what XLA runs: {why}')
        return outcome
    for k, check in enumerate(program.checks):
        compare_result(outcome, check, ours[k], theirs[0][k], theirs[1][k] if summed else None)
    return outcome


def compare_result(outcome, check, ours, theirs, of_absolutes):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        outcome.failures.append(f'{check.label}: assay {ours.dtype}{ours.shape}, xla {theirs.dtype}{theirs.shape}')
        return
    program = outcome.program
    for difference in differences(check, program.args, program.elements, ours, theirs, of_absolutes):
        tag = classify(difference)
        if tag is None:
            outcome.failures.append(str(difference))
        else:
            outcome.known.setdefault(tag, difference)


def reason(message):
    """The refusal with names and numbers taken out, so that equal reasons count together."""
    line = next((l for l in message.splitlines() if l.strip()), '')
    return re.sub(r'%?[\w.]*\d[\w.]*', '#', line)[:140]


def report(outcomes, keep, label):
    refused, known = collections.defaultdict(list), collections.defaultdict(list)
    for outcome in outcomes:
        if outcome.refused:
            refused[reason(outcome.refused)].append(outcome.program.name)
        for tag, example in outcome.known.items():
            known[tag].append((outcome.program.name, example))
        for failure in outcome.failures[:SHOWN_PER_PROGRAM]:
            print(f'{outcome.path}: {failure}')
        if len(outcome.failures) > SHOWN_PER_PROGRAM:
            print(f'{outcome.path}: {len(outcome.failures) - SHOWN_PER_PROGRAM} more')
    for why, names in sorted(refused.items()):
        print(f'{label} refuses ({len(names)}): {why}: {", ".join(sorted(names)[:6])}')
    for tag, examples in sorted(known.items()):
        print(f'known difference {tag} in {len(examples)} programs, such as {examples[0][0]}: {examples[0][1]}')
    failed = sum(bool(o.failures) for o in outcomes)
    passed = sum(not o.failures and not o.refused for o in outcomes)
    if passed + failed < LEAST_COMPARED:
        print(f'only {passed + failed} programs compared, fewer than {LEAST_COMPARED}')
    if failed and not keep:
        print('the programs and inputs are kept with --keep DIR')
    print(f'{label}: {passed} passed, {failed} failed')
    return failed == 0 and passed >= LEAST_COMPARED


def run_all(programs, assay, directory):
    runners = queue.SimpleQueue()
    made = [Runner() for _ in range(2)]
    for runner in made:
        runners.put(runner)

    def work(program):
        runner = runners.get()
        try:
            return compare_program(program, assay, runner, directory)
        except Exception as error:  # one program must not hide the others
            outcome = Outcome(program, program.name)
            outcome.failures.append(f'the comparison itself failed: {error!r}')
            return outcome
        finally:
            runners.put(runner)

    with concurrent.futures.ThreadPoolExecutor(len(made)) as pool:
        outcomes = list(pool.map(work, programs))
    for runner in made:
        runner.stop()
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--programs', type=int, default=640)
    parser.add_argument('--seed', type=int, default=20)
    parser.add_argument('--keep', help='directory for programs, inputs and results')
    parser.add_argument('--only', help='run only programs whose name matches this')
    options = parser.parse_args()
    programs = generate(options.programs, options.seed)
    if options.only:
        programs = [p for p in programs if re.search(options.only, p.name)]
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        outcomes = run_all(programs, options.assay, directory)
    runner = Runner()
    fine = report(outcomes, options.keep, runner.label())
    runner.stop()
    if options.only:
        fine = not any(o.failures for o in outcomes)
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main())
