#!/usr/bin/env python3
"""Runs programs on XLA, on JAX's platform (JAX_PLATFORMS; cpu), and asks `assay diff --profile` whether its
results conform.

Usage: bounds_against_xla.py ASSAY_BINARY [--sources real,generated,jax] [--programs N] [--jax N] [--inputs N]
[--seed S]
                             [--only REGEX] [--profile P] [--keep DIR] [--samples N] [--share K/N]
                             [--state FILE] [--processes N]

The programs are the real ones of golden/programs with N random inputs each, generated ones, and those that
JAX lowers its public functions to. A violation that is not a deviation of XLA in docs/found.md is a false
alarm, and fails. Without --profile that of the platform is taken: xla-cpu, or xla-gpu-tf32. What is shown of
the others is how sharp the bounds are: bound / largest error seen, the median over elementwise programs of an
op, and over programs.
With --samples an implausible element is an alarm as one that is outside is. --state keeps what was found, so
that a run that was ended goes on where it was; --share 3/10 runs the third of ten parts.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import statistics
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
from against_xla import generate
from jax_worker import Lowering
from xla import Runner

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTENSIONS = {'stablehlo': 'mlir', 'hlo': 'hlo', 'bytecode': 'mlirbc', 'proto': 'pb'}
TIMEOUT_SECONDS = 300
# What XLA is known to do otherwise (docs/found.md, docs/semantics.md): these violations are real, and are
# counted apart. By operation and type of a generated result, or name of another program;
# and by the values of the worst elements.
ANY = r'.*'
SPECIAL = r'nan|inf|\(-?0(\.0)?,|, -?0(\.0)?\)'
DEVIATIONS = [
    ('complex-special-values', r'\w[\w-]* c(64|128)|.*\.c(64|128)\..*', SPECIAL),
    ('complex-special-values', r'abs f(32|64)', r'inf.*nan'),
    ('power-of-subnormal', r'power (bf16|f32)', r' 3\.77\d*e\+22$'),
    ('atan2-of-subnormals', r'atan2 (bf16|f32)', r' -?nan$'),
    ('integer-power', r'power [su]\d+|.*power.*\.[su]\d+\..*', ANY),
    ('sub-byte-bits', r'(popcnt|count-leading-zeros) [su][24]', ANY),
    ('total-order-fnuz', r'compare-total pred', ANY),
    ('largest-f4', r'convert [su]\d+', ANY),
    ('smallest-e8m0', r'convert (f8e8m0fnu|pred)', ANY),
    ('zero-of-e8m0', r'iota f8e8m0fnu', ANY),
    ('logistic-tail', r'logistic f16|.*(logistic|sigmoid|expit).*\.f16\..*', r' -?0(\.0)?$'),
    ('cosh-expanded', r'jax\.numpy\.(cosh|sinh)\..*', ANY),
]
SHOWN = 3
PROFILES = {'XLA:CPU': 'xla-cpu', 'XLA:GPU': 'xla-gpu-tf32'}


def folds_single_terms(text):
    """Every reduce of the program folds one element into its start value, which XLA:CPU leaves out."""
    sizes = {name: dims for name, dims in re.findall(r'^\s*(?:ROOT )?(\w+) = \w+\[([\d,]*)\]', text, re.M)}
    folds = re.findall(r'reduce\((\w+),.*dimensions=\{([\d,]*)\}', text)
    terms = [int(sizes[operand].split(',')[int(d)]) for operand, dims in folds for d in dims.split(',') if d]
    return bool(folds) and all(size == 1 for size in terms)


class Outcome:

    def __init__(self, name, text=''):
        self.name, self.text = name, text
        self.problem = ''
        self.report = None
        self.labels = {}  # the op of an output
        self.folds_single = folds_single_terms(text)

    def to_json(self, kind):
        return json.dumps({'kind': kind, 'name': self.name, 'problem': self.problem, 'report': self.report,
                           'labels': self.labels, 'folds_single': self.folds_single})

    @staticmethod
    def of_json(kept):
        outcome = Outcome(kept['name'])
        outcome.problem, outcome.report = kept['problem'], kept['report']
        outcome.labels = {k: tuple(v) for k, v in kept['labels'].items()}
        outcome.folds_single = kept['folds_single']
        return outcome


def varied(arrays, rng):
    """Other inputs of the same kind: floats scaled by numbers next to one and shuffled, integers shuffled."""
    found = {}
    for key, array in arrays.items():
        array = rng.permuted(array.reshape(-1)).reshape(array.shape) if array.ndim else array
        if array.dtype.kind == 'f':
            array = (array * np.exp(0.3 * rng.standard_normal(array.shape))).astype(array.dtype)
        found[key] = array
    return found


def check(options, path, inputs, actual):
    command = [options.assay, 'diff', path, '--inputs', inputs, '--actual', actual, '--profile',
               options.profile, '--samples', str(options.samples), '--json']
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors='replace',
                              timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return None, f'no answer in {TIMEOUT_SECONDS} s'
    if done.returncode not in (0, 1):
        return None, f'exit code {done.returncode}: {done.stderr.strip()[:600]}'
    return json.loads(done.stdout), ''


def save(path, prefix, arrays):
    np.savez(path, **{f'{prefix}{k}': a for k, a in enumerate(arrays)})


class Checker:

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.runners = queue.SimpleQueue()
        self.made = []
        self.kept = {}
        if options.state and os.path.exists(options.state):
            for line in pathlib.Path(options.state).read_text().splitlines():
                kept = json.loads(line)
                self.kept[kept['kind'], kept['name']] = Outcome.of_json(kept)
        for _ in range(options.processes):
            self.made.append((Runner(), Lowering()))
            self.runners.put(self.made[-1])

    def stop(self):
        for runner, lowering in self.made:
            runner.stop()
            lowering.stop()

    def path(self, name, extension):
        return os.path.join(self.directory, re.sub(r'[^\w.-]', '_', name) + extension)

    def finish(self, outcome, path, inputs, actual):
        outcome.report, outcome.problem = check(self.options, path, inputs, actual)
        return outcome

    def generated(self, program, runner, _):
        outcome = Outcome(program.name, program.text())
        outcome.labels = {f'out{k}': (c.op, c.element) for k, c in enumerate(program.checks)}
        status, results = runner.run(outcome.text, [program.args])
        if status == 'refused':
            outcome.problem = 'refused'
            return outcome
        path, inputs, actual = (self.path(program.name, e) for e in ('.hlo', '_in.npz', '_xla.npz'))
        pathlib.Path(path).write_text(outcome.text)
        save(inputs, 'arg', program.args)
        save(actual, 'out', results[0])
        return self.finish(outcome, path, inputs, actual)

    def real(self, work, runner, _):
        directory, number = work
        name = f'{directory.name}.{number}'
        outcome = Outcome(name, (directory / 'program.hlo').read_text())
        with np.load(directory / 'inputs.npz') as stored:
            arrays = {k: stored[k] for k in stored}
        if number == 0 and self.options.label == 'XLA:CPU':  # whose outputs are stored
            return self.finish(outcome, str(directory / 'program.hlo'), str(directory / 'inputs.npz'),
                               str(directory / 'xla_cpu.npz'))
        types = dict(re.findall(r'%?([\w.-]+): (\w+)\[', outcome.text.split('ENTRY', 1)[1].split('{', 1)[0]))
        if number > 0:
            arrays = varied(arrays, np.random.default_rng(self.options.seed + number))
        arguments = []
        for key, element in zip(sorted(arrays, key=lambda k: int(k[3:])), types.values()):
            array = arrays[key]
            arguments.append(array.view(ml_dtypes.bfloat16) if element == 'bf16' else array)
        status, results = runner.run(outcome.text, [arguments])
        if status == 'refused':
            outcome.problem = 'refused'
            return outcome
        inputs, actual = self.path(name, '_in.npz'), self.path(name, '_xla.npz')
        save(inputs, 'arg', arguments)
        save(actual, 'out', results[0])
        return self.finish(outcome, str(directory / 'program.hlo'), inputs, actual)

    def jax(self, case, _, lowering):
        outcome = Outcome(case.name)
        status, found = lowering.lower(case, self.options.seed, True)
        if status != 'ok' or 'results' not in found:
            outcome.problem = 'refused'
            return outcome
        outcome.text = found['text']
        path = self.path(case.name, '.' + EXTENSIONS[case.form])
        pathlib.Path(path).write_bytes(found['program'])
        inputs, actual = self.path(case.name, '_in.npz'), self.path(case.name, '_xla.npz')
        save(inputs, 'arg', found['args'])
        save(actual, 'out', found['results'])
        return self.finish(outcome, path, inputs, actual)

    @staticmethod
    def name_of(kind, work):
        return f'{work[0].name}.{work[1]}' if kind == 'real' else work.name

    def run(self, kind, works):
        def one(work):
            kept = self.kept.get((kind, self.name_of(kind, work)))
            if kept is not None:
                return kept
            pair = self.runners.get()
            try:
                outcome = getattr(self, kind)(work, *pair)
            except Exception as error:  # one program must not hide the others
                outcome = Outcome(self.name_of(kind, work))
                outcome.problem = f'the check itself failed: {error!r}'
            finally:
                self.runners.put(pair)
            if self.options.state:
                with open(self.options.state, 'a') as file:
                    file.write(outcome.to_json(kind) + '\n')
            return outcome

        with concurrent.futures.ThreadPoolExecutor(len(self.made)) as pool:
            return list(pool.map(one, works))


def sharpness(outcome):
    """Bound / largest error, by output that has an error."""
    for key, output in outcome.report['outputs'].items():
        share = output.get('largest_share')
        if share and not output['outside']:
            yield key, 1 / share


def report(kind, outcomes):
    by_op, by_program = collections.defaultdict(list), {}
    counts = collections.Counter()
    failures, deviations = [], collections.defaultdict(list)
    for outcome in outcomes:
        if outcome.report is None:
            if outcome.problem != 'refused':
                failures.append(f'{outcome.name}: {outcome.problem}')
            continue
        counts['programs'] += 1
        for key, output in outcome.report['outputs'].items():
            if 'error' in output:
                failures.append(f"{outcome.name} {key}: {output['error']}")
                continue
            for what in ('elements', 'inside', 'outside', 'plausible', 'implausible', 'undecided'):
                counts[what] += output[what]
            if output['outside'] or output['implausible']:
                wrong = [w for w in output['worst'] if not w['share'] or w['share'] > 1] + output['farthest']
                worst = wrong[0]
                label = ' '.join(outcome.labels.get(key, ()))
                values = [f"{w['exact']} {w['actual']}" for w in wrong]
                known = next((tag for tag, pattern, value in DEVIATIONS
                              if re.fullmatch(pattern, label or outcome.name) and
                              all(re.search(value, v) for v in values)), None)
                if label.startswith('reduce-') and outcome.folds_single:
                    known = 'start-value-of-one'
                if known:
                    deviations[known].append(f"{outcome.name} {key}, exact {worst['exact']}, actual {worst['actual']}")
                    continue
                failures.append(f"{outcome.name} {key} {label}: {output['outside']} of {output['elements']} outside, "
                                f"{output['implausible']} implausible, as {worst['index']}: exact {worst['exact']}, "
                                f"actual {worst['actual']}, {worst['ulps']} ulps, "
                                f"{'radius' if 'radius' in worst else 'spread'} {worst.get('radius', worst.get('spread'))}")
        for key, ratio in sharpness(outcome):
            if key in outcome.labels:
                by_op[outcome.labels[key]].append(ratio)
            by_program[outcome.name] = min(ratio, by_program.get(outcome.name, np.inf))
    for failure in failures:
        print(failure)
    for tag, found in sorted(deviations.items()):
        print(f'{kind}: deviation {tag} in {len(found)} outputs, such as {found[0]}')
    for label, ratios in sorted(by_op.items()):
        print(f"{kind} {' '.join(label)}: bound / largest error {statistics.median(ratios):.3g} ({len(ratios)} outputs)")
    print(f"{kind}: {counts['programs']} programs, {counts['elements']} elements, {counts['inside']} inside, "
          f"{counts['outside']} outside, {counts['plausible']} plausible, {counts['implausible']} implausible, "
          f"{counts['undecided']} undecided")
    if by_program:
        print(f'{kind}: bound / largest error, median of programs {statistics.median(by_program.values()):.3g}')
    if kind == 'real':
        for name, ratio in sorted(by_program.items()):
            if name.endswith('.0'):
                print(f'  {name[:-2]}: {ratio:.3g}')
    return not failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--sources', default='real,generated,jax')
    parser.add_argument('--programs', type=int, default=640, help='generated programs')
    parser.add_argument('--jax', type=int, default=500, help='programs of JAX functions')
    parser.add_argument('--inputs', type=int, default=3, help='inputs of each real program')
    parser.add_argument('--seed', type=int, default=20)
    parser.add_argument('--only', default='')
    parser.add_argument('--profile', help='xla-cpu or xla-gpu-tf32, by the platform')
    parser.add_argument('--samples', type=int, default=0, help='of conforming backends')
    parser.add_argument('--share', default='1/1', help='3/10: the third of ten parts')
    parser.add_argument('--state', default='', help='file of what was found')
    parser.add_argument('--processes', type=int, default=2)
    parser.add_argument('--keep', help='directory for programs, inputs and results')
    options = parser.parse_args()
    runner = Runner()
    options.label = runner.label()
    runner.stop()
    if options.profile is None:
        if options.label not in PROFILES:
            parser.error(f'{options.label} has no profile: --profile says which to take')
        options.profile = PROFILES[options.label]
    print(f'{options.label}, by profile {options.profile}')
    sources = options.sources.split(',')
    fine = True
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        checker = Checker(options, directory)
        works = {}
        if 'real' in sources:
            works['real'] = [(d, n) for d in sorted((ROOT / 'golden/programs').iterdir()) if d.is_dir()
                             for n in range(options.inputs) if re.search(options.only, d.name)]
        if 'generated' in sources:
            works['generated'] = [p for p in generate(options.programs, options.seed)
                                  if re.search(options.only, p.name)]
        if 'jax' in sources:
            import lowered_programs
            works['jax'] = [c for c in lowered_programs.all_cases(options.seed)
                            if re.search(options.only, c.name)][:options.jax]
        part, parts = (int(n) for n in options.share.split('/'))
        for kind, list_ in works.items():
            fine = report(kind, checker.run(kind, list_[part - 1::parts])) and fine
        checker.stop()
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main())
