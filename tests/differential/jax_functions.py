#!/usr/bin/env python3
"""Lowers JAX's public functions to programs, runs them with Assay and with XLA:CPU, and compares the results.

Usage: jax_functions.py ASSAY_BINARY [--count N] [--every N] [--seed S] [--only REGEX] [--no-xla] [--keep DIR]

The functions and their arguments are the tables of jax_programs/; each is lowered as it is, under vmap and
under grad, with and without x64, to StableHLO text, HLO text, a portable artifact or an HloModuleProto in
turn. Equal texts are one program. It fails where Assay refuses a program, where a result is neither XLA:CPU's
but for rounding (rounding_noise.py says what rounding can do) nor of a class that docs/semantics.md explains,
and where a public function of JAX is in no table.
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading

import numpy as np
from jax_comparison import NOISE_RUNS, compare
from jax_worker import Lowering
from rounding_noise import flushed, rounded_otherwise

EXIT_CODES = {3: 'invalid', 4: 'refused', 5: 'evaluation failed'}
EXTENSIONS = {'stablehlo': 'mlir', 'hlo': 'hlo', 'bytecode': 'mlirbc', 'proto': 'pb'}
TIMEOUT_SECONDS = 120
# The tables make arguments for most element types of most functions: JAX refuses some.
# XLA:CPU gives no answer now and then.
NO_FAILURES = ('ok', 'same text', 'not lowered', 'no answer from XLA:CPU')
SHOWN = 5


class Outcome:

    def __init__(self, case, status, reason=''):
        self.case, self.status, self.reason = case, status, reason
        self.differences = []


def run_assay(assay, program, inputs, output):
    """('ok', results by name) or (kind of failure, message)."""
    # Decompositions by a library have its signs, phases and orders, as XLA:CPU's;
    # lapack_programs.py looks at Assay's own.
    command = [assay, 'run', program, '--inputs', inputs, '--output', output, '--jobs', '1', '--lapack']
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors='replace',
                              timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return 'no end', f'ran for over {TIMEOUT_SECONDS} s'
    if done.returncode != 0:
        return EXIT_CODES.get(done.returncode, f'exit code {done.returncode}'), done.stderr.strip()
    with np.load(output) as stored:
        return 'ok', {k: stored[k] for k in stored.files}


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)
    return path


def in_types(results, like):
    """Results by name as a list of arrays, raw bytes as the types that NumPy lacks."""
    arrays = [results[f'out{k}'] for k in range(len(like))]
    return [a.view(x.dtype) if a.dtype != x.dtype and a.dtype.kind == 'V' else a
            for a, x in zip(arrays, like)]


class Variants:
    """What Assay makes of variants of a program, each worked out once, when it is asked for."""

    def __init__(self, assay, base, text, like):
        self._assay, self._base, self._like = assay, base, like
        self.text = functools.cache(text)
        self.written_out = functools.cache(lambda: self._run(self.text()))
        self.flushed = functools.cache(lambda: self._run(flushed(self.text())))
        self.rounded_otherwise = functools.cache(
            lambda: [self._run(rounded_otherwise(self.text(), seed)) for seed in range(NOISE_RUNS)])

    def _run(self, text):
        path = write(self._base + '_variant.hlo', text.encode())
        status, results = run_assay(self._assay, path, self._base + '_in.npz', self._base + '_variant.npz')
        if status != 'ok':
            raise RuntimeError(f'a variant is not run: {results}')
        return in_types(results, self._like)


class Comparison:

    def __init__(self, options, directory):
        self._options, self._directory = options, directory
        self._seen, self._lock = set(), threading.Lock()

    def _is_new(self, text):
        with self._lock:
            before = len(self._seen)
            self._seen.add(text)
            return len(self._seen) > before

    def outcome(self, case, lowering):
        options = self._options
        status, found = lowering.lower(case, options.seed, options.xla)
        if status != 'ok':
            return Outcome(case, status, found)
        if not self._is_new(found['text']):
            return Outcome(case, 'same text')
        base = os.path.join(self._directory, case.name)
        program = write(f'{base}.{EXTENSIONS[case.form]}', found['program'])
        np.savez(base + '_in.npz', **{f'arg{k}': a for k, a in enumerate(found['args'])})
        status, ours = run_assay(options.assay, program, base + '_in.npz', base + '_out.npz')
        if status != 'ok' or not options.xla:
            return Outcome(case, status, ours if status != 'ok' else '')
        if 'results' not in found:
            return Outcome(case, 'refused by XLA:CPU', found['refused'])
        theirs = found['results']
        variants = Variants(options.assay, base, lambda: lowering.hlo(case, options.seed), theirs)
        outcome = Outcome(case, 'ok')
        try:
            outcome.differences = compare(in_types(ours, theirs), theirs, variants)
        except (RuntimeError, ValueError) as error:
            return Outcome(case, 'not compared', str(error))
        return outcome


def run_all(cases, comparison, jobs):
    lowerings = queue.SimpleQueue()
    made = [Lowering() for _ in range(jobs)]
    for lowering in made:
        lowerings.put(lowering)

    def work(case):
        lowering = lowerings.get()
        try:
            return comparison.outcome(case, lowering)
        except Exception as error:  # one program must not hide the others
            return Outcome(case, 'the comparison itself failed', repr(error))
        finally:
            lowerings.put(lowering)

    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(work, cases):
            outcomes.append(outcome)
            if len(outcomes) % 500 == 0:
                print(f'{len(outcomes)} of {len(cases)}', file=sys.stderr, flush=True)
    for lowering in made:
        lowering.stop()
    return outcomes


def reason(message):
    """The message with names, numbers and the source line taken out, so that equal reasons count together."""
    line = next((l for l in message.splitlines() if 'error' in l), message.splitlines()[0] if message else '')
    line = re.sub(r'^\S*: error: ', '', line)
    return re.sub(r'%?[\w.]*\d[\w.]*', '#', line)[:200]


def report_reasons(outcomes):
    by_reason = collections.defaultdict(list)
    for o in outcomes:
        if o.status not in ('ok', 'same text'):
            by_reason[o.status, reason(o.reason)].append(o.case.name)
    for (status, why), names in sorted(by_reason.items(), key=lambda item: (item[0][0], -len(item[1]))):
        shown = names[:SHOWN if status in NO_FAILURES else None]
        print(f'{status} ({len(names)}): {why}: {", ".join(shown)}')


def report_differences(outcomes):
    by_tag = collections.defaultdict(list)
    for o in outcomes:
        for d in o.differences:
            by_tag[d.tag].append(f'{o.case.name}: {d}')
    for tag, examples in sorted(by_tag.items()):
        print(f'{"known difference " + tag if tag else "UNKNOWN DIFFERENCE"} in {len(examples)} results:')
        for example in examples[:SHOWN if tag else None]:
            print(f'  {example}')


def report(outcomes):
    """Prints what there was; true if all is as it should be."""
    counts = collections.Counter(o.status for o in outcomes)
    report_reasons(outcomes)
    report_differences(outcomes)
    exact = sum(o.status == 'ok' and not o.differences for o in outcomes)
    print(f'{len(outcomes)} programs: ' + ', '.join(f'{n} {s}' for s, n in counts.most_common()) +
          f'; {exact} without a difference beyond rounding')
    failed = [o for o in outcomes if o.status not in NO_FAILURES or any(not d.tag for d in o.differences)]
    print(f'{len(failed)} failed')
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--count', type=int, default=4000,
                        help='programs, before equal ones are dropped (4000)')
    parser.add_argument('--first', type=int, default=0, help='leave out so many of them')
    parser.add_argument('--every', type=int, default=1, help='take each N-th of them only')
    parser.add_argument('--seed', type=int, default=18)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', default='', help='only programs whose name matches this')
    parser.add_argument('--no-xla', dest='xla', action='store_false', help='run Assay alone')
    parser.add_argument('--keep', help='directory for programs, inputs and results')
    options = parser.parse_args()
    os.environ['JAX_PLATFORMS'] = 'cpu'
    from jax_programs.rows import missing
    from lowered_programs import all_cases
    if missing():
        print('functions that are in no table:', ', '.join(missing()))
        return 1
    cases = [c for c in all_cases(options.seed) if re.search(options.only, c.name)]
    cases = cases[options.first:options.count:options.every]
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        outcomes = run_all(cases, Comparison(options, directory), options.jobs)
    return 0 if report(outcomes) else 1


if __name__ == '__main__':
    sys.exit(main())
